"""`gradient()`: the vector-Jacobian product with a random cotangent agrees with the reference's.

A cotangent of ones would be blind: the gradients of sum(softmax(x)) and of sum(softmax(2x)) are both zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.checks.check import Check, Respondent, chosen
from autograder.checks.compare import array, difference, is_tensor
from autograder.core import Case, Verdict
from autograder.protocol.answering import tensor_leaves

# Where the reference's gradient is zero throughout, a right one may be what rounding leaves of terms that cancel.
ROUNDING = 1e-13


@dataclass(frozen=True, kw_only=True)
class Gradient(Check):
    """Gradients by every floating-point argument and parameter, or by those named; a detached result is its own code.

    What `ROUNDING` of the largest of cotangents and gradients explains is no difference: where an activation is
    saturated, another way of writing it leaves a few last digits of a gradient that is nearly zero.
    """

    rtol: float = 1e-9
    names: tuple[str, ...] = ()

    def run(self, case: Case, student: Respondent, reference: Respondent) -> Verdict:
        """Draw a cotangent in the reference's shapes and compare the gradients it pulls back."""
        if case.kinks:
            return self.passed()
        arguments = tuple(case.arguments.values())
        floating = [name for name, item in case.arguments.items() if is_tensor(item) and item.is_floating_point()]
        parameters = sorted(case.options.get("state", ()))
        asked = chosen(self.name, self.names, [*floating, *parameters])
        if not parameters:
            floating = [name for name in floating if name in asked]
        wrt = tuple(list(case.arguments).index(name) for name in floating)
        cotangent = self._cotangent(case, reference.call(*arguments))
        given = student.gradient(arguments, wrt, cotangent)["gradient"]
        wanted = reference.gradient(arguments, wrt, cotangent)["gradient"]
        largest = max(float(np.abs(array(item)).max(initial=0)) for item in (*cotangent, *wanted) if item is not None)
        for name, left, right in zip([*floating, *parameters], given, wanted, strict=True):
            if name in asked and (lost := self._difference(name, left, right, ROUNDING * largest)):
                return lost
        return self.passed()

    def _difference(self, name: str, left: Any, right: Any, rounding: float) -> Verdict | None:
        """What is wrong with one gradient; None for a right one."""
        if right is None or not array(right).any():
            if _vanishes(left, rounding):
                return None
            return self.failed("gradient_value", f"the result must not depend on {name}, but its gradient does")
        if left is None:
            return self.failed("detached", f"no gradient flows from the result to {name}: something detaches it")
        found = difference(left, right, rtol=self.rtol, where=f"the gradient by {name}")
        if not found or (found.code == "value" and np.abs(array(left) - array(right)).max() <= rounding):
            return None
        return self.failed(f"gradient_{found.code}", found.message)

    def _cotangent(self, case: Case, output: Any) -> list[Any]:
        import torch

        forms = [(tuple(item.shape), item.dtype) for item in tensor_leaves(output) if item.is_floating_point()]

        def drawn() -> list[Any]:
            rng = np.random.default_rng((*case.rng_key, 1))
            return [torch.from_numpy(np.asarray(rng.standard_normal(shape))).to(dtype) for shape, dtype in forms]

        return case.once(("cotangent", *forms), drawn)  # type: ignore[no-any-return]


def _vanishes(gradient: Any, bound: float) -> bool:
    return gradient is None or (is_tensor(gradient) and bool((np.abs(array(gradient)) <= bound).all()))


def gradient(names: str = "", *, rtol: float = 1e-9, weight: float = 1.0, name: str = "gradient") -> Gradient:
    """Gradients agree to `rtol`: by the `names` of arguments and parameters (`"x gamma"`), or by all of them.

    All are the floating-point arguments and, for a module, its parameters.
    """
    return Gradient(name=name, weight=weight, rtol=rtol, names=tuple(names.split()))

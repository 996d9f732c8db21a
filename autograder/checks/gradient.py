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
        if case.values_only:
            return self.passed()
        arguments = tuple(case.arguments.values())
        floating = [name for name, item in case.arguments.items() if is_tensor(item) and item.is_floating_point()]
        parameters = sorted(case.options.get("state", ()))
        asked = chosen(self.name, self.names, [*floating, *parameters])
        if not parameters:
            floating = [name for name in floating if name in asked]
        wrt = tuple(list(case.arguments).index(name) for name in floating)
        leaves = [item for item in tensor_leaves(reference.call(*arguments)) if item.is_floating_point()]
        cotangent = case.once(tuple((leaf.shape, leaf.dtype) for leaf in leaves), lambda: _cotangent(case, leaves))
        given = student.gradient(arguments, wrt, cotangent)
        wanted = reference.gradient(arguments, wrt, cotangent)
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


def _cotangent(case: Case, leaves: list[Any]) -> list[Any]:
    """One weight for each entry of these tensors."""
    import torch

    rng = np.random.default_rng((*case.rng_key, 1))
    return [torch.from_numpy(np.asarray(rng.standard_normal(tuple(leaf.shape)))).to(leaf.dtype) for leaf in leaves]


def _vanishes(gradient: Any, bound: float) -> bool:
    return gradient is None or (is_tensor(gradient) and bool((np.abs(array(gradient)) <= bound).all()))


def gradient(names: str = "", *, rtol: float = 1e-9, weight: float = 1.0, name: str = "gradient") -> Gradient:
    """Gradients agree to `rtol`: by the `names` of arguments and parameters (`"x gamma"`), or by all of them.

    All are the floating-point arguments and, for a module, its parameters.
    """
    return Gradient(name=name, weight=weight, rtol=rtol, names=tuple(names.split()))

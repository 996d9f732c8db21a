"""`gradient()`: the vector-Jacobian product with a random cotangent agrees with the reference's.

A cotangent of ones would be blind: the gradients of sum(softmax(x)) and of sum(softmax(2x)) are both zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.checks.check import Check, Respondent
from autograder.checks.compare import array, difference, is_tensor
from autograder.core import Case, Verdict
from autograder.protocol.answering import tensor_leaves

# Where the reference's gradient is zero throughout, a right one may be what rounding leaves of terms that cancel.
ROUNDING = 1e-13


@dataclass(frozen=True, kw_only=True)
class Gradient(Check):
    """Gradients by every floating-point argument; a detached result is its own code."""

    rtol: float = 1e-9

    def run(self, case: Case, student: Respondent, reference: Respondent) -> Verdict:
        """Draw a cotangent in the reference's shapes and compare the gradients it pulls back."""
        arguments = tuple(case.arguments.values())
        wrt = tuple(i for i, item in enumerate(arguments) if is_tensor(item) and item.is_floating_point())
        cotangent = self._cotangent(case, reference.call(*arguments))
        given = student.gradient(arguments, wrt, cotangent)["gradient"]
        wanted = reference.gradient(arguments, wrt, cotangent)["gradient"]
        names = [list(case.arguments)[i] for i in wrt]
        names += [f"parameter {i}" for i in range(len(wanted) - len(names))]
        largest = max(float(np.abs(array(item)).max(initial=0)) for item in (*cotangent, *wanted) if item is not None)
        for name, left, right in zip(names, given, wanted, strict=True):
            if right is None or not array(right).any():
                if not _vanishes(left, ROUNDING * largest):
                    return self.failed("gradient_value", f"the result must not depend on {name}, but its gradient does")
                continue
            if left is None:
                return self.failed("detached", f"no gradient flows from the result to {name}: something detaches it")
            if found := difference(left, right, rtol=self.rtol, where=f"the gradient by {name}"):
                return self.failed(f"gradient_{found.code}", found.message)
        return self.passed()

    def _cotangent(self, case: Case, output: Any) -> list[Any]:
        import torch

        rng = np.random.default_rng((*case.rng_key, 1))
        leaves = [item for item in tensor_leaves(output) if item.is_floating_point()]
        return [torch.from_numpy(np.asarray(rng.standard_normal(tuple(leaf.shape)))).to(leaf.dtype) for leaf in leaves]


def _vanishes(gradient: Any, bound: float) -> bool:
    return gradient is None or (is_tensor(gradient) and bool((np.abs(array(gradient)) <= bound).all()))


def gradient(*, rtol: float = 1e-9, weight: float = 1.0, name: str = "gradient") -> Gradient:
    """Gradients by all floating-point arguments (for a module, also by its parameters) agree to `rtol`."""
    return Gradient(name=name, weight=weight, rtol=rtol)

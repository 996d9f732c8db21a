"""`form()`: the answer has the reference's type, shapes and dtypes; what its entries are is left to other checks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.checks.check import Check, Respondent
from autograder.checks.compare import array, difference, is_tensor
from autograder.core import Case, Verdict


@dataclass(frozen=True, kw_only=True)
class Form(Check):
    """A gate for parts with many right answers: after it, a property may rely on what kind of value it gets."""

    compares = False

    def run(self, case: Case, student: Respondent, reference: Respondent) -> Verdict:
        """Compare the forms of two answers, and look for entries that are infinite or not a number."""
        arguments = tuple(case.arguments.values())
        given, wanted = student.call(*arguments), reference.call(*arguments)
        found = difference(_blank(given), _blank(wanted), rtol=0.0)
        if found:
            return self.failed(found.code, found.message)
        if not all(np.isfinite(array(leaf)).all() for leaf in _arrays(given)):
            return self.failed("finite", "the result contains infinite values or nan")
        return self.passed()


def form(*, weight: float = 0.0, name: str = "form") -> Form:
    """Type, shape and dtype are the reference's, and all entries finite. Worth nothing by itself unless told so."""
    return Form(name=name, weight=weight)


def _blank(value: Any) -> Any:
    """The value with zeros for all entries."""
    if is_tensor(value):
        return value.detach().clone().zero_()
    if isinstance(value, np.ndarray):
        return np.zeros_like(value)
    if isinstance(value, dict):
        return {key: _blank(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_blank(item) for item in value)
    return 0 if isinstance(value, int | float) and not isinstance(value, bool) else value


def _arrays(value: Any) -> list[Any]:
    """The tensors, arrays and numbers in a value."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [leaf for item in value for leaf in _arrays(item)]
    return [value] if is_tensor(value) or isinstance(value, np.ndarray | int | float) else []

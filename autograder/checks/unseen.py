"""`unseen()`: entries of the result have exactly no gradient by entries that they must not have seen.

Not small: zero, since there is no path. It is the strongest test of masks, of causality and of blanked words.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.checks.check import Check, Respondent, lent
from autograder.checks.compare import array
from autograder.core import Case, Parameters, Verdict
from autograder.errors import AuthorError

# hidden(inputs, p) -> an index of the result, an argument's name, an index of the argument: the first sees not the last
Hidden = Callable[[dict[str, Any], Parameters], Iterable[tuple[Any, str, Any]]]


@dataclass(frozen=True, kw_only=True)
class Unseen(Check):
    """Pulls a random cotangent on some entries of the result back to an argument; the function returns one tensor."""

    hidden: Hidden
    sentence: str

    compares = False

    def run(self, case: Case, student: Respondent, reference: Respondent) -> Verdict:
        """Look at every pair of entries that the author names; the reference gives the result's shape."""
        arguments, names = tuple(case.arguments.values()), list(case.arguments)
        wanted = reference.call(*arguments)
        with lent(self.name, case) as inputs:
            pairs = list(self.hidden(inputs, case.parameters))
        for number, (place, name, entries) in enumerate(pairs):
            cotangent = case.once((self.hidden, number), functools.partial(_cotangent, case, wanted, place))
            gradient = student.gradient(arguments, (names.index(name),), cotangent)[0]
            if gradient is not None and array(gradient[entries]).any():
                return self.failed(self.hidden.__name__, f"This does not hold: {self.sentence}", witness=f"{name}")
        return self.passed()


def _cotangent(case: Case, output: Any, place: Any) -> list[Any]:
    """Random weights for some entries of a tensor, zero for all others."""
    import torch

    random = np.random.default_rng((*case.rng_key, 2)).standard_normal(tuple(output.shape))
    cotangent = torch.zeros_like(output)
    cotangent[place] = torch.from_numpy(np.asarray(random)).to(output.dtype)[place]
    return [cotangent]


def unseen(hidden: Hidden, *, weight: float = 1.0, name: str = "") -> Unseen:
    """Check `hidden(inputs, p)`; its docstring's first line is what the student reads when it does not hold."""
    sentence = (inspect.getdoc(hidden) or "").strip().split("\n")[0]
    if not sentence:
        raise AuthorError("property_without_sentence", f"unseen({hidden.__name__}): its docstring must say what holds")
    return Unseen(name=name or hidden.__name__.replace("_", " "), weight=weight, hidden=hidden, sentence=sentence)

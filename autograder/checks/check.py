"""What a check is: one demand on a student's answer, judged case by case against a respondent who knows."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from autograder.core import Case, Verdict
from autograder.errors import AuthorError, did_you_mean


class Respondent(Protocol):
    """Somebody who answers for a part: the student through the wall, the reference, or a mistake.

    The methods return plain values and never a failure: the judge of the part handles those.
    """

    def call(self, *arguments: Any) -> Any:
        """What the function or module gives for these arguments."""

    def gradient(self, arguments: tuple[Any, ...], wrt: tuple[int, ...], cotangent: list[Any]) -> list[Any]:
        """The gradients of <cotangent, output> by the arguments at `wrt`."""

    def buffers(self, *arguments: Any) -> dict[str, Any]:
        """A module's buffers after a call; functions have none."""

    def after(self, *arguments: Any) -> dict[str, Any]:
        """`{"arguments": [...], "marked": [...]}`: what a call leaves of its arguments, and which require gradients."""

    def precise(self, *arguments: Any) -> Any:
        """What a function gives on numbers of a hundred digits; modules do not answer this."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """One demand on an answer. `weight` is its share of the part's points; `name` is what the report calls it.

    `compares` says whether two respondents that pass against each other give the same answers; `alone` whether it earns
    its share where no other check is passed.
    """

    name: str
    weight: float = 1.0

    compares = True
    alone = True

    def __post_init__(self) -> None:
        if not 0 <= self.weight < float("inf"):
            raise AuthorError("weight", f"check {self.name!r}: weight must not be negative, infinite or nan")

    def run(self, case: Case, student: Respondent, reference: Respondent) -> Verdict:
        """The verdict on one case of hidden inputs."""
        raise NotImplementedError(f"{type(self).__name__} does not say how it judges")

    def passed(self) -> Verdict:
        """The verdict of a case without a fault."""
        return Verdict(check=self.name, ok=True, code="ok")

    def failed(self, code: str, message: str, witness: str = "") -> Verdict:
        """The verdict of a case with a fault."""
        return Verdict(check=self.name, ok=False, code=code, message=message, witness=witness)


@contextlib.contextmanager
def lent(check: str, case: Case) -> Iterator[dict[str, Any]]:
    """The inputs of a case for an author's function. They are everybody's: AuthorError where it changes a tensor."""
    tensors = {name: item for name, item in case.arguments.items() if hasattr(item, "_version")}
    before = [item._version for item in tensors.values()]
    yield {name: item if name in tensors else copy.deepcopy(item) for name, item in case.arguments.items()}
    for name, version in zip(tensors, before, strict=True):
        if tensors[name]._version != version:
            raise AuthorError("changed", f"check {check!r} changes the input {name}; let it work on {name}.clone()")


def chosen(check: str, names: Sequence[str], known: Iterable[str]) -> list[str]:
    """The names that a check is about: those given, or all; AuthorError for one that there is not."""
    known = list(known)
    for name in names:
        if name not in known:
            raise AuthorError(
                "unknown_argument",
                f"check {check!r}: there is no {name!r}{did_you_mean(name, known)}; there are {', '.join(known)}",
            )
    return list(names) or known

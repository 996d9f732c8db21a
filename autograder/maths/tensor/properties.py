"""Open questions, judged by properties: normalised, depends on each input, uses only what is given, no leak.

For "give a definition of P(w_t | the other words)" many answers are right; each must sum to one over w, look
at both contexts, and not read the states that have seen w_t. A decision `equal` says that the property holds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from autograder.errors import AuthorError

from ..decision import Decision, different, equal, undecided
from .arithmetic import Arithmetic, Array, PrimeField
from .axes import Side, add_reference, declared
from .checking import Interpreted, inputs, interpret
from .comparison import TOLERANCE, grid_of
from .core import Meaning
from .declarations import Declarations, tensor_key
from .evaluation import Evaluation
from .question import Text, system_of
from .sizes import Sizes
from .tree import Index, System, Tensor
from .values import Grid, LimitError

TRIALS = 2


class Subject:
    """One system whose target's properties are asked for."""

    def __init__(self, answer: Text, target: str, declarations: Declarations | None, seconds: float = 2.0) -> None:
        self.declarations = declarations or Declarations()
        self.system: System = system_of(answer)
        self.found: Interpreted = interpret(self.system, self.declarations)
        self.target = tensor_key(target)
        self.deadline = time.monotonic() + seconds
        own = self.found.own
        self.axes = declared(self.declarations)
        self.side = Side(owner="answer", meanings=self.found.last, own=own)
        add_reference(self.axes, self.side)

    @property
    def refused(self) -> Decision | None:
        """The decision where the answer has no meaning or does not define the target."""
        for fault in self.found.faults:
            if fault.fatal:
                return different(fault.code, fault.message)
        if self.target not in self.found.own:
            return different("no_target", f"no equation defines {self.target}")
        return None

    @property
    def meaning(self) -> Meaning:
        """The equation that defines the target."""
        return next(meaning for meaning in self.found.last if meaning.name == self.target)

    def value(
        self, arithmetic: Arithmetic, trial: int, fixed: dict[str, int] | None = None
    ) -> tuple[Array, tuple[str, ...]]:
        """The target in one trial, with some index variables or context indices at one value."""
        fixed = fixed or {}
        sizes = Sizes(self.axes, self.declarations, trial)
        evaluation = Evaluation(
            self.found.last,
            arithmetic,
            size=lambda m, name: sizes.of(self.side.variable(m, name)),
            axis=sizes.axis,
            deadline=self.deadline,
            context={name: (place,) for name, place in fixed.items()},
        )
        grids: list[Grid] = list(grid_of(self.side, self.meaning, sizes))
        for position, index in enumerate(self.meaning.left):
            if index.variable in fixed:
                grids[position] = (fixed[str(index.variable)],)
        value = evaluation.tensor(self.target, grids, {})
        return value.array, value.dims


def _decided(subject: Subject, test: Callable[[], Decision]) -> Decision:
    refused = subject.refused
    if refused is not None:
        return refused
    try:
        return test()
    except LimitError as limit:
        return undecided(limit.code, limit.message)
    except ZeroDivisionError:
        return undecided("number", "a division by zero")


def normalised(
    answer: Text, target: str, over: Collection[str], *, declarations: Declarations | None = None
) -> Decision:
    """Whether the target sums to one over these of its left indices. Codes `normalised`, `not_normalised`."""
    subject = Subject(answer, target, declarations)
    return _decided(subject, lambda: _normalised(subject, tuple(over)))


def _normalised(subject: Subject, over: tuple[str, ...]) -> Decision:
    from .balls import Balls, precision

    places = [position for position, index in enumerate(subject.meaning.left) if index.variable in over]
    if len(places) != len(over):
        return different("no_index", f"the left side of {subject.target} lacks one of the indices {', '.join(over)}")
    for trial in range(TRIALS):
        try:
            total = np.add.reduce(subject.value(PrimeField(trial), trial)[0], axis=tuple(places))
        except ZeroDivisionError:
            break
        if not np.all(PrimeField(trial).reduce(np.asarray(total)) == 1):
            break
    else:
        return equal("normalised")
    with precision():
        for trial in range(TRIALS):
            total = np.add.reduce(subject.value(Balls(trial), trial)[0], axis=tuple(places))
            one = Balls(trial).constant(Fraction(1))
            for entry in np.asarray(total, dtype=object).ravel():
                if not entry.overlaps(one):
                    message = f"{subject.target} does not sum to one over {', '.join(over)}"
                    return different("not_normalised", message)
                if not (entry - one).abs_upper() < TOLERANCE:
                    return undecided("precision", "the sum is too close to one to be told apart")
    return equal("normalised")


def depends_on(answer: Text, target: str, tensor: str, *, declarations: Declarations | None = None) -> Decision:
    """Whether the target's value changes with this given tensor. Codes `depends`, `independent`."""
    subject = Subject(answer, target, declarations)
    name = tensor_key(tensor)
    everywhere = _spoiler(name, lambda _: True)
    return _decided(subject, lambda: _changes(subject, everywhere, {}, name))


def _changes(subject: Subject, spoiled: Any, fixed: dict[str, int], name: str) -> Decision:
    if _differs(subject, spoiled, fixed):
        return equal("depends")
    return different("independent", f"{subject.target} does not depend on {name}")


def _spoiler(name: str, where: Callable[[Sequence[Array]], Any]) -> Callable[[str, Sequence[Array]], Array]:
    def spoiled(other: str, indices: Sequence[Array]) -> Array:
        return np.asarray(where(indices) if other == name else False)

    return spoiled


def _differs(subject: Subject, spoiled: Any, fixed: dict[str, int]) -> bool:
    """Whether the real value changes; an oracle value that does not change proves that it cannot."""
    from .balls import Balls, precision

    def pair(make: Callable[[], Arithmetic], trial: int) -> tuple[Array, Array]:
        plain, changed = make(), make()
        changed.spoiled = spoiled
        first, second = subject.value(plain, trial, fixed)[0], subject.value(changed, trial, fixed)[0]
        return first, second

    for trial in range(TRIALS):
        first, second = pair(lambda t=trial: PrimeField(t), trial)  # type: ignore[misc]
        if np.all(first == second):
            continue
        with precision():
            first, second = pair(lambda t=trial: Balls(t), trial)  # type: ignore[misc]
            if any(not one.overlaps(other) for one, other in zip(first.ravel(), second.ravel(), strict=True)):
                return True
    return False


def does_not_read(answer: Text, target: str, entry: str, *, declarations: Declarations | None = None) -> Decision:
    """Whether the target at given index values is independent of an entry: no leak. Codes `unread`, `leak`.

    `entry` is written with the target's own indices, `h->[t,J]`: a symbol of the target's left side or of the
    context stands for its value there, any other symbol for every value.
    """
    subject = Subject(answer, target, declarations)
    read = _entry(entry)
    return _decided(subject, lambda: _unread(subject, read))


def _entry(text: str) -> Tensor:
    right = system_of(f"x = {text}").equations[0].right
    if not isinstance(right, Tensor):
        raise AuthorError("entry", f"{text!r} is no entry of a tensor, such as h[t,J]")
    return right


def _unread(subject: Subject, entry: Tensor) -> Decision:
    fixed: dict[str, int] = {}
    names = {index.variable for index in subject.meaning.left if index.variable} | set(subject.declarations.context)
    for index in entry.indices:
        for term in index.terms:
            key = getattr(term.atom, "key", None)
            if key in names:
                fixed[str(key)] = 2
    spoiled = _spoiler(entry.name.key, lambda indices: _matches(entry.indices, indices, fixed))
    if _differs(subject, spoiled, fixed):
        return different("leak", f"{subject.target} depends on {entry.name.key} at an index that it must not see")
    return equal("unread")


def _matches(pattern: Sequence[Index], indices: Sequence[Array], fixed: dict[str, int]) -> Any:
    inside: Any = np.True_
    for index, array in zip(pattern, indices, strict=True):
        keys = [getattr(term.atom, "key", None) for term in index.terms]
        if all(key is None or key in fixed for key in keys):
            value = sum(
                term.coefficient * (1 if key is None else fixed[key])
                for term, key in zip(index.terms, keys, strict=True)
            )
            inside = inside & (array == value)
    return inside


def uses_only(answer: Text, allowed: Collection[str], *, declarations: Declarations | None = None) -> Decision:
    """Whether every tensor that is read and not defined is among `allowed`. Codes `uses_only`, `foreign`."""
    found = interpret(system_of(answer), declarations or Declarations())
    names = {tensor_key(name) for name in allowed}
    foreign = sorted(name for name in inputs(found) if name not in names)
    if foreign:
        return different("foreign", f"{', '.join(foreign)} is not among what the question gives", names=tuple(foreign))
    return equal("uses_only")

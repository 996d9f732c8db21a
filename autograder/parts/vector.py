"""`Vector`: several numbers in an order; whole numbers must be exact, decimals within the tolerance that is stated."""

from __future__ import annotations

import contextlib
import inspect
import itertools
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from typing import Any

from autograder.checks.compare import array, difference, is_tensor, number
from autograder.core import BEGIN, END, Ask, Parameters, Part, Question, Verdict
from autograder.errors import AuthorError, Unreadable
from autograder.protocol.codec import plain
from autograder.protocol.respondents import NoAnswer, unread_verdict, value_of, value_verdict
from autograder.student.local_checks import Malformed, defined, form_of, well_formed

Numbers = tuple[Any, ...]
_SEPARATORS = (r"\s*[;\n]\s*", r",\s+", r"\s*,\s*", r"\s+")  # what may stand between the numbers of a text
_CUT = re.compile(r"0\d+")  # what is left of a number whose thousands were set apart
_COMMA_FOR_POINT = str.maketrans(",.", ".,")
MOST = 2_000  # characters of an answer in quotes


@dataclass(frozen=True)
class Vector(Part):
    """A list of numbers: a list, a tuple, an array, a tensor, or a text such as "1, 2, 3".

    `reference(p)`, each mistake and each equivalent give a list. `rtol` is relative to each entry; 0 means exact. A
    right entry that is zero admits as much as the smallest other one. `names` says what the entries are, in the stub;
    `unit` is shown there, too. `alternatives` are other lists that are correct.
    """

    _: KW_ONLY
    rtol: float = 0.0
    names: str = ""
    unit: str = ""
    alternatives: Sequence[Sequence[Any]] = ()

    kind = "vector"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not callable(self.reference):
            raise AuthorError(
                "reference", f"part {self.name!r}: the reference must be a function of p, not {self.reference!r}"
            )
        if not 0 <= self.rtol < 1:
            raise AuthorError("rtol", f"part {self.name!r}: rtol is at least 0 and below 1, not {self.rtol!r}")

    @classmethod
    def check_form(cls, name: str, /, *, length: int, whole: bool = False) -> None:
        """Show the numbers that are read; say where there are too few or too many, or one is not whole."""
        subject, found = defined(name), []
        with contextlib.suppress(Unreadable):
            found = readings(plain(subject))  # as it is handed in
        if not found:
            raise Malformed("type", f"{name} is {form_of(subject)}; write a list of numbers: {name} = [...].")
        read = next((item for item in found if len(item) == length), found[0])
        if len(read) != length:
            raise Malformed("length", f"{name} has {_entries(len(read))}; write {length}.")
        if odd := [place for place, item in enumerate(read, 1) if whole and item % 1 != 0]:
            raise Malformed("whole", f"entry {odd[0]} of {name} is no whole number; write one.")
        well_formed(name, f"read as {', '.join(map(str, read))}")

    def typed_answer(self, p: Parameters) -> str:
        """The numbers, apart by commas."""
        return ", ".join(map(str, self.right(p)))

    def right(self, p: Parameters) -> Numbers:
        """The official numbers; AuthorError where there are none."""
        return self._given(self.reference(p), "the reference")

    def _given(self, value: Any, who: str) -> Numbers:
        entries = _entries_of(value)
        numbers = [] if entries is None else [number(item) for item in entries]
        if not numbers or not all(item is not None and math.isfinite(item) for item in numbers):
            raise AuthorError("reference", f"part {self.name!r}: {who} gives a list of numbers, not {value!r}")
        return tuple(numbers)

    def judge(self, p: Parameters, ask: Ask, key: tuple[int, ...]) -> list[Verdict]:
        """Entry by entry; a known wrong list gets its hint, and what can be read in two ways is a person's."""
        try:
            given = value_of(ask(Question(kind="value", name=self.name)))
        except NoAnswer as error:
            return [value_verdict("vector", self.name, error.reply)]
        found, count = readings(given), len(self.right(p))
        found = [item for item in found if len(item) == count] or found  # as the visible check reads it
        wanted = f"write {self.name} = [...], with {_entries(count)}"
        right = [item for item in found if self._is_right(item, p)]
        if not found or 0 < len(right) < len(found):
            return [unread_verdict("vector", self.name, given, wanted)]
        if right:
            return [Verdict(check="vector", ok=True, code="ok")]
        if any(self._is_right(item, p) for item in readings(_with_commas(given))):
            return [unread_verdict("vector", self.name, given, f"{wanted}, each with a decimal point")]
        return [self._wrong(found[0], p)]

    def _is_right(self, given: Numbers, p: Parameters) -> bool:
        others = [self._given(other, "an alternative") for other in self.alternatives]
        return any(self._differing(given, wanted) == [] for wanted in (self.right(p), *others))

    def _differing(self, given: Numbers, wanted: Numbers) -> list[int] | None:
        """The places of entries that differ, from one on; None where there are more or fewer of them."""
        if len(given) != len(wanted):
            return None
        sizes = [abs(item) for item in wanted if item]
        near = self.rtol * float(min(sizes)) if sizes else 0.0
        return [
            place
            for place, (left, right) in enumerate(zip(given, wanted, strict=True), 1)
            if (difference(left, right, rtol=self.rtol) is not None if right else not abs(left) <= near)
        ]

    def same_answer(self, one: str, other: str, p: Parameters) -> bool:
        """The same numbers, in every reading of both."""
        pairs = list(itertools.product(readings(one), readings(other)))
        return bool(pairs) and all(self._differing(left, right) == [] for left, right in pairs)

    def _wrong(self, given: Numbers, p: Parameters) -> Verdict:
        """What is said of a list that is not right."""
        for mistake in self.mistakes:
            if self._differing(given, self._given(mistake(p), mistake.__name__)) == []:
                return Verdict(check="vector", ok=False, code=mistake.__name__, message=inspect.getdoc(mistake) or "")
        wanted = self.right(p)
        places = self._differing(given, wanted)
        if places is None:
            text = f"{self.name} has {_entries(len(given))}, but it should have {len(wanted)}."
            return Verdict(check="vector", ok=False, code="length", message=text)
        if all(item == item for item in given) and self._differing(_sorted(given), _sorted(wanted)) == []:
            text = f"The numbers of {self.name} stand in another order than was asked for."
            return Verdict(check="vector", ok=False, code="order", message=text)
        code = "finite" if given[places[0] - 1] != given[places[0] - 1] else "value"
        return Verdict(check="vector", ok=False, code=code, message=f"Entry {places[0]} of {self.name} is not correct.")

    def accepting(self, answers: Sequence[Any]) -> Part:
        """With further alternatives, each a list or a text; AuthorError for what is neither."""
        read: list[list[Numbers]] = [readings(item) for item in answers]
        if any(len(found) != 1 for found in read):
            raise AuthorError("answers", f"part {self.name!r}: further answers are lists of numbers, not {answers!r}")
        return replace(self, alternatives=[*self.alternatives, *(list(found[0]) for found in read)])

    def answer_cell(self, subject: Callable[[Parameters], Any], p: Parameters) -> str:
        """The answer cell of somebody who hands in what `subject` gives."""
        return f"{self.name} = {_written(subject(p))}\n"

    def solution_cell(self, p: Parameters) -> str:
        """The assignment between nbgrader's marks, under a line that says what to assign."""
        unit = f", in {self.unit}" if self.unit else ""
        count = len(self.right(p))
        kind = f"{count} {'whole ' if self._is_whole(p) else ''}numbers"
        entries = self.names or "..., " * (count > 1) + "..."
        line = f"{self.name} = {_written(self.reference(p))}"
        return f"# {self.name} = [{entries}]   ({kind}{unit})\n{BEGIN}\n{line}\n{END}\n"

    def _is_whole(self, p: Parameters) -> bool:
        return not self.rtol and all(item % 1 == 0 for item in self.right(p))

    def trivial_answers(self, p: Parameters) -> dict[str, Any]:
        """What holds no number."""
        return {**super().trivial_answers(p), "an empty string": "", "an empty list": [], "an empty tuple": ()}

    def blind_answers(self, p: Parameters, shown: Sequence[str]) -> dict[str, Any]:
        """Constants, the first numbers, and a single number."""
        right = self.right(p)
        constants = [[value] * len(right) for value in (0, 1, float("nan"), float("inf"))]
        tried: list[list[Any]] = [*constants, list(range(len(right))), list(range(1, len(right) + 1)), [0]]
        return {str(value): value for value in tried if self._differing(tuple(value), right) != []} | {"zero": 0}

    def local_check(self, p: Parameters) -> str:
        """Shows the numbers that are read."""
        whole = ", whole=True" if self._is_whole(p) else ""
        return f"form.check_vector({self.name!r}, length={len(self.right(p))}{whole})"


def readings(given: Any) -> list[Numbers]:
    """The lists of numbers that an answer can be read as: none, one, or for some texts, several that differ."""
    entries = _entries_of(given)
    split = [] if entries is None else [entries]
    if isinstance(given, str) and len(given) <= MOST:
        text = given.strip("[](){},; \t\n")
        ways = [re.split(separator, text) for separator in _SEPARATORS]
        split = [way for way in ways if not any(map(_CUT.fullmatch, way))]
    read = [[number(item) for item in way] for way in split]
    whole = [tuple(item for item in way if item is not None) for way in read if way and None not in way]
    return list(dict.fromkeys(sorted(whole, key=len, reverse=True)))


def _entries_of(given: Any) -> list[Any] | None:
    """The entries of a list, a tuple, an array or a tensor with one axis."""
    if is_tensor(given) or hasattr(given, "ndim"):
        return list(array(given).tolist()) if array(given).ndim == 1 else None
    return list(given) if isinstance(given, list | tuple) else None


def _with_commas(given: Any) -> Any:
    """The texts in an answer with points for commas and commas for points."""
    if isinstance(given, str):
        return given.translate(_COMMA_FOR_POINT)
    return [_with_commas(item) for item in given] if isinstance(given, list | tuple) else given


def _sorted(numbers: Numbers) -> Numbers:
    ordered: list[Any] = sorted(numbers, key=float)
    return tuple(ordered)


def _entries(count: int) -> str:
    return f"{count} {'entry' if count == 1 else 'entries'}"


def _written(value: Any) -> str:
    """Source text of a list of numbers."""
    return repr([str(item) if isinstance(item, Fraction) else item for item in _entries_of(value) or ()])

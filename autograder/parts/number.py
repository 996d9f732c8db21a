"""`Number`: the student assigns a number; whole numbers must be exact, decimals within the tolerance that is stated."""

from __future__ import annotations

import contextlib
import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

from autograder.checks.compare import difference, number
from autograder.core import BEGIN, END, Ask, Parameters, Part, Question, Verdict
from autograder.errors import AuthorError, Unreadable
from autograder.parts import copying
from autograder.protocol.codec import plain
from autograder.protocol.respondents import NoAnswer, unread_verdict, value_of, value_verdict
from autograder.student.local_checks import Malformed, defined, form_of, well_formed

_PLAIN = r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?"


@dataclass(frozen=True)
class Number(Part):
    """One number, in any dress (int, float, fraction, 0-d array or tensor, sympy number).

    `reference(p)`, each mistake and each equivalent give a number. `rtol` is relative; 0 means exact. `unit` is shown
    beside the stub. `alternatives` are other numbers that are correct.
    """

    _: KW_ONLY
    rtol: float = 0.0
    unit: str = ""
    alternatives: Sequence[Any] = ()

    kind = "number"
    all_or_nothing = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not callable(self.reference):
            raise AuthorError(
                "reference", f"part {self.name!r}: the reference must be a function of p, not {self.reference!r}"
            )

    @classmethod
    def check_form(cls, name: str, /, *, whole: bool = False) -> None:
        """Say whether the name is bound to a number, and to a whole one where one is asked for."""
        subject, given = defined(name), None
        with contextlib.suppress(Unreadable):
            given = number(plain(subject))  # as it is handed in
        if given is None:
            raise Malformed("type", f"{name} is {form_of(subject)}; write a number.")
        if whole and given % 1 != 0:
            raise Malformed("whole", f"{name} is no whole number; write one.")
        well_formed(name, "this is a number")

    def judge(self, p: Parameters, ask: Ask, key: tuple[int, ...]) -> list[Verdict]:
        """Exact or within the tolerance; a known wrong number gets its hint, and what is no number is a person's."""
        try:
            given = value_of(ask(Question(kind="value", name=self.name)))
        except NoAnswer as error:
            return [value_verdict("number", self.name, error.reply)]
        if number(given) is None:
            return [unread_verdict("number", self.name, given, f"write one number: {self.name} = ...")]
        found = difference(given, self.reference(p), rtol=self.rtol, where=self.name)
        others = (difference(given, other, rtol=self.rtol) for other in self.alternatives)
        if found is None or any(other is None for other in others):
            return [Verdict(check="number", ok=True, code="ok")]
        if isinstance(given, str) and self._right_elsewhere(given, p):
            return [unread_verdict("number", self.name, given, "write 7200 or 7.2, and not 7,200 or 7.200")]
        for mistake in self.mistakes:
            if difference(given, mistake(p), rtol=self.rtol) is None:
                return [Verdict(check="number", ok=False, code=mistake.__name__, message=inspect.getdoc(mistake) or "")]
        return [Verdict(check="number", ok=False, code=found.code, message=found.message)]

    def same_answer(self, one: str, other: str, p: Parameters) -> bool:
        """The same number, or within the tolerance of it."""
        return number(one) is not None and difference(other, number(one), rtol=self.rtol) is None

    def _right_elsewhere(self, given: str, p: Parameters) -> bool:
        """Whether a text is right where a comma is the decimal sign, and a point stands between thousands."""
        other = given.translate(str.maketrans(",.", ".,"))
        return number(other) is not None and difference(other, self.reference(p), rtol=self.rtol) is None

    def also_right(self, p: Parameters) -> list[str]:
        """The alternatives, and how far from the answer a number may be."""
        near = [f"within a share of {self.rtol:g}"] if self.rtol else []
        return [*map(str, self.alternatives), *near]

    def cell_of(self, text: str, p: Parameters) -> str:
        """A plain number as one, all else as it was written: what is no number is a person's."""
        plain = text.strip()
        return f"{self.name} = {plain if re.fullmatch(_PLAIN, plain) else repr(plain)}\n"

    def accepting(self, answers: Sequence[Any]) -> Part:
        """With further alternatives; AuthorError for what is no number."""
        values = [number(item) for item in answers]
        if None in values:
            raise AuthorError("answers", f"part {self.name!r}: further answers are numbers, not {list(answers)!r}")
        return replace(self, alternatives=[*self.alternatives, *values])

    def answer_cell(self, subject: Callable[[Parameters], Any], p: Parameters) -> str:
        """The answer cell of somebody who hands in what `subject` gives."""
        return f"{self.name} = {subject(p)!r}\n"

    def solution_cell(self, p: Parameters) -> str:
        """The assignment between nbgrader's marks, under a line that says what to assign."""
        unit = f", in {self.unit}" if self.unit else ""
        kind = "a whole number" if self._is_whole(p) else "a number"
        return f"# {self.name} = ...   ({kind}{unit})\n{BEGIN}\n{self.name} = {self.reference(p)!r}\n{END}\n"

    def _is_whole(self, p: Parameters) -> bool:
        return isinstance(self.reference(p), int) and not self.rtol

    def trivial_answers(self, p: Parameters) -> dict[str, Any]:
        """What is no number."""
        return {**super().trivial_answers(p), "nan": float("nan"), "an empty string": "", "an empty list": []}

    def blind_answers(self, p: Parameters, shown: Sequence[str]) -> dict[str, Any]:
        """Constants."""
        right = number(self.reference(p))
        return {str(value): value for value in (0, 1, -1, float("inf")) if value != right}

    def copied_answers(self, p: Parameters, shown: Sequence[Sequence[str]]) -> Iterator[tuple[str, Any]]:
        """Each number of each formula."""
        for text in dict.fromkeys(text for cell in shown for text in cell):
            yield from ((text, float(found) if "." in found else int(found)) for found in copying.numbers(text))

    def harmless_copy(self, subject: Any, p: Parameters) -> str:
        """The same number may count many things."""
        return "the answer is a bare number"

    def local_check(self, p: Parameters) -> str:
        """Says whether the name is bound to a number."""
        return f"form.check_number({self.name!r}{', whole=True' if self._is_whole(p) else ''})"

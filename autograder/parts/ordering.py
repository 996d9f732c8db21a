"""`Ordering`: the lines of a proof or of a program, shuffled, to be put in an order that their dependencies allow."""

from __future__ import annotations

import functools
import hashlib
import inspect
import itertools
import json
import math
import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any

from autograder.core import BEGIN, END, Ask, Parameters, Part, Question, Verdict
from autograder.errors import AuthorError, did_you_mean
from autograder.parts.choice import letters_of, options_named
from autograder.protocol.respondents import NoAnswer, unread_verdict, value_of, value_verdict
from autograder.student.local_checks import Malformed, defined, well_formed

Order = list[str]  # names of lines
BY_CHANCE = 0.05  # of all orders of the lines, at most so large a share may be right


@dataclass(frozen=True)
class Ordering(Part):
    """Lines to be put in order. Every order that the dependencies allow is right.

    `reference(p)` gives the lines by their names, in one right order. `after` says which lines a line needs before it:
    `{"step": "loss clip"}`; what follows from that need not be said again. `others(p)` gives lines that belong to no
    right answer. Each mistake, and each equivalent, is a function of `p` that gives names in an order. With
    `code=True`, lines are shown as code. `alternatives` are other right orders, as letters.
    """

    _: KW_ONLY
    after: Mapping[str, str] = field(default_factory=dict)
    others: Callable[[Parameters], Mapping[str, str]] = lambda p: {}
    code: bool = False
    alternatives: Sequence[str] = ()

    kind = "ordering"
    all_or_nothing = True
    by_hand = "Where lines are to be put in order, write their letters one behind the other."

    def __post_init__(self) -> None:
        super().__post_init__()
        if not callable(self.reference):
            raise AuthorError(
                "reference", f"part {self.name!r}: the reference must be a function of p, not {self.reference!r}"
            )

    @classmethod
    def check_form(cls, name: str, letters: str, /) -> None:
        """Show the order that is read; say where it is none, or a line stands twice."""
        found = letters_of(defined(name), dict.fromkeys(letters, ""))
        if not found or not set(found) <= set(letters):
            wanted = f'{name} = "{letters[1::-1]}"'
            raise Malformed("no_line", f"{name} must be letters from {', '.join(letters)} in order, such as {wanted}.")
        if twice := [letter for letter in found if found.count(letter) > 1]:
            raise Malformed("twice", f"{name} names line {twice[0]} twice.")
        well_formed(name, f"read as {', '.join(found)}")

    def lines(self, p: Parameters) -> dict[str, str]:
        """The texts of the lines that belong to the answer, by name; AuthorError where they do not fit `after`."""
        lines, seen = dict(self.reference(p)), set[str]()
        for name, needed in self.after.items():
            for other in (name, *needed.split()):
                if other not in lines:
                    raise AuthorError(
                        "after", f"part {self.name!r}: after names a line {other!r}{did_you_mean(other, lines)}"
                    )
        for name in lines:
            if missing := [other for other in self.after.get(name, "").split() if other not in seen]:
                raise AuthorError(
                    "after", f"part {self.name!r}: the reference has {name!r} before {missing[0]!r}, which it needs"
                )
            seen.add(name)
        if (share := self._by_chance(tuple(lines))) > BY_CHANCE:
            raise AuthorError(
                "after",
                f"part {self.name!r}: of all orders of its lines, {share:.0%} are right, not {BY_CHANCE:.0%} at most",
            )
        return lines

    def _by_chance(self, names: tuple[str, ...]) -> float:
        """Which share of all orders is right."""
        needs = [sum(1 << names.index(other) for other in self.after.get(name, "").split()) for name in names]

        @functools.cache
        def ways(before: int) -> int:
            """In how many orders the lines that are not `before` may follow."""
            left = [i for i in range(len(names)) if not before >> i & 1]
            return sum(ways(before | 1 << i) for i in left if needs[i] & ~before == 0) if left else 1

        return ways(0) / math.factorial(len(names))

    def letters(self, p: Parameters) -> dict[str, str]:
        """The names of all lines by their letters: by a hash, and so that the order shown is not right."""
        lines, others = self.lines(p), dict(self.others(p))
        texts = [*lines.values(), *others.values()]
        if lines.keys() & others.keys() or len(set(texts)) < len(texts) or len(texts) > len(string.ascii_lowercase):
            raise AuthorError(
                "lines", f"part {self.name!r}: two lines have the same name or text, or there are over 26"
            )
        named = {**lines, **others}
        for salt in itertools.count():

            def place(name: str, salt: int = salt) -> str:
                text = json.dumps([p, self.name, named[name], salt], sort_keys=True, default=repr)
                return hashlib.sha256(text.encode()).hexdigest()

            shown = sorted(named, key=place)
            kept = [name for name in shown if name in lines]
            if self._early(kept) is not None and self._early(kept[::-1]) is not None:
                return dict(zip(string.ascii_lowercase, shown, strict=False))
        raise AssertionError("not every order of the lines is right")

    def _early(self, order: Sequence[str]) -> str | None:
        """The first line before which one is missing that it needs."""
        for place, name in enumerate(order):
            if not set(self.after.get(name, "").split()) <= set(order[:place]):
                return name
        return None

    def judge(self, p: Parameters, ask: Ask, key: tuple[int, ...]) -> list[Verdict]:
        """Right in any order that is allowed; a known wrong order gets its hint; what is no order is a person's."""
        try:
            given = value_of(ask(Question(kind="value", name=self.name)))
        except NoAnswer as error:
            return [value_verdict("order", self.name, error.reply)]
        letters, texts = self.letters(p), {**self.lines(p), **self.others(p)}
        shown = {letter: texts[name] for letter, name in letters.items()}
        found = letters_of(given, shown)
        wanted = f"{self.name} must be letters from {', '.join(letters)} in order, in quotes."
        if found and not set(found) & letters.keys():
            return [self._lost("no_line", wanted)]
        if not found or not set(found) <= letters.keys():
            return [unread_verdict("order", self.name, given, wanted)]
        if found in [letters_of(other, shown) for other in self.alternatives]:
            return [Verdict(check="order", ok=True, code="ok")]
        return [self._judged([letters[letter] for letter in found], p)]

    def read_as(self, value: Any, p: Parameters) -> str:
        """The lines in the order given."""
        shown = self.lettered(p)
        return options_named(letters_of(value, shown) or (), shown)

    def right(self, p: Parameters) -> str:
        """The letters in a right order."""
        letters = {name: letter for letter, name in self.letters(p).items()}
        return "".join(letters[name] for name in self.lines(p))

    def _judged(self, order: Order, p: Parameters) -> Verdict:
        lines, by_name = self.lines(p), {name: letter for letter, name in self.letters(p).items()}
        for mistake in self.mistakes:
            if self.applies(mistake, p) and list(mistake(p)) == order:
                return self._lost(mistake.__name__, inspect.getdoc(mistake) or "")
        if twice := [name for name in order if order.count(name) > 1]:
            return self._lost("twice", f"Line {by_name[twice[0]]} stands there twice.")
        if odd := [name for name in order if name not in lines]:
            return self._lost("not_needed", f"Line {by_name[odd[0]]} does not belong there.")
        if len(order) < len(lines):
            return self._lost("missing_line", "A line is missing.")
        if early := self._early(order):
            return self._lost("too_early", f"Line {by_name[early]} needs one that comes only after it.")
        return Verdict(check="order", ok=True, code="ok")

    def _lost(self, code: str, message: str) -> Verdict:
        return Verdict(check="order", ok=False, code=code, message=message)

    def accepting(self, answers: Sequence[Any]) -> Part:
        """With further right orders."""
        return replace(self, alternatives=[*self.alternatives, *map(str, answers)])

    def applies(self, subject: Any, p: Parameters) -> bool:
        """Whether the function gives an order under `p`; a string is letters as typed."""
        return isinstance(subject, str) or subject(p) is not None

    def answer_cell(self, subject: Any, p: Parameters) -> str:
        """The answer cell of somebody who puts the lines in the order that `subject` gives; a string is as typed."""
        if isinstance(subject, str):
            return f"{self.name} = {subject}\n"
        letters = {name: letter for letter, name in self.letters(p).items()}
        order = list(subject(p))
        if unknown := [name for name in order if name not in letters]:
            raise AuthorError("lines", f"part {self.name!r}: {subject.__name__} names no line with {unknown[0]!r}")
        return f"{self.name} = {''.join(letters[name] for name in order)!r}\n"

    def solution_cell(self, p: Parameters) -> str:
        """The assignment between nbgrader's marks, under a line that shows the form."""
        letters = ", ".join(self.letters(p))
        solution = self.answer_cell(self.reference, p)
        return f'# {self.name} = "..."   (letters from {letters}, in order)\n{BEGIN}\n{solution}{END}\n'

    def answer_under(self, p: Parameters) -> list[str]:
        """The texts of the lines, in order."""
        return list(self.lines(p).values())

    def trivial_answers(self, p: Parameters) -> dict[str, Any]:
        """No letters."""
        return {**super().trivial_answers(p), "an empty string": "", "an empty list": [], "one line": "a"}

    def blind_answers(self, p: Parameters, shown: Sequence[str]) -> dict[str, Any]:
        """The order in which the lines are shown, and the reverse of it, with and without the others."""
        letters = self.letters(p)
        kept = "".join(letter for letter, name in letters.items() if name in self.lines(p))
        both = {"the lines as shown": "".join(letters), "those that belong, as shown": kept}
        return {**both, **{f"{name}, from the end": order[::-1] for name, order in both.items()}, "a number": 1}

    def local_check(self, p: Parameters) -> str:
        """Shows the order that is read."""
        return f"form.check_ordering({self.name!r}, {''.join(self.letters(p))!r})"

    def lettered(self, p: Parameters) -> dict[str, str]:
        """The lines, in marks where they are code."""
        texts, mark = {**self.lines(p), **self.others(p)}, "`" if self.code else ""
        return {letter: f"{mark}{texts[name]}{mark}" for letter, name in self.letters(p).items()}

    def rule(self, p: Parameters) -> str:
        """What an answer is."""
        rule = "Give the letters in order, such as `ba`. Any order is right in which each line follows what it needs."
        extra = " Some lines do not belong there; leave them out." if self.others(p) else ""
        return f"{rule}{extra}"

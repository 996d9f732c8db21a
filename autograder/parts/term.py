"""`Term`: a few words, such as a name, judged by the forms that are accepted; what no form settles is a person's."""

from __future__ import annotations

import inspect
import itertools
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

from autograder.core import BEGIN, END, Ask, Parameters, Part, Question, Verdict
from autograder.errors import AuthorError
from autograder.protocol.respondents import NoAnswer, unread_verdict, value_of, value_verdict
from autograder.student.local_checks import Malformed, defined, form_of, well_formed

LONGEST = 80  # characters of an answer; a name is shorter
MOST = 256  # forms that one form may stand for
_OPTIONAL = re.compile(r"\(([^()]*)\)")
_LEADING = ("a", "an", "the")


@dataclass(frozen=True)
class Term(Part):
    """A name or another short text.

    `reference(p)` gives the answer that the solution shows, and `forms` what else is accepted: a list of forms, or a
    function of `p`. In a form, `(word)` may be left out, and `|` stands between alternatives: `geometric (law)`,
    `Markov|memoryless`. Each mistake gives a form, too. Capitals, accents, hyphens, marks around the words, a full stop
    and a leading article are not told apart; all else is. An answer that is neither an accepted form nor a mistake's is
    held for a person. With `complete=True`, when the statement lists what can be answered, it is lost, unless it has an
    accepted form in it or differs from one by a slip of the keyboard.
    """

    _: KW_ONLY
    forms: Sequence[str] | Callable[[Parameters], Sequence[str]] = ()
    complete: bool = False
    alternatives: Sequence[str] = ()

    kind = "term"
    all_or_nothing = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not callable(self.reference):
            raise AuthorError(
                "reference", f"part {self.name!r}: the reference must be a function of p, not {self.reference!r}"
            )

    @classmethod
    def check_form(cls, name: str, /) -> None:
        """Show the words that are compared; say where there are none, or too many."""
        given = defined(name)
        if not isinstance(given, str):
            raise Malformed("type", f'{name} is {form_of(given)}; write a few words in quotes: {name} = "...".')
        if not words_of(given):
            raise Malformed("missing", f"{name} is empty. Write your answer in the cell above and run that cell.")
        if len(given) > LONGEST:
            raise Malformed("length", f"{name} has {len(given)} characters; write the name alone, {LONGEST} at most.")
        well_formed(name, f"read as {words_of(given)!r}")

    def typed_answer(self, p: Parameters) -> str:
        """The words that the solution shows."""
        return str(self.reference(p))

    def also_right(self, p: Parameters) -> list[str]:
        """The other forms: `(word)` may be left out, and `|` stands between alternatives."""
        return [*(self.forms(p) if callable(self.forms) else self.forms), *self.alternatives]

    def accepted(self, p: Parameters) -> set[str]:
        """The words of every form that is accepted."""
        listed = self.forms(p) if callable(self.forms) else self.forms
        return set(self._spelt([str(self.reference(p)), *listed, *self.alternatives]))

    def _spelt(self, forms: Sequence[str]) -> Iterator[str]:
        for form in forms:
            spelt = [words_of(text) for text in spellings(form, self.name)]
            if not all(spelt):
                raise AuthorError("form", f"part {self.name!r}: the form {form!r} may be empty")
            yield from spelt

    def judge(self, p: Parameters, ask: Ask, key: tuple[int, ...]) -> list[Verdict]:
        """Right in an accepted form, lost in a mistake's; else a person's, or lost where the list is complete."""
        try:
            given = value_of(ask(Question(kind="value", name=self.name)))
        except NoAnswer as error:
            return [value_verdict("term", self.name, error.reply)]
        if not isinstance(given, str) or not given.strip():
            return [unread_verdict("term", self.name, given, f'write {self.name} = "..."')]
        words, accepted = words_of(given), self.accepted(p)
        if words in accepted:
            return [Verdict(check="term", ok=True, code="ok")]
        for mistake in self.mistakes:
            if self.applies(mistake, p) and words in set(self._spelt([mistake(p)])):
                return [Verdict(check="term", ok=False, code=mistake.__name__, message=inspect.getdoc(mistake) or "")]
        if self.complete and len(given) <= LONGEST and not any(_may_be(words, form) for form in accepted):
            return [Verdict(check="term", ok=False, code="value", message=f"{self.name} is not correct.")]
        return [Verdict(check="term", ok=None, code="other_words", message="A grader will check these words.")]

    def same_answer(self, one: str, other: str, p: Parameters) -> bool:
        """The same words."""
        return words_of(one) == words_of(other)

    def applies(self, subject: Any, p: Parameters) -> bool:
        """Whether a mistake gives a form under `p`; an equivalent is a text."""
        return isinstance(subject, str) or subject(p) is not None

    def accepting(self, answers: Sequence[Any]) -> Part:
        """With further forms."""
        return replace(self, alternatives=[*self.alternatives, *map(str, answers)])

    def answer_cell(self, subject: Any, p: Parameters) -> str:
        """The answer cell of somebody who writes a text, or the first spelling of a function's form."""
        text = subject if isinstance(subject, str) else next(iter(spellings(str(subject(p)), self.name)))
        return f"{self.name} = {text!r}\n"

    def solution_cell(self, p: Parameters) -> str:
        """The assignment between nbgrader's marks, under a line that shows the form."""
        return f'# {self.name} = "..."   (a few words)\n{BEGIN}\n{self.answer_cell(self.reference, p)}{END}\n'

    def trivial_answers(self, p: Parameters) -> dict[str, Any]:
        """No words."""
        return {**super().trivial_answers(p), "an empty string": "", "blanks": " \n"}

    def blind_answers(self, p: Parameters, shown: Sequence[str]) -> dict[str, Any]:
        """The formulas of the statement, a number, and the answer among others."""
        right = next(iter(spellings(str(self.reference(p)), self.name)))
        other = next(
            (spelt for item in self.mistakes for spelt in spellings(str(item(p)), self.name)), "something else"
        )
        return {**{formula: formula for formula in shown}, "a number": 1, "two answers": f"{right} or {other}"}

    def local_check(self, p: Parameters) -> str:
        """Shows the words that are compared."""
        return f"form.check_term({self.name!r})"


def words_of(text: str) -> str:
    """A text without what is not told apart: capitals, accents, hyphens, marks around words, a leading article."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    plain = "".join(sign for sign in plain if not unicodedata.combining(sign))
    plain = re.sub(r"[’`'\"“”„*$]", "", re.sub(r"[-‐‑–—_\s]+", " ", plain)).strip(" .:;,!?()[]{}")
    first, _, rest = plain.partition(" ")
    return " ".join((rest if rest and first in _LEADING else plain).split())


def spellings(form: str, part: str) -> list[str]:
    """What a form stands for, the longest way first; AuthorError where that is too much."""
    found = []
    for alternative in form.split("|"):
        pieces = _OPTIONAL.split(alternative)  # the texts between brackets, and those in them, in turn
        choices = [(piece, "") if place % 2 else (piece,) for place, piece in enumerate(pieces)]
        if any(sign in "".join(pieces) for sign in "()") or 2 ** (len(pieces) // 2) > MOST:
            raise AuthorError("form", f"part {part!r}: the form {form!r} has brackets in brackets, or too many of them")
        found += ["".join(chosen) for chosen in itertools.product(*choices)]
    return found


def _may_be(words: str, form: str) -> bool:
    """Whether a person would look twice: the form stands among other words, or a slip or two lead to it."""
    return f" {form} " in f" {words} " or _slips(words, form) <= (1 if len(form) < 8 else 2)


def _slips(left: str, right: str) -> int:
    """How many letters were left out, put in, changed, or changed places with the next one."""
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        last, before, row = before, row, [i]
        for j, b in enumerate(right, 1):
            row.append(min(before[j] + 1, row[-1] + 1, before[j - 1] + (a != b)))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                row[-1] = min(row[-1], last[j - 2] + 1)
    return row[-1]

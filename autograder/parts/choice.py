"""`Choice`: one of several sentences, by its letter; every wrong one explains itself."""

from __future__ import annotations

import inspect
import string
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from autograder.core import BEGIN, END, Ask, Parameters, Part, Question, Verdict
from autograder.errors import AuthorError
from autograder.protocol.respondents import NoAnswer, failure_verdict, value_of
from autograder.student.local_checks import Malformed, defined


@dataclass(frozen=True)
class Choice(Part):
    """A question with one right option.

    `reference(p)` and each mistake give an option's text, or None where that option does not stand in a variant; the
    letters follow from the part's name and the parameters, the same for everybody with the same variant. A mistake's
    docstring tells who chose it why it is wrong.
    """

    kind = "choice"

    @classmethod
    def check_form(cls, name: str, letters: str, /) -> None:
        """Say whether the name is bound to one of the letters."""
        if letter_of(defined(name)) not in list(letters):
            raise Malformed("no_option", f"{name} must be one of {', '.join(map(repr, letters))}.")
        print(f"{name}: this is one of the letters. (This cell does not check whether it is correct.)")

    def options(self, p: Parameters) -> dict[str, Callable[[Parameters], str | None]]:
        """The functions of the options by letter, in the order shown."""
        functions = [self.reference, *(item for item in self.mistakes if self.applies(item, p))]
        texts = [function(p) for function in functions]
        if len(set(texts)) < len(texts):
            raise AuthorError("options", f"part {self.name!r}: two options have the same text under {p}")
        if texts[0] is None or not 2 <= len(texts) <= len(string.ascii_lowercase):
            raise AuthorError(
                "options", f"part {self.name!r}: there must be one correct option and 1 to 25 wrong ones under {p}"
            )
        import numpy as np

        seed = [ord(letter) for letter in f"{self.name}{sorted(p.items(), key=str)}"]
        order = np.random.default_rng(seed).permutation(len(functions))
        return {letter: functions[i] for letter, i in zip(string.ascii_lowercase, order, strict=False)}

    def applies(self, subject: Any, p: Parameters) -> bool:
        """Whether the option stands under `p`; a string is a letter as typed."""
        return isinstance(subject, str) or subject(p) is not None

    def right(self, p: Parameters) -> str:
        """The letter of the right option."""
        return self.letter(self.reference, p)

    def letter(self, subject: Callable[[Parameters], str | None], p: Parameters) -> str:
        """The letter under which an option is shown."""
        return next(letter for letter, function in self.options(p).items() if function is subject)

    def judge(self, p: Parameters, ask: Ask, key: tuple[int, ...]) -> list[Verdict]:
        """The letter in any dress: 'b', 'B', '(b)', 'b)'."""
        try:
            given = value_of(ask(Question(kind="value", name=self.name)))
        except NoAnswer as error:
            return [failure_verdict("choice", self.name, error.reply)]
        options = self.options(p)
        letter = letter_of(given)
        if letter not in options:
            wanted = f"{self.name} must be one of the letters {', '.join(options)}, in quotes."
            return [Verdict(check="choice", ok=False, code="no_option", message=wanted)]
        if letter == self.right(p):
            return [Verdict(check="choice", ok=True, code="ok")]
        chosen = options[letter]
        return [Verdict(check="choice", ok=False, code=chosen.__name__, message=inspect.getdoc(chosen) or "")]

    def answer_cell(self, subject: Any, p: Parameters) -> str:
        """The answer cell of somebody who chooses `subject`: an option's function, or a string as typed."""
        return f"{self.name} = {subject if isinstance(subject, str) else self.letter(subject, p)!r}\n"

    def solution_cell(self, p: Parameters) -> str:
        """The assignment between nbgrader's marks, under a line that shows the form."""
        letters = ", ".join(repr(letter) for letter in self.options(p))
        return f"# {self.name} = ...   (one of {letters})\n{BEGIN}\n{self.name} = {self.right(p)!r}\n{END}\n"

    def trivial_answers(self, p: Parameters) -> dict[str, Any]:
        """No letter, or all of them."""
        letters = {"an empty string": "", "all letters at once": string.ascii_lowercase, "a number": 1}
        return {**super().trivial_answers(p), **letters}

    def local_check(self, p: Parameters) -> str:
        """Says whether the name is bound to one of the letters."""
        return f"form.check_choice({self.name!r}, {''.join(self.options(p))!r})"

    def statement(self, p: Parameters) -> str:
        """The options, one a line."""
        return "\n".join(f"- **{letter})** {function(p)}" for letter, function in self.options(p).items())


def letter_of(given: Any) -> str | None:
    """The letter that was meant: 'b', 'B', '(b)', 'b)'."""
    return given.strip().strip("().:").strip().lower() if isinstance(given, str) else None

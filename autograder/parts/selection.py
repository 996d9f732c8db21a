"""`Selection`: every option that is right, by its letters; each wrong one takes back what a right one gives."""

from __future__ import annotations

import inspect
import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from autograder.core import BEGIN, END, Ask, Parameters, Part, Question, Room, Verdict
from autograder.errors import AuthorError
from autograder.parts.choice import letters_of, options_named, shown_options
from autograder.protocol.respondents import NoAnswer, unread_verdict, value_of, value_verdict
from autograder.student.local_checks import Malformed, defined, well_formed

Option = Callable[[Parameters], str | None]
RULE = (
    "Several options may be right. Each right option that you name earns the same share of the points, each wrong one "
    "takes such a share away, and the points never fall below zero."
)
RIGHT, WRONG, MISSED = "a right option", "a wrong option", "a missing option"


@dataclass(frozen=True)
class Selection(Part):
    """A question with one or more right options among others, with a share of the points for each of them.

    `reference` lists the functions of the right options, `mistakes` those of the wrong ones; each gives an option's
    text, or None where the option does not stand in a variant. There are at least as many wrong options as right ones:
    otherwise who names all letters would earn. A mistake's docstring tells who named it why it is wrong.
    """

    kind = "selection"
    by_hand = "Where several answers may be right, tick the box of **each** answer that is."

    def __post_init__(self) -> None:
        super().__post_init__()
        listed = self.reference if isinstance(self.reference, list | tuple) else ()
        if not listed or not all(map(callable, listed)):
            raise AuthorError(
                "reference", f"part {self.name!r}: the reference lists the functions of the right options"
            )

    @classmethod
    def check_form(cls, name: str, letters: str, /) -> None:
        """Show the letters that are read; say where there are none, or others."""
        found = letters_of(defined(name), dict.fromkeys(letters, ""))
        if not found or not set(found) <= set(letters):
            raise Malformed("no_option", f'{name} must be letters from {", ".join(letters)}, such as {name} = "ab".')
        read = ", ".join(sorted(set(found)))
        well_formed(name, f"read as {read}")

    def right_options(self, p: Parameters) -> list[Option]:
        """Those that stand under `p`."""
        return [option for option in self.reference if option(p) is not None]

    def options(self, p: Parameters) -> dict[str, Option]:
        """The functions of the options by letter, in the order shown."""
        right, wrong = self.right_options(p), [item for item in self.mistakes if self.applies(item, p)]
        if not 1 <= len(right) <= len(wrong):
            raise AuthorError(
                "options",
                f"part {self.name!r}: {len(right)} right options and {len(wrong)} wrong ones under {p}; there must "
                "be a right one, and as many wrong ones",
            )
        return shown_options(self.name, p, [*right, *wrong])

    def applies(self, subject: Any, p: Parameters) -> bool:
        """Whether the option stands under `p`; a string is letters as typed."""
        return isinstance(subject, str) or subject(p) is not None

    def right(self, p: Parameters) -> str:
        """The letters of all right options, in the order of the alphabet."""
        return self.letters(self.right_options(p), p)

    def letters(self, chosen: Sequence[Option], p: Parameters) -> str:
        """The letters under which options are shown."""
        return "".join(letter for letter, function in self.options(p).items() if function in chosen)

    def judge(self, p: Parameters, ask: Ask, key: tuple[int, ...]) -> list[Verdict]:
        """A verdict for each right option and for each wrong one that was named; what is in doubt is a person's."""
        try:
            given = value_of(ask(Question(kind="value", name=self.name)))
        except NoAnswer as error:
            return [value_verdict("selection", self.name, error.reply)]
        options = self.options(p)
        found = letters_of(given, self.lettered(p))
        wanted = f'{self.name} must be letters from {", ".join(options)}, such as {self.name} = "ab".'
        if found and not set(found) & options.keys():
            return [Verdict(check="selection", ok=False, code="no_option", message=wanted)]
        if not found or not set(found) <= options.keys():
            return [unread_verdict("selection", self.name, given, wanted)]
        return self._verdicts({options[letter] for letter in found}, p)

    def read_as(self, value: Any, p: Parameters) -> str:
        """The letters and texts of the options."""
        texts = self.lettered(p)
        return options_named(letters_of(value, texts) or (), texts)

    def _verdicts(self, chosen: set[Option], p: Parameters) -> list[Verdict]:
        right = self.right_options(p)
        named = [Verdict(check=RIGHT, ok=True, code="ok") for option in right if option in chosen]
        text = "A right option is not among those that you named."
        missed = [Verdict(check=MISSED, ok=False, code="missed", message=text) for _ in right[len(named) :]]
        wrong = [
            Verdict(check=WRONG, ok=False, code=option.__name__, message=inspect.getdoc(option) or "")
            for option in self.mistakes
            if option in chosen
        ]
        # The first verdict is the gate: as many wrong options as right ones leave nothing.
        return [*named, *wrong, *missed] if len(named) > len(wrong) else [*wrong, *missed, *named]

    def weights(self, verdicts: Sequence[Verdict]) -> list[float]:
        """What a wrong option takes away, the right ones that were named lose in equal shares."""
        named = sum(verdict.check == RIGHT for verdict in verdicts)
        wrong = sum(verdict.check == WRONG for verdict in verdicts)
        left = max(named - wrong, 0) / named if named else 0.0
        return [left if verdict.check == RIGHT else 1.0 for verdict in verdicts]

    def answer_cell(self, subject: Any, p: Parameters) -> str:
        """The answer cell of somebody who names all right options, and a mistake's beside; or letters as typed."""
        if isinstance(subject, str):
            return f"{self.name} = {subject}\n"
        more = [] if subject is self.reference else [subject]
        return f"{self.name} = {self.letters([*self.right_options(p), *more], p)!r}\n"

    def solution_cell(self, p: Parameters) -> str:
        """The assignment between nbgrader's marks, under a line that shows the form."""
        letters = ", ".join(self.options(p))
        return f'# {self.name} = "..."   (letters from {letters})\n{BEGIN}\n{self.name} = {self.right(p)!r}\n{END}\n'

    def answer_under(self, p: Parameters) -> list[str | None]:
        """The texts of the right options."""
        return [option(p) for option in self.right_options(p)]

    def unstable(self, p: Parameters, key: tuple[int, ...]) -> str:
        """The texts of the options."""
        differs = any(option(p) != option(p) for option in self.reference)
        return "the reference returns two different values when called twice" if differs else ""

    def trivial_answers(self, p: Parameters) -> dict[str, Any]:
        """No letters, or one that no option has."""
        letters = {letter: letter for letter in string.ascii_lowercase[len(self.options(p)) :][:1]}
        return {**super().trivial_answers(p), "an empty string": "", "an empty list": [], **letters}

    def blind_answers(self, p: Parameters, shown: Sequence[str]) -> dict[str, Any]:
        """All letters, and a number."""
        letters = "".join(self.options(p))
        return {"all letters at once": letters, "a list of all letters": list(letters), "a number": 1}

    def local_check(self, p: Parameters) -> str:
        """Shows the letters that are read."""
        return f"form.check_selection({self.name!r}, {''.join(self.options(p))!r})"

    def lettered(self, p: Parameters) -> dict[str, str]:
        """The options."""
        return {letter: str(function(p)) for letter, function in self.options(p).items()}

    def rule(self, p: Parameters) -> str:
        """What an option is worth."""
        return RULE

    def room(self, p: Parameters) -> Room:
        """Crosses beside options."""
        return Room(options=True)

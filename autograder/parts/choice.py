"""`Choice`: one of several sentences, by its letter; every wrong one explains itself."""

from __future__ import annotations

import hashlib
import inspect
import json
import re
import string
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

from autograder.core import BEGIN, END, Ask, Parameters, Part, Question, Room, Verdict
from autograder.errors import AuthorError
from autograder.protocol.respondents import NoAnswer, unread_verdict, value_of, value_verdict
from autograder.student.local_checks import Malformed, defined, well_formed

# What may stand around a letter or an option's text, and what may stand before a letter.
_AROUND = "().:*_`'\"[]{} \t\n"
_WORD = re.compile(r"(?:option|answer|choice|letter)[ \t:]+", re.IGNORECASE)
_LETTER_AND_TEXT = re.compile(r"[(*_ ]*([A-Za-z])[*_]*[).:]+[*_]*\s+(.+)", re.DOTALL)


@dataclass(frozen=True)
class Choice(Part):
    """A question with one right option.

    `reference(p)` and each mistake give an option's text, or None where that option does not stand in a variant. The
    order follows from the part's name, the parameters and the texts alone, the same for everybody with the same
    variant: nothing in it tells which option is the reference. A mistake's docstring tells who chose it why it is
    wrong. `alternatives` are other options that are correct, by their letters or texts.
    """

    _: KW_ONLY
    alternatives: Sequence[str] = ()

    kind = "choice"
    all_or_nothing = True
    by_hand = "Tick the box of **one** answer. To change a tick, fill its box completely and tick another one."

    @classmethod
    def check_form(cls, name: str, letters: str, /) -> None:
        """Say whether the name is bound to one of the letters."""
        if letter_of(defined(name)) not in list(letters):
            raise Malformed("no_option", f"{name} must be one of {', '.join(map(repr, letters))}.")
        well_formed(name, "this is one of the letters")

    @property
    def shown_options(self) -> int:
        """The right one and every mistake that a variant may show."""
        return 1 + len(self.mistakes)

    def options(self, p: Parameters) -> dict[str, Callable[[Parameters], str | None]]:
        """The functions of the options by letter, in the order shown."""
        functions = [self.reference, *(item for item in self.mistakes if self.applies(item, p))]
        if self.reference(p) is None or len(functions) < 2:
            raise AuthorError(
                "options", f"part {self.name!r}: there must be one correct option and 1 to 25 wrong ones under {p}"
            )
        return shown_options(self.name, p, functions)

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
        """The letter in any dress, or the option's own text; what names no option for sure is a person's."""
        try:
            given = value_of(ask(Question(kind="value", name=self.name)))
        except NoAnswer as error:
            return [value_verdict("choice", self.name, error.reply)]
        options = self.options(p)
        texts = self.lettered(p)
        letter = chosen_letter(given, texts)
        wanted = f"{self.name} must be one of the letters {', '.join(options)}, in quotes."
        if letter is None:
            return [unread_verdict("choice", self.name, given, wanted)]
        if letter not in options:
            return [Verdict(check="choice", ok=False, code="no_option", message=wanted)]
        if letter in (self.right(p), *(chosen_letter(other, texts) for other in self.alternatives)):
            return [Verdict(check="choice", ok=True, code="ok")]
        chosen = options[letter]
        return [Verdict(check="choice", ok=False, code=chosen.__name__, message=inspect.getdoc(chosen) or "")]

    def read_as(self, value: Any, p: Parameters) -> str:
        """The option's letter and text."""
        texts = self.lettered(p)
        return options_named(letters, texts) if (letters := chosen_letter(value, texts)) else ""

    def mistake_in_words(self, mistake: Callable[..., Any], p: Parameters) -> str:
        """The option's letter."""
        return f"This is option **{self.letter(mistake, p)})**."

    def accepting(self, answers: Sequence[Any]) -> Part:
        """With further alternatives."""
        return replace(self, alternatives=[*self.alternatives, *map(str, answers)])

    def answer_cell(self, subject: Any, p: Parameters) -> str:
        """The answer cell of somebody who chooses `subject`: an option's function, or a string as typed."""
        return f"{self.name} = {subject if isinstance(subject, str) else self.letter(subject, p)!r}\n"

    def solution_cell(self, p: Parameters) -> str:
        """The assignment between nbgrader's marks, under a line that shows the form."""
        letters = ", ".join(repr(letter) for letter in self.options(p))
        return f"# {self.name} = ...   (one of {letters})\n{BEGIN}\n{self.name} = {self.right(p)!r}\n{END}\n"

    def trivial_answers(self, p: Parameters) -> dict[str, Any]:
        """No letter, or one that no option has."""
        letters = {letter: letter for letter in string.ascii_lowercase[len(self.options(p)) :][:1]}
        return {**super().trivial_answers(p), "an empty string": "", **letters}

    def blind_answers(self, p: Parameters, shown: Sequence[str]) -> dict[str, Any]:
        """All letters, together or in a list, and a number."""
        letters = "".join(self.options(p))
        return {"all letters at once": letters, "a list of all letters": list(letters), "a number": 1}

    def local_check(self, p: Parameters) -> str:
        """Says whether the name is bound to one of the letters."""
        return f"form.check_choice({self.name!r}, {''.join(self.options(p))!r})"

    def lettered(self, p: Parameters) -> dict[str, str]:
        """The options."""
        return {letter: str(function(p)) for letter, function in self.options(p).items()}

    def room(self, p: Parameters) -> Room:
        """A cross beside an option."""
        return Room(options=True)


def options_named(letters: Iterable[str], texts: Mapping[str, str]) -> str:
    """A line for each letter, with the text of its option."""
    return "\n".join(f"- **{letter})** {texts.get(letter, 'there is no such option')}" for letter in letters)


def letter_of(given: Any) -> str | None:
    """The letter that was meant: 'b', 'B', '(b)', 'b)', '**b)**', ['b'], 'option b'; None where it is not one."""
    if isinstance(given, list | tuple) and len(given) == 1:
        given = given[0]
    if not isinstance(given, str):
        return None
    letter = _WORD.sub("", unicodedata.normalize("NFKC", given).strip(_AROUND), count=1).strip(_AROUND).lower()
    return letter if len(letter) == 1 and letter in string.ascii_lowercase else None


def chosen_letter(given: Any, texts: Mapping[str, str]) -> str | None:
    """The letter that was meant, also where the option's own text is given with it or alone; None if in doubt."""
    if letter := letter_of(given):
        return letter
    if isinstance(given, list | tuple) and len(given) == 1:
        given = given[0]
    if not isinstance(given, str):
        return None
    both = _LETTER_AND_TEXT.fullmatch(given.strip())
    said, sentence = (both[1].lower(), both[2]) if both else ("", given)
    named = [letter for letter, text in texts.items() if _words(text) == _words(sentence)]
    return named[0] if len(named) == 1 and said in ("", named[0]) else None


_PLURAL = re.compile(r"\s*(?:options|answers|choices|letters)[ \t:]+", re.IGNORECASE)
_BETWEEN = re.compile(r"[\s,;&+<>|→]+|->|=>")


def letters_of(given: Any, texts: Mapping[str, str]) -> list[str] | None:
    """Several letters in the order given: 'ac', 'A, C', ['a', 'c'], '(a) and (c)', a list of options' own texts.

    None if in doubt. Letters that no option has are among them.
    """
    if isinstance(given, list | tuple) and len(given) != 1:
        found = [chosen_letter(item, texts) for item in given]
        return [letter for letter in found if letter] if all(found) else None
    if letter := chosen_letter(given, texts):
        return [letter]
    given = given[0] if isinstance(given, list | tuple) else given
    if not isinstance(given, str):
        return None
    text = unicodedata.normalize("NFKC", given)
    inside = text[said.end() :] if (said := _PLURAL.match(text)) else text
    words = [word for word in _BETWEEN.split(inside.strip(_AROUND)) if word.casefold() not in ("", "and")]
    together = words[0].casefold() if len(words) == 1 else ""
    if together and set(together) <= texts.keys() and len(set(together)) == len(together):
        return list(together)
    found = [letter_of(word) for word in words]
    return [letter for letter in found if letter] if words and all(found) else None


def shown_options(
    part: str, p: Parameters, functions: Sequence[Callable[[Parameters], str | None]]
) -> dict[str, Callable[[Parameters], str | None]]:
    """The functions of the options that stand under `p`, by their letters.

    Their order is by a hash of the variant, the part and the text: nothing in it tells which of them is right.
    """
    texts = [function(p) for function in functions]
    if len(set(texts)) < len(texts):
        raise AuthorError("options", f"part {part!r}: two options have the same text under {p}")
    if not 2 <= len(texts) <= len(string.ascii_lowercase):
        raise AuthorError("options", f"part {part!r}: there must be 2 to 26 options, not {len(texts)} under {p}")

    def place(option: tuple[str | None, Any]) -> str:
        return hashlib.sha256(json.dumps([p, part, option[0]], sort_keys=True, default=repr).encode()).hexdigest()

    shown = sorted(zip(texts, functions, strict=True), key=place)
    return {letter: function for letter, (_, function) in zip(string.ascii_lowercase, shown, strict=False)}


def _words(text: str) -> str:
    """A sentence without what typing changes: case, spaces, marks of emphasis, the full stop."""
    return re.sub(r"[\s*_`$]+", " ", text).strip(" .").casefold()

"""Questions about typed work: several lines that a student typed, one of them changed in one place; which is wrong?

The lines are those of one answer, or the one-line answers to several parts. The judge has decided that all of them are
right as they are handed in, and that the changed one is not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from autograder.core import Answer, Ask, Parameters, Part, Question
from autograder.defence.proofs import LETTERS, Asked
from autograder.grading.judge import judge_part
from autograder.parts.mutants import mutants_of_text

LEAST, MOST = 3, 5  # lines
TRIED = 4  # changes of one line, until one is refuted
_LONGEST = 220  # letters of a line


@dataclass(frozen=True, kw_only=True)
class Typed:
    """A part whose typed answer is right, and the answer's text."""

    part: Part
    text: str

    @property
    def lines(self) -> list[str]:
        """The lines with something in them."""
        return [line.strip() for line in self.text.strip().split("\n") if line.strip()]


@dataclass(frozen=True, kw_only=True)
class Lines:
    """What a student typed in one notebook: right answers by part, in the notebook's order."""

    notebook: str
    p: Parameters
    key: tuple[int, ...]
    typed: Sequence[Typed]

    def questions(self) -> Iterator[Asked]:
        """One, about an answer of several lines or about answers of one line each, whichever chance gives."""
        rng = np.random.default_rng((*self.key, 8))
        groups = [[(item, line) for line in item.lines] for item in self.typed if len(item.lines) >= LEAST]
        short = [(item, item.lines[0]) for item in self.typed if len(item.lines) == 1 and _simple(item)]
        if len(short) >= LEAST:
            start = int(rng.integers(max(1, len(short) - MOST + 1)))
            groups.append(short[start : start + MOST])
        for place in rng.permutation(len(groups)):
            lines = groups[int(place)]
            if all(len(line) <= _LONGEST for _, line in lines) and len(lines) <= len(LETTERS):
                yield from self._asked(lines, rng)
                return

    def _asked(self, lines: Sequence[tuple[Typed, str]], rng: np.random.Generator) -> Iterator[Asked]:
        one = len({item.part.name for item, _ in lines}) == 1
        for place in map(int, rng.permutation(len(lines))):
            item, line = lines[place]
            if one and place < item.part.given_lines:
                continue  # the given line
            if changed := self._wrong(item, line, rng):
                options = tuple(
                    f"`{changed if each == place else text}`"
                    if one
                    else f"{other.part.name}: `{changed if each == place else text}`"
                    for each, (other, text) in enumerate(lines)
                )
                what = f"your answer `{item.part.name}`" if one else "your answers in this problem"
                yield Asked(
                    kind="line",
                    notebook=self.notebook,
                    part=item.part.name,
                    text=f"These are the lines of {what}, with one place changed in one of them. Which line is the "
                    "first that is wrong now?",
                    options=options,
                    answer=LETTERS[place],
                    guess=LETTERS[place],
                    why=f"you wrote `{line}`",
                )
                return

    def _wrong(self, item: Typed, line: str, rng: np.random.Generator) -> str:
        """The line with one place changed, so that the answer is refuted; empty where none of some is."""
        made = [mutant.subject for mutant in mutants_of_text(line) if mutant.subject.strip()]
        for place in rng.permutation(len(made))[:TRIED]:
            changed = made[int(place)]
            text = item.text.replace(line, changed, 1)
            others = {other.part.name: other.text for other in self.typed}
            if text != item.text and refuted(item.part, self.p, {**others, item.part.name: text}):
                return str(changed)
        return ""


def _simple(item: Typed) -> bool:
    return item.part.in_closed_form


def answering(texts: Mapping[str, str]) -> Ask:
    """Gives each part its text, as a notebook would."""

    def ask(question: Question) -> Answer:
        if question.name in texts:
            return Answer(value=texts[question.name])
        return Answer(failure="missing", detail=f"{question.name} is not defined")

    return ask


def refuted(part: Part, p: Parameters, texts: Mapping[str, str]) -> bool:
    """Whether the judge has decided, and found something wrong: neither held nor unread."""
    outcome = judge_part(part.terse(), p, answering(texts), (0,))
    return outcome.standing == "lost" and not any(
        verdict.code in ("unreadable", "missing", "staff") for verdict in outcome.verdicts
    )

"""What a sheet asks: the parts of an exam under a seat's numbers, in the words of paper, its options in order.

paper = Paper(course, assignment, root)
paper.questions(seat)      problem by problem, part by part
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from autograder.authoring import loading, statement
from autograder.authoring.assignment import Assignment
from autograder.authoring.variants import variant
from autograder.core import Parameters, Part, Problem, Room
from autograder.errors import AuthorError
from autograder.printing.seats import Seat
from autograder.printing.wording import for_paper


@dataclass(frozen=True, kw_only=True)
class Question:
    """One part on a sheet. `options` are lettered texts in the order of the sheet; `text` and `rule` are Markdown."""

    number: str
    slug: str
    title: str
    text: str
    rule: str
    options: Mapping[str, str]
    part: Part
    p: Parameters

    @property
    def room(self) -> Room:
        """The frame of the answer."""
        return self.part.room(self.p)

    @property
    def name(self) -> str:
        """`problem.part`, as marks and tables call it."""
        return f"{self.slug}.{self.part.name}"


@dataclass(frozen=True, kw_only=True)
class Section:
    """One problem on a sheet."""

    number: int
    slug: str
    title: str
    introduction: str
    questions: tuple[Question, ...]

    @property
    def points(self) -> float:
        """What its parts are worth."""
        return sum(question.part.points for question in self.questions)


class Paper:
    """An assignment as it is asked on paper; what many seats have in common is rendered once."""

    def __init__(self, course: Path, assignment: Assignment, root: Path) -> None:
        self.course, self.assignment, self.root = course, assignment, root
        self.problems: dict[str, Problem] = {
            slug: loading.load(slug, root).worth(assignment.points.get(slug)) for slug in assignment.problems
        }
        self._rendered: dict[tuple[str, int], tuple[Parameters, dict[str, str]]] = {}

    def sections(self, seat: Seat) -> list[Section]:
        """What a seat is asked, problem by problem."""
        return [self._section(number, slug, seat) for number, slug in enumerate(self.problems, 1)]

    def _section(self, number: int, slug: str, seat: Seat) -> Section:
        problem, (p, texts) = self.problems[slug], self._texts(slug, seat.seeds[slug])
        return Section(
            number=number,
            slug=slug,
            title=problem.title,
            introduction=for_paper(texts[""]),
            questions=tuple(
                self._question(f"{number}.{place}", slug, part, p, texts[part.name], seat)
                for place, part in enumerate(problem.parts, 1)
            ),
        )

    def _question(self, number: str, slug: str, part: Part, p: Parameters, text: str, seat: Seat) -> Question:
        heading, _, body = text.removesuffix(part.statement(p)).partition("\n")
        lettered = part.lettered(p)
        order = seat.orders.get(f"{slug}.{part.name}", "".join(lettered))
        options = {chr(ord("a") + place): lettered[letter] for place, letter in enumerate(order)}
        void = self.assignment.voids.get(slug, {}).get(part.name)
        told = f"**{void.sentence()}**\n\n" if void and void.effect and void.applies(seat.seeds[slug]) else ""
        return Question(
            number=number,
            slug=slug,
            title=heading.removeprefix("## "),
            text=told + for_paper(body),
            rule=for_paper(part.rule(p)),
            options=options,
            part=part,
            p=p,
        )

    def _texts(self, slug: str, seed: int) -> tuple[Parameters, dict[str, str]]:
        if (slug, seed) not in self._rendered:
            p = variant(self.problems[slug], seed).parameters
            text = loading.statement_text(slug, self.root)
            self._rendered[slug, seed] = p, statement.render(self.problems[slug], text, p)
        return self._rendered[slug, seed]

    def asked(self, seat: Seat) -> str:
        """A digest of all that a seat is asked, whatever it looks like."""
        told = [
            [section.title, section.introduction, [_told(question) for question in section.questions]]
            for section in self.sections(seat)
        ]
        return hashlib.sha256(json.dumps(told, ensure_ascii=False).encode()).hexdigest()[:16]

    def picture(self, slug: str, address: str) -> bytes:
        """A picture of a statement, from the problem's folder or from beside the notebooks."""
        for folder in (self.root / slug, self.course / "source" / self.assignment.name):
            path = (folder / address).resolve()
            if path.is_file() and folder.resolve() in path.parents:
                return path.read_bytes()
        raise AuthorError(
            "picture", f"problems/{slug}/statement.md shows the picture {address}, which is not in problems/{slug}/"
        )


def _told(question: Question) -> list[object]:
    part = question.part
    return [question.name, part.points, question.title, question.text, question.rule, list(question.options.items())]


def kinds(sections: list[Section]) -> Iterator[str]:
    """How answers of the kinds that occur are written by hand, each once."""
    parts = [question.part for section in sections for question in section.questions]
    yield from dict.fromkeys(part.by_hand for part in parts if part.by_hand)


def points(number: float) -> str:
    """Points as they are printed: `4`, `2.5`."""
    return re.sub(r"\.?0+$", "", f"{number:.2f}")

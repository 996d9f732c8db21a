"""The key to a seat's sheet: answers as one types them, other accepted forms, known mistakes with their points, rubric.

Letters are those of the sheet. What a mistake keeps is asked of the judge where a part can be right by halves, once for
each different question; the answers are remembered in the course's `print/` folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import string
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.audit.simulated_answers import handed_in
from autograder.authoring import privacy
from autograder.authoring.paper_formulas import unprintable
from autograder.authoring.variants import stream_key
from autograder.core import Parameters, Part, Problem, Verdict, in_points
from autograder.errors import AutograderError
from autograder.grading.judge import award
from autograder.maths import guard
from autograder.parts.written import as_list
from autograder.printing.markup import markup, quoted, raw
from autograder.printing.questions import Paper, Question, Section, points
from autograder.printing.seats import FOLDER, Seat
from autograder.protocol.respondents import Interview

KEPT = "kept-points.json"
FORMS = 6  # accepted forms that are listed
SHORT = 160  # signs of one


@dataclass(frozen=True, kw_only=True)
class Mistake:
    """A known mistake: what it is called, how the sheet shows it, what it says to its student, the points it keeps."""

    name: str
    answer: str
    hint: str
    points: float


class KeptPoints:
    """What mistakes keep of a part's points, by the judge; remembered from one printing to the next."""

    def __init__(self, course: Path) -> None:
        self._path = course / FOLDER / KEPT
        try:
            self._known: dict[str, float] = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            self._known = {}
        self._new = False

    def of(self, problem: Problem, part: Part, mistake: Callable[..., Any], p: Parameters) -> float:
        """The points."""
        if part.all_or_nothing:
            return 0.0
        cell = part.answer_cell(mistake, p)
        told = [problem.slug, problem.version, part.name, part.points, part.solution_cell(p), part.rule(p), cell]
        key = hashlib.sha256(json.dumps(told).encode()).hexdigest()[:24]
        if key not in self._known:
            self._known[key], self._new = _judged(problem, part, cell, p), True
        return self._known[key]

    def save(self) -> None:
        """Keep what is new."""
        if self._new:
            privacy.make_folder(self._path.parent)
            privacy.write(self._path, json.dumps(self._known, sort_keys=True))


def _judged(problem: Problem, part: Part, cell: str, p: Parameters) -> float:
    """What a cell earns; what the first verdict loses needs no other."""
    verdicts: list[Verdict] = []
    terse, key = part.terse(), stream_key(b"key", problem.slug, part.name)
    with guard.remembering():
        for verdict in terse.judging(p, Interview(handed_in(problem, part, cell)), key):
            verdicts.append(verdict)
            if verdicts[0].ok is False:
                return 0.0
    return award(terse, verdicts)[1]


class Keys:
    """Writes the keys of an exam."""

    def __init__(self, paper: Paper, kept: KeptPoints) -> None:
        self._paper, self._kept = paper, kept
        self._read: dict[str, str] = {}  # answers as they are read, of the seat whose key is written

    def answer(self, question: Question, seat: Seat) -> str:
        """The right answer as one types it, with the letters of the sheet."""
        return seat.paper_letters(question.name, question.part.typed_answer(question.p))

    def mistakes(self, question: Question, seat: Seat) -> Iterator[Mistake]:
        """The mistakes that can be made on the sheet, in their order."""
        part, p = question.part, question.p
        problem = self._paper.problems[question.slug]
        for mistake in part.mistakes:
            if part.applies(mistake, p):
                yield Mistake(
                    name=mistake.__name__.replace("_", " "),
                    answer=_shown(question, mistake, seat),
                    hint=" ".join((mistake.__doc__ or "").split()),
                    points=self._kept.of(problem, part, mistake, p),
                )

    def key(self, seat: Seat) -> str:
        """The key of one seat as Typst code."""
        sections = self._paper.sections(seat)
        self._read = self._printable(sections, seat)
        whose = f" ({seat.student})" if seat.student else ""
        head = f"#strong[Key to {seat.code}{whose}], {in_points(sum(s.points for s in sections))}"
        body = [head, *(self._section(section, seat) for section in sections)]
        options = f'seat: {quoted(seat.code)}, title: {quoted(self._paper.assignment.title)}, kind: "key"'
        return f"#sheet({options})[\n" + "\n\n".join(body) + "\n]\n"

    def _printable(self, sections: Sequence[Section], seat: Seat) -> dict[str, str]:
        """The formulas of a key as they are read, by the question's name, where paper can show them."""
        found = {}
        for question in (item for section in sections for item in section.questions if item.part.formula):
            with contextlib.suppress(AutograderError):
                found[question.name] = question.part.read_as(self.answer(question, seat), question.p)
        if unprintable(found.values()):  # one of them: each is tried by itself
            return {name: read for name, read in found.items() if not unprintable([read])}
        return found

    def _section(self, section: Section, seat: Seat) -> str:
        drawn = self._seed_and_numbers(section, seat)
        heading = f"#problem([{markup(section.title)}], number: {section.number})\n\n{drawn}"
        return "\n\n".join([heading, *(self._entry(question, seat) for question in section.questions)])

    def _seed_and_numbers(self, section: Section, seat: Seat) -> str:
        p = section.questions[0].p
        numbers = ", ".join(f"{name} = {value}" for name, value in p.items())
        return f"#text(0.85em)[Seed {seat.seeds[section.slug]}: {markup(f'`{numbers}`') if numbers else 'no numbers'}]"

    def _entry(self, question: Question, seat: Seat) -> str:
        part = question.part
        more = "\n\n".join(filter(None, [self._forms(question), self._known(question, seat), _rubric(part)]))
        title, worth = f"[{markup(question.title)}]", quoted(in_points(part.points))
        return f"#entry({quoted(question.number)}, {title}, {worth}, [{self._right(question, seat)}], [{more}])"

    def _right(self, question: Question, seat: Seat) -> str:
        part, text = question.part, self.answer(question, seat)
        if part.judged_by_person:
            return markup(text)
        if not question.options:
            read = self._read.get(question.name)
            return "\n\n".join([raw(text, block="\n" in text), *([markup(read)] if read else [])])
        texts = [f"{letter}) {question.options[letter]}" for letter in text if letter in question.options]
        return f"{raw(text)} #h(0.6em) {markup('; '.join(texts))}" if question.room.options else raw(text)

    def _forms(self, question: Question) -> str:
        forms = [form for form in question.part.also_right(question.p) if len(form) <= SHORT]
        if not forms or question.options:
            return ""
        named = question.part.runs
        shown = [f"_{form}_" if named else f"`{' ; '.join(form.splitlines())}`" for form in forms[:FORMS]]
        also = "Right as well, written otherwise" if named else "Also right, as any equal form is"
        return f"{markup(also)}: #h(0.2em) " + ", ".join(_piece(text) for text in shown)

    def _known(self, question: Question, seat: Seat) -> str:
        rows = [_row(mistake) for mistake in self.mistakes(question, seat)]
        return f"#mistakes({', '.join(rows)})" if rows else ""


def _piece(text: str) -> str:
    return raw(text[1:-1]) if text.startswith("`") else markup(text)


def _row(mistake: Mistake) -> str:
    typed = f": {raw(mistake.answer)}" if mistake.answer else ""
    return f"[{points(mistake.points)}], [#emph[{markup(mistake.name)}]{typed}], [{markup(mistake.hint)}]"


def _rubric(part: Part) -> str:
    return f"#strong[Rubric.] {markup(as_list(part.rubric))}" if part.rubric.strip() else ""


def _shown(question: Question, mistake: Callable[..., Any], seat: Seat) -> str:
    """What a mistake looks like on the sheet: a letter, or a short text; empty for code."""
    part, p = question.part, question.p
    if question.room.options:
        functions = part.options(p)  # type: ignore[attr-defined]
        letter = next((letter for letter, function in functions.items() if function is mistake), "")
        return f"{seat.paper_letters(question.name, letter)})" if letter else ""
    if part.runs or part.judged_by_person:
        return ""
    cell = part.answer_cell(mistake, p).partition("=")[2].strip()
    text = seat.paper_letters(question.name, cell.strip("'\"")) if question.options else _inside(cell)
    return text if len(text) <= SHORT and "\n" not in text else ""


def _inside(cell: str) -> str:
    """What stands between the quotes of `kind("…")`."""
    inner = cell.partition("(")[2].rpartition(")")[0] if cell[:1] in string.ascii_letters and "(" in cell else cell
    return inner.strip().removeprefix("r").strip("\"'\n").strip()

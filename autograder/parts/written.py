"""`Written`: a text that a person marks in formgrader, with the rubric beside it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from autograder.core import BEGIN, END, Ask, Parameters, Part, Question, Room, Standing, Verdict
from autograder.errors import AuthorError
from autograder.protocol.cell_text import FRAME, PLACE
from autograder.protocol.respondents import NoAnswer, value_of


@dataclass(frozen=True)
class Written(Part):
    """A markdown answer. `reference` is a model answer (text, or a function of p); `rubric` says what earns what."""

    kind = "written"
    by_hand = "An answer in words stands in whole sentences, on the lines."
    judged_by_person = True
    at_best: ClassVar[Standing] = "held"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.rubric.strip():
            raise AuthorError("no_rubric", f"part {self.name!r}: a written answer needs a rubric for the grader")
        if not self.reference:
            raise AuthorError("reference", f"part {self.name!r}: a written answer needs a model answer as reference")

    def model_answer(self, p: Parameters) -> str:
        """The reference as text."""
        return str(self.reference(p) if callable(self.reference) else self.reference).strip()

    def judge(self, p: Parameters, ask: Ask, key: tuple[int, ...]) -> list[Verdict]:
        """Held for a person; an empty answer is lost without one."""
        try:
            text = value_of(ask(Question(kind="text", name=self.name)))
        except NoAnswer:
            text = ""
        if not str(text).strip():
            return [Verdict(check="text", ok=False, code="missing", message="The answer is empty.")]
        staff = f"Rubric:\n\n{as_list(self.rubric)}\n\nA model answer:\n\n{self.model_answer(p)}"
        return [Verdict(check="text", ok=None, code="person", message="A grader will mark this answer.", staff=staff)]

    def questions(self, p: Parameters, key: tuple[int, ...]) -> list[Question]:
        """Nothing is asked of a process: the text is in the cell."""
        return []

    def trivial_answers(self, p: Parameters) -> dict[str, Any]:
        """No words."""
        return {"an empty answer": "", "blanks": " \n\t"}

    def answer_cell(self, subject: Callable[[Parameters], Any] | str, p: Parameters) -> str:
        """The answer cell of somebody who writes `subject`."""
        return str(subject(p) if callable(subject) else subject)

    def stub_cell(self, p: Parameters) -> str:
        """A frame that says where to write."""
        return f"{FRAME}\n\n{PLACE}\n"

    def solution_cell(self, p: Parameters) -> str:
        """The model answer between nbgrader's marks."""
        return f"{BEGIN}\n{self.model_answer(p)}\n{END}\n"

    def typed_answer(self, p: Parameters) -> str:
        """The model answer."""
        return self.model_answer(p)

    def also_right(self, p: Parameters) -> list[str]:
        """A person decides."""
        return []

    def cell_of(self, text: str, p: Parameters) -> str:
        """The words."""
        return text.strip()

    def room(self, p: Parameters) -> Room:
        """Ruled lines, two and a half for each point."""
        return Room(lines=min(24, max(6, round(2.5 * self.points))), ruled=True)


_CRITERION = re.compile(r"(?:[-*+] |\d[\d/.]*(?: of \d+)?(?: -| points?\b))")


def as_list(rubric: str) -> str:
    """A rubric as Markdown: a line for each criterion, and what is said beside them in paragraphs of its own.

    A line is a criterion if it begins with a dash or with points; what does not begin a sentence goes on with the line
    above it.
    """
    blocks: list[str] = []
    for line in filter(str.strip, rubric.strip().splitlines()):
        text, above = line.strip(), blocks[-1] if blocks else ""
        if _CRITERION.match(text) and not text.endswith(":"):
            blocks.append(f"- {text.removeprefix('- ')}")
        elif above and (line[0].isspace() or not text[0].isupper() or above[-1] not in ".;:!?)"):
            blocks[-1] += f" {text}"
        else:
            blocks.append(text)
    return "\n\n".join(blocks).replace("\n\n- ", "\n- ").replace(":\n- ", ":\n\n- ")

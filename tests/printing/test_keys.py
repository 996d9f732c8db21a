"""The key of exam-1: what it prints, typed into the judge by way of the sheet's letters, earns full marks."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.audit.answer_rows import Row
from autograder.audit.tried_answers import judge
from autograder.authoring.assignment import read_assignment
from autograder.printing.drawing import Drawing
from autograder.printing.keys import KeptPoints, Keys
from autograder.printing.questions import Paper, Question, Section
from autograder.printing.seats import Seat, planned
from autograder.printing.typesetting import Typesetter, pages

COURSE = Path(__file__).resolve().parents[2] / "notebooks"


@pytest.fixture(scope="module")
def key(tmp_path_factory) -> tuple[Keys, Seat, list[Section]]:
    """The keys of exam-1, and the second seat, which has numbers of its own."""
    assignment = read_assignment(COURSE, "exam-1")
    paper = Paper(COURSE, assignment, COURSE.parent / "problems")
    _, seat = Drawing(assignment, paper.problems, b"a secret of the tests, forty letters").draw(planned([], 2, 1, []))
    return Keys(paper, KeptPoints(tmp_path_factory.mktemp("course"))), seat, paper.sections(seat)


@pytest.mark.parametrize("number", range(4))
def test_the_keys_answers_earn_full_marks(number: int, key) -> None:
    """Every part of each problem, as whoever copies from paper would type it; what is in words waits for a person."""
    keys, seat, sections = key
    section: Section = sections[number]
    cells, expected = {}, {}
    for question in section.questions:
        typed = seat.notebook_letters(question.name, keys.answer(question, seat))
        cells[question.part.name] = question.part.cell_of(typed, question.p)
        expected[question.part.name] = ("held" if question.part.judged_by_person else "full",)
    row = Row(line=1, slug=section.slug, cells=cells, expected=expected, seed=seat.seeds[section.slug])
    judged = judge(row)
    assert judged.outcomes.keys() == cells.keys() and not judged.stale
    assert {part: judged.result(part) for part in cells} == dict.fromkeys(cells, "right")


def question(sections: list[Section], name: str) -> Question:
    """The question of that name."""
    return next(item for section in sections for item in section.questions if item.name == name)


def test_mistakes_have_their_points(key) -> None:
    """Nothing where a part is all or nothing, a share where a later check alone is lost; a letter is the sheet's."""
    keys, seat, sections = key
    code = question(sections, "merged_query_key.merge")
    kept = {mistake.name: mistake.points for mistake in keys.mistakes(code, seat)}
    assert set(kept.values()) == {0.0} and len(kept) > 3
    partly = {item.name: item.points for item in keys.mistakes(question(sections, "ugrnn_gates.ugrnn"), seat)}
    assert 0 < max(partly.values()) < question(sections, "ugrnn_gates.ugrnn").part.points
    choice = question(sections, "loss_heads.reason")
    for mistake in keys.mistakes(choice, seat):
        letter = mistake.answer.removesuffix(")")
        function = next(item for item in choice.part.mistakes if item.__name__.replace("_", " ") == mistake.name)
        assert choice.options[letter] == function(choice.p)
    assert keys.answer(choice, seat) not in {mistake.answer[0] for mistake in keys.mistakes(choice, seat)}


def test_what_was_judged_is_remembered(key, tmp_path) -> None:
    """Printing again asks the judge nothing, and another variant is another question."""
    keys, _, sections = key
    asked = question(sections, "ugrnn_gates.ugrnn")
    kept = KeptPoints(tmp_path)
    mistake, problem = asked.part.mistakes[-1], keys._paper.problems["ugrnn_gates"]
    points = kept.of(problem, asked.part, mistake, asked.p)
    kept.save()
    again = KeptPoints(tmp_path)
    again._known = dict.fromkeys(again._known, points + 1)  # whoever reads it, reads this
    assert again.of(problem, asked.part, mistake, asked.p) == points + 1
    other = {**asked.p, "h_gate": "old" if asked.p["h_gate"] == "new" else "new"}
    assert again.of(problem, asked.part, mistake, other) == points


def test_a_key_is_a_document(key, tmp_path) -> None:
    """Of problems with formulas, code, words and choices: it compiles, with answers, hints and rubrics."""
    keys, seat, sections = key
    code = keys._section(sections[3], seat) + keys._section(sections[1], seat)
    pdf = Typesetter(tmp_path).pdf(f'#sheet(seat: "A-002", kind: "key")[{code}]', {}, title="Key", language="en")
    assert pages(pdf) >= 4 and "Rubric." in code and "torch.einsum" in code

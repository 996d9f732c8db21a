"""Held answers: which are the same one, what a decision does to the gradebook, and what it does not do twice."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from autograder.core import Outcome, Part, Verdict
from autograder.course.answer_keys import Key, key_of
from autograder.course.deciding import Conflict, Desk
from autograder.course.run import Options, run
from autograder.course.waiting import ByJudge, Group, Waiting, grouped
from autograder.errors import StaffError
from autograder.nbgrader.course_api import opened
from autograder.nbgrader.folder import Folder
from autograder.parts import Expression, Matrix
from autograder.reporting.review_journal import LookRequest, path_of
from tests.review.conftest import LATER, hand_in_all

ROWS = """
    select student_id, name, manual_score, needs_manual_grade from grade
    join submitted_notebook on grade.notebook_id = submitted_notebook.id
    join submitted_assignment on submitted_notebook.assignment_id = submitted_assignment.id
    join base_cell on grade.cell_id = base_cell.id
"""


def marks(course: Path) -> dict[tuple[str, str], tuple[float | None, bool]]:
    """By student and part: the mark by hand, and whether a person is to look."""
    with sqlite3.connect(course / "gradebook.db") as database:
        rows = database.execute(ROWS).fetchall()
    return {(student, part): (score, bool(waits)) for student, part, score, waits in rows}


def group(desk: Desk, item: str, size: int) -> Group:
    """The group of an item that has so many members."""
    (found,) = [each for each in desk.groups() if each.first.name == item and len(each.answers) == size]
    return found


def test_equal_answers_stand_together(desk) -> None:
    """Texts that differ in spaces are one answer where the reason is the same; another reason is another answer."""
    found = [(each.first.name, sorted(answer.student for answer in each.answers)) for each in desk.groups()]
    assert sorted(found) == [
        ("count", ["ada", "bob"]),
        ("total", ["ada", "bob"]),
        ("total", ["eve"]),
        ("why", ["ada"]),
        ("why", ["bob", "eve"]),
    ]
    assert [len(members) for _, members in found] == [2, 2, 2, 1, 1]


def key(typed: str, k: int, part: Part | None = None, right: str = "", **told) -> Waiting:
    """A typed answer that could be read, under a variant whose reference is k*x."""
    part = part or Expression("f", points=1, domains={"x": "positive"}, reference=f"{k}*x")
    spelled = "".join(typed.split())
    words = {"asks": f"{k}", "spelled": spelled, "compared": True, "typed": typed, "right": right or f"{k}*x"}
    own = Key(item="n.f", p={"K": k}, **{**words, **told})
    return Waiting(student=f"{typed} {k} {told}", notebook="n", name="f", maximum=1, part=part, p={"K": k}, key=own)


def rows(typed: str, k: int) -> Waiting:
    """The same of a matrix."""
    right = [[f"{k}*x", "0"]]
    return key(typed, k, Matrix("f", points=1, domains={"x": "positive"}, reference=right), repr(right))


TOGETHER = {
    "the same function": (key("x + x", 2), key("2 x", 2), True),
    "another function": (key("x + x", 2), key("3 x", 2), False),
    "the numbers of the own variant": (key("x*2", 2), key("3 x", 3), True),
    "the number of the other variant": (key("2 x", 2), key("2 x", 3), False),
    "no number of the variant": (key("x", 2), key("x", 3), False),
    "another reason": (key("2 x", 2), key("x*2", 2, reason="two files differ"), False),
    "another earlier answer": (key("2 x", 2), key("x*2", 2, earlier="'7'"), False),
    "the same matrix": (rows("[['x+x', '0']]", 2), rows("[['2 x', 'x-x']]", 2), True),
    "another entry": (rows("[['x+x', '0']]", 2), rows("[['2 x', '1']]", 2), False),
    "a column": (rows("[['x+x', '0']]", 2), rows("[['2 x'], ['0']]", 2), False),
    "a matrix with the numbers of the own variant": (rows("[['x*2', '0']]", 2), rows("[['3 x', '0']]", 3), True),
    "a matrix with the number of the other variant": (rows("[['x*2', '0']]", 2), rows("[['2 x', '0']]", 3), False),
    "not read, other spaces": (
        key("2 ? x", 2, compared=False, reason="?"), key("2?x", 2, compared=False, reason="?"), True,
    ),
    "not read, another text": (
        key("2 ? x", 2, compared=False, reason="?"), key("x ? 2", 2, compared=False, reason="?"), False,
    ),
    "not read, the numbers of the own variant": (
        key("2 ? x", 2, compared=False, reason="?"), key("3?x", 3, compared=False, reason="?"), True,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("one", "other", "same"), TOGETHER.values(), ids=TOGETHER)
def test_what_is_the_same_answer(one, other, same) -> None:
    """The judge decides, with the numbers of each variant; what is right of one must be right of the other."""
    assert (len(grouped([one, other], ByJudge())) == 1) is same
    assert (len(grouped([other, one], ByJudge())) == 1) is same


@pytest.mark.parametrize(("code", "compared"), [("undecided", True), ("unreadable", False)])
def test_a_matrix_is_kept_by_its_rows(code, compared) -> None:
    """It was handed in as rows, and is compared as such where it could be read; so is its reference."""
    part = Matrix("f", points=1, domains={"x": "positive"}, reference=[["x", "0"]])
    verdict = Verdict(check="matrix", ok=None, code=code, message="?")
    held = Outcome(part="f", standing="held", points=0, max_points=1, verdicts=(verdict,))
    found = key_of("n.f", held, part, {}, [["x", "x - x"]], "f = …", {}, None, "own")
    assert (found.typed, found.right, found.compared) == ("[['x', 'x - x']]", "[['x', '0']]", compared)


def test_a_decision_is_a_mark_by_hand_for_all_of_a_group(course, desk) -> None:
    """Points, comment and journal; who was taken out still waits."""
    both = group(desk, "total", 2)
    desk.decide(both.answers[:1], 3, by="gil", comment="Almost: $b$ is $\\beta$.", without=[both.answers[1].student])
    rows = marks(course)
    assert rows[both.answers[0].student, "total"] == (3, False)
    assert rows[both.answers[1].student, "total"] == (None, True)
    assert desk.follow() == [], "who was taken out of a group does not follow it"


@pytest.fixture
def decided(desk) -> Desk:
    """The pair's sum has three points by gil."""
    desk.decide(group(desk, "total", 2).answers, 3, by="gil", comment="b is beta")
    return desk


def test_undo_restores_the_gradebook(course, desk) -> None:
    """All as it was before, decision by decision; nothing is taken back twice."""
    before = marks(course)
    one = desk.decide(group(desk, "total", 2).answers, 3, by="gil")
    two = desk.decide(group(desk, "why", 2).answers, 0, by="gil", comment="no")
    assert marks(course) != before
    desk.undo(two.id, by="gil")
    desk.undo(one.id, by="gil")
    assert marks(course) == before
    with pytest.raises(Conflict):
        desk.undo(one.id, by="gil")
    assert len(path_of(course, "ps1").read_text().splitlines()) == 4, "the journal keeps every line"


def test_what_formgrader_changed_since_is_not_taken_back(course, decided) -> None:
    """A mark that was changed by other hands after the decision stays."""
    with opened(course) as api, api.gradebook as gradebook:
        grade = gradebook.find_grade("total", "geometric", "ps1", "ada")
        grade.manual_score = 1.5
        gradebook.db.commit()
    decided.undo(decided.state.standing()[0].id, by="gil")
    assert marks(course)["ada", "total"] == (1.5, False) and marks(course)["bob", "total"] == (None, True)


def test_two_graders_do_not_overwrite_each_other(course, desk) -> None:
    """Each has a server of their own; the second is told who was faster, and nothing is written."""
    with opened(course) as api:
        other = Desk(Folder(api, "ps1"))
        shown = group(other, "total", 2)
        desk.decide(group(desk, "total", 2).answers[:1], 3, by="gil")
        with pytest.raises(Conflict, match="gil has given 3 points"):
            other.decide(shown.answers, 1, by="mia")
        other.folder.close()
    assert [row[0] for row in marks(course).values()].count(1) == 0
    assert [each.by for each in desk.state.standing()] == ["gil"]


def test_an_answer_that_was_graded_again_is_not_decided_unseen(course, desk) -> None:
    """What a grader saw is another one by now."""
    shown = group(desk, "total", 1)
    hand_in_all(course, {"eve": {"total": "sum?"}})
    run(course, Options(assignment="ps1", jobs=1, students=("eve",)))
    with pytest.raises(Conflict, match="graded again"):
        desk.decide(shown.answers, 4, by="gil")


def test_later_equal_answers_follow_and_decisions_survive_grading(course, decided) -> None:
    """Grading again leaves decided marks; a new submission with the same answer has the same points, and is listed."""
    decided.folder.rows.forget()
    hand_in_all(course, LATER)
    result = run(course, Options(assignment="ps1", jobs=1))
    rows = marks(course)
    assert rows["ada", "total"] == rows["bob", "total"] == rows["zoe", "total"] == (3, False)
    assert [(each.students, each.by, each.points) for each in result.followed] == [(("zoe",), "gil", 3)]
    assert rows["eve", "total"] == (None, True), "another answer does not follow"
    assert rows["zoe", "why"] == (None, True)
    (rule,) = [each for each in decided.state.standing() if not each.follows]
    decided.undo(rule.id, by="mia")
    assert {marks(course)[student, "total"] for student in ("ada", "bob", "zoe")} == {(None, True)}


def test_another_answer_is_decided_again(course, decided) -> None:
    """A decided student hands in something else: the mark stays for now, and the new answer waits."""
    hand_in_all(course, {"ada": {"total": "sum?"}})
    run(course, Options(assignment="ps1", jobs=1, students=("ada",)))
    assert marks(course)["ada", "total"] == (3, True)
    assert [answer.by_hand for each in decided.groups() for answer in each.answers if answer.name == "total"
            and answer.student == "ada"] == [3]  # fmt: skip


def test_a_run_that_was_killed_before_the_gradebook_is_made_up_for(course, desk, monkeypatch) -> None:
    """The journal is written first: what is in it and not in the gradebook is given by the next run."""
    monkeypatch.setattr(desk, "_give", lambda ruling: None)
    desk.decide(group(desk, "total", 2).answers, 3, by="gil")
    monkeypatch.undo()
    assert marks(course)["ada", "total"] == (None, True)
    desk.follow()
    assert marks(course)["ada", "total"] == marks(course)["bob", "total"] == (3, False)


@pytest.mark.parametrize("points", [-0.5, 4.5])
def test_points_are_between_nothing_and_all(desk, points) -> None:
    """Nothing else is a mark."""
    with pytest.raises(StaffError):
        desk.decide(group(desk, "total", 2).answers, points, by="gil")


def test_a_request_has_its_state_on_the_page(course, desk) -> None:
    """Open, accepted with new points and the answer, open again when that is taken back."""
    asked = LookRequest(id="r1", time=0, student="eve", item="geometric.count", text="It is right!")
    assert (desk.take_in([asked]), desk.take_in([asked])) == (1, 0)
    page = course / "feedback/eve/ps1/geometric.html"
    list(desk.write_pages())
    assert "Nobody has decided yet" in page.read_text()
    desk.look_again(asked, 1.5, reply="Half of it, $x$.", by="gil")
    list(desk.write_pages())
    assert "Your points were changed. Half of it, <math" in page.read_text() and marks(course)["eve", "count"] == (
        1.5,
        False,
    )
    with pytest.raises(Conflict):
        desk.look_again(asked, None, reply="", by="mia")
    desk.undo("r1", by="gil")
    assert marks(course)["eve", "count"] == (None, False) and desk.state.requests["r1"].state == "open"
    desk.look_again(asked, None, reply="No.", by="gil")
    list(desk.write_pages())
    assert "Your points stay as they are. No." in page.read_text() and marks(course)["eve", "count"] == (None, False)

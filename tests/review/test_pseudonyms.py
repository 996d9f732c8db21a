"""With `pseudonyms = true` no id and no name of a student stands on a grader's screen or page; exports join them."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner
from traitlets.config import Config

from autograder.authoring import pseudonyms as module
from autograder.authoring.course_settings import FILE, read_settings
from autograder.authoring.pseudonyms import Called, pseudonyms
from autograder.cli import main
from autograder.errors import StaffError
from autograder.nbgrader.called import called
from autograder.nbgrader.for_graders import ForGraders
from autograder.reporting.review_journal import LookRequest
from autograder.review.held_queue import Queue
from tests.review.test_queue_server import Browser, everybody, served

SECRET = b"s" * 32
IDS = [f"ab{number:04d}" for number in range(2_000)]
ROSTER = (
    "id,last_name,first_name,email\nada,Lovelace,Ada,ada@uni.edu\nbob,Bobson,Bob,bob@uni.edu\neve,Evans,Eve,e@uni.edu\n"
)
NAMED = re.compile(r"(?<![\w@])(?:ada|bob|eve|zoe|lovelace|bobson|evans|\w+@uni\.edu)(?!\w)", re.IGNORECASE)


@pytest.fixture
def hidden(course) -> Path:
    """The queue's course, which hides its students and has their names."""
    (course / FILE).write_text("[privacy]\npseudonyms = true\n")
    (course / "roster.csv").write_text(ROSTER)
    return course


def run(course: Path, *words: str) -> str:
    """A command's output, both streams."""
    result = CliRunner().invoke(main, [*words, "--course", str(course)])
    assert result.exit_code == 0, result.output
    return result.output


def test_everybody_has_a_short_one_that_only_the_secret_gives() -> None:
    """No two are the same, each is the same every day, and with another secret all are others."""
    found = pseudonyms(SECRET, IDS)
    assert found == pseudonyms(SECRET, reversed(IDS)) and len(set(found.values())) == len(IDS)
    assert all(re.fullmatch(r"[a-z][a-z2-9]{5}|[a-z][a-z2-9]{11}", name) for name in found.values())
    assert not set(found.values()) & set(pseudonyms(b"t" * 32, IDS).values())
    assert not any(student in name or name in student for student, name in found.items())


def test_those_who_would_share_one_have_a_longer_one(monkeypatch) -> None:
    """And the others keep theirs: who comes later changes nobody's but the one that is shared."""
    monkeypatch.setattr(module, "_SHORT", 2)
    few = pseudonyms(SECRET, IDS[:40])
    assert {len(name) for name in few.values()} == {2, 12} and len(set(few.values())) == 40
    more = pseudonyms(SECRET, IDS[:41])
    changed = [student for student in few if few[student] != more[student]]
    assert len(changed) <= 1 and all(more[student].startswith(few[student]) for student in changed)


CALLED = Called(
    secret=SECRET, known={"ada": "xa", "ab12345": "xb"}, names={"Ada Lovelace": "ada", "ada@uni.edu": "ada"}
)
TEXTS = [  # what is said, as a text of ours, as a student's own
    ("submitted/ada/ps1", "submitted/xa/ps1", "submitted/ada/ps1"),
    ("ADA: held", "xa: held", "ADA: held"),
    ("ada's notebook", "xa's notebook", "ada's notebook"),
    ("adagio, canada, ada_1", "adagio, canada, ada_1", "adagio, canada, ada_1"),
    ("by Ada Lovelace <ada@uni.edu>", "by xa <xa>", "by xa <xa>"),
    ("not Lovelace alone", "not Lovelace alone", "not Lovelace alone"),
    ("nada@uni.edu", "nada@uni.edu", "nada@uni.edu"),
    ("# ab12345, ab123456", "# xb, ab123456", "# xb, ab123456"),
]


@pytest.mark.parametrize(("said", "ours", "own"), TEXTS)
def test_what_is_replaced_in_a_text(said, ours, own) -> None:
    """Ids where they stand as words, whole names, and addresses; in an answer, only what is no word of it."""
    assert (CALLED.text(said), CALLED.answer(said)) == (ours, own)
    assert Called().text(said) == said == Called().answer(said)


def test_tags_of_a_page_stay() -> None:
    """A student may be called as a tag is."""
    named = Called(secret=SECRET, known={"b": "xb"})
    assert named.page('<b class="b">b</b>') == '<b class="b">xb</b>'


@pytest.mark.parametrize("content", ["privacy = true", "[privacy]\npseudonym = true", "[privacy]\npseudonyms = 1", "["])
def test_a_slip_in_the_settings_is_told(tmp_path, content) -> None:
    """A course that means to hide names never shows them for a slip of the pen."""
    (tmp_path / FILE).write_text(content)
    with pytest.raises(StaffError, match=r"course\.toml"):
        read_settings(tmp_path)


@pytest.mark.parametrize("verb", ["review", "report", "report --json", "similar", "similar --json", "regrade", "marks"])
def test_what_commands_print_and_write(hidden, tmp_path, monkeypatch, verb) -> None:
    """Lists, tables and pages call nobody by an id or a name."""
    monkeypatch.chdir(tmp_path)
    if verb == "marks":
        (tmp_path / "t.csv").write_text("id,part,points\nada,count,1\n")
    more = {"review": ["--list"], "regrade": ["--dry-run"], "marks": [str(tmp_path / "t.csv")]}
    name, *words = verb.split()
    said = run(hidden, name, "ps1", *more.get(name, []), *words)
    said += "".join(path.read_text() for path in tmp_path.glob("ps1-*"))
    assert not NAMED.findall(said)
    assert name == "report" or name == "similar" or called(hidden).of("ada") in said or name == "regrade"


def test_grading_calls_nobody_by_name(hidden) -> None:
    """In the lines of a run, in those at its end, and where something goes wrong; a pseudonym names a student."""
    from tests import forked
    from tests.course.conftest import environment

    (hidden / "submitted/eve/ps1/geometric.ipynb").write_text("{")
    name = called(hidden).of("eve")
    for words in ((), ("--student", name)):
        line = ["autograder", "grade", "ps1", "--course", str(hidden), *words]
        done = forked.run(line, cwd=Path.cwd(), env=environment())
        assert done.returncode == 0, done.stderr
        assert name in done.stdout + done.stderr and not NAMED.findall(done.stdout + done.stderr)
    assert "1 graded" in done.stderr


def test_the_queue_knows_whom_a_decision_is_about(hidden, desk) -> None:
    """All that its pages are told has pseudonyms only, conflicts too, and the marks are those students'."""
    desk.take_in(
        [LookRequest(id="r1", time=1.0, student="eve", item="geometric.count", text="I am Eve Evans, e@uni.edu")]
    )
    told: list[str] = []

    async def scenario(queue: Queue, port: int) -> None:
        queue.called = called(hidden)
        one, two = Browser(port, "a"), Browser(port, "b", "hal")
        card = await one.card("total", 2)
        assert {each["student"] for each in card["members"]} == {queue.called.of("ada"), queue.called.of("bob")}
        await one.ask("decide", {"id": card["id"], "members": everybody(card), "points": 3.0})
        late = await two.ask("decide", {"id": card["id"], "members": everybody(card), "points": 1.0}, code=409)
        asked = await one.ask("request?id=r1")
        own = await one.card("why", 1)
        told.extend(map(json.dumps, (card, late, asked, own, await one.ask("queue"))))

    served(desk, scenario)
    assert not [found for text in told for found in NAMED.findall(text)]
    with_marks = {each.students for each in desk.state.standing()}
    assert with_marks == {("ada", "bob")} or with_marks == {("bob", "ada")}
    assert desk.folder.rows.by_hand("bob", "geometric", "total").score == 3.0


def test_formgraders_page_has_a_pseudonym(hidden) -> None:
    """In its title and in what was noted for graders; the student's own words stay."""
    cells = [
        nbformat.v4.new_markdown_cell("It was handed out to ada.", metadata={"autograder_for_staff": True}),
        nbformat.v4.new_markdown_cell("ada is a language, writes Ada"),
    ]
    from autograder.grading.feedback import FOR_STAFF

    cells[0].metadata = nbformat.from_dict({FOR_STAFF: True})
    notebook = nbformat.v4.new_notebook(cells=cells)
    resources = {"submission_id": "1", "student": "ada", "first_name": "Ada", "last_name": "Lovelace"}
    page = ForGraders(config=Config(CourseDirectory={"root": str(hidden)}))
    notebook, resources = page.preprocess(notebook, resources)
    name = called(hidden).of("ada")
    assert (resources["last_name"], resources["first_name"]) == (name, "")
    assert notebook.cells[0].source == f"It was handed out to {name}."
    assert notebook.cells[1].source == "ada is a language, writes Ada"


def test_only_the_export_joins_them(hidden, tmp_path) -> None:
    """Its last column is what each student is called; points that come back by it are taken as before."""
    run(hidden, "export", "ps1", "--out", str(tmp_path / "a.csv"))
    with (tmp_path / "a.csv").open(newline="") as file:
        rows = {row["student_id"]: row for row in csv.DictReader(file)}
    names = called(hidden)
    assert {student: row["pseudonym"] for student, row in rows.items()} == {
        s: names.of(s) for s in ("ada", "bob", "eve")
    }
    assert "0 marks" in run(hidden, "marks", "ps1", str(tmp_path / "a.csv"), "--dry-run")
    (hidden / FILE).unlink()
    run(hidden, "export", "ps1", "--out", str(tmp_path / "b.csv"))
    assert "pseudonym" not in (tmp_path / "b.csv").read_text()


def test_the_settings_are_no_assignment(hidden) -> None:
    """A list of what there is does not name them, and they cannot be built."""
    result = CliRunner().invoke(main, ["build", "course", "--course", str(hidden)])
    assert result.exit_code == 1 and "there are ps1" in result.output

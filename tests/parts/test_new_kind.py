"""A new kind of answer is one file in `autograder/parts`: the whole way from its problem to its marks."""

import contextlib
import dataclasses
import io
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

import autograder
from autograder import parts
from autograder.audit.mutation_score import strength
from autograder.audit.problem import audit
from autograder.audit.simulated_answers import handed_in, thoughtless
from autograder.authoring import loading
from autograder.authoring.source_notebook import build
from autograder.authoring.variants import variant
from autograder.commands.decide_cases import decide_by_hand
from autograder.errors import StaffError
from autograder.grading.judge import judge_part

DATA = Path(__file__).parents[1] / "data" / "kind"
PROBLEMS = DATA / "problems"
SLUG, SEED = "image_of_sine", 3


@pytest.fixture(scope="module")
def kinds(tmp_path_factory):
    """The package finds one more file among its kinds; afterwards all is as before."""
    folder = tmp_path_factory.mktemp("parts")
    shutil.copy(DATA / "interval.py", folder)
    before = parts.__path__
    parts.__path__ = [*before, str(folder)]
    yield
    parts.__path__ = before
    sys.modules.pop("autograder.parts.interval", None)
    vars(parts).pop("interval", None)
    loading._load.cache_clear()


@pytest.fixture(scope="module")
def problem(kinds):
    """The problem that uses the kind."""
    return loading.load(SLUG, PROBLEMS)


@pytest.fixture(scope="module")
def cells(problem):
    """The source notebook's cells by their grade ids."""
    return {
        cell["metadata"]["nbgrader"]["grade_id"]: cell["source"]
        for cell in build(problem, SEED, root=PROBLEMS)["cells"]
    }


def run(*texts):
    """What cells print in a student's namespace, and what stops them."""
    names, shown = {"__name__": "__main__"}, io.StringIO()
    with contextlib.redirect_stdout(shown):
        try:
            for text in texts:
                exec(text, names)
        except Exception as error:
            return shown.getvalue(), f"{type(error).__name__}: {error}"
    return shown.getvalue(), ""


def test_without_the_file_there_is_no_such_kind():
    """The word is found by its file, not listed somewhere."""
    assert parts.find("interval") is None
    with pytest.raises(AttributeError, match="no attribute 'Interval'"):
        autograder.Interval  # noqa: B018 - it is looked up
    with pytest.raises(ImportError):
        exec("from autograder.student import interval")


def test_its_words_are_found(kinds):
    """The author's, the student's and the one among all kinds."""
    assert autograder.Interval is parts.Interval is parts.kinds()["interval"]
    names = {}
    exec("from autograder.student import *", names)
    assert {"interval", "check_interval", "expression", "check"} <= set(names)


def test_the_stub_says_how_to_write_it(problem, cells):
    """The answer cell shows the form; the kind's check is declared, and the test cell calls it."""
    a = variant(problem, SEED).parameters["a"]
    assert cells["image-answer"].splitlines() == [
        '# image = interval("[a, b]")',
        "### BEGIN SOLUTION",
        f"image = interval('[{-a}, {a}]')",
        "### END SOLUTION",
    ]
    assert "form.part('image', 'Image', 3, form.check_interval)" in cells["declarations"]
    assert "form.check('image')" in cells["image"]


@pytest.mark.parametrize(
    ("typed", "preview", "said", "stopped"),
    [
        ("[-1, 1/2]", r"\left[-1, 1/2\right]", "this is how your answer is read", ""),
        ("[0, 7]", r"\left[0, 7\right]", "this is how your answer is read", ""),
        (
            "(0, 1)",
            "cannot be read yet:\n(0, 1)\n^\nwrite two numbers",
            "",
            "✗ image cannot be read:\n(0, 1)\n^",
        ),
        ("[2, 1]", "[2, 1]\n  ^\nthe first number is above", "", "✗ image cannot be read:\n[2, 1]\n  ^"),
    ],
)
def test_preview_and_visible_check(cells, typed, preview, said, stopped):
    """In a student's namespace an answer is shown as it is read, right or wrong, or with a caret under the fault."""
    check = cells["image"].split("### BEGIN HIDDEN")[0]
    shown, error = run(cells["package"], cells["declarations"], f"image = interval({typed!r})", check)
    assert preview in shown
    assert said in shown
    assert stopped in shown and ("✗" in shown) is bool(stopped)
    assert error == ""


@pytest.mark.parametrize(
    ("typed", "standing", "points", "code", "message"),
    [
        ("[{-a}, {a}]", "earned", 3.0, "ok", ""),
        ("[ {-a}.0,{a} ]", "earned", 3.0, "ok", ""),
        ("[{-a}, {a}.01]", "lost", 0.0, "ends", "At least one end is not right."),
        ("[0, {a}]", "lost", 0.0, "nonnegative", "A sine is negative for half of the time."),
        ("between {-a} and {a}", "held", 0.0, "unreadable", "write two numbers in brackets"),
    ],
)
def test_verdicts(problem, typed, standing, points, code, message):
    """Right, wrong, wrong in a known way with its hint, and not readable, which a person sees."""
    p = variant(problem, SEED).parameters
    text = typed.replace("{-a}", str(-p["a"])).replace("{a}", str(p["a"]))
    part = problem.part("image")
    outcome = judge_part(part, p, handed_in(problem, part, f"image = {text!r}"), (0,))
    assert (outcome.standing, outcome.points, outcome.verdicts[0].code) == (standing, points, code)
    assert message in outcome.verdicts[0].message


def test_the_audit_is_clean_and_hands_in_its_trivial_answers(problem):
    """No fault; with a reference that a trivial answer equals, there is one."""
    text = loading.statement_text(SLUG, PROBLEMS)
    assert audit(problem, text, variants=2).faults == ()
    names = [name for name, _ in thoughtless(problem.part("image"), {"a": 2})]
    assert names == ["None", "a wide interval", "a point"]
    wide = dataclasses.replace(problem.part("image"), reference="[-1000, 1000]", equivalents=[])
    faults = audit(dataclasses.replace(problem, parts=[wide, problem.part("length")]), text, variants=1).faults
    assert any("a trivial answer, a wide interval, earns 3 of 3 points" in fault for fault in faults)


def test_slips_are_made_in_it(problem):
    """The mutation score has a row for the kind, with a slip for each number, and none survives."""
    (found,) = strength(problem)
    assert (found.name, found.kind, found.survivors) == ("image", "interval", ())
    assert found.made == found.killed >= 2


@pytest.mark.parametrize(
    ("answer", "code", "said"), [("[0, 2/2]", 0, "equal"), ("[0, 2]", 1, "different"), ("0", 2, "^")]
)
def test_two_answers_are_compared_by_hand(kinds, capsys, answer, code, said):
    """`autograder decide interval` needs no problem, and says which words it does not take."""
    assert decide_by_hand("interval", "[0, 1]", answer, ()) == code
    assert said in capsys.readouterr().out
    with pytest.raises(StaffError, match="takes no target"):
        decide_by_hand("interval", "[0, 1]", answer, (), target="y")


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """A course graded by the commands of a copy of the package that has one more file; scores and pages."""
    folder = tmp_path_factory.mktemp("course")
    tree = folder / "tree"
    shutil.copytree(Path(autograder.__file__).parent, tree / "autograder", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(DATA / "interval.py", tree / "autograder" / "parts")
    shutil.copytree(PROBLEMS, folder / "problems")
    shutil.copytree(DATA / "notebooks", folder / "notebooks")
    course = folder / "notebooks"

    def command(*words):
        environment = {
            **os.environ,
            "PYTHONPATH": str(tree),
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        }
        done = subprocess.run(
            [sys.executable, "-m", *words], cwd=course, env=environment, capture_output=True, text=True, timeout=280
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert "0 faults" in command("autograder", "audit", SLUG, "--variants", "2")
    command("autograder", "build", "ps", "--course", ".")
    command("nbgrader", "generate_assignment", "ps")
    released = (course / "release/ps" / f"{SLUG}.ipynb").read_text()
    a = int(re.search(r"= (\d) .{1,2}sin", released)[1])
    for student, typed in {
        "right": f"[-{a}, {a}]",
        "wrong": f"[-{a}, {a + 1}]",
        "known": f"[0, {a}]",
        "odd": "0..1",
    }.items():
        notebook = json.loads(released)
        for cell in notebook["cells"]:
            if cell["metadata"].get("nbgrader", {}).get("grade_id") == "image-answer":
                cell["source"] = f"from autograder.student import interval\nimage = interval({typed!r})"
        path = course / "submitted" / student / "ps" / f"{SLUG}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(notebook))
    command("autograder", "grade", "ps", "--course", ".")
    with sqlite3.connect(course / "gradebook.db") as database:
        found = database.execute(
            "select s.student_id, g.auto_score, g.needs_manual_grade from grade g join base_cell b on b.id = g.cell_id "
            "join submitted_notebook n on n.id = g.notebook_id join submitted_assignment s on s.id = n.assignment_id "
            "where b.name = 'image'"
        ).fetchall()
    pages = {path.parts[-3]: path.read_text() for path in (course / "feedback").glob(f"*/ps/{SLUG}.html")}
    return {student: (score, bool(held)) for student, score, held in found}, pages


def test_a_class_is_graded_behind_the_wall(graded):
    """Answers typed with the kind's own word run in the sandbox, and earn, lose, or wait for a person."""
    scores, _ = graded
    assert scores["right"] == (3.0, False)
    assert scores["wrong"] == scores["known"] == (0.0, False)
    assert scores["odd"][1]


def test_a_known_mistake_shows_its_hint(graded):
    """On the page of who made it, and on no other."""
    _, pages = graded
    assert {student for student, page in pages.items() if "A sine is negative for half of the time." in page} == {
        "known"
    }

"""What was handed in is judged as what it was handed out as, and nothing that a student edits says what that is."""

from __future__ import annotations

import copy
import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from autograder.authoring import ledger, loading, sealing
from autograder.authoring.assignment import read_assignment
from autograder.authoring.building import notebook_text
from autograder.authoring.variants import SECRET_FILE, course_secret, student_seed, variant
from autograder.grading import report as reports
from tests import forked

ROOT = Path(__file__).parents[2]
PROBLEMS = ROOT / "tests" / "data" / "identity"
NOW, MAKE_UP, NEVER_MADE = 1, 12345, 99
ALL = {"total": 3.0, "often": 1.0, "square": 2.0}
LOST = {"total": 0.0, "often": 0.0, "square": 2.0}
HELD_SUMS = {"total": None, "often": None, "square": 2.0}
MARKS = """
    select student_id, base_cell.name, auto_score, needs_manual_grade from grade
    join submitted_notebook on grade.notebook_id = submitted_notebook.id
    join submitted_assignment on submitted_notebook.assignment_id = submitted_assignment.id
    join assignment on submitted_assignment.assignment_id = assignment.id
    join base_cell on grade.cell_id = base_cell.id where assignment.name = ?
"""


@dataclass(frozen=True)
class Course:
    """A course folder in which commands are run as a user runs them."""

    path: Path

    def run(self, *words: str, secret: str = "", fails: bool = False) -> str:
        """A command; what it said."""
        extra = {"AUTOGRADER_SECRET": secret} if secret else {}
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "AUTOGRADER_PROBLEMS": "", **extra}
        done = forked.run(words, cwd=self.path, env=environment)
        assert (done.returncode != 0) == fails, done.stdout + done.stderr
        return done.stdout + done.stderr

    def released(self, name: str = "sums", assignment: str = "ps1") -> dict[str, Any]:
        """A notebook as it lies in release/."""
        return json.loads((self.path / "release" / assignment / f"{name}.ipynb").read_text())

    def built(self, name: str, seed: int, assignment: str = "ps1") -> dict[str, Any]:
        """A source notebook under another seed, which nobody handed out."""
        text = notebook_text(read_assignment(self.path, assignment), name, seed, self.path.parent / "problems")
        return json.loads(text)

    def hand_in(self, student: str, files: dict[str, Any], assignment: str = "ps1") -> None:
        """Put notebooks where they are collected."""
        folder = self.path / "submitted" / student / assignment
        folder.mkdir(parents=True)
        for name, notebook in files.items():
            (folder / name).write_text(json.dumps(notebook))

    def marks(self, assignment: str = "ps1") -> dict[str, dict[str, float | None]]:
        """Each part's mark, None where it is held."""
        with sqlite3.connect(self.path / "gradebook.db") as database:
            rows = database.execute(MARKS, (assignment,)).fetchall()
        found: dict[str, dict[str, float | None]] = {}
        for student, part, score, by_hand in rows:
            assert score is None or not by_hand, (student, part)
            found.setdefault(student, {})[part] = score
        return found

    def flags(self, student: str, name: str = "sums", assignment: str = "ps1") -> str:
        """What a grader reads about a notebook."""
        report = reports.load(reports.path_of(self.path, assignment, student, name))
        said = [verdict.message for outcome in report.outcomes for verdict in outcome.verdicts]
        return " ".join(filter(None, [*report.flags, *said]))


def new_course(folder: Path, **files: str) -> Course:
    """A course of these .toml files, with a secret that follows from its name: by chance, numbers could coincide."""
    shutil.copytree(PROBLEMS, folder / "problems")
    path = folder / "notebooks"
    path.mkdir()
    shutil.copy(ROOT / "notebooks" / "nbgrader_config.py", path)
    for name, text in files.items():
        (path / f"{name}.toml").write_text(text)
    (path / SECRET_FILE).touch(0o600)
    (path / SECRET_FILE).write_text(f"the secret of the tests' course {folder.name}")
    return Course(path)


def solve(notebook: dict[str, Any], seed: int, **wrong: str) -> dict[str, Any]:
    """A copy with the right answers for the variant of a seed, by arithmetic of the tests' own."""
    solved = copy.deepcopy(notebook)
    for cell in solved["cells"]:
        name = cell["metadata"].get("nbgrader", {}).get("grade_id", "").removesuffix("-answer")
        if cell["cell_type"] == "code" and f"{name}-answer" == cell["metadata"].get("nbgrader", {}).get("grade_id"):
            cell["source"] = f"{name} = {wrong.get(name) or answer(name, seed)}"
    return solved


def answer(part: str, seed: int) -> str:
    """The right answer to a part under a seed."""
    problem = loading.load("powers" if part == "square" else "sums", PROBLEMS)
    p = variant(problem, seed).parameters
    return {
        "total": lambda: str(p["a"] + p["b"]),
        "square": lambda: str(p["base"] * p["base"]),
        "often": lambda: repr(problem.part("often").right(p)),
    }[part]()


def stripped(notebook: dict[str, Any]) -> dict[str, Any]:
    """A copy without any metadata, as some programs leave it."""
    bare = copy.deepcopy(notebook)
    bare["metadata"] = {"colab": {"provenance": []}}
    for cell in bare["cells"]:
        cell["metadata"] = {}
    return bare


def said(notebook: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A copy that says other things of itself."""
    edited = copy.deepcopy(notebook)
    edited["metadata"]["autograder"] |= changes
    return edited


def points(notebook: dict[str, Any], each: float) -> dict[str, Any]:
    """A copy whose cells claim to be worth more, under other names of parts as well."""
    edited = copy.deepcopy(notebook)
    for cell in edited["cells"]:
        if "points" in cell["metadata"].get("nbgrader", {}):
            cell["metadata"]["nbgrader"]["points"] = each
    return edited


def restated(notebook: dict[str, Any], old: str, new: str) -> dict[str, Any]:
    """A copy whose statement says something else."""
    assert old in json.dumps(notebook)
    return json.loads(json.dumps(notebook).replace(old, new))


@dataclass(frozen=True, kw_only=True)
class Given:
    """What there is to hand in: the notebooks of this assignment, of the make-up, and of another assignment."""

    course: Course
    sums: dict[str, Any]
    powers: dict[str, Any]
    make_up: dict[str, Any]
    other: dict[str, Any]

    @property
    def right(self) -> dict[str, Any]:
        """`sums`, all right."""
        return solve(self.sums, NOW)

    def with_powers(self, sums: dict[str, Any] | None, **files: Any) -> dict[str, Any]:
        """A submission whose `powers` is right."""
        named = {"sums.ipynb": sums} if sums is not None else {}
        return {"powers.ipynb": solve(self.powers, NOW), **named, **files}


def forged(given: Given) -> dict[str, Any]:
    """A seal made with a secret of one's own, for an easier variant."""
    notebook = solve(given.sums, MAKE_UP)
    identity = sealing.Identity(assignment="ps1", slug="sums", version=1, seed=MAKE_UP, parameters="0" * 32)
    sealing.put(notebook, identity, b"a secret of the student's own that is long")
    return notebook


def easier(given: Given) -> dict[str, Any]:
    """Numbers of one's own in the statement, and no seal."""
    p = variant_of("sums", NOW)
    return stripped(solve(restated(given.sums, f"What is {p['a']} and", "What is 1 and"), NOW, total=str(1 + p["b"])))


def variant_of(slug: str, seed: int) -> dict[str, Any]:
    """The numbers of a seed."""
    return variant(loading.load(slug, PROBLEMS), seed).parameters


# What is handed in, what it is worth (None: held), and what a grader reads about sums; empty: no word at all.
TRICKS: dict[str, tuple[Callable[[Given], dict[str, Any]], dict[str, float | None], str]] = {
    "honest": (lambda g: g.with_powers(g.right), ALL, ""),
    "no_seal": (lambda g: g.with_powers(_without_seal(g.right)), ALL, ""),
    "no_metadata_at_all": (lambda g: g.with_powers(stripped(g.right)), ALL, "had lost its id"),
    "notes_in_the_statement": (
        lambda g: g.with_powers(stripped(restated(g.right, "together?", "together? I think it is easy."))), ALL, ""
    ),
    # Claims.
    "other_seed": (
        lambda g: g.with_powers(said(solve(g.sums, MAKE_UP), seed=MAKE_UP)), LOST, "was changed"
    ),
    "other_seed_right_answers": (lambda g: g.with_powers(said(g.right, seed=MAKE_UP)), ALL, "was changed"),
    "other_slug": (lambda g: g.with_powers(said(g.right, slug="powers")), ALL, "was changed"),
    "unknown_slug": (lambda g: g.with_powers(said(g.right, slug="nothing")), ALL, "was changed"),
    "other_version": (lambda g: g.with_powers(said(g.right, version=2)), ALL, "was changed"),
    "other_assignment": (lambda g: g.with_powers(said(g.right, assignment="ps2")), ALL, "was changed"),
    "other_student": (lambda g: g.with_powers(said(g.right, student="honest")), ALL, "was changed"),
    "own_variant": (lambda g: g.with_powers(said(g.right, per_student=True)), ALL, ""),
    "many_points": (lambda g: g.with_powers(points(g.right, 1000)), ALL, ""),
    "many_points_for_nothing": (
        lambda g: g.with_powers(points(solve(g.sums, NOW, total="0", often="'z'"), 1000)),
        LOST, ""
    ),
    "odd_metadata": (lambda g: g.with_powers({**g.right, "metadata": {"autograder": [1]}}), ALL, ""),
    "odd_seal": (lambda g: g.with_powers(said(g.right, seal={"a": 1})), ALL, "was changed"),
    "forged_seal": (lambda g: g.with_powers(forged(g)), LOST, "was changed"),
    "seal_of_the_make_up": (
        lambda g: g.with_powers({**g.right, "metadata": g.make_up["metadata"]}), LOST, "seed 12345"
    ),
    "easier_numbers": (lambda g: g.with_powers(easier(g)), HELD_SUMS, "cannot be told"),
    "no_statement": (
        lambda g: g.with_powers(stripped({**g.right, "cells": g.right["cells"][-4:]})), HELD_SUMS, "cannot be told"
    ),
    # Accidents.
    "make_up": (lambda g: g.with_powers(solve(g.make_up, MAKE_UP)), ALL, "was graded by that"),
    "make_up_without_metadata": (
        lambda g: g.with_powers(stripped(solve(g.make_up, MAKE_UP))), ALL, "was graded by that"
    ),
    "never_made": (
        lambda g: g.with_powers(stripped(solve(g.course.built("sums", NEVER_MADE), NEVER_MADE))),
        HELD_SUMS, "cannot be told"
    ),
    "each_others_names": (
        lambda g: {"sums.ipynb": solve(g.powers, NOW), "powers.ipynb": g.right}, ALL, "handed in as 'powers.ipynb'"
    ),
    "each_others_names_stripped": (
        lambda g: {"sums.ipynb": stripped(solve(g.powers, NOW)), "powers.ipynb": stripped(g.right)},
        ALL, "handed in as 'powers.ipynb'"
    ),
    "one_under_the_others_name": (
        lambda g: {"sums.ipynb": solve(g.powers, NOW)}, HELD_SUMS, "is the notebook 'powers'"
    ),
    "under_any_name": (lambda g: g.with_powers(None, **{"final version.ipynb": g.right}), ALL, ""),
    "under_any_name_stripped": (
        lambda g: g.with_powers(None, **{"final version.ipynb": stripped(g.right)}), ALL, "had lost its id"
    ),
    "of_another_assignment": (lambda g: g.with_powers(solve(g.other, 2)), HELD_SUMS, "sums of ps2"),
    "its_own_beside_another": (lambda g: g.with_powers(g.right, **{"old sums.ipynb": g.other}), ALL, "was not used"),
}  # fmt: skip


def _without_seal(notebook: dict[str, Any]) -> dict[str, Any]:
    edited = copy.deepcopy(notebook)
    edited["metadata"]["autograder"] = {"slug": "sums", "version": 1, "seed": NOW}
    return edited


@pytest.fixture(scope="module")
def classes(tmp_path_factory) -> dict[str, Course]:
    """A class that does all of the above, graded by nbgrader's own command and by ours."""
    course = new_course(
        tmp_path_factory.mktemp("identity") / "ours",
        ps1=f'problems = ["sums", "powers"]\nseed = {NOW}\n',
        ps2='problems = ["sums"]\nseed = 2\n',
    )
    course.run("autograder", "build", "ps2")
    course.run("nbgrader", "generate_assignment", "ps2")
    course.run("autograder", "build", "ps1", "--seed", str(MAKE_UP))
    course.run("nbgrader", "generate_assignment", "ps1")
    make_up = course.released()
    course.run("autograder", "build", "ps1", "--force")
    course.run("nbgrader", "generate_assignment", "ps1", "--force")
    given = Given(
        course=course,
        sums=course.released(),
        powers=course.released("powers"),
        make_up=make_up,
        other=course.released("sums", "ps2"),
    )
    for name, (make, _, _) in TRICKS.items():
        course.hand_in(name, make(given))
    theirs = Course(tmp_path_factory.mktemp("identity") / "theirs" / "notebooks")
    shutil.copytree(course.path.parent, theirs.path.parent)
    course.run("autograder", "grade", "ps1", "--no-feedback")
    theirs.run("nbgrader", "autograde", "ps1")
    return {"ours": course, "theirs": theirs}


@pytest.mark.parametrize("route", ["ours", "theirs"])
@pytest.mark.parametrize("name", TRICKS)
def test_what_a_student_edits_wins_nothing(classes, name: str, route: str) -> None:
    """Each way of handing in gets the same marks and words by `autograder grade` and by `nbgrader autograde`."""
    _, worth, words = TRICKS[name]
    assert classes[route].marks()[name] == worth
    flags = classes[route].flags(name)
    assert words in flags
    if name in ("honest", "no_seal", "own_variant", "many_points", "under_any_name"):
        assert not flags


def test_nothing_moves_when_it_is_judged_again(classes) -> None:
    """`regrade` judges by what `grade` judged by."""
    said = json.loads(classes["ours"].run("autograder", "regrade", "ps1", "--dry-run", "--json"))
    assert (said["moves"], said["failed"], said["unasked"]) == ([], [], [])


@pytest.mark.parametrize("route", ["ours", "theirs"])
def test_no_part_of_what_nobody_knows_is_judged(classes, route: str) -> None:
    """Who is held for the whole notebook reads no hint to a question that was not theirs."""
    flags = classes[route].flags("never_made")
    assert "multiplied" not in flags and "carried over" not in flags


def test_the_list_says_what_was_made(classes) -> None:
    """Each variant that was built or released is on it, once; it can be read without a program."""
    text = (classes["ours"].path / ledger.FILE).read_text()
    lines = [json.loads(line) for line in text.splitlines()]
    found = [(line["step"], line["assignment"], line["slug"], line["seed"]) for line in lines]
    wanted = [("built", "ps2", "sums", 2), ("released", "ps2", "sums", 2)]
    for seed in (MAKE_UP, NOW):
        wanted += [(step, "ps1", slug, seed) for step in ("built", "released") for slug in ("sums", "powers")]
    assert sorted(found) == sorted(wanted)
    assert all(line["parameters"] and line["time"].startswith("20") for line in lines)


# A variant for each student.

OWN = {
    "ada": (lambda g: g["ada"], ALL, ""),
    "bob": (lambda g: g["ada"], {"total": None, "often": None, "square": None}, "handed out to ada, and was handed in"),
    "cyn": (lambda g: stripped(g["ada"]), {"total": None, "often": None, "square": None}, "to ada, and was handed in"),
    "dan": (lambda g: stripped(g["dan"]), ALL, ""),
    "eve": (lambda g: g["class"], ALL, "was graded by that"),
    "fay": (lambda g: said(g["ada"], student="fay"), {"total": None, "often": None, "square": None}, "ada"),
}


@pytest.fixture(scope="module")
def own(tmp_path_factory) -> dict[str, Course]:
    """A class in which everybody has numbers of their own; the same after the secret was lost."""
    course = new_course(
        tmp_path_factory.mktemp("own") / "ours",
        ps1='problems = ["sums", "powers"]\nvariants = "student"\nseed = 5\n',
    )
    (course.path / "roster.csv").write_text("id\n" + "".join(f"{name}\n" for name in OWN))
    course.run("autograder", "build", "ps1", "--per-student", "roster.csv")
    course.run("nbgrader", "generate_assignment", "ps1")
    secret = course_secret(course.path)
    notebooks: dict[str, dict[str, dict[str, Any]]] = {slug: {} for slug in ("sums", "powers")}
    for slug in notebooks:
        for name in OWN:
            handed_out = json.loads((course.path / "students" / name / "ps1" / f"{slug}.ipynb").read_text())
            assert handed_out["metadata"]["autograder"]["student"] == name
            notebooks[slug][name] = solve(handed_out, student_seed(secret, "ps1", slug, name))
        notebooks[slug]["class"] = solve(course.released(slug), 5)
    for name, (make, _, _) in OWN.items():
        course.hand_in(name, {f"{slug}.ipynb": make(notebooks[slug]) for slug in notebooks})
    lost = Course(tmp_path_factory.mktemp("own") / "lost" / "notebooks")
    shutil.copytree(course.path.parent, lost.path.parent)
    theirs = Course(tmp_path_factory.mktemp("own") / "theirs" / "notebooks")
    shutil.copytree(course.path.parent, theirs.path.parent)
    course.run("autograder", "grade", "ps1", "--no-feedback")
    theirs.run("nbgrader", "autograde", "ps1")
    (lost.path / SECRET_FILE).unlink()
    assert "is missing" in lost.run("autograder", "grade", "ps1", fails=True)
    lost.run("autograder", "grade", "ps1", "--no-feedback", secret="another secret that is long enough as well")
    return {"ours": course, "theirs": theirs, "lost": lost}


@pytest.mark.parametrize("route", ["ours", "theirs", "lost"])
@pytest.mark.parametrize("name", OWN)
def test_a_notebook_of_ones_own_is_ones_own(own, name: str, route: str) -> None:
    """Another student's is held, both named; with the secret lost, the list tells what nobody's seal tells any more."""
    _, worth, words = OWN[name]
    assert own[route].marks()[name] == worth
    assert words in own[route].flags(name)


def test_both_names_stand_in_the_graders_note(own) -> None:
    """The student reads that it was somebody else's, the grader whose."""
    text = (own["ours"].path / "autograded/bob/ps1/sums.ipynb").read_text()
    assert "handed out to ada, and was handed in by bob" in text
    with sqlite3.connect(own["ours"].path / "gradebook.db") as database:
        comments = [text for (text,) in database.execute("select auto_comment from comment") if text]
    assert any("somebody else" in text for text in comments) and not any("ada" in text for text in comments)


# Versions.


def second_version(course: Course) -> None:
    """The letters of the choice have moved, and the number is asked as it was."""
    path = course.path.parent / "problems" / "sums" / "problem.py"
    before = json.dumps(course.built("sums", NOW))
    for word in ("Once, I think.", "One time.", "A single time.", "Exactly once.", "Just once."):
        text = (PROBLEMS / "sums" / "problem.py").read_text().replace("version=1", "version=2")
        path.write_text(text.replace("Once.", word))
        loading._load.cache_clear()
        problem = loading.load("sums", path.parents[1])
        right = problem.part("often").right(variant(problem, NOW).parameters)
        if repr(right) != answer("often", NOW):
            return
    raise AssertionError(before)


@pytest.fixture(scope="module")
def versions(tmp_path_factory) -> Course:
    """Handed out as version 1, graded once; then the letters moved, and it was graded again."""
    course = new_course(tmp_path_factory.mktemp("versions") / "c", ps1=f'problems = ["sums", "powers"]\nseed = {NOW}\n')
    course.run("autograder", "build", "ps1")
    course.run("nbgrader", "generate_assignment", "ps1")
    sums, powers = solve(course.released(), NOW), solve(course.released("powers"), NOW)
    course.hand_in("sealed", {"sums.ipynb": sums, "powers.ipynb": powers})
    course.hand_in("stripped", {"sums.ipynb": stripped(sums), "powers.ipynb": powers})
    course.run("autograder", "grade", "ps1", "--no-feedback")
    assert course.marks() == {"sealed": ALL, "stripped": ALL}
    second_version(course)
    return course


MOVED = {**ALL, "often": None}


def test_a_letter_of_an_older_version_is_not_judged_by_a_newer_one(versions, tmp_path: Path) -> None:
    """Held are the parts that are stated otherwise now, by every command, whether or not the source was built again."""
    for step in ("as it is", "built again", "without a list"):
        course = Course(tmp_path / step / "notebooks")
        shutil.copytree(versions.path.parent, course.path.parent)
        if step == "as it is":
            said = json.loads(course.run("autograder", "regrade", "ps1", "--json"))
            assert {(move["student"], move["part"], move["now"][0]) for move in said["moves"]} == {
                (student, "often", "held") for student in ("sealed", "stripped")
            }
            assert course.marks() == {"sealed": MOVED, "stripped": MOVED}
        else:
            course.run("autograder", "build", "ps1")
        unknown = MOVED
        if step == "without a list":
            (course.path / ledger.FILE).unlink()
            unknown = {"total": None, "often": None, "square": 2.0}
        course.run("autograder", "grade", "ps1", "--no-feedback")
        assert course.marks() == {"sealed": MOVED, "stripped": unknown}, step
        assert "version 2 states it otherwise" in course.flags("sealed")
        course.run("nbgrader", "autograde", "ps1", "--force")
        assert course.marks() == {"sealed": MOVED, "stripped": unknown}, step


# What is handed out.


def test_a_source_has_the_same_bytes_for_every_secret(tmp_path: Path) -> None:
    """The seal, and nothing else, depends on the secret; nbgrader's command puts it in; an old release has none."""
    texts, seals = set(), set()
    for name in ("first", "second"):
        course = new_course(tmp_path / name, ps1='problems = ["sums"]\n')
        course.run("autograder", "build", "ps1")
        course.run("nbgrader", "generate_assignment", "ps1")
        texts.add((course.path / "source/ps1/sums.ipynb").read_bytes())
        released = course.released()
        marks = released["metadata"]["autograder"]
        assert sealing.read(released, course_secret(course.path)).state == "verified"
        assert (marks["assignment"], marks["slug"], marks["student"]) == ("ps1", "sums", "")
        seals.add(marks["seal"])
    assert (len(texts), len(seals)) == (1, 2)


def test_steps_of_the_instructors_own_stay(tmp_path: Path) -> None:
    """`configure` adds the seal to the list that is there, once."""
    from traitlets.config import Config

    from autograder.nbgrader import configure

    mine, usual = Config(), Config()
    mine.GenerateAssignment.preprocessors = ["nbgrader.preprocessors.ClearSolutions", "mine.Step"]
    for config in (mine, usual, mine):
        configure(config, tmp_path)
    seal = "autograder.nbgrader.seal.PutSeal"
    assert mine.GenerateAssignment.preprocessors == ["nbgrader.preprocessors.ClearSolutions", "mine.Step", seal]
    assert usual.GenerateAssignment.preprocessors.get_value(["theirs"]) == ["theirs", seal]


@pytest.fixture(scope="module")
def foreign(tmp_path_factory) -> Course:
    """A notebook of the instructor's own, in which a student claims that it is one of ours."""
    import nbformat
    from nbformat.v4 import new_code_cell, new_notebook

    def marks(**more: Any) -> dict[str, Any]:
        return {"nbgrader": {"schema_version": 3, "task": False, "locked": False, "grade": False, **more}}

    course = new_course(tmp_path_factory.mktemp("foreign") / "c", ps1='problems = ["sums"]\nseed = 1\n')
    course.run("autograder", "build", "ps1")
    cells = [
        new_code_cell("total = 0", metadata=marks(grade_id="total", solution=True, grade=True, points=2)),
        new_code_cell("assert total == -1", metadata=marks(grade_id="bias", solution=False, grade=True, points=2)),
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    (course.path / "source/hw").mkdir()
    nbformat.write(new_notebook(cells=cells, metadata=kernel), course.path / "source/hw/count.ipynb")
    course.run("nbgrader", "generate_assignment", "hw")
    notebook = course.released("count", "hw")
    notebook["metadata"]["autograder"] = {"slug": "sums", "version": 1, "seed": NOW}
    notebook["cells"][0]["source"] = f"total = {answer('total', NOW)}"
    notebook["cells"][0]["metadata"]["nbgrader"] |= {"points": 1000, "grade_id": "total"}
    course.hand_in("forger", {"count.ipynb": notebook}, "hw")
    return course


@pytest.mark.parametrize("command", [("nbgrader", "autograde", "hw", "--force"), ("autograder", "grade", "hw")])
def test_a_foreign_notebook_cannot_make_itself_ours(foreign, command: tuple[str, ...]) -> None:
    """Who judges it follows from the instructor's notebook: its test runs, and the rest is a person's."""
    foreign.run(*command)
    assert foreign.marks("hw")["forger"] == {"total": None, "bias": 0.0}

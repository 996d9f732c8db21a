"""Everything that students do to their notebooks: the right mark, the right words, and nobody else's harm."""

import csv
import json
import re
import sqlite3
from pathlib import Path

import nbformat
import pytest

from autograder.authoring import loading
from autograder.grading.feedback import decides_all
from autograder.nbgrader.course_api import opened
from autograder.simulation.personas import personas

PROBLEMS = Path(__file__).parents[1] / "data" / "course" / "problems"

# What a grader reads in the report (flags) or a student in the comment, by persona.
WORDS = {
    "answer_below_the_test": "found in a different cell",
    "a_directory": "could not be read",
    "a_link": "not a notebook",
    "deleted_answer_cell": "The cell 'centre-answer' was missing",
    "deleted_test_cell": "The cell 'centre' was missing",
    "doubled_test_cell": "2 cells have the id 'centre'",
    "edited_then_stub": "2 cells have the id 'centre-answer'",
    "stub_then_edited": "2 cells have the id 'centre-answer'",
    "wrong_then_right": "2 cells have the id 'centre-answer'",
    "right_then_wrong": "a whole number, but it should be a torch tensor",
    "empty_notebook": "The notebook has no cells",
    "exception_in_answer": "NameError: name 'np' is not defined",
    "exit_in_function": "The process ended while centre was running",
    "imports_in_locked_cell": "The locked cell 'setup' was changed",
    "loop_in_answer_cell": "The cell of this answer did not finish: it was stopped after 3 s",
    "loop_in_function": "centre took too long",
    "not_json": "not JSON",
    "truncated_json": "not JSON",
    "renamed_ids": "had lost its id and was found by its content",
    "stripped_metadata": "had lost its id and was found by its content",
    "untouched": "centre has not been answered",
    "half_done": "Layer has not been answered",
    "wrong_but_running": "it should be a torch tensor",
    "mistake_centre_over_batch": "You took the mean over the batch",
    "mistake_centre_unscaled": "You left out the factor",
    "mistake_centre_detached_mean": "You detached the mean",
    "mistake_Layer_Tanh": "You took tanh as the gate",
    "mistake_parameters_without_bias": "You left out the bias",
    "mistake_axis_first": "The first axis is the batch",
    "mistake_axis_both": "A mean over both axes",
    **{f"forged_{name}": "it should be a torch tensor" for name in ("1e9", "nan", "tensor", "print")},
    **dict.fromkeys(("allclose_redefined", "asserts_dropped", "score_patched", "skip_execution"), "should be"),
}
NOT_HANDED_IN = ("no_submission", "missing_notebook")
NAMES = [persona.name for persona in personas(loading.load("tiny", PROBLEMS))]


def test_the_words_are_about_personas_that_exist():
    """The table above has no name that the class has not."""
    assert set(WORDS) <= set(NAMES)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in NOT_HANDED_IN])
def test_every_part_gets_what_it_deserves(crowd, name):
    """Mark and standing of each part, in the report and in nbgrader's gradebook.

    A notebook that cannot be read is one decision: its first part waits, and no part has a mark.
    """
    course, everybody = crowd
    persona, report = everybody[name], course.report(name)
    deserved = persona.deserves(course.problem, course.p)
    for part, outcome in zip(course.problem.parts, report.outcomes, strict=True):
        score, by_hand, _ = course.grades[name][part.name]
        standing = persona.standing(part)
        assert (part.name, outcome.standing, outcome.points) == (part.name, standing, deserved[part.name])
        waits = standing == "held" and (part is course.problem.parts[0] or not decides_all(outcome))
        assert (score, by_hand) == ((None, waits) if standing == "held" else (deserved[part.name], False))


def test_a_mistake_in_the_gradient_alone_earns_a_share(crowd):
    """Partial credit: one check of two."""
    course, _ = crowd
    assert course.grades["mistake_centre_detached_mean"]["centre"][0] == 2.0


@pytest.mark.parametrize("name", WORDS)
def test_somebody_is_told_why(crowd, name):
    """The student's comment or the report's flags say what was lost and what was mended."""
    course, _ = crowd
    report = course.report(name)
    comments = [comment or "" for _, _, comment in course.grades[name].values()]
    assert WORDS[name] in " ".join([*report.flags, *comments])


@pytest.mark.parametrize("name", ["perfect", "prints", "noise_on_stderr", "helper_cell", "equivalent_centre_by_sum"])
def test_right_answers_are_not_flagged(crowd, name):
    """Who did nothing unusual reads no word about it."""
    course, _ = crowd
    assert course.report(name).flags == ()
    assert all(comment is None for part, (_, _, comment) in course.grades[name].items() if part != "why")


def test_who_handed_nothing_in_stops_nobody(crowd):
    """A folder without a notebook is left to nbgrader, which records no submission."""
    course, everybody = crowd
    assert set(course.grades) == set(everybody) - set(NOT_HANDED_IN)
    assert "'success': True" in course.log


def test_scores_are_plain_floats_or_nothing(crowd):
    """SQLite holds numbers: no text, no nan, nothing above the maximum."""
    course, _ = crowd
    with sqlite3.connect(course.path / "gradebook.db") as database:
        rows = list(database.execute("select typeof(auto_score), auto_score from grade"))
    assert {kind for kind, _ in rows} == {"real", "null"}
    assert all(score is None or 0 <= score <= 4 for _, score in rows)


def test_the_export_has_a_line_for_everybody_with_the_sum(crowd, tmp_path):
    """nbgrader's own CSV exporter reads the gradebook without complaint."""
    from nbgrader.plugins import CsvExportPlugin

    course, everybody = crowd
    with opened(course.path) as api, api.gradebook as gradebook:
        CsvExportPlugin(to=str(tmp_path / "grades.csv")).export(gradebook)
    with (tmp_path / "grades.csv").open() as file:
        scores = {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}
    for name, score in scores.items():
        assert score == pytest.approx(sum(everybody[name].deserves(course.problem, course.p).values()))


@pytest.mark.parametrize("name", [name for name in NAMES if name not in NOT_HANDED_IN])
def test_the_graded_notebook_is_whole_and_small(crowd, name):
    """Each cell of the instructor's once and in order, valid for nbformat, and no output that runs in a browser."""
    course, _ = crowd
    path = course.path / f"autograded/{name}/ps1/tiny.ipynb"
    assert path.stat().st_size < 2_000_000
    notebook = nbformat.read(path, as_version=4)
    ids = [cell.metadata.nbgrader.grade_id for cell in notebook.cells if "nbgrader" in cell.metadata]
    source = json.loads((course.path / "source/ps1/tiny.ipynb").read_text())
    assert ids == [cell["metadata"]["nbgrader"]["grade_id"] for cell in source["cells"]]
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            ours = output.get("metadata", {}).get("autograder")
            assert ours or not re.search("html|javascript|latex|svg", " ".join(output.get("data", {})))


def test_a_link_is_not_followed(crowd):
    """The gradebook that a submission linked to is nowhere in what was graded."""
    course, _ = crowd
    folder = course.path / "autograded/a_link/ps1"
    assert not any(path.read_bytes().startswith(b"SQLite format") for path in folder.rglob("*") if path.is_file())
    assert (folder / "tiny.ipynb.refused").is_file()


def test_grading_again_gives_the_same(crowd):
    """The same submission twice: the same marks, comments and answers."""
    course, _ = crowd
    for name in ("perfect", "half_done", "mistake_centre_detached_mean", "truncated_json"):
        grades, report = course.grades[name], course.report(name)
        assert course.autograde(name)["success"]
        assert course.grades[name] == grades
        assert str(course.report(name)) == str(report)

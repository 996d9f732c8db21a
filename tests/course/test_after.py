"""After grading, on a real gradebook: the table that leaves, points that come back, the report."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from autograder.cli import main
from autograder.nbgrader.class_gradebook import read_class
from autograder.nbgrader.course_api import opened
from autograder.nbgrader.course_directory import course_directory
from tests.course.conftest import Classroom, environment

MANUAL = """
    select name, auto_score, manual_score, needs_manual_grade from grade
    join submitted_notebook on grade.notebook_id = submitted_notebook.id
    join submitted_assignment on submitted_notebook.assignment_id = submitted_assignment.id
    join base_cell on grade.cell_id = base_cell.id where student_id = '{}' order by 1
"""


@pytest.fixture
def marked(graded, tmp_path) -> Classroom:
    """A graded course of one's own."""
    shutil.copytree(graded.path.parent, tmp_path / "course", symlinks=True)
    with opened(tmp_path / "course" / "notebooks") as api, api.gradebook as gradebook:
        gradebook.add_student("absent")
    return Classroom(tmp_path / "course" / "notebooks")


def run(place: Classroom, *words: str, code: int = 0) -> str:
    """A command's output."""
    result = CliRunner().invoke(main, [words[0], "ps1", *words[1:], "--course", str(place.path)])
    assert result.exit_code == code, result.output
    return result.output


def table(path: Path) -> dict[str, dict[str, str]]:
    """A table by the student."""
    with path.open(newline="") as file:
        return {row["student_id"]: row for row in csv.DictReader(file)}


def test_the_table_agrees_with_the_gradebook(graded, tmp_path) -> None:
    """Every decided total is nbgrader's own; what waits, or was not handed in, has none."""
    from autograder.nbgrader.course_api import scores

    run(graded, "export", "--out", str(tmp_path / "ps1.csv"))
    with opened(graded.path) as api:
        theirs = scores(api, tmp_path / "nbgraders.csv")
    rows = table(tmp_path / "ps1.csv")
    assert rows.keys() == theirs.keys()
    for student, row in rows.items():
        assert float(row["total"] or row["decided"] or 0) == pytest.approx(theirs[student])
        assert (row["total"] == "") == (row["status"] in ("held", "missing"))
    assert rows["perfect"]["tiny.why"] == "" != rows["perfect"]["tiny.centre"] and rows["not_json"]["decided"] == "0"
    assert (tmp_path / "ps1.csv").stat().st_mode & 0o077 == 0


def test_as_nbgraders_exporter(graded, tmp_path) -> None:
    """The plugin writes the same bytes as the command, and nobody else can read them either."""
    from autograder.nbgrader.export_plugins import MarksTable

    run(graded, "export", "--out", str(tmp_path / "a.csv"))
    with opened(graded.path) as api, api.gradebook as gradebook:
        MarksTable(to=str(tmp_path / "b.csv"), assignment=["ps1"], parent=api).export(gradebook)
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    assert (tmp_path / "b.csv").stat().st_mode & 0o077 == 0


def given(path: Path, text: str) -> str:
    """A file with points."""
    path.write_text(text)
    return str(path)


def test_points_come_back(marked, tmp_path) -> None:
    """A dry run writes nothing; the points are in the gradebook as given by hand, with the comment and the journal."""
    item = read_class(marked.path, "ps1").items[0]
    file = given(tmp_path / "t.csv", f"student_id,part,points,comment,grader\nperfect,{item.part},0.25,see me,Dr B\n")
    before = marked.rows()
    assert "1 marks of 1 students would change" in run(marked, "marks", file, "--dry-run")
    assert marked.rows() == before
    assert "1 marks of 1 students changed" in run(marked, "marks", file)
    row = {name: rest for name, *rest in marked.rows(MANUAL.format("perfect"))}[item.part]
    assert row[1:] == [0.25, 0]
    assert marked.rows("select manual_comment from comment where manual_comment is not null") == [("see me",)]
    (line,) = (json.loads(line) for line in (marked.path / "reports/ps1.marks.jsonl").read_text().splitlines())
    assert (line["by"], line["student"], line["after"], line["comment"]) == ("Dr B", "perfect", 0.25, "see me")
    assert "0 marks of 0 students changed" in run(marked, "marks", file)
    mark = read_class(marked.path, "ps1").pupil("perfect").marks[item.name]  # type: ignore[union-attr]
    assert mark.by_hand and mark.points == 0.25


def test_a_mark_from_paper_stays_when_the_class_is_graded_again(marked, tmp_path) -> None:
    """And what else of that notebook was not handed in waits for a person, and is no nought."""
    item = read_class(marked.path, "ps1").items[0]
    run(marked, "marks", given(tmp_path / "t.csv", f"id,{item.part}\nabsent,0.5\n"))
    pupil = read_class(marked.path, "ps1").pupil("absent")
    assert pupil is not None and pupil.status == "held" and pupil.decided == 0.5
    run(marked, "regrade")
    assert read_class(marked.path, "ps1").pupil("absent") == pupil


def test_one_bad_line_takes_nothing(marked, tmp_path) -> None:
    """The gradebook is as it was."""
    item, before = read_class(marked.path, "ps1").items[0], marked.rows()
    file = given(tmp_path / "t.csv", f"id,{item.part}\nperfect,0.5\nnobody,1\n")
    assert "no student 'nobody'" in run(marked, "marks", file, code=1)
    assert marked.rows() == before


def test_the_excused_have_no_mark(marked, tmp_path) -> None:
    """Whatever they handed in: in the table, in Canvas's file, and not in the statistics."""
    path = marked.path / "ps1.toml"
    path.write_text(f'excused = ["perfect"]\n{path.read_text()}')
    run(marked, "export", "--out", str(tmp_path / "ps1.csv"))
    assert table(tmp_path / "ps1.csv")["perfect"]["status"] == "excused"
    head = "Student,ID,SIS User ID,SIS Login ID,Section,ps1 (1)\n    Points Possible,,,,,\n"
    file = given(tmp_path / "canvas.csv", head + "P,1,perfect,,A,\n")
    out = tmp_path / "filled.csv"
    words = ("--to", "canvas", "--template", file, "--column", "ps1 (1)", "--held", "omit", "--out", str(out))
    run(marked, "export", *words, code=1)
    assert out.read_text().endswith("P,1,perfect,,A,EX\n")


def test_the_template_is_not_overwritten(marked, tmp_path) -> None:
    """It would be lost if the next step goes wrong."""
    file = given(tmp_path / "canvas.csv", "Student,ID,SIS User ID,SIS Login ID,Section,ps1 (1)\nP,1,perfect,,A,\n")
    words = ("--to", "canvas", "--template", file, "--column", "ps1 (1)", "--held", "omit", "--out", file)
    assert "is the file that was read" in run(marked, "export", *words, code=1)


def test_the_configuration_is_the_one_that_nbgrader_reads(marked) -> None:
    """Its file in the course, and what it says of the folders."""
    with (marked.path / "nbgrader_config.py").open("a") as file:
        file.write('\nc.CourseDirectory.submitted_directory = "in"\n')
    ours = course_directory(marked.path)
    with opened(marked.path) as api:
        assert (ours.submitted_directory, ours.database) == ("in", str(api.coursedir.db_url))


LIGHT = [
    ("export", ("torch", "nbgrader", "nbformat", "sympy")),
    ("marks", ("torch", "nbgrader", "nbformat", "sympy")),
    ("report", ("nbgrader", "nbformat")),
    ("similar", ("nbgrader", "nbformat")),
]


@pytest.mark.parametrize(("verb", "heavy"), LIGHT)
def test_nothing_is_imported_that_is_not_needed(verb: str, heavy: tuple[str, ...], graded, tmp_path) -> None:
    """Points, texts and verdicts are read without nbgrader; only what a problem lists needs the problem, and torch."""
    words = (
        [given(tmp_path / "t.csv", "id,parameters\nperfect,\n"), "--dry-run"] if verb == "marks" else ["--out", "out"]
    )
    line = f"""import sys; from autograder.cli import main
try: main([{verb!r}, "ps1", *{words}, "--course", {str(graded.path)!r}])
except SystemExit as end: assert not end.code, end.code
print(sorted({{"torch", "nbgrader", "nbformat", "sympy"}} & sys.modules.keys()))"""
    run = subprocess.run([sys.executable, "-c", line], cwd=tmp_path, env=environment(), capture_output=True, text=True)
    loaded = run.stdout.splitlines()[-1] if run.stdout else run.stderr
    assert run.returncode == 0 and not [name for name in heavy if name in loaded], loaded


def test_the_report(graded, tmp_path) -> None:
    """A page with everybody's mistakes by their names, and JSON with the same counts."""
    run(graded, "report", "--out", str(tmp_path / "r.html"))
    run(graded, "report", "--json", "--out", str(tmp_path / "r.json"))
    data: dict[str, Any] = json.loads((tmp_path / "r.json").read_text())
    codes = {item["code"] for item in data["mistakes"] if item["known"]}
    assert "over_batch" in codes and all(code in (tmp_path / "r.html").read_text() for code in codes)
    assert sum(data["statuses"].values()) == len(read_class(graded.path, "ps1").pupils)


def test_similar_answers_are_for_staff(graded, tmp_path) -> None:
    """A page that nobody else can read, from the graded notebooks, with files that are the same."""
    before, out = graded.rows(), tmp_path / "s.html"
    assert "for staff alone" in run(graded, "similar", "--out", str(out))
    assert out.stat().st_mode & 0o077 == 0 and "a person must look" in out.read_text()
    assert graded.rows() == before


def test_equal_files_are_facts(marked, tmp_path) -> None:
    """Two students' notebook is the same file, and a third one's has a cell that ran at the same moment."""
    first = marked.path / "submitted/perfect/ps1/tiny.ipynb"
    notebook = json.loads(first.read_text())
    notebook["cells"][0]["metadata"]["execution"] = {"iopub.execute_input": "2026-05-10T08:15:30.123456Z"}
    first.write_text(json.dumps(notebook))
    shutil.copy(first, marked.path / "submitted/half_done/ps1/tiny.ipynb")
    notebook["cells"][0]["source"] += " "
    (marked.path / "submitted/prints/ps1/tiny.ipynb").write_text(json.dumps(notebook))
    run(marked, "similar", "--json", "--out", str(tmp_path / "s.json"))
    facts = json.loads((tmp_path / "s.json").read_text())["facts"]
    assert any("of half_done, perfect: the same file" in fact for fact in facts)
    assert any("of half_done, perfect, prints: a cell that ran at 2026-05-10T08:15:30" in fact for fact in facts)
    assert not any("untouched" in fact for fact in facts)

"""`autograder report` from the command line: one file for a browser, or figures for scripts."""

from __future__ import annotations

from pathlib import Path

from autograder.authoring import loading, privacy
from autograder.nbgrader.called import called
from autograder.nbgrader.class_gradebook import read_class
from autograder.reporting import report_files
from autograder.reporting.class_report import class_report
from autograder.reporting.same_answers import Judged

_WRITE = {"html": report_files.page, "csv": report_files.as_csv, "json": report_files.as_json}
DECISIONS = 60  # about equal answers: more of them would take longer than the rest of the report


def report_class(course: Path, assignment: str, kind: str, out: Path | None) -> int:
    """Write the report on a class; the exit code."""
    marks = read_class(course, assignment, listed=True).called(called(course))
    report = class_report(marks, Judged(loading.find_problems(course), DECISIONS))
    place = out or Path(f"{assignment}-report.{kind}")
    privacy.write(place, _WRITE[kind](report))
    print(f"wrote {place}")
    return 0

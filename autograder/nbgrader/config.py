"""`configure(c)`: plain `nbgrader autograde`, `generate_feedback` and formgrader's buttons go through this package."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def configure(c: Any, course: Path | str) -> None:
    """Set nbgrader's configuration for the course in the folder `course`.

    Late policies, exporters and the exchange stay nbgrader's own, to be set in the same file.
    """
    c.CourseDirectory.root = str(Path(course).resolve())
    c.ExecutePreprocessor.timeout = 60
    here = "autograder.nbgrader"
    c.Autograde.exporter_class = f"{here}.reading.SubmissionExporter"
    c.Autograde.pre_convert_hook = f"{here}.reading.refuse_links"
    c.Autograde.sanitize_preprocessors = [f"{here}.reading.Sanitize"]
    c.Autograde.autograde_preprocessors = [
        f"{here}.running.RunAndJudge",
        "nbgrader.preprocessors.AssignLatePenalties",
        "nbgrader.preprocessors.CheckCellMetadata",
    ]
    c.GenerateFeedback.preprocessors = [
        "nbgrader.preprocessors.GetGrades",
        f"{here}.showing.ForStudents",
        "nbconvert.preprocessors.CSSHTMLHeaderPreprocessor",
    ]
    c.GenerateFeedback.HTMLExporter.mathjax_url = ""  # mathematics is MathML already; nothing is fetched

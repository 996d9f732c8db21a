"""`configure(c)`: plain `nbgrader autograde`, `generate_feedback` and formgrader's buttons go through this package."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any


def configure(c: Any, course: Path | str) -> None:
    """Set nbgrader's configuration for the course in the folder `course`.

    Late policies, exporters and the exchange stay nbgrader's own, to be set in the same file.
    """
    _find_alembic()
    c.CourseDirectory.root = str(Path(course).resolve())
    c.ExecutePreprocessor.timeout = 60
    _kernels_over_sockets(c)
    here = "autograder.nbgrader"
    c.Autograde.exporter_class = f"{here}.intake.SubmissionExporter"
    c.Autograde.pre_convert_hook = f"{here}.intake.before_reading"
    c.Autograde.sanitize_preprocessors = [f"{here}.intake.Sanitize"]
    c.Autograde.autograde_preprocessors = [
        f"{here}.run_and_judge.RunAndJudge",
        "nbgrader.preprocessors.AssignLatePenalties",
        "nbgrader.preprocessors.CheckCellMetadata",
    ]
    c.GenerateFeedback.preprocessors = [
        "nbgrader.preprocessors.GetGrades",
        f"{here}.feedback_exporter.ForStudents",
        "nbconvert.preprocessors.CSSHTMLHeaderPreprocessor",
    ]
    c.GenerateFeedback.exporter_class = f"{here}.feedback_exporter.FeedbackExporter"


def _kernels_over_sockets(c: Any) -> None:
    """Let nbgrader's own kernels (`nbgrader validate`, notebooks that are not ours) talk over Unix sockets in a private
    folder: over TCP everything they exchange can be read by other users, as each of them warns."""
    folder = tempfile.mkdtemp(prefix="kernels-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    c.KernelManager.transport = "ipc"
    c.KernelManager.ip = str(Path(folder) / "kernel")


def _find_alembic() -> None:
    """Put this interpreter's programs on PATH: nbgrader looks `alembic` up there, and without an activated
    environment it could never make or upgrade its database."""
    programs = str(Path(sys.executable).parent)
    if programs not in os.environ.get("PATH", "").split(os.pathsep):
        os.environ["PATH"] = programs + os.pathsep + os.environ.get("PATH", "")

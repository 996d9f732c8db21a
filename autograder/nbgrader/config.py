"""`configure(c)`: plain `nbgrader autograde`, `generate_feedback` and formgrader's buttons go through this package."""

from __future__ import annotations

import os
import sqlite3
import sys
from pathlib import Path
from typing import Any

PATIENCE = 30  # seconds


def configure(c: Any, course: Path | str) -> None:
    """Set nbgrader's configuration for the course in the folder `course`.

    Exporters and the exchange stay nbgrader's own, to be set in the same file; so does the policy for late submissions,
    where an assignment's file says nothing about them.
    """
    _find_alembic()
    c.CourseDirectory.root = str(Path(course).resolve())
    c.ExecutePreprocessor.timeout = 60
    c.NotebookClient.kernel_manager_class = "autograder.nbgrader.kernels.PrivateKernels"
    prepare_gradebooks()
    here = "autograder.nbgrader"
    c.GenerateAssignment.exporter_class = f"{here}.releasing.ReleaseExporter"
    c.Autograde.exporter_class = f"{here}.autograding.GradingExporter"
    c.Autograde.pre_convert_hook = f"{here}.intake.before_reading"
    c.Autograde.sanitize_preprocessors = [f"{here}.intake.Sanitize"]
    c.Autograde.autograde_preprocessors = [
        f"{here}.run_and_judge.RunAndJudge",
        "nbgrader.preprocessors.AssignLatePenalties",
        "nbgrader.preprocessors.CheckCellMetadata",
    ]
    if (seal := f"{here}.seal.PutSeal") not in str(c.GenerateAssignment.preprocessors):
        c.GenerateAssignment.preprocessors.append(seal)  # to nbgrader's own steps, or the instructor's
    if "plugin_class" not in c.AssignLatePenalties:
        c.AssignLatePenalties.plugin_class = f"{here}.late.LatePenalty"
    c.GenerateFeedback.force = True  # a page follows from the marks of now: one that is there already may be old
    c.GenerateFeedback.preprocessors = [
        "nbgrader.preprocessors.GetGrades",
        f"{here}.feedback_exporter.ForStudents",
        "nbconvert.preprocessors.CSSHTMLHeaderPreprocessor",
    ]
    if (readable := f"{here}.for_graders.ForGraders") not in str(c.HTMLExporter.preprocessors):
        c.HTMLExporter.preprocessors.append(readable)  # formgrader's pages
    c.GenerateFeedback.exporter_class = f"{here}.feedback_exporter.FeedbackExporter"


def prepare_gradebooks() -> None:
    """Let every gradebook of this process wait where another program has it locked: SQLite's own five seconds are few
    beside a class. A new one gets its version from here: nbgrader would start `alembic` for it, which imports all of
    nbgrader once more."""
    from nbgrader import api
    from sqlalchemy import event
    from sqlalchemy.engine import Engine

    api.get_alembic_version = _version
    if not event.contains(Engine, "connect", _wait):
        event.listen(Engine, "connect", _wait)


def _wait(connection: Any, _: object) -> None:
    if isinstance(connection, sqlite3.Connection):
        connection.execute(f"PRAGMA busy_timeout = {1_000 * PATIENCE}")


def _version() -> str:
    """What `alembic heads` prints for nbgrader's own migrations."""
    from alembic.script import ScriptDirectory
    from nbgrader.dbutil import ALEMBIC_DIR

    return str(ScriptDirectory(ALEMBIC_DIR).get_current_head())


def _find_alembic() -> None:
    """Put this interpreter's programs on PATH: nbgrader looks `alembic` up there, and without an activated
    environment it could never upgrade its database."""
    programs = str(Path(sys.executable).parent)
    if programs not in os.environ.get("PATH", "").split(os.pathsep):
        os.environ["PATH"] = programs + os.pathsep + os.environ.get("PATH", "")

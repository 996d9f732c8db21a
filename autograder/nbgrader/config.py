"""`configure(c)`: plain `nbgrader autograde`, `generate_feedback` and formgrader's buttons go through this package."""

from __future__ import annotations

import functools
import importlib
import json
import logging
import os
import sqlite3
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

log = logging.getLogger(__name__)
PATIENCE = 30  # seconds


HERE = "autograder.nbgrader"
_STEPS = {
    "Autograde.sanitize_preprocessors": ([f"{HERE}.intake.Sanitize"], []),
    "Autograde.autograde_preprocessors": (
        [f"{HERE}.run_and_judge.RunAndJudge"],
        ["AssignLatePenalties", "CheckCellMetadata"],
    ),
    "GenerateFeedback.preprocessors": (
        ["GetGrades", f"{HERE}.feedback_exporter.ForStudents"],
        ["CSSHTMLHeaderPreprocessor"],
    ),
}
_HOMES = {"CSSHTMLHeaderPreprocessor": "nbconvert.preprocessors"}  # all others are nbgrader's


def configure(c: Any, course: Path | str) -> None:
    """Set nbgrader's configuration for the course in the folder `course`.

    What the file has set before stays: timeouts, kernel managers, hooks, which run after ours, preprocessors, which are
    added to ours, and the exporter of feedback pages. What cannot stay is named in a line. Export plugins and the
    exchange are nbgrader's own; so is the policy for late submissions, where an assignment's file says nothing of them.
    """
    _find_alembic()
    c.CourseDirectory.root = str(Path(course).resolve())
    if "nbgrader" not in sys.modules:  # whoever asks only where a course's files lie need not wait for it
        return
    kernels = (c.NotebookClient, c.ExecutePreprocessor, c.Execute)
    if not any("kernel_manager_class" in section for section in kernels):
        c.NotebookClient.kernel_manager_class = f"{HERE}.kernels.PrivateKernels"
    prepare_gradebooks()
    for name, ours in (
        ("GenerateAssignment", "releasing.ReleaseExporter"),
        ("Autograde", "autograding.GradingExporter"),
    ):
        if not _is_ours(theirs := c[name].get("exporter_class", HERE)):
            say(f"c.{name}.exporter_class = {theirs!r} is not kept: notebooks are mended where they are read")
        c[name].exporter_class = f"{HERE}.{ours}"
    if not _is_ours(hook := c.Autograde.get("pre_convert_hook") or HERE):
        c.Autograde.pre_convert_hook = hook if isinstance(hook, Hooks) else Hooks(hook)
    else:
        c.Autograde.pre_convert_hook = f"{HERE}.intake.before_reading"
    for name in _STEPS:
        _add_to(c, name)
    if (seal := f"{HERE}.seal.PutSeal") not in str(c.GenerateAssignment.preprocessors):
        c.GenerateAssignment.preprocessors.append(seal)  # to nbgrader's own steps, or the instructor's
    if "plugin_class" not in c.AssignLatePenalties:
        c.AssignLatePenalties.plugin_class = f"{HERE}.late.LatePenalty"
    if "force" not in c.GenerateFeedback:
        c.GenerateFeedback.force = True  # a page follows from the marks of now: one that is there may be old
    if "exporter_class" not in c.GenerateFeedback:
        c.GenerateFeedback.exporter_class = f"{HERE}.feedback_exporter.FeedbackExporter"
    if (readable := f"{HERE}.for_graders.ForGraders") not in str(c.HTMLExporter.preprocessors):
        c.HTMLExporter.preprocessors.append(readable)  # formgrader's pages


class Hooks:
    """The package's own hook before notebooks are read, and then the instructor's."""

    def __init__(self, theirs: Any) -> None:
        self.theirs = theirs

    def __call__(self, *, assignment: str, student: str, notebooks: list[str]) -> None:
        """Call both, as nbgrader calls one."""
        from autograder.nbgrader.intake import before_reading

        before_reading(assignment, student, notebooks)
        self.call_theirs(assignment=assignment, student=student, notebooks=notebooks)

    def call_theirs(self, **words: Any) -> None:
        """Call the instructor's alone."""
        if isinstance(self.theirs, str):
            module, name = self.theirs.rsplit(".", 1)
            self.theirs = getattr(importlib.import_module(module), name)
        self.theirs(**words)


def _is_ours(value: Any) -> bool:
    return (value if isinstance(value, str) else getattr(value, "__module__", "")).startswith(HERE) and not isinstance(
        value, Hooks
    )


def _named(step: Any) -> str:
    """The name of a step's class, whether it is given as text, as a class, or as an object."""
    text = step if isinstance(step, str) else getattr(step, "__name__", type(step).__name__)
    return text.rpartition(".")[2]


def _add_to(c: Any, name: str) -> None:
    """Our steps of a list, with the instructor's own among them; nbgrader's that ours stand for are in them."""
    import nbgrader.converters

    owner, trait = name.split(".")
    first, last = (
        [step if "." in step else f"{_HOMES.get(step, 'nbgrader.preprocessors')}.{step}" for step in steps]
        for steps in _STEPS[name]
    )
    section = c[owner]
    usual = list(getattr(getattr(nbgrader.converters, owner), trait).default())
    theirs = section.get(trait, usual)
    theirs = theirs.get_value(usual) if hasattr(theirs, "get_value") else list(theirs)
    known = {_named(step) for step in (*usual, *first, *last)}
    own = [step for step in theirs if _named(step) not in known and not _is_ours(step)]
    there = {_named(step) for step in theirs}
    gone = [_named(step) for step in usual if _named(step) not in there]
    if gone and not any(_is_ours(step) for step in theirs):
        say(f"c.{name} leaves out {', '.join(gone)}, which stays: other steps rely on it")
    section[trait] = [*first, *own, *last]


@functools.cache
def say(text: str) -> None:
    """Once in a process: configurations are read several times."""
    log.warning("autograder: %s", text)


def prepare_gradebooks() -> None:
    """Let every gradebook of this process wait for others. A new one gets its version from here: nbgrader would start
    `alembic` for it, which imports all of nbgrader once more. A statement is compiled once, not each time that a
    gradebook is opened; and the schema of cells is checked once, not for every cell."""
    from nbgrader import api
    from nbgrader.nbgraderformat import common

    api.get_alembic_version = _version
    api.create_engine = _engine
    common.jsonschema = SimpleNamespace(validate=_validate)
    let_wait()


def let_wait() -> None:
    """Wait for a gradebook that another program has locked: SQLite's own five seconds are few beside a class."""
    from sqlalchemy import event
    from sqlalchemy.engine import Engine

    if not event.contains(Engine, "connect", _wait):
        event.listen(Engine, "connect", _wait)


def _wait(connection: Any, _: object) -> None:
    if isinstance(connection, sqlite3.Connection):
        connection.execute(f"PRAGMA busy_timeout = {1_000 * PATIENCE}")


def _engine(url: str, **options: Any) -> Any:
    """The engine of a gradebook, which keeps what it has compiled, with connections of its own for who asks now."""
    from sqlalchemy import create_engine

    if ":memory:" in url or url == "sqlite://":  # each is another one
        return create_engine(url, **options)
    engine = _kept_engine(url, tuple(options.items()), Path.cwd())
    engine.dispose(close=False)
    return engine


@functools.lru_cache(maxsize=8)
def _kept_engine(url: str, options: tuple[tuple[str, Any], ...], place: Path) -> Any:
    """`place` is where a relative address begins."""
    from sqlalchemy import create_engine

    return create_engine(url, **dict(options))


def _validate(instance: Any, schema: Any) -> None:
    """`jsonschema.validate`."""
    from jsonschema.exceptions import best_match

    error = best_match(_validator(json.dumps(schema)).iter_errors(instance))
    if error is not None:
        raise error


@functools.cache
def _validator(schema: str) -> Any:
    from jsonschema.validators import validator_for

    read = json.loads(schema)
    kind = validator_for(read)
    kind.check_schema(read)
    return kind(read)


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

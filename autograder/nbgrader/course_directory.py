"""Where a course keeps its files and its gradebook, by its configuration, and the gradebook to be read: without
nbgrader, whose import takes longer than a class's marks."""

from __future__ import annotations

import contextlib
import json
import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from jupyter_core.application import JupyterApp
from sqlalchemy import Connection, create_engine
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError
from traitlets.config import Application

from autograder.authoring.loading import CONFIGURATION
from autograder.errors import StaffError
from autograder.nbgrader.config import let_wait


@dataclass(frozen=True, kw_only=True)
class CourseDirectory:
    """What `c.CourseDirectory` says of a course; names and defaults are nbgrader's."""

    root: str
    db_url: str = ""
    directory_structure: str = str(Path("{nbgrader_step}", "{student_id}", "{assignment_id}"))
    source_directory: str = "source"
    release_directory: str = "release"
    submitted_directory: str = "submitted"
    autograded_directory: str = "autograded"
    feedback_directory: str = "feedback"

    @classmethod
    def of(cls, config: Any, root: str) -> CourseDirectory:
        """By a configuration; `root` is the course's folder where that says nothing."""
        told = {field.name: config.CourseDirectory.get(field.name, "") for field in fields(cls)}
        told["root"] = os.path.abspath(told["root"] or root)
        return cls(**{name: value for name, value in told.items() if value})

    @property
    def database(self) -> str:
        """The URL of the gradebook."""
        return self.db_url or f"sqlite:///{Path(self.root, 'gradebook.db')}"

    def format_path(self, step: str, student: str, assignment: str) -> str:
        """The folder of a student's assignment in a step."""
        below = self.directory_structure.format(nbgrader_step=step, student_id=student, assignment_id=assignment)
        return str(Path(self.root, below))

    def source(self, assignment: str, notebook: str) -> dict[str, Any]:
        """The instructor's notebook as it lies there; one without cells where there is none."""
        path = Path(self.format_path(self.source_directory, ".", assignment), f"{notebook}.ipynb")
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            return {"cells": list(found["cells"]), "metadata": dict(found["metadata"])}
        except (OSError, ValueError, KeyError, TypeError):
            return {"cells": [], "metadata": {}}


@contextlib.contextmanager
def working_directory(folder: Path) -> Iterator[None]:
    """Within this, paths are those of a folder: a configuration may say them from there."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def course_directory(course: Path) -> CourseDirectory:
    """A course's folders, from the files that nbgrader reads its configuration from."""
    name = Path(CONFIGURATION).stem
    with working_directory(course):
        app = JupyterApp(config_file_name=name, log_level=logging.CRITICAL)
        app.load_config_file()
        Application.load_config_file(app, name, str(Path.cwd()))
        return CourseDirectory.of(app.config, str(Path.cwd()))


@contextlib.contextmanager
def gradebook_of(course: Path) -> Iterator[tuple[Connection, CourseDirectory]]:
    """A connection to a course's gradebook, to be read; StaffError where it cannot be had."""
    place = course_directory(course)
    let_wait()
    with working_directory(course), understood():
        url = make_url(place.database)
        if url.get_backend_name() == "sqlite" and not Path(url.database or "").is_file():
            raise StaffError(
                "gradebook", f"there is no gradebook {url.database}; it is made when notebooks are released"
            )
        engine = create_engine(url)
        try:
            with engine.connect() as connection:
                yield connection, place
        finally:
            engine.dispose()


@contextlib.contextmanager
def understood() -> Iterator[None]:
    """What a database says of itself, as a StaffError."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise StaffError(
            "no_driver",
            f"the gradebook's database needs the Python package {error.name}; "
            "for PostgreSQL: pip install 'psycopg[binary]'",
        ) from error
    except SQLAlchemyError as error:
        raise StaffError("gradebook", f"the gradebook cannot be opened: {error}") from error

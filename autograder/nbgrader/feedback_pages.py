"""Feedback pages for a whole class: nbgrader's own steps and template, made ready once."""

from __future__ import annotations

import functools
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nbgrader.converters import GenerateFeedback
from nbgrader.preprocessors import GetGrades

from autograder.authoring.sealing import is_ours
from autograder.nbgrader.feedback_exporter import FeedbackExporter
from autograder.nbgrader.feedback_page import OVERVIEW_PAGE, overview
from autograder.nbgrader.files import own_files, replace_folder
from autograder.nbgrader.own_pages import Pages
from autograder.nbgrader.rows import Rows


class Feedback:
    """Writes what `nbgrader generate_feedback` writes, from notebooks and rows that are in memory already."""

    def __init__(self, coursedir: Any, api: Any, rows: Rows) -> None:
        self.coursedir, self.rows = coursedir, rows
        self.converter = GenerateFeedback(coursedir=coursedir, parent=api)

    @functools.cached_property
    def exporter(self) -> Any:
        """One exporter for everybody; what many pages have in common is rendered once."""
        exporter = self.converter.exporter_class(parent=self.converter, config=self.converter.config)
        steps = {"nbgrader.preprocessors.GetGrades": Scores, GetGrades: Scores}
        for step in self.converter.preprocessors:
            exporter.register_preprocessor(steps.get(step, step))
        return exporter

    def write(self, student: str, notebooks: Mapping[str, Any]) -> None:
        """A student's pages, made beside the old ones and then put in their place."""
        place = self.coursedir
        assignment = place.assignment_id
        autograded = Path(place.format_path(place.autograded_directory, student, assignment))
        target = Path(place.format_path(place.feedback_directory, student, assignment))
        new = target.with_name(f".{target.name}.new")
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir(parents=True)
        for name in own_files(autograded, [*place.ignore, "*.ipynb"]):
            (new / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(autograded / name, new / name)
        sheet = self.pages.sheet(student) if self.pages and any(map(is_ours, notebooks.values())) else None
        for name, notebook in notebooks.items():
            if sheet and is_ours(notebook):
                found: dict[str, Any] = {"pages": self.pages, "sheet": sheet}
            else:
                found = {"gradebook": self.rows.shown(student, name)}
            page, _ = self.exporter.from_notebook_node(notebook, self._resources(student, name, found))
            (new / f"{name}.html").write_text(page, encoding="utf-8")
        if sheet:
            (new / OVERVIEW_PAGE).write_text(overview(sheet), encoding="utf-8")
        replace_folder(new, target, self.converter.permissions)

    @functools.cached_property
    def pages(self) -> Pages | None:
        """Those of our own notebooks; None where the course's configuration has another exporter."""
        if not isinstance(self.exporter, FeedbackExporter):
            return None
        return Pages(self.coursedir, self.coursedir.assignment_id, self.rows.gradebook.db, self.exporter)

    def _resources(self, student: str, name: str, found: dict[str, Any]) -> dict[str, Any]:
        names = {"student": student, "assignment": self.coursedir.assignment_id, "notebook": name}
        more = {"db_url": self.coursedir.db_url, **found}
        return {
            "unique_key": name,
            "output_files_dir": f"{name}_files",
            "nbgrader": names | more,
            "metadata": {"name": name, "path": ""},
        }


class Scores(GetGrades):  # type: ignore[misc]
    """nbgrader's GetGrades on rows that were read already."""

    def preprocess(self, nb: Any, resources: Any) -> Any:
        """Scores and comments into the cells, the sum into the resources."""
        names = resources["nbgrader"]
        self.gradebook = names["gradebook"]
        self.notebook_id, self.assignment_id, self.student_id = (
            names[key] for key in ("notebook", "assignment", "student")
        )
        for index, cell in enumerate(nb.cells):
            nb.cells[index], resources = self.preprocess_cell(cell, resources, index)
        row = self.gradebook.find_submission_notebook()
        names["late_penalty"] = row.late_submission_penalty or 0
        names["score"] = row.score - names["late_penalty"]
        names["max_score"] = row.max_score
        return nb, resources

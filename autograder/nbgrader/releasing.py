"""`nbgrader generate_assignment`: tried in memory before the last release is touched, and no marks' scale is moved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nbconvert.exporters import NotebookExporter
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.converters import GenerateAssignment
from nbgrader.converters.base import NbGraderException
from nbgrader.preprocessors import ClearSolutions, SaveCells

from autograder.nbgrader.scale import Scale, differ, fits, is_marked, scale_in
from autograder.nbgrader.stubs import PutStubs


class ReleaseExporter(NotebookExporter):  # type: ignore[misc]
    """Makes students' notebooks. nbgrader removes the old release before it tries, and whatever it has when it fails.

    So all is tried here first, when nbgrader makes its exporter.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.scales: dict[str, Scale] = {}
        if isinstance(self.parent, GenerateAssignment):
            try:
                self._rehearse(self.parent)
            except Exception as error:
                sentence = getattr(error, "message", f"{type(error).__name__}: {error}")
                self.log.error("Nothing was released, and what was released before is as it was. %s", sentence)
                raise NbGraderException(sentence) from error

    def register_preprocessor(self, preprocessor: Any, enabled: bool = False) -> Any:
        """Register a step; cells are saved by `Cells`, and answers cleared by `PutStubs`."""
        return super().register_preprocessor(_ours_for(preprocessor), enabled)

    def _rehearse(self, converter: GenerateAssignment) -> None:
        """Refuse what could not be released to the end."""
        coursedir = converter.coursedir
        trial = NotebookExporter(parent=converter, config=converter.config)
        for step in converter.preprocessors:
            if not _saves(step):
                trial.register_preprocessor(_ours_for(step))
        for files in converter.assignments.values():
            names = [Path(file).stem for file in files]
            assignment = converter.init_single_notebook_resources(files[0])["nbgrader"]["assignment"]
            scale = self.scales[assignment] = scale_in(coursedir, assignment, names)
            with Gradebook(coursedir.db_url, coursedir.course_id) as gradebook:
                fits(gradebook, assignment, scale.points)
                if differ(gradebook, scale) and is_marked(gradebook, assignment):
                    self.log.warning(
                        "The points of %s are others now. Marks, and the gradebook's points, follow with: "
                        "autograder regrade %s",
                        assignment,
                        assignment,
                    )
            for file in files:
                trial.from_filename(file, resources=converter.init_single_notebook_resources(file))


def _saves(step: Any) -> bool:
    return step is SaveCells or (isinstance(step, str) and step.endswith(".SaveCells"))


def _ours_for(step: Any) -> Any:
    """The step that is taken in the place of one of nbgrader's own."""
    clears = step is ClearSolutions or (isinstance(step, str) and step.endswith(".ClearSolutions"))
    return Cells if _saves(step) else PutStubs if clears else step


class Cells(SaveCells):  # type: ignore[misc]
    """nbgrader's SaveCells, by which the points of parts that were marked stay those that they were marked by.

    A locked cell more or less, such as declarations that a statement got, is no reason to refuse.
    """

    def _create_grade_cell(self, cell: Any) -> None:
        super()._create_grade_cell(cell)
        name = cell.metadata.nbgrader["grade_id"]
        scale = self.parent.scales.get(self.assignment_id) if isinstance(self.parent, ReleaseExporter) else None
        if scale and name in scale.points.get(self.notebook_id, {}):
            self.new_grade_cells[name]["max_score"] = scale.maximum(self.notebook_id, name)
        if (marked := self._marked()) is not None:
            points = {old.name: old.max_score for old in marked.grade_cells}
            self.new_grade_cells[name]["max_score"] = points.get(name, self.new_grade_cells[name]["max_score"])

    def _create_notebook(self, nb: Any) -> None:
        if (marked := self._marked()) is not None:
            self.new_source_cells |= {
                cell.name: {"cell_type": cell.cell_type, "locked": cell.locked, "source": cell.source}
                for cell in marked.source_cells
                if cell.name not in self.new_source_cells
            }
            for name in self.new_source_cells.keys() - {cell.name for cell in marked.source_cells}:
                words = self.new_source_cells[name]
                self.gradebook.update_or_create_source_cell(name, self.notebook_id, self.assignment_id, **words)
        super()._create_notebook(nb)

    def _marked(self) -> Any:
        """The notebook's row, where it has submissions."""
        try:
            row = self.gradebook.find_notebook(self.notebook_id, self.assignment_id)
        except MissingEntry:
            return None
        return row if row.submissions else None

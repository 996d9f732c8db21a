"""`autograder export` as nbgrader's exporters: the same tables by `nbgrader export --exporter …`.

nbgrader's own table does not quote its fields, and has nought for what was not handed in or waits for a person.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nbgrader.plugins import ExportPlugin
from traitlets import Bool, Unicode

from autograder.authoring import privacy
from autograder.errors import StaffError
from autograder.nbgrader.class_gradebook import class_marks
from autograder.nbgrader.course_directory import CourseDirectory
from autograder.reporting import marks_table
from autograder.reporting.class_marks import ClassMarks
from autograder.reporting.lms_files import PLATFORMS, Wanted, fill_in
from autograder.reporting.sheet import read_sheet


class _Exporter(ExportPlugin):  # type: ignore[misc]
    """What the exporters share: which assignment, whose marks, where to."""

    def _marks(self, gradebook: Any) -> ClassMarks:
        """The one assignment that is asked for."""
        known = [str(name) for name in self.assignment] or [row.name for row in gradebook.assignments]
        if len(known) != 1:
            raise StaffError("assignment", f"name one assignment: --assignment NAME; there are {', '.join(known)}")
        coursedir = self.parent.coursedir
        place = CourseDirectory.of(coursedir.config, coursedir.root)
        marks = class_marks(gradebook.db.connection(), known[0], place)
        students = {str(name) for name in self.student}
        return marks.only(students) if students else marks

    def _write(self, name: str, content: bytes | str) -> None:
        place = Path(self.to or name)
        privacy.write(place, content)
        self.log.info("Exporting grades to %s", place)


class MarksTable(_Exporter):
    """A line for each student, a column for each part."""

    bom = Bool(False, help="Begin the file so that Excel reads it as UTF-8.").tag(config=True)

    def export(self, gradebook: Any) -> None:
        """Write the wide table."""
        marks = self._marks(gradebook)
        self._write(f"{marks.assignment}.csv", marks_table.wide(marks, bom=self.bom))


class MarksByPart(_Exporter):
    """A line for each student's part."""

    def export(self, gradebook: Any) -> None:
        """Write the long table."""
        marks = self._marks(gradebook)
        self._write(f"{marks.assignment}.csv", marks_table.long(marks))


class FilledIn(_Exporter):
    """The file of a learning platform, filled in."""

    platform = Unicode("canvas", help=f"One of {', '.join(PLATFORMS)}.").tag(config=True)
    template = Unicode("", help="The file that was downloaded from the platform.").tag(config=True)
    column = Unicode("", help="The heading of the column that takes the marks.").tag(config=True)
    omit_held = Bool(False, help="Leave the lines of students out whose parts wait for a person.").tag(config=True)
    scale = Bool(False, help="Scale points to the platform's maximum.").tag(config=True)

    def export(self, gradebook: Any) -> None:
        """Write the filled file, and say who was left out."""
        if self.platform not in PLATFORMS or not self.template:
            raise StaffError("template", f"set c.FilledIn.template, and platform to one of {', '.join(PLATFORMS)}")
        marks = self._marks(gradebook)
        wanted = Wanted(column=self.column, omit_held=self.omit_held, scale=self.scale)
        filled = fill_in(read_sheet(Path(self.template)), PLATFORMS[self.platform], marks, (), wanted)
        for who, why in {**filled.rows, **filled.pupils}.items():
            self.log.warning("%s: left out, %s", who, why)
        self._write(f"{marks.assignment}-{self.platform}.csv", filled.content)

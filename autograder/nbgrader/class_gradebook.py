"""A class's marks out of nbgrader's gradebook, with the judge's findings out of the reports beside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, DateTime, text

from autograder.authoring import loading
from autograder.authoring.assignment import Assignment as Written
from autograder.authoring.assignment import read_if_there
from autograder.authoring.sealing import MINE, is_ours
from autograder.authoring.voids import DROP
from autograder.errors import AutograderError, StaffError
from autograder.grading import report as reports
from autograder.grading.report import Found
from autograder.nbgrader.course_directory import CourseDirectory, gradebook_of
from autograder.reporting.class_marks import ClassMarks, Item, Mark, Pupil
from autograder.reporting.defence_marks import read_defended

_ASSIGNMENT = text("select id, duedate from assignment where name = :name").columns(duedate=DateTime)
_ITEMS = text("""
    select notebook.name, base_cell.name, grade_cells.max_score, task_cells.max_score
    from base_cell
    join notebook on notebook.id = base_cell.notebook_id
    left join grade_cells on grade_cells.id = base_cell.id
    left join task_cells on task_cells.id = base_cell.id
    where notebook.assignment_id = :id and base_cell.type in ('GradeCell', 'TaskCell')
""")
_PEOPLE = text("select id, first_name, last_name, email, lms_user_id from student")
_SUBMITTED = text("select student_id, timestamp from submitted_assignment where assignment_id = :id").columns(
    timestamp=DateTime
)
_LATE = text("""
    select student_id, sum(late_submission_penalty)
    from submitted_notebook
    join submitted_assignment on submitted_assignment.id = submitted_notebook.assignment_id
    where submitted_assignment.assignment_id = :id group by student_id
""")
_GRADES = text("""
    select student_id, notebook.name, base_cell.name, auto_score, manual_score, extra_credit, needs_manual_grade
    from grade
    join submitted_notebook on submitted_notebook.id = grade.notebook_id
    join submitted_assignment on submitted_assignment.id = submitted_notebook.assignment_id
    join notebook on notebook.id = submitted_notebook.notebook_id
    join base_cell on base_cell.id = grade.cell_id
    where submitted_assignment.assignment_id = :id
""")


def read_class(course: Path, assignment: str, *, listed: bool = False) -> ClassMarks:
    """Everybody whom the gradebook knows, with their marks; StaffError where it does not know the assignment.

    With what the problems list of their parts, if `listed`: who wants marks alone need not import a problem.
    """
    with gradebook_of(course) as (connection, place):
        marks = class_marks(connection, assignment, place)
        return replace(marks, items=tuple(_with_listed(marks.items, Path(place.root)))) if listed else marks


def class_marks(connection: Connection, assignment: str, place: CourseDirectory) -> ClassMarks:
    """The same from a gradebook that is open already."""
    row = connection.execute(_ASSIGNMENT, {"name": assignment}).one_or_none()
    if row is None:
        known = connection.scalars(text("select name from assignment order by name"))
        raise StaffError(
            "no_assignment",
            f"the gradebook has no assignment {assignment!r}; there are: {', '.join(known) or 'none'}",
        )
    written = read_if_there(Path(place.root), assignment)
    items = tuple(_items(connection, row.id, assignment, written, place))
    reader = _Reader(
        connection=connection,
        row=row.id,
        assignment=assignment,
        items=items,
        place=place,
        written=written,
    )
    return ClassMarks(
        assignment=assignment,
        title=written.title if written else assignment,
        items=items,
        pupils=tuple(_defended(reader.pupils(), written, place)),
        due=row.duedate,
    )


def _defended(pupils: Iterable[Pupil], written: Written | None, place: CourseDirectory) -> Iterator[Pupil]:
    """The students with what the questions about their own answers cost, where the assignment counts these."""
    known = read_defended(Path(place.root), written.name) if written and written.defence.weight else {}
    for pupil in pupils:
        if written and (found := known.get(pupil.id)):
            taken = written.defence.lost(pupil.decided, found.share)
            pupil = replace(pupil, undefended=taken, to_talk=found.status == "held")
        yield pupil


def _items(
    connection: Connection, row: str, assignment: str, written: Written | None, place: CourseDirectory
) -> Iterator[Item]:
    """The graded cells in the order of the assignment's file and of each notebook's cells."""
    cells = {(notebook, part): grade or task for notebook, part, grade, task in connection.execute(_ITEMS, {"id": row})}
    order = list(written.problems) if written else []
    for notebook in sorted({notebook for notebook, _ in cells}, key=lambda name: (_place(order, name), name)):
        source = place.source(assignment, notebook)
        slug = str(source["metadata"][MINE]["slug"]) if is_ours(source) else ""
        asked = [cell.get("metadata", {}).get("nbgrader", {}).get("grade_id", "") for cell in source["cells"]]
        parts = sorted((part for name, part in cells if name == notebook), key=lambda part: (_place(asked, part), part))
        for part in parts:
            void = written.voids.get(slug, {}).get(part) if written else None
            yield Item(
                notebook=notebook,
                part=part,
                maximum=float(cells[notebook, part] or 0),
                slug=slug,
                title=notebook,
                void=void.effect if void else "",
            )


def _place(order: list[str], name: str) -> int:
    return order.index(name) if name in order else len(order)


def _with_listed(items: Iterable[Item], course: Path) -> Iterator[Item]:
    """The items with what their problems list; as they are where a problem is not ours or cannot be loaded."""
    for item in items:
        try:
            problem = loading.load(item.slug, loading.find_problems(course)) if item.slug else None
        except AutograderError:
            problem = None
        if problem is not None:
            item = replace(item, title=problem.title)
            for part in (part for part in problem.parts if part.name == item.part):
                mistakes = frozenset(mistake.__name__ for mistake in part.mistakes)
                item = replace(item, kind=part.kind, by_person=part.judged_by_person)
                item = replace(item, mistakes=mistakes, options=part.shown_options)
        yield item


@dataclass(frozen=True, kw_only=True)
class _Reader:
    """What is needed to read one student after the other; each table of the gradebook is read once."""

    connection: Connection
    row: str
    assignment: str
    items: tuple[Item, ...]
    place: CourseDirectory
    written: Written | None

    def _rows(self, query: Any) -> Iterator[Any]:
        yield from self.connection.execute(query, {"id": self.row})

    def pupils(self) -> Iterator[Pupil]:
        """Everybody, in order of their ids."""
        times, late = dict(self._rows(_SUBMITTED)), dict(self._rows(_LATE))
        grades = self._grades()
        for student, first, last, mail, lms in sorted(self.connection.execute(_PEOPLE), key=lambda row: row[0]):
            mine = grades.get(student, {})
            found = {name: self._found(student, name) for name in {item.notebook for item in self.items}}
            there = {name for name, report in found.items() if self._was_handed_in(student, name, report, mine)}
            yield Pupil(
                id=student,
                first_name=first or "",
                last_name=last or "",
                mail=mail or "",
                lms_id=lms or "",
                handed_in=times.get(student),
                late=late.get(student) or 0.0,
                marks={item.name: self._mark(student, item, found[item.notebook], mine, there) for item in self.items},
                parameters={name: report.parameters for name, report in found.items() if report},
                flags=tuple(flag for report in found.values() if report for flag in report.flags),
            )

    def _grades(self) -> dict[str, dict[str, Any]]:
        """Everybody's rows by the item's name."""
        found: dict[str, dict[str, Any]] = {}
        for student, notebook, part, auto, manual, extra, waits in self._rows(_GRADES):
            found.setdefault(student, {})[f"{notebook}.{part}"] = (auto, manual, extra or 0.0, bool(waits))
        return found

    def _found(self, student: str, notebook: str) -> Found | None:
        try:
            return reports.findings(reports.path_of(Path(self.place.root), self.assignment, student, notebook))
        except StaffError:
            return None

    def _was_handed_in(self, student: str, notebook: str, report: Found | None, mine: Mapping[str, Any]) -> bool:
        """Whether there is a graded notebook, or a person has marked, or is to mark, something of it."""
        place = self.place.format_path(self.place.autograded_directory, student, self.assignment)
        if report or Path(place, f"{notebook}.ipynb").is_file():
            return True
        names = [item.name for item in self.items if item.notebook == notebook]
        return any(name in mine and (mine[name][1] is not None or mine[name][3]) for name in names)

    def _waits(self, notebook: str, mine: Mapping[str, Any]) -> bool:
        """Whether a person is to decide about a part of a notebook, or by one part about the whole of it."""
        return any(mine[item.name][3] for item in self.items if item.notebook == notebook and item.name in mine)

    def _mark(self, student: str, item: Item, report: Found | None, mine: Mapping[str, Any], there: set[str]) -> Mark:
        if self.written and student in self.written.excused:
            return Mark(status="excused")
        if item.name not in mine or item.notebook not in there:
            return Mark(status="missing")
        auto, manual, extra, waits = mine[item.name]
        if item.void != DROP and (waits or (auto is None and manual is None and self._waits(item.notebook, mine))):
            mark = Mark(status="held")
        else:
            points = (manual if manual is not None else auto or 0.0) + extra
            mark = Mark(status="void" if item.void == DROP else "graded", points=points, by_hand=manual is not None)
        outcome = report.parts.get(item.part) if report else None
        if outcome is None:
            return mark
        return replace(mark, codes=outcome.codes, hint=outcome.hint, typed=outcome.typed)

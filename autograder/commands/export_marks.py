"""`autograder export` from the command line: write the file, and say whose marks are in it and whose are not."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.authoring import privacy
from autograder.authoring.roster import Person, of_course, read_roster
from autograder.errors import StaffError
from autograder.nbgrader.called import called
from autograder.nbgrader.class_gradebook import read_class
from autograder.reporting import marks_table
from autograder.reporting.class_marks import ClassMarks
from autograder.reporting.lms_files import PLATFORMS, Filled, Wanted, fill_in
from autograder.reporting.moodle_feedback import feedback_zip
from autograder.reporting.sheet import read_sheet


def export_table(course: Path, assignment: str, *, long: bool, bom: bool, out: Path | None) -> int:
    """Our own table; the exit code."""
    marks = read_class(course, assignment)
    text = (marks_table.long if long else marks_table.wide)(marks, bom=bom, called=called(course))
    _write(out or Path(f"{assignment}.csv"), text, ())
    _say_statuses(marks)
    return 0


def export_filled(
    course: Path,
    assignment: str,
    platform: str,
    template: Path,
    wanted: Wanted,
    *,
    roster: Path | None,
    feedback: Path | None,
    out: Path | None,
) -> int:
    """A learning platform's file, filled in; the exit code is 1 if somebody's marks found no line."""
    marks, sheet = read_class(course, assignment), read_sheet(template)
    known = [pupil.id for pupil in marks.pupils]
    people: list[Person] = read_roster(roster, known) if roster else of_course(course, known)
    filled = fill_in(sheet, PLATFORMS[platform], marks, people, wanted)
    place = out or Path(f"{assignment}-{platform}{template.suffix or '.csv'}")
    _write(place, filled.content, (template,))
    if feedback is not None:
        pages = {
            student: sorted((course / "feedback" / student / assignment).glob("*.html")) for student in filled.lines
        }
        _write(feedback, feedback_zip(sheet, filled.lines, pages), (template, place))
    _show(filled, marks)
    return int(bool(filled.pupils))


def _write(place: Path, content: bytes | str, sources: tuple[Path, ...]) -> None:
    """A file that nobody else can read; never the one that was read."""
    if any(place.exists() and source.exists() and place.samefile(source) for source in sources):
        raise StaffError("out", f"{place} is the file that was read; write to another one: --out FILE")
    privacy.write(place, content)
    print(f"wrote {place}")


def _say_statuses(marks: ClassMarks) -> None:
    count: dict[str, int] = {}
    for pupil in marks.pupils:
        count[pupil.status] = count.get(pupil.status, 0) + 1
    print(
        f"{len(marks.pupils)} students: {', '.join(f'{number} {status}' for status, number in sorted(count.items()))}"
    )
    if count.get("held"):
        print("A student who is held has no total yet: a part waits for a person.")


def _show(filled: Filled, marks: ClassMarks) -> None:
    console = Console()
    print(f"{len(filled.given)} of {len(marks.pupils)} students have their marks in column {filled.column!r}.")
    left = {**filled.rows, **filled.pupils}
    if left:
        table = Table("student", "left out because", title="No mark was written")
        for who, why in left.items():
            table.add_row(Text(who), Text(why or "nothing was handed in"))
        console.print(table)

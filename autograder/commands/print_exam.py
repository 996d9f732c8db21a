"""`autograder print` from the command line: who gets a sheet, what was written, how much neighbours share."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from pathlib import Path

from autograder.authoring.assignment import read_assignment
from autograder.authoring.roster import of_course, read_roster
from autograder.errors import StaffError
from autograder.printing.exam import ALL, KEY, Printed, Printing
from autograder.printing.seats import Seat, read_seats


def print_exam(
    course: Path,
    assignment: str,
    *,
    seats: int | None,
    roster: Path | None,
    column: str,
    only: tuple[str, ...],
    large: bool,
    force: bool,
) -> int:
    """Print and say what was made; the exit code."""
    if seats and roster is not None:
        raise StaffError("seats", "--seats is for an exam without a roster; a roster has a seat for each student")
    people = [] if seats else read_roster(roster, column=column) if roster else of_course(course)
    printing = Printing(course, read_assignment(course, assignment), watch=_bar)
    before = read_seats(course, assignment)
    if only and not before:
        raise StaffError("seat", f"{assignment} was not printed yet; print all seats first, without --seat")
    if only and not roster:  # those that were printed, with the names of the roster
        known = {seat.student for seat in before}
        people = [person for person in people if person.id in known]
    made = printing.write(
        printing.seats(people, seats or 0, afresh=force and not only), only=only, large=large, force=force
    )
    _say(made, assignment)
    return 0


def _bar(items: Iterable[Seat], total: int, what: str) -> Iterable[Seat]:
    from rich.console import Console
    from rich.progress import track

    return track(items, what, total=total, console=Console(stderr=True), transient=True)


def _say(made: Printed, assignment: str) -> None:
    for note in made.notes:
        print(f"note: {note}")
    written = (
        f"{made.written} of {len(made.seats)} seats" if made.written < len(made.seats) else f"{made.written} seats"
    )
    print(f"printed   {written}, {sum(seat.pages for seat in made.seats)} pages in all: {made.folder / ALL}")
    print(f"keys      {made.folder / KEY}")
    print(f"table     {made.folder / 'seats.csv'}")
    if made.shared:
        one, other = made.shared.seats
        print(f"neighbours share at most {made.shared.same} of {made.shared.of} answers ({one} and {other})")
    if any(not seat.student for seat in made.seats):
        print("Seats have no students yet: when you read the covers, write their ids into seats.csv, under student.")
    quoted = shlex.quote(assignment)
    print(
        f"Next: print all.pdf on both sides; then autograder marks {quoted} points.csv    (columns seat, part, points)"
    )

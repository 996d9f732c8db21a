"""`autograder defend` from the command line: sheets about own answers, and what was answered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from autograder.authoring.assignment import read_assignment
from autograder.authoring.pseudonyms import Called
from autograder.defence.course_sheets import ALL, ANSWERS, KEY, Written, kinds, write
from autograder.defence.marking import take
from autograder.nbgrader.called import called
from autograder.reporting.defence_marks import Defended, path_of

_WORDS = {"counted": "counted", "held": "talk with them first", "kept": "points stay", "open": "nothing entered"}


def make_sheets(course: Path, assignment: str, *, force: bool) -> int:
    """Make the sheets and say what was made; the exit code."""
    made = write(course, assignment, force=force, watch=_bar)
    _say(made, assignment, called(course))
    return 0


def _say(made: Written, assignment: str, names: Called) -> None:
    counts = ", ".join(f"{count} {name.lower()}" for name, count in kinds(made.sheets).items() if count)
    print(f"sheets    {len(made.sheets)} students: {made.folder / ALL}, and a page and a document for each")
    print(f"questions {sum(len(sheet.asked) for sheet in made.sheets)}: {counts or 'none'}")
    print(f"keys      {made.folder / KEY}")
    for student, why in made.without:
        print(f"no sheet  {names.of(student)}: {why}")
    print("For an exam under supervision, or a talk: not to take home.")
    print(f"Next: enter what was answered into {made.folder / ANSWERS}, then:")
    print(f"      autograder defend {assignment} --marks {made.folder / ANSWERS}")


def take_answers(course: Path, assignment: str, table: Path, *, dry_run: bool) -> int:
    """Take a table of answers and say what follows; the exit code is 1 while somebody is held."""
    found = take(course, assignment, table, dry_run=dry_run)
    rules = read_assignment(course, assignment).defence
    _show(found, called(course))
    counts = {word: sum(item.status == word for item in found) for word in _WORDS}
    print(", ".join(f"{count} {_WORDS[word]}" for word, count in counts.items() if count) or "The table has no line.")
    if not rules.weight:
        print(f"No mark changes: {assignment}.toml has no [defence] weight.")
    elif not dry_run:
        print(f"The sheet is worth {rules.weight:.0%} of the points; autograder export {assignment} counts it.")
    if not dry_run:
        print(f"kept in   {path_of(course.resolve(), assignment)}")
    return int(bool(counts["held"]))


def _show(found: Sequence[Defended], names: Called) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table("student", "right", "of", "what follows")
    for item in found:
        table.add_row(*map(Text, (names.of(item.student), f"{item.right:g}", str(item.asked), _WORDS[item.status])))
    if found:
        Console().print(table)


def _bar(students: Sequence[str]) -> Iterable[str]:
    from rich.console import Console
    from rich.progress import track

    return track(students, "sheets", total=len(students), console=Console(stderr=True), transient=True)

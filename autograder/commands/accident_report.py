"""What `autograder demo --accidents` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from autograder.nbgrader.files import printable

if TYPE_CHECKING:
    from rich.console import Console

    from autograder.simulation.rehearsal import Rehearsal

_WORDS = {
    "right": "correct",
    "lost": "points lost",
    "waits": "waits for a grader",
    "failed": "not graded",
    "empty": "nothing to grade",
}


def show(rehearsal: Rehearsal, console: Console) -> int:
    """Print who handed in what and what came of it, and what the command said; 1 where that was not in order."""
    if not console.is_terminal:
        console.width = max(console.width, 150)
    table = Table("student", "what happened", "result", "points", "what is said", show_lines=True)
    for came in rehearsal.came:
        result = _WORDS[came.outcome] + ("" if came.in_order else " (NOT IN ORDER)")
        points = f"{came.points:g} of {came.of:g}" if came.of else ""
        words = (printable(came.accident.student), came.accident.description, result, points, came.why[:200])
        table.add_row(*map(Text, words))
    console.print(table)
    console.print(Text(f"The first run was killed after {rehearsal.before_the_kill} submissions (kill -9)."))
    waited = "one waited for the other" if rehearsal.waited else "NEITHER WAITED"
    console.print(Text(f"Two runs with --resume were started at once: {waited}."))
    console.print(Text(f"The last lines of `autograder grade` (exit code {rehearsal.exit_code}):"))
    for line in rehearsal.summary.splitlines()[-4:]:
        console.print(Text(f"  {line}"), soft_wrap=True)
    wrong = [came.accident.student for came in rehearsal.came if not came.in_order]
    if wrong or not rehearsal.waited:
        console.print(Text(f"NOT IN ORDER: {', '.join(map(printable, wrong)) or 'the two runs'}"))
        return 1
    console.print(Text(f"{len(rehearsal.came)} submissions, and no deserved mark was lost without a word."))
    return 0

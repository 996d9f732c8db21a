"""What `autograder commit`, `reveal` and `verify` print."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from autograder.course import bundle as bundles
from autograder.course import committing, revealing, verifying
from autograder.course.verifying import Part, Verified
from autograder.errors import AutograderError, StaffError
from autograder.grading import receipt as receipts
from autograder.nbgrader.files import printable


def say_commitment(course: Path, assignment: str) -> None:
    """Commit, and say the line that is to be published."""
    made = committing.commit(course, assignment)
    said = made.commitment.said
    problems = ", ".join(f"{slug} (version {facts['version']})" for slug, facts in said["problems"].items())
    for note in made.notes:
        click.echo(f"note: {note}")
    click.echo(f"{'committed' if made.new else 'unchanged'} {made.commitment.folder}")
    click.echo(f"          {problems}; {len(said['files'])} files; {len(said['seeds'])} seeds of their own")
    click.echo(
        f"Publish this line where its date can be seen:\n{assignment} {made.commitment.number} {made.commitment.hash}"
    )


def say_bundle(course: Path, assignment: str, out: Path | None, *, force: bool) -> None:
    """Write the bundle, and say what it is good for."""
    made = revealing.reveal(course, assignment, out or Path(f"{assignment}-bundle.zip"), force=force)
    for note in made.notes:
        click.echo(f"note: {note}")
    click.echo(f"wrote {made.path} (for you alone, until you publish it)")
    for item in made.commitments:
        click.echo(f"      {assignment} {item.number} {item.hash}")
    click.echo(f"      {made.receipts} graded notebooks have a receipt that rests on it")
    click.echo("It tells the hidden tests and references of this assignment, and no other assignment's inputs.")
    page, name = shlex.quote(f"{assignment}/NOTEBOOK.html"), shlex.quote(made.path.name)
    click.echo(f"Students judge again with: autograder verify {page} --bundle {name}")


def say_verified(pages: Sequence[Path], bundle: Path, place: Path, published: str) -> int:
    """Judge the notebooks of receipts again; 0 where all of it came out the same, 1 where not."""
    shown = [(page, receipts.read(_text(page))) for page in pages]
    code = 0
    with tempfile.TemporaryDirectory(prefix="autograder-verify-") as folder:
        opened = bundles.opened(bundle, Path(folder).resolve())
        if not published:
            click.echo("Compare with what your course has published (or give it with --commitment):")
            for item in opened.commitments.values():
                click.echo(f"  {opened.assignment} {item.number} {item.hash}")
        for page, one in shown:
            try:
                found = verifying.verify(one, opened, _notebook(place, one.receipt.notebook), published)
            except AutograderError as error:
                click.echo(f"{page}: {printable(error.message)}", err=True)
                code = 1
                continue
            click.echo("\n".join(map(printable, _lines(page, found))))
            code = code or int(not found.same)
    return code


def _text(page: Path) -> str:
    try:
        with page.open(encoding="utf-8") as file:
            return file.read(receipts.MOST)
    except (OSError, ValueError) as error:
        raise StaffError("receipt", f"{page} cannot be read: {error}") from error


def _notebook(place: Path, name: str) -> Path:
    path = place / f"{name}.ipynb" if place.is_dir() else place
    if path.is_file():
        return path
    raise StaffError("no_notebook", f"there is no {path}; name your notebook, or its folder, with --notebook")


def _lines(page: Path, found: Verified) -> Iterator[str]:
    receipt = found.receipt
    yield f"{page}: {receipt.student}, {receipt.notebook} of {receipt.assignment}, signed by the course"
    for note in found.notes:
        yield f"  note: {note}"
    width = max(map(len, receipt.parts))
    for part in found.parts:
        yield f"  {part.name.ljust(width)}  {_sentence(part)}"
    told = receipt.parts.values()
    points, of = sum(part.points for part in told) - receipt.late, sum(part.of for part in told)
    decided = [part for part in found.parts if part.same is not None]
    yield (
        f"  {sum(map(_is_same, decided))} of the {len(decided)} parts that the judge decided are the same here; "
        f"the receipt says {points:g} of {of:g} points"
    )


def _is_same(part: Part) -> bool:
    return part.same is True


def _sentence(part: Part) -> str:
    told = part.receipt
    judged = {True: "the same verdicts", False: "OTHER", None: "left to a person"}[part.same]
    judged += f" ({part.why})" if part.why else ""
    mark = f"{told.points:g} of {told.of:g}"
    by = {
        "judge": f"{mark}, by the judge",
        "person": f"{mark}, decided by a person, which no machine repeats",
        "nobody": "waits for a person",
    }
    return f"{judged}; {by[told.by]}"

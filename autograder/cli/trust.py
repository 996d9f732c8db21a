"""To be believed: a commitment before, a bundle after, and marks that a student can have judged again."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from autograder.cli.command import command, course_option, out_option


@command()
@click.argument("assignment")
@course_option
def commit(assignment: str, course: Path | None) -> None:
    """Commit the course to the tests of ASSIGNMENT.

    Prints one line with a hash, and keeps what it stands for in commitments/ASSIGNMENT/. Publish the line when you
    hand out ASSIGNMENT, where its date can be seen. It tells nothing, and binds you to the key of the hidden inputs,
    to each byte of the problems' folders, and to the seeds.

    From then on each feedback page has a receipt. Where you must correct a problem, commit again and publish the new
    line; receipts of earlier marks stay good.

    \b
      autograder release ps1
      autograder commit ps1
    """
    from autograder.authoring.assignment import find_course
    from autograder.commands.trust_report import say_commitment

    say_commitment(course or find_course(), assignment)


@command()
@click.argument("assignment")
@click.option("--force", is_flag=True, help="Even though somebody may still answer these problems.")
@out_option
@course_option
def reveal(assignment: str, course: Path | None, out: Path | None, force: bool) -> None:
    """Write the bundle of ASSIGNMENT: its key and its hidden tests.

    Publish it, if you choose to, when appeals are over. With it, everybody who has a receipt can have their notebook
    judged again. It holds the problems' folders whole, with references and mistakes, so these problems cannot be asked
    again. No other assignment's hidden inputs follow from its key, and neither do seals.

    \b
      autograder reveal ps1      ps1-bundle.zip
    """
    from autograder.authoring.assignment import find_course
    from autograder.commands.trust_report import say_bundle

    say_bundle(course or find_course(), assignment, out, force=force)


@command()
@click.argument("receipts", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--bundle",
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="What the course has published.",
)
@click.option(
    "--notebook",
    type=click.Path(exists=True, path_type=Path),
    default=Path("."),
    help="The notebook that was handed in, or its folder.  [default: this folder]",
)
@click.option("--commitment", default="", metavar="HASH", help="The hash that the course published at release.")
def verify(receipts: tuple[Path, ...], bundle: Path, notebook: Path, commitment: str) -> None:
    """Judge a notebook again, and compare with its RECEIPT.

    RECEIPT is a feedback page, or the text of the receipt on it. No course and no secret are needed.

    The bundle is Python that the course wrote, and judging by it runs it with your rights: verify with a bundle of
    a course that you trust, or in a container. Its digests are checked first; nothing of a changed bundle is run.

    \b
      autograder verify mlp.html --bundle ps1-bundle.zip --notebook mlp.ipynb

    \b
    Exit codes:
      0  every verdict of the judge is the same here
      1  one is another, or the receipt, the bundle or the notebook was refused
    """
    from autograder.commands.trust_report import say_verified

    sys.exit(say_verified(receipts, bundle, notebook, commitment))


COMMANDS = (commit, reveal, verify)

"""To write problems: folders, their audit and variants, and the judging of answers by hand."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from autograder.cli.command import command, course_option


@command()
@click.argument("slug")
@click.option("--from", "original", metavar="SLUG", help="Copy this problem, of the course or of those shipped.")
def new(slug: str, original: str | None) -> None:
    """Make the problem folder SLUG with one working part to edit.

    With --from, it begins as a copy of another problem: one of this course, or one of the second distribution,
    deep-learning-autograder-problems, where an instructor has installed that.
    """
    from autograder.authoring.loading import find_problems
    from autograder.authoring.scaffold import copy_problem, scaffold

    root = find_problems()
    for path in copy_problem(root, slug, original) if original else scaffold(root, slug):
        click.echo(f"wrote {path}")
    click.echo(f"Next: autograder audit {slug}    (then edit problem.py and statement.md)")


@command()
@click.argument("slugs", nargs=-1)
@click.option(
    "--variants", type=click.IntRange(1), help="How many variants to check.  [default: 20; of assignments, 60]"
)
@click.option("--seed", default=0, show_default=True, help="The seed of the first variant of each problem.")
@click.option(
    "--assignment",
    "assignments",
    multiple=True,
    metavar="NAME",
    help="Look for answers that the notebooks of this assignment show (repeatable).",
)
@course_option
@click.option(
    "--strength", is_flag=True, help="Also test the hidden tests: list mutants of the references that survive."
)
@click.option("--part", default="", help="Check only the part of this name.")
@click.option("--jobs", default=0, help="How many processes to use.  [default: one for each core]")
def audit(
    slugs: tuple[str, ...],
    variants: int | None,
    assignments: tuple[str, ...],
    course: Path | None,
    **options: Any,
) -> None:
    """Check problems before release.

    All problems are checked if no SLUG is given. In every variant, the reference and each equivalent must earn full
    marks, each mistake must lose marks and get its own hint, trivial answers must earn nothing, and the statement must
    show every parameter.

    A fault is printed as a sentence, and the exit code is 1. A note is a weakness that you may accept.

    With --assignment, what all notebooks of an assignment show (formulas, code, quoted texts) is handed in to all of
    its typed parts, and must not earn points there: its notebooks are released together.

    \b
      autograder audit softmax_entropy --strength
      autograder audit --assignment exam-1
    """
    if assignments:
        from autograder.authoring.assignment import find_course
        from autograder.commands.leak_report import run_leaks

        if slugs or options["strength"] or options["part"] or options["seed"]:
            raise click.UsageError("--assignment names the problems and their seed; leave these out")
        sys.exit(run_leaks(course or find_course(), assignments, variants=variants or 60, jobs=options["jobs"]))
    from autograder.commands.audit_report import run_audit

    sys.exit(run_audit(slugs, variants=variants or 20, **options))


@command()
@click.argument("slug")
@click.option("--seed", default=0, show_default=True, help="The seed of the first variant.")
@click.option("--count", type=click.IntRange(min=1), help="Show a table of the parameters of this many variants.")
@click.option(
    "--where", multiple=True, metavar="NAME=VALUE", help="Search for variants with this parameter (repeatable)."
)
@click.option("--student", help="Show this student's variant (see build --per-student).")
@click.option("--assignment", help="The assignment that --student refers to.")
@course_option
def variants(
    slug: str,
    seed: int,
    count: int | None,
    where: tuple[str, ...],
    student: str | None,
    assignment: str | None,
    course: Path | None,
) -> None:
    """Show variants of problem SLUG, or search for some.

    \b
      autograder variants ugrnn_gates --seed 7          one, with its answers
      autograder variants ugrnn_gates --count 20        what twenty seeds draw
      autograder variants ugrnn_gates --where R_gate=h  which seeds draw that

    To hand out such a variant, write the parameters, or the seed, into ASSIGNMENT.toml:

    \b
      [parameters.softmax_entropy]
      family = "from 0"
      [seeds]
      ugrnn_gates = 5130
    """
    from autograder.commands.variant_table import find_variants, show_variants

    if where:
        find_variants(slug, where, seed=seed, count=count or 10)
        return
    if student is not None:
        from autograder.authoring.assignment import find_course, read_assignment
        from autograder.authoring.loading import load
        from autograder.authoring.variants import course_secret, own_seed

        if assignment is None:
            raise click.UsageError("--student needs --assignment: a student has another variant in each assignment")
        course = course or find_course()
        seed = own_seed(read_assignment(course, assignment), load(slug), course_secret(course), student)
    show_variants(slug, range(seed, seed + (count or 1)), full=count is None)


@command()
@click.argument("name", metavar="SLUG|ASSIGNMENT")
@click.option("--seed", type=int, help="The variant (default: 0, or the one of the assignment).")
@click.option("--answers", is_flag=True, help="Show the answer beside each question.")
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), help="Write the page to this file.")
@click.option("--open/--no-open", "opens", default=True, show_default=True, help="Open the page in the browser.")
@course_option
def preview(name: str, seed: int | None, answers: bool, output: Path | None, opens: bool, course: Path | None) -> None:
    """Show the page that a student will see.

    The name is that of a problem or of an assignment, whose notebooks follow each other on one page. The page needs no
    network. Nothing is written into the course.

    \b
      autograder preview softmax_entropy --seed 7 --answers
      autograder preview exam-1 --output exam-1.html --no-open
    """
    from autograder.nbgrader.student_page import write_page

    path = write_page(name, seed=seed, answers=answers, output=output, course=course)
    click.echo(f"wrote {path}")
    if opens:
        click.launch(path.as_uri())


@command()
@click.option(
    "--answers", "file", type=click.File(encoding="utf-8-sig"), required=True, help="A .jsonl file of answers, or - ."
)
@click.option("--jobs", type=click.IntRange(1), help="Rows to judge at a time (default: one per processor core).")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per folder instead of a table.")
@click.option("--rows", is_flag=True, help="Print one JSON object per row, in order; the table goes to standard error.")
@click.option("--failures", is_flag=True, help="List the rows whose verdict is not the expected one.")
def judge(**options: Any) -> None:
    """Judge a file of answers to problems' parts.

    Each answer is judged as grading would judge it, against the verdict that it deserves. Answers to a problem's parts
    are *judged*; two texts without a problem are *decided* (`autograder decide`).

    \b
      autograder judge --answers mine.jsonl --failures
      autograder judge --answers mine.jsonl --json | tail -1

    A row is a JSON object on one line; keys that are not named here are ignored:

    \b
      {"problem": "softmax_entropy", "seed": 3, "part": "softmax",
       "cell": "softmax = '(1-e^(-beta)) e^(-beta i)'", "expect": "full"}

    The cell takes the place of the official answer in the variant's notebook; the other answers are the official ones.
    A written part's cell is its text. "parameters" may stand for "seed", or beside it: then they decide. "cells" and
    "expect" may be objects, {part: cell} and {part: verdict}, for several answers in one notebook.

    \b
      expect   full   all points
               less   lost, with fewer than all points
               none   lost, with no point
               held   left to a grader
      or       a list of other verdicts that are in order, or such a list for
               each part: {part: [...]}

    What is counted for each folder, and for all ("folder": "all" is the last line of --json):

    \b
      tried         answers that were judged
      false_accept  expected less, and all points were given; expected none,
                    and some were; expected held, and all were
      false_reject  expected full or held, and points were lost
      held          expected full, and held: correct, but a grader must look
      held_wrong    expected less or none, and held: no mark is wrong (in the
                    table; --json has no such key)
      stale         not judged: there is no such problem or part any more, no
                    draw gives such parameters, or the line is no row
      seconds       of work on the folder's rows; for "all", by the clock

    --rows prints an object for each row: "row" (its line in the file), "standing" (of each part: earned, lost, held or
    stale), "points", "max", "code" and "seconds".

    Exit code 1: a verdict is not among the expected ones, or a line is no row. A stale row alone is no failure.
    """
    from autograder.commands.judge_answers import judge_answers

    sys.exit(judge_answers(options.pop("file"), **options))


_BY_HAND = ("kind", "reference", "answer", "domains", "variables", "target")


@command()
@click.argument("kind", metavar="[LANGUAGE]", required=False)
@click.option(
    "--cases",
    "file",
    type=click.File(encoding="utf-8"),
    help="Decide every row of this .jsonl file (- for standard input).",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per language instead of a table.")
@click.option("--failures", is_flag=True, help="List the rows that were not decided as expected.")
@click.option("--reference", help="The correct answer.")
@click.option("--answer", help="The answer to compare with the reference.")
@click.option(
    "--domain",
    "domains",
    multiple=True,
    metavar="NAME=DOMAIN",
    help="The domain of a variable, such as x=real or i=nat.",
)
@click.option("--variables", default="", help="For growth: the variables, separated by spaces.")
@click.option("--target", help="For equations: the tensor that they define.")
def decide(**options: Any) -> None:
    """Compare typed answers without a problem.

    Compare one answer with a reference, or decide a file of cases. LANGUAGE is expression, equation or growth.

    Two texts without a problem are *decided*; answers to a problem's parts are *judged* (`autograder judge`).

    \b
      autograder decide expression --domain x=real \\
          --reference "x^2-1" --answer "(x-1)(x+1)"
      autograder decide growth --variables "n d" \\
          --reference "O(n+d)" --answer "O(max(n,d))"
      autograder decide equation \\
          --reference "y[i] = W[i,J] x[J]" --answer "y[i] = x[J] W[J,i]"
      autograder decide --cases tests/data/cases/expression.jsonl --failures
    """
    from autograder.commands.decide_cases import decide_by_hand, decide_cases

    file = options.pop("file")
    if file is not None:
        sys.exit(decide_cases(file, as_json=options["as_json"], failures=options["failures"]))
    if not (options["kind"] and options["reference"] and options["answer"]):
        raise click.UsageError("give --cases FILE, or a language with --reference and --answer")
    sys.exit(decide_by_hand(**{key: options[key] for key in _BY_HAND}))


COMMANDS = (new, audit, variants, preview, judge, decide)

"""How the questions about own answers do: keys run again, sheets of right submissions, guessing, and time.

    python -m benchmarks.defence                     all problems: some minutes
    python -m benchmarks.defence ugrnn_gates --keys 200

Submissions are notebooks of the problems' references and equivalents, graded first. Every key of every question that
could be asked is found again in a new process with float32 arrays and two threads; where the code itself cannot work
with float32, in float64 with two threads. A key of typed lines is judged again with all hints and known mistakes.
"""

from __future__ import annotations

import argparse
import copy
import itertools
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch

from autograder.authoring import loading, source_notebook
from autograder.authoring.variants import variant
from autograder.core import Problem
from autograder.defence.about_lines import answering
from autograder.defence.bench import LIMITS, Bench, with_dtype
from autograder.defence.proofs import LETTERS, Asked, again, by_guess, most_common
from autograder.defence.student import LEAST, Chooser, Handed, Sheet, candidates, cells_before, seen
from autograder.grading.judge import judge_part
from autograder.grading.notebook import mark, run_and_grade
from autograder.grading.submission import Submission, paper_of
from autograder.protocol.answering import one_thread
from autograder.simulation.classroom import Work

SECRET = b"benchmark" * 5
SINGLE = 1e-3  # the relative difference that float32 tells from none
THREADS = "import torch\ntorch.set_num_threads(2)"
SINGLE_MODULES = "torch.nn.Module.double = torch.nn.Module.float"  # by which our side makes a module's precision


@dataclass(kw_only=True)
class Again:
    """How keys fared that were found once more; `wrong` are those that came out otherwise."""

    single: int = 0
    double: int = 0
    lines: int = 0
    unsure: int = 0
    wrong: list[str] = field(default_factory=list)

    @property
    def keys(self) -> int:
        """All that were compared."""
        return self.single + self.double + self.lines


def right_submissions(problem: Problem, root: Path, *, seed: int = 1, most: int = 100) -> Iterator[Handed]:
    """Notebooks in which every part is answered by one of its right answers, until each was handed in once."""
    p = variant(problem, seed).parameters
    answers = [
        [part.reference, *(item for item in part.right_answers() if not callable(item) or part.applies(item, p))]
        for part in problem.parts
    ]
    released = source_notebook.build(problem, seed)
    for number in range(min(most, max(map(len, answers)))):
        work = Work(released, problem, p)
        for part, items in zip(problem.parts, answers, strict=True):
            work.answer(part, items[number % len(items)])
        yield handed(problem, root, work, seed)


def handed(problem: Problem, root: Path, work: Work, seed: int) -> Handed:
    """A notebook as it was graded."""
    paper = paper_of(problem, folder=root, seed=seed, secret=SECRET)
    submission = Submission(notebook=copy.deepcopy(work.notebook), paper=paper, files={}, held={}, flags=())
    graded = mark(submission, [run_and_grade])
    return Handed(name=problem.slug, submission=submission, report=graded.report)


def run_again(asked: Sequence[Asked], notebook: Handed, result: Again) -> None:
    """Find every key once more."""
    for part, items in itertools.groupby(sorted(asked, key=lambda item: item.part), key=lambda item: item.part):
        cells = [*cells_before(notebook.submission.notebook, part), THREADS]
        with Bench(cells, {}) as double, Bench([*cells, SINGLE_MODULES], {}) as single:
            for item in items:
                if item.proof:
                    _run_one(item, single, double, result)
                else:
                    _judge_one(item, notebook, result)


def _run_one(item: Asked, single: Bench, double: Bench, result: Again) -> None:
    assert item.proof
    questions = [with_dtype(question, torch.float32) for question in item.proof.questions]
    found = again(single, item.proof, questions, SINGLE, SINGLE)
    if found is not None:
        result.single += 1
    else:
        found = again(double, item.proof, item.proof.questions, SINGLE, SINGLE)
        result.double += found is not None
        result.unsure += found is None
    wanted = item.guess if item.kind == "change" else item.answer
    if found not in (None, wanted):
        result.wrong.append(f"{item.notebook}.{item.part}, {item.kind}: {item.text!r}: {wanted}, again {found}")


def _judge_one(item: Asked, notebook: Handed, result: Again) -> None:
    """The judge, with all that it says to a student: the answer as it was is right, and the changed one is not."""
    paper = notebook.submission.paper
    part = next(part for part in paper.parts if part.name == item.part)
    texts = {typed.part.name: typed.text for typed in notebook.typed()}
    changed = item.options[LETTERS.index(item.answer)].partition("`")[2].rstrip("`")
    before = item.why.partition("`")[2].rstrip("`")
    wrong = texts[part.name].replace(before, changed, 1)
    standings = [
        judge_part(part, paper.parameters, answering({**texts, part.name: text}), (0,)).standing
        for text in (texts[part.name], wrong)
    ]
    result.lines += 1
    if standings != ["earned", "lost"]:
        result.wrong.append(f"{item.notebook}.{item.part}, line: {changed!r} in the place of {before!r}: {standings}")


@dataclass(kw_only=True)
class Figures:
    """What the sheets of all submissions came to."""

    sheets: list[Sheet] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    shared: list[float] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        """What is printed."""
        asked = [item for sheet in self.sheets for item in sheet.asked]
        enough = sum(len(sheet.asked) >= LEAST for sheet in self.sheets)
        yield f"{enough} of {len(self.sheets)} right submissions give {LEAST} or more questions"
        yield f"{len(asked)} questions: {', '.join(f'{count} {kind}' for kind, count in _kinds(asked))}"
        yield f"best constant guess: {most_common(asked):.1%} of them right"
        change = {guess: count for (kind, guess), count in by_guess(asked).items() if kind == "change"}
        yield f"what a change does: {', '.join(f'{count} {guess}' for guess, count in sorted(change.items()))}"
        yield f"two students with the same notebook share {sum(self.shared) / len(self.shared):.1%} of their questions"
        middle, most = sorted(self.seconds)[len(self.seconds) // 2], max(self.seconds)
        yield f"seconds for a student: {middle:.2f} (median), {most:.2f} (most)"


def _kinds(asked: Sequence[Asked]) -> list[tuple[str, int]]:
    return sorted(Counter(item.kind for item in asked).items())


def sheets(notebooks: Sequence[Handed], figures: Figures) -> None:
    """A sheet for each notebook, and another student's for the same one."""
    chooser = Chooser(SECRET, "benchmark")
    for number, notebook in enumerate(notebooks):
        start = time.perf_counter()
        one = chooser.sheet(f"student-{number}", [notebook])
        figures.seconds.append(time.perf_counter() - start)
        other = chooser.sheet(f"neighbour-{number}", [notebook])
        figures.sheets += [one]
        same = {seen(item) for item in one.asked} & {seen(item) for item in other.asked}
        figures.shared.append(len(same) / max(len(one.asked), 1))


def keys(notebooks: Sequence[Handed], count: int, number: int = 0) -> Again:
    """So many keys, of all that could be asked of student after student from that number on, found again."""
    result = Again()
    while result.keys < count:
        notebook = notebooks[number % len(notebooks)]
        found = list(candidates([notebook], (number, 11), {}, LIMITS))
        run_again(found, notebook, result)
        number += 1
        print(f"\r{result.keys} keys, {len(result.wrong)} wrong", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return result


def main() -> None:
    """Print the figures; exit code 1 where a key is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("slugs", nargs="*", help="problems (default: all)")
    parser.add_argument("--keys", type=int, default=10_000)
    parser.add_argument("--start", type=int, default=0, help="the first student's number, by which cases are drawn")
    parser.add_argument("--most", type=int, default=100, help="submissions of one problem")
    told = parser.parse_args()
    one_thread()
    root = loading.find_problems()
    notebooks: list[Handed] = []
    for slug in told.slugs or loading.slugs(root):
        notebooks += right_submissions(loading.load(slug, root), root, most=told.most)
        print(f"{slug}: {len(notebooks)} submissions graded so far", file=sys.stderr)
    figures = Figures()
    sheets(notebooks, figures)
    print("\n".join(figures.lines()), flush=True)
    found = keys(notebooks, told.keys, told.start) if told.keys else Again()
    print(
        f"{found.keys} keys found again, {len(found.wrong)} otherwise: {found.single} in float32 and {found.double} in "
        f"float64, with two threads, {found.lines} by the judge; {found.unsure} could not be"
    )
    print("\n".join(found.wrong))
    sys.exit(bool(found.wrong))


if __name__ == "__main__":
    main()

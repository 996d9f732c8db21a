"""What a notebook will be asked, foreseen: the judge interviews the reference once, and every student after it.

A wrong answer can lead to questions that the reference never gets (a property that asks on from what came back). They
are put in further rounds, which run the notebook again; where a judge never comes to an end, a person looks.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from autograder.core import Part
from autograder.grading.notebook import Graded, grade, steps
from autograder.grading.submission import Paper, Submission
from autograder.sandbox import Limits
from autograder.sandbox.task import Asked, Replayed, Replies, Task

ROUNDS = 32


def task_of(submission: Submission, limits: Limits) -> Task:
    """What to run and to ask for a submission; nothing, where its problem cannot be loaded."""
    if submission.fault:
        return Task(cells=(), questions={})
    foreseen = _foreseen(submission.paper)
    cells: list[str] = []
    questions: dict[int, list[Asked]] = {}
    for cell, part in steps(submission.notebook, submission.paper.parts):
        if part is None:
            cells.append(cell["source"])
        else:
            questions.setdefault(len(cells), []).extend(foreseen[part.name])
    return Task(cells=tuple(cells), questions=questions, limits=limits, files=submission.files)


@functools.lru_cache(maxsize=64)
def _foreseen(paper: Paper) -> dict[str, tuple[Asked, ...]]:
    """The questions of each part of a paper; a part that cannot be foreseen is asked in further rounds."""
    return {part.name: tuple(_questions(paper, part)) for part in paper.parts}


def _questions(paper: Paper, part: Part) -> list[Asked]:
    try:
        questions = part.questions(paper.parameters, paper.key(part.name))
    except Exception:
        return []  # the same happens when it is judged, and is held there
    return Asked.together(part.name, questions)


class Attempt:
    """One run of a notebook as a task, in as many rounds as the judge wants: `task` is the next of them, if any.

    All rounds together take no more time than a notebook may. `graded` holds once there is none left.
    """

    def __init__(self, submission: Submission, task: Task) -> None:
        self.submission, self.first = submission, task
        self.task: Task | None = task
        self.graded: Graded | None = None
        self._rounds = 0
        self._replies = Replies()

    def heard(self, replies: Replies) -> None:
        """Judge what came back; there is a further task where the judge wants more."""
        self._rounds += 1
        self._replies = replies if self._rounds == 1 else self._replies.and_then(replies)
        replayed = Replayed(self._replies)
        self.graded = grade(self.submission, replayed)
        more = replayed.wanted and self._rounds < ROUNDS
        self.task = self.first.instead(replayed.wanted, self._replies.seconds) if more else None


def grade_task(submission: Submission, task: Task, run: Callable[[Task], Replies]) -> Graded:
    """An attempt whose rounds are run at once, one after the other."""
    attempt = Attempt(submission, task)
    while attempt.task:
        attempt.heard(run(attempt.task))
    assert attempt.graded
    return attempt.graded

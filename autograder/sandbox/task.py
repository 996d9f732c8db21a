"""A notebook's run as pure data: what to run and what to ask goes in, what was shown and answered comes out.

The same `answer` serves in the grader's process and on a worker somewhere else; neither side sends an object that could
run anything. Expected values are no part of a task.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from autograder.core import Answer, Question
from autograder.protocol.answering import question_frame, question_key, value_alone, with_value
from autograder.protocol.codec import decode, encode
from autograder.sandbox.session import CellResult, Limits, Session
from autograder.sandbox.turns import Turn


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One question of a part, ready to be sent; one for a value and its gradients has the keys of all."""

    part: str
    keys: tuple[str, ...]
    frame: bytes

    @classmethod
    def of(cls, part: str, question: Question) -> Asked:
        """A question as data."""
        return cls(part=part, keys=(question_key(question),), frame=question_frame(question))

    @classmethod
    def together(cls, part: str, questions: Sequence[Question]) -> list[Asked]:
        """Questions as data: a value with gradients by the same arguments as one, in the place of the value."""
        asked = {question_key(question) for question in questions}
        pulled: dict[str, dict[tuple[int, ...], list[Question]]] = {}  # of each value, by what they are taken
        for question in questions:
            if (value := value_alone(question)) and question_key(value) in asked:
                by = tuple(question.options.get("wrt", ()))
                pulled.setdefault(question_key(value), {}).setdefault(by, []).append(question)
        most = {key: max(groups.values(), key=len) for key, groups in pulled.items()}
        done = {question_key(question) for group in most.values() for question in group}
        return [
            cls(part=part, keys=(key, *map(question_key, group)), frame=question_frame(with_value(*group)))
            if (group := most.get(key := question_key(question)))
            else cls.of(part, question)
            for question in questions
            if question_key(question) not in done
        ]


@dataclass(frozen=True, kw_only=True)
class Task:
    """Cells to run in order; `questions[n]` are put after the first n of them.

    `trusted` says of each cell whether it is the instructor's, where the notebook is to run as in a kernel; `first` are
    then the modules beside it that come before libraries of the same names, as in a kernel all do. `seconds` are what
    each cell may take, where that differs.
    `spent` are the seconds that earlier rounds took of what the notebook may take in all.
    """

    cells: tuple[str, ...]
    questions: Mapping[int, Sequence[Asked]]
    limits: Limits = field(default_factory=Limits)
    files: Mapping[str, bytes] = field(default_factory=dict)
    spent: float = 0.0
    trusted: tuple[bool, ...] | None = None
    first: tuple[str, ...] = ()
    seconds: tuple[float, ...] = ()

    def instead(self, questions: Mapping[int, Sequence[Asked]], spent: float = 0.0) -> Task:
        """The same notebook asked other questions, and run no further than they need."""
        cells = self.cells[: max(questions, default=0)]
        return dataclasses.replace(self, cells=cells, questions=questions, spent=spent)

    def frame(self) -> bytes:
        """The task as bytes."""
        content = vars(self) | {
            "limits": vars(self.limits),
            "files": {name: np.frombuffer(data, np.uint8) for name, data in self.files.items()},
            "questions": [
                [place, [[item.part, item.keys, np.frombuffer(item.frame, np.uint8)] for item in items]]
                for place, items in self.questions.items()
            ],
        }
        return encode(content)

    @classmethod
    def read(cls, frame: bytes) -> Task:
        """The task in a frame."""
        content = decode(frame)
        questions = {
            place: [Asked(part=part, keys=keys, frame=data.tobytes()) for part, keys, data in items]
            for place, items in content["questions"]
        }
        return cls(
            cells=content["cells"],
            questions=questions,
            limits=Limits(**content["limits"]),
            files={name: data.tobytes() for name, data in content["files"].items()},
            spent=content["spent"],
            trusted=content["trusted"],
            first=content["first"],
            seconds=content["seconds"],
        )


@dataclass(frozen=True, kw_only=True)
class Replies:
    """What each cell showed, the answers by place and question, what looked odd, and how long it took."""

    cells: tuple[CellResult, ...] = ()
    answers: Mapping[tuple[int, str], Answer] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    seconds: float = 0.0

    def and_then(self, later: Replies) -> Replies:
        """These, with the answers of a further round."""
        return Replies(
            cells=self.cells,
            answers={**self.answers, **later.answers},
            flags=tuple(dict.fromkeys((*self.flags, *later.flags))),
            seconds=self.seconds + later.seconds,
        )

    def frame(self) -> bytes:
        """The replies as bytes."""
        answers = [[place, key, vars(answer)] for (place, key), answer in self.answers.items()]
        return encode(vars(self) | {"cells": [vars(cell) for cell in self.cells], "answers": answers})

    @classmethod
    def read(cls, frame: bytes) -> Replies:
        """The replies in a frame."""
        content: dict[str, Any] = decode(frame)
        return cls(
            cells=tuple(CellResult(**cell) for cell in content["cells"]),
            answers={(place, key): Answer(**answer) for place, key, answer in content["answers"]},
            flags=content["flags"],
            seconds=content["seconds"],
        )


def answer(task: Task, turn: Turn | None = None) -> Replies:
    """Run a notebook in a process of its own and put the questions; StaffError where there can be no process."""
    turn = turn or Turn(before=task.spent)
    cells: list[CellResult] = []
    answers: dict[tuple[int, str], Answer] = {}
    trusted = task.trusted or (False,) * len(task.cells)
    seconds = task.seconds or (task.limits.cell_seconds,) * len(task.cells)
    kernel = None if task.trusted is None else task.first
    with Session(task.limits, dict(task.files), turn, kernel=kernel) as session:
        for place in range(len(task.cells) + 1):
            if place:
                cells.append(session.run(task.cells[place - 1], trusted[place - 1], seconds[place - 1]))
            for _, items in itertools.groupby(task.questions.get(place, ()), key=lambda item: item.part):
                asked = list(items)
                replies = session.put([(item.frame, len(item.keys)) for item in asked])
                keys = [(place, key) for item in asked for key in item.keys]
                answers.update(zip(keys, replies, strict=False))
                if replies and replies[-1].failure == "memory" and len(asked) < len(keys):
                    del answers[keys[len(replies) - 1]]  # gradients take memory: without them it is asked once more
        flags = session.flags
    return Replies(cells=tuple(cells), answers=answers, flags=flags, seconds=turn.ran() - task.spent)


def answer_frame(frame: bytes) -> bytes:
    """`answer` from bytes to bytes: what a worker on another machine runs."""
    return answer(Task.read(frame)).frame()


class Unasked(Exception):
    """A judge wants an answer that is not there: the question has not been put yet."""


class Replayed:
    """Stands in for a `Session` where the run is over: gives back what was shown and answered.

    `wanted` collects the questions that were never put, by the place at which they would be.
    """

    def __init__(self, replies: Replies) -> None:
        self.flags = replies.flags
        self.wanted: dict[int, list[Asked]] = {}
        self._replies, self._place = replies, 0

    def run(self, source: str) -> CellResult:
        """What the next cell showed."""
        self._place += 1
        return self._replies.cells[self._place - 1]

    def given(self) -> dict[str, Answer]:
        """Everything that was answered here, by the questions' keys."""
        return {key: answer for (place, key), answer in self._replies.answers.items() if place == self._place}

    def ask(self, question: Question) -> Answer:
        """What was answered."""
        key = question_key(question)
        found = self._replies.answers.get((self._place, key))
        if found is None:
            items = self.wanted.setdefault(self._place, [])
            if (key,) not in [item.keys for item in items]:
                items.append(Asked.of(question.name, question))
            raise Unasked(f"a question to {question.name} that was not foreseen")
        return found

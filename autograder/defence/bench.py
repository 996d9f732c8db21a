"""A student's notebook in the sandbox, with its definitions as they are handed in, or with one of them changed.

All that comes from there is a stranger's data. Where a changed definition ends the process, or is too slow, nothing is
known of it, and the notebook is run anew; after some such ends, nothing more is tried.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from autograder.core import LAST_WORDS, Answer, Question
from autograder.defence import line_notes
from autograder.defence.code import Definition, definitions
from autograder.protocol.answering import question_frame
from autograder.sandbox import Limits, Session

Outcome = Literal["same", "values", "shape", "error"]
SAME, OTHER = 1e-10, 1e-2  # relative differences; what lies between is near no key
LIMITS = Limits(cell_seconds=20, question_seconds=1, notebook_seconds=60)
_ENDS = 2


class Bench:
    """Runs one notebook. `cells` are its code cells in order; files lie beside it."""

    def __init__(self, cells: Sequence[str], files: Mapping[str, bytes], limits: Limits = LIMITS) -> None:
        self.definitions: dict[str, Definition] = definitions(cells)
        self._cells, self._files, self._limits = cells, dict(files), limits
        self._ends = 0
        self._begin()

    def _begin(self) -> None:
        self._altered: list[str] = []  # the definitions that are not as they were handed in
        self._session = Session(self._limits, self._files)
        for cell in self._cells:
            self._session.run(cell)

    @property
    def tired(self) -> bool:
        """Whether the process has ended too often."""
        return self._ends >= _ENDS

    def close(self) -> None:
        """End the process."""
        self._session.close()

    def __enter__(self) -> Bench:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        """The answers, one each; none where the process did not live to give them all."""
        self._put_back()
        return self._answers(questions)

    def changed(self, name: str, text: str, questions: Sequence[Question]) -> list[Answer]:
        """The answers with another text of one definition, which is put back before anything else is asked."""
        self._put_back(but=name)
        return self._answers(questions, text, [name])

    def traced(self, question: Question) -> tuple[dict[str, set[int]], dict[tuple[str, int, str], list[int]]]:
        """The lines that a question executes, by definition, and the shapes that are bound in them."""
        noting = "\n".join([line_notes.START, *map(line_notes.traced, self.definitions.values())])
        asked = [question, Question(kind="value", name=line_notes.NOTES)]
        answers = self._answers(asked, noting, list(self.definitions))
        notes = answers[1].value if len(answers) == 2 and answers[0].failure is None else None
        return line_notes.executed(notes), line_notes.shapes(notes)

    def _answers(self, questions: Sequence[Question], source: str = "", alters: Sequence[str] = ()) -> list[Answer]:
        """The answers after `source` has run, which writes the definitions that it `alters` anew."""
        if self.tired:
            return []
        self._altered += [name for name in alters if name not in self._altered]
        if source and self._session.run(source).death:
            return self._again()
        answers = self._session.put([(question_frame(question), 1) for question in questions])
        if answers and answers[-1].failure in LAST_WORDS:
            return [] if answers[-1].failure == "missing" else self._again()
        return answers

    def _again(self) -> list[Answer]:
        self._ends += 1
        self._session.close()
        if not self.tired:
            self._begin()
        return []

    def _put_back(self, but: str = "") -> None:
        """Every definition as it was handed in, `but` the one that is written anew next."""
        back = [self.definitions[name].text for name in self._altered if name != but]
        if back and not self.tired:
            self._session.run("\n\n".join(back))
        self._altered = [name for name in self._altered if name == but]


def compared(before: Answer, after: Answer, same: float = SAME, other: float = OTHER) -> Outcome | None:
    """What a change does to an answer that there was; None where that is not certain."""
    if after.failure == "raised":
        return "error"
    if before.failure or after.failure:
        return None
    ours, theirs = _leaves(before.value), _leaves(after.value)
    if ours is None or theirs is None or not _finite(ours):
        return None
    forms = [[(_kind(item), np.shape(item)) for item in leaves] for leaves in (ours, theirs)]
    if forms[0] != forms[1]:
        kinds = [[kind for kind, _ in form] for form in forms]
        return "shape" if kinds[0] == kinds[1] else None
    if not _finite(theirs):
        return None
    largest = max((_distance(one, two) for one, two in zip(ours, theirs, strict=True)), default=0.0)
    return "same" if largest <= same else "values" if largest >= other else None


def _distance(one: Any, two: Any) -> float:
    """The largest difference of entries, relative to the largest entry; of what is no number, 0 or 1."""
    if isinstance(one, str):
        return float(one != two)
    first, second = (np.asarray(item, dtype=float) for item in (one, two))
    if not np.array_equal(np.isinf(first), np.isinf(second)):
        return 1.0
    pairs = np.isfinite(first) & np.isfinite(second)
    if not np.array_equal(first[~pairs], second[~pairs]):
        return 1.0
    if not pairs.any():
        return 0.0
    scale = max(float(np.abs(first[pairs]).max()), float(np.abs(second[pairs]).max()))
    return float(np.abs(first - second, where=pairs, out=np.zeros_like(first)).max()) / scale if scale else 0.0


def _leaves(value: Any) -> list[Any] | None:
    """The arrays, numbers and words in an answer, in order; None where there is anything else in it."""
    if hasattr(value, "detach"):
        value = value.detach()
        return [value.double().numpy() if value.is_floating_point() else value.numpy()] if _real(value) else None
    if isinstance(value, np.ndarray | str | bool | int | float):
        return [value] if not isinstance(value, np.ndarray) or value.dtype.kind in "biuf" else None
    if value is None:
        return ["nothing"]
    if isinstance(value, Mapping):
        value = [item for pair in sorted(value.items(), key=str) for item in pair]
    if not isinstance(value, list | tuple):
        return None
    found: list[Any] = [f"{len(value)} items"]
    for item in value:
        inner = _leaves(item)
        if inner is None:
            return None
        found += inner
    return found


def _real(value: Any) -> bool:
    return not value.is_complex()


def _kind(item: Any) -> str:
    """What kind of thing a leaf is."""
    if isinstance(item, str):
        return "word"
    return np.asarray(item).dtype.kind.replace("u", "i")


def _finite(leaves: Sequence[Any]) -> bool:
    """Whether nothing is not a number; an infinity is a value."""
    return not any(np.isnan(np.asarray(item, dtype=float)).any() for item in leaves if not isinstance(item, str))


def with_dtype(question: Question, dtype: Any) -> Question:
    """The same question with floating-point arrays of another precision."""

    def cast(value: Any) -> Any:
        if hasattr(value, "is_floating_point"):
            return value.to(dtype) if value.is_floating_point() else value
        if isinstance(value, Mapping):
            return {key: cast(item) for key, item in value.items()}
        return type(value)(map(cast, value)) if isinstance(value, list | tuple) else value

    return dataclasses.replace(question, arguments=cast(question.arguments), options=cast(dict(question.options)))

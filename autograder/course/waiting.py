"""What waits for a person in an assignment, and which answers are the same one."""

from __future__ import annotations

import contextlib
import hashlib
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from autograder.authoring.sealing import MINE, is_ours
from autograder.authoring.source_notebook import answer_id, statement_id
from autograder.authoring.voids import Void
from autograder.core import Outcome, Parameters, Part
from autograder.course.answer_keys import NUMBER, Key, key_of, spelled_of
from autograder.errors import AutograderError
from autograder.grading import report as reports
from autograder.grading.feedback import decides_all
from autograder.grading.submission import Submission, load_submission
from autograder.nbgrader.folder import Folder
from autograder.reporting.same_answers import with_numbers_of


@dataclass(frozen=True, kw_only=True)
class Waiting:
    """One student's answer that waits for a person; `part` is None where the notebook, or its problem, is not ours.

    `question` is Markdown. `text` is what stands in the answer's cell, `value` what was read of it; `pictures` are the
    cell's attachments. `stamp` is another one when the notebook is graded again.
    """

    student: str
    notebook: str
    name: str
    maximum: float
    question: str = ""
    text: str = ""
    value: Any = None
    pictures: Mapping[str, Any] = field(default_factory=dict)
    outcome: Outcome | None = None
    part: Part | None = None
    p: Parameters = field(default_factory=dict)
    slug: str = ""
    key: Key
    stamp: str = ""
    by_hand: float | None = None

    @property
    def item(self) -> str:
        """How tables call the part."""
        return f"{self.notebook}.{self.name}"

    @property
    def whole(self) -> bool:
        """Whether the decision is about the whole notebook."""
        return self.outcome is not None and decides_all(self.outcome)


class ByJudge:
    """Whether answers are equal by the judge's own decision. Each pair is decided once; when `seconds` are spent on an
    item, its further answers count as different.

    Under another variant, an answer is the same where both it and the reference are, with the numbers of the one
    variant in the places of the other's: what is right of the one is right of the other.
    """

    def __init__(self, seconds: float = 20.0) -> None:
        self._seconds = seconds
        self._known: dict[tuple[object, ...], bool] = {}
        self._spent: dict[str, float] = defaultdict(float)

    def __call__(self, answer: Waiting, key: Key) -> bool:
        """Whether `key` is the same answer to the same question."""
        mine = answer.key
        if mine == key:
            return True
        if mine.question != key.question or not mine.typed or not key.typed:
            return False
        typed = mine.typed if mine.asks == key.asks else _in_the_variant_of(mine, key)
        if not typed or not key.compared:
            return spelled_of(typed) == key.spelled
        pair = (*key.question, key.asks, *sorted((key.typed, typed)))
        if pair not in self._known and self._spent[key.item] < self._seconds:
            start = time.monotonic()
            self._known[pair] = _decided_equal(answer, key.typed, typed)
            self._spent[key.item] += time.monotonic() - start
        return self._known.get(pair, False)


def _in_the_variant_of(mine: Key, key: Key) -> str:
    """The answer with the numbers of another variant, where the reference becomes the other one by just these; else
    nothing.
    """
    right = with_numbers_of(mine.right, mine.p, key.p)
    typed = with_numbers_of(mine.typed, mine.p, key.p)
    same = right != mine.right and spelled_of(right) == spelled_of(key.right)
    return typed if same and _moved(mine.typed, typed) == _moved(mine.right, right) else ""


def _moved(before: str, after: str) -> set[tuple[str, str]]:
    """The numbers that are others now."""
    pairs = zip(NUMBER.findall(before), NUMBER.findall(after), strict=False)
    return {(old, new) for old, new in pairs if old != new}


def _decided_equal(answer: Waiting, one: str, other: str) -> bool:
    with contextlib.suppress(AutograderError, NotImplementedError):
        return answer.part is not None and answer.part.same_answer(one, other, answer.p)
    return False


Alike = Callable[[Waiting, Key], bool]


class Reading:
    """Reads answers of an assignment; each notebook is read once."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._notebooks: dict[tuple[str, str], tuple[str, dict[str, Any], Any, Submission | None]] = {}

    def waiting(self) -> Iterator[Waiting]:
        """Everything that the gradebook says a person is to look at."""
        for student, notebook, part, maximum, by_hand in self._folder.rows.waiting():
            yield self.answer(student, notebook, part, maximum, by_hand)

    def stamp(self, student: str, notebook: str) -> str:
        """Another one after the notebook was graded again."""
        place = reports.path_of(self._folder.root, self._folder.assignment, student, notebook)
        try:
            facts = place.stat()
            return f"{facts.st_mtime_ns}-{facts.st_size}"
        except OSError:
            return ""

    def answer(self, student: str, notebook: str, name: str, maximum: float, by_hand: float | None = None) -> Waiting:
        """What a student handed in to a part."""
        stamp, cells, report, submission = self._read(student, notebook)
        cell = cells.get(answer_id(name)) or cells.get(name) or {}
        outcome = next((each for each in report.outcomes if each.part == name), None) if report else None
        part = next((each for each in submission.paper.parts if each.name == name), None) if submission else None
        p = submission.paper.parameters if submission and part else {}
        text, pictures = _source(cell), cell.get("attachments") or {}
        value = reports.bound_to(name, outcome.answers) if outcome else None
        item = f"{notebook}.{name}"
        own = f"{student} {report.digest if report else ''}"
        return Waiting(
            student=student, notebook=notebook, name=name, maximum=maximum, text=text,
            question=_source(cells.get(statement_id(name)) or {}) if part else "", value=value, pictures=pictures,
            outcome=outcome, part=part, p=p, slug=submission.paper.slug if submission else "", stamp=stamp,
            by_hand=by_hand, key=key_of(item, outcome, part, p, value, text, pictures, report, own),
        )  # fmt: skip

    def _read(self, student: str, notebook: str) -> tuple[str, dict[str, Any], Any, Submission | None]:
        stamp = self.stamp(student, notebook)
        found = self._notebooks.get((student, notebook))
        if found is None or found[0] != stamp:
            found = self._notebooks[student, notebook] = (stamp, *self._loaded(student, notebook))
        return found

    def _loaded(self, student: str, notebook: str) -> tuple[dict[str, Any], Any, Submission | None]:
        folder = self._folder
        try:
            content = folder.autograded(student, notebook)
        except (OSError, ValueError):
            return {}, None, None
        marks = ((cell["metadata"].get("nbgrader") or {}, cell) for cell in content["cells"])
        cells = {mark["grade_id"]: cell for mark, cell in marks if mark.get("grade_id")}
        try:
            report = reports.load(reports.path_of(folder.root, folder.assignment, student, notebook))
        except AutograderError:
            return cells, None, None
        if not is_ours(folder.sources[notebook]) or MINE not in content["metadata"]:
            return cells, report, None
        voids: Mapping[str, Void] = folder.scale.voids(notebook)
        submission = load_submission(
            content, course=folder.root, secret=folder.key_of(report), asked_by=report.version, voids=voids
        )
        return cells, report, None if submission.fault else submission


def _source(cell: Mapping[str, Any]) -> str:
    source = cell.get("source", "")
    return source if isinstance(source, str) else "".join(source)


@dataclass(frozen=True, kw_only=True)
class Group:
    """Answers that are the same one; `id` is the same in every session that finds it."""

    id: str
    answers: tuple[Waiting, ...]

    @property
    def first(self) -> Waiting:
        """The answer by which the group is shown: the shortest text, so that it is the same for every grader."""
        return self.answers[0]


def grouped(answers: Iterable[Waiting], equal: Alike) -> list[Group]:
    """Equal answers together: those of one part largest first, then single ones, and else in an order that is random
    and the same for everybody.
    """
    same: dict[Key, list[Waiting]] = defaultdict(list)
    for answer in answers:
        same[answer.key].append(answer)
    merged: dict[tuple[object, ...], list[list[Waiting]]] = defaultdict(list)
    for key, members in sorted(same.items(), key=lambda pair: (-len(pair[1]), len(pair[0].spelled), pair[0].spelled)):
        groups = merged[key.question]
        home = next((group for group in groups if equal(group[0], members[0].key)), None)
        home.extend(members) if home else groups.append(members)
    found = [_group(members) for groups in merged.values() for members in groups]
    return sorted(found, key=lambda group: (-len(group.answers), _random(group.id)))


def _group(members: Sequence[Waiting]) -> Group:
    texts = sorted({member.key.spelled for member in members}, key=lambda text: (len(text), text))
    ident = hashlib.sha256(repr((members[0].key.question, members[0].key.asks, texts[0])).encode()).hexdigest()[:16]
    order = sorted(members, key=lambda each: (each.key.spelled != texts[0], _random(f"{ident}{each.student}")))
    return Group(id=ident, answers=tuple(order))


def _random(text: str) -> str:
    """A place in an order that has nothing to do with names, sizes or times."""
    return hashlib.sha256(text.encode()).hexdigest()

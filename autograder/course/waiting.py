"""What waits for a person in an assignment, and which answers are the same one."""

from __future__ import annotations

import contextlib
import hashlib
import re
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from autograder.authoring.sealing import MINE, is_ours
from autograder.authoring.source_notebook import answer_id
from autograder.authoring.voids import Void
from autograder.core import FAILURES, Outcome, Parameters, Part, Verdict
from autograder.errors import AutograderError
from autograder.grading import report as reports
from autograder.grading.feedback import WHOLE
from autograder.grading.submission import Submission, load_submission
from autograder.nbgrader.folder import Folder
from autograder.reporting.same_answers import with_numbers_of

_A_GRADER = re.compile(r"\s*A (?:grader|person) will .*$", re.DOTALL)
_CARET = re.compile(r"^ *\^$", re.MULTILINE)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
RIGHT = "⟨right⟩"  # where the right number of the student's own variant stands
_ALL_CODES = ("unreadable", "too_long", *FAILURES)


@dataclass(frozen=True, kw_only=True)
class Key:
    """By what answers are the same: equal keys are the same answer to the same question.

    `asks` is what is right there, `declared` what an answer may use, `reason` why a person must look, where that is not
    the comparison itself, `earlier` the wrong answer that this one may follow from, and `spelled` the answer without
    spaces. `typed`, `right` and `p` are the answer, the reference and the variant's parameters as text and data, where
    the answer is typed; `compared` tells that it could be read.
    """

    item: str
    asks: str = ""
    declared: str = ""
    reason: str = ""
    earlier: str = ""
    spelled: str
    compared: bool = False
    typed: str = field(default="", compare=False)
    right: str = field(default="", compare=False)
    p: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def question(self) -> tuple[object, ...]:
        """What answers have in common that can be the same in two variants."""
        return (self.item, self.declared, self.reason, self.earlier, self.compared)


@dataclass(frozen=True, kw_only=True)
class Waiting:
    """One student's answer that waits for a person; `part` is None where the notebook, or its problem, is not ours.

    `text` is what stands in the answer's cell, `value` what was read of it; `pictures` are the cell's attachments.
    `stamp` is another one when the notebook is graded again.
    """

    student: str
    notebook: str
    name: str
    maximum: float
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
        return bool(self.outcome and any(verdict.code == WHOLE for verdict in self.outcome.verdicts))


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
            return _spelled(typed) == key.spelled
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
    same = right != mine.right and _spelled(right) == _spelled(key.right)
    return typed if same and _moved(mine.typed, typed) == _moved(mine.right, right) else ""


def _moved(before: str, after: str) -> set[tuple[str, str]]:
    """The numbers that are others now."""
    pairs = zip(_NUMBER.findall(before), _NUMBER.findall(after), strict=False)
    return {(old, new) for old, new in pairs if old != new}


def _spelled(text: str) -> str:
    return "".join(text.split())


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
        value = _value(outcome, name)
        item = f"{notebook}.{name}"
        own = f"{student} {report.digest if report else ''}"
        return Waiting(
            student=student, notebook=notebook, name=name, maximum=maximum, text=text, value=value, pictures=pictures,
            outcome=outcome, part=part, p=p, slug=submission.paper.slug if submission else "", stamp=stamp,
            by_hand=by_hand, key=_key(item, outcome, part, p, value, text, pictures, report, own),
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
            content, course=folder.root, secret=folder.secret, asked_by=report.version, voids=voids
        )
        return cells, report, None if submission.fault else submission


def _source(cell: Mapping[str, Any]) -> str:
    source = cell.get("source", "")
    return source if isinstance(source, str) else "".join(source)


def _value(outcome: Outcome | None, name: str) -> Any:
    """What the part's name was bound to, where that is text, a number, or rows of them."""
    for question, answer in outcome.answers if outcome else ():
        if question.name == name and answer.failure is None and (question.by_name or question.kind == "text"):
            return answer.value
    return None


def _key(
    item: str,
    outcome: Outcome | None,
    part: Part | None,
    p: Parameters,
    value: Any,
    text: str,
    pictures: Mapping[str, Any],
    report: Any,
    own: str,
) -> Key:
    """Code is the same where the whole notebook is, since its cells need each other; pictures are nobody else's."""
    whole = bool(outcome) and any(verdict.code == WHOLE for verdict in outcome.verdicts)  # type: ignore[union-attr]
    if part is None or outcome is None or whole or pictures:
        return Key(item=item, reason=reason(outcome), spelled=own)
    told: dict[str, Any] = {"item": item, "asks": _asks(part, p), "declared": _declared(part, p)}
    told["earlier"] = _earlier(part, report)
    if part.judged_by_person:
        return Key(**told, spelled=" ".join(str(value if value is not None else text).split()))
    if part.runs or value is None:
        return Key(**told, reason=reason(outcome), spelled=f"{report.digest} {text}" if report.digest else own)
    if not isinstance(value, str):
        return Key(**told, reason=reason(outcome), spelled=_spelled(repr(value)))
    if part.kind == "number" and _by_its_kind(part, outcome) and (own := _around_the_right(part, p, _spelled(value))):
        return Key(item=item, earlier=told["earlier"], asks=RIGHT, spelled=own)
    right = part.answer_under(p) if hasattr(part, "decide") else None
    told |= {"spelled": _spelled(value), "typed": value}
    told |= {"right": right, "p": _plain(p)} if isinstance(right, str) else {}
    if hasattr(part, "decide") and _by_its_kind(part, outcome, but=_ALL_CODES):
        return Key(**told, compared=True)
    return Key(**told, reason=reason(outcome))


def _plain(value: Any) -> Any:
    """Parameters as JSON has them."""
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)


def _around_the_right(part: Part, p: Parameters, spelled: str) -> str:
    """A text with the variant's right number in it, which is put aside: "24parameters" here is "60parameters" there.

    Empty where it holds another number, or none.
    """
    right = part.answer_under(p)
    text = _NUMBER.sub(lambda found: RIGHT if str(right) == found[0] else found[0], spelled)
    return text if RIGHT in text and not any(sign.isdigit() for sign in text) else ""


def _by_its_kind(part: Part, outcome: Outcome, but: Collection[str] = ()) -> bool:
    """Whether it waits for what the part's own kind found alone, and for none of some codes."""
    waits = [verdict for verdict in outcome.verdicts if verdict.ok is None]
    return all(verdict.check == part.kind and verdict.code not in but for verdict in waits)


def reason(outcome: Outcome | None) -> str:
    """Why a person must look."""
    waits = [verdict for verdict in outcome.verdicts if verdict.ok is None] if outcome else []
    return "; ".join(dict.fromkeys(why_in_a_line(verdict) or verdict.code for verdict in waits))


def why_in_a_line(verdict: Verdict) -> str:
    """What a verdict says, without the line that shows where reading stopped, which depends on spaces."""
    text = _A_GRADER.sub("", verdict.message).strip()
    return " ".join(_CARET.split(text)[-1].split())


def _asks(part: Part, p: Parameters) -> str:
    """What is right: equal where variants ask for the same."""
    with contextlib.suppress(Exception):  # a fault of the problem's is told where it is judged
        if hasattr(part, "decide") or part.kind in ("number", "vector", "written"):
            return _digest(part.answer_under(p))
    return _digest(sorted(p.items(), key=str))


def _declared(part: Part, p: Parameters) -> str:
    """What a typed answer may use."""
    return _digest(dict(part.declarations(p))) if hasattr(part, "declarations") else ""


def _digest(value: object) -> str:
    return hashlib.sha256(repr(value).encode()).hexdigest()[:32]


def _earlier(part: Part, report: Any) -> str:
    """The answer from which this one may follow, unless it is the right one."""
    before = next((each for each in report.outcomes if each.part == part.follows), None) if part.follows else None
    if before is None or before.standing == "earned":
        return ""
    return "".join(repr(_value(before, before.part)).split())


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


def known_key(known: Mapping[str, Any]) -> Key:
    """The key that the journal keeps of an answer."""
    return Key(**{each.name: known[each.name] for each in fields(Key)})

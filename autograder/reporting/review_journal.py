"""What graders decided in the queue, read off its journal: lines that are appended and never changed.

A *decision* gives points to everybody who handed in the same answer, and is a rule for those who hand it in later. An
*undo* takes a decision back, with all that followed it. A *request* asks for another look, and has a *reply*. What
holds is what the lines come to, one after the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal

from autograder.grading.report import FOLDER
from autograder.reporting.journal_lines import read

RequestState = Literal["open", "accepted", "declined"]


@dataclass(frozen=True, kw_only=True)
class Ruling:
    """One decision. `answer` says by what a later answer is known as the same, `before` what the gradebook had.

    `alone`: for these students only, and no rule. `without` are students who were taken out of the group: the rule is
    not theirs. `follows` names the decision that this one followed.
    """

    id: str
    time: float
    by: str
    item: str
    points: float
    maximum: float
    criteria: tuple[str, ...] = ()
    comment: str = ""
    students: tuple[str, ...] = ()
    answer: Mapping[str, Any] = field(default_factory=dict)
    before: Mapping[str, Any] = field(default_factory=dict)
    alone: bool = False
    without: tuple[str, ...] = ()
    follows: str = ""


@dataclass(frozen=True, kw_only=True)
class LookRequest:
    """A student's wish that somebody looks again at a part, and what came of it: `ruling` names the new decision."""

    id: str
    time: float
    student: str
    item: str
    text: str
    state: RequestState = "open"
    reply: str = ""
    by: str = ""
    replied: float = 0.0
    ruling: str = ""

    @property
    def sentence(self) -> str:
        """What the student reads of it."""
        words = {
            "open": "You asked for another look. Nobody has decided yet.",
            "accepted": "You asked for another look. Your points were changed.",
            "declined": "You asked for another look. Your points stay as they are.",
        }
        return " ".join(filter(None, (words[self.state], self.reply)))


@dataclass(kw_only=True)
class Reviewed:
    """What holds after all lines: rulings by their ids in order of time, those that were undone, and the requests."""

    rulings: dict[str, Ruling] = field(default_factory=dict)
    undone: dict[str, str] = field(default_factory=dict)
    requests: dict[str, LookRequest] = field(default_factory=dict)

    def standing(self) -> list[Ruling]:
        """The decisions that hold, in order of time."""
        return [ruling for ruling in self.rulings.values() if ruling.id not in self.undone]

    def on(self, student: str, item: str) -> Ruling | None:
        """The last decision that holds about a student's answer."""
        mine = (each for each in reversed(self.standing()) if each.item == item and student in each.students)
        return next(mine, None)

    def rules(self, student: str, item: str) -> list[Ruling]:
        """What a student's answer to an item is compared with, the latest first."""
        return [
            each
            for each in reversed(self.standing())
            if each.item == item and not each.follows and self._is_for(each, student)
        ]

    def _is_for(self, rule: Ruling, student: str) -> bool:
        """Whether a decision is one for a student: not where the student was taken out of it, before or since."""
        if student in rule.without or (rule.alone and student not in rule.students):
            return False
        taken_out = (self.rulings[id_] for id_ in self.undone if id_ in self.rulings)
        return not any(each.follows == rule.id and student in each.students for each in taken_out)

    def with_followers(self, ruling: Ruling) -> list[Ruling]:
        """A decision and all that followed it and hold still."""
        return [each for each in self.standing() if ruling.id in (each.id, each.follows)]

    def asked_by(self, student: str) -> list[LookRequest]:
        """A student's requests."""
        return [each for each in self.requests.values() if each.student == student]


def reviewed(lines: Iterable[Mapping[str, Any]]) -> Reviewed:
    """The state after the lines of a journal; what is no line of ours says nothing."""
    state = Reviewed()
    for line in lines:
        match line.get("kind"):
            case "decision":
                state.rulings[line["id"]] = _ruling(line)
            case "undo":
                state.undone |= dict.fromkeys(line["undoes"], line["by"])
                for asked in list(state.requests.values()):
                    if {asked.id, asked.ruling} & set(line["undoes"]):
                        state.requests[asked.id] = replace(asked, state="open", reply="", by="", ruling="")
            case "request":
                known = {key: line[key] for key in ("id", "time", "student", "item", "text")}
                state.requests.setdefault(line["id"], LookRequest(**known))
            case "reply" if line["id"] in state.requests:
                told = {key: line[key] for key in ("state", "reply", "by", "ruling")}
                state.requests[line["id"]] = replace(state.requests[line["id"]], replied=line["time"], **told)
    return state


def _ruling(line: Mapping[str, Any]) -> Ruling:
    known: dict[str, Any] = {item.name: line[item.name] for item in fields(Ruling) if item.name in line}
    return Ruling(**known | {key: tuple(known[key]) for key in ("criteria", "students", "without") if key in known})


def path_of(course: Path, assignment: str) -> Path:
    """Where the journal of an assignment's decisions lies."""
    return course / FOLDER / f"{assignment}.decisions.jsonl"


def state_of(course: Path, assignment: str) -> Reviewed:
    """What was decided so far."""
    return reviewed(read(path_of(course, assignment)))

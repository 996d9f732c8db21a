"""The queue as its page sees it: what waits, who looks at what, and what is decided, undone and answered.

All that it knows is in the gradebook, the reports and the journal of decisions. So several graders, at one server or
each at their own, do not overwrite each other: a decision is written only where what it is about still waits, and is as
it was shown.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.authoring.pseudonyms import Called
from autograder.course.deciding import Conflict, Desk
from autograder.course.waiting import Group, Waiting
from autograder.errors import StaffError
from autograder.reporting.review_journal import LookRequest, Reviewed, Ruling, path_of
from autograder.review.cards import group_card, nameless_card, student_words
from autograder.review.problem_stub import write_stub

_OPEN_SECONDS = 20.0  # how long a card counts as looked at by somebody who says no more
_LOOK_SECONDS = 2.0  # between two looks at whether others have written
_HISTORY = 60  # decisions that the page lists


@dataclass(kw_only=True)
class Queue:
    """The queue of one assignment, for any number of graders; `looking` is who looks at which card since when."""

    desk: Desk
    grader: str
    called: Called = field(default_factory=Called)
    now: Callable[[], float] = time.monotonic
    groups: list[Group] = field(default_factory=list)
    looking: dict[str, tuple[str, str, float]] = field(default_factory=dict)
    _heard: float = -1e9
    _seen: tuple[Any, ...] = ()
    _looked: float = -1e9
    _state: Reviewed = field(default_factory=Reviewed)

    def look(self, *, now: bool = False) -> None:
        """Read again what waits, where somebody has written since."""
        if not now and self.now() - self._looked < _LOOK_SECONDS:
            return
        self._looked = self.now()
        seen = self._marks_of_change()
        if now or seen != self._seen:
            self.groups, self._state = self.desk.groups(), self.desk.state
            self._seen = self._marks_of_change()

    def heard(self) -> None:
        """Somebody works."""
        self._heard = self.now()

    @property
    def quiet(self) -> float:
        """For how many seconds nobody has done anything but look."""
        return self.now() - self._heard

    def _marks_of_change(self) -> tuple[Any, ...]:
        folder = self.desk.folder
        url = str(folder.coursedir.db_url)
        places = [path_of(folder.root, folder.assignment), folder.root / "reports" / f"{folder.assignment}.jsonl"]
        places += [Path(url.removeprefix("sqlite:///"))] if url.startswith("sqlite:///") else []
        facts = [place.stat() if place.exists() else None for place in places]
        ticks = () if url.startswith("sqlite:///") else (int(self.now() / 5),)
        return (*((fact.st_mtime_ns, fact.st_size) if fact else None for fact in facts), *ticks)

    # What the page asks for.

    def queue(self, tab: str, grader: str) -> dict[str, Any]:
        """What waits, in its order; who looks at what; what was decided lately."""
        self.look()
        self._keep(tab)
        state = self._state
        return {
            "assignment": self.desk.folder.assignment,
            "grader": grader,
            "groups": [self._line(group, tab) for group in self.groups],
            "requests": [self._asked(each, tab) for each in state.requests.values() if each.state == "open"],
            "decided": sum(len(each.students) for each in state.standing()),
            "waiting": sum(len(group.answers) for group in self.groups),
            "history": self._history(state)[:_HISTORY],
            "pages": len(self.desk.changed),
        }

    def _line(self, group: Group, tab: str) -> dict[str, Any]:
        other = self._other(group.id, tab)
        return {"id": group.id, "item": group.first.item, "size": len(group.answers), "open_by": other}

    def _asked(self, asked: LookRequest, tab: str) -> dict[str, Any]:
        return {"id": asked.id, "item": asked.item, "open_by": self._other(asked.id, tab)}

    def _history(self, state: Reviewed) -> list[dict[str, Any]]:
        """What was done, the last first; what followed a decision stands with its own line."""
        lines: list[dict[str, Any]] = [
            {
                "id": each.id, "time": each.time, "by": each.by, "item": each.item, "points": each.points,
                "maximum": each.maximum, "students": list(map(self.called.of, each.students)), "comment": each.comment,
                "criteria": list(each.criteria), "follows": bool(each.follows),
                "undone": state.undone.get(each.id, ""), "asked": False,
            }
            for each in state.rulings.values()
            if not any(asked.ruling == each.id for asked in state.requests.values())
        ]  # fmt: skip
        lines += [
            {
                "id": each.id, "time": each.replied, "by": each.by, "item": each.item, "points": None, "maximum": None,
                "students": [self.called.of(each.student)], "comment": each.reply, "criteria": [each.state],
                "follows": False, "undone": "", "asked": True,
            }
            for each in state.requests.values()
            if each.state != "open"
        ]  # fmt: skip
        return sorted(lines, key=lambda line: line["time"], reverse=True)

    def card(self, tab: str, grader: str, *, id: str) -> dict[str, Any]:  # noqa: A002 - the page's word
        """One group, which is looked at from now on; Conflict where another grader looks at it."""
        self.look()
        group = self._group(id)
        if other := self._other(id, tab):
            raise Conflict(f"{other} looks at this answer")
        self._leave(tab)
        self.looking[id] = (tab, grader, self.now())
        return nameless_card(group_card(group, self.desk.most(group.first)), self.called)

    def request(self, tab: str, grader: str, *, id: str) -> dict[str, Any]:  # noqa: A002
        """A request for another look, with the answer that it is about."""
        asked = self._state.requests.get(id)
        if asked is None or asked.state != "open":
            raise Conflict("this request is answered already")
        if other := self._other(id, tab):
            raise Conflict(f"{other} looks at this request")
        self._leave(tab)
        self.looking[id] = (tab, grader, self.now())
        notebook, _, part = asked.item.partition(".")
        has = self.desk.folder.rows.by_hand(asked.student, notebook, part)
        answer = self.desk.reading.answer(asked.student, notebook, part, has.maximum)
        points = has.score if has.score is not None else has.judged
        card = group_card(Group(id=asked.id, answers=(answer,)), has.maximum)
        words = self.called.page(student_words(asked.text), self.called.answer)
        return nameless_card(card, self.called) | {"asked": words, "has": points}

    def decide(
        self,
        tab: str,
        grader: str,
        *,
        id: str,  # noqa: A002
        members: Mapping[str, str],
        points: float,
        criteria: list[str] | None = None,
        comment: str = "",
        out: list[str] | None = None,
    ) -> dict[str, Any]:
        """Give a group's members the points, each as it was shown; `out` were taken out of the group."""
        self.look()
        answers = self._members(id, {self.called.id(name): stamp for name, stamp in members.items()})
        ruling = self.desk.decide(
            answers,
            float(points),
            by=grader,
            criteria=criteria or [],
            comment=comment,
            without=self.called.ids(out or []),
        )
        self._leave(tab)
        self.look(now=True)
        return {"id": ruling.id, "students": len(ruling.students)}

    def _members(self, id_: str, members: Mapping[str, str]) -> list[Waiting]:
        found = next((group for group in self.groups if group.id == id_), None)
        by_name = {each.student: each for each in found.answers} if found else {}
        for student, stamp in members.items():
            if student not in by_name or by_name[student].stamp != stamp:
                item = found.first.item if found else ""
                ruled = self._state.on(student, item) if item else self._lately(student)
                who = f"{ruled.by} has decided about" if ruled else "something has changed about"
                raise Conflict(f"{who} {student}'s answer since you opened it; nothing was written")
        return [by_name[student] for student in members]

    def _lately(self, student: str) -> Ruling | None:
        return next((each for each in reversed(self._state.standing()) if student in each.students), None)

    def undo(self, tab: str, grader: str, *, id: str = "") -> dict[str, Any]:  # noqa: A002
        """Take back a decision; without an id, the grader's own last one that holds."""
        state = self.desk.state
        last = id or next((line["id"] for line in self._history(state) if self._is_mine(line, grader)), "")
        if not last:
            raise StaffError("nothing", "there is nothing of yours to take back")
        done = self.desk.undo(last, by=grader)
        self.look(now=True)
        students = done.students if isinstance(done, Ruling) else (done.student,)
        back = next((group.id for group in self.groups if group.first.item == done.item
                     and {each.student for each in group.answers} & set(students)), "")  # fmt: skip
        return {"item": done.item, "students": len(students), "group": back}

    def _is_mine(self, line: Mapping[str, Any], grader: str) -> bool:
        return line["by"] == grader and not line["undone"] and not line["follows"]

    def reply(
        self,
        tab: str,
        grader: str,
        *,
        id: str,  # noqa: A002
        points: float | None = None,
        comment: str = "",
    ) -> dict[str, Any]:
        """Answer a request for another look."""
        asked = self._state.requests.get(id)
        if asked is None:
            raise Conflict("there is no such request")
        self.desk.look_again(asked, points, reply=comment, by=grader)
        self.look(now=True)
        return {"id": id}

    def stub(self, tab: str, grader: str, *, id: str, kind: str, name: str, hint: str = "") -> dict[str, Any]:  # noqa: A002
        """Write the lines for the problem's file."""
        if kind not in ("mistake", "equivalent"):
            raise StaffError("stub", "it is a mistake or an equivalent")
        place, text = write_stub(self.desk.folder, self._group(id), kind, name, hint)  # type: ignore[arg-type]
        return {"file": str(place.relative_to(self.desk.folder.root)), "text": text}

    def leave(self, tab: str, grader: str) -> dict[str, Any]:
        """The page is closed, or shows no card."""
        self._leave(tab)
        return {}

    def _group(self, id_: str) -> Group:
        found = next((group for group in self.groups if group.id == id_), None)
        if found is None:
            raise Conflict("this answer is decided already")
        return found

    def _other(self, id_: str, tab: str) -> str:
        """Who else looks at a group."""
        own, grader, since = self.looking.get(id_, ("", "", -1e9))
        return grader if own != tab and self.now() - since < _OPEN_SECONDS else ""

    def _keep(self, tab: str) -> None:
        for id_, (own, grader, _) in self.looking.items():
            if own == tab:
                self.looking[id_] = (own, grader, self.now())

    def _leave(self, tab: str) -> None:
        self.looking = {id_: who for id_, who in self.looking.items() if who[0] != tab}

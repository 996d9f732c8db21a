"""Deciding what waits: marks go into the gradebook as marks by hand, and who decided what, and when, into a journal.

The journal (`reports/ASSIGNMENT.decisions.jsonl`) is written first. A run that was killed in between is made up for by
the next one: an answer that still waits follows the decision that is in the journal.
"""

from __future__ import annotations

import contextlib
import dataclasses
import secrets
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from autograder.course import journal as journals
from autograder.course.answer_keys import known_key
from autograder.course.lock import alone
from autograder.course.waiting import Alike, ByJudge, Group, Reading, Waiting, grouped
from autograder.errors import AutograderError, StaffError
from autograder.nbgrader.folder import Folder
from autograder.nbgrader.rows import ByHand
from autograder.reporting.review_journal import LookRequest, Reviewed, Ruling, path_of, state_of

_PATIENCE = 5.0  # seconds that a decision waits for another program's


class Conflict(StaffError):
    """Somebody else was faster, or the answer is another one by now: nothing was written."""

    def __init__(self, message: str) -> None:
        super().__init__("conflict", message)


class _Busy(StaffError):
    """Another run has the assignment."""


class Desk:
    """An assignment's held answers, and the decisions about them. `changed` are students whose pages are old now."""

    def __init__(self, folder: Folder, equal: Alike | None = None) -> None:
        self.folder, self._equal = folder, equal or ByJudge()
        self.reading = Reading(folder)
        self.changed: dict[str, None] = {}

    @property
    def state(self) -> Reviewed:
        """What holds by the journal, which other graders write to as well."""
        return state_of(self.folder.root, self.folder.assignment)

    def waiting(self) -> list[Waiting]:
        """What waits in the gradebook now."""
        self.folder.rows.forget()
        return list(self.reading.waiting())

    def groups(self) -> list[Group]:
        """What waits, equal answers together."""
        return grouped(self.waiting(), self._equal)

    def decide(
        self,
        answers: Sequence[Waiting],
        points: float,
        *,
        by: str,
        criteria: Sequence[str] = (),
        comment: str = "",
        alone: bool = False,
        without: Sequence[str] = (),
    ) -> Ruling:
        """Give all of them the points; Conflict where one is decided already, or was graded again since it was read.

        `alone`: later equal answers do not follow; `without`: neither do these students' answers.
        """
        if not answers:
            raise StaffError("nobody", "there is nobody to be decided about")
        maximum = answers[0].maximum
        if not 0 <= points <= self.most(answers[0]) + 1e-9:
            raise StaffError("points", f"{points:g} is not between 0 and {self.most(answers[0]):g} points")
        with self._alone():
            self.folder.rows.forget()
            before = {each.student: self._still_waits(each) for each in answers}
            ruling = Ruling(
                id=secrets.token_hex(6), time=round(time.time(), 3), by=by, item=answers[0].item, points=points,
                maximum=maximum, criteria=tuple(criteria), comment=comment.strip(), alone=alone, without=tuple(without),
                students=tuple(each.student for each in answers), answer=_known(answers[0]),
                before={student: dataclasses.asdict(was) for student, was in before.items()},
            )  # fmt: skip
            self._note(ruling)
            self._give(ruling)
        return ruling

    def look_again(self, request: LookRequest, points: float | None, *, reply: str, by: str) -> None:
        """Answer a request: with other points it is accepted, without it is declined."""
        notebook, _, part = request.item.partition(".")
        with self._alone():
            self.folder.rows.forget()
            if (known := self.state.requests.get(request.id)) is None or known.state != "open":
                raise Conflict(f"{known.by if known else 'somebody'} has answered this request already")
            made = ""
            if points is not None:
                was = self.folder.rows.by_hand(request.student, notebook, part)
                if not 0 <= points <= was.maximum:
                    raise StaffError("points", f"{points:g} is not between 0 and {was.maximum:g} points")
                ruling = Ruling(
                    id=secrets.token_hex(6), time=round(time.time(), 3), by=by, item=request.item, points=points,
                    maximum=was.maximum, comment=reply.strip(), students=(request.student,), alone=True,
                    before={request.student: dataclasses.asdict(was)},
                )  # fmt: skip
                made = ruling.id
                self._note(ruling)
                self._give(ruling)
            told = {"state": "accepted" if made else "declined", "reply": reply.strip(), "by": by, "ruling": made}
            self._write({"kind": "reply", "id": request.id, **told})
            self.changed[request.student] = None

    def take_in(self, requests: Iterable[LookRequest]) -> int:
        """Note requests that are new; how many these are."""
        known = self.state.requests
        new = [request for request in requests if request.id not in known]
        with self._alone() if new else contextlib.nullcontext():
            for request in new:
                told = {key: getattr(request, key) for key in ("id", "student", "item", "text")}
                self._write({"kind": "request", **told})
                self.changed[request.student] = None
        return len(new)

    def undo(self, what: str, *, by: str) -> Ruling | LookRequest:
        """Take a decision back, with all that followed it, or the reply to a request: all is as it was before."""
        with self._alone():
            self.folder.rows.forget()
            state = self.state
            asked = next((each for each in state.requests.values() if what in (each.id, each.ruling)), None)
            found = state.rulings.get(asked.ruling if asked else what)
            if (asked and asked.state == "open") or (not asked and (found is None or what in state.undone)):
                raise Conflict("this was taken back already" if asked or found else "there is no such decision")
            going = state.with_followers(found) if found else []
            ids = [each.id for each in going] + ([asked.id] if asked else [])
            self._write({"kind": "undo", "undoes": ids, "by": by})
            for each in reversed(going):
                self._put_back(each)
            if asked:
                self.changed[asked.student] = None
        result = asked or found
        assert result
        return result

    def follow(self, *, locked: bool = False) -> list[Ruling]:
        """Let answers that wait and equal one that was decided have its points; what was given that way.

        `locked`: the caller has the assignment for itself.
        """
        state = self.state
        if not state.standing():
            return []
        made = []
        with contextlib.nullcontext() if locked else self._alone():
            for answer in self.waiting():
                rules = state.rules(answer.student, answer.item)
                rule = next((rule for rule in rules if self._holds_for(rule, answer)), None)
                if rule is not None:
                    made.append(self._followed(rule, answer))
        return made

    def _holds_for(self, rule: Ruling, answer: Waiting) -> bool:
        same_scale = rule.maximum == answer.maximum
        return same_scale and bool(rule.answer) and self._equal(answer, known_key(rule.answer))

    def _followed(self, rule: Ruling, answer: Waiting) -> Ruling:
        notebook, _, part = answer.item.partition(".")
        before = self.folder.rows.by_hand(answer.student, notebook, part)
        ruling = dataclasses.replace(
            rule,
            id=secrets.token_hex(6),
            time=round(time.time(), 3),
            students=(answer.student,),
            before={answer.student: dataclasses.asdict(before)},
            follows=rule.follows or rule.id,
        )
        self._note(ruling)
        self._give(ruling)
        return ruling

    def write_pages(self) -> Iterator[str]:
        """Write the pages of students whose marks have changed, one after the other; whose it was."""
        while self.changed:
            student = next(iter(self.changed))
            place = self.folder.coursedir
            graded = Path(place.format_path(place.autograded_directory, student, self.folder.assignment))
            names = [name for name in self.folder.rows.notebooks if (graded / f"{name}.ipynb").is_file()]
            with contextlib.suppress(AutograderError, OSError, ValueError):  # `grade` writes it, or says why it cannot
                if names:
                    self.folder.feedback_again(student, names)
            self.changed.pop(student, None)
            yield student

    def most(self, answer: Waiting) -> float:
        """What can be given: where the decision is about the whole notebook, all of its points."""
        if not answer.whole:
            return answer.maximum
        return sum(
            self.folder.scale.maximum(answer.notebook, part) for part in self.folder.scale.points[answer.notebook]
        )

    def _still_waits(self, answer: Waiting) -> ByHand:
        now = self.folder.rows.by_hand(answer.student, answer.notebook, answer.name)
        if not now.waits:
            ruled = self.state.on(answer.student, answer.item)
            who = f"{ruled.by} has given" if ruled else "somebody has given"
            points = now.score if now.score is not None else now.judged or 0.0
            raise Conflict(
                f"{who} {points:g} points to {answer.student} for {answer.item} already; nothing was written"
            )
        if self.reading.stamp(answer.student, answer.notebook) != answer.stamp:
            raise Conflict(f"{answer.student}'s {answer.notebook} was graded again meanwhile; nothing was written")
        return now

    def _give(self, ruling: Ruling) -> None:
        notebook, _, part = ruling.item.partition(".")
        for student in ruling.students:
            self.folder.rows.give(student, [(notebook, part, ruling.points, ruling.comment)])
            self.changed[student] = None

    def _put_back(self, ruling: Ruling) -> None:
        notebook, _, part = ruling.item.partition(".")
        for student, was in ruling.before.items():
            now = self.folder.rows.by_hand(student, notebook, part)
            if not now.waits and now.score == ruling.points:  # nobody has changed it since, in formgrader
                self.folder.rows.put_back(student, notebook, part, ByHand(**was))
                self.changed[student] = None

    def _note(self, ruling: Ruling) -> None:
        line = {key: value for key, value in vars(ruling).items() if key != "time"}
        self._write({"kind": "decision", **line})

    def _write(self, line: Mapping[str, Any]) -> None:
        file = journals.Journal(path_of(self.folder.root, self.folder.assignment), shared=self.folder.shared)
        try:
            file.write(**line)
        finally:
            file.close()

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """No other program writes marks of the assignment meanwhile; StaffError where one goes on for long."""
        start = time.monotonic()

        def say(text: str) -> None:
            raise _Busy("busy", text.partition(";")[0])

        with contextlib.ExitStack() as stack:
            while True:
                try:
                    stack.enter_context(
                        alone(self.folder.root, self.folder.assignment, shared=self.folder.shared, say=say)
                    )
                    break
                except _Busy as error:
                    if time.monotonic() - start > _PATIENCE:
                        raise StaffError("busy", f"{error.message}. Nothing was written; try again later") from error
                    time.sleep(0.1)
            yield


def _known(answer: Waiting) -> dict[str, Any]:
    """What the journal keeps of an answer, by which later ones are known as the same."""
    return {**vars(answer.key), "typed": answer.text[:2_000]}

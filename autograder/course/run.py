"""`autograder grade`: a whole class, many at once, nothing lost.

Notebooks run in parallel; reading, judging and writing are one thread's, which alone writes to the gradebook. A
submission is done when its line is in the journal, and everything that line stands for was written before it.
"""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder import __version__
from autograder.authoring import roster
from autograder.course import journal as journals
from autograder.course.deciding import Desk
from autograder.course.lock import alone
from autograder.course.workers import Cluster, Threads, Workers
from autograder.errors import AutograderError, StaffError
from autograder.grading.feedback import summary as one_line
from autograder.grading.notebook import Graded, mark
from autograder.grading.plan import Attempt, task_of
from autograder.grading.report import path_of
from autograder.grading.submission import Submission
from autograder.nbgrader.course_api import opened
from autograder.nbgrader.files import entries, printable
from autograder.nbgrader.folder import Folder, Handed
from autograder.nbgrader.foreign import Foreign, ForeignAttempt, settled
from autograder.nbgrader.rows import LOCKED, Totals
from autograder.reporting.review_journal import Ruling
from autograder.sandbox import Limits
from autograder.sandbox.task import Replies

_LOOK = 0.05  # seconds between two looks at whether there is room: a notebook that gives way makes some
_TOGETHER, _WAIT = 25, 0.5  # submissions that are written together, and seconds that one of them waits for others
UNHEARD = 8  # notebooks that are over and not judged yet, above which no other is begun: they hold all their answers
_FOR_ALL = ("journal", LOCKED)  # what goes wrong for everybody, and stops the run
STATES = ("waiting", "running", "done", "kept", "empty", "failed")


@dataclass(frozen=True, kw_only=True)
class Options:
    """What the command line was given."""

    assignment: str
    students: tuple[str, ...] = ()
    jobs: int = 2
    resume: bool = False
    feedback: bool = True
    require_wall: bool = False
    scheduler: str = ""
    twice: bool = False


@dataclass(kw_only=True)
class Row:
    """How one student's submission stands; `why` says what a person should know, `missing` names absent notebooks.

    `kept` was done in an earlier run; `empty` holds no notebook of the assignment. `waits` are the parts that a person
    is to decide, by the notebook.
    """

    student: str
    state: str = "waiting"
    points: float = 0.0
    of: float = 0.0
    held: int = 0
    flags: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    why: str = ""
    waits: dict[str, list[str]] = field(default_factory=dict)


@dataclass(kw_only=True)
class Result:
    """A run in figures, for people and scripts.

    Where the course has a roster: `strangers` handed in and are not on it, and `left` are those that the gradebook
    knows and the roster does not. `notes` are what else a person should know. `followed` are answers that got the
    points of an equal one, about which a person had decided.
    """

    assignment: str
    rows: list[Row] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)
    strangers: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    followed: list[Ruling] = field(default_factory=list)
    seconds: float = 0.0
    stopped: str = ""

    def counts(self) -> dict[str, Any]:
        """What a script wants to know."""
        states = [row.state for row in self.rows]
        return {
            "assignment": self.assignment,
            "submissions": len(self.rows),
            "graded": states.count("done"),
            "kept": states.count("kept"),
            "empty": states.count("empty"),
            "failed": states.count("failed"),
            "unfinished": states.count("waiting") + states.count("running"),
            "held": sum(row.held > 0 for row in self.rows),
            "flagged": sum(bool(row.flags) for row in self.rows),
            "incomplete": sum(bool(row.missing) for row in self.rows),
            "without_submission": len(self.absent),
            "not_on_the_roster": len(self.strangers),
            "seconds": round(self.seconds, 2),
            "followed": len(self.followed),
            "stopped": self.stopped,
        }

    @property
    def exit_code(self) -> int:
        """0 where every submission is graded (one that waits for a person is), else 1."""
        counts = self.counts()
        return int(bool(counts["failed"] or counts["unfinished"] or self.stopped))


# Called with the result so far, whenever a row has changed.
Watcher = Callable[[Result], None]


def run(course: Path, options: Options, watch: Watcher = lambda result: None) -> Result:
    """Grade an assignment; the exceptions of ours that leave it come before anything was graded."""
    with opened(course) as api, alone(course, options.assignment, shared=bool(api.coursedir.groupshared)):
        folder = Folder(api, options.assignment)
        try:
            folder.rows.agree(folder.scale, everybody=not options.students)
            one = _Run(folder, options, watch)
            result = one.go()
            one.end()
            return result
        finally:
            folder.close()


class _Run:
    def __init__(self, folder: Folder, options: Options, watch: Watcher) -> None:
        self.folder, self.options, self.watch = folder, options, watch
        self.journal = journals.Journal(journals.path_of(folder.root, options.assignment), shared=folder.shared)
        limits: Limits = folder.judge.limits()
        self.limits = dataclasses.replace(limits, require_wall=limits.require_wall or options.require_wall)
        self.twice = options.twice or folder.judge.runs > 1
        found = folder.handed_in(options.students)
        self.handed = {item.student: item for item in found}
        self.rows = {student: Row(student=student) for student in self.handed}
        self.result = Result(assignment=options.assignment, rows=list(self.rows.values()))
        self._judged: list[_Judged] = []
        self._compare_with_roster()

    def _compare_with_roster(self) -> None:
        """Who has not handed in, and who is not on the course's roster; a roster that cannot be read stops nothing."""
        result, handed, known = self.result, set(self.handed), set(self.folder.rows.students())
        try:
            listed = {person.id for person in roster.of_course(self.folder.root, known | handed)}
        except StaffError as error:
            listed = set()
            result.notes.append(f"Nobody was compared with the roster: {error.message}")
        if listed and not self.options.students:
            result.strangers, result.left = sorted(handed - listed), sorted(known - listed - handed)
        result.absent = sorted(set(self.options.students or listed or known) - handed)

    def go(self) -> Result:
        """Grade what is to be graded, and say how it went."""
        start = time.monotonic()
        try:
            todo = [item for item in self.handed.values() if not (self.options.resume and self._kept(item))]
            self.watch(self.result)
            self.journal.write(state="start", submissions=len(self.handed), todo=len(todo))
            if self.folder.by_nbgrader:
                self._by_nbgrader(todo)
            else:
                self._outside()
                self._by_us(todo)
        except KeyboardInterrupt:
            self.result.stopped = "interrupted"
        except AutograderError as error:
            self.result.stopped = error.message
        finally:
            self.result.seconds = time.monotonic() - start
            self.watch(self.result)
            self.journal.close()
        return self.result

    def end(self) -> None:
        """Let answers that a person has decided about already have these points; note what still waits."""
        desk = Desk(self.folder)
        try:
            self.result.followed = desk.follow(locked=True) if not self.result.stopped else []
            for student in desk.write_pages() if self.options.feedback else list(desk.changed):
                if student in self.rows:
                    self._sum(self.rows[student])
        except (AutograderError, OSError, ValueError, KeyError) as error:
            self.result.notes.append(f"Earlier decisions were not followed: {error}")
        for student, notebook, part, *_ in self.folder.rows.waiting():
            if student in self.rows:
                self.rows[student].waits.setdefault(notebook, []).append(part)

    def _keyed(self, handed: Handed) -> Handed:
        return dataclasses.replace(handed, key=self.folder.key(handed, __version__))

    def _kept(self, handed: Handed) -> bool:
        """Whether an earlier run has done just this work; then it is shown as it was."""
        line = self.journal.last.get(handed.student, {})
        if line.get("state") != "done" or line.get("key") != self._keyed(handed).key:
            return False
        if self.options.feedback and not line.get("feedback"):
            return False
        place = (self.folder.root, self.options.assignment, handed.student)
        if not all(path_of(*place, name).is_file() for name in line.get("notebooks", ())):
            return False
        row = self.rows[handed.student]
        self._sum(row)
        if not row.of and line["of"]:
            return False  # the gradebook is another one
        if (row.points, row.of, row.held) != (line["points"], line["of"], line["held"]) and line.get("feedback"):
            try:
                self.folder.feedback_again(handed.student, line["notebooks"])  # a person has decided since
            except (AutograderError, OSError, ValueError):
                return False  # what the page is made of is not there
            self.journal.write(**{**line, "points": row.points, "of": row.of, "held": row.held})
        row.state, row.flags, row.missing = "kept", tuple(line["flags"]), tuple(line.get("missing", ()))
        return True

    def _sum(self, row: Row) -> None:
        """Points, maximum, and waiting decisions as the gradebook has them."""
        totals = self.folder.rows.totals(row.student)
        row.points, row.of, row.held = totals.points, totals.of, totals.held

    def _outside(self) -> None:
        """Say which notebooks run in nbgrader's own kernel; StaffError where the sandbox is required."""
        told = [f"{name} runs in nbgrader's own kernel: {why}" for name, why in self.folder.outside.items()]
        if told and self.limits.require_wall:
            raise StaffError("wall", f"--require-sandbox: nothing was run, since {'; '.join(told)}")
        self.result.notes += told + self.folder.remarks

    def _by_nbgrader(self, todo: list[Handed]) -> None:
        """nbgrader's own command, one student after the other; what it cannot keep of the options is said."""
        why, judge = self.folder.by_nbgrader, self.folder.api.config.RunAndJudge
        if self.limits.require_wall and "RunAndJudge" not in str(self.folder.converter.autograde_preprocessors):
            raise StaffError("wall", f"--require-sandbox: nothing was run, since no cell would run in it: {why}")
        judge.require_wall, judge.runs = self.limits.require_wall, 2 if self.twice else 1
        self.result.notes.append(f"graded by nbgrader's own steps, one after the other, without --jobs: {why}")
        for handed in todo:
            with self._guarded(handed):
                if not self.folder.made_safe(handed):
                    raise _Nothing(f"no notebook of this assignment was submitted{self._instead(handed)}")
                handed = self._keyed(handed)
                self.folder.grade_by_nbgrader(handed, feedback=self.options.feedback)
                self._tell([self._line(handed, {}, self.folder.rows.totals(handed.student))])

    def _by_us(self, todo: list[Handed]) -> None:
        options = self.options
        workers: Workers = Cluster(options.scheduler) if options.scheduler else Threads(options.jobs)
        try:
            self._work(workers, iter(todo))
        except BaseException as error:
            workers.close(now=True)
            if isinstance(error, KeyboardInterrupt):
                self._write(all_of_them=True)
            raise
        workers.close()

    def _work(self, workers: Workers, todo: Iterator[Handed]) -> None:
        """Keep the workers busy, and little more than that in memory."""
        running: dict[Future[Replies], tuple[_Work, Attempt | ForeignAttempt]] = {}
        more = True
        workers.expect(more)
        while running or more:
            while more and workers.room() and sum(map(Future.done, running)) < UNHEARD:
                handed = next(todo, None)
                if handed is None:
                    more = False
                    workers.expect(more)
                elif work := self._begin(handed):
                    for attempt in work.to_run():
                        assert attempt.task
                        running[workers.submit(attempt.task)] = work, attempt
            self._write(all_of_them=not running)
            finished, _ = wait(running, timeout=_LOOK, return_when=FIRST_COMPLETED)
            for future in finished:
                work, attempt = running.pop(future)
                self._heard(work, attempt, future)
                if attempt.task and not work.failed:  # a further round waits for its turn as all others do
                    running[workers.submit(attempt.task)] = work, attempt
        self._write(all_of_them=True)

    def _begin(self, handed: Handed) -> _Work | None:
        """Read and mend a submission, so that it can run."""
        with self._guarded(handed):
            self.rows[handed.student].state = "running"
            self.watch(self.result)
            paths = self.folder.made_safe(handed)
            if not paths:
                raise _Nothing(f"no notebook of this assignment was submitted{self._instead(handed)}")
            handed = self._keyed(handed)  # of the folder as it is now; before it is read, so that a change is noticed
            submissions = self.folder.read(paths)
            attempts = {name: self._attempts(submission) for name, submission in submissions.items()}
            return self._ended(_Work(handed=handed, submissions=submissions, attempts=attempts))
        return None

    def _attempts(self, submission: Submission | Foreign) -> Sequence[Attempt | ForeignAttempt]:
        if isinstance(submission, Foreign):
            return [ForeignAttempt(submission, self.limits) for _ in range(1 + self.twice)]
        if submission.fault:
            return []
        task = task_of(submission, self.limits)
        return [Attempt(submission, task) for _ in range(1 + self.twice)]

    def _instead(self, handed: Handed) -> str:
        """What was handed in where no notebook was."""
        names = [printable(str(path.relative_to(handed.folder))) for path, _ in entries(handed.folder)]
        return f" (there are: {', '.join(names[:5])}{', …' if names[5:] else ''})" if names else ""

    def _heard(self, work: _Work, attempt: Attempt | ForeignAttempt, future: Future[Replies]) -> None:
        """Judge what came back; where nothing more is to come, write."""
        if work.failed:
            return
        work.failed = True  # until it is known that it did not
        with self._guarded(work.handed):
            attempt.heard(future.result())
            self._ended(work)
            work.failed = False

    def _ended(self, work: _Work) -> _Work:
        """Write a submission of which everything has been judged."""
        if not any(work.to_run()):
            graded = {name: self._marked(work, name) for name in work.submissions}
            self._judged.append(_Judged(handed=work.handed, graded=graded))
        return work

    def _write(self, *, all_of_them: bool) -> None:
        """Bring what has been judged to disk, once that is enough to be worth it: many cost little more than one.

        A submission is done when the journal says so, after all of it has been written.
        """
        judged = self._judged
        if not judged or not (all_of_them or len(judged) >= _TOGETHER or time.monotonic() > judged[0].since + _WAIT):
            return
        self._judged, ready = [], []
        for each in judged:
            with self._guarded(each.handed):
                ready.append((each, self.folder.prepared(each.handed, each.graded)))
        lines = []
        for (each, files), found in zip(
            ready, self.folder.rows.write_all([item.entry for _, item in ready]), strict=True
        ):
            with self._guarded(each.handed):
                if isinstance(found, Exception):
                    raise found
                self.folder.finish(files, found.reports, feedback=self.options.feedback)
                lines.append(self._line(each.handed, each.graded, found.totals))
        self._tell(lines)

    def _marked(self, work: _Work, name: str) -> Graded:
        """One notebook's outcome after its run, or its runs."""
        submission, attempts = work.submissions[name], work.attempts[name]
        if isinstance(submission, Foreign):
            return settled([attempt for attempt in attempts if isinstance(attempt, ForeignAttempt)])
        found = [functools.partial(_found, attempt) for attempt in attempts]
        return mark(submission, found, self.folder.earlier(work.handed, name))

    def _line(self, handed: Handed, graded: Mapping[str, Graded], totals: Totals) -> dict[str, Any]:
        """What the journal says of a submission that is done; its row is filled in."""
        row = self.rows[handed.student]
        row.points, row.of, row.held = totals.points, totals.of, totals.held
        missing = self.folder.missing(graded) if graded else {}
        row.flags = tuple(dict.fromkeys(flag for item in graded.values() for flag in item.report.flags))
        row.why = "; ".join(one_line(item.report) for item in graded.values())
        row.missing = tuple(missing)
        judged = sum(item.report.points for item in graded.values())
        notes = [f"not handed in: {', '.join(missing)}"] if missing else []
        notes += ["with marks by hand"] if graded and abs(judged - row.points) > 1e-6 else []
        notes += [f"{totals.late:g} points are deducted for late submission"] if totals.late else []
        if notes or not graded:
            row.why = "; ".join(filter(None, [f"{row.points:g} of {row.of:g} points", *notes, row.why]))
        return {
            "state": "done",
            "student": handed.student,
            "key": handed.key,
            "notebooks": list(graded),
            "points": row.points,
            "of": row.of,
            "held": row.held,
            "flags": list(row.flags),
            "missing": list(row.missing),
            "feedback": self.options.feedback,
        }

    def _tell(self, lines: Sequence[Mapping[str, Any]]) -> None:
        """The journal has these lines, and then these submissions are done."""
        self.journal.write_all(lines)
        for line in lines:
            self.rows[line["student"]].state = "done"
        self.watch(self.result)

    def _guarded(self, handed: Handed) -> _Guard:
        return _Guard(self, handed)


def shortened(text: str, most: int = 500) -> str:
    """A long text's beginning and its end, where the reason stands."""
    text = text.strip()
    return text if len(text) <= most else f"{text[: most // 5]} … {text[-(most - most // 5) :]}"


class _Nothing(AutograderError):
    """There is nothing to grade in a submission."""

    def __init__(self, message: str) -> None:
        super().__init__("nothing", message)


@dataclass(kw_only=True)
class _Work:
    """What a student handed in, and its attempts, by the notebook's name; a `failed` one is not gone on with."""

    handed: Handed
    submissions: Mapping[str, Submission | Foreign]
    attempts: Mapping[str, Sequence[Attempt | ForeignAttempt]]
    failed: bool = False

    def to_run(self) -> Iterator[Attempt | ForeignAttempt]:
        """The attempts that are not over."""
        return (attempt for several in self.attempts.values() for attempt in several if attempt.task)


@dataclass(frozen=True, kw_only=True)
class _Judged:
    """A submission that waits to be written."""

    handed: Handed
    graded: Mapping[str, Graded]
    since: float = field(default_factory=time.monotonic)


def _found(attempt: Attempt | ForeignAttempt, _: Submission) -> Graded:
    assert attempt.graded
    return attempt.graded


class _Guard:
    """What goes wrong with one submission is noted, and the others go on; what goes wrong for all stops the run."""

    def __init__(self, run: _Run, handed: Handed) -> None:
        self.run, self.handed = run, handed

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> bool:
        if error is None or not isinstance(error, Exception) or getattr(error, "code", "") in _FOR_ALL:
            return False
        row = self.run.rows[self.handed.student]
        row.state = "empty" if isinstance(error, _Nothing) else "failed"
        why = f"{error}" if isinstance(error, AutograderError) else f"{type(error).__name__}: {error}"
        row.why = printable(shortened(why))
        self.run.journal.write(state=row.state, student=self.handed.student, key=self.handed.key, why=row.why)
        self.run.watch(self.run.result)
        return True

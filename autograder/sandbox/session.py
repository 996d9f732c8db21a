"""One notebook's run: cells in, outputs out; questions in, answers out; deaths become data."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from autograder.core import LAST_WORDS, Answer, Question
from autograder.errors import Unreadable
from autograder.protocol.answering import question_frame
from autograder.protocol.codec import decode, encode
from autograder.sandbox import mounts, stream, warm
from autograder.sandbox.outputs import UNSEEN, failed, limited, note, outputs, restored
from autograder.sandbox.process import Process
from autograder.sandbox.turns import Turn

# `staff`: what there is for one notebook is used up, so that nothing can be said about what was not run.
Death = Literal["timeout", "exit", "memory", "staff"]
INTERRUPT_SECONDS = 3.0  # that a cell has to end in after it was interrupted


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What one submission may use. Seconds are of wall-clock time and start when the student's code does.

    `require_wall` refuses to run anything where a layer of the wall is missing; `visible` are folders that notebooks
    may read, such as a data set's; `without_wall` is for showing what the wall is good for, and for nothing else.
    """

    cell_seconds: float = 60.0
    question_seconds: float = 20.0
    notebook_seconds: float = 300.0
    memory_megabytes: int = 4096
    file_megabytes: int = 64
    disk_megabytes: int = 256
    disk_files: int = 20_000
    processes: int = 128
    open_files: int = 512
    reply_megabytes: int = 64
    cell_characters: int = 1_000_000
    output_characters: int = 500_000  # of one cell, pictures included
    restarts: int = 6
    require_wall: bool = False
    visible: tuple[str, ...] = ()
    without_wall: bool = False


@dataclass(frozen=True, kw_only=True)
class CellResult:
    """What running one cell showed, and how it ended the process if it did.

    Of an instructor's cell, `restored` names what was put back before it. A cell that was interrupted in time has
    outputs and a `timeout`, and the process lives.
    """

    outputs: list[dict[str, Any]] = field(default_factory=list)
    death: Death | None = None
    detail: str = ""
    restored: tuple[str, ...] = ()


class Session:
    """Runs the cells of one notebook in order and asks questions in between.

    A cell or question that does not come back costs only itself: the process is killed, and the next request starts a
    fresh one in which the cells so far are run again, without those that killed it. Once the notebook's own time or
    its restarts are used up, what is left is not wrong but unknown (`staff`). `files` are put beside the notebook
    (name to content). Among others a session has its `turn`: time is counted by that one's clock.

    As a `kernel`, it gives the outputs that one would give, runs the instructor's cells on their own terms, and
    interrupts what takes too long before it ends the process; what is given then are the modules that come first.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        files: dict[str, bytes] | None = None,
        turn: Turn | None = None,
        *,
        kernel: tuple[str, ...] | None = None,
    ) -> None:
        self.limits = limits or Limits()
        self._kernel, self._first = kernel is not None, kernel or ()
        self._place = turn or Turn()
        self._files = files or {}
        self._cells: list[tuple[str, bool, float]] = []
        self._process: Process | None = None
        self._used = self._place.before
        self._starts = 0
        self._turn = 0
        self._interrupted = False
        self._flags: dict[str, None] = {}

    @property
    def flags(self) -> tuple[str, ...]:
        """What happened that no honest notebook does: for a person to look at."""
        return tuple(self._flags)

    def __enter__(self) -> Session:
        if self.limits.require_wall:  # to be refused before anything else is done
            self._running()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process."""
        self._kill()

    def run(self, source: str, trusted: bool = False, seconds: float | None = None) -> CellResult:
        """Run one cell, which is `trusted` if it is the instructor's; its outputs come in nbformat's shape."""
        seconds = self.limits.cell_seconds if seconds is None else seconds
        if len(source) > self.limits.cell_characters:
            return CellResult(death="exit", detail=f"it is longer than {self.limits.cell_characters:,} characters")
        try:
            reply = self._request({"do": "cell", "source": source, "trusted": trusted}, seconds)
        except _Died as death:
            return CellResult(death=death.death, detail=death.detail)
        except Unreadable as error:
            self._kill()  # what cannot be read leaves the stream at an unknown place
            self._cells.append((source, trusted, seconds))
            return CellResult(outputs=[note(f"The outputs of this cell could not be read: {error.message}")])
        shown = limited(outputs(reply, self._kernel), self.limits.output_characters)
        if self._kernel and failed(reply) and not any(item["output_type"] == "error" for item in shown):
            shown.append(UNSEEN)
        if self._interrupted:
            detail = f"it took more than {seconds:g} s"
            return CellResult(outputs=shown, death="timeout", detail=detail)
        self._cells.append((source, trusted, seconds))
        return CellResult(outputs=shown, restored=restored(reply) if trusted else ())

    def ask(self, question: Question) -> Answer:
        """Put one question; a death or an unreadable reply is an answer too."""
        return self.put([(question_frame(question), 1)])[0]

    def put(self, questions: Sequence[tuple[bytes, int]]) -> list[Answer]:
        """Put questions that are encoded already, and sent together; after some answers no more is asked.

        Each comes with the number of its answers. One that ends the process costs only itself, as everywhere: those
        behind it are put to another.
        """
        answers: list[Answer] = []
        left = list(questions)
        while left and not (answers and answers[-1].failure in LAST_WORDS):
            found = self._answers(left)
            while left and len(found) >= left[0][1]:
                answers += found[: left[0][1]]
                del found[: left.pop(0)[1]]
            if found and found[-1].failure not in LAST_WORDS:  # the rest of its answers could not be read either
                found += found[-1:] * (left.pop(0)[1] - len(found))
            answers += found
        return answers

    def _answers(self, questions: Sequence[tuple[bytes, int]]) -> list[Answer]:
        """What one process answers: to all questions, or up to one that it does not survive."""
        answers: list[Answer] = []
        try:
            for reply in self._replies(self._running(), questions):
                answers.append(self._read_answer(reply))
        except _Died as death:
            self._kill()
            answers.append(Answer(failure=death.death, detail=death.detail))
        except Unreadable as error:
            answers.append(Answer(failure="unreadable", detail=error.message))
        return answers

    def _replies(self, process: Process, questions: Sequence[tuple[bytes, int]]) -> Iterator[Any]:
        """The replies to each question in turn; none after one that says that there is nothing to ask."""
        for place in range(sum(count for _, count in questions)):
            with self._timed(process, self.limits.question_seconds) as deadline:
                if not place:
                    request = {"do": "ask", "sizes": [len(question) for question, _ in questions]}
                    self._send(process, request, deadline, b"".join(question for question, _ in questions))
                reply = self._receive(process, deadline)
            yield reply
            failure = reply.get("failure")
            if isinstance(failure, str) and failure in LAST_WORDS:
                return

    def _request(self, request: dict[str, Any], seconds: float) -> Any:
        process = self._running()
        try:
            return self._exchange(process, request, seconds)
        except _Died:
            self._kill()
            raise

    def _exchange(self, process: Process, request: dict[str, Any], seconds: float) -> Any:
        grace = INTERRUPT_SECONDS if self._kernel else 0.0
        with self._timed(process, seconds + grace) as deadline:
            self._send(process, request, deadline)
            return self._receive(process, deadline, deadline - grace)

    @contextlib.contextmanager
    def _timed(self, process: Process, seconds: float) -> Iterator[float]:
        """Gives the deadline of what may take so long; _Died where it takes longer, or nobody is there to do it."""
        left = self.limits.notebook_seconds - self._used
        if left <= 0:
            raise _Died("staff", f"the notebook used up its {self.limits.notebook_seconds:g} s before this was reached")
        start, allowed = self._place.now(), min(seconds, left)
        try:
            yield start + allowed
        except stream.Silence as error:
            if allowed < seconds:  # others used the time that this one may have needed
                raise _Died("staff", f"the notebook used up its {self.limits.notebook_seconds:g} s") from error
            raise _Died("timeout", f"it was stopped after {allowed:.3g} s") from error
        except stream.Hangup as error:
            raise _how(process) from error
        finally:
            self._used += self._place.now() - start

    def _send(self, process: Process, request: dict[str, Any], deadline: float, content: bytes = b"") -> None:
        """Send one request. A reply that nobody asked for is forged: our own code sends none."""
        if stream.pending(process.channel):
            raise self._forged("a reply came before any question")
        stream.send(process.channel, encode({**request, "turn": self._turn + 1}), deadline, self._place.now)
        if content:
            stream.send(process.channel, content, deadline, self._place.now)

    def _receive(self, process: Process, deadline: float, interrupt: float | None = None) -> dict[str, Any]:
        """Read the next reply; as a kernel, interrupt what has not come by then."""
        self._turn += 1
        self._interrupted = False
        most = self.limits.reply_megabytes * 2**20

        def alive() -> bool:
            if self._kernel and interrupt and not self._interrupted and self._place.now() > interrupt:
                self._interrupted = True
                process.interrupt()
            return process.alive()

        try:
            reply = decode(stream.receive(process.channel, deadline, alive, most, self._place.now))
        except Unreadable as error:
            raise self._forged(error.message) from error
        if not isinstance(reply, dict) or reply.get("turn") != self._turn:
            raise self._forged("a reply to a different question")
        return reply

    def _read_answer(self, reply: Any) -> Answer:
        match reply:
            case {"value": value, "failure": None}:
                return Answer(value=value)
            case {"failure": str(failure), "detail": str(detail)} if failure in _TOLD:
                return Answer(failure=failure, detail=detail[:500])
        raise self._forged("a reply that is not an answer")

    def _forged(self, how: str) -> Unreadable:
        self._flags[f"the notebook wrote to the grader's channel: {how}"] = None
        self._kill()  # the stream is at an unknown place
        return Unreadable("forged", how)

    def _running(self) -> Process:
        """The process, started and brought up to the current cell where need be."""
        while self._process is None:
            if self._starts > self.limits.restarts:
                raise _Died("staff", f"the process had to be started more than {self.limits.restarts} times")
            self._starts += 1
            self._process = self._start()
            self._place.take(self._process)
            self._replay()
        return self._process

    def _start(self) -> Process:
        limits = self.limits
        settings = {
            "files": {name: np.frombuffer(content, np.uint8) for name, content in self._files.items()},
            "cpu_seconds": int(2 * limits.notebook_seconds) + 5,
            "reply_bytes": limits.reply_megabytes * 2**20,
            "visible": mounts.shown(limits.visible),
            "kernel": self._kernel,
            "first": list(self._first),
        }
        numbers = ("memory_megabytes", "file_megabytes", "disk_megabytes", "disk_files", "processes", "open_files")
        settings |= {name: getattr(limits, name) for name in (*numbers, "output_characters")}
        return warm.fork(settings, required=limits.require_wall, walled=not limits.without_wall)

    def _replay(self) -> None:
        """Run the cells so far again; one that now ends the process is left out from then on."""
        for place, (source, trusted, seconds) in enumerate(self._cells):
            assert self._process is not None
            request = {"do": "cell", "source": source, "trusted": trusted}
            try:
                self._exchange(self._process, request, seconds)
            except (_Died, Unreadable):
                del self._cells[place]
                self._kill()
                return

    def _kill(self) -> None:
        if self._process is not None:
            self._place.take(None)
            self._process.kill()
            self._process = None


# What a process can say of itself; how it ended is seen from here.
_TOLD = ("missing", "raised", "parameters", "memory", "unreadable")


class _Died(Exception):
    """The process did not come back from a request."""

    def __init__(self, death: Death, detail: str) -> None:
        super().__init__(detail)
        self.death, self.detail = death, detail


def _how(process: Process) -> _Died:
    """Why a process is gone that nobody told to go."""
    if process.watch.reason:
        return _Died("memory" if "memory" in process.watch.reason else "exit", process.watch.reason)
    return _Died("exit", "the process ended itself (os._exit, a crash, or too much memory)")

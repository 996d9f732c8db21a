"""`Tests`: the student writes assertions on a function; they are worth the wrong functions that they reject.

The functions under test never reach the student's process. It gets a stand-in that gives back recorded results
(`protocol.stand_in`): what a call returns is found here, and the notebook is run again with that on record. So each
function is put to the tests in a run of its own, in which all that there is to be known of it are its results: there is
no frame, name or source to read, and no other function to compare it with.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import inspect
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any

import numpy as np

from autograder.checks.compare import array, difference, is_tensor
from autograder.core import Answer, Ask, Parameters, Part, Question, Verdict
from autograder.errors import AuthorError
from autograder.parts.arguments import Takes, Unfit, admitted
from autograder.parts.function import Coded
from autograder.protocol.answering import with_key
from autograder.protocol.respondents import NoAnswer, failure_verdict, known, local, value_of
from autograder.protocol.stand_in import FAILED, LEFT, PASSED, RAISED, RAISES, call_key, run_of
from autograder.student.local_checks import Malformed, defined, form_of, well_formed

LIKE = "Your tests reject the same functions as tests with this fault:"  # it may be another one
GATE, WRONG = "right functions", "wrong function"
SAME = 1e-9  # two functions whose results agree so far cannot be told apart by tests
_ENDS = (PASSED, FAILED, RAISES, LEFT)


@dataclass(frozen=True, kw_only=True)
class Run:
    """How the tests ended with one function, and the results on record by the end."""

    ended: str
    detail: str
    calls: int
    table: dict[str, Any]

    @property
    def rejects(self) -> bool:
        """Whether the function did not pass: by an assertion, or by an error in the tests."""
        return self.ended in (FAILED, RAISES)


class _Settled(Exception):
    """The verdict is formed before all functions were put to the tests."""

    def __init__(self, code: str, message: str, ok: bool | None = False, staff: str = "") -> None:
        super().__init__(code)
        self.verdict = Verdict(check=GATE, ok=ok, code=code, message=message, staff=staff)


@dataclass(frozen=True)
class Tests(Coded):
    """Tests of a function: `reference(f)` has assertions on what `f` returns; so have mistakes and equivalents.

    `code` is the function under test, which the statement describes and calls `function`; `correct` are others that are
    right, `wrong` such as are wrong, in the order of a problem's own mistakes. All may take `*, p`. `takes` and `sizes`
    say what a call may be made with (`parts.arguments`). Tests that reject a right function earn nothing. All others
    earn for each wrong function that they reject the same share. They may make `calls` different calls.
    """

    __test__ = False  # no class of tests to pytest

    _: KW_ONLY
    function: str = ""
    code: Callable[..., Any] | None = None
    correct: Sequence[Callable[..., Any]] = ()
    wrong: Sequence[Callable[..., Any]] = ()
    takes: Mapping[str, str] | Callable[[Parameters], Mapping[str, str]] = field(default_factory=dict)
    sizes: Mapping[str, str] = field(default_factory=dict)
    calls: int = 8

    kind = "tests"
    if_kept = "no wrong function shows what these tests leave out, or they are as good as the reference"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not callable(self.reference) or not callable(self.code) or not self.function.isidentifier():
            raise AuthorError(
                "code",
                f"part {self.name!r}: reference= is a function of tests, code= the function under test, and function= "
                "what the statement calls it",
            )
        if not self.wrong or len(self.wrong) > MOST_WRONG:
            raise AuthorError("wrong", f"part {self.name!r}: list 1 to {MOST_WRONG} functions under wrong=")

    def form(self, p: Parameters) -> Takes:
        """What a call may be made with."""
        return admitted(self.name, self.takes, self.sizes, (self.code, *self.correct, *self.wrong), p)

    # In a student's notebook.

    @classmethod
    def check_form(cls, name: str, function: str, takes: Mapping[str, str], sizes: Mapping[str, str], /) -> None:
        """Run the tests on a stand-in that returns nothing, and say whether its first call is one that may be made."""
        subject = defined(name)
        if not callable(subject):
            raise Malformed("type", f"{name} is {form_of(subject)}, not a function.")
        try:
            inspect.signature(subject).bind(None)
        except (TypeError, ValueError) as error:
            raise Malformed("signature", f"{name} should take one argument, the function {function}.") from error
        form = Takes(arguments=takes, sizes=sizes)
        found = run_of(subject, {}, function, list(takes))
        if found["detail"].startswith("NotImplementedError"):
            raise Malformed("missing", f"{name} is not written yet.")
        if found["wanted"] is None:
            stopped = f" It stopped with {found['detail']}." if found["detail"] else ""
            raise Malformed("no_call", f"{name} does not call {function}.{stopped}")
        try:
            form.look_at_call(found["wanted"])
        except Unfit as error:
            raise Malformed(
                "arguments", f"{name} calls {function} otherwise than the statement says. {error}"
            ) from error
        well_formed(name, f"the first call of {function} is one that may be made")

    def local_check(self, p: Parameters) -> str:
        """Looks at the first call."""
        return f"form.check_tests({self.name!r}, {self.function!r}, {self.form(p).source()})"

    def rule(self, p: Parameters) -> str:
        """What a call may be made with, and what the tests are worth."""
        number = len(self.wrong)
        wrong = "one wrong function" if number == 1 else f"{number} wrong functions"
        share = "all points" if number == 1 else f"1/{number} of the points"
        return (
            f"A call of `{self.function}` may be made with:\n\n{self.form(p).in_words()}\n\n"
            f"**How this is marked.** Your tests are run on several right functions and on {wrong}. They reject a "
            "function if they stop with an `AssertionError` or any other error. If they reject a right one, or none of "
            f"the wrong ones, they earn nothing; else {share} for each wrong function that they reject. Results "
            "may differ in the last digits from one right function to another. They carry no gradients, "
            "and what your tests see of a function is what it returns. Tests may make "
            f"{self.calls} different calls, and have to make the same ones each time; random numbers of "
            "`torch`, `numpy` and `random` are seeded for you."
        )

    # How it is judged.

    def judge(self, p: Parameters, ask: Ask, key: tuple[int, ...]) -> list[Verdict]:
        """Whether right functions pass, then for each wrong one whether it is rejected."""
        verdicts = self._verdicts(p, ask, key)
        missed = [place for place, verdict in enumerate(verdicts) if not verdict.ok]
        if not missed or verdicts[0].ok is not True:
            return verdicts
        codes = [verdict.code for verdict in verdicts]
        for mistake in self.mistakes:
            if self.is_itself(mistake, ask, p) or self._codes(mistake, p, key) == codes:
                hint = f"{LIKE} {inspect.getdoc(mistake) or ''}"
                verdicts[missed[0]] = replace(verdicts[missed[0]], code=mistake.__name__, message=hint)
                break
        return verdicts

    def _codes(self, mistake: Callable[..., Any], p: Parameters, key: tuple[int, ...]) -> list[str]:
        """The codes of a known mistake's verdicts: found once for everybody who gets the same hidden random state."""
        ask = local(mistake, self.name, p)
        return self.once(mistake, p, key, lambda: [item.code for item in self._verdicts(p, ask, key)])

    def _verdicts(self, p: Parameters, ask: Ask, key: tuple[int, ...]) -> list[Verdict]:
        try:
            return Interrogation(part=self, p=p, ask=ask, key=key).verdicts()
        except _Settled as found:
            return [found.verdict]
        except NoAnswer as error:
            return [failure_verdict(GATE, self.name, error.reply)]

    def questions(self, p: Parameters, key: tuple[int, ...]) -> list[Question]:
        """The first one: what is called first. All others follow from the answers."""
        return [Interrogation(part=self, p=p, ask=lambda question: None, key=key).question(["right"], [{}])]  # type: ignore[arg-type]

    def weights(self, verdicts: Sequence[Verdict]) -> list[float]:
        """Wrong functions count alike; that right ones pass is no more than the gate."""
        return [float(verdict.check != GATE) for verdict in verdicts]

    def settled(self, verdicts: Sequence[Verdict]) -> bool:
        """By any function."""
        return any(verdict.ok is False for verdict in verdicts)

    # What the audit asks.

    def listed(self) -> list[Any]:
        """The functions under test as well."""
        return [*super().listed(), self.code, *self.correct, *self.wrong, self.takes]

    def trivial_answers(self, p: Parameters) -> dict[str, Any]:
        """Tests that say the same of every function."""

        def fails(function: Any) -> None:
            raise AssertionError

        def calls(function: Any) -> None:
            function(*self._tensors(p))

        return {
            **super().trivial_answers(p),
            "no test": lambda function: None,
            "a test that always fails": fails,
            "a call, and no assertion": calls,
        }

    def blind_answers(self, p: Parameters, shown: Sequence[str]) -> dict[str, Any]:
        """Tests of what every function does."""

        def repeats(function: Any) -> None:
            one, other = (function(*self._tensors(p)) for _ in range(2))
            assert difference(one, other, rtol=0, nan=True) is None

        def catches(function: Any) -> None:
            try:
                function(*self._tensors(p))
                raise AssertionError
            except BaseException:
                return

        return {"two equal calls": repeats, "a test that catches all errors": catches}

    def _tensors(self, p: Parameters) -> list[Any]:
        rng, form = np.random.default_rng(0), self.form(p)
        return list(form.read(form.example(lambda shape: rng.standard_normal(shape), largest=True)).values())

    def answer_under(self, p: Parameters) -> Any:
        """What the functions return on some call: where these differ, so do the tests."""
        assert self.code is not None
        arguments = self._tensors(p)
        return [result_of(function, self.function, p, arguments) for function in (self.code, *self.wrong)]

    def unstable(self, p: Parameters, key: tuple[int, ...]) -> str:
        """The verdicts on the reference."""
        once, again = (self._verdicts(p, local(self.reference, self.name, p), key) for _ in range(2))
        return "" if once == again else "the reference gives two different verdicts when it is run twice"

    def mutants(self, p: Parameters) -> Iterator[Any] | None:
        """Slips in the reference's assertions; there is no result that could be remembered."""
        from autograder.parts.mutants import mutants_of_code

        return (mutant for mutant in mutants_of_code(self.reference) if mutant.kind != "remembered")

    def harmless(self, agrees: Callable[[Part], bool]) -> str | None:
        """It also rejects every function that a slip of a machine makes of the right one and the reference rejects."""
        from autograder.parts.mutants import mutants_of_code

        slips = tuple(mutant.subject for mutant in mutants_of_code(self.code) if mutant.kind != "remembered")  # type: ignore[arg-type]
        if agrees(AsGood(self.name, **{**_fields(self), "wrong": slips})):
            return "it rejects whatever the reference rejects of all slips that a machine makes in the function"
        return None


MOST_WRONG = 12  # each is put to the tests in a run of its own


def _fields(part: Tests) -> dict[str, Any]:
    return {
        item.name: getattr(part, item.name) for item in dataclasses.fields(part) if item.init and item.name != "name"
    }


@dataclass(frozen=True)
class AsGood(Tests):
    """The same part for tests that have to reject what the reference rejects, of any number of wrong functions."""

    kind = "part"

    def __post_init__(self) -> None:
        """All was looked at where the part was made."""

    def judge(self, p: Parameters, ask: Ask, key: tuple[int, ...]) -> list[Verdict]:
        """A verdict for each function that the reference rejects."""
        ours = self._verdicts(p, local(self.reference, self.name, p), key)
        theirs = self._verdicts(p, ask, key)
        if len(theirs) < len(ours):
            return theirs
        return [verdict for verdict, wanted in zip(theirs, ours, strict=True) if wanted.ok]


@dataclass(frozen=True, kw_only=True)
class Interrogation:
    """One suite of tests, put to one function after the other."""

    part: Tests
    p: Parameters
    ask: Ask
    key: tuple[int, ...]
    made_with: dict[str, list[Any]] = field(default_factory=dict, init=False)  # the arguments of each call

    @functools.cached_property
    def form(self) -> Takes:
        """What a call may be made with."""
        return self.part.form(self.p)

    def verdicts(self) -> list[Verdict]:
        """That right functions pass, then of each wrong one whether it does not; `_Settled` where right ones do not."""
        assert self.part.code is not None
        name, right = self.part.name, self.run("right", self.part.code, {})
        if right.detail.startswith("NotImplementedError"):
            raise NoAnswer(Answer(failure="raised", detail=right.detail))
        if right.ended == LEFT:
            raise _Settled("left", f"{name} ends the program instead of a test ({right.detail or 'it left'}).")
        if right.rejects:
            raise _Settled("rejects_right", f"Your tests reject a function that is right: {right.detail}")
        if not right.table:
            raise _Settled("no_call", f"{name} does not call {self.part.function}.")
        self._equivalents(right)
        runs = [self._wrong(f"wrong {place}", item, right) for place, item in enumerate(self.part.wrong)]
        self._again([("right", right), *((f"wrong {i}", run) for i, run in enumerate(runs) if run)])
        gate = Verdict(check=GATE, ok=True, code="ok")
        return [gate, *map(self._verdict, range(1, len(runs) + 1), self.part.wrong, runs)]

    def _verdict(self, place: int, function: Callable[..., Any], run: Run | None) -> Verdict:
        check = f"{WRONG} {place}"
        if run is not None and run.rejects:
            return Verdict(check=check, ok=True, code="ok")
        text, code = "A wrong function passes your tests.", f"passes_{function.__name__}"
        return Verdict(check=check, ok=False, code=code, message=text, staff=function.__name__)

    def _equivalents(self, right: Run) -> None:
        """Other right functions pass, each with its own last digits."""
        for place, function in enumerate(self.part.correct):
            table = {call: self._result(function, arguments) for call, arguments in self.made_with.items()}
            if _frame(table) == _frame(right.table):
                continue
            run = self.run(f"equivalent {place}", function, table)
            if not run.rejects and run.ended != LEFT:
                continue
            told = f"{function.__name__}: {run.detail}"
            if _apart(right.table, run.table):
                text = "On these inputs two right functions differ by more than a rounding. A grader will check this."
                raise _Settled("doubtful", text, ok=None, staff=told)
            text = (
                "Your tests reject a function that is right and differs in the last digits: compare with a tolerance."
            )
            raise _Settled("rejects_equivalent", text, staff=told)

    def _wrong(self, label: str, function: Callable[..., Any], right: Run) -> Run | None:
        """None where every call gave what the right function gives: no test can tell the two apart by these calls."""
        table = {call: self._result(function, self.made_with[call]) for call in right.table}
        return self.run(label, function, table) if _apart(right.table, table) else None

    def _again(self, runs: Sequence[tuple[str, Run]]) -> None:
        """All of them once more, in one run and another order: honest tests say the same of the same function."""
        order = np.random.default_rng((*self.key, 11)).permutation(len(runs))
        shuffled = [runs[place] for place in order]
        found = self._put([label for label, _ in shuffled], [run.table for _, run in shuffled], again=True)
        if any(
            one["ended"] != run.ended or one["wanted"] is not None
            for one, (_, run) in zip(found, shuffled, strict=True)
        ):
            self._unsteady()

    def run(self, label: str, function: Callable[..., Any], table: dict[str, Any]) -> Run:
        """The tests on one function: run again with one more result until every call is on record."""
        most = len(table) + self.part.calls
        while True:
            (found,) = self._put([label], [table])
            if found["wanted"] is None:
                return Run(ended=found["ended"], detail=found["detail"], calls=found["calls"], table=table)
            arguments, call = found["wanted"], call_key(found["wanted"])
            fault = self._not_admitted(arguments)
            if fault and label == "right":
                raise _Settled("arguments", fault)
            if label == "right" and found["calls"] <= len(table) and call not in table:
                self._unsteady()  # what is on record was called before, and now it was not
            if call in table or len(table) >= most:
                allowed = f"at most {self.part.calls} different calls, and each of them a few times"
                raise _Settled(
                    "many_calls", f"{self.part.name} makes too many calls of {self.part.function}; {allowed}."
                )
            if fault:  # it follows from what a wrong function returned
                table = {**table, call: {"raised": "ValueError"}}
                continue
            self.made_with[call] = arguments
            table = {**table, call: self._result(function, arguments)}

    def _unsteady(self) -> None:
        text = "Your tests do not say the same, or make other calls, each time they run. A grader will check this."
        raise _Settled("unsteady", text, ok=None)

    def _not_admitted(self, wanted: list[Any]) -> str:
        """Why a call may not be made; empty if it may. It comes from the student's process: it may be anything."""
        function, form = self.part.function, self.form
        if len(wanted) != len(form.forms):
            return f"Your tests call {function} with other arguments than {', '.join(form.forms)}."
        try:
            form.look_at_call(wanted)
        except Unfit as error:
            return f"Your tests call {function} otherwise than the statement says. {error}"
        return ""

    def _result(self, function: Callable[..., Any], arguments: list[Any]) -> dict[str, Any]:
        return result_of(function, self.part.function, self.p, arguments)

    def _put(
        self, labels: Sequence[str], tables: Sequence[dict[str, Any]], again: bool = False
    ) -> list[dict[str, Any]]:
        reply = value_of(self.ask(self.question(labels, tables, again)))
        if not isinstance(reply, list) or len(reply) != len(tables) or not all(map(_is_run, reply)):
            text = "What your tests said could not be read. A grader will check this."
            raise _Settled("unreadable", text, ok=None, staff=repr(reply)[:500])
        return reply

    def question(self, labels: Sequence[str], tables: Sequence[dict[str, Any]], again: bool = False) -> Question:
        """Tests on recorded results.

        Its key follows from the results without their last digits, so that answers on record are found by whoever
        computes these on another machine.
        """
        seed = int(np.random.default_rng((*self.key, 7)).integers(2**31))
        options = {
            "function": self.part.function,
            "names": list(self.form.forms),
            "seed": seed,
            "tables": list(tables),
        }
        asked = [self.part.name, seed, again, list(labels), [_coarse(table) for table in tables]]
        content = json.dumps(asked, sort_keys=True)
        return with_key(
            Question(kind="tests", name=self.part.name, options=options), hashlib.sha256(content.encode()).hexdigest()
        )


def _is_run(found: Any) -> bool:
    match found:
        case {"ended": str(ended), "detail": str(), "calls": int(), "wanted": list() | None}:
            return ended in _ENDS
    return False


def result_of(function: Callable[..., Any], name: str, p: Parameters, arguments: list[Any]) -> dict[str, Any]:
    """What a function of ours does with these arguments: `{"value": ...}` or `{"raised": the error's type}`."""
    reply = known(function, name, p)(Question(kind="call", name=name, arguments=tuple(arguments)))
    if reply.failure is None:
        return {"value": reply.value}
    if reply.failure != "raised":
        raise RuntimeError(f"{function.__name__} gives no result: {reply.detail or reply.failure}")
    error = reply.detail.partition(":")[0]
    return {"raised": error if error in RAISED else "RuntimeError"}


def _apart(right: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether one call of the right function gave something else than the other one gave."""
    for call in right.keys() & other.keys():
        one, two = right[call], other[call]
        if one.keys() != two.keys():
            return True
        if "value" in one and difference(two["value"], one["value"], rtol=SAME, nan=True):
            return True
    return False


def _frame(table: Mapping[str, Any]) -> bytes:
    from autograder.protocol.codec import encode

    return encode(dict(sorted(table.items())))


def _coarse(value: Any) -> Any:
    """A value without its last digits, as JSON: what rounds otherwise on another machine is the same here."""
    if isinstance(value, dict):
        return {name: _coarse(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_coarse(item) for item in value]
    if isinstance(value, float) or is_tensor(value) or isinstance(value, np.ndarray):
        entries = array(value)
        if entries.dtype.kind == "f":
            kept = 1e6 if entries.dtype == np.float64 else 1e3
            return [str(entries.dtype), list(entries.shape), *_digits(entries.astype(float), kept)]
        return [str(entries.dtype), entries.tolist()]
    return value if isinstance(value, int | str) or value is None else str(value)


def _digits(entries: np.ndarray, kept: float) -> list[Any]:
    finite = np.isfinite(entries)
    largest = float(np.abs(entries[finite]).max()) if finite.any() else 0.0
    digits = np.rint(np.where(finite, entries, 0) / (largest or 1.0) * kept).astype(int)
    odd = [str(item) for item in entries[~finite].tolist()]
    return [f"{largest:.{len(str(int(kept))) - 2}e}", digits.ravel().tolist(), odd]

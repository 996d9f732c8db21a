"""`Function`: the student defines a function; hidden inputs go in, values come back, the judge compares."""

from __future__ import annotations

import copy
import functools
import inspect
import traceback
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any

import numpy as np

from autograder.checks.check import Check
from autograder.checks.close import Close, close
from autograder.checks.compare import is_tensor
from autograder.checks.gradient import Gradient, gradient
from autograder.core import BEGIN, END, GAP, LAST_WORDS, Ask, Case, Made, Parameters, Part, Question, Room, Verdict
from autograder.errors import AuthorError, Unreadable
from autograder.parts.redrawn import ALTERED, VALUES_ONLY, check_names, redrawn
from autograder.parts.source import answer_source, argument_names, stub_source
from autograder.protocol.codec import encode
from autograder.protocol.respondents import (
    FunctionRespondent,
    Interview,
    Known,
    NoAnswer,
    failure_verdict,
    fault_verdict,
    known,
    local,
    takes_parameters,
    trusted,
)
from autograder.student.local_checks import Malformed, defined, example, form_of, look

# inputs(rng, p) -> the arguments by name
Inputs = Callable[[np.random.Generator, Parameters], Mapping[str, Any]]
Generators = Callable[[tuple[int, ...]], np.random.Generator]
CONSTANTS = {"ones": 1.0, "infinity": float("inf"), "not a number": float("nan")}
_MOST_KEPT = 24  # things of a part that are kept: hidden cases of a key, say


@dataclass(frozen=True)
class Coded(Part):
    """An answer that is code: the student gets the reference's signature, and writes the body."""

    _: KW_ONLY
    kept: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    runs = True

    def once(self, what: Hashable, p: Parameters, key: tuple[int, ...], make: Callable[[], Made]) -> Made:
        """What `make` gives: made once for everybody who has these parameters and hidden inputs."""
        try:
            place = (what, encode(p), key)
        except Unreadable:  # parameters that are no data
            return make()
        if place not in self.kept:
            while len(self.kept) >= _MOST_KEPT:
                self.kept.pop(next(iter(self.kept)), None)
            self.kept[place] = make()
        found: Made = self.kept[place]
        return found

    def is_itself(self, mistake: Callable[..., Any], ask: Ask, p: Parameters) -> bool:
        """Whether a known mistake answers for itself, as in the audit."""
        return isinstance(ask, Known) and ask == known(mistake, self.name, p)

    def answer_cell(self, subject: Callable[..., Any], p: Parameters) -> str:
        """The answer cell of somebody who hands in `subject`."""
        return answer_source(subject, self.name, p, marks=False)

    def solution_cell(self, p: Parameters) -> str:
        """The stub with the reference between nbgrader's marks."""
        return answer_source(self.reference, self.name, p, marks=True)

    def stub_cell(self, p: Parameters) -> str:
        """The signatures, without code."""
        return stub_source(self.reference, self.name)

    def typed_answer(self, p: Parameters) -> str:
        """The code of the solution."""
        lines = answer_source(self.reference, self.name, p, marks=True).splitlines()
        return "\n".join(line for line in lines if line.strip() not in (BEGIN, END))

    def cell_of(self, text: str, p: Parameters) -> str:
        """The code as it was written."""
        return f"{text.rstrip()}\n"

    def room(self, p: Parameters) -> Room:
        """The head, and ruled lines: some more than the reference has."""
        gap = [line.strip() for line in GAP.format(indent="").splitlines()]
        head = [line for line in self.stub_cell(p).rstrip().splitlines() if line.strip() not in gap]
        own = len(self.typed_answer(p).splitlines()) - len(head)
        return Room(lines=min(16, max(6, 3 + own)), ruled=True, head="\n".join(head))


@dataclass(frozen=True)
class Function(Coded):
    """A function on tensors, arrays or numbers.

    `reference` is written as the student should write it (its docstring is the stub's); it may take `*, p` for the
    variant's parameters. `inputs(rng, p)` draws the arguments by name, in the reference's order; given several, each
    is drawn from, so that an edge case is never left out. `trials` is the number of draws of the first one. Each is
    drawn from once more with the same sizes and other numbers, the first one with large ones, small ones, exact zeros
    and huge ones: `also` names those of these that make sense here. `values_only` names the inputs at which no gradient
    is asked for, since what is left of it there is rounding. The first of `checks` is the gate: where it is
    lost, the part earns nothing.
    """

    _: KW_ONLY
    inputs: Inputs | Sequence[Inputs] = ()
    checks: Sequence[Check] = ()
    trials: int = 3
    also: Sequence[str] = tuple(ALTERED)
    values_only: Sequence[str] = ()

    kind = "function"
    repeats = True
    if_kept = "the hidden inputs do not reveal it, or it is correct"

    @classmethod
    def check_form(cls, name: str, /, *, returns: Any, **arguments: Any) -> None:
        """Call the function on arguments of the given forms and look at the form of what it returns."""
        subject = defined(name)
        if not callable(subject):
            raise Malformed("type", f"{name} is {form_of(subject)}, not a function.")
        values = tuple(example(form, place) for place, form in enumerate(arguments.values()))
        look(subject, Question(kind="call", name=name, arguments=values), returns)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not callable(self.reference):
            raise AuthorError(
                "reference", f"part {self.name!r}: the reference must be a {self.kind}, not {self.reference!r}"
            )
        if not self.checks:
            raise AuthorError("no_checks", f"part {self.name!r} has no checks; write checks=[close()], for example")
        names = [check.name for check in self.checks]
        if len(set(names)) < len(names):
            raise AuthorError("duplicate_check", f"part {self.name!r}: two checks have the same name; give one a name=")
        if not sum(check.weight for check in self.checks if check.alone):
            raise AuthorError(
                "weight",
                f"part {self.name!r}: all of its checks have weight 0, or are passed by whoever does nothing; "
                "give at least one a weight",
            )
        if not self.draws():
            raise AuthorError("no_inputs", f"part {self.name!r} has no inputs; write a function inputs(rng, p)")
        check_names(self.name, self.also)
        self._same_signatures()

    def _same_signatures(self) -> None:
        wanted = argument_names(self.reference)
        for other in (*self.mistakes, *self.equivalents):
            if argument_names(other) != wanted:
                raise AuthorError(
                    "signature",
                    f"part {self.name!r}: {other.__name__}({', '.join(argument_names(other))}) does not take the "
                    f"reference's arguments ({', '.join(wanted)})",
                )

    def draws(self) -> list[Inputs]:
        """The functions that draw the inputs, the first of which is drawn from several times."""
        return [self.inputs] if callable(self.inputs) else list(self.inputs)

    def cases(self, p: Parameters, key: tuple[int, ...]) -> list[Case]:
        """The hidden cases under `p`: `trials` draws of the first inputs, one of each other, and all of them again."""
        first, *others = self.draws()
        draws = list(enumerate([first] * self.trials + others))
        cases = [self.case(draw, p, (*key, number)) for number, draw in draws]
        again = [("", number, draw) for number, draw in (draws[0], *draws[self.trials :])]
        again += [(how, *draws[0]) for how in self.also]
        return cases + [self._again(draw, p, (*key, number), how) for how, number, draw in again]

    def case(self, draw: Inputs, p: Parameters, key: tuple[int, ...]) -> Case:
        """One draw of the arguments; AuthorError where they are not the reference's."""
        return self.case_of(draw, p, key, np.random.default_rng)

    def _again(self, draw: Inputs, p: Parameters, key: tuple[int, ...], how: str) -> Case:
        """The case of that key with other numbers."""
        case = self.case_of(draw, p, key, functools.partial(redrawn, how=how))
        return replace(
            case,
            rng_key=(*key, 3, list(ALTERED).index(how) + 1 if how else 0),
            drawn_by="",
            values_only=case.values_only or how in VALUES_ONLY,
        )

    def case_of(self, draw: Inputs, p: Parameters, key: tuple[int, ...], generator: Generators) -> Case:
        """One draw of the arguments from the generator of a key."""
        arguments = self.drawn(draw, p, generator(key))
        wanted = argument_names(self.reference)
        if list(arguments) != wanted:
            raise AuthorError(
                "inputs",
                f"part {self.name!r}: {draw.__name__}() gives {', '.join(arguments) or 'nothing'}; "
                f"{self.reference.__name__} takes {', '.join(wanted)}, in this order",
            )
        values_only = draw.__name__ in self.values_only
        return Case(parameters=p, arguments=arguments, rng_key=key, drawn_by=draw.__name__, values_only=values_only)

    def drawn(self, draw: Inputs, p: Parameters, rng: np.random.Generator) -> dict[str, Any]:
        """What an author's inputs function gives; AuthorError with its name and line where it raises."""
        try:
            return dict(draw(rng, p))
        except AuthorError:
            raise
        except Exception as error:
            file = getattr(draw, "__globals__", {}).get("__file__")
            own = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
            line = own[-1].lineno if own else "?"
            raise AuthorError(
                "inputs_raise",
                f"part {self.name!r}: {draw.__name__}(rng, p) raises {type(error).__name__}: {error} (line {line}); "
                "its arguments are a numpy generator and the variant's parameters, in this order",
            ) from error

    def respondent(self, ask: Ask, case: Case) -> Any:
        """Who answers for the student, or for a function of ours, in this case."""
        return FunctionRespondent(name=self.name, ask=ask, case=case)

    def judge(self, p: Parameters, ask: Ask, key: tuple[int, ...]) -> list[Verdict]:
        """One verdict per check: that of its first case that is lost, with the known mistake it shows."""
        return list(self.judging(p, ask, key))

    def judging(self, p: Parameters, ask: Ask, key: tuple[int, ...]) -> Iterator[Verdict]:
        """The same, check by check."""
        cases = self.kept_cases(p, key)
        for place, check in enumerate(self.checks, 1):
            verdict = self._over_cases(check, cases, ask)
            yield verdict
            if verdict.code in LAST_WORDS or verdict.ok is None:
                text = "Not checked; see above."
                for rest in self.checks[place:]:
                    yield Verdict(check=rest.name, ok=verdict.ok, code="not_reached", message=text)
                return

    def settled(self, verdicts: Sequence[Verdict]) -> bool:
        """By the gate, or by any check that counts."""
        pairs = zip(self.checks, verdicts, strict=False)
        return super().settled(verdicts) or any(verdict.ok is False and check.weight for check, verdict in pairs)

    def kept_cases(self, p: Parameters, key: tuple[int, ...]) -> list[Case]:
        """The hidden cases, drawn once for everybody who has them."""
        return self.once("cases", p, key, lambda: self.cases(p, key))

    def _over_cases(self, check: Check, cases: list[Case], ask: Ask) -> Verdict:
        for case in cases:
            verdict = self._one(check, case, ask)
            if not verdict.ok:
                return self._diagnosed(verdict, check, cases, ask) if verdict.ok is False else verdict
        return verdict

    def _one(self, check: Check, case: Case, ask: Ask) -> Verdict:
        """The check on one case; a failure becomes a sentence, and a fault of ours is held for a person."""
        try:
            return check.run(case, self.respondent(ask, case), self._ours(trusted, self.reference, case))
        except NoAnswer as error:
            return failure_verdict(check.name, self.name, error.reply)
        except Exception:
            return fault_verdict(check.name)

    def _diagnosed(self, verdict: Verdict, check: Check, cases: list[Case], ask: Ask) -> Verdict:
        """The same verdict under the name of the known mistake that gives the same answers, with its hint."""
        if verdict.code in (*LAST_WORDS, "raised"):
            return verdict
        for mistake in self.mistakes:
            if self.is_itself(mistake, ask, cases[0].parameters) or self._answers_as(mistake, check, cases, ask):
                return Verdict(
                    check=verdict.check, ok=False, code=mistake.__name__, message=inspect.getdoc(mistake) or ""
                )
        return verdict

    def _answers_as(self, mistake: Callable[..., Any], check: Check, cases: list[Case], ask: Ask) -> bool:
        """Whether the student's answers are those of the mistake in every case, and the mistake fails the check."""
        same = check if check.compares else close(rtol=1e-9)
        if isinstance(same, Close):
            same = replace(same, nan=True)
        different = False
        for case in cases:
            wrong, right = (self._ours(known, function, case) for function in (mistake, self.reference))
            try:
                if not same.run(case, self.respondent(ask, case), wrong).ok:
                    return False
                different = different or not check.run(case, wrong, right).ok
            except Exception:
                return False
        return different

    def _ours(self, who: Callable[..., Ask], function: Callable[..., Any], case: Case) -> Any:
        """Who answers for a function of ours in this case."""
        return case.once((who, function), lambda: self.respondent(who(function, self.name, case.parameters), case))

    def weights(self, verdicts: Sequence[Verdict]) -> list[float]:
        """Each check has its own; one that anybody passes has none by itself."""
        pairs = zip(self.checks, verdicts, strict=True)
        earned = any(verdict.ok and check.alone and check.weight for check, verdict in pairs)
        return [check.weight if check.alone or earned else 0.0 for check in self.checks]

    def questions(self, p: Parameters, key: tuple[int, ...]) -> list[Question]:
        """Those that the reference is asked when it is judged."""
        interview = Interview(known(self.reference, self.name, p))
        self.judge(p, interview, key)
        return [question for question, _ in interview.answers]

    def trivial_answers(self, p: Parameters) -> dict[str, Any]:
        """Functions that look at no more than the form."""
        reference = functools.partial(self.reference, p=p) if takes_parameters(self.reference) else self.reference
        return {
            **super().trivial_answers(p),
            "a function that returns None": lambda *arguments: None,
            "zeros of the right shape": lambda *arguments: zeros(reference(*arguments)),
            "the first argument": lambda *arguments: arguments[0],
        }

    def blind_answers(self, p: Parameters, shown: Sequence[str]) -> dict[str, Any]:
        """Functions that give one constant in the right shape."""
        reference = functools.partial(self.reference, p=p) if takes_parameters(self.reference) else self.reference
        return {
            f"{name} of the right shape": lambda *arguments, to=value: zeros(reference(*arguments), to)
            for name, value in CONSTANTS.items()
        }

    def answer_under(self, p: Parameters) -> Any:
        """What the reference gives on hidden inputs: where these differ, so do the answers."""
        case = self.cases(p, (0,))[0]
        respondent = self.respondent(local(self.reference, self.name, p), case)
        return [list(case.arguments.values()), respondent.call(*case.arguments.values())]

    def unstable(self, p: Parameters, key: tuple[int, ...]) -> str:
        """The hidden inputs, or the reference on them."""
        drawn: set[str] = set()
        for case, again in zip(self.kept_cases(p, key), self.cases(p, key), strict=True):
            if encode([case.arguments, case.options]) != encode([again.arguments, again.options]):
                return "inputs() returns two different values when called twice; use only the rng it is given"
            if not case.drawn_by or case.drawn_by in drawn:
                continue  # much the same inputs: the reference has been called twice on the first ones
            drawn.add(case.drawn_by)
            kept = self._ours(known, self.reference, case).call(*case.arguments.values())  # which the judge asks, too
            anew = self.respondent(local(self.reference, self.name, p), again).call(*again.arguments.values())
            if encode(kept) != encode(anew):
                return "the reference returns two different values when called twice"
        return ""

    def passes(self, subject: Callable[..., Any], case: Case) -> bool:
        """Whether `subject` passes every check in one hidden case."""
        wrong, right = (self._ours(known, item, case) for item in (subject, self.reference))
        try:
            return all(check.run(case, wrong, right).ok for check in self.checks)
        except NoAnswer:
            return False

    def terse(self) -> Part:
        """Without the search for a known mistake. Its hidden cases belong to both."""
        other = copy.copy(self)
        object.__setattr__(other, "mistakes", ())  # frozen to all others
        return other

    def mutants(self, p: Parameters) -> Iterator[Any] | None:
        """Slips in the reference's syntax tree."""
        from autograder.parts.mutants import mutants_of_code

        return mutants_of_code(self.reference)

    def harmless(self, agrees: Callable[[Part], bool]) -> str | None:
        """The reference's values and gradients everywhere, or a difference in what is not asked for."""

        def judged_by(*checks: Check) -> Part:  # one part for all mutants: what the reference answers is kept
            return self.once(("judged by", checks), {}, (), lambda: replace(self, checks=checks))

        asked = next((check for check in self.checks if isinstance(check, Gradient)), None)
        by = asked.names if asked else ()
        if agrees(judged_by(close(rtol=1e-9), gradient(" ".join(by), rtol=1e-8))):
            return "same values and gradients on further draws of the inputs"
        if not asked and agrees(judged_by(close(rtol=1e-9))):
            return "same values on further draws of the inputs; gradients are not checked"
        stated = max((check.rtol for check in self.checks if isinstance(check, Close)), default=0.0)
        if stated > 1e-9 and agrees(judged_by(close(rtol=stated))):
            return f"same values on further draws of the inputs to {stated:g}, the tolerance that the part states"
        if not self.checks[0].compares:
            return "another answer that has the properties asked for"
        return None

    def local_check(self, p: Parameters) -> str:
        """Calls the function on public inputs and says what is malformed about the result."""
        case = self.case(self.draws()[0], p, (0,))
        result = self.respondent(local(self.reference, self.name, p), case).call(*case.arguments.values())
        given = [f"{name}={described(value)}" for name, value in case.arguments.items()]
        return f"form.check({', '.join([repr(self.name), *given, f'returns={described(result, kind_only=True)}'])})"


def zeros(value: Any, to: float = 0) -> Any:
    """The same structure, with zeros for entries, or another constant as far as their kind admits it."""
    if is_tensor(value):
        return value * 0 + to if value.is_floating_point() else value * 0 + (to == 1)
    if isinstance(value, np.ndarray):
        return np.full_like(value, to if value.dtype.kind == "f" else to == 1)
    if isinstance(value, dict):
        return {key: zeros(item, to) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(zeros(item, to) for item in value)
    return to if isinstance(value, int | float) else value


def described(value: Any, *, kind_only: bool = False) -> str:
    """Source text of a value for a visible check: tensors by dtype and shape, the rest literally or by its kind."""
    if is_tensor(value):
        dtype = str(value.dtype).removeprefix("torch.")
        extra = "" if dtype == "float64" else f", dtype={dtype!r}"
        return f"form.tensor({', '.join(map(str, value.shape))}{extra})".replace("(, ", "(")
    if isinstance(value, np.ndarray):
        extra = "" if value.dtype == np.float64 else f", dtype={value.dtype.name!r}"
        return f"form.array({', '.join(map(str, value.shape))}{extra})".replace("(, ", "(")
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {described(item, kind_only=kind_only)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        items = ", ".join(described(item, kind_only=kind_only) for item in value)
        return f"[{items}]" if isinstance(value, list) else f"({items},)"
    return type(value).__name__ if kind_only and value is not None else repr(value)

"""`Trained`: a function that trains a model, judged by what the model predicts on data that it has never seen."""

from __future__ import annotations

import dataclasses
import inspect
import math
import statistics
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from autograder.checks.check import Check
from autograder.checks.compare import array, difference, is_tensor
from autograder.core import LAST_WORDS, Ask, Case, Parameters, Part, Question, Verdict
from autograder.errors import AuthorError
from autograder.parts.function import Function, Generators, Inputs, described
from autograder.protocol.respondents import (
    FunctionRespondent,
    NoAnswer,
    failure_verdict,
    fault_verdict,
    known,
    local,
    trusted,
    value_of,
)
from autograder.student.local_checks import Malformed, defined, example, form_of, look

HIDDEN = "hidden"  # what `inputs` gives beside the arguments, and nobody is told
# score(predictions, hidden, p) -> how good they are, or a sentence that says why they are none
Score = Callable[[Any, Any, Parameters], float | str]


@dataclass(frozen=True)
class Trained(Function):
    """A function that is given data to train on and new inputs, and returns its model's predictions for these.

    `inputs(rng, p)` gives the arguments and, under `hidden`, what only the judge knows, such as the right labels of the
    new inputs. `score(predictions, hidden, p)` says how good predictions are, or, in a sentence, why they are none;
    its docstring says what it measures. The function is called on `trials` data sets, seeded before each call, and may
    compute `steps` gradients in a call. With a median score of at least `reach` the answer earns, with one below `fail`
    it is lost; between them a person looks. `also` is empty here.
    """

    _: KW_ONLY
    trials: int = 5  # what is misjudged on a share r of the data sets is misjudged with a probability of at most 10 r^3
    score: Score | None = None
    reach: float = 0.0
    fail: float = 0.0
    steps: int = 0
    also: tuple[str, ...] = ()

    kind = "trained"
    repeats = False

    @classmethod
    def check_form(  # type: ignore[override]  # training has a budget
        cls, name: str, /, *, gradients: int, returns: Any, **arguments: Any
    ) -> None:
        """Train on arguments of the given forms, within the budget, and look at the form of the predictions."""
        subject = defined(name)
        if not callable(subject):
            raise Malformed("type", f"{name} is {form_of(subject)}, not a function.")
        values = tuple(example(form, place) for place, form in enumerate(arguments.values()))
        options = {"gradients": gradients}
        look(subject, Question(kind="call", name=name, arguments=values, options=options), returns)

    def __post_init__(self) -> None:
        if self.score is None or not (inspect.getdoc(self.score) or "").strip():
            raise AuthorError("score", f"part {self.name!r} needs a score, whose docstring says what it measures")
        if not self.fail < self.reach:
            raise AuthorError("reach", f"part {self.name!r}: fail must lie below reach; between them a person looks")
        if self.steps < 1 or self.trials % 2 == 0:
            raise AuthorError("steps", f"part {self.name!r}: steps is at least 1, and trials odd: the median counts")
        if not self.checks:
            own = Learned(name="predictions", score=self.score, reach=self.reach, fail=self.fail)
            object.__setattr__(self, "checks", [own])  # frozen to all others
        super().__post_init__()

    def cases(self, p: Parameters, key: tuple[int, ...]) -> list[Case]:
        """`trials` draws of each of the inputs: the first one by the author's name, the others as further draws.

        All of them count together, so what one of the others shows by itself is of no interest.
        """
        draws = self.draws()
        cases = [self.case(draw, p, (*key, number)) for number, draw in enumerate(draws * self.trials)]
        return cases[: len(draws)] + [dataclasses.replace(case, drawn_by="") for case in cases[len(draws) :]]

    def case_of(self, draw: Inputs, p: Parameters, key: tuple[int, ...], generator: Generators) -> Case:
        """A data set, of which what is hidden stays here."""
        given: dict[str, Any] = {}

        def arguments(rng: np.random.Generator, p: Parameters) -> dict[str, Any]:
            given.update(draw(rng, p))
            if HIDDEN not in given:
                raise AuthorError("inputs", f"part {self.name!r}: {draw.__name__}() gives nothing under {HIDDEN!r}")
            return {name: item for name, item in given.items() if name != HIDDEN}

        arguments.__name__ = draw.__name__
        case = super().case_of(arguments, p, key, generator)
        return dataclasses.replace(case, options={HIDDEN: given[HIDDEN]})

    def respondent(self, ask: Ask, case: Case) -> TrainingRespondent:
        """Who trains for the student, or for a function of ours, in this case."""
        seed = int(np.random.default_rng((*case.rng_key, 5)).integers(2**31))
        return TrainingRespondent(name=self.name, ask=ask, case=case, seed=seed, steps=self.steps)

    def judging(self, p: Parameters, ask: Ask, key: tuple[int, ...]) -> Iterator[Verdict]:
        """One verdict, by the median score over the data sets: once it can only be too low, no more are asked for."""
        (check,) = self.checks
        assert isinstance(check, Learned)
        cases, scores = self.kept_cases(p, key), []
        for case in cases:
            try:
                student = self.respondent(ask, case)
                reference = self._ours(trusted, self.reference, case)
                found = check.scored(student, reference, case)
            except NoAnswer as error:
                yield failure_verdict(check.name, self.name, error.reply)
                return
            except Exception:
                yield fault_verdict(check.name)
                return
            if isinstance(found, Verdict):
                yield self._as_known(found, cases, ask)
                return
            scores.append(found)
            if sum(score < self.fail for score in scores) > len(cases) // 2:
                break
        verdict = check.verdict(statistics.median(scores), scores)
        yield verdict if verdict.ok is not False else self._as_known(verdict, cases[: len(scores)], ask)

    def _as_known(self, verdict: Verdict, cases: list[Case], ask: Ask) -> Verdict:
        """The verdict under the name of the known mistake that predicts the same."""
        if verdict.code in (*LAST_WORDS, "raised"):
            return verdict
        for mistake in self.mistakes:
            itself = self.is_itself(mistake, ask, cases[0].parameters)
            if itself or all(self._predicts_as(mistake, case, ask) for case in cases):
                return Verdict(
                    check=verdict.check, ok=False, code=mistake.__name__, message=inspect.getdoc(mistake) or ""
                )
        return verdict

    def _predicts_as(self, mistake: Callable[..., Any], case: Case, ask: Ask) -> bool:
        arguments = tuple(case.arguments.values())
        try:
            theirs, ours = (
                self.respondent(ask, case).call(*arguments),
                self._ours(known, mistake, case).call(*arguments),
            )
        except NoAnswer:
            return False
        return difference(theirs, ours, rtol=1e-9, nan=True) is None

    def harmless(self, agrees: Callable[[Part], bool]) -> str | None:
        """It learns as much from further data."""
        return "another way to learn as much" if agrees(self) else None

    def local_check(self, p: Parameters) -> str:
        """Trains on public numbers of the same form, and says what is malformed about the predictions."""
        case = self.case(self.draws()[0], p, (0,))
        result = self.respondent(local(self.reference, self.name, p), case).call(*case.arguments.values())
        given = [f"{name}={described(value)}" for name, value in case.arguments.items()]
        wanted = f"returns=form.tensor({', '.join(map(str, array(result).shape))}, dtype='')"
        return f"form.check_trained({', '.join([repr(self.name), f'gradients={self.steps}', *given, wanted])})"

    def rule(self, p: Parameters) -> str:
        """How it is marked."""
        measured = " ".join((inspect.getdoc(self.score) or "").split("\n\n")[0].split())
        return (
            f"**How this is marked.** Your function is called on {self.trials} hidden data sets, and may compute at "
            f"most {self.steps} gradients in a call. {measured} The median over the data sets counts. From "
            f"{self.reach:g} on, you have the points; below {self.fail:g}, you have none; between them, a grader looks "
            "at your code."
        )


@dataclass(frozen=True, kw_only=True)
class TrainingRespondent(FunctionRespondent):
    """Somebody who trains: with seeded generators, and no more gradients than the budget has."""

    seed: int
    steps: int

    def call(self, *arguments: Any) -> Any:
        """The predictions."""
        options = {"seed": self.seed, "gradients": self.steps}
        return value_of(self.ask(Question(kind="call", name=self.name, arguments=arguments, options=options)))


@dataclass(frozen=True, kw_only=True)
class Learned(Check):
    """Predictions are good enough, too bad, or neither."""

    score: Score
    reach: float
    fail: float

    compares = False

    def run(self, case: Case, student: Any, reference: Any) -> Verdict:
        """The verdict on one data set by itself."""
        found = self.scored(student, reference, case)
        return found if isinstance(found, Verdict) else self.verdict(found, [found])

    def scored(self, student: Any, reference: Any, case: Case) -> float | Verdict:
        """The score of predictions of the right form; any kind of real numbers will do."""
        import torch

        arguments = tuple(case.arguments.values())
        given, wanted = student.call(*arguments), reference.call(*arguments)
        if not (is_tensor(given) or isinstance(given, np.ndarray)) or array(given).dtype.kind not in "fiu":
            return self.failed("type", "The predictions are no tensor of numbers.")
        if array(given).shape != array(wanted).shape:
            shapes = f"shape {array(given).shape}, but they should have shape {array(wanted).shape}"
            return self.failed("shape", f"The predictions have {shapes}.")
        values = array(given).astype(float)
        predictions = torch.from_numpy(values) if is_tensor(wanted) else values
        found = self.score(predictions, case.options[HIDDEN], case.parameters)
        if isinstance(found, str):
            return self.failed(self.score.__name__, found)
        return -math.inf if math.isnan(found) else float(found)

    def verdict(self, median: float, scores: list[float]) -> Verdict:
        """The verdict on a median score."""
        staff = (
            f"scores: {', '.join(f'{score:.4g}' for score in scores)}; {self.reach:g} earns, {self.fail:g} is needed"
        )
        found = f"On data that it had not seen, your model has a score of {median:.2f}"
        if median >= self.reach:
            return self.passed()
        if median >= self.fail:
            text = f"{found}: neither good enough nor too bad. A grader will look at your code."
            return Verdict(check=self.name, ok=None, code="between", message=text, staff=staff)
        text = f"{found}; {self.reach:g} was wanted."
        return Verdict(check=self.name, ok=False, code="not_learned", message=text, staff=staff)

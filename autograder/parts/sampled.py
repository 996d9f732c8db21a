"""`Sampled`: a function that draws random numbers, judged by statistics whose rate of false alarms is stated."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, dataclass, replace
from itertools import starmap
from typing import Any

import numpy as np

from autograder.checks.check import Check, lent
from autograder.checks.compare import array
from autograder.checks.form import form
from autograder.core import Ask, Case, Parameters, Part, Question, Verdict
from autograder.errors import AuthorError
from autograder.parts.function import Function
from autograder.protocol.codec import encode
from autograder.protocol.respondents import FunctionRespondent, value_of

# statistic(drawn, inputs, p) -> pairs: numbers between 0 and 1 that are independent of each other, and the mean that
# each of them has under the right law
Statistic = Callable[[Any, dict[str, Any], Parameters], Iterable[tuple[Any, float]]]


@dataclass(frozen=True)
class Sampled(Function):
    """A function whose results are random: sampling, dropout, initialisation.

    Before each call every generator is seeded: with a seed that is hidden and the same whenever the answer is judged
    again. Each of `statistics` is a function of what was drawn, of the inputs and of `p`; it gives pairs of numbers
    between 0 and 1 that are independent of each other, and of the mean that they have under the right law. Its
    docstring says what must hold. The first one is the gate. All together, over all hidden inputs, reject a right
    answer with a probability of at most `rate`, whatever the law: by Chernoff's bound, n numbers in [0, 1] of mean m
    have an average a with n kl(a, m) above t with a probability of at most 2 exp(-t). A function that draws the same
    numbers under another seed is rejected, too, where that is as improbable. `also` is empty here unless it is given.
    """

    _: KW_ONLY
    statistics: tuple[Statistic, ...] | list[Statistic] = ()
    rate: float = 1e-6
    also: tuple[str, ...] = ()

    kind = "sampled"
    repeats = False

    def __post_init__(self) -> None:
        if not 0 < self.rate <= 1:
            raise AuthorError("rate", f"part {self.name!r}: rate is a probability above 0, not {self.rate!r}")
        if not self.checks:
            object.__setattr__(self, "checks", self._own_checks())  # frozen to all others
        super().__post_init__()

    def _own_checks(self) -> list[Check]:
        """One for each statistic, with its share of the rate."""
        if not self.statistics:
            raise AuthorError("no_statistics", f"part {self.name!r} has no statistics; write statistics=[...]")
        share = self.rate / ((len(self.statistics) + 1) * self._number_of_cases())  # the gate is two tests
        return [
            Lawful(name=_name(item), statistic=item, sentence=_sentence(item), rate=share, gate=not place)
            for place, item in enumerate(self.statistics)
        ]

    def _number_of_cases(self) -> int:
        """As many as `cases` gives."""
        draws = len(self.draws())
        return self.trials + draws - 1 + draws + len(self.also)

    def respondent(self, ask: Ask, case: Case) -> SeededRespondent:
        """Who answers for the student, or for a function of ours, under the seeds of this case."""
        first, second = np.random.default_rng((*case.rng_key, 5)).integers(2**31, size=2).tolist()
        return SeededRespondent(name=self.name, ask=ask, case=case, seeds=(first, second))

    def rule(self, p: Parameters) -> str:
        """How it is marked."""
        return (
            "**How this is marked.** Your function is called on hidden inputs, and statistics of what it draws are "
            "compared with what they must be. It may use any generator of torch, numpy or Python; do not set a seed. "
            f"A right answer is rejected with a probability of at most {_power(self.rate)}."
        )

    def harmless(self, agrees: Callable[[Part], bool]) -> str | None:
        """The reference's own draws, or the right law on further inputs and seeds."""
        if said := super().harmless(agrees):
            return said
        return "another way to draw from the same law" if agrees(self) else None


def _power(rate: float) -> str:
    """A rate as it is printed."""
    exponent = math.floor(math.log10(rate) + 1e-9)
    return f"$10^{{{exponent}}}$" if math.isclose(rate, 10.0**exponent) else f"{rate:g}"


@dataclass(frozen=True, kw_only=True)
class SeededRespondent(FunctionRespondent):
    """Somebody who answers for a function, with the generators of every library seeded before each call."""

    seeds: tuple[int, int]

    def call(self, *arguments: Any) -> Any:
        """What the function draws under the first seed."""
        return self._under(self.seeds[0], arguments)

    def call_again(self, *arguments: Any) -> Any:
        """What it draws under the other one."""
        return self._under(self.seeds[1], arguments)

    def _under(self, seed: int, arguments: tuple[Any, ...]) -> Any:
        question = Question(kind="call", name=self.name, arguments=arguments, options={"seed": seed})
        return value_of(self.ask(question))


@dataclass(frozen=True, kw_only=True)
class Lawful(Check):
    """One statistic: each of its averages is near enough to its mean. A right law fails with probability `rate`."""

    statistic: Statistic
    sentence: str
    rate: float
    gate: bool = False

    compares = False

    def run(self, case: Case, student: Any, reference: Any) -> Verdict:
        """The form of what was drawn, at the gate that it is drawn anew under another seed, then its averages."""
        formed = form(name=self.name).run(case, student, reference)
        if not formed.ok:
            return formed
        with lent(self.name, case) as inputs:
            given = self.statistic(student.call(*case.arguments.values()), inputs, case.parameters)
            pairs = [(_numbers(values), float(mean)) for values, mean in given]
        if not all(len(values) for values, _ in pairs) or not pairs:
            raise AuthorError("statistic", f"statistic {self.statistic.__name__!r} gives no numbers")
        if self.gate and max(starmap(_coincidence, pairs)) >= -math.log(self.rate) and _repeats(student, case):
            text = "Two calls on the same arguments drew the same numbers. (Do not set a seed in your function.)"
            return self.failed("repeats", text)
        limit = math.log(2 * len(pairs) / self.rate)
        for values, mean in pairs:
            average = float(values.mean()) if ((values >= 0) & (values <= 1)).all() else math.nan
            surprise = len(values) * relative_entropy(average, mean)
            if not surprise <= limit:
                found = self.failed(self.statistic.__name__, f"This does not hold: {self.sentence}")
                said = f"an average of {average:.4g} over {len(values)}, {mean:.4g} expected"
                return replace(found, staff=f"{said}; {surprise:.1f} > {limit:.1f}")
        return self.passed()


def _repeats(respondent: Any, case: Case) -> bool:
    arguments = tuple(case.arguments.values())
    return encode(respondent.call(*arguments)) == encode(respondent.call_again(*arguments))


def _coincidence(values: np.ndarray, mean: float) -> float:
    """How improbable it is that truth values are all drawn alike twice: minus the logarithm; zero for others."""
    alike = mean**2 + (1 - mean) ** 2
    return -len(values) * math.log(alike) if np.isin(values, (0, 1)).all() and 0 < alike < 1 else 0.0


def relative_entropy(average: float, mean: float) -> float:
    """kl(a, m) of two coins, in nats; nan for what is no average of numbers between zero and one."""
    terms = ((average, mean), (1 - average, 1 - mean))
    if not 0 <= average <= 1:
        return math.nan
    if any(here > 0 and there <= 0 for here, there in terms):
        return math.inf
    return sum(here * math.log(here / there) for here, there in terms if here > 0)


def _numbers(values: Any) -> np.ndarray:
    """The numbers of a statistic, in one row."""
    return np.asarray(array(values), dtype=float).reshape(-1)


def _name(statistic: Statistic) -> str:
    return statistic.__name__.replace("_", " ")


def _sentence(statistic: Statistic) -> str:
    """What must hold: the first line of the docstring."""
    sentence = (inspect.getdoc(statistic) or "").strip().split("\n")[0]
    if not sentence:
        raise AuthorError(
            "property_without_sentence", f"statistic {statistic.__name__!r}: its docstring must say what holds"
        )
    return sentence

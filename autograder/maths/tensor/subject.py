"""One answer to an open question: its meaning, and the value of its target in a trial."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from autograder.maths.decision import Decision, different, undecided
from autograder.maths.tensor.axes import Side, add_reference, declared
from autograder.maths.tensor.checking import Interpreted, interpret
from autograder.maths.tensor.comparison import counts_from_zero, grid_of
from autograder.maths.tensor.core_tree import Meaning
from autograder.maths.tensor.declarations import Declarations, tensor_key
from autograder.maths.tensor.evaluation import Evaluation, Options
from autograder.maths.tensor.number_systems import Arithmetic, Array
from autograder.maths.tensor.shelf import Shelves
from autograder.maths.tensor.sizes import Sizes
from autograder.maths.tensor.system_texts import Text, content, system_of
from autograder.maths.tensor.tensor_tree import System
from autograder.maths.tensor.values import Budget, Grid, LimitError


class Subject:
    """One system whose target's properties are asked for."""

    def __init__(self, answer: Text, target: str, declarations: Declarations | None) -> None:
        self.declarations = declarations or Declarations()
        self.system: System = system_of(answer)
        self.found: Interpreted = interpret(self.system, self.declarations)
        self.target = tensor_key(target)
        self.budget = Budget()
        self.shelves = _shelves(content(answer), repr(self.declarations))
        own = self.found.own
        self.axes = declared(self.declarations)
        self.side = Side(owner="answer", meanings=self.found.last, own=own)
        add_reference(self.axes, self.side)

    @property
    def refused(self) -> Decision | None:
        """The decision where the answer has no meaning or does not define the target."""
        for fault in self.found.faults:
            if fault.fatal:
                return different(fault.code, fault.message)
        if self.target not in self.found.own:
            return different("no_target", f"no equation defines {self.target}")
        return None

    @property
    def meaning(self) -> Meaning:
        """The equation that defines the target."""
        return next(meaning for meaning in self.found.last if meaning.name == self.target)

    def value(
        self, arithmetic: Arithmetic, trial: int, fixed: dict[str, int] | None = None
    ) -> tuple[Array, tuple[str, ...]]:
        """The target in one trial, with some index variables or context indices at one value."""
        fixed = fixed or {}
        arithmetic.positives |= self.declarations.positive
        shelf = None
        if arithmetic.spoiled is None:  # one answer is asked for many properties
            drawn = (arithmetic.drawn, arithmetic.positives)
            arithmetic.kept = self.shelves.draws(drawn)
            shelf = self.shelves.about((drawn, trial, tuple(sorted(fixed.items()))))
        sizes = Sizes(self.axes, self.declarations, trial)
        evaluation = Evaluation(
            self.found.last,
            arithmetic,
            Options(
                size=lambda m, name: sizes.of(self.side.variable(m, name)),
                axis=sizes.axis,
                zero=counts_from_zero(self.side, self.axes, self.declarations),
                budget=self.budget,
                context={name: (place,) for name, place in fixed.items()},
            ),
            shelf,
        )
        grids: list[Grid] = list(grid_of(self.side, self.meaning, sizes))
        for position, index in enumerate(self.meaning.left):
            if index.variable in fixed:
                grids[position] = (fixed[str(index.variable)],)
        value = evaluation.tensor(self.target, grids, {})
        return value.array, value.dims


@lru_cache(maxsize=16)
def _shelves(text: object, declared: str) -> Shelves:
    """What is kept of one answer."""
    return Shelves()


def decided(subject: Subject, test: Callable[[], Decision]) -> Decision:
    """The test's decision, unless the answer has no meaning or a limit is reached."""
    refused = subject.refused
    if refused is not None:
        return refused
    try:
        return test()
    except LimitError as limit:
        return undecided(limit.code, limit.message)
    except ZeroDivisionError:
        return undecided("number", "a division by zero")

"""Whether an answer may equal one of many others, by floats: a filter before the real decision.

Axes have the sizes that the question's own reference fixes, so that what one side is worth need not be computed again
beside the next other side.
"""

from __future__ import annotations

from collections import OrderedDict

import numpy as np

from autograder.maths.tensor.axes import Side
from autograder.maths.tensor.comparison import Compared, Comparison, agree
from autograder.maths.tensor.evaluation import Evaluation
from autograder.maths.tensor.number_systems import Floats
from autograder.maths.tensor.question import Prepared, Question
from autograder.maths.tensor.sizes import Sizes
from autograder.maths.tensor.values import Budget, LimitError, Value

MOST_KEPT = 16

Values = OrderedDict[tuple[object, ...], Value]


def sizes_of(question: Question) -> dict[str, int]:
    """The sizes of the axes that the question names, as they are drawn without an answer."""
    axes = question.axes.copy()
    sizes = Sizes(axes, question.declarations, 0)
    return {letter: sizes.axis(letter) for letters in axes.letters.values() for letter in letters}


def alike(prepared: Prepared, floats: Floats, ours: Values, theirs: Values) -> bool:
    """Whether floats agree. `ours` and `theirs` keep what the reference and the answer are worth."""
    comparison = prepared.comparison
    if comparison is None:
        return False
    first, second = comparison.evaluations("float", 0, lambda: floats)
    first.budget, second.budget = Budget(), Budget()  # apart, so that what was kept changes nothing
    try:
        with np.errstate(all="ignore"):
            for number, what in enumerate(prepared.compared(prepared.target)):
                one = _kept(ours, comparison, comparison.reference, first, what, number)
                other = _kept(theirs, comparison, comparison.answer, second, what, number)
                if not agree(*comparison.aligned(one, other)[:2]):
                    return False
    except LimitError:
        return False  # nor could it be decided
    return True


def _kept(
    values: Values, comparison: Comparison, side: Side, evaluation: Evaluation, what: Compared, number: int
) -> Value:
    """What a side is worth; computed once for axes of equal sizes."""
    grids = what.grids(comparison.sizes(0))
    read = tuple(map(id, side.meanings))  # which the caller has hold of
    key = (number, grids, what.positions, evaluation.options.private, read, comparison.learned(side, 0))
    if key not in values:
        compute = what.first if side is comparison.reference else what.second
        values[key] = compute(evaluation, grids)
        if len(values) > MOST_KEPT:
            values.popitem(last=False)
    return values[key]

"""Statistics of a test: against a worked example, against an independent computation, and where nothing is defined."""

from __future__ import annotations

import itertools
import math
import statistics as plain

import numpy as np
import pytest

from autograder.reporting import item_statistics
from autograder.reporting.item_statistics import guess_corrected, holm, kruskal, student_t, wilson

NAN = math.nan
# Six students, four parts; what is expected was worked out by hand.
WORKED = [[1, 2, 3, 4], [1, 2, 2, 3], [1, 1, 2, 4], [1, 0, 1, 2], [1, 1, 0, 1], [1, 2, 1, 0]]
MAXIMA = [1, 2, 3, 4]


def of(scores: list[list[float]], maxima: list[float], problems: str = "") -> item_statistics.ClassStatistics:
    """The statistics of a table."""
    return item_statistics.statistics(np.array(scores, dtype=float), maxima, list(problems or "a" * len(maxima)))


def test_the_worked_example() -> None:
    """Facility, corrected discrimination, efficiency, alpha and the error of measurement, to four decimals."""
    found = of(WORKED, MAXIMA)
    assert [round(item.facility.value or 0, 4) for item in found.items] == [1, 0.6667, 0.5, 0.5833]
    agreement = [item.discrimination.value for item in found.items]
    assert agreement[0] is None and found.items[0].discrimination.why == "everybody has the same points"
    assert [round(value or 0, 4) for value in agreement[1:]] == [0.223, 0.9218, 0.5606]
    assert [item.efficiency and round(item.efficiency, 4) for item in found.items] == [None, 0.25, 1, 0.5946]
    assert found.alpha.value and round(found.alpha.value, 4) == 0.6095
    assert (round(found.deviation or 0, 4), round(found.sem or 0, 4)) == (2.8577, 1.7857)
    assert round(found.items[0].alpha_without or 0, 4) == 0.6857  # a constant part changes alpha


@pytest.mark.parametrize("seed", range(5))
def test_against_an_independent_computation(seed: int) -> None:
    """The same figures from Python's statistics module, student by student."""
    rng = np.random.default_rng(seed)
    able = rng.normal(size=(23, 1))
    scores = np.clip(np.round(2 + able + rng.normal(size=(23, 5))), 0, 4)
    found = of(scores.tolist(), [4] * 5)
    columns = [list(map(float, column)) for column in scores.T]
    totals = [sum(row) for row in scores.tolist()]
    for item, column in zip(found.items, columns, strict=True):
        rest = [total - own for total, own in zip(totals, column, strict=True)]
        assert item.discrimination.value == pytest.approx(plain.correlation(column, rest), abs=1e-12)
        assert item.facility.value == pytest.approx(plain.fmean(column) / 4)
        assert item.deviation == pytest.approx(plain.stdev(column))
    spread = sum(map(plain.variance, columns)) / plain.variance(totals)
    assert found.alpha.value == pytest.approx(5 / 4 * (1 - spread))


def test_what_waits_is_never_nought() -> None:
    """A part's figures are of those who are decided; the total's of those with every part of the statistics decided."""
    found = of([[1, 2], [0, NAN], [1, 0], [0, 2]], [1, 2])
    assert found.items[1].facility.value == pytest.approx(2 / 3) and found.items[1].facility.n == 3
    assert found.totals == (3, 1, 2) and found.mean.value == pytest.approx(2)


def test_a_part_that_is_hardly_decided_leaves_the_test() -> None:
    """Decided for less than half of the class, it counts in no total, and its own figures are still given."""
    found = of([[1, 2, NAN], [0, 1, 4], [1, 0, NAN], [0, 2, NAN], [1, 1, 2]], [1, 2, 4])
    assert found.used == (True, True, False) and found.totals == (3, 1, 1, 2, 2)
    assert found.items[2].discrimination.value is None and found.items[2].facility.n == 2


UNDEFINED = [
    ("nobody", np.empty((0, 2)), "it needs"),
    ("one student", [[1, 2]], "same for all, or too few"),
    ("all alike", [[1, 2]] * 4, "same for all"),
    ("one part", [[1], [0], [1]], "two parts"),
]


@pytest.mark.parametrize(("name", "scores", "why"), UNDEFINED, ids=[row[0] for row in UNDEFINED])
def test_what_is_not_defined_has_no_number(name: str, scores: list[list[float]], why: str) -> None:
    """Alpha is None, with a reason, and never nought."""
    array = np.array(scores, dtype=float)
    found = item_statistics.statistics(array, [2] * array.shape[1], ["a"] * array.shape[1])
    assert found.alpha.value is None and found.alpha.why
    assert why in found.alpha.why


def test_alpha_with_problems_as_items() -> None:
    """Parts of one problem that always agree count once."""
    halves = [[a, a, b, b] for a, b in itertools.product([0, 1], repeat=2)]
    found = of(halves, [1] * 4, "aabb")
    assert found.alpha.value == pytest.approx(2 / 3) and found.alpha_by_problem.value == pytest.approx(0)


@pytest.mark.parametrize(("degrees", "bound"), [(1, 12.7062), (4, 2.7764), (9, 2.2622), (30, 2.0423), (100, 1.9840)])
def test_students_t(degrees: int, bound: float) -> None:
    """The two-sided 95 % bounds of printed tables."""
    assert student_t(degrees) == pytest.approx(bound, abs=1e-4)


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"), [(0, 10, 0, 0.2775), (5, 10, 0.2366, 0.7634), (10, 10, 0.7225, 1)]
)
def test_wilson(hits: int, n: int, low: float, high: float) -> None:
    """Intervals of printed tables, also at the ends."""
    figure = wilson(hits / n, n)
    assert (figure.low, figure.high) == (pytest.approx(low, abs=1e-4), pytest.approx(high, abs=1e-4))


@pytest.mark.parametrize(("n", "low", "high"), [(12, -0.33, 0.75), (50, 0.02, 0.53), (200, 0.17, 0.42)])
def test_the_interval_of_a_correlation_of_three_tenths(n: int, low: float, high: float) -> None:
    """By Fisher's transformation."""
    rng = np.random.default_rng(0)
    x, noise = rng.normal(size=n), rng.normal(size=n)
    x, noise = x - x.mean(), noise - noise.mean()
    noise -= x * (x @ noise) / (x @ x)
    y = 0.3 * x / np.linalg.norm(x) + math.sqrt(1 - 0.09) * noise / np.linalg.norm(noise)
    figure = item_statistics.correlation(x, y)
    assert figure.value == pytest.approx(0.3)
    assert (round(figure.low or 0, 2), round(figure.high or 0, 2)) == (low, high)


@pytest.mark.parametrize(
    ("facility", "options", "wanted"), [(0.25, 4, 0), (1, 4, 1), (0.2, 2, -0.6), (0.5, None, None), (None, 4, None)]
)
def test_guessing(facility: float | None, options: int | None, wanted: float | None) -> None:
    """Nought is what guessing gives; it may be worse."""
    assert guess_corrected(facility, options) == (wanted if wanted is None else pytest.approx(wanted))


def test_groups_that_differ_are_told_from_those_that_do_not() -> None:
    """A variant that is much harder is found; two draws of one distribution are not."""
    rng = np.random.default_rng(1)
    alike = [rng.normal(size=15), rng.normal(size=15)]
    assert kruskal(alike) > 0.05 > kruskal([alike[0], alike[1] + 2])


def test_holm() -> None:
    """The smallest is multiplied by their number, and none becomes smaller than one before it."""
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06]) and holm([]) == []

"""Statistics of a test by classical test theory: how hard each part was, how well it agrees with the rest, how exact
the total is.

Scores are arrays of students by parts, NaN where a part is not decided. A figure that is not defined is None, with the
reason beside it, and never nought. Formulas: Lord and Novick, *Statistical Theories of Mental Test Scores* (1968);
Cronbach's alpha as in Cronbach (1951); intervals by Wilson (1927) and Fisher (1921).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]  # students × parts
NORMAL = 1.959963984540054  # of a 95 % interval
USED = 0.5  # a part decided for a smaller share of the class leaves the test's statistics
_BOOTSTRAP = 400


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A number with its 95 % interval over `n` students; without a number, the reason why there is none."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class ItemStatistics:
    """One part: its share of points, what is left of it without guessing, its agreement with the rest.

    `efficiency` is the covariance with the rest as a share of the largest that the two lists of marks admit.
    `alpha_without` is alpha of the test without it.
    """

    facility: Figure
    guess_corrected: float | None
    deviation: float | None
    discrimination: Figure
    efficiency: float | None
    alpha_without: float | None


@dataclass(frozen=True, kw_only=True)
class ClassStatistics:
    """The whole test. `sem` is the standard error of measurement in points; `used` marks the parts that count in it.

    `totals` are the sums over these parts, of the students of whom all of them are decided.
    """

    totals: tuple[float, ...]
    mean: Figure
    median: float | None
    deviation: float | None
    quartiles: tuple[float, float] | None
    alpha: Figure
    alpha_by_problem: Figure
    sem: float | None
    used: tuple[bool, ...]
    items: tuple[ItemStatistics, ...] = field(default=())


def statistics(
    scores: Scores, maxima: Sequence[float], problems: Sequence[str], options: Sequence[int | None] | None = None
) -> ClassStatistics:
    """Of a class's scores (students × parts); `problems` names each part's problem, `options` how many a choice has."""
    counting = np.array([value > 0 for value in maxima], dtype=bool)
    decided = ~np.isnan(scores)
    share = decided.mean(axis=0) if len(scores) else np.zeros(len(maxima))
    used = counting & (share >= USED)
    whole = scores[decided[:, used].all(axis=1)][:, used] if used.any() else np.empty((0, 0))
    totals = whole.sum(axis=1)
    alpha = _alpha_figure(whole)
    names = [name for name, ok in zip(problems, used, strict=True) if ok]
    spread = _deviation(totals)
    return ClassStatistics(
        totals=tuple(map(float, totals)),
        mean=mean(totals, 1.0),
        median=float(np.median(totals)) if len(totals) else None,
        deviation=spread,
        quartiles=(float(np.quantile(totals, 0.25)), float(np.quantile(totals, 0.75))) if len(totals) else None,
        alpha=alpha,
        alpha_by_problem=_alpha_figure(_by_problem(whole, names)),
        sem=spread * math.sqrt(max(0.0, 1 - alpha.value)) if spread is not None and alpha.value is not None else None,
        used=tuple(bool(value) for value in used),
        items=tuple(_items(scores, maxima, used, whole, options or [None] * len(maxima))),
    )


def _items(
    scores: Scores, maxima: Sequence[float], used: NDArray[np.bool_], whole: Scores, options: Sequence[int | None]
) -> list[ItemStatistics]:
    found, places = [], [j for j, ok in enumerate(used) if ok]
    for j, maximum in enumerate(maxima):
        own = scores[:, j][~np.isnan(scores[:, j])]
        facility = _facility(own, maximum)
        at = places.index(j) if j in places else None
        found.append(
            ItemStatistics(
                facility=facility,
                guess_corrected=guess_corrected(facility.value, options[j]),
                deviation=_deviation(own),
                discrimination=_discrimination(whole, at),
                efficiency=None if at is None else _efficiency(whole[:, at], np.delete(whole, at, 1).sum(axis=1)),
                alpha_without=None if at is None else alpha(np.delete(whole, at, 1)),
            )
        )
    return found


def guess_corrected(facility: float | None, options: int | None) -> float | None:
    """The facility of a choice of one among `options`, nought where everybody guesses; None for other parts."""
    if facility is None or not options or options < 2:
        return None
    return (facility - 1 / options) / (1 - 1 / options)


def _facility(own: Scores, maximum: float) -> Figure:
    if not maximum > 0:
        return Figure(n=len(own), why="it counts nothing")
    if not len(own):
        return Figure(why="nobody's answer is decided")
    if set(np.unique(own)) <= {0.0, maximum} or np.ptp(own) == 0:
        return wilson(float(own.mean()) / maximum, len(own))
    figure = mean(own, maximum)
    return figure if figure.high is None else replace(figure, high=min(1.0, figure.high))


def wilson(p: float, n: int) -> Figure:
    """A share p of n trials, with Wilson's interval: also where everybody has the same, and no spread is seen."""
    z2 = NORMAL**2
    centre = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = NORMAL * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    return Figure(value=p, low=max(0.0, centre - half), high=min(1.0, centre + half), n=n)


def mean(own: Scores, maximum: float) -> Figure:
    """The mean as a share of the maximum, with Student's interval."""
    n = len(own)
    if not n:
        return Figure(why="nobody's answer is decided")
    value, spread = float(own.mean()) / maximum, _deviation(own)
    if spread is None:
        return Figure(value=value, n=n, why="one student alone has no interval")
    half = student_t(n - 1) * spread / math.sqrt(n) / maximum
    return Figure(value=value, low=max(0.0, value - half), high=value + half, n=n)


def student_t(degrees: int, level: float = 0.95) -> float:
    """The bound that |t| stays below with probability `level`.

    With t = √ν·tan φ the density is cosᵛ⁻¹ φ, which is summed up here over a fine grid.
    """
    if degrees > 1_000:
        return NORMAL if level == 0.95 else math.inf
    angles = np.linspace(0, math.pi / 2, 20_001)
    density = np.cos(angles) ** (degrees - 1)
    mass = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2)])
    return math.sqrt(degrees) * math.tan(float(np.interp(level, mass / mass[-1], angles)))


def _deviation(own: Scores) -> float | None:
    return float(own.std(ddof=1)) if len(own) > 1 else None


def correlation(x: Scores, y: Scores) -> Figure:
    """Pearson's correlation with Fisher's interval; None where one of them is the same for all, or n < 3."""
    n = len(x)
    if n < 3:
        return Figure(n=n, why="fewer than three students are decided")
    dx, dy = x - x.mean(), y - y.mean()
    size = math.sqrt(float((dx**2).sum()) * float((dy**2).sum()))
    if size < 1e-12:
        return Figure(n=n, why="everybody has the same points" if np.ptp(x) < 1e-12 else "the rest is the same for all")
    r = float(np.clip((dx * dy).sum() / size, -1, 1))
    if n < 4 or abs(r) > 1 - 1e-12:
        return Figure(value=r, n=n, low=-1.0 if n < 4 else r, high=1.0 if n < 4 else r)
    half = NORMAL / math.sqrt(n - 3)
    return Figure(value=r, low=math.tanh(math.atanh(r) - half), high=math.tanh(math.atanh(r) + half), n=n)


def _discrimination(whole: Scores, at: int | None) -> Figure:
    """The correlation of a part with the sum of the others."""
    if at is None:
        return Figure(why="it is decided for too few, or counts nothing")
    if whole.shape[1] < 2:
        return Figure(n=len(whole), why="there is no other part")
    return correlation(whole[:, at], np.delete(whole, at, 1).sum(axis=1))


def _efficiency(x: Scores, rest: Scores) -> float | None:
    if len(x) < 2:
        return None
    most = float(np.cov(np.sort(x), np.sort(rest))[0, 1])
    return float(np.cov(x, rest)[0, 1]) / most if most > 1e-12 else None


def alpha(scores: Scores) -> float | None:
    """Cronbach's alpha of students × parts; None with fewer than two of either, or where all totals are equal."""
    n, k = scores.shape
    if n < 2 or k < 2:
        return None
    total = float(scores.sum(axis=1).var(ddof=1))
    if total < 1e-12:
        return None
    parts = float(scores.var(axis=0, ddof=1).sum())
    return float(k / (k - 1) * (1 - parts / total))


def _alpha_figure(scores: Scores) -> Figure:
    """Alpha with an interval from resampled classes; the same each time."""
    value = alpha(scores)
    if value is None:
        few = scores.shape[1] < 2
        return Figure(n=len(scores), why="it needs two parts" if few else "the totals are the same for all, or too few")
    rng = np.random.default_rng(0)
    resampled = [alpha(scores[rng.integers(len(scores), size=len(scores))]) for _ in range(_BOOTSTRAP)]
    known = [item for item in resampled if item is not None]
    low, high = np.quantile(known, [0.025, 0.975])
    return Figure(value=value, low=float(low), high=float(high), n=len(scores))


def _by_problem(whole: Scores, problems: Sequence[str]) -> Scores:
    """The scores with the parts of a problem as one item."""
    names = list(dict.fromkeys(problems))
    if not names:
        return np.empty((len(whole), 0))
    return np.stack([whole[:, [name == own for own in problems]].sum(axis=1) for name in names], axis=1)


def kruskal(groups: Sequence[Scores], draws: int = 1_000) -> float:
    """How likely groups as different as these are, if they differ by chance alone: Kruskal and Wallis' H, permuted."""
    values = np.concatenate(list(groups))
    bounds = np.cumsum([len(group) for group in groups])[:-1]
    ranks = _ranks(values)
    rng = np.random.default_rng(0)
    seen = _spread(ranks, bounds)
    chance = sum(_spread(rng.permutation(ranks), bounds) >= seen - 1e-9 for _ in range(draws))
    return (chance + 1) / (draws + 1)


def _spread(ranks: Scores, bounds: NDArray[np.int64]) -> float:
    return float(sum(part.sum() ** 2 / len(part) for part in np.split(ranks, bounds)))


def _ranks(values: Scores) -> Scores:
    """Ranks from 1, equal values sharing theirs."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return ((ends - counts + 1 + ends) / 2)[inverse]


def holm(chances: Sequence[float]) -> list[float]:
    """The same probabilities, corrected for how many there are (Holm, 1979)."""
    order = sorted(range(len(chances)), key=lambda i: chances[i])
    corrected, floor = [0.0] * len(chances), 0.0
    for place, i in enumerate(order):
        floor = max(floor, min(1.0, (len(chances) - place) * chances[i]))
        corrected[i] = floor
    return corrected

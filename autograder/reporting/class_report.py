"""What a class's marks say, as one nested value: for the page, for CSV and for JSON.

Parts that wait for a person are never nought. A notebook that is lacking in a submission with others counts nought, as
nbgrader has it; a student who handed in nothing is in no statistic. What is given is the last submission of each.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from autograder.reporting.class_marks import ClassMarks, Item, Mark, Pupil
from autograder.reporting.item_statistics import ClassStatistics, Figure, Scores, holm, kruskal, mean, statistics
from autograder.reporting.same_answers import Same, grouped, unnamed

UNSTABLE = "unstable"  # the judge's code for two runs that differ
EMPTY = "missing"  # and for no answer
_LARGE = 10  # students in a group that is compared with another
_BINS = 10


@dataclass(frozen=True, kw_only=True)
class Counts:
    """How many students have all points of a part, some, none, are waited for, or handed in nothing."""

    full: int
    partly: int
    none: int
    held: int
    missing: int


@dataclass(frozen=True, kw_only=True)
class Mistake:
    """A code of the judge's in one part: how many have it, their share of those who lost points, and what it cost.

    `rest` is the mean of what they have in all other parts; `known` tells whether the problem lists it as a mistake.
    """

    part: str
    code: str
    known: bool
    n: int
    share: float
    points: float
    rest: float | None
    hint: str


@dataclass(frozen=True, kw_only=True)
class Option:
    """An option of a choice: how many chose it, and what they have in all other parts. `note` says what is odd."""

    part: str
    option: str
    right: bool
    n: int
    share: float
    rest: float | None
    note: str


@dataclass(frozen=True, kw_only=True)
class Form:
    """A wrong answer that no listed mistake names, as the first of `n` equal ones was typed."""

    part: str
    typed: str
    n: int
    code: str


@dataclass(frozen=True, kw_only=True)
class Group:
    """A part's share of points by the value of a parameter. `chance` is corrected for the number of comparisons."""

    part: str
    parameter: str
    shares: tuple[tuple[str, int, float], ...]
    chance: float | None
    sentence: str


@dataclass(frozen=True, kw_only=True)
class ClassReport:
    """Everything that the report shows; `decided` is how many students have a final total."""

    assignment: str
    title: str
    maximum: float
    statuses: Mapping[str, int]
    decided: int
    histogram: tuple[tuple[float, float, int], ...]
    statistics: ClassStatistics
    items: tuple[Item, ...]
    counts: tuple[Counts, ...]
    mistakes: tuple[Mistake, ...]
    options: tuple[Option, ...]
    forms: tuple[Form, ...]
    groups: tuple[Group, ...]
    handed_in: tuple[tuple[str, int], ...]
    late: int
    flags: tuple[tuple[str, int], ...]
    unstable: int
    notes: tuple[str, ...] = field(default=())


def class_report(marks: ClassMarks, same: Same | None = None) -> ClassReport:
    """The report on a class; `same` says which typed answers are one, beside those with the same words."""
    there = [pupil for pupil in marks.pupils if pupil.status in ("graded", "held")]
    scores = _scores(there, marks.items)
    tested = statistics(
        scores,
        [item.maximum for item in marks.items],
        [item.notebook for item in marks.items],
        [item.options or None for item in marks.items],
    )
    used = sum(item.maximum for item, counts in zip(marks.items, tested.used, strict=True) if counts)
    rests = _rests(scores, tested)
    times = Counter(f"{pupil.handed_in:%Y-%m-%d}" for pupil in there if pupil.handed_in)
    return ClassReport(
        assignment=marks.assignment,
        title=marks.title,
        maximum=marks.maximum,
        statuses=dict(sorted(Counter(pupil.status for pupil in marks.pupils).items())),
        decided=sum(pupil.total is not None for pupil in there),
        histogram=tuple(_histogram(tested.totals, used)),
        statistics=tested,
        items=marks.items,
        counts=tuple(_counts(there, item) for item in marks.items),
        mistakes=tuple(_mistakes(there, marks.items, rests)),
        options=tuple(_options(there, marks.items, rests)),
        forms=tuple(_forms(there, marks.items, same)),
        groups=tuple(_groups(there, marks.items)),
        handed_in=tuple(sorted(times.items())),
        late=sum(pupil.late > 0 for pupil in there),
        flags=tuple(Counter(flag for pupil in there for flag in set(pupil.flags)).most_common()),
        unstable=sum(UNSTABLE in mark.codes for pupil in there for mark in pupil.marks.values()),
        notes=tuple(_notes(marks, tested)),
    )


def _scores(there: Sequence[Pupil], items: Sequence[Item]) -> Scores:
    """Students by parts; NaN where a part waits, and in all of a part of which only the empty answers are decided."""
    columns = [[pupil.marks[item.name] for pupil in there] for item in items]
    rows = [[math.nan if _hardly_begun(own) else _score(mark) for mark in own] for own in columns]
    return np.array(rows, dtype=float).reshape(len(items), len(there)).T


def _hardly_begun(marks: Sequence[Mark]) -> bool:
    """Whether nobody has looked yet at a part that a person marks: who left it empty would be all that it tells."""
    decided = [mark for mark in marks if mark.status == "graded"]
    return any(mark.status == "held" for mark in marks) and all(mark.codes == (EMPTY,) for mark in decided)


def _score(mark: Mark) -> float:
    if mark.status == "missing":
        return 0.0
    return math.nan if mark.points is None else mark.points


def _rests(scores: Scores, tested: ClassStatistics) -> Scores:
    """For each student and part, the sum of all other parts that the test uses; NaN where one of those waits."""
    used = scores * np.where(tested.used, 1.0, 0.0)
    used[:, ~np.array(tested.used, dtype=bool)] = 0.0
    total = used.sum(axis=1, keepdims=True)
    return np.asarray(total - used, dtype=float)


def _mean(values: Sequence[float]) -> float | None:
    known = [value for value in values if not math.isnan(value)]
    return sum(known) / len(known) if known else None


def _histogram(totals: Sequence[float], maximum: float) -> list[tuple[float, float, int]]:
    if not totals or maximum <= 0:
        return []
    counts, edges = np.histogram(totals, bins=_BINS, range=(0.0, max(maximum, *totals)))
    return [(float(edges[i]), float(edges[i + 1]), int(count)) for i, count in enumerate(counts)]


def _counts(there: Sequence[Pupil], item: Item) -> Counts:
    kinds = Counter(_kind(pupil.marks[item.name], item) for pupil in there)
    return Counts(**{name: kinds[name] for name in ("full", "partly", "none", "held", "missing")})


def _kind(mark: Mark, item: Item) -> str:
    if mark.points is None:
        return "held" if mark.status == "held" else "missing"
    return "full" if mark.points >= item.maximum else "partly" if mark.points > 0 else "none"


def _lost(mark: Mark, item: Item) -> float:
    """The points that a decided part lost."""
    return 0.0 if mark.points is None or mark.status == "void" else max(0.0, item.maximum - mark.points)


def _mistakes(there: Sequence[Pupil], items: Sequence[Item], rests: Scores) -> list[Mistake]:
    found = []
    for j, item in enumerate(items):
        wrong = [i for i, pupil in enumerate(there) if _lost(pupil.marks[item.name], item) > 0]
        by_code: dict[str, list[int]] = defaultdict(list)
        for i in wrong:
            mark = there[i].marks[item.name]
            by_code[mark.codes[0] if mark.codes and not mark.by_hand else "by hand"].append(i)
        for code, own in by_code.items():
            marks = [there[i].marks[item.name] for i in own]
            found.append(
                Mistake(
                    part=item.name,
                    code=code,
                    known=code in item.mistakes,
                    n=len(own),
                    share=len(own) / len(wrong),
                    points=sum(_lost(mark, item) for mark in marks),
                    rest=_mean([float(rests[i, j]) for i in own]),
                    hint="" if code == "by hand" else marks[0].hint,
                )
            )
    return sorted(found, key=lambda item: (-item.n, item.part, item.code))


def _options(there: Sequence[Pupil], items: Sequence[Item], rests: Scores) -> list[Option]:
    found = []
    for j, item in enumerate(items):
        if not item.options:
            continue
        chosen: dict[str, list[int]] = defaultdict(list)
        for i, pupil in enumerate(there):
            mark = pupil.marks[item.name]
            if mark.points is not None:
                code = mark.codes[0] if mark.codes else ""
                chosen["" if not code else code if code in item.mistakes else "no option"].append(i)
        decided = sum(map(len, chosen.values()))
        means = {name: _mean([float(rests[i, j]) for i in own]) for name, own in chosen.items()}
        key = means.get("")
        for name in ["", *sorted(item.mistakes), "no option"]:
            own = chosen.get(name, [])
            if name == "no option" and not own:
                continue
            rest, note = means.get(name), ""
            others = mean(rests[own, j][~np.isnan(rests[own, j])], 1.0)
            if name and key is not None and others.low is not None and others.low > key:
                note = "those who chose it have more elsewhere than those who are right: look at the key"
            elif name and decided and len(own) < 0.05 * decided:
                note = "hardly anybody chose it"
            found.append(
                Option(
                    part=item.name,
                    option=name or "the right option",
                    right=not name,
                    n=len(own),
                    share=len(own) / decided if decided else 0.0,
                    rest=rest,
                    note=note,
                )
            )
    return found


def _forms(there: Sequence[Pupil], items: Sequence[Item], same: Same | None) -> list[Form]:
    """Wrong typed answers without a name, equal ones counted once."""
    found = []
    for item in (item for item in items if not item.by_person):
        for own in grouped(item, unnamed(there, item), same):
            mark = own[0].marks[item.name]
            found.append(Form(part=item.name, typed=mark.typed, n=len(own), code=", ".join(mark.codes)))
    return sorted(found, key=lambda form: (-form.n, form.part, form.typed))


def _groups(there: Sequence[Pupil], items: Sequence[Item]) -> list[Group]:
    """Each part by the values of its problem's parameters, where there are several."""
    drafts: list[tuple[Item, str, dict[str, list[float]]]] = []
    for item in items:
        if not item.counts:
            continue
        names = {name for pupil in there for name in pupil.parameters.get(item.notebook, {})}
        for name in sorted(names):
            values: dict[str, list[float]] = defaultdict(list)
            for pupil in there:
                points = pupil.marks[item.name].points
                if points is not None and name in pupil.parameters.get(item.notebook, {}):
                    values[str(pupil.parameters[item.notebook][name])].append(points / item.maximum)
            if 2 <= len(values) <= 12:
                drafts.append((item, name, values))
    compared = [i for i, (_, _, values) in enumerate(drafts) if sum(len(own) >= _LARGE for own in values.values()) >= 2]
    large = [[np.array(own) for own in drafts[i][2].values() if len(own) >= _LARGE] for i in compared]
    chances = dict(zip(compared, holm([kruskal(groups) for groups in large]), strict=True))
    return [_group(item, name, values, chances.get(i)) for i, (item, name, values) in enumerate(drafts)]


def _group(item: Item, name: str, values: Mapping[str, Sequence[float]], chance: float | None) -> Group:
    shares = tuple((value, len(own), sum(own) / len(own)) for value, own in sorted(values.items()))
    if chance is None:
        sentence = f"not compared: there are no two groups of {_LARGE}"
    elif chance >= 0.05:
        sentence = "the groups do not differ by more than chance"
    else:
        big = [share for share in shares if share[1] >= _LARGE]
        low, high = min(big, key=lambda share: share[2]), max(big, key=lambda share: share[2])
        gap = f"{high[2] - low[2]:.2f} of the points"
        sentence = f"{name} = {low[0]} was harder than {high[0]} by {gap} (n = {low[1]} and {high[1]})"
    return Group(part=item.name, parameter=name, shares=shares, chance=chance, sentence=sentence)


def _notes(marks: ClassMarks, tested: ClassStatistics) -> list[str]:
    left_out = [item.name for item, used in zip(marks.items, tested.used, strict=True) if not used and item.counts]
    notes = []
    if left_out:
        notes.append(
            f"Not in the statistics of the test, since fewer than half of the class are decided: {', '.join(left_out)}."
        )
    if dropped := [item.name for item in marks.items if item.void]:
        notes.append(f"Voided: {', '.join(dropped)}.")
    return notes


def look_at(figure: Figure, facility: Figure) -> str:
    """What a part's figures mean, in words: only where the whole interval says so, except for a key to be looked at."""
    if figure.value is None:
        return figure.why
    if figure.value < 0 and facility.value is not None and facility.value < 0.5:
        return "look at the key: who is better elsewhere is worse here"
    if figure.low is not None and figure.low >= 0.4:
        return "separates very well"
    if figure.high is not None and figure.high < 0.2:
        return "hardly separates"
    return ""

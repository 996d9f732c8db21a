"""Every closed form of an author's, read and computed a second time without anything of ours: by sympy and mpmath.

Both routes must agree on what a text is worth at random points of its domain. An equivalent must also be worth what
the reference is, by the second route alone.
"""

from __future__ import annotations

import functools
import random
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from autograder.audit.sympys_reading import NotRead, condition_of, tree_of
from autograder.audit.values_again import DIGITS, Open, Point, compiled, value
from autograder.core import Parameters, Part
from autograder.maths import chain, guard

POINTS = 6
_CLOSE = 1e-20
_TINY = 1e-12  # below it, a sum has lost digits
_LONGEST = 2_000  # characters of a stranger's text
_WORDS = frozenset((
    "exp", "log", "ln", "sqrt", "sin", "cos", "tan", "tanh", "sinh", "cosh", "frac", "dfrac", "tfrac", "cdot",
    "times", "left", "right", "pi", "e", "abs", "floor", "ceil", "min", "max", "sum", "prod", "binom", "factorial",
))  # fmt: skip
_OPEN = object()  # in the place of a value that a route cannot tell


@dataclass(frozen=True, kw_only=True)
class _Reading:
    """One text by both routes: as each has read it, and what it is worth by each at every point."""

    text: str
    read: str
    shown: Any
    ours: Sequence[Any]
    theirs: Sequence[Any]


def read_again(part: Part, p: Parameters, found: Any) -> None:
    """Compare the routes on the reference and on every equivalent of a part whose answers are closed forms."""
    if not part.in_closed_form:
        return
    declared = part.declarations(p)
    about = ("second route", part.name, str(declared))  # variants, and lines of chains, have texts in common
    points = guard.once(about, lambda: list(_points(declared, random.Random(str(about)))))
    if not points:
        found.note("second route", "no point of the domains fulfils the constraints: the reference is not read again")
        return
    keys: list[_Reading] = []
    for who, texts, compared in _subjects(part, p):
        readings = [guard.once((*about, text), functools.partial(_read, text, declared, points)) for text in texts]
        if why := next((each for each in readings if isinstance(each, NotRead)), None):
            found.reread[who] = str(why)
            said = f"{who} is not read a second time ({why})"
            (found.fault if who == "the reference" else found.note)(f"second {who}", said)
            continue
        found.reread.setdefault(who, "")
        for reading in readings:
            _agrees(who, reading, points, found)
        if who == "the reference":
            keys = readings
            _excluded(keys, points, found)
        elif compared and keys:
            _equals(who, readings, keys if len(keys) == len(readings) else keys[-1:] * len(readings), points, found)


def _subjects(part: Any, p: Parameters) -> Iterator[tuple[str, list[str], bool]]:
    """The reference and each equivalent with its closed forms, and whether they are worth what the reference is."""
    operators = part.declarations(p).get("operators", {})

    def texts(answer: Any) -> list[str]:
        return _texts(answer, operators)

    exact = part.tolerance is None and not part.up_to and not getattr(part, "direction", "")
    yield "the reference", texts(part.right(p)), True
    if (model := part.written_by_author(p)) != part.right(p):
        yield "the model", texts(model), exact
    for item in part.right_answers():
        if part.applies(item, p):
            name = str(getattr(item, "__name__", item))
            yield f"equivalent {name!r}", texts(part.given(item, p)), exact and item not in tuple(part.alternatives)


def _texts(answer: Any, operators: Mapping[str, str]) -> list[str]:
    """The closed forms of an answer: entries of a matrix, lines of a derivation, members of a chain."""
    if isinstance(answer, list | tuple):
        return [str(entry) for row in answer for entry in row]
    lines = [line.text for line in chain.lines(str(answer))]
    kept = [line for line in lines if not (len(lines) > 1 and line == lines[0] and chain.is_label(line))]
    return [chain.written_out(line, operators) for line in kept]


def worth_the_same(part: Any, p: Parameters, text: str) -> bool:
    """Whether sympy and mpmath find a stranger's text worth what the reference is, wherever both have a value.

    sympy evaluates what it reads: only words of the question and of mathematics come so far.
    """
    declared = part.declarations(p)
    if not _is_mathematics(text, {*declared["domains"], part.name}) or declared.get("operators"):
        return False
    about = ("second route", part.name, str(declared))
    points = guard.once(about, lambda: list(_points(declared, random.Random(str(about)))))
    keys, texts = _texts(part.right(p), {}), _texts(text, {})
    try:
        trees = [compiled(tree_of(each, declared)) for each in (keys[-1], texts[-1])]
        pairs = [tuple(_theirs(tree, point) for tree in trees) for point in points]
    except Exception:  # sympy says in many ways that it cannot read something
        return False
    told = [pair for pair in pairs if not {_OPEN, None} & set(pair)]
    return len(told) > 1 and all(_same(*pair) for pair in told)


def _is_mathematics(text: str, names: Collection[str]) -> bool:
    """Whether a text has no words but these and those of mathematics, and no sign that reaches into Python."""
    words = set(re.findall(r"[^\W\d_]+(?:_\w+)*", text))
    known = {*names, *_WORDS, *(piece for name in names for piece in name.split("_"))}
    return words <= known and not re.search(r"__|[.][^\W\d]|[\"'`@#:;!?&<>~]|lambda", text) and len(text) < _LONGEST


# -- points ------------------------------------------------------------------------------------------------------------


def _points(declared: Mapping[str, Any], rng: random.Random) -> Iterator[Point]:
    """Random points that fulfil the constraints."""
    rules = [compiled(condition_of(text, declared)) for text in declared.get("constraints", ())]
    count = 0
    for _ in range(400):
        point = {name: _drawn(text, rng) for name, text in declared["domains"].items()}
        if all(value(rule, point) for rule in rules):
            yield point
            count += 1
        if count == POINTS:
            return


def _drawn(domain: str, rng: random.Random) -> Fraction:
    """A number of a domain, small enough for factorials."""
    part = Fraction(rng.randint(5, 60), rng.choice((7, 11, 13, 17)))  # not so small that series hardly converge
    match domain:
        case "positive":
            return part
        case "gt1":
            return 1 + part
        case "unit":
            return Fraction(rng.randint(1, 28), 29)
        case "posint" | "nat":
            return Fraction(rng.randint(domain == "posint", 9))
        case "int":
            return Fraction(rng.randint(-9, 9))
    numbers = [Fraction(number) for number in re.findall(r"-?\d+(?:\.\d+)?(?:/\d+)?", domain)]
    if domain.strip().startswith("["):
        return numbers[0] + (numbers[1] - numbers[0]) * Fraction(rng.randint(1, 28), 29)
    if domain.strip().startswith("{"):
        step = numbers[1] - numbers[0]
        last = numbers[2] if len(numbers) > 2 else numbers[1] if "..." not in domain else numbers[0] + 9 * step
        return numbers[0] + step * rng.randint(0, int((last - numbers[0]) / step))
    return part * rng.choice((1, -1))


# -- both routes -------------------------------------------------------------------------------------------------------


def _read(text: str, declared: Mapping[str, Any], points: Sequence[Point]) -> _Reading | NotRead:
    """A text by both routes; why sympy cannot read it where it cannot."""
    try:
        tree = tree_of(text, declared)
    except NotRead as error:
        return error
    worth = compiled(tree)
    read, ours = _ours(text, declared, points)
    return _Reading(text=text, read=read, shown=tree, ours=ours, theirs=[_theirs(worth, each) for each in points])


def _theirs(worth: Any, point: Point) -> Any:
    try:
        return value(worth, point)
    except Open:
        return _OPEN


def _ours(text: str, declared: Mapping[str, Any], points: Iterable[Point]) -> tuple[str, list[Any]]:
    """What is read by our own reader, and its values by our own arithmetic."""
    from flint import fmpq

    from autograder.maths import expression
    from autograder.maths.expression.arithmetic import Unclear, Undefined
    from autograder.maths.expression.comparing import Comparison
    from autograder.maths.expression.parsing import reading
    from autograder.maths.expression.vocabulary import domain
    from autograder.maths.precision import precision

    words = {key: item for key, item in declared.items() if key not in ("constraints", "operators")}
    node = expression.parse_answer(text, **words)[-1].node
    comparison = Comparison(node, node, {name: domain(kind) for name, kind in reading(**words).domains})
    values: list[Any] = []
    with precision(512):
        machine = comparison.machine
        for point in points:
            machine.start({name: fmpq(number.numerator, number.denominator) for name, number in point.items()})
            try:
                values.append(_number(machine.value(comparison.reference)))
            except Undefined:
                values.append(None)
            except Unclear:
                values.append(_OPEN)
    return expression.to_text(node), values


def _number(found: Any) -> Any:
    """A value of ours in mpmath's numbers."""
    import mpmath
    from flint import fmpq

    from autograder.maths.expression.extended import Infinity

    with mpmath.workdps(DIGITS):
        if isinstance(found, Infinity):
            return found.sign * mpmath.inf
        if isinstance(found, fmpq):
            return mpmath.mpf(int(found.p)) / int(found.q)
        return mpmath.mpf(found.str(DIGITS, radius=False, more=True))


# -- what is compared --------------------------------------------------------------------------------------------------


def _agrees(who: str, reading: _Reading, points: Sequence[Point], found: Any) -> None:
    """Our reading and sympy's are worth the same at all points."""
    for point, ours, theirs in zip(points, reading.ours, reading.theirs, strict=True):
        if _OPEN not in (ours, theirs) and not _same(ours, theirs):
            found.fault(
                f"second {who}",
                f"{who} {reading.text!r} is read here as {reading.read} = {_said(ours)} at {_place(point)}, but sympy "
                f"reads {reading.shown} = {_said(theirs)}",
            )
            return


def _equals(
    who: str, readings: Sequence[_Reading], keys: Sequence[_Reading], points: Sequence[Point], found: Any
) -> None:
    """The equivalent is worth what the reference is, by the second route alone."""
    for reading, key in zip(readings, keys, strict=True):
        for point, one, other in zip(points, reading.theirs, key.theirs, strict=True):
            if not {_OPEN, None} & {one, other} and not _same(one, other):
                said = (
                    f"sympy reads {who} as {reading.shown} = {_said(one)} at {_place(point)}, where the reference is "
                )
                found.fault(f"second {who}", f"{said}{_said(other)}")
                return


def _excluded(keys: Sequence[_Reading], points: Sequence[Point], found: Any) -> None:
    """A note where the reference has no value within its domain, or counts come out negative."""
    if len(keys) != 1 or _OPEN in keys[0].theirs:
        return
    whole = all(point[name].denominator == 1 and point[name] >= 0 for point in points for name in point)
    values = list(zip(points, keys[0].theirs, strict=True))
    advice = "if such numbers cannot occur, say so with constraints=[…] or another domain"
    lacking = [point for point, worth in values if worth is None]
    if lacking:
        found.note("no value", f"the reference has no real value at {_place(lacking[0])}; {advice}")
    negative = [(point, worth) for point, worth in values if worth is not None and worth < 0]
    positive = [worth for _, worth in values if worth is not None and worth > 0]
    if whole and negative and positive and all(worth == int(worth) for _, worth in negative):
        point, worth = negative[0]
        found.note("negative", f"the reference is {_said(worth)} at {_place(point)}; {advice}")


def _same(one: Any, other: Any) -> bool:
    if one is None or other is None:
        return one is other
    return bool(one == other or abs(one - other) <= _CLOSE * max(abs(one) + abs(other), _TINY))


def _said(worth: Any) -> str:
    import mpmath

    return "no value" if worth is None else str(mpmath.nstr(worth, 8))


def _place(point: Point) -> str:
    return ", ".join(f"{name} = {number}" for name, number in point.items()) or "every point"

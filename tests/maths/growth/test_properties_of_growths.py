"""Growth decisions under random bounds and random mutants, against a second route that shares no code with them."""

from __future__ import annotations

import itertools
import random
import statistics
import time
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.maths import growth
from autograder.maths.growth.dominance import Certificate, Domain, slack
from autograder.maths.growth.monomial import atom
from autograder.maths.growth.simplex import maximise
from tests.maths.growth.growth_rays import diverging_ray

VARIABLES = "nmd"
_ATOMS = ["n", "m", "d", "ln(n)", "ln(m)", "ln(ln(d))", "sqrt(n)", "m^1.5", "d^2", "1", "2", "1/n", "m^0.5"]


def _grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    shapes = ["({} + {})", "({})*({})", "max({}, {})", "min({}, {})", "ln({} + {})", "sqrt(({})*({}))", "({})/({})"]
    return st.tuples(st.sampled_from(shapes), inner, inner).map(lambda t: t[0].format(*t[1:]))


BOUNDS = st.recursive(st.sampled_from(_ATOMS), _grown, max_leaves=5)
POSITIVE = BOUNDS.filter(
    lambda text: growth.decide("n", text, variables=VARIABLES).code not in {"not_positive", "undefined", "undecided"}
)


def decide(reference: str, answer: str, constraints: tuple[str, ...] = ()) -> str:
    """The outcome alone."""
    return growth.decide(reference, answer, variables=VARIABLES, constraints=constraints).outcome


@given(POSITIVE)
@settings(max_examples=60, deadline=None, derandomize=True)
def test_reflexive(text: str) -> None:
    """Every bound is of its own growth, also seven times itself plus a constant below it."""
    assert decide(text, text) == "equal"
    assert decide(text, f"7*({text})") == "equal"
    assert decide(text, f"max({text}, ({text})/3)") in {"equal", "undecided"}


@given(POSITIVE, POSITIVE)
@settings(max_examples=60, deadline=None, derandomize=True)
def test_symmetric(left: str, right: str) -> None:
    """Equal and different do not depend on which of the two is the reference."""
    assert {decide(left, right), decide(right, left)} in (
        {"equal"},
        {"different"},
        {"undecided"},
        {"equal", "undecided"},
        {"different", "undecided"},
    )


@given(POSITIVE)
@settings(max_examples=60, deadline=None, derandomize=True)
def test_monotone(text: str) -> None:
    """A factor that grows makes a bound too large, one that vanishes too small."""
    for factor, code in (
        ("n", "too_large"),
        ("ln(d)", "too_large"),
        ("1/m", "too_small"),
        ("1/ln(ln(n))", "too_small"),
    ):
        found = growth.decide(text, f"({text})*{factor}", variables=VARIABLES)
        assert found.code in {code, "undecided"}, (text, factor, found)


@given(POSITIVE, POSITIVE, st.integers(0, 10**6))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_random_pairs_against_rays(left: str, right: str, seed: int) -> None:
    """No pair of random bounds is accepted that random rays part."""
    if decide(left, right) == "equal":
        trees = [growth.parse(text, variables=VARIABLES).tree for text in (left, right)]
        assert diverging_ray(*trees, VARIABLES, random.Random(seed)) is None, (left, right)


REFERENCES = [
    ("ln(n*m) + ln(d)", ()), ("n + ln(m)", ()), ("n^2*d", ()), ("ln(n)/ln(m)", ("m<=n",)), ("n/m", ("m<=n",)),
    ("(n*m)^2*d + n*m*d^2", ()), ("ln(n) + ln(d)", ("m<=d",)), ("n + m", ()), ("n*m", ()), ("n*log2(n)", ()),
    ("m*n*d^2", ()), ("min(n, m)", ()), ("n*m/d + ln(n)", ()), ("m*(ln(n) + ln(d))", ()),
]  # fmt: skip
_SWAPS = [
    "n",
    "m",
    "d",
    "ln(n)",
    "ln(m)",
    "ln(d)",
    "2",
    "1",
    "sqrt(n)",
    "ln(ln(m))",
    "+",
    "*",
    "-",
    "/",
    "^2",
    "max(n, d)",
]


def mutants(text: str, rng: random.Random, count: int) -> list[str]:
    """Texts in which a token or two were exchanged, dropped or doubled, as far as they can be read."""
    tokens = text.replace("(", " ( ").replace(")", " ) ").replace("*", " * ").replace("^", " ^ ").split()
    found = set()
    for _ in range(count):
        changed = list(tokens)
        for _ in range(rng.choice([1, 1, 2])):
            at = rng.randrange(len(changed))
            other = rng.choice(_SWAPS)
            changed[at : at + 1] = rng.choice([[other], [], [changed[at], other], [changed[at]] * 2])
            changed = changed or ["1"]
        mutant = " ".join(changed)
        try:
            growth.parse(mutant, variables=VARIABLES)
        except growth.growth_grammar.Unreadable:
            continue
        found.add(mutant)
    return sorted(found)


@pytest.mark.parametrize(("reference", "constraints"), REFERENCES)
def test_mutants(reference: str, constraints: tuple[str, ...]) -> None:
    """A mutant of a reference is accepted only where many random rays agree; most are refused, few left open."""
    rng = random.Random(reference)
    ordered = tuple(tuple(text.split("<=")) for text in constraints)
    tree = growth.parse(reference, variables=VARIABLES).tree
    outcomes = []
    for mutant in mutants(reference, rng, 120):
        outcomes.append(decide(reference, mutant, constraints))
        if outcomes[-1] == "equal":
            given_tree = growth.parse(mutant, variables=VARIABLES).tree
            assert diverging_ray(given_tree, tree, VARIABLES, rng, rays=60, ordered=ordered) is None, mutant
    assert outcomes.count("different") > len(outcomes) / 3
    assert outcomes.count("undecided") < len(outcomes) / 10


def test_second_route_can_disagree() -> None:
    """The rays part bounds that differ by as little as ln ln n, and hold equal ones together."""
    rng = random.Random(5)
    for left, right, parted in (
        ("n", "n*ln(ln(n))", True),
        ("ln(n)+ln(m)", "ln(n)*ln(m)", True),
        ("n+m", "max(n,m)", False),
    ):
        trees = [growth.parse(text, variables=VARIABLES).tree for text in (left, right)]
        assert (diverging_ray(*trees, VARIABLES, rng, rays=100) is not None) == parted


@pytest.mark.parametrize("text", [
    "*".join(["(n+m)"] * 150), "*".join(["(n+m+d)"] * 90), "+".join(f"1/(n+{i})" for i in range(60)), "2^" * 50 + "n",
    "n^" * 50 + "n", "exp(" * 20 + "n" + ")" * 20, "ln(" * 50 + "n" + ")" * 50, "(n+m+d)^1000000000", "n^(9^9^9)",
    "9^9^9^9",
    "min(" * 8 + "n" + ",m+d)" * 8, "(n+m+d)^4*(ln n+ln m+sqrt(d))",
    "1/" + "/".join(["(n+m+d)"] * 30), "(1-1/n)^99999999999",
])  # fmt: skip
def test_hostile_bounds_end(text: str) -> None:
    """Astronomical exponents and endless products are decided or given up within seconds."""
    start = time.process_time()
    growth.decide("n + m", text, variables=VARIABLES)
    assert time.process_time() - start < 10


def test_time_of_a_decision() -> None:
    """The median decision of mixed pairs takes a few milliseconds."""
    texts = [
        "ln n + ln m",
        "ln(n*m)",
        "n^2 d + n d^2",
        "n d max(n, d)",
        "n + m + sqrt(n m)",
        "n ln n",
        "2^n",
        "ln(n)/ln(m)",
    ]
    times = []
    for left, right in itertools.product(texts, texts):
        start = time.process_time()
        decide(left, right)
        times.append(time.process_time() - start)
    assert statistics.median(times) < 0.05


def test_simplex_against_scipy() -> None:
    """The exact linear programmes have the optimum that floating-point ones have."""
    optimize = pytest.importorskip("scipy.optimize")
    rng = random.Random(11)
    for _ in range(60):
        width, height = rng.randint(2, 6), rng.randint(1, 3)
        rows = [[Fraction(rng.randint(-3, 3)) for _ in range(width)] for _ in range(height)] + [[Fraction(1)] * width]
        right = [Fraction(rng.randint(-2, 2)) for _ in range(height)] + [Fraction(7)]
        objective = [Fraction(rng.randint(-5, 5)) for _ in range(width)]
        exact = maximise(objective, rows, right)
        found = optimize.linprog(
            [-float(c) for c in objective],
            A_eq=[[float(e) for e in row] for row in rows],
            b_eq=[float(e) for e in right],
            method="highs",
        )
        assert (exact is None) == (found.status == 2)
        if exact is not None:
            assert min(exact) >= 0
            assert [sum(a * b for a, b in zip(row, exact, strict=True)) for row in rows] == right
            assert float(sum(a * b for a, b in zip(objective, exact, strict=True))) == pytest.approx(-found.fun)


def test_a_false_certificate_is_caught() -> None:
    """The slack is computed from the certificate alone, so weights that do not sum to 1 are refused."""
    with pytest.raises(AssertionError):
        slack(Certificate(weights=(Fraction(2),), multipliers=()), [{("n", 0): Fraction(1)}], [])


def test_dominance_is_strict_only_where_something_vanishes() -> None:
    """n is strictly below n*m, and only bounded by n + m."""
    n, m = atom("n"), atom("m")
    domain = Domain()
    assert domain.dominated(n, [n * m], strict=True)
    assert domain.dominated(n, [n, m]) and not domain.dominated(n, [n, m], strict=True)
    assert not domain.dominated(n, [m])
    assert Domain([m / n]).dominated(n, [m]) and not Domain([m / n]).dominated(n, [m], strict=True)

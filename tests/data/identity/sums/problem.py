"""A problem of two parts whose numbers differ from variant to variant."""

from autograder import Choice, Number, Problem


def draw(rng):
    return {"a": int(rng.integers(10, 500)), "b": int(rng.integers(10, 500))}


def total(p):
    return p["a"] + p["b"]


def product(p):
    """You multiplied."""
    return p["a"] * p["b"]


def once(p):
    return "Once."


def twice(p):
    """Nothing is carried over."""
    return "Twice."


def never(p):
    """There is one."""
    return "Never."


PROBLEM = Problem(
    title="Sums",
    version=1,
    source="the package's own tests",
    draw=draw,
    setup="",
    parts=[
        Number("total", points=3, reference=total, mistakes=[product]),
        Choice("often", points=1, reference=once, mistakes=[twice, never]),
    ],
)

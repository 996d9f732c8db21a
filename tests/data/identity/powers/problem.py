"""A problem of one part."""

from autograder import Number, Problem


def draw(rng):
    return {"base": int(rng.integers(3, 300))}


def square(p):
    return p["base"] ** 2


def double(p):
    """You doubled it."""
    return p["base"] * 2


PROBLEM = Problem(
    title="Powers",
    version=1,
    source="the package's own tests",
    draw=draw,
    setup="",
    parts=[Number("square", points=2, reference=square, mistakes=[double])],
)

"""The image of a sine: a problem whose answer is of a kind that tests add."""

from autograder import Interval, Number, Problem


def draw(rng):
    return {"a": int(rng.integers(2, 9))}


def image(p):
    return f"[{-p['a']}, {p['a']}]"


def in_thirds(p):
    return f"[{-3 * p['a']}/3, {p['a']}.0]"


def nonnegative(p):
    """A sine is negative for half of the time."""
    return f"[0, {p['a']}]"


def length(p):
    return 2 * p["a"]


PROBLEM = Problem(
    title="The image of a sine",
    version=1,
    source="tests",
    draw=draw,
    variants=7,
    setup="",
    parts=[
        Interval("image", points=3, reference=image, mistakes=[nonnegative], equivalents=[in_thirds]),
        Number("length", points=1, reference=length),
    ],
)

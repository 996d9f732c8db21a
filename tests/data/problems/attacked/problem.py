"""Two parts, to be answered rightly and wrongly in notebooks that do other things besides."""

import numpy as np

from autograder import Function, Problem, close


def vector(rng, p):
    """Longer than what fits into a socket at once."""
    return {"x": rng.standard_normal(40_009)}


def doubled(x):
    """Twice x."""
    return 2 * x


def tripled(x):
    """Three times x."""
    return 3 * x


def squared(x):
    """You squared x."""
    return x * x


def zeros(x):
    """Nothing is zero here."""
    return np.zeros_like(x)


PROBLEM = Problem(
    title="Attacked",
    version=1,
    source="tests",
    setup="import numpy as np",
    parts=[
        Function("right", points=2, inputs=vector, trials=1, reference=doubled, checks=[close()], mistakes=[squared]),
        Function("wrong", points=3, inputs=vector, trials=1, reference=tripled, checks=[close()], mistakes=[zeros]),
    ],
)

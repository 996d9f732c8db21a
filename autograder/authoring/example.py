"""The working problem that `autograder new` and `autograder init` write, with its answers.

The package that students get is without this module (`wheel.py`).
"""

PROBLEM = '''"""{title}: say in one line what this problem is about."""

from autograder import Function, Problem, close, gradient, sizes, tensors


def draw(rng):
    """The numbers that a variant shows and is graded by."""
    return {{"power": [0.5, 0.25][rng.integers(2)]}}


def inputs(rng, p):
    """Hidden arguments: distinct prime sizes, so that no transposition fits by accident."""
    return tensors(rng, sizes(rng, "T U"), query="T U", key="T U")


def one_row(rng, p):
    """An edge case: one query and one key of width two."""
    return tensors(rng, {{"T": 1, "U": 2}}, query="T U", key="T U")


def scores(query, key, *, p):
    """The scores of each query (row) with each key (column): query[T,U], key[T,U] -> scores[T,T]."""
    return query @ key.T / query.shape[1] ** p["power"]


def unscaled(query, key):
    """The scores grow with the width: look again at the power in the statement."""
    return query @ key.T


def transposed(query, key, *, p):
    """Rows are queries and columns are keys; yours are the other way round."""
    return key @ query.T / query.shape[1] ** p["power"]


def by_sum(query, key, *, p):
    return (query[:, None] * key[None]).sum(-1) * query.shape[1] ** -p["power"]


PROBLEM = Problem(
    title="{title}",
    version=1,
    source="where the question comes from",
    draw=draw,
    variants=2,
    parts=[
        Function(
            "scores",
            points=4,
            reference=scores,
            inputs=[inputs, one_row],
            checks=[close(weight=3), gradient()],
            mistakes=[unscaled, transposed],
            equivalents=[by_sum],
        ),
    ],
)
'''

STATEMENT = """This text opens the notebook. Say what it is about, and what every letter means.

## The scores {#scores}

Write `scores(query, key)` for `query` and `key` of shape `[T, U]`. Entry $(t_1, t_2)$ of the result, of shape `[T, T]`,
says how well query $t_1$ fits key $t_2$: their inner product, divided by $U$ to the power {{power}}.
"""

DESIGN = """# {title}: why it is as it is

- Which question this is, and what was changed.
- What each part judges, and by which check.
- What a colleague would ask.
"""

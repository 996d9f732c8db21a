"""The matrix that moves sinusoidal encodings of positions ("Attention is all you need", section 3.5)."""

import torch

from autograder import Choice, Derivation, Expression, Function, Matrix, Problem, close, difference, holds

from . import consequences
from .equivalents import EQUIVALENTS
from .mistakes import MISTAKES
from .notation import ANGLES, INNER, NAMES, ROW, smallest, widths
from .waves import component, first_line, omega, product_chain, rotation, row, sign


def draw(rng):
    """Base and end of the frequencies, order and layout of the components, direction of the move, and a consequence."""
    return {
        "base": int(rng.choice([100, 500, 1000, 10000])),
        "last": bool(rng.integers(2)),
        "first": ["sin", "cos"][int(rng.integers(2))],
        "layout": ["interleaved", "halves"][int(rng.integers(2))],
        "direction": ["forward", "back"][int(rng.integers(2))],
        "topic": list(consequences.TOPICS)[int(rng.integers(len(consequences.TOPICS)))],
    }


def phrases(p):
    """The sentences and formulas of this variant."""
    one, two = component(p, 0), component(p, 1)
    places = ("2j", "2j+1") if p["layout"] == "interleaved" else ("j", "d/2+j")
    return {
        "one": rf"\{one}(t\,\omega_j)",
        "two": rf"\{two}(t\,\omega_j)",
        "place_one": places[0],
        "place_two": places[1],
        "layout_words": (
            "the two components of a pair stand **next to each other**"
            if p["layout"] == "interleaved"
            else f"all the **{'sines' if one == 'sin' else 'cosines'} come first**, then all the "
            f"{'sines' if two == 'sin' else 'cosines'}"
        ),
        "end_words": (
            rf"and the last one, for $j = d/2 - 1$, is $\omega_{{d/2-1}} = 1/{p['base']}$"
            if p["last"]
            else rf"and the progression **would** reach $1/{p['base']}$ at $j = d/2$, one step after the last pair"
        ),
        "smallest": f"$d$ is even and at least {smallest(p)}",
        "moved_vector": rf"\mathrm{{PE}}_{{t{sign(p)}k}}",
        "row_one": rf"\{one}((t{sign(p)}k)\,\omega_j)",
        "row_two": rf"\{two}((t{sign(p)}k)\,\omega_j)",
        "typed_one": first_line(p, 0),
        "typed_two": first_line(p, 1),
        "topic_question": consequences.TOPICS[p["topic"]],
        "move_words": "forward by $k$" if p["direction"] == "forward" else "**back** by $k$",
    }


# In code.


def some_positions(rng, p):
    """Positions out of order, negative, fractional and large ones among them."""
    positions = torch.from_numpy(rng.permutation([0.0, 1.0, 2.0, 7.0, 31.0, 100.0, 1000.0, -3.0, 2.5])[:7].copy())
    return {"positions": positions, "d": int(rng.choice([6, 8, 10]))}


def one_position(rng, p):
    """One position, as few pairs as there can be."""
    return {"positions": torch.tensor([3.0], dtype=torch.float64), "d": smallest(p)}


def steps(rng, p):
    """A step forward, and a width."""
    return {"k": int(rng.choice([5, 12, 31])), "d": int(rng.choice([6, 8, 10]))}


def negative_step(rng, p):
    """A step the other way."""
    return {"k": -int(rng.choice([3, 7, 11])), "d": int(rng.choice([6, 10]))}


def no_step(rng, p):
    """No step: nothing moves."""
    return {"k": 0, "d": 6}


def one_step(rng, p):
    """As few pairs as there can be."""
    return {"k": 1, "d": smallest(p)}


def wide(rng, p):
    """So wide that the matrix cannot be found from encodings by least squares."""
    return {"k": 3, "d": 64}


def encoding(positions, d, *, p):
    """Encodings of positions: positions[T] (float64), d -> PE[T,d]."""
    j = torch.arange(d // 2, dtype=torch.float64)
    omega = p["base"] ** (-j / (d / 2 - 1) if p["last"] else -2 * j / d)
    angle = positions[:, None] * omega  # [T, d/2]
    waves = [angle.sin(), angle.cos()] if p["first"] == "sin" else [angle.cos(), angle.sin()]
    if p["layout"] == "halves":
        return torch.cat(waves, dim=1)
    return torch.stack(waves, dim=2).flatten(1)


def shift(k, d, *, p):
    """The matrix A[d,d] (float64) that moves every encoding by k positions."""
    j = torch.arange(d // 2, dtype=torch.float64)
    angle = k * p["base"] ** (-j / (d / 2 - 1) if p["last"] else -2 * j / d)
    if (p["first"] == "cos") != (p["direction"] == "back"):
        angle = -angle
    one = j.long() if p["layout"] == "halves" else 2 * j.long()  # where the first component of each pair stands
    two = one + (d // 2 if p["layout"] == "halves" else 1)
    A = torch.zeros(d, d, dtype=torch.float64)
    A[one, one], A[one, two] = angle.cos(), angle.sin()
    A[two, one], A[two, two] = -angle.sin(), angle.cos()
    return A


# Frequencies that were computed in float32 are wrong in the eighth digit: this costs the last check, not the part.
ROUGHLY = 1e-4


def malformed(A, d):
    """What is wrong with the form of a matrix, as a sentence; None for float64 of shape [d, d]."""
    found = difference(A * 0 if hasattr(A, "shape") else A, torch.zeros(d, d, dtype=torch.float64), rtol=0.0)
    return found.message if found else None


def moved_by(A, k, d, p):
    """Whether A moves the encodings of some positions by k."""
    before = torch.tensor([0, 1, 2, 3, 17, 400, -5, 0.5, 2000], dtype=torch.float64)
    after = before + k if p["direction"] == "forward" else before - k
    return difference(encoding(before, d, p=p) @ A.T, encoding(after, d, p=p), rtol=ROUGHLY) is None


def moves_every_encoding(f, inputs, p):
    """A times the encoding of a position must be that of the position moved by k, for every position."""
    k, d = inputs["k"], inputs["d"]
    A = f(k, d)
    if fault := malformed(A, d):
        return fault
    if moved_by(A, k, d, p):
        return True
    if d > 8 and malformed(small := f(k, 8), 8) is None and moved_by(small, k, 8, p):
        return (
            f"Your matrix is right for d = 8 and wrong for d = {d}. If you fitted it to encodings: with many pairs "
            "these are nearly dependent, and the fit is no rotation."
        )
    return False


def two_moves_are_one(f, inputs, p):
    """A move by k after a move by l must be the move by k + l: the product of their matrices."""
    k, d = inputs["k"], inputs["d"]
    A, other, both = (f(step, d) for step in (k, 4, k + 4))
    if fault := malformed(A, d) or malformed(other, d) or malformed(both, d):
        return fault
    return difference(A @ other, both, rtol=ROUGHLY) is None


def turning_back_is_transposing(f, inputs, p):
    """The move by -k undoes the move by k, and its matrix is the transposed one."""
    k, d = inputs["k"], inputs["d"]
    A, back = f(k, d), f(-k, d)
    if fault := malformed(A, d) or malformed(back, d):
        return fault
    undone = difference(A @ back, torch.eye(d, dtype=torch.float64), rtol=ROUGHLY) is None
    return undone and difference(back, A.T, rtol=ROUGHLY) is None


# The choices.


def transposed_on_the_right(p):
    return "$P\\,A^{\\top}$"


def independent_waves(p):
    return (
        "The equation holds for every position $t$, and $\\sin(t\\omega_j)$ and $\\cos(t\\omega_j)$ are independent as "
        "functions of $t$: two positions suffice to fix the two coefficients."
    )


def none_in_general(p):
    return (
        "In general there is none: nothing ties the vector of one position to that of another, and a matrix that fits "
        "$d$ of them need not fit the next."
    )


ENCODING_INPUTS = [some_positions, one_position]
SHIFT_INPUTS = [steps, negative_step, no_step, one_step, wide]
ENCODING_CHECKS = [close(rtol=1e-3, weight=2), close(name="ten digits")]
SHIFT_CHECKS = [
    holds(moves_every_encoding, weight=2),
    holds(two_moves_are_one),
    holds(turning_back_is_transposing),
    close(name="ten digits"),
]

PROBLEM = Problem(
    title="Positions that turn",
    version=3,
    source="question sheet on 'Attention is all you need', question 4",
    draw=draw,
    phrases=phrases,
    variants=150,
    full_model="attending.RotatedAttention",
    task="behind_turned",
    setup="import math\nimport numpy as np\nimport torch",
    mistakes=MISTAKES,
    equivalents=EQUIVALENTS,
    parts=[
        Expression("frequency", points=2, domains=widths, reference=omega),
        Matrix("block", points=4, domains=ANGLES, definitions=NAMES, reference=rotation),
        Derivation("first_row", points=2, **ROW, **row(0)),
        Derivation("second_row", points=2, **ROW, **row(1)),
        Derivation("inner", points=3, **INNER, reference="cos(k*omega_j)", model=product_chain),
        Function("encoding", points=3, inputs=ENCODING_INPUTS, trials=4, reference=encoding, checks=ENCODING_CHECKS),
        Function("shift", points=5, inputs=SHIFT_INPUTS, trials=3, reference=shift, checks=SHIFT_CHECKS),
        Choice("rows", points=1, reference=transposed_on_the_right),
        Choice("coefficients", points=1, reference=independent_waves),
        Choice("learned", points=2, reference=none_in_general),
        Choice("consequence", points=2, reference=consequences.right),
    ],
)

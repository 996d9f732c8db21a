"""How many parameters a Transformer ("Attention is all you need", section 3) and the recurrent cells have."""

from autograder import Choice, Expression, Function, Number, Problem, Vector, exactly, sizes

from . import hours
from .equivalents import EQUIVALENTS
from .formulas import CELL, SIZES, lstm_formula, model_formula, two_gate_formula
from .mistakes import MISTAKES


def draw(rng):
    """A configuration, and the conventions by which counts differ."""
    d = int(rng.choice([256, 512, 768, 1024]))
    return {
        "N": int(rng.choice([3, 4, 6, 8])),
        "h": 8,
        "d": d,
        "d_ff": d * int(rng.choice([2, 4])),
        "V": int(rng.choice([30_000, 32_000, 37_000, 40_000, 50_000])),
        "P": int(rng.choice([512, 2048])),
        "matrices": int(rng.choice([1, 2, 3])),
        "attention_bias": bool(rng.integers(2)),
        "final_norm": bool(rng.integers(2)),
        "gate_biases": ["one", "two"][int(rng.integers(2))],
        **hours.drawn_machines(rng),
    }


def phrases(p):
    """The conventions in words."""
    return {
        "vocabulary": {
            1: "**one** matrix of $V$ rows and $d$ columns, shared by the encoder's input, the decoder's input and the "
            "output layer",
            2: "**two** matrices of $V$ rows and $d$ columns: one shared by the encoder's and the decoder's input, and "
            "one of the output layer",
            3: "**three** matrices of $V$ rows and $d$ columns: the encoder's input, the decoder's input and the "
            "output layer have one each",
        }[p["matrices"]],
        "attention_biases": (
            "**each of these four maps has a bias** of $d$ entries"
            if p["attention_bias"]
            else "these four maps have **no biases**"
        ),
        "final_norms": (
            "and there is **one more at the end of the encoder and one more at the end of the decoder**"
            if p["final_norm"]
            else "and there are **no others**"
        ),
        "biases": (
            r"a pre-activation has **one bias** of $J$ entries"
            if p["gate_biases"] == "one"
            else r"a pre-activation has **two biases** of $J$ entries, one with each matrix, as in torch's modules"
        ),
        "two_gate_biases": (
            "its candidate has a bias in each of its two branches, its gates have one bias each"
            if p["gate_biases"] == "one"
            else "its candidate has a bias in each of its two branches (these are the two), its gates "
            "have two biases each"
        ),
        **hours.in_words(p),
    }


def configurations(rng, p):
    """Sizes of which no two are equal."""
    n = sizes(rng, "N h r d_ff V P", largest=19)
    return {"N": n["N"], "h": n["h"], "d": n["h"] * n["r"], "d_ff": n["d_ff"], "V": n["V"] * 10, "P": n["P"]}


def one_layer_one_head(rng, p):
    """The smallest stack."""
    return {"N": 1, "h": 1, "d": 5, "d_ff": 7, "V": 11, "P": 3}


def cells(rng, p):
    """Sizes of a state and an input."""
    return sizes(rng, "J K", largest=19)


def smallest_cell(rng, p):
    """One entry of each."""
    return {"J": 1, "K": 1}


def count(N, h, d, d_ff, V, P, *, p):
    """Parameters of a Transformer: a dict with embedding, attention, feed_forward, layer_norm and total."""
    attention = 4 * d * d + (4 * d if p["attention_bias"] else 0)  # W_Q, W_K, W_V, W_O
    feed_forward = d * d_ff + d_ff + d_ff * d + d
    norms = 2 * N + 3 * N + (2 if p["final_norm"] else 0)  # encoder, decoder, ends
    result = {
        "embedding": p["matrices"] * V * d,
        "attention": (N + 2 * N) * attention,  # the decoder attends twice
        "feed_forward": 2 * N * feed_forward,
        "layer_norm": norms * 2 * d,
    }
    return {**result, "total": sum(result.values())}


def recurrent(J, K, *, p):
    """Parameters of five cells with J states and K inputs: a dict with vanilla, ugrnn, two_gate, gru, lstm."""
    biases = 1 if p["gate_biases"] == "one" else 2
    n = J * J + J * K + biases * J  # one pre-activation
    return {"vanilla": n, "ugrnn": 2 * n, "two_gate": 3 * n + (2 - biases) * J, "gru": 3 * n, "lstm": 4 * n}


def drawn(p):
    """The configuration that the statement shows."""
    return {name: p[name] for name in ("N", "h", "d", "d_ff", "V", "P")}


def total(p):
    return count(**drawn(p), p=p)["total"]


def attention_total(p):
    return count(**drawn(p), p=p)["attention"]


def sublayers(p):
    """An attention sub-layer, a feed-forward sub-layer and a layer norm."""
    counts = count(**drawn(p), p=p)
    return [counts["attention"] // (3 * p["N"]), counts["feed_forward"] // (2 * p["N"]), 2 * p["d"]]


def projections_missing(p):
    return (
        "Of each attention sub-layer three of four matrices are missing, which a superfluous second embedding "
        "nearly makes up for."
    )


COUNT_INPUTS = [configurations, one_layer_one_head]
CELL_INPUTS = [cells, smallest_cell]

PROBLEM = Problem(
    title="Counting parameters",
    version=4,
    source="question sheet on 'Attention is all you need', question 6",
    draw=draw,
    phrases=phrases,
    setup="import torch\nfrom torch import nn",
    variants=200,
    full_model="transformer.Transformer",
    task="reverse_transformer",
    mistakes=MISTAKES,
    equivalents=EQUIVALENTS,
    parts=[
        Function("count", points=6, inputs=COUNT_INPUTS, trials=10, reference=count, checks=[exactly()]),
        Expression("total_formula", points=3, **SIZES, reference=model_formula),
        Number("total", points=1, reference=total),
        Number("attention_total", points=1, reference=attention_total),
        Choice("printed_count", points=2, reference=projections_missing),
        Function("recurrent", points=4, inputs=CELL_INPUTS, trials=6, reference=recurrent, checks=[exactly()]),
        Expression("two_gate_formula", points=2, **CELL, reference=two_gate_formula),
        Expression("lstm_formula", points=1, **CELL, reference=lstm_formula),
        Vector("sublayers", points=1, names="attention, feed-forward, layer norm", reference=sublayers),
        Number("days", points=1, reference=hours.days, rtol=1e-6),
        Expression("time_formula", points=2, **hours.TIME, reference=hours.seconds),
        Choice("same_steps", points=1, reference=hours.gradients_added),
        Choice("sessions", points=1, reference=hours.feasible),
    ],
)

"""The feed-forward layer, the residual pathway with its norms, and a whole Transformer block (slides; section 3.1)."""

import torch

from autograder import (
    Choice,
    Counterexample,
    Equation,
    Expression,
    Function,
    Problem,
    Tests,
    close,
    difference,
    gradient,
    holds,
    sizes,
    tensors,
)

from .checking import FEED_FORWARD_TESTS, WEIGHTS
from .equivalents import EQUIVALENTS
from .mistakes import MISTAKES
from .notation import BACKWARD, COUNTS, FEED_FORWARD, SUBLAYER, WIDTHS
from .references import counted, feed_forward_lines, sublayer_lines

COMPARED = {"all": "2*J + F", "inner and output": "F + J/2", "projections": "2*J"}


def draw(rng):
    """The activation, which norm stands where, who may look at whom, and what is counted."""
    return {
        "activation": ["relu", "silu", "squared relu"][rng.integers(3)],
        "norm": ["layer", "rms"][rng.integers(2)],
        "place": ["before", "after"][rng.integers(2)],
        "causal": bool(rng.integers(2)),
        "stack": ["encoder", "decoder"][rng.integers(2)],
        "compared": list(COMPARED)[rng.integers(3)],
    }


def phrases(p):
    """The conventions in words."""
    return {
        "activation_words": {
            "relu": "the rectifier, typed `relu`",
            "silu": "**SiLU**: it multiplies a number by the logistic function (typed `sigma`) of that number",
            "squared relu": "the **square** of the rectifier (typed `relu`)",
        }[p["activation"]],
        "norm_words": (
            "a **layer norm**: from each entry of a position's vector, the mean of the $J$ entries is subtracted; the "
            "result is divided by the root of ($\\varepsilon$ plus the variance of the entries), and entry $j$ is "
            "multiplied by the gain $g[j]$. The variance is the mean of the squared deviations"
            if p["norm"] == "layer"
            else "an **RMS norm**: each entry of a position's vector is divided by the root of ($\\varepsilon$ plus "
            "the mean of the squares of the $J$ entries), and entry $j$ is multiplied by the gain $g[j]$; no mean is "
            "subtracted"
        ),
        "place_words": (
            "The norm stands **before** the layer, and within the branch: the layer reads what the norm makes of the "
            "stream, and the stream itself is carried past both"
            if p["place"] == "before"
            else "The norm stands **after** the addition: what the layer reads is the stream itself, and the norm is "
            "applied to the sum"
        ),
        "mask_words": (
            "A position may look at itself and at **earlier** positions only; the weights of later ones are exactly 0, "
            "even if scores are as low as minus a million"
            if p["causal"]
            else "Every position may look at **all** positions"
        ),
        "stack_words": (
            "an **encoder's** block has one attention layer and one feed-forward layer"
            if p["stack"] == "encoder"
            else "a **decoder's** block has self-attention, attention to the encoder's result, and a feed-forward layer"
        ),
        "compared_words": {
            "all": "all other matrix products of the block together",
            "inner and output": "the two products of the feed-forward layer and the one with $W^O$ together",
            "projections": "the four products with $W^Q$, $W^K$, $W^V$ and $W^O$ together",
        }[p["compared"]],
    }


# Hidden inputs


def scaled(drawn):
    """Matrices divided by the root of how many numbers they sum."""
    return {name: value / value.shape[-1] ** 0.5 if name[0] == "W" else value for name, value in drawn.items()}


def positions(rng, p, **fixed):
    """A batch of sequences, and a feed-forward layer."""
    n = {**sizes(rng, "B T J F", largest=11), **fixed}
    return scaled(tensors(rng, n, L="B T J", W_FF1="F J", B_FF1="F", W_FF2="J F", B_FF2="J"))


def one_position(rng, p):
    """One sequence of one position."""
    return positions(rng, p, B=1, T=1)


def whole_block(rng, p, **fixed):
    """A stream, and the parameters of a block; gains lie on both sides of one."""
    n = {**sizes(rng, "T F U I", largest=11), "B": 2, "K": 3, "J": 4, **fixed}
    attention = {"W_Q": "K U J", "W_K": "K U J", "W_V": "K I J", "W_O": "J K*I"}
    inner = {"W_FF1": "F J", "B_FF1": "F", "W_FF2": "J F", "B_FF2": "J"}
    drawn = scaled(tensors(rng, n, L="B T J", **attention, gain_1="J", **inner, gain_2="J"))
    return {name: 1 + value / 3 if name[:4] == "gain" else value for name, value in drawn.items()}


def block_of_one_head(rng, p):
    """One head, one sequence of two positions."""
    return whole_block(rng, p, B=1, K=1, T=2)


# References


def feed_forward(L, W_FF1, B_FF1, W_FF2, B_FF2, *, p):
    """The feed-forward layer at each position: L[B,T,J] -> [B,T,J]."""
    a = L @ W_FF1.T - B_FF1  # [B, T, F]
    if p["activation"] == "silu":
        h = a * torch.sigmoid(a)
    else:
        h = torch.relu(a) if p["activation"] == "relu" else torch.relu(a) ** 2
    return h @ W_FF2.T - B_FF2


def norm(x, gain, *, p):
    """Normalise the vector of each position."""
    if p["norm"] == "layer":
        x = x - x.mean(-1, keepdim=True)
    return gain * x / torch.sqrt((x**2).mean(-1, keepdim=True) + 1e-5)


def attention(L, W_Q, W_K, W_V, W_O, *, p):
    """Self-attention with K heads: L[B,T,J] -> [B,T,J]."""
    query, key, value = (torch.einsum("kuj,btj->bktu", W, L) for W in (W_Q, W_K, W_V))
    scores = query @ key.transpose(2, 3) / W_Q.shape[1] ** 0.5  # [B, K, T, T]
    if p["causal"]:
        later = torch.ones_like(scores[0, 0], dtype=torch.bool).triu(1)
        scores = scores.masked_fill(later, -torch.inf)
    heads = torch.softmax(scores, dim=3) @ value
    return heads.transpose(1, 2).flatten(2) @ W_O.T


def block(L, W_Q, W_K, W_V, W_O, gain_1, W_FF1, B_FF1, W_FF2, B_FF2, gain_2, *, p):
    """A whole block: the stream L[B,T,J] -> the stream behind it, [B,T,J]."""
    inner = (W_FF1, B_FF1, W_FF2, B_FF2)
    if p["place"] == "before":
        L = L + attention(norm(L, gain_1, p=p), W_Q, W_K, W_V, W_O, p=p)
        return L + feed_forward(norm(L, gain_2, p=p), *inner, p=p)
    L = norm(L + attention(L, W_Q, W_K, W_V, W_O, p=p), gain_1, p=p)
    return norm(L + feed_forward(L, *inner, p=p), gain_2, p=p)


def closed_branches_leave_the_stream(f, inputs, p):
    """With $W^O$, $W^{FF2}$ and $B^{FF2}$ zero, the stream passes the block through its norms alone, if at all."""
    closed = {name: 0 * inputs[name] for name in ("W_O", "W_FF2", "B_FF2")}
    wanted = inputs["L"]
    if p["place"] == "after":
        wanted = norm(norm(wanted, inputs["gain_1"], p=p), inputs["gain_2"], p=p)
    return difference(f(*{**inputs, **closed}.values()), wanted, rtol=1e-10) is None


def later_positions_have_no_effect(f, inputs, p):
    """What stands later must not count at all, also where scores are as low as minus a million."""
    if not p["causal"]:
        return True
    first = torch.linspace(-1, 1, inputs["L"].shape[2], dtype=torch.float64).expand_as(inputs["L"])
    later = first**3  # another direction, near the first one
    before = p["place"] == "before"
    x, y = (norm(L, inputs["gain_1"], p=p)[0, 0] if before else L[0, 0] for L in (first, later))
    low = -1e6 / (inputs["W_Q"].shape[1] ** 0.5 * x.square().sum() ** 2)
    large = 1e6 * (y - (x @ y) / (x @ x) * x)  # the values are large, and zero at the first position
    matrices = {"W_Q": x, "W_K": low * x, "W_V": large}
    given = {**inputs, **{name: row.expand_as(inputs[name]) for name, row in matrices.items()}}
    streams = first, torch.cat([first[:, :1], later[:, 1:]], dim=1)
    one, two = (f(*{**given, "L": L}.values())[:, 0] for L in streams)
    return not bool(((one - two).abs() > 1e-9 * (1 + two.abs())).any())


def backward(p):
    return "D[t,i] = G[t,i] + G[t,J] W^FF2[J,F] s[t,F] W^FF1[F,i]"


def break_even(p):
    return COMPARED[p["compared"]]


def closed_block(p):
    if p["place"] == "before":
        return "It is its input, unchanged."
    return "It is its input with the norms applied to it, so it depends on the input and on the gains."


def own_position(p):
    return "On the vector at position $t$ of the input alone."


POSITIONS = [positions, one_position]
BLOCKS = {"inputs": [whole_block, block_of_one_head], "trials": 3}
BLOCK_CHECKS = [
    close(weight=3),
    gradient(weight=2),
    holds(closed_branches_leave_the_stream),
    holds(later_positions_have_no_effect, weight=0.5),
]

PROBLEM = Problem(
    title="A Transformer block",
    version=3,
    source="slides on the Transformer: feed-forward layers and the residual pathway",
    draw=draw,
    phrases=phrases,
    setup="import torch",
    variants=60,
    full_model="transformer.Layer",
    task="markov_transformer",
    mistakes=MISTAKES,
    equivalents=EQUIVALENTS,
    parts=[
        Equation("feed_forward_equations", points=3, **FEED_FORWARD, reference=feed_forward_lines),
        Function(
            "feed_forward", points=2, inputs=POSITIONS, reference=feed_forward, checks=[close(weight=2), gradient()]
        ),
        Tests("tests_of_feed_forward", points=3, code=feed_forward, **FEED_FORWARD_TESTS),
        Equation("backward", points=3, **BACKWARD, reference=backward),
        Choice("reach", points=1, reference=own_position),
        Equation("sublayer_equations", points=5, **SUBLAYER, reference=sublayer_lines),
        Function("block", points=6, **BLOCKS, reference=block, checks=BLOCK_CHECKS),
        Counterexample("weights_missed", points=2, **WEIGHTS),
        Choice("closed", points=1, reference=closed_block),
        Expression("block_count", points=2, domains=COUNTS, reference=counted),
        Expression("break_even", points=2, domains=WIDTHS, reference=break_even),
    ],
)

"""A layer of self-attention in code, and how long it takes."""

import torch

from autograder import (
    Choice,
    Expression,
    Function,
    Growth,
    Number,
    Problem,
    Written,
    close,
    gradient,
    holds,
    sizes,
    tensors,
)

from .bounds import (
    EQUAL_LETTERS,
    LAYER_LETTERS,
    ROW_LETTERS,
    STEPS,
    practised,
    row,
    row_variables,
    stages,
    variables,
    worked,
)
from .equivalents import EQUIVALENTS
from .mistakes import MISTAKES

LAYERS = ["plain", "output", "stack", "feed_forward", "linear", "decoding"]


def draw(rng):
    """Scale and mask of the code; whose softmax, which layer and which serial sums the bounds are about; sizes."""
    return {
        "scaled": bool(rng.integers(2)),
        "mask": ["none", "causal", "window"][int(rng.integers(3))],
        "reach": int(rng.choice([2, 3])),
        "row": ["all", "causal", "window"][int(rng.integers(3))],
        "row_serial": ["scores", "everything"][int(rng.integers(2))],
        "layer": LAYERS[int(rng.integers(len(LAYERS)))],
        "serial": ["features", "everything"][int(rng.integers(2))],
        "stable": bool(rng.integers(2)),
        "N": int(rng.choice([300, 700, 1500, 3000])),
        "U": int(rng.choice([24, 48, 80, 96])),
    }


ROW = {
    "all": "position $t_1$ looks at **all $T$ positions**",
    "causal": "attention is **causal**, and $t_1$ is the $n$-th position: it looks at the **first $n$ positions**, "
    "itself included",
    "window": "position $t_1$ looks at the **last $r$ positions**, itself included",
}
LAYER = {
    "plain": "the layer as it stands above",
    "output": "the layer above, followed by an **output matrix**: $h'[t,j] = W^O[j,J]\\,h_{out}[t,J]$",
    "stack": "a stack of **$L$ such layers**, each of which works on the result of the one before it",
    "feed_forward": "the layer above, followed at each position by a **feed-forward network** with one hidden layer of "
    "width $F$: $h'[t,j] = W^{2}[j,F]\\,\\mathrm{ReLU}(W^{1}[F,J]\\,h_{out}[t,J])$",
    "linear": "the layer above with **linear attention**: in the place of the softmax, all entries of queries and keys "
    "are made positive by a fixed function, and then $S[k,u,i] = \\sum_{t'} \\mathrm{Key}[k,t',u]\\,"
    "\\mathrm{Value}[k,t',i]$ and $Z[k,u] = \\sum_{t'} \\mathrm{Key}[k,t',u]$ give "
    "$\\mathrm{Out}[k,t,i] = \\mathrm{Query}[k,t,U]\\,S[k,U,i]\\,/\\,(\\mathrm{Query}[k,t,U]\\,Z[k,U])$",
    "decoding": "the layer above with a causal mask, when a text of $T$ words is **written word by word**: the vector "
    "of a position is known only when the result at the position before it is, and keys and values of earlier "
    "positions are kept",
}


def phrases(p):
    """The sentences of this variant."""
    return {
        "scale_code": r"are **divided by $\sqrt{U}$**" if p["scaled"] else "are **not scaled**",
        "mask_code": {
            "none": "**Every position looks at every position.**",
            "causal": "Attention is **causal**: position $t_1$ looks at positions $t_2 \\le t_1$ only.",
            "window": f"Position $t_1$ looks at positions $t_2$ with **$|t_1 - t_2| \\le {p['reach']}$** only.",
        }[p["mask"]],
        "row_words": ROW[p["row"]],
        "row_variables": ", ".join(f"${name}$" for name in row_variables(p).split()),
        "row_constraints": {"all": "", "causal": ", $n \\le T$", "window": ", $r \\le T$"}[p["row"]],
        "row_serial_words": (
            "the sum over $U$ in each score adds one term after the other, while the sum in $Z$ is still done in a tree"
            if p["row_serial"] == "scores"
            else "**each** of these sums adds one term after the other; different scores are still computed at the "
            "same time"
        ),
        "layer_words": LAYER[p["layer"]],
        "variables": ", ".join(f"${name}$" for name in [*variables(p).split(), "I"]),
        "serial_words": (
            "every sum over **entries of a vector** adds one term after the other, while sums over positions are still "
            "done in a tree"
            if p["serial"] == "features"
            else "**every** sum, over entries of a vector as over positions, adds one term after the other; different "
            "sums are still done at the same time"
        ),
        "order": (
            "products, sums, then the largest of the scores (in a tree: the larger of two numbers is one operation), "
            "its subtraction from each score, exponentials, $Z$, quotients"
            if p["stable"]
            else "products, sums, exponentials, $Z$, quotients"
        ),
        "sizes": f"${p['N']}$ positions to look at and $U = {p['U']}$",
    }


# The layer in code.


def drawn(rng, p, **fixed):
    """A sequence and the matrices of a layer; no weight is nearly 0 or 1."""
    n = {"T": 7, "K": 3, "U": 5, "I": 2, **fixed}
    result = tensors(rng, n, h="T K*I", W_Q="K U K*I", W_K="K U K*I", W_V="K I K*I")
    width = (n["K"] * n["I"]) ** 0.5
    return {name: tensor if name == "h" else tensor / width for name, tensor in result.items()}


def wide_values(rng, p):
    """Values wider than queries, two heads, another length."""
    n = sizes(rng, "T I", largest=5)
    return drawn(rng, p, K=2, U=1, T=n["T"] + 4, I=n["I"])


def one_of_each(rng, p):
    """One position, one head, one entry of each: no axis may be squeezed away."""
    return drawn(rng, p, T=1, K=1, U=1, I=1)


def far_apart(rng, p):
    """Scores that lie far apart, some above 50 and some below -50, and none so far that its exponential overflows."""
    result = drawn(rng, p)
    return {**result, "W_Q": result["W_Q"] * (15 * result["W_Q"].shape[1] ** 0.5 if p["scaled"] else 15)}


def layer(h, W_Q, W_K, W_V, *, p):
    """Self-attention: h[T,J] -> the weights alpha[K,T,T] and h_out[T,J]."""
    query = torch.einsum("kuj,tj->ktu", W_Q, h)
    key = torch.einsum("kuj,tj->ktu", W_K, h)
    value = torch.einsum("kij,tj->kti", W_V, h)
    scores = query @ key.mT  # [K, T, T], the position that looks before the one that is looked at
    if p["scaled"]:
        scores = scores / query.shape[-1] ** 0.5
    t = torch.arange(len(h))
    if p["mask"] == "causal":
        scores = scores.masked_fill(t[None, :] > t[:, None], -torch.inf)
    if p["mask"] == "window":
        scores = scores.masked_fill((t[None, :] - t[:, None]).abs() > p["reach"], -torch.inf)
    alpha = torch.softmax(scores, dim=-1)
    out = alpha @ value  # [K, T, I]
    return alpha, out.transpose(0, 1).flatten(1)  # head 1; ...; head K


def hidden_positions_have_weight_zero(f, inputs, p):
    """A weight where nobody looks must be exactly zero, also where scores are as low as minus a million."""
    h, W_Q, W_K = (inputs[name].abs() + 1 for name in ("h", "W_Q", "W_K"))
    flat, root = h.flatten(0, -2), W_Q.shape[1] ** 0.5 if p["scaled"] else 1.0
    highest = ((flat @ W_Q.mT) @ (flat @ W_K.mT).mT).max() / root
    alpha, _ = f(h, W_Q, -1e6 / highest * W_K, inputs["W_V"])  # the lowest score is minus a million
    hidden = layer(h, W_Q * 0, W_K, inputs["W_V"], p=p)[0] == 0
    return not (alpha[hidden].abs() > 0).any()


# The bounds.


def softmax_time(p):
    return f"O(ln {row(p)} + ln U)"


def softmax_practice(p):
    return f"O(U + ln {row(p)})" if p["row_serial"] == "scores" else f"O(U + {row(p)})"


def logarithm(n):
    """The depth of a tree of n leaves: how often n places can be halved, rounded up."""
    return (n - 1).bit_length()


def softmax_depth(p):
    steps = 1 + logarithm(p["U"])  # products, their sum
    steps += logarithm(p["N"]) + 1 if p["stable"] else 0  # the largest, its subtraction
    return steps + 1 + logarithm(p["N"]) + 1  # exponentials, Z, quotients


def softmax_steps(p):
    """The same in letters."""
    return f"{'2 ceil(log2(N)) + 4' if p['stable'] else 'ceil(log2(N)) + 3'} + ceil(log2(U))"


def layer_time(p):
    return f"O({stages(p)})"


def layer_practice(p):
    return f"O({practised(p)})"


def layer_work(p):
    return f"O({worked(p)})"


# The choices.


def one_head(p):
    return "With one head, $I = J$; the order of the running time stays as it is."


def mean_is_product(p):
    return (
        "The mean over positions is an inner product as well, of $T$ terms: if every inner product is serial, "
        "positions are added one after the other too."
    )


IN_WORDS = """\
Queries, keys and values are made by sums over all J entries of a vector, which take ln J; the sums over the U entries
of the scores are no longer than these, and are absorbed. The heads do not need one another's results, so that all K of
them are computed at the same time: K changes how much work there is, not how long the longest chain of operations is.
"""

RUBRIC = """\
1 point: ln J comes from the sums over J in the projections (queries, keys, values), not from the scores.
1 point: heads are independent of one another and run at the same time (or: their number lengthens no chain).
No points for restating the bound. Half a point for "because U < J" alone.
"""


# A score is a product of two vectors: of huge ones, an exponential would overflow in a right answer.
REDRAWN = {"trials": 2, "also": ("large", "small", "zeros")}
LAYER_INPUTS = [drawn, wide_values, far_apart, one_of_each]
LAYER_CHECKS = [close(weight=4), holds(hidden_positions_have_weight_zero), gradient()]

PROBLEM = Problem(
    title="How long self-attention takes",
    version=4,
    source="problems on language modeling, translation and attention (2020), 4; transformer problems, 1",
    draw=draw,
    phrases=phrases,
    setup="import torch\nfrom torch.nn import functional as F",
    variants=200,
    full_model="transformer.LanguageModel",
    task="markov_transformer",
    mistakes=MISTAKES,
    equivalents=EQUIVALENTS,
    parts=[
        Function("layer", points=6, inputs=LAYER_INPUTS, **REDRAWN, reference=layer, checks=LAYER_CHECKS),
        Growth("softmax_time", points=3, **ROW_LETTERS, reference=softmax_time),
        Growth("softmax_practice", points=2, **ROW_LETTERS, reference=softmax_practice),
        Expression("softmax_steps", points=1, **STEPS, reference=softmax_steps),
        Number("softmax_depth", points=1, reference=softmax_depth),
        Growth("layer_time", points=3, **LAYER_LETTERS, reference=layer_time),
        Growth("layer_practice", points=2, **LAYER_LETTERS, reference=layer_practice),
        Growth("layer_work", points=2, **EQUAL_LETTERS, reference=layer_work),
        Choice("widths", points=2, reference=one_head),
        Choice("printed_practice", points=1, reference=mean_is_product),
        Written("in_words", points=2, reference=IN_WORDS, rubric=RUBRIC),
    ],
)

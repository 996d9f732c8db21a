"""A convolutional network over sentences (problem 3 of "Language modeling, translation and attention", 2020)."""

import functools

import torch
import torch.nn.functional as F

from autograder import (
    Choice,
    Equation,
    Expression,
    Function,
    Growth,
    Number,
    Problem,
    close,
    gradient,
    sizes,
    tensors,
    unseen,
)

from .equivalents import EQUIVALENTS
from .mistakes import MISTAKES
from .notation import LAYERS, SIZES, below, tables
from .references import layer_equation, length

ACTIVATIONS = {"sigma": torch.sigmoid, "tanh": torch.tanh, "relu": torch.relu}


def lengths_differ(p):
    """Whether the sentence is long enough for all layers, and no wrong length happens to be the right one."""
    return length(p) >= 5 and length(p) not in {mistake(p) for mistake in MISTAKES["length"]}


@functools.cache
def telling_lengths(**layers):
    """The lengths of which one is drawn for such layers."""
    return [T for T in range(600, 1000) if lengths_differ({**layers, "T": T})]


def draw(rng):
    """The layer's geometry, the boundary, the filters, the kind of table and of the RNN to compare with."""
    p = {
        "order": ["batch first", "time first"][rng.integers(2)],
        "position": bool(rng.integers(2)),
        "padding": bool(rng.integers(2)),
        "stride": int(rng.integers(2, 4)),
        "gap": int(rng.integers(1, 3)),
        "look": ["ahead", "back"][rng.integers(2)],
        "filters": ["full", "depthwise"][rng.integers(2)],
        "activation": ["sigma", "tanh", "relu"][rng.integers(3)],
        "rnn": ["one way", "both ways"][rng.integers(2)],
        "D": int(rng.integers(4, 6)),  # more than the stride: where windows only touch, dividing is right
        "L": int(rng.integers(3, 5)),
    }
    lengths = telling_lengths(**{name: p[name] for name in ("stride", "gap", "look", "D", "L")})
    return {**p, "T": int(rng.choice(lengths))}


def phrases(p):
    """The conventions of this variant, in formulas and words."""
    gap = "" if p["gap"] == 1 else str(p["gap"])
    here = rf"{p['stride']}t {'+' if p['look'] == 'ahead' else '-'} {gap}\Delta t"
    time_first, full = p["order"] == "time first", p["filters"] == "full"
    return {
        "w_index": "t,b" if time_first else "b,t",
        "L0_index": "t,b,i" if time_first else "b,t,i",
        "w_shape": "[T, B]" if time_first else "[B, T]",
        "L0_shape": "[T, B, I]" if time_first else "[B, T, I]",
        "order_words": "time comes first" if time_first else "the batch comes first",
        "table_words": (
            "the sum of two vectors: the word's vector from the table $e[w,i]$, and the position's vector from a "
            "second table $r[t,i]$"
            if p["position"]
            else "the word's vector from the table $e[w,i]$"
        ),
        "padding_words": (
            "**Word 0 is padding**: wherever it stands, the result has the zero vector, whatever row 0 of `e` holds, "
            "and no gradient reaches that row."
            if p["padding"]
            else "Word 0 is a word like all others."
        ),
        "here": here,
        "filter_words": (
            r"Each layer has a filter $W_{\ell+1}[\Delta t,i',i]$, in which $i'$ counts the entries of the vectors "
            r"below and $i$ those of the vectors above."
            if full
            else r"The filters are **depthwise**, $W_{\ell+1}[\Delta t,i]$: entry $i$ above is made from the entries "
            r"$i$ below, and from no other."
        ),
        "W_shape": "[D, I1, I2]" if full else "[D, I]",
        "L_shape": "[B, T, I1]" if full else "[B, T, I]",
        "out_shape": "[B, T', I2]" if full else "[B, T', I]",
        "B_shape": "[I2]" if full else "[I]",
        "W_shown": r"$W_{\ell+1}[\Delta t,i',i]$" if full else r"$W_{\ell+1}[\Delta t,i]$",
        "boundary": (
            "Each output needs all its taps within the sentence: there is **no padding**, and $T'$ is as large as that "
            "allows."
            if p["look"] == "ahead"
            else r"The taps look **back**, so that no output depends on later words. Positions before the first word "
            r"count as zero vectors; $t$ runs over all whole numbers from 0 for which $" + str(p["stride"]) + r"t$ is "
            r"a position of the sentence."
        ),
        "sigma": {"sigma": r"\sigma", "tanh": r"\tanh", "relu": r"\mathrm{relu}"}[p["activation"]],
        "sigma_words": {
            "sigma": "the logistic function, typed `sigma(…)`",
            "tanh": "typed `tanh(…)`",
            "relu": "typed `relu(…)`",
        }[p["activation"]],
        "rnn_words": (
            "$L$ layers of **one-directional** RNNs, each of which reads the states below from left to right"
            if p["rnn"] == "one way"
            else "$L$ layers of **bidirectional** RNNs: each runs over the states of the layer below in both "
            "directions, and puts the two states of a position side by side"
        ),
        "size_words": (
            "all layers have vectors of width $I$, filters $W[\\Delta t,i',i]$"
            if full
            else "all layers have vectors of width $I$, depthwise filters $W[\\Delta t,i]$"
        ),
    }


def words_and_table(rng, p, **fixed):
    """Words that repeat, word 0 among them."""
    n = {**sizes(rng, "B T I V", largest=7), **fixed}
    shape = (n["T"], n["B"]) if p["order"] == "time first" else (n["B"], n["T"])
    w = torch.from_numpy(rng.integers(0, n["V"], shape))
    w.view(-1)[int(rng.integers(w.numel()))] = 0
    return {"w": w, **tensors(rng, n, e="V I")}


def one_word(rng, p):
    """One sentence of one word."""
    return words_and_table(rng, p, B=1, T=1, I=1, V=2)


def layer_below(rng, p, **fixed):
    """A layer whose length is no multiple of anything, a filter that is not symmetric, biases that are not zero."""
    n = {**sizes(rng, "B I1 I2", largest=7), "D": int(rng.choice([2, 3])), "T": int(rng.integers(14, 19)), **fixed}
    if p["filters"] == "depthwise":
        return tensors(rng, n, L="B T I1", W="D I1", B="I1")
    return tensors(rng, n, L="B T I1", W="D I1 I2", B="I2")


def ends_on_a_step(rng, p):
    """The last word is one that a filter begins with: padding would give another output."""
    return layer_below(rng, p, T=5 * p["stride"] + 1)


def loud(rng, p):
    """A layer of large numbers: a rectifier has no upper end. Other functions get the numbers of every day."""
    drawn = layer_below(rng, p)
    return {**drawn, "L": drawn["L"] * (40 if p["activation"] == "relu" else 1)}


def one_tap(rng, p):
    """One sentence, one entry, one tap."""
    return layer_below(rng, p, B=1, I1=1, I2=1, D=1, T=5)


def just_one_output(rng, p):
    """As few words as an output without padding needs."""
    return layer_below(rng, p, D=3, T=2 * p["gap"] + 1)


def embed(w, e, *, p):
    """The vectors of words: e[V,I] and words w, in the stated order of axes -> the same axes and I."""
    L0 = e[w]
    return L0 * (w != 0)[..., None] if p["padding"] else L0


def conv(L, W, B, *, p):
    """One layer of the convolutional network: L of a sentence's length -> L' of a shorter one."""
    activation = {"sigma": torch.sigmoid, "tanh": torch.tanh, "relu": torch.relu}[p["activation"]]
    stride, gap = p["stride"], p["gap"]
    x = L.mT  # torch wants channels before time
    if p["look"] == "back":
        x = F.pad(x, (gap * (len(W) - 1), 0))
        W = W.flip(0)  # torch's taps look ahead
    if p["filters"] == "full":
        z = F.conv1d(x, W.permute(2, 1, 0), -B, stride=stride, dilation=gap)
    else:
        z = F.conv1d(x, W.T[:, None], -B, stride=stride, dilation=gap, groups=len(B))
    return activation(z).mT


def outside_the_taps(inputs, p):
    """Output t sees the positions of its own taps and no other: neither before nor behind them."""
    D, T = len(inputs["W"]), inputs["L"].shape[1]
    span = p["gap"] * (D - 1)
    for t in (0, (T - 1 - span) // p["stride"]):
        here = p["stride"] * t
        first, last = (here, here + span) if p["look"] == "ahead" else (here - span, here)
        yield (slice(None), t), "L", (slice(None), [s for s in range(T) if not first <= s <= last])


def one_equation(p):
    """The embedding layer."""
    left, words = ("t,b,i", "t,b") if p["order"] == "time first" else ("b,t,i", "b,t")
    return f"L_0[{left}] = e[w[{words}],i]" + (" + r[t,i]" if p["position"] else "")


def receptive(p):
    s, gap = p["stride"], p["gap"]
    return f"1 + {gap}*(D-1)*({s}^L - 1)/{s - 1}"


def parameters(p):
    return "V*I + L*(D*I^2 + I)" if p["filters"] == "full" else "V*I + L*(D*I + I)"


def rnn_time(p):
    return "O(T + L)" if p["rnn"] == "one way" else "O(T L)"


def batch_is_lost(p):
    return r"$L_\ell$ lacks an index: as printed, all sentences of the batch would get the same vectors."


CONV_INPUTS = [layer_below, ends_on_a_step, loud, one_tap, just_one_output]
CONV_CHECKS = [close(weight=4), gradient(), unseen(outside_the_taps)]

PROBLEM = Problem(
    title="Language CNNs",
    version=3,
    source="problems on language modeling, translation and attention (2020), problem 3",
    draw=draw,
    phrases=phrases,
    setup="import torch\nimport torch.nn.functional as F\nfrom torch import nn",
    variants=300,
    full_model="language_cnn.LanguageCNN",
    task="pairs",
    mistakes=MISTAKES,
    equivalents=EQUIVALENTS,
    parts=[
        Equation("embedding", points=2, target="L_0", tensors=tables, sequences="w", reference=one_equation),
        Equation(
            "layer", points=5, target="L_{l+1}", tensors=below, zero="D", same={"DT": "D"}, reference=layer_equation
        ),
        Function(
            "embed", points=2, inputs=[words_and_table, one_word], reference=embed, checks=[close(rtol=0.0), gradient()]
        ),
        Function("conv", points=6, inputs=CONV_INPUTS, trials=3, reference=conv, checks=CONV_CHECKS),
        Number("length", points=2, reference=length),
        Expression("receptive_field", points=3, domains=LAYERS, reference=receptive),
        Expression("parameters", points=1, domains=SIZES, reference=parameters),
        Growth("cnn_time", points=1, variables="T L", reference="O(L)"),
        Growth("rnn_time", points=1, variables="T L", reference=rnn_time),
        Growth("tree_time", points=1, variables="T", reference="O(ln T)"),
        Choice("printed_error", points=1, reference=batch_is_lost),
    ],
)

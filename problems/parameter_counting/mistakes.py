"""Wrong counts that students give; the docstring is the hint that whoever gives the same count reads."""

from . import hours_mistakes
from .formula_mistakes import FORMULA_MISTAKES


def _tallied(N, d, d_ff, V, p, **other):
    """The right breakdown, some of whose entries are replaced by others, with its sum."""
    shares = {
        "embedding": p["matrices"] * V * d,
        "attention": 3 * N * (4 * d * d + (4 * d if p["attention_bias"] else 0)),
        "feed_forward": 2 * N * (2 * d * d_ff + d_ff + d),
        "layer_norm": (5 * N + (2 if p["final_norm"] else 0)) * 2 * d,
    }
    shares.update(other)
    return {**shares, "total": sum(shares.values())}


def _bias(d, p):
    return d if p["attention_bias"] else 0


def as_printed(N, h, d, d_ff, V, P, *, p):
    """This is how a well-known answer sheet counts: ask yourself which matrices an attention sub-layer has."""
    return _tallied(N, d, d_ff, V, p, embedding=2 * V * d, attention=3 * N * d * d, layer_norm=0)


def only_output(N, h, d, d_ff, V, P, *, p):
    """An attention sub-layer has more matrices than the one behind the heads."""
    return _tallied(N, d, d_ff, V, p, attention=3 * N * (d * d + _bias(d, p)))


def no_output(N, h, d, d_ff, V, P, *, p):
    """Queries, keys and values are there; what becomes of the heads once they stand side by side?"""
    return _tallied(N, d, d_ff, V, p, attention=3 * N * 3 * (d * d + _bias(d, p)))


def no_cross_attention(N, h, d, d_ff, V, P, *, p):
    """Count the attention sub-layers of a decoder layer once more."""
    layer_norm = (4 * N + (2 if p["final_norm"] else 0)) * 2 * d
    return _tallied(N, d, d_ff, V, p, attention=2 * N * 4 * (d * d + _bias(d, p)), layer_norm=layer_norm)


def cross_attention_by_norm_only(N, h, d, d_ff, V, P, *, p):
    """You gave a decoder layer more layer norms than sub-layers: which sub-layer's matrices are missing?"""
    return _tallied(N, d, d_ff, V, p, attention=2 * N * 4 * (d * d + _bias(d, p)))


def every_head_full(N, h, d, d_ff, V, P, *, p):
    """You gave each head matrices of the full width: how wide are the queries, keys and values of one head?"""
    return _tallied(N, d, d_ff, V, p, attention=3 * N * 4 * (h * d * d + _bias(d, p)))


def encoder_only(N, h, d, d_ff, V, P, *, p):
    """You counted one of the two stacks."""
    attention, feed_forward = N * 4 * (d * d + _bias(d, p)), N * (2 * d * d_ff + d_ff + d)
    layer_norm = (2 * N + (1 if p["final_norm"] else 0)) * 2 * d
    return _tallied(N, d, d_ff, V, p, attention=attention, feed_forward=feed_forward, layer_norm=layer_norm)


def other_embeddings(N, h, d, d_ff, V, P, *, p):
    """Read once more which of the vocabulary's matrices are shared: a shared matrix is counted once."""
    return _tallied(N, d, d_ff, V, p, embedding={1: 2, 2: 3, 3: 1}[p["matrices"]] * V * d)


def no_norms(N, h, d, d_ff, V, P, *, p):
    """Layer norms have parameters too."""
    return _tallied(N, d, d_ff, V, p, layer_norm=0)


def norm_without_shift(N, h, d, d_ff, V, P, *, p):
    """A layer norm multiplies, and then it adds: it has two parameters per entry."""
    return _tallied(N, d, d_ff, V, p, layer_norm=(5 * N + (2 if p["final_norm"] else 0)) * d)


def norms_as_in_encoder(N, h, d, d_ff, V, P, *, p):
    """There is a layer norm for every sub-layer, and a decoder layer has more sub-layers than an encoder layer."""
    return _tallied(N, d, d_ff, V, p, layer_norm=(4 * N + (2 if p["final_norm"] else 0)) * 2 * d)


def other_final_norms(N, h, d, d_ff, V, P, *, p):
    """Read once more whether each stack ends with a layer norm of its own."""
    return _tallied(N, d, d_ff, V, p, layer_norm=(5 * N + (0 if p["final_norm"] else 2)) * 2 * d)


def no_feed_forward_biases(N, h, d, d_ff, V, P, *, p):
    """Both maps of the feed-forward sub-layer have biases."""
    return _tallied(N, d, d_ff, V, p, feed_forward=2 * N * 2 * d * d_ff)


def one_feed_forward_matrix(N, h, d, d_ff, V, P, *, p):
    """The feed-forward sub-layer goes to the inner width and back."""
    return _tallied(N, d, d_ff, V, p, feed_forward=2 * N * (d * d_ff + d_ff + d))


def feed_forward_of_width_d(N, h, d, d_ff, V, P, *, p):
    """Your feed-forward sub-layer stays at the width d inside."""
    return _tallied(N, d, d_ff, V, p, feed_forward=2 * N * (2 * d * d + 2 * d))


def other_attention_biases(N, h, d, d_ff, V, P, *, p):
    """Read once more whether the maps of the attention sub-layers have biases."""
    return _tallied(N, d, d_ff, V, p, attention=3 * N * 4 * (d * d + (0 if p["attention_bias"] else d)))


def counts_positions(N, h, d, d_ff, V, P, *, p):
    """You counted the position encoding: sines and cosines are computed, not learned."""
    return _tallied(N, d, d_ff, V, p, embedding=(p["matrices"] * V + P) * d)


def too_few_sublayers(p):
    """Six encoder layers attend once each, six decoder layers twice: how many is that?"""
    return (
        "Of the attention sub-layers six are missing: there are 24 and not 18, which a superfluous second embedding "
        "nearly makes up for."
    )


def no_biases_counted(p):
    """Look at the feed-forward sub-layers: 2,048 + 512 are biases, and both are there."""
    return (
        "Of each feed-forward sub-layer one of the two biases is missing, and so are the layer norms, which a "
        "superfluous second embedding nearly makes up for."
    )


def heads_forgotten(p):
    """Heads share the width among themselves: eight heads of width 64 have as many parameters as one of width 512."""
    return (
        "Each attention sub-layer must be counted once for each of the 8 heads, which a superfluous second embedding "
        "nearly makes up for."
    )


def sum_is_off(p):
    """Add it up: the arithmetic is right, what is added is not."""
    return (
        "Every term is right, and only their sum is wrong: a layer of the decoder was added up as if it had one "
        "attention sub-layer only."
    )


# The recurrent cells.


def _cells(J, K, pre, extra=0):
    return {"vanilla": pre, "ugrnn": 2 * pre, "two_gate": 3 * pre + extra, "gru": 3 * pre, "lstm": 4 * pre}


def _n_biases(p):
    return 1 if p["gate_biases"] == "one" else 2


def other_biases(J, K, *, p):
    """Read once more how many biases a pre-activation has here."""
    other = 3 - _n_biases(p)
    return _cells(J, K, J * J + J * K + other * J, (2 - other) * J)


def no_biases(J, K, *, p):
    """You counted the matrices only."""
    return _cells(J, K, J * J + J * K)


def no_input(J, K, *, p):
    """The matrices that act on the input are missing."""
    return _cells(J, K, J * J + _n_biases(p) * J, (2 - _n_biases(p)) * J)


def square_input(J, K, *, p):
    """The matrix that acts on the input is not square: it maps K entries to J."""
    return _cells(J, K, J * J + K * K + _n_biases(p) * J, (2 - _n_biases(p)) * J)


def biases_of_R(J, K, *, p):
    """Count the biases of the two-gate cell's candidate once more: two in all, whatever the gates have."""
    return _cells(J, K, J * J + J * K + _n_biases(p) * J, (_n_biases(p) - 1) * J)


def gru_of_two(J, K, *, p):
    """A GRU has two gates, and a candidate besides."""
    result = _cells(J, K, J * J + J * K + _n_biases(p) * J, (2 - _n_biases(p)) * J)
    return {**result, "gru": 2 * result["vanilla"]}


def lstm_of_three(J, K, *, p):
    """An LSTM has three gates, and a candidate besides."""
    result = _cells(J, K, J * J + J * K + _n_biases(p) * J, (2 - _n_biases(p)) * J)
    return {**result, "lstm": 3 * result["vanilla"]}


def gate_forgotten(J, K, *, p):
    """The UGRNN's gate has parameters of its own."""
    result = _cells(J, K, J * J + J * K + _n_biases(p) * J, (2 - _n_biases(p)) * J)
    return {**result, "ugrnn": result["vanilla"]}


def gates_without_state(J, K, *, p):
    """All gates here see the state and the input, as the candidate does."""
    pre = J * J + J * K + _n_biases(p) * J
    gate = J * K + _n_biases(p) * J
    extra = (2 - _n_biases(p)) * J
    return {
        "vanilla": pre,
        "ugrnn": pre + gate,
        "two_gate": pre + 2 * gate + extra,
        "gru": pre + 2 * gate,
        "lstm": pre + 3 * gate,
    }


def _number_of(entry, mistake):
    """The wrong number that a wrong count gives for the configuration shown, under the same name and hint."""

    def number(p):
        return mistake(**{name: p[name] for name in ("N", "h", "d", "d_ff", "V", "P")}, p=p)[entry]

    number.__name__, number.__doc__ = mistake.__name__, mistake.__doc__
    return number


_COUNTS = [
    as_printed,
    only_output,
    no_output,
    no_cross_attention,
    cross_attention_by_norm_only,
    every_head_full,
    encoder_only,
    other_embeddings,
    no_norms,
    norm_without_shift,
    norms_as_in_encoder,
    other_final_norms,
    no_feed_forward_biases,
    one_feed_forward_matrix,
    feed_forward_of_width_d,
    other_attention_biases,
    counts_positions,
]
_OF_ATTENTION = [
    only_output,
    no_output,
    no_cross_attention,
    every_head_full,
    encoder_only,
    other_attention_biases,
]


# One sub-layer of each kind.


def _sublayers(p, **other):
    d, d_ff = p["d"], p["d_ff"]
    right = {"attention": 4 * d * d + 4 * _bias(d, p), "feed_forward": 2 * d * d_ff + d_ff + d, "norm": 2 * d}
    return list({**right, **other}.values())


def output_matrix_forgotten(p):
    """An attention sub-layer has four matrices: one behind the heads, too."""
    return _sublayers(p, attention=3 * p["d"] ** 2 + 3 * _bias(p["d"], p))


def output_matrix_alone(p):
    """An attention sub-layer has more matrices than the one behind the heads."""
    return _sublayers(p, attention=p["d"] ** 2 + _bias(p["d"], p))


def other_biases_of_attention(p):
    """Look again at what is said of the biases of an attention sub-layer."""
    return _sublayers(p, attention=4 * p["d"] ** 2 + 4 * (p["d"] - _bias(p["d"], p)))


def matrices_for_each_head(p):
    """The heads share the width: together their queries have d entries."""
    return _sublayers(p, attention=(3 * p["h"] + 1) * p["d"] ** 2 + (3 * p["h"] + 1) * _bias(p["d"], p))


def feed_forward_without_biases(p):
    """Both maps of a feed-forward sub-layer have a bias."""
    return _sublayers(p, feed_forward=2 * p["d"] * p["d_ff"])


def biases_of_one_width(p):
    """The two biases of a feed-forward sub-layer have different widths."""
    return _sublayers(p, feed_forward=2 * p["d"] * p["d_ff"] + 2 * p["d"])


def norm_scales_only(p):
    """A layer norm multiplies each entry by a parameter, and adds another."""
    return _sublayers(p, norm=p["d"])


MISTAKES = {
    **FORMULA_MISTAKES,
    **hours_mistakes.MISTAKES,
    "count": _COUNTS,
    "total": [_number_of("total", mistake) for mistake in _COUNTS],
    "attention_total": [_number_of("attention", mistake) for mistake in _OF_ATTENTION],
    "printed_count": [too_few_sublayers, no_biases_counted, heads_forgotten, sum_is_off],
    "recurrent": [
        other_biases,
        no_biases,
        no_input,
        square_input,
        biases_of_R,
        gru_of_two,
        lstm_of_three,
        gate_forgotten,
        gates_without_state,
    ],
    "sublayers": [
        output_matrix_forgotten,
        output_matrix_alone,
        other_biases_of_attention,
        matrices_for_each_head,
        feed_forward_without_biases,
        biases_of_one_width,
        norm_scales_only,
    ],
}

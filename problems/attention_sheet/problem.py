"""Questions on "Attention is all you need" and BERT: sources, costs, heads, masks, inputs (question sheet)."""

import math

import numpy as np
import torch

from autograder import (
    Choice,
    Derivation,
    Equation,
    Expression,
    Function,
    Growth,
    Number,
    Ordering,
    Problem,
    Written,
    close,
    gradient,
    holds,
    sizes,
    tensors,
)

from . import choices, proofs, words
from .equivalents import EQUIVALENTS
from .mistakes import MISTAKES
from .notation import (
    COUNTS,
    COUNTS_BY_HEADS,
    OTHER,
    PAIRS_SEEN,
    PATHS,
    TABLE_SIZES,
    parameter_names,
    tables,
)

COST = {"restricted": "n r d", "separable": "n k d + n d^2", "linear": "n d^2", "whole": "n^2 d + n d^2"}
STEPS = {"recurrent": "n", "bidirectional": "n", "tree": "ln n", "attention": "1", "convolution": "1"}
PARAMETERS = {"full": "4 d^2", "multi_query": "2 d^2 + 2 d^2/h", "grouped": "2 d^2 (1 + g/h)", "fixed": "4 d h w"}
PAIRS = {"causal": "T(T+1)/2", "window": "w T - w(w-1)/2", "prefix": "T(T+1)/2 + q(q-1)/2"}
FATE = {"mask": 0.8, "random": 0.1, "same": 0.1}


def pick(rng, *values):
    """One of the values, as plain Python."""
    return values[int(rng.integers(len(values)))]


def draw(rng):
    """What each question with variants asks for."""
    return {
        "sublayer": pick(rng, "cross", "encoder", "decoder"),
        "layer": pick(rng, *COST),
        "machine": pick(rng, *STEPS),
        "stack": pick(rng, "causal", "centred", "dilated"),
        "n": pick(rng, 50, 70, 100, 150, 200, 300),
        "k": pick(rng, 7, 9),  # with narrower kernels, a mistake may come to the right number
        "matrices": pick(rng, "state", "both"),
        "adds": bool(rng.integers(2)),
        "h": pick(rng, 4, 8, 16),
        "sharing": pick(rng, *PARAMETERS),
        "mask": pick(rng, *PAIRS),
        "width": pick(rng, 3, 4),
        "fate": pick(rng, *FATE),
        "tokens": pick(rng, 200, 300, 400, 500, 600),
        "restart": bool(rng.integers(2)),
        "norm": bool(rng.integers(2)),
    }


def phrases(p):
    """The questions in the words of this variant."""
    return words.phrases(p)


# Hidden inputs.


def scores_of_heads(rng, p, **fixed):
    """Scores of a few heads on a sequence that is longer than what any mask leaves."""
    n = {**sizes(rng, "K", largest=5), "T": pick(rng, 7, 11), **fixed}
    return tensors(rng, n, scores="K T T")


def large_where_hidden(rng, p):
    """Large scores where nothing is to be seen, low ones elsewhere: no mask of moderate size outweighs them."""
    scores = scores_of_heads(rng, p, T=7)["scores"]
    hidden = masked_weights(torch.zeros_like(scores), p=p) == 0
    return {"scores": scores + torch.where(hidden, 4000.0, -4000.0)}


def large_throughout(rng, p):
    """All scores of a position are large, above zero or below: no exponential may overflow, none may vanish."""
    scores = scores_of_heads(rng, p, T=7)["scores"]
    signs = torch.from_numpy(rng.permutation([-1.0, 1.0, -1.0, 1.0, -1.0, 1.0, 1.0]))
    return {"scores": scores + 4000.0 * signs[:, None]}


def one_position(rng, p):
    """One head at one position, which sees itself."""
    return scores_of_heads(rng, p, K=1, T=1)


def sentences(rng, p, lengths=()):
    """Token numbers of three sentences, each of which ends in [SEP], and tables with rows to spare."""
    lengths = lengths or rng.permutation([2, 3, 5]).tolist()
    n = {"V": 19, "S": len(lengths), "P": 13, "J": pick(rng, 5, 7)}
    sep = int(rng.integers(2, 17))
    words = [v for v in range(n["V"]) if v != sep]
    tokens = np.concatenate([[*rng.choice(words, length - 1), sep] for length in lengths]).astype(np.int64)
    drawn = tensors(rng, n, E_tok="V J", E_seg="S J", E_pos="P J")
    return {"tokens": torch.from_numpy(tokens), **drawn, "sep": sep}


def separator_first(rng, p):
    """The first sentence is [SEP] alone, and others follow."""
    return sentences(rng, p, lengths=(1, *rng.permutation([2, 3]).tolist()))


def one_token(rng, p):
    """A single sentence of [SEP] alone."""
    return sentences(rng, p, lengths=(1,))


# References.


def masked_weights(scores, *, p):
    """Attention weights of K heads under the mask: scores[K,T,T] -> alpha[K,T,T], each row sums to one."""
    looks, seen = torch.meshgrid(torch.arange(scores.shape[1]), torch.arange(scores.shape[2]), indexing="ij")
    visible = seen <= looks
    if p["mask"] == "window":
        visible = visible & (seen > looks - p["width"])
    if p["mask"] == "prefix":
        visible = visible | (seen < p["width"])
    return torch.softmax(scores.masked_fill(~visible, -torch.inf), dim=-1)


def hidden_positions_have_weight_zero(f, inputs, p):
    """The weight of what is not seen must be exactly zero, also where scores are as low as minus a million."""
    scores = inputs["scores"]
    low = 5e5 * (scores / scores.abs().max().clamp(min=1) - 1)
    hidden = masked_weights(torch.zeros_like(scores), p=p) == 0
    return all(bool((f(given)[hidden] == 0).all()) for given in (scores, low))


def bert_input(tokens, E_tok, E_seg, E_pos, sep, *, p):
    """The vectors that BERT's first layer gets: tokens[T], tables of J columns -> [T,J]."""
    ends = (tokens == sep).long()
    segments = ends.cumsum(0) - ends  # the sentences that ended before this token
    positions = torch.arange(len(tokens))
    if p["restart"]:
        starts = torch.nn.functional.pad(positions[:-1] + 1, (1, 0)) * torch.nn.functional.pad(ends[:-1], (1, 0))
        positions = positions - starts.cummax(0).values
    return E_tok[tokens] + E_seg[segments] + E_pos[positions]


def other_cost(p):
    return f"O({COST[p['layer']]})"


def steps(p):
    return f"O({STEPS[p['machine']]})"


def layers(p):
    """The exact number of layers of kernel width k through which the last position sees the first."""
    n, k = p["n"], p["k"]
    if p["stack"] == "causal":
        return -(-(n - 1) // (k - 1))
    if p["stack"] == "centred":
        return -(-2 * (n - 1) // (k - 1))
    return next(number for number in range(1, n) if k**number >= n)


def flop_ratio(p):
    return "2 n/d" if p["matrices"] == "state" else "n/d"


def layer_cost(p):
    return "8 n d^2 + 4 n^2 d" if p["adds"] else "4 n d^2 + 2 n^2 d"


def layer_parameters(p):
    return PARAMETERS[p["sharing"]]


def visible_pairs(p):
    return PAIRS[p["mask"]]


def masked_tokens(p):
    return round(0.15 * FATE[p["fate"]] * p["tokens"], 6)


def bert_sum(p):
    place = "r[t]" if p["restart"] else "t"
    return f"E[t,j] = E^tok[w[t],j] + E^seg[s[t],j] + E^pos[{place},j]"


def bert_parameters(p):
    return "(V + P + S) d + 2 d" if p["norm"] else "(V + P + S) d"


assert math.isclose(sum(FATE.values()), 1)  # every selected token has one of the three fates


PROOF = {**proofs.COUNT, "start": proofs.count_by_pairs, "reference": proofs.counted}
MASK_INPUTS = [scores_of_heads, large_where_hidden, large_throughout, one_position]
BERT_INPUTS = [sentences, separator_first, one_token]
MASK_CHECKS = [close(weight=2), holds(hidden_positions_have_weight_zero), gradient()]

PROBLEM = Problem(
    title="Questions on attention",
    version=4,
    source="question sheet on 'Attention is all you need', questions 1, 2, 3, 5 and 8",
    draw=draw,
    phrases=phrases,
    variants=150,
    full_model="bert.MaskedLanguageModel",
    task="masked",
    mistakes=MISTAKES,
    equivalents=EQUIVALENTS,
    parts=[
        Choice("sources", points=1, reference=choices.sources),
        Written("in_words", points=2, reference=words.SOURCES, rubric=words.SOURCES_RUBRIC),
        Choice("printed_positions", points=1, reference=choices.decoder_is_masked),
        Growth("self_attention", points=1, variables="n d", reference="O(n^2 d)"),
        Growth("recurrent", points=1, variables="n d", reference="O(n d^2)"),
        Growth("convolution", points=1, variables="n k d", constraints=["k<=n"], reference="O(k n d^2)"),
        Growth("other_layer", points=1, **OTHER, reference=other_cost),
        Growth("steps", points=1, variables="n", reference=steps),
        Growth("path_contiguous", points=1, **PATHS, reference="O(n/k)"),
        Growth("path_dilated", points=1, **PATHS, reference="O(ln(n)/ln(k))"),
        Number("layers", points=1, reference=layers),
        Choice("printed_path", points=1, reference=choices.second_line),
        Expression("flop_ratio", points=1, domains=COUNTS, reference=flop_ratio),
        Choice("one_head", points=1, reference=choices.distributions_lost),
        Choice("printed_heads", points=1, reference=choices.same_cost),
        Expression("layer_cost", points=2, domains=COUNTS_BY_HEADS, reference=layer_cost),
        Expression("layer_parameters", points=1, domains=parameter_names, reference=layer_parameters),
        Written("heads_in_words", points=2, reference=words.HEADS, rubric=words.HEADS_RUBRIC),
        Function("masked_weights", points=4, inputs=MASK_INPUTS, reference=masked_weights, checks=MASK_CHECKS),
        Expression("visible_pairs", points=1, **PAIRS_SEEN, reference=visible_pairs),
        Written("mask_in_words", points=2, reference=words.MASK, rubric=words.MASK_RUBRIC),
        Choice("bert_mask", points=1, reference=choices.selected_tokens),
        Number("masked_tokens", points=1, reference=masked_tokens, rtol=1e-6),
        Equation("bert_sum", points=2, tensors=tables, sequences="w s r", target="E", reference=bert_sum),
        Function(
            "bert_input", points=3, inputs=BERT_INPUTS, reference=bert_input, checks=[close(weight=2), gradient()]
        ),
        Expression("bert_parameters", points=1, domains=TABLE_SIZES, reference=bert_parameters),
        Choice("bert_difference", points=1, reference=choices.learned_positions),
        Derivation("masked_count", points=3, **PROOF, model=proofs.steps_of_the_count),
        Ordering("dilated_proof", points=2, **proofs.INDUCTION, reference=proofs.induction),
    ],
)

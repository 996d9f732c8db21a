"""Questions on "Attention is all you need" and BERT: sources, costs, heads, masks, inputs (question sheet)."""

import math

import numpy as np
import torch

from autograder import (
    Choice,
    Equation,
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

from . import choices, words
from . import code_mistakes as code
from . import mistakes as wrong
from .equivalents import (
    added_infinity,
    by_embedding_bag,
    by_exponentials,
    by_one_hot,
    lowest_number,
    row_by_row,
    token_by_token,
)

COST = {"restricted": "n r d", "separable": "n k d + n d^2", "linear": "n d^2", "whole": "n^2 d + n d^2"}
COST_VARIABLES = {"restricted": "n r d", "separable": "n k d", "linear": "n d", "whole": "n d"}
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
    """Large scores where nothing is to be seen: no mask of moderate size outweighs them, and no row saturates."""
    scores = scores_of_heads(rng, p, T=7)["scores"]
    hidden = masked_weights(torch.zeros_like(scores), p=p) == 0
    return {"scores": scores + 1000.0 * hidden}


def large_throughout(rng, p):
    """All scores of a position are large, above zero or below: no exponential may overflow, none may vanish."""
    scores = scores_of_heads(rng, p, T=7)["scores"]
    signs = torch.from_numpy(rng.permutation([-1.0, 1.0, -1.0, 1.0, -1.0, 1.0, 1.0]))
    return {"scores": scores + 1000.0 * signs[:, None]}


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
    """The weight of a position that is not seen must be exactly zero, however large its score."""
    T = inputs["scores"].shape[1]
    alpha = f(inputs["scores"])
    visible = masked_weights(torch.zeros(1, T, T, dtype=torch.float64), p=p)[0] > 0
    return bool((alpha[:, ~visible] == 0).all())


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


def other_variables(p):
    return COST_VARIABLES[p["layer"]]


def other_constraints(p):
    return {"restricted": ["r<=n"], "separable": ["k<=n"]}.get(p["layer"], [])


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


def layer_cost_by_heads(p):
    two = 2 if p["adds"] else 1
    return f"h*(3*{two}*n*d*(d/h) + 2*{two}*n^2*(d/h)) + {two}*n*d^2"


def layer_parameters(p):
    return PARAMETERS[p["sharing"]]


def parameter_names(p):
    more = {"grouped": ("g",), "fixed": ("w",)}.get(p["sharing"], ())
    return dict.fromkeys(("d", "h", *more), "posint")


def parameters_by_matrices(p):
    if p["sharing"] == "fixed":
        return "3 h (d w) + (h w) d"
    shared = {"full": "h", "multi_query": "1", "grouped": "g"}[p["sharing"]]
    return f"h d (d/h) + 2 ({shared}) d (d/h) + d^2"


def visible_pairs(p):
    return PAIRS[p["mask"]]


def pair_names(p):
    return dict.fromkeys({"causal": "T", "window": "T w", "prefix": "T q"}[p["mask"]].split(), "posint")


def pairs_by_rows(p):
    """The full square less what is hidden, or rows that grow and rows that do not."""
    return {
        "causal": "T^2 - (T^2 - T)/2",
        "window": "w(w+1)/2 + (T - w) w",
        "prefix": "q^2 + (T - q) q + (T - q)(T - q + 1)/2",
    }[p["mask"]]


def masked_tokens(p):
    return round(0.15 * FATE[p["fate"]] * p["tokens"], 6)


def bert_sum(p):
    place = "r[t]" if p["restart"] else "t"
    return f"E[t,j] = E^tok[w[t],j] + E^seg[s[t],j] + E^pos[{place},j]"


def bert_sum_in_latex(p):
    place = "r_t" if p["restart"] else "t"
    return (
        r"E[t,j] = E^{\text{pos}}[%s,j] + \left(E^{\text{seg}}[s_t,j] + E^{\text{tok}}[w_t,j]\right)" % place  # noqa: UP031
    )


def bert_sum_in_steps(p):
    place = "r[t]" if p["restart"] else "t"
    return f"A[t,j] = E^tok[w[t],j] + E^seg[s[t],j]\nE[t,J] = A[t,J] + E^pos[{place},J]"


def tables(p):
    first = "P" if p["restart"] else "T"
    return ["E^tok[V,J]", "E^seg[S,J]", f"E^pos[{first},J]", "w[T]", "s[T]", *(["r[T]"] if p["restart"] else [])]


def bert_parameters(p):
    return "(V + P + S) d + 2 d" if p["norm"] else "(V + P + S) d"


def bert_parameters_apart(p):
    return "V d + S d + d P" + (" + d + d" if p["norm"] else "")


assert math.isclose(sum(FATE.values()), 1)  # every selected token has one of the three fates

COUNTS = {"n": "posint", "d": "posint"}

PROBLEM = Problem(
    title="Questions on attention",
    version=1,
    source="question sheet on 'Attention is all you need', questions 1, 2, 3, 5 and 8",
    draw=draw,
    phrases=phrases,
    variants=150,
    parts=[
        Choice("sources", points=1, reference=choices.sources,
               mistakes=[choices.swapped, choices.split, choices.one_side, choices.other_side]),
        Written("in_words", points=2, reference=words.SOURCES, rubric=words.SOURCES_RUBRIC),
        Choice("printed_positions", points=1, reference=choices.decoder_is_masked,
               mistakes=[choices.encoder_is_masked, choices.itself_hidden, choices.diagonal_hidden,
                         choices.nothing_wrong]),
        Growth("self_attention", points=1, variables="n d", reference="O(n^2 d)",
               mistakes=[wrong.as_recurrent, wrong.width_forgotten, wrong.both_squared, wrong.with_projections,
                         wrong.length_once],
               equivalents=["O(2 n^2 d + n^2)", "n^2 (d+1)", "O(4n^2d)", r"\mathcal{O}(n^2 \cdot d)", "n*n*d"]),
        Growth("recurrent", points=1, variables="n d", reference="O(n d^2)",
               mistakes=[wrong.as_attention, wrong.one_step, wrong.length_once, wrong.both_squared],
               equivalents=["O(2 n d^2 + n d)", "n d (d+1)", r"O(n \cdot d^2)"]),
        Growth("convolution", points=1, variables="n k d", constraints=["k<=n"], reference="O(k n d^2)",
               mistakes=[wrong.kernel_forgotten, wrong.one_channel, wrong.kernel_squared, wrong.attends_to_k],
               equivalents=["O(2 k n d^2 + n d)", "n*k*d*d"]),
        Growth("other_layer", points=1, variables=other_variables, constraints=other_constraints,
               reference=other_cost,
               mistakes=[wrong.other_cost_forgets, wrong.other_cost_too_much, wrong.other_cost_of_one]),
        Growth("steps", points=1, variables="n", reference=steps,
               mistakes=[wrong.steps_waiting, wrong.steps_squared]),
        Growth("path_contiguous", points=1, variables="n k", constraints=["k<=n"], reference="O(n/k)",
               mistakes=[wrong.path_logarithm, wrong.path_without_kernel, wrong.path_times_kernel, wrong.path_two_log],
               equivalents=["(n-1)/(k-1)", "O(2n/k)", "n/(k-1) + 1"]),
        Growth("path_dilated", points=1, variables="n k", constraints=["k<=n"], reference="O(ln(n)/ln(k))",
               mistakes=[wrong.path_as_contiguous, wrong.path_two_log, wrong.path_without_kernel,
                         wrong.path_of_quotient, wrong.path_kernel_log],
               equivalents=["log_k(n)", "O(log2(n)/log2(k))", r"O(\log_k n)", "O(1 + log_k(n))"]),
        Number("layers", points=1, reference=layers,
               mistakes=[wrong.printed_quotient, wrong.half_of_all, wrong.one_layer_each, wrong.other_stack,
                         wrong.one_more]),
        Choice("printed_path", points=1, reference=choices.second_line,
               mistakes=[choices.first_line, choices.third_line, choices.no_line]),
        Expression("flop_ratio", points=1, domains=COUNTS, reference=flop_ratio,
                   mistakes=[wrong.ratio_upside_down, wrong.ratio_of_orders, wrong.ratio_half],
                   equivalents=[wrong.ratio_written_out]),
        Choice("one_head", points=1, reference=choices.distributions_lost,
               mistakes=[choices.times_heads, choices.parameters_divided, choices.sequential, choices.averaged_before]),
        Choice("printed_heads", points=1, reference=choices.same_cost,
               mistakes=[choices.not_jointly, choices.not_parallel, choices.not_cheaper_each]),
        Expression("layer_cost", points=2, domains={**COUNTS, "h": "posint"}, reference=layer_cost,
                   mistakes=[wrong.cost_times_heads, wrong.cost_without_output, wrong.cost_products_only,
                             wrong.cost_scores_only, wrong.cost_over_heads, wrong.cost_other_unit],
                   equivalents=[layer_cost_by_heads, wrong.cost_factored]),
        Expression("layer_parameters", points=1, domains=parameter_names, reference=layer_parameters,
                   mistakes=[wrong.parameters_without_output, wrong.parameters_as_full,
                             wrong.parameters_shared_wrongly],
                   equivalents=[parameters_by_matrices]),
        Written("heads_in_words", points=2, reference=words.HEADS, rubric=words.HEADS_RUBRIC),
        Function(
            "masked_weights", points=4, inputs=[scores_of_heads, large_where_hidden, large_throughout, one_position],
            reference=masked_weights,
            checks=[close(weight=2), holds(hidden_positions_have_weight_zero), gradient()],
            mistakes=[
                code.scores_times_zero, code.weights_times_zero, code.future_instead_of_past, code.one_too_many,
                code.one_too_few, code.other_mask, code.not_masked, code.softmax_over_lookers, code.minus_hundred,
                code.minus_ten,
            ],
            equivalents=[added_infinity, lowest_number, by_exponentials, row_by_row],
        ),
        Expression("visible_pairs", points=1, domains=pair_names, reference=visible_pairs, forbid=["sum", "min", "max"],
                   mistakes=[wrong.pairs_without_itself, wrong.pairs_all, wrong.pairs_one_row],
                   equivalents=[pairs_by_rows]),
        Written("mask_in_words", points=2, reference=words.MASK, rubric=words.MASK_RUBRIC),
        Choice("bert_mask", points=1, reference=choices.selected_tokens,
               mistakes=[choices.attention_masked, choices.all_replaced, choices.left_to_right, choices.rest_masked]),
        Number("masked_tokens", points=1, reference=masked_tokens, rtol=1e-6,
               mistakes=[wrong.all_selected, wrong.share_of_all, wrong.share_of_the_rest]),
        Equation("bert_sum", points=2, tensors=tables, sequences="w s r", target="E", reference=bert_sum,
                 mistakes=[wrong.sum_without_segments, wrong.sum_without_positions, wrong.segment_by_word,
                           wrong.product_of_tables, wrong.minus_positions],
                 equivalents=[bert_sum_in_latex, bert_sum_in_steps]),
        Function(
            "bert_input", points=3, inputs=[sentences, one_token], reference=bert_input,
            checks=[close(weight=2), gradient()],
            mistakes=[
                code.concatenated, code.multiplied, code.without_segments, code.without_positions,
                code.separator_to_the_next, code.positions_the_other_way, code.positions_from_one, code.sinusoids,
                code.segment_counts_words, code.two_segments_alternate,
            ],
            equivalents=[by_one_hot, token_by_token, by_embedding_bag],
        ),
        Expression("bert_parameters", points=1, domains=dict.fromkeys("VPSd", "posint"), reference=bert_parameters,
                   mistakes=[wrong.without_segment_table, wrong.tables_multiplied, wrong.positions_fixed,
                             wrong.concatenated_tables, wrong.norm_the_other_way],
                   equivalents=[bert_parameters_apart]),
        Choice("bert_difference", points=1, reference=choices.learned_positions,
               mistakes=[choices.sinusoids_too, choices.no_positions, choices.joined, choices.fixed_segments]),
    ],
)  # fmt: skip

"""Wrong typed answers and numbers; the docstring is the hint that whoever gives the same answer reads."""

from . import choices, code_mistakes, proof_mistakes

# Costs.


def as_recurrent(p):
    """That is the cost of another row of the table: which product has both lengths in it?"""
    return "O(n d^2)"


def as_attention(p):
    """That is the cost of another row of the table: how large is the matrix that each step multiplies with?"""
    return "O(n^2 d)"


def width_forgotten(p):
    """You counted pairs of positions; what does one pair cost?"""
    return "O(n^2)"


def both_squared(p):
    """Multiply the three sizes of the matrix product; each occurs once for each matrix side."""
    return "O(n^2 d^2)"


def with_projections(p):
    """True of the layer with its projections; the table counts what comes after these."""
    return "O(n^2 d + n d^2)"


def length_once(p):
    """Something is counted too seldom: write the matrices down with their sizes, and multiply the three sizes."""
    return "O(n d)"


def one_step(p):
    """That is the cost of a single step."""
    return "O(d^2)"


def kernel_forgotten(p):
    """How many positions does each output read?"""
    return "O(n d^2)"


def one_channel(p):
    """Every output channel reads every input channel."""
    return "O(n k d)"


def kernel_squared(p):
    """The kernel runs along one axis only."""
    return "O(n k^2 d^2)"


def attends_to_k(p):
    """You counted inner products between positions; a convolution multiplies by matrices."""
    return "O(n^2 k d)"


def other_cost_forgets(p):
    """One of the factors or terms is missing: count the products step by step."""
    return {"restricted": "O(n r)", "separable": "O(n d^2)", "linear": "O(n d)", "whole": "O(n^2 d)"}[p["layer"]]


def other_cost_too_much(p):
    """You counted more than is multiplied: read once more what is left out, or done apart."""
    return {"restricted": "O(n^2 d)", "separable": "O(n k d^2)", "linear": "O(n^2 d)", "whole": "O(n^2 d^2)"}[
        p["layer"]
    ]


def other_cost_of_one(p):
    """This is the cost of a single position, or of a single step of the computation."""
    return {"restricted": "O(r d)", "separable": "O(n k d)", "linear": "O(d^2)", "whole": "O(n d^2)"}[p["layer"]]


def steps_waiting(p):
    """What can be computed at the same time, and what has to wait for what?"""
    waits = p["machine"] in ("recurrent", "bidirectional", "tree")
    return "O(1)" if waits else "O(n)"


def steps_squared(p):
    """You counted operations; the question is how many of them must wait for each other."""
    return "O(n^2)" if p["machine"] != "tree" else "O(n)"


# Paths.


def path_logarithm(p):
    """That needs kernels whose reach is multiplied from layer to layer; these kernels are all alike."""
    return "O(ln(n)/ln(k))"


def path_as_contiguous(p):
    """That is the length for kernels that are all alike; here the reach is multiplied from layer to layer."""
    return "O(n/k)"


def path_without_kernel(p):
    """A wider kernel shortens the path."""
    return "O(n)"


def path_times_kernel(p):
    """A wider kernel shortens the path; it does not make it longer."""
    return "O(n k)"


def path_two_log(p):
    """The kernel's width has an effect on the length."""
    return "O(ln(n))"


def path_of_quotient(p):
    """The reach is multiplied by the same factor in each layer: solve for the number of layers."""
    return "O(1 + ln(n/k))"


def path_kernel_log(p):
    """The kernel's width shortens the path, but not as a plain divisor, and it does not lengthen it."""
    return "O(k ln(n))"


def _reach(p, stack):
    n, k = p["n"], p["k"]
    return {"causal": -(-(n - 1) // (k - 1)), "centred": -(-2 * (n - 1) // (k - 1))}[stack]


def printed_quotient(p):
    """You divided n by k: how far does information move in one layer?"""
    return -(-p["n"] // p["k"])


def half_of_all(p):
    """That is half the length: no kernel of this question moves information two positions."""
    return p["n"] // 2


def one_layer_each(p):
    """That is the number of steps of one position each; a wider kernel makes longer steps."""
    return p["n"] - 1


def other_stack(p):
    """Read once more what a kernel of this question reads."""
    return _reach(p, "causal" if p["stack"] == "centred" else "centred")


def one_more(p):
    """One layer more than needed: count the steps between the positions, not the positions."""
    n, k = p["n"], p["k"]
    if p["stack"] == "dilated":
        return next(number for number in range(1, n) if k**number >= n) + 1
    return _reach(p, p["stack"]) + 1


# Ratios and counts.


def ratio_upside_down(p):
    """Upside down."""
    return "d/(2n)" if p["matrices"] == "state" else "d/n"


def ratio_of_orders(p):
    """The factors matter here: how many products does each side have?"""
    return "n/d" if p["matrices"] == "state" else "2n/d"


def ratio_half(p):
    """Check the factors: attention multiplies matrices of both lengths twice."""
    return "n/(2d)"


def _unit(p):
    return 2 if p["adds"] else 1


def cost_times_heads(p):
    """You gave each head the full width d."""
    return f"{_unit(p)} h (4 n d^2 + 2 n^2 d)"


def cost_without_output(p):
    """Queries, keys and values are there; what becomes of the heads once they stand side by side?"""
    return f"{_unit(p)} (3 n d^2 + 2 n^2 d)"


def cost_products_only(p):
    """These are the products with the scores and the weights; the projections are missing."""
    return f"{_unit(p)} (2 n^2 d)"


def cost_scores_only(p):
    """The scores are there; the product of the weights with the values is missing."""
    return f"{_unit(p)} (4 n d^2 + n^2 d)"


def cost_over_heads(p):
    """You counted one head's part of the scores: there are h of them."""
    return f"{_unit(p)} (4 n d^2 + 2 n^2 d/h)"


def cost_other_unit(p):
    """Everything is counted in the other unit: read once more what a product of two matrices costs here."""
    return f"{3 - _unit(p)} (4 n d^2 + 2 n^2 d)"


def parameters_without_output(p):
    """The output matrix is missing."""
    texts = {"full": "3 d^2", "multi_query": "d^2 + 2 d^2/h", "grouped": "d^2 (1 + 2 g/h)", "fixed": "3 d h w"}
    return texts[p["sharing"]]


def parameters_as_full(p):
    """Read once more which matrices each head has, and how wide they are."""
    return {"full": "4 d^2 h", "multi_query": "4 d^2", "grouped": "4 d^2", "fixed": "4 d^2"}[p["sharing"]]


def parameters_shared_wrongly(p):
    """Look at the key and value matrices again: how many are there, and what is the width of each?"""
    texts = {
        "full": "2 d^2 + 2 d^2/h",
        "multi_query": "4 d^2/h",
        "grouped": "2 d^2 (1 + g)",
        "fixed": "2 d h w + 2 d w",
    }
    return texts[p["sharing"]]


def pairs_without_itself(p):
    """A position sees itself."""
    return {"causal": "T(T-1)/2", "window": "(w-1) T - w(w-1)/2", "prefix": "T(T-1)/2 + q(q-1)/2"}[p["mask"]]


def pairs_all(p):
    """Read once more what is hidden."""
    return {"causal": "T^2", "window": "w T", "prefix": "T(T+1)/2"}[p["mask"]]


def pairs_one_row(p):
    """Some positions see fewer or more than you counted: go through the rows one by one."""
    return {"causal": "T", "window": "T(T+1)/2", "prefix": "T(T+1)/2 + q^2"}[p["mask"]]


def all_selected(p):
    """Those are all that are selected; they do not all have the same fate."""
    return round(0.15 * p["tokens"], 6)


def share_of_all(p):
    """You took the share of all tokens; only the selected ones have a fate."""
    return round({"mask": 0.8, "random": 0.1, "same": 0.1}[p["fate"]] * p["tokens"], 6)


def share_of_the_rest(p):
    """That is the share of the tokens that are not selected."""
    return round(0.85 * {"mask": 0.8, "random": 0.1, "same": 0.1}[p["fate"]] * p["tokens"], 6)


# BERT's input.


def _place(p):
    return "r[t]" if p["restart"] else "t"


def sum_without_segments(p):
    """The segment is missing."""
    return f"E[t,j] = E^tok[w[t],j] + E^pos[{_place(p)},j]"


def sum_without_positions(p):
    """The position is missing."""
    return "E[t,j] = E^tok[w[t],j] + E^seg[s[t],j]"


def segment_by_word(p):
    """You looked the segment up under the number of the word."""
    return f"E[t,j] = E^tok[w[t],j] + E^seg[w[t],j] + E^pos[{_place(p)},j]"


def product_of_tables(p):
    """You multiplied two of the vectors, entry by entry."""
    return f"E[t,j] = E^tok[w[t],j] E^seg[s[t],j] + E^pos[{_place(p)},j]"


def minus_positions(p):
    """Look at the signs."""
    return f"E[t,j] = E^tok[w[t],j] + E^seg[s[t],j] - E^pos[{_place(p)},j]"


def _norm(p):
    return " + 2 d" if p["norm"] else ""


def without_segment_table(p):
    """The segment vectors are learned too."""
    return f"(V + P) d{_norm(p)}"


def tables_multiplied(p):
    """There is not a row for each combination: three tables are added."""
    return f"V P S d{_norm(p)}"


def positions_fixed(p):
    """In BERT the position vectors are learned."""
    return f"(V + S) d{_norm(p)}"


def concatenated_tables(p):
    """Each of the three tables has d columns; nothing has to be brought back to that width."""
    return f"(V + P + S) d + 3 d^2{_norm(p)}"


def norm_the_other_way(p):
    """Read once more whether the layer norm is counted."""
    return "(V + P + S) d" if p["norm"] else "(V + P + S) d + 2 d"


MISTAKES = {
    **proof_mistakes.MISTAKES,
    "sources": [choices.swapped, choices.split, choices.one_side, choices.other_side],
    "printed_positions": [
        choices.encoder_is_masked,
        choices.itself_hidden,
        choices.diagonal_hidden,
        choices.nothing_wrong,
    ],
    "self_attention": [as_recurrent, width_forgotten, both_squared, with_projections, length_once],
    "recurrent": [as_attention, one_step, length_once, both_squared],
    "convolution": [kernel_forgotten, one_channel, kernel_squared, attends_to_k],
    "other_layer": [other_cost_forgets, other_cost_too_much, other_cost_of_one],
    "steps": [steps_waiting, steps_squared],
    "path_contiguous": [path_logarithm, path_without_kernel, path_times_kernel, path_two_log],
    "path_dilated": [path_as_contiguous, path_two_log, path_without_kernel, path_of_quotient, path_kernel_log],
    "layers": [printed_quotient, half_of_all, one_layer_each, other_stack, one_more],
    "printed_path": [choices.first_line, choices.third_line, choices.no_line],
    "flop_ratio": [ratio_upside_down, ratio_of_orders, ratio_half],
    "one_head": [choices.times_heads, choices.parameters_divided, choices.sequential, choices.averaged_before],
    "printed_heads": [choices.not_jointly, choices.not_parallel, choices.not_cheaper_each],
    "layer_cost": [
        cost_times_heads,
        cost_without_output,
        cost_products_only,
        cost_scores_only,
        cost_over_heads,
        cost_other_unit,
    ],
    "layer_parameters": [parameters_without_output, parameters_as_full, parameters_shared_wrongly],
    "masked_weights": [
        code_mistakes.scores_times_zero,
        code_mistakes.weights_times_zero,
        code_mistakes.future_instead_of_past,
        code_mistakes.one_too_many,
        code_mistakes.one_too_few,
        code_mistakes.other_mask,
        code_mistakes.not_masked,
        code_mistakes.softmax_over_lookers,
        code_mistakes.minus_hundred,
        code_mistakes.minus_ten,
    ],
    "visible_pairs": [pairs_without_itself, pairs_all, pairs_one_row],
    "bert_mask": [choices.attention_masked, choices.all_replaced, choices.left_to_right, choices.rest_masked],
    "masked_tokens": [all_selected, share_of_all, share_of_the_rest],
    "bert_sum": [sum_without_segments, sum_without_positions, segment_by_word, product_of_tables, minus_positions],
    "bert_input": [
        code_mistakes.concatenated,
        code_mistakes.multiplied,
        code_mistakes.without_segments,
        code_mistakes.without_positions,
        code_mistakes.separator_to_the_next,
        code_mistakes.no_separator_at_first,
        code_mistakes.positions_the_other_way,
        code_mistakes.positions_from_one,
        code_mistakes.sinusoids,
        code_mistakes.segment_counts_words,
        code_mistakes.two_segments_alternate,
    ],
    "bert_parameters": [
        without_segment_table,
        tables_multiplied,
        positions_fixed,
        concatenated_tables,
        norm_the_other_way,
    ],
    "bert_difference": [choices.sinusoids_too, choices.no_positions, choices.joined, choices.fixed_segments],
}

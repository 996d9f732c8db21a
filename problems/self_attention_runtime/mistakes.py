"""Wrong answers that students give; the docstring is the hint that whoever gives the same answer reads."""

import math

import torch

from .bounds import chained, hidden, practised, row, stages, worked

# The code.


def _scored(h, W_Q, W_K, p):
    """The scores of all pairs before the mask."""
    scores = (h @ W_Q.mT) @ (h @ W_K.mT).mT
    return scores / W_Q.shape[1] ** 0.5 if p["scaled"] else scores


def _hides(h, p):
    """Which pairs the mask takes away."""
    t = torch.arange(len(h))
    later = t[None, :] - t[:, None]
    return {"none": later > len(h), "causal": later > 0, "window": later.abs() > p["reach"]}[p["mask"]]


def _masked(h, W_Q, W_K, p):
    return _scored(h, W_Q, W_K, p).masked_fill(_hides(h, p), -torch.inf)


def _joined(alpha, value):
    return alpha, (alpha @ value).transpose(0, 1).flatten(1)


def _finite(scores):
    """Minus infinity made finite, so that a softmax along a wrong axis is defined."""
    return scores.clamp(min=-1e3)


def lookers_compete(h, W_Q, W_K, W_V, *, p):
    """Your weights sum to one over the positions that look; they must do so over those that are looked at."""
    return _joined(torch.softmax(_masked(h, W_Q, W_K, p), dim=-2), h @ W_V.mT)


def heads_compete(h, W_Q, W_K, W_V, *, p):
    """Your heads compete with one another: each has weights of its own that sum to one."""
    return _joined(torch.softmax(_finite(_masked(h, W_Q, W_K, p)), dim=0), h @ W_V.mT)


def all_pairs_compete(h, W_Q, W_K, W_V, *, p):
    """All pairs of positions share one normalisation in yours: each position that looks needs one of its own."""
    scores = _masked(h, W_Q, W_K, p)
    return _joined(torch.softmax(scores.flatten(1), dim=-1).view_as(scores), h @ W_V.mT)


def roles_exchanged(h, W_Q, W_K, W_V, *, p):
    """Query and key have changed places: the query belongs to the position that looks."""
    return _joined(torch.softmax(_masked(h, W_K, W_Q, p), dim=-1), h @ W_V.mT)


def heads_interleaved(h, W_Q, W_K, W_V, *, p):
    """You took the first entry of every head, then the second of every head: heads stand one after another, whole."""
    alpha = torch.softmax(_masked(h, W_Q, W_K, p), dim=-1)
    return alpha, (alpha @ (h @ W_V.mT)).permute(1, 2, 0).flatten(1)


def mean_over_lookers(h, W_Q, W_K, W_V, *, p):
    """Your weights are right, but your mean runs over the positions that look."""
    alpha = torch.softmax(_masked(h, W_Q, W_K, p), dim=-1)
    return alpha, _joined(alpha.mT, h @ W_V.mT)[1]


def heads_mixed(h, W_Q, W_K, W_V, *, p):
    """The shape is right, but reshaping alone has mixed heads and positions: bring the axes into order first."""
    alpha = torch.softmax(_masked(h, W_Q, W_K, p), dim=-1)
    return alpha, (alpha @ (h @ W_V.mT)).reshape(len(h), -1)


def one_attention(h, W_Q, W_K, W_V, *, p):
    """All your heads share their mean weights: each head looks where it likes."""
    alpha = torch.softmax(_masked(h, W_Q, W_K, p), dim=-1)
    return _joined(alpha.mean(0, keepdim=True).expand_as(alpha), h @ W_V.mT)


def other_scale(h, W_Q, W_K, W_V, *, p):
    """Read once more whether the scores are divided by something here."""
    alpha = torch.softmax(_masked(h, W_Q, W_K, {**p, "scaled": not p["scaled"]}), dim=-1)
    return _joined(alpha, h @ W_V.mT)


def other_mask(h, W_Q, W_K, W_V, *, p):
    """Read once more which positions a position looks at here: yours looks at others."""
    other = {"none": "causal", "causal": "none", "window": "causal"}[p["mask"]]
    return _joined(torch.softmax(_masked(h, W_Q, W_K, {**p, "mask": other}), dim=-1), h @ W_V.mT)


def masked_late(h, W_Q, W_K, W_V, *, p):
    """Your weights do not sum to one: did you take some away after the softmax, or count only the earlier ones?"""
    alpha = torch.softmax(_scored(h, W_Q, W_K, p), dim=-1)
    hidden_pairs = _hides(h, p) if p["mask"] != "none" else torch.eye(len(h), dtype=torch.bool)
    return _joined(alpha.masked_fill(hidden_pairs, 0.0), h @ W_V.mT)


def minus_hundred(h, W_Q, W_K, W_V, *, p):
    """Your mask is a number of moderate size: where all scores that are seen are lower, what is hidden is looked at."""
    hides = _hides(h, p) if p["mask"] != "none" else torch.ones(len(h), len(h), dtype=torch.bool).triu(1)
    return _joined(torch.softmax(_scored(h, W_Q, W_K, p).masked_fill(hides, -100.0), dim=-1), h @ W_V.mT)


def own_values(h, W_Q, W_K, W_V, *, p):
    """Your h_out is the value of the position that looks: the weights have no effect on it."""
    alpha = torch.softmax(_masked(h, W_Q, W_K, p), dim=-1)
    return alpha, (h @ W_V.mT).transpose(0, 1).flatten(1)


def no_weights(h, W_Q, W_K, W_V, *, p):
    """Your weights are the bare scores: they may be negative and do not sum to one."""
    return _joined(_scored(h, W_Q, W_K, p).masked_fill(_hides(h, p), 0.0), h @ W_V.mT)


def weights_detached(h, W_Q, W_K, W_V, *, p):
    """The values are right, but no gradient reaches the query and key matrices: they could never be trained."""
    return _joined(torch.softmax(_masked(h, W_Q, W_K, p), dim=-1).detach(), h @ W_V.mT)


# The time of one softmax.


def row_work(p):
    """This counts all operations; the question is how long they take when done side by side."""
    return f"O({row(p)} U)"


def row_product(p):
    """The sum in Z begins when the scores are there; it is not done once for each step of theirs. Times add up."""
    return f"O(ln {row(p)} * ln U)"


def only_positions(p):
    """Each score is a sum as well, and takes time before Z can begin."""
    return f"O(ln {row(p)})"


def only_scores(p):
    """You have the scores; the normalising constant Z is a sum of many terms."""
    return "O(ln U)"


def serial_sum(p):
    """You added the terms of Z one after the other; a sum takes the logarithm of its length here."""
    return f"O({row(p)} + ln U)"


def serial_scores(p):
    """You added the terms of a score one after the other; that is the next question."""
    return f"O(U + ln {row(p)})"


def all_rows(p):
    """This counts the scores of all pairs of positions; the question is about one position, and about time."""
    return "O(T^2)"


def whole_sequence(p):
    """This position does not look at all T positions."""
    return None if row(p) == "T" else "O(ln T + ln U)"


def projections_too(p):
    """Queries and keys are there already: what is summed in a score has U terms."""
    return f"O(ln {row(p)} + ln J)"


def row_in_trees(p):
    """This is the time with every sum in a tree."""
    return f"O(ln {row(p)} + ln U)"


def row_other_serial(p):
    """Read once more which sums are done one term after the other here."""
    return f"O(U + {row(p)})" if p["row_serial"] == "scores" else f"O(U + ln {row(p)})"


def row_multiplied(p):
    """The scores of different positions do not wait for one another, and Z comes after them: times add up."""
    return f"O({row(p)} U)"


def row_only_scores(p):
    """The sum in Z takes time as well."""
    return "O(U)"


def row_wrong_one_serial(p):
    """You have the two sums the wrong way round: which has U terms, and which of them is slow here?"""
    return f"O({row(p)} + ln U)"


# The steps of one softmax.


def _steps(p, depth=lambda n: (n - 1).bit_length(), singles=3, largest=None):
    """The steps with another depth of a sum, or other single steps."""
    stable = p["stable"] if largest is None else largest
    return depth(p["U"]) + depth(p["N"]) + singles + (depth(p["N"]) + 1 if stable else 0)


def rounded_down(p):
    """A tree with one leaf more than a power of two is one level deeper."""
    return _steps(p, depth=lambda n: n.bit_length() - 1)


def no_single_steps(p):
    """You counted the sums; products, exponentials and quotients take a step each as well."""
    return _steps(p, singles=-1 if p["stable"] else 0)


def no_quotient(p):
    """The weights are there only after the division by Z."""
    return _steps(p, singles=2)


def one_after_the_other(p):
    """You added one term after the other: with enough adders, half of the numbers disappear in each step."""
    return _steps(p, depth=lambda n: n - 1)


def natural(p):
    """Two numbers become one in each step, so that it is the logarithm to base two that counts."""
    return _steps(p, depth=lambda n: math.ceil(math.log(n)))


def largest_misread(p):
    """Read once more whether the largest score is subtracted here, and what this takes."""
    return _steps(p, largest=not p["stable"])


def _formula(p, depth="ceil(log2({}))", singles=3, largest=None):
    """The steps in letters, with another depth of a sum, or other single steps."""
    stable = p["stable"] if largest is None else largest
    positions, entries = depth.format("N"), depth.format("U")
    return f"{positions} + {entries} + {singles}" + (f" + {positions} + 1" if stable else "")


def steps_not_rounded(p):
    """A tree of three leaves has two levels: the number of levels is whole for every number of leaves."""
    return _formula(p, depth="log2({})")


def steps_rounded_down(p):
    """A tree with one leaf more than a power of two is one level deeper."""
    return _formula(p, depth="floor(log2({}))")


def steps_of_sums_only(p):
    """You counted the sums; products, exponentials and quotients take a step each as well."""
    return _formula(p, singles=-1 if p["stable"] else 0)


def steps_without_quotient(p):
    """The weights are there only after the division by Z."""
    return _formula(p, singles=2)


def steps_in_turn(p):
    """You added one term after the other: with enough adders, half of the numbers disappear in each step."""
    return _formula(p, depth="({} - 1)")


def steps_natural(p):
    """Two numbers become one in each step, so that it is the logarithm to base two that counts."""
    return _formula(p, depth="ceil(ln({}))")


def steps_largest_misread(p):
    """Read once more whether the largest score is subtracted here, and what this takes."""
    return _formula(p, largest=not p["stable"])


# The time of the layer.


def logarithms_multiplied(p):
    """The stages follow one another, so that their times add up."""
    return f"O({chained(p, 'ln T * ln J' + hidden(p, 'ln F'))})"


def heads_in_turn(p):
    """The heads do not wait for one another."""
    return f"O(K ({stages(p)}))"


def layer_total(p):
    """This counts operations; the question is how long they take when done side by side."""
    return f"O({chained(p, 'T^2 J' + hidden(p, 'T J F'))})"


def width_of_head(p):
    """A head has J/K entries, but the sums that make its queries, keys and values have more terms than that."""
    return f"O({chained(p, 'ln T + ln(J/K) + 1' + hidden(p, 'ln F'))})"


def width_of_query(p):
    """The longest sum over entries is not the one in a score: look at what makes queries, keys and values."""
    return f"O({chained(p, 'ln T + ln U' + hidden(p, 'ln F'))})"


def width_in_turn(p):
    """A sum over the entries of a vector takes the logarithm of its length here, like any other."""
    return f"O({chained(p, 'J + ln T' + hidden(p, 'ln F'))})"


def width_missing(p):
    """There are sums over the entries of the vectors as well."""
    return f"O({chained(p, 'ln T' + hidden(p, 'ln F'))})"


def positions_missing(p):
    """There are sums over the positions as well."""
    return f"O({chained(p, 'ln J' + hidden(p, 'ln F'))})"


def one_of_the_stack(p):
    """This is the time of one layer: the next one must wait for it."""
    return "O(ln T + ln J)" if p["layer"] == "stack" else None


def stack_in_a_tree(p):
    """Layers are no terms of a sum: each needs the result of the one before it."""
    return "O(ln L + ln T + ln J)" if p["layer"] == "stack" else None


def hidden_width_missing(p):
    """The hidden layer's entries are summed as well."""
    return "O(ln T + ln J)" if p["layer"] == "feed_forward" else None


def all_words_at_once(p):
    """This is the time when all positions are known: here each waits for the one before it."""
    return "O(ln T + ln J)" if p["layer"] == "decoding" else None


def layer_in_trees(p):
    """This is the time with every sum in a tree."""
    return f"O({stages(p)})"


def layer_other_serial(p):
    """Read once more which sums are done one term after the other here."""
    return f"O({practised(p, 'everything' if p['serial'] == 'features' else 'features')})"


def layer_multiplied(p):
    """The stages follow one another, so that their times add up; the sums of one stage run side by side."""
    return f"O({chained(p, 'T J' + hidden(p, 'T F'))})"


def layer_only_features(p):
    """The sums over positions are missing."""
    return f"O({chained(p, 'J' + hidden(p, 'F'))})"


# All operations.


def no_projections(p):
    """You counted scores and means; queries, keys and values must be made as well."""
    work = "T J^2 / K" if p["layer"] == "linear" else "T^2 J"
    return f"O({'L ' if p['layer'] == 'stack' else ''}({work}){hidden(p, 'T J F')})"


def only_projections(p):
    """You counted queries, keys and values; scores and means take work as well."""
    if p["layer"] == "linear":
        return None  # less than the projections
    return f"O({'L ' if p['layer'] == 'stack' else ''}T J^2{hidden(p, 'T J F')})"


def heads_twice(p):
    """The heads share the width J among themselves: together they have J entries, not K J."""
    return f"O(K ({worked(p)}))"


def as_with_softmax(p):
    """Linear attention never forms the scores of all pairs: count what it does in their place."""
    return "O(T J^2 + T^2 J)" if p["layer"] == "linear" else None


def work_of_one_layer(p):
    """This is the work of one layer."""
    return "O(T J^2 + T^2 J)" if p["layer"] == "stack" else None


def no_feed_forward(p):
    """The feed-forward network works as well."""
    return "O(T J^2 + T^2 J)" if p["layer"] == "feed_forward" else None


# The choices.


def many_heads(p):
    """With many heads I = J/K is small, and smaller than J all the more."""
    return "With many heads, $I > J$; the running time then grows with $I$ in the place of $J$."


def never_false(p):
    """Put K = 1 into I = J/K."""
    return "It is never false: $I = J/K$ is less than $J$ for every number of heads."


def bound_changes(p):
    """The sums over J are there in any case, and no sum over I or U is longer than they are."""
    return "With one head, $I = J$; the order of the running time is then larger: two sums over $J$ follow each other."


def queries_only(p):
    """The requirement I = J/K is about values; U is free, and can be chosen smaller with any number of heads."""
    return "With one head, $U$ must be larger than $J$; the running time then grows with $U$ in the place of $J$."


def score_overlooked(p):
    """The sum of U terms in a score is serial in it: it takes no longer than J."""
    return "The score is an inner product as well, of $U$ terms: its time and that of the projections are multiplied."


def normaliser_dropped(p):
    """Z is a sum over positions, and takes at least the logarithm of their number."""
    return "The normalising constant is no inner product, and takes no time that grows."


def projections_parallel(p):
    """What makes queries, keys and values are inner products of J terms."""
    return "The projections are no inner products: only the sums of the scores become serial."


def concatenation(p):
    """Putting results next to one another adds nothing up, and takes no time that grows."""
    return "The heads are put together one after the other, which takes a time that grows with their number."


MISTAKES = {
    "layer": [
        lookers_compete,
        heads_compete,
        roles_exchanged,
        heads_interleaved,
        mean_over_lookers,
        heads_mixed,
        one_attention,
        other_scale,
        other_mask,
        masked_late,
        minus_hundred,
        own_values,
        no_weights,
        all_pairs_compete,
        weights_detached,
    ],
    "softmax_time": [
        row_work,
        row_product,
        only_positions,
        only_scores,
        serial_sum,
        serial_scores,
        all_rows,
        whole_sequence,
        projections_too,
    ],
    "softmax_practice": [row_in_trees, row_other_serial, row_multiplied, row_only_scores, row_wrong_one_serial],
    "softmax_steps": [
        steps_not_rounded,
        steps_rounded_down,
        steps_of_sums_only,
        steps_without_quotient,
        steps_in_turn,
        steps_natural,
        steps_largest_misread,
    ],
    "softmax_depth": [rounded_down, no_single_steps, no_quotient, one_after_the_other, natural, largest_misread],
    "layer_time": [
        logarithms_multiplied,
        heads_in_turn,
        layer_total,
        width_of_head,
        width_of_query,
        width_in_turn,
        width_missing,
        positions_missing,
        one_of_the_stack,
        stack_in_a_tree,
        hidden_width_missing,
        all_words_at_once,
    ],
    "layer_practice": [layer_in_trees, layer_other_serial, layer_multiplied, layer_only_features],
    "layer_work": [no_projections, only_projections, heads_twice, as_with_softmax, work_of_one_layer, no_feed_forward],
    "widths": [many_heads, never_false, bound_changes, queries_only],
    "printed_practice": [score_overlooked, normaliser_dropped, projections_parallel, concatenation],
}

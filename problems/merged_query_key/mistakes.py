"""Wrong answers that students give; the docstring is the hint that whoever gives the same answer reads."""

import torch

from .equation_mistakes import EQUATION_MISTAKES


def _scaled(W, I, p):  # noqa: E741
    return W / I**0.5 if p["scaled"] else W


def transposed(W_Q, W_K, *, p):
    """Your matrix lets t_2 look at t_1: which of its two axes meets the vector that asks?"""
    return _scaled(torch.einsum("kia,kib->kba", W_Q, W_K), W_Q.shape[1], p)


def scale_the_other_way(W_Q, W_K, *, p):
    """Everything but the factor is right: read once more whether the scores are scaled in this exercise."""
    W = torch.einsum("kia,kib->kab", W_Q, W_K)
    return W if p["scaled"] else W / W_Q.shape[1] ** 0.5


def scaled_by_width(W_Q, W_K, *, p):
    """You divided by the root of the width of the vectors that go in: that is not the length of a query."""
    return torch.einsum("kia,kib->kab", W_Q, W_K) / W_Q.shape[2] ** 0.5


def scaled_without_root(W_Q, W_K, *, p):
    """You divided by I itself."""
    return torch.einsum("kia,kib->kab", W_Q, W_K) / W_Q.shape[1]


def sums_heads(W_Q, W_K, *, p):
    """You summed over the heads; each head has a matrix of its own."""
    return _scaled(torch.einsum("kia,kib->ab", W_Q, W_K), W_Q.shape[1], p)


def keys_of_all_heads(W_Q, W_K, *, p):
    """Each head's query met the keys of all heads: query and key have the index k in common."""
    return _scaled(torch.einsum("kia,lib->kab", W_Q, W_K), W_Q.shape[1], p)


def sums_apart(W_Q, W_K, *, p):
    """You summed each matrix over its own i before you multiplied: in the inner product the two share one i."""
    return _scaled(W_Q.sum(1)[:, :, None] * W_K.sum(1)[:, None, :], W_Q.shape[1], p)


def query_twice(W_Q, W_K, *, p):
    """The key matrix has no effect on your result: the query matrix stands in both places."""
    return _scaled(torch.einsum("kia,kib->kab", W_Q, W_Q), W_Q.shape[1], p)


def softmax_of_matrix(W_Q, W_K, *, p):
    """The softmax belongs to the scores; no equation applies it to the matrix."""
    return torch.softmax(_scaled(torch.einsum("kia,kib->kab", W_Q, W_K), W_Q.shape[1], p), dim=-1)


def not_summed(W_Q, W_K, *, p):
    """The index i is still an axis of your result: an inner product sums over it."""
    return _scaled(torch.einsum("kia,kib->kiab", W_Q, W_K), W_Q.shape[1], p)


# Attention with the merged matrix.


def _scores_of(W, L, p):
    scores = torch.einsum("ta,kab,sb->kts", L, W, L)
    return (
        scores.masked_fill(torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1), -torch.inf)
        if p["causal"]
        else scores
    )


def looks_backwards(W, L, *, p):
    """Your t_1 and t_2 have changed places in the score: which axis of W belongs to the position that looks?"""
    return torch.softmax(_scores_of(W.mT, L, p), dim=-1)


def softmax_over_lookers(W, L, *, p):
    """Your columns sum to one: the weights are shared out among the positions that are looked at."""
    return torch.softmax(_scores_of(W, L, p), dim=-2)


def softmax_over_both(W, L, *, p):
    """All your weights together sum to one: every position that looks has a distribution of its own."""
    scores = _scores_of(W, L, p)
    return torch.softmax(scores.flatten(1), dim=-1).reshape(scores.shape)


def scaled_once_more(W, L, *, p):
    """You scaled the scores here: whatever factor there is, the merged matrix has it already."""
    return torch.softmax(_scores_of(W, L, p) / L.shape[1] ** 0.5, dim=-1)


def mask_the_other_way(W, L, *, p):
    """Read once more which positions may be seen in this exercise: the mask makes the whole difference."""
    return torch.softmax(_scores_of(W, L, {"causal": not p["causal"]}), dim=-1)


def printed_slip(W, L, *, p):
    """Your weights are the same for all positions looked at: the second vector of the score is taken at the wrong t."""
    own = torch.einsum("ta,kab,tb->kt", L, W, L)[:, :, None].expand(-1, -1, len(L))
    return torch.softmax(own + _scores_of(W * 0, L, p), dim=-1)


def scores_only(W, L, *, p):
    """These are the scores: a softmax makes weights of them."""
    return torch.einsum("ta,kab,sb->kts", L, W, L)


def symmetric_part(W, L, *, p):
    """Your scores stay the same when t_1 and t_2 change places, as if W were symmetric: attention need not be."""
    return torch.softmax(_scores_of((W + W.mT) / 2, L, p), dim=-1)


def heads_averaged(W, L, *, p):
    """You averaged over the heads; each head has weights of its own."""
    return torch.softmax(_scores_of(W, L, p), dim=-1).mean(0)


def minus_hundred(W, L, *, p):
    """Your mask is a number of moderate size: where all scores that are seen are lower, what is hidden is looked at."""
    scores = torch.einsum("ta,kab,sb->kts", L, W, L)
    later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
    return torch.softmax(scores.masked_fill(later, -100.0), dim=-1)


def rows_not_normalised(W, L, *, p):
    """Your rows do not sum to one: what is masked leaves before the softmax, which then runs over what is left."""
    scores = torch.einsum("ta,kab,sb->kts", L, W, L)
    return torch.softmax(scores, dim=-1).tril() if p["causal"] else torch.sigmoid(scores)


# Factors of the merged matrix.


def _factors(W, I, scale, left, right):  # noqa: E741
    """U and V of rank I, the singular values to the powers `left` and `right`."""
    U, S, Vt = torch.linalg.svd(W, full_matrices=False)
    S = S[:, :I, None]
    return scale * S**left * U[:, :, :I].mT, scale * S**right * Vt[:, :I]


def values_twice(W, I, *, p):  # noqa: E741
    """The singular values stand in both of your matrices: merging them gives their squares."""
    return _factors(W, I, I**0.25 if p["scaled"] else 1.0, 1.0, 1.0)


def values_lost(W, I, *, p):  # noqa: E741
    """Your matrices have orthonormal rows: where have the singular values gone?"""
    return _factors(W, I, I**0.25 if p["scaled"] else 1.0, 0.0, 0.0)


def scale_forgotten(W, I, *, p):  # noqa: E741
    """Merged, your matrices give a multiple of W: read once more whether merging scales in this exercise."""
    return _factors(W, I, 1.0 if p["scaled"] else I**0.25, 0.5, 0.5)


def scale_on_both(W, I, *, p):  # noqa: E741
    """You multiplied each of the two matrices by the root of I: their product has that factor twice."""
    return _factors(W, I, I**0.5, 0.5, 0.5)


def smallest_values(W, I, *, p):  # noqa: E741
    """You kept the smallest singular values: which ones carry a matrix of rank I?"""
    U, S, Vt = torch.linalg.svd(W, full_matrices=False)
    root = S[:, -I:, None].sqrt()
    return root * U[:, :, -I:].mT, root * Vt[:, -I:]


def first_rows(W, I, *, p):  # noqa: E741
    """Merged, your matrices give back the first rows of W only; the others depend on these, but are not zero."""
    eye = torch.eye(I, W.shape[1], dtype=W.dtype).expand(len(W), -1, -1)
    return eye * (I**0.5 if p["scaled"] else 1.0), W[:, :I]


def roots_on_one_side(W, I, *, p):  # noqa: E741
    """One of your matrices has the roots of the singular values, the other has nothing of them."""
    return _factors(W, I, I**0.25 if p["scaled"] else 1.0, 0.5, 0.0)


# The counts.


def separate_of_one_head(p):
    """This is one head's share: a layer has all of them."""
    return 2 * p["I"] * (p["K"] * p["I"])


def one_of_the_two(p):
    """You counted one of the two matrices."""
    return p["K"] * p["I"] * (p["K"] * p["I"])


def separate_times_heads(p):
    """You gave each head matrices of the full width J: how many rows has a head's query matrix?"""
    return 2 * p["K"] * (p["K"] * p["I"]) ** 2


def separate_with_biases(p):
    """You counted biases; there are none here."""
    return 2 * p["K"] * p["I"] * (p["K"] * p["I"] + 1)


def edges(p):
    """A matrix has as many entries as the product of its sizes, not their sum."""
    return 2 * p["K"] * (p["I"] + p["K"] * p["I"])


def merged_of_one_head(p):
    """This is one head's matrix: a layer has one for each head."""
    return (p["K"] * p["I"]) ** 2


def merged_of_head_width(p):
    """Your merged matrix is I by I: which vectors stand to its left and to its right?"""
    return p["K"] * p["I"] ** 2


def merged_twice(p):
    """You counted two matrices per head; merged, there is one."""
    return 2 * p["K"] * (p["K"] * p["I"]) ** 2


def as_before(p):
    """This is the count of the two separate matrices: merging changes the shape, and with it the count."""
    return 2 * (p["K"] * p["I"]) ** 2


def heads_squared(p):
    """You paired every head's query with every head's key; a head has one matrix."""
    return p["K"] ** 2 * (p["K"] * p["I"]) ** 2


def at_equal_widths(p):
    """With one head, I = J: put this into both counts and compare."""
    return "Exactly for $K = 1$ head; with more heads the merged form has fewer parameters."


def at_half_of_each(p):
    """You solved for a head's width and read it as the number of heads."""
    return "Exactly for $K = J/2$ heads."


def merging_saves(p):
    """One matrix for two need not be fewer numbers: it is larger than each of them. Compare for many heads."""
    return "For no $K$: one matrix in the place of two always has fewer parameters."


def always_equal(p):
    """The two forms compute the same scores, yet from matrices of different sizes."""
    return "For every $K$: the merged form computes the same, so it has as many parameters."


def on_itself(p):
    """Both vectors are those of t_1, but the weights are still compared over t_2: does the score change with it?"""
    return "Each position looks at itself only: its own weight is $1$, and all others are $0$."


def as_before_by_symmetry(p):
    """The two positions are different ones: compare the scores of one t_1 for two values of t_2."""
    return "The weights are those of the layer, for the two vectors stand at positions that are summed over."


def only_of_norms(p):
    """The score is the same for every t_2, however large it is: what does a softmax make of equal numbers?"""
    return "Positions with long vectors have large weights, for the score of a vector with itself is its length."


def as_if_transposed(p):
    """Which matrix stands where is right in this line; look at the positions."""
    return r"The weights are those of the layer with $\tilde W$ transposed: query and key have changed places."


MISTAKES = {
    **EQUATION_MISTAKES,
    "merge": [
        transposed,
        scale_the_other_way,
        scaled_by_width,
        scaled_without_root,
        sums_heads,
        keys_of_all_heads,
        sums_apart,
        query_twice,
        softmax_of_matrix,
        not_summed,
    ],
    "attention": [
        looks_backwards,
        softmax_over_lookers,
        softmax_over_both,
        scaled_once_more,
        mask_the_other_way,
        printed_slip,
        scores_only,
        symmetric_part,
        heads_averaged,
        rows_not_normalised,
        minus_hundred,
    ],
    "factor": [
        values_twice,
        values_lost,
        scale_forgotten,
        scale_on_both,
        smallest_values,
        first_rows,
        roots_on_one_side,
    ],
    "separate": [separate_of_one_head, one_of_the_two, separate_times_heads, separate_with_biases, edges],
    "merged": [merged_of_one_head, merged_of_head_width, merged_twice, as_before, heads_squared],
    "equal_counts": [at_equal_widths, at_half_of_each, merging_saves, always_equal],
    "printed_error": [on_itself, as_before_by_symmetry, only_of_norms, as_if_transposed],
}

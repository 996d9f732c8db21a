"""One matrix in the place of the query and the key matrix (exam 1, problem 4), and what it costs."""

import torch

from autograder import (
    Choice,
    Derivation,
    Equation,
    Expression,
    Function,
    Number,
    Problem,
    close,
    difference,
    form,
    gradient,
    holds,
    sizes,
    tensors,
)

from .equations import COUNTS, MERGED, STEPS, merged_matrix, merged_scores, scores, steps
from .equivalents import EQUIVALENTS
from .mistakes import MISTAKES


def draw(rng):
    """Whether scores are scaled, where keys come from, who may look at whom, and the sizes of the counts."""
    return {
        "scaled": bool(rng.integers(2)),
        "cross": bool(rng.integers(2)),
        "causal": bool(rng.integers(2)),
        "K": int(rng.choice([4, 6, 8, 12, 16])),
        "I": int(rng.choice([32, 48, 64, 80])),
    }


def phrases(p):
    """The sentences and formulas of this variant."""
    scale = r"\frac{1}{\sqrt{I}}\," if p["scaled"] else ""
    return {
        "scores": rf"{scale}\mathrm{{Query}}[k,t_1,I]\;\mathrm{{Key}}[k,t_2,I]",
        "scale_words": (
            r"The scores **are scaled** by $1/\sqrt{I}$, and the merged matrix takes the factor in."
            if p["scaled"]
            else r"The scores are **not scaled**: there is no factor $1/\sqrt{I}$ anywhere in this exercise."
        ),
        "source_words": (
            "Queries come from the decoder's vectors of width $J_1$, keys from the encoder's vectors of another width "
            "$J_2$ (cross-attention)."
            if p["cross"]
            else "Queries and keys come from vectors of the same width, $J_1 = J_2 = J$; the two axes keep their names."
        ),
        "mask_words": (
            "The attention is **causal**: position $t_1$ sees the positions $t_2 \\le t_1$, itself included; the "
            "weights of all later positions are exactly $0$, even if scores are as low as minus a million, and "
            "each row still sums to $1$."
            if p["causal"]
            else "There is **no mask**: every position sees every position."
        ),
        "J": str(p["K"] * p["I"]),
    }


def both_matrices(rng, p, **fixed):
    """Query and key matrices with more than one head and more than one row."""
    n = {**sizes(rng, "K I J1 J2", largest=11), **fixed}
    n["J2"] = n["J2"] if p["cross"] else n["J1"]
    return tensors(rng, n, W_Q="K I J1", W_K="K I J2")


def one_head_of_one(rng, p):
    """One head of one row: no axis may be squeezed away."""
    return both_matrices(rng, p, K=1, I=1)


def merged_and_vectors(rng, p, **fixed):
    """A merged matrix that is not symmetric, and the vectors of a sequence; no weight is nearly 0 or 1."""
    n = {**sizes(rng, "K T J", largest=7), **fixed}
    drawn = tensors(rng, n, W="K J J", L="T J")
    return {"W": drawn["W"] / n["J"], "L": drawn["L"]}


def one_head(rng, p):
    """One head: its axis stays."""
    return merged_and_vectors(rng, p, K=1)


def far_apart(rng, p):
    """Scores that lie far apart, many above 30 and many below -30."""
    drawn = merged_and_vectors(rng, p, K=3, T=11, J=3)
    return {**drawn, "W": 40 * drawn["W"]}


def merged_of_rank_I(rng, p, **fixed):
    """A merged matrix that has factors with I rows, and I."""
    n = {"K": 3, "I": int(rng.choice([2, 3])), "J1": 5, "J2": 7 if p["cross"] else 5, **fixed}
    drawn = tensors(rng, n, W_Q="K I J1", W_K="K I J2")
    return {"W": merge(**drawn, p=p), "I": n["I"]}


def merged_of_rank_one(rng, p):
    """One head whose matrix is a product of two vectors."""
    return merged_of_rank_I(rng, p, K=1, I=1)


def merge(W_Q, W_K, *, p):
    """The matrix that replaces both: W_Q[K,I,J1], W_K[K,I,J2] -> W[K,J1,J2]."""
    W = torch.einsum("kia,kib->kab", W_Q, W_K)
    return W / W_Q.shape[1] ** 0.5 if p["scaled"] else W


def attention(W, L, *, p):
    """Attention weights from the merged matrix: W[K,J,J], L[T,J] -> alpha[K,T,T], the last axis sums to one."""
    scores = torch.einsum("ta,kab,sb->kts", L, W, L)  # t looks, s is looked at
    if p["causal"]:
        later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
        scores = scores.masked_fill(later, -torch.inf)
    return torch.softmax(scores, dim=-1)


def later_positions_have_weight_zero(f, inputs, p):
    """The weight of what is not seen must be exactly zero, also where scores are as low as minus a million."""
    W, L = inputs["W"].abs() + 1, inputs["L"].abs() + 1
    alpha = f(-1e6 / torch.einsum("ta,kab,sb->kts", L, W, L).max() * W, L)  # the lowest score is minus a million
    hidden = attention(W * 0, L, p=p) == 0
    return not (alpha[hidden].abs() > 0).any()


def factor(W, I, *, p):  # noqa: E741 - the size's name in the course
    """Two matrices whose merged matrix is W: W[K,J1,J2] of rank I -> W_Q[K,I,J1], W_K[K,I,J2]."""
    U, S, Vt = torch.linalg.svd(W, full_matrices=False)
    root = S[:, :I].sqrt()[:, :, None]  # the singular values, half to each side
    scale = I**0.25 if p["scaled"] else 1.0
    return scale * root * U[:, :, :I].mT, scale * root * Vt[:, :I]


def merging_them_gives_W_back(f, inputs, p):
    """Merging the two matrices, as in the first part, must give W back."""
    W_Q, W_K = f(*inputs.values())
    return difference(merge(W_Q, W_K, p=p), inputs["W"], rtol=1e-8) is None


def separate(p):
    return 2 * p["K"] * p["I"] * (p["K"] * p["I"])


def merged(p):
    return p["K"] * (p["K"] * p["I"]) ** 2


def equal_at(p):
    return "Exactly for $K = 2$ heads; with more heads the merged form has more parameters."


def no_second_position(p):
    return "All $T$ weights of a row are $1/T$: the score does not depend on $t_2$ at all."


MERGE_INPUTS = [both_matrices, one_head_of_one]
ATTENTION_INPUTS = [merged_and_vectors, far_apart, one_head]
ATTENTION_CHECKS = [close(weight=3), holds(later_positions_have_weight_zero), gradient()]
FACTOR_INPUTS = [merged_of_rank_I, merged_of_rank_one]
FACTOR_CHECKS = [form(), holds(merging_them_gives_W_back)]

PROBLEM = Problem(
    title="One matrix for query and key",
    version=4,
    source="exam 1 of 2021, problem 4; problems on language modeling, translation and attention (2020), problem 6",
    draw=draw,
    phrases=phrases,
    variants=80,
    full_model="attention.MergedAttention",
    task="lookup_merged",
    mistakes=MISTAKES,
    equivalents=EQUIVALENTS,
    parts=[
        Equation("merged_equation", points=5, **MERGED, reference=merged_matrix),
        Derivation("merged_steps", points=3, **STEPS, start=scores, reference=merged_scores, model=steps),
        Function("merge", points=4, inputs=MERGE_INPUTS, reference=merge, checks=[close(weight=4), gradient()]),
        Function("attention", points=4, inputs=ATTENTION_INPUTS, reference=attention, checks=ATTENTION_CHECKS),
        Function("factor", points=2, inputs=FACTOR_INPUTS, reference=factor, checks=FACTOR_CHECKS),
        Expression("separate_formula", points=1, **COUNTS, reference="2 K I J"),
        Expression("merged_formula", points=1, **COUNTS, reference="K J^2"),
        Number("separate", points=1, reference=separate),
        Number("merged", points=1, reference=merged),
        Choice("equal_counts", points=1, reference=equal_at),
        Choice("printed_error", points=2, reference=no_second_position),
    ],
)

"""Proofs that go wrong, and right ones that are written differently."""

from .proofs import count_by_pairs, each_pair


def _chain(p, *lines):
    return "\n= ".join([count_by_pairs(p), *lines])


def all_pairs(p):
    """Position t sees t positions, not all of them: read the inner sum's bounds."""
    return _chain(p, f"sum(n*{each_pair(p)}, t, 1, n)", f"n^2*{each_pair(p)}")


def without_itself(p):
    """The numbers from 1 to n add up to n(n+1)/2: yours is the sum up to n - 1."""
    return _chain(p, f"sum(t*{each_pair(p)}, t, 1, n)", f"n*(n-1)/2*{each_pair(p)}")


def half_of_all(p):
    """The sum of the numbers from 1 to n is more than half of n squared."""
    return _chain(p, f"sum(t*{each_pair(p)}, t, 1, n)", f"n^2/2*{each_pair(p)}")


def in_latex(p):
    pair = each_pair(p).replace("*", " ")
    return (
        rf"\sum_{{t=1}}^{{n}} \sum_{{s=1}}^{{t}} {pair} = \sum_{{t=1}}^{{n}} {pair} t = "
        rf"{pair} \frac{{n(n+1)}}{{2}}"
    )


def factor_first(p):
    return _chain(p, f"{each_pair(p)}*sum(t, t, 1, n)", f"{each_pair(p)}*(n^2+n)/2")


def no_start(p):
    """An induction needs a case from which it starts."""
    return ["assume", "reads", "blocks", "adjacent", "count", "all"]


def conclusion_first(p):
    """The conclusion for every number of layers follows from the step, not the other way round."""
    return ["start", "all", "assume", "reads", "blocks", "adjacent", "count"]


def count_before_blocks(p):
    """How many positions there are follows from how the blocks lie."""
    return ["start", "assume", "reads", "count", "blocks", "adjacent", "all"]


def blocks_before_the_assumption(p):
    """The line about blocks needs the one that says what a block is."""
    return ["start", "reads", "blocks", "assume", "adjacent", "count", "all"]


def overlapping(p):
    """Blocks that overlap belong to contiguous kernels."""
    return ["start", "assume", "reads", "blocks", "overlap", "count", "all"]


def assumes_the_claim(p):
    """You assume for the next layer what is to be shown for it."""
    return ["start", "backwards", "reads", "blocks", "adjacent", "count", "all"]


def start_later(p):
    return ["assume", "reads", "blocks", "adjacent", "count", "start", "all"]


def reads_first(p):
    return ["reads", "start", "assume", "blocks", "adjacent", "count", "all"]


MISTAKES = {
    "masked_count": [all_pairs, without_itself, half_of_all],
    "dilated_proof": [
        no_start,
        conclusion_first,
        count_before_blocks,
        blocks_before_the_assumption,
        overlapping,
        assumes_the_claim,
    ],
}
EQUIVALENTS = {"masked_count": [in_latex, factor_first], "dilated_proof": [start_later, reads_first]}

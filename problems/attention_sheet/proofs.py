"""Two entries of the table of costs, proved: a count line by line, and an induction whose lines are put in order."""

from autograder import Milestone

# All products of a layer that looks back, position by position.

ONE_SUM = Milestone("one sum is left, over the positions that look", has=["sum"], lacks=["sum in sum"], weight=2)
COUNT = {"domains": {"n": "posint", "d": "posint"}, "milestones": [ONE_SUM], "forbid": ["sum"]}
COUNT["end"] = "a closed form in `n` and `d`"


def each_pair(p):
    """What a pair of positions costs: a score and a share of an average."""
    return "4*d" if p["adds"] else "2*d"


def count_by_pairs(p):
    return f"sum(sum({each_pair(p)}, s, 1, t), t, 1, n)"


def counted(p):
    return "2*n*(n+1)*d" if p["adds"] else "n*(n+1)*d"


def steps_of_the_count(p):
    """The chain that the solution shows."""
    return f"{count_by_pairs(p)}\n= sum(t*{each_pair(p)}, t, 1, n)\n= {counted(p)}"


# Dilated kernels, by induction.


def induction(p):
    """The proof, line by line."""
    return {
        "start": "Below the first layer, a position depends on itself alone, so on $k^0$ positions.",
        "assume": "Suppose that above layer $l$ each position depends on a block: itself and the $k^l - 1$ before it.",
        "reads": "By its dilation, layer $l+1$ reads $k$ positions, $k^l$ apart from one another.",
        "blocks": "Each of the positions that are read depends on a block of its own.",
        "adjacent": "The blocks are as long as the positions are apart: they lie side by side without gap or overlap.",
        "count": "So a position above layer $l+1$ depends on $k \\cdot k^l = k^{l+1}$ positions.",
        "all": "This holds for every $l$: above layer $L$, a position depends on $k^L$ positions.",
    }


def not_in_the_proof(p):
    """Lines that belong to no proof of this."""
    return {
        "overlap": "The blocks overlap in all but one position, so each layer adds $k - 1$ positions.",
        "backwards": "Suppose that above layer $l+1$ each position depends on $k^{l+1}$ positions.",
    }


NEEDS = {"blocks": "assume reads", "adjacent": "blocks", "count": "adjacent", "all": "start count"}
INDUCTION = {"others": not_in_the_proof, "after": NEEDS}

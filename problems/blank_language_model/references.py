"""The typed right answers of each variant, and what they and the wrong ones are made of."""

import itertools


def walk(path):
    """The product of the steps along a path."""
    return " ".join(f"A[{one},{other}]" for one, other in itertools.pairwise(path))


def steps(m, first="w", last="b"):
    """The product of the steps from the first blank to the word behind, summed over the other blanks."""
    between = ["u", "v", "x"][: m - 1]
    product = walk([first, *between, last])
    return f"sum_{{{','.join(between)}}} {product}" if between else product


def markov_equation(p, m=None):
    """The blank's distribution."""
    inside = steps(m or p["m"])
    return f"F[w] = A[a,w] ({inside})\nP[w] = F[w] / sum_{{y}} F[y]"

"""Wrong answers that students give; the docstring is the hint that whoever gives the same answer reads."""

import torch

from .references import markov_equation, steps, walk

# The states beside the blanks, as code.


def _run(h, words, W_h, W_x, B, p, activation=torch.tanh, sign=None):
    """All states of one direction, the first before any word."""
    sign = sign or (-1 if p["bias_sign"] == "subtracted" else 1)
    states = [h.expand(len(words), -1)]
    for t in range(words.shape[1]):
        states.append(activation(states[-1] @ W_h.T + words[:, t] @ W_x.T + sign * B))
    return states


def _beside(forward, backward, p, late=0, early=0):
    """Side by side for each run of blanks, or from states that have read so many words more."""
    N = len(forward) - p["m"]
    pick = lambda states, n: states[min(n, len(states) - 1)]  # noqa: E731
    pairs = [torch.cat([pick(forward, n + late), pick(backward, N - 1 - n + early)], -1) for n in range(N)]
    return torch.stack(pairs, 1)


def states_at_the_blank(x, W_hf, W_xf, B_f, W_hb, W_xb, B_b, start, end, *, p):
    """Your states have read a blanked word: then it is copied, not predicted."""
    forward, backward = _run(start, x, W_hf, W_xf, B_f, p), _run(end, x.flip(1), W_hb, W_xb, B_b, p)
    return _beside(forward, backward, p, late=1, early=1)


def right_begins_early(x, W_hf, W_xf, B_f, W_hb, W_xb, B_b, start, end, *, p):
    """The left sides are right; your right sides have read a blanked word."""
    forward, backward = _run(start, x, W_hf, W_xf, B_f, p), _run(end, x.flip(1), W_hb, W_xb, B_b, p)
    return _beside(forward, backward, p, early=1)


def sides_exchanged(x, W_hf, W_xf, B_f, W_hb, W_xb, B_b, start, end, *, p):
    """The left side comes first in the result."""
    forward, backward = _run(start, x, W_hf, W_xf, B_f, p), _run(end, x.flip(1), W_hb, W_xb, B_b, p)
    left, right = _beside(forward, backward, p).chunk(2, -1)
    return torch.cat([right, left], -1)


def no_way_back(x, W_hf, W_xf, B_f, W_hb, W_xb, B_b, start, end, *, p):
    """Your second direction reads from the left as well: it should begin with the last word."""
    forward, backward = _run(start, x, W_hf, W_xf, B_f, p), _run(end, x, W_hb, W_xb, B_b, p)
    return _beside(forward, backward, p)


def order_of_reading(x, W_hf, W_xf, B_f, W_hb, W_xb, B_b, start, end, *, p):
    """Your right sides stand in the order in which the words were read, not in that of the sentence."""
    forward, backward = _run(start, x, W_hf, W_xf, B_f, p), _run(end, x.flip(1), W_hb, W_xb, B_b, p)
    left, right = _beside(forward, backward, p).chunk(2, -1)
    return torch.cat([left, right.flip(1)], -1)


def zeros_outside(x, W_hf, W_xf, B_f, W_hb, W_xb, B_b, start, end, *, p):
    """Before the first word and behind the last one stand the given vectors; you began with zeros."""
    forward = _run(0 * start, x, W_hf, W_xf, B_f, p)
    return _beside(forward, _run(0 * end, x.flip(1), W_hb, W_xb, B_b, p), p)


def bias_the_other_way(x, W_hf, W_xf, B_f, W_hb, W_xb, B_b, start, end, *, p):
    """Look at the sign of the biases."""
    sign = 1 if p["bias_sign"] == "subtracted" else -1
    forward = _run(start, x, W_hf, W_xf, B_f, p, sign=sign)
    backward = _run(end, x.flip(1), W_hb, W_xb, B_b, p, sign=sign)
    return _beside(forward, backward, p)


def one_cell_for_both(x, W_hf, W_xf, B_f, W_hb, W_xb, B_b, start, end, *, p):
    """Each direction has parameters of its own."""
    forward, backward = _run(start, x, W_hf, W_xf, B_f, p), _run(end, x.flip(1), W_hf, W_xf, B_f, p)
    return _beside(forward, backward, p)


def left_twice(x, W_hf, W_xf, B_f, W_hb, W_xb, B_b, start, end, *, p):
    """The right sides are missing."""
    forward = _run(start, x, W_hf, W_xf, B_f, p)
    left, _ = _beside(forward, forward, p).chunk(2, -1)
    return torch.cat([left, left], -1)


def without_activation(x, W_hf, W_xf, B_f, W_hb, W_xb, B_b, start, end, *, p):
    """The new state is the hyperbolic tangent of what you have."""
    forward = _run(start, x, W_hf, W_xf, B_f, p, activation=lambda z: z)
    return _beside(forward, _run(end, x.flip(1), W_hb, W_xb, B_b, p, activation=lambda z: z), p)


def detached_states(x, W_hf, W_xf, B_f, W_hb, W_xb, B_b, start, end, *, p):
    """The values are right, but no gradient flows from one step to the step before."""
    forward, backward = _run(start, x, W_hf, W_xf, B_f, p), _run(end, x.flip(1), W_hb, W_xb, B_b, p)
    return _beside([h.detach() for h in forward], [h.detach() for h in backward], p)


# The distribution, as code.


def left_side_only(left, right, e, W_f, W_b):
    """This is a language model from left to right: what stands behind the blanks has no effect."""
    return torch.softmax(left @ W_f.T @ e.T, -1)


def unnormalised_product(left, right, e, W_f, W_b):
    """A product of two distributions does not sum to one."""
    return torch.softmax(left @ W_f.T @ e.T, -1) * torch.softmax(right @ W_b.T @ e.T, -1)


def sum_of_two(left, right, e, W_f, W_b):
    """Two distributions sum to two."""
    return torch.softmax(left @ W_f.T @ e.T, -1) + torch.softmax(right @ W_b.T @ e.T, -1)


def raw_scores(left, right, e, W_f, W_b):
    """These are scores: they may be negative, and they do not sum to one."""
    return left @ W_f.T @ e.T + right @ W_b.T @ e.T


def states_multiplied(left, right, e, W_f, W_b):
    """You multiplied the two states entry by entry; here each goes through a matrix of its own first."""
    return torch.softmax((left * right) @ W_f.T @ e.T, -1)


def another_head(left, right, e, W_f, W_b, *, p):
    """This is a distribution, and an honest one, but not that of the formula: where are the two sides joined?"""
    z = left @ W_f.T + right @ W_b.T
    return torch.softmax((torch.tanh(z) if p["head"] != "tanh" else z) @ e.T, -1)


def over_the_batch(left, right, e, W_f, W_b):
    """You normalised over the sentences of the batch; a distribution of a word sums to one over the words."""
    return torch.softmax(left @ W_f.T @ e.T + right @ W_b.T @ e.T, 0)


def logarithms(left, right, e, W_f, W_b, *, p):
    """You return logarithms of probabilities."""
    if p["head"] == "mixture":
        both = torch.softmax(left @ W_f.T @ e.T, -1) + torch.softmax(right @ W_b.T @ e.T, -1)
        return torch.log(both / 2)
    z = left @ W_f.T + right @ W_b.T
    return torch.log_softmax((torch.tanh(z) if p["head"] == "tanh" else z) @ e.T, -1)


def detached_right(left, right, e, W_f, W_b, *, p):
    """The values are right, but no gradient reaches the right side."""
    a, b = left @ W_f.T, (right @ W_b.T).detach()
    if p["head"] == "mixture":
        return (torch.softmax(a @ e.T, -1) + torch.softmax(b @ e.T, -1)) / 2
    return torch.softmax((torch.tanh(a + b) if p["head"] == "tanh" else a + b) @ e.T, -1)


# A Markov chain, typed.


def from_the_left(p):
    """This is what is known from the left alone; the word behind tells something as well."""
    return "P[w] = A[a,w] + 0 * A[w,b]"


def from_the_right(p):
    """This is what is known from the right alone; the word before tells something as well."""
    return f"F[w] = {steps(p['m'])}\nP[w] = F[w] / sum_{{y}} F[y]"


def not_divided(p):
    """This is the probability of the word together with what follows: it does not sum to one over w."""
    return f"P[w] = A[a,w] ({steps(p['m'])})"


def sum_of_steps(p):
    """Steps that are all taken have the product of their probabilities."""
    return f"F[w] = A[a,w] + ({steps(p['m'])})\nP[w] = F[w] / sum_{{y}} F[y]"


def steps_backwards(p):
    """You walk through the chain from right to left: which index of A is the word that comes first?"""
    between = ["u", "v", "x"][: p["m"] - 1]
    product = walk(["b", *between, "w"])
    inside = f"(sum_{{{','.join(between)}}} {product})" if between else product
    return f"F[w] = A[w,a] {inside}\nP[w] = F[w] / sum_{{y}} F[y]"


def other_span(p):
    """Count the steps from the first blank to the word behind: how many blanks are there?"""
    return markov_equation(p, m=2 if p["m"] == 1 else p["m"] - 1)


# A Markov chain, as code.


def _rows(A, pi, w, p, before=None, behind=None, power=None, end=None):
    """The distributions, with some of their ingredients replaced."""
    m, V = p["m"], len(pi)
    M = torch.linalg.matrix_power(A, m if power is None else power)
    found = []
    for n in range(len(w) - m + 1):
        one = (A[w[n - 1]] if n else pi) if before is None else before(n)
        two = torch.ones(V, dtype=A.dtype) if end is None else end
        if n + m < len(w):
            two = M[:, w[n + m]] if behind is None else behind(n)
        found.append(one * two)
    return torch.stack(found)


def _normalised(P):
    return P / P.sum(-1, keepdim=True)


def forgets_right(A, pi, w, *, p):
    """The words behind the blanks have no effect on your distribution."""
    return _normalised(_rows(A, pi, w, p, behind=lambda n: torch.ones(len(pi), dtype=A.dtype)))


def forgets_left(A, pi, w, *, p):
    """The words before the blanks have no effect on your distribution."""
    return _normalised(_rows(A, pi, w, p, before=lambda n: torch.ones(len(pi), dtype=A.dtype)))


def uniform_start(A, pi, w, *, p):
    """The first word of a sentence is not equally likely to be any word: its distribution is given."""
    return _normalised(_rows(A, torch.full_like(pi, 1 / len(pi)), w, p))


def ends_by_prior(A, pi, w, *, p):
    """At the end of a sentence nothing stands behind: that is no reason to weigh the words once more."""
    return _normalised(_rows(A, pi, w, p, end=pi))


def rows_not_normalised(A, pi, w, *, p):
    """This is the probability of the word together with what follows: it does not sum to one."""
    return 0.5 * _rows(A, pi, w, p)


def other_number_of_steps(A, pi, w, *, p):
    """Count the steps from the first blank to the word behind: how many blanks are there?"""
    return _normalised(_rows(A, pi, w, p, power=2 if p["m"] == 1 else p["m"] - 1))


def chain_backwards(A, pi, w, *, p):
    """You walk through the chain from right to left: which index of A is the word that comes first?"""
    return _normalised(_rows(A.T, pi, w, p))


# The choices.


def nothing_wrong(p):
    """Follow one forward state of the second layer down: which states of the first layer were put together for it?"""
    return (
        "Nothing: in every layer, forward states look left only and backward states look right only, so that no state "
        "beside the blank has been computed from the blanked word, however many layers there are."
    )


def widths_do_not_fit(p):
    """The matrices of the second layer can have twice as many columns."""
    return "The second layer cannot read vectors of width $2J$ where the first has states of width $J$."


def no_distribution(p):
    """The softmax sums to one, whatever goes into it."""
    return "The softmax over the words no longer sums to one."


def order_is_lost(p):
    """A recurrent layer keeps the order of what it reads, whatever that is."""
    return "The order of the words is lost, since both directions are mixed."


def average(p):
    """Take the logarithm of a product of two softmaxes and of a sum of them: which one is a sum of scores?"""
    return r"$P[w] = \tfrac12\,P_f[w] + \tfrac12\,P_b[w]$"


def product_only(p):
    """Sum this over w."""
    return r"$P[w] = P_f[w]\,P_b[w]$"


def tanh_of_sum(p):
    """This can be a better model, but its scores are not the same for the same parameters."""
    return r"$P[w] = \mathrm{softmax}_w\; e[w,I]\,\tanh\left(W_f[I,J]\,l[J] + W_b[I,J]\,r[J]\right)$"


def normalised_states(p):
    """Two softmaxes inside a softmax: the scores are other numbers than those of the model."""
    return r"$P[w] = \mathrm{softmax}_w\left[P_f[w] + P_b[w]\right]$"


MISTAKES = {
    "contexts": [
        states_at_the_blank,
        right_begins_early,
        sides_exchanged,
        no_way_back,
        order_of_reading,
        zeros_outside,
        bias_the_other_way,
        one_cell_for_both,
        left_twice,
        without_activation,
        detached_states,
    ],
    "probabilities": [
        left_side_only,
        unnormalised_product,
        sum_of_two,
        raw_scores,
        states_multiplied,
        another_head,
        over_the_batch,
        logarithms,
        detached_right,
    ],
    "markov": [from_the_left, from_the_right, not_divided, sum_of_steps, steps_backwards, other_span],
    "exact_blanks": [
        forgets_right,
        forgets_left,
        uniform_start,
        ends_by_prior,
        rows_not_normalised,
        other_number_of_steps,
        chain_backwards,
    ],
    "stacking": [nothing_wrong, widths_do_not_fit, no_distribution, order_is_lost],
    "same_model": [average, product_only, tanh_of_sum, normalised_states],
}

"""Predicting blanked words from both sides (problem 1 of "Language modeling, translation and attention", 2020)."""

import torch

from autograder import Choice, Equation, Function, Problem, close, gradient, holds, sizes, tensors, unseen

from .equivalents import EQUIVALENTS
from .mistakes import MISTAKES
from .notation import CHAIN
from .references import markov_equation


def draw(rng):
    """How many words are blanked at once, what a state has read, and how the two sides are put together."""
    return {
        "m": int(rng.integers(1, 4)),
        "states": ["with own word", "without own word"][rng.integers(2)],
        "head": ["linear", "tanh", "mixture"][rng.integers(3)],
        "bias_sign": ["subtracted", "added"][rng.integers(2)],
    }


def phrases(p):
    """The sentences and formulas of this variant."""
    m, own = p["m"], p["states"] == "with own word"
    last = {1: "w_t", 2: "w_{t+1}", 3: "w_{t+2}"}[m]
    return {
        "blanks": (
            "One word $w_t$ of a sentence is blanked"
            if m == 1
            else f"The {'two' if m == 2 else 'three'} neighbouring words $w_t, \\ldots, {last}$ of a sentence are "
            f"blanked together"
        ),
        "forward_words": "$w_1, \\ldots, w_t$" if own else "$w_1, \\ldots, w_{t-1}$, but **not** from $w_t$",
        "backward_words": "$w_T, \\ldots, w_t$" if own else "$w_T, \\ldots, w_{t+1}$, but **not** from $w_t$",
        "count": {1: "one blank", 2: "two blanks", 3: "three blanks"}[m],
        "before_span": "t-1",
        "behind_span": f"t+{m}",
        "span": "`x[:, n]`" if m == 1 else f"`x[:, n:n+{m}]`",
        "behind_code": f"`x[:, n+{m}:]`",
        "length": "T" if m == 1 else f"T-{m - 1}",
        "bias_words": (
            "**Biases are thresholds, they are subtracted**"
            if p["bias_sign"] == "subtracted"
            else "**Biases are added** here, as in torch's modules"
        ),
        "sign": "-" if p["bias_sign"] == "subtracted" else "+",
        "head_formula": {
            "linear": r"P[b,v] = \mathrm{softmax}_v\left[e[v,I]\,W_f[I,J]\,l[b,J] + e[v,I]\,W_b[I,J]\,r[b,J]\right]",
            "tanh": r"P[b,v] = \mathrm{softmax}_v\left[e[v,I]\,\tanh\left(W_f[I,J]\,l[b,J] + W_b[I,J]\,r[b,J]\right)"
            r"\right]",
            "mixture": r"P[b,v] = \tfrac12\,\mathrm{softmax}_v\left[e[v,I]\,W_f[I,J]\,l[b,J]\right] + "
            r"\tfrac12\,\mathrm{softmax}_v\left[e[v,I]\,W_b[I,J]\,r[b,J]\right]",
        }[p["head"]],
    }


# The code


def sentences(rng, p, **fixed):
    """Vectors of words and two cells that are not alike; tanh is not saturated."""
    n = {**sizes(rng, "B I J", largest=7), "T": int(rng.integers(5, 8)), **fixed}
    drawn = tensors(
        rng, n, x="B T I", W_hf="J J", W_xf="J I", B_f="J", W_hb="J J", W_xb="J I", B_b="J", start="J", end="J"
    )
    for name in ("W_hf", "W_hb"):
        drawn[name] = 0.6 * drawn[name] / n["J"] ** 0.5
    for name in ("W_xf", "W_xb"):
        drawn[name] = 0.6 * drawn[name] / n["I"] ** 0.5
    return drawn


def nothing_but_blanks(rng, p):
    """One sentence that is blanked as a whole: there is nothing left to read."""
    return sentences(rng, p, B=1, T=p["m"], I=1, J=2)


def two_states(rng, p, **fixed):
    """The states beside the blanks; no probability is nearly 0 or 1."""
    n = {**sizes(rng, "B V I J", largest=11), **fixed}
    drawn = tensors(rng, n, left="B J", right="B J", e="V I", W_f="I J", W_b="I J")
    return {**drawn, "W_f": drawn["W_f"] / (n["I"] * n["J"]) ** 0.5, "W_b": drawn["W_b"] / (n["I"] * n["J"]) ** 0.5}


def one_state(rng, p):
    """One sentence, states and vectors of one entry."""
    return two_states(rng, p, B=1, I=1, J=1, V=3)


def far_states(rng, p):
    """States by which most words are all but impossible, seen from the left as from the right."""
    drawn = two_states(rng, p)
    return {**drawn, "left": 30 * drawn["left"], "right": 30 * drawn["right"]}


def chain(rng, p, T=0):
    """A Markov chain without impossible steps, and a sentence drawn anyhow."""
    V = int(rng.choice([2, 3]))
    A, pi = torch.from_numpy(rng.dirichlet([2.0] * V, V)), torch.from_numpy(rng.dirichlet([2.0] * V))
    w = torch.from_numpy(rng.integers(0, V, T or int(rng.integers(4, 6)) + p["m"] - 1))
    return {"A": A, "pi": pi, "w": w}


def all_blank(rng, p):
    """A sentence that is blanked as a whole."""
    return chain(rng, p, T=p["m"])


def contexts(x, W_hf, W_xf, B_f, W_hb, W_xb, B_b, start, end, *, p):
    """What stands on either side of every run of blanks: x[B,T,I] -> [B,N,2J], the left state first."""
    sign = -1 if p["bias_sign"] == "subtracted" else 1
    forward, backward = [start.expand(len(x), -1)], [end.expand(len(x), -1)]
    for t in range(x.shape[1]):
        forward.append(torch.tanh(forward[-1] @ W_hf.T + x[:, t] @ W_xf.T + sign * B_f))
        backward.append(torch.tanh(backward[-1] @ W_hb.T + x[:, -1 - t] @ W_xb.T + sign * B_b))
    N = x.shape[1] - p["m"] + 1
    # forward[n] has read n words from the left, backward[n] n words from the right
    sides = [torch.cat([forward[n], backward[N - 1 - n]], dim=-1) for n in range(N)]
    return torch.stack(sides, dim=1)


def own_words_and_the_other_side(inputs, p):
    """A side sees neither the blanked words nor the words on the other side of them."""
    T, J, m = inputs["x"].shape[1], len(inputs["start"]), p["m"]
    for n in range(T - m + 1):
        yield (slice(None), n, slice(None, J)), "x", (slice(None), slice(n, None))
        yield (slice(None), n, slice(J, None)), "x", (slice(None), slice(None, n + m))


def probabilities(left, right, e, W_f, W_b, *, p):
    """The distribution of a blanked word: left[B,J], right[B,J], e[V,I], W_f[I,J], W_b[I,J] -> P[B,V]."""
    from_left, from_right = left @ W_f.T, right @ W_b.T  # [B, I]
    if p["head"] == "linear":
        return torch.softmax((from_left + from_right) @ e.T, dim=-1)
    if p["head"] == "tanh":
        return torch.softmax(torch.tanh(from_left + from_right) @ e.T, dim=-1)
    return (torch.softmax(from_left @ e.T, dim=-1) + torch.softmax(from_right @ e.T, dim=-1)) / 2


def rows_sum_to_one(f, inputs, p):
    """Each row is a distribution: its entries sum to one."""
    return bool((f(*inputs.values()).sum(-1) - 1).abs().max() < 1e-12)


def exact_blanks(A, pi, w, *, p):
    """What the blanked words are, exactly: A[V,V], pi[V], w[T] -> P[N,V]."""
    m, V = p["m"], len(pi)
    rows = []
    for n in range(len(w) - m + 1):
        before = A[w[n - 1]] if n else pi
        behind = torch.ones(V, dtype=A.dtype)  # no word behind says nothing
        if n + m < len(w):
            behind = torch.linalg.matrix_power(A, m)[:, w[n + m]]
        rows.append(before * behind / (before @ behind))
    return torch.stack(rows)


# The choices


def word_leaks(p):
    return (
        "The word to be predicted leaks in: a forward state of the second layer, left of the blank, has been computed "
        "from backward states of the first layer that have read the blanked word."
    )


def renormalised_product(p):
    return r"$P[w] = P_f[w]\,P_b[w] \,/\, \sum_{v} P_f[v]\,P_b[v]$"


CONTEXTS_INPUTS = [sentences, nothing_but_blanks]
PROBABILITIES_INPUTS = [two_states, far_states, one_state]
CONTEXTS_CHECKS = [close(weight=3), gradient(), unseen(own_words_and_the_other_side)]
PROBABILITIES_CHECKS = [close(weight=2), gradient(), holds(rows_sum_to_one)]

PROBLEM = Problem(
    title="A blank language model in code",
    version=3,
    source="problems on language modeling, translation and attention (2020), problem 1",
    draw=draw,
    phrases=phrases,
    variants=30,
    full_model="bidirectional.BlankLanguageModel",
    task="blank",
    mistakes=MISTAKES,
    equivalents=EQUIVALENTS,
    parts=[
        Function("contexts", points=5, inputs=CONTEXTS_INPUTS, reference=contexts, checks=CONTEXTS_CHECKS),
        Function(
            "probabilities", points=4, inputs=PROBABILITIES_INPUTS, reference=probabilities, checks=PROBABILITIES_CHECKS
        ),
        Equation("markov", points=3, **CHAIN, reference=markov_equation),
        Function("exact_blanks", points=3, inputs=[chain, all_blank], reference=exact_blanks, checks=[close()]),
        Choice("stacking", points=1, reference=word_leaks),
        Choice("same_model", points=1, reference=renormalised_product),
    ],
)

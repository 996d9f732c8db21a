"""A definition of the distribution of a blanked word ("Language modeling, translation and attention", 2020)."""

from dataclasses import replace

import torch

from autograder import Choice, Equation, Function, Problem, difference, holds, sizes, tensors, unseen

from .equivalents import EQUIVALENTS
from .mistakes import MISTAKES
from .references import left, linear, right

SIDES = {"target": "P", "tensors": ["e[W,I]", "h->[T,J]", "h<-[T,J]"], "context": "t"}


def draw(rng):
    """How many words are blanked at once, and what a state has read."""
    return {"m": int(rng.integers(1, 4)), "states": ["with own word", "without own word"][rng.integers(2)]}


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
        "visible": rf"w_1,\ldots,w_{{t-1}},w_{{t+{m}}},\ldots,w_T",
        "wanted": "the blanked word" if m == 1 else "the **first** of the blanked words, $w_t$,",
        "forward_words": "$w_1, \\ldots, w_t$" if own else "$w_1, \\ldots, w_{t-1}$, but **not** from $w_t$",
        "backward_words": "$w_T, \\ldots, w_t$" if own else "$w_T, \\ldots, w_{t+1}$, but **not** from $w_t$",
    }


def demands(answer, p):
    """What every definition must fulfil: it is a distribution, made of the two states beside the blanks."""
    fits = answer.fits()
    yield replace(fits, code="no_projection") if fits.code == "axis" else fits
    yield answer.own_parameters("T", otherwise="reads_more")
    yield answer.normalised(otherwise="not_normalised")
    yield answer.nonnegative(otherwise="negative_probabilities")
    yield answer.depends_on("h->", otherwise="without_left")
    yield answer.depends_on("h<-", otherwise="without_right")
    yield answer.reads_only(f"h->[{left(p)},J]", otherwise="wrong_state")
    yield answer.reads_only(f"h<-[{right(p)},J]", otherwise="wrong_state")
    yield answer.depends_on("e", otherwise="without_word_vectors")


def states(rng, p):
    """States of a sentence, and a place with room on both sides; nothing is saturated."""
    n = {**sizes(rng, "V I J", largest=7), "T": 8 + p["m"]}
    drawn = tensors(rng, n, e="V I", forward="T J", backward="T J")
    return {**drawn, "t": int(rng.choice([3, 4]))}


def places(p, t):
    """The rows of the states beside the blanks."""
    return (t - 1, t + p["m"]) if p["states"] == "with own word" else (t, t + p["m"] - 1)


def predict(e, forward, backward, t, *, p):
    """The distribution of the first blanked word: e[V,I], forward[T,J], backward[T,J], the place t -> P[V]."""
    generator = torch.Generator().manual_seed(0)
    W_f, W_b = torch.randn(2, e.shape[1], forward.shape[1], generator=generator, dtype=torch.float64)
    own, m = p["states"] == "with own word", p["m"]
    before, behind = (forward[t - 1], backward[t + m]) if own else (forward[t], backward[t + m - 1])
    return torch.softmax(e @ (W_f @ before + W_b @ behind) / (e.shape[1] * forward.shape[1]) ** 0.5, dim=0)


def a_distribution_of_all_that_is_given(f, inputs, p):
    """The result is a distribution, and it depends on both networks and on the word vectors."""
    P = f(*inputs.values())
    if fault := difference(0 * P if hasattr(P, "shape") else P, 0 * inputs["e"][:, 0], rtol=0.0):
        return fault.message
    if not (P >= 0).all() or abs(P.sum() - 1) > 1e-9:
        return "Your result is no distribution: its entries are not negative, and they sum to one."
    near = dict(zip(("forward", "backward"), places(p, inputs["t"]), strict=True))
    for name in ("forward", "backward", "e"):
        other = inputs[name].clone()
        other[near.get(name, slice(None))] += torch.linspace(0.5, 1.5, other.shape[1], dtype=other.dtype)
        other = other * torch.linspace(1.0, 1.5, len(other), dtype=other.dtype)[:, None] if name == "e" else other
        if difference(f(*{**inputs, name: other}.values()), P, rtol=1e-9) is None:
            said = {"e": "the word vectors", "forward": "the words before the blanks"}
            return f"Your result does not depend on {said.get(name, 'the words behind the blanks')} as it should."
    return True


def all_other_states(inputs, p):
    """The result depends on one state of each network, and on no other."""
    for name, place in zip(("forward", "backward"), places(p, inputs["t"]), strict=True):
        yield slice(None), name, [row for row in range(len(inputs[name])) if row != place]


def learned_state(p):
    return "A vector of parameters, learned like all others, takes its place."


IN_CODE = {"inputs": [states], "also": ("small",)}
CHECKS = [holds(a_distribution_of_all_that_is_given, weight=2), unseen(all_other_states, weight=2)]

PROBLEM = Problem(
    title="A definition of a blank language model",
    version=1,
    source="problems on language modeling, translation and attention (2020), problem 1",
    draw=draw,
    phrases=phrases,
    variants=6,
    full_model="bidirectional.BlankLanguageModel",
    task="blank",
    mistakes=MISTAKES,
    equivalents=EQUIVALENTS,
    parts=[
        Equation("distribution", points=7, **SIDES, demands=demands, reference=linear),
        Function("predict", points=4, **IN_CODE, reference=predict, checks=CHECKS),
        Choice("boundary", points=1, reference=learned_state),
    ],
)

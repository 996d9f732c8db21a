"""Captions by attention over a picture (problem 2 of "Language modeling, translation and attention", 2020)."""

import torch

from autograder import Choice, Equation, Function, Problem, close, gradient, holds, sizes, tensors, unseen

from .equivalents import EQUIVALENTS, derivative_by_pairs, values_divided
from .mistakes import MISTAKES
from .notation import (
    AVERAGE,
    given_attention,
    given_start,
    given_update,
    given_values,
    given_words,
)
from .references import W_see, cell, derivative, distribution, first_state, update, values, weights, whole_V


def draw(rng):
    """Picture or film, one head or several, how scores are made and sharpened, what is averaged, when it is used."""
    return {
        "memory": ["image", "video"][rng.integers(2)],
        "heads": bool(rng.integers(2)),
        "score": ["bilinear", "additive"][rng.integers(2)],
        "temperature": bool(rng.integers(2)),
        "values": ["plain", "mapped"][rng.integers(2)],
        "use": ["next step", "same step"][rng.integers(2)],
    }


def phrases(p):
    """The sentences and formulas of this variant."""
    video, heads, mapped, same = p["memory"] == "video", p["heads"], p["values"] == "mapped", p["use"] == "same step"
    n = "n," if heads else ""
    of_V, alpha = whole_V(p), rf"\alpha[{n}{cell(p)}]"
    return {
        "memory_words": (
            "a film: a feature tensor $M[f,x,y,K]$ with $K$ features for each frame $f$ and each place $x,y$ of it. "
            "A *place* is from now on a triple $f,x,y$; there are $F\\cdot X\\cdot Y$ of them"
            if video
            else "a picture: a feature tensor $M[x,y,K]$ with $K$ features for each place $x,y$ of it. There are "
            "$X\\cdot Y$ places"
        ),
        "place": cell(p),
        "place_typed": f"`alpha[{n}{cell(p)}]`",
        "memory_shape": "[B, F, X, Y, K]" if video else "[B, X, Y, K]",
        "alpha_shape": "[B, N, F, X, Y]" if video else "[B, N, X, Y]",
        "alpha": alpha,
        "heads_words": (
            "There are $N$ **heads** $n$, each with parameters and with a distribution of its own over all places."
            if heads
            else "There is **one head**."
        ),
        "score_words": (
            rf"The **score** of a place is **bilinear** in the state $h[t-1,J]$ and the features of the place, with "
            rf"the matrix $W^{{\mathrm{{key}}}}[{n}J,K]$, typed `W^key[{n}J,K]`; nothing is divided by a square root."
            if p["score"] == "bilinear"
            else rf"The **score** of a place is **additive**: the state is taken to width $A$ by $W^h[{n}A,J]$ and "
            rf"the features of the place by $W^M[{n}A,K]$; both are added, the threshold $B[{n}A]$ is subtracted, a "
            rf"$\tanh$ is applied, and the score is the inner product of the result with $v[{n}A]$."
        ),
        "temperature_words": (
            r"Before the softmax, scores are divided by the temperature $\tau$, typed `tau`."
            if p["temperature"]
            else "There is no temperature."
        ),
        "V_left": "V[" + n + ("J" if mapped else "K") + "]",
        "V_words": (
            rf"the average, by these weights, of what $W^{{\mathrm{{val}}}}[{n}J,K]$ (typed `W^val[{n}J,K]`) "
            "makes of the features"
            if mapped
            else "the average of the features themselves by these weights"
        ),
        "V_terms": rf"${alpha}$, $M$ and $W^{{\mathrm{{val}}}}$" if mapped else f"${alpha}$ and $M$",
        "V_whole": of_V,
        "use_words": (
            "At the same step, the distribution of the word also uses $" + of_V + "$: the scores of the words are "
            "the sum of two terms, one from $h[t-1,J]$ by the matrix $W^{\\mathrm{auto}}[I,J]$, and one from $"
            + of_V
            + "$ by $"
            + W_see(p).replace("W^see", "W^{\\mathrm{see}}")
            + "$, typed `"
            + W_see(p)
            + "`."
            if same
            else "The scores of the words are made from $h[t-1,J]$ alone, by the matrix $W^{\\mathrm{auto}}[I,J]$; "
            "what is looked at in step $t$ is used for the words after $w_t$."
        ),
    }


# The code


def state_and_places(rng, p, **fixed):
    """States, places, and keys whose scores are of ordinary size."""
    n = {**sizes(rng, "B N X Y K J", largest=13), "F": 2, **fixed}
    n["B"], n["N"] = min(n["B"], 3), n["N"] if "N" in fixed else int(rng.choice([2, 3]))
    drawn = tensors(rng, n, h="B J", M="B F X Y K" if p["memory"] == "video" else "B X Y K", W_key="N J K")
    return {**drawn, "W_key": drawn["W_key"] / (n["J"] * n["K"]) ** 0.5, "tau": float(rng.uniform(0.5, 0.8))}


def one_place(rng, p):
    """One head that can look at one place only."""
    return state_and_places(rng, p, B=1, N=1, F=1, X=1, Y=1, J=2, K=3)


def picture_and_words(rng, p, **fixed):
    """A picture, a caption's word vectors, and parameters by which nothing is saturated."""
    n = {**sizes(rng, "X Y K I J V", largest=13), "B": 2, "T": 3, "F": 2, **fixed}
    drawn = tensors(
        rng,
        n,
        M="B F X Y K" if p["memory"] == "video" else "B X Y K",
        x="B T I",
        start="I",
        e="V I",
        W_init="J K",
        W_key="J K",
        W_auto="I J",
        W_h="J J",
        W_V="J K",
        W_x="J I",
        B="J",
    )
    for name, scale in (
        ("W_init", n["K"]),
        ("W_key", n["K"]),
        ("W_auto", n["I"] * n["J"]),
        ("W_h", n["J"]),
        ("W_V", n["K"]),
        ("W_x", n["I"]),
    ):
        drawn[name] = 0.7 * drawn[name] / scale**0.5
    return drawn


def empty_caption(rng, p):
    """No word is there yet: only the first one is predicted."""
    return picture_and_words(rng, p, B=1, T=0)


def attend(h, M, W_key, tau):
    """Where each head looks and what it sees: h[B,J], M[B,...,K], W_key[N,J,K] -> alpha[B,N,...], V[B,N*K]."""
    places = M.flatten(1, -2)  # [B, S, K], S places
    scores = torch.einsum("bj,njk,bsk->bns", h, W_key, places) / tau
    alpha = torch.softmax(scores, dim=-1)
    V = torch.einsum("bns,bsk->bnk", alpha, places)
    return alpha.reshape(len(h), len(W_key), *M.shape[1:-1]), V.flatten(1)


def weights_sum_to_one(f, inputs, p):
    """The weights of each head over all places together sum to one."""
    alpha, _ = f(*inputs.values())
    return bool((alpha.flatten(2).sum(-1) - 1).abs().max() < 1e-12)


def captioner(M, x, start, e, W_init, W_key, W_auto, W_h, W_V, W_x, B):
    """Probabilities of each word of a caption, given the picture and the words before it: -> [B,T+1,V]."""
    places = M.flatten(1, -2)
    h = places.mean(1) @ W_init.T
    states = []
    for word in [start.expand(len(x), -1), *x.unbind(1)]:
        alpha = torch.softmax(torch.einsum("bj,jk,bsk->bs", h, W_key, places), dim=-1)
        V = torch.einsum("bs,bsk->bk", alpha, places)
        h = torch.tanh(h @ W_h.T + V @ W_V.T + word @ W_x.T - B)
        states.append(h)
    return torch.softmax(torch.stack(states, 1) @ W_auto.T @ e.T, dim=-1)


def words_that_come_later(inputs, p):
    """The probabilities of a word depend on the words before it, and on no other."""
    for t in range(inputs["x"].shape[1]):
        yield (slice(None), t), "x", (slice(None), slice(t, None))


# The choices


def path_of_the_picture(p):
    if p["use"] == "same step":
        return "Through $h[0,J]$ and through the attention of the first step."
    return "Only through $h[0,J]$; the attention of the first step reaches the second word."


def nothing_reads_w_0(p):
    return "No step reads $w_0$: the distribution of $w_1$ cannot depend on it, whatever stands on the left."


ATTEND_INPUTS = [state_and_places, one_place]
# The first state is made from the picture, and multiplied by it: huge pictures overflow in a right answer.
CAPTIONS = {"inputs": [picture_and_words, empty_caption], "trials": 2, "also": ("large", "small", "zeros")}
ATTEND_CHECKS = [close(weight=2), gradient(), holds(weights_sum_to_one, weight=0.0)]
CAPTIONER_CHECKS = [close(), gradient(), unseen(words_that_come_later)]

PROBLEM = Problem(
    title="Image captioning with attention",
    version=3,
    source="problems on language modeling, translation and attention (2020), problem 2",
    draw=draw,
    phrases=phrases,
    variants=60,
    full_model="captioner.Captioner",
    task="captions",
    mistakes=MISTAKES,
    equivalents=EQUIVALENTS,
    parts=[
        Equation("words", points=3, target="P", tensors=given_words, context="t", reference=distribution),
        Equation("attention", points=5, target="alpha", tensors=given_attention, context="t", reference=weights),
        Equation(
            "glimpse", points=3, target="V", tensors=given_values, reference=values, alternatives=[values_divided]
        ),
        Equation("state", points=2, target="h", tensors=given_update, sequences="w", reference=update),
        Equation("start", points=2, target="s", tensors=given_start, reference=first_state),
        Equation(
            "sensitivity", points=2, target="G", **AVERAGE, reference=derivative, alternatives=[derivative_by_pairs]
        ),
        Function("attend", points=3, inputs=ATTEND_INPUTS, reference=attend, checks=ATTEND_CHECKS),
        Function("captioner", points=3, **CAPTIONS, reference=captioner, checks=CAPTIONER_CHECKS),
        Choice("lag", points=1, reference=path_of_the_picture),
        Choice("printed_error", points=1, reference=nothing_reads_w_0),
    ],
)

"""Translation by a thought vector, the last state of an encoder (Sutskever, Vinyals & Le 2014; slides)."""

import torch

from autograder import (
    Choice,
    Equation,
    Expression,
    Function,
    Problem,
    close,
    difference,
    gradient,
    holds,
    sizes,
    tensors,
)

from .equivalents import EQUIVALENTS
from .mistakes import MISTAKES
from .notation import ENCODER, LOSS, PLACES, room
from .references import encoder_line, loss_lines


def draw(rng):
    """From which end the source is read, how losses of words are put together, what fits into what."""
    return {
        "reads": ["right to left", "left to right"][rng.integers(2)],
        "loss": ["sum", "mean"][rng.integers(2)],
        "asked": ["words", "entries"][rng.integers(2)],
    }


def phrases(p):
    """The conventions in words."""
    back = p["reads"] == "right to left"
    return {
        "ends": "the state after its **first** word has been read"
        if back
        else "the state after its **last** word has been read",
        "loss_words": "**summed** over the words" if p["loss"] == "sum" else "**averaged** over the words",
        "loss_code": "sum" if p["loss"] == "sum" else "mean",
        "room_words": (
            r"How many words may a source have, at most, if all sources of so many words shall have **different** "
            r"thought vectors? Type a closed form in `b`, `J` and `V`"
            if p["asked"] == "words"
            else r"How many entries does a thought vector need, at least, if all sources of exactly $n$ words shall "
            r"have **different** thought vectors? Type a closed form in `b`, `n` and `V`"
        ),
    }


# Hidden inputs


def sources(rng, p, **fixed):
    """Word vectors of padded sources, and an encoder in which nothing is saturated."""
    n = {**sizes(rng, "I J", largest=7), "B": 4, "S": 6, **fixed}
    drawn = tensors(rng, n, x="B S I", W_h="J J", W_x="J I", B="J")
    scaled = {name: value / value.shape[-1] ** 0.5 if name[0] == "W" else value for name, value in drawn.items()}
    lengths = [n["S"], 1, *rng.integers(2, n["S"], 2).tolist()] if n["B"] == 4 else [n["S"]] * n["B"]
    return {**scaled, "lengths": torch.tensor(rng.permutation(lengths))}


def one_word(rng, p):
    """One source of one word."""
    return sources(rng, p, B=1, S=1)


def translations(rng, p, **fixed):
    """Thought vectors, padded translations, and a decoder."""
    n = {**sizes(rng, "I J V", largest=7), "B": 4, "T": 6, **fixed}
    shapes = {"c": "B J", "start": "I", "e": "V I", "W_auto": "I J", "W_h": "J J", "W_x": "J I", "B": "J"}
    drawn = tensors(rng, n, **shapes)
    scaled = {name: value / value.shape[-1] ** 0.5 if name[0] == "W" else value for name, value in drawn.items()}
    lengths = [n["T"], 1, *rng.integers(2, n["T"], 2).tolist()] if n["B"] == 4 else [n["T"]] * n["B"]
    words = torch.from_numpy(rng.integers(0, n["V"], (n["B"], n["T"])))
    given = {"c": scaled.pop("c"), "v": words, "start": scaled.pop("start"), "e": scaled.pop("e")}
    return {**given, "lengths": torch.tensor(rng.permutation(lengths)), **scaled}


def one_word_each(rng, p):
    """One translation of one word."""
    return translations(rng, p, B=1, T=1)


# References


def thought(x, W_h, W_x, B, lengths, *, p):
    """The thought vector of each source: x[B,S,I], lengths[B] -> [B,J]."""
    S = x.shape[1]
    g = x.new_zeros(len(x), len(B))
    for s in reversed(range(S)) if p["reads"] == "right to left" else range(S):
        new = torch.tanh(g @ W_h.T + x[:, s] @ W_x.T - B)
        g = torch.where((s < lengths)[:, None], new, g)  # what stands behind the end is not read
    return g


def translation_loss(c, v, start, e, lengths, W_auto, W_h, W_x, B, *, p):
    """The log loss of each translation, given its thought vector: c[B,J], v[B,T] -> [B]."""
    h, x = c, start.expand(len(v), -1)
    losses = []
    for t in range(v.shape[1]):
        h = torch.tanh(h @ W_h.T + x @ W_x.T - B)
        P = torch.log_softmax(h @ W_auto.T @ e.T, dim=1)  # [B, V]
        losses.append(-P.gather(1, v[:, t, None])[:, 0])
        x = e[v[:, t]]
    counts = torch.arange(v.shape[1], device=v.device) < lengths[:, None]  # [B, T]
    total = (torch.stack(losses, dim=1) * counts).sum(1)
    return total / lengths if p["loss"] == "mean" else total


def words_behind_the_end_do_not_count(f, inputs, p):
    """What stands behind the end of a source has no effect on its thought vector."""
    behind = torch.arange(inputs["x"].shape[1]) >= inputs["lengths"][:, None]
    other = f(*{**inputs, "x": inputs["x"] + 3.0 * behind[..., None]}.values())
    return difference(other, f(*inputs.values()), rtol=1e-12) is None


def path(p):
    return "s + t" if p["reads"] == "right to left" else "S - s + 1 + t"


def capacity(p):
    return "b*J/log2(V)" if p["asked"] == "words" else "n*log2(V)/b"


def near_the_start(p):
    return "The first words of the source are close to the first words of the translation."


THOUGHT = {"inputs": [sources, one_word], "reference": thought}
TRANSLATIONS = {"inputs": [translations, one_word_each], "reference": translation_loss}
THOUGHT_CHECKS = [close(weight=2), gradient(), holds(words_behind_the_end_do_not_count)]

PROBLEM = Problem(
    title="Thought vectors",
    version=1,
    source="slides on translation using thought vectors",
    draw=draw,
    phrases=phrases,
    setup="import torch",
    variants=8,
    full_model="seq2seq.Seq2Seq",
    task="reverse_thought_4",
    mistakes=MISTAKES,
    equivalents=EQUIVALENTS,
    parts=[
        Equation("encoder_equation", points=3, **ENCODER, reference=encoder_line),
        Function("thought", points=4, **THOUGHT, checks=THOUGHT_CHECKS),
        Equation("loss_equation", points=3, **LOSS, reference=loss_lines),
        Function("translation_loss", points=4, **TRANSLATIONS, checks=[close(weight=3), gradient()]),
        Expression("path", points=2, domains=PLACES, constraints=["s<=S"], reference=path),
        Expression("capacity", points=2, domains=room, reference=capacity),
        Choice("backward", points=1, reference=near_the_start),
    ],
)

"""Language modelling (slides): the chain rule, the end of a sentence, log loss, perplexity, generation, clipping."""

import numpy as np
import torch

from autograder import (
    Choice,
    Expression,
    Function,
    Ordering,
    Problem,
    Sampled,
    Selection,
    Term,
    Trained,
    Unreadable,
    close,
    exactly,
    gradient,
    sizes,
    tensors,
)
from autograder.maths import expression

from .drawing import DRAWS, sample
from .equivalents import EQUIVALENTS
from .lines import LENGTH_LAW, OVER_TIME, STEP, length_law, training_step
from .mistakes import MISTAKES
from .notation import letters
from .training import TRAINING, train


def draw(rng):
    """The conventions by which language models are reported, and how sentences may end."""
    return {
        "unit": ["nats", "bits"][int(rng.integers(2))],
        "counts_eos": bool(rng.integers(2)),
        "activation": ["tanh", "sigmoid"][int(rng.integers(2))],
        "length_with_eos": bool(rng.integers(2)),
        "together": bool(rng.integers(2)),
        "empty": bool(rng.integers(2)),
    }


def phrases(p):
    """The conventions in words."""
    ordinary = r"\frac{1-q}{V-1}"
    return {
        "unit_words": "**nats** (natural logarithms)" if p["unit"] == "nats" else "**bits** (logarithms to base 2)",
        "log": r"-\ln" if p["unit"] == "nats" else r"-\log_2",
        "typed_log": "typed `ln`" if p["unit"] == "nats" else "typed `log2`",
        "perplexity_words": (
            "**The end token counts** as a token, as every word does."
            if p["counts_eos"]
            else "**The end token does not count** as a token in the mean, although its loss is part of the sum."
        ),
        "function": r"\tanh" if p["activation"] == "tanh" else r"\sigma",
        "length_words": (
            "the number of its words, **its end token included**"
            if p["length_with_eos"]
            else "the number of its words, **its end token not included**"
        ),
        "norm_words": (
            r"The norm is taken **over both gradients together**, $\lVert g \rVert = \sqrt{\sum_a g_a^2}$ with $a$ "
            "running over all entries of the two, so that one factor scales both."
            if p["together"]
            else "Each of the two gradients is clipped **by itself**, by its own norm (the root of the sum of the "
            "squares of its entries)."
        ),
        "first_words": (
            "This holds at every position, the first one included, so that the empty sentence has probability $q$."
            if p["empty"]
            else "This holds at every position **but the first**: a sentence is never empty, and its first token is "
            r"one of the $V-1$ words, each with probability $\frac{1}{V-1}$."
        ),
        "ordinary": ordinary,
        "range": r"$n \ge 0$" if p["empty"] else r"$n \ge 1$",
    }


def sentences(rng, p, **fixed):
    """Scores, and words whose rows end in different places; behind the end stands anything."""
    n = {**sizes(rng, "B T V", largest=7), **fixed}
    B, T, V = n["B"], n["T"], n["V"]
    eos = int(rng.integers(V))
    w = rng.integers(V, size=(B, T))
    ends = (np.arange(B) + int(rng.integers(T))) % T
    for row, end in zip(w, ends, strict=True):
        row[:end] = (eos + 1 + rng.integers(V - 1, size=end)) % V
        row[end] = eos
    return {**tensors(rng, n, scores="B T V"), "w": torch.from_numpy(w), "eos": eos}


def one_sentence(rng, p):
    """One row that ends at once, with padding that looks like words."""
    drawn = sentences(rng, p, B=1, T=3)
    drawn["w"] = torch.tensor([[drawn["eos"], (drawn["eos"] + 1) % drawn["scores"].shape[2], drawn["eos"]]])
    return drawn


def far_apart(rng, p):
    """Scores that lie far apart: most probabilities are tiny, and their logarithms are not."""
    drawn = sentences(rng, p)
    return {**drawn, "scores": 20 * drawn["scores"]}


def losses(rng, p):
    """Losses of sentences of unequal lengths."""
    B = int(rng.choice([3, 5, 7]))
    lengths = 2 + rng.permutation(10)[:B]
    return {"loss": torch.from_numpy(lengths * rng.uniform(0.3, 2.0, B)), "lengths": torch.from_numpy(lengths)}


def network(rng, p, **fixed):
    """A small recurrent language model and uniform numbers."""
    n = {**sizes(rng, "J V", largest=7), "B": 11, "T": 7, **fixed}
    drawn = tensors(rng, n, h="B J", e="V J", W_hh="J J", W_xh="J J", B="J")
    u = torch.from_numpy(rng.uniform(size=(n["B"], n["T"])))
    return {
        "h": drawn["h"],
        "u": u,
        "e": drawn["e"],
        "W_hh": drawn["W_hh"] / n["J"] ** 0.5,
        "W_xh": drawn["W_xh"],
        "B": drawn["B"],
        "eos": int(rng.integers(n["V"])),
    }


def ends_everywhere(rng, p):
    """Rows that end early, late and not at all; the first words are not all the same."""
    while True:
        drawn = network(rng, p)
        w, _ = generate(**drawn, p=p)
        ends = (w == drawn["eos"]).int().argmax(1)[(w == drawn["eos"]).any(1)]
        if len(set(ends.tolist())) >= 3 and len(ends) < len(w) and len(set(w[:, 0].tolist())) > 1:
            return drawn


def one_row(rng, p):
    """One row that ends before the last step."""
    while True:
        drawn = network(rng, p, B=1, T=3)
        w, _ = generate(**drawn, p=p)
        if int((w == drawn["eos"]).sum()) == 2:
            return drawn


def _gradients(rng, g, k):
    """Two gradients of these lengths, in units of the bound."""
    drawn = tensors(rng, sizes(rng, "A C D", largest=7), g="A C", k="D")
    n_max = float(rng.uniform(2, 3))
    lengths = {"g": n_max * g, "k": n_max * k}
    return {name: length * drawn[name] / drawn[name].norm() for name, length in lengths.items()} | {"n_max": n_max}


def first_too_long(rng, p):
    """The first one is longer than the bound, the second one shorter."""
    return _gradients(rng, 1.7, 0.8)


def second_too_long(rng, p):
    """The other way round."""
    return _gradients(rng, 0.9, 2.3)


def short_gradients(rng, p):
    """Both together are shorter than the bound, one of them is zero: nothing changes, or is divided by zero."""
    drawn = _gradients(rng, 0.9, 0.4)
    return drawn | {"g": drawn["g"] * 0}


CLIPPED = [first_too_long, second_too_long, short_gradients]


def log_loss(scores, w, eos, *, p):
    """The log loss of each sentence: scores[B,T,V] and words w[B,T] -> loss[B], up to the first end token, included."""
    logs = torch.log_softmax(scores, dim=-1).gather(-1, w[..., None]).squeeze(-1)  # [B, T]
    ends = (w == eos).int()
    belongs = ends.cumsum(1) - ends == 0  # no end token before
    loss = -torch.where(belongs, logs, 0).sum(1)
    return loss / np.log(2) if p["unit"] == "bits" else loss


def perplexity(loss, lengths, *, p):
    """The perplexity of a text: losses and lengths (end tokens included) of its sentences -> one number."""
    tokens = lengths.sum() if p["counts_eos"] else (lengths - 1).sum()
    mean = loss.sum() / tokens
    return torch.exp(mean) if p["unit"] == "nats" else 2**mean


def generate(h, u, e, W_hh, W_xh, B, eos, *, p):
    """Words drawn one by one from a recurrent language model: w[B,T], eos from its first place on, and lengths[B]."""
    activation = torch.tanh if p["activation"] == "tanh" else torch.sigmoid
    finished = torch.zeros(len(h), dtype=torch.bool)
    words = []
    for t in range(u.shape[1]):
        P = torch.softmax(h @ e.T, dim=-1)  # [B, V]
        drawn = (P.cumsum(-1) <= u[:, t, None]).sum(-1).clamp(max=len(e) - 1)
        drawn = torch.where(finished, eos, drawn)
        finished = finished | (drawn == eos)
        words.append(drawn)
        h = activation(h @ W_hh.T + e[drawn] @ W_xh.T - B)
    w = torch.stack(words, dim=1)  # [B, T]
    lengths = (w != eos).sum(1)
    return w, lengths + finished if p["length_with_eos"] else lengths


def clip(g, k, n_max, *, p):
    """Both gradients, shortened to length n_max where they are longer."""

    def shortened(gradient, norm):
        return gradient * n_max / norm if norm > n_max else gradient

    if p["together"]:
        norm = (g.square().sum() + k.square().sum()).sqrt()
        return shortened(g, norm), shortened(k, norm)
    return shortened(g, g.norm()), shortened(k, k.norm())


# The typed parts. Sentences of the simplest language model.


def sentence(p):
    return "q*((1-q)/(V-1))^n" if p["empty"] else "q*(1-q)^(n-1)/(V-1)^n"


def is_probability(text, p):
    """Whether an expression lies between zero and one for all its letters.

    The cut expression is the reference: an answer with cases that no point meets, as `max` has here, is undecided.
    """
    within = ((f"max({text}, 1)", "1"), (f"min({text}, 0)", "0"))
    return all(expression.decide(cut, bound, domains=letters(p)).equal for cut, bound in within)


def sentence_loss(p, *, sentence=None):
    log = "ln" if p["unit"] == "nats" else "log2"
    if sentence is not None:
        words = expression.parse(sentence, domains=letters(p)).node
        depends = all(expression.contains(words, name) for name in ("q", "n"))
        if expression.contains(words, "inf") or not depends or not is_probability(sentence, p):
            raise Unreadable("nothing", "nothing follows from this")
        return f"-{log}({sentence})"
    ordinary = "n" if p["empty"] else "(n-1)"
    return f"-{log}(q)-{ordinary}*{log}(1-q)+n*{log}(V-1)"


def expected_tokens(p):
    return "1/q" if p["empty"] else "1+1/q"


def sequence_entropy(p):
    words = "(1-q)/q*ln(V-1)" if p["empty"] else "ln(V-1)/q"
    return f"(-q*ln(q)-(1-q)*ln(1-q))/q+{words}"


# The choices.


def total_is_infinite(p):
    return (
        "For each length the probabilities of the strings of that length sum to one, so that over all finite strings "
        "they sum to infinity."
    )


def product_of_slopes(p):
    return (
        "A gradient through time is a product of one Jacobian per step: it can grow exponentially although every state "
        "lies between $-1$ and $1$."
    )


LOG_LOSS_INPUTS = [sentences, far_apart, one_sentence]
LOG_LOSS_CHECKS = [close(rtol=1e-6, weight=4), gradient(rtol=1e-6)]
DRAWN = {"trials": 5, "also": (), "checks": [exactly()]}  # ends everywhere need probabilities of ordinary size

PROBLEM = Problem(
    title="Language modelling",
    version=5,
    source="slides on language modelling, recurrent networks and gradient clipping",
    draw=draw,
    phrases=phrases,
    setup="import math\nimport numpy as np\nimport torch",
    variants=40,
    full_model="rnn.RecurrentLanguageModel",
    task="characters",
    mistakes=MISTAKES,
    equivalents=EQUIVALENTS,
    parts=[
        Function("log_loss", points=5, inputs=LOG_LOSS_INPUTS, reference=log_loss, checks=LOG_LOSS_CHECKS),
        Function("perplexity", points=2, inputs=losses, reference=perplexity, checks=[close(rtol=1e-6)]),
        Function("generate", points=6, inputs=[ends_everywhere, one_row], reference=generate, **DRAWN),
        Function("clip", points=3, inputs=CLIPPED, reference=clip, trials=3, checks=[close(rtol=3e-6)]),
        Expression("sentence", points=2, domains=letters, reference=sentence),
        Expression("sentence_loss", points=2, follows="sentence", domains=letters, reference=sentence_loss),
        Expression("expected_tokens", points=1, domains=letters, reference=expected_tokens, forbid=["sum"]),
        Expression("sequence_entropy", points=2, domains=letters, reference=sequence_entropy, forbid=["sum"]),
        Choice("no_end", points=1, reference=total_is_infinite),
        Choice("bounded", points=1, reference=product_of_slopes),
        Selection("over_time", points=3, reference=OVER_TIME),
        Term("length_law", points=1, reference=length_law, forms=LENGTH_LAW),
        Ordering("training_step", points=2, reference=training_step, **STEP),
        Sampled("sample", points=4, reference=sample, **DRAWS),
        Trained("train", points=4, reference=train, **TRAINING),
    ],
)

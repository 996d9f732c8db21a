"""Translation with attention, and attention from one sequence to another (slides; problem 2 of the 2020 sheet)."""

import torch

from autograder import (
    Choice,
    Counterexample,
    Equation,
    Expression,
    Function,
    Problem,
    Tests,
    close,
    gradient,
    holds,
    sizes,
    tensors,
)

from .checking import LOOK_TESTS, WRITTEN
from .equivalents import EQUIVALENTS
from .mistakes import MISTAKES
from .notation import HEADS, LOOK, MEMORY, NEXT, SIZES
from .references import heads_lines, look_lines, next_line, word_axis


def draw(rng):
    """Who asks, by which matrix, what the next word is made from, how scores are scaled, how often keys are made."""
    return {
        "query": ["state", "word"][rng.integers(2)],
        "matrix": bool(rng.integers(2)),
        "reads": ["state", "both"][rng.integers(2)],
        "scaled": bool(rng.integers(2)),
        "keys": ["once", "every time"][rng.integers(2)],
        "unit": ["multiplications", "operations"][rng.integers(2)],
    }


def phrases(p):
    """The sentences and names of this variant."""
    state, matrix, axis = p["query"] == "state", p["matrix"], word_axis(p)
    who = "the state $h[t-1,J]$, before $w_t$ is read," if state else f"the vector $e[w_t,{axis}]$ of the word $w_t$"
    key = rf"W^{{\mathrm{{key}}}}[{'J_1,J_2' if state else 'I,J'}]"
    typed = f"W^key[{'J_1,J_2' if state else 'I,J'}]"
    asks = "with `h[t-1,...]`" if state else "with `e[w_t,...]`"
    see = rf"W^{{\mathrm{{see}}}}[{axis},J]"
    return {
        "word_axis": axis,
        "widths": "words and states have vectors of the **same width** $J$" if axis == "J" else "$I$ and $J$ differ",
        "who": who,
        "score_words": (
            f"their product by the matrix ${key}$ (typed `{typed}`; its first index meets the asker)"
            if matrix
            else "their inner product, without a matrix"
        ),
        "asks_typed": asks,
        "code_asks": "the state `h`" if state else "the word's vector `x`",
        "key_shape": "[J, J]" if state else "[I, J]",
        "next_words": (
            rf"The scores of the words are the sum of two terms, one from the state $h[t,J]$ by the matrix "
            rf"$W^{{\mathrm{{auto}}}}[{axis},J]$, and one from what was seen, $V[t,J]$, by ${see}$ (typed `W^see`)"
            if p["reads"] == "both"
            else rf"The scores of the words are made from the state $h[t,J]$ alone, by the matrix "
            rf"$W^{{\mathrm{{auto}}}}[{axis},J]$"
        ),
        "scale_words": (
            "Scores are divided by the **square root of the width of a query**, $U$."
            if p["scaled"]
            else "Scores are **not** divided by anything."
        ),
        "keys_words": (
            "Keys and values are computed **once** and kept"
            if p["keys"] == "once"
            else "Nothing is kept: for **each** of the $T$ positions, the keys and values of the whole source are "
            "computed anew"
        ),
        "unit_words": (
            "multiplications of two numbers (a product of an $a \\times b$ with a $b \\times c$ matrix has $abc$)"
            if p["unit"] == "multiplications"
            else "operations, which are multiplications and additions (a product of an $a \\times b$ with a "
            "$b \\times c$ matrix has $2abc$)"
        ),
    }


# Hidden inputs


def step_of_a_batch(rng, p, **fixed):
    """States, word vectors and padded sources of several lengths."""
    n = {**sizes(rng, "I J", largest=11), "B": 4, "S": 6, **fixed}
    drawn = tensors(rng, n, h="B J", x="B I", M="B S J", W_key="J J" if p["query"] == "state" else "I J")
    lengths = [n["S"], 1, *rng.integers(2, n["S"], 2).tolist()] if n["B"] == 4 else [n["S"]] * n["B"]
    return {**drawn, "W_key": drawn["W_key"] / n["J"], "lengths": torch.tensor(rng.permutation(lengths))}


def one_source_of_one_word(rng, p):
    """One sentence of one word, at which all attention goes."""
    return step_of_a_batch(rng, p, B=1, S=1)


def decoder(rng, p, **fixed):
    """A source, and the parameters of a decoder in which nothing is saturated."""
    n = dict(zip("SIJ", rng.permutation([5, 7, 11]).tolist(), strict=True)) | {"B": 3, "V": 13, **fixed}
    shapes = {"M": "B S J", "h": "B J", "start": "I", "e": "V I", "W_key": "J J" if p["query"] == "state" else "I J"}
    shapes |= {"W_auto": "I J", "W_h": "J J", "W_V": "J J", "W_x": "J I", "B": "J"}
    drawn = tensors(rng, n, **shapes)
    scaled = {name: value / value.shape[-1] ** 0.5 if name[0] == "W" else value for name, value in drawn.items()}
    lengths = scaled["e"].norm(dim=1, keepdim=True)  # else the longest vector would be chosen in every step
    scaled["e"] = 2 * scaled["e"] / lengths.clamp(min=1e-9)
    return {**scaled, "W_h": 2 * scaled["W_h"], "W_x": 2 * scaled["W_x"], "T": n.get("T", 6)}


def one_word_out(rng, p):
    """A translation of one word from one."""
    return decoder(rng, p, B=1, S=1, T=1)


def two_sequences(rng, p, **fixed):
    """A sequence that asks, one that is asked, of other length and width, and matrices of several heads."""
    n = {**sizes(rng, "T S J M U I", largest=13), "B": 2, "K": 4, **fixed}
    shapes = {"W_Q": "K U J", "W_K": "K U M", "W_V": "K I M", "W_O": "J K*I"}
    drawn = tensors(rng, n, x="B T J", memory="B S M", **shapes)
    return {name: value / value.shape[-1] ** 0.5 if name[0] == "W" else value for name, value in drawn.items()}


def one_position_each(rng, p):
    """One position asks, one is asked."""
    return two_sequences(rng, p, B=1, T=1, S=1, K=1)


# References


def look(h, x, M, W_key, lengths, *, p):
    """Where a step looks and what it sees: h[B,J], x[B,I], M[B,S,J] -> alpha[B,S], V[B,J]."""
    q = (h if p["query"] == "state" else x) @ W_key  # [B, J]
    scores = torch.einsum("bj,bsj->bs", q, M)
    behind = torch.arange(M.shape[1], device=M.device) >= lengths[:, None]  # [B, S]
    alpha = torch.softmax(scores.masked_fill(behind, -torch.inf), dim=1)
    return alpha, torch.einsum("bs,bsj->bj", alpha, M)


def translate(M, h, start, e, W_key, W_auto, W_h, W_V, W_x, B, T, *, p):
    """The likeliest word, T times over: M[B,S,J], h[B,J] -> words[B,T] and what each step looked at, [B,T,S]."""
    x, words, weights = start.expand(len(M), -1), [], []
    for _ in range(T):
        q = (h if p["query"] == "state" else x) @ W_key
        alpha = torch.softmax(torch.einsum("bj,bsj->bs", q, M), dim=1)
        V = torch.einsum("bs,bsj->bj", alpha, M)
        h = torch.tanh(h @ W_h.T + V @ W_V.T + x @ W_x.T - B)
        word = (h @ W_auto.T @ e.T).argmax(dim=1)  # [B]
        x = e[word]
        words.append(word)
        weights.append(alpha)
    return torch.stack(words, dim=1), torch.stack(weights, dim=1)


def cross_attention(x, memory, W_Q, W_K, W_V, W_O, *, p):
    """Attention from x[B,T,J] to memory[B,S,M] with K heads -> [B,T,J]."""
    query = torch.einsum("kuj,btj->bktu", W_Q, x)
    key = torch.einsum("kum,bsm->bksu", W_K, memory)
    value = torch.einsum("kim,bsm->bksi", W_V, memory)
    scores = query @ key.transpose(2, 3)  # [B, K, T, S]
    if p["scaled"]:
        scores = scores / W_Q.shape[1] ** 0.5
    heads = torch.softmax(scores, dim=3) @ value  # [B, K, T, I]
    return heads.transpose(1, 2).flatten(2) @ W_O.T


def words_behind_the_end_weigh_nothing(f, inputs, p):
    """Behind a source's last word, weights are exactly zero, also where scores are as low as minus a million."""
    behind = torch.arange(inputs["M"].shape[1]) >= inputs["lengths"][:, None]
    q = (inputs["h"] if p["query"] == "state" else inputs["x"]) @ inputs["W_key"]
    to_one = q[:, None, :] / q.square().sum(-1)[:, None, None]  # a position that has a score of one
    scores = [torch.where(behind, one, other) for one, other in ((1e6, -1e6), (-1e5, -1e6), (1e6, 1e5))]
    given = [f(*{**inputs, "M": s[..., None] * to_one}.values())[0][behind] for s in scores]
    return not any(bool((alpha.abs() > 0).any()) for alpha in given)


def memory_derivative(p):
    return "G[s,j,i] = alpha[s] (delta[j,i] + (M[s,j] - V[j]) q[i])"


def cost(p):
    unit, kept = (1 if p["unit"] == "multiplications" else 2), "S" if p["keys"] == "once" else "T*S"
    return f"{2 * unit}*J^2*(T + {kept}) + {2 * unit}*T*S*J"


def same_word_twice(p):
    if p["query"] == "word":
        return "Yes: the same word asks the same, wherever it stands."
    return "Not in general: the states before the two steps may differ."


LOOK_INPUTS = [step_of_a_batch, one_source_of_one_word]
LOOK_CHECKS = [close(weight=2), gradient(), holds(words_behind_the_end_weigh_nothing)]
TRANSLATE = {"inputs": [decoder, one_word_out], "reference": translate}
CROSS_INPUTS = [two_sequences, one_position_each]

PROBLEM = Problem(
    title="Translation with attention",
    version=3,
    source="slides on translation with attention; problem set of 2020, problem 2",
    draw=draw,
    phrases=phrases,
    setup="import torch",
    variants=50,
    full_model="seq2seq.Seq2Seq",
    task="reverse_attention_8",
    mistakes=MISTAKES,
    equivalents=EQUIVALENTS,
    parts=[
        Equation("look_equations", points=5, **LOOK, reference=look_lines),
        Equation("next_word", points=2, **NEXT, reference=next_line),
        Function("look", points=4, inputs=LOOK_INPUTS, reference=look, checks=LOOK_CHECKS),
        Tests("tests_of_look", points=3, code=look, **LOOK_TESTS),
        Equation("memory_derivative", points=3, **MEMORY, reference=memory_derivative),
        Function("translate", points=4, **TRANSLATE, checks=[close()]),
        Counterexample("end_missed", points=2, **WRITTEN),
        Choice("same_word", points=1, reference=same_word_twice),
        Equation("heads_equations", points=4, **HEADS, reference=heads_lines),
        Function(
            "cross_attention", points=4, inputs=CROSS_INPUTS, reference=cross_attention, checks=[close(), gradient()]
        ),
        Expression("cost", points=2, domains=SIZES, reference=cost),
    ],
)

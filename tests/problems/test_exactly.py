"""What a statement calls exactly zero: each way to hide a position keeps its marks, what only nearly hides it loses."""

import functools
import types
from pathlib import Path

import pytest
import torch

from autograder.authoring.loading import load
from autograder.authoring.variants import variant
from autograder.grading.judge import judge_part
from autograder.protocol.answering import answer

ROOT = Path(__file__).parents[2] / "problems"
KEY = (5, 6, 7)


def filled(size):
    """The mask's usual line, with a number."""
    return lambda scores, seen: torch.softmax(scores.masked_fill(~seen, size), -1)


def added(size):
    """The mask as a term."""
    return lambda scores, seen: torch.softmax(scores + torch.zeros(seen.shape).masked_fill(~seen, size), -1)


def chosen(scores, seen):
    """By torch.where."""
    return torch.where(seen, scores, -torch.inf).softmax(-1)


def overwritten(scores, seen):
    """In place, by a boolean index."""
    scores[seen.expand_as(scores).logical_not()] = float("-inf")
    return scores.softmax(-1)


def lowest(scores, seen):
    """The lowest number that there is."""
    return torch.softmax(scores.masked_fill(~seen, torch.finfo(scores.dtype).min), -1)


def by_exponentials(scores, seen):
    """Without a softmax: what is hidden is multiplied by zero."""
    e = torch.exp(scores) * seen
    return e / e.sum(-1, keepdim=True)


def row_by_row(scores, seen):
    """Each position looks at what it sees; the others stay as they were made."""
    return _rows(scores, seen, 0.0)


def row_by_row_nearly(scores, seen):
    """Where nobody looks there is next to nothing."""
    return _rows(scores, seen, 1e-12)


def _rows(scores, seen, rest):
    alpha = torch.full(scores.shape, rest)
    for t, row in enumerate(seen):
        alpha[:, t, row] = torch.softmax(scores[:, t, row], -1)
    return alpha


def by_zeros(scores, seen):
    """Takes scores that are zero for hidden ones."""
    kept = scores * seen
    return torch.softmax(kept.masked_fill(kept == 0, -torch.inf), -1)


def clamped(scores, seen):
    """No weight is nearly one."""
    return torch.softmax(scores.masked_fill(~seen, -torch.inf), -1).clamp(max=0.999)


MASKS = {
    "minus infinity": (filled(-torch.inf), True),
    "plus minus infinity": (added(-torch.inf), True),
    "a thousand million": (filled(-1e9), True),
    "a hundred million": (filled(-1e8), True),
    "where": (chosen, True),
    "overwritten": (overwritten, True),
    "lowest": (lowest, True),
    "exponentials": (by_exponentials, True),
    "rows": (row_by_row, True),
    "-30": (filled(-30.0), False),
    "-100": (filled(-100.0), False),
    "-500": (filled(-500.0), False),
    "-1e4": (filled(-1e4), False),
    "-1e5": (filled(-1e5), False),
    "plus -100": (added(-100.0), False),
    "plus -1e4": (added(-1e4), False),
    "nearly nothing": (row_by_row_nearly, False),
    "zeros": (by_zeros, False),
    "clamped": (clamped, False),
}


def merged(mask, p):
    """`attention` of merged_query_key."""

    def attention(W, L):
        return mask(torch.einsum("ta,kab,sb->kts", L, W, L), torch.ones(len(L), len(L), dtype=torch.bool).tril())

    return attention


def self_attention(mask, p):
    """`layer` of self_attention_runtime."""

    def layer(h, W_Q, W_K, W_V):
        scores = (h @ W_Q.mT) @ (h @ W_K.mT).mT / (W_Q.shape[1] ** 0.5 if p["scaled"] else 1.0)
        step = torch.arange(len(h)) - torch.arange(len(h))[:, None]
        alpha = mask(scores, step <= 0 if p["mask"] == "causal" else step.abs() <= p["reach"])
        return alpha, (alpha @ (h @ W_V.mT)).transpose(0, 1).flatten(1)

    return layer


def spatial(mask, p):
    """`spatial` of spatial_transformer, for rows."""

    def layer(h, W_Q, W_K, W_V):
        flat = h.flatten(0, -2)
        scores = (flat @ W_Q.mT) @ (flat @ W_K.mT).mT / (W_Q.shape[1] ** 0.5 if p["scaled"] else 1.0)
        row = torch.arange(h.shape[0]).repeat_interleave(h.shape[1])
        alpha = mask(scores, row == row[:, None])
        out = (alpha @ (flat @ W_V.mT)).transpose(0, 1).flatten(1)
        return alpha.reshape(-1, *h.shape[:2], *h.shape[:2]), out.reshape(h.shape)

    return layer


def sheet(mask, p):
    """`masked_weights` of attention_sheet."""
    return lambda scores: mask(scores, torch.ones(scores.shape[1:], dtype=torch.bool).tril())


def look(mask, p):
    """`look` of cross_attention."""

    def layer(h, x, M, W_key, lengths):
        scores = torch.einsum("bj,bsj->bs", (h if p["query"] == "state" else x) @ W_key, M)
        (alpha,) = mask(scores[None], torch.arange(M.shape[1]) < lengths[:, None])
        return alpha, torch.einsum("bs,bsj->bj", alpha, M)

    return layer


def block(mask, p):
    """`block` of transformer_block: another mask in the attention of a right answer."""
    module = load("transformer_block", ROOT).part("block").reference.__globals__

    def attention(L, W_Q, W_K, W_V, W_O, *, p):
        query, key, value = (torch.einsum("kuj,btj->bktu", W, L) for W in (W_Q, W_K, W_V))
        scores = query @ key.mT / W_Q.shape[1] ** 0.5
        seen = torch.ones(scores.shape[2:], dtype=torch.bool).tril()
        heads = torch.stack([mask(one.clone(), seen) for one in scores]) @ value
        return heads.transpose(1, 2).flatten(2) @ W_O.T

    own = types.FunctionType(module["block"].__code__, {**module, "attention": attention})
    return lambda *arguments: own(*arguments, p=p)


PARTS = [
    ("merged_query_key", "attention", merged, {"causal": True}),
    ("self_attention_runtime", "layer", self_attention, {"mask": "causal"}),
    ("self_attention_runtime", "layer", self_attention, {"mask": "window"}),
    ("spatial_transformer", "spatial", spatial, {"code": "rows"}),
    ("attention_sheet", "masked_weights", sheet, {"mask": "causal"}),
    ("cross_attention", "look", look, {"query": "state"}),
    ("cross_attention", "look", look, {"query": "word"}),
    ("transformer_block", "block", block, {"causal": True, "place": "before"}),
    ("transformer_block", "block", block, {"causal": True, "place": "after"}),
]


OVERFLOW = [("attention_sheet", "causal"), ("transformer_block", "after")]  # where scores are large, or may become so


@pytest.mark.parametrize(("slug", "name", "written", "wanted"), PARTS)
def test_hidden_positions(slug, name, written, wanted):
    """A mask that is no mask for low scores loses; whatever hides for good keeps every point."""
    problem = load(slug, ROOT)
    drawn = (variant(problem, seed).parameters for seed in range(200))
    p = next(p for p in drawn if wanted.items() <= p.items())
    overflows = any((slug, value) in OVERFLOW for value in wanted.values())
    for title, (mask, right) in MASKS.items():
        ask = functools.partial(answer, namespace={name: written(mask, p)})
        right = right and not (mask is by_exponentials and overflows)
        outcome = judge_part(problem.part(name), p, ask, KEY)
        assert outcome.standing == ("earned" if right else "lost"), (title, outcome.verdicts)

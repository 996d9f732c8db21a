"""A small problem with one part of each kind, for tests: quick to ask, easy to get wrong in known ways."""

import torch
from torch import nn

from autograder import Choice, Function, Module, Number, Problem, Written, close, gradient, sizes, tensors


def draw(rng):
    return {"scale": int(rng.choice([2, 3, 5])), "J": int(rng.choice([7, 11])), "I": int(rng.choice([2, 3]))}


def inputs(rng, p):
    return tensors(rng, sizes(rng, "B D"), x="B D")


def one_row(rng, p):
    return tensors(rng, {"D": 5}, x="1 D")


def centred(x, *, p):
    """x minus its mean over the last axis, times the factor of the statement."""
    return (x - x.mean(dim=-1, keepdim=True)) * p["scale"]


def over_batch(x, *, p):
    """You took the mean over the batch; it is taken over the last axis, row by row."""
    return (x - x.mean(dim=0, keepdim=True)) * p["scale"]


def unscaled(x, *, p):
    """You left out the factor."""
    return x - x.mean(dim=-1, keepdim=True)


def detached_mean(x, *, p):
    """You detached the mean: the values are right, but the gradient does not flow through it."""
    return (x - x.detach().mean(dim=-1, keepdim=True)) * p["scale"]


def by_sum(x, *, p):
    return p["scale"] * x - p["scale"] * x.sum(dim=-1, keepdim=True) / x.shape[-1]


def layer_inputs(rng, p):
    s = sizes(rng, "B D E")
    return {"init": {"D": s["D"], "E": s["E"]}, "call": tensors(rng, s, x="B D")}


class Gate(nn.Module):
    """sigmoid(W x + b) times x's mean."""

    def __init__(self, D, E):
        super().__init__()
        self.W = nn.Linear(D, E)

    def forward(self, x):
        return torch.sigmoid(self.W(x)) * x.mean(dim=-1, keepdim=True)


class Tanh(nn.Module):
    """You took tanh as the gate: it must lie between 0 and 1."""

    def __init__(self, D, E):
        super().__init__()
        self.W = nn.Linear(D, E)

    def forward(self, x):
        return torch.tanh(self.W(x)) * x.mean(dim=-1, keepdim=True)


class WrittenOut(nn.Module):
    def __init__(self, D, E):
        super().__init__()
        self.W = nn.Linear(D, E)

    def forward(self, x):
        return x.sum(dim=-1, keepdim=True) / x.shape[-1] / (1 + torch.exp(-self.W(x)))


def with_bias(p):
    return p["J"] * p["I"] + p["I"]


def without_bias(p):
    """You left out the bias."""
    return p["J"] * p["I"]


def as_decimal(p):
    return float(with_bias(p))


def last(p):
    return "The last axis."


def first(p):
    """The first axis is the batch: rows must not know of each other."""
    return "The first axis."


def both(p):
    """A mean over both axes lets rows know of each other."""
    return "Both axes."


PROBLEM = Problem(
    title="A tiny problem",
    version=1,
    source="the package's own tests",
    draw=draw,
    setup="import torch\nfrom torch import nn",
    parts=[
        Function(
            "centre",
            points=4,
            inputs=[inputs, one_row],
            reference=centred,
            checks=[close(), gradient()],
            mistakes=[over_batch, unscaled, detached_mean],
            equivalents=[by_sum],
        ),
        Module(
            "Layer",
            points=3,
            inputs=layer_inputs,
            reference=Gate,
            checks=[close(), gradient()],
            mistakes=[Tanh],
            equivalents=[WrittenOut],
        ),
        Number("parameters", points=2, reference=with_bias, mistakes=[without_bias], equivalents=[as_decimal]),
        Choice("axis", points=1, reference=last, mistakes=[first, both]),
        Written(
            "why",
            points=2,
            reference="A row's mean says nothing about the other rows.",
            rubric="2: names the rows' independence. 1: says only that it works.",
        ),
    ],
)

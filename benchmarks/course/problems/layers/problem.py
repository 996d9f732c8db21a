"""Eight small pieces of a transformer in torch: what a usual problem set asks a grader to run."""

import math

import torch

from autograder import Function, Problem, close, gradient, tensors

SIZES = {"B": 3, "T": 7, "J": 11, "K": 2, "I": 5}
# The axes of each part's arguments.
ARGUMENTS = {
    "softmax": {"x": "B T J"},
    "layer_norm": {"x": "B T J", "gain": "J", "bias": "J"},
    "rms_norm": {"x": "B T J", "gain": "J"},
    "gelu": {"x": "B T J"},
    "attention": {"q": "B T I", "k": "B T I", "v": "B T I"},
    "causal": {"q": "B T I", "k": "B T I", "v": "B T I"},
    "feed_forward": {"x": "B T J", "W_in": "J I", "W_out": "I J"},
    "residual": {"x": "B T J", "W": "J J"},
}


def inputs_of(name):
    def draw(rng, p):
        return tensors(rng, SIZES, **ARGUMENTS[name])

    return draw


def softmax(x):
    """exp(x) over the sum of exp(x) along the last axis."""
    e = torch.exp(x - x.amax(dim=-1, keepdim=True))
    return e / e.sum(dim=-1, keepdim=True)


def softmax_over_time(x):
    """You normalised over time; softmax is over the last axis."""
    return torch.softmax(x, dim=1)


def layer_norm(x, gain, bias):
    """(x - mean) / sqrt(variance + 1e-5) along the last axis, times gain, plus bias."""
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = (centred**2).mean(dim=-1, keepdim=True)
    return centred / torch.sqrt(variance + 1e-5) * gain + bias


def sample_variance(x, gain, bias):
    """You divided by J - 1; layer normalisation divides by J."""
    centred = x - x.mean(dim=-1, keepdim=True)
    return centred / torch.sqrt(x.var(dim=-1, keepdim=True) + 1e-5) * gain + bias


def rms_norm(x, gain):
    """x over the root of the mean of its squares plus 1e-5, times gain."""
    return x / torch.sqrt((x**2).mean(dim=-1, keepdim=True) + 1e-5) * gain


def centred_rms(x, gain):
    """You took the mean off; RMS normalisation does not."""
    x = x - x.mean(dim=-1, keepdim=True)
    return x / torch.sqrt((x**2).mean(dim=-1, keepdim=True) + 1e-5) * gain


def gelu(x):
    """x times the normal distribution function of x."""
    return 0.5 * x * (1 + torch.erf(x / math.sqrt(2)))


def by_tanh(x):
    """You took the approximation by tanh; the exact function was asked for."""
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def attention(q, k, v):
    """softmax(q k^T / sqrt(I)) v."""
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    return torch.softmax(scores, dim=-1) @ v


def unscaled(q, k, v):
    """You left out the division by sqrt(I)."""
    return torch.softmax(q @ k.transpose(-1, -2), dim=-1) @ v


def causal(q, k, v):
    """The same, where no position sees a later one."""
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
    return torch.softmax(scores.masked_fill(later, -math.inf), dim=-1) @ v


def sees_the_future(q, k, v):
    """You left out the mask."""
    return torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1]), dim=-1) @ v


def feed_forward(x, W_in, W_out):
    """relu(x W_in) W_out."""
    return torch.relu(x @ W_in) @ W_out


def without_relu(x, W_in, W_out):
    """You left out the relu."""
    return x @ W_in @ W_out


def residual(x, W):
    """x + tanh(x W)."""
    return x + torch.tanh(x @ W)


def no_skip(x, W):
    """You left out x itself."""
    return torch.tanh(x @ W)


RIGHT = [softmax, layer_norm, rms_norm, gelu, attention, causal, feed_forward, residual]
WRONG = [
    softmax_over_time,
    sample_variance,
    centred_rms,
    by_tanh,
    unscaled,
    sees_the_future,
    without_relu,
    no_skip,
]

PROBLEM = Problem(
    title="Pieces of a transformer",
    version=1,
    source="the package's own benchmark",
    setup="import math\nimport torch",
    parts=[
        Function(
            right.__name__,
            points=2,
            inputs=inputs_of(right.__name__),
            reference=right,
            checks=[close(), gradient()],
            mistakes=[wrong],
        )
        for right, wrong in zip(RIGHT, WRONG, strict=True)
    ],
)

"""What several models share: a layer with the course's sign, the tied softmax, log loss, clipping."""

import math
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn


def uniform(*shape: int, fan_in: int) -> nn.Parameter:
    """A parameter drawn from U(-1/√fan_in, 1/√fan_in), as torch.nn draws its recurrent layers."""
    bound = 1 / math.sqrt(fan_in)
    return nn.Parameter(torch.empty(*shape).uniform_(-bound, bound))


class Linear(nn.Module):
    """W[j,K] x[K] - B[j]: a linear threshold unit's argument, with the course's sign of the bias."""

    def __init__(self, K: int, J: int):
        super().__init__()
        self.W = uniform(J, K, fan_in=K)
        self.B = uniform(J, fan_in=K)

    def forward(self, x: Float[Tensor, "*batch K"]) -> Float[Tensor, "*batch J"]:
        """The last axis is mapped from K to J; all others are batch."""
        return F.linear(x, self.W, -self.B)


class Embedding(nn.Module):
    """Word vectors e[V,I], used twice: to read a word, and to score the next one (slides, "Word embeddings").

    The softmax is tied: P(w) = softmax_w e[w,I] h[I], so the vector that is compared has the width of a word
    vector. Tying was proposed by Press & Wolf (2017), "Using the output embedding to improve language
    models".
    """

    def __init__(self, V: int, I: int):
        super().__init__()
        self.e = nn.Parameter(torch.randn(V, I) / math.sqrt(I))

    def forward(self, w: Int[Tensor, "*batch"]) -> Float[Tensor, "*batch I"]:
        """The vectors e[w] of the words w."""
        return F.embedding(w, self.e)

    def scores(self, h: Float[Tensor, "*batch I"]) -> Float[Tensor, "*batch V"]:
        """e[w,I] h[I] for every word w: what the softmax is taken of."""
        return F.linear(h, self.e)


def sequence_log_loss(
    scores: Float[Tensor, "B T V"], w: Int[Tensor, "B T"], counts: Bool[Tensor, "B T"] | None = None
) -> Float[Tensor, "B"]:
    """-ln P(w[b]) in nats: the sum over t of -ln softmax(scores[b,t])[w[b,t]] (slides, "Training").

    Positions where `counts` is false are left out: padding, or what stands behind the end of a sentence. The
    sum is the log loss of the sequence as a whole; divide by the number of tokens for a loss per token.
    """
    loss = F.cross_entropy(scores.flatten(0, 1), w.flatten(), reduction="none").view(w.shape)
    return (loss if counts is None else torch.where(counts, loss, 0)).sum(1)


def in_time(states: Sequence[Float[Tensor, "B *J"]], h: Float[Tensor, "B *J"]) -> Float[Tensor, "B T *J"]:
    """The states of T steps along axis 1; of no step at all, where h only says how wide they are."""
    return torch.stack(list(states), 1) if states else h[:, None][:, :0]


def begun(start: Float[Tensor, "I"], x: Float[Tensor, "B _ I"], T: int) -> Float[Tensor, "B T I"]:
    """What stands before each of T words: `start` before the first, then x; before no word, nothing."""
    return torch.cat([start.expand(x.shape[0], 1, -1), x], 1)[:, :T]


def masked_softmax(scores: Float[Tensor, "*B T"], visible: Bool[Tensor, "*#B T"]) -> Float[Tensor, "*B T"]:
    """softmax over the visible ones alone; zeros, and no gradient, where nothing is visible, rather than 0/0.

    A row without any keeps its finite scores within the softmax: one of -∞ alone would poison all other rows'
    gradients, and a finite stand-in overflows in float16.
    """
    hidden = ~visible
    scores = scores.masked_fill(hidden & visible.any(-1, keepdim=True), -torch.inf)
    return torch.softmax(scores, -1).masked_fill(hidden, 0)


def full_precision(x: Tensor) -> AbstractContextManager:
    """A context without autocast on the device of x: for states that are added up over many steps.

    A compiled program has it in any case, since it may run under autocast that was off when it was traced.
    """
    device = x.device.type
    if torch.amp.is_autocast_available(device) and (torch.compiler.is_compiling() or torch.is_autocast_enabled(device)):
        return torch.autocast(device, enabled=False)
    return nullcontext()


def before(lengths: Int[Tensor, "B"], T: int) -> Bool[Tensor, "B T"]:
    """True at the positions t < lengths[b]: what is no padding."""
    return torch.arange(T, device=lengths.device) < lengths[:, None]


def through_eos(w: Int[Tensor, "B T"], eos: int) -> Bool[Tensor, "B T"]:
    """True up to and including the first <EOS> of each row: the tokens that belong to the sentence."""
    ended = (w == eos).cumsum(1)
    return (ended == 0) | ((ended == 1) & (w == eos))


def clip_gradient(parameters: Iterable[nn.Parameter], n_max: float) -> Float[Tensor, ""]:
    """Shorten the gradient to length n_max if it is longer (Pascanu et al. 2013; slides, "Clipping").

    The length is taken over all parameters together, so that the direction is kept; the slide writes it for
    one W. Gradients are changed in place. Returns the length before clipping; an infinite or NaN one is not
    mended, and that of no gradient at all is 0.
    """
    gradients = [p.grad for p in parameters if p.grad is not None]
    if not gradients:
        return torch.zeros(())
    norm = torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(g) for g in gradients]))
    scale = (n_max / norm).clamp(max=1)
    for g in gradients:
        g.mul_(scale)
    return norm


def reverse(x: Float[Tensor, "B T J"], lengths: Int[Tensor, "B"] | None = None) -> Float[Tensor, "B T J"]:
    """x from right to left; with `lengths`, each row is turned within its own length, padding stays."""
    if lengths is None:
        return x.flip(1)
    t = torch.arange(x.shape[1], device=x.device).expand(x.shape[:2])
    t = torch.where(t < lengths[:, None], lengths[:, None] - 1 - t, t)
    return x.gather(1, t[..., None].expand_as(x))

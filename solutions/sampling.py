"""Words drawn one after another, by every model that writes: the chain rule read as a program.

temperature     divides the scores; at 0 the likeliest word is taken, and no generator is used
eos             a row that has drawn <EOS> goes on with <EOS>; the end is reached when every row has
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor, nn

from solutions.layers import through_eos

PATIENCE = 16  # words between two looks at whether all rows have ended: on a GPU, each look waits for it


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Switch dropout and gradients off for a while; afterwards each sub-module is as it was, frozen ones too."""
    training = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        for module, flag in training:
            module.training = flag


def sample(
    logits: Float[Tensor, "B V"], temperature: float = 1.0, generator: Generator | None = None
) -> Int[Tensor, "B"]:
    """Draw w ~ softmax_w logits[w] / temperature; at temperature 0, the likeliest word.

    The word with the largest P[w] / E[w], where the E are exponential: what `torch.multinomial` does, but for two
    looks at the sum of P, each of which waits for a GPU. In float32 at least: half precision overflows.
    """
    if not temperature >= 0:
        raise ValueError(f"a temperature is 0 (the likeliest word) or positive, not {temperature}")
    if temperature == 0:
        return logits.argmax(dim=-1)
    scores = logits.to(torch.promote_types(logits.dtype, torch.float32))
    P = torch.softmax((scores - scores.amax(-1, keepdim=True)) / temperature, dim=-1)
    return (P / torch.empty_like(P).exponential_(generator=generator)).argmax(dim=-1)


def extend(
    words: Int[Tensor, "B T"],
    next_logits: Callable[[Int[Tensor, "B T"]], Float[Tensor, "B V"]],
    T_new: int,
    *,
    eos: int | None = None,
    temperature: float = 1.0,
    generator: Generator | None = None,
) -> Int[Tensor, "B T2"]:
    """Append up to T_new words, each drawn given all before it.

    With `eos`, as many as the longest row has, its <EOS> counted. Whether all rows have ended is looked up every
    `PATIENCE` words, and what was drawn in vain is cut off.
    """
    T, ended = words.shape[1], torch.zeros(words.shape[0], dtype=torch.bool, device=words.device)
    for n in range(1, T_new + 1):
        word = sample(next_logits(words), temperature, generator)
        if eos is not None:
            word = word.masked_fill(ended, eos)
            ended = word == eos
        words = torch.cat([words, word[:, None]], 1)
        if eos is not None and (n % PATIENCE == 0 or n == T_new):
            longest = int(through_eos(words[:, T:], eos).any(0).sum())
            if longest < n:
                return words[:, : T + longest]
    return words

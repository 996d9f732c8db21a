"""torch's own loops over time, as one operation each: oneDNN or C++ on a CPU, cuDNN on a GPU.

The layers of `rnn` call them instead of their own steps where `allowed()`. They can be differentiated by
autograd, on a CPU also twice; function transforms, forward mode, tracing and export need the steps.

Biases are subtracted, as in `rnn`; torch has two of them, which are added.
"""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext

import torch
from jaxtyping import Float
from torch import _VF, Tensor

from solutions.derivatives import ordinary
from solutions.layers import full_precision

States = Float[Tensor, "B T J"]
State = Float[Tensor, "B J"]


def allowed(x: Tensor) -> bool:
    """Whether nothing but eager autograd looks on: no transform of `torch.func`, no forward mode.

    Nor an empty sequence, which torch refuses, nor a device for which torch may have no loop.
    """
    return ordinary() and x.shape[1] > 0 and x.device.type in ("cpu", "cuda", "mps", "meta")


def _run(
    operation: Callable, x: Tensor, state: tuple[Tensor, ...], W_x: Tensor, W_h: Tensor, B: Tensor, b_h: Tensor
) -> tuple[Tensor, ...]:
    """One layer in one direction, in the precision of its weights: states are added up over many steps."""
    state = tuple(s.to(W_x.dtype)[None] for s in state)
    start = state if len(state) > 1 else state[0]
    training = torch.is_grad_enabled()  # cuDNN can differentiate only what ran as training
    with full_precision(x), _unwarned() if x.is_cuda else nullcontext():
        weights = [W_x, W_h, -B, b_h]
        states, *last = operation(x.to(W_x.dtype), start, weights, True, 1, 0.0, training, False, True)
    return states, *(s[0] for s in last)


@contextmanager
def _unwarned() -> Iterator[None]:
    """Weights that do not lie side by side are copied at every call, of which cuDNN warns; they are few."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="RNN module weights are not part of single contiguous")
        yield


def rnn(x: Tensor, h: State, W_x: Tensor, W_h: Tensor, B: Tensor) -> tuple[States, State]:
    """h' = tanh(W_x x + W_h h - B)."""
    return _run(_VF.rnn_tanh, x, (h,), W_x, W_h, B, torch.zeros_like(B))


def gru(x: Tensor, h: State, W_x: Tensor, W_h: Tensor, B: Tensor, B_hn: Tensor) -> tuple[States, State]:
    """The GRU that resets after the product; gates r, z, n."""
    return _run(_VF.gru, x, (h,), W_x, W_h, B, torch.cat([B.new_zeros(2 * len(B_hn)), -B_hn]))


def lstm(x: Tensor, h: State, c: State, W_x: Tensor, W_h: Tensor, B: Tensor) -> tuple[States, State, State]:
    """Gates i, f, g, o; the last h and c."""
    return _run(_VF.lstm, x, (h, c), W_x, W_h, B, torch.zeros_like(B))

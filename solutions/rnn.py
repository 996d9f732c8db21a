"""Recurrent networks: the classical cells, a stack with residual connections, and a language model over it.

Every recurrent layer here and in `ugrnn.py` has one calling convention,

    layer = GRU(K, J)                    input width, state width
    h, last = layer(x, state)            x[B,T,K] -> h[B,T,J]; `last` goes on from there, None starts at zero

so that feeding a sequence in two pieces gives what feeding it at once gives, and a piece may be one step
long. The equations are written out step by step ("their steps"). Where torch has the whole loop as one
operation, and nothing but ordinary autograd looks on, that operation runs instead (`fused`): the same function,
up to ten times as fast.
"""

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from solutions import fused
from solutions.derivatives import compiled
from solutions.layers import Embedding, begun, in_time, through_eos, uniform
from solutions.sampling import evaluating, extend

# ------------------------------------------------------------------------------------------------- the cells


class VanillaRNN(nn.Module):
    """h[t,j] = tanh(W_hh[j,J] h[t-1,J] + W_xh[j,K] x[t,K] - B[j]): Elman (1990); slides, "Vanilla RNNs".

    `activation` may be another non-linearity; the slides write σ. torch.nn.RNN has two added biases: B =
    -(b_ih + b_hh).
    """

    def __init__(self, K: int, J: int, activation: Callable[[Tensor], Tensor] = torch.tanh):
        super().__init__()
        self.W_xh, self.W_hh, self.B = uniform(J, K, fan_in=J), uniform(J, J, fan_in=J), uniform(J, fan_in=J)
        self.activation = activation

    def forward(
        self, x: Float[Tensor, "B T K"], h: Float[Tensor, "B J"] | None = None
    ) -> tuple[Float[Tensor, "B T J"], Float[Tensor, "B J"]]:
        """All states, and the last."""
        h = x.new_zeros(x.shape[0], len(self.B)) if h is None else h
        parameters = self.W_xh, self.W_hh, self.B
        if self.activation is not torch.tanh:
            return vanilla_steps(x, h, *parameters, activation=self.activation)
        return by_steps(vanilla_steps, x, h, *parameters)


class GRU(nn.Module):
    """The gated recurrent unit, with the reset gate r and the update gate z; z = 1 keeps the state.

        r = σ(W_xr x + W_hr h - B_r)        z = σ(W_xz x + W_hz h - B_z)        h' = z h + (1 - z) n

    Two models go by this name, and they differ in what the reset gate multiplies:

        reset="before"   n = tanh(W_xn x + W_hn (r ⊙ h) - B_n)                  Cho et al. (2014), equation 8
        reset="after"    n = tanh(W_xn x - B_n + r ⊙ (W_hn h - B_hn))           cuDNN and torch.nn.GRU

    "after" needs one product with h a step instead of two that wait for each other. The axes of 3J hold r, z,
    n, as in torch. Cho et al. call the candidate h̃.
    """

    def __init__(self, K: int, J: int, reset: str = "after"):
        super().__init__()
        if reset not in ("before", "after"):
            raise ValueError(f'reset is "before" or "after", not {reset!r}')
        self.reset = reset
        self.W_x, self.W_h, self.B = (
            uniform(3 * J, K, fan_in=J),
            uniform(3 * J, J, fan_in=J),
            uniform(3 * J, fan_in=J),
        )
        if reset == "after":
            self.B_hn = uniform(J, fan_in=J)

    def forward(
        self, x: Float[Tensor, "B T K"], h: Float[Tensor, "B J"] | None = None
    ) -> tuple[Float[Tensor, "B T J"], Float[Tensor, "B J"]]:
        """All states, and the last."""
        J = self.W_h.shape[1]
        h = x.new_zeros(x.shape[0], J) if h is None else h
        if self.reset == "before":
            return by_steps(gru_before_steps, x, h, self.W_x, self.W_h, self.B)
        return by_steps(gru_after_steps, x, h, self.W_x, self.W_h, self.B, self.B_hn)


class LSTM(nn.Module):
    """Long short-term memory: Hochreiter & Schmidhuber (1997), with the forget gate of Gers et al. (2000).

        i, f, o = σ(W_x x + W_h h - B)      g = tanh(W_x x + W_h h - B)         each with its own W and B
        c' = f ⊙ c + i ⊙ g                  h' = o ⊙ tanh c'

    f = 1 keeps the cell c. The state is the pair (h, c). The axes of 4J hold i, f, g, o, as in torch.
    """

    def __init__(self, K: int, J: int):
        super().__init__()
        self.W_x, self.W_h, self.B = (
            uniform(4 * J, K, fan_in=J),
            uniform(4 * J, J, fan_in=J),
            uniform(4 * J, fan_in=J),
        )

    def forward(
        self,
        x: Float[Tensor, "B T K"],
        state: tuple[Float[Tensor, "B J"], Float[Tensor, "B J"]] | None = None,
    ) -> tuple[Float[Tensor, "B T J"], tuple[Float[Tensor, "B J"], Float[Tensor, "B J"]]]:
        """All h, and the last (h, c)."""
        zero = x.new_zeros(x.shape[0], self.W_h.shape[1])
        h, c = (zero, zero) if state is None else state
        h_all, h, c = by_steps(lstm_steps, x, h, c, self.W_x, self.W_h, self.B)
        return h_all, (h, c)


# ------------------------------------------------------------------------------------------------- their steps


def vanilla_steps(x, h, W_xh, W_hh, B, activation=torch.tanh):
    """All states of `VanillaRNN`, and the last."""
    states = []
    # What x contributes needs no loop. `unbind` and not [:, t], whose backward takes O(T²).
    for from_x in F.linear(x, W_xh, -B).unbind(1):
        h = activation(from_x + h @ W_hh.T)
        states.append(h)
    return in_time(states, h), h


def gru_after_steps(x, h, W_x, W_h, B, B_hn):
    """All states of the `GRU` of torch, and the last."""
    J, states = h.shape[1], []
    for from_x in F.linear(x, W_x, -B).unbind(1):
        (gates_x, n_x), (gates_h, n_h) = (z.split([2 * J, J], 1) for z in (from_x, h @ W_h.T))
        r, z = torch.sigmoid(gates_x + gates_h).chunk(2, 1)
        h = z * h + (1 - z) * torch.tanh(n_x + r * (n_h - B_hn))
        states.append(h)
    return in_time(states, h), h


def gru_before_steps(x, h, W_x, W_h, B):
    """All states of the `GRU` of Cho et al., and the last."""
    J, states = h.shape[1], []
    W_hg, W_hn = W_h.split([2 * J, J])
    for from_x in F.linear(x, W_x, -B).unbind(1):
        gates_x, n_x = from_x.split([2 * J, J], 1)
        r, z = torch.sigmoid(gates_x + h @ W_hg.T).chunk(2, 1)
        h = z * h + (1 - z) * torch.tanh(n_x + (r * h) @ W_hn.T)
        states.append(h)
    return in_time(states, h), h


def lstm_steps(x, h, c, W_x, W_h, B):
    """All h of the `LSTM`, and the last h and c."""
    states = []
    for from_x in F.linear(x, W_x, -B).unbind(1):
        i, f, g, o = (from_x + h @ W_h.T).chunk(4, 1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        states.append(h)
    return in_time(states, h), h, c


COMPILED = {
    vanilla_steps: compiled("vanilla", ("x", "h", "W_xh", "W_hh", "B"), vanilla_steps),
    gru_after_steps: compiled("gru_after", ("x", "h", "W_x", "W_h", "B", "B_hn"), gru_after_steps),
    gru_before_steps: compiled("gru_before", ("x", "h", "W_x", "W_h", "B"), gru_before_steps),
    lstm_steps: compiled("lstm", ("x", "h", "c", "W_x", "W_h", "B"), lstm_steps, states=2),
}


FUSED = {vanilla_steps: fused.rnn, gru_after_steps: fused.gru, lstm_steps: fused.lstm}


def by_steps(steps: Callable[..., tuple[Tensor, ...]], x: Tensor, *rest: Tensor) -> tuple[Tensor, ...]:
    """The states by `steps`: one after another, as torch's own operation, or as one node in what a compiler sees."""
    if torch.compiler.is_compiling():
        x, *rest = (tensor.to(rest[-1].dtype) for tensor in (x, *rest))  # autocast may have made the input narrow
        return COMPILED[steps](x, *rest)
    if steps in FUSED and fused.allowed(x):
        return FUSED[steps](x, *rest)
    return steps(x, *rest)


# ------------------------------------------------------------------------------------------------- the stack


class ResidualRNN(nn.Module):
    """A stack of N recurrent layers with residual connections (slides, "Multi-Layer RNNs").

        h_0[t,J] = x[t,J]           h_{l+1}[T,J] = h_l[T,J] + RNN_{l+1}(h_l[T,J])

    A layer that outputs zero leaves the stream as it is, so a deep stack starts no worse than a shallow one.
    The state is the list of the layers' states.
    """

    def __init__(self, J: int, N: int, layer: Callable[[int, int], nn.Module] = GRU):
        super().__init__()
        self.layers = nn.ModuleList(layer(J, J) for _ in range(N))

    def forward(self, x: Float[Tensor, "B T J"], states: Sequence | None = None) -> tuple[Float[Tensor, "B T J"], list]:
        """The stream after the last layer, and every layer's last state."""
        last = []
        for layer, state in zip(self.layers, states or [None] * len(self.layers), strict=True):
            h, state = layer(x, state)
            x = x + h
            last.append(state)
        return x, last


# ---------------------------------------------------------------------------------------- the language model


class RecurrentLanguageModel(nn.Module):
    """P(w_t | w_0 … w_{t-1}) = softmax_w e[w,J] h[t-1,J] (slides, "RNN language modeling").

    The first word is predicted from a learned vector `start` in the place of a previous word: no <BOS> in the
    vocabulary, so the chain rule sums to one over the words themselves. Because the softmax is tied, J is the
    width of word vectors and states alike.
    """

    def __init__(self, V: int, J: int, N: int = 1, layer: Callable[[int, int], nn.Module] = GRU):
        super().__init__()
        self.words = Embedding(V, J)
        self.start = nn.Parameter(torch.zeros(J))
        self.stack = ResidualRNN(J, N, layer)

    def forward(self, w: Int[Tensor, "B T"]) -> Float[Tensor, "B T V"]:
        """Scores whose softmax at t is the distribution of w[b,t] given w[b,:t]; the last word is unread."""
        x = begun(self.start, self.words(w[:, :-1]), w.shape[1])
        return self.words.scores(self.stack(x)[0])

    def sample(
        self, B: int, T: int, *, generator: torch.Generator | None, eos: int | None = None, temperature: float = 1.0
    ) -> tuple[Int[Tensor, "B T2"], Int[Tensor, "B"]]:
        """B sentences of up to T words, drawn one word at a time (slides, "Generation"), and their lengths.

        `eos` and `temperature` as in `sampling`; a row's length counts its <EOS>. Equal generators give equal
        sentences; the generator lives on the model's device.
        """
        states = None

        def next_logits(words: Tensor) -> Tensor:
            nonlocal states
            x = self.words(words[:, -1:]) if words.shape[1] else self.start.expand(B, 1, -1)
            h, states = self.stack(x, states)
            return self.words.scores(h[:, 0])

        none = torch.empty(B, 0, dtype=torch.long, device=self.start.device)
        with evaluating(self):
            w = extend(none, next_logits, T, eos=eos, temperature=temperature, generator=generator)
        lengths = w.new_full((B,), T) if eos is None else through_eos(w, eos).sum(1)
        return w, lengths

"""Blank language modelling with two recurrent networks that run towards the blank.

    P(w_t | w_1 … w_{t-1}, w_{t+1} … w_T) = softmax_w(e[w,I] W_f[I,J] h→[t-1,J] + e[w,I] W_b[I,J] h←[t+1,J])

Problem 1 of "Language modeling, translation and attention" (2020). h→[t] has read w_1 … w_t and h←[t] has
read w_T … w_t, so the states *beside* the blank have not seen the blanked word, those *at* it have. One pass
gives the distributions of all T blanks. The states beyond the ends, h→[0] and h←[T+1], are parameters.
"""

from collections.abc import Callable

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from solutions.layers import Embedding, before, begun, reverse, uniform
from solutions.ugrnn import UGRNN


class BlankLanguageModel(nn.Module):
    """The model above: word vectors of width I, states of width J, N layers in each direction.

    With N > 1 each direction is a stack of its own, whose layers add up. Feeding both directions upwards, as
    a stacked bidirectional network for tagging does, would tell every state its own word: see
    `StackedBidirectionalRNN`.
    """

    def __init__(self, V: int, I: int, J: int, N: int = 1, layer: Callable[[int, int], nn.Module] = UGRNN):
        super().__init__()
        self.words = Embedding(V, I)
        self.forward_layers = nn.ModuleList(layer(J if n else I, J) for n in range(N))
        self.backward_layers = nn.ModuleList(layer(J if n else I, J) for n in range(N))
        self.h_before = uniform(J, fan_in=J)  # h→[0]
        self.h_behind = uniform(J, fan_in=J)  # h←[T+1]
        self.W_f, self.W_b = uniform(I, J, fan_in=J), uniform(I, J, fan_in=J)

    def forward(self, w: Int[Tensor, "B T"], lengths: Int[Tensor, "B"] | None = None) -> Float[Tensor, "B T V"]:
        """Scores whose softmax at t is the distribution of w[b,t] given all *other* words of row b.

        With `lengths`, sentence b ends after lengths[b] words, and what stands behind is not read.
        """
        h_left, h_right = self.contexts(self.words(w), lengths)
        return self.words.scores(h_left @ self.W_f.T + h_right @ self.W_b.T)

    def contexts(
        self, x: Float[Tensor, "B T I"], lengths: Int[Tensor, "B"] | None = None
    ) -> tuple[Float[Tensor, "B T J"], Float[Tensor, "B T J"]]:
        """What stands left and right of each word: h→[t-1] and h←[t+1]."""
        left = one_way(self.forward_layers, x)
        right = reverse(one_way(self.backward_layers, reverse(x, lengths)), lengths)
        end = self.h_behind.expand(x.shape[0], 1, -1)
        left = begun(self.h_before, left[:, :-1], x.shape[1])
        right = torch.cat([right[:, 1:], end], 1)[:, : x.shape[1]]
        if lengths is not None:  # the last word of each sentence has nothing on its right
            followed = before(lengths - 1, x.shape[1])
            right = torch.where(followed[..., None], right, end)
        return left, right


def one_way(layers: nn.ModuleList, x: Float[Tensor, "B T I"]) -> Float[Tensor, "B T J"]:
    """A stack in one direction: the first layer changes the width, the others are added to the stream."""
    h = layers[0](x)[0]
    for layer in layers[1:]:
        h = h + layer(h)[0]
    return h


# -------------------------------------------------------------------------- a model that must not be used so


class StackedBidirectionalRNN(nn.Module):
    """N bidirectional layers, each reading the concatenation h→[t];h←[t] below (Graves et al. 2013).

    Right for tagging, where the word itself is known. Wrong for predicting a blank from the states beside it:
    from the second layer on, h→[t-1] is computed from h←[t-1] below, which has read w_t.
    """

    def __init__(self, I: int, J: int, N: int, layer: Callable[[int, int], nn.Module] = UGRNN):
        super().__init__()
        self.forward_layers = nn.ModuleList(layer(2 * J if n else I, J) for n in range(N))
        self.backward_layers = nn.ModuleList(layer(2 * J if n else I, J) for n in range(N))

    def forward(self, x: Float[Tensor, "B T I"]) -> tuple[Float[Tensor, "B T J"], Float[Tensor, "B T J"]]:
        """h→[1..T] and h←[1..T] of the top layer."""
        for ahead, back in zip(self.forward_layers, self.backward_layers, strict=True):
            left, right = ahead(x)[0], reverse(back(reverse(x))[0])
            x = torch.cat([left, right], 2)
        return left, right

    def contexts(self, x: Float[Tensor, "B T I"]) -> tuple[Float[Tensor, "B T J"], Float[Tensor, "B T J"]]:
        """h→[t-1] and h←[t+1], zero beyond the ends: free of w_t for N = 1 only."""
        left, right = self(x)
        zero = left.new_zeros(left.shape[2])
        behind = torch.cat([right[:, 1:], zero.expand(x.shape[0], 1, -1)], 1)
        return begun(zero, left[:, :-1], x.shape[1]), behind[:, : x.shape[1]]


def leak(contexts: Callable[[Tensor], tuple[Tensor, Tensor]], x: Float[Tensor, "B T I"], t: int) -> Float[Tensor, "T"]:
    """How much the contexts of position t depend on each word s: max |∂(cᵀ contexts[t])/∂x[s]|.

    c is a fixed random vector, so nothing cancels by symmetry. A blank language model is honest iff entry t
    is exactly zero: not small, zero, since there is no path.
    """
    x = x.detach().requires_grad_()
    both = torch.cat([h[:, t] for h in contexts(x)], 1)
    c = torch.randn(both.shape, generator=torch.Generator().manual_seed(0)).to(both)
    (gradient,) = torch.autograd.grad(both, x, c)
    return gradient.abs().amax((0, 2))

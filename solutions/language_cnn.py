"""A convolutional network over sentences: L layers of stride 2.

Problem 3 of "Language modeling, translation and attention" (2020).

    L_0[b,t,i]     = e[w[b,t],i]
    L_{l+1}[b,t,i] = σ( Σ_{Δt,i'} W_{l+1}[Δt,i',i] L_l[b,2t+Δt,i'] - B_{l+1}[i] )

Δt = 0 … D-1 and no padding, so that T' = ⌊(T-D)/2⌋ + 1. The problem lists W[Δt,i,i'] among the parameters and
uses W[Δt,i',i]; the latter stands. What is called a convolution is a cross-correlation, here as in torch: the
filter is not turned round. All positions of a layer can be computed at once: O(L) parallel time, where an RNN
needs O(T); and as each layer halves the length, L is at most log2 T.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from solutions.layers import Embedding, uniform


def stride_two_layer(
    L: Float[Tensor, "B T I1"],
    W: Float[Tensor, "D I1 I2"],
    B: Float[Tensor, "I2"],
    activation: Callable[[Tensor], Tensor] = torch.relu,
) -> Float[Tensor, "B T2 I2"]:
    """L_l -> L_{l+1}: torch wants channels before time and its filter as [out, in, tap]."""
    return activation(F.conv1d(L.mT, W.permute(2, 1, 0), -B, stride=2).mT)


class LanguageCNN(nn.Module):
    """Words w[B,T] -> L_L[B,T',I], with D taps a layer; the sentence must be as long as `receptive_field`."""

    def __init__(self, V: int, I: int, L: int, D: int = 3, activation: Callable[[Tensor], Tensor] = torch.relu):
        super().__init__()
        self.words = Embedding(V, I)
        self.W = nn.ParameterList(uniform(D, I, I, fan_in=D * I) for _ in range(L))
        self.B = nn.ParameterList(uniform(I, fan_in=D * I) for _ in range(L))
        self.activation = activation
        self.D = D

    @property
    def receptive_field(self) -> int:
        """How many words one output sees: 1 + (D-1)(2^L - 1); no shorter sentence gives an output."""
        return 1 + (self.D - 1) * (2 ** len(self.W) - 1)

    def forward(self, w: Int[Tensor, "B T"]) -> Float[Tensor, "B T2 I"]:
        """The last layer; output t saw the words 2^L t … 2^L t + receptive_field - 1."""
        if w.shape[1] < self.receptive_field:
            raise ValueError(f"{w.shape[1]} words are shorter than the receptive field of {self.receptive_field}")
        L = self.words(w)
        for W, B in zip(self.W, self.B, strict=True):
            L = stride_two_layer(L, W, B, self.activation)
        return L

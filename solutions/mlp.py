"""Deep perceptrons for regression: plain, with loss heads, with residual connections (2021 exam, problem 2).

    h_0[I]     = W_in[I,K] x[K] - B_in[I]                   the exam takes x itself, which needs K = I
    h_{l+1}[i] = σ(W_{l+1}[i,I] h_l[I] - B_{l+1}[i])        plain;  with residual connections, + h_l[i]
    ŷ_l        = W_{l,y}[I] h_l[I] - B_{l,y}                a head: at every layer, or at the last alone
    Loss       = Σ_l (y - ŷ_l)²                             one scalar, whatever the number of heads

Why either helps. With one loss at the top, ∂Loss/∂h_1 is a product of L-1 Jacobians. For the logistic σ,
whose slope is at most 1/4, it shrinks exponentially in L; for tanh and weights of size 1/√I it need not. A
head at layer l adds a term that has gone through no product at all (deep supervision: Lee et al. 2015). A
residual connection puts the identity into every factor (He et al. 2016). Neither changes the order of the
running time of backpropagation: O(L).
"""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor, nn

from solutions.layers import Linear


class DeepMLP(nn.Module):
    """x[B,K] -> ŷ[H,B], with H = L predictions if `heads`, else H = 1; the one to use is the last, ŷ[-1].

    The residual version with all W = B = 0 is the identity from h_0 to h_L if σ(0) = 0, as for tanh and ReLU;
    with the logistic σ it adds 1/2 a layer.
    """

    def __init__(
        self,
        K: int,
        I: int,
        L: int,
        *,
        heads: bool = False,
        residual: bool = False,
        activation: Callable[[Tensor], Tensor] = torch.sigmoid,
    ):
        super().__init__()
        self.inner = Linear(K, I)
        self.layers = nn.ModuleList(Linear(I, I) for _ in range(L))
        self.heads = nn.ModuleList(Linear(I, 1) for _ in range(L if heads else 1))
        self.residual = residual
        self.activation = activation

    def forward(self, x: Float[Tensor, "B K"]) -> Float[Tensor, "H B"]:
        """The predictions of the heads, lowest layer first."""
        h = self.inner(x)
        hidden = []
        for layer in self.layers:
            new = self.activation(layer(h))
            h = new + h if self.residual else new
            hidden.append(h)
        return torch.stack([head(h)[:, 0] for head, h in zip(self.heads, hidden[-len(self.heads) :], strict=True)])


def squared_loss(y_hat: Float[Tensor, "H B"], y: Float[Tensor, "B"]) -> Float[Tensor, ""]:
    """Σ_l (y - ŷ_l)², averaged over the batch: a sum over heads, not a mean, as in the exam."""
    return (y - y_hat).square().sum(0).mean()

"""Image captioning as translation: an attention over image positions instead of source words.

    alpha[x,y]  = softmax_{x,y} h[t-1,J] W_key[J,K] M[x,y,K]        one distribution over all X·Y positions
    V[K]        = Σ_{x,y} alpha[x,y] M[x,y,K]
    h[t,J]      = CELL(h[t-1,J], V[K], e[w_{t-1},I])              with K features: CELL is (J,K,I) -> J
    P(w_t | …)  = softmax_w e[w,I] W_auto[I,J] h[t,J]

Xu et al. (2015), "Show, attend and tell"; problem 2 of "Language modeling, translation and attention" (2020).
Three things that the printed equations leave open are fixed here:

* h[0,J] = W_init[J,K] · mean_{x,y} M[x,y,K]: an image has no thought vector, so one is computed from its
  average;
* the first step reads a learned vector `start` in the place of w_{t-1}. As printed, no step reads w_0, and
  the first word sees the image through h[0] only: attention would lag by one word;
* CELL takes V[K] and e[I] side by side: an update-gate RNN on the concatenation.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from solutions.layers import Embedding, uniform
from solutions.ugrnn import UGRNN


class Captioner(nn.Module):
    """Describes M[B,X,Y,K], the feature tensor of an image network, in words; see the equations above."""

    def __init__(self, V: int, I: int, J: int, K: int):
        super().__init__()
        self.words = Embedding(V, I)
        self.cell = UGRNN(K + I, J)
        self.start = uniform(I, fan_in=I)
        self.W_init, self.W_key = uniform(J, K, fan_in=K), uniform(J, K, fan_in=J)
        self.W_auto = uniform(I, J, fan_in=J)

    def attend(
        self, h: Float[Tensor, "B J"], M: Float[Tensor, "B X Y K"]
    ) -> tuple[Float[Tensor, "B K"], Float[Tensor, "B X Y"]]:
        """V and alpha. The softmax runs over x and y together: over one axis, the sum would be X or Y."""
        s = torch.einsum("bj,jk,bxyk->bxy", h, self.W_key, M)
        alpha = torch.softmax(s.flatten(1), 1).view_as(s)
        return torch.einsum("bxy,bxyk->bk", alpha, M), alpha

    def step(
        self, h: Float[Tensor, "B J"], e: Float[Tensor, "B I"], M: Float[Tensor, "B X Y K"]
    ) -> tuple[Float[Tensor, "B J"], Float[Tensor, "B X Y"]]:
        """h[t-1] and e[w_{t-1}] -> h[t] and the alpha that went into it."""
        V, alpha = self.attend(h, M)
        return self.cell.step(h, torch.cat([V, e], 1)), alpha

    def forward(
        self, M: Float[Tensor, "B X Y K"], w: Int[Tensor, "B T"]
    ) -> tuple[Float[Tensor, "B T V"], Float[Tensor, "B T X Y"]]:
        """Scores of w[b,t] given the image and w[b,:t], and where each of these steps looked."""
        h = M.mean((1, 2)) @ self.W_init.T
        e = torch.cat([self.start.expand(len(w), 1, -1), self.words(w[:, :-1])], 1)
        states, alphas = [], []
        for e_t in e.unbind(1):
            h, alpha = self.step(h, e_t, M)
            states.append(h)
            alphas.append(alpha)
        return self.words.scores(torch.stack(states, 1) @ self.W_auto.T), torch.stack(alphas, 1)

    @torch.no_grad()
    def caption(self, M: Float[Tensor, "B X Y K"], T: int) -> tuple[Int[Tensor, "B T"], Float[Tensor, "B T X Y"]]:
        """The most likely next word, T times over, and where each step looked."""
        h, e = M.mean((1, 2)) @ self.W_init.T, self.start.expand(len(M), -1)
        words, alphas = [], []
        for _ in range(T):
            h, alpha = self.step(h, e, M)
            w = self.words.scores(h @ self.W_auto.T).argmax(1)
            e = self.words(w)
            words.append(w)
            alphas.append(alpha)
        return torch.stack(words, 1), torch.stack(alphas, 1)

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

from solutions.layers import Embedding, begun, in_time, uniform
from solutions.sampling import evaluating, extend
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
        e = begun(self.start, self.words(w[:, :-1]), w.shape[1])
        states, alphas = [], []
        for e_t in e.unbind(1):
            h, alpha = self.step(h, e_t, M)
            states.append(h)
            alphas.append(alpha)
        return self.words.scores(in_time(states, h) @ self.W_auto.T), in_time(alphas, M[..., 0])

    def caption(
        self,
        M: Float[Tensor, "B X Y K"],
        T: int,
        *,
        eos: int | None = None,
        temperature: float = 0.0,
        generator: torch.Generator | None = None,
    ) -> tuple[Int[Tensor, "B T2"], Float[Tensor, "B T2 X Y"]]:
        """Up to T words for each image, the likeliest ones, and where each step looked.

        `eos` and `temperature` as in `sampling`.
        """
        alphas = []
        with evaluating(self):
            h = M.mean((1, 2)) @ self.W_init.T

            def next_logits(words: Tensor) -> Tensor:
                nonlocal h
                e = self.words(words[:, -1]) if words.shape[1] else self.start.expand(M.shape[0], -1)
                h, alpha = self.step(h, e, M)
                alphas.append(alpha)
                return self.words.scores(h @ self.W_auto.T)

            none = torch.empty(M.shape[0], 0, dtype=torch.long, device=M.device)
            words = extend(none, next_logits, T, eos=eos, temperature=temperature, generator=generator)
        return words, in_time(alphas, M[..., 0])[:, : words.shape[1]]

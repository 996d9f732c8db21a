"""Sequence to sequence: a thought vector, and cross-attention over the source.

    encoder      M[T_in,J], the states of a UGRNN that reads the source from right to left. The last one,
                 at the first word, is the thought vector h[0,J]: read backwards, the source's start is fresh
                 when the output starts (Sutskever, Vinyals & Le 2014; slides, "Thought vectors").
    decoder      alpha[t_in] = softmax_{t_in} q[J] M[t_in,J]
                 V[J]        = Σ_{t_in} alpha[t_in] M[t_in,J]
                 h[t,J]      = CELL(h[t-1,J], V[J], e[w_{t-1},I])
                 P(w_t | …)  = softmax_w e[w,I] W_auto[I,J] h[t,J]

Bahdanau, Cho & Bengio (2015), and problem 2 of "Language modeling, translation and attention" (2020). Sources
differ in the query q:

    attention="state"   q[J] = h[t-1,J1] W_key[J1,J]      the problem set: what was written so far asks
    attention="word"    q[J] = e[w_{t-1},I] W_key[I,J]    the slides (W_key = 1, I = J): the last word asks
    attention=None      no alpha and no V: the thought vector must hold everything

The problem set's equations read literally never use w_0, and let the attention act on the *next* word only.
Here the first step reads a learned vector `start` in the place of w_{t-1}, so every word, the first one too,
sees V.
"""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from solutions.layers import Embedding, before, begun, in_time, masked_softmax, reverse, uniform
from solutions.sampling import evaluating, extend
from solutions.ugrnn import UGRNN


class Seq2Seq(nn.Module):
    """w_in[B,T_in] over V_in words -> w_out[B,T_out] over V_out words, by the equations above."""

    def __init__(self, V_in: int, V_out: int, I: int, J: int, attention: str | None = "state"):
        super().__init__()
        if attention not in (None, "state", "word"):
            raise ValueError(f'attention is "state", "word" or None, not {attention!r}')
        self.attention = attention
        self.source, self.target = Embedding(V_in, I), Embedding(V_out, I)
        self.encoder = UGRNN(I, J)
        self.cell = UGRNN(I if attention is None else J + I, J)
        self.start = uniform(I, fan_in=I)
        self.W_auto = uniform(I, J, fan_in=J)
        if attention is not None:
            self.W_key = uniform(J if attention == "state" else I, J, fan_in=J)

    def encode(
        self, w_in: Int[Tensor, "B T_in"], lengths: Int[Tensor, "B"] | None = None
    ) -> tuple[Float[Tensor, "B J"], Float[Tensor, "B T_in J"]]:
        """The thought vector h[0], and M in the source's order; words behind `lengths` are not read.

        Of a source without words, h[0] is zero: where the encoder starts.
        """
        M = reverse(self.encoder(reverse(self.source(w_in), lengths))[0], lengths)
        h = M[:, :1].sum(1)  # read from right to left, the first word comes last
        return h if lengths is None else h.masked_fill(lengths[:, None] == 0, 0), M

    def step(
        self,
        h: Float[Tensor, "B J"],
        x: Float[Tensor, "B I"],
        M: Float[Tensor, "B T_in J"],
        visible: Bool[Tensor, "B T_in"] | None = None,
    ) -> tuple[Float[Tensor, "B J"], Float[Tensor, "B T_in"] | None]:
        """The decoder's step: h[t-1] and x = e[w_{t-1}] -> h[t] and alpha, zero where not visible."""
        alpha = None
        if self.attention is not None:
            q = (h if self.attention == "state" else x) @ self.W_key
            s = torch.einsum("bj,btj->bt", q, M)
            alpha = torch.softmax(s, 1) if visible is None else masked_softmax(s, visible)
            V = torch.einsum("bt,btj->bj", alpha, M)
            x = torch.cat([V, x], 1)
        return self.cell.step(h, x), alpha

    def scores(self, h: Float[Tensor, "*batch J"]) -> Float[Tensor, "*batch V_out"]:
        """e[w,I] W_auto[I,J] h[J] for every word of the target."""
        return self.target.scores(h @ self.W_auto.T)

    def forward(
        self,
        w_in: Int[Tensor, "B T_in"],
        w_out: Int[Tensor, "B T_out"],
        lengths: Int[Tensor, "B"] | None = None,
    ) -> Float[Tensor, "B T_out V_out"]:
        """Scores of w_out[b,t] given the source and w_out[b,:t], the right words ("teacher forcing")."""
        h, M = self.encode(w_in, lengths)
        visible = None if lengths is None else before(lengths, w_in.shape[1])
        x = begun(self.start, self.target(w_out[:, :-1]), w_out.shape[1])
        states = []
        for x_t in x.unbind(1):
            h, _ = self.step(h, x_t, M, visible)
            states.append(h)
        return self.scores(in_time(states, h))

    def translate(
        self,
        w_in: Int[Tensor, "B T_in"],
        T_out: int,
        lengths: Int[Tensor, "B"] | None = None,
        *,
        eos: int | None = None,
        temperature: float = 0.0,
        generator: torch.Generator | None = None,
    ) -> tuple[Int[Tensor, "B T2"], Float[Tensor, "B T2 T_in"] | None]:
        """Up to T_out words of each row, and what each step attended to; the likeliest ones ("greedy decoding").

        `eos` and `temperature` as in `sampling`.
        """
        visible = None if lengths is None else before(lengths, w_in.shape[1])
        alphas = []
        with evaluating(self):
            h, M = self.encode(w_in, lengths)

            def next_logits(words: Tensor) -> Tensor:
                nonlocal h
                x = self.target(words[:, -1]) if words.shape[1] else self.start.expand(w_in.shape[0], -1)
                h, alpha = self.step(h, x, M, visible)
                alphas.append(alpha)
                return self.scores(h)

            words = extend(w_in[:, :0], next_logits, T_out, eos=eos, temperature=temperature, generator=generator)
        return words, None if self.attention is None else in_time(alphas, M[..., 0])[:, : words.shape[1]]

"""BERT: a bidirectional encoder, trained to fill in masked words (Devlin et al. 2018).

    mask_tokens            choose 15 % of the words; show [MASK] for 80 % of these, a random word for 10 %
    Bert                   token + segment + position embeddings and a stack of layers without a causal mask
    MaskedLanguageModel    Bert and a softmax over the vocabulary at every position

Nothing here masks attention: what is hidden is the words themselves, and each is predicted from both sides.

Axes: B batch, T time, V vocabulary, S segments, J model width, K heads, I width per head, F feed-forward
width.
"""

from functools import partial

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional

from solutions.attention import padding_mask
from solutions.positional import LearnedPositions
from solutions.transformer import Layer


def mask_tokens(
    tokens: Int[Tensor, "B T"],
    *,
    mask: int,
    V: int,
    special: tuple[int, ...] = (),
    share: float = 0.15,
    generator: torch.Generator | None = None,
) -> tuple[Int[Tensor, "B T"], Bool[Tensor, "B T"]]:
    """Return the words as the model is shown them, and which of them it must predict (section 3.1, task 1).

    Each word is selected with probability `share`, never a special one ([CLS], [SEP], padding). Of the
    selected, 80 % become [MASK]; 10 % become a word drawn from all V; 10 % stay, so that the model cannot
    trust what it sees. The generator is on the tokens' device.
    """

    def uniform() -> Tensor:
        return torch.rand(tokens.shape, generator=generator, device=tokens.device)

    fixed = torch.zeros_like(tokens, dtype=torch.bool)
    for word in (*special, mask):
        fixed |= tokens == word
    selected = (uniform() < share) & ~fixed
    fate = uniform()
    random = torch.randint(V, tokens.shape, generator=generator, device=tokens.device, dtype=tokens.dtype)
    shown = torch.where(selected & (fate < 0.8), mask, tokens)
    return torch.where(selected & (fate >= 0.9), random, shown), selected


def masked_loss(
    logits: Float[Tensor, "B T V"], tokens: Int[Tensor, "B T"], selected: Bool[Tensor, "B T"]
) -> Float[Tensor, ""]:
    """Return the mean of -ln P(w_t) over the selected positions; 0 where none is."""
    words = tokens.masked_fill(~selected, -1)  # not logits[selected]: how many there are, only the device knows
    total = functional.cross_entropy(logits.flatten(0, 1), words.flatten(), reduction="sum", ignore_index=-1)
    return total / selected.sum().clamp(min=1)


class Bert(nn.Module):
    """The encoder (section 3): E[t] = E_token[w_t] + E_segment[s_t] + E_position[t], a norm, N layers.

    The three are added, not concatenated: adding is one product of a stacked table with the concatenated
    one-hot vectors. Unlike in Vaswani et al. 2017 there are segments, and positions are learned. `pooler`
    adds the tanh layer over [CLS] that sentence-level tasks read. `eps` is what published weights were trained with;
    dropout (0.1 in the paper) is that of attention weights, too.
    """

    def __init__(
        self,
        V: int,
        J: int,
        K: int,
        I: int,
        F: int,
        N: int,
        T_max: int,
        S: int,
        *,
        pooler: bool = False,
        dropout: float = 0.0,
        eps: float = 1e-12,
    ) -> None:
        super().__init__()
        norm = partial(nn.LayerNorm, eps=eps)
        options = {"dropout": dropout, "attention_dropout": dropout, "activation": functional.gelu, "norm": norm}
        self.e = nn.Parameter(0.02 * torch.randn(V, J))
        self.s = nn.Parameter(0.02 * torch.randn(S, J))
        self.positions = LearnedPositions(T_max, J)
        self.norm = norm(J)
        self.dropout = nn.Dropout(dropout)
        self.layers = nn.ModuleList(Layer(J, K, I, F, bias=True, **options) for _ in range(N))
        self.W_P = nn.Parameter(torch.randn(J, J) * J**-0.5) if pooler else None
        self.B_P = nn.Parameter(torch.zeros(J)) if pooler else None

    def embed(self, tokens: Int[Tensor, "B T"], segments: Int[Tensor, "B T"]) -> Float[Tensor, "B T J"]:
        """Return the sum of the three embeddings, before the norm."""
        return self.positions(functional.embedding(tokens, self.e) + functional.embedding(segments, self.s))

    def forward(
        self,
        tokens: Int[Tensor, "B T"],
        segments: Int[Tensor, "B T"],
        lengths: Int[Tensor, "B"] | None = None,
    ) -> Float[Tensor, "B T J"]:
        """Return the last layer; positions from lengths[b] on are padding that nothing looks at."""
        mask = None if lengths is None else padding_mask(lengths, tokens.shape[1])
        h = self.dropout(self.norm(self.embed(tokens, segments)))
        for layer in self.layers:
            h = layer(h, mask=mask)
        return h

    def pool(self, h: Float[Tensor, "B T J"]) -> Float[Tensor, "B J"]:
        """Return tanh(W^P[j, J] h[0, J] - B^P[j]): the sentence as [CLS], the first position, has it."""
        if self.W_P is None:
            raise ValueError("this model has no pooler: build it with pooler=True")
        return torch.tanh(functional.linear(h[:, 0], self.W_P, -self.B_P))


class MaskedLanguageModel(nn.Module):
    """P(w_t | words shown) = softmax_w e[w, J] norm(gelu(W^M[J, J] h[t, J] - B^M[J])) - B[w]"""

    def __init__(
        self,
        V: int,
        J: int,
        K: int,
        I: int,
        F: int,
        N: int,
        T_max: int,
        S: int,
        *,
        dropout: float = 0.0,
        eps: float = 1e-12,
    ) -> None:
        super().__init__()
        self.bert = Bert(V, J, K, I, F, N, T_max, S, dropout=dropout, eps=eps)
        self.W_M = nn.Parameter(torch.randn(J, J) * J**-0.5)
        self.B_M = nn.Parameter(torch.zeros(J))
        self.norm = nn.LayerNorm(J, eps=eps)
        self.B = nn.Parameter(torch.zeros(V))

    def forward(
        self,
        tokens: Int[Tensor, "B T"],
        segments: Int[Tensor, "B T"],
        lengths: Int[Tensor, "B"] | None = None,
    ) -> Float[Tensor, "B T V"]:
        """Return logits[b, t, w] of the word at position t itself."""
        h = self.bert(tokens, segments, lengths)
        h = self.norm(functional.gelu(functional.linear(h, self.W_M, -self.B_M)))
        return functional.linear(h, self.bert.e, -self.B)  # the token table is the output matrix

"""The transformer: residual stacks of attention and feed-forward layers (Vaswani et al. 2017).

    Layer            attention, cross-attention where wanted, feed-forward, each around a residual connection
    Transformer      encoder and decoder, for translation: P(target | source)
    LanguageModel    the decoder alone, for P(w_0, w_1, ...) (Radford et al. 2019, GPT-2)

Axes: B batch, T time, V vocabulary, J model width, K heads, I width per head, F width within the
feed-forward layer, N layers. Biases are subtracted, except in layer norms, which are torch's own. A norm
after the addition (`pre_norm=False`) is the paper's; before the branch it leaves a clean residual pathway,
and deep stacks train without a warm-up (Xiong et al. 2020).
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal

import torch
from jaxtyping import Float, Int, Shaped
from torch import Tensor, nn
from torch.nn import functional

from solutions.attention import KeyValueCache, MultiHeadAttention, padding_mask
from solutions.positional import LearnedPositions, SinusoidalPositions, Turn, turn
from solutions.sampling import evaluating, extend

Activation = Callable[[Tensor], Tensor]
Norm = Callable[[int], nn.Module]  # J -> the layer; `partial(nn.LayerNorm, eps=1e-12)`, `nn.RMSNorm`

gelu_tanh = partial(functional.gelu, approximate="tanh")  # GPT-2's; the exact function differs from it by up to 5e-4


class FeedForward(nn.Module):
    """W^FF2[j, F] f(W^FF1[F, J] L[t, J] - B^FF1[F]) - B^FF2[j] at each position alone (section 3.3).

    `gated` multiplies f(...) by W^FF3[F, J] L[t, J] (Shazeer 2020; Llama, with SiLU for f). `dropout` acts within, as
    in tensor2tensor and torch.nn; the paper, GPT-2 and BERT have none there.
    """

    def __init__(
        self, J: int, F: int, activation: Activation = functional.relu, *, gated: bool = False, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.activation = activation
        self.dropout = nn.Dropout(dropout)
        self.W_FF3 = nn.Parameter(torch.randn(F, J) * J**-0.5) if gated else None
        self.W_FF1 = nn.Parameter(torch.randn(F, J) * J**-0.5)
        self.B_FF1 = nn.Parameter(torch.zeros(F))
        self.W_FF2 = nn.Parameter(torch.randn(J, F) * F**-0.5)
        self.B_FF2 = nn.Parameter(torch.zeros(J))

    def forward(self, h: Float[Tensor, "*T J"]) -> Float[Tensor, "*T J"]:
        """Apply the two layers to the last axis."""
        inner = self.activation(functional.linear(h, self.W_FF1, -self.B_FF1))
        if self.W_FF3 is not None:
            inner = inner * functional.linear(h, self.W_FF3)
        return functional.linear(self.dropout(inner), self.W_FF2, -self.B_FF2)


class Layer(nn.Module):
    """One layer of a residual stack (section 3.1, figure 1); `cross` adds the decoder's look at the encoder.

    With zero weights in its branches a `pre_norm` layer is the identity. `bias` gives the attention biases;
    the paper prints none, GPT-2 and BERT have them. Queries and keys are I wide unless U is given. `dropout` is that
    of each branch's output (section 5.4); of attention weights and within the feed-forward it is given apart.
    """

    def __init__(
        self,
        J: int,
        K: int,
        I: int,
        F: int,
        *,
        U: int | None = None,
        G: int | None = None,
        cross: bool = False,
        pre_norm: bool = False,
        norm: Norm = nn.LayerNorm,
        bias: bool = False,
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        inner_dropout: float = 0.0,
        activation: Activation = functional.relu,
        gated: bool = False,
    ) -> None:
        super().__init__()
        options = {"U": U or I, "I": I, "G": G, "bias": bias, "dropout": attention_dropout}
        self.pre_norm = pre_norm
        self.attention = MultiHeadAttention(J, K, **options)
        self.attention_norm = norm(J)
        self.cross = MultiHeadAttention(J, K, **options) if cross else None
        self.cross_norm = norm(J) if cross else None
        self.feed_forward = FeedForward(J, F, activation, gated=gated, dropout=inner_dropout)
        self.feed_forward_norm = norm(J)
        self.dropout = nn.Dropout(dropout)

    def _residual(self, h: Tensor, norm: nn.Module, branch: Callable[[Tensor], Tensor]) -> Tensor:
        if self.pre_norm:
            return h + self.dropout(branch(norm(h)))
        return norm(h + self.dropout(branch(h)))

    def forward(
        self,
        h: Float[Tensor, "B T J"],
        memory: tuple[Float[Tensor, "B K T_in I"], Float[Tensor, "B K T_in I"]] | None = None,
        *,
        mask: Shaped[Tensor, "..."] | None = None,
        memory_mask: Shaped[Tensor, "..."] | None = None,
        causal: bool = False,
        cache: KeyValueCache | None = None,
        turn: Turn | None = None,
    ) -> Float[Tensor, "B T J"]:
        """Pass the residual stream through; `memory` is `self.cross.keys_values(...)`, computed once."""
        look = partial(self.attention, mask=mask, causal=causal, cache=cache, turn=turn)
        h = self._residual(h, self.attention_norm, look)
        if self.cross is not None:
            h = self._residual(h, self.cross_norm, lambda x: self.cross.read(x, *memory, mask=memory_mask))
        return self._residual(h, self.feed_forward_norm, self.feed_forward)


# --- the decoder alone ------------------------------------------------------------------------------------


class LanguageModel(nn.Module):
    """P(w_t | w_0 ... w_t-1) = softmax_w e[w, J] L_N[t-1, J], by a causal stack (Radford et al. 2019, GPT-2).

    The embedding is the output matrix too, unless `tied=False`. `activation=gelu_tanh, bias=True` with V=50257,
    J=F/4=768, K=12, I=64, N=12, T_max=1024 is GPT-2 small with its 124,439,808 parameters, and dropout=0.1,
    attention_dropout=0.1 as it was trained. Positions are "learned", "sinusoidal" or "rotary", which turn queries and
    keys (`positional.rotated`, halves); with these, norm=nn.RMSNorm, gated=True, activation=functional.silu, G groups
    and tied=False it is a Llama.
    `solutions.published` copies the weights of both. Other options are those of `Layer`.
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
        *,
        pre_norm: bool = True,
        positions: str = "learned",
        base: float = 10000.0,
        dropout: float = 0.0,
        norm: Norm = nn.LayerNorm,
        tied: bool = True,
        **options: object,
    ) -> None:
        super().__init__()
        self.T_max, self.base, self.width = T_max, base, options.get("U") or I
        self.e = nn.Parameter(0.02 * torch.randn(V, J))
        kinds = {
            "learned": lambda: LearnedPositions(T_max, J),
            "sinusoidal": lambda: SinusoidalPositions(J),
            "rotary": lambda: None,
        }
        if positions not in kinds:
            raise ValueError(f"positions are one of {', '.join(kinds)}, not {positions!r}")
        self.positions = kinds[positions]()
        self.dropout = nn.Dropout(dropout)
        options |= {"pre_norm": pre_norm, "dropout": dropout, "norm": norm}
        self.layers = nn.ModuleList(Layer(J, K, I, F, **options) for _ in range(N))
        self.norm = norm(J) if pre_norm else nn.Identity()
        self.W_out = None if tied else nn.Parameter(torch.randn(V, J) * J**-0.5)

    def states(
        self,
        tokens: Int[Tensor, "B T"],
        caches: Sequence[KeyValueCache] | None = None,
        padding: Int[Tensor, "B"] | None = None,
    ) -> Float[Tensor, "B T J"]:
        """Return L_N[t, J], which knows w_0 ... w_t; `caches` hold what came before `tokens`.

        The first padding[b] words of row b are none: nothing looks at them, and positions count from behind them.
        """
        start, h = caches[0].length if caches else 0, functional.embedding(tokens, self.e)
        t, mask = torch.arange(start + tokens.shape[1], device=tokens.device), None
        if padding is not None:
            t = t - padding[:, None]  # (B, T2)
            mask = (t >= 0)[:, None, None]
        place = t[..., start:]
        if self.positions is not None:
            h = self.positions(h, start, None if padding is None else place.clamp(min=0))
        turns = None if self.positions is not None else turn(place, self.width, h.dtype, self.base)
        h = self.dropout(h)
        for layer, cache in zip(self.layers, caches or [None] * len(self.layers), strict=True):
            h = layer(h, causal=True, mask=mask, cache=cache, turn=turns)
        return self.norm(h)

    def logits(self, h: Float[Tensor, "*B J"]) -> Float[Tensor, "*B V"]:
        """Return e[w, J] h[J], or W^out[w, J] h[J] where the output has a matrix of its own."""
        return functional.linear(h, self.e if self.W_out is None else self.W_out)

    def forward(self, tokens: Int[Tensor, "B T"], padding: Int[Tensor, "B"] | None = None) -> Float[Tensor, "B T V"]:
        """Return logits[b, t, w] of the word after position t; see `states` for `padding`."""
        return self.logits(self.states(tokens, padding=padding))

    def new_caches(self, B: int, T: int) -> list[KeyValueCache]:
        """Make room for T positions in every layer."""
        return [layer.attention.new_cache(B, T) for layer in self.layers]

    def generate(
        self,
        prompt: Int[Tensor, "B T"],
        T_new: int,
        *,
        padding: Int[Tensor, "B"] | None = None,
        eos: int | None = None,
        temperature: float = 1.0,
        generator: torch.Generator | None = None,
        cached: bool = True,
    ) -> Int[Tensor, "B T2"]:
        """Continue the prompts by up to T_new words; the generator is on their device.

        Prompts of several lengths end together: the first padding[b] words of row b are not read. With a cache each
        step costs one position instead of all; the words are the same.
        """
        B, T = prompt.shape
        if not 0 < T <= T + T_new <= self.T_max:
            raise ValueError(f"a prompt of {T} and {T_new} new words do not fit 1 ... {self.T_max}")
        caches = self.new_caches(B, T + T_new) if cached else None

        def next_logits(tokens: Tensor) -> Tensor:
            new = tokens[:, caches[0].length :] if caches else tokens
            return self.logits(self.states(new, caches, padding)[:, -1])

        with evaluating(self):
            return extend(prompt, next_logits, T_new, eos=eos, temperature=temperature, generator=generator)


# --- encoder and decoder ----------------------------------------------------------------------------------


class Transformer(nn.Module):
    """P(target | source) by an encoder and a decoder (Vaswani et al. 2017, figure 1).

    The encoder sees the whole source; the decoder sees the target up to and including position t, and
    through cross-attention the whole source. `tables` is how many V by J matrices there are: 1 for both
    embeddings and the output (section 3.4: multiplied by √J as an embedding), 2 for a source and a
    target table, the latter for the output too, 3 for all apart. `final_norm` closes each stack with a
    layer norm, as `pre_norm` needs and `torch.nn.Transformer` always does. Other options are those of `Layer`.
    """

    def __init__(
        self,
        V: int,
        J: int,
        K: int,
        I: int,
        F: int,
        N: int,
        *,
        U: int | None = None,
        tables: Literal[1, 2, 3] = 1,
        pre_norm: bool = False,
        final_norm: bool | None = None,
        output_bias: bool = False,
        dropout: float = 0.0,
        norm: Norm = nn.LayerNorm,
        **options: object,
    ) -> None:
        super().__init__()
        options |= {"U": U, "pre_norm": pre_norm, "dropout": dropout, "norm": norm}
        final_norm = pre_norm if final_norm is None else final_norm
        self.e = nn.ParameterList(torch.randn(V, J) * J**-0.5 for _ in range(tables))
        self.B = nn.Parameter(torch.zeros(V)) if output_bias else None
        self.positions = SinusoidalPositions(J)
        self.dropout = nn.Dropout(dropout)
        self.encoder = nn.ModuleList(Layer(J, K, I, F, **options) for _ in range(N))
        self.decoder = nn.ModuleList(Layer(J, K, I, F, cross=True, **options) for _ in range(N))
        self.encoder_norm = norm(J) if final_norm else nn.Identity()
        self.decoder_norm = norm(J) if final_norm else nn.Identity()

    def embed(self, tokens: Int[Tensor, "B T"], e: Float[Tensor, "V J"], start: int = 0) -> Float[Tensor, "B T J"]:
        """Return √J e[w_t] with the waves of positions start ... added."""
        h = functional.embedding(tokens, e) * e.shape[1] ** 0.5
        return self.dropout(self.positions(h, start))

    def encode(
        self, source: Int[Tensor, "B T_in"], lengths: Int[Tensor, "B"] | None = None
    ) -> Float[Tensor, "B T_in J"]:
        """Return the encoder's last layer; positions from lengths[b] on are padding that nothing looks at."""
        mask = None if lengths is None else padding_mask(lengths, source.shape[1])
        h = self.embed(source, self.e[0])
        for layer in self.encoder:
            h = layer(h, mask=mask)
        return self.encoder_norm(h)

    def memories(self, encoded: Float[Tensor, "B T_in J"]) -> list[tuple[Tensor, Tensor]]:
        """Return every decoder layer's keys and values of the source: the same for all target positions."""
        return [layer.cross.keys_values(encoded) for layer in self.decoder]

    def decode(
        self,
        target: Int[Tensor, "B T_out"],
        memories: Sequence[tuple[Tensor, Tensor]],
        lengths: Int[Tensor, "B"] | None = None,
        caches: Sequence[KeyValueCache] | None = None,
    ) -> Float[Tensor, "B T_out J"]:
        """Return the decoder's last layer; `caches` hold what came before `target`."""
        mask = None if lengths is None else padding_mask(lengths, memories[0][0].shape[2])
        h = self.embed(target, self.e[min(1, len(self.e) - 1)], caches[0].length if caches else 0)
        for layer, memory, cache in zip(self.decoder, memories, caches or [None] * len(self.decoder), strict=True):
            h = layer(h, memory, memory_mask=mask, causal=True, cache=cache)
        return self.decoder_norm(h)

    def logits(self, h: Float[Tensor, "*B J"]) -> Float[Tensor, "*B V"]:
        """Return e[w, J] h[J] - B[w]."""
        return functional.linear(h, self.e[-1], None if self.B is None else -self.B)

    def forward(
        self,
        source: Int[Tensor, "B T_in"],
        target: Int[Tensor, "B T_out"],
        lengths: Int[Tensor, "B"] | None = None,
    ) -> Float[Tensor, "B T_out V"]:
        """Return logits[b, t, w] of the word after target[b, t]; the target starts with a begin token."""
        return self.logits(self.decode(target, self.memories(self.encode(source, lengths)), lengths))

    def translate(
        self,
        source: Int[Tensor, "B T_in"],
        T_max: int,
        *,
        bos: int,
        eos: int,
        lengths: Int[Tensor, "B"] | None = None,
        temperature: float = 0.0,
        generator: torch.Generator | None = None,
        cached: bool = True,
    ) -> Int[Tensor, "B T_out"]:
        """Return up to T_max words per row, <EOS> from its end on; greedy unless a temperature is given."""
        B = source.shape[0]
        begin = source.new_full((B, 1), bos)
        caches = [layer.attention.new_cache(B, T_max) for layer in self.decoder] if cached else None
        with evaluating(self):
            memories = self.memories(self.encode(source, lengths))

            def next_logits(tokens: Tensor) -> Tensor:
                new = tokens[:, caches[0].length :] if caches else tokens
                return self.logits(self.decode(new, memories, lengths, caches)[:, -1])

            words = extend(begin, next_logits, T_max, eos=eos, temperature=temperature, generator=generator)
        return words[:, 1:]

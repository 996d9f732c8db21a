"""Attention: a weighted mean of values, the weights being a softmax of query-key products.

Four ways of computing the same thing stand here, from the equations to what runs fast:

    self_attention         the equations of the problem sheet, line for line, for one sequence
    attend                 one call for all heads; never holds alpha (Dao et al. 2022, FlashAttention)
    MultiHeadAttention     the layer: projections, heads, W^O; self, cross, causal, grouped, cached
    MergedAttention        W^Q and W^K as one matrix per head, W^V and W^O as another; and back by SVD

Axes: B batch, T time (T1 queries, T2 keys), J model width, M memory width, K heads, G key/value groups, U
query/key width, I value width, C = K I the concatenation. A bias is subtracted, as everywhere in the
course. A mask has four axes, (B, K, T1, T2) or 1 for any of them, and is True where a query may look
(`F.scaled_dot_product_attention` agrees, `nn.MultiheadAttention` has the opposite); a query that may look nowhere
gets zeros rather than 0/0.
"""

import math

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor, nn

from solutions.derivatives import ordinary, twice
from solutions.layers import masked_softmax
from solutions.positional import Turn, rotated


def self_attention(
    h: Float[Tensor, "T J"],
    W_Q: Float[Tensor, "K U J"],
    W_K: Float[Tensor, "K U J"],
    W_V: Float[Tensor, "K I J"],
    scale: float = 1.0,
) -> tuple[Float[Tensor, "K T T"], Float[Tensor, "T C"]]:
    """Return alpha and h_out of transformer Problem 1: heads one after another in C = K I, no W^O.

    The problem sheet has no scale; the lecture's is `scale=U ** -0.5` (Vaswani et al. 2017, equation 1).
    alpha[k, t1, t2] sums to one over t2.
    """
    query = torch.einsum("kuj,tj->ktu", W_Q, h)
    key = torch.einsum("kuj,tj->ktu", W_K, h)
    alpha = torch.softmax(scale * torch.einsum("kau,kbu->kab", query, key), dim=-1)
    value = torch.einsum("kij,tj->kti", W_V, h)
    out = torch.einsum("kab,kbi->aki", alpha, value)
    return alpha, out.flatten(1)  # (T, K, I) -> (T, K I): head 1; ...; head K


# --- masks ------------------------------------------------------------------------------------------------


def causal_mask(T1: int, T2: int | None = None, device: torch.device | None = None) -> Bool[Tensor, "1 1 T1 T2"]:
    """Let the query at t1 look at keys t2 <= t1, itself included: T(T+1)/2 pairs.

    With fewer queries than keys the queries are the last T1 positions, as when generating from a cache.
    """
    T2 = T1 if T2 is None else T2
    mask = torch.ones(T1, T2, dtype=torch.bool, device=device).tril(T2 - T1)
    return mask[None, None]


def padding_mask(lengths: Int[Tensor, "B"], T: int) -> Bool[Tensor, "B 1 1 T"]:
    """Let every query of row b look at the first lengths[b] keys."""
    return (torch.arange(T, device=lengths.device) < lengths[:, None])[:, None, None]


def prefix_mask(T: int, P: int, device: torch.device | None = None) -> Bool[Tensor, "1 1 T T"]:
    """Causal, except that the first P positions see one another: T(T+1)/2 + P(P-1)/2 pairs (a prefix LM)."""
    mask = causal_mask(T, device=device)
    mask[..., :P, :P] = True
    return mask


def window_mask(T: int, w: int, device: torch.device | None = None) -> Bool[Tensor, "1 1 T T"]:
    """Let t1 look at its last w positions, itself included: w T - w(w-1)/2 pairs for w <= T."""
    mask = causal_mask(T, device=device)
    return mask & ~mask.tril(-w)


# --- the two ways to attend -------------------------------------------------------------------------------


def _joined(mask: Tensor | None, causal: bool, query: Tensor, key: Tensor) -> Tensor | None:
    """The mask (or additive bias) that also says `causal`."""
    if not causal:
        return mask
    past = causal_mask(query.shape[-2], key.shape[-2], query.device)
    if mask is None:
        return past
    return mask & past if mask.dtype == torch.bool else mask.masked_fill(~past, -math.inf)


def _check(mask: Tensor | None) -> None:
    """Refuse what would be taken for another mask in silence: (B, T1, T2) for one per head, integers for a bias."""
    if mask is None:
        return
    if mask.dim() != 4:
        raise ValueError(
            f"a mask has the axes (B, K, T1, T2), each possibly 1; this one has the shape {tuple(mask.shape)}. "
            "mask[:, None] makes one of (B, T1, T2), mask[None, None] one of (T1, T2)"
        )
    if mask.dtype != torch.bool and not mask.is_floating_point():
        raise ValueError(f"a mask is bool, or a floating-point bias; this one is {mask.dtype}: take mask.bool()")


def attend(
    query: Float[Tensor, "B K T1 U"],
    key: Float[Tensor, "B G T2 U"],
    value: Float[Tensor, "B G T2 I"],
    *,
    scale: float,
    mask: Shaped[Tensor, "..."] | None = None,
    causal: bool = False,
    dropout: float = 0.0,
) -> Float[Tensor, "B K T1 I"]:
    """Return Σ_t2 alpha[k, t1, t2] value[k, t2] without ever holding alpha: memory O(T) instead of O(T²).

    A floating-point mask is added to the scores. Head k reads group k G // K (Ainslie et al. 2023). `dropout` is the
    share of alpha that is set to zero, the rest growing by 1 / (1 - dropout). The fused kernels know one derivative:
    under torch.func, in forward mode, and from the second derivative on, `attend_by_weights` stands in for them, which
    holds alpha.
    """
    _check(mask)
    if query.shape[-2] == 1:  # asked by `if`, so that a compiler that knows no lengths settles it once
        causal = False  # the last position alone may look at everything
    options = {"scale": scale, "causal": causal, "dropout": dropout}

    def by_weights(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
        return attend_by_weights(query, key, value, mask=mask, **options)[0]

    if not ordinary():
        return by_weights(query, key, value, mask)
    out = _fused(query, key, value, mask=mask, **options)
    return out if dropout else twice(out, by_weights, query, key, value, mask)  # what was dropped, the kernel knows


def _fused(
    query: Tensor, key: Tensor, value: Tensor, *, scale: float, mask: Tensor | None, causal: bool, dropout: float
) -> Tensor:
    """Torch's kernels.

    Two traps leave the result right and the fused kernel unused, four to seven times slower: the last axis must be
    the dense one in memory (einsum('kuj,tj->ktu') makes a view that is not), and U and I must be equal, hence the
    zeros appended here, which change no score and no value that is kept. A third breaks compiling: the flag is a
    constant, never the outcome of comparing lengths.
    """
    U, I = query.shape[-1], value.shape[-1]
    grouped = key.shape[1] != query.shape[1]
    if U < I:
        query, key = F.pad(query, (0, I - U)), F.pad(key, (0, I - U))
    elif I < U:
        value = F.pad(value, (0, U - I))
    if causal and (mask is not None or query.shape[-2] != key.shape[-2]):
        mask, causal = _joined(mask, True, query, key), False
    out = F.scaled_dot_product_attention(
        query, key, value, attn_mask=mask, dropout_p=dropout, is_causal=causal, scale=scale, enable_gqa=grouped
    )
    return out[..., :I]


def attention_weights(
    query: Float[Tensor, "B K T1 U"],
    key: Float[Tensor, "B G T2 U"],
    *,
    scale: float,
    mask: Shaped[Tensor, "..."] | None = None,
    causal: bool = False,
) -> Float[Tensor, "B K T1 T2"]:
    """Return alpha itself, for whoever wants to see it: rows sum to one, forbidden pairs are exactly 0."""
    _check(mask)
    key = key.repeat_interleave(query.shape[1] // key.shape[1], dim=1)  # (B, K, T2, U)
    scores = (scale * query) @ key.mT
    bias = _joined(mask, causal, query, key)
    if bias is None:
        return torch.softmax(scores, dim=-1)
    if bias.dtype == torch.bool:
        return masked_softmax(scores, bias)
    visible = bias > torch.finfo(bias.dtype).min  # the lowest number there is means -inf, as much code has it
    return masked_softmax(scores + bias.masked_fill(~visible, 0), visible)


def attend_by_weights(
    query: Float[Tensor, "B K T1 U"],
    key: Float[Tensor, "B G T2 U"],
    value: Float[Tensor, "B G T2 I"],
    *,
    scale: float,
    mask: Shaped[Tensor, "..."] | None = None,
    causal: bool = False,
    dropout: float = 0.0,
) -> tuple[Float[Tensor, "B K T1 I"], Float[Tensor, "B K T1 T2"]]:
    """Return what `attend` returns, and alpha before dropout: in steps that can be differentiated in every way."""
    alpha = attention_weights(query, key, scale=scale, mask=mask, causal=causal)
    return F.dropout(alpha, dropout) @ value.repeat_interleave(alpha.shape[1] // value.shape[1], dim=1), alpha


# --- the layer --------------------------------------------------------------------------------------------


class KeyValueCache:
    """The keys and values that one layer has computed so far, so that each token is projected once.

    Written in place, hence for generation only: no gradient flows through it.
    """

    def __init__(self, key: Float[Tensor, "B G T U"], value: Float[Tensor, "B G T I"]) -> None:
        self.key, self.value, self.length = key, value, 0

    def append(
        self, key: Float[Tensor, "B G T U"], value: Float[Tensor, "B G T I"]
    ) -> tuple[Float[Tensor, "B G T2 U"], Float[Tensor, "B G T2 I"]]:
        """Store the new positions and return all of them."""
        end = self.length + key.shape[2]
        if end > self.key.shape[2]:
            raise ValueError(f"the cache has room for {self.key.shape[2]} positions, {end} are wanted")
        self.key[:, :, self.length : end] = key
        self.value[:, :, self.length : end] = value
        self.length = end
        return self.key[:, :, :end], self.value[:, :, :end]


class MultiHeadAttention(nn.Module):
    """Multi-head attention, Vaswani et al. 2017, section 3.2.2; the lecture's Query, Key, Value, W^O.

        Query[k, t, u] = W^Q[k, u, J] L[t, J] - B^Q[k, u]                (Key and Value likewise)
        alpha[k, t1, t2] = softmax_t2 Query[k, t1, U] Key[k, t2, U] / √U
        out[t, j] = W^O[j, C] (Out[1, t, I]; ...; Out[K, t, I])[C] - B^O[j]

    U = I = J / K unless given. `M` is the width of another sequence to look at (cross-attention: queries from
    x, keys and values from `memory`). `G` < K shares keys and values among K / G heads. `scaled=False` drops
    the 1 / √U and `output=False` drops W^O, as Problem 1 does. `dropout` sets weights alpha to zero in training, as
    GPT-2 and BERT do; Vaswani et al. do not. Parameters and multiplications do not depend on K as long as K U = K I =
    J.
    """

    def __init__(
        self,
        J: int,
        K: int,
        *,
        U: int | None = None,
        I: int | None = None,
        M: int | None = None,
        G: int | None = None,
        scaled: bool = True,
        output: bool = True,
        bias: bool = False,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.dropout = dropout
        G = K if G is None else G
        if (U is None or I is None) and J % K:
            raise ValueError(f"J={J} is not a multiple of K={K} heads: give U and I")
        if K % G:
            raise ValueError(f"K={K} heads cannot share G={G} groups of keys evenly")
        U, I, M = U or J // K, I or J // K, M or J
        self.scale = U**-0.5 if scaled else 1.0
        self.W_Q = nn.Parameter(torch.empty(K, U, J))
        self.W_K = nn.Parameter(torch.empty(G, U, M))
        self.W_V = nn.Parameter(torch.empty(G, I, M))
        self.W_O = nn.Parameter(torch.empty(J, K * I)) if output else None
        self.B_Q = nn.Parameter(torch.empty(K, U)) if bias else None
        self.B_K = nn.Parameter(torch.empty(G, U)) if bias else None
        self.B_V = nn.Parameter(torch.empty(G, I)) if bias else None
        self.B_O = nn.Parameter(torch.empty(J)) if bias and output else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weights that keep the variance of what they read; biases start at zero."""
        for name, parameter in self.named_parameters():
            if name.startswith("W"):
                nn.init.normal_(parameter, std=parameter.shape[-1] ** -0.5)
            else:
                nn.init.zeros_(parameter)

    @staticmethod
    def _project(x: Tensor, W: Tensor, bias: Tensor | None) -> Tensor:
        """(B, T, J) -> (B, K, T, U) by one matrix product for all heads; the last axis stays dense."""
        out = F.linear(x, W.flatten(0, 1), None if bias is None else -bias.flatten())  # (B, T, K U)
        return out.unflatten(-1, W.shape[:2]).transpose(1, 2)

    def queries(self, x: Float[Tensor, "B T J"]) -> Float[Tensor, "B K T U"]:
        """Return Query[b, k, t, u]."""
        return self._project(x, self.W_Q, self.B_Q)

    def keys_values(self, memory: Float[Tensor, "B T M"]) -> tuple[Float[Tensor, "B G T U"], Float[Tensor, "B G T I"]]:
        """Return Key[b, g, t, u] and Value[b, g, t, i]; a memory that stays the same needs them once."""
        return self._project(memory, self.W_K, self.B_K), self._project(memory, self.W_V, self.B_V)

    def join(self, heads: Float[Tensor, "B K T I"]) -> Float[Tensor, "B T _"]:
        """Concatenate the heads and mix them by W^O."""
        out = heads.transpose(1, 2).flatten(2)  # (B, T, C)
        return out if self.W_O is None else F.linear(out, self.W_O, None if self.B_O is None else -self.B_O)

    def forward(
        self,
        x: Float[Tensor, "B T1 J"],
        memory: Float[Tensor, "B T2 M"] | None = None,
        *,
        mask: Shaped[Tensor, "..."] | None = None,
        causal: bool = False,
        cache: KeyValueCache | None = None,
        turn: Turn | None = None,
    ) -> Float[Tensor, "B T1 _"]:
        """Look from x at `memory` (by default at x itself, and at whatever `cache` holds before it).

        `turn` rotates queries and keys by the positions of x (`positional.turn`).
        """
        key, value = self.keys_values(x if memory is None else memory)
        if turn is not None:
            key = rotated(key, turn)
        if cache is not None:
            key, value = cache.append(key, value)
        return self.read(x, key, value, mask=mask, causal=causal, turn=turn)

    def read(
        self,
        x: Float[Tensor, "B T1 J"],
        key: Float[Tensor, "B G T2 U"],
        value: Float[Tensor, "B G T2 I"],
        *,
        mask: Shaped[Tensor, "..."] | None = None,
        causal: bool = False,
        turn: Turn | None = None,
    ) -> Float[Tensor, "B T1 _"]:
        """Look from x at keys and values that are already there; `turn` rotates the queries."""
        query = self.queries(x) if turn is None else rotated(self.queries(x), turn)
        return self.join(attend(query, key, value, scale=self.scale, mask=mask, causal=causal, dropout=self.dropping))

    @property
    def dropping(self) -> float:
        """The share of alpha that is set to zero now."""
        return self.dropout if self.training else 0.0

    def with_weights(
        self,
        x: Float[Tensor, "B T1 J"],
        memory: Float[Tensor, "B T2 M"] | None = None,
        *,
        mask: Shaped[Tensor, "..."] | None = None,
        causal: bool = False,
        turn: Turn | None = None,
    ) -> tuple[Float[Tensor, "B T1 _"], Float[Tensor, "B K T1 T3"]]:
        """Return what `forward` returns and alpha[b, k, t1, t2] before dropout, at the price of holding it."""
        query, (key, value) = self.queries(x), self.keys_values(x if memory is None else memory)
        if turn is not None:
            query, key = rotated(query, turn), rotated(key, turn)
        options = {"scale": self.scale, "mask": mask, "causal": causal, "dropout": self.dropping}
        heads, alpha = attend_by_weights(query, key, value, **options)
        return self.join(heads), alpha

    def new_cache(self, B: int, T: int) -> KeyValueCache:
        """Make room for T positions of B sequences."""
        (G, U, _), (_, I, _) = self.W_K.shape, self.W_V.shape
        return KeyValueCache(self.W_K.new_empty(B, G, T, U), self.W_V.new_empty(B, G, T, I))


# --- merging and factoring --------------------------------------------------------------------------------


def merge_query_key(W_Q: Float[Tensor, "K I J"], W_K: Float[Tensor, "K I M"], scale: float) -> Float[Tensor, "K J M"]:
    """Return W~[k, j1, j2] = scale W^Q[k, I, j1] W^K[k, I, j2], of rank at most I (attention Problem 6a).

    The scores are L[t1, J1] W~[k, J1, J2] L[t2, J2]. Not the transpose: the query is on the left. For any
    invertible G the pair G W^Q, G⁻ᵀ W^K gives the same W~, so the factors have I J + I M - I² degrees of
    freedom out of I J + I M parameters; W~ has J M, more whenever I < J M / (J + M).
    """
    return scale * torch.einsum("kij,kim->kjm", W_Q, W_K)


def factor_query_key(
    W: Float[Tensor, "K J M"], I: int, scale: float
) -> tuple[Float[Tensor, "K I J"], Float[Tensor, "K I M"]]:
    """Return W^Q and W^K whose merger is W~ where rank W~[k] <= I, else its best rank-I approximation.

    By the singular value decomposition W~ = P S R: W^Q = √(S/scale) Pᵀ, W^K = √(S/scale) R, the
    singular values being split evenly (Eckart and Young 1936). Computed in float64 on the CPU: some devices
    have neither.
    """
    P, S, R = torch.linalg.svd(W.detach().to("cpu", torch.float64), full_matrices=False)
    root = (S[:, :I, None] / scale).sqrt()
    return (root * P[..., :I].mT).to(W), (root * R[:, :I]).to(W)


def merge_value_output(W_V: Float[Tensor, "K I M"], W_O: Float[Tensor, "J C"]) -> Float[Tensor, "K J M"]:
    """Return W^VO[k] = W^O[:, k, :] W^V[k]: out = Σ_k alpha[k] L W^VO[k]ᵀ, and nothing is concatenated."""
    return torch.einsum("jki,kim->kjm", W_O.unflatten(1, W_V.shape[:2]), W_V)


def factor_value_output(W: Float[Tensor, "K J M"], I: int) -> tuple[Float[Tensor, "K I M"], Float[Tensor, "J C"]]:
    """Return W^V and W^O whose merger is W, or the nearest that rank I allows."""
    left, right = factor_query_key(W, I, scale=1.0)  # (K, I, J), (K, I, M)
    return right, left.permute(2, 0, 1).flatten(1)


class MergedAttention(nn.Module):
    """Attention with one bilinear form and one linear map per head (attention Problem 6).

        alpha[k, t1, t2] = softmax_t2 (L[t1, J1] W^QK[k, J1, J2] + c[k, J2]) L[t2, J2]
        out[t, j] = Σ_k W^VO[k, j, J'] alpha[k, t, T2] L[T2, J'] - B[j]

    The inputs themselves are the keys and values of every head. A query bias survives as c; a key bias adds
    the same to all scores of a row and drops out. Strictly more expressive than rank-I factors, and dearer:
    K J² against 2 K I J parameters, and more multiplications for every T unless I > J/2.
    """

    def __init__(self, J: int, K: int, *, M: int | None = None, bias: bool = False) -> None:
        super().__init__()
        M = M or J
        self.W_QK = nn.Parameter(torch.randn(K, J, M) / M)
        self.W_VO = nn.Parameter(torch.randn(K, J, M) * (K * M) ** -0.5)
        self.c = nn.Parameter(torch.zeros(K, M)) if bias else None
        self.B = nn.Parameter(torch.zeros(J)) if bias else None

    def forward(
        self,
        x: Float[Tensor, "B T1 J"],
        memory: Float[Tensor, "B T2 M"] | None = None,
        *,
        mask: Shaped[Tensor, "..."] | None = None,
        causal: bool = False,
    ) -> Float[Tensor, "B T1 J"]:
        """Look from x at `memory` (by default at x itself); every query must be allowed to look somewhere."""
        memory = x if memory is None else memory
        query = F.linear(x, self.W_QK.mT.flatten(0, 1)).unflatten(-1, self.W_QK.shape[::2])  # (B, T1, K, M)
        if self.c is not None:
            query = query + self.c
        shared = memory[:, None]  # (B, 1, T2, M): one group for all heads
        heads = attend(query.transpose(1, 2), shared, shared, scale=1.0, mask=mask, causal=causal)
        out = F.linear(heads.transpose(1, 2).flatten(2), self.W_VO.transpose(0, 1).flatten(1))
        return out if self.B is None else out - self.B


@torch.no_grad()
def merged(attention: MultiHeadAttention) -> MergedAttention:
    """Return the merged form of a layer: the same function of x.

    The value bias passes through unchanged because alpha sums to one: B = W^O B^V + B^O.
    """
    if attention.W_O is None or len(attention.W_K) != len(attention.W_Q):
        raise ValueError("merging needs a W^O and a key for every head")
    (K, _, J), M, bias = attention.W_Q.shape, attention.W_K.shape[-1], attention.B_Q is not None
    new = MergedAttention(J, K, M=M, bias=bias).to(attention.W_Q)
    new.W_QK.copy_(merge_query_key(attention.W_Q, attention.W_K, attention.scale))
    new.W_VO.copy_(merge_value_output(attention.W_V, attention.W_O))
    if bias:
        new.c.copy_(-attention.scale * torch.einsum("ku,kum->km", attention.B_Q, attention.W_K))
        new.B.copy_(attention.W_O @ attention.B_V.flatten() + attention.B_O)
    return new


@torch.no_grad()
def factored(attention: MergedAttention, U: int, I: int) -> MultiHeadAttention:
    """Return the layer of U and I wide heads that is nearest: the same function where the ranks allow it."""
    (K, J, M), bias = attention.W_QK.shape, attention.c is not None
    new = MultiHeadAttention(J, K, U=U, I=I, M=M, bias=bias).to(attention.W_QK)
    for parameter, value in zip(
        (new.W_Q, new.W_K, new.W_V, new.W_O),
        (*factor_query_key(attention.W_QK, U, new.scale), *factor_value_output(attention.W_VO, I)),
        strict=True,
    ):
        parameter.copy_(value)
    if bias:  # c lies in the row space of W^K wherever it came from a query bias
        inverse = torch.linalg.pinv(new.W_K.to("cpu", torch.float64)).to(new.W_K)  # (K, M, U)
        new.B_Q.copy_(-torch.einsum("km,kmu->ku", attention.c, inverse) / new.scale)
        new.B_O.copy_(attention.B)
    return new

"""Where a token stands: attention itself sees a set, so position must be told to it.

    sinusoid, shift_matrix    fixed waves, and the rotation A^(k) that moves them by k (Vaswani et al. 2017)
    SinusoidalPositions       the waves added to the embeddings
    LearnedPositions          one trained vector per position (BERT, GPT-2); no A^(k) exists for these
    rotate                    a rotation of queries and keys instead (Su et al. 2021, RoPE), as published models turn
    RelativeBias              one trained number per head and distance, added to the scores (Shaw et al. 2018,
                              in the scalar form of Raffel et al. 2020)

The lecture concatenates e(w); pos(t), the paper adds. Adding is concatenation followed by the fixed
projection [1 1], so the sum can express no more, and costs no width.

Axes: B batch, T time, J model width, K heads, U query/key width.
"""

from typing import Literal

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int, Shaped
from torch import Tensor, nn

Layout = Literal["interleaved", "halves"]
Turn = tuple[Float[Tensor, "*C T U2"], Float[Tensor, "*C T U2"]]  # cosine and sine of each position's angles


def frequencies(
    J: int, base: float = 10000.0, *, last: bool = False, device: torch.device | str = "cpu"
) -> Float[Tensor, "J2"]:
    """Return ω_j = base^(-2j/J) for j < J/2, in float64: wavelengths from 2π up to 2π base.

    `last` reaches the end of that range: ω_j = base^(-j / (J/2 - 1)), as in tensor2tensor.
    """
    if J % 2:
        raise ValueError(f"J={J} is odd: sines and cosines come in pairs")
    wide = torch.float32 if torch.device(device).type == "mps" else torch.float64  # which that device lacks
    j = torch.arange(J // 2, dtype=wide, device=device)
    return base ** (-j / max(J // 2 - 1, 1) if last else -2 * j / J)


def sinusoid(
    positions: Shaped[Tensor, "T"],
    J: int,
    *,
    base: float = 10000.0,
    layout: Layout = "interleaved",
    last: bool = False,
) -> Float[Tensor, "T J"]:
    """Return PE[t, J], in float64 on the CPU: PE[t, 2j] = sin(ω_j t), PE[t, 2j+1] = cos(ω_j t).

    Section 3.5 of the paper has pairs side by side ("interleaved"); much code has all sines first
    ("halves"). The two differ by a permutation of J. In float32 the angle of position 100,000 is off by
    2e-3, hence the dtype.
    """
    angle = positions.to("cpu", torch.float64)[:, None] * frequencies(J, base, last=last)  # (T, J/2)
    sine, cosine = angle.sin(), angle.cos()
    if layout == "halves":
        return torch.cat([sine, cosine], dim=1)
    return torch.stack([sine, cosine], dim=2).flatten(1)


def shift_matrix(
    k: float | int, J: int, *, base: float = 10000.0, layout: Layout = "interleaved", last: bool = False
) -> Float[Tensor, "J J"]:
    """Return A^(k) with PE[t+k] = A^(k) PE[t] for every t (PE[t] as a column), in float64.

    One block [[cos, sin], [-sin, cos]] of k ω_j per frequency: a rotation by -k ω_j in (sin, cos)
    coordinates. Hence A^(0) = 1, A^(k) A^(l) = A^(k+l), A^(-k) = A^(k)ᵀ, det = 1. A^(k) is the only such
    matrix while the positions span R^J, but least squares cannot recover it for J >= 64: the condition
    number is 1e16.
    """
    angle = k * frequencies(J, base, last=last)
    C, S = angle.cos().diag(), angle.sin().diag()
    A = torch.cat([torch.cat([C, S], dim=1), torch.cat([-S, C], dim=1)])  # the layout of halves
    if layout == "halves":
        return A
    pairs = torch.arange(J).view(2, -1).T.flatten()  # 0, J/2, 1, J/2 + 1, ...
    return A[pairs][:, pairs]


class SinusoidalPositions(nn.Module):
    """Add PE[t, J] to the embeddings (Vaswani et al. 2017, section 3.5): no parameters, no length limit."""

    def __init__(self, J: int, *, base: float = 10000.0, layout: Layout = "interleaved") -> None:
        super().__init__()
        self.base, self.layout = base, layout
        # Made when first wanted. No buffer: `to_empty` would leave it with any numbers, and of the right length.
        self.table = torch.empty(0, J)

    def forward(
        self, h: Float[Tensor, "B T J"], start: int = 0, positions: Int[Tensor, "B T"] | None = None
    ) -> Float[Tensor, "B T J"]:
        """Add the encodings of positions start ... start + T - 1, or of `positions`, below start + T."""
        end = start + h.shape[1]
        table = self._waves(end, h)
        return h + (table[start:end] if positions is None else F.embedding(positions, table))

    def _waves(self, T: int, h: Tensor) -> Float[Tensor, "_ J"]:
        """At least T encodings; a compiler, which may not know T, has them computed at each call."""
        if not torch.compiler.is_compiling():
            if len(self.table) >= T and (self.table.dtype, self.table.device) == (h.dtype, h.device):
                return self.table
            T = max(T, 2 * len(self.table))  # doubling: generation asks for one more position at a time
        table = sinusoid(torch.arange(T, device="cpu"), h.shape[2], base=self.base, layout=self.layout)
        table = table.to(h.dtype).to(h.device)  # in this order: some devices have no float64
        if not torch.compiler.is_compiling():
            self.table = table
        return table


class LearnedPositions(nn.Module):
    """Add one trained vector to each of up to T positions (Devlin et al. 2018; Radford et al. 2019)."""

    def __init__(self, T: int, J: int) -> None:
        super().__init__()
        self.table = nn.Parameter(0.02 * torch.randn(T, J))

    def forward(
        self, h: Float[Tensor, "B T J"], start: int = 0, positions: Int[Tensor, "B T"] | None = None
    ) -> Float[Tensor, "B T J"]:
        """Add the vectors of positions start ... start + T - 1, or of `positions`, below start + T."""
        end = start + h.shape[1]
        if end > len(self.table):
            raise ValueError(f"{len(self.table)} positions were learned, position {end - 1} is wanted")
        return h + (self.table[start:end] if positions is None else F.embedding(positions, self.table))


def turn(positions: Shaped[Tensor, "*R T"], U: int, dtype: torch.dtype, base: float = 10000.0) -> Turn:
    """Return the cosine and sine of t ω_u for `rotated`: once for all layers of a model.

    `positions` of shape (B, T) give each row of queries (B, K, T, U) its own, as padding on the left needs.
    """
    angle = positions[..., None] * frequencies(U, base, device=positions.device)
    if positions.dim() == 2:
        angle = angle[:, None]  # the same for all heads
    return angle.cos().to(dtype), angle.sin().to(dtype)


def rotated(x: Float[Tensor, "*B T U"], turn: Turn, layout: Layout = "halves") -> Float[Tensor, "*B T U"]:
    """Turn each pair of x[t] counter-clockwise by t ω_u: from its first number towards its second.

    The pairs are (x[u], x[u + U/2]) in "halves": Llama and GPT-NeoX as in Hugging Face's transformers. They are
    (x[2u], x[2u+1]) in "interleaved": Su et al. 2021, equation 34, GPT-J, Llama as Meta publishes it.
    """
    C, S = turn
    first, second = x.chunk(2, dim=-1) if layout == "halves" else (x[..., ::2], x[..., 1::2])
    parts = C * first - S * second, C * second + S * first
    return torch.cat(parts, dim=-1) if layout == "halves" else torch.stack(parts, dim=-1).flatten(-2)


def rotate(
    x: Float[Tensor, "*B T U"], positions: Shaped[Tensor, "*C T"], base: float = 10000.0, layout: Layout = "halves"
) -> Float[Tensor, "*B T U"]:
    """Return A^(-t) x[t]: rotate queries or keys by their position, in the direction of every published model.

    A^(-t1)ᵀ A^(-t2) = A^(t1 - t2), so that the product of a query and a key feels their distance alone. The course
    moves an encoding forward by A^(t), `shift_matrix`, which turns a pair (sin, cos) clockwise, by -t ω_u:
    `rotate(x, -positions)` is A^(t) x[t]. Weights trained in one direction are useless in the other.
    """
    return rotated(x, turn(positions.to(x.device), x.shape[-1], x.dtype, base), layout)


class RelativeBias(nn.Module):
    """b[k, t1 - t2], added to the scores of head k: K (2T - 1) numbers for distances up to T - 1.

    Longer distances use the number of the longest. Give the result to an attention layer as its mask.
    """

    def __init__(self, K: int, T: int) -> None:
        super().__init__()
        self.b = nn.Parameter(torch.zeros(K, 2 * T - 1))

    def forward(self, T1: int, T2: int | None = None) -> Float[Tensor, "1 K T1 T2"]:
        """Return the biases of the last T1 of T2 positions against all of them."""
        T2 = T1 if T2 is None else T2
        position = torch.arange(T2, device=self.b.device)
        furthest = self.b.shape[1] // 2
        distance = (position[T2 - T1 :, None] - position).clamp(-furthest, furthest)
        return self.b[:, distance + furthest][None]

"""The spatial transformer's layer: self-attention over an image, every position looking at every other.

The time index of self-attention becomes a pair of indices (x, y) (transformer Problem 2a; not the spatial
transformer network of Jaderberg et al. 2015, which warps images). alpha has K (X Y)² entries: 268 MB for
four heads at 64 x 64 in float32, 69 GB at 256 x 256. The layers below never hold it.

    spatial_attention    the equations, line for line, for one image: an oracle for small ones
    SpatialAttention     the same function in memory O(X Y J); optionally with a bias per displacement
    AxialAttention       along x or along y only: work X Y (X + Y) J for the two instead of (X Y)² J
    WindowAttention      |x1 - x2| <= w and |y1 - y2| <= w: work X Y² (2w + 1) J

Axes: B batch, X Y image positions, J model width, K heads, U query/key width, I value width, C = K I.
"""

from functools import partial

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from solutions.attention import MultiHeadAttention, attend
from solutions.derivatives import ordinary


def spatial_attention(
    h: Float[Tensor, "X Y J"],
    W_Q: Float[Tensor, "K U J"],
    W_K: Float[Tensor, "K U J"],
    W_V: Float[Tensor, "K I J"],
    scale: float = 1.0,
) -> tuple[Float[Tensor, "K X Y X Y"], Float[Tensor, "X Y C"]]:
    """Return alpha[k, x1, y1, x2, y2] and h_out of transformer Problem 2a: no scale, no W^O.

    The softmax is over the pair (x2, y2) at once. Over one of them, or as a product of the two, it is another
    model.
    """
    query = torch.einsum("kuj,xyj->kxyu", W_Q, h)
    key = torch.einsum("kuj,xyj->kxyu", W_K, h)
    value = torch.einsum("kij,xyj->kxyi", W_V, h)
    scores = scale * torch.einsum("kxyu,kpqu->kxypq", query, key)
    alpha = torch.softmax(scores.flatten(-2), dim=-1).view_as(scores)
    out = torch.einsum("kxypq,kpqi->xyki", alpha, value)
    return alpha, out.flatten(2)  # (X, Y, K, I) -> (X, Y, K I)


class RelativeBias2D(nn.Module):
    """b[k, x1 - x2, y1 - y2], added to the scores of head k: K (2X-1) (2Y-1) numbers (Liu et al. 2021)."""

    def __init__(self, K: int, X: int, Y: int) -> None:
        super().__init__()
        self.b = nn.Parameter(torch.zeros(K, 2 * X - 1, 2 * Y - 1))

    def forward(self, x1: Int[Tensor, "R"], X: int, Y: int) -> Float[Tensor, "1 K RY XY"]:
        """Return the biases of the queries in rows x1 of an X by Y image against all positions."""
        cx, cy = self.b.shape[1] // 2, self.b.shape[2] // 2  # where displacement zero is stored
        if max(X - cx, Y - cy) > 1:
            raise ValueError(f"the bias is for images up to {cx + 1} x {cy + 1}, not {X} x {Y}")
        x, y = torch.arange(X, device=self.b.device), torch.arange(Y, device=self.b.device)
        # A row of Y numbers at a time: looked up one by one, the biases cost more than the attention does.
        along_y = self.b[:, :, y[:, None] - y + cy]  # (K, 2X-1, Y, Y)
        K, D = self.b.shape[:2]
        row = torch.arange(K * D * Y, device=self.b.device).view(K, D, Y)
        row = row[:, x1[:, None] - x + cx].transpose(2, 3)  # (K, R, Y, X): which row of along_y
        bias = F.embedding(row, along_y.flatten(0, 2))  # (K, R, Y, X, Y)
        return bias.flatten(3).flatten(1, 2)[None]


class SpatialAttention(MultiHeadAttention):
    """Multi-head self-attention over all positions of an image: the time axis runs over x and y.

    Takes what MultiHeadAttention takes, and `relative=(X, Y)` for a bias per displacement in images up to
    that size. The biases are as many as alpha's entries. Where these are more than `block`, the queries are
    taken some rows at a time and computed again for the gradient, so that only one block's biases exist at
    once.
    """

    def __init__(
        self,
        J: int,
        K: int,
        *,
        relative: tuple[int, int] | None = None,
        block: int = 2**22,
        **options: object,
    ) -> None:
        super().__init__(J, K, **options)
        self.relative = RelativeBias2D(K, *relative) if relative else None
        self.block = block

    def forward(self, h: Float[Tensor, "B X Y J"]) -> Float[Tensor, "B X Y _"]:
        """Look from every position at every position."""
        flat = h.flatten(1, 2)  # (B, X Y, J)
        out = super().forward(flat) if self.relative is None else self._with_bias(flat, *h.shape[1:3])
        return out.unflatten(1, h.shape[1:3])

    def _with_bias(self, h: Float[Tensor, "B XY J"], X: int, Y: int) -> Float[Tensor, "B XY _"]:
        query, (key, value) = self.queries(h), self.keys_values(h)
        R = max(1, self.block // (query.shape[1] * Y * X * Y))  # rows at a time

        def look(x1: Tensor, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
            bias = self.relative(x1, X, Y)
            return attend(query, key, value, scale=self.scale, mask=bias, dropout=self.dropping)

        rows = torch.arange(X, device=h.device)
        if torch.compiler.is_compiling() or R >= X:  # no loop over sizes that a compiler leaves open
            return self.join(look(rows, query, key, value))
        blocks = zip(rows.split(R), query.split(R * Y, dim=2), strict=True)
        if ordinary():
            look = partial(checkpoint, look, use_reentrant=False)
        heads = [look(x1, part, key, value) for x1, part in blocks]
        return self.join(torch.cat(heads, dim=2))


class AxialAttention(MultiHeadAttention):
    """Self-attention along one axis: position (x, y) looks at (x, Y) or at (X, y) (Ho et al. 2019).

    Full attention masked to x1 = x2 (`axis="y"`) or to y1 = y2 (`axis="x"`). Two layers, one along each axis,
    connect every pair of positions; one does not.
    """

    def __init__(self, J: int, K: int, *, axis: str, **options: object) -> None:
        super().__init__(J, K, **options)
        if axis not in ("x", "y"):
            raise ValueError(f"axis is 'x' or 'y', not {axis!r}")
        self.axis = axis

    def forward(self, h: Float[Tensor, "B X Y J"]) -> Float[Tensor, "B X Y _"]:
        """Look along the axis; the other one is only more batch."""
        if self.axis == "x":
            h = h.transpose(1, 2)  # (B, Y, X, J)
        out = super().forward(h.flatten(0, 1)).unflatten(0, h.shape[:2])
        return out.transpose(1, 2) if self.axis == "x" else out


def window_pairs(X: int, Y: int, w: int) -> int:
    """Return how many pairs of positions a window of w < X, Y leaves: a product, one factor per axis."""
    return (X * (2 * w + 1) - w * (w + 1)) * (Y * (2 * w + 1) - w * (w + 1))


class WindowAttention(MultiHeadAttention):
    """Self-attention over a neighbourhood: |x1 - x2| <= w and |y1 - y2| <= w (Parmar et al. 2018).

    A row of queries looks at 2w + 1 rows of keys, of which a mask keeps those within w columns: exact in x, a
    factor Y / (2w + 1) too much in y, and still faster than gathering each position's own neighbours.
    """

    def __init__(self, J: int, K: int, *, w: int, **options: object) -> None:
        super().__init__(J, K, **options)
        self.w = w

    def forward(self, h: Float[Tensor, "B X Y J"]) -> Float[Tensor, "B X Y _"]:
        """Look from every position at its neighbourhood."""
        B, X, Y, _ = h.shape
        flat = h.flatten(1, 2)
        query, (key, value) = self.queries(flat), self.keys_values(flat)
        rows, mask = self._neighbours(X, Y, h.device)

        def near(z: Tensor) -> Tensor:
            """(B, K, X Y, U) -> (B X, K, R Y, U): the R rows of keys around each row of queries."""
            return z.unflatten(2, (X, Y))[:, :, rows].transpose(1, 2).flatten(3, 4).flatten(0, 1)

        query = query.unflatten(2, (X, Y)).transpose(1, 2).flatten(0, 1)  # (B X, K, Y, U)
        mask = mask.repeat(B, 1, 1, 1)
        heads = attend(query, near(key), near(value), scale=self.scale, mask=mask, dropout=self.dropping)
        return self.join(heads).unflatten(0, (B, X))

    def _neighbours(self, X: int, Y: int, device: torch.device) -> tuple[Int[Tensor, "X R"], Bool[Tensor, "X 1 Y RY"]]:
        """Return the rows that each row looks at, clamped at the edge, and which of their positions count."""
        reach = torch.arange(-self.w, self.w + 1, device=device)
        rows = torch.arange(X, device=device)[:, None] + reach  # (X, R)
        inside = (rows >= 0) & (rows < X)
        y = torch.arange(Y, device=device)
        close = (y[:, None] - y).abs() <= self.w  # (Y, Y)
        mask = inside[:, None, None, :, None] & close[:, None, :]  # (X, 1, Y, R, Y)
        return rows.clamp(0, X - 1), mask.flatten(3)


def patches(image: Float[Tensor, "B X Y J"], P: int) -> Float[Tensor, "B X2 Y2 PPJ"]:
    """Cut an image into P by P patches, each one position: alpha shrinks by P⁴ (Dosovitskiy et al. 2020)."""
    _, X, Y, J = image.shape
    if X % P or Y % P:
        raise ValueError(f"an image of {X} x {Y} does not divide into patches of {P} x {P}")
    cut = F.pixel_unshuffle(image.permute(0, 3, 1, 2), P)  # (B, J P P, X/P, Y/P)
    return cut.unflatten(1, (J, P * P)).permute(0, 3, 4, 2, 1).flatten(3)

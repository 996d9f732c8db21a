"""Attention over images: against loops, against one-dimensional attention, against masks, and in memory."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import torch
from torch import nn

from solutions.attention import MultiHeadAttention, self_attention
from solutions.spatial import (
    AxialAttention,
    RelativeBias2D,
    SpatialAttention,
    WindowAttention,
    patches,
    spatial_attention,
    window_pairs,
)

CLOSE = {"rtol": 0, "atol": 1e-10}
TOLERANCE = {torch.float64: 1e-10, torch.float32: 2e-5, torch.bfloat16: 5e-2}
X, Y, J, K = 5, 7, 6, 2


def normal(*shape: int, seed: int) -> torch.Tensor:
    """Seeded numbers in float64."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def randomised(module: nn.Module, seed: int) -> nn.Module:
    """In float64, every parameter drawn anew: no bias stays zero."""
    module = module.double()
    with torch.no_grad():
        for i, parameter in enumerate(module.parameters()):
            parameter.copy_(normal(*parameter.shape, seed=1000 * seed + i) * 0.5)
    return module


def weights(U: int = 3, I: int = 11, seed: int = 1) -> list[torch.Tensor]:
    """W^Q, W^K, W^V of two heads."""
    return [normal(K, width, J, seed=seed + n) for n, width in enumerate((U, U, I))]


def coordinates() -> tuple[torch.Tensor, torch.Tensor]:
    """x and y of every flattened position."""
    position = torch.arange(X * Y)
    return position // Y, position % Y


def masked(layer: MultiHeadAttention, h: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """What ordinary attention over the flattened image gives under a mask (or an additive bias)."""
    plain = MultiHeadAttention.forward(layer, h.flatten(1, 2), mask=mask)
    return plain.unflatten(1, h.shape[1:3])


# --- the equations ----------------------------------------------------------------------------------------


def test_spatial_attention_is_flattened_attention() -> None:
    """alpha and output equal those of the one-dimensional equations on the X Y positions in a row."""
    h = normal(X, Y, J, seed=5)
    alpha, out = spatial_attention(h, *weights(), scale=0.6)
    alpha_1d, out_1d = self_attention(h.flatten(0, 1), *weights(), scale=0.6)
    torch.testing.assert_close(alpha.flatten(3).flatten(1, 2), alpha_1d, **CLOSE)
    torch.testing.assert_close(out, out_1d.view(X, Y, -1), **CLOSE)


def test_alpha_is_a_distribution_over_pairs() -> None:
    """alpha sums to one over (x2, y2) together and over neither of them alone."""
    alpha, _ = spatial_attention(normal(X, Y, J, seed=6), *weights())
    torch.testing.assert_close(alpha.sum((-1, -2)), torch.ones(K, X, Y, dtype=alpha.dtype), **CLOSE)
    assert not torch.allclose(alpha.sum(-1), torch.ones(()).double())
    assert not torch.allclose(alpha.sum(-2), torch.ones(()).double())


def test_spatial_attention_is_symmetric_in_x_and_y() -> None:
    """Transposing the image transposes the output: the two axes play the same part."""
    h = normal(X, Y, J, seed=7)
    alpha, out = spatial_attention(h, *weights())
    alpha_t, out_t = spatial_attention(h.transpose(0, 1), *weights())
    torch.testing.assert_close(out_t.transpose(0, 1), out, **CLOSE)
    torch.testing.assert_close(alpha_t.permute(0, 2, 1, 4, 3), alpha, **CLOSE)


@pytest.mark.parametrize("shape", [(X, Y), (X, 1), (1, Y), (1, 1)])
def test_layer_is_the_equations(shape: tuple[int, int]) -> None:
    """The layer without scale and W^O equals the equations, image by image, also on a line and a point."""
    layer = randomised(SpatialAttention(J, K, U=3, I=11, scaled=False, output=False), seed=2)
    h = normal(2, *shape, J, seed=8)
    expected = torch.stack([spatial_attention(image, layer.W_Q, layer.W_K, layer.W_V)[1] for image in h])
    torch.testing.assert_close(layer(h), expected, **CLOSE)


def test_positions_are_a_set() -> None:
    """Any permutation of the X Y positions, across rows too, permutes the output."""
    layer, h = randomised(SpatialAttention(J, K, bias=True), seed=3), normal(2, X, Y, J, seed=9)
    order = torch.randperm(X * Y, generator=torch.Generator().manual_seed(0))
    shuffled = h.flatten(1, 2)[:, order].unflatten(1, (X, Y))
    torch.testing.assert_close(layer(shuffled).flatten(1, 2), layer(h).flatten(1, 2)[:, order], **CLOSE)


# --- variants ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(X, Y), (X + 2, Y + 3)], ids=["exact", "roomy"])
@pytest.mark.parametrize("rows", [1, 2, 3, 5], ids="{} rows at a time".format)
def test_relative_bias_is_added_to_the_scores(size: tuple[int, int], rows: int) -> None:
    """In blocks or at once: full attention with b[k, x1 - x2, y1 - y2] as its bias, gradients included."""
    layer = randomised(SpatialAttention(J, K, relative=size, block=rows * K * X * Y * Y, bias=True), seed=4)
    h = normal(2, X, Y, J, seed=10).requires_grad_()
    b, (x, y) = layer.relative.b, coordinates()
    assert b.numel() == K * (2 * size[0] - 1) * (2 * size[1] - 1)
    bias = b[:, x[:, None] - x + size[0] - 1, y[:, None] - y + size[1] - 1][None]
    out, expected = layer(h), masked(layer, h, bias)
    torch.testing.assert_close(out, expected, **CLOSE)
    wanted = [h, *layer.parameters()]
    cotangent = normal(*out.shape, seed=11)
    for one, two in zip(*(torch.autograd.grad(z, wanted, cotangent) for z in (out, expected)), strict=True):
        torch.testing.assert_close(one, two, **CLOSE)


def test_relative_bias_has_a_largest_image() -> None:
    """A displacement that was never learned is an error."""
    with pytest.raises(ValueError, match="up to 5 x 7, not 5 x 8"):
        RelativeBias2D(K, 5, 7)(torch.tensor([0]), 5, 8)


@pytest.mark.parametrize("axis", ["x", "y"])
def test_axial_attention_is_masked_attention(axis: str) -> None:
    """Along y: full attention masked to x1 = x2. Along x: to y1 = y2. Not full attention itself."""
    layer, h = randomised(AxialAttention(J, K, axis=axis, bias=True), seed=5), normal(2, X, Y, J, seed=12)
    other = dict(zip("yx", coordinates(), strict=True))[axis]
    mask = (other[:, None] == other)[None, None]
    torch.testing.assert_close(layer(h), masked(layer, h, mask), **CLOSE)
    assert not torch.allclose(layer(h), masked(layer, h, mask | True))


def test_two_axial_layers_connect_everything_one_does_not() -> None:
    """The Jacobian of x then y has no zero; that of either alone has a zero off the cross."""
    first, second = (randomised(AxialAttention(J, K, axis=axis), seed=6) for axis in "xy")
    h = normal(1, 3, 4, J, seed=13)

    def reached(function) -> torch.Tensor:
        jacobian = torch.autograd.functional.jacobian(function, h)  # (1, X, Y, J, 1, X, Y, J)
        return jacobian[0, :, :, :, 0].abs().sum((2, 5)) > 0

    assert reached(lambda h: second(first(h))).all()
    assert reached(first).sum() == 3 * 4 * 3 and reached(second).sum() == 3 * 4 * 4


def test_axis_is_x_or_y() -> None:
    """Nothing else is an axis."""
    with pytest.raises(ValueError, match="'z'"):
        AxialAttention(J, K, axis="z")


@pytest.mark.parametrize("w", [0, 1, 2, 4, 9])
def test_window_attention_is_masked_attention(w: int) -> None:
    """Full attention masked to |x1-x2| <= w and |y1-y2| <= w, with as many pairs as the formula says."""
    layer = randomised(WindowAttention(J, K, w=w, bias=True), seed=7)
    h = normal(2, X, Y, J, seed=14).requires_grad_()
    x, y = coordinates()
    mask = ((x[:, None] - x).abs() <= w) & ((y[:, None] - y).abs() <= w)
    assert w >= X or mask.sum() == window_pairs(X, Y, w)
    out, expected = layer(h), masked(layer, h, mask[None, None])
    torch.testing.assert_close(out, expected, **CLOSE)
    cotangent = normal(*out.shape, seed=15)
    for one, two in zip(
        *(torch.autograd.grad(z, [h, *layer.parameters()], cotangent) for z in (out, expected)), strict=True
    ):
        torch.testing.assert_close(one, two, **CLOSE)


def test_patches_are_cut_in_order() -> None:
    """Patch (x, y) holds the pixels (P x + p, P y + q), pixel by pixel; alpha shrinks by P^4."""
    image, P = normal(2, 6, 9, 5, seed=16), 3
    cut = patches(image, P)
    assert cut.shape == (2, 2, 3, P * P * 5)
    for x in range(2):
        for y in range(3):
            expected = image[:, P * x : P * x + P, P * y : P * y + P].flatten(1)
            assert torch.equal(cut[:, x, y], expected)
    assert (2 * 3) ** 2 * P**4 == (6 * 9) ** 2
    with pytest.raises(ValueError, match="does not divide"):
        patches(image, 4)


LAYERS = {
    "full": lambda: SpatialAttention(J, K, bias=True),
    "relative": lambda: SpatialAttention(J, K, relative=(X, Y), bias=True),
    "axial": lambda: AxialAttention(J, K, axis="x", bias=True),
    "window": lambda: WindowAttention(J, K, w=1, bias=True),
}


@pytest.mark.parametrize("name", LAYERS)
def test_gradients_by_differences(name: str) -> None:
    """gradcheck of each layer's input and parameters."""
    layer = randomised(LAYERS[name](), seed=8)
    h = normal(1, 3, 2, J, seed=17).requires_grad_()

    def call(h, *parameters):
        return torch.func.functional_call(
            layer, dict(zip(dict(layer.named_parameters()), parameters, strict=True)), (h,)
        )

    assert torch.autograd.gradcheck(call, (h, *layer.parameters()), fast_mode=True)


@pytest.mark.parametrize("name", LAYERS)
def test_every_precision_on_every_device(name: str, device: torch.device, dtype: torch.dtype) -> None:
    """The result has the input's type and device and is near the float64 one."""
    layer, h = randomised(LAYERS[name](), seed=9), normal(2, X, Y, J, seed=18)
    expected = layer(h)
    out = layer.to(device, dtype)(h.to(device, dtype))
    assert out.dtype == dtype and out.device.type == device.type
    torch.testing.assert_close(out.cpu().double(), expected, rtol=TOLERANCE[dtype], atol=5 * TOLERANCE[dtype])


@pytest.mark.parametrize("name", [*LAYERS, "relative in blocks"])
def test_nothing_is_made_on_another_device(name: str) -> None:
    """Every layer works on the meta device, which mixes with no other: nothing is born on the CPU."""
    layers = LAYERS | {"relative in blocks": lambda: SpatialAttention(J, K, relative=(X, Y), block=1)}
    with torch.device("meta"):
        layer, h = layers[name](), torch.empty(2, X, Y, J)
    assert layer(h).is_meta


# --- memory -----------------------------------------------------------------------------------------------

GROWTH = """
    import resource, sys, torch
    torch.set_num_threads(1)
    from solutions.spatial import *
    layer = {layer}
    layer({small}).sum().backward()  # what a first call loads is not counted
    h = torch.randn(1, 64, 64, 64, requires_grad=True)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    layer(h).square().sum().backward()
    unit = 1 if sys.platform == "darwin" else 1024
    print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * unit // 2**20)
"""


@pytest.mark.parametrize(
    ("layer", "limit"),
    [
        ("SpatialAttention(64, 4)", 100),
        ("SpatialAttention(64, 4, U=8)", 100),
        ("SpatialAttention(64, 4, relative=(64, 64))", 100),
        ("WindowAttention(64, 4, w=3)", 100),
    ],
)
def test_alpha_is_never_held(layer: str, limit: int) -> None:
    """At 64 x 64 alpha alone is 268 MB; forward and backward together stay far below that."""
    program = textwrap.dedent(GROWTH).format(layer=layer, small="torch.randn(1, 5, 7, 64)")
    # glibc keeps freed blocks below a threshold that it moves upwards; fixed, what is freed is returned.
    environment = os.environ | {"MALLOC_MMAP_THRESHOLD_": "65536"}
    root = Path(__file__).parents[2]
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=root, env=environment
    )
    assert int(run.stdout) < limit

"""Positions: the waves, the rotation that shifts them, learned and relative ones."""

import copy
import math
from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from solutions.positional import (
    LearnedPositions,
    RelativeBias,
    SinusoidalPositions,
    frequencies,
    rotate,
    shift_matrix,
    sinusoid,
)

CLOSE = {"rtol": 0, "atol": 1e-10}
SPELLINGS = [
    {"layout": layout, "base": base, "last": last}
    for layout in ("interleaved", "halves")
    for base in (10000.0, 100.0, 7.0)
    for last in (False, True)
]
spellings = pytest.mark.parametrize("spelling", SPELLINGS, ids=lambda s: "-".join(str(v) for v in s.values()))


def normal(*shape: int, seed: int) -> torch.Tensor:
    """Seeded numbers in float64."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("J", [2, 6, 14])
def test_waves_are_the_papers(J: int) -> None:
    """PE[t, 2j] = sin(t / 10000^(2j/J)), PE[t, 2j+1] = cos of the same, one number at a time."""
    PE = sinusoid(torch.tensor([0, 1, 5, 100_003]), J)
    for row, t in zip(PE, [0, 1, 5, 100_003], strict=True):
        for j in range(J // 2):
            angle = t / 10000 ** (2 * j / J)
            assert row[2 * j].item() == pytest.approx(math.sin(angle), abs=1e-10)
            assert row[2 * j + 1].item() == pytest.approx(math.cos(angle), abs=1e-10)


def test_layouts_differ_by_a_permutation() -> None:
    """ "halves" holds the sines of "interleaved", then its cosines."""
    t = torch.arange(11)
    pairs, halves = sinusoid(t, 14), sinusoid(t, 14, layout="halves")
    assert torch.equal(halves, torch.cat([pairs[:, ::2], pairs[:, 1::2]], dim=1))


def test_the_slowest_wave() -> None:
    """The paper stops short of wavelength 2 pi base; tensor2tensor's spacing reaches it."""
    assert frequencies(14)[-1] == pytest.approx(10000 ** (-12 / 14))
    assert frequencies(14, last=True)[-1] == pytest.approx(1e-4)
    assert frequencies(2, last=True).tolist() == [1.0]
    with pytest.raises(ValueError, match="odd"):
        frequencies(7)


@spellings
@pytest.mark.parametrize("k", [-7, 0, 1, 5, 31])
def test_the_shift_matrix_shifts_every_position(spelling: dict, k: int) -> None:
    """PE[t + k] = A^(k) PE[t] for all t at once: A depends on k alone."""
    t, J = torch.arange(40, 97), 14
    A = shift_matrix(k, J, **spelling)
    torch.testing.assert_close(sinusoid(t, J, **spelling) @ A.T, sinusoid(t + k, J, **spelling), **CLOSE)


@spellings
def test_the_shift_matrix_is_a_rotation(spelling: dict) -> None:
    """A A^T = 1, det A = 1, eigenvalues e^{+-i k omega}, and zero outside the blocks of its layout."""
    J, k = 10, 3
    A = shift_matrix(k, J, **spelling)
    torch.testing.assert_close(A @ A.T, torch.eye(J, dtype=A.dtype), **CLOSE)
    assert torch.linalg.det(A).item() == pytest.approx(1)
    omega = frequencies(J, spelling["base"], last=spelling["last"])
    expected = sorted([*(k * omega).cos().tolist()] * 2)
    assert sorted(torch.linalg.eigvals(A).real.tolist()) == pytest.approx(expected)
    j = torch.arange(J)
    frequency = j // 2 if spelling["layout"] == "interleaved" else j % (J // 2)
    assert (A[frequency[:, None] != frequency] == 0).all()
    block = A[:2, :2] if spelling["layout"] == "interleaved" else A[:: J // 2, :: J // 2]
    c, s = math.cos(k), math.sin(k)  # omega_0 = 1
    torch.testing.assert_close(block, torch.tensor([[c, s], [-s, c]], dtype=A.dtype), **CLOSE)


@settings(deadline=None, max_examples=25)
@given(k=st.integers(-500, 500), m=st.integers(-500, 500), spelling=st.sampled_from(SPELLINGS))
def test_shifts_form_a_group(k: int, m: int, spelling: dict) -> None:
    """A^(k) A^(m) = A^(k+m), A^(0) = 1, A^(-k) = A^(k)^T."""
    A, J = shift_matrix(k, 14, **spelling), 14
    torch.testing.assert_close(A @ shift_matrix(m, J, **spelling), shift_matrix(k + m, J, **spelling), **CLOSE)
    torch.testing.assert_close(shift_matrix(-k, J, **spelling), A.T, **CLOSE)
    assert torch.equal(shift_matrix(0, J, **spelling), torch.eye(J, dtype=A.dtype))


@spellings
def test_products_of_encodings_feel_the_distance_alone(spelling: dict) -> None:
    """PE[t] . PE[t+k] = sum_j cos(k omega_j), and |PE[t]|^2 = J/2."""
    J, PE = 14, sinusoid(torch.arange(23), 14, **spelling)
    gram = PE @ PE.T
    omega = frequencies(J, spelling["base"], last=spelling["last"])
    for k in range(23):
        expected = (k * omega).cos().sum().expand(23 - k)
        torch.testing.assert_close(gram.diagonal(k), expected, **CLOSE)


def test_learned_positions_have_no_shift_matrix() -> None:
    """The best linear map from row t to row t+1 of a trained table leaves a residual; of the waves, none."""
    table = normal(23, 6, seed=1)
    for rows, least in ((table, 0.1), (sinusoid(torch.arange(23), 6), 0.0)):
        A = torch.linalg.lstsq(rows[:-1], rows[1:]).solution
        residual = (rows[:-1] @ A - rows[1:]).abs().max()
        assert residual >= least and (residual < 1e-10) == (least == 0)


def test_adding_is_concatenating_and_projecting() -> None:
    """e + pos = [1 1] (e; pos)."""
    e, J = normal(1, 5, 6, seed=2), 6
    both = torch.cat([e, sinusoid(torch.arange(5), J)[None]], dim=2)
    projection = torch.cat([torch.eye(J), torch.eye(J)], dim=1).double()
    torch.testing.assert_close(SinusoidalPositions(J)(e), both @ projection.T, **CLOSE)


def test_positions_are_added_on_every_device(device: torch.device, dtype: torch.dtype) -> None:
    """Any start, in any order of asking, gives the rows of `sinusoid`, rounded once."""
    layer = SinusoidalPositions(14)
    assert not list(layer.parameters()) and not layer.state_dict()
    for start, T in [(3, 5), (0, 1), (40, 7), (2, 3)]:
        h = torch.zeros(2, T, 14, device=device, dtype=dtype)
        expected = sinusoid(torch.arange(start, start + T), 14).to(dtype)
        assert torch.equal(layer(h, start).cpu(), expected.expand(2, -1, -1))


def test_a_model_may_be_made_before_its_numbers() -> None:
    """Built on the meta device and filled in later, as large models are."""
    with torch.device("meta"):
        layer = SinusoidalPositions(6)
    h = normal(1, 3, 6, seed=3)
    assert torch.equal(layer.to_empty(device="cpu")(h), SinusoidalPositions(6)(h))


def test_learned_positions_end() -> None:
    """Each position adds its own row; the first position beyond the table is an error."""
    layer = LearnedPositions(7, 6).double()
    h = normal(2, 3, 6, seed=4)
    torch.testing.assert_close(layer(h, 4) - h, layer.table[4:].expand(2, -1, -1), **CLOSE)
    with pytest.raises(ValueError, match="position 7 is wanted"):
        layer(h, 5)


def test_rotated_queries_and_keys_feel_their_distance_alone() -> None:
    """rotate(q, t) . rotate(k, t + d) does not depend on t, and is q . k at d = 0."""
    query, key, t = normal(6, seed=5), normal(6, seed=6), torch.arange(50)
    for d in (0, 1, 11):
        products = (rotate(query.expand(50, 6), t) * rotate(key.expand(50, 6), t + d)).sum(1)
        torch.testing.assert_close(products, products[:1].expand(50), **CLOSE)
        expected = query @ shift_matrix(-d, 6, layout="halves") @ key
        torch.testing.assert_close(products[0], expected, **CLOSE)


@pytest.mark.parametrize("layout", ["halves", "interleaved"])
def test_rotation_is_the_shift_matrix_backwards(layout: str) -> None:
    """Each row is multiplied by A^(-t), the published direction; with positions negated, by the course's A^(t)."""
    x, t = normal(2, 3, 5, 6, seed=7), 3 * torch.arange(5)
    for sign in (1, -1):
        rows = [x[..., n, :] @ shift_matrix(-sign * 3 * n, 6, layout=layout).T for n in range(5)]
        torch.testing.assert_close(rotate(x, sign * t, layout=layout), torch.stack(rows, dim=-2), **CLOSE)


def test_the_published_direction() -> None:
    """Su et al. 2021, equation 15: in the plane, position t multiplies by e^(+it)."""
    x, t = normal(5, 2, seed=10), torch.arange(5)
    expected = torch.view_as_real(torch.view_as_complex(x) * torch.exp(1j * t.double()))
    for layout in ("halves", "interleaved"):
        torch.testing.assert_close(rotate(x, t, layout=layout), expected, **CLOSE)


def test_rows_may_have_positions_of_their_own() -> None:
    """Positions (B, T) turn row b of (B, K, T, U) by its own, the heads alike; tables are looked up."""
    x, t = normal(3, 2, 5, 6, seed=11), torch.tensor([[0, 1, 2, 3, 4], [0, 0, 0, 1, 2], [4, 3, 2, 1, 0]])
    torch.testing.assert_close(
        rotate(x, t), torch.stack([rotate(row, p) for row, p in zip(x, t, strict=True)]), **CLOSE
    )
    for layer in (LearnedPositions(5, 6).double(), SinusoidalPositions(6)):
        expected = torch.cat([layer(x.new_zeros(1, 5, 6))[:, p] for p in t])
        torch.testing.assert_close(layer(x.new_zeros(3, 5, 6), 0, t), expected, **CLOSE)


def test_relative_bias_depends_on_the_distance() -> None:
    """b[k, t1 - t2], beyond the table the outermost number, and the last rows alone where keys are more."""
    bias = RelativeBias(3, 4).double()
    with torch.no_grad():
        bias.b.copy_(normal(3, 7, seed=8))
    full = bias(7)
    for k in range(3):
        for t1 in range(7):
            for t2 in range(7):
                assert full[0, k, t1, t2] == bias.b[k, max(-3, min(3, t1 - t2)) + 3]
    assert torch.equal(bias(2, 7), full[:, :, 5:])
    assert all(torch.equal(a, b) for a, b in pairwise(full[0, :, i, i] for i in range(7)))


def test_nothing_is_made_on_another_device() -> None:
    """Every layer works on the meta device, which mixes with no other: nothing is born on the CPU."""
    with torch.device("meta"):
        h, bias = torch.empty(2, 5, 6), RelativeBias(3, 4)
        layers = SinusoidalPositions(6), LearnedPositions(7, 6)
    assert all(layer(h, 2).is_meta for layer in layers) and bias(3, 5).is_meta
    assert rotate(h, torch.arange(5)).is_meta


def test_positions_can_be_copied() -> None:
    """Deep copies share nothing and keep working."""
    layer = SinusoidalPositions(6)
    h = normal(1, 5, 6, seed=9)
    assert torch.equal(copy.deepcopy(layer)(h), layer(h))

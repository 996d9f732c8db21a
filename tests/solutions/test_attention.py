"""Attention against torch, against loops, and against what every attention must satisfy."""

import copy
import math

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

from solutions.attention import (
    KeyValueCache,
    MergedAttention,
    MultiHeadAttention,
    attend,
    attention_weights,
    causal_mask,
    factor_query_key,
    factor_value_output,
    factored,
    merge_query_key,
    merge_value_output,
    merged,
    padding_mask,
    prefix_mask,
    self_attention,
    window_mask,
)
from solutions.counting import attention_flops, score_flops

TOLERANCE = {torch.float64: 1e-10, torch.float32: 2e-5, torch.bfloat16: 5e-2}
CLOSE = {"rtol": 0, "atol": 1e-10}


def normal(*shape: int, seed: int, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    """The same numbers on every device."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def randomised(module: nn.Module, seed: int) -> nn.Module:
    """In float64, every parameter drawn anew: no bias stays zero."""
    module = module.double()
    with torch.no_grad():
        for i, parameter in enumerate(module.parameters()):
            parameter.copy_(normal(*parameter.shape, seed=1000 * seed + i) * 0.5)
    return module


# --- the equations ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1.0, 3**-0.5])
def test_self_attention_is_the_loop(scale: float) -> None:
    """The einsum form equals the problem sheet read index by index."""
    T, J, K, U, I = 5, 7, 2, 3, 11
    h, Q, Ke, V = (
        normal(T, J, seed=1),
        normal(K, U, J, seed=2),
        normal(K, U, J, seed=3),
        normal(K, I, J, seed=4),
    )
    alpha, out = self_attention(h, Q, Ke, V, scale)
    for k in range(K):
        for t1 in range(T):
            scores = [scale * float((Q[k] @ h[t1]) @ (Ke[k] @ h[t2])) for t2 in range(T)]
            Z = sum(math.exp(s) for s in scores)
            for t2 in range(T):
                assert alpha[k, t1, t2].item() == pytest.approx(math.exp(scores[t2]) / Z, rel=1e-10)
            expected = sum(math.exp(scores[t2]) / Z * (V[k] @ h[t2]) for t2 in range(T))
            torch.testing.assert_close(out[t1, k * I : (k + 1) * I], expected, **CLOSE)


def test_layer_without_scale_and_output_is_the_problem_sheet(device: torch.device) -> None:
    """`scaled=False, output=False` gives Problem 1: alpha and the concatenated heads."""
    layer = randomised(MultiHeadAttention(7, 2, U=3, I=5, scaled=False, output=False), seed=1)
    h = normal(11, 7, seed=2)
    alpha, out = self_attention(h, layer.W_Q, layer.W_K, layer.W_V)
    dtype = torch.float32 if device.type == "mps" else torch.float64
    got, weights = layer.to(device, dtype).with_weights(h[None].to(device, dtype))
    tolerance = TOLERANCE[dtype]
    torch.testing.assert_close(got[0].cpu().double(), out, rtol=tolerance, atol=tolerance)
    torch.testing.assert_close(weights[0].cpu().double(), alpha, rtol=tolerance, atol=tolerance)


def as_torch(layer: MultiHeadAttention) -> nn.MultiheadAttention:
    """torch's module with the same weights; it adds its biases."""
    (K, U, J), M = layer.W_Q.shape, layer.W_K.shape[-1]
    bias = layer.B_Q is not None
    peer = nn.MultiheadAttention(J, K, bias=bias, kdim=M, vdim=M, batch_first=True).double()
    assert J == K * U
    weights = [W.flatten(0, 1) for W in (layer.W_Q, layer.W_K, layer.W_V)]
    with torch.no_grad():
        if M == J:
            peer.in_proj_weight.copy_(torch.cat(weights))
        else:
            for target, W in zip((peer.q_proj_weight, peer.k_proj_weight, peer.v_proj_weight), weights, strict=True):
                target.copy_(W)
        peer.out_proj.weight.copy_(layer.W_O)
        if bias:
            peer.in_proj_bias.copy_(-torch.cat([B.flatten() for B in (layer.B_Q, layer.B_K, layer.B_V)]))
            peer.out_proj.bias.copy_(-layer.B_O)
    return peer


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("M", [15, 7], ids=["as wide", "another width"])
@pytest.mark.parametrize("masking", ["none", "causal", "padding"])
def test_layer_equals_torch(bias: bool, M: int, masking: str) -> None:
    """Output and weights of nn.MultiheadAttention, self and cross, with and without masks and biases."""
    B, T1, T2, J, K = 2, 5, 5 if masking == "causal" else 11, 15, 3
    layer = randomised(MultiHeadAttention(J, K, M=M, bias=bias), seed=3)
    x, memory = normal(B, T1, J, seed=4), normal(B, T2, M, seed=5)
    mask, other = None, {}
    if masking == "causal":
        other = {"attn_mask": ~causal_mask(T1)[0, 0]}
    if masking == "padding":
        mask = padding_mask(torch.tensor([3, 11]), T2)
        other = {"key_padding_mask": ~mask[:, 0, 0]}
    expected, weights = as_torch(layer)(x, memory, memory, average_attn_weights=False, **other)
    out, alpha = layer.with_weights(x, memory, mask=mask, causal=masking == "causal")
    torch.testing.assert_close(out, expected, **CLOSE)
    torch.testing.assert_close(alpha, weights, **CLOSE)
    torch.testing.assert_close(layer(x, memory, mask=mask, causal=masking == "causal"), expected, **CLOSE)


# --- two paths, one function ------------------------------------------------------------------------------

B, K, T1, T2 = 2, 3, 5, 7
MASKS = {
    "none": (None, False),
    "causal": (None, True),
    "padding": (padding_mask(torch.tensor([2, 7]), T2), False),
    "padding and causal": (padding_mask(torch.tensor([6, 3]), T2), True),
    "one row sees nothing": (
        torch.ones(B, 1, T1, T2, dtype=torch.bool).index_fill(2, torch.tensor([3]), False),
        False,
    ),
    "an empty row of the batch": (padding_mask(torch.tensor([0, 4]), T2), False),
    "per head": (torch.rand(1, K, T1, T2, generator=torch.Generator().manual_seed(0)) < 0.7, False),
    "bias": (normal(1, K, T1, T2, seed=6), False),
    "bias that forbids a row": (
        normal(1, K, T1, T2, seed=8).index_fill(2, torch.tensor([2]), -math.inf),
        False,
    ),
    "bias and causal": (normal(B, 1, T1, T2, seed=7), True),
}


@pytest.mark.parametrize("name", MASKS)
@pytest.mark.parametrize(("U", "I", "G"), [(5, 5, 3), (5, 2, 3), (2, 5, 3), (5, 3, 1)])
def test_fused_and_explicit_paths_agree(name: str, U: int, I: int, G: int) -> None:
    """`attend` and alpha @ value agree, forward and backward, for every mask, width and grouping."""
    mask, causal = MASKS[name]
    query, key, value = normal(B, K, T1, U, seed=1), normal(B, G, T2, U, seed=2), normal(B, G, T2, I, seed=3)
    inputs = [z.requires_grad_() for z in (query, key, value)]
    out = attend(query, key, value, scale=0.7, mask=mask, causal=causal)
    alpha = attention_weights(query, key, scale=0.7, mask=mask, causal=causal)
    other = alpha @ value.repeat_interleave(K // G, dim=1)
    torch.testing.assert_close(out, other, **CLOSE)
    cotangent = normal(*out.shape, seed=4)
    gradients = (torch.autograd.grad(z, inputs, cotangent) for z in (out, other))
    for one, two in zip(*gradients, strict=True):
        torch.testing.assert_close(one, two, **CLOSE)


@pytest.mark.parametrize("name", MASKS)
def test_rows_sum_to_one_over_what_they_may_see(name: str) -> None:
    """Each row of alpha is a distribution over its allowed keys, exactly zero elsewhere; or all zero."""
    mask, causal = MASKS[name]
    alpha = attention_weights(
        normal(B, K, T1, 5, seed=1), normal(B, K, T2, 5, seed=2), scale=1.0, mask=mask, causal=causal
    )
    allowed = torch.ones(B, K, T1, T2, dtype=torch.bool)
    if mask is not None:
        allowed = allowed & (mask if mask.dtype == torch.bool else mask > -math.inf)
    if causal:
        allowed = allowed & causal_mask(T1, T2)
    assert (alpha[~allowed] == 0).all() and (alpha[allowed] > 0).all()
    torch.testing.assert_close(alpha.sum(-1), allowed.any(-1).double(), **CLOSE)


class Recorder(TorchDispatchMode):
    """Writes down which kernels run."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.names.append(str(function))
        return function(*args, **(kwargs or {}))


@pytest.mark.parametrize(
    "options",
    [{}, {"U": 2}, {"U": 16, "I": 8}, {"G": 1}, {"bias": True}],
    ids=["plain", "narrow keys", "wide keys", "grouped", "bias"],
)
@pytest.mark.parametrize("causal", [False, True])
def test_the_fused_kernel_is_used(options: dict, causal: bool) -> None:
    """No layout, width or grouping of ours falls back to the kernel that holds alpha."""
    layer = MultiHeadAttention(24, 3, **options)
    with Recorder() as recorder, torch.no_grad():
        layer(torch.randn(2, 7, 24), causal=causal)
    assert any("flash_attention" in name for name in recorder.names), recorder.names
    assert not any("softmax" in name or "bmm" in name for name in recorder.names)


def test_strided_heads_would_miss_it() -> None:
    """The trap is real: the same numbers with another stride take the slow kernel."""
    strided = torch.randn(2, 3, 8, 7).mT  # (B, K, T, U), the last axis not dense
    with Recorder() as recorder, torch.no_grad():
        attend(strided, strided, strided, scale=1.0)
    assert not any("flash_attention" in name for name in recorder.names)


# --- properties -------------------------------------------------------------------------------------------


def test_gradients_by_differences() -> None:
    """gradcheck of the layer with biases, groups, a mask and a causal flag, and of the explicit path."""
    layer = randomised(MultiHeadAttention(6, 2, U=3, I=2, M=5, G=1, bias=True), seed=5)
    x, memory = normal(2, 3, 6, seed=6).requires_grad_(), normal(2, 4, 5, seed=7).requires_grad_()
    mask = padding_mask(torch.tensor([4, 2]), 4)
    parameters = tuple(layer.parameters())

    def call(x, memory, *parameters):
        named = dict(zip(dict(layer.named_parameters()), parameters, strict=True))
        return torch.func.functional_call(layer, named, (x, memory), {"mask": mask, "causal": True})

    assert torch.autograd.gradcheck(call, (x, memory, *parameters))
    assert torch.autograd.gradcheck(lambda x, m: layer.with_weights(x, m, mask=mask), (x, memory))


def test_self_attention_is_permutation_equivariant() -> None:
    """Permuting the positions permutes the outputs: attention by itself has no order."""
    layer, x = randomised(MultiHeadAttention(15, 3, bias=True), seed=8), normal(2, 7, 15, seed=9)
    order = torch.randperm(7, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(layer(x[:, order]), layer(x)[:, order], **CLOSE)


def test_cross_attention_does_not_see_the_order_of_its_memory() -> None:
    """Permuting the memory changes nothing; the output is as long as x."""
    layer = randomised(MultiHeadAttention(15, 3, M=11, bias=True), seed=10)
    x, memory = normal(2, 5, 15, seed=11), normal(2, 7, 11, seed=12)
    order = torch.randperm(7, generator=torch.Generator().manual_seed(0))
    out = layer(x, memory)
    assert out.shape == (2, 5, 15)
    torch.testing.assert_close(layer(x, memory[:, order]), out, **CLOSE)


def test_causal_attention_has_exactly_no_gradient_to_the_future() -> None:
    """d out[t] / d x[s] is 0.0 for s > t and not for s <= t; the first position attends to itself alone."""
    T = 5
    layer = randomised(MultiHeadAttention(6, 2, bias=True), seed=13)
    x = normal(1, T, 6, seed=14)
    reach = torch.autograd.functional.jacobian(lambda x: layer(x, causal=True), x)[0, :, :, 0].abs().sum((1, 3))
    assert torch.equal(reach > 0, causal_mask(T)[0, 0])
    _, alpha = layer.with_weights(x, causal=True)
    assert (alpha.triu(1) == 0).all() and (alpha[..., 0, 0] == 1).all()


def test_prefix_sees_itself_and_nothing_behind() -> None:
    """A prefix mask lets the prefix be read in both directions and the rest causally."""
    T, P = 7, 3
    layer, x = randomised(MultiHeadAttention(6, 2), seed=15), normal(1, T, 6, seed=16)
    mask = prefix_mask(T, P)
    reach = torch.autograd.functional.jacobian(lambda x: layer(x, mask=mask), x)[0, :, :, 0].abs().sum((1, 3)) > 0
    assert reach[:P, :P].all() and not reach[:P, P:].any()
    assert torch.equal(reach[P:], causal_mask(T)[0, 0, P:])
    torch.testing.assert_close(layer(x, mask=mask)[:, :P], layer(x[:, :P]), **CLOSE)


def test_padding_is_the_same_as_cutting() -> None:
    """A padded row gives what the row without its padding gives, whatever the padding holds."""
    layer = randomised(MultiHeadAttention(6, 2, bias=True), seed=17)
    x, memory = normal(3, 5, 6, seed=18), normal(3, 7, 6, seed=19)
    out = layer(x, memory, mask=padding_mask(torch.tensor([7, 2, 5]), 7))
    for b, length in enumerate([7, 2, 5]):
        torch.testing.assert_close(out[b], layer(x[b : b + 1], memory[b : b + 1, :length])[0], **CLOSE)


@pytest.mark.parametrize("T", [1, 2, 7, 11])
def test_masks_have_as_many_pairs_as_the_formulas_say(T: int) -> None:
    """Causal T(T+1)/2, window wT - w(w-1)/2, prefix T(T+1)/2 + P(P-1)/2."""
    assert causal_mask(T).sum() == T * (T + 1) // 2
    for w in range(1, T + 1):
        assert window_mask(T, w).sum() == w * T - w * (w - 1) // 2
        assert prefix_mask(T, w).sum() == T * (T + 1) // 2 + w * (w - 1) // 2
    assert torch.equal(window_mask(T, T), causal_mask(T))


def test_the_last_queries_of_more_keys_see_all_before_them() -> None:
    """With T1 < T2 the queries are the last T1 positions."""
    assert torch.equal(causal_mask(3, 7), causal_mask(7)[..., 4:, :])


# --- heads, groups, cost ----------------------------------------------------------------------------------


@pytest.mark.parametrize("K", [1, 2, 4, 8])
def test_cost_does_not_depend_on_the_number_of_heads(K: int) -> None:
    """8 T J^2 + 4 T^2 J FLOPs and 4 J^2 parameters for every K."""
    T, J = 24, 16
    layer = MultiHeadAttention(J, K)
    with FlopCounterMode(display=False) as counter:
        layer.with_weights(torch.randn(1, T, J))
    assert counter.get_total_flops() == attention_flops(T, J)
    assert sum(parameter.numel() for parameter in layer.parameters()) == 4 * J**2


def test_grouped_heads_are_equal_keys_and_values() -> None:
    """K heads that share G keys are K heads whose keys are equal within a group."""
    J, K, G = 12, 6, 2
    grouped = randomised(MultiHeadAttention(J, K, U=5, I=3, G=G, bias=True), seed=20)
    full = MultiHeadAttention(J, K, U=5, I=3, bias=True).double()
    state = {
        name: value.repeat_interleave(K // G, dim=0) if name[2:] in "KV" else value
        for name, value in grouped.state_dict().items()
    }
    full.load_state_dict(state, strict=True)
    x = normal(2, 7, J, seed=21)
    torch.testing.assert_close(grouped(x, causal=True), full(x, causal=True), **CLOSE)
    torch.testing.assert_close(grouped.with_weights(x), full.with_weights(x), **CLOSE)


def test_heads_that_do_not_fit_are_refused() -> None:
    """A J that K does not divide needs U and I; K must be a multiple of G."""
    with pytest.raises(ValueError, match="multiple of K=3"):
        MultiHeadAttention(7, 3)
    assert MultiHeadAttention(7, 3, U=2, I=5)(torch.randn(1, 2, 7)).shape == (1, 2, 7)
    with pytest.raises(ValueError, match="share G=4"):
        MultiHeadAttention(12, 6, G=4)


# --- generation -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("steps", [[1] * 7, [7], [3, 1, 2, 1], [2, 5]])
def test_a_cache_changes_nothing(steps: list[int]) -> None:
    """Feeding a sequence piece by piece through a cache gives what feeding it at once gives."""
    layer = randomised(MultiHeadAttention(12, 6, U=3, I=5, G=2, bias=True), seed=22)
    x = normal(2, 7, 12, seed=23)
    with torch.no_grad():
        cache = layer.new_cache(2, 7)
        pieces = [layer(piece, causal=True, cache=cache) for piece in x.split(steps, dim=1)]
        torch.testing.assert_close(torch.cat(pieces, dim=1), layer(x, causal=True), **CLOSE)


def test_a_full_cache_says_so() -> None:
    """Writing beyond the cache's room is an error, not a silent wrap."""
    cache = KeyValueCache(torch.empty(1, 1, 2, 3), torch.empty(1, 1, 2, 3))
    cache.append(torch.randn(1, 1, 2, 3), torch.randn(1, 1, 2, 3))
    with pytest.raises(ValueError, match="room for 2 positions, 3 are wanted"):
        cache.append(torch.randn(1, 1, 1, 3), torch.randn(1, 1, 1, 3))


# --- merging ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("I", [1, 2, 3, 7])
@pytest.mark.parametrize("T", [1, 3, 11])
def test_merged_scores_are_the_scores(I: int, T: int) -> None:
    """L W~ L^T = Query Key^T / sqrt(I), compared as scores and as W~ itself, whose rank is min(I, J)."""
    K, J = 3, 7
    W_Q, W_K, L = normal(K, I, J, seed=24), normal(K, I, J, seed=25), normal(T, J, seed=26)
    W = merge_query_key(W_Q, W_K, I**-0.5)
    for k in range(K):
        expected = (L @ W_Q[k].T) @ (L @ W_K[k].T).T / math.sqrt(I)
        torch.testing.assert_close(L @ W[k] @ L.T, expected, **CLOSE)
        torch.testing.assert_close(W[k], W_Q[k].T @ W_K[k] / math.sqrt(I), **CLOSE)
        assert torch.linalg.matrix_rank(W[k]) == min(I, J)
    if I < J:  # the transpose would let the key ask
        assert not torch.allclose(L @ W.mT @ L.T, L @ W @ L.T) or T == 1


def test_factors_are_free_up_to_an_invertible_matrix() -> None:
    """G W^Q and G^-T W^K merge to the same W~: the factors cannot be read off it, W~ can."""
    W_Q, W_K, G = normal(2, 3, 7, seed=27), normal(2, 3, 5, seed=28), normal(2, 3, 3, seed=29)
    other = merge_query_key(G @ W_Q, torch.linalg.inv(G).mT @ W_K, 0.5)
    torch.testing.assert_close(other, merge_query_key(W_Q, W_K, 0.5), **CLOSE)


def test_equal_projections_merge_to_a_symmetric_semidefinite_form() -> None:
    """W^Q = W^K gives a Gram matrix."""
    W_Q = normal(2, 3, 7, seed=30)
    W = merge_query_key(W_Q, W_Q, 1.0)
    torch.testing.assert_close(W, W.mT, **CLOSE)
    assert torch.linalg.eigvalsh(W).min() > -1e-12


def test_factoring_undoes_merging() -> None:
    """Merge, factor, merge: the same matrices, though not the same factors."""
    W_Q, W_K, W_V, W_O = (normal(*s, seed=31 + n) for n, s in enumerate([(2, 3, 7), (2, 3, 5), (2, 3, 5), (7, 6)]))
    W, scale = merge_query_key(W_Q, W_K, 3**-0.5), 3**-0.5
    torch.testing.assert_close(merge_query_key(*factor_query_key(W, 3, scale), scale), W, **CLOSE)
    W = merge_value_output(W_V, W_O)
    torch.testing.assert_close(merge_value_output(*factor_value_output(W, 3)), W, **CLOSE)


def test_a_full_rank_form_is_beyond_the_factors() -> None:
    """The best I factors miss by the remaining singular values (Eckart and Young): merging is richer."""
    W = normal(2, 7, 5, seed=35)
    for I in range(1, 6):
        missing = W - merge_query_key(*factor_query_key(W, I, 1.0), 1.0)
        beyond = torch.linalg.svdvals(W)[:, I:]
        torch.testing.assert_close(torch.linalg.matrix_norm(missing), beyond.norm(dim=1), **CLOSE)
        assert (beyond.sum() > 0) == (I < 5)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("causal", [False, True])
def test_merged_layer_is_the_layer(bias: bool, causal: bool) -> None:
    """Both mergers and both biases together: the same function; and factored back, once more."""
    layer = randomised(MultiHeadAttention(15, 3, U=2, I=7, M=11, bias=bias), seed=36)
    x, memory = normal(2, 5, 15, seed=37), normal(2, 7, 11, seed=38)
    expected = layer(x, memory, causal=causal)
    one = merged(layer)
    torch.testing.assert_close(one(x, memory, causal=causal), expected, **CLOSE)
    back = factored(one, U=2, I=7)
    torch.testing.assert_close(back(x, memory, causal=causal), expected, **CLOSE)
    assert isinstance(back, MultiHeadAttention) and back.W_Q.shape == layer.W_Q.shape


def test_merged_layer_learns() -> None:
    """gradcheck of the merged layer's inputs and parameters."""
    layer = randomised(MergedAttention(5, 2, M=3, bias=True), seed=39)
    x, memory = normal(1, 3, 5, seed=40).requires_grad_(), normal(1, 4, 3, seed=41).requires_grad_()

    def call(x, memory, *parameters):
        named = dict(zip(dict(layer.named_parameters()), parameters, strict=True))
        return torch.func.functional_call(layer, named, (x, memory), {"causal": True})

    assert torch.autograd.gradcheck(call, (x, memory, *layer.parameters()))


def test_what_cannot_be_merged_is_refused() -> None:
    """Without W^O there is nothing to merge the values with; shared keys have no matrix of their own."""
    for options in ({"output": False}, {"G": 1}):
        with pytest.raises(ValueError, match="merging needs"):
            merged(MultiHeadAttention(6, 2, **options))


def test_merging_pays_only_for_wide_heads_and_short_sequences() -> None:
    """Counted FLOPs of both ways to score equal the formulas, which meet at T* = J (2I - J) / (J - I)."""
    J = 12
    for I, T in [(3, 5), (6, 7), (9, 24), (12, 29)]:
        L, W_Q, W = torch.randn(T, J), torch.randn(I, J), torch.randn(J, J)
        with FlopCounterMode(display=False) as counter:
            (L @ W_Q.T) @ (L @ W_Q.T).T
        assert counter.get_total_flops() == score_flops(T, J, I, merged=False)
        with FlopCounterMode(display=False) as counter:
            L @ W @ L.T
        assert counter.get_total_flops() == score_flops(T, J, I, merged=True)
        if I < J:
            T_star = J * (2 * I - J) / (J - I)
            difference = score_flops(T, J, I, merged=True) - score_flops(T, J, I, merged=False)
            assert (difference > 0) == (T_star < T) and (difference == 0) == (T_star == T)


# --- devices, precisions, states --------------------------------------------------------------------------


def test_every_precision_on_every_device(device: torch.device, dtype: torch.dtype) -> None:
    """The result has the input's type and device and is near the float64 one."""
    layer = randomised(MultiHeadAttention(15, 3, bias=True), seed=42)
    x, mask = normal(2, 7, 15, seed=43), padding_mask(torch.tensor([7, 3]), 7)
    expected, form = layer(x, mask=mask, causal=True), merged(layer)
    tolerance = TOLERANCE[dtype]
    for module in (copy.deepcopy(layer), form):
        out = module.to(device, dtype)(x.to(device, dtype), mask=mask.to(device), causal=True)
        assert out.dtype == dtype and out.device.type == device.type
        torch.testing.assert_close(out.cpu().double(), expected, rtol=tolerance, atol=5 * tolerance)
    assert factored(form, 5, 5).W_Q.dtype == dtype


def test_nothing_is_made_on_another_device() -> None:
    """Every path works on the meta device, which mixes with no other: nothing is born on the CPU."""
    with torch.device("meta"):
        layer, x, memory = (
            MultiHeadAttention(12, 6, G=2, U=5, bias=True),
            torch.empty(2, 3, 12),
            torch.empty(2, 7, 12),
        )
        form, mask = MergedAttention(12, 6, bias=True), padding_mask(torch.empty(2, dtype=torch.long), 7)
    assert mask.is_meta
    for call in (layer, form):
        assert call(x, memory, mask=mask, causal=True).is_meta and call(x, causal=True).is_meta
    assert layer.with_weights(x, memory, mask=mask, causal=True)[1].is_meta
    assert layer(x, causal=True, cache=layer.new_cache(2, 3)).is_meta


def test_state_dicts_are_strict() -> None:
    """The state holds the paper's letters and nothing else; loading it restores the function."""
    layer = randomised(MultiHeadAttention(15, 3, bias=True), seed=44)
    assert list(layer.state_dict()) == ["W_Q", "W_K", "W_V", "W_O", "B_Q", "B_K", "B_V", "B_O"]
    other = MultiHeadAttention(15, 3, bias=True).double()
    other.load_state_dict(layer.state_dict(), strict=True)
    x = normal(2, 5, 15, seed=45)
    assert torch.equal(layer(x), other(x))
    with pytest.raises(RuntimeError, match="B_Q"):
        MultiHeadAttention(15, 3).load_state_dict(layer.state_dict(), strict=True)


# --- masks that would be misread, rows that see nothing, second derivatives -------------------------------


@pytest.mark.parametrize(
    ("mask", "said"),
    [
        (torch.ones(2, 5, 5, dtype=torch.bool), r"mask\[:, None\]"),  # with two heads: one mask for each, in silence
        (torch.ones(5, 5, dtype=torch.bool), r"mask\[None, None\]"),
        (torch.ones(2, 1, 1, 5, dtype=torch.long), r"mask\.bool"),  # as a bias, it would add one to every score
    ],
)
def test_a_mask_that_would_be_misread_is_refused(mask, said):
    """A mask of another rank, or of integers, says what to write instead; one of four axes is taken."""
    layer, x = MultiHeadAttention(8, 2), torch.randn(2, 5, 8)
    for look in (layer, layer.with_weights):
        with pytest.raises(ValueError, match=said):
            look(x, mask=mask)
        look(x, mask=torch.ones(2, 1, 5, 5, dtype=torch.bool))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_a_row_that_sees_nothing_passes_no_gradient_on(dtype):
    """Large negative scores in half precision: outputs of that row are zero, gradients are finite."""
    layer = MultiHeadAttention(8, 2).to(dtype)
    layer.W_Q.data[:], layer.W_K.data[:] = 2, -2
    mask = torch.ones(1, 1, 4, 4, dtype=torch.bool)
    mask[0, 0, 1] = False
    out, alpha = layer.with_weights(torch.ones(1, 4, 8, dtype=dtype), mask=mask)
    out.float().square().sum().backward()
    assert not out[0, 1].any() and not alpha[0, :, 1].any() and (alpha[0, :, 0] == 0.25).all()
    assert all(p.grad.isfinite().all() for p in layer.parameters())


@pytest.mark.parametrize("kind", ["plain", "causal", "mask", "bias", "grouped", "wide values"])
def test_second_derivatives_of_the_fused_kernels(kind):
    """torch has none; ours are those of the plain steps, by every input, the bias too.

    Each number is moved by itself, twice: there are few. Grouped heads are four, so that their order counts.
    """
    g = torch.Generator().manual_seed(3)
    B, T, U = 2, 3, 2
    K, G, I = (4, 2, U) if kind == "grouped" else (2, 2, 3 if kind == "wide values" else U)
    shapes = [(B, K, T, U), (B, G, T, U), (B, G, T, I)] + ([(1, K, T, T)] if kind == "bias" else [])
    inputs = [torch.randn(shape, generator=g, dtype=torch.float64).requires_grad_() for shape in shapes]
    options = {"scale": 0.7, "causal": kind == "causal"}
    if kind == "mask":
        options["mask"] = window_mask(T, 2)

    def attending(query, key, value, *bias):
        return attend(query, key, value, **options, **({"mask": bias[0]} if bias else {}))

    assert torch.autograd.gradgradcheck(attending, inputs)
    assert torch.autograd.gradcheck(attending, inputs, check_forward_ad=True)


def test_the_second_derivative_keeps_nothing_that_the_kernel_does_not(monkeypatch):
    """A first derivative runs the fused kernel's own: the plain steps, which hold alpha, are not taken."""
    layer, x = MultiHeadAttention(8, 2), torch.randn(2, 5, 8)
    monkeypatch.setattr("solutions.attention.attend_by_weights", lambda *_, **__: pytest.fail("alpha was held"))
    layer(x, causal=True).sum().backward()
    assert layer.W_Q.grad.abs().max() > 0

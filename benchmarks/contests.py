"""What is measured: for each task, our model first, then what others would use instead."""

from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec

import torch
from torch import Tensor, nn

from benchmarks import peers
from benchmarks.measure import Candidate, Contest
from solutions.attention import MultiHeadAttention, merge_query_key
from solutions.counting import score_flops
from solutions.rnn import GRU, LSTM, VanillaRNN
from solutions.spatial import AxialAttention, SpatialAttention, WindowAttention
from solutions.transformer import LanguageModel, Layer
from solutions.ugrnn import UGRNN, TwoGateUGRNN

TRANSFORMERS = find_spec("transformers") is not None  # the extra `published`


def candidate(name: str, module: nn.Module, run: Callable[[], Tensor], *, same: bool = True) -> Candidate:
    """Train what the module learns."""
    return Candidate(name=name, run=run, parameters=tuple(module.parameters()), same=same)


# --- tasks ------------------------------------------------------------------------------------------------


def recurrent(device: torch.device, *, B: int, T: int, J: int) -> list[Candidate]:
    """A sequence through one recurrent layer, input as wide as the state."""
    x = torch.randn(B, T, J, device=device)
    ours = UGRNN(K=J, J=J).to(device)
    theirs = peers.torchrecurrent_ugrnn(ours)
    two_gates, gru = TwoGateUGRNN(J, J).to(device), nn.GRU(J, J, batch_first=True).to(device)
    return [
        candidate("ours, UGRNN", ours, lambda: ours(x)[0]),
        candidate("ours, the equations in a loop", ours, lambda: ours.forward_by_steps(x)[0]),
        candidate("torchrecurrent.UGRNN", theirs, lambda: theirs(x)[0]),
        candidate("ours, TwoGateUGRNN", two_gates, lambda: two_gates(x)[0], same=False),
        candidate("torch.nn.GRU", gru, lambda: gru(x)[0], same=False),
    ]


def classical(device: torch.device, *, kind: type[nn.Module], B: int, T: int, J: int) -> list[Candidate]:
    """The same through a layer that torch has, too: with its operation, in our steps, and torch's module."""
    x = torch.randn(B, T, J, device=device)
    ours = kind(K=J, J=J).to(device)
    theirs = peers.torch_recurrent(ours)
    return [
        candidate(f"ours, {kind.__name__}", ours, lambda: ours(x)[0]),
        candidate(f"torch.nn.{type(theirs).__name__}", theirs, lambda: theirs(x)[0]),
        candidate("ours, step by step", ours, lambda: peers.step_by_step(ours, x)),
    ]


def attention(device: torch.device, *, B: int, T: int, J: int = 256, K: int = 8) -> list[Candidate]:
    """Causal self-attention with the same weights in all."""
    x = torch.randn(B, T, J, device=device)
    ours = MultiHeadAttention(J, K).to(device)
    theirs = peers.torch_attention(ours)
    flash, plain = (peers.x_transformers_attention(ours, flash=flash) for flash in (True, False))
    forbidden = torch.ones(T, T, dtype=torch.bool, device=device).triu(1)

    def torch_run(need_weights: bool) -> Tensor:
        mask = {"attn_mask": forbidden, "is_causal": not need_weights, "need_weights": need_weights}
        return theirs(x, x, x, **mask, average_attn_weights=False)[0]

    return [
        candidate("ours", ours, lambda: ours(x, causal=True)),
        candidate("ours, returning alpha", ours, lambda: ours.with_weights(x, causal=True)[0]),
        candidate("einsum equations", ours, lambda: peers.einsum_attention(ours, x)),
        candidate("torch.nn.MultiheadAttention", theirs, lambda: torch_run(False)),
        candidate("torch.nn.MultiheadAttention, returning alpha", theirs, lambda: torch_run(True)),
        candidate("x_transformers, flash", flash, lambda: flash(x)),
        candidate("x_transformers", plain, lambda: plain(x)),
    ]


def spatial(device: torch.device, *, X: int, J: int = 64, K: int = 4) -> list[Candidate]:
    """Self-attention over one X by X image."""
    h = torch.randn(1, X, X, J, device=device)
    ours = SpatialAttention(J, K).to(device)
    axial = nn.Sequential(AxialAttention(J, K, axis="x"), AxialAttention(J, K, axis="y")).to(device)
    flat = h.flatten(1, 2)
    return [
        candidate("ours", ours, lambda: ours(h)),
        candidate("einsum equations", ours, lambda: peers.spatial_einsum(ours, h)),
        candidate(
            "flattened, alpha by matrix products",
            ours,
            lambda: MultiHeadAttention.with_weights(ours, flat)[0].view_as(h),
        ),
        candidate("fused kernel, strided heads", ours, lambda: peers.spatial_strided(ours, h)),
        candidate("ours, axial x then y", axial, lambda: axial(h), same=False),
    ]


def relative(device: torch.device, *, X: int, J: int = 64, K: int = 4) -> list[Candidate]:
    """The same with a bias per displacement."""
    h = torch.randn(1, X, X, J, device=device)
    ours = SpatialAttention(J, K, relative=(X, X)).to(device)
    plain = SpatialAttention(J, K).to(device)
    return [
        candidate("ours, with relative bias", ours, lambda: ours(h)),
        candidate("bias and softmax by hand", ours, lambda: peers.relative_by_hand(ours, h)),
        candidate("ours, without a bias", plain, lambda: plain(h), same=False),
    ]


def window(device: torch.device, *, X: int, w: int = 3, J: int = 64, K: int = 4) -> list[Candidate]:
    """The same within a window."""
    h = torch.randn(1, X, X, J, device=device)
    ours = WindowAttention(J, K, w=w).to(device)
    return [
        candidate(f"ours, window w={w}", ours, lambda: ours(h)),
        candidate("fused kernel with a mask", ours, lambda: peers.window_by_mask(ours, h)),
    ]


def encoder_layer(device: torch.device, *, B: int, T: int, J: int = 256, K: int = 8) -> list[Candidate]:
    """One post-norm encoder layer; torch's is in evaluation, where it has a path of its own for inference."""
    x = torch.randn(B, T, J, device=device)
    ours = Layer(J, K, J // K, 4 * J, bias=True).to(device)
    theirs = peers.torch_encoder_layer(ours).eval()
    return [candidate("ours", ours, lambda: ours(x)), candidate("torch.nn", theirs, lambda: theirs(x))]


def scores(device: torch.device, *, J: int, I: int, T: int, K: int = 8) -> list[Candidate]:  # noqa: E741
    """The scores of one layer with W^Q and W^K apart and as one matrix per head."""
    L = torch.randn(1, T, J, device=device)
    ours = MultiHeadAttention(J, K, U=I, I=I).to(device)
    W = merge_query_key(ours.W_Q, ours.W_K, ours.scale).detach()  # (K, J, J)

    def factored() -> Tensor:
        return ours.scale * ours.queries(L) @ ours.keys_values(L)[0].mT

    def merged() -> Tensor:
        query = nn.functional.linear(L, W.mT.flatten(0, 1)).unflatten(-1, (K, J)).transpose(1, 2)
        return query @ L[:, None].mT

    ratio = score_flops(T, J, I, merged=True) / score_flops(T, J, I, merged=False)
    return [
        Candidate(name="W^Q and W^K", run=factored),
        Candidate(name=f"merged, {ratio:.2f} times the FLOPs", run=merged),
    ]


SIZES = {"V": 1009, "J": 256, "K": 8, "F": 1024, "N": 4}


def language_model(device: torch.device, *, B: int, T: int) -> list[Candidate]:
    """Logits of a decoder of four layers; models that are not GPT-2 differ in details, not in sizes."""
    tokens = torch.randint(SIZES["V"], (B, T), device=device)
    ours, entries = LanguageModel(**SIZES, I=32, T_max=T), []
    if TRANSFORMERS:
        ours, theirs = peers.transformers_gpt2(**SIZES, T=T)
        theirs.to(device)
        entries.append(candidate("transformers, GPT-2", theirs, lambda: theirs(tokens).logits))
    ours.to(device)
    others = {
        "nanoGPT style": peers.NanoGPT(**SIZES, T=T),
        "torch.nn.TransformerEncoder, causal": peers.TorchStack(**SIZES, T=T),
        "x_transformers Decoder, flash": peers.x_transformers_decoder(**SIZES, T=T),
    }
    for name, module in others.items():
        module.to(device)
        entries.append(candidate(name, module, lambda module=module: module(tokens), same=False))
    return [candidate("ours", ours, lambda: ours(tokens)), *entries]


def bert(device: torch.device, *, B: int, T: int) -> list[Candidate]:
    """A masked language model on rows of several lengths, padded."""
    ours, theirs = peers.transformers_bert(**SIZES, T=T)
    ours, theirs = ours.to(device), theirs.to(device)
    tokens = torch.randint(SIZES["V"], (B, T), device=device)
    segments, lengths = torch.zeros_like(tokens), torch.linspace(T // 2, T, B, device=device).long()
    seen = torch.arange(T, device=device) < lengths[:, None]

    def run(logits: Callable[[], Tensor]) -> Callable[[], Tensor]:
        return lambda: logits() * seen[..., None]

    return [
        candidate("ours", ours, run(lambda: ours(tokens, segments, lengths))),
        candidate("transformers, BERT", theirs, run(lambda: theirs(tokens, attention_mask=seen.long()).logits)),
    ]


def generation(device: torch.device, *, B: int, T: int) -> list[Candidate]:
    """T words, greedily, after a prompt of one."""
    from x_transformers import AutoregressiveWrapper

    ours, entries = LanguageModel(**SIZES, I=32, T_max=T + 1), []
    if TRANSFORMERS:
        ours, gpt2 = peers.transformers_gpt2(**SIZES, T=T + 1)
        options = {"max_new_tokens": T, "do_sample": False, "pad_token_id": 0, "eos_token_id": None}
        run = partial(gpt2.to(device).generate, attention_mask=torch.ones(B, 1, device=device).long(), **options)
        entries.append(Candidate(name="transformers, GPT-2, cached", run=lambda: run(prompt)[:, 1:]))
    ours.to(device)
    theirs = AutoregressiveWrapper(peers.x_transformers_decoder(**SIZES, T=T + 1)).to(device)
    prompt = torch.zeros(B, 1, dtype=torch.long, device=device)
    return [
        Candidate(name="ours, cached", run=lambda: ours.generate(prompt, T, temperature=0.0)[:, 1:]),
        Candidate(
            name="ours, not cached",
            run=lambda: ours.generate(prompt, T, temperature=0.0, cached=False)[:, 1:],
        ),
        Candidate(
            name="x_transformers, cached",
            run=lambda: theirs.generate(prompt, T, temperature=0.0, cache_kv=True),
            same=False,
        ),
        *entries,
    ]


# --- all of them ------------------------------------------------------------------------------------------


def contests(*, quick: bool) -> Iterator[Contest]:
    """Yield every task; a quick run has one or two sizes of each."""
    for B, J in [(8, 128)] if quick else [(32, 256), (8, 128), (1, 64)]:
        sizes = {"B": B, "T": 128, "J": J}
        yield Contest(name=f"recurrent, B={B} T=128 K=J={J}", tokens=B * 128, enter=partial(recurrent, **sizes))
        for kind in (VanillaRNN, GRU, LSTM):
            enter = partial(classical, kind=kind, **sizes)
            yield Contest(name=f"{kind.__name__}, B={B} T=128 K=J={J}", tokens=B * 128, enter=enter)
    for B, T in [(16, 128), (2, 1024)] if quick else [(16, 128), (4, 512), (2, 1024)]:
        name = f"causal self-attention, B={B} T={T} J=256 K=8"
        yield Contest(name=name, tokens=B * T, enter=partial(attention, B=B, T=T), memory=T == 1024)
    for X in (16, 32, 64):
        name = f"spatial self-attention, X=Y={X} J=64 K=4"
        yield Contest(name=name, tokens=X * X, enter=partial(spatial, X=X), memory=X == 64 or not quick)
    for X in (32,) if quick else (32, 64):
        for enter in (relative, window):
            name = f"spatial self-attention, {enter.__name__}, X=Y={X} J=64 K=4"
            yield Contest(name=name, tokens=X * X, enter=partial(enter, X=X))
    for B, T in [(8, 128)] if quick else [(8, 128), (2, 512)]:
        name = f"encoder layer, B={B} T={T} J=256 K=8"
        yield Contest(name=name, tokens=B * T, enter=partial(encoder_layer, B=B, T=T))
    for T in (256,) if quick else (64, 256, 1024):
        for I in (32, 128, 256):  # noqa: E741
            name = f"scores, J=256 I={I} T={T} K=8"
            yield Contest(name=name, tokens=T, enter=partial(scores, J=256, I=I, T=T))
    for B, T in [(8, 128)] if quick else [(8, 128), (2, 1024)]:
        name = f"language model, B={B} T={T} J=256 N=4"
        yield Contest(name=name, tokens=B * T, enter=partial(language_model, B=B, T=T), memory=not quick)
    if TRANSFORMERS:
        yield Contest(name="BERT, padded, B=8 T=128 J=256 N=4", tokens=1024, enter=partial(bert, B=8, T=128))
    yield Contest(name="generation, B=1 T=128 J=256 N=4", tokens=128, enter=partial(generation, B=1, T=128))

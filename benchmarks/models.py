"""Our models beside their peers: `python -m benchmarks.models [--quick] [--json FILE] [--only WORD]`.

To reproduce: install the development extra (`pip install -e .[development]`), leave the machine alone, and
run the command; `--quick` takes less than five minutes on two cores. It prints one table per task; `--json`
writes the same numbers to a file. Compare ratios, not milliseconds: a ratio of 2 is a candidate that needs
twice our time in the same run, and a run on another machine gives other times but much the same ratios. Where
there is a GPU, everything runs there too. The last column says how far a candidate's output is from ours in
float32; a dash marks another model.
"""

import argparse
import json
import platform
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor, nn

from benchmarks import peers
from benchmarks.measure import Candidate, Contest, Result, measure
from solutions.attention import MultiHeadAttention, merge_query_key
from solutions.counting import score_flops
from solutions.spatial import AxialAttention, SpatialAttention, WindowAttention
from solutions.transformer import LanguageModel


def candidate(name: str, module: nn.Module, run: Callable[[], Tensor], *, same: bool = True) -> Candidate:
    """Train what the module learns."""
    return Candidate(name=name, run=run, parameters=tuple(module.parameters()), same=same)


# --- tasks ------------------------------------------------------------------------------------------------


def recurrent(device: torch.device, *, B: int, T: int, J: int) -> list[Candidate]:
    """A sequence through one recurrent layer, input as wide as the state."""
    from solutions.rnn import GRU, LSTM, VanillaRNN
    from solutions.ugrnn import UGRNN, TwoGateUGRNN

    x = torch.randn(B, T, J, device=device)
    ours = UGRNN(K=J, J=J).to(device)
    theirs = peers.torchrecurrent_ugrnn(ours)
    entries = [
        candidate("ours, UGRNN", ours, lambda: ours(x)[0]),
        candidate("ours, the equations in a loop", ours, lambda: ours.forward_by_steps(x)[0]),
        candidate("torchrecurrent.UGRNN", theirs, lambda: theirs(x)[0]),
    ]
    others = {f"ours, {kind.__name__}": kind(K=J, J=J) for kind in (TwoGateUGRNN, VanillaRNN, GRU, LSTM)}
    for kind in (nn.RNN, nn.GRU, nn.LSTM):
        others[f"torch.nn.{kind.__name__}"] = kind(J, J, batch_first=True)
    for name, layer in others.items():
        layer.to(device)
        entries.append(candidate(name, layer, lambda layer=layer: layer(x)[0], same=False))
    return entries


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
    window = WindowAttention(J, K, w=3).to(device)
    bias = SpatialAttention(J, K, relative=(X, X)).to(device)
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
        candidate("ours, with relative bias", bias, lambda: bias(h), same=False),
        candidate("ours, axial x then y", axial, lambda: axial(h), same=False),
        candidate("ours, window w=3", window, lambda: window(h), same=False),
    ]


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
    """Logits of a decoder of four layers; the models differ in details, not in sizes."""
    tokens = torch.randint(SIZES["V"], (B, T), device=device)
    ours = LanguageModel(**SIZES, I=32, T_max=T).to(device)
    others = {
        "nanoGPT style": peers.NanoGPT(**SIZES, T=T),
        "torch.nn.TransformerEncoder, causal": peers.TorchStack(**SIZES, T=T),
        "x_transformers Decoder, flash": peers.x_transformers_decoder(**SIZES, T=T),
    }
    entries = [candidate("ours", ours, lambda: ours(tokens))]
    for name, module in others.items():
        module.to(device)
        entries.append(candidate(name, module, lambda module=module: module(tokens), same=False))
    return entries


def generation(device: torch.device, *, B: int, T: int) -> list[Candidate]:
    """T words, greedily, after a prompt of one."""
    from x_transformers import AutoregressiveWrapper

    ours = LanguageModel(**SIZES, I=32, T_max=T + 1).to(device)
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
    ]


# --- the programme ----------------------------------------------------------------------------------------


def contests(*, quick: bool) -> Iterator[Contest]:
    """Yield every task; a quick run has one or two sizes of each."""
    if find_spec("solutions.ugrnn"):
        for B, J in [(8, 128)] if quick else [(32, 256), (8, 128), (1, 64)]:
            enter = partial(recurrent, B=B, T=128, J=J)
            yield Contest(name=f"recurrent, B={B} T=128 K=J={J}", tokens=B * 128, enter=enter)
    for B, T in [(16, 128), (2, 1024)] if quick else [(16, 128), (4, 512), (2, 1024)]:
        name = f"causal self-attention, B={B} T={T} J=256 K=8"
        yield Contest(name=name, tokens=B * T, enter=partial(attention, B=B, T=T), memory=T == 1024)
    for X in (16, 32, 64):
        name = f"spatial self-attention, X=Y={X} J=64 K=4"
        yield Contest(name=name, tokens=X * X, enter=partial(spatial, X=X), memory=X == 64 or not quick)
    for T in (256,) if quick else (64, 256, 1024):
        for I in (32, 128, 256):  # noqa: E741
            name = f"scores, J=256 I={I} T={T} K=8"
            yield Contest(name=name, tokens=T, enter=partial(scores, J=256, I=I, T=T))
    for B, T in [(8, 128)] if quick else [(8, 128), (2, 1024)]:
        name = f"language model, B={B} T={T} J=256 N=4"
        yield Contest(name=name, tokens=B * T, enter=partial(language_model, B=B, T=T), memory=not quick)
    yield Contest(name="generation, B=1 T=128 J=256 N=4", tokens=128, enter=partial(generation, B=1, T=128))


def table(contest: Contest, device: torch.device, results: list[Result]) -> Table:
    """One row per candidate; ratios are to ours, the first."""
    columns = ["candidate", "forward ms", "ratio", "tokens/s", "training ms", "ratio", "tokens/s"]
    if contest.memory:
        columns += ["forward MB", "training MB"]
    out = Table(*columns, "differs by", title=f"{contest.name} on {device.type}", title_justify="left")
    ours = results[0]
    for result in results:
        row = [result.candidate]
        for own, first in ((result.forward_s, ours.forward_s), (result.training_s, ours.training_s)):
            known = own is not None
            row += [f"{own * 1e3:.2f}", f"{own / first:.2f}", f"{result.tokens / own:,.0f}"] if known else ["-"] * 3
        if contest.memory:
            row += ["-" if mb is None else f"{mb:.0f}" for mb in (result.forward_mb, result.training_mb)]
        out.add_row(*row, "-" if result.differs is None else f"{result.differs:.0e}")
    return out


def devices() -> list[torch.device]:
    """The CPU, and CUDA where there is one."""
    return [torch.device("cpu"), *([torch.device("cuda")] if torch.cuda.is_available() else [])]


def machine() -> dict[str, str]:
    """What the numbers depend on besides the code."""
    gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else "none"
    return {
        "torch": torch.__version__,
        "machine": platform.machine(),
        "system": platform.system(),
        "gpu": gpu,
    }


def main() -> None:
    """Run the programme, print tables, write JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.models", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer sizes, fewer rounds")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers there, too")
    parser.add_argument("--only", default="", help="run the tasks whose name contains this")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.backends.cuda.matmul.allow_tf32 = False
    console, record = Console(), []
    for device in devices():
        for contest in contests(quick=options.quick):
            if options.only not in contest.name:
                continue
            results = measure(contest, device, budget=3 if options.quick else 20, rounds=3)
            console.print(table(contest, device, results))
            numbers = [asdict(result) for result in results]
            record.append({"task": contest.name, "device": device.type, "results": numbers})
    if options.json:
        options.json.write_text(json.dumps({"machine": machine(), "tasks": record}, indent=1) + "\n")
        console.print(f"written to {options.json}")


if __name__ == "__main__":
    main()

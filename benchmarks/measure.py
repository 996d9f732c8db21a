"""Time, memory and agreement of several ways to compute one thing.

Other tenants of a machine slow one run down, never up. So candidates take turns, the smallest time of each
counts, and only ratios within one run are worth keeping. On one thread of a CPU the process's own time, on a
GPU the time until the device is done. Memory is that of a fresh process for each candidate on the CPU, the
allocator's peak on a GPU.
"""

import multiprocessing
import os
import random
import re
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """One way: its name, one forward pass, and what training differentiates by (nothing: no training).

    `same=False` marks another model, which need not give what the first candidate gives.
    """

    name: str
    run: Callable[[], Tensor]
    parameters: tuple[Tensor, ...] = ()
    same: bool = True


@dataclass(frozen=True, kw_only=True)
class Contest:
    """Candidates for one task of so many tokens (or positions) a call; `enter` builds them, ours first."""

    name: str
    tokens: int
    enter: Callable[[torch.device], list[Candidate]]
    memory: bool = False


@dataclass(kw_only=True)
class Result:
    """What one candidate needed: seconds, MB; and how far its output is from the first candidate's.

    A spread holds the quartiles of the candidate's time over the first one's in the same turn.
    """

    candidate: str
    forward_s: float
    training_s: float | None
    tokens: int
    differs: float | None
    forward_spread: tuple[float, ...] = ()
    training_spread: tuple[float, ...] = ()
    forward_mb: float | None = None
    training_mb: float | None = None


def forward(candidate: Candidate) -> Tensor:
    """Run without recording a graph."""
    with torch.no_grad():
        return candidate.run()


def training(candidate: Candidate) -> None:
    """Run forward and backward; the cotangent is the output itself, which no symmetry cancels."""
    out = candidate.run()
    torch.autograd.grad(out, candidate.parameters, out.detach())


def seconds(action: Callable[[Candidate], object], candidate: Candidate, device: torch.device) -> float:
    """Return the time of one call."""
    if device.type == "cpu":
        clock = time.process_time if torch.get_num_threads() == 1 else time.perf_counter
        start = clock()
        action(candidate)
        return clock() - start
    accelerator = getattr(torch, device.type)
    accelerator.synchronize()
    start = time.perf_counter()
    action(candidate)
    accelerator.synchronize()
    return time.perf_counter() - start


def measure(contest: Contest, device: torch.device, *, budget: float, rounds: int) -> list[Result]:
    """Let the candidates take turns for `budget` seconds and `rounds` rounds at least; return minima."""
    torch.manual_seed(0)
    candidates = contest.enter(device)
    right = forward(candidates[0])
    results = []
    for candidate in candidates:
        out = forward(candidate)
        differs = float((out - right).abs().max()) if candidate.same else None
        if candidate.parameters:
            training(candidate)  # the first call of everything is not counted
        results.append(
            Result(
                candidate=candidate.name,
                forward_s=float("inf"),
                training_s=float("inf") if candidate.parameters else None,
                tokens=contest.tokens,
                differs=differs,
            )
        )
    _time(candidates, results, device, budget=budget, rounds=rounds)
    if contest.memory:
        for i, result in enumerate(results):
            result.forward_mb = peak(contest, i, "forward", device)
            if result.training_s is not None:
                result.training_mb = peak(contest, i, "training", device)
    return results


def turn(time_of: Callable[[Candidate], float], candidates: list[Candidate], order: random.Random) -> list[float]:
    """Let each run once, in an order drawn anew, and return their times in the order of `candidates`.

    Whoever runs finds the caches as the one before has left them: always behind the same one, the first of two equal
    candidates took an eighth longer.
    """
    times = [float("inf")] * len(candidates)
    for i in order.sample(range(len(candidates)), len(candidates)):
        times[i] = time_of(candidates[i])
    return times


def _time(
    candidates: list[Candidate], results: list[Result], device: torch.device, *, budget: float, rounds: int
) -> None:
    """Fill in the seconds, in turns."""
    turns: dict[str, list[list[float]]] = {"forward": [], "training": []}
    start, order = time.perf_counter(), random.Random(0)
    while len(turns["forward"]) < rounds or time.perf_counter() - start < budget:
        turns["forward"].append(turn(lambda c: seconds(forward, c, device), candidates, order))
        turns["training"].append(
            turn(lambda c: seconds(training, c, device) if c.parameters else float("inf"), candidates, order)
        )
    for n, result in enumerate(results):
        for action, rows in turns.items():
            if getattr(result, f"{action}_s") is None:
                continue
            setattr(result, f"{action}_s", min(row[n] for row in rows))
            ratios = torch.tensor([row[n] / row[0] for row in rows], dtype=torch.float64)
            setattr(result, f"{action}_spread", tuple(ratios.quantile(torch.tensor([0.25, 0.75]).double()).tolist()))


# --- memory -----------------------------------------------------------------------------------------------


def peak(contest: Contest, i: int, action: str, device: torch.device) -> float | None:
    """Return how many MB one call needs beyond its weights and inputs; None where nobody can tell."""
    if device.type == "cpu" and sys.platform != "win32":
        # glibc keeps freed blocks below a threshold that it moves upwards; fixed, what is freed is returned.
        os.environ["MALLOC_MMAP_THRESHOLD_"] = "65536"
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["torch", "benchmarks.peers"])
        with context.Pool(1) as pool:
            return pool.apply(_resident, (contest, i, action))
    if device.type == "cuda":
        return _allocated(contest, i, action, device)
    return None


def _call(contest: Contest, i: int, action: str, device: torch.device) -> Callable[[], object]:
    torch.manual_seed(0)
    candidate = contest.enter(device)[i]
    return lambda: (forward if action == "forward" else training)(candidate)


def _resident(contest: Contest, i: int, action: str) -> float:
    torch.set_num_threads(1)
    call = _call(contest, i, action, torch.device("cpu"))
    if sys.platform != "linux":
        before = _peak_mb()
        call()
        return _peak_mb() - before
    call()  # what a first call loads is not counted: the kernel can forget a peak, elsewhere it stays
    Path("/proc/self/clear_refs").write_text("5")
    before = _peak_mb()
    call()
    return _peak_mb() - before


def _peak_mb() -> float:
    if sys.platform == "linux":
        (line,) = re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
        return int(line) / 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20  # macOS counts bytes


def _allocated(contest: Contest, i: int, action: str, device: torch.device) -> float:
    call = _call(contest, i, action, device)
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    call()
    torch.cuda.synchronize()
    return (torch.cuda.max_memory_allocated() - before) / 2**20

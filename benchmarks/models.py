"""Our models beside their peers: `python -m benchmarks.models [--quick] [--json FILE] [--only WORD] [--threads N]`.

To reproduce: install the extras (`pip install -e .[development,published]`; without the second, Hugging Face's models
are left out), leave the machine alone, and run the command; `--quick` takes some minutes on two cores. It prints one
table per task; `--json` writes the same numbers to a file. Compare ratios, not milliseconds: a ratio of 2 is a
candidate that needs twice our time in the same run, and a run on another machine gives other times but much the same
ratios. The candidates take turns; a ratio is that of the smallest times, and in brackets stand the quartiles of the
ratios of the single turns: how far to trust it. Where there is a GPU, everything runs there too. The last column says
how far a candidate's output is from ours in float32; a dash marks another model.
"""

import argparse
import json
import platform
from dataclasses import asdict
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table

from benchmarks.contests import contests
from benchmarks.measure import Contest, Result, measure


def table(contest: Contest, device: torch.device, results: list[Result]) -> Table:
    """One row per candidate; ratios are to ours, the first."""
    columns = ["candidate", "forward ms", "ratio", "tokens/s", "training ms", "ratio", "tokens/s"]
    if contest.memory:
        columns += ["forward MB", "training MB"]
    out = Table(*columns, "differs by", title=f"{contest.name} on {device.type}", title_justify="left")
    ours = results[0]
    for result in results:
        row = [result.candidate]
        for action in ("forward", "training"):
            own, first = (getattr(each, f"{action}_s") for each in (result, ours))
            spread = " … ".join(f"{ratio:.2f}" for ratio in getattr(result, f"{action}_spread"))
            ratio = None if own is None else f"{own / first:.2f}" + (f" ({spread})" if result is not ours else "")
            row += ["-"] * 3 if own is None else [f"{own * 1e3:.2f}", ratio, f"{result.tokens / own:,.0f}"]
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
    parser.add_argument(
        "--threads", type=int, default=1, metavar="N", help="of the processor; more are timed by the wall"
    )
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
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

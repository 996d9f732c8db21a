"""Train the reference models on tasks that show whether they learn.

    python -m solutions.training --list                      what there is, and what each task must reach
    python -m solutions.training characters --plot loss.png  one task, its progress and a picture of its loss
    python -m solutions.training --table --seeds 5           all tasks: seconds, figures over seeds, goals

The exit code is 1 if a goal is missed. Training is deterministic: a seed draws the same data and the same
initial parameters each time, and leaves torch's global generator as it was.
"""

import argparse
import math
import operator
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn

from solutions.layers import clip_gradient
from solutions.pictures import learning_curves
from solutions.progress import progress_bar
from solutions.tasks import TASKS, Task

COMPARISONS = {"<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge}


@dataclass(frozen=True, kw_only=True)
class Run:
    """What training gave: the task's figures with `steps` and `seconds`, every step's loss, a sample, the model."""

    figures: Mapping[str, float]
    losses: Sequence[float]
    sample: str = ""
    model: nn.Module | None = None


def train(
    task: Task,
    seed: int = 0,
    *,
    steps: int | None = None,
    device: torch.device | str = "cpu",
    progress: bool | str = False,
) -> Run:
    """Train for `steps`, or the task's own number, with the rate falling linearly in the last half.

    Stops at a loss that is not finite or a million times the first one: the figure `steps` then tells when.
    `progress` shows a bar, under that label if it is one.
    """
    steps, device = task.steps if steps is None else steps, torch.device(device)
    begin = time.process_time()
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)  # torch.manual_seed would seed every GPU's as well, for good
        experiment = task.build(torch.Generator().manual_seed(seed), device)
    optimizer = experiment.optimizer(experiment.model.parameters(), lr=task.rate)
    losses: list[float] = []
    with progress_bar(steps, progress) as advance:
        for step in range(steps):
            optimizer.param_groups[0]["lr"] = task.rate * min(1.0, 2 * (1 - step / steps))
            loss = experiment.loss()
            losses.append(loss.item())
            if not losses[-1] < 1e6 * losses[0]:  # also true of NaN
                break
            optimizer.zero_grad()
            loss.backward()
            if task.clip is not None:
                clip_gradient(experiment.model.parameters(), task.clip)
            optimizer.step()
            advance(losses[-1])
    experiment.model.eval()
    with torch.no_grad():
        figures = dict(experiment.measure())
        sample = experiment.sample() if experiment.sample else ""
    figures |= {"steps": float(len(losses)), "seconds": time.process_time() - begin}
    return Run(figures=figures, losses=losses, sample=sample, model=experiment.model)


def missed(goal: Iterable[str], figures: Mapping[str, float]) -> list[str]:
    """The lines of a goal that the figures miss, each with what was reached. NaN reaches nothing."""
    lines = []
    for line in goal:
        name, comparison, bound = line.split()
        if not COMPARISONS[comparison](figures[name], float(bound)):
            lines.append(f"{line}: reached {figures[name]:.4f}")
    return lines


def plot(run: Run, title: str, path: Path) -> None:
    """A picture of the loss at every step, its running mean, and the known levels."""
    learning_curves({"loss": run}, title).savefig(path, dpi=120)


def span(values: Sequence[float]) -> str:
    """Smallest and largest of some figures, as 0.008..0.013; as one number if they are written alike."""
    low, high = f"{min(values):.3f}", f"{max(values):.3f}"
    return low if low == high else f"{low}..{high}"


def table(seeds: int, device: str, names: Iterable[str]) -> bool:
    """Run tasks over several seeds and print a row for each; true if every goal was reached by every seed."""
    print("| task | CPU s | figures, min..max over seeds | goal | reached |")
    print("| --- | --- | --- | --- | --- |")
    good = True
    for name in names:
        task = TASKS[name]
        runs = [train(task, seed, device=device) for seed in range(seeds)]
        reached = sum(not missed(task.goal, run.figures) for run in runs)
        good &= reached == seeds
        figures = {key: span([run.figures[key] for run in runs]) for key in runs[0].figures}
        seconds = max(run.figures["seconds"] for run in runs)
        hidden = {"seconds", "steps"} - {line.split()[0] for line in task.goal}
        shown = "; ".join(f"{key} {value}" for key, value in figures.items() if key not in hidden)
        print(f"| {name} | {seconds:.1f} | {shown} | {', '.join(task.goal)} | {reached}/{seeds} |", flush=True)
    return good


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; see the top of this file."""
    parser = argparse.ArgumentParser(prog="python -m solutions.training", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("task", nargs="?", choices=TASKS, metavar="TASK", help="a name that --list shows")
    parser.add_argument("--list", action="store_true", help="show the tasks and their goals")
    parser.add_argument("--table", action="store_true", help="run all tasks (or TASK) over --seeds seeds")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=5, metavar="N", help="for --table: seeds 0 … N-1")
    parser.add_argument("--steps", type=int, help="instead of the task's own number")
    parser.add_argument("--plot", type=Path, metavar="FILE.png", help="draw the loss")
    parser.add_argument("--device", default="cpu", help="cpu, cuda, mps")
    parser.add_argument("--threads", type=int, default=1, help="of the processor; one is best for models this small")
    options = parser.parse_args(arguments)

    torch.set_num_threads(options.threads)
    if options.list:
        width = max(map(len, TASKS))
        for name, task in TASKS.items():
            print(f"{name:{width}}  {task.summary}\n{'':{width}}  goal: {', '.join(task.goal)}")
        return 0
    if options.table:
        return 0 if table(options.seeds, options.device, [options.task] if options.task else TASKS) else 1
    if options.task is None:
        parser.error("name a task, or --list, or --table")

    task = TASKS[options.task]
    run = train(task, options.seed, steps=options.steps, device=options.device, progress=True)
    for name, value in run.figures.items():
        print(f"{name:10} {value:.4f}" if math.isfinite(value) else f"{name:10} {value}")
    if run.sample:
        print(f"sample:\n{run.sample}")
    if options.plot:
        plot(run, f"{options.task}: {task.summary}", options.plot)
        print(f"loss drawn in {options.plot}")
    failures = missed(task.goal, run.figures)
    print("goal reached" if not failures else "goal missed: " + "; ".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())

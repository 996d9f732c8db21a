"""Train the reference models on tasks that show whether they learn.

    python -m solutions.training --list                      what there is, and what each task must reach
    python -m solutions.training characters --plot loss.png  one task, its progress and pictures: loss, attention
    python -m solutions.training --table --seeds 5           all tasks: seconds, figures over seeds, goals

    --device cuda --precision bf16 --compile                 on a GPU, in autocast, through torch.compile
    --save run.pt       and later       --resume run.pt      to stop and go on, to the same losses

The exit code is 1 if a goal is missed. Training is deterministic: a seed draws the same data and the same
initial parameters each time, and leaves torch's global generators as they were. Seconds are those of the
processor, or of the GPU's own clock.
"""

import argparse
import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

import torch

from solutions.learning import Run, train
from solutions.pictures import heat_maps, learning_curves
from solutions.tasks import TASKS

PRECISIONS = {"float32": torch.float32, "bf16": torch.bfloat16}
COMPARISONS = {"<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge}


def missed(goal: Iterable[str], figures: Mapping[str, float]) -> list[str]:
    """The lines of a goal that the figures miss, each with what was reached. NaN reaches nothing."""
    lines = []
    for line in goal:
        name, comparison, bound = line.split()
        if not COMPARISONS[comparison](figures[name], float(bound)):
            lines.append(f"{line}: reached {figures[name]:.4f}")
    return lines


def plot(run: Run, title: str, path: Path) -> list[Path]:
    """A picture of the loss at every step, its running mean, and the known levels; beside it, of attention weights."""
    learning_curves({"loss": run}, title).savefig(path, dpi=120)
    if run.maps is None:
        return [path]
    with torch.no_grad():
        maps = run.maps()
    second = path.with_stem(f"{path.stem}-attention")
    heat_maps(maps).savefig(second, dpi=120)
    return [path, second]


def span(values: Sequence[float]) -> str:
    """Smallest and largest of some figures, as 0.008..0.013; as one number if they are written alike."""
    low, high = f"{min(values):.3f}", f"{max(values):.3f}"
    return low if low == high else f"{low}..{high}"


HEADER = "| task | seconds | figures, min..max over seeds | goal | reached |\n| --- | --- | --- | --- | --- |"


def row(name: str, runs: Sequence[Run]) -> tuple[str, bool]:
    """A row of the table for the runs of a task, one for each seed, and whether every run reached the goal."""
    goal = TASKS[name].goal
    reached = sum(not missed(goal, run.figures) for run in runs)
    figures = {key: span([run.figures[key] for run in runs]) for key in runs[0].figures}
    seconds = max(run.figures["seconds"] for run in runs)
    hidden = {"seconds", "steps"} - {line.split()[0] for line in goal}
    shown = "; ".join(f"{key} {value}" for key, value in figures.items() if key not in hidden)
    return f"| {name} | {seconds:.1f} | {shown} | {', '.join(goal)} | {reached}/{len(runs)} |", reached == len(runs)


def table(seeds: int, learn: Callable[..., Run], names: Iterable[str]) -> bool:
    """Run tasks over several seeds and print a row for each; true if every goal was reached by every seed."""
    print(HEADER)
    good = True
    for name in names:
        line, reached = row(name, [learn(TASKS[name], seed) for seed in range(seeds)])
        good &= reached
        print(line, flush=True)
    return good


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m solutions.training", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("task", nargs="?", choices=TASKS, metavar="TASK", help="a name that --list shows")
    parser.add_argument("--list", action="store_true", help="show the tasks and their goals")
    parser.add_argument("--table", action="store_true", help="run all tasks (or TASK) over --seeds seeds")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=5, metavar="N", help="for --table: seeds 0 … N-1")
    parser.add_argument("--steps", type=_steps, metavar="N", help="instead of the task's own number")
    parser.add_argument("--plot", type=Path, metavar="FILE.png", help="draw the loss, and attention weights beside it")
    parser.add_argument("--device", default="cpu", help="cpu, cuda, mps")
    parser.add_argument("--precision", choices=PRECISIONS, default="float32", help="bf16: in autocast")
    parser.add_argument("--compile", nargs="?", const="inductor", metavar="BACKEND", help="train through torch.compile")
    parser.add_argument("--save", type=Path, metavar="FILE", help="keep the run there, every hundred steps")
    parser.add_argument("--resume", type=Path, metavar="FILE", help="go on from what --save kept")
    parser.add_argument("--threads", type=int, default=1, help="of the processor; one is best for models this small")
    return parser


def _steps(text: str) -> int:
    """A number of steps, which may be none."""
    steps = int(text)
    if steps < 0:
        raise argparse.ArgumentTypeError("cannot be negative")
    return steps


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; see the top of this file."""
    parser = _parser()
    options = parser.parse_args(arguments)
    torch.set_num_threads(options.threads)
    if options.list:
        width = max(map(len, TASKS))
        for name, task in TASKS.items():
            print(f"{name:{width}}  {task.summary}\n{'':{width}}  goal: {', '.join(task.goal)}")
        return 0
    precision = PRECISIONS[options.precision]
    learn = partial(train, steps=options.steps, device=options.device, precision=precision, backend=options.compile)
    names = [options.task] if options.task else TASKS
    if options.table:
        return 0 if table(options.seeds, learn, names) else 1
    if options.task is None:
        parser.error("name a task, or --list, or --table")
    return _one(parser, options, learn)


def _one(parser: argparse.ArgumentParser, options: argparse.Namespace, learn: Callable[..., Run]) -> int:
    """Train one task, print and draw what there is to see."""
    task = TASKS[options.task]
    try:
        run = learn(task, options.seed, save=options.save, resume=options.resume, progress=True)
    except (OSError, ValueError) as error:  # the file to go on from
        if options.resume is None:
            raise
        parser.error(f"--resume: {error}")
    for name, value in run.figures.items():
        print(f"{name:10} {value:.4f}" if math.isfinite(value) else f"{name:10} {value}")
    if run.sample:
        print(f"sample:\n{run.sample}")
    if options.plot:
        drawn = plot(run, f"{options.task}: {task.summary}", options.plot)
        print(f"drawn: {', '.join(map(str, drawn))}")
    failures = missed(task.goal, run.figures)
    print("goal reached" if not failures else "goal missed: " + "; ".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())

"""How the models learn, as pictures and figures: writes docs/training.md and docs/training/.

    python -m benchmarks.curves [--seeds 5] [KIND ...]

A kind is a task and its controls (`solutions.tasks.kind`). Each is written as soon as it is trained, so that a run may
be interrupted, or be of a few kinds only. The picture shows the first seed, the rows all of them.
"""

import argparse
from pathlib import Path

import torch

from benchmarks.pages import written
from solutions.learning import Run, train
from solutions.pictures import learning_curves
from solutions.tasks import TASKS, kind
from solutions.training import HEADER, row

PAGE = Path(__file__).parent.parent / "docs" / "training.md"
KINDS = tuple(dict.fromkeys(map(kind, TASKS)))


def section(name: str, runs: dict[str, list[Run]]) -> str:
    """What the page says about a kind: the picture, what each task is, its figures."""
    about = "\n".join(f"- `{task}`: {TASKS[task].summary}" for task in runs)
    rows = "\n".join(row(task, each)[0] for task, each in runs.items())
    return f"![The loss of {', '.join(runs)} while training](training/{name}.png)\n\n{about}\n\n{HEADER}\n{rows}\n"


def write(name: str, seeds: int) -> None:
    """Train a kind, draw it, and put it into the page."""
    runs = {task: [train(TASKS[task], seed) for seed in range(seeds)] for task in TASKS if kind(task) == name}
    folder = PAGE.with_suffix("")
    folder.mkdir(exist_ok=True)
    picture = learning_curves({task: each[0] for task, each in runs.items()}, single=False)
    picture.savefig(folder / f"{name}.png", dpi=70)
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(written(page, {name: section(name, runs)}), encoding="utf-8")
    print(f"{name}: written to {PAGE.name}", flush=True)


def main() -> None:
    """Write the page, or some of it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.curves", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"all, or some of {', '.join(KINDS)}")
    parser.add_argument("--seeds", type=int, default=5, metavar="N")
    options = parser.parse_args()
    if unknown := set(options.kinds) - set(KINDS):
        parser.error(f"no kind of task: {', '.join(sorted(unknown))}")
    torch.set_num_threads(1)  # one is best for models this small
    for name in options.kinds or KINDS:
        write(name, options.seeds)


if __name__ == "__main__":
    main()

"""Pictures of training: how the loss falls, and maps of attention weights or gates.

Nothing here touches pyplot's state: a figure is returned, and a notebook shows it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import torch
from torch import Tensor

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEVELS = ("bayes", "uniform", "ln2", "bigram", "left", "variance")  # figures that are drawn as levels
STYLES = ("--", ":", "-.", "--", ":", "-.")


@runtime_checkable
class Curve(Protocol):
    """What is drawn of a run: the loss at every step, and figures among which may be known levels."""

    losses: Sequence[float]
    figures: Mapping[str, float]


def running_mean(losses: Sequence[float], share: float = 0.1) -> list[float]:
    """Each loss mixed with the mean of those before it."""
    mean, smooth = losses[0] if losses else 0.0, []
    for loss in losses:
        mean += share * (loss - mean)
        smooth.append(mean)
    return smooth


def learning_curves(runs: Mapping[str, Curve], title: str = "", *, single: bool = True) -> Figure:
    """The running mean of each run's loss, over every `single` loss, and the levels that the first run knows."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4), layout="constrained")
    losses = [loss for run in runs.values() for loss in run.losses] or [1.0]
    wide = 0 < min(losses) < max(losses) / 10  # more than a factor of ten, and nothing below zero
    axes = figure.add_subplot(title=title, xlabel="step", ylabel="loss", yscale="log" if wide else "linear")
    for number, (name, run) in enumerate(runs.items()):
        if single:
            axes.plot(run.losses, color=f"C{number}", linewidth=1, alpha=0.25)
        width = 2 if number else 5  # so that the first one is seen under another that is the same
        axes.plot(running_mean(run.losses), color=f"C{number}", label=name, linewidth=width)
    first = next(iter(runs.values()))
    for name, style in zip(LEVELS, STYLES, strict=True):
        if name in first.figures:
            axes.axhline(first.figures[name], color="0.3", linestyle=style, linewidth=1, label=name)
    axes.legend()
    return figure


def heat_maps(
    maps: Mapping[str, Tensor],
    *,
    x: str = "",
    y: str = "",
    columns: Sequence[str] = (),
    rows: Sequence[str] = (),
    highest: int | float | None = None,
) -> Figure:
    """Matrices side by side, by their titles; from 0 to `highest`, or to the largest entry of all.

    `columns` and `rows` are labels of the entries.
    """
    from matplotlib.figure import Figure

    shown = {title: matrix.detach().float().cpu() for title, matrix in maps.items()}
    highest = max(float(matrix.max()) for matrix in shown.values()) if highest is None else highest
    lowest = min(0.0, *(float(matrix.min()) for matrix in shown.values()))
    tall = max(matrix.shape[0] / max(matrix.shape[1], 1) for matrix in shown.values())
    width = min(12.0, 4.2 * len(shown))
    height = min(6.0, max(2.8, tall * width / len(shown)))
    figure = Figure(figsize=(width, height), layout="constrained")
    for number, (title, matrix) in enumerate(shown.items()):
        axes = figure.add_subplot(1, len(shown), number + 1, xlabel=x, ylabel="" if number else y)
        axes.set_title(title, fontsize=12 if len(shown) < 4 else 9)
        image = axes.imshow(matrix.numpy(), vmin=lowest, vmax=highest, cmap="viridis", aspect="auto")
        axes.locator_params(integer=True)  # there is no entry between two
        if columns:
            axes.set_xticks(range(len(columns)), columns)
            if max(map(len, columns)) > 2:
                axes.tick_params(axis="x", rotation=90)
        if rows:
            axes.set_yticks(range(len(rows)), rows if not number else [""] * len(rows))
    figure.colorbar(image, ax=figure.axes, shrink=0.9)
    return figure


def parameter_bars(counts: Mapping[str, Mapping[str, int]]) -> Figure:
    """Counts by kind, one bar for each model, the kinds on top of each other."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 0.6 + 0.6 * len(counts)), layout="constrained")
    axes = figure.add_subplot(xlabel="parameters, millions")
    kinds = list(dict.fromkeys(kind for count in counts.values() for kind in count))
    left = torch.zeros(len(counts))
    for number, kind in enumerate(kinds):
        wide = torch.tensor([count.get(kind, 0) / 1e6 for count in counts.values()])
        axes.barh(list(counts), wide.tolist(), left=left.tolist(), color=f"C{number}", label=kind.replace("_", " "))
        left += wide
    axes.invert_yaxis()
    axes.legend(ncols=len(kinds), loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False)
    return figure

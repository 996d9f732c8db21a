"""Pictures of training show what they are given: curves on a fitting scale, maps on one common scale."""

import pytest
import torch

from solutions.pictures import heat_maps, learning_curves, parameter_bars
from solutions.progress import progress_bar
from solutions.training import Run


@pytest.mark.parametrize(
    ("losses", "scale"),
    [([2.0, 1.5, 1.2], "linear"), ([2.0, 0.1, 0.01], "log"), ([1.0, -0.5], "linear"), ([1.0, 1e30], "log")],
)
def test_the_scale_fits_the_losses(losses, scale):
    """Logarithmic over more than a factor of ten, if nothing is negative."""
    (axes,) = learning_curves({"run": Run(figures={"bayes": 0.2}, losses=losses)}, "title").axes
    assert axes.get_yscale() == scale
    assert axes.get_title() == "title"


def test_each_run_and_each_level_has_a_label():
    """Levels are those that the first run knows."""
    runs = {
        "one": Run(figures={"bayes": 0.2, "accuracy": 1.0}, losses=[1.0, 0.5]),
        "two": Run(figures={}, losses=[2.0]),
    }
    (axes,) = learning_curves(runs).axes
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["one", "two", "bayes"]


def test_maps_have_one_scale():
    """Colours mean the same in all maps of a picture; negative entries widen the scale."""
    maps = {"a": torch.tensor([[0.0, 1.0]]), "b": torch.tensor([[-2.0], [3.0]], requires_grad=True)}
    figure = heat_maps(maps, x="x", y="y", rows=("p",))
    shown = [axes for axes in figure.axes if axes.images]
    assert [axes.get_title() for axes in shown] == ["a", "b"]
    assert {axes.images[0].get_clim() for axes in shown} == {(-2.0, 3.0)}
    assert heat_maps({"a": torch.rand(3, 3)}, highest=1).axes[0].images[0].get_clim() == (0.0, 1.0)


def test_bars_are_as_long_as_the_counts():
    """The kinds of one model stand on top of each other."""
    (axes,) = parameter_bars({"m": {"embedding": 2_000_000, "attention": 3_000_000}}).axes
    assert [(bar.get_x(), bar.get_width()) for bar in axes.patches] == [(0.0, 2.0), (2.0, 3.0)]


@pytest.mark.parametrize(("shown", "said"), [(False, ""), (True, "loss=0.5000"), ("answer", "answer: ")])
def test_a_bar_in_a_terminal(shown, said, capsys):
    """It says its label and the last loss, on the error stream; or nothing."""
    with progress_bar(2, shown) as step:
        step(1.0)
        step(0.5)
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err and bool(err) == bool(shown)

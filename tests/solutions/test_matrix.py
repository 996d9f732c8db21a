"""The engineering matrix: every cell is green or has its reason, and a fault in a model is seen."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from solutions import matrix
from solutions.everyday import CHECKS, build, equal
from solutions.examples import EXAMPLES, Example
from solutions.matrix import COMPILED, REASONS, outcome

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("model", EXAMPLES)
def test_every_model_is_kept_narrowed_and_differentiated(model):
    """What needs no compiler holds of every model."""
    cells = {check: outcome(model, check) for check in CHECKS}
    assert cells == dict.fromkeys(CHECKS, "✓")


def compiled(*models):
    """The command in a process of its own: a compiler would see the checks of shapes as part of the models."""
    command = [sys.executable, "-m", "solutions.matrix", *models]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)


def test_a_recurrence_is_compiled_and_exported_for_any_length():
    """One model in the first tier; the row has a ✓ in every cell."""
    run = compiled("UGRNN")
    assert run.returncode == 0, run.stdout + run.stderr
    (row,) = [line for line in run.stdout.splitlines() if line.startswith("| UGRNN")]
    assert row.count("✓") == len(CHECKS) + len(COMPILED)


@pytest.mark.compiler
@pytest.mark.timeout(1800)
def test_every_model_is_compiled_and_exported():
    """The whole table: no cell fails, and each reason is true."""
    run = compiled()
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.count("✓") == len(EXAMPLES) * len(CHECKS | COMPILED) - len(REASONS)


class Silent(torch.autograd.Function):
    """x² with a first derivative that cannot be differentiated, and does not say so."""

    @staticmethod
    def forward(ctx, x):
        """Square."""
        ctx.x = x.detach()
        return x * x

    @staticmethod
    def backward(ctx, g):
        """2 x, as a constant."""
        return 2 * ctx.x * g


class Faulty(torch.nn.Module):
    """Its second derivative is zero, its dropout never ends, its table stays behind."""

    def __init__(self):
        super().__init__()
        self.W = torch.nn.Parameter(torch.randn(5, 5))

    def forward(self, x):
        """One step."""
        return Silent.apply(x @ self.W)


@pytest.mark.parametrize(
    ("check", "said"), [("hvp", "differs by"), ("grad", "setup_context"), ("functional", "✓"), ("no rows", "✓")]
)
def test_a_fault_is_seen(check, said, monkeypatch):
    """A model whose second derivative is silently wrong, as the UGRNN's once was, has no green cell there."""
    example = Example(make=Faulty, arguments=lambda B, T: (torch.randn(B, T, 5),), axes=(("B", "T", ""),))
    monkeypatch.setattr(matrix, "EXAMPLES", {"faulty": example})
    assert said in outcome("faulty", check)


def test_a_reason_that_is_not_true_is_seen(monkeypatch):
    """A cell that holds must have none."""
    monkeypatch.setattr(matrix, "REASONS", {("GRU", "saved"): "it cannot be saved"})
    assert outcome("GRU", "saved") == "✗ holds, though it is said that it cannot be saved"


def test_reasons_name_what_there_is():
    """Models and checks of the table."""
    assert all(model in EXAMPLES and check in COMPILED for model, check in REASONS)


@pytest.mark.parametrize("model", EXAMPLES)
def test_an_example_says_which_axes_are_which(model):
    """Batch and length stand where the example says, and nowhere else."""
    example = EXAMPLES[model]
    one, other = example.arguments(2, 13), example.arguments(3, 17)
    for x, y, axes in zip(one, other, example.axes, strict=True):
        assert len(axes) == x.dim()
        assert [a != b for a, b in zip(x.shape, y.shape, strict=True)] == [bool(name) for name in axes]


def test_equal_can_fail():
    """Shapes count, and so do numbers."""
    one = torch.ones(2, 1)
    with pytest.raises(AssertionError):
        equal([one], [torch.ones(2)])
    with pytest.raises(AssertionError, match="differs"):
        equal([one], [one + 1e-6])
    assert torch.equal(*(next(build(EXAMPLES["GRU"]).parameters()) for _ in range(2)))


def test_the_command_names_what_it_does_not_know(capsys):
    """A model that is none is an error of the command line."""
    with pytest.raises(SystemExit):
        matrix.main(["GRUU"])
    assert "no model is named GRUU; there are VanillaRNN" in capsys.readouterr().err

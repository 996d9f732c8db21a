"""The training tasks reach their goals, the controls fail as they must, and the command line says so."""

import math
import re

import pytest
import torch

from solutions import training
from solutions.tasks import TASKS, kind
from solutions.training import main, missed, plot, span, train

QUICK = "control_not_clipped"  # stops after a few steps


@pytest.mark.training
@pytest.mark.parametrize("name", TASKS)
def test_task_reaches_its_goal(name):
    """Seed 0 reaches the goal; tasks named control_… have goals that say how they fail."""
    run = train(TASKS[name])
    assert missed(TASKS[name].goal, run.figures) == []


def test_training_is_a_function_of_its_seed():
    """Equal seeds give equal losses to the last bit, another seed others; torch's generator is left alone."""
    losses = []
    for seed in (3, 3, 4):
        torch.manual_seed(len(losses))  # what the global generator holds must not matter
        state = torch.get_rng_state()
        losses.append(train(TASKS["markov_ugrnn"], seed, steps=5).losses)
        assert torch.equal(torch.get_rng_state(), state)
    one, same, other = losses
    assert one == same != other


def test_every_control_is_the_control_of_a_task():
    """A control names what fails without what: there is a task of the same kind that succeeds."""
    for name, task in TASKS.items():
        assert task.summary
        assert task.goal
        if name.startswith("control_"):
            assert any(kind(other) == kind(name) for other in TASKS if not other.startswith("control_"))


@pytest.mark.parametrize(
    ("line", "value", "reached"),
    [
        ("loss < 0.5", 0.4, True),
        ("loss < 0.5", 0.5, False),
        ("loss <= 0.5", 0.5, True),
        ("loss > 0.5", 0.6, True),
        ("loss >= 0.5", 0.4, False),
        ("loss > -0.5", -0.4, True),
        ("loss < 0.5", math.nan, False),
        ("loss > 0.5", math.nan, False),
    ],
)
def test_missed(line, value, reached):
    """A goal's line is a comparison; NaN reaches nothing; a line that is missed says what was reached."""
    lines = missed([line], {"loss": value})
    assert lines == ([] if reached else [f"{line}: reached {value:.4f}"])


def test_span():
    """Equal figures are written once."""
    assert span([0.5, 0.5001]) == "0.500"
    assert span([0.2, 0.1, 0.3]) == "0.100..0.300"


def test_plot_draws_the_loss_and_the_levels(tmp_path):
    """A picture is written for any run: with a level, with negative losses, with exploding ones."""
    for n, losses in enumerate(([1.0, 0.5, 0.25], [1.0, -0.5], [1.0, 1e30])):
        path = tmp_path / f"{n}.png"
        plot(training.Run(figures={"bayes": 0.2}, losses=losses), "title", path)
        assert path.read_bytes().startswith(b"\x89PNG")


def test_command_trains_one_task(capsys, tmp_path):
    """A task prints its figures and that the goal is reached, draws its loss, and exits with 0."""
    picture = tmp_path / "loss.png"
    assert main([QUICK, "--plot", str(picture)]) == 0
    assert picture.exists()
    assert re.search(r"mse +nan", out := capsys.readouterr().out)
    assert "goal reached" in out


@pytest.mark.parametrize("name", ["lookup", "behind_turned", "reverse_transformer", "captions", "copy_attention_8"])
def test_attention_is_drawn_beside_the_loss(name, capsys, tmp_path):
    """Maps of what the model attends to: non-negative, and each row of a matrix sums to one."""
    run = train(TASKS[name], steps=1)
    with torch.no_grad():
        maps = run.maps()
    for alpha in maps.values():
        assert alpha.dim() == 2 and alpha.min() >= 0
        total = alpha.sum(1) if name not in ("lookup", "captions") else alpha.sum()
        torch.testing.assert_close(total.cpu(), torch.ones_like(total.cpu()))
    drawn = plot(run, name, tmp_path / "loss.png")
    assert [path.name for path in drawn] == ["loss.png", "loss-attention.png"] and all(p.exists() for p in drawn)


def test_a_run_is_saved_and_resumed(capsys, tmp_path):
    """--save and --resume, in two commands; a file of another task ends with a sentence."""
    file = str(tmp_path / "run.pt")
    main(["pairs", "--steps", "2", "--save", file])
    main(["pairs", "--steps", "3", "--resume", file])
    assert "steps      3.0000" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["captions", "--resume", file])
    assert "holds a run of task" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["pairs", "--resume", str(tmp_path / "none.pt")])
    assert "No such file" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["markov_gru", "characters", "characters_transformer"])
def test_language_models_say_their_perplexity(name):
    """exp of the loss per word."""
    figures = train(TASKS[name], steps=1).figures
    assert figures["perplexity"] == pytest.approx(math.exp(figures.get("unseen", figures.get("loss"))))


@pytest.mark.parametrize("name", ["characters", "characters_transformer", "copy_attention_8", "captions"])
def test_some_tasks_show_what_the_model_does(name, capsys):
    """After one step a sample is printed: letters, copies, or descriptions."""
    main([name, "--steps", "1"])
    sample = capsys.readouterr().out.split("sample:\n")[1].split("goal missed")[0]
    assert len(sample) > 30


def test_command_exits_with_one_if_the_goal_is_missed(capsys):
    """Too few steps: the line that is missed is printed with the figure."""
    assert main(["pairs", "--steps", "1"]) == 1
    assert "goal missed: accuracy > 0.97: reached 0." in capsys.readouterr().out


def test_command_lists_every_task(capsys):
    """--list names each task with its goal."""
    assert main(["--list"]) == 0
    out = capsys.readouterr().out
    assert all(name in out and ", ".join(task.goal) in out for name, task in TASKS.items())


def test_command_prints_the_table(capsys):
    """--table gives smallest and largest figures over seeds, and how many seeds reached the goal."""
    assert main([QUICK, "--table", "--seeds", "2"]) == 0
    assert re.search(
        rf"\| {QUICK} \| .* \| mse nan; variance 1.000; steps 2.000 \| steps < 20 \| 2/2 \|",
        capsys.readouterr().out,
    )


@pytest.mark.parametrize("arguments", [[], ["no_such_task"]])
def test_command_without_a_known_task(arguments, capsys):
    """No task, or a name that is none, is an error of the command line."""
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 2
    assert "task" in capsys.readouterr().err.lower()

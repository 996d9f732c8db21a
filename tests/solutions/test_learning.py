"""The loop that trains: saved and gone on with, in half precision, compiled, and without waiting for the device."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from solutions import learning
from solutions.learning import EVERY, Training, train
from solutions.tasks import TASKS

QUICK = replace(TASKS["pairs"], steps=40)


def parameters(run: learning.Run) -> list[torch.Tensor]:
    """What was learned."""
    return list(run.model.parameters())


@pytest.fixture(scope="module")
def whole():
    """Forty steps without interruption."""
    return train(QUICK, 3)


@pytest.mark.parametrize("stop", [1, EVERY, 39, 40])
def test_a_saved_run_goes_on_to_the_same_losses(stop, whole, tmp_path):
    """Interrupted anywhere, also after the last step: every loss, every parameter, every figure is equal to the bit."""
    file = tmp_path / "run.pt"
    with learning.own_randomness(3, torch.device("cpu")):
        training = Training(QUICK, 3, torch.device("cpu"))
        training.losses = [training.step(n, 40).item() for n in range(stop)]
        training.save(file)
    again = train(QUICK, 3, resume=file)
    assert again.losses == whole.losses and len(again.losses) == 40
    assert all(map(torch.equal, parameters(again), parameters(whole)))
    assert {**again.figures, "seconds": 0} == {**whole.figures, "seconds": 0}


def test_a_run_saves_itself(whole, tmp_path):
    """At the end, and nothing beside the file; a longer run may start from there."""
    file = tmp_path / "run.pt"
    assert train(QUICK, 3, save=file).losses == whole.losses
    assert [path.name for path in tmp_path.iterdir()] == ["run.pt"]
    longer = train(QUICK, 3, steps=45, resume=file)
    assert longer.losses[:40] == whole.losses and len(longer.losses) == 45


def test_an_interrupted_save_leaves_the_file(tmp_path, monkeypatch):
    """What was there before stays whole."""
    file = tmp_path / "run.pt"
    train(QUICK, 3, steps=1, save=file)
    before = file.read_bytes()
    monkeypatch.setattr(torch, "save", lambda state, path: path.write_bytes(b"half") and 1 / 0)
    with pytest.raises(ZeroDivisionError):
        train(QUICK, 3, steps=1, save=file)
    assert file.read_bytes() == before


@pytest.mark.parametrize(("task", "seed", "named"), [("pairs", 4, "seed"), ("captions", 3, "task")])
def test_another_run_is_refused(task, seed, named, tmp_path):
    """A file of another task or seed is an error that says which."""
    train(QUICK, 3, steps=1, save=tmp_path / "run.pt")
    with pytest.raises(ValueError, match=f"holds a run of {named}"):
        train(TASKS[task], seed, resume=tmp_path / "run.pt")


def test_no_steps_measure_the_model_as_it_begins():
    """steps=0 trains nothing; the figures are those of chance."""
    run = train(QUICK, steps=0)
    assert run.losses == [] and run.figures["steps"] == 0
    assert abs(run.figures["loss"] - run.figures["uniform"]) < 0.3


def test_half_precision_is_autocast(whole):
    """Losses are near those in full precision and not equal; what is learned stays in float32."""
    run = train(QUICK, 3, precision=torch.bfloat16)
    assert run.losses != whole.losses
    assert max(abs(a - b) for a, b in zip(run.losses[:10], whole.losses[:10], strict=True)) < 0.05
    assert {p.dtype for p in parameters(run)} == {torch.float32}


@pytest.mark.training
def test_compiled_training_is_the_same():
    """Through torch.compile, forwards and backwards: the same figures, in a process without checks of shapes."""
    command = [
        sys.executable,
        "-m",
        "solutions.training",
        "pairs",
        "--seed",
        "3",
        "--steps",
        "10",
        "--compile",
        "aot_eager",
    ]
    out = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[2]).stdout
    expected = train(QUICK, 3, steps=10).figures
    for name in ("loss", "accuracy"):
        assert f"{name:10} {expected[name]:.4f}" in out


def test_an_exploding_loss_ends_the_run_where_it_explodes():
    """The losses end with the first one that is not finite or a million times the first."""
    run = train(TASKS["control_not_clipped"])
    assert len(run.losses) == run.figures["steps"] < 20
    first, *_, last = run.losses
    assert not last < 1e6 * first and all(loss < 1e6 * first for loss in run.losses[:-1])


def test_nobody_waits_within_a_step(monkeypatch):
    """No number leaves the device but for a look every `EVERY` steps: on a GPU each would stop the queue."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Looks(TorchDispatchMode):
        """Counts what a device would have to wait for."""

        waits = ("aten._local_scalar_dense", "aten.nonzero", "aten.equal", "aten.is_nonzero")
        seen = 0

        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            self.seen += str(function).startswith(self.waits)
            return function(*args, **kwargs or {})

    def looks(steps: int) -> int:
        training = Training(TASKS["behind_turned"], 0, torch.device("cpu"))
        with Looks() as counted:
            for _ in training.until(steps):
                pass
        return counted.seen

    with learning.own_randomness(0, torch.device("cpu")):
        few, more = looks(2), looks(EVERY)
    # `tolist` reads a tensor without an operation on the CPU: what is left is what a step itself would look at.
    assert few == more == 0


def test_global_generators_are_left_alone():
    """The CPU's is as it was, also after an error; a device that has one is seeded for the time, and put back."""
    state, cpu = torch.get_rng_state(), torch.device("cpu")
    with learning.own_randomness(0, cpu):
        assert not torch.equal(torch.get_rng_state(), state)
    assert torch.equal(torch.get_rng_state(), state)
    with pytest.raises(ZeroDivisionError), learning.own_randomness(1, cpu):
        torch.rand(1 // 0)
    assert torch.equal(torch.get_rng_state(), state)


def test_a_devices_generator_is_put_back(monkeypatch):
    """Its state is kept, it alone is seeded, and the state is put back: never those of all devices."""
    calls = []

    class Device:
        get_rng_state = staticmethod(lambda: "as it was")
        manual_seed = staticmethod(lambda seed: calls.append(("seeded", seed)))
        set_rng_state = staticmethod(lambda state: calls.append(("put back", state)))

    monkeypatch.setattr(torch, "get_device_module", lambda device: Device)
    monkeypatch.setattr(torch, "manual_seed", lambda seed: calls.append("all devices"))
    with learning.own_randomness(7, torch.device("cuda")):
        assert calls == [("seeded", 7)]
    assert calls == [("seeded", 7), ("put back", "as it was")]

"""The models on a device, without one: numbers as on the CPU, nothing waits or is copied, and faults are found."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

from solutions.examples import EXAMPLES
from solutions.sampling import PATIENCE
from solutions.tasks import TASKS

ROOT = Path(__file__).resolve().parents[2]
WRITERS = ["recurrent", "decoder", "transformer", "seq2seq", "captioner"]


@pytest.fixture(scope="module")
def report():
    """What `on_accelerator.py` counted, once for all tests here."""
    command = [sys.executable, str(Path(__file__).with_name("on_accelerator.py"))]
    run = subprocess.run(command, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_model_is_the_same_there(name, report):
    """Outputs and gradients are on the device and equal the CPU's; no line waits or copies."""
    found = report["models"][name]
    assert found["devices"] == ["gpu"]
    assert found["outputs"] < 1e-5 and found["gradients"] < 1e-4
    assert found["waits"] == found["uploads"] == found["downloads"] == {}


@pytest.mark.parametrize("name", TASKS)
def test_a_training_step_waits_for_nothing(name, report):
    """Losses equal the CPU's; what is copied is the batch, by the one line that copies batches."""
    found = report["tasks"][name]
    assert found["losses"] == pytest.approx(found["wanted"], rel=1e-4, nan_ok=True)
    assert found["waits"] == found["downloads"] == {}
    assert len(found["uploads"]) <= 1 and all(line.startswith("experiments.py:") for line in found["uploads"])


def test_batches_are_copied_by_one_line(report):
    """All tasks share it."""
    assert len({line for found in report["tasks"].values() for line in found["uploads"]}) == 1


@pytest.mark.parametrize("name", WRITERS)
def test_writing_waits_every_sixteen_words(name, report):
    """With <EOS>, one look at whether all rows have ended for each 16 words; the words are the CPU's."""
    found = report["writers"][name]
    assert found["same"] and found["words"] > PATIENCE
    assert sum(found["waits"].values()) <= math.ceil(found["words"] / PATIENCE)
    assert found["downloads"] == {}


def test_planted_faults_are_found(report):
    """A tensor left on the CPU, a number fetched in a step, a copy there and back, a look at every word."""
    faults = report["faults"]
    assert "on the CPU and on the GPU" in faults["mixed"] and "transformer.py:" in faults["mixed"]
    for kind in ("waits", "downloads"):  # a backward pass copies back what the forward pass has copied
        assert [count for line, count in faults[kind].items() if line.startswith("rnn.py:")] == [2]
    assert sum(faults["impatient"].values()) > PATIENCE

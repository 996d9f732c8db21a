"""Everything once on the stand-in, in a process of its own, since torch is told of such a device only once.

    python tests/solutions/on_accelerator.py        prints JSON, which tests/solutions/test_accelerator.py reads

Autograd starts its threads for devices at the first backward pass: hence not within the tests' own processes.
"""

import json
import warnings
from collections.abc import Callable
from contextlib import contextmanager

import torch
from accelerator import Accelerator, downloads, uploads, waits
from torch import Tensor

from solutions import sampling
from solutions.captioner import Captioner
from solutions.examples import EXAMPLES, tensors
from solutions.layers import Embedding
from solutions.learning import Training, own_randomness
from solutions.positional import LearnedPositions
from solutions.rnn import RecurrentLanguageModel
from solutions.seq2seq import Seq2Seq
from solutions.tasks import TASKS, Task
from solutions.transformer import LanguageModel, Transformer

WORDS, EOS = 40, 22
SIZES = {"V": 23, "J": 8, "K": 2, "I": 4, "F": 11, "N": 1}


def counts() -> dict[str, dict[str, int]]:
    """What was counted so far, by line."""
    return {"waits": dict(waits), "uploads": dict(uploads), "downloads": dict(downloads)}


def forget() -> None:
    """Count from here on."""
    for counter in (waits, uploads, downloads):
        counter.clear()


def seeded(make: Callable[[], torch.nn.Module]) -> torch.nn.Module:
    """The same model each time."""
    torch.manual_seed(0)
    return make()


def apart(found: list[Tensor], wanted: list[Tensor]) -> float:
    """The largest difference, beside the largest number there is."""
    return max(
        ((x.cpu() - y).abs().max() / y.abs().max().clamp(min=1)).item() for x, y in zip(found, wanted, strict=True)
    )


def one_model(name: str) -> dict:
    """Outputs and gradients here and there, and what is counted in the second pass: tables are copied in the first."""
    example, results = EXAMPLES[name], []
    arguments = example.arguments(3, 13)
    for device in ("cpu", "gpu"):
        with Accelerator():
            model, given = seeded(example.make).to(device), [x.to(device) for x in arguments]
            model(*given)
            forget()
            outputs = tensors(model(*given))
            sum((y * y).sum() for y in outputs).backward()
            counted = counts()
            gradients = [torch.zeros_like(p) if p.grad is None else p.grad for p in model.parameters()]
            results.append((outputs, gradients))
            devices = {x.device.type for x in outputs + gradients}
    (wanted, wanted_gradients), (found, found_gradients) = results
    return counted | {
        "devices": sorted(devices),
        "outputs": apart(found, wanted),
        "gradients": apart(found_gradients, wanted_gradients),
    }


def steps(task: Task, device: str, n: int = 2) -> tuple[list[float], dict]:
    """Losses of a few steps as `train` takes them, and what these count; the first step makes tables, and no more."""
    with Accelerator(), own_randomness(0, torch.device("cpu")):
        training = Training(task, 0, torch.device(device))
        training.step(0, 10)
        forget()
        losses = [training.step(1 + i, 10) for i in range(n)]
        counted = counts()
        return [float(loss) for loss in losses], counted


def one_task(name: str) -> dict:
    """Losses here and there."""
    (wanted, _), (found, counted) = (steps(TASKS[name], device) for device in ("cpu", "gpu"))
    return counted | {"losses": found, "wanted": wanted}


WRITERS = {
    "recurrent": (lambda: RecurrentLanguageModel(23, 7), lambda m, d, **o: m.sample(3, WORDS, **o)[0]),
    "decoder": (
        lambda: LanguageModel(**SIZES, T_max=64),
        lambda m, d, **o: m.generate(torch.zeros(3, 1, dtype=torch.long, device=d), WORDS, **o),
    ),
    "transformer": (
        lambda: Transformer(**SIZES),
        lambda m, d, **o: m.translate(torch.arange(12).view(3, 4).to(d), WORDS, bos=0, **o),
    ),
    "seq2seq": (
        lambda: Seq2Seq(23, 23, 5, 7),
        lambda m, d, **o: m.translate(torch.arange(12).view(3, 4).to(d), WORDS, **o)[0],
    ),
    "captioner": (
        lambda: Captioner(23, 5, 7, 3),
        lambda m, d, **o: m.caption(torch.ones(3, 2, 2, 3, device=d), WORDS, **o)[0],
    ),
}


def one_writer(name: str) -> dict:
    """Words here and there, drawn with <EOS>; and what is counted."""
    make, write = WRITERS[name]
    words = []
    for device in ("cpu", "gpu"):
        with Accelerator():
            model = seeded(make).to(device)
            forget()
            drawn = write(model, device, eos=EOS, temperature=1.0, generator=torch.Generator().manual_seed(1))
            counted = counts()
            words.append(drawn.tolist())
    return counted | {"same": words[0] == words[1], "words": len(words[1][0])}


# ------------------------------------------------------------------------------------------------- planted faults


@contextmanager
def planted(owner: object, name: str, fault: Callable):
    """A method replaced by one with a fault."""
    right = getattr(owner, name)
    setattr(owner, name, fault)
    try:
        yield
    finally:
        setattr(owner, name, right)


def faults() -> dict:
    """What the stand-in says of faults that were planted on purpose."""
    said = {}
    with planted(LearnedPositions, "forward", lambda self, h, *_, **__: h + torch.ones(h.shape[1:])):
        try:
            one_model("LanguageModel")
        except RuntimeError as error:
            said["mixed"] = str(error)
    right = Embedding.scores
    with planted(Embedding, "scores", lambda self, h: right(self, h) * float(h.mean() > -1e9)):
        said["waits"] = one_task("markov_ugrnn")["waits"]
    with planted(Embedding, "scores", lambda self, h: right(self, h.cpu().to(h.device))):
        said["downloads"] = one_task("markov_ugrnn")["downloads"]
    with planted(sampling, "PATIENCE", 1):
        said["impatient"] = one_writer("decoder")["waits"]
    return said


def report() -> dict:
    """Everything."""
    return {
        "models": {name: one_model(name) for name in EXAMPLES},
        "tasks": {name: one_task(name) for name in TASKS},
        "writers": {name: one_writer(name) for name in WRITERS},
        "faults": faults(),
    }


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    print(json.dumps(report()))

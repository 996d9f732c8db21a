"""The loop that trains: a function of its seed, on any device, which it does not wait for.

    train          one task from the beginning, or on from where a run was saved
    Run            what that gave
    Training       the run while it goes on: what a file must hold so that it can go on later

A step draws a batch on the CPU, copies it, and queues the rest; the losses stay on the device and are looked at every
`EVERY` steps. A saved run that goes on gives the same losses, to the last bit, as one that was never interrupted.
"""

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from solutions.experiments import on
from solutions.layers import clip_gradient
from solutions.progress import progress_bar
from solutions.tasks import Task

EVERY = 25  # steps between two looks at the losses: each waits for the device
SAVED = 100  # steps between two copies on disk
FUSED = ("cpu", "cuda", "mps", "xpu")  # devices on which torch's optimisers are one kernel


@dataclass(frozen=True, kw_only=True)
class Run:
    """What training gave: the task's figures with `steps` and `seconds`, every step's loss, a sample, the model.

    `maps` gives the model's attention weights, where the task has any.
    """

    figures: Mapping[str, float]
    losses: Sequence[float]
    sample: str = ""
    model: nn.Module | None = None
    maps: Callable[[], Mapping[str, Tensor]] | None = None


def train(
    task: Task,
    seed: int = 0,
    *,
    steps: int | None = None,
    device: torch.device | str = "cpu",
    precision: torch.dtype = torch.float32,
    backend: str | None = None,
    save: Path | None = None,
    resume: Path | None = None,
    progress: bool | str = False,
) -> Run:
    """Train for `steps`, or the task's own number, with the rate falling linearly in the last half.

    Stops at a loss that is not finite or a million times the first one: the figure `steps` then tells when. A
    `precision` of bfloat16 is autocast's; `backend` is torch.compile's. `save` is a file to go on from with `resume`.
    `progress` shows a bar, under that label if it is one.
    """
    steps, device = task.steps if steps is None else steps, torch.device(device)
    watch = stopwatch(device)
    with own_randomness(seed, device), progress_bar(steps, progress) as advance:
        training = Training(task, seed, device, precision=precision, backend=backend)
        if resume:
            training.load(resume)
        for losses in training.until(steps):
            for loss in losses:
                advance(loss)
            if save and (len(training.losses) % SAVED == 0 or len(training.losses) == steps):
                training.save(save)
        experiment = training.experiment
        experiment.model.eval()
        with torch.no_grad():
            figures = dict(experiment.measure())
            sample = experiment.sample() if experiment.sample else ""
    figures |= {"steps": float(len(training.losses)), "seconds": watch()}
    return Run(figures=figures, losses=training.losses, sample=sample, model=experiment.model, maps=experiment.maps)


class Training:
    """A run while it goes on."""

    def __init__(
        self,
        task: Task,
        seed: int,
        device: torch.device,
        *,
        precision: torch.dtype = torch.float32,
        backend: str | None = None,
    ) -> None:
        self.task, self.seed, self.device, self.precision = task, seed, device, precision
        self.generator = torch.Generator().manual_seed(seed)
        self.experiment = task.build(self.generator, device)
        kernels = {"fused": True} if device.type in FUSED else {}
        parameters = list(self.experiment.model.parameters())
        self.optimizer = self.experiment.optimizer(parameters, lr=task.rate, **kernels)
        loss = self.experiment.loss
        self.loss = loss if backend is None else torch.compile(loss, backend=backend)
        self.losses: list[float] = []

    def until(self, steps: int) -> Iterator[list[float]]:
        """Train until so many steps are done, or the loss explodes; yields the losses whenever they are looked at."""
        while (done := len(self.losses)) < steps:
            queued = [self.step(n, steps) for n in range(done, min(steps, done + EVERY - done % EVERY))]
            new = torch.stack(queued).tolist()
            first = (self.losses or new)[0]
            bad = next((n for n, loss in enumerate(new) if not loss < 1e6 * first), None)  # also true of NaN
            new = new if bad is None else new[: bad + 1]
            self.losses += new
            yield new
            if bad is not None:
                return

    def step(self, n: int, steps: int) -> Tensor:
        """One step, queued; its loss, on the device."""
        for group in self.optimizer.param_groups:
            group["lr"] = self.task.rate * min(1.0, 2 * (1 - n / steps))
        batch = on(self.device, self.experiment.draw())
        with torch.autocast(self.device.type, self.precision, enabled=self.precision != torch.float32):
            loss = self.loss(*batch)
        self.optimizer.zero_grad()
        loss.backward()
        if self.task.clip is not None:
            clip_gradient(self.experiment.model.parameters(), self.task.clip)
        self.optimizer.step()
        return loss.detach()

    def save(self, path: Path) -> None:
        """Everything that the next step depends on. An interrupted call leaves the file that was there."""
        state = {
            "task": self.task.summary,
            "seed": self.seed,
            "losses": self.losses,
            "model": self.experiment.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "generators": [self.generator.get_state(), torch.get_rng_state()],
        }
        new = path.with_name(f"{path.name}.{os.getpid()}")
        torch.save(state, new)
        new.replace(path)

    def load(self, path: Path) -> None:
        """Go on from a file that `save` wrote, of the same task and seed."""
        state = torch.load(path, map_location=self.device, weights_only=True)
        wanted = {"task": self.task.summary, "seed": self.seed}
        for name, value in wanted.items():
            if state[name] != value:
                raise ValueError(f"{path} holds a run of {name} {state[name]!r}, this one is of {value!r}")
        self.losses = state["losses"]
        self.experiment.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        data, whole = (generator.cpu() for generator in state["generators"])
        self.generator.set_state(data)
        torch.set_rng_state(whole)


@contextmanager
def own_randomness(seed: int, device: torch.device) -> Iterator[None]:
    """The global generators of the CPU and the device, seeded; afterwards they are as they were before.

    Not by torch.manual_seed, which seeds those of all devices.
    """
    accelerator = None if device.type in ("cpu", "meta") else torch.get_device_module(device)
    kept = hasattr(accelerator, "get_rng_state")
    before = accelerator.get_rng_state() if kept else None
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        if kept:
            accelerator.manual_seed(seed)
        try:
            yield
        finally:
            if kept:
                accelerator.set_rng_state(before)


def stopwatch(device: torch.device) -> Callable[[], float]:
    """A call gives the seconds since: of the processor on a CPU, on the device's own clock with CUDA."""
    if device.type == "cpu":
        begin = time.process_time()
        return lambda: time.process_time() - begin
    accelerator = torch.get_device_module(device)
    if device.type != "cuda":
        begin = time.perf_counter()
        return lambda: (accelerator.synchronize(), time.perf_counter() - begin)[1]
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()

    def passed() -> float:
        end.record()
        end.synchronize()
        return start.elapsed_time(end) / 1000

    return passed

"""What a run of a student's function begins from and how it ends: random numbers from a seed, an error's last line."""

from __future__ import annotations

import contextlib
import sys
import traceback
from collections.abc import Iterator

MAX_DETAIL = 500


@contextlib.contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Random numbers from a seed, in every library that code draws them from; as before after it."""
    import random

    import numpy as np

    with contextlib.ExitStack() as modes:
        modes.callback(random.setstate, random.getstate())
        modes.callback(np.random.set_state, np.random.get_state())
        random.seed(seed)
        np.random.seed(seed)
        if torch := sys.modules.get("torch"):
            modes.callback(torch.set_rng_state, torch.get_rng_state())
            torch.default_generator.manual_seed(seed)  # not those of other devices: that takes a millisecond
        yield


def last_line(error: BaseException) -> str:
    """`ValueError: …`, shortened; an exception whose own text raises keeps its type."""
    try:
        line = traceback.format_exception_only(error)[-1].strip()
    except BaseException:
        line = type(error).__name__
    return line[:MAX_DETAIL]

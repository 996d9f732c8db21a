"""flint's working precision, which belongs to the process and not to a thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from flint import ctx

_LOCK = threading.RLock()


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Work at `bits`, alone."""
    with _LOCK:
        before, ctx.prec = ctx.prec, bits
        try:
            yield
        finally:
            ctx.prec = before

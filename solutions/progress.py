"""A bar that says how far training has come: one line in a terminal, one element in a notebook."""

import html
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tqdm import tqdm

PAUSE = 0.2  # seconds between two drawings


@contextmanager
def progress_bar(total: int, shown: bool | str) -> Iterator[Callable[[float], None]]:
    """Gives the function to call after each step with its loss; `shown` may be a label."""
    label = shown if isinstance(shown, str) else ""
    ipython = sys.modules.get("IPython")
    if shown and getattr(ipython and ipython.get_ipython(), "kernel", None) is not None:
        yield from _in_notebook(total, label)
        return
    with tqdm(total=total, desc=label or None, disable=not shown, unit="step") as bar:

        def step(loss: float) -> None:
            bar.update()
            bar.set_postfix(loss=f"{loss:.4f}", refresh=False)

        yield step


def _in_notebook(total: int, label: str) -> Iterator[Callable[[float], None]]:
    """An element that is drawn again in its place, in the notebook itself: a page made from it shows the last one."""
    from IPython.display import HTML, display

    begin = drawn = time.perf_counter()
    done, last = 0, float("nan")

    def element() -> HTML:
        text = f"{label}: " if label else ""
        text += f"{done} of {total} steps, {time.perf_counter() - begin:.1f} s, loss {last:.4g}"
        return HTML(f'<progress value="{done}" max="{total}"></progress> {html.escape(text)}')

    handle = display(element(), display_id=True)

    def step(loss: float) -> None:
        nonlocal done, last, drawn
        done, last = done + 1, loss
        if time.perf_counter() - drawn > PAUSE:
            drawn = time.perf_counter()
            handle.update(element())

    try:
        yield step
    finally:
        handle.update(element())

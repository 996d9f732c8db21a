"""How much a whole notebook may show: a few lines of code can print more than a browser can hold."""

from __future__ import annotations

import html
from typing import Any

MAX_SHOWN = 700_000  # characters of a page, for all outputs together


def limit_outputs(notebook: dict[str, Any]) -> tuple[str, ...]:
    """Leave out, in place, the outputs after the first so many characters; says so as a flag."""
    left, cut = MAX_SHOWN, False
    for cell in notebook["cells"]:
        kept: list[dict[str, Any]] = []
        for output in cell.get("outputs", ()):
            size = _size(output)
            if size > left and output["output_type"] == "stream":
                part = {**output, "text": output["text"][: max(left, 0) // 6]}  # an escaped letter takes up to six
                kept, left = [*kept, part], left - _size(part)
            if size > left:
                cut = True
                kept.append(_left_out())
                break
            left -= size
            kept.append(output)
        if "outputs" in cell:
            cell["outputs"] = kept
    return (
        (f"The notebook shows more than {MAX_SHOWN:,} characters; the rest of its output was left out.",) if cut else ()
    )


def _left_out() -> dict[str, Any]:
    return {"output_type": "stream", "name": "stderr", "text": "Output was left out: the notebook shows too much.\n"}


def _size(output: dict[str, Any]) -> int:
    """The characters that an output takes on a page, escaped and coloured."""
    texts = [
        output.get("text", ""),
        output.get("evalue", ""),
        *output.get("traceback", ()),
        *output.get("data", {}).values(),
    ]
    return sum(len(html.escape(str(text))) + 40 * str(text).count("\x1b") for text in texts) + 100

"""What a cell showed, read from a reply that a student may have written: nbformat's shape, up to a size."""

from __future__ import annotations

from typing import Any

MAX_OUTPUTS = 1_000  # of one cell
MAX_RESTORED = 20


def outputs(reply: Any, results: bool = False) -> list[dict[str, Any]]:
    """The outputs that have nbformat's shape; a student may have sent anything.

    With `results`, the value of a cell's last expression stays apart from what was displayed, as in a kernel.
    """
    items = reply.get("outputs") if isinstance(reply, dict) else None
    return [item for item in (_output(item, results) for item in (items if isinstance(items, list) else [])) if item]


def restored(reply: Any) -> tuple[str, ...]:
    """The names that a reply says were put back before a cell."""
    names = reply.get("restored") if isinstance(reply, dict) else None
    return tuple(str(name)[:100] for name in (names if isinstance(names, list | tuple) else ())[:MAX_RESTORED])


def limited(outputs: list[dict[str, Any]], characters: int) -> list[dict[str, Any]]:
    """The outputs up to a number of characters, whatever the student's process made of that limit."""
    left = characters + 2_000
    kept: list[dict[str, Any]] = []
    for output in outputs[:MAX_OUTPUTS]:
        left -= len(repr(output)) if "data" not in output else sum(map(len, output["data"].values()))
        if left < 0:
            return [*kept, note("The rest of this cell's output is left out.")]
        kept.append(output)
    return kept


# What a cell shows that failed and shows no error: nobody can say what it would have shown.
UNSEEN = {"output_type": "error", "ename": "Error", "evalue": "", "traceback": ["An error that was not shown."]}


def failed(reply: Any) -> bool:
    """Whether a reply says that its cell failed, or that what it showed could not be told."""
    return not isinstance(reply, dict) or bool(reply.get("failed")) or bool(reply.get("failure"))


def _output(item: Any, results: bool) -> dict[str, Any] | None:
    match item:
        case {"output_type": "stream", "name": "stdout" | "stderr" as name, "text": str(text)}:
            return {"output_type": "stream", "name": name, "text": text}
        case {"output_type": "display_data" | "execute_result" as kind, "data": dict(data)}:
            kept = {kind: content for kind, content in data.items() if isinstance(content, str)}
            if results and kind == "execute_result":
                return {"output_type": kind, "data": kept, "metadata": {}, "execution_count": None}
            return {"output_type": "display_data", "data": kept, "metadata": {}}
        case {"output_type": "error", "ename": str(name), "evalue": str(value), "traceback": list(trace)}:
            return {"output_type": "error", "ename": name, "evalue": value, "traceback": [str(line) for line in trace]}
    return None


def note(text: str) -> dict[str, Any]:
    """An output of our own."""
    return {"output_type": "stream", "name": "stderr", "text": text + "\n"}

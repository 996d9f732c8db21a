"""How much of a notebook is kept: a few lines of code can print or answer more than a browser, or a disk, can hold."""

from __future__ import annotations

import dataclasses
import html
import json
from collections.abc import Sequence
from typing import Any

from autograder.core import Outcome
from autograder.protocol.answering import question_frame
from autograder.protocol.codec import encode

MAX_SHOWN = 500_000  # bytes of a page, or of a notebook's file, for all outputs together
KEPT = 250_000  # bytes of answers that a report keeps, besides three times what was asked


def limit_outputs(notebook: dict[str, Any]) -> tuple[str, ...]:
    """Leave out, in place, the outputs after the first so many characters; says so as a flag."""
    left, cut = MAX_SHOWN, False
    for cell in notebook["cells"]:
        kept: list[dict[str, Any]] = []
        for output in cell.get("outputs", ()):
            size = _size(output)
            if size > left and output["output_type"] == "stream":
                part = {**output, "text": output["text"][: max(left, 0) // 6]}  # a letter takes up to six bytes
                kept, left = [*kept, part], left - _size(part)
            if size > left:
                cut = True
                kept.append(_left_out())
                break
            left -= size
            kept.append(output)
        if "outputs" in cell:
            cell["outputs"] = kept
    return (f"The notebook shows more than {MAX_SHOWN:,} bytes; the rest of its output was left out.",) if cut else ()


def _left_out() -> dict[str, Any]:
    return {"output_type": "stream", "name": "stderr", "text": "Output was left out: the notebook shows too much.\n"}


def _size(output: dict[str, Any]) -> int:
    """The bytes that an output takes on a page, escaped and coloured, or in a file, whichever is more."""
    texts = [
        output.get("text", ""),
        output.get("evalue", ""),
        *output.get("traceback", ()),
        *output.get("data", {}).values(),
    ]
    return sum(max(_on_a_page(str(text)), _in_a_file(str(text))) for text in texts) + 100


def _on_a_page(text: str) -> int:
    return len(html.escape(text).encode()) + 40 * text.count("\x1b")


def _in_a_file(text: str) -> int:
    return len(json.dumps(text, ensure_ascii=False).encode())


def _sizes(outcome: Outcome) -> Sequence[int]:
    """The bytes of each answer."""
    if len(outcome.packed) == len(outcome.answers):
        return [len(content) for content in outcome.packed]
    return [len(encode(vars(answer))) for _, answer in outcome.answers]


def kept(outcomes: Sequence[Outcome]) -> tuple[tuple[Outcome, ...], tuple[str, ...]]:
    """The outcomes without their largest answers, where all together are out of proportion; says so as a flag.

    A part that lacks an answer keeps its mark when it is judged again from what is stored.
    """
    pairs = [pair for outcome in outcomes for pair in outcome.answers]
    sizes = {
        id(pair): size for outcome in outcomes for pair, size in zip(outcome.answers, _sizes(outcome), strict=True)
    }
    room = KEPT + 3 * sum(len(question_frame(asked)) for asked, _ in pairs)
    total, dropped = sum(sizes.values()), set[int]()
    if total <= room:
        return tuple(outcomes), ()
    for pair in sorted(pairs, key=lambda pair: -sizes[id(pair)]):
        if total <= room:
            break
        dropped.add(id(pair))
        total -= sizes[id(pair)]
    shorter, without = [], []
    for outcome in outcomes:
        answers = tuple(pair for pair in outcome.answers if id(pair) not in dropped)
        without += [outcome.part] if len(answers) < len(outcome.answers) else []
        shorter.append(dataclasses.replace(outcome, answers=answers))
    flag = f"Answers too large to be kept ({', '.join(without)}): to judge them again takes a run."
    return tuple(shorter), (flag,) if without else ()

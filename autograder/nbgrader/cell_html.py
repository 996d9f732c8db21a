"""The cells of a student's notebook as HTML: their text, and what they have said."""

from __future__ import annotations

import html
import re
import urllib.parse
from collections.abc import Mapping
from typing import Any

from autograder.grading.pictures import is_picture
from autograder.grading.typeset import words

_TERMINAL = re.compile(r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b\[[0-?]*[ -/]*[@-~]|\x1b.|[\x00-\x08\x0b\x0c\x0e-\x1f]")
_ATTACHMENT = re.compile(r"(?<=[(\"'])attachment:")  # the converter insists on its picture
_ATTACHED = re.compile(r'src="#attachment:([^"]+)"')
_WITHOUT_WORDS = re.compile(r"<img(?=\s)(?![^>]*\salt=)")


def markdown(cell: Any, text: str | None = None) -> str:
    """A text cell; pictures that were put into it stand in the page."""
    shown = words(_ATTACHMENT.sub("#attachment:", cell.source if text is None else text))
    pictures = cell.get("attachments") or {}

    def picture(match: re.Match[str]) -> str:
        for kind, content in pictures.get(urllib.parse.unquote(match[1]), {}).items():
            return f'src="data:{kind};base64,{html.escape(content)}"'
        return 'src="#"'

    return _WITHOUT_WORDS.sub('<img alt="A picture that the notebook shows"', _ATTACHED.sub(picture, shown))


def outputs(cell: Any, *, previews: bool = True) -> str:
    """What a cell of the student's has said; without `previews`, what it displayed is left out."""
    shown = []
    for output in cell.get("outputs", ()):
        if output.output_type == "stream":
            kind = "errors" if output.name == "stderr" else "printed"
            shown.append(f'<pre class="{kind}">{_plain(output.text)}</pre>')
        elif output.output_type == "error":
            shown.append(f'<pre class="errors">{_plain(chr(10).join(output.traceback))}</pre>')
        elif previews:
            shown.append(_data(output.data))
    return "".join(shown)


def _plain(text: str) -> str:
    """A text without what a terminal would obey."""
    return html.escape(_TERMINAL.sub("", text if isinstance(text, str) else "".join(text)))


def _data(data: Mapping[str, Any]) -> str:
    for kind, content in data.items():
        if is_picture(kind, content):
            return f'<img alt="A picture that the cell shows" src="data:{kind};base64,{html.escape(content)}">'
    return f"<pre>{_plain(data['text/plain'])}</pre>" if "text/plain" in data else ""

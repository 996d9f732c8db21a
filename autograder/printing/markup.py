"""Markdown to Typst: what statements are written in, as code of the language that typesets the sheets.

    markup("so $x^2$ is *even*")  ->  so #math.equation(…) is #emph[even]

Whatever stands in a text is printed as it stands: nothing in it becomes Typst's own markup.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from autograder.authoring.paper_formulas import equation
from autograder.errors import AuthorError

# Signs of the markup, and those that would go on with a call that stands before them.
_SPECIAL = re.compile(r"[\\#$*_`<>@\[\]=\-+/~;.(]")
_TAGS = re.compile(r"<!--.*?-->|</?\w[^<>]*>", re.DOTALL)
PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp")

Node = Mapping[str, Any]


def escaped(text: str) -> str:
    """A text that says the same in Typst's markup."""
    return _SPECIAL.sub(lambda sign: f"\\{sign[0]}", text)


def quoted(text: str) -> str:
    """A text as a string of Typst's code."""
    return json.dumps(text, ensure_ascii=False)


def raw(code: str, *, block: bool = False) -> str:
    """Code, letter by letter."""
    return f"#raw({quoted(code)}, block: {'true' if block else 'false'})"


def markup(text: str, pictures: Callable[[str], str] | None = None) -> str:
    """A Markdown text as Typst's markup; `pictures` gives a picture's name in the compiler's files."""
    nodes = _reader()(text)
    assert isinstance(nodes, list)
    return _Writer(pictures).blocks(nodes)


@functools.cache
def _reader() -> Any:
    import mistune

    return mistune.create_markdown(renderer=None, plugins=["math", "table", "strikethrough"])


class _Writer:
    """Writes the nodes of one text."""

    def __init__(self, pictures: Callable[[str], str] | None) -> None:
        self._pictures = pictures

    def blocks(self, nodes: Iterable[Node]) -> str:
        """Paragraphs and what stands like one."""
        return "\n\n".join(filter(None, (self._block(node) for node in nodes)))

    def _block(self, node: Node) -> str:
        match node["type"]:
            case "paragraph" | "block_text":
                return self._inline(node["children"])
            case "heading":
                return f"#strong[{self._inline(node['children'])}]"
            case "block_math":
                return equation(node["raw"], display=True)
            case "block_code":
                return raw(node["raw"].rstrip("\n"), block=True)
            case "list":
                kind = "enum" if node["attrs"]["ordered"] else "list"
                items = "".join(f"[{self.blocks(item['children'])}]" for item in node["children"])
                return f"#{kind}{items}"
            case "block_quote":
                return f"#quote(block: true)[{self.blocks(node['children'])}]"
            case "table":
                return self._table(node)
            case "thematic_break":
                return "#line(length: 100%, stroke: 0.4pt)"
            case "block_html":
                return escaped(_TAGS.sub("", node["raw"]).strip())
        return ""

    def _table(self, node: Node) -> str:
        head, *body = node["children"]
        rows: list[Sequence[Node]] = [row["children"] for part in body for row in part["children"]]
        cells = [f"[{self._inline(cell['children'])}]" for row in rows for cell in row]
        header = ", ".join(f"[{self._inline(cell['children'])}]" for cell in head["children"])
        return f"#listing({len(head['children'])}, ({header},), {', '.join(cells)})"

    def _inline(self, nodes: Iterable[Node]) -> str:
        return "".join(map(self._span, nodes))

    def _span(self, node: Node) -> str:
        match node["type"]:
            case "text":
                return escaped(node["raw"])
            case "softbreak":
                return "\n"
            case "linebreak":
                return "#linebreak()"
            case "inline_math":
                return equation(node["raw"])
            case "block_math":
                return equation(node["raw"], display=True)
            case "codespan":
                return raw(node["raw"])
            case "strong" | "emphasis" | "strikethrough" as kind:
                name = {"strong": "strong", "emphasis": "emph", "strikethrough": "strike"}[kind]
                return f"#{name}[{self._inline(node['children'])}]"
            case "link":
                return self._inline(node["children"])
            case "image":
                return self._image(node)
            case "inline_html":
                return ""
        return escaped(node.get("raw", "")) + self._inline(node.get("children", ()))

    def _image(self, node: Node) -> str:
        """A picture of at most the text's width; what it shows is its alternative."""
        address, words = node["attrs"]["url"], "".join(item.get("raw", "") for item in node["children"])
        if self._pictures is None or Path(address).suffix.lower() not in PICTURES:
            raise AuthorError("picture", f"the picture {address} cannot be printed: it is no file beside the statement")
        return f"#picture({quoted(self._pictures(address))}, {quoted(words or address)})"

"""Formulas of a statement for paper: LaTeX to Typst, and which of them cannot be printed.

A formula's text is its alternative for whoever hears the page. The converter turns a macro that it does not know into a
variable that Typst does not know: the compiler names it.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable, Iterator

from autograder.errors import AuthorError, StaffError

# What the converter does not know, in its own words; thousands are one number.
_REPLACED = (
    (re.compile(r"\\[lr]Vert(?![A-Za-z])"), r"\\|"),
    (re.compile(r"\\[lr]vert(?![A-Za-z])"), "|"),
    (re.compile(r"\\aleph(?![A-Za-z])"), "ℵ"),
    (re.compile(r"(?<=\d),(?=\d{3}(?!\d))"), r"\\text{,}"),
)
# Its names of signs that Typst calls otherwise by now.
_RENAMED = ((re.compile(r"\b(dot|times|minus)\.circle\b"), r"\1.o"),)
_SHOWN = re.compile(r"```.*?```|`[^`\n]*`|\$\$(?P<display>.+?)\$\$|\$(?P<inline>[^$]+)\$", re.DOTALL)
_UNKNOWN = re.compile(r"unknown variable: (\w+)")
NEEDED = "paper needs what the extra `print` of the package installs: pip install typst tex2typst segno mistune"


def require() -> None:
    """StaffError where the extra is not installed."""
    from importlib.util import find_spec

    if missing := [name for name in ("typst", "tex2typst", "segno", "mistune") if find_spec(name) is None]:
        raise StaffError("no_print", f"{', '.join(missing)} cannot be imported; {NEEDED}")


@functools.lru_cache(maxsize=8192)
def to_typst(tex: str) -> str:
    """The inside of a Typst formula; AuthorError where the converter cannot read it."""
    from tex2typst import tex2typst

    text = " ".join(tex.split())
    for pattern, instead in _REPLACED:
        text = pattern.sub(instead, text)
    try:
        found = str(tex2typst(text))
    except ValueError as error:
        reason = str(error).partition("\n")[0].removeprefix("Conversion failed: ")
        raise AuthorError("formula", f"the formula {_cut(tex)} cannot be printed: {reason}") from error
    for pattern, instead in _RENAMED:
        found = pattern.sub(instead, found)
    return found


def equation(tex: str, *, display: bool = False) -> str:
    """A formula as Typst code, its text as the alternative."""
    alternative = json.dumps(" ".join(tex.split()), ensure_ascii=False)
    inside = f"$ {to_typst(tex)} $" if display else f"${to_typst(tex)}$"
    return f"#math.equation(block: {'true' if display else 'false'}, alt: {alternative}, {inside})"


def formulas(text: str) -> Iterator[str]:
    """Each formula of a Markdown text; inside code nothing is one."""
    yield from (tex for match in _SHOWN.finditer(text) if (tex := match["display"] or match["inline"]))


def unprintable(texts: Iterable[str]) -> list[str]:
    """A sentence for each formula in the texts that cannot be printed; a macro that is not known is named."""
    import typst

    found = list(dict.fromkeys(tex for text in texts for tex in formulas(text)))
    sentences = [said for tex in found if (said := _unread(tex))]
    read = [tex for tex in found if not _unread(tex)]
    try:
        typst.compile(_page(read), ignore_system_fonts=True)
    except typst.TypstError:  # which of them it is, each says by itself
        for tex in read:
            try:
                typst.compile(_page([tex]), ignore_system_fonts=True)
            except typst.TypstError as error:
                sentences.append(f"the formula {_cut(tex)} cannot be printed: {_reason(tex, str(error))}")
    return sentences


def _unread(tex: str) -> str:
    try:
        to_typst(tex)
    except AuthorError as error:
        return error.message
    return ""


def _page(read: Iterable[str]) -> bytes:
    return "\n\n".join(f"$ {to_typst(tex)} $" for tex in read).encode()


def _reason(tex: str, error: str) -> str:
    """What the compiler says, in the formula's own words where it is about a macro."""
    unknown = _UNKNOWN.search(error)
    if unknown and f"\\{unknown[1]}" in tex:
        return f"nothing here knows \\{unknown[1]}"
    return error.partition("\n")[0]


def _cut(tex: str) -> str:
    text = " ".join(tex.split())
    return f"${text if len(text) <= 120 else text[:120] + ' …'}$"

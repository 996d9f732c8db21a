"""Answers, references and words as people read them: HTML that needs neither a script nor a network.

    typeset.answer(part, "b/(e^b-1)", p)      what was handed in, typeset; else as it was typed, and where reading stops
    typeset.reference(part, p)                the right answer under the parameters `p`
    typeset.said(verdict.message)             why it is wrong, or waits
    typeset.words("so $x^2$ is *even*")       Markdown, its mathematics as MathML

The student's page, formgrader's notes and the queue of held answers show them by these functions. What a kind of part
makes of an answer, `Part.read_as` of that kind says. Nothing that was typed becomes markup.
"""

from __future__ import annotations

import functools
import html
import re
import textwrap
from typing import Any

from autograder.core import BEGIN, END, Parameters, Part
from autograder.errors import AutograderError, Unreadable
from autograder.protocol.respondents import filled

LONG = 4_000  # characters of a text that is kept when it was made into HTML
MOST = 2_000  # characters of a typed answer that is typeset, and of any answer that is shown

# Display mathematics first; inside code nothing is mathematics.
_SPANS = re.compile(
    r"(?P<code>```.*?```|`[^`\n]*`)|\$\$(?P<display>.+?)\$\$|(?<![\\$\w])\$(?P<inline>[^$\n]+?)(?<!\\)\$(?!\d)",
    re.DOTALL,
)

# TeX may ask for a link (\\href), which MathML would follow: such a formula stays as it was typed.
_LIVE = re.compile(r"[\s\"'](?:\w+:)?(?:href|src|style|on\w+)\s*=|<(?!/?m[a-z]+[\s>/])", re.IGNORECASE)
_BARE = re.compile(r"&(?!#?\w+;)")

_CODE = re.compile(
    r"(?P<comment>#[^\n]*)"
    r"|(?P<string>(?<!\w)[rbfuRBFU]{0,2}(?:\"\"\"(?:.|\n)*?\"\"\"|'''(?:.|\n)*?'''|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'))"
    r"|\b(?P<keyword>and|as|assert|break|class|continue|def|del|elif|else|except|False|finally|for|from|global|if|import|"
    r"in|is|lambda|None|nonlocal|not|or|pass|raise|return|True|try|while|with|yield)\b"
)


def answer(part: Part, value: Any, p: Parameters) -> str:
    """What was handed in, as the grader reads it; a formula's typed line stands below it, and is its text for who hears
    the page. What cannot be read is shown with the place where reading stopped; `said` says why.
    """
    if not filled(value):
        return "<p>(nothing)</p>"
    typed = as_typed(value)
    try:
        read = part.read_as(value, p) if len(typed) <= MOST else ""
    except Unreadable as error:
        return unread(typed, error)
    except AutograderError:  # it was judged by a part that is another one now
        read = ""
    if read and not part.formula:
        return words(read)
    return f"{words(read, typed) if read else ''}{as_code(typed)}"


def reference(part: Part, p: Parameters) -> str:
    """The right answer, as an answer is shown, or the code of the solution; empty where a problem's fault hides it."""
    if part.judged_by_person:
        return words(part.solution_cell(p).replace(BEGIN, "").replace(END, "").strip())
    right = getattr(part, "written_by_author", None) or getattr(part, "right", None)
    if right is not None:
        return answer(part, right(p), p)
    solution = part.solution_cell(p).partition(f"{BEGIN}\n")[2].partition(END)[0]
    return code(textwrap.dedent(solution).strip("\n"))


def as_typed(value: Any) -> str:
    """An answer as one text: rows of entries are lines."""
    if isinstance(value, list | tuple) and value and all(isinstance(row, list | tuple) for row in value):
        return "\n".join(", ".join(map(str, row)) for row in value)
    return value if isinstance(value, str) else str(value)


def unread(typed: str, error: Unreadable) -> str:
    """A text that cannot be read, the place marked where reading stopped."""
    if error.column is None or not error.text:
        return as_code(typed)
    place = min(max(error.column, 0), len(error.text))
    before, sign, after = error.text[:place], error.text[place : place + 1].strip() or " ", error.text[place + 1 :]
    marked = f"{html.escape(before[-MOST:])}<mark>{html.escape(sign)}</mark>{html.escape(after[:MOST])}"
    return f'<pre class="typed">{marked}</pre>'


def said(message: str) -> str:
    """What a check says of an answer, under the answer itself: without the line whose place is marked there."""
    lines = message.strip("\n").split("\n")
    carets = {place for place, line in enumerate(lines) if line.strip() == "^"}
    if len(lines) > 1 and not carets:
        return f'<pre class="said">{html.escape(message)}</pre>'
    kept = [line for place, line in enumerate(lines) if line and place not in carets and place + 1 not in carets]
    return html.escape(" ".join(line if line[-1] in ".:?!" else f"{line}." for line in kept))


def as_code(text: str) -> str:
    """A text letter by letter."""
    cut = text if len(text) <= MOST else f"{text[:MOST]} …"
    return f'<pre class="typed">{html.escape(cut)}</pre>'


def code(source: str) -> str:
    """Python code; what a keyword, a text and a comment is, a class says."""

    def mark(match: re.Match[str]) -> str:
        return f'<span class="{match.lastgroup}">{match[0]}</span>'

    return f"<pre>{_CODE.sub(mark, html.escape(source, quote=False))}</pre>"


def words(markdown: str, typed: str = "", *, escape: bool = False) -> str:
    """Markdown as HTML, its mathematics as MathML; `typed` is a formula's text for who hears the page.

    With `escape`, tags are shown as they were typed.
    """
    return _words(markdown, typed, escape) if len(markdown) <= LONG else _words.__wrapped__(markdown, typed, escape)


@functools.lru_cache(maxsize=2048)  # what many notebooks have in common is made once
def _words(markdown: str, typed: str, escape: bool) -> str:
    from nbconvert.filters import markdown2html  # it takes a quarter of a second

    return str(markdown2html(with_mathml(markdown, typed, escape=escape)))


def with_mathml(markdown: str, typed: str = "", *, escape: bool = False) -> str:
    """The same text with `$…$` and `$$…$$` as MathML; what the converter does not know stays as it was typed."""
    pieces, end = [], 0
    for match in _SPANS.finditer(markdown):
        pieces.append(_without_tags(markdown[end : match.start()], escape))
        end = match.end()
        tex, display = match["display"] or match["inline"], match["display"] is not None
        pieces.append(
            match[0] if match["code"] else mathml(tex, display=display, typed=typed) or _without_tags(match[0], escape)
        )
    return "".join([*pieces, _without_tags(markdown[end:], escape)])


def _without_tags(text: str, escape: bool) -> str:
    return text.replace("<", "&lt;") if escape else text


def mathml(tex: str, *, display: bool, typed: str = "") -> str:
    """A formula as MathML; empty where the converter does not know it, or it asks for more than to be shown."""
    found = _converted(tex, display) if len(tex) <= LONG else _converted.__wrapped__(tex, display)
    alternative = f' alttext="{html.escape(" ".join(typed.split()))}"' if typed else ""
    return found.replace("<math", f"<math{alternative}", 1)


@functools.lru_cache(maxsize=2048)
def _converted(tex: str, display: bool) -> str:
    from latex2mathml.converter import convert

    try:
        # The converter knows columns in `align*` only.
        known = tex.replace("{aligned}", "{align*}")
        found = _BARE.sub("&amp;", str(convert(known, display="block" if display else "inline")))
    except Exception:  # it raises many kinds; the reader still has the TeX
        return ""
    return "" if _LIVE.search(found) else found

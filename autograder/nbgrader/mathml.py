"""Mathematics on a page that reads without a network or a script: TeX as MathML."""

from __future__ import annotations

import functools
import re

# Display mathematics first; inside code nothing is mathematics.
_SPANS = re.compile(
    r"(?P<code>```.*?```|`[^`\n]*`)|\$\$(?P<display>.+?)\$\$|(?<![\\$\w])\$(?P<inline>[^$\n]+?)(?<!\\)\$(?!\d)",
    re.DOTALL,
)

# TeX may ask for a link (\\href), which MathML would follow: such a formula stays as it was typed.
_LIVE = re.compile(r"[\s\"'](?:\w+:)?(?:href|src|style|on\w+)\s*=|<(?!/?m[a-z]+[\s>/])", re.IGNORECASE)


@functools.lru_cache(maxsize=1024)
def with_mathml(markdown: str) -> str:
    """The same text with `$…$` and `$$…$$` as MathML; what the converter does not know stays as it was typed."""
    from latex2mathml.converter import convert

    def replace(match: re.Match[str]) -> str:
        if match["code"]:
            return match[0]
        display = match["display"] is not None
        try:
            mathml = str(convert(match["display"] or match["inline"], display="block" if display else "inline"))
        except Exception:  # the converter raises many kinds; the reader still has the TeX
            return match[0]
        return match[0] if _LIVE.search(mathml) else mathml

    return _SPANS.sub(replace, markdown)

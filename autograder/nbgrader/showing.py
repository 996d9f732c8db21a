"""What a student's feedback page shows: no hidden source, and mathematics that reads without a network."""

from __future__ import annotations

import re
from typing import Any

from nbconvert.exporters import HTMLExporter
from nbgrader.preprocessors import NbGraderPreprocessor

from autograder.nbgrader.reading import is_ours
from autograder.notebook import without_hidden

# Display mathematics first; inside code nothing is mathematics.
_SPANS = re.compile(
    r"(?P<code>```.*?```|`[^`\n]*`)|\$\$(?P<display>.+?)\$\$|(?<![\\$\w])\$(?P<inline>[^$\n]+?)(?<!\\)\$(?!\d)",
    re.DOTALL,
)

# TeX may ask for a link (\\href), which MathML would follow: such a formula stays as it was typed.
_LIVE = re.compile(r"[\s\"'](?:\w+:)?(?:href|src|style|on\w+)\s*=|<(?!/?m[a-z]+[\s>/])", re.IGNORECASE)
_SCRIPT = re.compile(r"<!-- Load mathjax -->.*?<!-- End of mathjax configuration -->", re.DOTALL)


class ForStudents(NbGraderPreprocessor):  # type: ignore[misc]
    """Leaves out hidden regions and turns TeX into MathML, which browsers and screen readers know by themselves."""

    def preprocess_cell(self, cell: Any, resources: Any, index: int) -> Any:
        """Prepare one cell."""
        if cell.cell_type == "code":
            cell.source = without_hidden(cell.source)
        elif cell.cell_type == "markdown":
            cell.source = with_mathml(cell.source)
        return cell, resources

    def preprocess(self, nb: Any, resources: Any) -> Any:
        """Prepare a notebook of ours; others have no hidden region of ours."""
        return super().preprocess(nb, resources) if is_ours(nb) else (nb, resources)


class FeedbackExporter(HTMLExporter):  # type: ignore[misc]
    """nbgrader's feedback page without the script that it would fetch for mathematics."""

    def from_notebook_node(self, nb: Any, resources: Any = None, **options: Any) -> Any:
        """Render, then leave the script out."""
        page, resources = super().from_notebook_node(nb, resources, **options)
        return _SCRIPT.sub("", page), resources


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

"""What a student's feedback page shows: no hidden source, and mathematics that reads without a network or a script."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from nbconvert.exporters import HTMLExporter
from nbgrader.api import Gradebook
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import List

from autograder.nbgrader.reading import is_ours
from autograder.notebook import without_hidden

TEMPLATES = Path(__file__).parent / "templates"

# Display mathematics first; inside code nothing is mathematics.
_SPANS = re.compile(
    r"(?P<code>```.*?```|`[^`\n]*`)|\$\$(?P<display>.+?)\$\$|(?<![\\$\w])\$(?P<inline>[^$\n]+?)(?<!\\)\$(?!\d)",
    re.DOTALL,
)

# TeX may ask for a link (\\href), which MathML would follow: such a formula stays as it was typed.
_LIVE = re.compile(r"[\s\"'](?:\w+:)?(?:href|src|style|on\w+)\s*=|<(?!/?m[a-z]+[\s>/])", re.IGNORECASE)


class FeedbackExporter(HTMLExporter):  # type: ignore[misc]
    """A page of the package's own template, in place of nbgrader's."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.extra_template_basedirs = [str(TEMPLATES)]
        self.template_name = "autograder_feedback"
        self.template_paths = self._template_paths()


class ForStudents(NbGraderPreprocessor):  # type: ignore[misc]
    """Says how each part stands, leaves out test cells' source, and turns TeX into MathML.

    It comes after nbgrader's GetGrades, which puts scores and comments into the cells. Comments that this package made
    repeat the verdicts; they are shown only under written answers.
    """

    # nbgrader's feedback command configures it for every preprocessor in its list.
    display_data_priority = List().tag(config=True)

    def preprocess(self, nb: Any, resources: Any) -> Any:
        """Prepare one notebook; one that is not ours keeps its test cells."""
        names = resources["nbgrader"]
        place = (names["notebook"], names["assignment"], names["student"])
        resources["autograder"] = {"waiting": []}
        with Gradebook(names["db_url"]) as gradebook:
            for cell in nb.cells:
                marks = cell.metadata.get("nbgrader") or {}
                if marks.get("grade"):
                    self._standing(marks, gradebook.find_grade(marks["grade_id"], *place))
                    if marks["standing"] == "held":
                        resources["autograder"]["waiting"].append(marks["grade_id"])
                if marks.get("solution"):
                    marks["comment_by_hand"] = bool(gradebook.find_comment(marks["grade_id"], *place).manual_comment)
                self._prepare(cell, marks, is_ours(nb))
        return nb, resources

    def _standing(self, marks: Any, grade: Any) -> None:
        by_hand = grade.manual_score is not None
        if not by_hand and grade.needs_manual_grade:
            marks["standing"], marks["standing_words"] = "held", "a person looks at this"
        elif grade.score >= grade.max_score:
            marks["standing"], marks["standing_words"] = "earned", "earned"
        else:
            marks["standing"], marks["standing_words"] = "lost", "lost" if not grade.score else "partly earned"
        marks["standing_by_hand"] = by_hand

    def _prepare(self, cell: Any, marks: Any, ours: bool) -> None:
        if cell.cell_type == "markdown":
            cell.source = with_mathml(cell.source)
        elif marks.get("grade") and not marks.get("solution"):
            cell.source = "" if ours else without_hidden(cell.source)


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

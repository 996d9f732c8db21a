"""What a student's feedback page shows: no hidden source, and mathematics that reads without a network or a script."""

from __future__ import annotations

import copy
import functools
import html
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pygments
from IPython.lib.lexers import IPython3Lexer
from jinja2 import BytecodeCache, Environment, pass_context
from jinja2.bccache import Bucket
from nbconvert.exporters import HTMLExporter
from nbconvert.filters.widgetsdatatypefilter import WidgetsDataTypeFilter
from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor
from nbgrader.api import Gradebook
from nbgrader.preprocessors import GetGrades, NbGraderPreprocessor
from pygments.formatters import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.lexers.special import TextLexer
from pygments.util import ClassNotFound
from traitlets import Bool, List, Unicode

from autograder.authoring.sealing import is_ours
from autograder.grading.feedback import is_for_staff
from autograder.grading.notebook import VOIDED
from autograder.grading.repair import OWN, OWN_LABEL
from autograder.grading.typeset import with_mathml
from autograder.nbgrader.feedback_page import OVERVIEW_PAGE, overview
from autograder.nbgrader.for_graders import ForGraders
from autograder.nbgrader.hidden_regions import Hidden
from autograder.nbgrader.own_pages import Pages

MAX_COLOURED = 200_000  # characters of a page that are code in colours
MAX_COLOURED_CELL = 10_000  # characters of a cell
_NOT_GRADED = "not graded"  # with the decision about its notebook
TEMPLATES = Path(__file__).parent / "templates"

_WITHOUT_WORDS = re.compile(r"<img(?=\s)(?![^>]*\salt=)")


class _Compiled(BytecodeCache):
    """Templates are compiled once for all exporters of a process; nbconvert makes one for each student."""

    def __init__(self) -> None:
        self._codes: dict[tuple[str, str], Any] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        """Fill in what was compiled of this very text."""
        bucket.code = self._codes.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep what was compiled."""
        self._codes[bucket.key, bucket.checksum] = bucket.code


_COMPILED = _Compiled()


class FeedbackExporter(HTMLExporter):  # type: ignore[misc]
    """A page of the package's own template, in place of nbgrader's.

    nbconvert takes every page apart again to give pictures a text in place of them, which takes longer than making it;
    and it copies and validates the notebook after each step. The first is done here in one pass over the text.
    """

    contact = Unicode("", help="Address that students ask for another look at a part").tag(config=True)
    solutions = Bool(False, help="Tell the references with their reasons, once nobody can hand in any more").tag(
        config=True
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._rendered = functools.lru_cache(maxsize=1024)(functools.partial(super().markdown2html, {}))
        self.extra_template_basedirs = [str(TEMPLATES)]
        self.template_name = "autograder_feedback"
        self.template_paths = self._template_paths()

    def from_notebook_node(self, nb: Any, resources: Any = None, **options: Any) -> Any:
        """Render a notebook: one of ours by `feedback_page`; of another, a picture without words gets some."""
        if is_ours(nb):
            return self._own_page(nb, self._init_resources(resources))
        self.register_filter("highlight_code", self._highlighter(nb))
        resources = self._init_resources(resources)
        filter_ = WidgetsDataTypeFilter(notebook_metadata=self._nb_metadata, parent=self, resources=resources)
        self.register_filter("filter_data_type", filter_)
        page, resources = super(HTMLExporter, self).from_notebook_node(nb, resources, **options)
        self._nb_metadata.clear()
        return _WITHOUT_WORDS.sub('<img alt="A picture that the notebook shows"', page), resources

    def _own_page(self, nb: Any, resources: Any) -> Any:
        """The page of a notebook of ours, and as a further file beside it that of the whole assignment.

        Steps that the course has added come before it; those that put marks into cells and style into a page do not.
        """
        names = resources["nbgrader"]
        if added := [step for step in self._preprocessors if not isinstance(step, _FOR_OTHERS)]:
            nb = copy.deepcopy(nb)
            for step in added:
                nb, resources = step(nb, resources)
        if "pages" in names:
            return names["pages"].page(names["sheet"], names["notebook"], nb), resources
        coursedir = self.parent.coursedir
        with Gradebook(names["db_url"], coursedir.course_id) as gradebook:
            pages = Pages(coursedir, names["assignment"], gradebook.db, self)
            sheet = pages.sheet(names["student"])
            shown = pages.page(sheet, names["notebook"], nb)
        resources["outputs"] = {OVERVIEW_PAGE: overview(sheet).encode()}
        return shown, resources

    def _create_environment(self) -> Environment:
        environment: Environment = super()._create_environment()
        environment.bytecode_cache = _COMPILED
        return environment

    def _highlighter(self, nb: Any) -> Any:
        """Colours code, which takes up to thirty times its length, and no more of it than a page can hold."""
        language = str(nb.metadata.get("language_info", {}).get("name") or "ipython3")
        left = MAX_COLOURED

        def shown(source: str, metadata: Any = None) -> str:
            nonlocal left
            if len(source) <= MAX_COLOURED_CELL:
                text = _coloured(source, language, (metadata or {}).get("magics_language"))
                left -= len(text)
                if left >= 0:
                    return text
            return f'<div class="highlight"><pre>{html.escape(source)}</pre></div>'

        return shown

    def _preprocess(self, nb: Any, resources: Any) -> Any:
        for step in self._preprocessors:
            nb, resources = step(nb, resources)
        return nb, resources

    @pass_context
    def markdown2html(self, context: Any, source: str) -> str:
        """As nbconvert's; what stands in every student's notebook is rendered once."""
        if context.get("cell", {}).get("attachments"):
            return str(super().markdown2html(context, source))
        return str(self._rendered(source))


@functools.lru_cache(maxsize=1024)
def _coloured(source: str, language: str, magics: str | None) -> str:
    """Code as nbconvert's Highlight2HTML colours it, which finds its lexer and its formatter for each cell anew."""
    lexer = _lexer(magics if magics and language.startswith("ipython") else language)
    return str(pygments.highlight(source or " ", lexer, _formatter(language)))


@functools.lru_cache(maxsize=64)
def _formatter(language: str) -> HtmlFormatter[str]:
    return HtmlFormatter(cssclass=html.escape(f" highlight hl-{language}"))


@functools.lru_cache(maxsize=64)
def _lexer(language: str) -> Lexer:
    if language == "ipython3":
        return IPython3Lexer()
    try:
        return get_lexer_by_name(language)
    except ClassNotFound:
        return TextLexer()


class ForStudents(NbGraderPreprocessor):  # type: ignore[misc]
    """Says how each part stands, leaves out test cells' source and what is for graders, and turns TeX into MathML.

    It comes after nbgrader's GetGrades, which puts scores and comments into the cells. Comments that this package made
    repeat the verdicts; they are shown only under written answers. Where a person has decided, that alone is said.
    """

    # nbgrader's feedback command configures it for every preprocessor in its list.
    display_data_priority = List().tag(config=True)

    def preprocess(self, nb: Any, resources: Any) -> Any:
        """Prepare one notebook; one that is not ours keeps its test cells."""
        names = resources["nbgrader"]
        place = (names["notebook"], names["assignment"], names["student"])
        nb.cells = [cell for cell in nb.cells if not is_for_staff(cell)]
        hidden = Hidden(nb.cells, self.config)
        with names.get("gradebook") or Gradebook(names["db_url"]) as gradebook:
            grades = {grade.name: grade for grade in gradebook.find_submission_notebook(*place).grades}
            waiting = any(grade.needs_manual_grade for grade in grades.values())
            for cell in nb.cells:
                marks = cell.metadata.get("nbgrader") or {}
                if marks.get("grade") or marks.get("task"):
                    self._standing(marks, grades[marks["grade_id"]], waiting)
                if marks.get("solution") or marks.get("task"):
                    comment = gradebook.find_comment(marks["grade_id"], *place)
                    marks["comment"] = self._comment(marks, comment)
                self._prepare(cell, marks, None if is_ours(nb) else hidden)
            resources["autograder"] = self._at_the_top(nb, grades)
            resources["autograder"]["assignment"] = self._whole(gradebook.find_submission_notebook(*place), names)
        return nb, resources

    def _whole(self, row: Any, names: Any) -> dict[str, Any]:
        """The points of the whole assignment and the notebooks that were not handed in; nothing where all were."""
        coursedir = self.parent.parent.coursedir
        folder = Path(coursedir.format_path(coursedir.autograded_directory, names["student"], names["assignment"]))
        notebooks = row.assignment.notebooks
        missing = sorted(item.name for item in notebooks if not (folder / f"{item.name}.ipynb").is_file())
        if not missing:
            return {}
        return {
            "missing": missing,
            "score": sum(item.score - (item.late_submission_penalty or 0) for item in notebooks),
            "max_score": sum(item.max_score for item in notebooks),
        }

    def _at_the_top(self, nb: Any, grades: Mapping[str, Any]) -> dict[str, Any]:
        """What waits, what is in the gradebook and not in the file, and what holds for faulty parts."""
        marked = [cell.metadata.nbgrader for cell in nb.cells if "standing" in (cell.metadata.get("nbgrader") or {})]
        lost = [grades[name] for name in sorted(grades.keys() - {marks["grade_id"] for marks in marked})]
        held = [marks["grade_id"] for marks in marked if marks["standing"] == "held"]
        held += [grade.name for grade in lost if grade.needs_manual_grade]
        voided = [cell.metadata for cell in nb.cells if VOIDED in cell.metadata] if is_ours(nb) else []
        return {
            "waiting": ["the whole notebook"] if 1 < len(held) == len(grades) else held,
            "not_shown": [(item.name, item.score, item.max_score, item.needs_manual_grade) for item in lost],
            "voids": [(metadata.nbgrader["grade_id"], metadata[VOIDED]) for metadata in voided],
        }

    def _standing(self, marks: Any, grade: Any, waiting: bool) -> None:
        """What a part's row says. A part without a mark waits with the decision about its notebook."""
        by_hand = grade.manual_score is not None
        if grade.needs_manual_grade or (waiting and not by_hand and grade.auto_score is None):
            marks["standing"], marks["standing_words"] = "held", "waiting for a grader"
        elif not by_hand and grade.auto_score is None:
            marks["standing"], marks["standing_words"] = "lost", _NOT_GRADED
        elif not grade.max_score:
            marks["standing"], marks["standing_words"] = "earned", "does not count"
        elif grade.score >= grade.max_score:
            marks["standing"], marks["standing_words"] = "earned", "earned"
        else:
            marks["standing"], marks["standing_words"] = "lost", "lost" if not grade.score else "partly earned"
        if by_hand and not grade.needs_manual_grade:
            marks["standing_words"] += ", marked by a grader"
        marks["standing_by_hand"] = by_hand and not grade.needs_manual_grade

    def _comment(self, marks: Any, comment: Any) -> str:
        """What a person wrote; under an answer in words that nobody has decided yet, what the package did."""
        if comment.manual_comment:
            return str(comment.manual_comment)
        decided = marks.get("standing_by_hand") or marks.get("standing_words") == _NOT_GRADED
        return (comment.auto_comment or "") if marks.get("grade") and not decided else ""

    def _prepare(self, cell: Any, marks: Any, hidden: Hidden | None) -> None:
        """A cell as it is shown; `hidden` is what is not, of a notebook that is not ours."""
        ours = hidden is None
        if hidden is not None:
            self._hide(cell, marks, hidden)
        if cell.cell_type == "markdown":
            own = cell.metadata.get(OWN)
            cell.source = with_mathml(cell.source.removeprefix(OWN_LABEL) if own else cell.source)
        elif marks.get("grade") and not marks.get("solution"):
            if ours:
                cell.source = ""
            if ours and (marks["standing_by_hand"] or marks["standing_words"] == _NOT_GRADED):
                cell.outputs = []  # what the machine had said is overruled

    def _hide(self, cell: Any, marks: Any, hidden: Hidden) -> None:
        """Leave out hidden regions, in a cell's own text and where its outputs quote one, and say a test's score."""
        cell.source = hidden.visible(cell)
        for output in cell.get("outputs", ()):
            if output.output_type == "error":
                output.evalue = hidden.without(output.evalue)
                output.traceback = hidden.without("\n".join(output.traceback)).split("\n")
            elif "text" in output:
                output.text = hidden.without(output.text)
            for kind, content in output.get("data", {}).items():
                if kind.startswith("text/") and isinstance(content, str):
                    output.data[kind] = hidden.without(content)
        if marks.get("grade") and not marks.get("solution") and not marks.get("standing_by_hand"):
            marks["said"] = marks["standing_words"]


_FOR_OTHERS = (GetGrades, ForStudents, CSSHTMLHeaderPreprocessor, ForGraders)

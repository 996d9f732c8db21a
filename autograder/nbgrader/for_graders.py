"""Formgrader's page of a submission: mathematics without a network or a script, and each answer once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jinja2 import DictLoader
from nbconvert.exporters import TemplateExporter
from nbconvert.preprocessors import Preprocessor

from autograder.authoring.sealing import is_ours
from autograder.authoring.source_notebook import OPENING, OVERVIEW, answer_id
from autograder.grading.feedback import is_for_staff
from autograder.grading.notebook import ANSWER
from autograder.grading.typeset import with_mathml
from autograder.nbgrader.called import called

# nbconvert's template would load MathJax from the network here. Formgrader's script waits for its end before it puts
# the cursor into the first field, and gives up its keys where there is none: so an end is told, of nothing.
_INSTEAD = """{% macro mathjax() -%}
<script>
window.MathJax = {Hub: {Startup: {signal: {Interest: (told) => setTimeout(() => told("End"))}}}};
</script>
<style>
mtd { padding: .15em .3em; } mtd[columnalign=right] { text-align: right; } mtd[columnalign=left] { text-align: left; }
math[display=block] { overflow-x: auto; padding: .3em 0; } pre.typed { border: 0; background: none; padding: 0; }
dt { margin-top: .6em; font-weight: normal; color: #57606a; } ul.checks { list-style: none; padding: 0; }
</style>
{%- endmacro %}"""


class ForGraders(Preprocessor):  # type: ignore[misc]
    """Turns TeX into MathML, and leaves out what an answer displayed that stands typeset under it.

    Of a notebook of ours, the cells that are the same for everybody and ask nothing are left out as well.
    """

    enabled = True

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        if isinstance(self.parent, TemplateExporter):
            self.parent.extra_loaders = [DictLoader({"mathjax.html.j2": _INSTEAD})]

    def preprocess(self, nb: Any, resources: Any) -> Any:
        """Prepare formgrader's page; any other is left as it is."""
        if "submission_id" not in resources:
            return nb, resources
        self._hide_names(nb, resources)
        if is_ours(nb):
            nb.cells = [cell for cell in nb.cells if _name(cell) not in (*OPENING, OVERVIEW)]
        typeset = {answer_id(_name(cell)) for cell in nb.cells if any(map(_is_answer, cell.get("outputs", ())))}
        for cell in nb.cells:
            if cell.cell_type == "markdown":
                cell.source = with_mathml(cell.source)
            elif is_ours(nb) and cell.metadata.get("nbgrader", {}).get("grade"):
                cell.source = ""  # it says how grading is called
            elif _name(cell) in typeset:
                cell.outputs = [output for output in cell.outputs if "data" not in output]
        return nb, resources

    def _hide_names(self, nb: Any, resources: Any) -> None:
        """With pseudonyms, the page has neither the student's name nor ids in what was noted for graders."""
        names = called(Path(self.config.CourseDirectory.get("root") or "."))
        if not names.hidden:
            return
        resources["first_name"], resources["last_name"] = "", names.of(str(resources.get("student", "")))
        for cell in nb.cells:
            if is_for_staff(cell):
                cell.source = names.text(cell.source)
            for output in cell.get("outputs", ()) if (cell.metadata.get("nbgrader") or {}).get("grade") else ():
                data = output.get("data", {})
                data |= {kind: names.text(text) for kind, text in data.items() if isinstance(text, str)}


def _name(cell: Any) -> str:
    return str((cell.metadata.get("nbgrader") or {}).get("grade_id", ""))


def _is_answer(output: Any) -> bool:
    return bool(output.get("metadata", {}).get("autograder") == ANSWER)

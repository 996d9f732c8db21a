"""Formgrader's page of a notebook: nothing is fetched for its mathematics, and what asks nothing is left out."""

from pathlib import Path

import nbgrader.server_extensions.formgrader as formgrader
import pytest
from nbconvert.exporters import HTMLExporter
from nbformat import from_dict
from traitlets.config import Config

from autograder.grading.notebook import ANSWER
from autograder.nbgrader.config import configure

OURS = {"autograder": {"slug": "sums", "version": 1, "seed": 0}}
SHOWN = {
    "submission_id": "s1", "notebook_id": "sums", "assignment_id": "ps1", "index": 0, "total": 1, "base_url": "",
    "student": "ada", "last_name": "", "first_name": "", "notebook_path": "",
}  # fmt: skip


def cell(kind, source, name, outputs=(), **marks):
    """A cell that was handed out."""
    given = {"grade_id": name, "grade": False, "solution": False, "task": False, "locked": True, "points": 1, **marks}
    more = {"outputs": list(outputs), "execution_count": None} if kind == "code" else {}
    return {"id": name, "cell_type": kind, "source": source, "metadata": {"nbgrader": given}, **more}


def output(text, role=None):
    """Something that a cell displayed."""
    data = {"text/html": text} if role else {"text/plain": text}
    return {"output_type": "display_data", "data": data, "metadata": {"autograder": role} if role else {}}


def notebook(metadata):
    """Statement, answer and test of one part."""
    cells = [
        cell("code", "import everything", "package"),
        cell("markdown", "Give $x^2$.", "half-statement"),
        cell("code", 'half = "1/b"', "half-answer", [output(r"\frac{1}{b}")], solution=True),
        cell("code", "hidden.score()", "half", [output("<p>typeset</p>", ANSWER)], grade=True),
    ]
    return from_dict({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})


@pytest.fixture(scope="module")
def exporter(tmp_path_factory):
    """Formgrader's own, by our configuration."""
    config = Config()
    configure(config, tmp_path_factory.mktemp("course"))
    config.HTMLExporter.template_name = "formgrade"
    config.HTMLExporter.extra_template_basedirs = [str(Path(formgrader.__file__).parent / "templates")]
    return HTMLExporter(config=config)


def test_mathematics_needs_no_network(exporter):
    """Statements are MathML; no script comes from elsewhere."""
    page, _ = exporter.from_notebook_node(notebook(OURS), resources=dict(SHOWN))
    assert "<msup>" in page and "$x^2$" not in page
    assert 'src="http' not in page and "cdnjs" not in page


def test_an_answer_stands_once(exporter):
    """Typeset, without what its cell displayed, how grading is called, and the cells that are everybody's."""
    page, _ = exporter.from_notebook_node(notebook(OURS), resources=dict(SHOWN))
    assert "typeset" in page and "1/b" in page
    assert r"\frac" not in page
    assert "hidden" not in page.partition("notebook-container")[2].replace("name-hidden", "")
    assert "everything" not in page


def test_a_notebook_of_somebody_elses_is_shown_whole(exporter):
    """All cells and outputs stay; its mathematics is MathML as well."""
    page, _ = exporter.from_notebook_node(notebook({}), resources=dict(SHOWN))
    assert "everything" in page and "hidden" in page.partition("notebook-container")[2] and "<msup>" in page


def test_other_pages_of_nbconverts_stay_as_they_are(exporter):
    """Only formgrader says which submission it shows."""
    page, _ = exporter.from_notebook_node(
        notebook(OURS), resources={k: v for k, v in SHOWN.items() if k != "submission_id"}
    )
    assert "$x^2$" in page and "everything" in page

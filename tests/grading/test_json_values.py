"""Notebooks as data: a copy shares nothing, and the text is the one that nbformat writes."""

import copy
import json

import nbformat
import pytest
from nbformat.notebooknode import NotebookNode
from nbformat.v4.nbjson import JSONWriter

from autograder.grading.json_values import copied, written
from autograder.nbgrader.files import as_text

VALUES = [
    {}, [], "", "a\"\\\n\u2028\x00é😀", {"b": [], "a": {}, "é": [[], [1]]}, [1, -2.5, 1e300, True, False, None],
    {"x": [{"y": ["z", {"w": None}]}]}, (1, ("a",)), float("inf"), {"10": 1, "9": 2, "A": 3, "a": 4},
]  # fmt: skip
WRITE = {"indent": 1, "sort_keys": True, "ensure_ascii": False, "separators": (",", ": ")}


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_the_text_is_json(value):
    """The same as the standard library's."""
    assert written(value) == json.dumps(value, **WRITE)


def test_a_copy_shares_nothing():
    """Dicts and lists are new at every level, and of the same type."""
    value = nbformat.from_dict({"cells": [{"metadata": {"a": [1]}, "source": "x"}], "metadata": {}})
    made = copied(value)
    assert made == value == copy.deepcopy(value)
    assert type(made) is type(made.cells[0].metadata) is NotebookNode
    made.cells[0].metadata.a.append(2)
    made.cells.append({})
    assert value == nbformat.from_dict({"cells": [{"metadata": {"a": [1]}, "source": "x"}], "metadata": {}})


OUTPUTS = [
    {"output_type": "stream", "name": "stdout", "text": "one\ntwo\n"},
    {
        "output_type": "display_data",
        "metadata": {},
        "data": {"text/html": "<p>\n</p>", "application/json": {"a": "b\nc"}},
    },
    {"output_type": "error", "ename": "E", "evalue": "a\nb", "traceback": ["x\ny"]},
]
CELLS = [
    {
        "cell_type": "markdown",
        "id": "a",
        "metadata": {"trusted": True},
        "source": "",
        "attachments": {"p": {"i/p": "q"}},
    },
    {"cell_type": "code", "id": "b", "metadata": {"x": []}, "source": "a\r\nb\x0cc\u2028d", "outputs": OUTPUTS},
    {"cell_type": "raw", "id": "c", "metadata": {}, "source": ["a\n", "b"]},
]


def test_a_notebook_is_written_as_nbformat_does():
    """Lines apart, what is passing left out; and the notebook itself stays as it is."""
    content = {"cells": CELLS, "metadata": {"signature": "s", "kernelspec": {}}, "nbformat": 4, "nbformat_minor": 5}
    notebook = nbformat.from_dict(content)
    assert as_text(notebook) == JSONWriter().writes(notebook) + "\n"
    assert notebook == nbformat.from_dict(content)

"""Mending submitted notebooks: every answer that is still there is found, and the instructor's cells are whole."""

import copy
import json
from pathlib import Path

import nbformat
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder import Expression, Problem
from autograder.authoring import loading
from autograder.authoring.source_notebook import answer_id, build
from autograder.authoring.variants import variant
from autograder.grading.repair import MAX_CELLS, defined_names, inert, make_whole
from autograder.nbgrader.handouts import released_form
from autograder.simulation.classroom import Work, own_cell

ROOT = Path(__file__).parents[1] / "data" / "course" / "problems"
PROBLEM = loading.load("tiny", ROOT)
P = variant(PROBLEM, 7).parameters
CODE = [part for part in PROBLEM.parts if not part.judged_by_person]


@pytest.fixture(scope="module")
def forms():
    """The released and the instructor's notebook."""
    source = nbformat.from_dict(build(PROBLEM, 7, root=ROOT))
    released, whole = released_form(source, None)
    return json.loads(json.dumps(released)), json.loads(json.dumps(whole))


@pytest.fixture
def work(forms):
    """A student's copy with every answer right."""
    return Work(forms[0], PROBLEM, P).solve()


def mended(content, forms):
    """The mended notebook; every cell of the instructor's must be in it once, in order and as it was."""
    content = content if isinstance(content, bytes) else json.dumps(content).encode()
    whole = make_whole(content, *forms)
    nbformat.validate(nbformat.from_dict(whole.notebook))
    json.dumps(whole.notebook, ensure_ascii=False).encode()
    cells = [cell for cell in whole.notebook["cells"] if "nbgrader" in cell["metadata"]]
    assert [cell["metadata"]["nbgrader"]["grade_id"] for cell in cells] == [
        cell["metadata"]["nbgrader"]["grade_id"] for cell in forms[1]["cells"]
    ]
    for cell, original in zip(cells, forms[1]["cells"], strict=True):
        if not original["metadata"]["nbgrader"]["solution"]:
            assert cell == original
        assert "BEGIN SOLUTION" not in cell["source"]
    return whole


def answer_of(whole, part):
    """The text of a part's answer cell."""
    wanted = part.name if part.judged_by_person else answer_id(part.name)
    cells = whole.notebook["cells"]
    return next(c["source"] for c in cells if c["metadata"].get("nbgrader", {}).get("grade_id") == wanted)


def right(part):
    """The right answer's text."""
    return part.answer_cell(part.reference, P).strip()


def order(whole):
    """Grade ids and the text of the student's own cells, in order."""
    return [cell["metadata"].get("nbgrader", {}).get("grade_id", cell["source"]) for cell in whole.notebook["cells"]]


def test_a_notebook_as_it_should_be_is_left_alone(work, forms):
    """No flag, nothing held, every answer in its place."""
    whole = mended(work.notebook, forms)
    assert (whole.flags, whole.held) == ([], {})
    assert all(right(part) in answer_of(whole, part) for part in PROBLEM.parts)


NOT_A_NOTEBOOK = {
    "empty": b"",
    "binary": b"\x89PNG\x00\xff",
    "cut off": b'{"cells": [{"cell_type": "co',
    "latin-1": '{"cells": "é"}'.encode("latin-1"),
    "a list": b"[]",
    "a number": b"3",
    "no cells": b"{}",
    "cells as text": b'{"cells": "x"}',
    "deep": b'{"cells":' + b"[" * 100_000,
    "too many cells": json.dumps({"cells": [own_cell("x")] * (MAX_CELLS + 1)}).encode(),
    "utf-16": json.dumps({"cells": []}).encode("utf-16"),
    "nan": b'{"cells": NaN}',
    "long number": b'{"cells": ' + b"9" * 10_000 + b"}",
}


@pytest.mark.parametrize("content", NOT_A_NOTEBOOK.values(), ids=NOT_A_NOTEBOOK)
def test_a_file_that_is_no_notebook_is_held_and_not_wrong(content, forms):
    """Every part waits for a person, and the reason is said."""
    whole = mended(content, forms)
    assert set(whole.held) == {part.name for part in PROBLEM.parts}
    assert [flag.code for flag in whole.flags] == ["unreadable_file"]


ODD_CELLS = [
    *(None, 3, "text", [], {}, {"cell_type": "heading"}, {"cell_type": "code"}, {"cell_type": "code", "source": 3}),
    {"cell_type": "code", "source": ["a", 3, None]},
    {"cell_type": "code", "source": "x", "metadata": []},
    {"cell_type": "code", "source": "\ud800", "metadata": {"nbgrader": "x"}},
    {"cell_type": "code", "source": "x", "metadata": {"nbgrader": {"grade_id": ["centre"]}}},
    {"cell_type": "raw", "source": "<script>", "metadata": {"nbgrader": {"grade_id": "nobody"}}},
    {"cell_type": "markdown", "source": "x", "attachments": 3},
    {"cell_type": "markdown", "source": "x", "attachments": {"a": 3, "b": {"image/png": 5}}},
]


@pytest.mark.parametrize("cell", ODD_CELLS, ids=str)
def test_odd_cells_cost_nothing(cell, work, forms):
    """Cells that are none are left out; the answers around them are found."""
    work.cells[3:3] = [cell]
    assert all(right(part) in answer_of(mended(work.notebook, forms), part) for part in PROBLEM.parts)


def test_source_as_a_list_of_lines_and_a_byte_order_mark(work, forms):
    """What other tools write is read."""
    for cell in work.cells:
        cell["source"] = cell["source"].splitlines(keepends=True)
    whole = mended(b"\xef\xbb\xbf" + work.text().encode(), forms)
    assert all(right(part) in answer_of(whole, part) for part in PROBLEM.parts)


def test_an_answer_cell_that_became_markdown_is_code_again(work, forms):
    """One key pressed by accident turns a cell to markdown; the answer is the same."""
    work.answer_cell(CODE[0])["cell_type"] = "markdown"
    work.answer_cell(CODE[0])["source"] += "\nif 1 <x: pass"
    assert "\nif 1 <x: pass" in answer_of(mended(work.notebook, forms), CODE[0])


def test_a_written_answer_in_the_next_cell_is_found(work, forms):
    """The stub left as it was, the text in a new cell below it."""
    written = PROBLEM.parts[-1]
    work.answer_cell(written)["source"] = work.released["cells"][-2]["source"]
    work.cells.append(own_cell("Because rows are independent.", "markdown"))
    whole = mended(work.notebook, forms)
    assert "Because rows are independent." in answer_of(whole, written)
    assert [flag.code for flag in whole.flags] == ["found_by_content"]


def test_two_texts_that_could_be_the_answer_are_held(work, forms):
    """Which one was meant is for a person."""
    written = PROBLEM.parts[-1]
    work.cells.remove(work.answer_cell(written))
    work.cells.extend([own_cell("One text.", "markdown"), own_cell("Another text.", "markdown")])
    assert set(mended(work.notebook, forms).held) == {written.name}


def test_a_title_of_ones_own_is_no_written_answer(work, forms):
    """A markdown cell elsewhere does not replace an empty answer that is still in its place."""
    written = PROBLEM.parts[-1]
    work.answer_cell(written)["source"] = work.released["cells"][-2]["source"]
    work.add(0, "# My notebook", "markdown")
    assert "My notebook" not in answer_of(mended(work.notebook, forms), written)


def test_pasted_pictures_stay_with_a_written_answer(work, forms):
    """A photograph of a derivation is an answer; what is no picture is left out."""
    cell = work.answer_cell(PROBLEM.parts[-1])
    cell["source"] += "\n![photo](attachment:photo.png)"
    cell["attachments"] = {"photo.png": {"image/png": "iVBORw0K", "text/html": "<script>"}, "x": {"image/png": '">'}}
    answer = mended(work.notebook, forms).notebook["cells"][-2]
    assert answer["attachments"] == {"photo.png": {"image/png": "iVBORw0K"}}
    assert "![photo](attachment:photo.png)" in answer["source"]


def test_own_cells_stay_behind_the_cell_that_they_followed(work, forms):
    """Helpers keep their place; what stood at the very top comes after the imports."""
    work.add(work.place("centre-answer"), "helper = 1")
    work.add(0, "top = 1")
    ids = order(mended(work.notebook, forms))
    assert ids.index("helper = 1") == ids.index("centre-answer") - 1
    assert ids.index("top = 1") == ids.index("declarations") + 1


def test_an_answer_that_moves_up_brings_what_stood_above_it(work, forms):
    """The answer and its helper, both below the test: the helper runs first."""
    stub = work.released["cells"][work.place("centre-answer")]["source"]
    answer = work.answer_cell(CODE[0])["source"]
    work.answer_cell(CODE[0])["source"] = stub
    place = work.place("centre") + 1
    work.cells[place:place] = [own_cell("helper = 1"), own_cell(answer)]
    whole = mended(work.notebook, forms)
    ids = order(whole)
    assert ids.index("helper = 1") < ids.index("centre-answer")
    assert right(CODE[0]) in answer_of(whole, CODE[0])


def test_a_changed_test_cell_is_not_run_unless_it_defines_something(work, forms):
    """A forged test cell is dropped; one in which a helper was written is run as a cell of the student's own."""
    work.test_cell()["source"] = "print(1e9)"
    assert "print(1e9)" not in order(mended(work.notebook, forms))
    work.test_cell()["source"] = "def helper(): pass"
    assert "def helper(): pass" in order(mended(work.notebook, forms))


NAMES = {
    "def f(): pass": {"f"},
    "async def f(): pass": {"f"},
    "class A: pass": {"A"},
    "a = b = 1": {"a", "b"},
    "a, (b, *c) = x": {"a", "b", "c"},
    "a: int = 1": {"a"},
    "a[0] = 1\nb.c = 2": set(),
    "a == 1": set(),
    "import numpy as np, os.path": {"np", "os"},
    "from x import y as z": {"z"},
    "%matplotlib inline\n!ls\na = 1": {"a"},
    "def broken(:\n    pass\nx = 1": {"broken", "x"},
    "if True:\n    a = 1": set(),
    "": set(),
}


@pytest.mark.parametrize("source", NAMES, ids=repr)
def test_names_that_a_cell_defines(source):
    """Bound at the top level, by syntax where it parses and by pattern where it does not."""
    assert set(defined_names(source)) == NAMES[source]


INERT = {
    "a <b> c": "a < b> c",
    "1 < 2 and x<3": "1 < 2 and x<3",
    "<script>x</script>": "< script>x< /script>",
    "[x](javascript:alert(1))": "[x] (javascript:alert(1))",
    "![x](http://tracker/x.png)": "![x] (http:\u2060//tracker/x.png)",
    "see https://evil.example and www.evil.example": "see https:\u2060//evil.example and www\u2060.evil.example",
    "ratio 1:2, a: b, x.y": "ratio 1:2, a: b, x.y",
    "[x]: javascript:alert(1)": "[x] : javascript:alert(1)",
    "![p](attachment:p.png)": "![p](attachment:p.png)",
    '![p](attachment:p.png "t" onerror=x)': '![p] (attachment:p.png "t" onerror=x)',
    "<!-- hidden -->": "< !-- hidden -->",
}


@pytest.mark.parametrize("text", INERT, ids=repr)
def test_markdown_is_made_inert(text):
    """No tag, no link, no picture from elsewhere."""
    assert inert(text) == INERT[text]


def damages():
    """One thing that happens to a list of cells, as a function that changes it in place."""

    def shuffle(draw, cells):
        cells[:] = draw(st.permutations(cells))

    def delete(draw, cells):
        if cells:
            del cells[draw(st.integers(0, len(cells) - 1))]

    def double(draw, cells):
        if cells:
            place, cell = draw(st.integers(0, len(cells))), draw(st.sampled_from(cells))
            cells.insert(place, copy.deepcopy(cell))

    def strip(draw, cells):
        for cell in cells:
            if draw(st.booleans()):
                cell["metadata"] = {}

    def rename(draw, cells):
        for cell in cells:
            if draw(st.booleans()):
                cell["metadata"] = {"nbgrader": {"grade_id": draw(st.sampled_from(["x", "cell-1", "", None, 3]))}}

    def add(draw, cells):
        text = draw(st.sampled_from(["helper = 1", "# Notes", "while", "print('x')"]))
        cells.insert(draw(st.integers(0, len(cells))), own_cell(text, draw(st.sampled_from(["code", "markdown"]))))

    return [shuffle, delete, double, strip, rename, add]


@settings(
    max_examples=80,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data())
def test_every_answer_that_is_still_there_is_found(forms, data):
    """However a solved notebook was cut up: what still defines a part's name is its answer, and nothing raises."""
    cells = Work(forms[0], PROBLEM, P).solve().cells
    for damage in data.draw(st.lists(st.sampled_from(damages()), min_size=1, max_size=5)):
        damage(data.draw, cells)
    whole = mended({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, forms)
    for part in PROBLEM.parts:
        there = any(right(part) in cell["source"] for cell in cells)
        assert (right(part) in answer_of(whole, part)) == there


@settings(
    max_examples=150, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    content=st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.text(max_size=5)
        | st.sampled_from(["code", "markdown", "centre"]),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(
                    ["cells", "cell_type", "source", "metadata", "nbgrader", "grade_id", "worksheets", "input"]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=30,
    )
)
def test_no_json_raises(forms, content):
    """Whatever JSON is handed in, a whole notebook comes out."""
    mended({"cells": content}, forms)
    mended({"worksheets": content}, forms)
    mended(content, forms)


@pytest.mark.parametrize("with_id", [True, False])
def test_of_several_answers_the_last_counts_and_the_others_still_run(with_id, work, forms):
    """As when the notebook runs from top to bottom; with or without their ids."""
    place = work.place("centre-answer")
    cells = [copy.deepcopy(work.cells[place]) for _ in range(3)]
    for number, cell in enumerate(cells):
        cell["source"] = f"centre = {number}"
        if not with_id:
            cell["metadata"] = {}
    work.cells[place : place + 1] = cells
    whole = mended(work.notebook, forms)
    assert answer_of(whole, CODE[0]) == "centre = 2"
    assert [text for text in order(whole) if text.startswith("centre = ")] == ["centre = 0", "centre = 1"]


OLD_STUB = '# line = expression("...")\n# YOUR CODE HERE\nraise NotImplementedError()'
# What stands in the answer's own cell and in a cell at the end; and what is judged, and where the rest goes.
STUBBED = [
    ("stub", 'line = expression("x")', 'line = expression("x")'),
    ("# todo\nline = expression(r'')", 'line = expression("x")', 'line = expression("x")'),
    (OLD_STUB, 'line = expression("x")', 'line = expression("x")'),
    (OLD_STUB, "", OLD_STUB),
    ('from autograder.student import expression\nline = expression("x")', "", "own"),
    ('line = "x"', "stub", "own"),
    ('line = expression("x")', "stub", "own"),
]


@pytest.mark.parametrize(("own", "elsewhere", "judged"), STUBBED)
def test_a_stub_in_either_shape_answers_nothing(own, elsewhere, judged, tmp_path):
    """One line of today's, or the cell of an earlier build: the answer is where something is said, and a further copy
    of the stub below it does not empty it."""
    part = Expression("line", points=1, domains={"x": "real"}, reference="2*x")
    problem = Problem(title="One line", version=1, source="a test", parts=[part], setup="", slug="one_line")
    (tmp_path / "one_line").mkdir()
    (tmp_path / "one_line" / "statement.md").write_text("Let $x$ be real.\n\n## A line {#line}\n\nTwice $x$.\n")
    released, whole = released_form(nbformat.from_dict(build(problem, 1, root=tmp_path)), None)
    released, whole = json.loads(json.dumps(released)), json.loads(json.dumps(whole))
    handed_in = copy.deepcopy(released)
    cell = next(c for c in handed_in["cells"] if c["metadata"]["nbgrader"]["grade_id"] == "line-answer")
    stub = cell["source"]
    assert stub == 'line = expression(r"")'
    texts = [stub if text == "stub" else text for text in (own, elsewhere)]
    cell["source"] = texts[0]
    if elsewhere:
        handed_in["cells"].append(own_cell(texts[1]))
    found = make_whole(json.dumps(handed_in).encode(), released, whole)
    assert answer_of(found, part) == (texts[0] if judged == "own" else judged)
    below = [c["source"] for c in found.notebook["cells"] if "nbgrader" not in c["metadata"]]
    assert stub not in below and (elsewhere != "stub" or below == [])

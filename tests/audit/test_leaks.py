"""What an assignment shows and its parts ask: whoever copies from any of its notebooks earns nothing."""

import io
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.console import Console

from autograder.audit.leaks import search_leaks, texts_of
from autograder.authoring.assignment import Assignment, read_assignment
from autograder.cli import main
from autograder.commands.leak_report import print_leaks
from autograder.parts import copying

ROOT = Path(__file__).parents[2]

ASKING = '''
from autograder import Choice, Derivation, Equation, Expression, Growth, Matrix, Milestone, Number, Problem

WAVES = {"x": "real", "k": "real"}
SPLIT = Milestone("no function of x + k", has=["x"], apart=["x", "k"])


def size(p):
    return 4096


def yes(p):
    return "Yes: $f = x^7$."


def no(p):
    """No."""
    return "No."


PROBLEM = Problem(
    title="Asking",
    version=1,
    source="s",
    setup="",
    parts=[
        Expression("tail", points=1, domains={"x": "unit"}, reference="1/(1+x)"),
        Expression("power", points=1, domains={"x": "real"}, reference="x^7"),
        Expression("zero", points=1, domains={"x": "real"}, reference="3"),
        Growth("bound", points=1, variables="n k", reference="O(n/k)"),
        Growth("line", points=1, variables="n k", reference="O(n)"),
        Equation("layer", points=1, tensors=["W[J,K]", "x[K]"], target="y", reference="y[j] = tanh(W[j,K] x[K])"),
        Matrix("turn", points=1, domains=WAVES, reference=[["cos(k)", "sin(k)"]]),
        Derivation("row", points=2, domains=WAVES, start="sin(x+k)", milestones=[SPLIT],
                   definitions={"s": "sin(x)", "c": "cos(x)"}, reference="s cos(k) + c sin(k)", forbid=["x"],
                   model="sin(x+k)\\nsin(x) cos(k) + cos(x) sin(k)\\ns cos(k) + c sin(k)"),
        Number("size", points=1, reference=size),
        Choice("choice", points=1, reference=yes, mistakes=[no]),
    ],
)
'''  # fmt: skip
PARTS = ("tail", "power", "zero", "bound", "line", "layer", "turn", "row", "size", "choice")
SHOWING = '''
from autograder import Choice, Problem


def yes(p):
    return "Yes."


def no(p):
    """No."""
    return "No."


PROBLEM = Problem(
    title="Showing", version=1, source="s", setup="", parts=[Choice("c", points=1, reference=yes, mistakes=[no])]
)
'''
# What the second notebook shows, and the parts of the first that it answers; by a text that says nothing in brackets.
SHOWN = [
    ("A sum is $\\frac{1}{1+x}$.", ["tail"]),
    ("A sum is $\\frac{1}{1-x}$.", []),
    ("$$S(x) = \\sum_n (-x)^n = 1/(x+1)$$", ["tail"]),
    ("Type `1/(1+x)`, or not.", ["tail"]),
    ("```text\n(1+x)^(-1)\n```", ["tail"]),
    ("$y = 2 \\qquad z = 1/(1+x)$", ["tail"]),
    ("The time is `O(3n/k)`.", ["bound"]),
    ("The time is $O(n k)$.", []),
    ("There are $n-1$ links.", ["(line)"]),
    ("There are $k = 3$ words.", ["(zero)"]),
    ("There are 4,096 entries: $64 \\cdot 64 = 4{,}096$.", ["(size)"]),
    ("$$z[j] = \\tanh(W[j,K]\\,x[K])$$", ["layer"]),
    ("The layer is $\\tanh(W[j,K]\\,x[K])$.", ["layer"]),
    ("The layer is $\\tanh(W[K,j]\\,x[K])$.", []),
    ("$$a[j] = W[j,K]\\,x[K]$$\n\n$$y[j] = \\tanh(a[j])$$", ["layer"]),
    ("Here $a_{11} = \\cos(k)$ and $a_{12} = \\sin(k)$.", ["turn"]),
    ("Here $a_{11} = \\cos(k)$.", []),
    ("We know $\\sin(x)\\cos(k) + \\cos(x)\\sin(k)$.", ["row"]),
    ("We know $\\sin(x)\\cos(k) - \\cos(x)\\sin(k)$.", []),
]  # fmt: skip


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What is found where the second notebook shows one text after the other: slug, parts, and the reports."""

    def by(shown):
        root = tmp_path_factory.mktemp("problems")
        for slug, source in (("asking", ASKING), ("showing", SHOWING)):
            (root / slug).mkdir()
            (root / slug / "problem.py").write_text(source)
        (root / "asking" / "statement.md").write_text(
            "\n\n".join(["A.", *(f"## P {{#{name}}}\n\nQ." for name in PARTS)])
        )
        (root / "showing" / "statement.md").write_text(f"{shown}\n\n## C {{#c}}\n\nQ.")
        assignment = Assignment(name="a", title="A", problems=("asking", "showing"), seed=5)
        with ThreadPoolExecutor(1) as pool:
            return search_leaks(pool, assignment, root, variants=1)

    return by


@pytest.mark.parametrize(("shown", "parts"), SHOWN, ids=[shown.strip()[:40] for shown, _ in SHOWN])
def test_what_another_notebook_shows_is_handed_in(found, shown, parts):
    """A formula, code, a side of an equation, or all equations of a cell together; near misses earn nothing."""
    report = found(shown)
    own = [item.part for item in report.leaks if item.where == "asking"]
    assert own == ["power"]  # a choice of the same notebook tells it
    others = {f"({item.part})" if item.reason else item.part for item in report.found if item.where == "showing"}
    assert sorted(others) == parts


def test_the_report_names_part_text_and_notebook(found):
    """A sentence for each leak, with the seed that shows it; what says nothing is listed with its reason."""
    out = io.StringIO()
    number = print_leaks([found("$1/(1+x)$ and $k = 3$")], Console(file=out, width=300, no_color=True))
    text = " ".join(out.getvalue().split())
    assert number == 2 and "2 leaks." in text
    said = "'1/(1+x)', which the notebook showing shows, earns 1 of 1 points in asking, part 'tail', in 1 variant"
    assert f"fault: a: {said} (seed 5)" in text
    assert "no leak: a: asking, part 'zero': 'k = 3' would earn; the answer is a bare number" in text


def cell(kind, source):
    """A cell of a notebook."""
    return {"cell_type": kind, "source": source}


def test_solutions_and_hidden_tests_are_not_shown():
    """What students never get is no leak; what the visible check quotes is shown."""
    cells = [
        cell("markdown", "See $a+b$, `c` and `c`."),
        cell("code", "# f = expression(\"...\")\n### BEGIN SOLUTION\nf = expression('x^2')\n### END SOLUTION"),
        cell("code", "form.check('g')\n### BEGIN HIDDEN TESTS\nhidden.score('h')\n### END HIDDEN TESTS"),
    ]
    assert texts_of({"cells": cells}) == (("a+b", "c"), ("...",), ("g",))


LINES = [
    (r"a = 1 \qquad b = 2", ["a = 1", "b = 2"]),
    (r"x[i,j], y[j]", ["x[i,j]", "y[j]"]),
    (r"n\,x", []),
    (r"f(x, y)", []),
]


@pytest.mark.parametrize(("text", "more"), LINES)
def test_lines_of_a_formula(text, more):
    """A text is tried as it stands, and in pieces where it holds several formulas: no bracket is torn."""
    assert list(copying.lines(text)) == [text, *more]


def test_sides_and_numbers():
    """What stands beside each `=`, but for relations; numbers with the marks of thousands."""
    assert copying.sides("S = a+b = c") == ["S", "a+b", "c"]
    assert copying.sides("a <= b") == ["a <= b"]
    assert copying.numbers(r"512\cdot 2{,}048 + 1.5 = n_2") == ["512", "2048", "1.5"]
    assert [copying.bare(text) for text in ("k = 9", r"\beta", "[L]", "n-1")] == [True, True, True, False]


@pytest.mark.parametrize("name", sorted(path.stem for path in (ROOT / "notebooks").glob("*.toml")))
def test_no_assignment_answers_itself(name):
    """As it is released: none of its notebooks shows what another one asks."""
    with ThreadPoolExecutor(1) as pool:
        report = search_leaks(pool, read_assignment(ROOT / "notebooks", name), ROOT / "problems", variants=1)
    assert report.leaks == () and report.tried > 50


@pytest.mark.parametrize("words", [["softmax_entropy"], ["--strength"], ["--seed", "3"], ["--part", "softmax"]])
def test_an_assignment_is_audited_as_a_whole(words):
    """What belongs to the audit of single problems is refused beside it."""
    result = CliRunner().invoke(main, ["audit", "--assignment", "exam-1", *words])
    assert result.exit_code == 2 and "--assignment names the problems" in result.output

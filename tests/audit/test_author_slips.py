"""Slips that authors make: where each is heard (at import or in the audit), and what is said."""

import re
from pathlib import Path

import pytest

from autograder.audit.problem import audit
from autograder.authoring.loading import load, slugs, statement_text, unused
from autograder.errors import AuthorError, Unreadable
from autograder.maths.expression import parse

COURSE = Path(__file__).parents[2] / "problems"

PROBLEM = '''
import numpy as np
import torch
from autograder import Choice, Function, Module, Number, Problem, Written
from autograder import close, exactly, form, gradient, holds, tensors


def draw(rng):
    return {"K": 100 + int(rng.integers(9))}


def phrases(p):
    return {"half": str(p["K"] / 2)}


def inputs(rng, p):
    return tensors(rng, p | {"B": 3}, x="B K", y="B K")


def added(x, y):
    """x + 2y."""
    return x + 2 * y


def swapped(x, y):
    """You swapped the two."""
    return y + 2 * x


def spelled(x, y):
    return y + x + y


def square(p):
    return p["K"] ** 2


def doubled(p):
    """Twice is not the square."""
    return 2 * p["K"]


def right(p):
    return "It is symmetric."


def wrong(p):
    """Swap the two and look."""
    return "It is antisymmetric."


def linear(f, inputs, p):
    """Twice the arguments give twice the result."""
    return bool((f(2 * inputs["x"], 2 * inputs["y"]) == 2 * f(inputs["x"], inputs["y"])).all())


PROBLEM = Problem(
    title="Sums", version=1, source="a test", draw=draw, phrases=phrases, variants=5, setup="import torch",
    parts=[
        Function("total", points=2, inputs=inputs, reference=added, checks=[close()], mistakes=[swapped],
                 equivalents=[spelled]),
        Number("power", points=1, reference=square, mistakes=[doubled]),
        Choice("symmetry", points=1, reference=right, mistakes=[wrong]),
        Written("why", points=1, reference="Because.", rubric="A reason: 1."),
    ],
)
'''

STATEMENT = """
About sums.

## A sum {#total}

Add $x$ and twice $y$, `K` being {{K}}.

## A square {#power}

The square of {{K}}, whose half is {{half}}.

## Symmetry {#symmetry}

Which?

## A reason {#why}

Why?
"""

PART = "reference=added, checks=[close()], mistakes=[swapped]"
MODULE = 'Module("total", points=2, inputs=inputs, reference=torch.nn.Tanh, checks=[close()], mistakes=[Bare])'

# name, what is replaced, by what, where it is heard, its code or subject, words of the message
AT_IMPORT = [
    ("misspelt argument", "mistakes=[swapped]", "mistake=[swapped]", "unknown_argument",
     "Function('total'): there is no argument 'mistake' (did you mean mistakes?)"),
    ("misspelt argument of a problem", "source=", "sources=", "unknown_argument", "did you mean source?"),
    ("argument left out", "points=2, ", "", "arguments", "'points'"),
    ("two parts of one name", '"power"', '"total"', "duplicate_part", "two parts are called 'total'"),
    ("table with an unknown part", "version=1", "version=1, mistakes={'totals': [swapped]}", "unknown_part",
     "the table of mistakes has a line for 'totals', which is no part (did you mean total?)"),
    ("equivalents of an unknown part", "version=1", "version=1, equivalents={'powr': []}", "unknown_part",
     "the table of equivalents has a line for 'powr', which is no part (did you mean power?)"),
    ("mistakes in the part and in the table", "version=1", "version=1, mistakes={'total': [swapped]}", "listed_twice",
     "part 'total' has mistakes of its own and in the problem's table"),
    ("table that holds no list", "version=1", "version=1, equivalents={'power': square}", "table",
     "part 'power': the table of equivalents holds <function square"),
    ("list in the place of the table", "version=1", "version=1, mistakes=[swapped]", "table",
     "mistakes of a problem are a table, {part: [...]}, not [<function swapped"),
    ("no parts", "parts=[", "parts=[] and [", "no_parts", "no parts"),
    ("no checks", "checks=[close()]", "checks=[]", "no_checks", "part 'total' has no checks; write checks=[close()]"),
    ("a check twice", "[close()]", "[close(), close()]", "duplicate_check", "two checks have the same name"),
    ("no inputs", "inputs=inputs, ", "", "no_inputs", "write a function inputs(rng, p)"),
    ("mistake without a docstring", '    """You swapped the two."""\n', "", "mistake_without_hint",
     "'swapped' has no docstring"),
    ("module mistake without a docstring", "PROBLEM = P", "class Bare(torch.nn.Module):\n    pass\n\n"
     f"{MODULE}\nPROBLEM = P", "mistake_without_hint", "'Bare' has no docstring"),
    ("a mistake twice", "mistakes=[swapped]", "mistakes=[swapped, swapped]", "duplicate_mistake",
     "two mistakes are called"),
    ("mistake that is no function", "mistakes=[swapped]", "mistakes=['swapped']", "mistake", "is not a function"),
    ("other signature", "def swapped(x, y)", "def swapped(y, x)", "signature",
     "swapped(y, x) does not take the reference's arguments (x, y)"),
    ("no rubric", 'rubric="A reason: 1."', 'rubric=" "', "no_rubric", "needs a rubric"),
    ("no model answer", 'reference="Because."', 'reference=""', "reference", "needs a model answer"),
    ("negative points", "points=2", "points=-2", "points", "must be positive, not -2"),
    ("points without end", "points=2", "points=float('inf')", "points", "must be positive"),
    ("negative weight", "close()", "close(weight=-1)", "weight", "check 'values': weight must not be negative"),
    ("checks that are worth nothing", "close()", "form()", "weight", "all of its checks have weight 0"),
    ("points of nan", "points=2", "points=float('nan')", "points", "must be positive"),
    ("name with a blank", '"power"', '"the power"', "name", "'the power': a part's name is a Python name"),
    ("reference that is no function", "reference=added", "reference='added'", "reference",
     "must be a function, not 'added'"),
    ("number as a reference", "reference=square", "reference=7", "reference", "must be a function of p, not 7"),
    ("version zero", "version=1", "version=0", "version", "a whole number from 1, not 0"),
    ("version as text", "version=1", "version='1'", "version", "not '1'"),
    ("import of nothing", "import torch\n", "import torhc\n", "import", "No module named 'torhc'"),
    ("slip of the pen", "return x + 2 * y", "return x +", "import", "SyntaxError"),
    ("no PROBLEM", "PROBLEM = Problem(", "PROBLEMS = Problem(", "no_problem", "must assign PROBLEM"),
    ("property without a sentence", "PROBLEM = P", "linear.__doc__ = ''\nholds(linear)\nPROBLEM = P",
     "property_without_sentence", "must say what holds"),
]  # fmt: skip

IN_AUDIT = [
    ("a mistake that is right", "return y + 2 * x", "return y + x + y",
     "part 'total': mistake 'swapped' earns 2 of 2 points"),
    ("a wrong number that is right", "return 2 * p", "return p['K'] * p",
     "part 'power': mistake 'doubled' earns 1 of 1"),
    ("an equivalent that is wrong", "return y + x + y", "return y + x",
     "part 'total': equivalent 'spelled' earns 0 of 2"),
    ("axis that draw() does not give", 'x="B K"', 'x="B L"', "tensors(x='L'): there is no axis 'L'"),
    ("shape that cannot be read", 'x="B K"', 'x="B 2**K"', "'2**K' is not a size"),
    ("inputs in another order", 'x="B K", y="B K"', 'y="B K", x="B K"',
     "inputs() gives y, x; added takes x, y, in this order"),
    ("too few distinct variants", "rng.integers(9)", "rng.integers(2)", "too few distinct variants: 2 in 70 draws"),
    ("no wrong option", "reference=right, mistakes=[wrong]", "reference=right",
     "there must be one correct option and 1 to 25 wrong ones"),
    ("options that read the same", "It is antisymmetric.", "It is symmetric.", "two options have the same text"),
    ("reference that changes", "return x + 2 * y", "return x + 2 * y + torch.rand(1)",
     "the reference returns two different values"),
    ("number that changes", 'return p["K"] ** 2', "return torch.rand(1).item()",
     "the reference returns two different values"),
    ("inputs that change", 'return tensors(rng, p | {"B": 3}, x="B K", y="B K")',
     'return {"x": torch.randn(2, 3), "y": torch.randn(2, 3)}',
     "inputs() returns two different values when called twice"),
    ("draw that changes", "int(rng.integers(9))", "int(np.random.default_rng().integers(9))", "for the same seed"),
    ("a number of numpy's", "int(rng.integers(9))", "rng.integers(9)", "draw() gives 'K' = np.int64("),
    ("draw that raises", "int(rng.integers(9))", "int(rng.integer(9))", "draw() raises AttributeError"),
    ("a constant that the cell has not", "def added(x, y):\n    \"\"\"x + 2y.\"\"\"\n    return x + 2 * y",
     "TWO = 2\n\n\ndef added(x, y):\n    \"\"\"x + 2y.\"\"\"\n    return x + TWO * y", "name 'TWO' is not defined"),
    ("a library that the setup has not", 'setup="import torch"', 'setup="import math"', None),
    ("setup that raises", 'setup="import torch"', 'setup="import torhc"', "No module named 'torhc'"),
    ("reference that raises", "return x + 2 * y", "return x + 2 * z", "name 'z' is not defined"),
    ("mistake that raises", "return y + 2 * x", "return y @ x", "instead of its hint"),
    ("mistake named as a code", "swapped", "shape", "'shape' has the name of a verdict's code"),
    ("trivial answer that earns", "return x + 2 * y", "return x", "a trivial answer, the first argument, earns 2 of 2"),
    ("form alone pays", "checks=[close()]", "checks=[form(weight=1)]", "a trivial answer, zeros of the right shape"),
    ("property that zeros have", "checks=[close()]", "checks=[form(), holds(linear)]",
     "zeros of the right shape, earns 2 of 2"),
    ("property that a stranger stops", "checks=[close()]", "checks=[holds(linear)]",
     "a function that returns None, could not be judged"),
    ("lambda as a reference", "reference=added", "reference=lambda x, y: x + 2 * y", "not written with def or class"),
]  # fmt: skip

FORGOTTEN = 'def forgotten(x, y):\n    """You took y once."""\n    return x + y\n\n\nPROBLEM = P'
# name, what is replaced, by what, the functions that a note names
NOBODY_USES = [
    ("a mistake that is not listed", "PROBLEM = P", FORGOTTEN, ["forgotten"]),
    ("a mistake dropped from its list", "mistakes=[doubled]", "mistakes=[]", ["doubled"]),
    ("an equivalent that is not listed", "equivalents=[spelled]", "", ["spelled"]),
    ("a mistake that uses the reference", "PROBLEM = P", FORGOTTEN.replace("x + y", "added(x, y) - y"), ["forgotten"]),
    ("a mistake that calls itself", "PROBLEM = P", FORGOTTEN.replace("x + y", "forgotten(x, y)"), ["forgotten"]),
    ("a local variable of that name", "return y + x + y", "forgotten = y + x + y\n    return forgotten", []),
    ("a local variable of that name beside it", "PROBLEM = P",
     FORGOTTEN.replace("PROBLEM", "(lambda forgotten: forgotten)(1)\nPROBLEM"), ["forgotten"]),
    ("a helper of a mistake", "PROBLEM = P", "def helper(x):\n    \"\"\"Helps.\"\"\"\n    return x\n\n\n"
     "kept = [helper]\nPROBLEM = P", []),
    ("a private function", "PROBLEM = P", FORGOTTEN.replace("forgotten", "_forgotten"), []),
    ("a name of a library", "import torch\n", "import torch\nfrom math import sqrt\n", []),
    ("a class", "PROBLEM = P", "class Bare(torch.nn.Module):\n    \"\"\"You left it out.\"\"\"\n\n\nPROBLEM = P",
     ["Bare"]),
]  # fmt: skip

IN_STATEMENT = [
    ("placeholder unfilled", "half is {{half}}", "half is {{haft}}", "nothing fills {{haft}} (did you mean half?)"),
    ("phrase never shown", ", whose half is {{half}}", "", "phrases() gives 'half', which is never shown"),
    ("parameter never shown", "{{K}}", "ten", None),
    ("heading without a part", "{#why}", "{#wy}", "{#wy} does not name a part (did you mean why?)"),
    ("part without a heading", "## A reason {#why}", "## A reason", "no heading for part 'why'"),
    ("two headings for a part", "## A reason {#why}", "## Once {#why}\n\n## More {#why}", "two headings are {#why}"),
    ("placeholder that computes", "The square of {{K}}", "The square of {{K+1}}", "'{{K+1}}, whose half is"),
]


def write(root: Path, slug: str, problem: str = PROBLEM, statement: str | None = STATEMENT) -> Path:
    """A problem folder of that name."""
    folder = root / "problems" / slug
    folder.mkdir(parents=True)
    (folder / "problem.py").write_text(problem)
    if statement is not None:
        (folder / "statement.md").write_text(statement)
    return root / "problems"


def slug_of(name: str) -> str:
    """Folder names of their own, since loaded modules are kept by name."""
    return "slip_" + re.sub(r"\W", "_", name)


def replaced(text: str, old: str, new: str) -> str:
    """The text with a slip in it; the slip must have a place there."""
    assert old in text
    return text.replace(old, new)


def audited(root: Path, slug: str):
    """The report on a folder."""
    return audit(load(slug, root), statement_text(slug, root), variants=2)


def test_the_folder_without_slips_is_clean(tmp_path):
    """What the slips are made in has no fault itself: each message below is the slip's own."""
    report = audited(write(tmp_path, "no_slip"), "no_slip")
    assert report.faults == () and report.kill_score == (3, 3) and report.distinct == 9


@pytest.mark.parametrize(("name", "old", "new", "code", "words"), AT_IMPORT, ids=[row[0] for row in AT_IMPORT])
def test_slips_heard_at_import(tmp_path, name, old, new, code, words):
    """Loading the folder raises AuthorError that names the folder and says what there is instead."""
    root = write(tmp_path, slug_of(name), replaced(PROBLEM, old, new))
    with pytest.raises(AuthorError) as caught:
        load(slug_of(name), root)
    assert caught.value.code == code and words in caught.value.message
    assert f"problems/{slug_of(name)}" in caught.value.message


@pytest.mark.parametrize(("name", "old", "new", "words"), IN_AUDIT, ids=[row[0] for row in IN_AUDIT])
def test_slips_heard_in_the_audit(tmp_path, name, old, new, words):
    """The audit gives a sentence that names the folder; a setup that is merely different gives none."""
    report = audited(write(tmp_path, slug_of(name), replaced(PROBLEM, old, new)), slug_of(name))
    if words is None:
        assert report.faults == ()
        return
    assert any(words in fault for fault in report.faults), report.faults
    assert all(fault.startswith(f"problems/{slug_of(name)}") for fault in report.faults)


@pytest.mark.parametrize(("name", "old", "new", "unused"), NOBODY_USES, ids=[row[0] for row in NOBODY_USES])
def test_what_nobody_uses_is_noted(tmp_path, name, old, new, unused):
    """A mistake that was written and never listed is a note; whatever something uses is none."""
    linear = ("def linear", "def _linear")  # which no part of the text above lists
    report = audited(write(tmp_path, slug_of(name), replaced(PROBLEM.replace(*linear), old, new)), slug_of(name))
    notes = [note for note in report.notes if "nothing uses" in note]
    assert [note.split("nothing uses ")[1].split(" ")[0] for note in notes] == unused
    assert all(note.startswith(f"problems/{slug_of(name)}: ") for note in notes)


@pytest.mark.parametrize("slug", slugs(COURSE))
def test_everything_in_the_courses_problems_is_used(slug):
    """No false alarm: draws, inputs, phrases, properties and helpers are all named by something."""
    assert unused(load(slug, COURSE)) == []


def test_a_mistake_that_cannot_be_read_shows_what_the_reader_says(tmp_path):
    """Its author is told what to write, not that a person will look."""
    typed = 'Expression("power", points=1, domains={"K": "real"}, reference="K^2", mistakes=[doubled]),'
    problem = replaced(PROBLEM, 'Number("power", points=1, reference=square, mistakes=[doubled]),', typed)
    problem = problem.replace("import Choice", "import Choice, Expression").replace('2 * p["K"]', '"2 K ! ?"')
    report = audited(write(tmp_path, "slip_unreadable", problem), "slip_unreadable")
    (fault,) = [fault for fault in report.faults if "doubled" in fault]
    with pytest.raises(Unreadable) as caught:
        parse("2 K ! ?", domains={"K": "real"})
    assert f"could not be judged (unreadable: {caught.value.message})" in fault


@pytest.mark.parametrize(("name", "old", "new", "words"), IN_STATEMENT, ids=[row[0] for row in IN_STATEMENT])
def test_slips_in_the_statement(tmp_path, name, old, new, words):
    """What is shown is what is graded: the audit names the placeholder or the heading."""
    problem = PROBLEM
    if words is None:  # phrases read K too, which counts as showing it
        problem = PROBLEM.replace('str(p["K"] / 2)', '"some"')
        words = "draw() gives 'K', but statement.md never shows {{K}}"
    report = audited(write(tmp_path, slug_of(name), problem, replaced(STATEMENT, old, new)), slug_of(name))
    assert any(words in fault for fault in report.faults), report.faults


def test_a_missing_statement_is_named(tmp_path):
    """A folder without statement.md cannot be shown to anybody."""
    root = write(tmp_path, "slip_missing_statement", statement=None)
    with pytest.raises(AuthorError, match="problems/slip_missing_statement has no statement") as caught:
        statement_text("slip_missing_statement", root)
    assert caught.value.code == "no_statement"

"""A part answers for itself: outside `autograder/parts` nobody asks what kind it is and acts on it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder import Expression, Function, Number, Written, close, parts

PACKAGE = Path(parts.__file__).parents[1]
ANSWERED = {"alternatives", "checks", "demands", "follows", "judged_by_person", "kind"}


def imported(tree: ast.Module) -> set[str]:
    """The names that a file has from the rooms of kinds: there, `Number` is a kind of answer."""
    named = [
        (f"{node.module}.{item.name}", item.asname or item.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for item in node.names
    ]
    kind = re.compile(r"autograder\.(parts\b.*|[A-Z]\w*)")
    return {name for whole, name in named if kind.fullmatch(whole)}


def is_literal(node: ast.expr) -> bool:
    """A text, or several."""
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return all(map(is_literal, node.elts))
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def is_kind(node: ast.expr) -> bool:
    """`….kind`, but not that of numpy's dtypes."""
    owner = node.value if isinstance(node, ast.Attribute) and node.attr == "kind" else None
    return owner is not None and not (isinstance(owner, ast.Attribute) and owner.attr == "dtype")


def questions(text: str) -> Iterator[str]:
    """Each place in a file that asks what a part is, with its line."""
    tree = ast.parse(text)
    kinds = imported(tree)
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, classes]):
                names = {item.id for item in ast.walk(classes) if isinstance(item, ast.Name)}
                if names & kinds:
                    yield f"{node.lineno}: {ast.unparse(node)}"
            case ast.Call(func=ast.Name(id="getattr" | "hasattr"), args=[_, ast.Constant(value=name), *_]):
                if name in ANSWERED:
                    yield f"{node.lineno}: {ast.unparse(node)}"
            case ast.Compare(left=left, comparators=others):
                sides = [left, *others]
                if any(map(is_kind, sides)) and any(map(is_literal, sides)):
                    yield f"{node.lineno}: {ast.unparse(node)}"
            case ast.Match(subject=subject) if is_kind(subject):
                yield f"{node.lineno}: match {ast.unparse(subject)}"


# `maths` has kinds of its own, of tokens and domains, and knows nothing of parts.
ASKING = [
    path for path in PACKAGE.rglob("*.py") if path.relative_to(PACKAGE).parts[0] not in ("maths", "parts")
]  # fmt: skip


@pytest.mark.parametrize("path", ASKING, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_nobody_asks_what_a_part_is(path):
    """No isinstance of a kind, no comparison of `.kind` with a word, no getattr of what every part has."""
    assert list(questions(path.read_text(encoding="utf-8"))) == []


PLANTED = [
    "from autograder.parts.function import Function\nisinstance(part, Function)",
    "from autograder.parts import Module\nfrom autograder.parts.typed import Typed\nisinstance(part, Typed | Module)",
    "from autograder import Number as N\nnot isinstance(part, (int, N))",
    "from autograder import parts\nissubclass(kind, parts.Typed)",
    "def f(part):\n    return part.kind == 'function'",
    "if part.kind not in ('function', 'module'): pass",
    "match part.kind:\n    case 'number': pass",
    "getattr(part, 'checks', ())",
    "hasattr(part, 'follows')",
]
HARMLESS = [
    "from autograder.maths.growth.bounds import Number\nisinstance(node, Number)",
    "from autograder.parts.function import Function\nisinstance(node, str)",
    "table.add_row(part.name, part.kind)",
    "array.dtype.kind in 'biu'",
    "first.kind == second.kind",
    "getattr(part, name)",
]


@pytest.mark.parametrize("text", PLANTED)
def test_a_planted_question_is_found(text):
    """The rule can fail, and names the line."""
    (found,) = questions(text)
    assert found.startswith(("1: ", "2: ", "3: "))


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_no_question_is_let_be(text):
    """Other classes, a kind that is only shown, and numpy's own kinds."""
    assert list(questions(text)) == []


def one(p):
    """One."""
    return 1


def after(p, *, first="x"):
    """The first answer, doubled."""
    return f"2*({first})"


def double(x):
    """Twice x."""
    return 2 * x


def inputs(rng, p):
    """A number."""
    return {"x": float(rng.standard_normal())}


SAYS = [
    (Number("n", points=1, reference=one), ["n"], [], True),
    (Written("w", points=1, reference="m", rubric="r"), [], [], True),
    (Expression("e", points=1, reference="x", equivalents=["1*x"], alternatives=["y"]), ["e"], ["1*x", "y"], False),
    (Expression("e", points=1, reference=after, follows="first"), ["e"], [], False),
    (
        Function("f", points=1, reference=double, inputs=inputs, checks=[close()], trials=2, also=()),
        ["f"] * 3,
        [],
        False,
    ),
]


@pytest.mark.parametrize(("part", "asked", "right", "unmutated"), SAYS)
def test_what_a_part_says_of_itself(part, asked, right, unmutated):
    """Which names a run is asked for, what must keep every point, and whether a machine makes slips in it."""
    assert [question.name for question in part.questions({}, (0,))] == asked
    assert part.right_answers() == right
    assert (part.mutants({}) is None) is unmutated

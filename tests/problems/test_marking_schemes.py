"""The marking scheme of every problem stands on one screen, laid out by the formatter."""

import ast
from pathlib import Path

import pytest

from autograder.authoring.loading import slugs

ROOT = Path(__file__).parents[2] / "problems"
SCREEN, A_PART, AROUND = 60, 3, 10


def too_long(source: str) -> list[str]:
    """What makes PROBLEM longer than a screen: itself, or one of its parts."""
    scheme = next(
        node
        for node in ast.parse(source).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "PROBLEM"
    )
    assert isinstance(scheme.value, ast.Call)
    (parts,) = (word.value.elts for word in scheme.value.keywords if word.arg == "parts")
    lines = {ast.unparse(part.args[0]): part.end_lineno - part.lineno + 1 for part in parts}
    lines["PROBLEM"] = scheme.end_lineno - scheme.lineno + 1
    most = dict.fromkeys(lines, A_PART) | {"PROBLEM": min(SCREEN, A_PART * len(parts) + AROUND)}
    return [f"{name} has {lines[name]} lines, {most[name]} at most" for name in lines if lines[name] > most[name]]


@pytest.mark.parametrize("slug", slugs(ROOT))
def test_the_scheme_stands_on_one_screen(slug):
    """PROBLEM has at most three lines a part, ten around them, and sixty in all."""
    assert too_long((ROOT / slug / "problem.py").read_text()) == []


def scheme(*parts: str, around: int = 9) -> str:
    """A problem with so many lines around its parts."""
    words = "".join(f"    word{number}=1,\n" for number in range(around - 4))
    return f"PROBLEM = Problem(\n{words}    parts=[\n{''.join(parts)}    ],\n)\n"


LONG = [
    (["        Number('a', points=1),\n"], 9, []),
    (["        Number(\n            'a', points=1\n        ),\n"], 10, []),
    (
        ["        Number(\n            'a',\n            points=1,\n        ),\n"],
        6,
        ["'a' has 4 lines, 3 at most"],
    ),
    (["        Number(\n            'a', points=1\n        ),\n"], 11, ["PROBLEM has 14 lines, 13 at most"]),
    (["        Number('a', points=1),\n"] * 51, 9, []),
    (["        Number('a', points=1),\n"] * 51, 10, ["PROBLEM has 61 lines, 60 at most"]),
]


@pytest.mark.parametrize(("parts", "around", "said"), LONG)
def test_a_scheme_that_is_too_long_is_found(parts, around, said):
    """The rule can fail, by a line in a part as by a line around the parts."""
    assert too_long(scheme(*parts, around=around)) == said


def test_the_formatter_lays_out_every_file():
    """No file of a problem is kept from the formatter."""
    kept = [str(path.relative_to(ROOT)) for path in sorted(ROOT.rglob("*.py")) if "fmt: " + "skip" in path.read_text()]
    assert kept == []

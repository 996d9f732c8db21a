"""One place changed: which places, and that nothing else of the student's text is another."""

from __future__ import annotations

import ast
import textwrap

import pytest

from autograder.defence.code import Definition, definitions, shown, sites
from autograder.defence.line_notes import executed, shapes, traced

STUDENT = '''
def cell(h, x, W, B):
    """One step."""
    p = {"gate": 'new'}
    a = h@W.T+x - B      # their own spacing
    for k in range(2):
        a = a+(1-a)*k
    if p["gate"] == "old":
        return a
    s = torch.softmax(a, dim=-1).detach()
    return f"{1 + 1}", (1 - s)*a
'''


def defined(source: str, name: str = "cell") -> Definition:
    """A definition in a cell."""
    return definitions([textwrap.dedent(source)])[name]


def made(source: str, lines: set[int] | None = None) -> list[tuple[str, str, str]]:
    """Kind, line before and line after of every change."""
    definition = defined(source)
    all_lines = set(range(1, 99)) if lines is None else lines
    found = [site.make() for site in sites(definition, all_lines)]
    return [(slip.kind, definition.lines[slip.line - 1].strip(), slip.after.strip()) for slip in found if slip]


def test_a_change_is_one_line_of_the_students_own_text() -> None:
    """All other lines stay letter by letter, and the changed text is a program."""
    definition = defined(STUDENT)
    for slip in filter(None, (site.make() for site in sites(definition, set(range(1, 99))))):
        new = slip.text.split("\n")
        other = [place for place, line in enumerate(definition.lines, 1) if new[place - 1] != line]
        assert other == [slip.line]
        ast.parse(slip.text)
        ast.parse(slip.probe)


@pytest.mark.parametrize(
    "change",
    [
        ("sign", "a = h@W.T+x - B      # their own spacing", "a = h@W.T+x + B      # their own spacing"),
        ("transposed", "a = h@W.T+x - B      # their own spacing", "a = h@W+x - B      # their own spacing"),
        ("off by one", "for k in range(2):", "for k in range(3):"),
        ("boundary", 'if p["gate"] == "old":', 'if p["gate"] != "old":'),
        ("exchanged", "a = a+(1-a)*k", "a = (1-a)*k + a"),
        ("exchanged", "a = a+(1-a)*k", "a = a+k * (1-a)"),
        ("term dropped", "a = a+(1-a)*k", "a = a+a*k"),
    ],
    ids=" ".join,
)
def test_changes_that_are_made(change: tuple[str, str, str]) -> None:
    """Words that stay are the student's own; brackets stand where they must."""
    assert change in made(STUDENT)


def test_what_cannot_be_seen_in_a_value_is_left_out() -> None:
    """A detach, and what stands in an f-string; a near miss is the sum beside it."""
    found = made(STUDENT)
    assert not [change for change in found if "detach" in change[0]]
    assert not [change for change in found if "{2 + 1}" in change[2] or "{1 - 1}" in change[2]]
    assert [change for change in found if change[2].endswith("(1 + s)*a")]


def test_only_lines_that_ran() -> None:
    """A place of another line is none."""
    assert {line for _, line, _ in made(STUDENT, {6})} == {"a = a+(1-a)*k"}
    assert made(STUDENT, set()) == []


def test_the_last_definition_of_a_name_counts() -> None:
    """As in a notebook; a cell that is no plain Python has none."""
    found = definitions(["def f():\n    return 1\n", "%timeit f()", "x = 2\n\ndef f():\n    return 2\n", "def g(:"])
    assert {name: item.text for name, item in found.items()} == {"f": "def f():\n    return 2"}


def test_notes_say_which_lines_ran_and_which_shapes_were_bound() -> None:
    """A branch that is not taken leaves no note; a name that has two shapes has none."""
    from autograder.defence.line_notes import NOTES, START

    source = """
    def cell(n):
        a = Shaped(n)
        for k in range(2):
            b = Shaped(k)
        if n > 9:
            a = Shaped(7)
        return a
    """
    names: dict = {"Shaped": type("Shaped", (), {"__init__": lambda self, n: setattr(self, "shape", (n, 2))})}
    exec(START, names)
    exec(traced(defined(source)), names)
    names["cell"](3)
    assert executed(names[NOTES]) == {"cell": {2, 3, 4, 5, 7}}
    assert shapes(names[NOTES]) == {("cell", 2, "a"): [3, 2]}


@pytest.mark.parametrize("forged", [None, 3, {"lines": 4}, {"lines": [["f"]], "shapes": [["f", "x", 1, 2]]}])
def test_forged_notes_are_none(forged: object) -> None:
    """What comes back is a stranger's data."""
    assert executed(forged) == {}
    assert shapes(forged) == {}


def test_of_a_long_definition_what_is_around_is_shown() -> None:
    """Whole lines, with their numbers; a gap where lines are left out."""
    body = "\n".join(f"    a{place} = {place}" for place in range(2, 80))
    definition = defined(f"def cell():\n{body}\n    return a2\n")
    found = shown(definition, [60])
    assert found[:2] == [(1, "def cell():"), (0, "…")]
    assert (60, "    a60 = 60") in found
    assert len(found) < 30
    short = defined("def cell():\n    return 1\n")
    assert shown(short, [2]) == [(1, "def cell():"), (2, "    return 1")]

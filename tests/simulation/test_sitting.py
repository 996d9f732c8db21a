"""A command sits an exam: what it earns is what such answers deserve, and what goes wrong with a run costs that run."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from autograder import Expression, Function, Number, close, tensors
from autograder.audit.shown_right import LISTED, NUMBER, SPELLED, VALUE, shown_right
from autograder.cli import main
from autograder.simulation.sitting import Failed, written
from tests import forked
from tests.course.conftest import environment

PROBLEM = '''
"""A sum, a count, and a choice, for a command that sits an exam."""

from autograder import Choice, Expression, Number, Problem


def draw(rng):
    return {"K": int(rng.choice([2, 3, 5]))}


def total(p):
    return "1/(1-e^(-beta))"


def turned(p):
    return "e^beta/(e^beta-1)"


def count(p):
    return 12 * p["K"]


def below(p):
    return "The ratio is below one."


def above(p):
    """It would not converge."""
    return "The ratio is above one."


def one(p):
    """It would not converge."""
    return "The ratio is one."


PROBLEM = Problem(
    title="A sum",
    version=1,
    source="tests",
    draw=draw,
    parts=[
        Expression("total", points=4, domains={"beta": "positive"}, reference=total, equivalents=[turned]),
        Number("count", points=2, reference=count),
        Choice("ratio", points=1, reference=below, mistakes=[above, one]),
    ],
)
'''
STATEMENT = "## A {#total}\nSum it.\n\n## B {#count}\nCount {{K}} dozens.\n\n## C {#ratio}\nChoose.\n"
SITTERS = Path(__file__).parents[2] / "docs/example/sitters"
# A student who is right and says so in words, by the seed that stands in the notebook.
IN_WORDS = """
import json, re, sys
notebook = json.load(sys.stdin)
text = "".join("".join(cell["source"]) for cell in notebook["cells"])
K = int(re.search(r"Count (\\d) dozens", text)[1])
for cell in notebook["cells"]:
    if "".join(cell["source"]).strip().startswith("count ="):
        cell["source"] = f"count = '{12 * K} terms'"
print(json.dumps(notebook))
"""
# Goes wrong in another way in each run; the first is right, in place.
TROUBLE = """
import os, sys, time
run = os.environ["AUTOGRADER_RUN"]
if run == "1":
    path = sys.argv[-1]
    text = open(path).read()
    open(path, "w").write(text)
elif run == "2":
    sys.exit("no idea")
elif run == "3":
    time.sleep(60)
elif run == "4":
    print("{")
elif run == "5":
    print("[]")
elif run == "6":
    os.remove(sys.argv[-1])
"""


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    """A course with one problem, which nobody has released yet."""
    place = tmp_path_factory.mktemp("sat")
    folder = place / "problems" / "geometric"
    folder.mkdir(parents=True)
    (folder / "problem.py").write_text(PROBLEM)
    (folder / "statement.md").write_text(STATEMENT)
    (place / "notebooks").mkdir()
    (place / "notebooks/nbgrader_config.py").write_text("c = get_config()\n")
    (place / "notebooks/ps1.toml").write_text('title = "One"\nproblems = ["geometric"]\nseed = 1\n')
    return place / "notebooks"


def sit(course: Path, tmp_path: Path, command: str, *words: str) -> Result:
    """The command, with its rows in a folder of one's own."""
    rows = ["--rows", str(tmp_path / "rows.jsonl")]
    result = CliRunner().invoke(
        main, ["sit", "ps1", "--with", command, *words, *rows, "--course", str(course)], catch_exceptions=False
    )
    assert not list((course).glob("submitted")) and not (course / ".course-secret").exists()  # nothing is in the course
    return result


def lines(result: Result) -> dict[str, dict[str, Any]]:
    """Each part's figures."""
    return {line["name"]: line for line in map(json.loads, result.stdout.splitlines())}


def script(tmp_path: Path, text: str) -> str:
    """A command line that runs this text."""
    (tmp_path / "sitter.py").write_text(text)
    return f"{sys.executable} {tmp_path / 'sitter.py'}"


def test_stubs_earn_nothing(course, tmp_path) -> None:
    """`cat` hands in what was handed out: no part falls to it, and nothing of it becomes a row."""
    result = sit(course, tmp_path, "cat", "--times", "2", "--json")
    found = lines(result)
    assert result.exit_code == 0
    assert {name: (line["runs"], line["none"], line["falls"]) for name, line in found.items()} == dict.fromkeys(
        ("total", "count", "ratio"), (2, 2, False)
    )
    assert not (tmp_path / "rows.jsonl").exists()


def test_all_equivalents_earn_everything(course, tmp_path, monkeypatch) -> None:
    """In runs with numbers of their own, and in the class's; every part falls to it."""
    monkeypatch.setenv("PYTHONPATH", environment()["PYTHONPATH"])
    command = f"{sys.executable} {SITTERS / 'equivalents.py'} {course.parent / 'problems'}"
    for words in (("--times", "3"), ("--times", "1", "--same")):
        result = sit(course, tmp_path, command, *words, "--json")
        assert result.exit_code == 0, result.stderr
        assert all(line["all"] == line["runs"] and line["falls"] for line in lines(result).values())
    assert not (tmp_path / "rows.jsonl").exists()


def test_random_choices_earn_what_chance_gives(course, tmp_path) -> None:
    """Of three options, a third; and nothing in the parts that are no choice."""
    command = f"{sys.executable} {SITTERS / 'random_choices.py'}"
    found = lines(sit(course, tmp_path, command, "--times", "30", "--jobs", "2", "--json"))
    assert 1 <= found["ratio"]["all"] <= 22  # one chance in 10,000 is outside
    assert found["total"]["none"] == found["count"]["none"] == 30


def test_a_right_answer_that_is_held_becomes_a_row(course, tmp_path) -> None:
    """`autograder judge` reads the rows, and says the same of them."""
    result = sit(course, tmp_path, script(tmp_path, IN_WORDS), "--times", "2", "--json")
    assert lines(result)["count"]["held"] == 2
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    assert {row["part"] for row in rows} == {"count"} and all(row["expect"] == "full" for row in rows)
    told = environment() | {"AUTOGRADER_PROBLEMS": str(course.parent / "problems")}
    words = ["autograder", "judge", "--answers", str(tmp_path / "rows.jsonl"), "--json"]
    judged = forked.run(words, cwd=Path.cwd(), env=told)
    board = json.loads(judged.stdout.splitlines()[-1])
    assert (board["tried"], board["held"], board["stale"]) == (len(rows), len(rows), 0)


def test_what_goes_wrong_costs_that_run_alone(course, tmp_path) -> None:
    """An error, no end, no JSON, no notebook, no file: each is said with its run, and the others are graded."""
    result = sit(course, tmp_path, script(tmp_path, TROUBLE), "--times", "7", "--timeout", "3", "--jobs", "3", "--json")
    assert result.exit_code == 1
    said = {int(line.split()[1].rstrip(",")): line for line in result.stderr.splitlines() if line.startswith("run ")}
    for run, words in {
        2: "it ended with 1: no idea", 3: "it took longer than 3 s", 4: "is no notebook: Expecting",
        5: "has no list of cells", 6: "the file is gone",
    }.items():  # fmt: skip
        assert words in said[run]
    assert said.keys() == {2, 3, 4, 5, 6}
    assert all(line["runs"] == line["none"] == 2 for line in lines(result).values())
    assert "2 of 7 notebooks were answered" in result.stderr


def test_a_command_that_is_not_there_is_said(course, tmp_path) -> None:
    """For every run; and a line that is no command, before anything is built."""
    result = sit(course, tmp_path, "no-such-program-here")
    assert result.exit_code == 1 and "cannot be run" in result.stderr
    assert "cannot be read as a command" in sit(course, tmp_path, 'python "').stderr


def test_all_that_a_command_started_ends_with_it(tmp_path) -> None:
    """A process that it left behind does not go on."""
    stub = tmp_path / "a.ipynb"
    stub.write_text('{"cells": []}')
    mark = tmp_path / "mark"
    with pytest.raises(Failed, match="longer"):
        written(["sh", "-c", f"(sleep 2; touch {mark}) & sleep 60"], stub, 1, 0.5)
    time.sleep(2.5)
    assert not mark.exists()


def numbers(rng, p):
    """Its inputs."""
    return tensors(rng, {"B": 3}, x="B")


def total(p: Any) -> str:
    """The reference of the table."""
    return "1/(1-e^(-beta))"


def double(x):
    """The reference of a function."""
    return 2 * x


def doubled_by_sum(x):
    """Its equivalent."""
    return x + x


EXPRESSION = Expression("total", points=1, domains={"beta": "positive"}, reference=total)
NUMBER_PART = Number("count", points=1, reference=lambda p: 1200)
FUNCTION = Function(
    "double", points=1, inputs=numbers, reference=double, checks=[close()], equivalents=[doubled_by_sum]
)
CASES = [
    (EXPRESSION, "total = expression('e^beta/(e^beta-1)')", "e^beta/(e^beta-1)", VALUE),
    (EXPRESSION, "", "1/(1 - e^(-beta)).", SPELLED),
    (EXPRESSION, "", "total = 1/(1-e^(-beta))", SPELLED),
    (EXPRESSION, "", "1/(1+e^(-beta))", ""),
    (EXPRESSION, "", "1/(1-e^(-b))", ""),  # another letter: nobody knows
    (EXPRESSION, "", "__import__('os').getcwd()", ""),
    (EXPRESSION, "", "exp.__class__", ""),
    (EXPRESSION, "", "open(beta)", ""),
    (NUMBER_PART, "count = '1,200 terms'", "1,200 terms", NUMBER),
    (NUMBER_PART, "", "count = 1200", SPELLED),
    (NUMBER_PART, "", "1.200", ""),
    (NUMBER_PART, "", "1 2 00", ""),
    (NUMBER_PART, "", "1200 or 1300", ""),
    (NUMBER_PART, "", "not 1200", ""),
    (NUMBER_PART, "", "1201 terms", ""),
    (FUNCTION, "def double(x):\n    # twice\n    return x + x\n", None, LISTED),
    (FUNCTION, "def double(x):\n    return x + x + 0\n", None, ""),
]


@pytest.mark.parametrize(("part", "cell", "value", "why"), CASES, ids=lambda item: repr(item)[:40])
def test_what_is_shown_right_by_another_way(part, cell, value, why) -> None:
    """Right answers in another dress, each beside a near miss of which nothing is said."""
    assert shown_right(part, {}, cell, value) == why

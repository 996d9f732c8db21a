"""`autograder judge`: a table of answers goes through the real command, behind the wall, and gets what it deserves."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from autograder.audit.answer_rows import read
from autograder.audit.tried_answers import compared
from autograder.core import Outcome
from tests import forked

ROOT = Path(__file__).parents[2]
TABLES = sorted((ROOT / "tests/data/answers").glob("*.jsonl"))
SAMPLE = 40  # every so-manieth row is judged in the quick test


def judge(*words: str, table: str | None = None) -> subprocess.CompletedProcess[str]:
    """What the command says to a table, of a file or from standard input."""
    command = ["autograder", "judge", "--answers", *words]
    return forked.run(command, cwd=ROOT, env={**os.environ, "COLUMNS": "80"}, given=table or "", timeout=800)


def lines(text: str) -> list[dict]:
    """The JSON objects of an output."""
    return [json.loads(line) for line in text.splitlines()]


def table(*rows: object) -> str:
    """Rows as a file's text; a text is a line as it is."""
    return "".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows)


def row(**words: object) -> dict:
    """A row about the softmax of the exam's first problem."""
    right = "from autograder.student import expression\nsoftmax = expression('(1-e^(-beta)) e^(-beta i)')"
    return {"problem": "softmax_entropy", "seed": 3, "part": "softmax", "cell": right, "expect": "full", **words}


FOLLOWED = {"softmax": "softmax = 'e^(-beta*i)'", "cross_entropy": "cross_entropy = 'beta/(e^gamma-1)'"}
REBOUND = {
    "softmax": "softmax = '(1-e^(-beta)) e^(-beta i)'",
    "cross_entropy": "softmax = '1'\ncross_entropy = '0'",
}
PARAMETERS = {"scaled": False, "cross": False, "causal": False, "K": 5, "I": 7}


def test_each_row_is_judged_on_its_own():
    """One line for each row, in order: standing, points and code of each part, or that it is stale, and why."""
    rows = [
        (row(), {"softmax": "earned"}),
        (row(cell="softmax = '(1-e^(-beta)) e^(-beta (i+1))'", expect="none"), {"softmax": "lost"}),
        (row(cell="softmax = 'what?'", expect="held"), {"softmax": "held"}),
        (row(cell="1/0", expect="none"), {"softmax": "lost"}),
        (row(cells=FOLLOWED, expect={"softmax": "none", "cross_entropy": "full"}),
         {"softmax": "lost", "cross_entropy": "earned"}),
        (row(cells=REBOUND, expect={"softmax": "full", "cross_entropy": "none"}),
         {"softmax": "earned", "cross_entropy": "lost"}),
        ({"problem": "merged_query_key", "parameters": PARAMETERS, "part": "separate", "cell": "separate = 2 * 35 * 35",
          "expect": "full"}, {"separate": "earned"}),
        ({"problem": "merged_query_key", "parameters": PARAMETERS, "seed": 1, "part": "merge", "expect": "full",
          "cell": "def merge(W_Q, W_K):\n    return W_Q.mT @ W_K"}, {"merge": "earned"}),
        ({"problem": "merged_query_key", "parameters": PARAMETERS, "seed": None, "part": "merged", "expect": "full",
          "cell": "merged = 5 * 35 ** 2"}, {"merged": "earned"}),
        (row(cells=FOLLOWED | {"softmux": "1"}, expect="none", **{"or": {"cross_entropy": ["full"]}}),
         {"softmax": "lost", "cross_entropy": "earned", "softmux": "stale"}),
        ({"problem": "loss_heads", "seed": 1, "part": "why", "cell": "Paths are short.", "expect": "held"},
         {"why": "held"}),
        (row(part="softmux"), {"softmux": "stale"}),
        (row(problem="softmax"), {"softmax": "stale"}),
        (row(parameters={"family": "no such family"}), {"softmax": "stale"}),
    ]  # fmt: skip
    run = judge("-", "--rows", "--jobs", "2", table=table(*(given for given, _ in rows)))
    assert [line["standing"] for line in lines(run.stdout)] == [standing for _, standing in rows]
    assert [line["row"] for line in lines(run.stdout)] == list(range(1, len(rows) + 1))
    assert lines(run.stdout)[0] | {"seconds": 0} == {
        "row": 1, "standing": {"softmax": "earned"}, "points": {"softmax": 4.0}, "max": {"softmax": 4.0},
        "code": {"softmax": "ok"}, "seconds": 0,
    }  # fmt: skip
    for sentence in ("line 12: softmax_entropy has no part 'softmux'", "line 13: there is no problem 'softmax'",
                     "line 14: softmax_entropy draws the parameters"):  # fmt: skip
        assert sentence in run.stderr
    assert run.returncode == 0  # stale rows alone are no fault


def test_verdicts_that_are_not_as_expected_are_counted_by_folder_and_shown():
    """A false accept, a false reject, a right answer that is held, a bad line: each in its column; the rest goes on."""
    wrong = "softmax = 'e^(-beta i)'"
    rows = [
        row(expect="none"),
        row(cell=wrong),
        row(cell="softmax = 'what?'"),
        row(cell="softmax = 'what?'", expect="none"),
        row(cell=wrong, **{"or": ["less"]}),
        "no JSON",
        {"problem": "softmax_entropy", "seed": 1, "part": "entropy", "cell": ""},
        {"problem": "language_modeling", "seed": 1, "part": "expected_tokens", "cell": "expected_tokens = '1/q'",
         "expect": "full", "kind": "right", "whatever": 1},
    ]  # fmt: skip
    run = judge("-", "--json", "--failures", table=table(*rows))
    counts = {
        line["folder"]: {key: line[key] for key in line if key not in ("folder", "seconds")}
        for line in lines(run.stdout)
    }
    clean = {"tried": 1, "false_accept": 0, "false_reject": 0, "held": 0, "stale": 0}
    assert counts["language_modeling"] == clean
    assert counts["softmax_entropy"] == {
        "tried": 5, "false_accept": 1, "false_reject": 1, "held": 1, "stale": 1,
    }  # fmt: skip
    assert counts["all"] == {
        "tried": 6, "false_accept": 1, "false_reject": 1, "held": 1, "stale": 2,
    }  # fmt: skip
    assert list(counts)[-1] == "all" and run.returncode == 1
    assert "wrong answers that are held, though that is not expected: 1" in run.stderr
    assert list(lines(run.stdout)[0]) == ["folder", "tried", "false_accept", "false_reject", "held", "stale", "seconds"]
    assert "line 6: this is no JSON" in run.stderr and 'line 7: the key "expect" is missing' in run.stderr
    shown = run.stderr
    assert "line 2, softmax_entropy.softmax, seed 3: false reject" in shown and "    | softmax = 'e^(-beta i)'" in shown
    assert "expected full, got lost (0 of 4 points)" in shown and "line 5, " not in shown


def test_the_table_for_people_fits_a_terminal():
    """Eighty columns hold every folder's name and all counts."""
    rows = [row(), {"problem": "self_attention_runtime", "seed": 1, "part": "widths", "cell": "", "expect": "none"}]
    run = judge("-", table=table(*rows))
    assert run.returncode == 0, run.stderr
    assert "self_attention_runtime" in run.stdout and max(map(len, run.stdout.splitlines())) <= 80


def test_a_byte_order_mark_is_no_part_of_the_first_row():
    """Editors on Windows write one."""
    run = judge("-", "--rows", table="\ufeff" + table(row()))
    assert run.returncode == 0 and lines(run.stdout)[0]["standing"] == {"softmax": "earned"}


def test_an_empty_table_is_no_success():
    """A file without rows is said to be one."""
    run = judge("-", table="\n")
    assert run.returncode == 1 and "the file has no rows" in run.stderr


@pytest.mark.parametrize(
    ("expected", "standing", "points", "result"),
    [
        ("full", "earned", 4, "right"), ("full", "lost", 3, "false_reject"), ("full", "held", 0, "held"),
        ("less", "earned", 4, "false_accept"), ("less", "lost", 3, "right"), ("less", "lost", 0, "right"),
        ("less", "held", 0, "held_wrong"),
        ("none", "earned", 4, "false_accept"), ("none", "lost", 1, "false_accept"), ("none", "lost", 0, "right"),
        ("none", "held", 0, "held_wrong"),
        ("held", "earned", 4, "false_accept"), ("held", "lost", 0, "false_reject"), ("held", "held", 0, "right"),
        ("full less", "lost", 3, "right"), ("full held", "lost", 3, "false_reject"), ("none held", "held", 0, "right"),
    ],
)  # fmt: skip
def test_what_each_verdict_counts_as(expected, standing, points, result):
    """The help's definitions, one row for each."""
    outcome = Outcome(part="x", standing=standing, points=points, max_points=4)
    assert compared(tuple(expected.split()), outcome) == result


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("[]", "a row is a JSON object"),
        ('{"seed": 1}', 'the key "problem" is missing'),
        (table(row(seed="1")), 'a row has a "seed"'),
        (table(row(seed=True)), 'a row has a "seed"'),
        (table(row(seed=None)), 'a row has a "seed"'),
        (table(row(expect=None)), "None is no verdict"),
        (table(row(**{"or": {"softmax": ["full", "some"]}})), "'some' is no verdict"),
        (table({key: value for key, value in row().items() if key != "seed"}), 'a row has a "seed"'),
        (table(row(parameters=[1])), '"parameters" are an object'),
        (table({key: value for key, value in row().items() if key != "cell"}), 'the key "cell" is missing'),
        (table(row(cells={})), '"cells" gives the text of a cell for each part'),
        (table(row(cells={"softmax": 1})), '"cells" gives the text of a cell for each part'),
        (table(row(expect="all")), "'all' is no verdict; write one of full, less, none, held"),
        (table(row(expect={"entropy": "full"})), "\"expect\" names 'entropy', for which there is no cell"),
        (table(row(**{"or": ["some"]})), "'some' is no verdict"),
    ],
)
def test_a_line_that_is_no_row_says_why(line, sentence):
    """Each slip has its sentence, with the line's number."""
    (found,) = read(line.splitlines())
    assert not found.readable and sentence in found.fault and found.fault.startswith("line 1: ")


def test_there_is_a_table_for_every_folder():
    """Every problem has answers that no author listed, right ones and wrong ones, of every part."""
    assert [path.stem for path in TABLES] == sorted(path.parent.name for path in ROOT.glob("problems/*/problem.py"))


def test_a_sample_of_the_tables_holds(tmp_path):
    """Rows of all folders, through the real command: right answers keep all points and wrong ones do not."""
    rows = [row for path in TABLES for row in lines(path.read_text(encoding="utf-8"))[::SAMPLE]]
    assert len(rows) > 2 * len(TABLES)
    sample = tmp_path / "sample.jsonl"
    sample.write_text(table(*rows), encoding="utf-8")
    run = judge(str(sample), "--failures")
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.answers
@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_a_whole_table_holds(path):
    """No verdict on a folder's answers is other than expected; none of the rows is stale."""
    run = judge(str(path), "--failures", "--json")
    assert run.returncode == 0, run.stderr
    assert lines(run.stdout)[-1]["stale"] == 0

"""Sheets of right submissions: enough questions, keys that are found again, the same for the same, other for others."""

from __future__ import annotations

import itertools

import pytest
import torch

from autograder.authoring import loading
from autograder.authoring.variants import variant
from autograder.core import Answer, Question
from autograder.defence.bench import Bench, with_dtype
from autograder.defence.proofs import CHANGES, LETTERS, Asked
from autograder.defence.student import LEAST, QUESTIONS, Chooser, Handed, Sheet, candidates, cells_before, seen
from autograder.protocol.answering import one_thread
from autograder.simulation.classroom import Work
from benchmarks.defence import LIMITS, Again, handed, right_submissions, run_again

SECRET = b"a course's own secret" * 2
SLUGS = ("ugrnn_gates", "merged_query_key", "language_cnn")


@pytest.fixture(scope="module")
def notebooks() -> list[Handed]:
    """The references of three problems as notebooks, graded: functions, a module, and typed work."""
    one_thread()
    root = loading.find_problems()
    return [item for slug in SLUGS for item in right_submissions(loading.load(slug, root), root, most=1)]


@pytest.fixture(scope="module")
def sheets(notebooks) -> list[Sheet]:
    """One sheet for each of them, and one of all three."""
    chooser = Chooser(SECRET, "ps1")
    return [chooser.sheet("ada", [notebook]) for notebook in notebooks] + [chooser.sheet("carl", notebooks)]


def test_a_right_submission_gives_a_sheet(sheets) -> None:
    """Five questions, each with a key among its options; no two about the same."""
    for sheet in sheets:
        assert LEAST <= len(sheet.asked) == QUESTIONS
        assert len({seen(item) for item in sheet.asked}) == QUESTIONS
        for item in sheet.asked:
            assert item.answer
            assert not item.options or item.answer in LETTERS[: len(item.options)]
            assert len(set(item.options)) == len(item.options)


def test_the_same_command_makes_the_same_sheet(notebooks, sheets) -> None:
    """All of it follows from the secret; another student is asked otherwise, with the same code."""
    chooser = Chooser(SECRET, "ps1")
    again = chooser.sheet("ada", [notebooks[0]])
    assert [(item.text, item.options, item.answer) for item in again.asked] == [
        (item.text, item.options, item.answer) for item in sheets[0].asked
    ]
    other = chooser.sheet("blaise", [notebooks[0]])
    same = {seen(item) for item in again.asked} & {seen(item) for item in other.asked}
    assert len(same) <= 2


def test_keys_hold_in_another_precision_with_more_threads(notebooks) -> None:
    """Every question that could be asked, found again in a new process."""
    result = Again()
    for notebook in notebooks:
        found = list(candidates([notebook], (7, 7), {}, LIMITS))
        assert {"change", "shape"} <= {item.kind for item in found}
        run_again([*found[:4], *found[-9:]], notebook, result)
    assert result.wrong == []
    assert result.keys >= 30
    assert result.single > result.double


def test_a_wrong_key_is_noticed(notebooks) -> None:
    """The check of the keys can fail: the same question with another key is otherwise."""
    found = [item for item in candidates([notebooks[0]], (7, 8), {}, LIMITS) if item.kind == "change"]
    asked = found[0]
    wrong = next(outcome for outcome in CHANGES if outcome != asked.guess)
    result = Again()
    forged = {name: getattr(asked, name) for name in asked.__dataclass_fields__} | {"guess": wrong}
    run_again([Asked(**forged)], notebooks[0], result)
    assert len(result.wrong) == 1


def test_code_that_draws_by_chance_is_not_asked_about() -> None:
    """Nor is code that remembers, or that a change may stop for good."""
    root = loading.find_problems()
    problem = loading.load("ugrnn_gates", root)
    p = variant(problem, 1).parameters
    from autograder.authoring import source_notebook

    work = Work(source_notebook.build(problem, 1), problem, p)
    arguments = "h, x, W_hR, W_xR, B_R, W_hG, W_xG, B_G"
    work.answer_cell(problem.part("ugrnn"))["source"] = f"def ugrnn({arguments}):\n    return h + torch.rand_like(h)\n"
    notebook = handed(problem, root, work, 1)
    assert notebook.lost >= {"ugrnn"}
    asked = list(candidates([notebook], (1,), {}, LIMITS))
    assert asked
    assert not [item for item in asked if item.part == "ugrnn"]


def test_a_change_that_never_ends_has_no_key() -> None:
    """The process is run anew, and what was defined before is as it was."""
    cells = ["import torch", "def f(x):\n    while x.sum() > 1:\n        x = x - 1\n    return x"]
    question = Question(kind="call", name="f", arguments=(torch.ones(2, dtype=torch.float64),))
    with Bench(cells, {}) as bench:
        before = bench.ask([question])
        assert bench.changed("f", bench.definitions["f"].text.replace("x - 1", "x + 1"), [question]) == []
        after = bench.ask([question])
        assert torch.equal(before[0].value, after[0].value)


def test_each_change_is_asked_about_alone() -> None:
    """What was changed before it is as it was handed in, and so is all of it when the next question comes."""
    cells = ["def half(x):\n    return x / 2", "def f(x):\n    y = half(x)\n    return y + 10"]
    question = Question(kind="call", name="f", arguments=(8.0,))

    def value(answers: list[Answer]) -> list[object]:
        return [answer.value for answer in answers]

    with Bench(cells, {}) as bench:
        texts = {name: each.text for name, each in bench.definitions.items()}
        assert bench.traced(question)[0] == {"half": {2}, "f": {2, 3}}
        assert value(bench.changed("half", texts["half"].replace("/", "*"), [question])) == [26.0]
        assert value(bench.changed("f", texts["f"].replace("10", "11"), [question])) == [15.0]
        assert value(bench.changed("f", texts["f"].replace("+", "-"), [question])) == [-6.0]
        assert value(bench.changed("f", "raise ValueError", [question])) == [-6.0]  # nothing is written anew
        assert value(bench.changed("half", texts["half"].replace("2", "4"), [question])) == [12.0]
        assert value(bench.ask([question])) == [14.0]


def test_a_question_in_another_precision() -> None:
    """Arrays of real numbers only, wherever they stand."""
    put = Question(
        kind="module",
        name="f",
        arguments=(torch.ones(1, dtype=torch.float64), torch.ones(1, dtype=torch.int64), 3, [torch.ones(1).double()]),
        options={"state": {"w": torch.ones(1, dtype=torch.float64)}},
    )
    cast = with_dtype(put, torch.float32)
    kinds = [
        cast.arguments[0].dtype,
        cast.arguments[1].dtype,
        cast.arguments[3][0].dtype,
        cast.options["state"]["w"].dtype,
    ]
    assert kinds == [torch.float32, torch.int64, torch.float32, torch.float32]


def test_a_part_is_asked_about_as_it_stood_at_its_test(notebooks) -> None:
    """No cell behind its test has run, and no test."""
    notebook = notebooks[0].submission.notebook
    first, last = cells_before(notebook, "ugrnn"), cells_before(notebook, "TwoGateUGRNN")
    assert last[: len(first)] == first
    assert any("def ugrnn(" in cell for cell in first)
    assert not any("class TwoGateUGRNN" in cell for cell in first)
    assert not any("form.check(" in cell for cell in last)


def test_questions_about_lines_come_from_right_answers(notebooks) -> None:
    """One line is changed, and the others are the student's; of a derivation it is never the given one."""
    for notebook, key in itertools.product(notebooks, range(3)):
        for item in candidates([notebook], (key,), {}, LIMITS):
            if item.kind == "line":
                own = {line for typed in notebook.typed() for line in typed.lines}
                changed = [text.partition("`")[2].rstrip("`") for text in item.options]
                assert [line for line in changed if line not in own] == [changed[LETTERS.index(item.answer)]]

"""Reports whose answers are forgotten: points and codes stay, packs hold what the others' reports speak of."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from autograder.core import Answer, Outcome, Question, Report, Verdict
from autograder.errors import StaffError
from autograder.grading import answer_store, forgotten, report
from tests.grading.test_report import example, same

DAY = "2027-03-01"


def outcome(part: str, number: int) -> Outcome:
    """A part whose answers are large: ten thousand bytes of one number."""
    verdict = Verdict(check="values", ok=False, code="value", message="you said 7", witness="7", staff="7")
    answer = Answer(value=torch.full((10_000,), number, dtype=torch.uint8))
    question = Question(kind="call", name=part, arguments=(1,))
    return Outcome(
        part=part, standing="lost", points=0.5, max_points=2.0, verdicts=(verdict,), answers=((question, answer),)
    )


def saved(course: Path, student: str, *outcomes: Outcome) -> Path:
    """The report of a student."""
    path = report.path_of(course, "ps1", student, "tiny")
    report.save(Report(slug="tiny", version=2, parameters={"J": 7}, outcomes=outcomes), path)
    return path


def packs(course: Path) -> bytes:
    """All that the packs hold."""
    return b"".join(path.read_bytes() for path in sorted((course / "reports/ps1" / answer_store.FOLDER).iterdir()))


def test_packs_lose_the_answers_of_one_and_keep_those_of_another(tmp_path) -> None:
    """Of a pack that holds both, the shared answer moves; a killed run and a second one give the same."""
    ada = saved(tmp_path, "ada", outcome("f", 171), outcome("g", 205))
    bob = saved(tmp_path, "bob", outcome("f", 171))  # lies in ada's pack
    before = report.load(bob)
    (bob.parent / "tiny.json.1").write_bytes(bob.read_bytes())  # as a regrade keeps it
    forgotten.forget(ada, DAY)
    assert packs(tmp_path).count(b"\xcd" * 10_000) == 1 and forgotten.has_stray_answers(tmp_path / "reports/ps1")
    for _ in range(2):
        forgotten.repack(tmp_path / "reports/ps1")
        assert b"\xcd" * 100 not in packs(tmp_path) and packs(tmp_path).count(b"\xab" * 10_000) == 1
        assert not forgotten.has_stray_answers(tmp_path / "reports/ps1")
    assert same(report.load(bob), before)
    assert json.loads((bob.parent / "tiny.json.1").read_text())["outcomes"] == json.loads(bob.read_text())["outcomes"]
    forgotten.forget(bob, DAY)
    (bob.parent / "tiny.json.1").unlink()
    forgotten.repack(tmp_path / "reports/ps1")
    assert packs(tmp_path) == b""


def test_points_and_codes_stay_and_nothing_that_was_said(tmp_path) -> None:
    """Tables read them as before; who wants the answers is told the day."""
    path = saved(tmp_path, "ada", outcome("f", 171), *example().outcomes)
    before = report.findings(path)
    forgotten.forget(path, DAY)
    after = report.findings(path)
    assert (after.parameters, after.flags) == (before.parameters, ())
    assert {part: found.codes for part, found in after.parts.items()} == {
        part: found.codes for part, found in before.parts.items()
    }
    assert "7" not in json.dumps([json.loads(path.read_text())["outcomes"][0]["verdicts"]])
    assert {found.hint + found.typed for found in after.parts.values()} == {""}
    assert forgotten.is_forgotten(path)
    with pytest.raises(StaffError, match="were forgotten on 2027-03-01"):
        report.load(path)


@pytest.mark.parametrize("content", [None, "{", "[]", '{"outcomes": 7}'], ids=["none", "cut", "list", "odd"])
def test_where_there_is_no_report_one_says_that_there_was_a_notebook(tmp_path, content) -> None:
    """So that a mark of which nothing else is left does not become "missing"."""
    path = report.path_of(tmp_path, "ps1", "ada", "tiny")
    path.parent.mkdir(parents=True)
    if content is not None:
        path.write_text(content)
    forgotten.forget(path, DAY)
    assert report.findings(path).parts == {} and forgotten.is_forgotten(path)

"""Reports on disk: what was written is read again, answers included, and a damaged file says so."""

import base64
import json
import zlib

import numpy as np
import pytest
import torch

from autograder.core import Answer, Outcome, Question, Report, Verdict
from autograder.errors import StaffError
from autograder.grading import report
from autograder.protocol.answering import question_key
from autograder.protocol.codec import encode


def example(**more):
    """A report with every kind of content."""
    question = Question(kind="call", name="f", arguments=(torch.ones(2, 3), 5), options={"wrt": [0], "x": np.arange(3)})
    question_key(question)
    verdicts = (
        Verdict(check="values", ok=True, code="ok"),
        Verdict(check="gradient", ok=False, code="value", message="ünïcode ✓", witness="x = 1", staff="trace"),
        Verdict(check="person", ok=None, code="person"),
    )
    answers = ((question, Answer(value=torch.zeros(2))), (question, Answer(failure="timeout", detail="5 s")))
    outcome = Outcome(
        part="f", standing="lost", points=1.5, max_points=3.0, verdicts=verdicts, answers=answers, notes=("n",)
    )
    content = {"slug": "tiny", "version": 2, "parameters": {"J": 7, "names": ("a", "b")}, "outcomes": (outcome,)}
    return Report(**{**content, "flags": ("a flag",), **more})


def same(left, right):
    """Whether two values are equal, arrays entry by entry."""
    if isinstance(left, torch.Tensor | np.ndarray):
        return type(left) is type(right) and left.dtype == right.dtype and bool((left == right).all())
    if isinstance(left, Question):
        return (left.kind, left.name, left.found_key) == (right.kind, right.name, right.found_key)
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(map(same, left, right))
    if hasattr(left, "__dataclass_fields__"):
        return type(left) is type(right) and same(dict(vars(left)), dict(vars(right)))
    return left == right


def test_a_report_is_read_as_it_was_written(tmp_path):
    """Verdicts, notes, flags, parameters and every answer with what its question is known by."""
    path = report.path_of(tmp_path, "ps1", "ada", "tiny")
    report.save(example(), path)
    assert same(report.load(path), example())


def test_people_can_read_it(tmp_path):
    """Points, standing and sentences stand in the file as text; no other file is left beside it."""
    report.save(example(), tmp_path / "r.json")
    content = json.loads((tmp_path / "r.json").read_text())
    assert content["points"] == 1.5 and content["outcomes"][0]["standing"] == "lost"
    assert "ünïcode ✓" in (tmp_path / "r.json").read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["r.json"]


def test_saving_again_replaces_the_whole_file(tmp_path):
    """A shorter report leaves nothing of a longer one."""
    report.save(example(flags=("x" * 10_000,)), tmp_path / "r.json")
    report.save(example(), tmp_path / "r.json")
    assert same(report.load(tmp_path / "r.json"), example())


def test_a_failed_save_leaves_the_old_file(tmp_path):
    """What cannot be written does not cost what was there."""
    report.save(example(), tmp_path / "r.json")
    with pytest.raises(Exception, match="type"):
        report.save(example(parameters={"x": object()}), tmp_path / "r.json")
    assert same(report.load(tmp_path / "r.json"), example())


def large(number):
    """A report with answers that are not written into it."""
    question = Question(kind="call", name="f", arguments=(torch.ones(2, 3),))
    question_key(question)
    value = torch.full((40, 40), float(number), dtype=torch.float64)
    outcome = Outcome(
        part="f", standing="earned", points=3.0, max_points=3.0, answers=((question, Answer(value=value)),)
    )
    return example(outcomes=(outcome,))


def test_large_answers_lie_beside_the_reports_once(tmp_path):
    """Whoever gave the same has no copy of it; whoever gave another has one, and each report is read as written."""
    for student, number in {"ada": 1, "bob": 1, "cyd": 2, "dan": 1}.items():
        report.save(large(number), report.path_of(tmp_path, "ps1", student, "tiny"))
        assert report.path_of(tmp_path, "ps1", student, "tiny").stat().st_size < 2_000
    packs = list((tmp_path / "reports/ps1/.answers").iterdir())
    assert len(packs) == 2 and all(path.stat().st_mode & 0o077 == 0 for path in packs)
    for student, number in {"ada": 1, "bob": 1, "cyd": 2, "dan": 1}.items():
        assert same(report.load(report.path_of(tmp_path, "ps1", student, "tiny")), large(number))


def test_a_lost_pack_is_a_staff_error_and_is_written_again(tmp_path):
    """The tables need no arrays; a report that needs them says which file it is, and the next run writes them."""
    path = report.path_of(tmp_path, "ps1", "ada", "tiny")
    report.save(large(3), path)
    (pack,) = (tmp_path / "reports/ps1/.answers").iterdir()
    for damage in (lambda: pack.write_bytes(b"x"), pack.unlink):
        damage()
        with pytest.raises(StaffError, match=r"tiny\.json"):
            report.load(path)
        assert report.findings(path).parts["f"].codes == ()
    report.save(large(3), path)
    assert same(report.load(path), large(3))


def test_a_report_that_holds_its_answers_itself_is_read(tmp_path):
    """As all of them did once."""
    path = report.path_of(tmp_path, "ps1", "ada", "tiny")
    report.save(large(4), path)
    content = json.loads(path.read_text())
    (question, reply), *_ = large(4).outcomes[0].answers
    old = encode([[[question.kind, question.name, question.found_key], vars(reply)]])
    content["outcomes"][0]["answers"] = base64.b64encode(zlib.compress(old, 1)).decode()
    path.write_text(json.dumps(content))
    assert same(report.load(path), large(4))


DAMAGE = {
    "empty": lambda text: "",
    "cut off": lambda text: text[: len(text) // 2],
    "a list": lambda text: "[]",
    "no outcomes": lambda text: json.dumps({"slug": "x"}),
    "a key too many": lambda text: text.replace('"standing"', '"standing_"'),
    "answers that are no base64": lambda text: text.replace('"answers": "', '"answers": "!'),
    "answers that are no frame": lambda text: text.replace('"answers": "', '"answers": "eJwD'),
    "not UTF-8": lambda text: b"\xff\xfe",
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_file_that_is_no_report_is_a_staff_error(tmp_path, damage):
    """The message names the file; nothing else is raised."""
    path = tmp_path / "r.json"
    report.save(example(), path)
    content = damage(path.read_text())
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(StaffError) as caught:
        report.load(path)
    assert str(path) in caught.value.message


def test_a_missing_file_is_a_staff_error(tmp_path):
    """The same for a file that is not there."""
    with pytest.raises(StaffError):
        report.load(tmp_path / "nobody.json")


@pytest.mark.parametrize("standing", ["earned", "lost", "held"])
def test_the_sum_counts_points_only(standing):
    """A held part counts nothing until a person has looked."""
    outcome = Outcome(part="f", standing=standing, points=0.0 if standing == "held" else 2.0, max_points=3.0)
    assert example(outcomes=(outcome, outcome)).points == (0.0 if standing == "held" else 4.0)

"""Whether an assignment can be handed out: each check fails on what it is for, and says the way out."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from autograder.audit.parallel import processes
from autograder.authoring import building, loading, privacy
from autograder.authoring.assignment import read_assignment
from autograder.authoring.variants import SECRET_FILE
from autograder.simulation import readiness
from autograder.simulation.four_students import CLASS
from autograder.simulation.readiness import Check, checks

DATA = Path(__file__).resolve().parents[1] / "data" / "course"


@pytest.fixture
def course(tmp_path, monkeypatch) -> Path:
    """A course with one small problem, built."""
    monkeypatch.delenv("AUTOGRADER_PROBLEMS", raising=False)
    monkeypatch.delenv("AUTOGRADER_SECRET", raising=False)
    shutil.copytree(DATA, tmp_path / "course")
    path = tmp_path / "course" / "notebooks"
    privacy.make_folder(path)
    building.write(path, read_assignment(path, "ps1"))
    loading._load.cache_clear()
    return path


def look(course: Path, *names: str) -> dict[str, Check]:
    """Some of the checks."""
    with processes(1) as pool:
        return {title: make() for title, make in checks(course, "ps1", pool, variants=1) if title in names}


def test_all_is_in_order(course) -> None:
    """The audit, the leaks and the class of four as well."""
    with processes(1) as pool:
        made = [make() for _, make in checks(course, "ps1", pool, variants=1)]
    assert [check.name for check in made if not check.ok] == []
    assert [check.name for check in made] == [
        "secret", "permissions", "notebooks", "problems", "leaks", "paper", "students", "demo class",
    ]  # fmt: skip
    assert f"{len(CLASS)} students got the marks" in made[-1].found and "pages" in made[5].found


def test_a_secret_that_others_can_read(course) -> None:
    """The way out closes it."""
    (course / SECRET_FILE).chmod(0o644)
    with pytest.warns(privacy.PrivacyWarning):
        (check,) = look(course, "secret").values()
    assert not check.ok and "others can read" in check.found and check.way_out.startswith("chmod 600")


def test_a_statement_that_was_changed_since(course) -> None:
    """The notebooks are built again."""
    path = course.parent / "problems/tiny/statement.md"
    path.write_text(path.read_text().replace("Small on purpose", r"Small, $\nonesuch$"))
    found = look(course, "notebooks", "paper")
    assert not found["notebooks"].ok and "tiny" in found["notebooks"].found
    assert found["notebooks"].way_out.startswith("autograder build ps1")
    assert not found["paper"].ok and r"nothing here knows \nonesuch" in found["paper"].found


def test_a_stranger_with_an_accommodation(course) -> None:
    """A slip in an id is found before the day."""
    with (course / "ps1.toml").open("a") as file:
        file.write("[exam.accommodations.large]\nlarge = true\n")
    (course / "roster.csv").write_text("id,last_name\nada,L\n")
    (course / "accommodations.csv").write_text("id,label\nade,large\n")
    found = look(course, "students", "paper")
    assert not found["students"].ok and "ade" in found["students"].found and found["paper"].ok
    (course / "accommodations.csv").write_text("id,label\nada,large\n")
    assert look(course, "students")["students"].found == "1 on the roster, 1 with an accommodation"


def test_the_class_notices_a_wrong_mark(course, monkeypatch) -> None:
    """What should be lost and is not, part by part."""
    monkeypatch.setattr("autograder.simulation.four_students._made_in", lambda part, p: [part.reference])
    (check,) = look(course, "demo class").values()
    assert not check.ok and "the wrong answer is earned" in check.found


def test_a_fault_of_a_problem(course, monkeypatch) -> None:
    """The audit's first sentence, and how to see the others."""

    class Report:
        faults, kill_score = ("problems/tiny, part 'axis': it is wrong", "another"), (0, 1)

    monkeypatch.setattr(readiness, "audit_all", lambda *places, **options: [Report()])
    (check,) = look(course, "problems").values()
    assert not check.ok and "it is wrong (and 1 more)" in check.found and check.way_out == "autograder audit tiny"

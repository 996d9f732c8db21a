"""What a course keeps is its owner's, or its group's where a group shares it; and its secret is made once."""

from __future__ import annotations

import os
import stat
import warnings
from pathlib import Path

import pytest

from autograder.authoring import building, ledger, privacy
from autograder.authoring.variants import SECRET_FILE, SECRET_VARIABLE, course_secret
from autograder.core import Report
from autograder.course.journal import Journal
from autograder.errors import StaffError
from autograder.grading import report as reports

REPORT = Report(slug="tiny", version=1, parameters={}, outcomes=(), flags=(), digest="")


@pytest.fixture(autouse=True)
def _usual_umask(monkeypatch: pytest.MonkeyPatch):
    """The umask that lets everybody read, and no secret of the environment."""
    monkeypatch.delenv(SECRET_VARIABLE, raising=False)
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    """Who may do what."""
    return stat.S_IMODE(path.stat().st_mode) & 0o777


@pytest.mark.parametrize(("shared", "folder", "file"), [(False, 0o700, 0o600), (True, 0o770, 0o660)])
def test_reports_and_journal_are_nobody_elses(tmp_path: Path, shared: bool, folder: int, file: int) -> None:
    """Every folder from reports/ on and every file in it, also where an older one was open to all."""
    open_before = tmp_path / "reports" / "ps1"
    open_before.mkdir(parents=True)
    (tmp_path / "reports" / "ps1.jsonl").write_text("")
    path = reports.path_of(tmp_path, "ps1", "ada", "tiny")
    above = mode(tmp_path)
    reports.save(REPORT, path, shared=shared)
    Journal(tmp_path / "reports" / "ps1.jsonl", shared=shared).close()
    assert [mode(place) for place in list(path.parents)[:3]] == [folder] * 3
    assert mode(path) == file and mode(tmp_path / "reports" / "ps1.jsonl") == file
    assert mode(tmp_path) == above and reports.load(path) == REPORT


def test_a_report_elsewhere_closes_no_folder_above(tmp_path: Path) -> None:
    """A report that is saved outside a course leaves what is above its own folder as it is."""
    (tmp_path / "a").mkdir(mode=0o755)
    reports.save(REPORT, tmp_path / "a" / "b" / "tiny.json")
    assert mode(tmp_path / "a") == 0o755 and mode(tmp_path / "a" / "b") == 0o700


@pytest.mark.parametrize("shared", [False, True])
def test_a_graded_course_is_nobody_elses(classroom, shared: bool) -> None:
    """`grade` writes reports, journal and a gradebook of its own that others cannot read."""
    config = classroom.path / "nbgrader_config.py"
    config.write_text(config.read_text() + f"\nc.CourseDirectory.groupshared = {shared}\n")
    for name in ("gradebook.db", "source/ps1/tiny.ipynb"):
        (classroom.path / name).chmod(0o644)
    assert classroom.grade("--student", "perfect")["exit"] == 0
    for path in (classroom.path / "reports").rglob("*"):
        assert mode(path) == (0o770 if shared else 0o700) & (0o777 if path.is_dir() else 0o666), path
    assert mode(classroom.path / "reports") == (0o770 if shared else 0o700)
    for name in ("gradebook.db", "source/ps1/tiny.ipynb"):
        assert mode(classroom.path / name) == (0o660 if shared else 0o600), name
    assert mode(classroom.path / "autograded") == (0o770 if shared else 0o700)


@pytest.mark.parametrize(
    ("course", "above", "file", "inner", "said"),
    [
        (0o755, 0o755, 0o644, 0o755, True),
        (0o755, 0o755, 0o604, 0o711, True),
        (0o750, 0o755, 0o644, 0o755, False),
        (0o755, 0o700, 0o644, 0o755, False),
        (0o755, 0o755, 0o640, 0o755, False),
        (0o755, 0o755, 0o644, 0o750, False),
        (0o755, 0o755, None, 0o755, False),
    ],
)
def test_a_course_that_others_can_enter_is_said(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    course: int,
    above: int,
    file: int | None,
    inner: int,
    said: bool,
) -> None:
    """The warning names what can be read and the command that closes it, once; one closed door on the way is enough.

    A course in which there is nothing to read, as before the first submission, is no matter.
    """
    folder = tmp_path / "above" / "course"
    (folder / "submitted" / "ada").mkdir(parents=True)
    if file is not None:
        (folder / "submitted" / "ada" / "tiny.ipynb").touch(mode=0o600)
        (folder / "submitted" / "ada" / "tiny.ipynb").chmod(file)
    (folder / "submitted").chmod(inner)
    folder.chmod(course)
    folder.parent.chmod(above)
    closed = [place for place in (tmp_path, *tmp_path.parents) if not place.stat().st_mode & 1]
    real = Path.stat

    def as_if_open(path: Path, **options: bool) -> os.stat_result:
        found = real(path, **options)
        return os.stat_result((found.st_mode | 1, *found[1:])) if path in closed else found

    monkeypatch.setattr(Path, "stat", as_if_open)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        privacy.warn_where_open(folder)
        privacy.warn_where_open(folder)
    assert [f"(submitted); close it with: chmod o-rwx {folder}" in str(item.message) for item in caught] == [
        True
    ] * said


# The secret.


@pytest.mark.parametrize(
    ("file", "folder", "said"),
    [
        (0o600, 0o755, False),
        (0o400, 0o755, False),
        (0o644, 0o755, True),
        (0o604, 0o755, True),
        (0o602, 0o755, True),
        (0o640, 0o755, True),
        (0o640, 0o770, False),
        (0o644, 0o770, True),
    ],
)
def test_a_secret_that_others_can_read_is_said(tmp_path: Path, file: int, folder: int, said: bool) -> None:
    """It is used, with a warning that holds the command; the group may read where it may write to the course."""
    secret = course_secret(tmp_path)
    assert mode(tmp_path / SECRET_FILE) == 0o600
    (tmp_path / SECRET_FILE).chmod(file)
    tmp_path.chmod(folder)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert course_secret(tmp_path) == secret
    assert [f"chmod 600 {tmp_path / SECRET_FILE}" in str(item.message) for item in caught] == [True] * said


@pytest.mark.parametrize(("length", "taken"), [(1, False), (31, False), (32, True), (64, True)])
def test_a_short_secret_is_refused_wherever_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, length: int, taken: bool
) -> None:
    """One rule of length for the file and for the environment; spaces around it do not count."""
    text = "s" * length
    for place in ("file", "variable"):
        if place == "file":
            (tmp_path / SECRET_FILE).write_text(text + " \n")
            (tmp_path / SECRET_FILE).chmod(0o600)
        else:
            monkeypatch.setenv(SECRET_VARIABLE, text if taken else text + " " * 40)
        if taken:
            assert course_secret(tmp_path) == text.encode()
        else:
            with pytest.raises(StaffError, match="32 characters") as caught:
                course_secret(tmp_path)
            assert caught.value.code == "secret"


@pytest.mark.parametrize("name", ["submitted", "autograded", "reports", "students"])
def test_no_second_secret_for_a_class(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Where a class exists a lost secret is not replaced: the error says what to do, and the variable serves."""
    (tmp_path / name).mkdir()
    course_secret(tmp_path)  # an empty folder is no class
    (tmp_path / SECRET_FILE).unlink()
    (tmp_path / name / "ada").mkdir()
    with pytest.raises(StaffError, match=f"(?s){name}.*Restore .*{SECRET_VARIABLE}"):
        course_secret(tmp_path)
    assert not (tmp_path / SECRET_FILE).exists()
    monkeypatch.setenv(SECRET_VARIABLE, "the secret that was, of enough length")
    assert course_secret(tmp_path) == b"the secret that was, of enough length"


def test_no_second_secret_for_what_was_released(tmp_path: Path) -> None:
    """A released notebook, or the list that names one, shows that there is a class; a built one does not."""
    course_secret(tmp_path)
    for step, refused in [("built", False), ("released", True)]:
        ledger.record(tmp_path, [ledger.Made(step=step, assignment="ps1", slug="tiny", version=1, seed=7)])
        (tmp_path / SECRET_FILE).unlink()
        if refused:
            with pytest.raises(StaffError, match=ledger.FILE):
                course_secret(tmp_path)
        else:
            course_secret(tmp_path)
    (tmp_path / ledger.FILE).unlink()
    (tmp_path / "release" / "ps1").mkdir(parents=True)
    course_secret(tmp_path)
    (tmp_path / SECRET_FILE).unlink()
    (tmp_path / "release" / "ps1" / "tiny.ipynb").touch()
    with pytest.raises(StaffError, match="release"):
        course_secret(tmp_path)


def test_build_makes_the_secret_and_closes_the_sources(tmp_path: Path) -> None:
    """A course has its secret before it has a class, and its solutions are not everybody's."""
    import shutil

    from autograder.authoring.assignment import read_assignment

    shutil.copytree(Path(__file__).parents[1] / "data" / "course", tmp_path / "course")
    course = tmp_path / "course" / "notebooks"
    found = os.getcwd()
    os.chdir(course)
    try:
        written = building.write(course, read_assignment(course, "ps1"))
        assert mode(course / SECRET_FILE) == 0o600
        assert written and all(mode(path) == 0o600 for path, _ in written)
        course.chmod(0o770)
        building.write(course, read_assignment(course, "ps1"))
        assert all(mode(path) == 0o660 for path, _ in written)
    finally:
        os.chdir(found)
    odd = course.rename(course.with_name("c [x]"))
    with pytest.raises(StaffError, match=r"\[ and \].*pattern.*another name"):
        building.write(odd, read_assignment(odd, "ps1"))

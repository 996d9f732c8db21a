"""What we rely on in nbgrader, named: an upgrade that takes a piece of it away fails here with a sentence.

`autograder grade` writes nbgrader's database and files itself, and calls what nbgrader does not promise to keep. Read
the tables before you raise the bound in pyproject.toml: each row says what is used; where it is used, a search tells.
"""

from __future__ import annotations

import dataclasses
import inspect
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import jsonschema
import nbgrader
import pytest
from nbconvert.exporters import HTMLExporter
from nbformat.v4 import new_code_cell, new_markdown_cell
from nbgrader import api, apps, dbutil, plugins, preprocessors, utils
from nbgrader.apps.api import NbGraderAPI
from nbgrader.converters import Autograde, GenerateAssignment, GenerateFeedback
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import default as exchange
from nbgrader.nbgraderformat import SCHEMA_VERSION, MetadataValidator, common
from traitlets.config import Config, HasTraits

from autograder.grading.repair import released_checksum
from autograder.nbgrader import course_directory
from autograder.nbgrader.config import configure, prepare_gradebooks
from autograder.nbgrader.intake import Sanitize
from autograder.nbgrader.run_and_judge import RunAndJudge

ANY = object()
PLACE = ("cell", "notebook", "assignment", "student")

# What is called, where it is found, and the arguments that we give it.
CALLS: list[tuple[Any, str, tuple[Any, ...], tuple[str, ...]]] = [
    (api, "Gradebook", ("url", "course"), ()),
    (api, "new_uuid", (), ()),
    (api, "get_alembic_version", (), ()),
    (api.Gradebook, "find_assignment", (ANY, "assignment"), ()),
    (api.Gradebook, "find_notebook", (ANY, *PLACE[1:3]), ()),
    (api.Gradebook, "find_grade", (ANY, *PLACE), ()),
    (api.Gradebook, "find_comment", (ANY, *PLACE), ()),
    (api.Gradebook, "find_submission_notebook", (ANY, *PLACE[1:]), ()),
    (api.Gradebook, "close", (ANY,), ()),
    (utils, "parse_utc", ("timestamp",), ()),
    (utils, "find_all_files", ("folder", ["*.ipynb"]), ()),
    (utils, "rmtree", ("folder",), ()),
    (apps.NbGrader, "load_config_file", (ANY,), ()),
    (apps.api, "temp_attrs", (ANY,), ("assignment_id", "student_id")),
    (NbGraderAPI, "__init__", (ANY,), ("config",)),
    (NbGraderAPI, "generate_assignment", (ANY, "assignment"), ()),
    (NbGraderAPI, "release_assignment", (ANY, "assignment"), ()),
    (NbGraderAPI, "collect", (ANY, "assignment"), ()),
    (NbGraderAPI, "get_submitted_students", (ANY, "assignment"), ()),
    (NbGraderAPI, "autograde", (ANY, "assignment", "student"), ("force",)),
    (NbGraderAPI, "generate_feedback", (ANY, "assignment", "student"), ("force",)),
    (CourseDirectory, "format_path", (ANY, "step", "student", "assignment"), ("escape",)),
    (CourseDirectory, "get_existing_timestamp", (ANY, "folder"), ()),
    (Autograde, "__init__", (ANY,), ("coursedir", "parent")),
    (Autograde, "run_pre_convert_hook", (ANY,), ()),
    (Autograde, "set_permissions", (ANY, "assignment", "student"), ()),
    (GenerateFeedback, "__init__", (ANY,), ("coursedir", "parent")),
    (preprocessors.NbGraderPreprocessor, "preprocess", (ANY, "notebook", "resources"), ()),
    (preprocessors.GetGrades, "preprocess_cell", (ANY, "cell", "resources", 0), ()),
    (preprocessors.AssignLatePenalties, "init_plugin", (ANY,), ()),
    (preprocessors.AssignLatePenalties, "_check_late_penalty", (ANY, "notebook", 1.0), ()),
    (plugins.LateSubmissionPlugin, "late_submission_penalty", (ANY, "student", 1.0, 1.0), ()),
    (plugins.CsvExportPlugin, "export", (ANY, "gradebook"), ()),
    (exchange.ExchangeFetchAssignment, "start", (ANY,), ()),
    (exchange.ExchangeFetchAssignment, "__init__", (ANY,), ("coursedir", "authenticator", "parent")),
    (exchange.ExchangeSubmit, "start", (ANY,), ()),
    (exchange.ExchangeSubmit, "__init__", (ANY,), ("coursedir", "authenticator", "parent")),
    (HTMLExporter, "_init_resources", (ANY, "resources"), ()),
    (HTMLExporter, "_template_paths", (ANY,), ()),
    (HTMLExporter, "_create_environment", (ANY,), ()),
]

# Traits that `configure` or a course's file sets, or that we read.
TRAITS: list[tuple[type[HasTraits], str]] = [
    (Autograde, "exporter_class sanitize_preprocessors autograde_preprocessors pre_convert_hook notebooks"),
    (Autograde, "create_student exclude_overwriting permissions coursedir"),
    (GenerateFeedback, "exporter_class preprocessors permissions"),
    (
        CourseDirectory,
        "root course_id assignment_id student_id student_id_exclude notebook_id ignore groupshared db_url",
    ),
    (CourseDirectory, "source_directory submitted_directory autograded_directory feedback_directory"),
    (preprocessors.AssignLatePenalties, "plugin_inst"),
    (preprocessors.GetGrades, "display_data_priority"),
    (exchange.ExchangeSubmit, "assignment_dir"),
    (plugins.CsvExportPlugin, "to"),
    (HTMLExporter, "extra_template_basedirs template_name template_paths _preprocessors"),
]

# Rows that we write: what we put into a new one (the rest must fill itself in), and what else we read or change.
WRITTEN: list[tuple[type[Any], str, str]] = [
    (api.Student, "id", ""),
    (api.SubmittedAssignment, "id assignment_id student_id", "timestamp extension total_seconds_late"),
    (api.SubmittedNotebook, "id notebook_id assignment_id", "late_submission_penalty score max_score"),
    (api.Grade, "cell_id notebook_id", "auto_score manual_score needs_manual_grade score max_score"),
    (api.Comment, "cell_id notebook_id", "auto_comment manual_comment"),
]
READ: list[tuple[type[Any], str]] = [
    (api.BaseCell, "id name"),
    (api.Assignment, "id notebooks"),
    (api.Notebook, "id name grade_cells solution_cells task_cells"),
    (api.Gradebook, "__enter__ __exit__"),
    (exchange.ExchangeError, "args"),
]

# nbgrader's own steps, which ours stand in for; one that is new there is missing here.
STEPS: list[tuple[str, Callable[[], Any], str]] = [
    (
        "sanitize",
        lambda: Autograde.sanitize_preprocessors.default(),
        " ".join(step.__name__ for step in Sanitize.steps),
    ),
    (
        "autograde",
        lambda: Autograde.autograde_preprocessors.default(),
        " ".join(step.__name__ for step in RunAndJudge.others) + " AssignLatePenalties CheckCellMetadata",
    ),
    ("feedback", lambda: GenerateFeedback.preprocessors.default(), "GetGrades CSSHTMLHeaderPreprocessor"),
    (
        "release",
        lambda: GenerateAssignment.preprocessors.default(),
        "IncludeHeaderFooter InstantiateTests LockCells ClearSolutions ClearOutput CheckCellMetadata ComputeChecksums"
        " SaveCells ClearHiddenTests ClearMarkScheme ComputeChecksums CheckCellMetadata",
    ),
]


def broken(
    calls: Sequence[tuple[Any, str, tuple[Any, ...], tuple[str, ...]]] = (),
    traits: Sequence[tuple[type[HasTraits], str]] = (),
    written: Sequence[tuple[type[Any], str, str]] = (),
    read: Sequence[tuple[type[Any], str]] = (),
    steps: Sequence[tuple[str, Callable[[], Any], str]] = (),
) -> Iterator[str]:
    """A sentence for each thing that we rely on and that is not so."""
    for owner, name, given, named in calls:
        called = f"{owner.__name__}.{name}"
        if not hasattr(owner, name):
            yield f"{called} is gone"
            continue
        try:
            function = getattr(owner, name)
            function = getattr(function, "func", function)  # traitlets wraps what gives a default
            inspect.signature(function).bind(*given, **dict.fromkeys(named))
        except TypeError as error:
            yield f"{called} cannot be called as we do: {error}"
    for owner, names in traits:
        for name in names.split():
            if not (owner.class_traits().get(name) or hasattr(owner, name)):
                yield f"{owner.__name__} has no trait {name}"
    for model, given, more in written:
        yield from _columns(model, set(given.split()), more)
    for model, names in read:
        yield from (f"{model.__name__} has no {name}" for name in names.split() if not hasattr(model, name))
    for step, default, ours in steps:
        theirs = [item if isinstance(item, str) else item.__name__ for item in default()]
        if [item.split(".")[-1] for item in theirs] != ours.split():
            yield f"the steps of {step} are {' '.join(theirs)}, and we stand in for {ours}"


def _columns(model: type[Any], given: set[str], more: str) -> Iterator[str]:
    columns = model.__table__.columns
    yield from (f"{model.__name__} has no column {name}" for name in sorted(given - set(columns.keys())))
    for column in columns:
        fills_itself = column.nullable or column.default is not None
        if column.name not in given and not fills_itself:
            yield f"{model.__name__} has a column {column.name} that we would have to fill in"
    yield from (f"{model.__name__} has no {name}" for name in more.split() if not hasattr(model, name))


def test_cells_are_marked_as_now() -> None:
    """The marks that we write into cells are of nbgrader's schema 3."""
    assert SCHEMA_VERSION == 3


def test_what_we_rely_on_is_there() -> None:
    """Functions take the arguments that we give, classes have the traits and columns, and the steps are those known."""
    found = list(broken(CALLS, TRAITS, WRITTEN, READ, STEPS))
    assert not found, f"nbgrader {nbgrader.__version__} is not what autograder/nbgrader was written for: {found}"


def test_a_new_gradebook_has_the_version_that_alembic_says() -> None:
    """Read from the folder of migrations, it is what a process of its own would tell nbgrader, which asks for it."""
    with dbutil._temp_alembic_ini("sqlite://") as ini:
        words = [sys.executable, "-m", "alembic", "-c", ini, "heads"]
        run = subprocess.run(words, capture_output=True, text=True, check=True)
    prepare_gradebooks()
    assert api.get_alembic_version() == run.stdout.split()[0]
    assert "get_alembic_version" in api.Gradebook.__init__.__code__.co_names


@pytest.mark.parametrize(
    "told",
    [
        {},
        {"db_url": "postgresql://x/y", "submitted_directory": "in", "autograded_directory": "marked"},
        {"directory_structure": "{assignment_id}/{nbgrader_step}/{student_id}", "root": "/elsewhere"},
    ],
)
def test_a_courses_folders_are_nbgraders(told: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is read without nbgrader has its names and its defaults."""
    monkeypatch.chdir(tmp_path)
    config = Config({"CourseDirectory": {"course_id": "x", **told}})
    theirs, ours = CourseDirectory(config=config), course_directory.CourseDirectory.of(config, str(tmp_path))
    names = [field.name for field in dataclasses.fields(ours) if field.name != "db_url"]
    assert {name: getattr(ours, name) for name in names} == {name: getattr(theirs, name) for name in names}
    assert ours.database == theirs.db_url
    assert ours.format_path("source", ".", "ps1") == str(Path(theirs.format_path("source", ".", "ps1")))


MARKS = {"schema_version": SCHEMA_VERSION, "grade_id": "a", "grade": False, "solution": True, "locked": False,
         "task": False, "points": 0, "cell_type": "code", "checksum": "0" * 32}  # fmt: skip
CHANGED: list[tuple[dict[str, Any], type[Exception] | None]] = [
    ({}, None),
    ({"grade": "yes"}, common.ValidationError),
    ({"points": -1}, common.ValidationError),
    ({"schema_version": SCHEMA_VERSION - 1}, common.SchemaTooOldError),
    ({"schema_version": SCHEMA_VERSION + 1}, common.SchemaTooNewError),
]


@pytest.mark.parametrize(("changed", "error"), CHANGED)
def test_the_marks_of_cells_are_validated_as_by_nbgrader(
    changed: dict[str, Any], error: type[Exception] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a schema that is checked once, nbgrader says of each cell what it says by itself."""
    cell = new_code_cell(metadata={"nbgrader": MARKS | changed})
    said = []
    for own in (True, False):
        prepare_gradebooks()
        assert "jsonschema" in common.BaseMetadataValidator.validate_cell.__code__.co_names
        if own:
            monkeypatch.setattr(common, "jsonschema", jsonschema)
        try:
            MetadataValidator().validate_cell(cell)
            said.append((None, ""))
        except Exception as raised:
            said.append((type(raised), str(raised)))
    assert said[0] == said[1] and said[0][0] is error


def test_a_gradebook_that_is_opened_again_is_the_file_of_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was compiled is kept, no connection: not to a file that was removed, nor to one of another folder."""
    prepare_gradebooks()
    assert "create_engine" in api.Gradebook.__init__.__code__.co_names
    engines = []
    for place in ("one", "other", "one"):
        (tmp_path / place).mkdir(exist_ok=True)
        monkeypatch.chdir(tmp_path / place)
        file = Path("gradebook.db")
        file.unlink(missing_ok=True)
        book = api.Gradebook("sqlite:///gradebook.db", "course")
        assert file.is_file() and book.students == []
        book.add_student(place)  # and left open, as some of nbgrader's steps leave it
        engines.append(book.engine)
        again = api.Gradebook("sqlite:///gradebook.db", "course")
        assert [student.id for student in again.students] == [place]
        again.close()
        book.close()
    assert engines[0] is engines[2] is not engines[1]
    with api.Gradebook("sqlite://") as one, api.Gradebook("sqlite://") as other:
        assert one.engine is not other.engine


def test_alembic_is_found_without_an_activated_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`nbgrader db upgrade` looks for it by its bare name."""
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    configure(Config(), tmp_path)
    assert shutil.which("alembic") == str(Path(sys.executable).with_name("alembic"))


class Changed:
    """Functions as another release could have them."""

    def _check_late_penalty(self, notebook: Any, *, penalty: float) -> float: ...


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ({"calls": [(Changed, "init_plugin", (ANY,), ())]}, "Changed.init_plugin is gone"),
        (
            {"calls": [(Changed, "_check_late_penalty", (ANY, "notebook", 1.0), ())]},
            "Changed._check_late_penalty cannot be called as we do: too many positional arguments",
        ),
        ({"traits": [(Autograde, "permissions cleanser")]}, "Autograde has no trait cleanser"),
        ({"written": [(api.Comment, "cell_id notebook_id mood", "")]}, "Comment has no column mood"),
        ({"written": [(api.Comment, "cell_id notebook_id", "mood")]}, "Comment has no mood"),
        (
            {"written": [(api.Student, "first_name", "")]},
            "Student has a column id that we would have to fill in",
        ),
        ({"read": [(api.Notebook, "id essays")]}, "Notebook has no essays"),
        (
            {"steps": [("feedback", lambda: ["nbgrader.preprocessors.GetGrades", "New"], "GetGrades")]},
            "the steps of feedback are nbgrader.preprocessors.GetGrades New, and we stand in for GetGrades",
        ),
    ],
)
def test_what_is_not_there_is_named(rows: dict[str, Any], sentence: str) -> None:
    """The test above can fail: each kind of change gives its sentence."""
    assert list(broken(**rows)) == [sentence]


@pytest.mark.parametrize("kind", ["locked", "answer", "test", "written"])
def test_a_released_cell_has_the_checksum_that_tells_it_untouched(kind: str) -> None:
    """What says that a student changed nothing is nbgrader's own checksum, for every kind of cell."""
    marks: dict[str, Any] = {
        "grade_id": "a",
        "locked": kind in ("locked", "test"),
        "solution": kind in ("answer", "written"),
    }
    marks |= {"grade": True, "points": 3} if kind in ("test", "written") else {"grade": False}
    make = new_markdown_cell if kind in ("locked", "written") else new_code_cell
    cell = make("x = 1 # ä", metadata={"nbgrader": marks})
    assert released_checksum(cell.cell_type, cell.source, marks) == utils.compute_checksum(cell)
    assert released_checksum(cell.cell_type, cell.source + "!", marks) != utils.compute_checksum(cell)

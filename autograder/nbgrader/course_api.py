"""nbgrader's own steps, run in this process on a course folder: what its commands do, without their start-up time."""

from __future__ import annotations

import contextlib
import csv
import logging
import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.authoring.roster import Person
from autograder.errors import StaffError
from autograder.nbgrader.config import prepare_gradebooks
from autograder.nbgrader.course_directory import working_directory

LINES = 40  # of a failure's log
# Lines of that log which say nothing of the reason, and those which name the notebook that was at hand.
_POINTS_ELSEWHERE = re.compile(r"Please see the|There was an error processing|Removing failed")
_NOTEBOOK = re.compile(r"(?:Sanitizing|Autograding|Converting notebook) .*?([^/]+\.ipynb)")


@contextlib.contextmanager
def opened(course: Path, *, verbose: bool = False) -> Iterator[Any]:
    """nbgrader's API for the course with the configuration in its folder; the working directory is the course's."""
    with working_directory(course), warnings.catch_warnings():
        # nbgrader's models overlap in their relationships, and its own calls are deprecated: nobody here can mend it.
        warnings.filterwarnings("ignore", module=r"(nbgrader|nbconvert|jupyter_client|traitlets|sqlalchemy)")
        warnings.filterwarnings("ignore", message=".*relationship .*")
        prepare_gradebooks()
        from nbgrader.apps import NbGrader
        from nbgrader.apps.api import NbGraderAPI

        app = NbGrader(log_level=logging.INFO if verbose else logging.CRITICAL)
        app.load_config_file()
        yield NbGraderAPI(config=app.config)


def done(step: str, result: dict[str, Any]) -> str:
    """The log of one of the API's steps; StaffError with nbgrader's own words where it failed."""
    log = str(result.get("log", ""))
    if result.get("success"):
        return log
    lines = log.splitlines()
    first = next((i for i, line in enumerate(lines) if line.startswith(("[ERROR]", "[CRITICAL]"))), len(lines))
    told = [line for line in lines[first:] if line.strip() and not _POINTS_ELSEWHERE.search(line)]
    cause = "\n".join(told[-LINES:]) or str(result.get("error", "")).strip()
    notebooks = _NOTEBOOK.findall("\n".join(lines))
    where = f"\nin the notebook {notebooks[-1]}" if notebooks else ""
    raise StaffError("nbgrader", f"nbgrader's {step} failed:\n{cause}{where}")


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """nbgrader's exchange, as a student uses it: in the folder `desk`, under the student's id."""

    api: Any
    assignment: str
    desk: Path
    student: str

    def fetch(self) -> None:
        """Copy the released assignment to the desk."""
        self._run("ExchangeFetchAssignment")

    def submit(self) -> None:
        """Hand in what lies on the desk."""
        self._run("ExchangeSubmit")

    def _run(self, name: str) -> None:
        from nbgrader.apps.api import temp_attrs
        from nbgrader.exchange import ExchangeError, default

        api = self.api
        with temp_attrs(api.coursedir, assignment_id=self.assignment, student_id=self.student):
            step = getattr(default, name)(coursedir=api.coursedir, authenticator=api.authenticator, parent=api)
            step.assignment_dir = str(self.desk)
            try:
                step.start()
            except ExchangeError as error:
                raise StaffError("exchange", f"nbgrader's exchange failed for {self.student}: {error}") from error


def scores(api: Any, path: Path) -> dict[str, float]:
    """Each student's score, by nbgrader's CSV of all marks, which is left at `path`."""
    from nbgrader.plugins import CsvExportPlugin

    with api.gradebook as gradebook:
        CsvExportPlugin(to=str(path), parent=api).export(gradebook)
    with path.open(newline="") as file:
        return {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}


def grading_of(api: Any, assignment: str) -> Any:
    """nbgrader's Autograde of an assignment, as the course's configuration has it; nothing is begun."""
    from nbgrader.converters import Autograde

    api.coursedir.assignment_id = assignment
    return Autograde(coursedir=api.coursedir, parent=api)


def students(api: Any) -> list[dict[str, Any]]:
    """Everybody that the gradebook knows, with what it knows of them; nobody where there is no gradebook yet."""
    url = str(api.coursedir.db_url)
    if url.startswith("sqlite:///") and not Path(url.removeprefix("sqlite:///")).is_file():
        return []
    with api.gradebook as gradebook:
        return [
            {key: getattr(row, key, None) for key in ("id", "first_name", "last_name", "email", "lms_user_id")}
            for row in gradebook.students
        ]


def enrol(api: Any, people: Iterable[Person]) -> None:
    """Let the gradebook know everybody on the roster, so that who hands in nothing has a line in the marks too."""
    with api.gradebook as gradebook:
        for person in people:
            last, _, first = next((name for name in reversed(person.names) if ", " in name), "").partition(", ")
            told = {"last_name": last, "first_name": first, "email": person.mail}
            told["lms_user_id"] = person.numbers.get("canvas", "")
            gradebook.update_or_create_student(person.id, **{word: text for word, text in told.items() if text})

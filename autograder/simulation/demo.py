"""`autograder demo`: a term in a temporary folder, with a simulated class and nbgrader's own steps.

Students hand in through nbgrader's exchange, in a folder of its own. One person runs it for everybody, which nbgrader
allows: `submit` takes the student's id, and `collect` is told not to compare it with the owner of the file.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.authoring import building, loading
from autograder.authoring.assignment import Assignment, read_assignment
from autograder.authoring.new_course import PROBLEM
from autograder.authoring.scaffold import scaffold
from autograder.authoring.shipped import shipped
from autograder.authoring.variants import class_seed, variant
from autograder.core import Problem, Report
from autograder.course import committing
from autograder.errors import StaffError
from autograder.grading import report
from autograder.nbgrader.course_api import Exchange, done, opened, scores
from autograder.simulation.classroom import Persona, Work, hand_in
from autograder.simulation.personas import personas

PROBLEMS = ("ugrnn_gates", "merged_query_key", "parameter_counting")  # a term in a minute
ASSIGNMENT = "ps1"
CONFIG = '''"""nbgrader's configuration of the demo: a real course's, with short limits and an exchange of its own."""

from pathlib import Path

from autograder.nbgrader import configure

here = Path(__file__).parent
c = get_config()
c.CourseDirectory.course_id = "demo"
c.Exchange.root = str(here.parent / "exchange")
c.Exchange.cache = str(here.parent / "cache")
c.ExchangeCollect.check_owner = False
c.RunAndJudge.cell_seconds = {seconds}
c.RunAndJudge.question_seconds = {seconds}
configure(c, here)
'''

# The members of the class and what each does; `mistake` and `equivalent` are the problem's own, another each time.
CLASS = {
    "ada": "perfect",
    "blaise": "equivalent",
    "carl": "mistake",
    "dorothy": "mistake",
    "emmy": "half_done",
    "felix": "noise_on_stderr",
    "grace": "stripped_metadata",
    "henri": "edited_then_stub",
    "ida": "loop_in_function",
    "john": "forged_1e9",
    "katherine": "truncated_json",
    "leonhard": "no_submission",
    "maryam": "exit_in_function",
    "niels": "answer_below_the_test",
    "olga": "exception_in_answer",
    "pierre": "asserts_dropped",
    "rosa": "reordered_cells",
    "sophie": "renamed_file",
    "tullio": "deleted_test_cell",
    "ursula": "wrong_but_running",
    "vera": "helper_cell",
    "william": "empty_notebook",
}

# What stands in the table for a mark that is not there yet: a sign that nothing else there is cut off with.
HELD = "?"

# Told how far a step of so many pieces is; the command line draws a bar.
Progress = Callable[[str, int, int], None]


@dataclass(kw_only=True)
class Student:
    """A member of the class, what was done by problem, and what came of it."""

    name: str
    does: dict[str, Persona]
    reports: dict[str, Report] = field(default_factory=dict)
    score: float = 0.0

    @property
    def deed(self) -> str:
        """What the student did, in words; of a mistake or an equivalent, in each problem."""
        kinds = {persona.name.split("_")[0] for persona in self.does.values()}
        descriptions = dict.fromkeys(persona.description.rstrip(".") for persona in self.does.values())
        if kinds == {"mistake"}:
            return "A known mistake in each notebook"
        return "Correct, written differently" if kinds == {"equivalent"} else "; ".join(descriptions)


@dataclass(kw_only=True)
class Demo:
    """A finished demo: the class with its marks, and nbgrader's exported table."""

    folder: Path
    problems: Sequence[Problem]
    students: list[Student]
    exported: dict[str, float]

    @property
    def points(self) -> float:
        """What the assignment is worth."""
        return sum(problem.points for problem in self.problems)


@contextmanager
def folder(keep: bool) -> Iterator[Path]:
    """A temporary folder, removed at the end unless it is to be kept.

    A user without a home, as containers have them, gets it as home meanwhile: Jupyter does not start without one.
    """
    path = Path(tempfile.mkdtemp(prefix="autograder-demo-"))
    homeless = _homeless()
    if homeless:
        os.environ["HOME"] = str(path)
    try:
        yield path
    finally:
        if homeless:
            del os.environ["HOME"]
        if not keep:
            shutil.rmtree(path, onerror=_writable)


def _homeless() -> bool:
    try:
        Path.home()
    except RuntimeError:
        return True
    return False


def _writable(function: Callable[[str], Any], path: str, _: Any) -> None:
    """nbgrader's exchange leaves folders that their owner may not write to."""
    for place in (Path(path).parent, Path(path)):
        place.chmod(0o700)
    function(path)


def problems_around(place: Path) -> Path:
    """The problems of the course around this folder; where it has none, those shipped, or that of a new course."""
    try:
        root = loading.find_problems()
        if loading.slugs(root):
            return root
    except StaffError:
        pass
    if found := shipped():
        return found
    scaffold(place / loading.FOLDER, PROBLEM)
    return place / loading.FOLDER


def chosen(root: Path) -> list[str]:
    """The demo's own problems, or, in a course of others, all there are."""
    there = loading.slugs(root)
    return [slug for slug in PROBLEMS if slug in there] or there


def run(
    place: Path,
    *,
    slugs: Sequence[str] = (),
    students: int = 12,
    seconds: float = 3,
    verbose: bool = False,
    progress: Progress = lambda step, finished, pieces: None,
) -> Demo:
    """Build, release, commit, hand in, collect, grade, give feedback and export, all in `place`.

    `slugs` are the problems (those of `PROBLEMS`, if none are named), `seconds` the limit of a cell and of a question.
    """
    root = problems_around(place)
    problems = [loading.load(slug, root) for slug in slugs or chosen(root)]
    if not 1 <= students <= len(CLASS):
        raise StaffError("students", f"the demo's class has 1 to {len(CLASS)} members, not {students}")
    course = make_course(place, root, problems, seconds)
    with opened(course, verbose=verbose) as api:
        progress("build and release", 0, 1)
        assignment = read_assignment(course, ASSIGNMENT)
        building.write(course, assignment)
        done("generate_assignment", api.generate_assignment(ASSIGNMENT))
        done("release_assignment", api.release_assignment(ASSIGNMENT))
        committing.commit(course, ASSIGNMENT)
        progress("build and release", 1, 1)
        members = class_of(problems, students)
        for number, member in enumerate(members, 1):
            _study(api, place, assignment, member, problems)
            progress("students fetch, work and submit", number, students)
        done("collect", api.collect(ASSIGNMENT))
        handed_in = [member for member in members if member.name in api.get_submitted_students(ASSIGNMENT)]
        for step in ("autograde", "generate_feedback"):
            for number, member in enumerate(handed_in, 1):
                done(step, getattr(api, step)(ASSIGNMENT, member.name))
                progress(step.replace("_", " "), number, len(handed_in))
        exported = scores(api, course / "grades.csv")
    for member in members:
        _read(course, member, exported)
    return Demo(folder=place, problems=problems, students=members, exported=exported)


def make_course(place: Path, root: Path, problems: Sequence[Problem], seconds: float) -> Path:
    """A course folder with the problems beside it."""
    course = place / "notebooks"
    course.mkdir()
    (place / "exchange").mkdir(mode=0o777)
    (place / "exchange").chmod(0o777)
    if root != place / loading.FOLDER:
        (place / loading.FOLDER).symlink_to(root.resolve(), target_is_directory=True)
    if (root.resolve().parent / "solutions").is_dir():
        (place / "solutions").symlink_to(root.resolve().parent / "solutions", target_is_directory=True)
    (course / "nbgrader_config.py").write_text(CONFIG.format(seconds=seconds))
    names = ", ".join(f'"{problem.slug}"' for problem in problems)
    (course / f"{ASSIGNMENT}.toml").write_text(f'title = "Problem set 1"\nproblems = [{names}]\nseed = 1\n')
    return course


def class_of(problems: Sequence[Problem], size: int) -> list[Student]:
    """The first members of the class, each with a persona for every problem."""
    seen: dict[str, int] = {}
    members = []
    for name, deed in list(CLASS.items())[:size]:
        number = seen[deed] = seen.get(deed, -1) + 1
        does = {problem.slug: _persona(problem, deed, number) for problem in problems}
        members.append(Student(name=name, does=does))
    return members


def _persona(problem: Problem, deed: str, number: int) -> Persona:
    """The persona of that name; of a kind that has several (`mistake`), another each time."""
    everybody = personas(problem)
    named = [persona for persona in everybody if persona.name == deed]
    several = [persona for persona in everybody if persona.name.startswith(f"{deed}_")]
    several = several[:: max(len(several) // 2, 1)]
    choice = named or several or everybody  # a problem without equivalents: perfect, the first of all
    return choice[number % len(choice)]


def _study(api: Any, place: Path, assignment: Assignment, member: Student, problems: Sequence[Problem]) -> None:
    """Fetch the assignment, write the answers, hand in."""
    desk = place / "students" / member.name
    desk.mkdir(parents=True)
    exchange = Exchange(api=api, assignment=assignment.name, desk=desk, student=member.name)
    exchange.fetch()
    fetched = desk / assignment.name
    files: dict[str, Any] = {}
    for problem in problems:
        released = json.loads((fetched / f"{problem.slug}.ipynb").read_text())
        p = variant(problem, class_seed(assignment, problem)).parameters
        files |= member.does[problem.slug].make(Work(released, problem, p))
    shutil.rmtree(fetched)
    if files:
        hand_in(files, fetched)
        exchange.submit()


def _read(course: Path, member: Student, exported: dict[str, float]) -> None:
    member.score = exported.get(member.name, 0.0)
    for slug in member.does:
        path = report.path_of(course, ASSIGNMENT, member.name, slug)
        if path.is_file():
            member.reports[slug] = report.load(path)


def marks(student: Student, problem: Problem) -> str:
    """The student's marks for the parts of a problem, "?" for held ones."""
    if problem.slug not in student.reports:
        return "–"
    outcomes = student.reports[problem.slug].outcomes
    return " ".join(HELD if outcome.standing == "held" else f"{outcome.points:g}" for outcome in outcomes)


def why(student: Student) -> str:
    """Why marks were lost or held: the codes, with the hint of the first one, and what had to be mended."""
    if not student.reports:
        return "nothing was handed in"
    lost: dict[str, str] = {}
    flags: dict[str, None] = {}
    for each in student.reports.values():
        flags |= dict.fromkeys(each.flags)
        for outcome in each.outcomes:
            wanted = None if outcome.standing == "held" else False
            for verdict in outcome.verdicts:
                if verdict.ok is wanted and verdict.code not in ("person", "not_reached"):
                    lost.setdefault(verdict.code, verdict.message)
    hint = next(iter(lost.values()), "")
    words = [", ".join(lost), textwrap.shorten(hint, 90, placeholder=" …")]
    return ". ".join(filter(None, words)) or next(iter(flags), "")

"""What the parts of an assignment are worth: by the problems, in `source/`, and in the gradebook. One class, one scale.

The gradebook's points are those that everybody was marked by. They change when the whole class is marked again, and at
no other time: a command that marks only some says what to run instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
from nbgrader import utils
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.coursedir import CourseDirectory

from autograder.authoring import loading
from autograder.authoring.assignment import Assignment, read_if_there
from autograder.authoring.building import notebooks
from autograder.authoring.sealing import MINE, is_ours
from autograder.authoring.variants import variant
from autograder.authoring.voids import Void, listed
from autograder.core import Answer, Part, Problem
from autograder.errors import AutograderError, StaffError, did_you_mean
from autograder.grading.judge import judge_part
from autograder.nbgrader.course_api import opened
from autograder.nbgrader.handouts import read_source

Points = Mapping[str, float]  # by part


@dataclass(frozen=True, kw_only=True)
class Scale:
    """The points of each notebook's parts, by the notebook's name, voids left aside; notebooks that are ours alone."""

    assignment: str
    points: Mapping[str, Points]
    written: Assignment | None = None
    slugs: Mapping[str, str] = field(default_factory=dict)

    def voids(self, notebook: str) -> Mapping[str, Void]:
        """What holds for the parts of a notebook."""
        return self.written.voids.get(self.slugs[notebook], {}) if self.written and notebook in self.slugs else {}

    def maximum(self, notebook: str, part: str) -> float:
        """What a part counts in the gradebook."""
        return self.voids(notebook).get(part, Void()).worth(self.points[notebook][part])

    def sentences(self) -> list[str]:
        """Each void in a line."""
        voids = self.written.voids if self.written else {}
        return [f"void {slug}.{part}: {_where(void)}{void.sentence()}" for slug, part, void in listed(voids)]


def _where(void: Void) -> str:
    return f"(variants {', '.join(map(str, void.variants))}) " if void.variants else ""


def scale_of(course: Path, assignment: str, sources: Mapping[str, Any]) -> Scale:
    """The scale of an assignment by its source notebooks; StaffError where problems and file say something else."""
    ours = {name: source for name, source in sources.items() if is_ours(source)}
    scale = Scale(
        assignment=assignment,
        points={name: points_in(source) for name, source in ours.items()},
        written=read_if_there(course, assignment),
        slugs={name: source.metadata[MINE]["slug"] for name, source in ours.items()},
    )
    for name, source in ours.items():
        if problem := _problem(course, scale, name):
            _as_built(scale, name, problem)
            _answers_are_read(scale, name, problem, source.metadata[MINE]["seed"])
        for part in scale.voids(name):
            if part not in scale.points[name]:
                known = scale.points[name]
                raise StaffError(
                    "void",
                    f"{assignment}.toml: [void.'{scale.slugs[name]}.{part}'] names no part of {name}"
                    f"{did_you_mean(part, known)}; there are {', '.join(known)}",
                )
    return scale


def scale_in(coursedir: CourseDirectory, assignment: str, notebooks: Any) -> Scale:
    """The same for the notebooks of those names in a course's `source/`."""
    sources = {name: read_source(coursedir, assignment, name) for name in notebooks}
    return scale_of(Path(coursedir.root), assignment, sources)


def points_in(notebook: Any) -> dict[str, float]:
    """The points of each part of a notebook."""
    marks = [cell["metadata"].get("nbgrader") or {} for cell in notebook["cells"]]
    return {item["grade_id"]: float(item["points"]) for item in marks if item.get("grade")}


def _problem(course: Path, scale: Scale, name: str) -> Problem | None:
    """The problem as the assignment values it now; None where it cannot be loaded, and all of it is held."""
    slug = scale.slugs[name]
    try:
        problem = loading.load(slug, loading.find_problems(course))
        return problem.worth(scale.written.points.get(slug) if scale.written else None)
    except AutograderError:
        return None


def _as_built(scale: Scale, name: str, problem: Problem) -> None:
    """Refuse where `source/` is not what problems and file would build, as far as parts and points go."""
    now = {part.name: float(part.points) for part in problem.parts}
    for part, points in scale.points[name].items():
        if part not in now:
            raise StaffError(
                "part_gone",
                f"{problem.slug}.{part} is in source/{scale.assignment}/{name}.ipynb, but not in "
                f"problems/{problem.slug} any more. Put it back, and write [void.'{problem.slug}.{part}'] with "
                f'as = "drop" into {scale.assignment}.toml if it is to count nothing; or, if nothing was handed in '
                f"yet, run: autograder build {scale.assignment}",
            )
        if now[part] != points:
            raise StaffError(
                "not_built",
                f"{problem.slug}.{part} is worth {now[part]:g} points by its problem and {scale.assignment}.toml, and "
                f"{points:g} in source/{scale.assignment}. Run: autograder build {scale.assignment}",
            )


def _answers_are_read(scale: Scale, name: str, problem: Problem, seed: int) -> None:
    """Refuse a further answer that its part could not read or would not take."""
    for part in problem.parts:
        void = scale.voids(name).get(part.name, Void())
        where = f"{scale.assignment}.toml: [void.'{problem.slug}.{part.name}']"
        try:
            taking = void.accepting(part)
        except AutograderError as error:
            raise StaffError("void", f"{where}: {error.message}") from error
        for answer in void.answers:
            _is_taken(f"{where}: the answer {answer!r}", taking, variant(problem, seed).parameters, answer)


def _is_taken(what: str, part: Part, p: Any, answer: Any) -> None:
    outcome = judge_part(part, p, lambda question: Answer(value=answer), (0,), ())
    if outcome.standing != "earned":
        why = " ".join(verdict.message for verdict in outcome.verdicts)
        raise StaffError("void", f"{what} cannot be read as one to this part: {why}")


def fits(gradebook: Gradebook, assignment: str, points: Mapping[str, Points]) -> None:
    """StaffError where parts were added or taken out since the class was marked: nobody was asked them, or all were."""
    try:
        row = gradebook.find_assignment(assignment)
    except MissingEntry:
        return
    marked = {notebook.name: {cell.name for cell in notebook.grade_cells} for notebook in row.notebooks}
    if not row.submissions:
        return
    for name, parts in points.items():
        there = marked.get(name, set())
        if added := sorted(parts.keys() - there):
            raise StaffError(
                "part_added",
                f"{assignment} has submissions in the gradebook, and nobody was asked {_names(name, added)}. Take it "
                f"out again (a new assignment can ask it), then run: autograder build {assignment}",
            )
        if dropped := sorted(there - parts.keys()):
            raise StaffError(
                "part_gone",
                f"{assignment} has submissions in the gradebook, in which {_names(name, dropped)} was asked. Put it "
                f"back; if it is to count nothing, write [void.'{name}.{dropped[0]}'] with as = \"drop\" into "
                f"{assignment}.toml; then run: autograder build {assignment}, and: autograder regrade {assignment}",
            )


def _names(notebook: str, parts: list[str]) -> str:
    return ", ".join(f"{notebook}.{part}" for part in parts)


def agree(gradebook: Gradebook, scale: Scale, *, everybody: bool) -> None:
    """Bring the gradebook to the scale where `everybody` is marked now, or nobody was; else StaffError, if it differs.

    Marks keep their share of the points. The due date is brought along.
    """
    fits(gradebook, scale.assignment, scale.points)
    try:
        row = gradebook.find_assignment(scale.assignment)
    except MissingEntry:
        return
    for name, cell, points in list(_revalued(row, scale)):
        if row.submissions and not everybody:
            raise StaffError(
                "other_points",
                f"{name}.{cell.name} is worth {points:g} points now, and the class was marked by {cell.max_score:g}. "
                f"Run, for the whole class: autograder regrade {scale.assignment}",
            )
        _revalue(cell, points)
    set_due(row, scale)
    gradebook.db.commit()


def set_due(row: Any, scale: Scale) -> None:
    """Give the gradebook's assignment its due date; one without is left as nbgrader has it."""
    if scale.written and scale.written.due:
        row.duedate = utils.parse_utc(scale.written.due)


def before_build(course: Path, assignment: str, seed: int | None) -> bool:
    """Whether the class was marked by other points than `build` will write; StaffError if by other parts.

    Without voids: a built notebook keeps the points of a part that is dropped.
    """
    written = read_if_there(course, assignment)
    if written is None:
        return False
    built = {
        name: nbformat.reads(text, as_version=4)
        for name, text in notebooks(written, seed, loading.find_problems(course))
    }
    scale = scale_of(course, assignment, built)
    with opened(course) as api, api.gradebook as gradebook:
        fits(gradebook, assignment, scale.points)
        return differ(gradebook, scale) and is_marked(gradebook, assignment)


def is_marked(gradebook: Gradebook, assignment: str) -> bool:
    """Whether the gradebook has submissions of an assignment."""
    try:
        return bool(gradebook.find_assignment(assignment).submissions)
    except MissingEntry:
        return False


def differ(gradebook: Gradebook, scale: Scale) -> bool:
    """Whether the gradebook's points are others."""
    try:
        return any(True for _ in _revalued(gradebook.find_assignment(scale.assignment), scale))
    except MissingEntry:
        return False


def _revalued(row: Any, scale: Scale) -> Iterator[tuple[str, Any, float]]:
    """The gradebook's cells whose points are others, each with its notebook and its points by the scale."""
    for notebook in row.notebooks:
        for cell in notebook.grade_cells:
            if cell.name in scale.points.get(notebook.name, {}):
                points = scale.maximum(notebook.name, cell.name)
                if cell.max_score != points:
                    yield notebook.name, cell, points


def _revalue(cell: Any, points: float) -> None:
    """Give a cell its points. What was earned keeps its share; in a part that is dropped, or was, it stays as it is."""
    if cell.max_score and points:
        for grade in cell.grades:
            for column in ("auto_score", "manual_score"):
                if (score := getattr(grade, column)) is not None:
                    setattr(grade, column, score * points / cell.max_score)
    cell.max_score = points

"""The instructor's notebooks of an assignment, in every variant that students may have of them."""

from __future__ import annotations

import copy
import dataclasses
import functools
import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import ClearHiddenTests, ComputeChecksums

from autograder.authoring import ledger, loading
from autograder.authoring.assignment import Assignment, read_assignment, read_if_there
from autograder.authoring.building import notebook_text
from autograder.authoring.ledger import Made
from autograder.authoring.sealing import MINE, Identity, as_json, is_ours
from autograder.authoring.variants import course_secret, own_seed, student_seed, variant
from autograder.errors import AutograderError, StaffError
from autograder.grading.foreign_cells import id_of, ids_in
from autograder.grading.identity import Handout, Known
from autograder.nbgrader.foreign import released_form_of
from autograder.nbgrader.stubs import PutStubs

MOST_FOUND = 500  # files that are remembered


def has_own_variants(source: Any) -> bool:
    """Whether every student has a variant of their own of this notebook."""
    return bool(source["metadata"].get(MINE, {}).get("per_student"))


def released_form(source: Any, config: Any) -> tuple[Any, Any]:
    """What students were given, and the instructor's notebook, both with nbgrader's checksums."""
    released, whole = copy.deepcopy(source), copy.deepcopy(source)
    for step in (PutStubs, ClearHiddenTests, ComputeChecksums):
        released, _ = step(config=config).preprocess(released, {})
    whole, _ = ComputeChecksums(config=config).preprocess(whole, {})
    return released, whole


def read_source(coursedir: CourseDirectory, assignment: str, notebook: str) -> Any:
    """The instructor's notebook; StaffError where the course has lost it."""
    path = Path(coursedir.format_path(coursedir.source_directory, ".", assignment)) / f"{notebook}.ipynb"
    try:
        return nbformat.read(path, as_version=4)
    except (OSError, ValueError) as error:
        raise StaffError(
            "no_source", f"{path} cannot be read ({error}); build it again with `autograder build {assignment}`"
        ) from error


class Handouts:
    """What was handed out of one assignment. `sources` are its notebooks in `source/`, by their names."""

    def __init__(self, course: Path, assignment: str, sources: Mapping[str, Any], config: Any = None) -> None:
        self.course, self.assignment, self.config = course, assignment, config
        self.sources = sources
        self._marks = {name: source["metadata"][MINE] for name, source in sources.items() if is_ours(source)}
        self._names = {marks["slug"]: name for name, marks in self._marks.items()}
        try:
            self.problems = loading.find_problems(course)
        except AutograderError:  # said where a problem is loaded to be judged
            self.problems = course / loading.FOLDER
        self.made = [*self._as_they_lie(), *ledger.read(course, assignment)]
        self.forms = functools.lru_cache(maxsize=64)(self._forms)
        self._found: dict[tuple[bytes, str, str], Known | None] = {}
        self._foreign: dict[str, tuple[Any, Any]] = {}

    @functools.cached_property
    def secret(self) -> bytes:
        """The course's secret, by which it sealed and drew; none is needed where no notebook is ours."""
        return course_secret(self.course) if self._marks else b""

    @classmethod
    def of(cls, coursedir: CourseDirectory, assignment: str, config: Any = None) -> Handouts:
        """Those of an assignment of a course, as they lie there now."""
        folder = Path(coursedir.format_path(coursedir.source_directory, ".", assignment))
        names = sorted(path.stem for path in folder.glob("*.ipynb"))
        sources = {name: read_source(coursedir, assignment, name) for name in names}
        return cls(Path(coursedir.root), assignment, sources, config)

    def _as_they_lie(self) -> Iterator[Made]:
        """The notebooks in source/ count as made, whatever the ledger says."""
        for name, marks in self._marks.items():
            try:
                drawn = variant(loading.load(marks["slug"], self.problems), marks["seed"])
            except AutograderError:
                continue
            yield Made(
                step="built",
                assignment=self.assignment,
                slug=marks["slug"],
                version=marks["version"],
                seed=marks["seed"],
                parameters=json.loads(as_json(drawn.parameters)),
                statement=ledger.statement_of(self.sources[name]),
            )

    def known(self, content: bytes, name: str, student: str) -> Known | None:
        """What a file handed in by a student is, as `Handout.known` says; names are those of notebooks."""
        key = (hashlib.sha256(content).digest(), name, student)
        if key not in self._found:
            if len(self._found) >= MOST_FOUND:
                self._found.clear()
            self._found[key] = self._known(content, name, student)
        return self._found[key]

    def _known(self, content: bytes, name: str, student: str) -> Known | None:
        if name in self.sources and name not in self._marks:
            return Known(name=name, seed=0, version=0)
        if not name and (foreign := self._by_ids(content)):
            return Known(name=foreign, seed=0, version=0)
        if not self._marks:
            return None
        slug = self._marks[name]["slug"] if name else ""
        handout = Handout(
            assignment=self.assignment,
            student=student,
            secret=self.secret,
            problems=self.problems,
            own={marks["slug"]: self._own(marks, student) for marks in self._marks.values()},
            made=self.made,
        )
        found = handout.known(content, slug)
        return found and dataclasses.replace(found, name=name if found.name == slug else self._names[found.name])

    def _by_ids(self, content: bytes) -> str:
        """Which notebook of the instructor's own a file is that goes by another name: the one whose cells it has."""
        there = ids_in(content)
        shares = {
            name: len(ids & there) / len(ids)
            for name, source in self.sources.items()
            if name not in self._marks and (ids := set(filter(None, map(id_of, source.cells))))
        }
        best = max(shares, key=lambda name: shares[name], default="")
        return best if best and shares[best] > 0.5 else ""

    def foreign_forms(self, name: str) -> tuple[Any, Any]:
        """Released and whole form of a notebook that is not ours, as plain data."""
        if name not in self._foreign:
            source = self.sources[name]
            self._foreign[name] = released_form_of(source, self.config), json.loads(json.dumps(source))
        return self._foreign[name]

    def _own(self, marks: Mapping[str, Any], student: str) -> Identity:
        """The course's own variant of a notebook for a student."""
        words = {"assignment": self.assignment, "slug": marks["slug"], "version": marks["version"], "parameters": ""}
        if not marks.get("per_student"):
            return Identity(**words, seed=marks["seed"])
        seed = student_seed(self.secret, self.assignment, marks["slug"], student)
        if self._written:
            seed = own_seed(self._written, loading.load(marks["slug"], self.problems), self.secret, student)
        return Identity(**words, seed=seed, student=student)

    @functools.cached_property
    def _written(self) -> Assignment | None:
        """The assignment's file, where there is one."""
        return read_if_there(self.course, self.assignment)

    def _forms(self, name: str, seed: int) -> tuple[Any, Any]:
        """Released and whole form of a notebook under a seed, as plain data."""
        released, whole = released_form(self._under(name, seed), self.config)
        return json.loads(json.dumps(released)), json.loads(json.dumps(whole))

    def _under(self, name: str, seed: int) -> Any:
        """The instructor's notebook under a seed: as it lies in source/, or built with other numbers."""
        source = self.sources[name]
        if seed == source["metadata"][MINE]["seed"] and not has_own_variants(source):
            return source
        assignment = read_assignment(self.course, self.assignment)
        text = notebook_text(assignment, source["metadata"][MINE]["slug"], seed, self.problems)
        built = nbformat.reads(text, as_version=4)
        points = {mark["grade_id"]: mark["points"] for mark in map(_marks_of, source.cells) if "points" in mark}
        for mark in map(_marks_of, built.cells):
            if mark.get("grade_id") in points:
                mark["points"] = points[mark["grade_id"]]  # as the gradebook has it
        return built


def _marks_of(cell: Any) -> Any:
    return cell["metadata"].get("nbgrader") or {}

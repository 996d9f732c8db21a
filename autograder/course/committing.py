"""`autograder commit`: binds a course to an assignment's key, tests and seeds, before anybody hands in."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder import __version__
from autograder.authoring import commitment, loading, privacy
from autograder.authoring.assignment import Assignment, read_assignment
from autograder.authoring.commitment import Commitment
from autograder.authoring.derived_keys import assignment_key, receipt_key, seed_salt
from autograder.authoring.hidden_tests import digest_of_tests, folder_files
from autograder.authoring.roster import of_course
from autograder.authoring.sealing import MINE, is_ours
from autograder.authoring.variants import course_secret, own_seed
from autograder.course import per_student
from autograder.errors import StaffError
from autograder.grading.hidden_key import has_own_key
from autograder.grading.receipt import public_key
from autograder.grading.report import FOLDER as REPORTS
from autograder.nbgrader.course_api import grading_of, opened
from autograder.nbgrader.files import own_files
from autograder.nbgrader.handouts import Handouts
from autograder.nbgrader.intake import places_of_files
from autograder.nbgrader.run_and_judge import RunAndJudge
from autograder.printing.seats import read_seats

# What of nbgrader's configuration decides how a released notebook looks, after which a submission is mended.
_STEPS = ("ClearSolutions", "PutStubs", "ClearHiddenTests")
_LIMITS = ("cell_seconds", "question_seconds", "notebook_seconds", "memory_megabytes")


@dataclass(frozen=True, kw_only=True)
class Committed:
    """A commitment, whether it is a new one, and what a person should know."""

    commitment: Commitment
    new: bool
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class _Place:
    """An assignment of a course as it lies there, with nbgrader's converter for it."""

    course: Path
    assignment: Assignment
    converter: Any
    problems: Path
    sources: Mapping[str, Any]
    secret: bytes


def commit(course: Path, name: str) -> Committed:
    """Commit a course to an assignment as it lies there; the same commitment again where nothing has changed.

    StaffError where its notebooks are not built, or where its key cannot be told one day.
    """
    course = course.resolve()
    assignment, secret = read_assignment(course, name), course_secret(course)
    if not has_own_key(course, name, secret):
        raise StaffError(
            "older_key",
            f"{name} has reports of a version in which all hidden inputs followed from the course's secret. It keeps "
            "this rule, so that its marks can be judged again; its key cannot be told, and it has no receipts",
        )
    with opened(course) as api:
        converter = grading_of(api, name)
        handouts = Handouts.of(api.coursedir, name, converter.config)
    sources = {key: source for key, source in handouts.sources.items() if is_ours(source)}
    if missing := [slug for slug in assignment.problems if slug not in sources]:
        raise StaffError("no_source", f"{missing[0]} is not built; run autograder build {name}")
    place = _Place(
        course=course, assignment=assignment, converter=converter, sources=sources, secret=secret,
        problems=loading.find_problems(course),
    )  # fmt: skip
    files = _files(place)
    before = commitment.read(course, name)
    made = commitment.write(course, name, _said(place, files), files)
    return Committed(commitment=made, new=len(before) < made.number, notes=list(_notes(place, handouts, made)))


def _files(place: _Place) -> dict[str, bytes]:
    """All that decides a mark, by its path in a course: whole problem folders, notebooks, files beside them."""
    assignment, course = place.assignment, place.course
    files = {f"{assignment.name}.toml": (course / f"{assignment.name}.toml").read_bytes()}
    for slug in assignment.problems:
        inside = folder_files(place.problems / slug)
        files |= {f"{loading.FOLDER}/{slug}/{name}": content for name, content in inside.items()}
    places = places_of_files(place.converter, assignment.name)
    source, ignored = places["source"], places["ignored"]
    beside = [*own_files(source, [*ignored, "*.ipynb"]), *(f"{slug}.ipynb" for slug in assignment.problems)]
    return files | {f"source/{assignment.name}/{name}": (source / name).read_bytes() for name in beside}


def _said(place: _Place, files: Mapping[str, bytes]) -> dict[str, Any]:
    assignment, config = place.assignment, place.converter.config
    judge = RunAndJudge(parent=place.converter)
    name = assignment.name
    return {
        "format": commitment.FORMAT,
        "assignment": name,
        "key": commitment.hash_of_key(assignment_key(place.secret, name)),
        "receipts": public_key(receipt_key(place.secret, name)),
        "package": {"version": __version__, "digest": commitment.package_digest()},
        "problems": {slug: _problem(place, slug) for slug in assignment.problems},
        "files": {path: hashlib.sha256(content).hexdigest() for path, content in files.items()},
        "seeds": sorted(_own_seeds(place)),
        "steps": json.loads(json.dumps({step: dict(config[step]) for step in _STEPS if step in config}, default=str)),
        "limits": {limit: getattr(judge, limit) for limit in _LIMITS},
        "kept": sorted(places_of_files(place.converter, name)["kept"]),
    }


def _problem(place: _Place, slug: str) -> dict[str, Any]:
    """Version and tests of a problem; its seed, where that is the class's."""
    source, voids = place.sources[slug], place.assignment.voids.get(slug, {})
    marks = source["metadata"][MINE]
    told = {"version": marks["version"], "tests": digest_of_tests(place.problems / slug, source, voids)}
    return told if place.assignment.per_student else {**told, "seed": marks["seed"]}


def _own_seeds(place: _Place) -> Iterator[str]:
    """A hash of each seed that is a student's own, or a printed seat's; nobody can tell whose it is."""
    course, assignment, secret = place.course, place.assignment, place.secret
    whose = []
    if assignment.per_student:
        problems = {slug: loading.load(slug, place.problems) for slug in assignment.problems}
        whose += [
            (person.id, slug, own_seed(assignment, problem, secret, person.id))
            for person in of_course(course, per_student.known(course))
            for slug, problem in problems.items()
        ]
    whose += [
        (seat.code, slug, seed) for seat in read_seats(course, assignment.name) for slug, seed in seat.seeds.items()
    ]
    for who, slug, seed in whose:
        yield commitment.hash_of_seed(seed_salt(secret, assignment.name, slug, who), slug, who, seed)


def _notes(place: _Place, handouts: Handouts, made: Commitment) -> Iterator[str]:
    name = place.assignment.name
    if others := [key for key, source in handouts.sources.items() if not is_ours(source)]:
        yield f"{', '.join(others)}: not built from a problem folder; there are no receipts for it"
    if made.number == 1 and any((place.course / REPORTS / name).glob("*/*.json")):
        yield "there are reports already: this binds the course from now on, and nothing that was graded before"
    if place.assignment.per_student and not made.said["seeds"]:
        yield "roster.csv has no students, so their seeds are not in it; commit again when it has"
    if place.course.joinpath(commitment.FOLDER).is_dir() and privacy.open_to_all(place.course / commitment.FOLDER):
        yield f"others on this machine can read {place.course / commitment.FOLDER}, and the tests in it"

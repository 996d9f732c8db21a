"""From a course's secret to every random number in it: one stream per purpose, none of them guessable.

Grading needs only the secret, the assignment's seed and the problem's version: the same run twice gives the same
hidden inputs. The secret lies in `.course-secret` beside the gradebook, is made before there is a class and never
again, and is never committed.
"""

from __future__ import annotations

import functools
import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from autograder.authoring import ledger, privacy
from autograder.authoring.assignment import Assignment
from autograder.authoring.sealing import as_json
from autograder.core import Parameters, Problem, Variant
from autograder.errors import StaffError, did_you_mean

SECRET_VARIABLE = "AUTOGRADER_SECRET"  # noqa: S105 - a variable's name
SECRET_FILE = ".course-secret"  # noqa: S105 - a file's name
LEAST = 32  # characters
TRIED = 50_000  # seeds, among which one must have the parameters that are fixed
SHOWN = 300  # seeds that show what a problem draws
_OF_A_CLASS = ("submitted", "autograded", "reports", "students")  # what depends on the secret that it was made with


def course_secret(course: Path) -> bytes:
    """The secret of the course at `course`, made on first use (mode 0600), and never where there is a class already.

    The environment variable AUTOGRADER_SECRET, if set, takes precedence: a second grading machine needs the same one.
    """
    if given := os.environ.get(SECRET_VARIABLE, "").strip():
        if len(given) < LEAST:
            raise StaffError(
                "secret",
                f"{SECRET_VARIABLE} is shorter than {LEAST} characters, and can be guessed; set it to the content of "
                f"the course's {SECRET_FILE}",
            )
        return given.encode()
    path = course / SECRET_FILE
    if not path.exists() and (kept := _of_a_class(course)):
        raise StaffError(
            "secret",
            f"{path} is missing, but {kept} shows that this course has a class. A new secret would give every student "
            f"other hidden inputs and other numbers of their own, and would break the seals of their notebooks. "
            f"Restore {path.name} from the machine or the backup where it was made, or set {SECRET_VARIABLE} to its "
            f"content. If there never was one, make it: (umask 077; openssl rand -hex 32 > {path})",
        )
    try:
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_hex(32) + "\n")
    except FileExistsError:
        pass
    except OSError as error:
        raise StaffError("secret", f"the course secret cannot be written to {path}: {error}") from error
    content = path.read_text().strip().encode()
    _warn_where_open(path)
    if len(content) < LEAST:
        raise StaffError(
            "secret",
            f"{path} holds fewer than {LEAST} characters, which is no secret; restore it from the machine or the "
            f"backup where it was made, or set {SECRET_VARIABLE} to what it was",
        )
    return content


def _of_a_class(course: Path) -> Path | None:
    """What shows that notebooks were handed out, or handed in."""
    folders = [course / name for name in _OF_A_CLASS]
    kept = [folder for folder in folders if folder.is_dir() and any(folder.iterdir())]
    kept += [path.parent for path in (course / "release").glob("*/*.ipynb")]
    kept += [course / ledger.FILE] if ledger.anything_released(course) else []
    return next(iter(kept), None)


def _warn_where_open(path: Path) -> None:
    """Say that others may read the secret; the group may where it may write to the course."""
    group = 0 if path.parent.stat().st_mode & 0o020 else 0o070
    if os.name == "posix" and (mode := path.stat().st_mode) & (0o007 | group):
        privacy.say_once(
            f"others can read {path} (mode {mode & 0o777:04o}), and with it every hidden input; close it with: "
            f"chmod 600 {path}"
        )


def stream_key(secret: bytes, *purpose: object) -> tuple[int, ...]:
    """Four 32-bit words that follow from the secret and the purpose, for `numpy.random.default_rng`."""
    text = "\x1f".join(str(item) for item in purpose)
    digest = hmac.new(secret, text.encode(), hashlib.sha256).digest()
    return tuple(int.from_bytes(digest[4 * i : 4 * i + 4], "big") for i in range(4))


def part_key(secret: bytes, slug: str, version: int, seed: int, part: str) -> tuple[int, ...]:
    """The key of a part's hidden inputs: each part has a stream of its own."""
    return stream_key(secret, "inputs", slug, version, seed, part)


def student_seed(secret: bytes, assignment: str, slug: str, student: str) -> int:
    """The seed of a student's own variant: nobody can tell another's, and grading needs no list."""
    return stream_key(secret, "variant", assignment, slug, student)[0]


def own_seed(assignment: Assignment, problem: Problem, secret: bytes, student: str) -> int:
    """The seed of a student's own variant, with the parameters that the assignment fixes."""
    return seed_with(
        problem, student_seed(secret, assignment.name, problem.slug, student), fixed_in(assignment, problem)
    )


def class_seed(assignment: Assignment, problem: Problem, seed: int | None = None) -> int:
    """The seed by which an assignment draws a problem, with the parameters that it fixes; `seed` overrides its own."""
    first = assignment.seeds.get(problem.slug, assignment.seed) if seed is None else seed
    return seed_with(problem, first, fixed_in(assignment, problem))


def class_seeds(assignment: Assignment, problem: Problem, count: int) -> list[int]:
    """The seed by which an assignment draws a problem, and the next ones with what it fixes."""
    seeds = [class_seed(assignment, problem)]
    while len(seeds) < count:
        seeds.append(seed_with(problem, seeds[-1] + 1, fixed_in(assignment, problem)))
    return seeds


def fixed_in(assignment: Assignment, problem: Problem) -> Mapping[str, Any]:
    """The parameters of a problem that an assignment fixes."""
    return assignment.parameters.get(problem.slug, {})


def seed_with(problem: Problem, seed: int, fixed: Mapping[str, Any]) -> int:
    """The first seed from `seed` on that draws these parameters: so all of a variant follows from its seed.

    StaffError where the problem has no such parameter, never draws such a value, or does not draw them together.
    """
    if not fixed:
        return seed
    names = check_drawn(problem, {name: [value] for name, value in fixed.items()})
    wanted = {name: fixed[name] for name in names}
    found = _seed_with(problem.draw, problem.slug, seed, json.dumps(wanted, sort_keys=True))
    if found is None:
        together = ", ".join(f"{name} = {value!r}" for name, value in wanted.items())
        raise StaffError(
            "parameters",
            f"{problem.slug} never draws {together} together, in {TRIED:,} seeds from {seed} on; fix fewer of them",
        )
    return found


@functools.lru_cache(maxsize=4096)
def _seed_with(draw: Callable[[Any], Parameters], slug: str, seed: int, wanted: str) -> int | None:
    fixed = json.loads(wanted)
    seeds = range(seed, seed + TRIED)
    return next((number for number in seeds if has(draw(_generator(slug, number)), fixed)), None)


def has(p: Parameters, fixed: Mapping[str, Any]) -> bool:
    """Whether parameters have these values. A truth value is no number."""
    return all(name in p and _same(p[name], value) for name, value in fixed.items())


def _same(drawn: Any, value: Any) -> bool:
    return isinstance(drawn, bool) == isinstance(value, bool) and (
        drawn == value or as_json({"": drawn}) == as_json({"": value})
    )


def check_drawn(problem: Problem, values: Mapping[str, Iterable[Any]]) -> list[str]:
    """The names, where the problem draws each of the values; StaffError says what it draws instead.

    Of a number that is drawn from many, any may be given: whether it is drawn, a search says.
    """
    drawn = seen(problem)
    for name, wanted in values.items():
        if name not in drawn:
            raise StaffError(
                "parameters",
                f"{problem.slug} has no parameter {name!r}{did_you_mean(name, drawn)}; it has {', '.join(drawn)}",
            )
        for value in wanted:
            if not any(_same(item, value) for item in drawn[name]) and not _of_many(value, drawn[name]):
                kinds = ", ".join(map(repr, drawn[name][:12])) + (", …" if len(drawn[name]) > 12 else "")
                raise StaffError(
                    "parameters",
                    f"{problem.slug} never draws {name} = {value!r}"
                    f"{did_you_mean(str(value), map(str, drawn[name]))}; it draws {kinds}",
                )
    return list(values)


def _of_many(value: Any, drawn: list[Any]) -> bool:
    """Whether a value may be among numbers of which not all have been seen."""
    numbers = all(isinstance(item, int | float) and not isinstance(item, bool) for item in (value, *drawn))
    return numbers and len(drawn) > SHOWN // 10


def seen(problem: Problem) -> dict[str, list[Any]]:
    """What the first seeds give, by the parameters' names: each value once, in order where there is one."""
    return _seen(problem.draw, problem.slug)


@functools.lru_cache(maxsize=64)
def _seen(draw: Callable[[Any], Parameters], slug: str) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for number in range(SHOWN):
        for name, value in draw(_generator(slug, number)).items():
            values = found.setdefault(name, [])
            if not any(_same(item, value) for item in values):
                values.append(value)
    return {name: sorted(values, key=lambda item: (str(type(item)), item)) for name, values in found.items()}


def variants_with(problem: Problem, seed: int, fixed: Mapping[str, Any], most: int = TRIED) -> Iterator[Variant]:
    """The variants with these parameters, among those of `most` seeds from `seed` on."""
    drawn = (variant(problem, number) for number in range(seed, seed + most))
    yield from (item for item in drawn if has(item.parameters, fixed))


def variant(problem: Problem, seed: int) -> Variant:
    """The variant that `draw` gives for a seed: public, since its numbers stand in the statement."""
    parameters = problem.draw(_generator(problem.slug, seed))
    return Variant(slug=problem.slug, version=problem.version, parameters=parameters, seed=seed)


def _generator(slug: str, seed: int) -> np.random.Generator:
    digest = hashlib.sha256(f"{slug}\x1f{seed}".encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "big"))

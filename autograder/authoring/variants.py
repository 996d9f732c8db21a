"""From a course's secret to every random number in it: one stream per purpose, none of them guessable.

Grading needs only the secret, the assignment's seed and the problem's version: the same run twice gives the same
hidden inputs. The secret lies in `.course-secret` beside the gradebook, is made on first use and is never committed.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from pathlib import Path

import numpy as np

from autograder.core import Problem, Variant
from autograder.errors import StaffError

SECRET_VARIABLE = "AUTOGRADER_SECRET"  # noqa: S105 - a variable's name
SECRET_FILE = ".course-secret"  # noqa: S105 - a file's name


def course_secret(course: Path) -> bytes:
    """The secret of the course at `course`, made on first use (mode 0600).

    The environment variable AUTOGRADER_SECRET, if set, takes precedence: a second grading machine needs the same one.
    """
    if given := os.environ.get(SECRET_VARIABLE):
        return given.encode()
    path = course / SECRET_FILE
    try:
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_hex(32) + "\n")
    except FileExistsError:
        pass
    except OSError as error:
        raise StaffError("secret", f"the course secret cannot be written to {path}: {error}") from error
    content = path.read_text().strip().encode()
    if len(content) < 32:
        raise StaffError(
            "secret", f"{path} does not contain a secret; delete it so that a new one is made, then grade again"
        )
    return content


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


def variant(problem: Problem, seed: int) -> Variant:
    """The variant that `draw` gives for a seed: public, since its numbers stand in the statement."""
    digest = hashlib.sha256(f"{problem.slug}\x1f{seed}".encode()).digest()
    rng = np.random.default_rng(int.from_bytes(digest[:8], "big"))
    return Variant(slug=problem.slug, version=problem.version, parameters=problem.draw(rng), seed=seed)

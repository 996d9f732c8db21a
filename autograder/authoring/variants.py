"""From a course's secret to every random number in it: one stream per purpose, none of them guessable.

Grading needs only the secret, the assignment's seed and the problem's version: the same run twice gives the same
hidden inputs. The secret lies in `.course-secret` beside the gradebook, is made before there is a class and never
again, and is never committed.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from pathlib import Path

import numpy as np

from autograder.authoring import ledger, privacy
from autograder.core import Problem, Variant
from autograder.errors import StaffError

SECRET_VARIABLE = "AUTOGRADER_SECRET"  # noqa: S105 - a variable's name
SECRET_FILE = ".course-secret"  # noqa: S105 - a file's name
LEAST = 32  # characters
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


def variant(problem: Problem, seed: int) -> Variant:
    """The variant that `draw` gives for a seed: public, since its numbers stand in the statement."""
    digest = hashlib.sha256(f"{problem.slug}\x1f{seed}".encode()).digest()
    rng = np.random.default_rng(int.from_bytes(digest[:8], "big"))
    return Variant(slug=problem.slug, version=problem.version, parameters=problem.draw(rng), seed=seed)

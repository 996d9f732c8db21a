"""`autograder new`: a problem folder with one working part, or a copy of another problem, to be changed."""

from __future__ import annotations

import keyword
import re
import shutil
from pathlib import Path

from autograder.authoring.loading import slugs
from autograder.authoring.shipped import DISTRIBUTION, shipped
from autograder.errors import StaffError, did_you_mean


def scaffold(root: Path, slug: str) -> list[Path]:
    """Make `problems/<slug>` under `root`; the files made. StaffError for a bad name or a folder that is there."""
    folder = _free(root, slug)
    try:
        from autograder.authoring import example
    except ImportError as error:
        raise StaffError(
            "students_package",
            "this is the package as students get it, without the problem to begin with; install "
            "the one for instructors",
        ) from error
    title = slug.replace("_", " ").capitalize()
    folder.mkdir(parents=True)
    files = {
        "problem.py": example.PROBLEM.format(title=title),
        "statement.md": example.STATEMENT,
        "design.md": example.DESIGN.format(title=title),
    }
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in files]


def copy_problem(root: Path, slug: str, original: str) -> list[Path]:
    """Make `problems/<slug>` like another problem, of this course or of the second distribution; the files made."""
    folder = _free(root, slug)
    places = [place for place in (root, shipped()) if place]
    if not (found := next((place for place in places if (place / original / "problem.py").is_file()), None)):
        known = sorted({name for place in places for name in slugs(place)})
        more = (
            ""
            if shipped()
            else f"; those that are shipped come with {DISTRIBUTION}, which is not installed here: "
            "pip install --no-deps its wheel"
        )
        raise StaffError(
            "unknown_problem",
            f"there is no problem {original!r}{did_you_mean(original, known)}; "
            f"there are {', '.join(known) or 'none'}{more}",
        )
    shutil.copytree(found / original, folder, ignore=shutil.ignore_patterns("__pycache__", ".*"))
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _free(root: Path, slug: str) -> Path:
    """The folder of a new problem."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*", slug) or keyword.iskeyword(slug):
        raise StaffError(
            "slug", f"{slug!r}: a problem's name is lower-case words joined by underscores, such as scaled_scores"
        )
    folder = root / slug
    if folder.exists():
        raise StaffError("slug", f"{folder} exists already; choose another name, or edit its files")
    return folder

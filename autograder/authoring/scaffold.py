"""`autograder new`: a problem folder with one working part, or a copy of another problem, to be changed."""

from __future__ import annotations

import keyword
import re
import shutil
from pathlib import Path

from autograder.authoring.loading import slugs
from autograder.authoring.shipped import DISTRIBUTION, shipped
from autograder.errors import StaffError, did_you_mean

_PROBLEM = '''"""{title}: say in one line what this problem is about."""

from autograder import Function, Problem, close, gradient, sizes, tensors


def draw(rng):
    """The numbers that a variant shows and is graded by."""
    return {{"power": [0.5, 0.25][rng.integers(2)]}}


def inputs(rng, p):
    """Hidden arguments: distinct prime sizes, so that no transposition fits by accident."""
    return tensors(rng, sizes(rng, "T U"), query="T U", key="T U")


def one_row(rng, p):
    """An edge case: one query and one key of width two."""
    return tensors(rng, {{"T": 1, "U": 2}}, query="T U", key="T U")


def scores(query, key, *, p):
    """The scores of each query (row) with each key (column): query[T,U], key[T,U] -> scores[T,T]."""
    return query @ key.T / query.shape[1] ** p["power"]


def unscaled(query, key):
    """The scores grow with the width: look again at the power in the statement."""
    return query @ key.T


def transposed(query, key, *, p):
    """Rows are queries and columns are keys; yours are the other way round."""
    return key @ query.T / query.shape[1] ** p["power"]


def by_sum(query, key, *, p):
    return (query[:, None] * key[None]).sum(-1) * query.shape[1] ** -p["power"]


PROBLEM = Problem(
    title="{title}",
    version=1,
    source="where the question comes from",
    draw=draw,
    variants=2,
    parts=[
        Function(
            "scores",
            points=4,
            reference=scores,
            inputs=[inputs, one_row],
            checks=[close(weight=3), gradient()],
            mistakes=[unscaled, transposed],
            equivalents=[by_sum],
        ),
    ],
)
'''

_STATEMENT = """This text opens the notebook. Say what it is about, and what every letter means.

## The scores {#scores}

Write `scores(query, key)` for `query` and `key` of shape `[T, U]`. Entry $(t_1, t_2)$ of the result, of shape `[T, T]`,
says how well query $t_1$ fits key $t_2$: their inner product, divided by $U$ to the power {{power}}.
"""

_DESIGN = """# {title}: why it is as it is

- Which question this is, and what was changed.
- What each part judges, and by which check.
- What a colleague would ask.
"""


def scaffold(root: Path, slug: str) -> list[Path]:
    """Make `problems/<slug>` under `root`; the files made. StaffError for a bad name or a folder that is there."""
    folder = _free(root, slug)
    title = slug.replace("_", " ").capitalize()
    folder.mkdir(parents=True)
    files = {
        "problem.py": _PROBLEM.format(title=title),
        "statement.md": _STATEMENT,
        "design.md": _DESIGN.format(title=title),
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
            "" if shipped() else f"; those that are shipped come with the wheel of {DISTRIBUTION}, not installed here"
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

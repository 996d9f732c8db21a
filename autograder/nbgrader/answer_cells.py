"""What students wrote in their answer cells, out of the graded notebooks; and the code that everybody was given."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

from autograder.authoring import loading
from autograder.authoring.sealing import MINE, is_ours
from autograder.authoring.source_notebook import answer_id
from autograder.authoring.variants import variant
from autograder.errors import AutograderError
from autograder.nbgrader.course_directory import course_directory
from autograder.reporting.class_marks import ClassMarks

Cells = dict[str, dict[str, str]]
_LARGEST = 2**24
# When a cell began, to the microsecond, as Jupyter notes it where it is told to.
_MOMENT = re.compile(rb'"(?:iopub\.)?execute_input": ?"([^"]{20,40})"')


def answer_cells(course: Path, marks: ClassMarks) -> Cells:
    """The source of each answer cell, by student and by the item's name."""
    found: Cells = {}
    place = course_directory(course)
    for pupil in marks.pupils:
        folder = Path(place.format_path(place.autograded_directory, pupil.id, marks.assignment))
        for notebook in {item.notebook for item in marks.items}:
            sources = _sources(folder / f"{notebook}.ipynb")
            for item in marks.items:
                if item.notebook == notebook and (text := sources.get(answer_id(item.part), "")):
                    found.setdefault(pupil.id, {})[item.name] = text
    return found


def facts_about_files(course: Path, marks: ClassMarks) -> list[str]:
    """Notebooks that several students handed in byte for byte, and cells that ran at the same moment in several.

    The notebook as it was released is nobody's. These are facts for a person, and no part of a score.
    """
    same: dict[tuple[str, str], list[str]] = defaultdict(list)
    place = course_directory(course)
    released = Path(place.format_path(place.release_directory, ".", marks.assignment))
    for pupil in marks.pupils:
        folder = Path(place.format_path(place.submitted_directory, pupil.id, marks.assignment))
        for notebook in sorted({item.notebook for item in marks.items}):
            content = _content(folder / f"{notebook}.ipynb")
            if content and content != _content(released / f"{notebook}.ipynb"):
                same[notebook, f"the same file, {hashlib.sha256(content).hexdigest()[:12]}"].append(pupil.id)
                for moment in sorted(set(_MOMENT.findall(content))):
                    same[notebook, f"a cell that ran at {moment.decode()}"].append(pupil.id)
    return [
        f"{notebook}.ipynb of {', '.join(students)}: {what}"
        for (notebook, what), students in same.items()
        if students[1:]
    ]


def _content(path: Path) -> bytes:
    """A notebook's bytes; nothing of what is no plain file, or larger than any notebook that is graded."""
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > _LARGEST:
            return b""
        return path.read_bytes()
    except OSError:
        return b""


def given_code(course: Path, marks: ClassMarks) -> dict[str, list[str]]:
    """By the item's name, the code of a part that nobody can have from anybody else alone.

    The cell as it was handed out, the statement, and what the problem lists: reference, mistakes and equivalents.
    """
    found: dict[str, list[str]] = {}
    place = course_directory(course)
    for notebook in {item.notebook for item in marks.items}:
        source = place.source(marks.assignment, notebook)
        released = Path(place.format_path(place.release_directory, ".", marks.assignment), f"{notebook}.ipynb")
        texts = [*map(_text, source["cells"]), *_sources(released).values()]
        listed: dict[str, list[str]] = {}
        with contextlib.suppress(AutograderError):
            listed = _listed(source, course) if is_ours(source) else {}
        for item in marks.items:
            if item.notebook == notebook:
                found[item.name] = [*texts, *listed.get(item.part, ())]
    return found


def _listed(source: Any, course: Path) -> dict[str, list[str]]:
    """Every answer that a problem lists, as a cell, by its part."""
    words = source["metadata"][MINE]
    problem = loading.load(words["slug"], loading.find_problems(course))
    p = variant(problem, words["seed"]).parameters
    found: dict[str, list[str]] = {}
    for part in problem.parts:
        for subject in (part.reference, *part.mistakes, *part.equivalents):
            with contextlib.suppress(Exception):  # an answer that does not stand in this variant
                found.setdefault(part.name, []).append(part.answer_cell(subject, p))
    return found


def _sources(path: Path) -> dict[str, str]:
    """The cells of a notebook by their grade ids; nothing of one that cannot be read."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        return {cell["metadata"].get("nbgrader", {}).get("grade_id", ""): _text(cell) for cell in cells}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _text(cell: Any) -> str:
    source = cell["source"]
    return source if isinstance(source, str) else "".join(source)

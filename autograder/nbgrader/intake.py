"""Reading what was handed in: every notebook is made whole on the way in, whatever was done to it."""

from __future__ import annotations

import contextlib
import copy
import json
import logging
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import NotebookExporter
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import (
    CheckCellMetadata,
    ClearHiddenTests,
    ClearOutput,
    ClearSolutions,
    ComputeChecksums,
    DeduplicateIds,
    NbGraderPreprocessor,
    OverwriteCells,
    OverwriteKernelspec,
)

from autograder.authoring import loading
from autograder.authoring.assignment import read_assignment
from autograder.authoring.building import notebook_text
from autograder.authoring.variants import course_secret, student_seed
from autograder.errors import StaffError
from autograder.grading.repair import MAX_BYTES, make_whole

log = logging.getLogger(__name__)
MINE = "autograder"


def is_ours(notebook: Any) -> bool:
    """Whether a notebook was built from a problem folder; others are left to nbgrader's own steps."""
    marks = notebook.get("metadata", {}).get(MINE)
    return isinstance(marks, dict) and {"slug", "version", "seed"} <= set(marks)


def released_form(source: Any, config: Any) -> tuple[Any, Any]:
    """What students were given, and the instructor's notebook, both with nbgrader's checksums."""
    released, whole = copy.deepcopy(source), copy.deepcopy(source)
    for step in (ClearSolutions, ClearHiddenTests, ComputeChecksums):
        released, _ = step(config=config).preprocess(released, {})
    whole, _ = ComputeChecksums(config=config).preprocess(whole, {})
    return released, whole


class SubmissionExporter(NotebookExporter):  # type: ignore[misc]
    """Reads a submitted notebook as bytes and returns it made whole; on the second pass, reads it as it is."""

    def from_filename(self, filename: str, resources: Any = None, **options: Any) -> Any:
        """Read, mend, and run the preprocessors; a file that is no notebook does not stop the batch."""
        marks = resources["nbgrader"]
        coursedir: CourseDirectory = self.parent.coursedir
        submitted = coursedir.format_path(coursedir.submitted_directory, marks["student"], marks["assignment"])
        resources["autograder"] = {"root": coursedir.root}
        if Path(filename).resolve().parent != Path(submitted).resolve():
            return super().from_filename(filename, resources=resources, **options)
        source = source_for(coursedir, marks["assignment"], marks["notebook"], marks["student"])
        if not is_ours(source):
            return super().from_filename(filename, resources=resources, **options)
        released, whole = released_form(source, self.config)
        notebook = nbformat.from_dict(make_whole(content_of(Path(filename)), released, whole).with_remarks())
        resources["metadata"] = {"name": marks["notebook"], "path": str(Path(filename).parent)}
        return self.from_notebook_node(notebook, resources=resources, **options)


def read_source(coursedir: CourseDirectory, assignment: str, notebook: str) -> Any:
    """The instructor's notebook; StaffError where the course has lost it."""
    path = Path(coursedir.format_path(coursedir.source_directory, ".", assignment)) / f"{notebook}.ipynb"
    try:
        return nbformat.read(path, as_version=4)
    except (OSError, ValueError) as error:
        raise StaffError(
            "no_source", f"{path} cannot be read ({error}); build it again with `autograder build {assignment}`"
        ) from error


def source_for(coursedir: CourseDirectory, assignment: str, notebook: str, student: str) -> Any:
    """The instructor's notebook for one student: where each has a variant of his own, built with his numbers."""
    source = read_source(coursedir, assignment, notebook)
    if not has_own_variants(source):
        return source
    course = Path(coursedir.root)
    seed = student_seed(course_secret(course), assignment, notebook, student)
    text = notebook_text(read_assignment(course, assignment), notebook, seed, loading.find_problems(course))
    return nbformat.reads(text, as_version=4)


def has_own_variants(source: Any) -> bool:
    """Whether every student has a variant of his own of this notebook."""
    return bool(source.metadata.get(MINE, {}).get("per_student"))


def content_of(path: Path) -> bytes:
    """The bytes of a regular file; nothing for what is none (a link that was refused, a directory)."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return b""
    if not _regular(descriptor):
        return b""
    with os.fdopen(descriptor, "rb") as file:
        return file.read(MAX_BYTES + 1)


def _regular(descriptor: int) -> bool:
    """Whether an open file is a regular one; it is closed where it is not."""
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return True
    os.close(descriptor)
    return False


def before_reading(assignment: str, student: str, notebooks: list[str]) -> None:
    """Make a submission's folder safe to read, and find notebooks that were handed in under another name.

    nbgrader passes its own list of the folder's notebooks, goes on whatever is raised here, and would follow links and
    leave out notebooks whose names it does not know.
    """
    for folder in {Path(notebook).parent for notebook in notebooks}:
        refuse_links(folder)
        known = {path.stem for path in Path("source", assignment).glob("*.ipynb")}
        notebooks[:] = sorted({*notebooks, *map(str, _found_again(folder, known))})


def refuse_links(folder: Path) -> None:
    """Replace every link and special file in a submission by a note: nbgrader would copy what it points to."""
    for place, directories, files in os.walk(folder):
        for name in (*directories, *files):
            path = Path(place, name)
            if path.is_symlink() or not (path.is_file() or path.is_dir()):
                _refuse(path)


def _refuse(path: Path) -> None:
    target = os.readlink(path) if path.is_symlink() else "a special file"
    log.warning("%s was submitted as a link or special file (%s); it was ignored", path, target)
    path.unlink()
    note = json.dumps({"refused": target})
    if path.suffix == ".ipynb":
        path.write_text(note)  # nbgrader has it on its list: it must find a file, which is read as no notebook
    with contextlib.suppress(OSError):  # a name that leaves no room for a suffix
        path.with_name(path.name + ".refused").write_text(note)


def _found_again(folder: Path, known: set[str]) -> Iterator[Path]:
    """Copies, under the name they were handed out by, of notebooks that bear another and say what they are.

    Several that could be the same one are left for a person, by a file that is no notebook.
    """
    candidates: dict[str, list[Path]] = {}
    for path in sorted(folder.glob("*.ipynb")):
        if path.stem not in known and (slug := _slug(path, known)):
            candidates.setdefault(slug, []).append(path)
    for slug, paths in candidates.items():
        place = folder / f"{slug}.ipynb"
        if place.exists():
            continue
        names = ", ".join(path.name for path in paths)
        log.warning("%s was submitted under another name: %s", place, names)
        place.write_bytes(content_of(paths[0]) if len(paths) == 1 else json.dumps({"several": names}).encode())
        yield place


def _slug(path: Path, known: set[str]) -> str:
    """Which of the known notebooks this one is, by what it says or by its name; empty where neither tells."""
    try:
        slug = json.loads(content_of(path))["metadata"][MINE]["slug"]
    except (ValueError, KeyError, TypeError, RecursionError):
        slug = None
    if isinstance(slug, str) and slug in known:
        return slug
    named = [name for name in known if re.search(rf"(?<![A-Za-z]){re.escape(name)}(?![A-Za-z])", path.stem)]
    return max(named, key=len, default="")


class Sanitize(NbGraderPreprocessor):  # type: ignore[misc]
    """Nothing more for a notebook of ours; nbgrader's own steps for any other in the course."""

    steps = (ClearOutput, DeduplicateIds, OverwriteKernelspec, OverwriteCells, CheckCellMetadata)

    def preprocess(self, nb: Any, resources: Any) -> Any:
        """Run the steps that apply."""
        for step in (CheckCellMetadata,) if is_ours(nb) else self.steps:
            nb, resources = step(parent=self.parent)(nb, resources)
        return nb, resources

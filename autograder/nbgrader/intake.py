"""Reading what was handed in: every notebook is made whole on the way in, whatever was done to it."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import logging
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import NotebookExporter
from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import (
    CheckCellMetadata,
    ClearOutput,
    DeduplicateIds,
    NbGraderPreprocessor,
    OverwriteCells,
    OverwriteKernelspec,
)

from autograder.authoring import privacy
from autograder.authoring.sealing import MINE, is_ours
from autograder.authoring.source_notebook import answer_id
from autograder.errors import StaffError
from autograder.grading.foreign_cells import id_of, is_trusted, realigned
from autograder.grading.identity import Known
from autograder.grading.repair import MAX_BYTES, Flag, Whole, make_whole
from autograder.nbgrader import collected, transcribed
from autograder.nbgrader.archives import NotAnArchive, is_archive
from autograder.nbgrader.as_typed import as_typed
from autograder.nbgrader.execution import is_run
from autograder.nbgrader.files import (
    REFUSED,
    Beside,
    archive_of,
    entries,
    files_beside,
    instructors_files,
    opened_regular,
    printable,
    put_aside,
    time_handed_in,
    unpacked_at,
)
from autograder.nbgrader.foreign import NOTED
from autograder.nbgrader.handouts import Handouts, read_source

log = logging.getLogger(__name__)
EMPTY = b'{"cells": []}'


class SubmissionExporter(NotebookExporter):  # type: ignore[misc]
    """Reads a submitted notebook as bytes and returns it made whole; on the second pass, reads it as it is.

    nbgrader makes one for each run, once it knows the submissions and before it looks into any of them.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        submissions: dict[str, Any] = getattr(self.parent, "assignments", None) or {}
        if submissions:
            close_to_others(self.parent.coursedir)
        known: set[str] = set()
        for folder in list(submissions):
            student = student_of(self.parent.coursedir, Path(folder))
            if is_odd(student) and student not in (known := known or _students(self.parent.coursedir)):
                log.error(ODD.format(name=printable(student)))
                del submissions[folder]
            else:
                with contextlib.suppress(OSError):
                    put_aside(Path(folder))

    def from_filename(self, filename: str, resources: Any = None, **options: Any) -> Any:
        """Read, mend, and run the preprocessors; a file that is no notebook does not stop the batch."""
        marks = resources["nbgrader"]
        coursedir: CourseDirectory = self.parent.coursedir
        submitted = coursedir.format_path(coursedir.submitted_directory, marks["student"], marks["assignment"])
        resources["autograder"] = {
            "root": coursedir.root,
            "shared": bool(coursedir.groupshared),
            "submitted": submitted,
            "instructors": places_of_files(self.parent, marks["assignment"]),
        }
        source = read_source(coursedir, marks["assignment"], marks["notebook"])
        ours = resources["autograder"]["ours"] = is_ours(source)
        if Path(filename).resolve().parent == Path(submitted).resolve():
            handouts = Handouts.of(coursedir, marks["assignment"], self.config)
            over = instructors_files(**resources["autograder"]["instructors"])
            words = (Path(filename), handouts, marks["student"], over)
            whole, _ = read_submission(*words) if ours else read_foreign(*words, shown=not is_run(self.parent))
            records = collected.read(Path(coursedir.root), marks["assignment"])
            whole.flags += collected_flags(Path(submitted), records.get(marks["student"]))
            notebook = nbformat.from_dict(whole.with_remarks()) if ours else noted(whole)
        else:
            notebook = nbformat.read(filename, as_version=4)
        resources["metadata"] = {"name": marks["notebook"], "path": str(Path(filename).parent)}
        return self.from_notebook_node(notebook, resources=resources, **options)


# A folder makes a student of its name, which goes into the gradebook, and from there into tables and terminals.
_FORMULA = re.compile(r"(?:^|[,;\"'\s])[=+@-]")
ODD = (
    "the folder's name cannot be a student's by itself: {name} (what begins with = + - or @ is a formula to a "
    "spreadsheet, and some characters are orders to a terminal); if a student has this id, enter them: "
    "nbgrader db student add"
)


def is_odd(student: str) -> bool:
    """Whether an id would do something in a spreadsheet or in a terminal."""
    return not student.isprintable() or bool(_FORMULA.search(student))


def close_to_others(coursedir: CourseDirectory) -> None:
    """Take from other users what tells answers or marks: gradebook, source notebooks, and autograded ones, beside whose
    answers it stands what was expected. nbgrader makes them with the usual permissions."""
    root = Path(coursedir.root)
    source = Path(coursedir.format_path(coursedir.source_directory, ".", coursedir.assignment_id))
    autograded = Path(coursedir.format_path(coursedir.autograded_directory, ".", "."))
    for path in (root / "gradebook.db", autograded, *source.glob("*.ipynb")):
        if path.exists() and not path.is_symlink() and path != root:
            privacy.close(path, shared=bool(coursedir.groupshared))


def student_of(coursedir: CourseDirectory, folder: Path) -> str:
    """The student that a submission's folder belongs to, by the course's own directory structure."""
    places = coursedir.submitted_directory, "(?P<student>[^/]+)", coursedir.assignment_id
    match = re.fullmatch(coursedir.format_path(*places, escape=True), str(folder), re.DOTALL)
    return match["student"] if match else folder.parent.name


def _students(coursedir: CourseDirectory) -> set[str]:
    with Gradebook(coursedir.db_url, coursedir.course_id) as gradebook:
        return {student.id for student in gradebook.students}


def places_of_files(converter: Any, assignment: str) -> dict[str, Any]:
    """Where an assignment's data and helper files lie, and which of them are not for its notebooks."""
    coursedir = converter.coursedir
    source = coursedir.format_path(coursedir.source_directory, ".", assignment)
    kept = converter.exclude_overwriting.get(assignment, [])
    return {"source": Path(source), "ignored": list(coursedir.ignore), "kept": list(kept)}


def content_of(path: Path) -> bytes:
    """The bytes of a regular file; nothing for what is none (a link that was refused, a directory).

    StaffError for a file that may not be read: it was handed in, and nobody has seen it. The path may lead into an
    archive.
    """
    if archive := archive_of(path):
        return unpacked_at(archive).files.get(path.relative_to(archive).as_posix(), b"")
    try:
        with opened_regular(path) as file:
            content: bytes = file.read(MAX_BYTES + 1)
            return content
    except PermissionError as error:
        raise StaffError("file_unreadable", f"{printable(str(path))} could not be read: {error.strerror}") from error
    except OSError:
        return b""


def before_reading(assignment: str, student: str, notebooks: list[str]) -> None:
    """Make a submission's folder safe to read, and find notebooks that were handed in under another name.

    nbgrader passes its own list of the folder's notebooks, goes on whatever is raised here, and would follow links and
    leave out notebooks whose names it does not know.
    """
    folders = {Path(notebook).parent for notebook in notebooks}
    for folder in folders:
        refuse_links(folder)  # whatever comes of the rest
    handouts = Handouts.of(CourseDirectory(root=str(Path.cwd())), assignment)
    for folder in folders:
        there = make_safe(folder, handouts, student)
        notebooks[:] = sorted({*notebooks, *map(str, there)})
        if absent := handouts.sources.keys() - {path.stem for path in there}:
            log.warning("%s: not handed in: %s", printable(str(folder)), ", ".join(sorted(absent)))


def make_safe(folder: Path, handouts: Handouts, student: str) -> list[Path]:
    """Refuse links, copy to its right name each notebook that is there under others alone; the known notebooks."""
    refuse_links(folder)
    for path in notebooks_in(folder):
        known = _known(path, folder, handouts, student)
        place = folder / f"{known.name if known else ''}.ipynb"
        if known and not place.exists():
            log.warning("%s was submitted under another name: %s", *_shown(place, path))
            place.write_bytes(content_of(path))
    return [place for name in sorted(handouts.sources) if (place := folder / f"{name}.ipynb").exists()]


def refuse_links(folder: Path) -> None:
    """Replace every link and special file in a submission by a note: nbgrader would copy what it points to."""
    for path, trouble in entries(folder):
        with contextlib.suppress(OSError):  # a folder that may not be written to: nothing here follows a link
            if not trouble and not stat.S_ISREG(path.lstat().st_mode):
                _refuse(path)


def _refuse(path: Path) -> None:
    target = os.readlink(path) if path.is_symlink() else "a special file"
    log.warning("%s was submitted as a link or special file (%s); it was ignored", *_shown(path, target))
    path.unlink()
    note = json.dumps({"refused": target})
    if path.suffix == ".ipynb":
        path.write_text(note)  # nbgrader has it on its list: it must find a file, which is read as no notebook
    with contextlib.suppress(OSError):  # a name that leaves no room for a suffix
        path.with_name(path.name + REFUSED).write_text(note)


def _shown(*names: Any) -> tuple[str, ...]:
    return tuple(printable(str(name)) for name in names)


def notebooks_in(folder: Path) -> list[Path]:
    """Every notebook file in and below a submission's folder, but for those that programs keep for themselves.

    The path of one in an archive leads through it. Browsers save notebooks as `.ipynb.txt` and `.ipynb.json`, too.
    """
    kept = {".ipynb_checkpoints", "__MACOSX"}
    return [
        path
        for path in _files_in(folder)
        if _NOTEBOOK.search(path.name)
        and not kept & set(path.relative_to(folder).parts)
        and not path.name.startswith("._")
    ]


_NOTEBOOK = re.compile(r"\.ipynb(?:\.json|\.txt)?$", re.IGNORECASE)
_OTHER_ARCHIVE = re.compile(r"\.(?:rar|7z|tar\.\w+|ipynb\.(?:gz|bz2|xz))$", re.IGNORECASE)


def _files_in(folder: Path) -> Iterator[Path]:
    for path, trouble in entries(folder):
        if not trouble:
            yield path
        if not trouble and is_archive(path.name):
            with contextlib.suppress(NotAnArchive):
                yield from (path / name for name in unpacked_at(path).files)


def unopened(folder: Path) -> dict[str, str]:
    """The archives of a submission, and the notebooks in them, that nobody has seen; each with the reason."""
    unseen = {}
    for path, trouble in entries(folder):
        name = str(path.relative_to(folder))
        if trouble:
            continue
        if is_archive(name):
            try:
                inner = unpacked_at(path).left_out
            except NotAnArchive as error:
                unseen[name] = str(error)
            else:
                odd = {name: why for name, why in inner.items() if _NOTEBOOK.search(name) or is_archive(name)}
                unseen |= {f"{name}/{inside}": why for inside, why in odd.items()}
        elif _OTHER_ARCHIVE.search(name):
            unseen[name] = "it is neither a zip file nor a tar file"
    return unseen


def _known(path: Path, folder: Path, handouts: Handouts, student: str) -> Known | None:
    """Which notebook of the assignment a file is: by what vouches for it, or by its name."""
    return handouts.known(content_of(path), _named(path, folder, set(handouts.sources)), student)


def _named(path: Path, folder: Path, known: set[str]) -> str:
    """Which of the known notebooks a file is by its name; or empty."""
    if path.parent == folder and path.suffix == ".ipynb" and path.stem in known:
        return path.stem
    words = [rf"(?<![A-Za-z]){re.escape(name)}(?![A-Za-z])" for name in known]
    named = [name for name, word in zip(known, words, strict=True) if re.search(word, path.stem, re.IGNORECASE)]
    return max(named, key=len, default="")


def read_submission(
    path: Path, handouts: Handouts, student: str, over: Beside | None = None
) -> tuple[Whole, dict[str, bytes]]:
    """A submitted notebook made whole, and the files beside it; what was left out or not used is a flag.

    `over` are the instructor's files. Where the notebook lay, if not at its place, is noted in it.
    It is mended after what it was handed out as; where nobody can tell, or it is not the student's, all of it is held.
    """
    choice = _chosen(path, handouts, student)
    beside = files_beside(path.parent, choice.origin, over)
    known = choice.known
    whole = make_whole(choice.content, *handouts.forms(path.stem, known.seed), beside.files)
    whole.notebook["metadata"][MINE]["version"] = known.version
    if choice.origin:
        whole.notebook["metadata"][MINE]["origin"] = choice.origin
    whole.flags += [Flag(code="identity", message=message) for message in known.remarks]
    whole.flags += [Flag(code="file_not_used", message=message) for message in choice.remarks]
    whole.flags += [Flag(code="file_left_out", message=message) for message in beside.remarks()]
    _, remark = time_handed_in(path.parent)
    whole.flags += [Flag(code="time", message=remark)] if remark else []
    whole.held |= {**choice.held, **known.held}
    if transcript := transcribed.read(handouts.course, handouts.assignment).get(student):
        whole.held |= transcript.held(path.stem, _graded(whole.notebook))
        whole.flags.append(Flag(code="paper", message=f"On paper, seat {transcript.seat}."))
    if known.reason:
        whole.broken = known.reason
        whole.flags.append(Flag(code="identity", message=known.reason))
    whole.flags += [Flag(code="as_typed", message=message) for message in as_typed(whole.notebook)]
    return whole, beside.files


def _graded(notebook: Any) -> list[str]:
    """The names of a mended notebook's parts."""
    marks = ((cell["metadata"].get("nbgrader") or {}) for cell in notebook["cells"])
    return [mark["grade_id"] for mark in marks if mark.get("grade")]


def read_foreign(
    path: Path, handouts: Handouts, student: str, over: Beside | None = None, *, shown: bool = False
) -> tuple[Whole, dict[str, bytes]]:
    """A submitted notebook of an instructor's own, mended, and the files beside it.

    The file of its name counts, but for one that cannot be read or is not answered where another file is. What it
    showed the student stays where it is to be `shown`.
    """
    folder, beside = path.parent, files_beside(path.parent, "", over)
    released, source = handouts.foreign_forms(path.stem)
    found = {item: _known(item, folder, handouts, student) for item in notebooks_in(folder)}
    rivals = [item for item, known in found.items() if known and known.name == path.stem and item != path]
    contents = {item: content_of(item) for item in (path, *rivals[:MAX_COPIES])}
    wholes = {
        item: realigned(content, released, source, beside.files, shown=shown) for item, content in contents.items()
    }
    answers = {item: 0 if whole.broken else _answered(whole, released) for item, whole in wholes.items()}
    best = path if answers[path] else max(answers, key=lambda item: answers[item])
    whole = wholes[best]
    others = [item for item in found if item != best and contents.get(item) != contents[best]]
    others = [item for item in others if not (known := found[item]) or known.name == path.stem]
    remarks = [f"The notebook file {_name(item, folder)} was not used." for item in others]
    named = [item for item in rivals if item == best or contents.get(item) == contents[best]]
    remarks += [f"This notebook was handed in as {_name(item, folder)}." for item in named]
    _, remark = time_handed_in(folder)
    whole.flags += [Flag(code="file_not_used", message=message) for message in remarks]
    whole.flags += [Flag(code="file_left_out", message=message) for message in beside.remarks()]
    whole.flags += [Flag(code="time", message=remark)] if remark else []
    return whole, beside.files


def _answered(whole: Whole, released: Any) -> int:
    """How many answers are others than when they were handed out."""
    given = {id_of(cell): cell["source"] for cell in released["cells"]}
    cells = [cell for cell in whole.notebook["cells"] if id_of(cell) and not is_trusted(cell)]
    return sum(cell["source"].split() != given[id_of(cell)].split() for cell in cells)


def noted(whole: Whole) -> Any:
    """A mended notebook, with what was noticed in its metadata."""
    notebook = nbformat.from_dict(whole.notebook)
    flags = [flag.message for flag in whole.flags]
    notebook.metadata[NOTED] = {"flags": flags, "held": whole.held, "broken": whole.broken}
    return notebook


@dataclass(frozen=True, kw_only=True)
class _Choice:
    """The notebook file that counts, what is to be said of the others, and the parts that only a person can choose.

    `origin` is the folder or archive, from the submission's folder, in which the file lay.
    """

    content: bytes
    known: Known
    remarks: list[str]
    held: dict[str, str]
    origin: str = ""


@dataclass(frozen=True, kw_only=True)
class _Copy:
    """A file that could be the notebook: its answers by part, and the texts of the student's own cells."""

    path: Path
    content: bytes
    known: Known
    answers: dict[str, str]
    own: frozenset[str]
    unreadable: bool

    def holds(self, other: _Copy) -> bool:
        """Whether all that is answered in another copy is answered here in the same way."""
        return other.answers.items() <= self.answers.items()


MAX_COPIES = 20  # that are compared


def _chosen(path: Path, handouts: Handouts, student: str) -> _Choice:
    """Of several files that could be one notebook, the one that has every answer of the others; else a person chooses.

    Students hand in the untouched file beside the one in which they worked. What it does not answer is held where a
    file could not be read that may do so.
    """
    folder, unseen = path.parent, unopened(path.parent)
    found = {item: _known(item, folder, handouts, student) for item in notebooks_in(folder)}
    strangers = [item for item, known in found.items() if not known]
    rivals = {item: known for item, known in found.items() if known and known.name == path.stem}
    remarks = [f"The notebook file {_name(item, folder)} was not used." for item in strangers]
    several = sorted(rivals, key=lambda item: item != path)
    unseen |= {str(item.relative_to(folder)): "there are too many copies" for item in several[MAX_COPIES:]}
    remarks += [f"The file {printable(name)!r} was not opened: {why}." for name, why in unseen.items()]
    if not rivals:
        return _not_there(path, handouts, student, remarks)
    if len(several) == 1 and not unseen:
        (only,) = several
        if _named(only, folder, set(handouts.sources)) not in ("", path.stem):
            remarks.append(f"This notebook was handed in as {_name(only, folder)}.")
        return _Choice(content=content_of(only), known=rivals[only], remarks=remarks, held={})
    copies = [_copy(item, rivals[item], handouts) for item in several[:MAX_COPIES]]
    readable = [item for item in copies if not item.unreadable] or copies[:1]
    best = [item for item in readable if all(item.holds(other) for other in readable)]
    chosen = max(best, key=lambda item: (len(item.own), item.path == path), default=None)
    names = ", ".join(_name(item.path, folder) for item in copies)
    held: dict[str, str] = {}
    if chosen is None or (copies[0].unreadable and copies[0].content):
        chosen = chosen or max(readable, key=lambda item: len(item.answers))
        why = f"More than one file could be this notebook, and they differ: {names}."
        held = dict.fromkeys(_disputed(copies, handouts.forms(path.stem, chosen.known.seed)[0]), why)
    unread = [*map(printable, unseen), *(_name(item.path, folder) for item in copies if item.unreadable)]
    if unread:
        why = f"This is not answered, and may be in a file that could not be read: {', '.join(unread)}."
        held = (
            dict.fromkeys(_parts(handouts.forms(path.stem, chosen.known.seed)[0]) - chosen.answers.keys(), why) | held
        )
    for item in copies:
        if item.content != chosen.content:
            remarks.append(
                f"The notebook file {_name(item.path, folder)} was not used; {_name(chosen.path, folder)} was."
            )
    places = [item.path.parent for item in copies if item.content == chosen.content and item.path.parent != folder]
    origin = str(places[0].relative_to(folder)) if places else ""
    return _Choice(content=chosen.content, known=chosen.known, remarks=remarks, held=held, origin=origin)


def collected_flags(folder: Path, record: collected.Record | None) -> list[Flag]:
    """What a grader should know about how a submission came."""
    return [Flag(code="time", message=message) for message in collected.remarks(record, folder)]


def _not_there(path: Path, handouts: Handouts, student: str, remarks: list[str]) -> _Choice:
    """A file with the name of the notebook that is another one, or cannot be read."""
    content = content_of(path)
    other = handouts.known(content, path.stem, student)
    known = handouts.known(b"", path.stem, student)
    if known is None:
        raise StaffError("no_source", f"{path.stem} is no notebook of {handouts.assignment}")
    if other and other.name != path.stem:
        reason = f"The file {_name(path, path.parent)} is the notebook {other.name!r}, and nothing else was handed in."
        return _Choice(content=EMPTY, known=dataclasses.replace(known, reason=reason), remarks=remarks, held={})
    return _Choice(content=content, known=known, remarks=remarks, held={})


def _name(path: Path, folder: Path) -> str:
    return f"'{printable(str(path.relative_to(folder)))}'"


def _copy(path: Path, known: Known, handouts: Handouts) -> _Copy:
    content = content_of(path)
    released, source = handouts.forms(known.name, known.seed)
    whole = make_whole(content, released, source)
    stubs = {cell["metadata"]["nbgrader"]["grade_id"]: cell["source"] for cell in released["cells"]}
    answers, own = {}, set()
    for cell in whole.notebook["cells"]:
        marks = cell["metadata"].get("nbgrader") or {}
        text = "".join(cell["source"].split())
        if not marks:
            own.add(text)
        elif marks.get("solution") and text != "".join(stubs[marks["grade_id"]].split()):
            answers[marks["grade_id"].removesuffix(answer_id(""))] = text
    unreadable = any(flag.code == "unreadable_file" for flag in whole.flags)
    return _Copy(path=path, content=content, known=known, answers=answers, own=frozenset(own), unreadable=unreadable)


def _parts(released: Any) -> set[str]:
    marks = [cell["metadata"]["nbgrader"] for cell in released["cells"]]
    return {item["grade_id"] for item in marks if item.get("grade")}


def _disputed(copies: list[_Copy], released: Any) -> set[str]:
    """The parts that are not answered in the same way in all copies; every part where one of them cannot be read."""
    parts = _parts(released)
    if any(item.unreadable for item in copies):
        return parts
    return {part for part in parts if len({item.answers.get(part) for item in copies}) > 1}


class Sanitize(NbGraderPreprocessor):  # type: ignore[misc]
    """Nothing more for a notebook of ours; nbgrader's own steps for any other in the course."""

    steps = (ClearOutput, DeduplicateIds, OverwriteKernelspec, OverwriteCells, CheckCellMetadata)

    def preprocess(self, nb: Any, resources: Any) -> Any:
        """Run the steps that apply."""
        for step in (CheckCellMetadata,) if resources["autograder"]["ours"] else self.steps:
            nb, resources = step(parent=self.parent)(nb, resources)
        return nb, resources

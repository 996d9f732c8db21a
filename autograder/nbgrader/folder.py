"""A course folder for a whole class: what there is to grade, and writing what nbgrader's own steps would write.

nbgrader converts each notebook twice and opens its database some forty times for it. Here the same files and rows come
from one pass and one session. A course whose configuration puts other steps into `autograde` than `configure` does is
left to nbgrader itself, one submission at a time.
"""

from __future__ import annotations

import dataclasses
import fnmatch
import functools
import glob
import hashlib
import json
import logging
import os
import shutil
import stat
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.converters import Autograde
from nbgrader.nbgraderformat import ValidationError
from nbgrader.preprocessors import CheckCellMetadata

from autograder.authoring import loading, privacy
from autograder.authoring.sealing import MINE, is_ours
from autograder.authoring.variants import course_secret
from autograder.core import Report
from autograder.errors import StaffError
from autograder.grading import report as reports
from autograder.grading.hidden_key import hidden_key, key_of
from autograder.grading.notebook import Graded
from autograder.grading.submission import Submission, load_submission
from autograder.nbgrader import collected
from autograder.nbgrader.config import Hooks, configure
from autograder.nbgrader.course_api import done
from autograder.nbgrader.execution import NOTHING_RUNS, is_run, kernel_named, not_kept, why_outside
from autograder.nbgrader.feedback_pages import Feedback
from autograder.nbgrader.files import (
    Beside,
    as_text,
    files_beside,
    fingerprint,
    instructors_files,
    own_files,
    printable,
    replace_folder,
    time_handed_in,
)
from autograder.nbgrader.foreign import Foreign, Overwrite
from autograder.nbgrader.handouts import Handouts, read_source
from autograder.nbgrader.intake import (
    ODD,
    close_to_others,
    collected_flags,
    content_of,
    is_odd,
    make_safe,
    noted,
    places_of_files,
    read_foreign,
    read_submission,
    student_of,
    unopened,
)
from autograder.nbgrader.rows import Entry, Rows
from autograder.nbgrader.run_and_judge import RunAndJudge, report_at
from autograder.nbgrader.scale import Scale, scale_of
from autograder.protocol.run_state import last_line

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Handed:
    """What one student handed in: a folder, or some notebooks of it. `key` tells whether it was graded before."""

    student: str
    folder: Path
    notebooks: tuple[str, ...] = ()
    key: str = ""


@dataclass(frozen=True, kw_only=True)
class Ready:
    """A submission whose autograded notebooks are on disk: what its rows are made of, and its pages."""

    entry: Entry
    pages: Mapping[str, Any]


class Folder:
    """One assignment of a course. Made inside `commands.opened`, which sets the working directory."""

    def __init__(self, api: Any, assignment: str) -> None:
        self.api, self.assignment = api, assignment
        self.coursedir = api.coursedir
        self.coursedir.assignment_id = assignment
        self.converter = Autograde(coursedir=self.coursedir, parent=api)
        self.root = Path(self.coursedir.root)
        self.shared = bool(self.coursedir.groupshared)
        self.rows = Rows(self.coursedir.db_url, self.coursedir.course_id, assignment, self.converter)
        close_to_others(self.coursedir)
        privacy.warn_where_open(self.root)
        self.feedback = Feedback(self.coursedir, api, self.rows)
        self._checked: set[str] = set()

    @functools.cached_property
    def secret(self) -> bytes:
        """The course's secret, which is made with the first notebook of ours."""
        return course_secret(self.root)

    @functools.cached_property
    def _hidden_key(self) -> bytes:
        return hidden_key(self.root, self.assignment, self.secret)

    def key_of(self, report: Report) -> bytes:
        """What the hidden inputs of a graded notebook followed from."""
        return key_of(report, self.assignment, self.secret)

    @functools.cached_property
    def sources(self) -> dict[str, Any]:
        """The assignment's notebooks as the instructor wrote them; StaffError where one is lost."""
        return {name: read_source(self.coursedir, self.assignment, name) for name in self.rows.notebooks}

    @functools.cached_property
    def handouts(self) -> Handouts:
        """What was handed out, in every variant."""
        return Handouts(self.root, self.assignment, self.sources, self.converter.config)

    @functools.cached_property
    def scale(self) -> Scale:
        """What the assignment's parts are worth; StaffError where `source/` is not what is written."""
        return scale_of(self.root, self.assignment, self.sources)

    @functools.cached_property
    def by_nbgrader(self) -> str:
        """Why nbgrader's own steps must grade this assignment, one student after the other; empty where not."""
        steps = ("exporter_class", "sanitize_preprocessors", "autograde_preprocessors", "pre_convert_hook")
        usual, mine = _usual_steps(), self.api.config.Autograde
        hooked = isinstance(mine.get("pre_convert_hook"), Hooks)  # theirs is called here as well
        other = [
            f"c.Autograde.{step}"
            for step in steps
            if mine.get(step) != usual.get(step) and not (step == "pre_convert_hook" and hooked)
        ]
        return f"{' and '.join(other)} in nbgrader_config.py is not what configure() sets" if other else ""

    @functools.cached_property
    def outside(self) -> dict[str, str]:
        """The notebooks that cannot run in the sandbox, each with the reason; none of ours is among them."""
        if not is_run(self.converter):
            return {}
        found = {
            name: why_outside(source, self._instructors.files, kernel_named(self.converter.config))
            for name, source in self.sources.items()
            if not is_ours(source)
        }
        return {name: why for name, why in found.items() if why}

    @functools.cached_property
    def remarks(self) -> list[str]:
        """What a person should know of how the configuration has notebooks run, a sentence each."""
        foreign = [name for name, source in self.sources.items() if not is_ours(source)]
        if is_run(self.converter):
            return not_kept(self.converter.config) if foreign else []
        told = [f"{', '.join(foreign)}: {NOTHING_RUNS}"] if foreign else []
        ours = [name for name in self.sources if name not in foreign]
        return told + ([f"{', '.join(ours)}: run all the same, since marks follow from answers"] if ours else [])

    def close(self) -> None:
        """Let the database go."""
        self.rows.close()

    def handed_in(self, students: Iterable[str] = ()) -> list[Handed]:
        """Every submission that there is, or those of some students, in order of their names."""
        place = self.coursedir
        place.student_id = "*"
        wanted, excluded = set(students), set(filter(None, place.student_id_exclude.split(",")))
        found = []
        for folder in self._folders():
            student = self._student(folder)
            if student not in excluded and (not wanted or student in wanted):
                found.append(Handed(student=student, folder=folder))
        return found

    def _folders(self) -> list[Path]:
        """Everybody's submission folder, as the course's directory structure has it.

        One that may not be looked into is among them: something was handed in. The course's own path is no pattern.
        """
        mark = "\0"
        parts = Path(self.coursedir.format_path(self.coursedir.submitted_directory, mark, self.assignment)).parts
        place = next(place for place, part in enumerate(parts) if mark in part)
        base, pattern = Path(*parts[:place]), glob.escape(parts[place]).replace(mark, "*")
        people = (
            sorted(path for path in base.iterdir() if fnmatch.fnmatchcase(path.name, pattern)) if base.is_dir() else []
        )
        return [folder for person in people if _may_be_there(folder := person.joinpath(*parts[place + 1 :]))]

    def _student(self, folder: Path) -> str:
        return student_of(self.coursedir, folder)

    def key(self, handed: Handed, version: str) -> str:
        """Equal for equal work: what was handed in, what it is graded against, and by what."""
        digest = hashlib.sha256(f"{version}\0{self._against}".encode())
        digest.update(fingerprint(handed.folder))
        return digest.hexdigest()

    @functools.cached_property
    def _against(self) -> str:
        ours = any(map(is_ours, self.sources.values()))
        root = loading.find_problems(self.root) if ours else self.root
        words = [json.dumps(self.sources[name], sort_keys=True) for name in sorted(self.sources)]
        words.append(repr(self.scale.written))  # voids and dates are not in the sources
        for source in self.sources.values():
            slug = source.metadata[MINE]["slug"] if is_ours(source) else ""
            files = sorted([*(root / slug).rglob("*.py"), *(root / slug).glob("*.md")]) if slug else []
            words += [path.read_text(encoding="utf-8") for path in files]
        words += sorted({repr(dataclasses.replace(item, step="built")) for item in self.handouts.made})
        return hashlib.sha256("\0".join(words).encode()).hexdigest()

    @functools.cached_property
    def judge(self) -> RunAndJudge:
        """RunAndJudge as the course's configuration has it."""
        return RunAndJudge(parent=self.converter)

    def earlier(self, handed: Handed, name: str) -> Report | None:
        """What an earlier run found about a notebook, if that can be read."""
        return report_at(reports.path_of(self.root, self.assignment, handed.student, name))

    def made_safe(self, handed: Handed) -> list[Path]:
        """The notebooks of a submission, its folder made safe to read; StaffError if it cannot be read.

        Neither is a folder read whose name would be an odd student's.
        """
        if is_odd(handed.student) and handed.student not in self.rows.students():
            raise StaffError("odd_name", ODD.format(name=printable(handed.student)))
        try:
            os.listdir(handed.folder)
            found = make_safe(handed.folder, self.handouts, handed.student)
        except OSError as error:
            place = printable(error.filename or str(handed.folder))
            raise StaffError(
                "folder_unreadable", f"the submission could not be read: {place}: {error.strerror}"
            ) from error
        if not found and (unseen := unopened(handed.folder)):
            told = "; ".join(f"{printable(name)}: {why}" for name, why in unseen.items())
            raise StaffError("archive_unreadable", f"an archive of the submission could not be opened: {told}")
        if isinstance(hook := self.api.config.Autograde.get("pre_convert_hook"), Hooks) and not self.by_nbgrader:
            self._call("pre_convert_hook", hook.call_theirs, handed.student, found)
        return found

    def _call(self, name: str, hook: Any, student: str, notebooks: Iterable[Path]) -> None:
        """A hook of the instructor's; what goes wrong there is told, and stops nothing, as in nbgrader."""
        if hook is None:
            return
        try:
            hook(assignment=self.assignment, student=student, notebooks=list(map(str, notebooks)))
        except Exception as error:
            log.warning("c.Autograde.%s, for %s: %s: %s", name, student, type(error).__name__, error)

    @functools.cached_property
    def _instructors(self) -> Beside:
        return instructors_files(**places_of_files(self.converter, self.assignment))

    @functools.cached_property
    def _collected(self) -> dict[str, collected.Record]:
        return collected.read(self.root, self.assignment)

    def read(self, notebooks: list[Path]) -> dict[str, Submission | Foreign]:
        """Each notebook by its name, mended, with the files beside it, ready to be graded."""
        return {
            path.stem: self._read(path) if is_ours(self.sources[path.stem]) else self._named_foreign(path)
            for path in notebooks
        }

    def _named_foreign(self, path: Path) -> Foreign:
        """The same of a notebook of the instructor's own; what nbgrader's steps cannot do with it has its name."""
        try:
            return self._read_foreign(path)
        except (RuntimeError, ValueError, KeyError, ValidationError) as error:
            raise StaffError("notebook", f"{path.name}: {last_line(error)}") from error

    def _read_foreign(self, path: Path) -> Foreign:
        student = self._student(path.parent)
        whole, files = read_foreign(path, self.handouts, student, self._instructors, shown=not is_run(self.converter))
        whole.flags += collected_flags(path.parent, self._collected.get(student))
        notebook = noted(whole)
        if kernel := self.rows.kernelspec(path.stem):
            notebook.metadata["kernelspec"] = kernel
        notebook, _ = Overwrite(self.rows.source_cells(path.stem), self.converter).preprocess(notebook, {})
        if path.stem not in self._checked:  # what nbgrader says in cells is the same for everybody
            CheckCellMetadata(parent=self.converter).preprocess(notebook, {})
            self._checked.add(path.stem)
        own = [*self._instructors.files, *self.converter.exclude_overwriting.get(self.assignment, [])]
        return Foreign.of(notebook, files, self.converter, self.outside.get(path.stem, ""), own)

    def _read(self, path: Path) -> Submission:
        student = self._student(path.parent)
        whole, files = read_submission(path, self.handouts, student, self._instructors)
        whole.flags += collected_flags(path.parent, self._collected.get(student))
        key, voids = self._hidden_key, self.scale.voids(path.stem)
        return load_submission(whole.with_remarks(), course=self.root, secret=key, files=files, voids=voids)

    def missing(self, there: Iterable[str]) -> dict[str, float]:
        """The points of each notebook of the assignment that is not there, by its name."""
        marks = {
            name: [cell.metadata.get("nbgrader", {}) for cell in self.sources[name].cells] for name in self.sources
        }
        return {
            name: sum(float(item["points"]) for item in cells if item.get("grade"))
            for name, cells in marks.items()
            if name not in set(there)
        }

    def autograded(self, student: str, name: str) -> dict[str, Any]:
        """A notebook as it was graded, as plain data; ValueError or OSError where there is none that can be read."""
        place = self.coursedir.format_path(self.coursedir.autograded_directory, student, self.assignment)
        notebook = nbformat.reads(content_of(Path(place, f"{name}.ipynb")).decode(), as_version=4)
        plain: dict[str, Any] = json.loads(json.dumps(notebook))
        return plain

    def write(
        self, handed: Handed, graded: Mapping[str, Graded], *, feedback: bool, untouched: Collection[str] = ()
    ) -> None:
        """Autograded notebooks, marks, reports, and pages: in this order, each whole or not at all.

        Notebooks that are neither graded nor `untouched` were not handed in.
        """
        ready = self.prepared(handed, graded, untouched)
        self.finish(ready, self.rows.write(ready.entry), feedback=feedback)

    def prepared(self, handed: Handed, graded: Mapping[str, Graded], untouched: Collection[str] = ()) -> Ready:
        """The first step of writing: the autograded notebooks. Rows are the second, and `finish` is the last.

        Doing it again, after an end at whatever place, gives the same: a report that is there says what marks given by
        hand were given for.
        """
        pages = {name: nbformat.from_dict(item.notebook) for name, item in graded.items()}
        pages |= {name: nbformat.from_dict(self.autograded(handed.student, name)) for name in untouched}
        self._write_notebooks(handed, pages)
        folder = Path(self.coursedir.format_path(self.coursedir.autograded_directory, handed.student, self.assignment))
        notebooks = [folder / f"{name}.ipynb" for name in pages]
        self._call("post_convert_hook", self.converter.post_convert_hook, handed.student, notebooks)
        close_to_others(self.coursedir)
        earlier = {name: self.earlier(handed, name) for name in graded}
        found = {name: item.report for name, item in graded.items()}
        entry = Entry(
            student=handed.student,
            timestamp=self._timestamp(handed),
            reports=found,
            earlier=earlier,
            untouched=untouched,
        )
        return Ready(entry=entry, pages=pages)

    def finish(self, ready: Ready, written: Mapping[str, Report], *, feedback: bool) -> None:
        """The reports that are kept, and the pages by the marks that are in the gradebook by now."""
        for name, report in written.items():
            place = reports.path_of(self.root, self.assignment, ready.entry.student, name)
            reports.save(report, place, shared=self.shared)
        if feedback:
            self.feedback.write(ready.entry.student, ready.pages)

    def feedback_again(self, student: str, notebooks: Iterable[str]) -> None:
        """A student's pages by the marks of now."""
        if self.by_nbgrader:
            done("generate_feedback", self.api.generate_feedback(self.assignment, student, force=True))
            return
        pages = {name: nbformat.from_dict(self.autograded(student, name)) for name in notebooks}
        self.feedback.write(student, pages)

    def _timestamp(self, handed: Handed) -> Any:
        return time_handed_in(handed.folder)[0]

    def _write_notebooks(self, handed: Handed, notebooks: dict[str, Any]) -> None:
        """The folder in `autograded/`, made beside the old one and then put in its place."""
        place = self.coursedir
        target = Path(place.format_path(place.autograded_directory, handed.student, self.assignment))
        new = target.with_name(f".{target.name}.new")
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir(parents=True)
        self._copy_files(handed, new)
        for name, notebook in notebooks.items():
            (new / f"{name}.ipynb").write_text(as_text(notebook), encoding="utf-8")
        replace_folder(new, target, self.converter.permissions)
        if place.groupshared:
            self.converter.set_permissions(self.assignment, handed.student)

    def _copy_files(self, handed: Handed, new: Path) -> None:
        """What lies beside the notebooks, under the instructor's own files."""
        place, ignored = self.coursedir, [*self.coursedir.ignore, "*.ipynb"]
        source = place.format_path(place.source_directory, ".", self.assignment)
        kept = {os.path.join(source, name) for name in self.converter.exclude_overwriting.get(self.assignment, [])}
        beside = files_beside(handed.folder).files
        for folder in (str(handed.folder), source):
            for name in own_files(Path(folder), ignored):
                file = os.path.join(folder, name)
                if file in kept or (folder != source and name not in beside):
                    continue
                copy = new / name
                copy.parent.mkdir(parents=True, exist_ok=True)
                if folder == source:
                    shutil.copy(file, copy)
                else:
                    copy.write_bytes(beside[name])

    def grade_by_nbgrader(self, handed: Handed, *, feedback: bool) -> None:
        """nbgrader's own autograde and generate_feedback of one submission; StaffError where they fail."""
        steps = [("autograde", {"force": True})] + ([("generate_feedback", {"force": True})] if feedback else [])
        for step, options in steps:
            done(step, getattr(self.api, step)(self.assignment, handed.student, **options))
        self.rows.forget()


def _may_be_there(folder: Path) -> bool:
    """Whether this is a folder, or may be one behind a door that is shut."""
    try:
        return stat.S_ISDIR(os.stat(folder).st_mode)
    except PermissionError:
        return True
    except OSError:
        return False


def _usual_steps() -> dict[str, Any]:
    """What `configure` puts into nbgrader's autograde."""
    from traitlets.config import Config

    config = Config()
    configure(config, Path.cwd())
    return dict(config.Autograde)

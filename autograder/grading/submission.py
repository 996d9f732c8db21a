"""A submitted notebook with what it is graded by: all of it is loaded here, once, before anything runs or is judged."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from autograder.authoring import loading
from autograder.authoring.hidden_tests import digest_of_tests
from autograder.authoring.source_notebook import answer_id
from autograder.authoring.variants import part_key, variant
from autograder.authoring.voids import Void
from autograder.core import Parameters, Part, Problem
from autograder.errors import AutograderError
from autograder.grading import typeset
from autograder.grading.feedback import is_for_staff
from autograder.grading.identity import moved, texts_of
from autograder.grading.repeatability import digest
from autograder.protocol.answering import one_thread
from autograder.protocol.run_state import last_line


@dataclass(frozen=True, kw_only=True)
class Paper:
    """A problem in one variant, as it is put to a student. Equal papers ask equal questions.

    `folder` is that of all problems, `version` that of the hidden inputs, `secret` what these follow from.
    """

    folder: Path
    slug: str
    version: int
    seed: int
    secret: bytes = field(repr=False)
    parts: Sequence[Part] = field(default=(), compare=False)
    parameters: Parameters = field(default_factory=dict, compare=False)

    def key(self, part: str) -> tuple[int, ...]:
        """The key of a part's hidden inputs."""
        return part_key(self.secret, self.slug, self.version, self.seed, part)

    def reference(self, name: str) -> str:
        """The right answer to a part as HTML; empty where there is none, or its grader has it anyway."""
        part = next((part for part in self.parts if part.name == name and not part.judged_by_person), None)
        with contextlib.suppress(Exception):  # a fault of the problem's is told where it is judged
            return typeset.reference(part, self.parameters) if part else ""
        return ""


@dataclass(frozen=True, kw_only=True)
class Submission:
    """One mended notebook, the files beside it, and its paper. Grading fills in copies of the notebook.

    `held` gives, by part, why a person must look, and `broken` why at the whole notebook, which is one decision;
    `flags` are what was noticed before anything ran. `voids` are what holds for parts of this variant. Where the
    problem cannot be loaded, `fault` says why, and the paper has no parts. `tests` is the same for the same tests,
    points and voids.
    """

    notebook: dict[str, Any]
    paper: Paper
    files: Mapping[str, bytes]
    held: Mapping[str, str]
    flags: tuple[str, ...]
    broken: str = ""
    voids: Mapping[str, Void] = field(default_factory=dict)
    fault: str = ""
    tests: str = ""

    @functools.cached_property
    def digest(self) -> str:
        """The same for the same cells and files."""
        return digest(self.notebook, self.files)

    def answered(self, part: str) -> str:
        """The same for the same text and pictures in the cell where a part is answered."""
        cells = {(cell["metadata"].get("nbgrader") or {}).get("grade_id"): cell for cell in self.notebook["cells"]}
        cell = cells.get(answer_id(part), cells.get(part, {}))
        content = [cell.get("source", ""), cell.get("attachments", {})]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def paper_of(problem: Problem, *, folder: Path, seed: int, secret: bytes, version: int | None = None) -> Paper:
    """The paper of a problem's variant, with the hidden inputs of `version`: the problem's own, if none is given."""
    return Paper(
        folder=folder,
        slug=problem.slug,
        version=version or problem.version,
        seed=seed,
        secret=secret,
        parts=problem.parts,
        parameters=variant(problem, seed).parameters,
    )


def load_submission(
    notebook: dict[str, Any],
    *,
    course: Path,
    secret: bytes,
    files: Mapping[str, bytes] | None = None,
    asked_by: int | None = None,
    voids: Mapping[str, Void] | None = None,
) -> Submission:
    """A mended notebook with its paper; one that was graded before loses its notes for staff.

    Hidden inputs follow from `secret`: the assignment's key, or the course's secret (`hidden_key`). The folder of
    problems is looked for in and above `course`. `asked_by` is the version whose hidden inputs are to be put, where it
    is not the problem's own; `voids` are those of the problem's parts in this assignment. From here on torch takes one
    core: references are asked, too.
    """
    one_thread()
    marks = notebook["metadata"]["autograder"]
    flags, fault = tuple(marks.get("flags", ())), ""
    held = dict(marks.get("held") or {})
    holding = {part: void for part, void in (voids or {}).items() if void.applies(marks["seed"])}
    try:
        folder = loading.find_problems(course)
        problem = _accepting(loading.load(marks["slug"], folder), holding)
    except AutograderError as error:
        fault = last_line(error)
        paper = Paper(folder=course, slug=marks["slug"], version=marks["version"], seed=marks["seed"], secret=secret)
    else:
        paper = paper_of(problem, folder=folder, seed=marks["seed"], secret=secret, version=asked_by)
        if problem.version != marks["version"]:
            flags += (f"graded by version {problem.version} of the problem, handed out as version {marks['version']}",)
            held = moved(problem, folder, marks["seed"], marks["version"], texts_of(notebook["cells"])) | held
    return Submission(
        notebook={**notebook, "cells": [cell for cell in notebook["cells"] if not is_for_staff(cell)]},
        paper=paper,
        files=files or {},
        held=held,
        broken=marks.get("broken", ""),
        flags=flags,
        voids=holding,
        fault=fault,
        tests="" if fault else digest_of_tests(folder / marks["slug"], notebook, voids or {}),
    )


def _accepting(problem: Problem, voids: Mapping[str, Void]) -> Problem:
    """The problem, by which the answers that voids add are correct."""
    if not voids:
        return problem
    nothing = Void()
    return replace(problem, parts=[voids.get(part.name, nothing).accepting(part) for part in problem.parts])

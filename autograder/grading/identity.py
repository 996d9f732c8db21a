"""Which notebook this is that was handed in: what its seal says, or the list of what was made, or its own statement.

Nothing else in a file says what it is. A notebook of another problem or variant of the assignment is graded by that.
One that was handed out to somebody else, or of which nobody can tell what it is, is a person's.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.authoring import loading, sealing
from autograder.authoring.ledger import Made, text_digest
from autograder.authoring.sealing import Identity, Seal
from autograder.authoring.statement import render
from autograder.authoring.variants import variant
from autograder.core import Problem
from autograder.errors import AutograderError
from autograder.grading.repair import cell_source, cells_of, document_of

INTRODUCTION = "introduction"


@dataclass(frozen=True, kw_only=True)
class Known:
    """A notebook as it was handed out, as far as that is known; `name` is its problem's.

    `reason` says why a person must look at all of it, `held` why at single parts, `remarks` what else is odd.
    """

    name: str
    seed: int
    version: int
    reason: str = ""
    held: Mapping[str, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Handout:
    """What one student may have: `own` is the course's variant of each problem for them, `made` all that was made."""

    assignment: str
    student: str
    secret: bytes
    problems: Path
    own: Mapping[str, Identity]
    made: Sequence[Made] = ()

    def known(self, content: bytes, name: str) -> Known | None:
        """What a file is that goes by the name of a problem, or by none; None where it is none of the assignment's."""
        try:
            document = document_of(content)
            seal = sealing.read(document, self.secret)
            texts = list(texts_of(cells_of(document)))
        except ValueError:  # that it cannot be read is found, and said, where it is mended
            return _as_named(self.own[name]) if name in self.own else None
        if seal.identity:
            return self._by_its_word(seal.identity, name, texts)
        order = [name, *self.own] if name in self.own else list(self.own)
        if slug := next((slug for slug in order if not self._missing(self.own[slug], texts)), None):
            known = _as_named(self.own[slug])
            broken = f"What this notebook says of itself was changed. Its statement is that of {self.own[slug]}."
            return dataclasses.replace(known, remarks=(broken,)) if seal.state == "broken" else known
        if item := self._on_the_list(name, texts):
            return self._by_its_word(_identity(item, self.secret), name, texts)
        return self._unknown(seal, name, texts) if name in self.own else None

    def _unknown(self, seal: Seal, name: str, texts: Sequence[str]) -> Known:
        own = self.own[name]
        reason = (
            f"What this notebook was handed out as cannot be told: its seal is {seal.state}, and its statement is not "
            f"that of {own} (changed or missing: {', '.join(self._missing(own, texts))})."
        )
        return dataclasses.replace(_as_named(own), reason=reason)

    def _by_its_word(self, said: Identity, name: str, texts: Sequence[str]) -> Known | None:
        """What follows from a seal that is verified, or from a line of the ledger."""
        if said.assignment != self.assignment or said.slug not in self.own:
            if name not in self.own:
                return None
            reason = f"This notebook was handed out as {said}, not for {self.assignment}."
            return dataclasses.replace(_as_named(self.own[name]), reason=reason)
        own = self.own[said.slug]
        known = Known(name=said.slug, seed=said.seed, version=said.version)
        if said.seed != own.seed:
            known = dataclasses.replace(known, remarks=(f"This notebook is {said}, and was graded by that.",))
        if said.student not in ("", self.student):
            both = f"This notebook was handed out to {said.student}, and was handed in by {self.student}."
            return dataclasses.replace(known, reason="This notebook was handed out to somebody else.", remarks=(both,))
        try:
            problem = loading.load(said.slug, self.problems)
            drawn = variant(problem, said.seed)
        except AutograderError:  # held for that, where it is loaded to be judged
            return known
        if sealing.parameters_digest(drawn.parameters, self.secret) != said.parameters:
            reason = f"This notebook is {said}, and the problem does not draw its numbers any more."
            return dataclasses.replace(known, reason=reason, remarks=())
        if said.version == problem.version:
            return known
        return dataclasses.replace(known, held=moved(problem, self.problems, said.seed, said.version, texts))

    def _missing(self, identity: Identity, texts: Sequence[str]) -> list[str]:
        """What of a variant's statement, as the problem has it now, is in none of the texts."""
        try:
            problem = loading.load(identity.slug, self.problems)
            return missing(problem, self.problems, identity.seed, texts)
        except AutograderError as error:
            return [error.message]

    def _on_the_list(self, name: str, texts: Sequence[str]) -> Made | None:
        """The notebook that was made with just these texts: of several, the student's own, or one of this name."""
        digests = {text_digest(text) for text in texts}
        found = [item for item in self.made if item.statement and digests.issuperset(item.statement)]
        ranked = sorted(found, key=lambda item: (item.student == self.student, not item.student, item.slug == name))
        return ranked[-1] if ranked else None


def _as_named(own: Identity) -> Known:
    return Known(name=own.slug, seed=own.seed, version=own.version)


def _identity(item: Made, secret: bytes) -> Identity:
    return Identity(
        assignment=item.assignment,
        slug=item.slug,
        version=item.version,
        seed=item.seed,
        parameters=sealing.parameters_digest(dict(item.parameters), secret),
        student=item.student,
    )


def texts_of(cells: Iterable[Any]) -> Iterator[str]:
    """What a notebook's cells show in words, without white space."""
    for cell in cells:
        if isinstance(cell, dict) and cell.get("cell_type") != "code":
            yield "".join((cell_source(cell) or "").split())


def missing(problem: Problem, root: Path, seed: int, texts: Iterable[str]) -> list[str]:
    """The parts whose statement under a seed is in none of the texts; among them, the introduction.

    Between a part's heading and its text its points may stand.
    """
    sections = render(problem, loading.statement_text(problem.slug, root), variant(problem, seed).parameters)
    shown = list(texts)
    return [
        name or INTRODUCTION
        for name, section in sections.items()
        if not any(all("".join(piece.split()) in text for piece in section.split("\n", 1)) for text in shown)
    ]


def moved(problem: Problem, root: Path, seed: int, version: int, texts: Iterable[str]) -> dict[str, str]:
    """Why parts of an older version cannot be judged by the newer one: what was asked is not what is asked now.

    What stands in the introduction is asked in all of them.
    """
    changed = missing(problem, root, seed, texts)
    names = [part.name for part in problem.parts] if INTRODUCTION in changed else changed
    reason = f"This was handed out as version {version}, and version {problem.version} states it otherwise."
    return dict.fromkeys(names, reason)

"""The report on a class as a page, as JSON, and as a CSV table of the parts."""

from __future__ import annotations

import csv
import dataclasses
import io
import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2

from autograder.reporting.class_marks import ClassMarks
from autograder.reporting.class_report import ClassReport, look_at
from autograder.reporting.item_statistics import Figure
from autograder.reporting.marks_table import as_text
from autograder.reporting.similarity import Likeness

_TEMPLATES = Path(__file__).parent / "templates"
WORDS = {
    "graded": "graded",
    "held": "waiting for a person",
    "missing": "nothing handed in",
    "excused": "excused",
}
KINDS = {
    "code": "rare code",
    "mathematics": "an unusual wrong answer",
    "seat": "an answer for the other's numbers",
}
_COLUMNS = (
    "part", "kind", "maximum", "n", "facility", "facility_low", "facility_high", "guess_corrected", "deviation",
    "discrimination", "discrimination_low", "discrimination_high", "discrimination_why", "efficiency", "alpha_without",
    "full", "partly", "none", "held", "missing",
)  # fmt: skip


def page(report: ClassReport) -> str:
    """One HTML file; nothing is fetched, and it needs no script."""
    rows = [
        (item, figures, count, look_at(figures.discrimination, figures.facility))
        for item, figures, count in zip(report.items, report.statistics.items, report.counts, strict=True)
    ]
    bars = [(f"{low:g}–{high:g}", count) for low, high, count in report.histogram]
    groups = [(name, list(own)) for name, own in itertools.groupby(rows, key=lambda row: row[0].notebook)]
    return _render("report.html.j2", report=report, groups=groups, bars=bars, words=WORDS)


def similar_page(
    likeness: Likeness, marks: ClassMarks, sources: Mapping[str, Mapping[str, str]], facts: Sequence[str] = ()
) -> str:
    """The page on pairs of similar answers, with what was noticed about their files; for staff."""
    flags = {pupil.id: pupil.flags for pupil in marks.pupils}
    words: dict[str, Any] = {"title": marks.title, "sources": sources, "flags": flags, "facts": facts, "kinds": KINDS}
    return _render("similar.html.j2", likeness=likeness, **words)


def dossier_page(
    name: str,
    people: Sequence[tuple[str, Sequence[Mapping[str, str]]]],
    assignments: Sequence[Mapping[str, Any]],
    files: Sequence[str],
    **more: Any,
) -> str:
    """The page of all that is kept about one student, with links to the files beside it."""
    own: dict[str, Any] = {"name": name, "people": people, "assignments": assignments, "files": files}
    return _render("dossier.html.j2", **own, **more, words={**WORDS, "void": "dropped"})


def _render(template: str, **words: Any) -> str:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES), autoescape=True, undefined=jinja2.StrictUndefined
    )
    return environment.get_template(template).render(**words)


def as_json(report: ClassReport) -> str:
    """All figures of the page, and those that have no place on it."""
    return json.dumps(dataclasses.asdict(report), ensure_ascii=False, indent=1, default=sorted)


def as_csv(report: ClassReport) -> str:
    """A line for each part."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(_COLUMNS)
    for item, figures, count in zip(report.items, report.statistics.items, report.counts, strict=True):
        facility, agreement = figures.facility, figures.discrimination
        numbers = [*_three(facility), figures.guess_corrected, figures.deviation, *_three(agreement)]
        counts = [count.full, count.partly, count.none, count.held, count.missing]
        cells = [item.name, item.kind, item.maximum, facility.n, *numbers, agreement.why]
        cells += [figures.efficiency, figures.alpha_without, *counts]
        writer.writerow([_cell(cell) for cell in cells])
    return text.getvalue()


def _three(figure: Figure) -> tuple[float | None, float | None, float | None]:
    return figure.value, figure.low, figure.high


def _cell(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else as_text(str(value))

"""The report on a class: what is counted, and what is never counted as nought."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace

import pytest

from autograder.reporting import report_files
from autograder.reporting.class_marks import ClassMarks, Item, Mark, Pupil
from autograder.reporting.class_report import class_report

ITEMS = (
    Item(notebook="gates", part="cell", maximum=4, kind="equation", mistakes=frozenset({"transposed"})),
    Item(
        notebook="gates", part="open_gate", maximum=2, kind="choice", options=3, mistakes=frozenset({"closes", "keeps"})
    ),
)


def student(number: int, cell: Mark, choice: Mark, **parameters: object) -> Pupil:
    """A student of a variant."""
    marks = {"gates.cell": cell, "gates.open_gate": choice}
    return Pupil(id=f"s{number:02}", marks=marks, parameters={"gates": parameters})


def lost(code: str, typed: str = "", points: float = 0.0) -> Mark:
    """A decided part that lost points."""
    return Mark(status="graded", points=points, codes=(code,), typed=typed, hint=f"About {code} <b>.")


FULL, RIGHT = Mark(status="graded", points=4), Mark(status="graded", points=2)
HELD = Mark(status="held", codes=("time",), typed="y = x")


@pytest.fixture
def marks() -> ClassMarks:
    """Thirty students in two variants, the second of which is harder; one who handed in nothing."""
    people = [student(i, FULL if i % 5 else lost("transposed"), RIGHT, K=2) for i in range(15)]
    people += [student(i, lost("value", "y = W x" if i % 2 else "y=W x"), RIGHT, K=3) for i in range(15, 29)]
    people.append(student(29, HELD, lost("closes"), K=3))
    absent = Mark(status="missing")
    people.append(student(30, absent, absent))
    return ClassMarks(assignment="ps1", title="Set <1>", items=ITEMS, pupils=tuple(people))


def test_counts(marks) -> None:
    """Every student is in one column, and who handed in nothing is in none."""
    report = class_report(marks)
    assert report.statuses == {"graded": 29, "held": 1, "missing": 1}
    assert [(c.full, c.partly, c.none, c.held, c.missing) for c in report.counts] == [
        (12, 0, 17, 1, 0),
        (29, 0, 1, 0, 0),
    ]
    assert report.statistics.items[0].facility.n == 29 and report.decided == 29


def test_mistakes_by_frequency(marks) -> None:
    """With their share of the wrong, what they cost, and whether the problem lists them; then the unnamed."""
    report = class_report(marks)
    assert [(m.part, m.code, m.known, m.n, round(m.share, 2), m.points) for m in report.mistakes] == [
        ("gates.cell", "value", False, 14, 0.82, 56),
        ("gates.cell", "transposed", True, 3, 0.18, 12),
        ("gates.open_gate", "closes", True, 1, 1.0, 2),
    ]
    assert [(form.typed, form.n) for form in report.forms] == [("y = W x", 7), ("y=W x", 7), ("y = x", 1)]


def test_equal_answers_are_counted_once(marks) -> None:
    """Texts that differ are one answer where the judge says so."""
    forms = class_report(marks, lambda item, p, one, two: one.split() == two.replace("=", " = ").split()).forms
    assert [(form.typed, form.n) for form in forms] == [("y = W x", 14), ("y = x", 1)]


@pytest.mark.parametrize(("code", "facility", "decided"), [("missing", None, 30), ("value", 0, 20)])
def test_a_part_at_which_nobody_has_looked_tells_nothing(code: str, facility: float | None, decided: int) -> None:
    """Where only empty answers are decided, they are no figure of the part; a wrong one is."""
    people = [student(i, lost(code) if i < 20 else HELD, RIGHT if i % 2 else lost("keeps")) for i in range(30)]
    report = class_report(ClassMarks(assignment="a", title="a", items=ITEMS, pupils=tuple(people)))
    assert report.statistics.items[0].facility.value == facility and len(report.statistics.totals) == decided
    assert report.counts[0].held == 10 and report.counts[0].none == 20
    assert bool(report.notes) == (facility is None)


def test_options(marks) -> None:
    """Each option with who chose it, those that nobody chose too."""
    found = {item.option: item for item in class_report(marks).options}
    assert {name: item.n for name, item in found.items()} == {"the right option": 29, "closes": 1, "keeps": 0}
    assert found["keeps"].note == "hardly anybody chose it" and found["the right option"].right


def test_a_wrong_key_is_seen() -> None:
    """Where those who chose a wrong option have more elsewhere than those who are right, the page says so."""
    good = [student(i, FULL, lost("closes")) for i in range(4)]
    weak = [student(i, lost("transposed"), RIGHT) for i in range(4, 8)]
    report = class_report(ClassMarks(assignment="a", title="a", items=ITEMS, pupils=(*good, *weak)))
    assert "look at the key" in next(item.note for item in report.options if item.option == "closes")
    assert "look at the key" not in "".join(item.note for item in report.options if item.option != "closes")


def test_variants_are_compared_in_words(marks) -> None:
    """Two groups of ten or more that differ, with their sizes; a part that is alike in both says so."""
    sentences = {group.part: group.sentence for group in class_report(marks).groups}
    assert sentences["gates.cell"] == "K = 3 was harder than 2 by 0.80 of the points (n = 14 and 15)"
    assert sentences["gates.open_gate"] == "the groups do not differ by more than chance"
    few = replace(marks, pupils=marks.pupils[:20])
    assert {group.sentence for group in class_report(few).groups} == {"not compared: there are no two groups of 10"}


def test_the_page_is_whole_and_safe(marks) -> None:
    """No script, nothing fetched, every text escaped; the words of the table are there."""
    text = report_files.page(class_report(marks))
    assert "<script" not in text and not re.search(r"(src|href)=\"(?!#)", text) and "url(" not in text
    assert "Set &lt;1&gt;" in text and "About value &lt;b&gt;." in text and "waiting for a person" in text
    assert text.count("<h1>") == 1 and '<html lang="en">' in text


def test_json_and_csv_hold_the_same_figures(marks) -> None:
    """A line for each part; None is an empty field."""
    report = class_report(marks)
    rows = list(csv.DictReader(io.StringIO(report_files.as_csv(report))))
    data = json.loads(report_files.as_json(report))
    for row, item in zip(rows, data["statistics"]["items"], strict=True):
        assert float(row["facility"]) == pytest.approx(item["facility"]["value"], rel=1e-5)
    assert rows[0]["guess_corrected"] == "" and rows[0]["held"] == "1"


@pytest.mark.parametrize("people", [(), (student(1, FULL, RIGHT),), (student(1, HELD, Mark(status="held")),)])
def test_small_classes(people: tuple[Pupil, ...]) -> None:
    """Nobody, one student, nothing decided: a page with reasons."""
    text = report_files.page(class_report(ClassMarks(assignment="a", title="a", items=ITEMS, pupils=people)))
    assert "–" in text and "nan" not in text.lower()

"""Sheets of exam-1 as they are printed: looked at page by page, codes read back, and the same bytes each time."""

from __future__ import annotations

import copy
import dataclasses
import re
import shutil
from pathlib import Path

import pypdfium2
import pytest
import zxingcpp
from PIL import Image

from autograder.authoring.assignment import read_assignment
from autograder.authoring.exam_rules import Accommodation
from autograder.printing.exam import Printing
from autograder.printing.seats import Seat, planned
from autograder.printing.typesetting import Typesetter, pages

ROOT = Path(__file__).resolve().parents[2]
TURNS = (-2.0, 1.5)  # degrees
DOTS = (100, 200)  # an inch


@dataclasses.dataclass(frozen=True)
class Sheet:
    """One seat's sheet."""

    seat: Seat
    pdf: bytes
    texts: list[str]


@pytest.fixture(scope="module")
def printing(tmp_path_factory) -> Printing:
    """exam-1 in a course of its own."""
    course = tmp_path_factory.mktemp("course")
    for name in ("exam-1.toml", "nbgrader_config.py"):
        shutil.copy(ROOT / "notebooks" / name, course / name)
    patch = pytest.MonkeyPatch()
    patch.setenv("AUTOGRADER_PROBLEMS", str(ROOT / "problems"))
    patch.setenv("AUTOGRADER_SECRET", "a secret of the tests, forty letters long")
    made = Printing(course, read_assignment(course, "exam-1"))
    patch.undo()
    return made


def sheet(printing: Printing, seat: Seat) -> Sheet:
    """It, with the text of each page."""
    pdf = printing.sheet(seat)
    document = pypdfium2.PdfDocument(pdf)
    return Sheet(seat, pdf, [document[page].get_textpage().get_text_range() for page in range(len(document))])


@pytest.fixture(scope="module")
def seats(printing) -> list[Seat]:
    """Two, the second with large print and more time."""
    one, two = printing.drawing.draw(planned([], 2, 1, []))
    named = dataclasses.replace(one, student="4711", name="Łukasz Nöther")
    return [named, dataclasses.replace(two, given=Accommodation(label="large", time=1.25, large=True))]


@pytest.fixture(scope="module")
def usual(printing, seats) -> Sheet:
    """In the usual print."""
    return sheet(printing, seats[0])


@pytest.fixture(scope="module")
def large(printing, seats) -> Sheet:
    """In large print."""
    return sheet(printing, seats[1])


def test_a_name_stands_on_the_cover_alone(usual) -> None:
    """With the id; the code, the number of the page and of all pages stand on each."""
    assert "Łukasz Nöther" in usual.texts[0] and "4711" in usual.texts[0]
    assert not any("Nöther" in text or "4711" in text for text in usual.texts[1:])
    for number, text in enumerate(usual.texts, 1):
        assert "A-001" in text and f"page {number} of {len(usual.texts)}" in text


@pytest.mark.parametrize("which", ["usual", "large"])
def test_a_sheet_has_an_even_number_of_pages(which: str, request) -> None:
    """The last of them scratch paper; the cover says how many there are."""
    found: Sheet = request.getfixturevalue(which)
    assert len(found.texts) == pages(found.pdf) and len(found.texts) % 2 == 0
    assert "Scratch paper" in found.texts[-1]
    assert f"This exam has {len(found.texts)} pages" in " ".join(found.texts[0].split())


def test_the_cover_says_what_holds(usual, large) -> None:
    """Time with its factor, aids, the points of each problem and their sum; no word of why somebody has more time."""
    cover, other = (" ".join(found.texts[0].split()) for found in (usual, large))
    assert "180 minutes" in cover and "225 minutes" in other and "100 points" in cover
    assert "One sheet of notes" in cover and cover.count("/ 25") == 4 and "/ 100" in cover
    assert "large" not in other and "accommodation" not in other


def test_every_part_is_asked_once(usual, large, printing) -> None:
    """With its number, its title and its points, in the usual print and in large print."""
    for found in (usual, large):
        text = " ".join(" ".join(found.texts[1:]).split())
        for section in printing.paper.sections(found.seat):
            for question in section.questions:
                assert (
                    len(re.findall(rf"(?<![\d.]){re.escape(question.number)} {re.escape(question.title)}", text)) == 1
                )


def test_a_part_is_not_torn(usual, printing) -> None:
    """Its last option stands on the page of its title."""
    for section in printing.paper.sections(usual.seat):
        for question in (item for item in section.questions if item.room.options):
            page = next(
                text for text in usual.texts[1:] if f"{question.number} {question.title}" in " ".join(text.split())
            )
            assert f"{list(question.options)[-1]})" in page


def test_options_stand_in_the_seats_order(usual, printing) -> None:
    """Letters of the paper, texts of the notebook's letters."""
    section = printing.paper.sections(usual.seat)[1]
    question = next(item for item in section.questions if item.part.name == "reason")
    lettered = question.part.lettered(question.p)
    order = usual.seat.orders["loss_heads.reason"]
    assert [question.options[letter] for letter in "abc"] == [lettered[letter] for letter in order[:3]]


def test_codes_are_read_back(usual, large) -> None:
    """From pictures of two resolutions that are turned a little, on every page."""
    for found in (usual, large):
        document = pypdfium2.PdfDocument(found.pdf)
        chosen = range(0, len(document), 1 if found is usual else 5)
        for number in chosen:
            picture = document[number].render(scale=DOTS[number % 2] / 72).to_pil()
            turned = picture.rotate(TURNS[number % 2], Image.Resampling.BICUBIC, fillcolor="white", expand=True)
            codes = [code.text for code in zxingcpp.read_barcodes(turned)]
            assert codes == [f"exam-1;{found.seat.code};{number + 1}"]


def test_the_same_bytes_each_time(usual, printing, seats) -> None:
    """From another printing as well; nothing tells when it was made."""
    again = copy.copy(printing)
    again.typesetter = Typesetter(printing.course)
    assert again.sheet(seats[0]) == usual.pdf
    assert b"/CreationDate" not in usual.pdf and b"/ModDate" not in usual.pdf


def test_a_sheet_can_be_heard(usual, large) -> None:
    """PDF/UA-1, with a title and a language, and an alternative for each formula."""
    for found in (usual, large):
        assert b"pdfuaid" in found.pdf and b"/Lang" in found.pdf and b"/StructTreeRoot" in found.pdf


def test_large_print_is_large(usual, large) -> None:
    """Letters of 17 points, on more pages."""
    assert len(large.texts) > 1.5 * len(usual.texts)
    heights = []
    for found in (usual, large):
        page = pypdfium2.PdfDocument(found.pdf)[1].get_textpage()
        boxes = [page.get_charbox(place) for place in range(200)]
        heights.append(max(top - bottom for _, bottom, _, top in boxes))
    assert heights[1] > 1.3 * heights[0]

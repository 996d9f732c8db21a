"""Students' pages as students see them: in the dark, on a phone, on paper, and by who hears them."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.nbgrader.feedback_page import overview
from tests.nbgrader.test_student_pages import PAGE, sheet

EARNED = "details.part.earned"


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> Path:
    """A notebook's page, with parts in all states, and the assignment's."""
    place = tmp_path_factory.mktemp("pages")
    (place / "sums.html").write_text(PAGE, encoding="utf-8")
    (place / "index.html").write_text(overview(sheet()), encoding="utf-8")
    return place


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("name", ["sums", "index"])
def test_accessible(name, dark, pages, open_page, keep, violations):
    """No violation of WCAG 2.1 AA; nothing is fetched."""
    page = open_page(pages / f"{name}.html", dark=dark)
    keep(page, f"feedback_{name}_{'dark' if dark else 'light'}")
    assert violations(page) == []


@pytest.mark.parametrize("name", ["sums", "index"])
def test_a_phone_needs_no_scrolling_sideways(name, pages, open_page, keep):
    """Nothing is wider than the window."""
    page = open_page(pages / f"{name}.html", width=390, height=800)
    keep(page, f"feedback_{name}_phone")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_formulas_are_drawn(pages, open_page):
    """Without any script."""
    page = open_page(pages / "sums.html")
    assert page.locator(".answer math").first.bounding_box()["height"] > 10


def test_on_paper_nothing_is_folded(pages, open_page, keep):
    """What was earned is closed on the screen, and open in print."""
    page = open_page(pages / "sums.html")
    shown = "part => part.querySelector('h3').checkVisibility({contentVisibilityAuto: true})"
    assert page.locator(EARNED).first.evaluate(shown) is False
    page.emulate_media(media="print")
    keep(page, "feedback_sums_print")
    assert page.locator(EARNED).first.evaluate(shown) is True

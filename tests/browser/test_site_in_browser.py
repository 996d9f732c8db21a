"""The documentation site as a reader sees it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browsing import keep, violations
from tests.site.building import built

PAGES = ["index", "gallery/softmax_entropy", "answer-languages", "reference/commands"]


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The pages that are looked at, and all others."""
    return built(tmp_path_factory)


def test_the_first_page_leads_everybody_on(site, open_page):
    """Four readers have a link each; the tutorial is one click away, and the search finds it."""
    page = open_page(site / "index.html")
    keep(page, "site")
    page.get_by_role("link", name="your first problem in an hour").first.click()
    assert page.get_by_role("heading", level=1).inner_text().startswith("Your first problem")


def test_a_phone_needs_no_scrolling_sideways(site, open_page):
    """Nothing is wider than the window; long code scrolls in its own frame."""
    page = open_page(site / "gallery/softmax_entropy.html", width=390, height=800)
    keep(page, "site_phone", whole=False)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_formulas_are_drawn(site, open_page):
    """A fraction is as high as two lines, without any script."""
    page = open_page(site / "gallery/softmax_entropy.html")
    assert page.locator("math mfrac").first.bounding_box()["height"] > 20


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_accessible(name, dark, site, open_page):
    """No violation of WCAG 2.1 AA."""
    page = open_page(site / f"{name}.html", dark=dark)
    keep(page, f"site_{name.replace('/', '_')}_{'dark' if dark else 'light'}", whole=False)
    assert violations(page) == []

"""What students, graders and instructors are given as pages can be read by everybody."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.readme import handed_in_course
from tests.browsing import keep, violations
from tests.nbgrader.test_student_pages import PAGE

COMMANDS = (
    "grade ps1",
    "release ps1 --zip",
    "report ps1 --out report.html",
    "similar ps1 --out similar.html",
    "preview ps1 --no-open --output statement.html",
    "preview ps1 --no-open --answers --output answers.html",
)
PAGES = {
    "statement": "statement.html",
    "statement_with_answers": "answers.html",
    "how_to_hand_in": "zip/how-to-work-and-hand-in.html",
    "feedback": "feedback/bob/ps1/scaled_scores.html",
    "feedback_held": "feedback/cleo/ps1/scaled_scores.html",
    "feedback_total": "feedback/bob/ps1/index.html",
    "feedback_in_all_states": "states.html",
    "report": "report.html",
    "similar": "similar.html",
}


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    """A course with all its pages."""
    folder = handed_in_course(tmp_path_factory.mktemp("pages") / "course")
    for line in COMMANDS:
        subprocess.run([sys.executable, "-m", "autograder", *line.split()], cwd=folder, check=True)
    shutil.unpack_archive(folder / "zips/ps1.zip", folder / "zip")
    (folder / "states.html").write_text(PAGE, encoding="utf-8")
    return folder


def found(course: Path, page: str) -> Path:
    """The file of a page, also in a folder within the zip."""
    path = course / PAGES[page]
    return path if path.is_file() else next((course / "zip").rglob(path.name))


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("page", PAGES)
def test_accessible(page, dark, course, open_page):
    """No violation of WCAG 2.1 AA."""
    shown = open_page(found(course, page), dark=dark)
    keep(shown, f"{page}_{'dark' if dark else 'light'}")
    assert violations(shown) == []


@pytest.mark.parametrize("page", PAGES)
def test_a_phone_needs_no_scrolling_sideways(page, course, open_page):
    """What is wider than the window scrolls in its own frame, which the keyboard reaches."""
    shown = open_page(found(course, page), width=390, height=800)
    keep(shown, f"{page}_phone")
    assert shown.evaluate("document.documentElement.scrollWidth") <= 390
    assert violations(shown) == []


@pytest.mark.parametrize("page", ["feedback", "feedback_in_all_states", "report", "statement"])
def test_printed(page, course, open_page, tmp_path):
    """The page prints, and nothing is folded on paper."""
    shown = open_page(found(course, page))
    shown.emulate_media(media="print")
    keep(shown, f"{page}_print")
    assert len(shown.pdf()) > 10_000
    folded = shown.locator("details:not([open])")
    assert all(box.locator(":scope > :not(summary)").first.is_visible() for box in folded.all())

"""Formgrader as a grader sees it, in a browser that reaches nothing but this machine."""

from __future__ import annotations

import sqlite3
import subprocess
import sys

import pytest

from benchmarks.readme import handed_in_course
from tests.browsing import keep
from tests.course.test_formgrader import IDS, TOKEN, formgrader


@pytest.fixture(scope="module")
def addresses(tmp_path_factory):
    """Where one logs in, and the page of cleo's notebook, of which a part is held."""
    course = handed_in_course(tmp_path_factory.mktemp("formgrader") / "course")
    words = [sys.executable, "-m", "autograder", "grade", "ps1", "--no-feedback"]
    subprocess.run(words, cwd=course, check=True, capture_output=True)
    with sqlite3.connect(course / "gradebook.db") as gradebook:
        numbers = {student: number for number, student in gradebook.execute(IDS)}
    with formgrader(course) as server:
        yield f"{server}login?token={TOKEN}", f"{server}formgrader/submissions/{numbers['cleo']}/"


@pytest.fixture
def page(addresses, open_page):
    """The page, once its points are there; no script of it has failed."""
    login, address = addresses
    shown, failed = open_page(login), []
    shown.on("pageerror", lambda error: failed.append(str(error)))
    shown.goto(address)
    shown.locator("input.score[placeholder]").last.wait_for()
    yield shown
    assert failed == []


def test_a_held_part_shows_why_and_what_is_right(page):
    """The note has the answer, the reason and the reference as mathematics, with the network closed."""
    keep(page, "formgrader")
    assert page.get_by_text("cannot be read").first.is_visible()
    assert page.get_by_text("O(T^2").first.is_visible()
    reference = page.locator("math").last
    assert reference.is_visible() and reference.bounding_box()["width"] > 20


def test_points_are_given_by_the_keyboard(page):
    """Tab leads from field to field, and what is typed there is saved: after a reload it is there."""
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.matches('.tabbable')")
    with page.expect_response(lambda reply: "/api/grade/" in reply.url and reply.request.method == "PUT"):
        page.locator("input.score").last.fill("0.5")
        page.keyboard.press("Tab")
    page.reload()
    page.wait_for_function("Array.from(document.querySelectorAll('input.score')).at(-1).value === '0.5'")

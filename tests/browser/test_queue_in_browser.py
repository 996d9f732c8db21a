"""The queue in a real browser: two hundred answers by the keyboard, and two graders at once."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from autograder.course.run import Options, run
from autograder.sandbox import layers
from tests import forked
from tests.browsing import SECONDS, keep, violations
from tests.review.conftest import course, finished, hand_in_all  # noqa: F401
from tests.review.test_deciding import marks

TWELVE = 12
CLASS = 68  # of three answers each


def answers(number: int) -> dict[str, str]:
    """Nobody can decide about any: twelve students have the same sum, the others have it in fours; so the rest."""
    letter = "d" if number < TWELVE else f"c_{number // 4}"
    spaces = " " * (number % 5)
    return {
        "total": f"1/(1-{spaces}e^(-{letter}))",
        "count": f"about {number // 5} dozens",
        "why": f"The ratio is below $1/{number // 3}$.",
    }


@pytest.fixture
def crowd(course) -> Path:  # noqa: F811
    """The course with a large class."""
    hand_in_all(course, {f"student{number:02}": answers(number) for number in range(CLASS)})
    run(course, Options(assignment="ps1", jobs=2, feedback=False))
    return course


@contextlib.contextmanager
def queue(place: Path) -> Iterator[str]:
    """`autograder review`, and the address that it prints; it is ended as a grader ends it."""
    words = ["autograder", "review", "ps1", "--no-open", "--course", str(place)]
    command = forked.Forked(words, cwd=place, env=layers.environment())
    try:
        yield next(line.strip() for line in command.stdout if line.startswith("http"))
        command.send_signal(signal.SIGINT)
        assert "All decisions are in the gradebook." in command.communicate(SECONDS)[0]
    finally:
        command.kill()


def settled(page: Any) -> str:
    """What the page shows once it has done what it was told; the heading of the card."""
    page.wait_for_selector('#card[aria-busy="false"]', timeout=SECONDS * 1000)
    return str(page.inner_text("#card .top" if page.locator("#card .top").count() else "#card"))


def press(page: Any, *keys: str) -> str:
    """Keys, one after the other."""
    for key in keys:
        page.keyboard.press(key)
        heading = settled(page)
    return heading


def only(page: Any, part: str) -> str:
    """Go to a part by the list on the left."""
    page.locator("#parts button", has_text=part).click()
    return settled(page)


def test_two_hundred_answers_are_decided_by_the_keyboard(crowd, open_page) -> None:
    """With a comment, an undo, somebody taken out, one skipped: nothing waits then, and all is in the gradebook."""
    waiting = [place for place, (_, waits) in marks(crowd).items() if waits]
    assert len(waiting) >= 200
    with queue(crowd) as address:
        page = open_page(address)
        settled(page)
        assert "12 students" in only(page, "total")
        assert "<math" in page.inner_html("#card .box:nth-of-type(2)"), "the reference is typeset"
        keep(page, "queue_twelve", whole=False)
        press(page, "2", "c")
        page.keyboard.type("Which letter is $b$?")
        press(page, "Enter")
        assert {marks(crowd)[f"student{number:02}", "total"] for number in range(TWELVE)} == {(2, False)}
        assert "12 students" in press(page, "u") and "total" in page.inner_text("#card .top")
        assert {marks(crowd)[f"student{number:02}", "total"] for number in range(TWELVE)} == {(None, True)}
        page.keyboard.press("n")
        out = page.locator("#members .who").nth(1).inner_text()
        assert "11 of 12" in press(page, "j", "x")
        press(page, "1", "Enter")
        given = {f"student{number:02}": marks(crowd)[f"student{number:02}", "total"] for number in range(TWELVE)}
        assert given.pop(out) == (None, True) and set(given.values()) == {(4, False)}
        skipped = page.inner_html("#card")
        press(page, "s")
        assert page.inner_html("#card") != skipped
        while "Nothing waits" not in settled(page):
            press(page, "1", "Enter")
    rows = marks(crowd)
    assert not any(waits for _, waits in rows.values())
    assert all(rows[place] == ({"total": 4, "count": 2, "why": 2}[place[1]], False) for place in waiting)


def test_two_graders_are_not_offered_the_same(course, open_page) -> None:  # noqa: F811
    """At one server, what another looks at comes to nobody else. At two, who is slower is told, and writes nothing."""
    with queue(course) as address, queue(course) as other:
        gil, mia, zoe = (open_page(f"{place}&grader={name}") for place, name in
                         ((address, "gil"), (address, "mia"), (other, "zoe")))  # fmt: skip
        shown = [settled(page) and only(page, "total") for page in (gil, mia, zoe)]
        assert ["2 students" in heading for heading in shown] == [True, False, True]
        keep(mia, "queue_two_graders", whole=False)
        assert violations(mia) == []
        press(gil, "1", "Enter")
        gil.wait_for_selector("#history li")
        press(zoe, "3", "Enter")
        assert "gil has" in zoe.inner_text("#message")
        keep(zoe, "queue_too_late", whole=False)
        assert {marks(course)[student, "total"] for student in ("ada", "bob")} == {(4, False)}
        press(mia, "3", "Enter")
        assert marks(course)["eve", "total"] == (0, False)


def test_an_answer_that_is_longer_than_its_box_is_scrolled_by_the_keyboard(course, open_page) -> None:  # noqa: F811
    """The box can have the focus; one in which all is seen has none."""
    hand_in_all(course, {"zoe": {"total": "1/(1-e^(-b))", "count": "dozens and " * 400}})
    run(course, Options(assignment="ps1", students=("zoe",), jobs=1, feedback=False))
    with queue(course) as address:
        page = open_page(address)
        settled(page)
        only(page, "count")
        while "dozens and dozens" not in page.inner_text("#card"):
            press(page, "s")
        long = page.locator("#card pre", has_text="dozens and dozens").first
        assert long.evaluate("box => box.scrollHeight > box.clientHeight && box.tabIndex === 0")
        assert page.locator("#card pre:not([tabindex])").count()
        assert violations(page) == []

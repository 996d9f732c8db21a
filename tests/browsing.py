"""A real browser, for tests that are marked `browser`: the system's Chromium or Chrome, or the one of Playwright.

Where there is none these tests are left out, unless BROWSER=required is set, as the gate does. Pictures of what was
seen stay in build/screenshots/.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SECONDS = 120  # that a page may take on a machine that does much else
SCREENSHOTS = Path(__file__).parents[1] / "build" / "screenshots"
HERE = (
    "file:",
    "data:",
    "blob:",
    "about:",
    "http://127.0.0.1:",
    "ws://127.0.0.1:",
    "http://localhost:",
    "ws://localhost:",
)
WCAG = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}}


@contextlib.contextmanager
def browser() -> Iterator[Any]:
    """It is started, and ended; the test is left out where there is none."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        own = Path(playwright.chromium.executable_path)
        found = next(filter(None, map(shutil.which, NAMES)), own if own.is_file() else None)
        if found is None:
            leave_out = pytest.fail if os.environ.get("BROWSER") == "required" else pytest.skip
            leave_out("there is no browser: install Chromium, or run `playwright install chromium`")
        # It asks its maker's hosts for news otherwise.
        started = playwright.chromium.launch(executable_path=found, args=["--disable-background-networking"])
        try:
            yield started
        finally:
            started.close()


def opened(browser: Any, address: str, **kind: Any) -> Any:
    """A page in a window of its own; what it asks for elsewhere than on this machine fails the test at its end."""
    page = browser.new_context(**kind).new_page()
    page.set_default_timeout(SECONDS * 1000)
    page.elsewhere = []
    page.on("request", lambda asked: None if asked.url.startswith(HERE) else page.elsewhere.append(asked.url))
    page.goto(address)
    return page


def keep(page: Any, name: str, *, whole: bool = True) -> Path:
    """A picture of a page, or of what the window shows of it."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    path = SCREENSHOTS / f"{name}.png"
    page.screenshot(path=path, full_page=whole)
    return path


def violations(page: Any) -> list[str]:
    """What axe-core finds against the rules of WCAG 2.1 A and AA, a line for each element."""
    from axe_playwright_python.sync_playwright import Axe

    rules = Axe().run(page, options=WCAG).response["violations"]
    return [f"{rule['id']}: {node['target']}: {node['html'][:120]}" for rule in rules for node in rule["nodes"]]

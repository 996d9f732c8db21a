"""A real browser, for tests that are marked `browser`: the system's Chromium or Chrome, or the one of Playwright."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SECONDS = 120  # that a page may take on a machine that does much else


@contextlib.contextmanager
def browser() -> Iterator[Any]:
    """It is started, and ended; the test is left out where there is none."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        own = Path(playwright.chromium.executable_path)
        found = next(filter(None, map(shutil.which, NAMES)), own if own.is_file() else None)
        if found is None:
            pytest.skip("there is no browser: install Chromium, or run `playwright install chromium`")
        started = playwright.chromium.launch(executable_path=found)
        try:
            yield started
        finally:
            started.close()


def opened(browser: Any, address: str, **kind: Any) -> Any:
    """A page in a window of its own; what it asks for elsewhere than on this machine fails the test at its end."""
    page = browser.new_context(**kind).new_page()
    page.set_default_timeout(SECONDS * 1000)
    page.elsewhere = []
    page.on("request", lambda asked: page.elsewhere.append(asked.url) if _is_elsewhere(asked.url) else None)
    page.goto(address)
    return page


def _is_elsewhere(url: str) -> bool:
    return not url.startswith(("file:", "data:", "blob:", "http://127.0.0.1:", "http://localhost:"))

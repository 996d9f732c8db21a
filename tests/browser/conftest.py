"""A real browser: the system's own Chromium, driven by Playwright. Nothing is downloaded, and no page may ask for more
than this machine has.

Where there is no Chromium the tests are skipped, unless BROWSER=required is set, as the gate does. Pictures of what was
seen stay in build/screenshots/.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

SCREENSHOTS = Path(__file__).parents[2] / "build" / "screenshots"
# Without these, Chromium asks its maker's hosts for news.
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
HERE = ("http://127.0.0.1:", "ws://127.0.0.1:", "file:", "data:", "blob:", "about:")
WCAG = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every test of this folder needs a browser."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """The browser."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        reason = "Chromium is not installed (Debian: apt-get install chromium)"
        if os.environ.get("BROWSER") == "required":
            pytest.fail(reason)
        pytest.skip(reason)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium: Browser) -> Iterator[Callable[..., Page]]:
    """Opens an address: `dark`, and the `width` of the window. Whatever is asked of the network fails the test."""
    contexts, asked = [], []

    def opened(address: str | Path, *, dark: bool = False, width: int = 1280, height: int = 900) -> Page:
        context = chromium.new_context(
            color_scheme="dark" if dark else "light", viewport={"width": width, "height": height}
        )
        contexts.append(context)
        page = context.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.goto(address.as_uri() if isinstance(address, Path) else address)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert [url for url in asked if not url.startswith(HERE)] == []


@pytest.fixture
def keep() -> Callable[..., Path]:
    """Keeps a picture of a page under a name."""

    def kept(page: Page, name: str, *, whole: bool = True) -> Path:
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        path = SCREENSHOTS / f"{name}.png"
        page.screenshot(path=path, full_page=whole)
        return path

    return kept


@pytest.fixture(scope="session")
def violations() -> Callable[[Page], list[str]]:
    """What axe-core finds against the rules of WCAG 2.1 A and AA, a line for each element."""
    axe = Axe()

    def found(page: Page) -> list[str]:
        rules = axe.run(page, options=WCAG).response["violations"]
        return [f"{rule['id']}: {node['target']}: {node['html'][:120]}" for rule in rules for node in rule["nodes"]]

    return found

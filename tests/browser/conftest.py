"""Pages as people see them, in a browser that the tests of this folder share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import browsing


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every test of this folder needs a browser."""
    for item in items:
        if item.nodeid.startswith("tests/browser/"):
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """The browser."""
    with browsing.browser() as started:
        yield started


@pytest.fixture
def open_page(chromium: Any) -> Iterator[Callable[..., Any]]:
    """Opens a file or an address: `dark`, and the `width` of the window. Asking the network for anything fails."""
    pages = []

    def opened(address: str | Path, *, dark: bool = False, width: int = 1280, height: int = 900) -> Any:
        kind = {"color_scheme": "dark" if dark else "light", "viewport": {"width": width, "height": height}}
        pages.append(browsing.opened(chromium, address.as_uri() if isinstance(address, Path) else address, **kind))
        return pages[-1]

    yield opened
    for page in pages:
        page.context.close()
    assert [url for page in pages for url in page.elsewhere] == []

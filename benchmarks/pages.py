"""Blocks of a page that a script writes, each between two markers: `<!-- name: ... -->` and `<!-- end name -->`."""

from __future__ import annotations

import re
from collections.abc import Mapping


def written(page: str, blocks: Mapping[str, str]) -> str:
    """The page with each block between its markers; ValueError where a block has not exactly one place."""
    for name, text in blocks.items():
        pattern = re.compile(rf"(<!-- {name}: .*? -->\n).*?(<!-- end {name} -->)", re.DOTALL)
        page, count = pattern.subn(lambda found, text=text: f"{found[1]}{text}{found[2]}", page)
        if count != 1:
            raise ValueError(f"the page has {count} places for the block {name!r}")
    return page

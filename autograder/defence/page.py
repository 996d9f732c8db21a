"""Sheets and keys as HTML pages: one file each, which fetches nothing and needs no script."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autograder.defence.proofs import LETTERS
from autograder.defence.sheet_words import EXPLAINED, TITLES, headings, numbered
from autograder.defence.student import Sheet

TEMPLATE = "sheet.html.j2"


def page(sheet: Sheet, title: str, names: Mapping[str, str], name: str, *, key: bool) -> str:
    """A student's sheet, or the key to it."""
    items = numbered(sheet)
    heads = {number: names.get(notebook, notebook) for number, notebook in headings(items).items()}
    questions = [
        {
            "number": number,
            "heading": heads.get(number, ""),
            "listings": listings,
            "title": TITLES[item.kind],
            "text": _html(item.text),
            "options": [(letter, _html(text)) for letter, text in zip(LETTERS, item.options, strict=False)],
            "answer": item.answer,
            "why": _html(item.why),
        }
        for number, item, listings in items
    ]
    words = {"title": title, "name": name, "student": sheet.student, "explained": EXPLAINED}
    return str(_template().render(questions=questions, key=key, **words))


@functools.cache
def _template() -> Any:
    import jinja2

    folder = Path(__file__).parent / "templates"
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder), autoescape=True, undefined=jinja2.StrictUndefined
    ).get_template(TEMPLATE)


def _html(text: str) -> Any:
    import markupsafe

    return markupsafe.Markup(_reader()(text))  # noqa: S704 - the reader escapes whatever is no Markdown


@functools.cache
def _reader() -> Any:
    import mistune

    return mistune.create_markdown(escape=True)

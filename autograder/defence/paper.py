"""Sheets and keys as Typst code: one student after the other, each beginning on a page of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from autograder.defence.proofs import LETTERS, Asked
from autograder.defence.sheet_words import EXPLAINED, TITLES, headings, numbered
from autograder.defence.student import Sheet
from autograder.printing.markup import escaped, markup, quoted, raw


def sheet_code(sheet: Sheet, title: str, names: Mapping[str, str], name: str) -> str:
    """A student's sheet; `names` are the problems' titles by notebook, `name` who the student is."""
    items = numbered(sheet)
    heads = headings(items)
    body = [
        f"#heading(level: 1, {quoted(f'Your own answers: {title}')})",
        escaped(EXPLAINED),
        f"#field([Name], {quoted(name)})",
    ]
    for number, item, listings in items:
        if number in heads:
            body.append(f"#heading(level: 1, {quoted(names.get(item.notebook, item.notebook))})")
        for defined, listing in listings:
            body.append(f"#block(sticky: true, below: 0.6em)[Your `{defined}`:]")
            body.append(f"#block(inset: (left: 0.3cm), {raw(listing, block=True)[1:]})")
        asked = f"[{markup(item.text)}]"
        body.append(f"#question({quoted(str(number))}, {quoted(TITLES[item.kind])}, [1], {asked}, {_answer(item)})")
    return _page(sheet, title, "", body)


def key_code(sheet: Sheet, title: str, names: Mapping[str, str], name: str) -> str:
    """The key to a student's sheet."""
    body = [f"#heading(level: 1, {quoted(f'Key: {name}')})"]
    for number, item, _ in numbered(sheet):
        where = f"{names.get(item.notebook, item.notebook)}, `{item.part}`" + (
            f", line {item.lines[0]}" if item.lines else ""
        )
        more = markup(f"{where}. {_sentence(item.why)}")
        answer = f"[*{markup(item.key)}*]" if item.options else f"[#strong(raw({quoted(item.answer)}))]"
        body.append(f"#entry({quoted(str(number))}, {quoted(TITLES[item.kind])}, [1], {answer}, [{more}])")
    return _page(sheet, title, "key", body)


def _sentence(why: str) -> str:
    return f"{why[0].upper()}{why[1:]}." if why else ""


def _answer(item: Asked) -> str:
    if not item.options:
        return 'frame(1, false, "")'
    texts = "".join(
        f"({quoted(f'{letter})')}, [{markup(text)}]), " for letter, text in zip(LETTERS, item.options, strict=False)
    )
    return f"options(({texts}))"


def _page(sheet: Sheet, title: str, kind: str, body: Iterable[str]) -> str:
    told = f"seat: {quoted(sheet.student)}, title: {quoted(title)}, kind: {quoted(kind)}"
    return f"#sheet({told})[\n" + "\n\n".join(body) + "\n]\n"

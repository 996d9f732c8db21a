"""A table as another program wrote it: single cells are filled in, and every other byte stays as it was.

Python's csv module forgets quotation marks and line ends, so the text is cut into its cells here. What counts as a cell
is RFC 4180 with any separator: a quoted one may hold separators and line breaks.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from pathlib import Path

from autograder.errors import StaffError

_MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


@dataclass
class Sheet:
    """The cells of a table as they stand in the file, and the ends of its lines; `mark` are the first bytes, if any."""

    rows: list[list[str]]
    ends: list[str]
    separator: str
    encoding: str
    mark: bytes = b""

    def value(self, row: int, column: int) -> str:
        """What a cell holds, without quotation marks; empty where the row is shorter."""
        cells = self.rows[row]
        return _plain(cells[column]) if column < len(cells) else ""

    @property
    def head(self) -> list[str]:
        """The first row."""
        return [_plain(cell).strip() for cell in self.rows[0]]

    def fill(self, row: int, column: int, text: str) -> None:
        """Put something into a cell, quoted where the old content was, or where it must be."""
        cells = self.rows[row]
        cells += [""] * (column + 1 - len(cells))
        quoted = cells[column].startswith('"') or any(sign in text for sign in (self.separator, '"', "\n", "\r"))
        cells[column] = f'"{text.replace(chr(34), chr(34) * 2)}"' if quoted else text

    def without(self, rows: set[int]) -> Sheet:
        """The same table without some of its rows."""
        kept = [number for number in range(len(self.rows)) if number not in rows]
        return Sheet(
            rows=[self.rows[number] for number in kept],
            ends=[self.ends[number] for number in kept],
            separator=self.separator,
            encoding=self.encoding,
            mark=self.mark,
        )

    def content(self) -> bytes:
        """The file's bytes."""
        lines = (self.separator.join(cells) + end for cells, end in zip(self.rows, self.ends, strict=True))
        return self.mark + "".join(lines).encode(self.encoding, "surrogateescape")


def read_sheet(path: Path) -> Sheet:
    """The table in a file; StaffError where there is none, or where a quotation mark is never closed."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise StaffError("table", f"{path} cannot be read: {error.strerror}") from error
    mark = next((mark for mark in _MARKS if content.startswith(mark)), b"")
    text, encoding = _decoded(content[len(mark) :], _MARKS.get(mark, ""))
    if content.startswith(b"PK\x03\x04"):
        raise StaffError("table", f"{path} is an Excel workbook; download or save the table as CSV")
    if not text.strip():
        raise StaffError("table", f"{path} is empty")
    separator = _separator(text)
    rows, ends = _cut(text, separator, path)
    return Sheet(rows=rows, ends=ends, separator=separator, encoding=encoding, mark=mark)


def _decoded(content: bytes, encoding: str) -> tuple[str, str]:
    """The text; bytes that are no text in it come back as they were."""
    if encoding:
        return content.decode(encoding, "surrogateescape"), encoding
    try:
        return content.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        return content.decode("cp1252", "surrogateescape"), "cp1252"


def _separator(text: str) -> str:
    """The sign that divides the first line most often, outside of quotation marks."""
    first = re.sub(r'"(?:[^"]|"")*"', "-", text).lstrip("\r\n").split("\n", 1)[0]
    return max(",;\t", key=first.count)


def _cut(text: str, separator: str, path: Path) -> tuple[list[list[str]], list[str]]:
    """Rows of cells as they stand there, and each row's line end."""
    cell = re.compile(rf'((?:"(?:[^"]|"")*"|[^"{re.escape(separator)}\r\n])*)({re.escape(separator)}|\r\n|\n|\r|\Z)')
    rows, ends, row, place = [], [], list[str](), 0
    while place < len(text):
        found = cell.match(text, place)
        if found is None:
            line = text.count("\n", 0, place) + 1
            raise StaffError("table", f"{path}, line {line}: a quotation mark is opened and not closed")
        row.append(found[1])
        place = found.end()
        if found[2] == separator:
            if place == len(text):
                row.append("")
            else:
                continue
        rows.append(row)
        ends.append("" if found[2] == separator else found[2])
        row = []
    return rows, ends


def _plain(cell: str) -> str:
    text = cell.strip()
    if len(text) >= 2 and text[0] == text[-1] == '"':
        return text[1:-1].replace('""', '"')
    return cell

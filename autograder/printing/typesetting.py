"""Typst code to PDF: in memory, with the same fonts and the same bytes everywhere, accessible (PDF/UA-1).

The compiler's own fonts are Libertinus Serif, New Computer Modern and DejaVu Sans Mono; matplotlib brings DejaVu Sans.
A course's folder `fonts/` may bring more, for names in other scripts.
"""

from __future__ import annotations

import functools
import io
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autograder.errors import StaffError
from autograder.printing.markup import quoted

FONTS = "fonts"  # a folder of the course
TEMPLATE = "sheet.typ"
MILLIMETRES = 11.5


class Typesetter:
    """Compiles for one course. `files` are pictures that the code names."""

    def __init__(self, course: Path) -> None:
        import matplotlib
        import typst

        self._typst: Any = typst  # its types know no files in memory
        own = course / FONTS
        self._fonts = [str(Path(matplotlib.get_data_path(), "fonts", "ttf")), *([str(own)] if own.is_dir() else [])]
        self._template = Path(__file__).with_name(TEMPLATE).read_bytes()

    def missing(self, text: str) -> str:
        """The signs of a text that no font here has."""
        return "".join(dict.fromkeys(sign for sign in text if ord(sign) not in self._signs and not sign.isspace()))

    @functools.cached_property
    def _signs(self) -> frozenset[int]:
        """What DejaVu Sans and the course's own fonts have; the compiler's own have less."""
        from matplotlib.ft2font import FT2Font

        paths = [path for folder in self._fonts for path in Path(folder).iterdir()]
        usual = [path for path in paths if path.suffix.lower() in (".ttf", ".otf", ".ttc")]
        own = [path for path in usual if str(path.parent) != self._fonts[0] or path.name == "DejaVuSans.ttf"]
        return frozenset(sign for path in own for sign in FT2Font(str(path)).get_charmap())

    def pdf(self, code: str, files: Mapping[str, bytes], *, title: str, language: str) -> bytes:
        """The document that imports the template and then says `code`; StaffError where it is no document."""
        head = (
            f'#import "{TEMPLATE}": *\n'
            f"#set document(title: {quoted(title)}, date: none)\n#set text(lang: {quoted(language)})\n"
        )
        everything = {"main": (head + code).encode(), TEMPLATE: self._template, **files}
        try:
            found: bytes = self._typst.compile(
                everything,
                format="pdf",
                font_paths=self._fonts,
                ignore_system_fonts=True,
                pdf_standards=["ua-1"],
                timestamp=0,
            )
        except self._typst.TypstError as error:
            raise StaffError("typesetting", f"this cannot be typeset: {error}") from error
        return found


@functools.lru_cache(maxsize=8192)
def qr_code(text: str) -> bytes:
    """A QR code as SVG, of error level M."""
    import segno

    file = io.BytesIO()
    segno.make(text, error="m", micro=False).save(file, kind="svg", border=2, xmldecl=False, svgns=True)
    return file.getvalue()


def payload(assignment: str, seat: str, page: int) -> str:
    """What the code of a page says: `EXAM;SEAT;PAGE`."""
    return f"{assignment};{seat};{page}"


def pages(pdf: bytes) -> int:
    """How many pages a PDF has, as its page tree says."""
    counts = [int(number) for number in re.findall(rb"/Type\s*/Pages\b[^>]*?/Count\s+(\d+)", pdf)]
    counts += [int(number) for number in re.findall(rb"/Count\s+(\d+)[^>]*?/Type\s*/Pages\b", pdf)]
    return max(counts, default=0)

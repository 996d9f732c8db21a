"""Feedback pages in the zip file that Moodle takes under "Upload multiple feedback files in a zip".

Moodle takes a path apart at its underscores: a name, the participant's number of this assignment, the kind of plugin.
So the name holds no underscore, and both come from the grading worksheet.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path

from autograder.errors import StaffError
from autograder.reporting.lms_files import PLATFORMS, headings
from autograder.reporting.sheet import Sheet

_WHEN = (1980, 1, 1, 0, 0, 0)  # the same bytes each time: Moodle passes over a file that has not changed


def feedback_zip(sheet: Sheet, lines: Mapping[str, int], pages: Mapping[str, list[Path]]) -> bytes:
    """The zip of everybody's pages; `lines` are the worksheet's rows by the student."""
    head = headings(sheet, PLATFORMS["moodle"])
    if "identifier" not in head:
        raise StaffError("template", "the worksheet has no column Identifier, by which Moodle knows whose a file is")
    number_at, name_at = head.index("identifier"), head.index("full name") if "full name" in head else None
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for student, row in lines.items():
            number = re.search(r"\d+$", sheet.value(row, number_at).strip())
            if number is None:
                continue
            folder = (
                f"{_name(sheet.value(row, name_at) if name_at is not None else '')}_{number[0]}_assignfeedback_file"
            )
            for page in pages.get(student, []):
                archive.writestr(zipfile.ZipInfo(f"{folder}/{page.name}", _WHEN), page.read_bytes())
    return content.getvalue()


def _name(text: str) -> str:
    """A name that is part of a path: no underscore, no slash, nothing that Moodle takes for a hidden file."""
    plain = re.sub(r'[_/\\:*?"<>|\x00-\x1f]+', " ", text)
    return " ".join(plain.split()).lstrip(".~ ") or "Participant"

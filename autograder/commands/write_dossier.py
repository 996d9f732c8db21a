"""`autograder dossier` from the command line: a folder, or a zip file, about one student."""

from __future__ import annotations

import datetime
import shutil
import zipfile
from pathlib import Path

from autograder.authoring import privacy
from autograder.course.dossier import Dossier, dossier
from autograder.errors import StaffError
from autograder.nbgrader.called import called
from autograder.reporting.report_files import dossier_page

PAGE = "index.html"


def write_dossier(course: Path, student: str, *, out: Path | None, force: bool) -> int:
    """Write it, and say what is in it; the exit code."""
    course = course.resolve()
    student = called(course).id(student)
    place = out or Path(f"{student}-dossier")
    if place.exists() and not force:
        raise StaffError("out", f"{place} is there already; say --force to write it anew, or --out for another place")
    found = dossier(course, student)
    words = {"left_out": found.left_out, "day": datetime.date.today().isoformat()}
    page = dossier_page(found.name, found.people, found.assignments, sorted(found.files), **words)
    files = {PAGE: page.encode("utf-8", "replace"), **found.files}
    if place.suffix == ".zip":
        _write_zip(place, files)
    else:
        _write_folder(place, files)
    _say(found, place)
    return 0


def _write_folder(place: Path, files: dict[str, bytes]) -> None:
    """A folder that nobody else can enter. An old one is replaced if it is one of these."""
    if place.exists():
        if not (place / PAGE).is_file():
            raise StaffError("out", f"{place} is no folder of this command, and is not overwritten; use --out")
        shutil.rmtree(place)
    privacy.make_folder(place)
    for name, content in files.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        privacy.write(path, content)


def _write_zip(place: Path, files: dict[str, bytes]) -> None:
    privacy.write(place, b"")
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)


def _say(found: Dossier, place: Path) -> None:
    print(f"wrote {place}: {len(found.files)} files about {found.name}, and a page ({PAGE}); readable by you alone")
    if found.left_out:
        print(f"{len(found.left_out)} files were handed out to somebody else, and are not in it")
    print("Look through it before you hand it out: reports have notes for staff.")

"""A held answer as a known mistake or an equivalent: the lines for the problem's file, to be finished by its author."""

from __future__ import annotations

import keyword
import re
from pathlib import Path
from typing import Literal

from autograder.authoring import privacy
from autograder.course.waiting import Group
from autograder.errors import StaffError
from autograder.grading import report as reports
from autograder.nbgrader.folder import Folder

Kind = Literal["mistake", "equivalent"]
_LISTS = {"mistake": "mistakes", "equivalent": "equivalents"}


def stub(group: Group, kind: Kind, name: str, hint: str, assignment: str) -> str:
    """A function that gives the answer, with what its author has to know."""
    if not name.isidentifier() or keyword.iskeyword(name):
        raise StaffError("name", f"{name!r} is no name of a Python function, such as forgot_the_factor")
    answer, count = group.first, len(group.answers)
    part = answer.name
    listed = f"{_LISTS[kind]}=[..., {name}]"
    words = hint.strip() or "TODO: what whoever gives this answer reads: what they did, never the answer."
    quoted = words.replace("\\", "\\\\").replace('"""', "'''")
    students = "1 student" if count == 1 else f"{count} students"
    variants = sorted({repr(dict(each.p)) for each in group.answers if each.p})
    head = [
        f"# {answer.slug}.{part}: {students} of {assignment} handed this in.",
        *(f"# In the variant {p}; give None where it cannot be handed in, or is right." for p in variants[:5]),
        f"# Put it into problems/{answer.slug}/ and list it with the part: {listed}. Raise `version` if a mark can",
        f"# change, and run: autograder audit {answer.slug} --part {part}",
    ]
    docstring = f'    """{quoted}"""\n' if kind == "mistake" or hint.strip() else ""
    return "\n".join(head) + "\n" + _body(answer.text, answer.value, part, name, docstring)


def _body(text: str, value: object, part: str, name: str, docstring: str) -> str:
    if isinstance(value, str | int | float | list) and not re.search(rf"^\s*(?:def|class)\s+{part}\b", text, re.M):
        return f"def {name}(p):\n{docstring}    return {value!r}\n"
    code = re.sub(rf"^(\s*(?:def|class)\s+){part}\b", rf"\g<1>{name}", text, count=1, flags=re.M)
    return f"{code.rstrip()}\n" + (f"# Its docstring: {docstring.strip()}\n" if docstring else "")


def write_stub(folder: Folder, group: Group, kind: Kind, name: str, hint: str) -> tuple[Path, str]:
    """Add the lines to `reports/ASSIGNMENT.stubs/PROBLEM.py`, which no command reads; the file and the lines."""
    if not group.first.slug:
        raise StaffError("stub", f"{group.first.notebook} is not made from a problem's folder")
    text = stub(group, kind, name, hint, folder.assignment)
    place = folder.root / reports.FOLDER / f"{folder.assignment}.stubs" / f"{group.first.slug}.py"
    privacy.make_folder(place.parent, shared=folder.shared)
    before = place.read_text(encoding="utf-8") if place.is_file() else ""
    place.write_text("\n\n".join(filter(None, [before.rstrip("\n"), text])), encoding="utf-8")
    privacy.close(place, shared=folder.shared)
    return place, text

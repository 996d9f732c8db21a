"""Formgrader itself, in a Jupyter server of its own: every submission opens, and nothing of a student's runs in it."""

from __future__ import annotations

import base64
import copy
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

TOKEN = "formgrader"
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(1)</script></svg>'
COLOUR = "image/svg+xml"
IDS = """
    select submitted_notebook.id, student_id from submitted_notebook
    join submitted_assignment on submitted_notebook.assignment_id = submitted_assignment.id
"""


def pictured(source, **attachments):
    """A text cell's fields."""
    return {"source": source, **({"attachments": attachments} if attachments else {})}


def svg(name):
    """An attachment with a script in it."""
    return {name: {COLOUR: base64.b64encode(SVG).decode()}}


# Written answers that broke a page, or tried to run something.
TEXTS = {
    "no picture": pictured("![scan](attachment:scan.png)"),
    "no picture, by a label": pictured("![scan][1]\n\n[1]: attachment:scan.png"),
    "a picture that is none": {"source": "![a](attachment:a.png)", "attachments": {"a.png": "text"}},
    "attachments that are none": {"source": "![a](attachment:a.png)", "attachments": ["a.png"]},
    "attachment of numbers": {"source": "![a](attachment:a.png)", "attachments": {"a.png": {"image/png": 7}}},
    "svg": {"source": "![a](attachment:a.svg)", "attachments": svg("a.svg")},
    "svg that says it is a png": {
        "source": "![a](attachment:a.png)",
        "attachments": {"a.png": {"image/png": base64.b64encode(SVG).decode()}},
    },
    "svg within": pictured(f"![a](data:image/svg+xml;base64,{base64.b64encode(SVG).decode()})"),
    "svg as text": pictured(f"![a](data:image/svg+xml;utf8,{SVG.decode()})\n\n{SVG.decode()}"),
    "svg beside": pictured("![a](evil.svg) <img src='evil.svg'> [open](evil.svg) [page](evil.html)"),
    "script": pictured("<script>alert(1)</script><img src=x onerror=alert(1)>[a](javascript:alert(1))"),
    "templates": pictured("{{ 7 * 7 }} {% raw %} {% endblock %}"),
    "mathematics": pictured(r"$\href{javascript:alert(1)}{x}$ $$\frac{ $ \begin{matrix}"),
    "brackets": pictured("[" * 90_000),
    "headings": pictured("# a\n" * 20_000),
    "quotations": pictured("> " * 40_000),
    "no text": {"source": None},
    "odd signs": pictured("\0\x1b[2J\ud800\u202e\x0b\x0c"),
}


@contextmanager
def formgrader(course: Path) -> Iterator[str]:
    """A server with formgrader for the course; its address."""
    runtime = course.parent / "runtime"
    runtime.mkdir(mode=0o700)
    words = [
        "--no-browser", "--allow-root", "--ServerApp.ip=127.0.0.1", "--ServerApp.port=0",
        f"--IdentityProvider.token={TOKEN}", "--ServerApp.terminals_enabled=False",
        "--ServerApp.jpserver_extensions={'nbgrader.server_extensions.formgrader': True}",
    ]  # fmt: skip
    surroundings = os.environ | {"JUPYTER_RUNTIME_DIR": str(runtime), "JUPYTER_CONFIG_DIR": str(runtime / "config")}
    command = [sys.executable, "-m", "jupyter_server", *words]
    with (course.parent / "server.log").open("w") as log:
        server = subprocess.Popen(command, cwd=course, env=surroundings, stdout=log, stderr=log)
        try:
            yield _address(server, runtime)
        finally:
            server.terminate()
            server.wait(30)


def _address(server: subprocess.Popen[bytes], runtime: Path) -> str:
    for _ in range(600):
        for file in runtime.glob("jpserver-*.json"):
            if (text := file.read_text()) and _listens(told := json.loads(text)):
                return str(told["url"])
        assert server.poll() is None, (runtime.parent / "server.log").read_text()
        time.sleep(0.2)
    raise AssertionError("the server did not start")


def _listens(told: dict[str, Any]) -> bool:
    """The file is written a moment before the server listens."""
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", told["port"])) == 0


def opened(address: str, path: str) -> tuple[int, str]:
    """The status and the text of one of formgrader's pages."""
    request = urllib.request.Request(f"{address}{path}", headers={"Authorization": f"token {TOKEN}"})
    try:
        with urllib.request.urlopen(request, timeout=100) as reply:
            return reply.status, reply.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


@pytest.fixture(scope="module")
def pages(built, tmp_path_factory):
    """Formgrader's pages of a class whose answers are those texts, by the text's name; and the course."""
    folder = tmp_path_factory.mktemp("formgrader") / "course"
    shutil.copytree(built.path.parent, folder, symlinks=True)
    classroom = type(built)(folder / "notebooks")
    solved = json.loads((classroom.path / "submitted/perfect/ps1/tiny.ipynb").read_text())
    shutil.rmtree(classroom.path / "submitted")
    for number, given in enumerate(TEXTS.values()):
        fields = {**given, "source": given["source"] and f"{given['source']}\n\nTHE END"}
        notebook = copy.deepcopy(solved)
        place = next(
            i for i, c in enumerate(notebook["cells"]) if c["metadata"].get("nbgrader", {}).get("grade_id") == "why"
        )
        notebook["cells"][place].update(copy.deepcopy(fields))
        for kind in ("markdown", "raw"):
            notebook["cells"].append({"cell_type": kind, "metadata": {}, **copy.deepcopy(fields)})
        home = classroom.path / f"submitted/s{number:02}/ps1"
        home.mkdir(parents=True)
        (home / "tiny.ipynb").write_text(json.dumps(notebook))
        (home / "evil.svg").write_bytes(SVG)
        (home / "evil.html").write_text("<script>alert(1)</script>")
    figures = classroom.grade()
    assert (figures["failed"], figures["graded"], figures["exit"]) == (0, len(TEXTS), 0)
    again = classroom.nbgrader("generate_feedback", "ps1", "--force")
    assert again.returncode == 0, again.stderr[-2000:]
    with formgrader(classroom.path) as address:
        numbers = {student: number for number, student in classroom.rows(IDS)}
        shown = {
            name: opened(address, f"formgrader/submissions/{numbers[f's{place:02}']}/")
            for place, name in enumerate(TEXTS)
        }
        lists = [opened(address, f"formgrader/{page}")[0] for page in ("manage_submissions/ps1", "gradebook/ps1/tiny")]
    assert lists == [200, 200]
    return classroom, shown


@pytest.mark.parametrize("name", TEXTS)
def test_every_submission_opens(pages, name):
    """Formgrader's own page shows the answer to its end."""
    status, text = pages[1][name]
    assert status == 200 and ("THE END" in text) == (TEXTS[name]["source"] is not None)


def live(page: str) -> list[str]:
    """What could run in a page, or be fetched by it, among what a student wrote."""
    tags = r"<(?:img|a|iframe|object|embed)\b[^>]*(?:onerror|\.svg|svg\+xml|evil|script:)"
    return re.findall(rf"<script>alert|<svg[^>]*onload|{tags}", page)


@pytest.mark.parametrize("name", TEXTS)
def test_nothing_of_a_students_runs(pages, name):
    """No script, no SVG and no link to a file that has one, in formgrader or on the student's page."""
    classroom, shown = pages
    page = classroom.path / f"feedback/s{[*TEXTS].index(name):02}/ps1/tiny.html"
    assert live(shown[name][1]) == [] and live(page.read_text()) == []


def test_what_could_run_would_be_found():
    """The search finds each of these in a page."""
    for text in (
        "<script>alert(1)",
        "<svg onload=x>",
        '<img src=x onerror="x">',
        '<a href="javascript:x">',
        '<img src="evil.svg">',
    ):
        assert live(text), text

"""A released notebook in JupyterLab, as a student works in it: with our wheel beside it, and without."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from autograder.authoring.wheel import write_wheel
from benchmarks.readme import SLUG, handed_in_course
from tests.browsing import SECONDS, keep

# JupyterLab asks its maker's host for news, and draws only what the window shows, if it is not told otherwise.
SETTINGS = """
{"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": false},
 "@jupyterlab/notebook-extension:tracker": {"windowingMode": "none"}}
"""
ANOTHER_PACKAGE = "raise ImportError('this is not the package that students use')"


@contextlib.contextmanager
def jupyterlab(folder: Path, settings: Path) -> Iterator[str]:
    """The address of a JupyterLab on a folder; this environment's own package hides behind another one of its name."""
    (settings / "lab").mkdir(parents=True)
    (settings / "lab/overrides.json").write_text(SETTINGS)
    (settings / "hidden/autograder").mkdir(parents=True)
    (settings / "hidden/autograder/__init__.py").write_text(ANOTHER_PACKAGE)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--ServerApp.port={port}"),
        *(
            f"--ServerApp.root_dir={folder}",
            "--IdentityProvider.token=word",
            f"--LabApp.app_settings_dir={settings}/lab",
        ),
    ]
    places = {name: str(settings) for name in ("HOME", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR")}
    environment = {**os.environ, **places, "PYTHONPATH": str(settings / "hidden")}
    server = subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        address = f"http://127.0.0.1:{port}"
        for _ in range(SECONDS * 5):
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"{address}/api", timeout=5).close()
                break
            assert server.poll() is None, "JupyterLab has ended"
            time.sleep(0.2)
        yield f"{address}/lab/tree/{SLUG}.ipynb?token=word"
    finally:
        server.send_signal(signal.SIGINT)
        server.send_signal(signal.SIGINT)  # it asks whether that was meant
        server.wait(SECONDS)


def run_all(page: Any) -> str:
    """Restart the kernel and run all cells, by the menu; the outputs, from top to bottom."""
    page.wait_for_selector(".jp-NotebookPanel .jp-Cell")
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_text("Restart Kernel and Run All Cells…").click()
    page.locator(".jp-Dialog button.jp-mod-accept").click()
    last = page.locator(".jp-NotebookPanel .jp-CodeCell").last
    last.locator(".jp-OutputArea-output").first.wait_for()
    return "\n".join(page.locator(".jp-NotebookPanel .jp-OutputArea-output").all_inner_texts())


@pytest.fixture(scope="module")
def notebook(tmp_path_factory) -> str:
    """A student's notebook: code, and a typed answer."""
    course = handed_in_course(tmp_path_factory.mktemp("course") / "course")
    return (course / f"submitted/ada/ps1/{SLUG}.ipynb").read_text(encoding="utf-8")


@pytest.fixture
def folder(notebook, tmp_path) -> Path:
    """Where the student works."""
    place = tmp_path / "work"
    place.mkdir()
    (place / f"{SLUG}.ipynb").write_text(notebook, encoding="utf-8")
    return place


def test_with_the_wheel(folder, open_page, tmp_path):
    """A typed answer is shown as mathematics, each form is looked at, and the overview counts what is answered."""
    write_wheel(folder, for_students=True)
    with jupyterlab(folder, tmp_path / "settings") as address:
        page = open_page(address, height=1600)
        said = run_all(page)
        keep(page, "jupyterlab", whole=False)
        assert page.locator(".jp-OutputArea-output mjx-container, .jp-OutputArea-output math").count() >= 1
        page.goto("about:blank")
    assert "scores: the result has the required form." in said
    assert "2 of 2 parts answered" in said
    assert "Error" not in said


def test_without_the_wheel(folder, open_page, tmp_path):
    """Every cell runs, and says in a line that the form was not checked and that the answer is graded all the same."""
    with jupyterlab(folder, tmp_path / "settings") as address:
        page = open_page(address, height=1600)
        said = run_all(page)
        keep(page, "jupyterlab_without_wheel", whole=False)
        page.goto("about:blank")
    assert "The package that looks at the form of your answers is not here." in said
    assert "scores: its form was not checked here. Your answer is graded all the same." in said
    assert "Error" not in said

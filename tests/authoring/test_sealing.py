"""A seal vouches for what a notebook was handed out as; the ledger lists what was made, by whichever process."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.authoring import ledger, sealing
from autograder.core import Variant
from autograder.errors import StaffError

ROOT = Path(__file__).parents[2]
SECRET = b"a secret of the tests that is long enough"
DRAWN = Variant(slug="tiny", version=1, parameters={"J": 3, "word": "x", "both": True}, seed=7)
ADA = sealing.identity_of(DRAWN, assignment="ps1", secret=SECRET, student="ada")


def sealed() -> dict:
    """A notebook of ada's own."""
    notebook = {"cells": [], "metadata": {"autograder": {"slug": "tiny", "version": 1, "seed": 7}}}
    sealing.put(notebook, ADA, SECRET)
    return notebook


def test_what_was_sealed_is_read() -> None:
    """All of it, also after the notebook was saved and loaded; and beside other metadata."""
    notebook = json.loads(json.dumps(sealed()))
    notebook["metadata"]["colab"] = {}
    assert sealing.read(notebook, SECRET) == sealing.Seal(state="verified", identity=ADA)


@pytest.mark.parametrize(
    "changed",
    [
        {"slug": "tall"},
        {"version": 2},
        {"version": True},
        {"version": 1.0},
        {"seed": 8},
        {"seed": "7"},
        {"assignment": "ps2"},
        {"student": "bob"},
        {"student": ""},
        {"student": None},
        {"parameters": sealing.parameters_digest({"J": 4}, SECRET)},
        {"parameters": []},
        {"seal": "0" * 64},
        {"seal": ""},
        {"seal": None},
        {"seal": "\ud800é"},
        {"slug": "\ud800"},
    ],
)
def test_a_word_that_was_changed_breaks_the_seal(changed: dict) -> None:
    """A broken seal has no identity: none of its words is believed."""
    notebook = sealed()
    notebook["metadata"]["autograder"] |= changed
    assert sealing.read(notebook, SECRET) == sealing.Seal(state="broken")


def test_another_secret_breaks_the_seal_and_gives_other_digests() -> None:
    """Seals and digests of one course are of no use in another."""
    other = SECRET + b"!"
    assert sealing.read(sealed(), other).state == "broken"
    assert sealing.parameters_digest(DRAWN.parameters, other) != ADA.parameters


@pytest.mark.parametrize(
    "metadata", [None, {}, [], {"autograder": None}, {"autograder": []}, {"autograder": {"slug": "tiny"}}]
)
def test_no_seal(metadata: object) -> None:
    """What is no metadata of ours, of whatever type, has no seal."""
    assert sealing.read({"cells": [], "metadata": metadata}, SECRET).state == "absent"
    assert sealing.read([], SECRET).state == "absent"


@pytest.mark.parametrize("missing", ["slug", "version", "seed", "assignment", "student", "parameters"])
def test_a_seal_without_all_its_words_is_broken(missing: str) -> None:
    """Nothing is filled in."""
    notebook = sealed()
    del notebook["metadata"]["autograder"][missing]
    assert sealing.read(notebook, SECRET).state == "broken"


# The ledger.


def item(**changes: object) -> ledger.Made:
    """A line."""
    words = {"step": "built", "assignment": "ps1", "slug": "tiny", "version": 1, "seed": 7, "statement": ("a", "b")}
    return ledger.Made(**{**words, "parameters": {"J": 3}, **changes})


def test_a_line_is_written_where_something_is_new(tmp_path: Path) -> None:
    """The same again is no line; another seed, and the first one after it, are. Others cannot read it."""
    for seed, lines in [(7, 1), (7, 1), (8, 2), (7, 3)]:
        ledger.record(tmp_path, [item(seed=seed)])
        assert len((tmp_path / ledger.FILE).read_text().splitlines()) == lines
    ledger.record(tmp_path, [item(assignment="ps2"), item(step="released", student="ada")])
    assert [made.seed for made in ledger.read(tmp_path, "ps1")] == [7, 8, 7, 7]
    assert [made.student for made in ledger.read(tmp_path, "ps1")] == ["", "", "", "ada"]
    assert (tmp_path / ledger.FILE).stat().st_mode & 0o077 == 0


def test_a_line_that_broke_off_harms_no_other(tmp_path: Path) -> None:
    """The next line starts on a line of its own; what is no line of ours is passed over."""
    ledger.record(tmp_path, [item()])
    with (tmp_path / ledger.FILE).open("a") as file:
        file.write('[1]\n{"time": "now"}\n{"step": "built", "assig')
    ledger.record(tmp_path, [item(slug="tall")])
    assert [made.slug for made in ledger.read(tmp_path, "ps1")] == ["tiny", "tall"]


def test_two_processes_lose_no_line(tmp_path: Path) -> None:
    """Eight at once, ten lines each."""
    code = (
        "import sys; from pathlib import Path; from autograder.authoring import ledger\n"
        "for seed in range(10):\n"
        "    ledger.record(Path(sys.argv[1]), [ledger.Made(step='built', assignment='ps1', slug=sys.argv[2],"
        " version=1, seed=seed)])\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    running = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path), f"p{i}"], env=environment) for i in range(8)
    ]
    assert [process.wait(timeout=120) for process in running] == [0] * 8
    found = ledger.read(tmp_path, "ps1")
    assert sorted((made.slug, made.seed) for made in found) == [(f"p{i}", s) for i in range(8) for s in range(10)]


def test_a_ledger_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    """In a sentence that names the file."""
    (tmp_path / ledger.FILE).mkdir()
    with pytest.raises(StaffError, match=r"ledger\.jsonl"):
        ledger.record(tmp_path, [item()])
    with pytest.raises(StaffError, match=r"ledger\.jsonl"):
        ledger.read(tmp_path, "ps1")


def test_texts_that_differ_in_space_alone_have_one_digest() -> None:
    """Line ends and indentation may change on the way."""
    notebook = {
        "cells": [
            {"cell_type": "markdown", "source": text, "metadata": {"nbgrader": {"locked": locked}}}
            for text, locked in [("a b\nc", True), ("a  b\r\n c", True), ("abd", True), ("mine", False)]
        ]
    }
    first, second, third = ledger.statement_of(copy.deepcopy(notebook))
    assert first == second != third

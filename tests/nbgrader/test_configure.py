"""`configure(c)` in a file that has set things before: a good guest."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
from traitlets.config import Config

from autograder.nbgrader import config, configure

HERE = "autograder.nbgrader"
GIVEN = {
    "ExecutePreprocessor.timeout": 900,
    "NotebookClient.kernel_manager_class": "mine.Kernels",
    "GenerateFeedback.exporter_class": "mine.Exporter",
    "GenerateFeedback.force": False,
    "AssignLatePenalties.plugin_class": "mine.Late",
    "KernelManager.transport": "tcp",
}


@pytest.fixture(autouse=True)
def _say_anew() -> None:
    config.say.cache_clear()


def test_what_is_set_stays(tmp_path: Path) -> None:
    """Timeouts, kernels, the exporter of pages, the late policy; nothing is said of them."""
    c = Config()
    for name, value in GIVEN.items():
        section, trait = name.split(".")
        c[section][trait] = value
    configure(c, tmp_path)
    assert {name: c[name.split(".")[0]][name.split(".")[1]] for name in GIVEN} == GIVEN


def test_a_course_without_settings_keeps_nbgraders_timeout(tmp_path: Path) -> None:
    """A cell of the course's own may take as long as before: more time would be other marks."""
    c = Config()
    configure(c, tmp_path)
    assert "timeout" not in c.ExecutePreprocessor and "timeout" not in c.Execute


@pytest.mark.parametrize(
    ("name", "ours", "last"),
    [
        ("Autograde.sanitize_preprocessors", "Sanitize", "mine.Step"),
        ("Autograde.autograde_preprocessors", "RunAndJudge", "nbgrader.preprocessors.CheckCellMetadata"),
        ("GenerateFeedback.preprocessors", "ForStudents", "nbconvert.preprocessors.CSSHTMLHeaderPreprocessor"),
    ],
)
@pytest.mark.parametrize("added", [True, False], ids=["added", "given whole"])
def test_lists_are_added_to(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str, ours: str, last: str, added: bool
) -> None:
    """The instructor's steps stand among ours, once, however often it is called; a step that is left out stays."""
    section, trait = name.split(".")
    c = Config()
    if added:
        c[section][trait].append("mine.Step")
    else:
        c[section][trait] = ["mine.Step"]
    for _ in range(2):
        configure(c, tmp_path)
    steps = [str(step) for step in c[section][trait]]
    assert steps.count("mine.Step") == 1 and steps[-1] == last
    assert [step.startswith(HERE) for step in steps].count(True) == 1 and any(step.endswith(ours) for step in steps)
    assert any(f"c.{name} leaves out" in record.message for record in caplog.records) == (not added)


def test_hooks_run_after_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The package's own is called first; calling `configure` twice changes nothing."""
    called: list[str] = []
    monkeypatch.setattr(f"{HERE}.intake.before_reading", lambda *words: called.append("ours"))
    c = Config()
    c.Autograde.pre_convert_hook = lambda **words: called.append(words["student"])
    for _ in range(2):
        configure(c, tmp_path)
    c.Autograde.pre_convert_hook(assignment="ps1", student="ada", notebooks=[])
    assert called == ["ours", "ada"]


def test_what_cannot_stay_is_named_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Notebooks are mended by the exporter that reads them: another one is told that it is not used."""
    c: Any = Config()
    c.Autograde.exporter_class = "mine.Reader"
    with caplog.at_level(logging.WARNING):
        configure(c, tmp_path)
        c.Autograde.exporter_class = "mine.Reader"
        configure(c, tmp_path)
    assert [record.message for record in caplog.records] == [
        "autograder: c.Autograde.exporter_class = 'mine.Reader' is not kept: notebooks are mended where they are read"
    ]

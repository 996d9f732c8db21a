"""The notebooks for after the deadline: where they are written, what stands in them, and that they run."""

import json
import os
import shutil
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder import Choice, Expression, Function, Growth, Number, Problem, Written, close, gradient
from autograder.authoring import walkthrough
from autograder.authoring.loading import load, slugs
from autograder.authoring.variants import variant
from autograder.cli import main
from autograder.commands.build_walkthrough import shows
from autograder.errors import AuthorError
from autograder.parts import kinds

ROOT = Path(__file__).parents[2]
PROBLEMS = ROOT / "problems"
SLUGS = slugs(PROBLEMS)


def sources(notebook, kind="code"):
    """The texts of a notebook's cells of one kind."""
    return [cell["source"] for cell in notebook["cells"] if cell["cell_type"] == kind]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The example's course with its walkthrough: the course, what was printed, and the notebook."""
    place = tmp_path_factory.mktemp("walkthrough")
    course = Path(shutil.copytree(ROOT / "docs" / "example", place / "course")) / "notebooks"
    before = {path for path in course.rglob("*") if path.is_file()}
    result = CliRunner().invoke(
        main, ["build", "ps1", "--walkthrough", "--course", str(course)], catch_exceptions=False
    )
    (path,) = {path for path in course.rglob("*") if path.is_file()} - before
    return course, result.output, path


def test_nothing_is_written_but_the_walkthrough(built):
    """The only new file lies in walkthrough/, neither in source/ nor in release/, and only its owner can read it."""
    course, said, path = built
    assert path == course / "walkthrough" / "ps1" / "scaled_scores.ipynb"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert f"wrote     {path}" in said
    assert "after the deadline" in said


def test_what_is_missing_is_said(built):
    """A part without a reason and a folder without a full model are named."""
    assert "note: no reason is given for scores, memory" in built[1]
    assert "note: problems/scaled_scores names no full model" in built[1]


def test_answers_and_mistakes_stand_in_it_and_no_hidden_test(built):
    """The answer is code that runs, the mistake has its hint and where it shows; marks of grading are gone."""
    notebook = json.loads(built[2].read_text(encoding="utf-8"))
    code, text = "\n".join(sources(notebook)), "\n".join(sources(notebook, "markdown"))
    assert "return query @ key.T / query.shape[1] ** 0.5" in code
    assert "*unscaled*: Your scores grow with the width" in text
    assert "the answer has" in text
    for word in ("SOLUTION", "HIDDEN", "hidden.score", "YOUR CODE HERE"):
        assert word not in code + text


def test_the_walkthrough_is_of_an_assignment_that_is_there(built):
    """With a new name or a roster it is refused: nothing would be released under that name."""
    result = CliRunner().invoke(main, ["build", "ps1", "--walkthrough", "--name", "ps2", "--course", str(built[0])])
    assert result.exit_code == 2
    assert "--walkthrough goes with --seed alone" in result.output


# How mistakes show.


def inputs(rng, p):
    """Two arguments."""
    import torch

    return {"a": torch.from_numpy(rng.standard_normal((2, 3))), "b": torch.from_numpy(rng.standard_normal(3))}


def added(a, b):
    """The sum."""
    return a + b


def subtracted(a, b):
    """You subtracted."""
    return a - b


def one_row(a, b):
    """You dropped a row."""
    return (a + b)[:1]


def cut_off(a, b):
    """No gradient."""
    return (a + b).detach()


def raising(a, b):
    """You raise."""
    raise ValueError("no")


def right(p):
    """The right one."""
    return "n"


def wrong(p):
    """The wrong one."""
    return "n^2"


def thousands(p):
    """Too many."""
    return 12000


def ten(p):
    """The right number."""
    return 10


ADD = Function(
    "add", points=1, inputs=inputs, reference=added, checks=[close(), gradient()],
    mistakes=[subtracted, one_row, cut_off, raising],
)  # fmt: skip
SHOWN = [
    (ADD, subtracted, "the answer has"),
    (ADD, one_row, "The shape is [1, 3]; the answer has [2, 3]."),
    (ADD, cut_off, "On plain inputs its values are right; the check *gradient* finds it."),
    (ADD, raising, "It raises an error: ValueError: no"),
    (Growth("time", points=1, variables="n", reference=right, mistakes=[wrong]), wrong, "As typed: `` n^2 ``"),
    (Expression("f", points=1, domains="n", reference=right, mistakes=[wrong]), wrong, "As typed: `` n^2 ``"),
    (Number("many", points=1, reference=ten, mistakes=[thousands]), thousands, "It gives `12,000`."),
    (Choice("which", points=1, reference=right, mistakes=[wrong]), wrong, "This is option **"),
]  # fmt: skip


@pytest.mark.parametrize(("part", "mistake", "said"), SHOWN, ids=lambda item: getattr(item, "__name__", ""))
def test_how_a_mistake_shows(part, mistake, said):
    """Code by the entry that is farthest off, or the check that finds it; what is typed by the text itself."""
    problem = Problem(title="t", version=1, source="s", parts=[part])
    assert said in shows(problem, part, mistake, {})


# The file of a folder.


def folder(tmp_path, text):
    """A problem of two parts whose folder has this walkthrough.md."""
    (tmp_path / "planted").mkdir()
    (tmp_path / "planted" / "walkthrough.md").write_text(text)
    (tmp_path / "planted" / "statement.md").write_text("Begin.\n\n## A {#a}\n\nAsk {{n}}.\n\n## B {#b}\n\nAsk.\n")
    parts = [
        Number("a", points=1, reference=lambda p: p["n"]),
        Written("b", points=1, reference="Because.", rubric="1"),
    ]
    draw = {"draw": lambda rng: {"n": 12}}
    return Problem(title="T", version=1, source="s", parts=parts, slug="planted", full_model="m.M", task="t", **draw)


FAULTS = [
    ("## {#c}\n\nNo such part.\n", "unknown_part", "{#c} does not name a part"),
    ("## {#a}\n\nOne.\n\n## {#a}\n\nTwo.\n", "unknown_part", "{#a} stands twice"),
    ("## {#a}\n\n{{m}}\n", "placeholder_unfilled", "planted/walkthrough.md: nothing fills {{m}}"),
]


@pytest.mark.parametrize(("text", "code", "said"), FAULTS)
def test_slips_in_the_file_are_heard(text, code, said, tmp_path):
    """A heading that names no part, a second one, and a placeholder that nothing fills."""
    with pytest.raises(AuthorError) as caught:
        walkthrough.notebook(folder(tmp_path, text), 0, shows, root=tmp_path)
    assert caught.value.code == code
    assert said in caught.value.message


def test_reasons_and_blocks_of_code_become_cells(tmp_path):
    """The reason stands under its answer, filled in; what is between the blocks of the last section is text."""
    text = "## {#a}\n\nIt is {{n}}.\n\n## Alive {#model}\n\nFirst.\n\n```python\nx = {{n}}\n```\n\nThen.\n"
    problem = folder(tmp_path, text)
    notebook = walkthrough.notebook(problem, 0, shows, root=tmp_path)
    kinds = [(cell["cell_type"], cell["source"]) for cell in notebook["cells"]]
    assert ("markdown", "**Why.** It is 12.") in kinds
    assert kinds[-4][1].startswith("# Alive\n\nThe full model is `M` in `solutions/m.py`.")
    assert kinds[-3:] == [("markdown", "First."), ("code", "x = 12"), ("markdown", "Then.")]
    assert len({cell["id"] for cell in notebook["cells"]}) == len(kinds)
    assert walkthrough.without_reason(problem, tmp_path) == []


def test_without_a_last_section_the_task_is_trained(tmp_path):
    """The cell trains the task as it is and draws its curve."""
    notebook = walkthrough.notebook(folder(tmp_path, ""), 0, shows, root=tmp_path)
    assert 'train(TASKS["t"], steps=STEPS, device=DEVICE' in sources(notebook)[-1]


@pytest.mark.parametrize("slug", SLUGS)
def test_every_answer_has_a_reason(slug):
    """walkthrough.md says why, for each part that a machine marks, in any variant."""
    problem = load(slug, PROBLEMS)
    assert walkthrough.without_reason(problem, PROBLEMS) == [], f"add sections to problems/{slug}/walkthrough.md"
    for seed in range(5):
        told = walkthrough.sections(problem, variant(problem, seed).parameters, PROBLEMS)
        assert all(text for _, text in told.values())


# The notebooks run.

SILENT = lambda problem, part, mistake, p: ""  # noqa: E731 - how mistakes show is asked above


@pytest.mark.training
@pytest.mark.parametrize("slug", SLUGS)
def test_the_full_model_runs_in_every_kind_of_variant(slug, monkeypatch):
    """All code of a few variants, with two steps of training: the conventions that the answers have are those meant."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    monkeypatch.setenv("WALKTHROUGH_STEPS", "2")
    monkeypatch.chdir(ROOT)
    for seed in range(2):
        names = {"__name__": "__main__"} | dict.fromkeys(kinds(), lambda text, *more: text)  # no model is made of these
        for number, text in enumerate(sources(walkthrough.notebook(load(slug, PROBLEMS), seed, SILENT, root=PROBLEMS))):
            code, _, _ = text.replace("%matplotlib inline\n", "").partition("from autograder")
            exec(compile(code, f"{slug}, cell {number}", "exec"), names)
        pyplot.close("all")


@pytest.mark.training
@pytest.mark.parametrize("slug", SLUGS)
def test_the_notebook_runs_in_jupyter(slug, monkeypatch):
    """A kernel runs it from top to bottom: bars go to their end, and curves and maps are drawn."""
    import nbformat
    from nbclient import NotebookClient

    monkeypatch.setenv("WALKTHROUGH_STEPS", "2")
    content = walkthrough.notebook(load(slug, PROBLEMS), 1, SILENT, root=PROBLEMS)
    notebook = nbformat.from_dict(content)
    NotebookClient(notebook, timeout=200, resources={"metadata": {"path": os.fspath(ROOT)}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    shown = [output.get("data", {}) for output in outputs]
    assert not [output for output in outputs if output.get("name") == "stderr"]
    assert sum("image/png" in data for data in shown) >= 2
    assert any('<progress value="2" max="2">' in data.get("text/html", "") for data in shown)

"""The pages are true: their examples do what they say, their tables and the map are in step with the source."""

import ast
import dataclasses
import doctest
import inspect
import re
from pathlib import Path

import pytest

import autograder
from autograder import Problem, close, exactly, form, gradient, holds, parts, symbolic, unseen
from autograder.audit.problem import audit
from autograder.authoring.loading import load, slugs, statement_text
from autograder.authoring.scaffold import scaffold
from autograder.errors import Unreadable
from benchmarks import architecture, full_models
from benchmarks.pages import written

DOCS = Path(__file__).parents[1] / "docs"
PROBLEMS = DOCS.parent / "problems"
BLOCK = re.compile(r"^```(expression|equation|growth|derivation|matrix)(.*?)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks():
    """Kind, declared words and lines of each example block on the students' page."""
    for kind, words, body in BLOCK.findall((DOCS / "answer-languages.md").read_text(encoding="utf-8")):
        yield kind, words.split(), [line for line in body.split("\n") if line.strip()]


def show(kind, words, text):
    """What the preview makes of one example; raises Unreadable."""
    domains = dict(word.split("=") for word in words if "=" in word)
    told = {"growth": {"variables": words}, "equation": {}}.get(kind, {"domains": domains})
    return parts.find(kind).show(ast.literal_eval(text) if kind == "matrix" else text, **told)


EXAMPLES = [(kind, tuple(words), line) for kind, words, lines in blocks() if kind != "derivation" for line in lines]


@pytest.mark.parametrize(("kind", "words", "line"), EXAMPLES)
def test_examples_of_the_students_page(kind, words, line):
    """Each line is read; each line with a cross is refused with the words behind the arrow."""
    if not line.startswith("✗"):
        assert show(kind, words, line).latex
        return
    text, _, expected = line.removeprefix("✗").partition("→")
    with pytest.raises(Unreadable) as refused:
        show(kind, words, text.strip())
    assert expected.strip() in refused.value.message


def test_the_derivation_of_the_students_page():
    """Its lines are read as one chain."""
    ((kind, words, lines),) = [block for block in blocks() if block[0] == "derivation"]
    assert show(kind, words, "\n".join(lines)).latex.count(r"\\") == len(lines) - 1


def test_the_page_has_an_example_of_each_kind():
    """No kind of typed answer is left out."""
    assert {kind for kind, _, _ in blocks()} == {name for name, kind in parts.kinds().items() if kind.preview}


def test_the_authors_page_is_a_doctest():
    """Every example of the authors' pages gives what stands under it."""
    for page, least in (("typed-parts.md", 8), ("kinds.md", 2)):
        failed, tried = doctest.testfile(str(DOCS / page), module_relative=False)
        assert tried > least
        assert failed == 0


def described(word, *texts):
    """Whether a text has the word as code: `word` or `word=…`."""
    return any(re.search(rf"`{word}(?:[=(][^`]*)?`", text) for text in texts)


PAGES = tuple((DOCS.parent / name).read_text(encoding="utf-8") for name in ("CONTRIBUTING.md", "docs/typed-parts.md"))
CHECKS = [close, exactly, form, gradient, holds, symbolic, unseen]


@pytest.mark.parametrize("kind", [Problem, *parts.kinds().values()], ids=lambda kind: kind.__name__)
def test_every_argument_of_a_part_is_described(kind):
    """By its class, one that it extends, or the page on typed parts: nobody needs the source."""
    texts = [inspect.getdoc(each) or "" for each in kind.__mro__[:-1]]
    set_by_the_package = {"slug"}
    told = {item.name for item in dataclasses.fields(kind) if item.init} - set_by_the_package
    assert [name for name in sorted(told) if not described(name, *texts, PAGES[1])] == []


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_every_argument_of_a_check_is_described(check):
    """By its docstring, or by the page on adding a problem where all checks take it."""
    told = inspect.signature(check).parameters
    assert [name for name in told if not described(name, inspect.getdoc(check), PAGES[0])] == []


def test_a_word_within_code_is_no_description():
    """The two tests above can fail: a mention in other code is not enough."""
    assert described("log", "the word `log`") and described("log", "`log='ln'`") and described("draw", "`draw(rng)`")
    assert not described("log", "log, `log2`, `ln log`, `a=log`")


def python_blocks():
    """The Python blocks of the page on adding a problem."""
    return re.findall(r"```python\n(.*?)```", (DOCS.parent / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.DOTALL)


def test_the_problem_of_the_five_steps_is_the_one_that_new_makes(tmp_path):
    """The page explains the very file that `autograder new` writes."""
    scaffold(tmp_path, "scaled_scores")
    assert python_blocks()[0] == (tmp_path / "scaled_scores/problem.py").read_text()


def test_the_other_parts_of_the_five_steps_pass_the_audit(tmp_path):
    """Every part that the page shows can be put into the scaffold's table, with a section for each, without a fault."""
    folder = scaffold(tmp_path, "scaled_scores")[0].parent
    problem, checks, others, _, words = python_blocks()
    imports = "import torch\nfrom autograder import Choice, Expression, Number, Written, holds\n"
    problem = problem.replace('"""\n\n', f'"""\n\n{imports}', 1).replace(
        "        ),\n    ],\n)", "        ),\n        *OTHERS,\n    ],\n    phrases=phrases,\n)"
    )
    problem = problem.replace("checks=[close(weight=3), gradient()]", "checks=CHECKS")
    before, after = problem.split("PROBLEM = ")
    (folder / "problem.py").write_text(f"{before}{checks}\n\n{others}\n\n{words}\n\nPROBLEM = {after}")
    statement = (folder / "statement.md").read_text().replace("power {{power}}", "power {{power}}, {{scale}}")
    sections = "".join(f"\n## Part {{#{name}}}\n\nAnswer.\n" for name in ("gap", "width", "entries", "why"))
    (folder / "statement.md").write_text(statement + sections)
    report = audit(load("scaled_scores", tmp_path), statement_text("scaled_scores", tmp_path), variants=2)
    assert report.faults == ()
    assert [part.name for part in report.parts] == ["scores", "gap", "width", "entries", "why"]


@pytest.mark.parametrize("slug", slugs(DOCS.parent / "problems"))
def test_the_page_of_problems_is_in_step(slug):
    """It lists every part with kind, points, mistakes and number of answers; no survivor stands there."""
    page = (DOCS / "problems.md").read_text(encoding="utf-8")
    (section,) = [item for item in page.split("\n## ") if f": `{slug}`" in item.split("\n")[0]]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in section.split("\n") if line.startswith("| `")]
    problem = load(slug, DOCS.parent / "problems")
    assert [row[:3] for row in rows] == [[f"`{part.name}`", part.kind, f"{part.points:g}"] for part in problem.parts]
    for row, part in zip(rows, problem.parts, strict=True):
        killed, _, tried = row[3].partition("/")
        assert killed == tried or row[3] == "–"
        assert int(tried or 0) <= len(part.mistakes)
        assert row[7] in ("0", "–")
        assert row[8] != "–"  # how many answers it has


def test_the_page_of_sources_names_what_there_is():
    """Every part that the page names exists, and every problem is named."""
    named = re.findall(r"`(\w+)\.(\w+|\*)`", (DOCS / "coverage.md").read_text(encoding="utf-8").partition("## ")[2])
    folders = {slug: {part.name for part in load(slug, PROBLEMS).parts} for slug in slugs(PROBLEMS)}
    assert {slug for slug, _ in named} == set(folders)
    assert [(slug, name) for slug, name in named if name != "*" and name not in folders[slug]] == []


MAP = (DOCS / "architecture.md").read_text(encoding="utf-8")


def test_the_picture_of_the_rooms_is_in_step():
    """It shows the imports as they are; `python -m benchmarks.architecture` draws it anew."""
    assert architecture.svg() == architecture.PICTURE.read_text(encoding="utf-8")


def test_the_map_has_a_sentence_for_each_room():
    """The table holds the first line of each room's docstring; the same script writes it."""
    assert [name for name, sentence in architecture.sentences().items() if not sentence.endswith(".")] == []
    assert written(MAP, {"rooms": architecture.table()}) == MAP


@pytest.mark.parametrize("page", full_models.PAGES, ids=lambda page: page.name)
def test_the_table_of_full_models_is_in_step(page):
    """It has a line for each problem; `python -m benchmarks.full_models` writes it anew."""
    text = page.read_text(encoding="utf-8")
    assert written(text, {"models": full_models.table()}) == text


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`([\w/]+/(?:\w+\.py)?)`", MAP))))
def test_the_map_names_what_there_is(name):
    """Each folder and file that the map names exists, in the repository or in the package."""
    assert (DOCS.parent / name).exists() or (DOCS.parent / "autograder" / name).exists()


def test_the_tables_of_the_larger_form_are_those_of_the_small_one(tmp_path):
    """With its mistakes in a module of their own, as the page shows, the scaffold's problem has the same parts."""
    folder = scaffold(tmp_path, "scaled_scores")[0].parent
    small = load("scaled_scores", tmp_path)
    problem, _, _, table, _ = python_blocks()
    before, rest = problem.split("def unscaled")
    mistakes, after = rest.split("def by_sum")
    scheme = after.replace("            mistakes=[unscaled, transposed],\n", "")
    scheme = scheme.replace("    parts=[", "    mistakes=MISTAKES,\n    parts=[")
    folder = folder.rename(tmp_path / "in_tables")
    (folder / "mistakes.py").write_text(f"def unscaled{mistakes}{table}")
    (folder / "problem.py").write_text(f"from .mistakes import MISTAKES\n{before}def by_sum{scheme}")
    large = load("in_tables", tmp_path)
    names = [[item.__name__ for item in problem.part("scores").mistakes] for problem in (small, large)]
    assert names == [["unscaled", "transposed"]] * 2
    assert audit(large, statement_text("in_tables", tmp_path), variants=2).faults == ()


def test_the_reference_names_every_word():
    """What an author can import from `autograder` stands on the site's page of the vocabulary."""
    page = (DOCS / "reference/api.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^\.\. auto\w+:: autograder\.([A-Za-z]+)$", page, re.MULTILINE)) == sorted(
        [*autograder.__all__, "student"]
    )

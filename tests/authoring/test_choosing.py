"""Instructors choose: parameters that an assignment fixes, seeds of single problems, searches, and previews."""

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder.authoring import building, loading
from autograder.authoring.assignment import read_assignment, write_second
from autograder.authoring.variants import class_seed, own_seed, seed_with, variant
from autograder.cli import main
from autograder.errors import StaffError

ROOT = Path(__file__).parents[2]
SUMS = """from autograder import Number, Problem


def draw(rng):
    p = {"a": int(rng.integers(10, 500)), "kind": ["odd", "even"][int(rng.integers(2))], "on": bool(rng.integers(2))}
    return {**p, "more": 3} if p["on"] else p


def total(p):
    return p["a"] + (1 if p["kind"] == "odd" else 2) + p["on"]


PROBLEM = Problem(
    title="Sums", version=1, source="here", draw=draw, phrases=lambda p: {"words": str(p.get("more", p["on"]))},
    parts=[Number("total", points=1, reference=total)],
)
"""


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course with one problem."""
    folder = tmp_path / "problems" / "sums"
    folder.mkdir(parents=True)
    (folder / "problem.py").write_text(SUMS)
    (folder / "statement.md").write_text(
        "Sums.\n\n## Total {#total}\n\nAdd {{a}}, {{kind}}, {{words}}, $a_{1}\\,b_{2}$.\n"
    )
    notebooks = tmp_path / "notebooks"
    notebooks.mkdir()
    shutil.copy(ROOT / "notebooks" / "nbgrader_config.py", notebooks)
    monkeypatch.chdir(notebooks)
    loading._load.cache_clear()
    yield notebooks
    loading._load.cache_clear()


def problem(course):
    """The problem of the course."""
    return loading.load("sums", course.parent / "problems")


def write(course, text="", name="ps"):
    """An assignment of the problem, with more lines in its file."""
    (course / f"{name}.toml").write_text(f'problems = ["sums"]\nseed = 4\n{text}')
    return read_assignment(course, name)


def drawn(course, assignment):
    """The parameters that the assignment's notebook has."""
    ((_, text),) = building.notebooks(assignment, root=course.parent / "problems")
    return variant(problem(course), json.loads(text)["metadata"]["autograder"]["seed"]).parameters


FIXED = [
    ('[parameters.sums]\nkind = "odd"', {"kind": "odd"}), ('[parameters.sums]\nkind = "even"', {"kind": "even"}),
    ("[parameters.sums]\non = true", {"on": True, "more": 3}), ("[parameters.sums]\non = false", {"on": False}),
    ("[parameters.sums]\na = 41", {"a": 41}), ("[parameters.sums]\nmore = 3", {"on": True}),
    ('[parameters.sums]\na = 41\nkind = "odd"\non = true', {"a": 41, "kind": "odd", "on": True}),
    ("[seeds]\nsums = 9", {}), ('seeds.sums = 9\nparameters.sums = {kind = "odd"}', {"kind": "odd"}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "wanted"), FIXED)
def test_what_is_fixed_is_drawn(course, text, wanted):
    """All else is as some seed draws it; the same file gives the same notebook."""
    assignment = write(course, text)
    p = drawn(course, assignment)
    assert {name: p[name] for name in wanted} == wanted
    assert drawn(course, assignment) == p
    assert class_seed(assignment, problem(course)) >= (9 if "= 9" in text else 4)


SLIPS = [
    ("[parameters.sum]\na = 1", "not in problems (did you mean sums?)"), ("[seeds]\nsum = 1", "not in problems"),
    ("[seeds]\nsums = 1.5", "a whole number"), ("[seeds]\nsums = true", "a whole number"),
    ("[parameters]\nsums = 3", r"write [parameters.sums]"), ("[parameters.sums]", r"write [parameters.sums]"),
    ('[parameters.sums]\nkin = "odd"', "no parameter 'kin' (did you mean kind?); it has a, kind, on"),
    ('[parameters.sums]\nkind = "od"', "never draws kind = 'od' (did you mean odd?); it draws 'even', 'odd'"),
    ("[parameters.sums]\nkind = 1", "never draws kind = 1"), ("[parameters.sums]\non = 1", "never draws on = 1"),
    ('[parameters.sums]\na = "41"', "never draws a = '41'"),
    ("[parameters.sums]\na = 41.5", "never draws a = 41.5 together"),
    ("[parameters.sums]\na = 501", "never draws a = 501 together"),
    ("[parameters.sums]\na = true", "never draws a = True"),
    ("[parameters.sums]\nmore = 3\non = false", "never draws more = 3, on = False together"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "said"), SLIPS)
def test_what_is_never_drawn_is_refused(course, monkeypatch, text, said):
    """A name, a value, a kind of value, or values together; the message says what there is instead."""
    monkeypatch.setattr("autograder.authoring.variants.TRIED", 2_000)
    with pytest.raises(StaffError) as caught:
        drawn(course, write(course, text))
    assert said in caught.value.message


def test_students_differ_in_what_is_not_fixed(course):
    """Each has the fixed parameters, and a seed that follows from the secret alone."""
    assignment = write(course, 'variants = "student"\n[parameters.sums]\nkind = "odd"')
    found = [own_seed(assignment, problem(course), b"s" * 40, f"student {number}") for number in range(20)]
    own = [variant(problem(course), seed).parameters for seed in found]
    assert {p["kind"] for p in own} == {"odd"} and len({p["a"] for p in own}) > 10
    assert found == [own_seed(assignment, problem(course), b"s" * 40, f"student {number}") for number in range(20)]


def test_numbers_that_were_handed_out_are_kept(course):
    """Another fixed value is another variant: `build` does not overwrite what was released."""
    place = course / "release" / "ps" / "sums.ipynb"
    ((path, _),) = building.write(course, write(course, '[parameters.sums]\nkind = "odd"'))
    place.parent.mkdir(parents=True)
    shutil.copy(path, place)
    with pytest.raises(StaffError, match="other numbers"):
        building.write(course, write(course, '[parameters.sums]\nkind = "even"'))


def test_a_make_up_exam_keeps_what_is_fixed_and_no_seed(course):
    """Single seeds would give the same numbers again."""
    write(course, '[seeds]\nsums = 9\n[points]\nsums = 2\n[parameters.sums]\nkind = "odd"\n')
    second = read_assignment(course, write_second(course, "ps", "make-up", 77).stem)
    assert (second.seed, dict(second.seeds), second.points) == (77, {}, {"sums": 2})
    assert drawn(course, second)["kind"] == "odd"


def test_the_seed_is_the_first_that_fits(course):
    """From the given one on; without anything fixed, it is that one."""
    assert seed_with(problem(course), 5, {}) == 5
    first = seed_with(problem(course), 5, {"kind": "odd"})
    assert [variant(problem(course), number).parameters["kind"] for number in range(5, first)] == ["even"] * (first - 5)


def run(*words):
    """Code and output of the command line."""
    found = CliRunner().invoke(main, words)
    return found.exit_code, found.output


def test_searching_prints_seeds_and_lines_for_the_file(course):
    """Every seed in the table has what was asked for; the lines can be put into the assignment's file."""
    code, text = run("variants", "sums", "--where", "kind=odd", "--where", "on=true", "--count", "4")
    seeds = [int(line.split("│")[1]) for line in text.splitlines() if line.startswith("│")]
    assert code == 0 and len(seeds) == 4
    assert all(variant(problem(course), seed).parameters["kind"] == "odd" for seed in seeds)
    lines = text[text.index("[parameters.sums]") :]
    assert drawn(course, write(course, lines))["on"] is True


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("kind=od", "did you mean odd"),
        ("knd=odd", "did you mean kind"),
        ("kind", "NAME=VALUE"),
        ("a=501", "never draws"),
    ],
)
def test_searching_for_what_there_is_not(course, monkeypatch, where, said):
    """The same messages as in a file."""
    monkeypatch.setattr("autograder.commands.variant_table.TRIED", 2_000)
    code, text = run("variants", "sums", "--where", where)
    assert code == 1 and said in text


def test_formulas_and_answers_are_printed_as_they_are(course, monkeypatch):
    """At any width: every formula of the statement, and the whole of each solution."""
    monkeypatch.setenv("COLUMNS", "20")
    code, text = run("variants", "sums", "--seed", "1")
    solution = problem(course).parts[0].solution_cell(variant(problem(course), 1).parameters)
    assert code == 0 and r"$a_{1}\,b_{2}$" in text and all(line in text for line in solution.splitlines())


def test_the_page_of_a_problem(course):
    """As released: no solution in it, unless answers are asked for."""
    p = variant(problem(course), 3).parameters
    code, said = run("preview", "sums", "--seed", "3", "--output", "page.html", "--no-open")
    page = Path("page.html").read_text()
    assert code == 0 and "page.html" in said
    assert f"Add {p['a']}" in page and "<math" in page and "BEGIN SOLUTION" not in page
    answer = f"total = {problem(course).parts[0].reference(p)}"
    assert answer not in page
    run("preview", "sums", "--seed", "3", "--answers", "--output", "page.html", "--no-open")
    assert answer in Path("page.html").read_text() and "hidden.score" not in Path("page.html").read_text()


def test_the_page_of_an_assignment(course):
    """Its own seed and parameters count; nothing is written into the course."""
    write(course, '[parameters.sums]\nkind = "odd"')
    before = sorted(path.name for path in course.rglob("*"))
    code, _ = run("preview", "ps", "--output", "../page.html", "--no-open")
    assert code == 0 and ", odd," in (course.parent / "page.html").read_text()
    assert sorted(path.name for path in course.rglob("*")) == before
    code, said = run("preview", "pss", "--no-open")
    assert code == 1 and "did you mean ps" in said


PRINTED = {
    "softmax_entropy": {"family": "from 0", "population": "one-hot"},
    "loss_heads": {"activation": "logistic", "half": False},
    "ugrnn_gates": {"R_gate": "h", "h_gate": "old"},
    "merged_query_key": {"scaled": True, "cross": False, "causal": False},
}


def test_the_exam_is_the_one_that_was_printed():
    """`exam-1` asks for the distribution, the activation, the gates and the attention of the printed exam."""
    exam = read_assignment(ROOT / "notebooks", "exam-1")
    for slug, wanted in PRINTED.items():
        asked = loading.load(slug, ROOT / "problems")
        p = variant(asked, class_seed(exam, asked)).parameters
        assert {name: p[name] for name in wanted} == wanted

"""An audit by several processes finds what one process finds, in the same order."""

import itertools

import pytest

from autograder.audit import parallel
from autograder.audit.mutation_score import strength
from autograder.audit.parallel import audit_all, processes, strength_all
from autograder.audit.problem import audit
from autograder.authoring.loading import load, statement_text
from autograder.errors import AuthorError

SOURCE = """
from autograder import Expression, Problem

def draw(rng):
    return {"K": int(rng.integers(2, 60)), "low": bool(rng.integers(2))}

def never(p):
    \"\"\"You lost the factor.\"\"\"
    return "x" if p["low"] else None

def the_same(p):
    \"\"\"You wrote it as a sum.\"\"\"
    return f"{p['K']}*x + 0" if not p["low"] else "x + 1"

def as_reference(p):
    return f"{p['K']}*x"

def half(p):
    \"\"\"You halved it.\"\"\"
    return f"{p['K']}*x/2"

PROBLEM = Problem(title="T", version=1, source="s", draw=draw, variants=9, parts=[
    Expression("first", points=1, domains={"x": "real"}, reference=as_reference, mistakes=[never, the_same, half],
               equivalents=["x", lambda p: f"x*{p['K']}"]),
    Expression("second", points=2, domains={"x": "positive"}, reference="ln(x) + 1", mistakes=[half]),
])
"""
STATEMENT = "{{K}} {{low}}\n\n## One {#first}\n\nOne.\n\n## Two {#second}\n\nTwo.\n"


@pytest.fixture(scope="module")
def pool():
    """Two processes for all tests here."""
    with processes(2) as started:
        yield started


@pytest.fixture
def root(tmp_path):
    """Two folders whose problems have faults."""
    for slug in ("b_problem", "a_problem"):
        folder = tmp_path / slug
        folder.mkdir()
        (folder / "problem.py").write_text(SOURCE)
        (folder / "statement.md").write_text(STATEMENT)
    return tmp_path


def test_the_reports_are_those_of_one_process(pool, root, monkeypatch):
    """Faults, notes and scores in order, over more variants than one step takes; some mistakes only made in some."""
    monkeypatch.setattr(parallel, "TOGETHER", 5)
    slugs, seen = ["b_problem", "a_problem"], []
    reports = audit_all(pool, slugs, root, variants=12, seed=3, progress=lambda done, total: seen.append((done, total)))
    assert reports == [audit(load(slug, root), statement_text(slug, root), variants=12, seed=3) for slug in slugs]
    assert {fault.split(":")[0] for fault in reports[0].faults} == {
        "problems/b_problem, part 'first'",
    }
    said = [fault.split(": ")[1] for fault in reports[0].faults]
    assert sum(text.startswith("equivalent 'x' earns 0 of 1") for text in said) == 1
    assert sum(text.startswith("mistake 'the_same' earns 1 of 1") for text in said) == 1
    assert sum("reads equivalent 'x'" in text for text in said) == 1 and len(said) == 3  # the second route sees it too
    costs = [variants * answers * parallel.DECIDED for answers in (6, 6, 2, 2) for variants in (5, 5, 2)]
    done = list(itertools.accumulate(sorted(costs, reverse=True)))
    assert [total for _, total in seen] == [sum(costs)] * len(costs)  # those that cost most are begun first
    assert all(abs(count - wanted) <= max(costs) for (count, _), wanted in zip(seen, done, strict=True))
    assert seen[-1] == (sum(costs), sum(costs))


def test_one_part_alone(pool, root):
    """The named part has its line; a name that no problem has is an author's slip."""
    (report,) = audit_all(pool, ["a_problem"], root, variants=2, seed=0, part="second")
    assert [part.name for part in report.parts] == ["second"] and report.faults == ()
    with pytest.raises(AuthorError, match=r"secnd.*second"):
        audit_all(pool, ["a_problem"], root, variants=2, seed=0, part="secnd")


def test_the_mutants_are_those_of_one_process(pool, root):
    """As many made, killed and harmless in each part, at the same places."""
    alone = strength(load("a_problem", root))
    together = strength_all(pool, ["a_problem"], root, seed=0)["a_problem"]
    assert [(each.name, each.made, each.killed) for each in together] == [
        (each.name, each.made, each.killed) for each in alone
    ]
    assert [[mutant.place for mutant, _ in each.harmless] for each in together] == [
        [mutant.place for mutant, _ in each.harmless] for each in alone
    ]
    assert together

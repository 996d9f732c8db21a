"""Variants at par: solutions of about the same length pass, a variant that asks for far more is a fault."""

from pathlib import Path

import pytest

from autograder import Expression, Number, Problem
from autograder.audit.parity import band, length
from autograder.audit.problem import audit
from autograder.authoring.loading import load, slugs

ROOT = Path(__file__).parents[2] / "problems"


def draw(rng):
    """A number of terms."""
    return {"terms": int(rng.integers(1, 9))}


def terms(p):
    """A sum of that many different powers."""
    return " + ".join(f"x^{i}" for i in range(p["terms"]))


def problem(**options):
    """A problem whose solution is as long as its variant says."""
    part = Expression("e", points=1, domains={"x": "real"}, reference=terms)
    return Problem(title="t", version=1, source="s", draw=draw, slug="t", parts=[part], **options)


TEXT = "Intro.\n\n## E {#e}\n\nWrite the sum of {{terms}} powers.\n"


def test_longer_solutions_are_longer():
    """The measure counts words and signs of the solution."""
    assert length(problem(), {"terms": 1}) < length(problem(), {"terms": 2}) < length(problem(), {"terms": 8})


def test_the_parameters_themselves_do_not_count():
    """Two variants that differ in the size of a number only are exactly at par."""
    part = Number("n", points=1, reference=lambda p: p["J"])
    counted = Problem(title="t", version=1, source="s", parts=[part])
    assert length(counted, {"J": 3}) == length(counted, {"J": 512_000})


@pytest.mark.parametrize(("par", "faulty"), [(1.2, True), (50.0, False)])
def test_the_band_is_the_problems_own(par, faulty):
    """Outside the stated band the audit finds a fault that gives both lengths; inside it finds none."""
    report = audit(problem(par=par), TEXT, variants=2)
    faults = [fault for fault in report.faults if "differ too much in length" in fault]
    assert bool(faults) == faulty
    assert report.par is not None
    assert report.par[0] < report.par[1]
    assert not faults or f"{report.par[0]} to {report.par[1]}" in faults[0]


@pytest.mark.parametrize("slug", slugs(ROOT))
def test_the_courses_problems_are_at_par(slug):
    """The longest solution among the first variants is at most twice the shortest."""
    from autograder.authoring.variants import variant

    found = load(slug, ROOT)
    shortest, longest = band(found, [variant(found, seed).parameters for seed in range(12)])
    assert longest <= found.par * shortest

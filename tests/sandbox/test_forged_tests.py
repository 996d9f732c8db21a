"""Forged suites of tests (`Tests`), each by the road of every submission: none earns a point, and none gets out.

A suite is forged if it rejects functions by something else than what they return. What it could know of a function is
in `HEAD`; each of the forgers tries to make a verdict of it.
"""

from __future__ import annotations

import platform

import pytest

from autograder.audit import tried_answers
from autograder.audit.answer_rows import Row
from autograder.audit.tried_answers import judge
from autograder.authoring import loading
from autograder.authoring.variants import variant
from autograder.sandbox import Limits, layers

SLUG, PART, SEED = "transformer_block", "tests_of_feed_forward", 3
THERE = layers.found()

pytestmark = [
    pytest.mark.skipif(not all(THERE.values()), reason=f"this machine cannot give the whole wall: {THERE}"),
    pytest.mark.skipif(platform.system() != "Linux", reason="the wall is Linux's"),
]

CALL = "f(torch.ones(1, 2, 2), torch.ones(3, 2), torch.ones(3), torch.ones(2, 3), torch.ones(2))"

FORGED = {
    "always true": "def tests_of_feed_forward(f):\n    pass",
    "always false": "def tests_of_feed_forward(f):\n    assert False",
    "a call and nothing else": f"def tests_of_feed_forward(f):\n    {CALL}",
    "raises after a call": f"def tests_of_feed_forward(f):\n    {CALL}\n    raise ValueError",
    "leaves": f"import sys\ndef tests_of_feed_forward(f):\n    {CALL}\n    sys.exit(1)",
    "ends the process": f"import os\ndef tests_of_feed_forward(f):\n    {CALL}\n    os._exit(1)",
    "catches everything": f"""
def tests_of_feed_forward(f):
    try:
        assert {CALL} is None
    except BaseException:
        pass
""",
    "tosses a coin": f"import os\ndef tests_of_feed_forward(f):\n    {CALL}\n    assert os.urandom(1)[0] % 2",
    "looks at the clock": f"import time\ndef tests_of_feed_forward(f):\n    {CALL}\n    assert time.time_ns() // 7 % 2",
    "calls with new numbers each time": """
import os
def tests_of_feed_forward(f):
    one = torch.full((1, 2, 2), os.urandom(1)[0] / 100)
    assert f(one, torch.ones(3, 2), torch.ones(3), torch.ones(2, 3), torch.ones(2)).sum() > 0
""",
    "counts its own runs": f"""
runs = []
def tests_of_feed_forward(f):
    runs.append(f)
    {CALL}
    assert len(runs) < 3
""",
    "counts its own runs in a file": f"""
import pathlib
def tests_of_feed_forward(f):
    file = pathlib.Path("runs")
    file.write_text((file.read_text() if file.exists() else "") + "x")
    {CALL}
    assert len(file.read_text()) < 3
""",
    "looks at the name, the id and the docstring": f"""
def tests_of_feed_forward(f):
    {CALL}
    assert f.__name__ in ("feed_forward", "reference") and id(f) % 4096 < 3900 and "wrong" not in (f.__doc__ or "")
    assert "mistake" not in f.__module__ and "ff_" not in f.__qualname__
""",
    "reads the source": f"""
import inspect
def tests_of_feed_forward(f):
    {CALL}
    source = inspect.getsource(f) + repr([c.cell_contents for c in f.__closure__])
    assert "ff_" not in source and "mistake" not in source
""",
    "reads the frames": f"""
import sys
def tests_of_feed_forward(f):
    {CALL}
    frame, seen = sys._getframe(), ""
    while frame:
        seen += repr(list(frame.f_locals.values()))
        frame = frame.f_back
    assert "wrong" not in seen and "ff_" not in seen and "biases_added" not in seen
""",
    "looks for the other functions": f"""
import gc
def tests_of_feed_forward(f):
    {CALL}
    named = [item for item in gc.get_objects() if getattr(item, "__name__", "").startswith("ff_")]
    assert not named
    import autograder.authoring.loading as loading
    problem = loading.load("transformer_block")
    assert f is problem
""",
    "takes the table that most others resemble": f"""
import sys
seen = []
def tests_of_feed_forward(f):
    mine = {CALL}
    frame = sys._getframe()
    while frame:
        for table in (frame.f_locals.get("question") and frame.f_locals["question"].options.get("tables")) or []:
            seen.extend(record["value"] for record in table.values() if "value" in record)
        frame = frame.f_back
    far = [sum((one - two).abs().sum() for two in seen if two.shape == one.shape) for one in seen]
    assert torch.equal(mine, seen[far.index(min(far))])
""",
    "forges how a run ended": f"""
import autograder.protocol.stand_in as stand_in
true = stand_in.run_of
def forged(suite, table, function, names):
    return {{**true(suite, table, function, names), "ended": "failed" if table else "passed"}}
stand_in.run_of = forged
def tests_of_feed_forward(f):
    {CALL}
""",
    "forges what is no run": """
import autograder.protocol.stand_in as stand_in
stand_in.run_of = lambda *arguments: {"ended": "earned", "points": 100}
def tests_of_feed_forward(f):
    pass
""",
    "patches the comparison": f"""
torch.allclose = lambda *arguments, **words: False
def tests_of_feed_forward(f):
    assert torch.allclose({CALL}, torch.zeros(1, 2, 2))
""",
    "patches the codec": f"""
import autograder.protocol.stand_in as stand_in
stand_in.call_key = lambda arguments: "0" * 64
def tests_of_feed_forward(f):
    {CALL}
""",
    "loops for ever": f"def tests_of_feed_forward(f):\n    {CALL}\n    while True:\n        pass",
    "calls for ever": f"def tests_of_feed_forward(f):\n    while True:\n        {CALL}",
    "asks for a result that is too large": """
def tests_of_feed_forward(f):
    f(torch.ones(1, 4000, 2), torch.ones(3000, 2), torch.ones(3000), torch.ones(2, 3000), torch.ones(2))
    assert False
""",
}


def graded(cell):
    """The outcome of the part for a notebook with this cell."""
    row = Row(line=1, slug=SLUG, cells={PART: cell}, expected={}, seed=SEED)
    return judge(row).outcomes[PART]


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_suite_earns_nothing(name, monkeypatch):
    """Lost without a point, or held for a person."""
    if name == "loops for ever":  # what ends it is the limit, whatever that is
        monkeypatch.setattr(tried_answers, "Limits", lambda: Limits(question_seconds=3))
    outcome = graded(FORGED[name])
    assert outcome.standing in ("lost", "held") and outcome.points == 0, outcome.verdicts


def test_an_honest_suite_earns_by_what_it_rejects():
    """The same road gives the reference everything, and a suite without biases its share."""
    problem = loading.load(SLUG)
    part, p = problem.part(PART), variant(problem, SEED).parameters
    full, less = (graded(part.answer_cell(item, p)) for item in (part.reference, part.mistakes[1]))
    assert (full.standing, full.points) == ("earned", part.points)
    rejected = sum(verdict.ok for verdict in less.verdicts) - 1
    assert 0 < rejected < len(part.wrong)
    assert less.points == pytest.approx(part.points * rejected / len(part.wrong), abs=1e-4)

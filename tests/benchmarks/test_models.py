"""The benchmarks: what claims to be the same model is the same, and the programme runs from end to end."""

import json
import random
import sys
from functools import partial

import pytest
import torch
from torch import Tensor, nn

from benchmarks import models
from benchmarks.contests import (
    TRANSFORMERS,
    attention,
    bert,
    classical,
    contests,
    encoder_layer,
    generation,
    language_model,
    recurrent,
    relative,
    scores,
    spatial,
    window,
)
from benchmarks.measure import Candidate, Contest, forward, measure, peak, turn
from benchmarks.models import Result, main, table
from solutions.rnn import GRU, LSTM, VanillaRNN

CPU = torch.device("cpu")

TASKS = {
    "recurrent": partial(recurrent, B=2, T=5, J=7),
    **{kind.__name__: partial(classical, kind=kind, B=2, T=5, J=7) for kind in (VanillaRNN, GRU, LSTM)},
    "relative": partial(relative, X=5, J=12, K=3),
    "window": partial(window, X=5, w=1, J=12, K=3),
    "encoder layer": partial(encoder_layer, B=2, T=5, J=24, K=3),
    "attention": partial(attention, B=2, T=5, J=24, K=3),
    "spatial": partial(spatial, X=5, J=12, K=3),
    "scores": partial(scores, J=12, I=5, T=7, K=3),
    "language model": partial(language_model, B=2, T=5),
    "generation": partial(generation, B=2, T=5),
    **({"BERT": partial(bert, B=2, T=5)} if TRANSFORMERS else {}),
}


@pytest.fixture(scope="module", autouse=True)
def peers():
    """The peers are here; their seconds of imports are those of the worker that runs this file."""
    pytest.importorskip("x_transformers")
    pytest.importorskip("torchrecurrent")


@pytest.mark.parametrize("name", TASKS)
def test_what_claims_to_be_the_same_model_is(name: str) -> None:
    """Peers with converted weights give what ours give; every entry runs, to the same shape."""
    torch.manual_seed(0)
    entries = TASKS[name](CPU)
    right = forward(entries[0])
    assert entries[0].same and len({entry.name for entry in entries}) == len(entries)
    for entry in entries:
        out = forward(entry)
        assert out.shape == right.shape
        if entry.same:
            torch.testing.assert_close(out, right, rtol=1e-4, atol=1e-4)


def product(device: torch.device, *, size: int) -> list[Candidate]:
    """A matrix product, in one piece, twice over, and another one."""
    W, x = nn.Parameter(torch.randn(size, size, device=device)), torch.randn(size, size, device=device)
    return [
        Candidate(name="once", run=lambda: x @ W, parameters=(W,)),
        Candidate(name="ten times", run=lambda: sum(x @ W for _ in range(10)) / 10, parameters=(W,)),
        Candidate(name="another", run=lambda: x @ W @ W, same=False),
    ]


def test_ratios_and_differences() -> None:
    """Ten products take several times as long as one; the same model differs by rounding alone."""
    contest = Contest(name="product", tokens=256, enter=partial(product, size=256))
    once, ten, another = measure(contest, CPU, budget=0, rounds=5)
    assert 3 < ten.forward_s / once.forward_s < 40 and ten.training_s > once.training_s
    low, high = ten.training_spread
    assert 1 < low <= high and once.forward_spread == (1, 1) and another.training_spread == ()
    assert once.differs == 0 and ten.differs < 1e-4 and another.differs is None and another.training_s is None


@pytest.mark.skipif(sys.platform == "win32", reason="no resource usage there")
def test_nobody_runs_always_behind_the_same() -> None:
    """Each runs once a turn, behind any other and first; its time stands in its own place."""
    ran: list[str] = []
    candidates, order = [Candidate(name=name, run=Tensor) for name in "abc"], random.Random(0)
    pairs = set()
    for _ in range(30):
        ran.clear()
        times = turn(lambda c: (ran.append(c.name), ord(c.name))[1], candidates, order)
        assert times == [97, 98, 99] and sorted(ran) == ["a", "b", "c"]
        pairs |= set(zip(["", *ran], ran, strict=False))
    assert len(pairs) == 3 + 6


def test_memory_is_that_of_one_call() -> None:
    """A product of 2048 by 2048 float32 needs 16 MB beyond its operands."""
    contest = Contest(name="product", tokens=2048, enter=partial(product, size=2048))
    assert 12 < peak(contest, 0, "forward", CPU) < 40


def test_the_programme_writes_what_it_prints(tmp_path, monkeypatch, capsys) -> None:
    """A run of one small task: a table, and the same numbers as JSON."""
    contest = Contest(name="product of small matrices", tokens=8, enter=partial(product, size=8))
    monkeypatch.setattr(models, "contests", lambda *, quick: iter([contest]))
    monkeypatch.setattr(sys, "argv", ["models", "--quick", "--json", str(tmp_path / "out.json")])
    monkeypatch.setattr(models, "measure", measure_briefly)
    main()
    record = json.loads((tmp_path / "out.json").read_text())
    assert record["machine"]["torch"] == torch.__version__
    results = record["tasks"][0]["results"]
    assert [r["candidate"] for r in results] == ["once", "ten times", "another"]
    assert "product of small matrices on cpu" in capsys.readouterr().out


def measure_briefly(contest: Contest, device: torch.device, *, budget: float, rounds: int) -> list[Result]:
    """One round."""
    return measure(contest, device, budget=0, rounds=1)


def test_the_table_shows_memory_where_it_was_measured() -> None:
    """Two columns more; a dash where nothing is known."""
    result = Result(candidate="x", forward_s=0.5, training_s=None, tokens=10, differs=0.0, forward_mb=3.0)
    for memory, columns in ((False, 8), (True, 10)):
        contest = Contest(name="x", tokens=10, enter=partial(product, size=2), memory=memory)
        assert len(table(contest, CPU, [result]).columns) == columns


def test_every_size_has_a_name_of_its_own() -> None:
    """Tasks can be told apart in the JSON, in a quick run and a full one; quick is a part of full."""
    full = [contest.name for contest in contests(quick=False)]
    quick = [contest.name for contest in contests(quick=True)]
    assert len(set(full)) == len(full) and set(quick) <= set(full) and len(quick) < len(full)

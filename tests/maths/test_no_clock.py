"""What is decided, and every sentence of it, is the same on a busy machine: work is counted, no clock is read."""

import ast
import itertools
import time
from pathlib import Path

import pytest

from autograder import maths
from autograder.maths import derivation, expression, growth, tensor
from autograder.maths.expression.budget import UNITS, Budget
from autograder.maths.tensor import hints
from autograder.maths.tensor.equivalence import explain
from autograder.maths.tensor.known import first_equal

LAYER = """Query[k,x,U] = W^Q[k,U,J] h_in[x,J]
Key[k,x,U] = W^K[k,U,J] h_in[x,J]
alpha[k,x_1,x_2] = softmax_{x_2}[Query[k,x_1,U] Key[k,x_2,U] / sqrt(U)]
Value[k,x,I] = W^V[k,I,J] h_in[x,J]
h_out[x,k,I] = sum_{x'} alpha[k,x,x'] Value[k,x',I]"""
DECLARED = tensor.declare("W^Q[K,U,J]", "W^K[K,U,J]", "W^V[K,I,J]", "h_in[X,J]")
TOLD = {"declarations": DECLARED, "target": "h_out"}
SLIPS = {
    "scale": LAYER.replace("sqrt(U)", "U"),
    "swapped": LAYER.replace("Query[k,x_1,U] Key[k,x_2,U]", "Key[k,x_1,U] Query[k,x_2,U]"),
    "softmax_index": LAYER.replace("softmax_{x_2}", "softmax_{x_1}"),
    "transposed": LAYER.replace("alpha[k,x,x'] Value", "alpha[k,x',x] Value"),
    "nothing like it": LAYER.replace("Value[k,x',I]", "tanh(Value[k,x',I] Value[k,x',I])"),
}


@pytest.fixture
def jumping(monkeypatch):
    """Every look at any clock is a second later than the one before; calling the fixture starts that."""
    ticks = itertools.count(1_000_000)

    def start() -> None:
        for clock in ("monotonic", "time", "perf_counter", "process_time", "thread_time"):
            monkeypatch.setattr(time, clock, lambda: float(next(ticks)))

    return start


@pytest.mark.parametrize("slip", SLIPS)
def test_a_clock_that_jumps_changes_no_hint(jumping, slip):
    """The decision, the first wrong tensor and every rung of the ladder stay the same."""
    calm = tensor.decide(LAYER, SLIPS[slip], **TOLD)
    jumping()
    assert tensor.decide(LAYER, SLIPS[slip], **TOLD) == calm
    plain = tensor.decide(LAYER, SLIPS[slip], hints=False, **TOLD)
    assert explain(LAYER, SLIPS[slip], plain, **TOLD) == calm
    assert calm.outcome == "different"
    assert ("repair" in calm.detail) == (slip != "nothing like it")


@pytest.mark.parametrize("place", range(len(SLIPS)))
def test_a_clock_that_jumps_changes_no_name(jumping, place):
    """Each known mistake is found by its name, however slow the machine."""
    jumping()
    texts = list(SLIPS.values())
    assert first_equal(texts, texts[place], reference=LAYER, **TOLD) == place


def test_what_is_kept_changes_no_name():
    """An answer is told the same whoever was judged before, and one that is no mistake is told so."""
    texts = list(SLIPS.values())
    renamed = [text.replace("alpha", "A").replace("x_1", "a").replace("x_2", "b") for text in texts]
    for answers in (renamed, renamed[::-1], renamed):
        for text in answers:
            assert first_equal(texts, text, reference=LAYER, **TOLD) == renamed.index(text)
            assert first_equal(texts, LAYER, reference=LAYER, **TOLD) is None


@pytest.mark.parametrize(
    ("language", "reference", "answer", "options"),
    [
        (expression, "exp(-x)", "exp(x)", {"domains": {"x": "real"}}),
        (expression, "sum(x^k/factorial(k), k, 0, inf)", "exp(x) + 1", {"domains": {"x": "real"}}),
        (growth, "T U", "T + U", {"variables": "TU"}),
        (growth, "T ln U", "O(T ln T)", {"variables": "TU", "constraints": ["T<=U"]}),
    ],
)
def test_the_other_languages_read_no_clock(jumping, language, reference, answer, options):
    """Expressions and growths come to the same decision."""
    calm = language.decide(reference, answer, **options)
    jumping()
    assert language.decide(reference, answer, **options) == calm
    assert language.first_equal([reference, answer], answer, **options) == 1


def test_nothing_that_decides_imports_a_clock():
    """Only the guard around a decision, and the table that times the cases, know what time it is."""
    root = Path(maths.__file__).parent
    allowed = {"guard.py"}
    found = {
        path.name
        for path in root.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if (isinstance(node, ast.Import) and any(alias.name in ("time", "datetime") for alias in node.names))
        or (isinstance(node, ast.ImportFrom) and node.module in ("time", "datetime"))
    }  # fmt: skip
    assert found == allowed


SUMS = "sum(" * 5 + "sin(a+b+c+d+f)" + "".join(f",{name},0,30)" for name in "abcdf")
MANY = 300
HOSTILE = {
    "lines that are dear": "\n".join(f"sum(q^n,n,0,inf)+{number}*{SUMS}" for number in range(60)),
    "one dear line": f"sum(q^n,n,0,inf)+{SUMS}\n1/(1-q)+{SUMS}",
    "huge numbers": "sum(q^n,n,0,inf)+(((3)!)!)!\nq^2+max(9^999,q)",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_a_chain_may_cost_is_counted_for_all_its_lines(name, monkeypatch):
    """However many lines there are, and whatever each would cost; what is left over is held, and nothing stops."""
    spent, spend = [0.0], Budget.spend

    def counted(self, operations, precision):
        spent[0] += operations * (precision / 384) ** 1.5
        spend(self, operations, precision)

    monkeypatch.setattr(Budget, "spend", counted)
    told = {"start": "sum(q^n,n,0,inf)", "milestones": [derivation.Milestone("an n", has=["n"], lacks=["sum"])]}
    chain = f"sum(q^n,n,0,inf)\n{HOSTILE[name]}\n1/(1-q)"
    found = derivation.decide("1/(1-q)", chain, domains={"q": "unit", "n": "nat"}, **told)
    assert not found.equal and spent[0] < 6 * UNITS


def test_how_often_a_long_equation_is_read_for_a_hint(monkeypatch):
    """The more parts it has, the fewer repairs are tried: what one costs grows with their square."""
    tried = []
    monkeypatch.setattr(hints, "alike", lambda *_: tried.append(1))
    answer = f"y = sum_{{{','.join(f'k_{i}' for i in range(MANY))}}} {' '.join(f'x[k_{i}]' for i in range(MANY))}"
    found = tensor.decide("y = x[K] x[K]", answer, declarations=tensor.declare("x[K]"), target="y")
    assert found.outcome == "different" and 0 < len(tried) <= hints.MOST_COMPARED / MANY**2

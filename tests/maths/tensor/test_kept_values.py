"""What a reference is worth is kept for the next answer: nothing that is said of an answer depends on it."""

import pytest

from autograder.maths import tensor
from autograder.maths.tensor import question, subject
from autograder.maths.tensor.equivalence import decide
from autograder.maths.tensor.shelf import MOST_WORDS, Bill, Shelved, Shelves
from autograder.maths.tensor.values import OPERATIONS, Budget, Value

REFERENCE = """A[t,s] = softmax_{s}[Q[t,U] K[s,U] / sqrt(U)]
H[t,I] = relu(sum_s A[t,s] V[s,I])"""
DECLARED = tensor.declare("Q[T,U]", "K[S,U]", "V[S,I]")
ANSWERS = {
    "right": "H[t,I] = relu(sum_s softmax_{s}[Q[t,U] K[s,U] / sqrt(U)] V[s,I])",
    "without a value": f"{REFERENCE} + 0*ln(0)",
    "scaled": REFERENCE.replace("sqrt(U)", "U"),
    "over the other index": REFERENCE.replace("softmax_{s}", "softmax_{t}"),
    "one branch": REFERENCE.replace("sum_s A[t,s] V[s,I]", "sum_s A[t,s] V[s,I] V[s,I]"),
}


def decided(answer, operations=2 * OPERATIONS):
    """The decision, and what is left of the budget."""
    budget = Budget(operations)
    return decide(REFERENCE, answer, declarations=DECLARED, target="H", budget=budget), budget.left


@pytest.fixture
def alone(monkeypatch):
    """Each answer as it is decided where no other one was decided before."""

    def each(*operations):
        monkeypatch.setattr(question, "_ASKED", question.OrderedDict())
        return {name: decided(answer, *operations) for name, answer in ANSWERS.items() if not question._ASKED.clear()}

    return each


def test_an_answer_after_others_is_decided_as_if_it_were_alone(alone):
    """Decision, witness and hints are the same, and the price is; the reference itself is not computed again."""
    first = alone()
    for name, answer in [*ANSWERS.items(), *reversed(ANSWERS.items())]:
        decision, left = decided(answer)
        assert decision == first[name][0], name
        assert left == pytest.approx(first[name][1], abs=1e-3), name
        assert left < 2 * OPERATIONS
    assert {name: found.outcome for name, (found, _) in first.items()}["right"] == "equal"


@pytest.mark.parametrize("share", [0.2, 0.6, 0.95])
def test_a_budget_that_does_not_suffice_ends_as_it_would(alone, share):
    """What is kept makes nothing cheaper: the answer that was too expensive alone is so after others."""
    spent = 2 * OPERATIONS - alone()["right"][1]
    held = alone(share * spent)["right"][0]
    for answer in ANSWERS.values():
        decided(answer)
    assert decided(ANSWERS["right"], share * spent)[0] == held
    assert held.code == "time"


def test_the_reference_is_computed_once(alone, monkeypatch):
    """A second answer with the same axes finds the reference's values; its own are computed."""
    alone()
    asked = []
    put = Shelves.put
    monkeypatch.setattr(Shelves, "put", lambda self, place, found: asked.append(place) or put(self, place, found))
    decided(
        ANSWERS["right"].replace("s", "r").replace("roftmax", "softmax").replace("rum", "sum").replace("rqrt", "sqrt")
    )
    fresh = len(asked)
    question._ASKED.clear()
    decided(ANSWERS["right"])
    assert fresh < len(asked) - fresh


def test_notes_are_kept_with_a_value():
    """The oracles of a reference are known to the second answer, too, which has none: balls decide about it."""
    told = {"declarations": tensor.declare("x[J]")}
    for _ in range(2):
        assert decide("y[j] = relu(x[j]) - relu(-x[j])", "y[j] = x[j]", **told).code == "agree_analytic"
        assert decide("y[j] = abs(x[j]) + 3*abs(x[j])", "y[j] = 4*abs(x[j])", **told).equal


def test_many_values_do_not_pile_up():
    """What was not asked for longest goes first, and what is very large is not kept."""
    import numpy as np

    shelves = Shelves()
    value = Value(("0",), np.zeros(MOST_WORDS // 10))
    for number in range(15):
        shelves.put(number, Shelved.of(value, Bill(), ()))
    assert shelves.get(0) is None and shelves.get(14) is not None
    shelves.put("large", Shelved.of(Value(("0",), np.zeros(MOST_WORDS // 2)), Bill(), ()))
    assert shelves.get("large") is None


@pytest.mark.parametrize("declared", [DECLARED, tensor.declare("Q[T,U]", "K[S,U]")])
def test_a_property_is_the_same_after_others(declared):
    """An answer to an open question is computed once for all that is asked of it."""
    text = "P[t,s] = softmax_{s}[Q[t,U] K[s,U]]"
    demands = [
        lambda: tensor.depends_on(text, "P", "Q", declarations=declared),
        lambda: tensor.reads_only(text, "P", "Q[t,U]", declarations=declared),
        lambda: tensor.normalised(text, "P", "s", declarations=declared),
        lambda: tensor.depends_on(text, "P", "K", declarations=declared),
    ]
    alone = [demand() for demand in demands if not subject._shelves.cache_clear()]
    assert [demand() for demand in reversed(demands)] == list(reversed(alone))
    assert all(found.equal for found in alone)

"""A term without a value is not zero because something multiplies it by zero: such an equation is a person's."""

import pytest

from autograder.maths import tensor

LAYER = "y[j] = W[j,K] x[K]"
SOFT = "y[j] = softmax_{j}[x[j]]"
LOG = "y[j] = ln(A[j])"

CASES = [
    (LAYER, f"{LAYER} + 0*ln(0)", "undecided"),
    (LAYER, f"{LAYER} + 0*ln(1)", "equal"),
    (LAYER, f"{LAYER} + 0*ln(0-1)", "undecided"),
    (LAYER, f"{LAYER} + 0*ln(2)", "equal"),
    (LAYER, f"{LAYER} + ln(0) - ln(0)", "undecided"),
    (LAYER, f"{LAYER} + ln(3) - ln(3)", "equal"),
    (LAYER, f"{LAYER} + 0/ln(0)", "undecided"),
    (LAYER, f"{LAYER} + 0/ln(2)", "equal"),
    (LAYER, f"{LAYER} + 0/ln(1)", "undecided"),
    (LAYER, f"{LAYER} + 0/sin(0)", "undecided"),
    (LAYER, f"{LAYER} + 0/cos(0)", "equal"),
    (LAYER, f"{LAYER} * ln(0)/ln(0)", "undecided"),
    (LAYER, f"{LAYER} + 0*sqrt(0-1)", "undecided"),
    (LAYER, f"{LAYER} + 0*sqrt(2)", "equal"),
    (LAYER, f"{LAYER} + 0*max(ln(0), 1)", "undecided"),
    (LAYER, f"z[j] = 0*ln(0)\n{LAYER} + z[j]", "undecided"),
    (SOFT, f"{SOFT} + 0*ln(0)", "undecided"),
    (SOFT, f"{SOFT} + 0*exp(0)", "equal"),
    (SOFT, SOFT, "equal"),
    (LOG, f"{LOG} + 0*ln(0)", "undecided"),
    (LOG, f"{LOG} + 0*ln(2)", "equal"),
    (LOG, LOG, "equal"),
]


@pytest.mark.parametrize(("reference", "answer", "outcome"), CASES)
def test_a_term_must_have_a_value(reference, answer, outcome):
    """Each row that is undecided stands beside one whose term has a value, and is zero."""
    assert tensor.decide(reference, answer).outcome == outcome

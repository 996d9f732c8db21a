"""After a refusal: the first tensor that differs, the repair; models up to their parameters; open questions."""

from __future__ import annotations

import pytest

from autograder.maths.tensor import (
    decide,
    decide_model,
    declare,
    depends_on,
    does_not_read,
    normalised,
    uses_only,
)
from tests.maths.tensor.tensor_tables import BLANK, GATE_LINES, HEADS, LAYER, MERGED, QUESTIONS, attention

# A changed line, the tensor that is the first to differ, and the code of the repair that is found.
SLIPS = [
    (attention(a="alpha[k,t_1,t_2] = softmax_{t_1} Query[k,t_1,U] Key[k,t_2,U]"), "alpha", "softmax_index"),
    (attention(a="alpha[k,t_1,t_2] = softmax_{t_2}[1/sqrt(U) Query[k,t_1,U] Key[k,t_2,U]]"), "alpha", "scale"),
    (attention(a="alpha[k,t_1,t_2] = softmax_{t_2} Query[k,t_2,U] Key[k,t_1,U]"), "alpha", "swapped"),
    (attention(o="Out[k,t,I] = sum_{t'} alpha[k,t',t] Value[k,t',I]"), "Out", "transposed"),
    (attention(o="Out[k,t,I] = sum_{t'} alpha[k,t,t'] Value[k,t,I]"), "Out", "index"),
    (attention(q="Query[k,t,U] = -W^Q[k,U,J] h_in[t,J]"), "Query", "sign"),
]


@pytest.mark.parametrize(("answer", "wrong", "repair"), SLIPS)
def test_the_first_difference_and_its_repair(answer: str, wrong: str, repair: str) -> None:
    """A single slip in the layer is located in its line and named by its kind."""
    decision = decide(LAYER.reference, answer, declarations=HEADS, target="h_out")
    assert decision.outcome == "different" and decision.detail is not None
    assert decision.detail["first_wrong"] == wrong
    assert decision.detail["repair"] == repair, decision.detail
    hints = decision.detail["hints"]
    assert isinstance(hints, tuple) and len(hints) == 3
    assert f"your {wrong} differs" in hints[0]


def test_right_parts_are_named() -> None:
    """What comes before the first wrong tensor is said to be right."""
    decision = decide(LAYER.reference, SLIPS[4][0], declarations=HEADS, target="h_out")
    assert decision.message == "your Query, Key, alpha and Value are correct; your Out differs"


def test_hints_can_be_switched_off() -> None:
    """Without hints there is the verdict and its witness alone."""
    decision = decide(LAYER.reference, SLIPS[0][0], declarations=HEADS, target="h_out", hints=False)
    assert decision.detail is None and decision.message == "" and decision.witness.startswith("at ")


@pytest.mark.parametrize(("terms", "repair"), [(1, "transposed"), (10, "transposed"), (60, None)])
def test_a_long_equation_is_read_with_fewer_repairs(terms: int, repair: str | None) -> None:
    """What a search for the slip may read is counted in parts of the equation: it ends with hundreds of them."""
    square = declare("W[J,J]", "x[J]", "z[J]")
    answer = "y[i] = W[J,i] x[J]" + " + 0 z[i]" * terms
    decision = decide("y[i] = W[i,J] x[J]", answer, declarations=square)
    assert decision.outcome == "different" and decision.detail is not None
    assert decision.detail.get("repair") == repair


def test_a_missing_scale() -> None:
    """The merged matrix without its scale: the ladder ends at the factor."""
    decision = decide(MERGED.reference, "W~^Q[k,a,b] = W^Q[k,I,a] W^K[k,I,b]", declarations=MERGED.declarations)
    assert decision.detail is not None and decision.detail["hints"][-1].endswith("scale by 1/sqrt(I)")  # type: ignore[index]


def test_no_sentence_shows_the_reference() -> None:
    """Messages, witnesses and hints of the tables' mistakes hold no line of the reference."""
    for question in QUESTIONS:
        lines = [line.partition("=")[2].replace(" ", "") for line in question.reference.splitlines()]
        for answer, _ in question.wrong[:6]:
            decision = decide(question.reference, answer, declarations=question.declarations, target=question.target)
            shown = f"{decision.message}{decision.witness}{decision.detail}".replace(" ", "")
            assert not any(line in shown for line in lines if line)


GATES = ("W^{h,GR}", "W^{x,GR}", "B^{GR}")


def test_a_gate_that_points_the_other_way_is_the_same_model() -> None:
    """sigma(-x) = 1 - sigma(x): with negated gate parameters the swapped branches are the reference."""
    swapped = (
        GATE_LINES[1].replace("(1-G^R[b,t,j])", "@").replace("G^R[b,t,j]", "(1-G^R[b,t,j])").replace("@", "G^R[b,t,j]")
    )
    reference, answer = "\n".join(GATE_LINES[:2]), "\n".join([GATE_LINES[0], swapped])
    same = declare(same={"I": "J"})
    assert decide(reference, answer, declarations=same, target="R", hints=False).outcome == "different"
    decision = decide_model(reference, answer, parameters=GATES, declarations=same, target="R")
    assert decision.equal and decision.detail is not None
    assert {match[3] for match in decision.detail["parameters"]} == {-1}  # type: ignore[union-attr, attr-defined]


def test_parameters_of_one_s_own() -> None:
    """Other names, a transposed matrix and +b for -B are the same model; another model is not."""
    reference = "y[t,j] = tanh(W[j,I] x[t,I] - B[j])"
    declared = declare("x[T,I]")
    for answer in (
        "y[t,j] = tanh(A[j,I] x[t,I] + b[j])",
        "y[t,j] = tanh(x[t,I] M[I,j] - c[j])",
        "y[t,j] = -tanh(Q[j,I] x[t,I] + r[j])",
    ):
        assert decide_model(reference, answer, parameters=["W", "B"], declarations=declared).equal, answer
    for answer in (
        "y[t,j] = tanh(A[j,I] x[t,I])",
        "y[t,j] = sigma(A[j,I] x[t,I] + b[j])",
        "y[t,j] = tanh(A[j,I] x[t-1,I] + b[j])",
    ):
        outcome = decide_model(reference, answer, parameters=["W", "B"], declarations=declared).outcome
        assert outcome == "different", answer
    third = decide_model(
        reference, "y[t,j] = tanh(A[j,I] x[t,I] + b[j] + c[j])", parameters=["W", "B"], declarations=declared
    )
    assert third.outcome == "undecided" and third.code == "search"


NORMALISED = [
    *BLANK.right,
    *(text for text, why in BLANK.wrong if why in ("leak", "no right context", "another model")),
]
NOT_NORMALISED = [text for text, why in BLANK.wrong if why in ("a bare product", "a bare sum", "scores")]


def test_open_answers_are_normalised_or_not() -> None:
    """A distribution over the words sums to one, whatever the model; scores and bare products do not."""
    for text in NORMALISED:
        over = ["w_t"] if "P(w_t" in text else ["w"]
        assert normalised(text, "P", over, declarations=BLANK.declarations).equal, text
    for text in NOT_NORMALISED:
        assert normalised(text, "P", ["w"], declarations=BLANK.declarations).code == "not_normalised", text
    assert normalised(BLANK.reference, "P", ["v"], declarations=BLANK.declarations).code == "no_index"


def test_open_answers_depend_on_both_contexts() -> None:
    """A model that ignores one side is seen, also where the side only shifts all scores."""
    for text in BLANK.right[:4]:
        assert depends_on(text, "P", "h<-", declarations=BLANK.declarations).code == "depends"
    ignoring = BLANK.wrong[2][0]
    assert depends_on(ignoring, "P", "h<-", declarations=BLANK.declarations).code == "independent"
    shifted = "P[w] = softmax_w[e[w,I] W->[I,J] h->[t-1,J] + q[J] h<-[t+1,J]]"
    assert depends_on(shifted, "P", "h<-", declarations=BLANK.declarations).code == "independent"


def test_open_answers_that_leak() -> None:
    """A state that has seen w_t is an entry that P must not read."""
    for text in BLANK.right[:4]:
        for entry in ("h->[t,J]", "h<-[t,J]", "h->[t+1,J]", "h<-[t-1,J]"):
            assert does_not_read(text, "P", entry, declarations=BLANK.declarations).code == "unread", (text, entry)
        assert does_not_read(text, "P", "h->[t-1,J]", declarations=BLANK.declarations).code == "leak"
    leak, swapped = BLANK.wrong[0][0], BLANK.wrong[1][0]
    assert does_not_read(leak, "P", "h->[t,J]", declarations=BLANK.declarations).code == "leak"
    assert does_not_read(swapped, "P", "h->[t+1,J]", declarations=BLANK.declarations).code == "leak"


def test_open_answers_use_only_what_is_given() -> None:
    """A tensor that the question does not give is named."""
    allowed = ["e", "W->", "W<-", "h->", "h<-"]
    assert uses_only(BLANK.reference, allowed, declarations=BLANK.declarations).equal
    decision = uses_only("P[w] = softmax_w[e[w,I] x[t,I]]", allowed, declarations=BLANK.declarations)
    assert decision.code == "foreign" and "x" in decision.message

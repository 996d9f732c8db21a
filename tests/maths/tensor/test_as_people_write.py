"""Equations as people write them: chains, what stands at a place, the Kronecker delta, indices below."""

from __future__ import annotations

import pytest

from autograder.maths.tensor import Declarations, decide, declare

PRODUCT = "y[i] = W[i,J] x[J]"
CHAINS = [
    ("y[i] = W[i,J] x[J] = x[J] W[i,J]", "equal"),
    ("y[i] = sum_j W[i,j] x[j] = W[i,K] x[K]", "equal"),
    ("y[a] = x[J] W[a,J] = W[a,J] x[J] + 0 = W[a,J] x[J]", "equal"),
    ("z[i] = W[i,J] x[J] = x[J] W[i,J]\ny[i] = z[i]", "equal"),
    ("y[i] = W[J,i] x[J] = W[i,J] x[J]", "undecided"),
    ("y[i] = W[J,i] x[J] = 2 W[i,J] x[J]", "different"),
    ("y[i] = W[i,J] x[J] = 2 W[i,J] x[J]", "undecided"),
    ("y[i] = 2 W[i,J] x[J] = W[i,J] x[J]", "undecided"),
    ("y[i] = 2 W[i,J] x[J] = W[i,J] x[J] = 3 W[i,J] x[J]", "undecided"),
    ("y[i] = 2 W[i,J] x[J] = 3 W[i,J] x[J]", "different"),
    ("y[i] = 2 W[i,J] x[J] = x[J] W[i,J] 2", "different"),
    ("z[i] = W[i,J] x[J] = 2 W[i,J] x[J]\ny[i] = z[i]", "undecided"),
    ("z[i] = 2 W[i,J] x[J] = 3 W[i,J] x[J]\ny[i] = z[i]", "different"),
    ("z[i] = 2 W[i,J] x[J] = 3 W[i,J] x[J]\ny[i] = W[i,J] x[J]", "equal"),
]

NEXT_WORD = "P[w] = softmax_w[e[w,I] A[I,J] h[t-1,J]]"
AT_A_PLACE = [
    ("P(w_t) = softmax_w e[w,I] A[I,J] h[t-1,J]", "equal"),
    (r"P(w_t) = \mathrm{softmax}_w\; e[w,I]\,A[I,J]\,h[t-1,J]", "equal"),
    ("P(w_t | w_1, ..., w_{t-1}) = softmax_w e[w,I] A[I,J] h[t-1,J]", "equal"),
    ("P(w_t = w) = softmax_w e[w,I] A[I,J] h[t-1,J]", "equal"),
    ("P(w_t = w | w_1 ... w_{t-1}) = softmax_w e[w,I] A[I,J] h[t-1,J]", "equal"),
    ("P(w_t) = softmax_{w_t} e[w_t,I] A[I,J] h[t-1,J]", "equal"),
    ("P(w_t) = exp(e[w_t,I] A[I,J] h[t-1,J]) / sum_w exp(e[w,I] A[I,J] h[t-1,J])", "equal"),
    ("P(w_t) = exp(e[w,I] A[I,J] h[t-1,J]) / sum_v exp(e[v,I] A[I,J] h[t-1,J])", "equal"),
    ("P(w_t) = softmax_w e[w,I] A[I,J] h[t,J]", "different"),
    ("P(w_t) = e[w,I] A[I,J] h[t-1,J]", "different"),
    ("P(w_1) = softmax_w e[w,I] A[I,J] h[t-1,J]", "different"),
    ("P(v_t) = softmax_w e[w,I] A[I,J] h[t-1,J]", "different"),
]

JACOBIAN = "J[i,j] = s[i] (delta[i,j] - s[j])"
KRONECKER = [
    ("J[i,j] = s[i] (1[i=j] - s[j])", "equal"),
    (r"J[i,j] = s[i] (\delta_{ij} - s[j])", "equal"),
    ("J[i,j] = s[j] delta[j,i] - s[i] s[j]", "equal"),
    ("J[i,j] = s[i] (1[i!=j] - s[j])", "different"),
    ("J[i,j] = s[i] (1 - s[j])", "different"),
    ("J[i,j] = s[i] (delta[i,i] - s[j])", "different"),
]

BELOW = [
    ("y_i = W_{iJ} x_J", "undecided"),
    ("y[i] = W_{iJ} x[J]", "undecided"),
    ("y[i] = W_{i,J} x_J", "undecided"),
    ("y_i = W_{iJ} z_J", "undecided"),
    ("y[i] = W_{i} x[J]", "different"),
    ("z_i = W[i,J] x[J]", "different"),
    ("y_{out} = W[i,J] x[J]", "different"),
]
GIVEN = declare("W[I,J]", "x[J]")


@pytest.mark.parametrize("declared", [Declarations(), GIVEN], ids=["inferred", "declared"])
@pytest.mark.parametrize(("answer", "outcome"), CHAINS)
def test_a_chain_of_equal_members_is_its_last_one(answer: str, outcome: str, declared: Declarations) -> None:
    """`y[i] = a = b` says what `y[i] = b` says where a is b; where it is not, a person looks if one of them is right."""
    decision = decide(PRODUCT, answer, declarations=declared, hints=False)
    assert decision.outcome == outcome, decision


@pytest.mark.parametrize(("answer", "outcome"), AT_A_PLACE)
def test_a_left_side_may_say_at_which_place(answer: str, outcome: str) -> None:
    """`P(w_t) = softmax_w …` defines `P[w]` at this t, as statements and papers write; another place is another."""
    declared = declare("e[W,I]", "A[I,J]", "h[T,J]", context="t")
    decision = decide(NEXT_WORD, answer, declarations=declared, hints=False)
    assert decision.outcome == outcome, decision


@pytest.mark.parametrize("declared", [Declarations(), declare("s[N]")], ids=["inferred", "declared"])
@pytest.mark.parametrize(("answer", "outcome"), KRONECKER)
def test_delta_is_kroneckers_where_nothing_is_declared_too(answer: str, outcome: str, declared: Declarations) -> None:
    """`delta[i,j]` is one where i = j, by hand as in a question."""
    assert decide(JACOBIAN, answer, declarations=declared, hints=False).outcome == outcome


def test_a_tensor_named_delta_is_that_tensor() -> None:
    """Where the question declares or defines it, delta is no longer Kronecker's."""
    declared = declare("delta[I,J]", "x[J]")
    assert decide("y[i] = delta[i,J] x[J]", "y[i] = x[i]", declarations=declared, hints=False).outcome == "different"
    assert decide("y[i] = delta[i,J] x[J]", "y[i] = x[J] delta[i,J]", declarations=declared).equal


@pytest.mark.parametrize(("answer", "outcome"), BELOW)
def test_indices_below_a_name_are_a_grader_s(answer: str, outcome: str) -> None:
    """`y_i` for `y[i]` is another notation, which is not read: it is not wrong. Other names are other names."""
    decision = decide(PRODUCT, answer, declarations=GIVEN, hints=False)
    assert decision.outcome == outcome, decision

"""Open questions and axes that count from zero: properties of answers, and bounds that mean what they say."""

import pytest

from autograder.maths import tensor
from autograder.maths.tensor import declare
from autograder.parts.open_answer import OpenAnswer, judged

BLANK = declare("e[W,I]", "h->[T,J]", "h<-[T,J]", context="t", open=True)
F, B = "e[w,I] W_f[I,J] h->[t-1,J]", "e[w,I] W_b[I,J] h<-[t+1,J]"


def demands(answer):
    """What a blank language model must fulfil."""
    yield answer.fits()
    yield answer.own_parameters("T")
    yield answer.normalised()
    yield answer.nonnegative()
    yield answer.reads_only("h->[t-1,J]", otherwise="left")
    yield answer.reads_only("h<-[t+1,J]", otherwise="right")
    yield answer.depends_on("e")


OPEN = [
    (f"P[w] = softmax_w[{F} + {B}]", "properties"),
    (f"P[t,w] = softmax_w[{F} + {B}]", "properties"),
    (f"P(w_t) = softmax_{{w_t}}[{F} + {B}]".replace("[w,", "[w_t,"), "properties"),
    (f"P[w] = 2 softmax_w[{F}] - softmax_w[{B}]", "negative"),
    (f"P[w] = c softmax_w[{F}] + (1-c) softmax_w[{B}]", "sign"),
    (f"P[w] = sigma(c) softmax_w[{F}] + (1-sigma(c)) softmax_w[{B}]", "properties"),
    (f"s[w] = {F} + {B}\nP[w] = s[w] / sum_v s[v]", "negative"),
    (f"P[w] = softmax_w[{F} + {B} - B[w]]", "properties"),
    (f"P[w] = softmax_w[{F} + {B} + e[w,I] U[I,K] x[t-1,K]]", "own_state"),
    (f"P[w] = softmax_w[{F} + {B}] softmax_w[{F}]", "not_normalised"),
    ("P[w] = softmax_w[e[w,J] h->[t-1,J] + e[w,J] h<-[t+1,J]]", "axis"),
    ("P[w] = softmax_w[e[w,I] W[I,K] (h->[t-1,J]; h<-[t+1,J])]", "nameless"),
    ("c[K] = h->[t-1,J]; h<-[t+1,J]\nP[w] = softmax_w[e[w,I] W[I,K] c[K]]", "properties"),
    (f"P[w] = softmax_w[e[w,I] W_f[I,J] h->[1,J] + {B}]", "left"),
    (f"P[w] = softmax_w[e[w,I] W_f[I,J] h->[t-2,J] + {B}]", "left"),
    (f"P[w] = softmax_w[{F} + {F.replace('t-1', 't')} + {B}]", "left"),
    (f"P[w] = softmax_w[{F} + q[J] h<-[t+1,J]]", "right"),
    ("P[w] = softmax_w[U[w,J] h->[t-1,J] + V[w,J] h<-[t+1,J]]", "independent"),
    ("h->[t,J] = tanh(W[J,K] h->[t-1,K])\nP[w] = softmax_w[e[w,I] W_f[I,J] h->[t-1,J]]", "redefined"),
    (f"Q[w] = softmax_w[{F} + {B}]", "no_target"),
]


@pytest.mark.parametrize(("text", "code"), OPEN)
def test_the_first_demand_that_is_not_met(text, code):
    """Each property is met by the models that have it, and names what is missing."""
    assert judged(demands(OpenAnswer(text=text, target="P", declarations=BLANK))).code == code


def test_open_declarations_allow_parameters_of_one_s_own():
    """A preview of an open question does not call a new parameter undefined, but still knows the given shapes."""
    system = tensor.parse(f"P[w] = softmax_w[{F} + {B}]")
    assert not tensor.check(system, BLANK)
    assert [f.code for f in tensor.check(system, declare("e[W,I]", "h->[T,J]", "h<-[T,J]", context="t"))] != []
    faulty = tensor.parse("P[w] = softmax_w[e[w,I] W_f[I,J] h->[t-1]]")
    assert any(fault.fatal for fault in tensor.check(faulty, BLANK))


ZERO = declare("W[D,I]", "L[T,I]", "B[I]", zero="D", same={"DT": "D"})
KEY = "y[t] = sum_{Dt} W[Dt,I] L[2t+Dt,I]"
RANGES = [
    ("sum_{Dt=0}^{D-1} W[Dt,I] L[2t+Dt,I]", True),
    ("sum_{k=0}^{D-1} W[k,I] L[2t+k,I]", True),
    ("sum_{Dt=1}^{D} W[Dt-1,I] L[2t+Dt-1,I]", True),
    ("sum_{Dt} W[D-1-Dt,I] L[2t+D-1-Dt,I]", True),
    ("W[0,I] L[2t,I] + sum_{Dt=1}^{D-1} W[Dt,I] L[2t+Dt,I]", True),
    ("sum_{Dt=0}^{D-1} sum_{i=1}^{I} W[Dt,i] L[2t+Dt,i]", True),
    ("sum_{Dt=1}^{D} W[Dt,I] L[2t+Dt,I]", False),
    ("sum_{Dt=1}^{D-1} W[Dt,I] L[2t+Dt,I]", False),
    ("sum_{Dt=0}^{D} W[Dt,I] L[2t+Dt,I]", False),
    ("sum_{d=1}^{D} W[d,I] L[2t+d,I]", False),
    ("W[1,I] L[2t+1,I] + sum_{Dt=1}^{D-1} W[Dt,I] L[2t+Dt,I]", False),
]


@pytest.mark.parametrize(("body", "equal"), RANGES)
def test_ranges_of_an_axis_that_counts_from_zero(body, equal):
    """Numbers and bounds mean what they say; other axes keep their lenient bounds."""
    assert tensor.decide(KEY, f"y[t] = {body}", declarations=ZERO).equal is equal


@pytest.mark.parametrize(
    ("body", "equal"), [("sum_{k=0}^2 sum_j W[k,j] L[k,j]", True), ("sum_{k=0}^1 sum_j W[k,j] L[k,j]", False)]
)
def test_a_bound_without_braces_is_one_number(body, equal):
    """As in LaTeX: what follows the number belongs to the term."""
    declared = declare("W[D,I]", "L[D,I]", zero="D", sizes={"D": 3})
    assert tensor.decide("y = sum_k W[k,J] L[k,J]", f"y = {body}", declarations=declared).equal is equal


def test_a_word_at_two_indices_may_be_typed_below_it():
    """`w_{b,t}` is `w[b,t]`."""
    declared = declare("e[V,I]", sequences="w")
    reference = "L_0[b,t,i] = e[w[b,t],i]"
    assert tensor.decide(reference, "L_0[b,t,i] = e[w_{b,t},i]", declarations=declared).equal
    assert not tensor.decide(reference, "L_0[b,t,i] = e[w_{t,b},i]", declarations=declared).equal


def test_probabilities_have_logarithms():
    """A tensor that is declared positive may stand in a logarithm; without the declaration it has no real value."""
    reference, answer = "P[w] = A[a,w] A[w,b] / sum_v A[a,v] A[v,b]", "P[w] = softmax_w[ln(A[a,w]) + ln(A[w,b])]"
    positive = declare("A[V,V]", context="a b", positive="A")
    assert tensor.decide(reference, answer, declarations=positive).equal
    assert tensor.decide(reference, answer, declarations=declare("A[V,V]", context="a b")).code == "domain"
    wrong = "P[w] = softmax_w[ln(A[a,w]) + A[w,b]]"
    assert tensor.decide(reference, wrong, declarations=positive).outcome == "different"


SHIFTED = [
    ("h[t+1,J] = CELL(h[t,J], x[t+1,I])", True),
    ("h[t+2,J] = CELL(h[t+1,J], x[t+2,I])", True),
    ("h[t+1,J] = CELL(h[t,J], x[t,I])", False),
    ("h[t+1,J] = CELL(h[t-1,J], x[t+1,I])", False),
    ("h[t+1,J] = CELL(h[t+1,J], x[t+1,I])", False),
]


@pytest.mark.parametrize(("answer", "equal"), SHIFTED)
def test_a_recurrence_may_be_written_for_the_next_step(answer, equal):
    """With t + 1 on the left, everything on the right counts from there."""
    declared = declare("h[T,J]", "x[T,I]")
    assert tensor.decide("h[t,J] = CELL(h[t-1,J], x[t,I])", answer, declarations=declared, target="h").equal is equal

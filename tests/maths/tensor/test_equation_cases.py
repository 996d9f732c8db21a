"""The verdicts that must hold: the table of cases, the questions' tables, and pairs made to deceive."""

from __future__ import annotations

import json
import statistics
import time
from pathlib import Path

import pytest

from autograder.errors import AuthorError, Unreadable
from autograder.maths.tensor import Declarations, decide, declare
from tests.maths.tensor.tensor_tables import LAYER, NATURAL, QUESTIONS, Question

CASES = [
    json.loads(line) for line in (Path(__file__).parents[2] / "data/cases/equation.jsonl").read_text().splitlines()
]


def declarations(case: dict) -> Declarations:
    """The declarations of a row: products are lists that start with "mul"."""
    row = case.get("decl", {})
    sizes = {axis: size if isinstance(size, int) else tuple(size[1:]) for axis, size in row.get("sizes", {}).items()}
    return Declarations(
        shapes=declare(*row.get("tensors", ())).shapes,
        sizes=sizes,
        same=row.get("axis", {}),
        sequences=frozenset(row.get("seqs", ())),
        context=tuple(row.get("context", ())),
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['source']}: {case['note']}"[:60])
def test_table_of_cases(case: dict) -> None:
    """Every row of the table of cases has its verdict, and none is left undecided."""
    decision = decide(
        case["reference"], case["answer"], declarations=declarations(case), target=case["target"], hints=False
    )
    assert decision.outcome == ("equal" if case["verdict"] else "different"), decision


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.name)
def test_equivalents_are_accepted(question: Question) -> None:
    """Other spellings, orders, merged definitions and analytic identities are the same answer."""
    for answer in question.right:
        decision = decide(
            question.reference, answer, declarations=question.declarations, target=question.target, hints=False
        )
        assert decision.outcome == "equal", (answer, decision)


@pytest.mark.parametrize(("question", "answer"), NATURAL)
def test_natural_spellings_are_accepted(question: Question, answer: str) -> None:
    """Right answers as they are typed and pasted in practice."""
    decision = decide(
        question.reference, answer, declarations=question.declarations, target=question.target, hints=False
    )
    assert decision.outcome == "equal", decision


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.name)
def test_mistakes_are_refused(question: Question) -> None:
    """Every typical mistake is different, with a code and a sentence or a witness."""
    for answer, mistake in question.wrong:
        decision = decide(
            question.reference, answer, declarations=question.declarations, target=question.target, hints=False
        )
        assert decision.outcome == "different", (mistake, decision)
        assert decision.message or decision.witness


# Reference, answer, the outcomes that are right. `different undecided`: it must not be accepted.
DECEPTIVE = [
    ("y[i] = x[i]", "y[i] = x[i] + 0.0000000000000000001", "different"),
    ("y[i] = sigma(x[i])", "y[i] = sigma(x[i]) + (1/10^20)^3", "different undecided"),
    ("y[i] = sigma(x[i])", "y[i] = sigma(x[i]) + exp(-1000)", "different undecided"),
    ("y[i] = sigma(x[i])", "y[i] = 1 - sigma(-x[i]) + exp(-1000)", "different undecided"),
    ("y[i] = sigma(x[i])", "y[i] = 1 - sigma(-x[i]) + exp(-100)^3", "different undecided"),
    ("y[i] = sigma(x[i])", "y[i] = 1 - sigma(-x[i]) + (10^-19)^10", "different undecided"),
    ("y[i] = sigma(x[i])", "y[i] = (1 - sigma(-x[i])) tanh(1000)", "different undecided"),
    ("y[i] = x[i]", "y[i] = max(x[i], -100)", "different undecided"),
    ("y[i] = x[i]", "y[i] = max(x[i], -1000)", "different undecided"),
    ("y[i] = relu(x[i])", "y[i] = relu(x[i]) + relu(x[i]-100)", "different undecided"),
    ("y[i] = relu(x[i])", "y[i] = (x[i]+abs(x[i]))/2", "equal"),
    ("y[i] = abs(x[i])", "y[i] = sqrt(x[i]^2)", "equal"),
    ("y[i] = x[i]", "y[i] = sqrt(x[i]^2)", "different"),
    ("y[i] = x[i]", "y[i] = sqrt(x[i])^2", "different"),
    ("y[i] = x[i]", "y[i] = ln(exp(x[i]))", "equal"),
    ("y[i] = x[i]", "y[i] = exp(ln(x[i]))", "different"),
    ("y[i] = x[i]", "y[i] = x[i] x[i] / x[i]", "equal"),
    ("y[i] = tanh(x[i])", "y[i] = 2 sigma(2x[i]) - 1", "equal"),
    ("y[i] = tanh(x[i])", "y[i] = (exp(x[i])-exp(-x[i]))/(exp(x[i])+exp(-x[i]))", "equal"),
    ("y[i] = softplus(x[i])", "y[i] = ln(1+exp(x[i]))", "equal"),
    ("y[i] = cos(x[i])^2 + sin(x[i])^2", "y[i] = 1", "equal"),
    ("y[i] = 1/I sum_{i'} x[i']", "y[i] = sum_{i'} x[i'] / I", "equal"),
    ("y = sum_{t=1}^{T} x[t]", "y = sum_t x[t]", "equal"),
    ("y = sum_{t=0}^{T-1} x[t]", "y = sum_t x[t]", "equal"),
    ("y[t] = sum_{s=1}^{t} x[s]", "y[t] = sum_{s=1}^{T} x[s]", "different"),
    ("y[t] = sum_{s=1}^{t} x[s]", "y[t] = sum_{s=1}^{t-1} x[s]", "different"),
    ("y[t] = sum_{s=1}^{t} x[s]", "y[t] = x[t] + sum_{s=1}^{t-1} x[s]", "equal"),
    ("y[t] = sum_{s=1}^{t} x[s]", "y[t] = sum_{s=1}^{T} x[s] - sum_{s=t+1}^{T} x[s]", "equal"),
    ("y[i] = W[i,J] x[J]", "y[i] = x[J] W[i,J]", "equal"),
    ("y[i] = W[i,J] x[J]", "y[i] = W[J,i] x[J]", "different"),
    ("y[i] = W[i,J] (x[J] + z[J])", "y[i] = W[i,J] x[J] + W[i,J] z[J]", "equal"),
    ("y[i] = W[i,J] (x[J] + z[J])", "y[i] = W[i,J] x[J] + z[J]", "different"),
    ("y[i] = x[i]^2", "y[i] = x[i] x[i]", "equal"),
    ("y[i] = sum_{j,k} a[i,j] b[j] c[i,k] d[k]", "y[i] = (a[i,J] b[J]) (c[i,J] d[J])", "equal"),
    ("y[i] = sum_j a[i,j] b[j] c[j]", "y[i] = (a[i,J] b[J]) c[J]", "equal"),
    ("y[i] = sum_j a[i,j] b[j] c[j] d[j]", "y[i] = a[i,J] b[J] c[J] d[J]", "equal"),
    ("y[i] = sum_j a[i,j] b[j] c[j] d[j]", "y[i] = (a[i,J] b[J]) (c[J] d[J])", "different"),
    ("P[t] = softmax_t[q[U] k[t,U]]", r"P[t] = \frac{e^{q[U] k[t,U]}}{\sum_{s} e^{q[U] k[s,U]}}", "equal"),
    ("y[j] = sum_i sigma(W[j,i]) v[i]", "y[j] = sigma(W[j,I]) v[I]", "equal"),
    ("y[t] = q[t] (a[t] - b[t])", "y[t] = q[t] [a[t] - b[t]]", "equal"),
    ("z[t,J] = concat_k o[k,t,I]", r"z[t,J] = \left[ o[1,t,I]; \dots; o[K,t,I] \right]", "equal"),
    ("z[t,J] = concat_k o[k,t,I]", r"z[t,J] = \text{concat}_{k=1}^{K} o[k,t,I]", "equal"),
    ("y = x[I] x[I]", "y = sum_i x[i]^2", "equal"),
    ("y[i,j] = a[i] b[j]", "y[j,i] = a[j] b[i]", "equal"),
    ("y[i,j] = a[i] b[j]", "y[j,i] = a[i] b[j]", "different"),
    ("y[i,j] = A[i,j]", "y[i,j] = A[j,i]", "different"),
    ("P[w] = softmax_w s[w]", "P[w] = exp(s[w]) / sum_{w} exp(s[w])", "equal"),
    ("P[w] = softmax_w s[w]", "P[w] = exp(s[w]) / exp(s[W])", "different"),
    ("P[w] = softmax_w s[w]", "P[w] = 1 / sum_{v} exp(s[v]-s[w])", "equal"),
    ("P[w] = softmax_w s[w]", "P[w] = exp(s[w]) / sum_{v} exp(s[v]) + 0 * s[w]", "equal"),
    ("L = -sum_w Q[w] ln(softmax_w[s[w]])", "L = sum_w Q[w] (ln(sum_{v} exp(s[v])) - s[w])", "equal"),
    ("Loss = sum_{l=1}^{L} (y - yhat_l)^2", "Loss = sum_{m=1}^{L} (yhat_m - y)^2", "equal"),
    ("Loss = sum_{l=1}^{L} (y - yhat_l)^2", "Loss = (y - yhat_L)^2", "different"),
    ("h[t,j] = x[t-1,j]", "h[t+1,j] = x[t,j]", "equal"),
    ("h[t,j] = x[t-1,j]", "h[t+1,j] = x[t-1,j]", "different"),
    ("y[i] = softmax_i(x[i]) z[i]", "y[i] = softmax_i[x[i] z[i]]", "different"),
    ("y[i] = softmax_i[x[i] z[i]]", "y[i] = softmax_i (x[i]) z[i]", "undecided"),
    ("a[t,s] = softmax_s[q[t,U] k[s,U] / sqrt(U)]", "a[t,s] = softmax_s (q[t,U] k[s,U]) U^{-1/2}", "undecided"),
    ("a[t,s] = softmax_s[q[t,U] k[s,U] / sqrt(U)]", r"a[t,s] = softmax_s \frac{q[t,U] k[s,U]}{\sqrt{U}}", "equal"),
    ("a[t,s] = softmax_s[q[t,U] k[s,U] / sqrt(U)]", r"a[t,s] = softmax_s \frac{1}{\sqrt{U}} q[t,U] k[s,U]", "equal"),
    ("a[t,s] = softmax_s[q[t,U] k[s,U] / sqrt(U)]", "a[t,s] = softmax_s((1/sqrt(U)) q[t,U] k[s,U])", "equal"),
    ("a[t,s] = softmax_s[q[t,U] k[s,U] / sqrt(U)]", "a[t,s] = softmax_s (1/sqrt(U)) q[t,U] k[s,U]", "equal"),
    ("y[i] = x[i]", "y[i] = x[i] = z[i]", "undecided"),
    ("y[i] = x[i] + x[i]", "y[i] = x[i] + x[i] = 2 x[i]", "equal"),
    ("y[i] = 2 x[i]", "y[i] = 3 x[i] = 2 x[i]", "undecided"),
    ("y[i] = 1/(x[i]-x[i])", "y[i] = 1/(x[i]-x[i])", "undecided"),
    ("y[i] = z x[i]", "y[i] = (x[i]) z", "equal"),
    ("y[i] = x[i]/2", "y[i] = 0.5 x[i]", "equal"),
    ("y[i] = x[i]/3", "y[i] = 0.3333333333 x[i]", "different"),
    ("y[i] = sigma(x[i])/3", "y[i] = (1-sigma(-x[i])) 0.33333333333333333333", "different"),
    ("C[t,c] = a[t,I]; b[t,J]", "C[t,c] = a[t,I]; b[t,J]", "equal"),
    ("C[t,c] = a[t,I]; b[t,J]", "C[t,c] = b[t,J]; a[t,I]", "different"),
    (
        "C[t,c] = a[t,I]; b[t,J]\ny[t,k] = W[k,C'] C[t,C']",
        "C[t,c] = a[t,I]; b[t,J]\ny[t,k] = sum_c W[k,c] C[t,c]",
        "equal",
    ),
    ("y[j] = W[j,I] max(x[I], z[I])", "y[j] = sum_i W[j,i] max(z[i],x[i])", "equal"),
    ("y[j] = min(x[j], z[j])", "y[j] = -max(-x[j], -z[j])", "equal"),
    ("y[j] = min(x[j], z[j])", "y[j] = max(x[j], z[j])", "different"),
    ("y[J] = MLP(x[J], z[K])", "y[J] = MLP(x[J], z[K] + 0)", "equal"),
    ("y[J] = MLP(x[J], z[K])", "y[j] = MLP(x[J], z[K])", "equal"),
    ("y[J] = MLP(x[J], z[K])", "y[J] = MLP(x[J], 2 z[K])", "different"),
    ("y[J] = MLP_1(x[J])", "y[J] = MLP_2(x[J])", "different"),
    ("y[t,j] = x[t,j] + x[t+1,j]", "y[t,j] = sum_{Dt=0}^{1} x[t+Dt,j]", "equal"),
    ("y[t,j] = x[t,j] + x[t+1,j]", "y[t,j] = sum_{Dt=0}^{2} x[t+Dt,j]", "different"),
    ("y[i] = 1/K sum_k x[k,i]", "y[i] = x[K,i]/K", "different"),
    ("y = sum_i A[i,i]", "y = sum_j A[j,j]", "equal"),
    ("y = sum_i A[i,i]", "y = sum_{i,j} A[i,j]", "different"),
    ("P[i] = softmax_i[-b i]", "P[i] = exp(-b i)/sum_{i} exp(-b i)", "equal"),
    ("P[i] = softmax_i[-b i]", "P[i] = exp(-b (i-1))/sum_{i} exp(-b i)", "different"),
]


# A power between a function's name and its argument.
POWERS = [
    ("tanh(x[i])^2", r"tanh^2(x[i])", "equal"),
    ("tanh(x[i])^2", r"\\tanh^{2}(x[i])", "equal"),
    ("1 / cosh(x[i])^2", r"1 / cosh^2(x[i])", "equal"),
    ("1 - tanh(x[i])^2", r"sech^2(x[i])", "equal"),
    ("1 / tanh(x[i])", "coth(x[i])", "equal"),
    ("tanh(x[i])^2", "tanh^3(x[i])", "different"),
    ("1 / cosh(x[i])", "sech^2(x[i])", "different"),
    ("tanh(x[i])", "coth(x[i])", "different"),
    ("tanh(x[i])^2", "tanh(x[i]^2)", "different"),
]


@pytest.mark.parametrize(("reference", "answer", "outcome"), POWERS)
def test_a_power_before_the_argument(reference: str, answer: str, outcome: str) -> None:
    """It is that of the value, as it is printed."""
    decision = decide(f"y[i] = {reference}", f"y[i] = {answer}", hints=False)
    assert decision.outcome == outcome, decision


@pytest.mark.parametrize("answer", ["tanh^2 x[i]", "sech x[i]"])
def test_a_power_without_brackets_is_unreadable(answer: str) -> None:
    """How far the argument goes is not guessed."""
    with pytest.raises(Unreadable, match="brackets are missing"):
        decide("y[i] = tanh(x[i])^2", f"y[i] = {answer}", hints=False)


@pytest.mark.parametrize(("reference", "answer", "outcomes"), DECEPTIVE)
def test_deceptive_pairs(reference: str, answer: str, outcomes: str) -> None:
    """What looks equal to floats, to few points or to one branch is not accepted; identities are."""
    decision = decide(reference, answer, hints=False)
    assert decision.outcome in outcomes.split(), decision


CONTEXT, WORDS = declare(context="t"), declare(sequences="w")
DECEPTIVE_WITH_DECLARATIONS = [
    ("P[w] = softmax_w[e[w,I] h[t-1,I]]", "P[t,w] = softmax_w[e[w,I] h[t-1,I]]", "equal", CONTEXT),
    ("P[w] = softmax_w[e[w,I] h[t-1,I]]", "P[w,t] = softmax_w[e[w,I] h[t-1,I]]", "equal", CONTEXT),
    ("P[w] = softmax_w[e[w,I] h[t-1,I]]", "P[t,w] = softmax_w[e[w,I] h[t,I]]", "different", CONTEXT),
    (
        "P[w] = softmax_w[e[w,I] h[t-1,I]]",
        "P_\\Phi(w_t | w_0, ..., w_{t-1}) = softmax_{w_t} e(w_t)[I] h[t-1,I]",
        "equal",
        CONTEXT,
    ),
    ("P[w] = softmax_w[e[w,I] h[t-1,I]]", "P[s,w] = softmax_w[e[w,I] h[s-1,I]]", "different", CONTEXT),
    *(
        ("P[w] = softmax_w[e[w,I] h[t-1,I]]", answer, outcome, CONTEXT)
        for answer, outcome in [
            ("P(w_t) = softmax_w e[w,I] h[t-1,I]", "equal"),
            ("P(w_t | M) = exp(e[w,I] h[t-1,I]) / sum_v exp(e[v,I] h[t-1,I])", "equal"),
            ("s[v] = e[v,I] h[t-1,I]\nP(w_t) = softmax_w s[w]", "equal"),
            ("P(w_t = w) = softmax_w e[w,I] h[t-1,I]", "equal"),
            ("P(w_t = v | M) = softmax_v e[v,I] h[t-1,I]", "equal"),
            ("P(w_t) = softmax_w e[w,I] h[t,I]", "different"),
            ("P(w_t) = softmax_w e[w_t,I] h[t-1,I]", "different"),
            ("P(w_t) = softmax_v e[v,I] h[t-1,I]", "different"),
            ("P(w_t) = sum_w softmax_w e[w,I] h[t-1,I]", "different"),
            ("P(w_t = w) = softmax_v e[v,I] h[t-1,I]", "different"),
        ]
    ),
    ("y[t] = sum_{s=1}^{t} x[s]", "y[t] = y[t-1] + x[t]", "undecided", Declarations()),
    ("y[t] = x[t-1]", "x[t] = 0 * x[t-1]\ny[t] = x[t-1]", "different undecided", Declarations()),
    (
        "h_out[t,J] = Out[1,t,I]; ...; Out[K,t,I]",
        "h_out[t,J] = Out[1,t,I]; ...; Out[T,t,I]",
        "different",
        Declarations(),
    ),
    ("h_out[t,J] = Out[1,t,I]; ...; Out[K,t,I]", "h_out[t,J] = Out[1,t,I]; ...; Out[N,t,I]", "equal", Declarations()),
    ("y[k] = W[k,U] z[U] + sum_t x[t]", "y[k] = W[k,U] z[U] + sum_{t=1}^{U} x[t]", "different", Declarations()),
    ("y[k] = W[k,U] z[U] + sum_t x[t]", "y[k] = W[k,U] z[U] + sum_{t=1}^{T} x[t]", "equal", Declarations()),
    ("y[k] = W[k,U] z[U] + sum_t x[t]/T", "y[k] = W[k,U] z[U] + sum_{t=1}^{T} x[t]/U", "different", Declarations()),
    ("y[k,t] = sum_J W[k,J] x[t,J]", "y[k,t] = sum_{j=1}^{J} W[k,j] x[t,j]", "equal", Declarations()),
    ("y[k,t] = W[k,J] x[t,J]", "y[k,t] = \\sum_J W[k,J] x[t,J]", "equal", Declarations()),
    ("y[J] = CELL_Phi(x[J])", "y[J] = CELL(x[J])", "equal", Declarations()),
    ("a[t,s]= softmax_s[q[t,U] k[s,U]]", "a[t,s] = softmax_s sum_u q[t,u] k[s,u]", "equal", Declarations()),
    ("y[i] = x[i]/7", "y[i] = x[i]/I", "different", Declarations()),
    ("y[i] = x[i]/I", "y[i] = x[i]/3", "different", Declarations()),
    ("y[i] = x[i]/I", "y[i] = x[i]/2", "different", Declarations()),
    ("y[i,j,k,t,s,u,v] = x[i,j,k,t,s,u,v]", "y[i,j,k,t,s,u,v] = x[i,j,k,t,s,u,v]", "equal undecided", Declarations()),
    (
        "y[i] = A[i,J] B[J,K] C[K,L] D[L,M] E[M,N] x[N]",
        "y[i] = A[i,J] (B[J,K] (C[K,L] (D[L,M] (E[M,N] x[N]))))",
        "equal",
        Declarations(),
    ),
    ("y[i] = sigma(sigma(sigma(x[i])))", "y[i] = sigma(sigma(1-sigma(-x[i])))", "equal", Declarations()),
    ("y[i] = x[i]", "y[i] = ((x[i]^64)^64)^64", "different undecided", Declarations()),
    ("y[i] = x[i]", "y[i] = x[i]^(1/1000)", "different undecided", Declarations()),
    ("y[i] = sigma(x[i])", "y[i] = sigma(x[i] + 10^30 - 10^30)", "equal", Declarations()),
    ("y[i] = exp(x[i])^2", "y[i] = exp(2x[i])", "equal", Declarations()),
    ("y[i] = x[i]^2.5", "y[i] = x[i]^2 sqrt(x[i])", "equal", Declarations()),
    ("y[i] = 2^{x[i]}", "y[i] = exp(x[i] ln(2))", "equal", Declarations()),
    ("y[t] = x[w_t]", "y[t] = x[w[t]]", "equal", WORDS),
    ("y[t] = x[w_t]", "y[t] = x[w[t-1]]", "different", WORDS),
    ("y[t] = x[w_{t}, w_{t-1}]", "y[t] = x[w[t], w[t-1]]", "equal", WORDS),
]


@pytest.mark.parametrize(("reference", "answer", "outcomes", "declared"), DECEPTIVE_WITH_DECLARATIONS)
def test_deceptive_pairs_with_declarations(reference: str, answer: str, outcomes: str, declared: Declarations) -> None:
    """Context indices on the left, words, recurrences, sizes in bounds and in denominators, long chains."""
    decision = decide(reference, answer, declarations=declared, hints=False)
    assert decision.outcome in outcomes.split(), decision


GATE = "R[t,j] = tanh(W[j,I] h[t-1,I])\nh[t,j] = R[t,j] + h[t-1,j]"


def test_a_state_that_the_reference_defines_is_given_to_a_part_of_it() -> None:
    """An answer for R alone may read h[t-1], which the reference's recurrence defines; h[t] is another entry."""
    same = Declarations(same={"I": "J"})
    assert decide(GATE, "R[t,j] = tanh(h[t-1,I] W[j,I])", declarations=same, target="R").equal
    assert decide(GATE, "R[t,j] = tanh(h[t,I] W[j,I])", declarations=same, target="R").outcome == "different"


def test_lines_that_the_target_does_not_need() -> None:
    """A scratch line with a fault does not spoil a right answer, and a right scratch line does not save a wrong one."""
    reference = "y[i] = W[i,J] x[J]"
    assert decide(reference, "z[i] = W[j,J]\ny[i] = W[i,J] x[J]").equal
    assert decide(reference, "y[i] = W[i,J] x[J] ;; v[k] = v[k] = q").equal
    assert decide(reference, "z[i] = W[i,J] x[J]\ny[i] = W[J,i] x[J]").outcome == "different"
    assert decide(reference, "z[i] = W[j,J]\ny[i] = W[i,J] x[J] + 0 z[i]").outcome == "different"


def test_a_function_of_whole_axes_may_hold_a_definition() -> None:
    """The attention may be written inside CELL's argument."""
    reference = "V[K] = sum_{x,y} a[x,y] M[x,y,K]\nh[J] = CELL(s[J], V[K])"
    assert decide(reference, "h[J] = CELL(s[J], sum_{p,q} M[p,q,K] a[p,q])").equal
    assert decide(reference, "h[J] = CELL(s[J], a[X,Y] M[X,Y,K])").equal
    assert decide(reference, "h[J] = CELL(s[J], sum_{p,q} M[p,q,K] a[q,p])").outcome == "different"


def test_sizes_that_the_question_states() -> None:
    """A kernel of declared width may be summed with its bounds written out, from 0 or from 1."""
    fixed = Declarations(sizes={"DT": 3})
    reference = "y[t] = sum_{Dt} W[Dt] x[t+Dt]"
    for bounds in ("sum_{Dt=0}^{2}", "sum_{Dt=1}^{3}", "sum_{Dt}"):
        assert decide(reference, f"y[t] = {bounds} W[Dt] x[t+Dt]", declarations=fixed).equal
    assert decide(reference, "y[t] = sum_{Dt=0}^{1} W[Dt] x[t+Dt]", declarations=fixed).outcome == "different"


def test_speed_of_a_whole_layer() -> None:
    """Deciding an attention layer takes about ten milliseconds; the bound leaves room for a busy machine."""
    answers = [*LAYER.right, *(answer for answer, _ in LAYER.wrong)]
    seconds = []
    for answer in answers * 2:
        start = time.process_time()
        decide(LAYER.reference, answer, declarations=LAYER.declarations, target=LAYER.target, hints=False)
        seconds.append(time.process_time() - start)
    assert statistics.median(seconds) < 0.05
    assert sorted(seconds)[int(0.95 * len(seconds))] < 0.5


def test_an_author_s_slip_is_an_author_s_error() -> None:
    """A reference without a meaning, or without the target, is not the student's fault."""
    with pytest.raises(AuthorError, match="nothing to sum"):
        decide("y[i] = x[J]", "y[i] = x[i]")
    with pytest.raises(AuthorError, match="does not define"):
        decide("y[i] = x[i]", "y[i] = x[i]", target="z")
    with pytest.raises(AuthorError, match="cannot be read"):
        decide("y[i] = ", "y[i] = x[i]")


def test_an_unreadable_answer_is_not_a_wrong_one() -> None:
    """Text that cannot be read raises, with the column."""
    with pytest.raises(Unreadable) as caught:
        decide("y[i] = x[i]", "y[i] = x[i")
    assert caught.value.column == 10


NAMED_ENTRIES = [
    ("L[t] = ln(sum_{u} exp(S[t,u])) - S[t,v[t]]", "equal"),
    ("L[t] = -ln(exp(S[t,v[t]]) / sum_{u} exp(S[t,u]))", "equal"),
    ("L[t] = -S[t,v[t]]", "different"),
    ("L[t] = ln(sum_{u} exp(S[t,u])) - S[t,1]", "different"),
]


@pytest.mark.parametrize(("reference", "outcome"), NAMED_ENTRIES)
def test_an_entry_of_a_softmax_may_be_named_by_a_sequence(reference: str, outcome: str) -> None:
    """The sum is over the whole axis, whichever entry of a softmax an integer sequence reads."""
    declared = declare("S[T,V]", "v[T]", sequences="v")
    answer = "P[t,w] = softmax_w[S[t,w]]\nL[t] = -ln(P[t,v[t]])"
    assert decide(reference, answer, declarations=declared, target="L").outcome == outcome

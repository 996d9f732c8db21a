"""Equations as people write them: chains, what stands at a place, indices below, time steps, functions by name."""

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
    ("y_i = W_{iJ} x_J", "equal"),
    ("y[i] = W_{iJ} x[J]", "equal"),
    ("y[i] = W_{i,J} x_J", "equal"),
    (r"y_{i} = \sum_{j} W_{ij}\,x_{j}", "equal"),
    ("z_i = W_{iJ} x_J\ny_i = z_i", "equal"),
    ("z_{i,j} = W_{ij} x_j\ny[i] = sum_j z_{ij}", "equal"),
    ("y_i = W_i[J] x[J]", "equal"),
    ("z^i_j = W[i,j] x[j]\ny[i] = sum_j z^i_j", "equal"),
    ("y_i = W_{Ji} x_J", "different"),
    ("y_i = 2 W_{iJ} x_J", "different"),
    ("z_{i,j} = W_{ij} x_j\ny[i] = sum_j z_{ji}", "different"),
    (r"y_i = \sum_{kj} W_{ij} \delta_{jk} x_k", "equal"),
    ("z_j = x_j\ny_i = sum_j W_{ij} (z_j - 2 x_j + z_j + x_j)", "equal"),
    ("z_j = x_j\ny_i = sum_j W_{ij} (z_j - 2 x_j)", "different"),
    ("y_i = (IJ/I) sum_j W_{ij} x_j / J", "equal"),
    ("y_i = (IJ/I) sum_j W_{ij} x_j", "different"),
    ("y_i = W_{ij} x_j", "undecided"),
    ("y_i = W_{iJ} z_J", "different"),
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
def test_indices_below_a_name_are_its_indices(answer: str, outcome: str) -> None:
    """`y_i` is `y[i]` where y has one index; a sum that papers leave out there is a grader's. Labels stay labels."""
    decision = decide(PRODUCT, answer, declarations=GIVEN, hints=False)
    assert decision.outcome == outcome, decision


def test_a_label_that_is_no_index_stays_a_label() -> None:
    """The layer of `a_l[t,j]`, a declared `W_1` and a scalar `c_0` are names, whatever stands beside them."""
    declared = declare("L_l[T,J]", "W_l[J,J]", "W_1[J,J]", "c_0")
    reference = "Y[t,j] = c_0 L_l[t,j] + W_1[j,I] tanh(W_l[I,K] L_l[t,K])"
    answer = "a_l[t,j] = tanh(W_l[j,K] L_l[t,K])\nY[t,j] = W_1[j,I] a_l[t,I] + c_0 L_l[t,j]"
    assert decide(reference, answer, declarations=declared).equal


LAGGED = "r[t,j] = sigma(U[j,I] h[t-1,I] + x[t,j])\nh[t,j] = r[t,j] h[t-1,j] + x[t,j]"
SHIFTED = [
    ("r[t+1,j] = sigma(U[j,I] h[t,I] + x[t+1,j])\nh[t+1,j] = r[t+1,j] h[t,j] + x[t+1,j]", "equal"),
    ("r[t-1,j] = sigma(U[j,I] h[t-2,I] + x[t-1,j])\nh[t-1,j] = r[t-1,j] h[t-2,j] + x[t-1,j]", "equal"),
    ("r[t,j] = sigma(U[j,I] h[t-1,I] + x[t,j])\nh[t+1,j] = r[t+1,j] h[t,j] + x[t+1,j]", "equal"),
    ("r[t+1,j] = sigma(U[j,I] h[t,I] + x[t,j])\nh[t+1,j] = r[t+1,j] h[t,j] + x[t+1,j]", "different"),
    ("r[t+1,j] = sigma(U[j,I] h[t,I] + x[t+1,j])\nh[t+1,j] = r[t+1,j] h[t,j] + x[t,j]", "different"),
    ("r[t+1,j] = sigma(U[j,I] h[t+1,I] + x[t+1,j])\nh[t+1,j] = r[t+1,j] h[t,j] + x[t+1,j]", "different"),
    ("r[t+1,j] = sigma(U[j,I] h[t-1,I] + x[t+1,j])\nh[t+1,j] = r[t+1,j] h[t,j] + x[t+1,j]", "different"),
]


@pytest.mark.parametrize(("answer", "outcome"), SHIFTED)
def test_lines_may_define_the_next_step(answer: str, outcome: str) -> None:
    """Lines for t+1 in place of t say the same, each by itself or all of them; a line that is late does not."""
    declared = declare("h[T,J]", "x[T,J]", "U[J,J]")
    decision = decide(LAGGED, answer, declarations=declared, target="h", hints=False)
    assert decision.outcome == outcome, decision


LAYERS = "s_{l+1}[t,j] = tanh(W_{l+1}[j,I] L_l[t,I])\nL_{l+1}[t,j] = L_l[t,j] + s_{l+1}[t,j]"


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ("s_l[t,j] = tanh(W_l[j,I] L_{l-1}[t,I])\nL_l[t,j] = L_{l-1}[t,j] + s_l[t,j]", "equal"),
        ("s_{k+2}[t,j] = tanh(W_{k+2}[j,I] L_{k+1}[t,I])\nL_{k+2}[t,j] = L_{k+1}[t,j] + s_{k+2}[t,j]", "equal"),
        ("L_l[t,j] = L_{l-1}[t,j] + tanh(W_{l-1}[j,I] L_{l-1}[t,I])", "different"),
        ("L_l[t,j] = L_l[t,j] + tanh(W_l[j,I] L_{l-1}[t,I])", "different"),
        ("L_l[t,j] = L_{l-1}[t,j] + tanh(W_l[j,I] L_{l-2}[t,I])", "different"),
        ("M_l[t,j] = L_{l-1}[t,j] + tanh(W_l[j,I] L_{l-1}[t,I])", "different"),
    ],
)
def test_a_layer_may_be_counted_from_the_next_one(answer: str, outcome: str) -> None:
    """Equations of layer l say what those of layer l+1 do, if all of them are moved."""
    declared = declare("L_l[T,J]", "W_{l+1}[J,J]")
    decision = decide(LAYERS, answer, declarations=declared, target="L_{l+1}", hints=False)
    assert decision.outcome == outcome, decision


SURPRISAL = "P[t,w] = softmax_w[S[t,w]]\nL = -sum_t ln(P[t,v[t]])"
PICKED = [
    ("L = -sum_{t,w} 1[w=v[t]] ln(P[t,w])", "equal"),
    ("L = -sum_t sum_w delta[v_t,w] ln P[t,w]", "equal"),
    ("Y[t,w] = 1[w=v_t]\nL = -Y[T,V] ln(P[T,V])", "equal"),
    ("L = -sum_t ln P[t,v_t]", "equal"),
    (r"L = -\sum_t \ln P_{t,v_t}", "equal"),
    ("L = sum_t ln sum_w exp(S[t,w]) - sum_{t,w} 1[w=v_t] S[t,w]", "equal"),
    ("L = -sum_{t,w} (1 - 1[w!=v[t]]) ln(P[t,w])", "equal"),
    ("L = -sum_{t,w} 1[w=v[t-1]] ln(P[t,w])", "different"),
    ("L = -sum_{t,w} 1[w!=v[t]] ln(P[t,w])", "different"),
    ("L = -sum_{t,w} 1[w<=v[t]] ln(P[t,w])", "different"),
    ("L = -sum_{t,w} 1[w=v[t]] P[t,w]", "different"),
    ("L = -sum_{t,w} ln(P[t,w])", "different"),
    ("L = -sum_t ln P[t-1,v_t]", "different"),
    ("L = -ln(2) sum_t log2(P[t,v_t])", "equal"),
    ("L = -sum_t log2(P[t,v_t])", "different"),
    ("L = -sum_{t,w} 1[v[t]=3] ln(P[t,w])", "undecided"),
]


@pytest.mark.parametrize(("answer", "outcome"), PICKED)
def test_an_entry_is_picked_by_comparing_with_a_sequence(answer: str, outcome: str) -> None:
    """`sum_w 1[w=v[t]] f[w]` is `f[v[t]]`, and `ln P[t,w]` needs no brackets."""
    declared = declare("S[T,V]", "v[T]", sequences="v")
    answer = f"P[t,w] = softmax_w[S[t,w]]\n{answer}"
    decision = decide(SURPRISAL, answer, declarations=declared, target="L", hints=False)
    assert decision.outcome == outcome, decision


GRADIENT = "D[t,w] = softmax_w[S[t,w]] - 1[w=v[t]]"


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ("D[t,w] = softmax_w[S[t,w]] - delta[w,v_t]", "equal"),
        ("D[t,w] = 1[w!=v_t] - 1 + softmax_w[S[t,w]]", "equal"),
        ("D[t,w] = softmax_w[S[t,w]]", "different"),
        ("D[t,w] = softmax_w[S[t,w]] - 1", "different"),
        ("D[t,w] = softmax_w[S[t,w]] - 1[w=v[t+1]]", "different"),
        ("D[t,w] = softmax_w[S[t,w]] - 1[w=v[w]]", "different"),
        ("D[t,w] = softmax_w[S[t,w]] - 1[t=v[t]]", "undecided"),
        ("D[t,w] = 1[w=v[t]] - softmax_w[S[t,w]]", "different"),
    ],
)
def test_one_entry_of_a_row_may_be_another(answer: str, outcome: str) -> None:
    """The gradient of a cross-entropy: one is taken off at the word that came."""
    declared = declare("S[T,V]", "v[T]", sequences="v")
    decision = decide(GRADIENT, answer, declarations=declared, hints=False)
    assert decision.outcome == outcome, decision


FUNCTIONS = [
    ("z[t,j] = W[j,I] x[t,I]\ny[t,j] = SiLU(z[t,j])", "equal"),
    (r"z[t,j] = W[j,I] x[t,I]" "\n" r"y[t,j] = \text{swish}\left(z[t,j]\right)", "equal"),
    ("y[t,j] = tanh(W[j,I] x[t,I])", "different"),
    ("y[t,j] = foo(W[j,I] x[t,I])", "undecided"),
    ("z[t,j] = W[j,I] x[t,I]\ny[t,j] = GELU(z[t,j])", "undecided"),
    ("z[t,j] = W[j,I] x[t,I]\ny[t,j] = g(z[t,j])", "undecided"),
    ("z[t,j] = W[j,I] x[t,I]\ny[t,j] = act(z)[t,j]", "undecided"),
    ("y = foo(W x)", "undecided"),
    ("y = W x", "undecided"),
    ("y[t,j] = W x", "different"),
    ("y[t,j] = V[j,I] x[t,I]", "different"),
]


@pytest.mark.parametrize(("answer", "outcome"), FUNCTIONS)
def test_a_function_that_nobody_knows_is_a_grader_s(answer: str, outcome: str) -> None:
    """What a word such as foo does, only a person can say; so is a whole tensor without its indices."""
    reference = "z[t,j] = W[j,I] x[t,I]\ny[t,j] = z[t,j] sigma(z[t,j])"
    decision = decide(reference, answer, declarations=declare("W[J,J]", "x[T,J]"), target="y", hints=False)
    assert decision.outcome == outcome, decision
    assert decision.code != "function" or any(word in decision.message for word in ("foo", "GELU", "g is", "act"))


STEPS = "N[t,J] = NORM(A[t,J])\nF[t,J] = FF(N[t,J])\nY[t,j] = A[t,j] + F[t,j]"
NESTED = [
    ("Y[t,J] = A[t,J] + FF(NORM(A[t,J]))", "equal"),
    ("N[t,J] = NORM(A[t,J])\nY[t,J] = FF(N[t,J]) + A[t,J]", "equal"),
    ("Y[t,J] = A[t,J] + FF(NORM(2 A[t,J]))", "different"),
    ("Y[t,J] = A[t,J] + NORM(FF(A[t,J]))", "different"),
    ("Y[t,J] = A[t,J] + FF(A[t,J])", "different"),
    ("Y[t,J] = FF(NORM(A[t,J]))", "different"),
    ("Y[t,J] = A[t,J] + FF(NORM(A[T,J]))", "different"),
    ("Y[t,J] = A[t,J] + FF(LN(A[t,J]))", "undecided"),
    ("Y = A + FF(NORM(A))", "undecided"),
]


@pytest.mark.parametrize("declared", [Declarations(), declare("A[T,J]")], ids=["inferred", "declared"])
@pytest.mark.parametrize(("answer", "outcome"), NESTED)
def test_functions_may_stand_in_each_other(answer: str, outcome: str, declared: Declarations) -> None:
    """`FF(NORM(A[t,J]))` is FF of what NORM gives, as with a line for each."""
    decision = decide(STEPS, answer, declarations=declared, hints=False)
    assert decision.outcome == outcome, decision


ATTENTION = "a[t,s] = softmax_s[q[t,D] M[s,D]]\nV[t,i] = sum_s a[t,s] W[i,D] M[s,D]"
BOUND = [
    ("V[t,i] = sum_s softmax_s[q[t,D] M[s,D]] W[i,D] M[s,D]", "equal"),
    ("V[t,i] = sum_s W[i,D] M[s,D] softmax_s[q[t,D] M[s,D]]", "equal"),
    ("V[t,i] = sum_s softmax_s[q[t,D] M[s,D]] (W[i,D] M[s,D])", "equal"),
    ("V[t,i] = sum_s softmax_s[q[t,D] M[t,D]] W[i,D] M[s,D]", "different"),
    ("V[t,i] = sum_s softmax_s[q[t,D] M[s,D]] W[i,D] M[t,D]", "different"),
    ("V[t,i] = sum_s softmax_s[q[t,D]] W[i,D] M[s,D]", "different"),
    ("V[t,i] = sum_{s,d} softmax_s[q[t,d] M[s,d]] W[i,d] M[s,d]", "different"),
]


@pytest.mark.parametrize(("answer", "outcome"), BOUND)
def test_a_softmax_sums_what_is_paired_in_it(answer: str, outcome: str) -> None:
    """`softmax_s[… D …] … D`: a letter that is paired in the softmax and again behind it may be two sums."""
    declared = declare("q[T,D]", "M[S,D]", "W[I,D]")
    decision = decide(ATTENTION, answer, declarations=declared, target="V", hints=False)
    assert decision.outcome == outcome, decision

"""The blank language model: properties of open answers, and second routes to the others."""

import itertools
from pathlib import Path

import pytest
import torch

from autograder.authoring.loading import load
from autograder.core import Answer
from autograder.grading.judge import judge_part
from autograder.maths import tensor
from solutions.bidirectional import BlankLanguageModel, StackedBidirectionalRNN, leak

ROOT = Path(__file__).parents[2] / "problems"
PROBLEM, DEFINITION = load("blank_language_model", ROOT), load("blank_definition", ROOT)
F64 = torch.float64
BASE = {"m": 1, "states": "with own word", "head": "linear", "bias_sign": "subtracted"}
OTHER = {"m": 2, "states": "without own word", "head": "linear", "bias_sign": "subtracted"}


def judged(name, answer, p):
    """The standing of a typed answer, and its code."""
    problem = DEFINITION if name == "distribution" else PROBLEM
    outcome = judge_part(problem.part(name), p, lambda question: Answer(value=answer), (0,))
    return outcome.standing, outcome.verdicts[0].code


F, B = "e[w,I] U[I,J] h->[t-1,J]", "e[w,I] V[I,J] h<-[t+1,J]"
OPEN = [
    (f"P[w] = softmax_w[{F} + {B}]", "earned"),
    (f"P[w] = softmax_w {F} + {B}", "earned"),
    (f"P[t,w] = softmax_w[{F} + {B}]", "earned"),
    (f"s[t,w] = {F} + {B}\nP[t,w] = exp(s[t,w]) / sum_{{v}} exp(s[t,v])", "earned"),
    (r"P(w_t | w_1, \dots, w_{t-1}, w_{t+1}, \dots, w_T) = \underset{w_t}{\operatorname{softmax}} e[w_t, I] \vec{W}[I, "
     r"J] \vec{h}[t-1, J] + e[w_t, I] \tilde{W}[I, J] \overleftarrow{h}[t+1, J]", "earned"),
    ("P[w] = softmax_w[h->[t-1,J] A[J,K] e[w,K] + h<-[t+1,J] C[J,K] e[w,K]]", "earned"),
    ("P[w] = softmax_w[(U[I,J] h->[t-1,J] + V[I,J] h<-[t+1,J]) e[w,I] - B[w]]", "earned"),
    ("z[I] = MLP(h->[t-1,J], h<-[t+1,J])\nP[w] = softmax_w[e[w,I] z[I]]", "earned"),
    ("c[K] = h->[t-1,J]; h<-[t+1,J]\nz[I] = relu(W[I,K] c[K] - b[I])\nP[w] = softmax_w[e[w,I] z[I]]", "earned"),
    ("P[w] = softmax_w[e[w,I] U[I,J_1,J_2] h->[t-1,J_1] h<-[t+1,J_2]]", "earned"),
    (f"P[w] = softmax_w[{F}] softmax_w[{B}] / sum_v softmax_v[{F}] softmax_v[{B}]".replace("v[e[w", "v[e[v"), "earned"),
    (f"P[w] = 3/4 softmax_w[{F}] + 1/4 softmax_w[{B}]", "earned"),
    (f"a[w] = {F}\nb[w] = {B}\nP[w] = (a[w] - b[w])^2 / sum_v (a[v] - b[v])^2", "earned"),
    (f"P[w] = c softmax_w[{F}] + (1 - c) softmax_w[{B}]", "held"),
    ("P[w] = softmax_w[e[w,I] W[I,K] [h->[t-1,J]; h<-[t+1,J]]]", "held"),
    ("P[w] = softmax_w[e[w,I] MLP(h->[t-1,J], h<-[t+1,J])]", "held"),
    ("P[w] = softmax_w[e[w,I] W[I,J] h->[t-1,J] + ", "held"),
    (f"s[w] = {F} + {B}\nP[w] = \\exp s[w] / sum_v \\exp s[v]", "held"),
    (f"P[w] = 3/4 softmax_w[{F}] + 3/4 softmax_w[{B}]", "lost"),
    (f"P[w] = 2 softmax_w[{F}] - softmax_w[{B}]", "lost"),
    (f"P[w] = softmax_w[{F} + {B.replace('t+1', 't')}]", "lost"),
    (f"P[w] = softmax_w[{F.replace('t-1', 't')} + {B}]", "lost"),
    (f"P[w] = softmax_w[{F.replace('t-1', '1')} + {B}]", "lost"),
    (f"P[w] = softmax_w[{F} + {B.replace('t+1', 'T')}]", "lost"),
    (f"P[w] = softmax_w[{F} + {B} + {F.replace('t-1', 't-2')}]", "lost"),
    (f"P[w] = softmax_w[{F} + V[I,J] h<-[t+1,J] c[I]]", "lost"),
    (f"P[w] = softmax_w[{F} + 0 * {B}]", "lost"),
    (f"P[w] = softmax_w[{F} + {B} - {B}]", "lost"),
    (f"P[w] = softmax_w[{F} + {B} + e[w,I] e[w_t,I]]", "lost"),
    ("P[w] = 1/W", "lost"),
    ("P[w] = e[w,I]", "lost"),
    (f"Q[w] = softmax_w[{F} + {B}]", "lost"),
    ("P[w] = softmax_w[W[w,J] h->[t-1,J] + V[w,J] h<-[t+1,J] + e[1,I] c[I]]", "lost"),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "standing"), OPEN)
def test_definitions_that_nobody_listed(answer, standing):
    """A valid model earns, whatever it is; one that leaks, forgets or does not sum to one loses."""
    assert judged("distribution", answer, BASE)[0] == standing


STATES = list(itertools.product((1, 2, 3), ("with own word", "without own word")))


@pytest.mark.parametrize(("m", "states"), STATES)
def test_exactly_one_pair_of_states_is_right(m, states):
    """Of all pairs of neighbouring states, the one is accepted that has read all visible words and no other."""
    p = {**BASE, "m": m, "states": states}
    own = states == "with own word"
    for i, j in itertools.product(range(-2, 3), range(-1, 5)):
        left, right = (f"t{n:+d}" if n else "t" for n in (i, j))
        answer = f"P[w] = softmax_w[e[w,I] U[I,J] h->[{left},J] + e[w,I] V[I,J] h<-[{right},J]]"
        reads_left = i if own else i - 1  # the last word that the forward state has read, counted from t
        reads_right = j if own else j + 1
        right_pair = reads_left == -1 and reads_right == m
        assert judged("distribution", answer, p)[0] == ("earned" if right_pair else "lost"), answer


MARKOV = [
    ("P[w] = A[a,w] A[w,b] / sum_v A[a,v] A[v,b]", BASE, "earned"),
    ("P[w] = A[a,w] A[w,b] / (A[a,V] A[V,b])", BASE, "earned"),
    ("P[v] = A[a,v] A[v,b] / (sum_w A[a,w] A[w,b])", BASE, "earned"),
    ("P[a,w,b] = A[a,w] A[w,b] / sum_v A[a,v] A[v,b]", BASE, "earned"),
    ("P[w] = softmax_w[ln(A[a,w] A[w,b])]", BASE, "earned"),
    ("C[v,u] = A[v,W] A[W,u]\nP[w] = A[a,w] A[w,b] / C[a,b]", BASE, "earned"),
    ("C[v,u] = A[v,W] A[W,u]\nD[v,u] = A[v,W] C[W,u]\nP[w] = A[a,w] C[w,b] / D[a,b]", OTHER, "earned"),
    ("P[w] = A[a,w] A[w,U] A[U,b] / sum_v A[a,v] A[v,U] A[U,b]", OTHER, "earned"),
    ("P[w] = A[a,w] A[w,U] A[U,b] / (A[a,V] A[V,U] A[U,b])", OTHER, "earned"),
    ("P[w] = A[a,w] A^2[w,b] / A^3[a,b]", OTHER, "held"),
    ("P[w] = softmax_w[ln A[a,w] + ln A[w,b]]", BASE, "earned"),
    ("P[w] = A[a,w] A[w,b] / sum_v A[a,v] A[v,b]", OTHER, "lost"),
    ("P[w] = A[a,w] A[w,b] / sum_w A[a,w]", BASE, "lost"),
    ("P[w] = A[a,w] A[w,b]", BASE, "lost"),
    ("P[w] = A[w,a] A[b,w] / sum_v A[v,a] A[b,v]", BASE, "lost"),
    ("P[w] = softmax_w[A[a,w] A[w,b]]", BASE, "lost"),
]


@pytest.mark.parametrize(("answer", "p", "standing"), MARKOV)
def test_chains_that_nobody_listed(answer, p, standing):
    """Matrix powers, renamed indices and logarithms are right; what is not normalised is not."""
    assert judged("markov", answer, p)[0] == standing


@pytest.mark.parametrize("m", [1, 2, 3])
def test_the_code_s_chain_is_the_equation_s(m):
    """Away from the ends, the distributions of the code are the equation's, computed by its own evaluator."""
    torch.manual_seed(2)
    V, p = 4, {**BASE, "m": m}
    A, pi = torch.softmax(torch.randn(V, V, dtype=F64), 1), torch.softmax(torch.randn(V, dtype=F64), 0)
    w = torch.tensor([1, 3, 0, 2, 2, 1, 3])
    P = PROBLEM.part("exact_blanks").reference(A, pi, w, p=p)
    table = tensor.evaluate(
        tensor.parse(PROBLEM.part("markov").right(p)), {"A": A.numpy()}, "P",
        declarations=tensor.declare("A[V,V]", context="a b"), sizes={"A": V, "B": V},
    )  # fmt: skip
    for n in range(1, len(w) - m):
        torch.testing.assert_close(P[n], torch.from_numpy(table)[:, w[n - 1], w[n + m]], rtol=1e-12, atol=0)


def test_both_sides_tell_more_than_one():
    """In the mean over the chain's sentences, the blank is less uncertain given both neighbours than given one."""
    torch.manual_seed(4)
    V = 3
    A, pi = torch.softmax(torch.randn(V, V, dtype=F64), 1), torch.softmax(torch.randn(V, dtype=F64), 0)
    entropy = lambda P: -(P * P.log()).sum()  # noqa: E731
    both = left = 0.0
    for w in itertools.product(range(V), repeat=3):
        chance = pi[w[0]] * A[w[0], w[1]] * A[w[1], w[2]]
        both += chance * entropy(PROBLEM.part("exact_blanks").reference(A, pi, torch.tensor(w), p=BASE)[1])
        left += chance * entropy(A[w[0]])
    assert both < left


def test_the_distribution_is_the_course_s_model():
    """From the contexts of the model in solutions/, the linear head gives its distribution at every place."""
    torch.manual_seed(6)
    model = BlankLanguageModel(V=11, I=3, J=5).double()
    w = torch.randint(11, (2, 7))
    left, right = model.contexts(model.words(w))
    wanted = torch.softmax(model(w), -1)
    for t in range(7):
        given = PROBLEM.part("probabilities").reference(
            left[:, t], right[:, t], model.words.e, model.W_f, model.W_b, p=BASE
        )
        torch.testing.assert_close(given, wanted[:, t], rtol=1e-12, atol=1e-15)


def test_a_stacked_bidirectional_network_leaks():
    """What the right option of `stacking` says: free of the word with one layer, not with two."""
    torch.manual_seed(7)
    x = torch.randn(1, 6, 3, dtype=F64)
    for N, leaks in ((1, False), (2, True)):
        network = StackedBidirectionalRNN(3, 4, N).double()
        assert bool(leak(network.contexts, x, 2)[2] > 0) is leaks


def test_the_renormalised_product_is_the_same_model():
    """What the right option of `same_model` says, and that no other option is that model."""
    torch.manual_seed(8)
    left, right, e = torch.randn(2, 5, dtype=F64), torch.randn(2, 5, dtype=F64), torch.randn(7, 3, dtype=F64)
    W_f, W_b = torch.randn(3, 5, dtype=F64), torch.randn(3, 5, dtype=F64)
    P = PROBLEM.part("probabilities").reference(left, right, e, W_f, W_b, p=BASE)
    P_f, P_b = torch.softmax(left @ W_f.T @ e.T, -1), torch.softmax(right @ W_b.T @ e.T, -1)
    product = P_f * P_b
    torch.testing.assert_close(product / product.sum(-1, keepdim=True), P, rtol=1e-12, atol=0)
    tanh = torch.softmax(torch.tanh(left @ W_f.T + right @ W_b.T) @ e.T, -1)
    for wrong in (product, (P_f + P_b) / 2, tanh, torch.softmax(P_f + P_b, -1)):
        assert not torch.allclose(wrong, P, rtol=1e-3)

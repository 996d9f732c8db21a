"""Translation with attention: equations and the derivative by other routes, the cost as counted, other answers."""

import itertools

import pytest
import torch

from autograder.authoring.loading import load
from autograder.core import Answer
from autograder.grading.judge import judge_part
from autograder.maths import tensor
from solutions.attention import MultiHeadAttention

PROBLEM = load("cross_attention")
F64 = torch.float64
BASE = {"query": "state", "matrix": True, "reads": "state", "scaled": True, "keys": "once", "unit": "multiplications"}
SLIDES = {**BASE, "query": "word", "matrix": False, "reads": "both", "scaled": False, "unit": "operations"}
S, I, J = 4, 3, 5  # noqa: E741 - the axes of the statement


def reference(name, p, *arguments):
    """What the reference of a part returns."""
    return PROBLEM.part(name).reference(*arguments, p=p)


@pytest.mark.parametrize("scaled", [True, False])
def test_the_typed_heads_are_the_model_s(scaled):
    """What the heads of `MultiHeadAttention` see in a memory of another length and width, scaled or not."""
    torch.manual_seed(32)
    T, M, K, U, W = 3, 7, 2, 4, 6
    model = MultiHeadAttention(J, K, U=U, I=W, M=M, scaled=scaled).double().requires_grad_(requires_grad=False)
    x, memory = torch.randn(2, T, J, dtype=F64), torch.randn(2, S, M, dtype=F64)
    p = {**BASE, "scaled": scaled}
    arrays = {"X": x[0], "M": memory[0], "W^Q": model.W_Q, "W^K": model.W_K, "W^V": model.W_V}
    arrays = {name: value.numpy() for name, value in arrays.items()}
    heads = tensor.evaluate(tensor.parse(PROBLEM.part("heads_equations").right(p)), arrays, "Out")
    model.W_O = None
    wanted = model(x[:1], memory[:1])[0].unflatten(-1, (K, W)).transpose(0, 1)
    torch.testing.assert_close(torch.from_numpy(heads), wanted, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(("query", "matrix"), list(itertools.product(("state", "word"), (True, False))))
def test_the_equations_are_the_code_s(query, matrix):
    """One step of the equations, computed by their own evaluator; without a matrix the code gets the identity."""
    torch.manual_seed(33)
    p, width = {**BASE, "query": query, "matrix": matrix}, J if query == "state" or not matrix else I
    asker, M = torch.randn(width, dtype=F64), torch.randn(S, J, dtype=F64)
    W_key = torch.randn(width, J, dtype=F64) if matrix else torch.eye(J, dtype=F64)
    lines = PROBLEM.part("look_equations").right(p).replace("[t,", "[").replace("h[t-1,", "q[").replace("e[w_t,", "q[")
    arrays = {"q": asker.numpy(), "M": M.numpy(), "W^key": W_key.numpy()}
    found = torch.from_numpy(tensor.evaluate(tensor.parse(lines), arrays, "V"))
    _, wanted = reference("look", p, asker[None], asker[None], M[None], W_key, torch.tensor([S]))
    torch.testing.assert_close(found, wanted[0], rtol=1e-12, atol=1e-14)


def test_the_derivative_is_autograd_s():
    """dV[j]/dM[s,i], through the value and through the key."""
    torch.manual_seed(34)
    q, M = torch.randn(J, dtype=F64), torch.randn(S, J, dtype=F64)
    wanted = torch.autograd.functional.jacobian(lambda M: torch.softmax(M @ q, 0) @ M, M).transpose(0, 1)
    alpha = torch.softmax(M @ q, 0)
    arrays = {"q": q.numpy(), "M": M.numpy(), "alpha": alpha.numpy(), "V": (alpha @ M).numpy()}
    found = tensor.evaluate(tensor.parse(PROBLEM.part("memory_derivative").right(BASE)), arrays)
    torch.testing.assert_close(torch.from_numpy(found), wanted, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("keys", ["once", "every time"])
def test_the_cost_is_what_torch_counts(keys):
    """The products of the code on the meta device, counted by torch; word by word where nothing is kept."""
    from torch.utils.flop_counter import FlopCounterMode

    T, S, width, K = 3, 5, 8, 2
    given = [torch.zeros(K, width // K, width, device="meta") for _ in range(3)]
    given.append(torch.zeros(width, width, device="meta"))
    x, memory = torch.zeros(1, T, width, device="meta"), torch.zeros(1, S, width, device="meta")
    with FlopCounterMode(display=False) as counter:
        for part in [x] if keys == "once" else x.split(1, 1):
            reference("cross_attention", BASE, part, memory, *given)
    right = PROBLEM.part("cost").right({**BASE, "keys": keys, "unit": "operations"})
    assert counter.get_total_flops() == eval(right.replace("^", "**"), {"T": T, "S": S, "J": width})


UNLISTED = [
    ("look_equations", BASE, "earned", r"\alpha[t, s] &= \underset{s}{\text{softmax}} \ h[t-1, J_1] W^{\text{key}}"
     r"[J_1, J_2] M[s, J_2] \\ V[t,J] &= \sum_{s} \alpha[t,s] M[s, J]"),
    ("look_equations", BASE, "lost", "alpha[t,s] = softmax_s[h[t-1,I] W^key[J,I] M[s,J]]\nV[t,j] = alpha[t,S] M[S,j]"),
    ("look_equations", SLIDES, "earned", "alpha[t,s] = softmax_{s} e[w_t,N] M[s,N]\nV[t,n] = alpha[t,S] M[S,n]"),
    ("look_equations", SLIDES, "lost", "alpha[t,s] = softmax_{s} e[w_{t+1},N] M[s,N]\nV[t,n] = alpha[t,S] M[S,n]"),
    ("next_word", BASE, "earned", "P[t,w] = softmax_w[h[t,J] W^auto[I,J] e[w,I]]"),
    ("next_word", BASE, "lost", "P[t,w] = softmax_w[h[t,I] W^auto[I,J] e[w,J]]"),
    ("memory_derivative", BASE, "lost", "G[s,j,i] = alpha[s] delta[i,j] + alpha[s] (M[s,j] - M[s,j] alpha[s]) q[i]"),
    ("heads_equations", SLIDES, "earned", "A[k,j,d] = W^Q[k,U,j] W^K[k,U,d]\n"
     "Out[k,t,i] = sum_s softmax_s[X[t,J] A[k,J,D] M[s,D]] W^V[k,i,E] M[s,E]"),
    ("cost", BASE, "earned", "2 T J (J + S) + 2 S J^2"),
    ("cost", BASE, "lost", "2 T J (J + S) + S J^2"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "p", "standing", "answer"), UNLISTED)
def test_answers_that_nobody_listed(name, p, standing, answer):
    """What is printed, pasted or renamed is right; each slip of an index, an axis or a step is not."""
    assert judge_part(PROBLEM.part(name), p, lambda question: Answer(value=answer), (0,)).standing == standing

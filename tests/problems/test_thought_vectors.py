"""Thought vectors: equations against the code and torch, the paths by their gradients, and unlisted answers."""

import pytest
import torch

from autograder.authoring.loading import load
from autograder.core import Answer
from autograder.grading.judge import judge_part
from autograder.maths import tensor

PROBLEM = load("thought_vectors")
F64 = torch.float64
BACK = {"reads": "right to left", "loss": "sum", "asked": "words"}
FORTH = {"reads": "left to right", "loss": "mean", "asked": "entries"}


def right(name, p):
    """The typed reference of a part."""
    return PROBLEM.part(name).right(p)


@pytest.mark.parametrize("p", [BACK, FORTH], ids=["sum", "mean"])
def test_the_typed_loss_is_torch_s(p):
    """Cross-entropy, summed or averaged, for words that are counted from zero, as arrays are."""
    torch.manual_seed(51)
    S, v = torch.randn(4, 7, dtype=F64), torch.tensor([3, 0, 6, 3])
    declared = tensor.declare("S[T,V]", "v[T]", sequences="v")
    arrays = {"S": S.numpy(), "v": v.numpy()}
    found = tensor.evaluate(tensor.parse(right("loss_equation", p)), arrays, "Loss", declarations=declared)
    wanted = torch.nn.functional.cross_entropy(S, v, reduction=p["loss"])
    torch.testing.assert_close(torch.tensor(float(found), dtype=F64), wanted, rtol=1e-12, atol=0)


@pytest.mark.parametrize("p", [BACK, FORTH], ids=["back", "forth"])
def test_the_path_is_the_power_of_the_slope(p):
    """In networks of one entry with weights of a small size q, an effect over n steps has the order q to the n."""
    S, T = 4, 3
    thought, loss = (PROBLEM.part(name).reference for name in ("thought", "translation_loss"))
    for s in range(1, S + 1):
        for t in range(1, T + 1):
            size = []
            for q in (1e-2, 5e-3):
                x = torch.full((1, S, 1), 0.3, dtype=F64, requires_grad=True)
                W, zero, one = (torch.full((1, 1), number, dtype=F64) for number in (q, 0.0, 1.0))
                c = thought(x, W, W, zero[0], torch.tensor([S]), p={"reads": p["reads"]})
                e = torch.tensor([[1.0], [-1.0]], dtype=F64)
                given = (c, torch.zeros(1, t, dtype=torch.int64), one[0], e)
                whole = loss(*given, torch.tensor([t]), one, W, zero, zero[0], p={"loss": "sum"})
                start = loss(given[0], given[1][:, : t - 1], *given[2:], torch.tensor([t - 1]), one, W, zero, zero[0],
                             p={"loss": "sum"}) if t > 1 else 0.0  # fmt: skip
                size.append(torch.autograd.grad((whole - start).sum(), x)[0][0, s - 1, 0].abs())
            steps = round(float((size[0] / size[1]).log2()))
            assert steps == eval(right("path", p), {"s": s, "t": t, "S": S}), (s, t)


UNLISTED = [
    ("encoder_equation", BACK, "earned", "g[s-1,j] = tanh(W^x[j,I] e[w_{s-1},I] + W^h[j,K] g[s,K] - B[j])"),
    ("encoder_equation", FORTH, "lost", "g[s-1,j] = tanh(W^x[j,I] e[w_{s-1},I] + W^h[j,K] g[s,K] - B[j])"),
    ("loss_equation", BACK, "earned", "Loss = sum_t ln(sum_w exp(S[t,w] - S[t,v[t]]))"),
    ("loss_equation", BACK, "lost", "Loss = ln(sum_{t,w} exp(S[t,w] - S[t,v[t]]))"),
    ("loss_equation", FORTH, "earned", "p[t] = exp(S[t,v_t]) / sum_w exp(S[t,w])\nLoss = -1/T sum_t ln(p[t])"),
    ("path", BACK, "earned", "s + t + S - S"),
    ("path", FORTH, "earned", "(S + 1) + (t - s)"),
    ("path", FORTH, "lost", "S + t - s"),
    ("capacity", BACK, "earned", "log_V(2^(b J))"),
    ("capacity", BACK, "lost", "b J/log10(V)"),
    ("capacity", FORTH, "earned", "n ln(V)/(b ln 2)"),
]


@pytest.mark.parametrize(("name", "p", "standing", "answer"), UNLISTED)
def test_answers_that_nobody_listed(name, p, standing, answer):
    """What is written differently is right; each slip of a position, a sum or a base is not."""
    assert judge_part(PROBLEM.part(name), p, lambda question: Answer(value=answer), (0,)).standing == standing

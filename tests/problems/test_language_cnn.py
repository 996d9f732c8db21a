"""Language CNNs: the second routes to each answer, and answers that nobody listed."""

import itertools
from pathlib import Path

import pytest
import torch

from autograder.authoring.loading import load
from autograder.authoring.variants import variant
from autograder.core import Answer
from autograder.grading.judge import judge_part
from autograder.maths import tensor
from solutions.language_cnn import LanguageCNN, stride_two_layer

ROOT = Path(__file__).parents[2] / "problems"
PROBLEM = load("language_cnn", ROOT)
F64 = torch.float64
BASE = {"order": "batch first", "position": False, "padding": False, "stride": 2, "gap": 1, "look": "ahead",
        "filters": "full", "activation": "relu", "rnn": "one way", "D": 4, "L": 3, "T": 301}  # fmt: skip
GEOMETRIES = [
    {**BASE, "stride": s, "gap": g, "look": look, "filters": f, "activation": a}
    for (s, g, look), (f, a) in zip(
        itertools.product((2, 3), (1, 2), ("ahead", "back")),
        itertools.cycle([("full", "relu"), ("depthwise", "tanh"), ("full", "sigma")]),
        strict=False,
    )
]


def judged(name, answer, p):
    """The standing of a typed answer or a number, and its code."""
    outcome = judge_part(PROBLEM.part(name), p, lambda question: Answer(value=answer), (0,))
    return outcome.standing, outcome.verdicts[0].code


def layer(p, T=17):
    """Random arguments of a layer."""
    torch.manual_seed(5)
    W = torch.randn(3, 5, 7, dtype=F64) if p["filters"] == "full" else torch.randn(3, 5, dtype=F64)
    return torch.randn(2, T, 5, dtype=F64), W, torch.randn(W.shape[-1], dtype=F64)


def test_stride_two_is_the_course_s_model():
    """Without gaps and padding, the layer is that of solutions/."""
    L, W, B = layer(BASE)
    conv = PROBLEM.part("conv").reference
    torch.testing.assert_close(conv(L, W, B, p=BASE), stride_two_layer(L, W, B), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("p", GEOMETRIES)
def test_the_code_is_what_the_equation_says(p):
    """The reference's equation, computed by its own evaluator, gives the code's values away from the start."""
    L, W, B = layer(p)
    text = PROBLEM.part("layer").right(p).replace("[b,t,i]", "[b,u,i]").replace(f"{p['stride']}t", f"{p['stride']}u")
    if p["filters"] == "full":  # two widths and two lengths need letters of their own
        text = text.replace("[b,u,i]", "[b,u,o]").replace("i',i]", "i',o]").replace("B_{l+1}[i]", "B_{l+1}[o]")
    wanted = PROBLEM.part("conv").reference(L, W, B, p=p)
    tensors = {"L_l": L.numpy(), "W_{l+1}": W.numpy(), "B_{l+1}": B.numpy()}
    declared = tensor.declare(zero="D", same={"DT": "D"})
    value = tensor.evaluate(tensor.parse(text), tensors, declarations=declared, sizes={"U": wanted.shape[1]})
    torch.testing.assert_close(torch.from_numpy(value), wanted, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("p", GEOMETRIES)
def test_the_length_is_that_of_the_code(p):
    """Layer upon layer, the code's output has as many positions as the number says."""
    conv, full = PROBLEM.part("conv").reference, p["filters"] == "full"
    L = torch.zeros(1, p["T"], 2, dtype=F64)
    W, B = torch.zeros(p["D"], 2, 2, dtype=F64) if full else torch.zeros(p["D"], 2, dtype=F64), torch.zeros(2)
    for _ in range(p["L"]):
        L = conv(L, W, B.to(F64), p=p)
    assert L.shape[1] == PROBLEM.part("length").reference(p)


def test_every_drawn_sentence_is_long_enough():
    """No variant asks how long the result of a layer is that does not fit into the sentence."""
    lengths = [PROBLEM.part("length").reference(variant(PROBLEM, seed).parameters) for seed in range(300)]
    assert min(lengths) >= 5


@pytest.mark.parametrize("p", GEOMETRIES)
@pytest.mark.parametrize("D", [1, 2, 3])
def test_the_receptive_field_is_that_of_autograd(p, D):
    """The words to which a gradient of an output in the middle flows span as many positions as the formula says."""
    from autograder.maths import expression

    L_layers, words = 2, 90
    x = torch.rand(1, words, 1, dtype=F64).requires_grad_()
    L = x
    for _ in range(L_layers):
        W = torch.rand(D, 1, 1, dtype=F64) if p["filters"] == "full" else torch.rand(D, 1, dtype=F64)
        L = PROBLEM.part("conv").reference(L, W, torch.full((1,), -0.1, dtype=F64), p=p)
    (gradient,) = torch.autograd.grad(L[0, L.shape[1] // 2, 0], x)
    seen = gradient[0, :, 0].nonzero().flatten()
    span = int(seen[-1] - seen[0] + 1)
    formula = PROBLEM.part("receptive_field").right(p).replace("D", str(D)).replace("L", str(L_layers))
    assert expression.decide(formula, str(span), domains={}).equal


@pytest.mark.parametrize("filters", ["full", "depthwise"])
def test_the_parameters_are_those_of_modules(filters):
    """Counted on modules: a table and torch's convolutions, and the course's own network."""
    V, I, L, D = 11, 5, 3, 4  # noqa: E741
    groups = I if filters == "depthwise" else 1
    modules = [torch.nn.Embedding(V, I, device="meta")]
    modules += [torch.nn.Conv1d(I, I, D, groups=groups, device="meta") for _ in range(L)]
    count = sum(item.numel() for module in modules for item in module.parameters())
    p = {**BASE, "filters": filters}
    numbers = f"{V}*{I} + {L}*({D}*{I}^2 + {I})" if filters == "full" else f"{V}*{I} + {L}*({D}*{I} + {I})"
    assert count == eval(numbers.replace("^", "**"))
    assert PROBLEM.part("parameters").right(p) == numbers.replace(str(V), "V").replace("5", "I").replace(
        "3*(", "L*("
    ).replace("4*", "D*")
    if filters == "full":
        assert count == sum(item.numel() for item in LanguageCNN(V, I, L, D).parameters())


RNN_STEPS = [("one way", lambda T, L: T + L - 1), ("both ways", lambda T, L: T * L)]


@pytest.mark.parametrize(("rnn", "steps"), RNN_STEPS)
def test_the_rnn_s_time_is_its_critical_path(rnn, steps):
    """Who waits for whom, walked through: the longest chain of cells in a stack."""
    for T, L in ((5, 3), (7, 2), (4, 6)):
        done = {}
        for n in range(L):
            for way in (1, -1) if rnn == "both ways" else (1,):
                for t in range(T)[::way]:
                    under = [done.get((n - 1, other, t), 0) for other in (1, -1)]
                    done[n, way, t] = 1 + max(done.get((n, way, t - way), 0), *under)
        assert max(done.values()) == steps(T, L)


UNLISTED_LAYERS = [
    ("L_{l+1}[b,t,i] = relu(sum_{Dt=0}^{D-1} sum_{j=1}^{I} W_{l+1}[Dt,j,i] L_l[b,2t+Dt,j] - B_{l+1}[i])", "earned"),
    (r"L_{\ell+1}[b,t,i] = \max(0, \sum_{\Delta t,i'} W_{\ell+1}[\Delta t,i',i] L_\ell[b,2t+\Delta t,i'] - "
     r"B_{\ell+1}[i])", "earned"),
    ("L_{l+1}[b,t,i] = relu(sum_{k=0}^{D-1} W_{l+1}[D-1-k,J,i] L_l[b,2t+D-1-k,J] - B_{l+1}[i])", "earned"),
    ("L_{l+1}[b,t,i] = relu(sum_{Dt,j} W_{l+1}[D-1-Dt,j,i] L_l[b,2t+D-1-Dt,j] - B_{l+1}[i])", "earned"),
    ("L_{l+1}[b,t,I] = relu(sum_{Dt} L_l[b,Dt+2*t,I'] W_{l+1}[Dt,I',I] - B_{l+1}[I])", "earned"),
    ("L_{l+1}[b,t,i] = relu(sum_{Dt=1}^{D} sum_j W_{l+1}[Dt,j,i] L_l[b,2t+Dt,j] - B_{l+1}[i])", "lost"),
    ("L_{l+1}[b,t,i] = relu(sum_{Dt=1}^{D-1} sum_j W_{l+1}[Dt,j,i] L_l[b,2t+Dt,j] - B_{l+1}[i])", "lost"),
    ("L_{l+1}[b,t,i] = relu(sum_{Dt=0}^{D} sum_j W_{l+1}[Dt,j,i] L_l[b,2t+Dt,j] - B_{l+1}[i])", "lost"),
    ("L_{l+1}[b,t,i] = relu(sum_{Dt,j} W_{l+1}[Dt,j,i] L_l[b,2t+Dt+1,j] - B_{l+1}[i])", "lost"),
    ("L_{l+1}[b,t,i] = relu(sum_{Dt,j} W_{l+1}[Dt,j,i] L_l[2t+Dt,j] - B_{l+1}[i])", "lost"),
    ("L_{l+1}[b,t,i] = relu(sum_{Dt,j} W_{l+1}[Dt,j,i] L_l[b,2(t+Dt),j] - B_{l+1}[i])", "lost"),
    ("L_{l+1}[b,t,i] = relu(sum_{k=1}^{D} sum_j W_{l+1}[k-1,j,i] L_l[b,2t+(k-1),j] - B_{l+1}[i])", "earned"),
    ("L_{l+1}[b,t,i] = relu(sum_{Dt,j} W_l[Dt,j,i] L_l[b,2t+Dt,j] - B_{l+1}[i])", "lost"),
    ("L_{l+1}[b,t,i] = relu(sum_{Dt,j} W_{l+1}[Dt,j,i] L_{l+1}[b,2t+Dt,j] - B_{l+1}[i])", "held"),
    ("L_{l+1}[b,t,i] = L_l[b,t,i]", "lost"),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "standing"), UNLISTED_LAYERS)
def test_layers_that_nobody_listed(answer, standing):
    """Other spellings of the layer are right; each slip is wrong; what cannot be read is held."""
    assert judged("layer", answer, BASE)[0] == standing


UNLISTED = [
    ("embedding", "L_0[b,t,i] = e[w_{b,t},i]", BASE, "earned"),
    ("embedding", r"L_0[b, t, I] = e[w[b, t], I]", BASE, "earned"),
    ("embedding", "L_0[b,t,i] = e[w[t],i]", BASE, "lost"),
    ("embedding", "L_0[b,t,i] = e[w,i]", BASE, "lost"),
    ("embedding", "L_0[b,t,i] = e[w[b,t],i] + e[w[b,t],i]", BASE, "lost"),
    ("receptive_field", "1 + (D-1)*(2^L-1)", BASE, "earned"),
    ("receptive_field", "(D-1)*2^L - D + 2", BASE, "earned"),
    ("receptive_field", "D + (D-1)*sum(2^n, n, 1, L-1)", BASE, "earned"),
    ("receptive_field", r"1 + \sum_{l=0}^{L-1} (D-1) 2^l", BASE, "earned"),
    ("receptive_field", r"1 + \sum_{l=1}^{L} (D-1) 2^l", BASE, "lost"),
    ("receptive_field", "D*(2^L-1)", BASE, "lost"),
    ("receptive_field", "2^(L+1) - 1", BASE, "lost"),
    ("cnn_time", "O(L ln D)", BASE, "held"),
    ("cnn_time", "Theta(L)", BASE, "earned"),
    ("cnn_time", "L*ln(T)/ln(T)", BASE, "earned"),
    ("rnn_time", "O(T) + O(L)", BASE, "held"),
    ("rnn_time", "T + L - 1", BASE, "earned"),
    ("rnn_time", "O(T*L)", BASE, "lost"),
    ("rnn_time", "O(T*L)", {**BASE, "rnn": "both ways"}, "earned"),
    ("tree_time", "O(log T)", BASE, "earned"),
    ("tree_time", "O(ln(T)^2)", BASE, "lost"),
    ("length", 35.0, BASE, "earned"),
    ("length", "35", BASE, "earned"),
]


@pytest.mark.parametrize(("name", "answer", "p", "standing"), UNLISTED)
def test_answers_that_nobody_listed(name, answer, p, standing):
    """Correct answers written differently earn full marks; wrong ones lose."""
    if name == "length":
        assert PROBLEM.part("length").reference(p) == int(answer)
    assert judged(name, answer, p)[0] == standing

"""Image captioning: the second routes to each answer, and answers that nobody listed."""

import itertools
from pathlib import Path

import pytest
import torch

from autograder.authoring.loading import load
from autograder.core import Answer
from autograder.grading.judge import judge_part
from autograder.maths import tensor
from solutions.captioner import Captioner

ROOT = Path(__file__).parents[2] / "problems"
PROBLEM = load("image_captioning", ROOT)
F64 = torch.float64
BASE = {"memory": "image", "heads": False, "score": "bilinear", "temperature": False, "values": "plain",
        "use": "next step"}  # fmt: skip
RICH = {"memory": "video", "heads": True, "score": "additive", "temperature": True, "values": "mapped",
        "use": "same step"}  # fmt: skip


def judged(name, answer, p):
    """The standing of a typed answer, and its code."""
    outcome = judge_part(PROBLEM.part(name), p, lambda question: Answer(value=answer), (0,))
    return outcome.standing, outcome.verdicts[0].code


KEYS = "h[t-1,J] W^key[J,K] M[x,y,K]"
UNLISTED = [
    ("words", r"P(w_t \mid w_0, \dots, w_{t-1}) &= \underset{w_t}{\text{softmax}} \ e[w_t, I] W^{\text{auto}}[I, J] "
     r"h[t-1, J]", BASE, "earned"),
    ("words", "P[w] = softmax_w[h[t-1,J] W^auto[I,J] e[w,I] + 1]", BASE, "earned"),
    ("words", "P[w] = softmax_w[e[w,I] h[t-1,I]]", BASE, "lost"),
    ("words", "P[w] = softmax_w[e[w,I] W^auto[J,I] h[t-1,J]]", BASE, "lost"),
    ("words", "P[w] = softmax_w[e[w,I] (W^auto[I,J] h[t-1,J] + W^see[I,N,J] V[N,J])]", RICH, "earned"),
    ("words", "P[w] = softmax_w[e[w,I] W^auto[I,J] h[t-1,J]]", RICH, "lost"),
    ("words", "P[w] = softmax_w[e[w,I] (W^auto[I,J] h[t-1,J] + W^see[I,n,J] V[n,J])]", RICH, "lost"),
    ("attention", r"\alpha[x, y] &= \underset{x, y}{\text{softmax}} \ h[t-1, J] W^{\text{key}}[J, K] M[x, y, K]",
     BASE, "earned"),
    ("attention", f"alpha[t,x,y] = softmax_{{x,y}} {KEYS}", BASE, "earned"),
    ("attention", "q[K] = h[t-1,J] W^key[J,K]\nalpha[x,y] = softmax_{x,y}[q[K] M[x,y,K]]", BASE, "earned"),
    ("attention", f"alpha[a,b] = softmax_{{b,a}}[{KEYS}]".replace("x,y", "a,b"), BASE, "earned"),
    ("attention", f"alpha[x,y] = exp({KEYS}) / sum_{{a,b}} exp({KEYS.replace('x,y', 'a,b')})", BASE, "earned"),
    ("attention", f"alpha[x,y] = softmax_K[{KEYS}]", BASE, "lost"),
    ("attention", "alpha[x,y] = softmax_{x,y}[h[t-1,K] M[x,y,K]]", BASE, "lost"),
    ("attention", f"alpha[x,y] = softmax_{{x,y}}[{KEYS.replace('[J,K]', '[K,J]')}]", BASE, "lost"),
    ("attention", f"alpha[y,x] = softmax_{{x,y}}[{KEYS}]", BASE, "lost"),
    ("attention", f"alpha[x,y] = softmax_x[softmax_y[{KEYS}]]", BASE, "lost"),
    ("attention", "s[n,f,x,y] = v[n,A] tanh(W^h[n,A,J] h[t-1,J] + W^M[n,A,K] M[f,x,y,K] - B[n,A])\n"
     "alpha[n,f,x,y] = softmax_{f,x,y}[s[n,f,x,y] / tau]", RICH, "earned"),
    ("attention", "s[n,f,x,y] = v[n,A] tanh(W^h[n,A,J] h[t-1,J] + W^M[n,A,K] M[f,x,y,K] - B[n,A])\n"
     "alpha[n,f,x,y] = softmax_{n,f,x,y}[s[n,f,x,y] / tau]", RICH, "lost"),
    ("attention", "s[n,f,x,y] = v[n,A] tanh(W^h[n,A,J] h[t-1,J] + W^M[n,A,K] M[f,x,y,K] - B[n,A])\n"
     "alpha[n,f,x,y] = softmax_{x,y}[s[n,f,x,y] / tau]", RICH, "lost"),
    ("attention", "s[n,f,x,y] = v[n,A] tanh(W^h[n,A,J] h[t-1,J] + W^M[n,A,K] M[f,x,y,K] + B[n,A])\n"
     "alpha[n,f,x,y] = softmax_{f,x,y}[s[n,f,x,y] / tau]", RICH, "lost"),
    ("attention", "s[n,f,x,y] = v[n,A] tanh(W^h[n,A,J] h[t-1,J]) + v[n,A] tanh(W^M[n,A,K] M[f,x,y,K] - B[n,A])\n"
     "alpha[n,f,x,y] = softmax_{f,x,y}[s[n,f,x,y] / tau]", RICH, "lost"),
    ("glimpse", r"V[K] &= \sum_{x, y} \alpha[x, y] M[x, y, K]", BASE, "earned"),
    ("glimpse", "V[k] = alpha[X,Y] M[X,Y,k]", BASE, "earned"),
    ("glimpse", "V[t,k] = sum_{x,y} alpha[x,y] M[x,y,k]", BASE, "lost"),
    ("glimpse", "V[J] = sum_{x,y} alpha[x,y] M[x,y,J]", BASE, "earned"),
    ("glimpse", "V[x] = sum_{k,y} alpha[x,y] M[x,y,k]", BASE, "lost"),
    ("glimpse", "m[n,k] = alpha[n,F,X,Y] M[F,X,Y,k]\nV[n,j] = W^val[n,j,K] m[n,K]", RICH, "earned"),
    ("glimpse", "V[j] = sum_n sum_{f,x,y} alpha[n,f,x,y] W^val[n,j,K] M[f,x,y,K]", RICH, "lost"),
    ("state", r"h[t, J] &= \text{CELL}_{\Phi}(h[t-1, J], V[K], e[w_t, I])", BASE, "earned"),
    ("state", r"h[t, J] &= \text{CELL}_{\Phi}(h[t-1, J], V[J], e[w_t, I])", BASE, "lost"),
    ("state", "h[t,J] = CELL(h[t-1,J], V[N,J], e[w_t,I])", RICH, "earned"),
    ("state", "h[t+1,J] = CELL(h[t,J], V[K], e[w_{t+1},I])", BASE, "earned"),
    ("state", "x[t,I] = e[w_t,I]\nh[t,J] = CELL(h[t-1,J], V[K], x[t,I])", BASE, "earned"),
    ("state", "x[t,I] = e[w_t,I]\nh[t+1,J] = CELL(h[t,J], V[K], x[t+1,I])", BASE, "earned"),
    ("state", "x[t,I] = e[w_t,I]\nh[t+1,J] = CELL(h[t,J], V[K], x[t,I])", BASE, "lost"),
    ("glimpse", "V[k] = sum_{x,y} alpha[x,y] M[x,y,k] / sum_{x,y} alpha[x,y]", BASE, "earned"),
    ("glimpse", "V[k] = sum_{x,y} alpha[x,y] M[x,y,k] / sum_{x,y} alpha[x,y]^2", BASE, "lost"),
    ("sensitivity", "G[x,y,k] = beta[x,y] sum_{a,b} beta[a,b] (M[x,y,k] - M[a,b,k])", BASE, "earned"),
    ("sensitivity", "G[x,y,k] = beta[x,y] sum_{a,b} (M[x,y,k] - M[a,b,k])", BASE, "lost"),
    ("sensitivity", "G[x,y,k] = sum_{a,b} M[a,b,k] beta[a,b] (delta[x,a] delta[y,b] - beta[x,y])", BASE, "earned"),
    ("sensitivity", "G[x,y,k] = sum_{a,b} M[a,b,k] beta[a,b] (delta[x,a] delta[y,a] - beta[x,y])", BASE, "lost"),
    ("start", "s[j] = W^init[j,K] sum_{x,y} M[x,y,K] / (X Y)", BASE, "earned"),
    ("start", "s[J] = (1/(X*Y)) W^init[J,K] M[X,Y,K]", BASE, "lost"),
    ("start", "s[J] = 1/(X Y) sum_{x,y,k} W^init[J,k] M[x,y,k]", BASE, "earned"),
    ("start", "s[J] = 1/X 1/Y sum_{x,y} W^init[J,K] M[x,y,K]", BASE, "earned"),
    ("start", "s[J] = 1/(X+Y) sum_{x,y} W^init[J,K] M[x,y,K]", BASE, "lost"),
    ("sensitivity", "G[x,y,k] = beta[x,y] M[x,y,k] - beta[x,y] c[k]", BASE, "earned"),
    ("sensitivity", "G[x,y,k] = beta[x,y](1-beta[x,y]) M[x,y,k] - beta[x,y] (c[k] - beta[x,y] M[x,y,k])", BASE,
     "earned"),
    ("sensitivity", "G[x,y,k] = beta[x,y] (M[x,y,k] - beta[x,y] M[x,y,k])", BASE, "lost"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "answer", "p", "standing"), UNLISTED)
def test_equations_that_nobody_listed(name, answer, p, standing):
    """What is printed, pasted or renamed is right; each slip of an index, an axis or a sign is not."""
    assert judged(name, answer, p)[0] == standing


@pytest.mark.parametrize(("memory", "heads"), list(itertools.product(("image", "video"), (False, True))))
def test_the_code_is_what_the_equations_say(memory, heads):
    """The equations, computed by their own evaluator on one state, give the code's weights and averages."""
    p = {**BASE, "memory": memory, "heads": heads, "temperature": True}
    torch.manual_seed(3)
    N, J, K = 2 if heads else 1, 3, 5
    shape = (2, 4, 3, K) if memory == "video" else (4, 3, K)
    h, M, W = torch.randn(J, dtype=F64), torch.randn(shape, dtype=F64), torch.randn(N, J, K, dtype=F64) / 3
    alpha, V = PROBLEM.part("attend").reference(h[None], M[None], W, 0.7)
    lines = (PROBLEM.part("attention").right(p) + "\n" + PROBLEM.part("glimpse").right(p)).replace("h[t-1,J]", "h[J]")
    arrays = {
        "h": h.numpy(),
        "M": M.numpy(),
        "W^key": (W if heads else W[0]).numpy(),
        "tau": torch.tensor(0.7, dtype=F64).numpy(),
    }
    for target, code in (("alpha", alpha[0]), ("V", V[0].view(N, K))):
        value = torch.from_numpy(
            tensor.evaluate(tensor.parse(lines), arrays, target, declarations=tensor.declare("tau"))
        )
        torch.testing.assert_close(value, code if heads else code[0], rtol=1e-12, atol=1e-15)


def test_the_attention_is_the_course_s_captioner():
    """With one head and no temperature, the code gives what the model in solutions/ looks at."""
    torch.manual_seed(4)
    model = Captioner(V=11, I=3, J=5, K=7).double()
    h, M = torch.randn(2, 5, dtype=F64), torch.randn(2, 3, 4, 7, dtype=F64)
    V, alpha = model.attend(h, M)
    found_alpha, found_V = PROBLEM.part("attend").reference(h, M, model.W_key[None], 1.0)
    torch.testing.assert_close(found_V, V, rtol=1e-12, atol=1e-15)
    torch.testing.assert_close(found_alpha[:, 0], alpha, rtol=1e-12, atol=1e-15)


def test_the_derivative_is_autograd_s():
    """dV/ds of a softmax average, for every place and feature."""
    torch.manual_seed(5)
    s, M = torch.randn(3, 4, dtype=F64), torch.randn(3, 4, 5, dtype=F64)

    def average(s):
        return torch.einsum("xy,xyk->k", torch.softmax(s.flatten(), 0).view(3, 4), M)

    wanted = torch.autograd.functional.jacobian(average, s).permute(1, 2, 0)
    arrays = {"beta": torch.softmax(s.flatten(), 0).view(3, 4).numpy(), "M": M.numpy(), "c": average(s).numpy()}
    system = tensor.parse(PROBLEM.part("sensitivity").right(BASE))
    torch.testing.assert_close(torch.from_numpy(tensor.evaluate(system, arrays)), wanted, rtol=1e-12, atol=1e-15)


def picture():
    """Arguments of a captioner."""
    torch.manual_seed(6)
    shapes = {"M": (1, 3, 2, 5), "x": (1, 3, 2), "start": (2,), "e": (7, 2), "W_init": (4, 5), "W_key": (4, 5),
              "W_auto": (2, 4), "W_h": (4, 4), "W_V": (4, 5), "W_x": (4, 2), "B": (4,)}  # fmt: skip
    return {name: torch.randn(shape, dtype=F64) / 2 for name, shape in shapes.items()}


def test_the_first_word_sees_the_picture_as_the_choice_says():
    """With a first state that has not seen it, only the model that closes the gap sees the picture at once."""
    captioner = PROBLEM.part("captioner").reference
    late = next(item for item in PROBLEM.part("captioner").mistakes if item.__name__ == "one_step_late")
    for model, sees in ((captioner, True), (late, False)):
        given = picture()
        given["W_init"] = 0 * given["W_init"]
        given["M"].requires_grad_()
        P = model(**given)
        (gradient,) = torch.autograd.grad(P[0, 0, 0], given["M"], retain_graph=True)
        assert bool(gradient.any()) is sees
        (gradient,) = torch.autograd.grad(P[0, 1, 0], given["M"])
        assert bool(gradient.any())


def test_places_may_be_exchanged():
    """A captioner does not know where the places are, only what they show; and a constant picture is its average."""
    captioner, given = PROBLEM.part("captioner").reference, picture()
    P = captioner(**given)
    given["M"] = given["M"].flip(1, 2)
    torch.testing.assert_close(captioner(**given), P, rtol=1e-12, atol=0)

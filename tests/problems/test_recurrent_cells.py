"""Recurrent cells: equations and derivatives against the code, counts against formulas, and unlisted answers."""

import itertools
import re

import pytest
import torch

from autograder.authoring.loading import load
from autograder.core import Answer
from autograder.grading.judge import judge_part
from autograder.maths import tensor
from solutions.counting import cell
from solutions.counting import gru as gru_count
from solutions.counting import lstm as lstm_count

PROBLEM = load("recurrent_cells")
F64 = torch.float64
BASE = {"reset": "after", "z_gate": "old", "coupled": False, "blocks": "i, f, g, o", "skip_first": True,
        "counted": "GRU", "steps": 24, "layers": 3}  # fmt: skip
COUPLED = {**BASE, "reset": "before", "z_gate": "new", "coupled": True, "blocks": "f, g, o", "counted": "LSTM"}
GRU_NAMES = "h x W_hr W_xr B_r W_hz W_xz B_z W_hn B_hn W_xn B_xn"
B, J, K = 2, 5, 3


def drawn(names):
    """Random arguments of a cell, by the shapes that their names say."""
    torch.manual_seed(21)
    shapes = {"h": (B, J), "c": (B, J), "x": (B, K)}
    shape = lambda name: shapes.get(name) or {"W_h": (J, J), "W_x": (J, K)}.get(name[:3], (J,))  # noqa: E731
    return {name: torch.randn(shape(name), dtype=F64) / 2 for name in names.split()}


def reference(name, p, *arguments):
    """What the reference of a part returns."""
    return PROBLEM.part(name).reference(*arguments, p=p)


def evaluated(text, arrays, target):
    """An equation computed by the language's own evaluator, at one step."""
    text = re.sub(r"\[t-1,", "_0[", text).replace("[t,", "[")
    return torch.from_numpy(tensor.evaluate(tensor.parse(text), arrays, target))


def as_arrays(given):
    """The arguments of the code for one sequence, by the names of the equations."""
    arrays = {
        re.sub("_(.)$", r"^\1", re.sub("_(.)(.)$", r"^{\1,\2}", name)): value.numpy() for name, value in given.items()
    }
    arrays["h_0"], arrays["x"] = given["h"][0].numpy(), given["x"][0].numpy()
    return arrays


@pytest.mark.parametrize(("reset", "z_gate"), list(itertools.product(("before", "after"), ("old", "new"))))
def test_the_equations_and_the_derivative_are_the_code_s(reset, z_gate):
    """The equations give the code's state; with gates that do not move, autograd gives the derivative."""
    p, given = {**BASE, "reset": reset, "z_gate": z_gate}, drawn(GRU_NAMES)
    arrays = as_arrays(given)
    lines = PROBLEM.part("gru_equations").right(p)
    state = evaluated(lines, {key: value for key, value in arrays.items() if key != "h"}, "h")
    torch.testing.assert_close(state, reference("gru", p, *given.values())[0], rtol=1e-12, atol=1e-14)
    for name in ("W_hr", "W_hz"):
        given[name] = given[name] * 0  # the gates do not read the state

    def cell(h):
        return reference("gru", p, *{**given, "h": h[None]}.values())[0]

    given["x"] = given["x"][:1]
    wanted = torch.autograd.functional.jacobian(cell, given["h"][0])
    r, z = (torch.sigmoid(given["x"][0] @ given[f"W_x{g}"].T - given[f"B_{g}"]) for g in "rz")
    hidden = given["W_hn"] @ (r * given["h"][0]) - given["B_hn"]
    if reset == "after":
        hidden = r * (given["W_hn"] @ given["h"][0] - given["B_hn"])
    n = torch.tanh(hidden + given["W_xn"] @ given["x"][0] - given["B_xn"])
    arrays = {"r": r.numpy(), "z": z.numpy(), "n": n.numpy(), "W^{h,n}": given["W_hn"].numpy()}
    found = evaluated(PROBLEM.part("gru_derivative").right(p), arrays, "D")
    torch.testing.assert_close(found, wanted, rtol=1e-12, atol=1e-14)


def value(text, **numbers):
    """A closed form in Python."""
    return eval(text.replace("^", "**"), numbers)


@pytest.mark.parametrize("coupled", [False, True])
def test_the_counts_and_the_constant_gates(coupled):
    """The counts of `solutions.counting`, layer by layer, and the cell of the code after steps with fixed gates."""
    p = {**BASE, "coupled": coupled}
    right = lambda name, p: PROBLEM.part(name).right(p)  # noqa: E731
    gru = value(right("stack_count", p), N=4, J=5, K=3)
    assert gru == gru_count(3, 5) + 3 * gru_count(5, 5)
    lstm = value(right("stack_count", {**p, "counted": "LSTM"}), N=4, J=5, K=3)
    assert lstm == (3 * cell(3, 5) + 9 * cell(5, 5) if coupled else lstm_count(3, 5) + 3 * lstm_count(5, 5))
    f, i, g, c = 0.7, 0.3 if coupled else 0.4, -0.6, 1.5
    for _ in range(6):
        c = f * c + i * g
    assert value(right("constant_gates", p), f=f, i=i, g=g, c_0=1.5, T=6) == pytest.approx(c, rel=1e-12)


GATES = """r[t,j] = sigma(W^{h,r}[j,I] h[t-1,I] + W^{x,r}[j,K] x[t,K] - B^r[j])
z[t,j] = sigma(W^{h,z}[j,I] h[t-1,I] + W^{x,z}[j,K] x[t,K] - B^z[j])
"""
SEEN = "W^{x,n}[j,K] x[t,K] - B^{x,n}[j]"
UNLISTED = [
    ("gru_equations", BASE, "earned", GATES + f"h[t,j] = z[t,j] h[t-1,j] + tanh({SEEN} + r[t,j] (W^{{h,n}}[j,I] "
     "h[t-1,I] - B^{h,n}[j])) (1 - z[t,j])"),
    ("gru_equations", BASE, "lost", GATES + f"n[t,j] = tanh({SEEN} + r[t,j] W^{{h,n}}[j,I] h[t-1,I] - B^{{h,n}}[j])\n"
     "h[t,j] = z[t,j] h[t-1,j] + (1 - z[t,j]) n[t,j]"),
    ("gru_equations", COUPLED, "earned", GATES + "a[t,j] = r[t,j] h[t-1,j]\n"
     f"n[t,j] = tanh({SEEN} - B^{{h,n}}[j] + W^{{h,n}}[j,I] a[t,I])\n"
     "h[t,j] = h[t-1,j] - z[t,j] h[t-1,j] + z[t,j] n[t,j]"),
    ("gru_equations", COUPLED, "lost", GATES
     + f"n[t,j] = tanh({SEEN} + r[t,j] W^{{h,n}}[j,I] h[t-1,I] - B^{{h,n}}[j])\n"
     "h[t,j] = (1 - z[t,j]) h[t-1,j] + z[t,j] n[t,j]"),
    ("gru_derivative", BASE, "lost", "D[t,i,j] = z[t,i] delta[i,j] + (1-z[t,i]) n[t,i]^2 W^{h,n}[i,j] r[t,i]"),
    ("through_the_cell", BASE, "earned", "E[t,j] = f[t,j] (o[t,j] - o[t,j] tanh(c[t,j])^2)"),
    ("through_the_cell", BASE, "lost", "E[t,j] = f[t,j] o[t,j] (1 - tanh(c[t,j]^2))"),
    ("constant_gates", BASE, "earned", "c_0 f^T + i g (f^T - 1)/(f - 1)"),
    ("constant_gates", BASE, "lost", "c_0 f^T + g (1 - f^T)"),
    ("constant_gates", COUPLED, "earned", "g + (c_0 - g) f^T"),
    ("residual_layer", BASE, "lost", "s_{l+1}[t,j] = tanh(W^h_{l+1}[j,I] s_{l+1}[t-1,I] + W^x_{l+1}[I,j] L_l[t,I] - "
     "B_{l+1}[j])\nL_{l+1}[t,j] = L_l[t,j] + s_{l+1}[t,j]"),
    ("stack_count", BASE, "earned", "3 J (J + K) + 4 J + (N-1) (6 J^2 + 4 J)"),
    ("stack_count", COUPLED, "lost", "4 J (J + K) + 4 J + (N-1) (8 J^2 + 4 J)"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "p", "standing", "answer"), UNLISTED)
def test_answers_that_nobody_listed(name, p, standing, answer):
    """What is written differently is right; each slip of an index, a step or a convention is not."""
    assert judge_part(PROBLEM.part(name), p, lambda question: Answer(value=answer), (0,)).standing == standing


def test_the_two_kinds_of_gru_agree_where_the_choice_says():
    """Without a hidden bias: for a reset gate whose entries are equal, and for no other that was drawn."""
    given = drawn(GRU_NAMES)
    given["B_hn"] *= 0
    kinds = [{**BASE, "reset": reset} for reset in ("before", "after")]
    one, other = (reference("gru", p, *given.values()) for p in kinds)
    assert not torch.allclose(one, other, rtol=1e-3)
    for name in ("W_hr", "W_xr", "B_r"):
        given[name] *= 0
    one, other = (reference("gru", p, *given.values()) for p in kinds)
    torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-14)

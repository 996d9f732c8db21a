"""The UGRNN with one gate (Collins, Sohl-Dickstein, Sussillo 2017) and with two (exam 1, problem 3)."""

import torch
from torch import nn

from autograder import (
    Choice,
    Equation,
    Function,
    Module,
    Number,
    Problem,
    Written,
    close,
    difference,
    gradient,
    holds,
    sizes,
    tensors,
)

from .equations import CELL, ONE_STEP, through_time, two_gate_equations
from .equivalents import EQUIVALENTS
from .mistakes import MISTAKES


def draw(rng):
    """Which branch each gate multiplies, and the sizes of which parameters are counted."""
    return {
        "R_gate": ["h", "x"][int(rng.integers(2))],
        "h_gate": ["old", "new"][int(rng.integers(2))],
        "J": int(rng.choice([64, 96, 128, 160, 192, 256])),
        "K": int(rng.choice([32, 40, 48, 50, 100, 300])),
    }


def phrases(p):
    """The equations in the orientation of this variant."""
    old, new = (r"h[b,t-1,j]", r"R[b,t,j]") if p["h_gate"] == "old" else (r"R[b,t,j]", r"h[b,t-1,j]")
    return {
        "one_mix": rf"G[b,t,j]\,{old} + (1 - G[b,t,j])\,{new}",
        "R_words": "hidden branch" if p["R_gate"] == "h" else "input branch",
        "h_words": "previous state" if p["h_gate"] == "old" else "candidate",
    }


def settled(drawn, n):
    """Matrices divided so that no gate is shut: a gradient through one would drown in rounding."""
    return {name: value / (n["J"] + n["K"]) ** 0.5 if name[0] == "W" else value for name, value in drawn.items()}


def cell(rng, p, **fixed):
    """Inputs of a cell with one gate."""
    n = {**sizes(rng, "B J K"), **fixed}
    drawn = tensors(rng, n, h="B J", x="B K", W_hR="J J", W_xR="J K", B_R="J", W_hG="J J", W_xG="J K", B_G="J")
    return settled(drawn, n)


def two_gate_cell(rng, p, **fixed):
    """Inputs of a cell with two gates."""
    n = {**sizes(rng, "B J K"), **fixed}
    drawn = tensors(
        rng,
        n,
        h="B J",
        x="B K",
        W_hGR="J J",
        W_xGR="J K",
        B_GR="J",
        W_hR="J J",
        B_hR="J",
        W_xR="J K",
        B_xR="J",
        W_hGh="J J",
        W_xGh="J K",
        B_Gh="J",
    )
    return settled(drawn, n)


def batch_of_one(rng, p):
    """One sequence in the batch: nothing may be squeezed."""
    return cell(rng, p, B=1)


def two_gates_batch_of_one(rng, p):
    """One sequence in the batch: nothing may be squeezed."""
    return two_gate_cell(rng, p, B=1)


def sequences(rng, p, **fixed):
    """A module's sizes, an input sequence and an initial state that is not zero."""
    n = {**sizes(rng, "B T J K", largest=7), **fixed}
    return {"init": {"J": n["J"], "K": n["K"]}, "call": tensors(rng, n, x="B T K", h="B J")}


def one_short_sequence(rng, p):
    """One sequence of one step."""
    return sequences(rng, p, B=1, T=1)


def ugrnn(h, x, W_hR, W_xR, B_R, W_hG, W_xG, B_G, *, p):
    """One step of the UGRNN: h[B,J], x[B,K] -> the new h[B,J]."""
    R = torch.tanh(h @ W_hR.T + x @ W_xR.T - B_R)  # [B, J]
    G = torch.sigmoid(h @ W_hG.T + x @ W_xG.T - B_G)  # [B, J]
    if p["h_gate"] == "old":
        return G * h + (1 - G) * R
    return G * R + (1 - G) * h


def two_gate(h, x, W_hGR, W_xGR, B_GR, W_hR, B_hR, W_xR, B_xR, W_hGh, W_xGh, B_Gh, *, p):
    """One step of the UGRNN with two gates: h[B,J], x[B,K] -> the new h[B,J]."""
    GR = torch.sigmoid(h @ W_hGR.T + x @ W_xGR.T - B_GR)  # [B, J]
    Gh = torch.sigmoid(h @ W_hGh.T + x @ W_xGh.T - B_Gh)
    a = h @ W_hR.T - B_hR  # hidden branch
    b = x @ W_xR.T - B_xR  # input branch
    R = torch.tanh(GR * a + (1 - GR) * b if p["R_gate"] == "h" else GR * b + (1 - GR) * a)
    if p["h_gate"] == "old":
        return Gh * h + (1 - Gh) * R
    return Gh * R + (1 - Gh) * h


class TwoGateUGRNN(nn.Module):
    """The two-gate UGRNN over time, TwoGateUGRNN(J, K); forward(x[B,T,K], h[B,J]) -> the states h[B,T,J]."""

    def __init__(self, J, K, *, p):
        super().__init__()
        self.R_gate, self.h_gate = p["R_gate"], p["h_gate"]
        for name in ("GR", "R", "Gh"):
            setattr(self, f"W_h{name}", nn.Parameter(torch.randn(J, J) / J**0.5))
            setattr(self, f"W_x{name}", nn.Parameter(torch.randn(J, K) / K**0.5))
        for name in ("B_GR", "B_hR", "B_xR", "B_Gh"):
            setattr(self, name, nn.Parameter(torch.zeros(J)))

    def forward(self, x, h):
        states = []
        for x_t in x.unbind(dim=1):  # [B, K], one step after the other
            GR = torch.sigmoid(h @ self.W_hGR.T + x_t @ self.W_xGR.T - self.B_GR)
            Gh = torch.sigmoid(h @ self.W_hGh.T + x_t @ self.W_xGh.T - self.B_Gh)
            a, b = h @ self.W_hR.T - self.B_hR, x_t @ self.W_xR.T - self.B_xR
            R = torch.tanh(GR * a + (1 - GR) * b if self.R_gate == "h" else GR * b + (1 - GR) * a)
            h = Gh * h + (1 - Gh) * R if self.h_gate == "old" else Gh * R + (1 - Gh) * h
            states.append(h)
        return torch.stack(states, dim=1)  # [B, T, J]


def a_gate_that_keeps_keeps_exactly(f, inputs, p):
    """With $G^h$ at the end that keeps the state, the new state is the old one, whatever the input."""
    kept = f(*{**inputs, "B_Gh": inputs["B_Gh"] * 0 + (-300 if p["h_gate"] == "old" else 300)}.values())
    return difference(kept, inputs["h"], rtol=1e-12) is None


def a_gate_that_forgets_forgets(f, inputs, p):
    """With $G^h$ at the end that forgets and $G^R$ at the input branch, the old state leaves no trace."""
    zeros = inputs["B_Gh"] * 0
    ends = {
        "B_Gh": zeros + (300 if p["h_gate"] == "old" else -300),
        "B_GR": zeros + (300 if p["R_gate"] == "h" else -300),
    }
    one = f(*{**inputs, **ends}.values())
    other = f(*{**inputs, **ends, "h": inputs["h"] + 1}.values())
    return difference(one, other, rtol=1e-12) is None


def the_state_stays_bounded(f, inputs, p):
    """No entry of the new state is larger in size than 1 and than the same entry of the old state."""
    new = f(*inputs.values())
    if difference(new * 0, inputs["h"] * 0, rtol=0.0):
        return False
    return bool((new.abs() <= inputs["h"].abs().clamp(min=1) + 1e-12).all())


# The choices: what R depends on when its gate is at one end, and how a GRU differs.


def open_branch(p):
    return "on the state $h[b,t-1,:]$ only" if p["R_gate"] == "h" else "on the input $x[b,t,:]$ only"


def gru_adds(p):
    return (
        "In a GRU the reset gate scales the hidden contribution alone and the input always enters in full; "
        "here one gate divides a fixed budget between the two branches."
    )


def parameters(p):
    J, K = p["J"], p["K"]
    return 3 * (J * J + J * K) + 4 * J


MODEL_ANSWER = """\
A product of T Jacobians of a vanilla RNN shrinks or grows exponentially, since each factor contains the same matrix and
the slope of tanh. In a gated cell the Jacobian has the gate itself on its diagonal: where the gate keeps the state, the
factor is close to the identity, and the gradient reaches back over as many steps as the gate stays there. A bias that
starts the gate near the end that keeps gives long memory from the first step of training."""

RUBRIC = """\
- 2 of 4: the gradient through time is a product of Jacobians, which vanishes (or explodes) without gates.
- 1 of 4: a gate that keeps makes the Jacobian nearly the identity (the state is copied).
- 1 of 4: the bias sets the gate's first value; its sign follows from "- B" and from the orientation of the gate.
Take nothing off for a wording of one's own; "gates add memory" without a reason earns nothing."""

TWO_GATE_CHECKS = [
    close(weight=6),
    gradient(weight=2.5),
    holds(a_gate_that_keeps_keeps_exactly, weight=0.5),
    holds(a_gate_that_forgets_forgets, weight=0.5),
    holds(the_state_stays_bounded, weight=0.5),
]
MODULE_INPUTS = [sequences, one_short_sequence]
MODULE_CHECKS = [close(weight=4), gradient(weight=2)]

TWO_GATE_INPUTS = [two_gate_cell, two_gates_batch_of_one]

PROBLEM = Problem(
    title="A UGRNN with one gate and with two",
    version=3,
    source="exam 1 of 2021, problem 3; slides on gated RNNs",
    draw=draw,
    phrases=phrases,
    setup="import torch\nfrom torch import nn",
    variants=60,
    full_model="ugrnn.TwoGateUGRNN",
    task="markov_two_gate",
    mistakes=MISTAKES,
    equivalents=EQUIVALENTS,
    parts=[
        Function("ugrnn", points=3, inputs=[cell, batch_of_one], reference=ugrnn, checks=[close(weight=4), gradient()]),
        Equation("two_gate_equations", points=9, **CELL, reference=two_gate_equations),
        Function("two_gate", points=5, inputs=TWO_GATE_INPUTS, reference=two_gate, checks=TWO_GATE_CHECKS),
        Module("TwoGateUGRNN", points=4, inputs=MODULE_INPUTS, reference=TwoGateUGRNN, checks=MODULE_CHECKS),
        Equation("through_time", points=4, **ONE_STEP, reference=through_time),
        Choice("open_gate", points=1, reference=open_branch),
        Choice("gru", points=1, reference=gru_adds),
        Number("parameters", points=1, reference=parameters),
        Written("gradients", points=4, reference=MODEL_ANSWER, rubric=RUBRIC),
    ],
)

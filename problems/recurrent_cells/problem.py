"""GRU (Cho et al. 2014), LSTM (Hochreiter and Schmidhuber 1997) and recurrent layers in a residual stack (slides)."""

import torch

from autograder import (
    Choice,
    Counterexample,
    Equation,
    Expression,
    Function,
    Number,
    Problem,
    Tests,
    close,
    difference,
    gradient,
    holds,
    sizes,
    tensors,
)

from .checking import CLIPPED, STACK_TESTS
from .equivalents import EQUIVALENTS
from .mistakes import MISTAKES
from .notation import GRU, JACOBIAN, LAYER, SIZES, THROUGH, lstm_tensors, memory_names
from .references import gru_lines, jacobian_line, layer_lines, lstm_lines

ORDERS = {False: ["i, f, g, o", "f, i, o, g"], True: ["f, g, o", "o, f, g"]}


def draw(rng):
    """What the reset gate multiplies, which way the update gate points, whether the LSTM's gates are coupled."""
    coupled = bool(rng.integers(2))
    return {
        "reset": ["before", "after"][rng.integers(2)],
        "z_gate": ["old", "new"][rng.integers(2)],
        "coupled": coupled,
        "blocks": ORDERS[coupled][rng.integers(2)],
        "skip_first": bool(rng.integers(2)),
        "counted": ["GRU", "LSTM"][rng.integers(2)],
        "steps": int(rng.choice([24, 40, 60, 90, 120])),
        "layers": int(rng.choice([3, 4, 5, 6, 7])),
    }


def phrases(p):
    """The conventions in words."""
    coupled = p["coupled"]
    return {
        "reset_words": (
            "the **state**, before the hidden branch's matrix is applied to it (its bias is left alone)"
            if p["reset"] == "before"
            else "the **result of the hidden branch**, its matrix and its bias included"
        ),
        "z_words": "previous state" if p["z_gate"] == "old" else "candidate",
        "input_gate_words": (
            "There is **no input gate of its own**: what the forget gate takes away from the old cell, the candidate "
            "is given, so that the new cell is a convex combination of both"
            if coupled
            else "An **input gate** $i$, which has matrices and a bias of its own, multiplies the candidate"
        ),
        "gates": "two gates, $f$ and $o$," if coupled else "three gates, $i$, $f$ and $o$,",
        "block_count": "3" if coupled else "4",
        "constant_gates": "$f[t,j] = f$" if coupled else "$f[t,j] = f$ and $i[t,j] = i$",
        "memory_letters": "`f`, `g`, `c_0` and `T`" if coupled else "`f`, `i`, `g`, `c_0` and `T`",
        "first_words": (
            "The first layer has a residual connection, too."
            if p["skip_first"]
            else "**The first layer has none**: what it returns are its states alone. All others have one."
        ),
    }


# Hidden inputs


def settled(drawn, n):
    """Matrices divided so that no gate is shut: a gradient through one would drown in rounding."""
    return {name: value / (n["J"] + n["K"]) ** 0.5 if name[0] == "W" else value for name, value in drawn.items()}


def gru_cell(rng, p, **fixed):
    """A state, an input and the parameters of a GRU."""
    n = {**sizes(rng, "B J K"), **fixed}
    gates = {"W_hr": "J J", "W_xr": "J K", "B_r": "J", "W_hz": "J J", "W_xz": "J K", "B_z": "J"}
    candidate = {"W_hn": "J J", "B_hn": "J", "W_xn": "J K", "B_xn": "J"}
    return settled(tensors(rng, n, h="B J", x="B K", **gates, **candidate), n)


def gru_batch_of_one(rng, p):
    """One sequence in the batch: nothing may be squeezed."""
    return gru_cell(rng, p, B=1)


def lstm_cell(rng, p, **fixed):
    """A state, a cell, an input, and the stacked parameters of an LSTM."""
    n = {**sizes(rng, "B J K"), "S": len(p["blocks"].split(", ")), **fixed}
    return settled(tensors(rng, n, h="B J", c="B J", x="B K", W_h="S*J J", W_x="S*J K", B="S*J"), n)


def lstm_batch_of_one(rng, p):
    """One sequence in the batch."""
    return lstm_cell(rng, p, B=1)


def sequences(rng, p, **fixed):
    """Sequences and the parameters of several layers."""
    n = {**sizes(rng, "B T J N", largest=7), **fixed}
    drawn = tensors(rng, n, x="B T J", W_h="N J J", W_x="N J J", B="N J")
    return settled(drawn, {**n, "K": n["J"]})


def one_layer_one_step(rng, p):
    """One layer, one sequence of one step."""
    return sequences(rng, p, B=1, T=1, N=1)


# References


def gru(h, x, W_hr, W_xr, B_r, W_hz, W_xz, B_z, W_hn, B_hn, W_xn, B_xn, *, p):
    """One step of the GRU: h[B,J], x[B,K] -> the new h[B,J]."""
    r = torch.sigmoid(h @ W_hr.T + x @ W_xr.T - B_r)  # [B, J]
    z = torch.sigmoid(h @ W_hz.T + x @ W_xz.T - B_z)
    hidden = (r * h) @ W_hn.T - B_hn if p["reset"] == "before" else r * (h @ W_hn.T - B_hn)
    n = torch.tanh(hidden + x @ W_xn.T - B_xn)
    return z * h + (1 - z) * n if p["z_gate"] == "old" else z * n + (1 - z) * h


def lstm(h, c, x, W_h, W_x, B, *, p):
    """One step of the LSTM: h[B,J], c[B,J], x[B,K] -> the new h and c, both [B,J]."""
    names = p["blocks"].split(", ")
    a = dict(zip(names, (h @ W_h.T + x @ W_x.T - B).chunk(len(names), dim=1), strict=True))  # [B, J] each
    f, g, o = torch.sigmoid(a["f"]), torch.tanh(a["g"]), torch.sigmoid(a["o"])
    i = 1 - f if p["coupled"] else torch.sigmoid(a["i"])
    c = f * c + i * g
    return o * torch.tanh(c), c


def residual_stack(x, W_h, W_x, B, *, p):
    """A stack of N recurrent layers with residual connections: x[B,T,J] -> the last layer's result [B,T,J]."""
    for layer in range(len(W_h)):
        s, states = torch.zeros_like(x[:, 0]), []
        for x_t in x.unbind(1):
            s = torch.tanh(s @ W_h[layer].T + x_t @ W_x[layer].T - B[layer])
            states.append(s)
        states = torch.stack(states, dim=1)  # [B, T, J]
        x = x + states if layer > 0 or p["skip_first"] else states
    return x


def a_cell_that_keeps_keeps_exactly(f, inputs, p):
    """With the forget gate at 1 (and the input gate, if there is one, at 0) the cell stays what it was."""
    names = p["blocks"].split(", ")
    B = inputs["B"].unflatten(0, (len(names), -1)).clone()
    for name, end in (("f", -300), ("i", 300)):
        if name in names:
            B[names.index(name)] = end
    _, c = f(*{**inputs, "B": B.flatten()}.values())
    return difference(c, inputs["c"], rtol=1e-12) is None


def through_the_cell(p):
    return "E[t,j] = o[t,j] (1 - tanh(c[t,j])^2) f[t,j]"


def constant_gates(p):
    given = "g" if p["coupled"] else "i*g/(1-f)"
    return f"f^T*c_0 + (1-f^T)*{given}"


def stack_count(p):
    gates, biases = (3, 4) if p["counted"] == "GRU" else (3, 3) if p["coupled"] else (4, 4)
    return f"{gates}*(J^2 + J*K) + (N-1)*{gates}*2*J^2 + N*{biases}*J"


def waves(p):
    return p["steps"] + p["layers"] - 1


def equal_entries(p):
    return "Where all entries of $r[t,:]$ are equal to each other."


def number_of_parameters(p):
    return "How many parameters a network has matters more than which of the cells it is made of."


GRU_INPUTS = [gru_cell, gru_batch_of_one]
LSTM_INPUTS = [lstm_cell, lstm_batch_of_one]
STACK_INPUTS = [sequences, one_layer_one_step]
VALUES = [close(weight=3), gradient()]
LSTM_CHECKS = [*VALUES, holds(a_cell_that_keeps_keeps_exactly, weight=0.5)]

PROBLEM = Problem(
    title="GRU, LSTM, and a stack of recurrent layers",
    version=3,
    source="slides on gated recurrent networks and on multi-layer RNNs",
    draw=draw,
    phrases=phrases,
    setup="import torch",
    variants=60,
    full_model="rnn.GRU",
    task="markov_gru",
    mistakes=MISTAKES,
    equivalents=EQUIVALENTS,
    parts=[
        Equation("gru_equations", points=5, **GRU, reference=gru_lines),
        Function("gru", points=4, inputs=GRU_INPUTS, reference=gru, checks=VALUES),
        Equation("gru_derivative", points=3, **JACOBIAN, reference=jacobian_line),
        Choice("same_gru", points=1, reference=equal_entries),
        Equation("lstm_equations", points=5, tensors=lstm_tensors, target="h", reference=lstm_lines),
        Function("lstm", points=4, inputs=LSTM_INPUTS, reference=lstm, checks=LSTM_CHECKS),
        Equation("through_the_cell", points=2, **THROUGH, reference=through_the_cell),
        Expression("constant_gates", points=2, domains=memory_names, forbid=["sum"], reference=constant_gates),
        Equation("residual_layer", points=3, **LAYER, reference=layer_lines()),
        Function("residual_stack", points=4, inputs=STACK_INPUTS, reference=residual_stack, checks=VALUES),
        Tests("tests_of_stack", points=3, code=residual_stack, **STACK_TESTS),
        Expression("stack_count", points=2, domains=SIZES, reference=stack_count),
        Number("waves", points=1, reference=waves),
        Counterexample("clipping_missed", points=2, **CLIPPED),
        Choice("what_counts", points=1, reference=number_of_parameters),
    ],
)

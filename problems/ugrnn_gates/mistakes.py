"""Wrong answers that students give; the docstring is the hint that whoever gives the same answer reads."""

import torch

from .equation_mistakes import EQUATION_MISTAKES
from .module_mistakes import (
    BiasesAdded,
    CandidateReturned,
    ForgetsState,
    GateSwapped,
    KeepsItsState,
    NotThroughTime,
    OnlyLast,
    ReadsBackwards,
    StartsAtZero,
    StateGateSwapped,
    StatesBefore,
)


def _one_gate(h, x, W_hR, W_xR, B_R, W_hG, W_xG, B_G):
    return torch.tanh(h @ W_hR.T + x @ W_xR.T - B_R), torch.sigmoid(h @ W_hG.T + x @ W_xG.T - B_G)


def _update(gate, h, R, p):
    return gate * h + (1 - gate) * R if p["h_gate"] == "old" else gate * R + (1 - gate) * h


def other_side(h, x, W_hR, W_xR, B_R, W_hG, W_xG, B_G, *, p):
    """The gate points the other way: read once more which of the two, state or candidate, G multiplies here."""
    R, G = _one_gate(h, x, W_hR, W_xR, B_R, W_hG, W_xG, B_G)
    return _update(1 - G, h, R, p)


def added_bias(h, x, W_hR, W_xR, B_R, W_hG, W_xG, B_G, *, p):
    """You added the biases. In this course's convention a bias is a threshold: look at its sign in the equations."""
    R, G = _one_gate(h, x, W_hR, W_xR, -B_R, W_hG, W_xG, -B_G)
    return _update(G, h, R, p)


def same_activation(h, x, W_hR, W_xR, B_R, W_hG, W_xG, B_G, *, p):
    """Your candidate R is always positive: it went through the gate's activation function instead of its own."""
    R = torch.sigmoid(h @ W_hR.T + x @ W_xR.T - B_R)
    _, G = _one_gate(h, x, W_hR, W_xR, B_R, W_hG, W_xG, B_G)
    return _update(G, h, R, p)


def gate_of_tanh(h, x, W_hR, W_xR, B_R, W_hG, W_xG, B_G, *, p):
    """Your gate can be negative, so that the two weights are no convex combination: check its activation function."""
    R, _ = _one_gate(h, x, W_hR, W_xR, B_R, W_hG, W_xG, B_G)
    return _update(torch.tanh(h @ W_hG.T + x @ W_xG.T - B_G), h, R, p)


def not_convex(h, x, W_hR, W_xR, B_R, W_hG, W_xG, B_G, *, p):
    """The two weights in your update do not sum to one: one of the two terms enters in full."""
    R, G = _one_gate(h, x, W_hR, W_xR, B_R, W_hG, W_xG, B_G)
    return G * h + R if p["h_gate"] == "old" else G * R + h


def no_gate(h, x, W_hR, W_xR, B_R, W_hG, W_xG, B_G, *, p):
    """You returned the candidate R, as a vanilla RNN does; the gate has no effect on your result."""
    R, _ = _one_gate(h, x, W_hR, W_xR, B_R, W_hG, W_xG, B_G)
    return R


def gate_from_input(h, x, W_hR, W_xR, B_R, W_hG, W_xG, B_G, *, p):
    """Your gate looks at the input only: in the equations it sees the previous state as well."""
    R, _ = _one_gate(h, x, W_hR, W_xR, B_R, W_hG, W_xG, B_G)
    return _update(torch.sigmoid(x @ W_xG.T - B_G), h, R, p)


def transposed_state(h, x, W_hR, W_xR, B_R, W_hG, W_xG, B_G, *, p):
    """The matrices on the state are square, so a transposition does not show in the shapes: which index is summed?"""
    R, G = _one_gate(h, x, W_hR.T, W_xR, B_R, W_hG.T, W_xG, B_G)
    return _update(G, h, R, p)


def detached_gate(h, x, W_hR, W_xR, B_R, W_hG, W_xG, B_G, *, p):
    """The values are right, but no gradient reaches the gate's parameters: they could never be trained."""
    R, G = _one_gate(h, x, W_hR, W_xR, B_R, W_hG, W_xG, B_G)
    return _update(G.detach(), h, R, p)


# Two gates. GR, Gh are the gates; a, b the hidden and the input branch.


def _terms(h, x, W_hGR, W_xGR, B_GR, W_hR, B_hR, W_xR, B_xR, W_hGh, W_xGh, B_Gh):
    GR = torch.sigmoid(h @ W_hGR.T + x @ W_xGR.T - B_GR)
    Gh = torch.sigmoid(h @ W_hGh.T + x @ W_xGh.T - B_Gh)
    return GR, Gh, h @ W_hR.T - B_hR, x @ W_xR.T - B_xR


def _mixed(gate, a, b, p):
    return gate * a + (1 - gate) * b if p["R_gate"] == "h" else gate * b + (1 - gate) * a


def reset_inside(h, x, W_hGR, W_xGR, B_GR, W_hR, B_hR, W_xR, B_xR, W_hGh, W_xGh, B_Gh, *, p):
    """This is a GRU: your gate scales the state before the matrix, the input enters in full. Read what G^R mixes."""
    GR, Gh, _, b = _terms(h, x, W_hGR, W_xGR, B_GR, W_hR, B_hR, W_xR, B_xR, W_hGh, W_xGh, B_Gh)
    return _update(Gh, h, torch.tanh((GR * h) @ W_hR.T - B_hR + b), p)


def no_complement(h, x, W_hGR, W_xGR, B_GR, W_hR, B_hR, W_xR, B_xR, W_hGh, W_xGh, B_Gh, *, p):
    """One branch of your R enters in full: with weights that do not sum to one this is no convex combination."""
    GR, Gh, a, b = _terms(h, x, W_hGR, W_xGR, B_GR, W_hR, B_hR, W_xR, B_xR, W_hGh, W_xGh, B_Gh)
    return _update(Gh, h, torch.tanh(GR * a + b if p["R_gate"] == "h" else GR * b + a), p)


def outside_tanh(h, x, W_hGR, W_xGR, B_GR, W_hR, B_hR, W_xR, B_xR, W_hGh, W_xGh, B_Gh, *, p):
    """You mixed after the activation function; what G^R mixes is what goes into it."""
    GR, Gh, a, b = _terms(h, x, W_hGR, W_xGR, B_GR, W_hR, B_hR, W_xR, B_xR, W_hGh, W_xGh, B_Gh)
    return _update(Gh, h, _mixed(GR, torch.tanh(a), torch.tanh(b), p), p)


def ungated_biases(h, x, W_hGR, W_xGR, B_GR, W_hR, B_hR, W_xR, B_xR, W_hGh, W_xGh, B_Gh, *, p):
    """Your gate weights the two products only. Each branch has a bias of its own: does the gate reach it?"""
    GR, Gh, a, b = _terms(h, x, W_hGR, W_xGR, B_GR, W_hR, B_hR, W_xR, B_xR, W_hGh, W_xGh, B_Gh)
    return _update(Gh, h, torch.tanh(_mixed(GR, a + B_hR, b + B_xR, p) - B_hR - B_xR), p)


def state_gate_swapped(h, x, W_hGR, W_xGR, B_GR, W_hR, B_hR, W_xR, B_xR, W_hGh, W_xGh, B_Gh, *, p):
    """G^h points the other way: read once more whether it multiplies the previous state or the candidate here."""
    GR, Gh, a, b = _terms(h, x, W_hGR, W_xGR, B_GR, W_hR, B_hR, W_xR, B_xR, W_hGh, W_xGh, B_Gh)
    return _update(1 - Gh, h, torch.tanh(_mixed(GR, a, b, p)), p)


def input_gate_swapped(h, x, W_hGR, W_xGR, B_GR, W_hR, B_hR, W_xR, B_xR, W_hGh, W_xGh, B_Gh, *, p):
    """G^R points the other way: the same family of cells, but with given parameters the branch is the named one."""
    GR, Gh, a, b = _terms(h, x, W_hGR, W_xGR, B_GR, W_hR, B_hR, W_xR, B_xR, W_hGh, W_xGh, B_Gh)
    return _update(Gh, h, torch.tanh(_mixed(1 - GR, a, b, p)), p)


def plus_B(h, x, W_hGR, W_xGR, B_GR, W_hR, B_hR, W_xR, B_xR, W_hGh, W_xGh, B_Gh, *, p):
    """You added the biases. In this course's convention a bias is a threshold: look at its sign in the equations."""
    GR, Gh, a, b = _terms(h, x, W_hGR, W_xGR, -B_GR, W_hR, -B_hR, W_xR, -B_xR, W_hGh, W_xGh, -B_Gh)
    return _update(Gh, h, torch.tanh(_mixed(GR, a, b, p)), p)


def tanh_gates(h, x, W_hGR, W_xGR, B_GR, W_hR, B_hR, W_xR, B_xR, W_hGh, W_xGh, B_Gh, *, p):
    """Your gates can be negative: a weight of a convex combination lies between 0 and 1."""
    _, _, a, b = _terms(h, x, W_hGR, W_xGR, B_GR, W_hR, B_hR, W_xR, B_xR, W_hGh, W_xGh, B_Gh)
    GR, Gh = torch.tanh(h @ W_hGR.T + x @ W_xGR.T - B_GR), torch.tanh(h @ W_hGh.T + x @ W_xGh.T - B_Gh)
    return _update(Gh, h, torch.tanh(_mixed(GR, a, b, p)), p)


def sigmoid_candidate(h, x, W_hGR, W_xGR, B_GR, W_hR, B_hR, W_xR, B_xR, W_hGh, W_xGh, B_Gh, *, p):
    """Your candidate R is always positive: it went through the gates' activation function instead of its own."""
    GR, Gh, a, b = _terms(h, x, W_hGR, W_xGR, B_GR, W_hR, B_hR, W_xR, B_xR, W_hGh, W_xGh, B_Gh)
    return _update(Gh, h, torch.sigmoid(_mixed(GR, a, b, p)), p)


def one_gate_only(h, x, W_hGR, W_xGR, B_GR, W_hR, B_hR, W_xR, B_xR, W_hGh, W_xGh, B_Gh, *, p):
    """This is still the UGRNN with one gate: G^R has no effect on your result."""
    _, Gh, a, b = _terms(h, x, W_hGR, W_xGR, B_GR, W_hR, B_hR, W_xR, B_xR, W_hGh, W_xGh, B_Gh)
    return _update(Gh, h, torch.tanh(a + b), p)


def one_gate_twice(h, x, W_hGR, W_xGR, B_GR, W_hR, B_hR, W_xR, B_xR, W_hGh, W_xGh, B_Gh, *, p):
    """You used the same gate in both places: each gate has parameters of its own."""
    GR, _, a, b = _terms(h, x, W_hGR, W_xGR, B_GR, W_hR, B_hR, W_xR, B_xR, W_hGh, W_xGh, B_Gh)
    return _update(GR, h, torch.tanh(_mixed(GR, a, b, p)), p)


def gates_swapped(h, x, W_hGR, W_xGR, B_GR, W_hR, B_hR, W_xR, B_xR, W_hGh, W_xGh, B_Gh, *, p):
    """Your two gates have changed places: which one acts inside R, which one on the state?"""
    GR, Gh, a, b = _terms(h, x, W_hGR, W_xGR, B_GR, W_hR, B_hR, W_xR, B_xR, W_hGh, W_xGh, B_Gh)
    return _update(GR, h, torch.tanh(_mixed(Gh, a, b, p)), p)


def tanh_after_mixing(h, x, W_hGR, W_xGR, B_GR, W_hR, B_hR, W_xR, B_xR, W_hGh, W_xGh, B_Gh, *, p):
    """Your activation function acts on the mixed state: a state that is kept would shrink a little in every step."""
    GR, Gh, a, b = _terms(h, x, W_hGR, W_xGR, B_GR, W_hR, B_hR, W_xR, B_xR, W_hGh, W_xGh, B_Gh)
    return torch.tanh(_update(Gh, h, _mixed(GR, a, b, p), p))


def detached_gates(h, x, W_hGR, W_xGR, B_GR, W_hR, B_hR, W_xR, B_xR, W_hGh, W_xGh, B_Gh, *, p):
    """The values are right, but no gradient reaches the gates' parameters: they could never be trained."""
    GR, Gh, a, b = _terms(h, x, W_hGR, W_xGR, B_GR, W_hR, B_hR, W_xR, B_xR, W_hGh, W_xGh, B_Gh)
    return _update(Gh.detach(), h, torch.tanh(_mixed(GR.detach(), a, b, p)), p)


# The choices and the count.


def closed_branch(p):
    """At that end the gate is 1 or 0 everywhere: put this value into the mixture, and mind the sign before B."""
    return "on the input $x[b,t,:]$ only" if p["R_gate"] == "h" else "on the state $h[b,t-1,:]$ only"


def both_branches(p):
    """A sigmoid whose argument goes to infinity is no longer between its ends: one of the weights becomes zero."""
    return "on both, with equal weights"


def neither_branch(p):
    """The two weights always sum to one: when one branch is shut, the other is open."""
    return "on neither: it goes to $0$"


def gru_has_cell(p):
    """A second, protected state is what an LSTM has; a GRU has one state, as the cells here."""
    return "A GRU carries a second state, the cell, from step to step; here there is one state only."


def gru_not_convex(p):
    """A GRU's update of the state is of the very form used here: a convex combination of old state and candidate."""
    return "In a GRU the update of the state is no convex combination; here it is."


def gru_is_same(p):
    """Try a gate at its end: in a GRU the input still reaches the candidate in full. And here?"""
    return "Not at all: each is the other with its parameters renamed."


def gru_divides(p):
    """You have the two cells the wrong way round: write down what multiplies the input in each."""
    return (
        "In a GRU one gate divides a fixed budget between the state and the input; "
        "here the gate scales the hidden contribution alone and the input always enters in full."
    )


def one_bias_for_R(p):
    """Count the biases in the equations once more: R has not only one."""
    return 3 * (p["J"] ** 2 + p["J"] * p["K"] + p["J"])


def no_biases(p):
    """You counted the matrices only."""
    return 3 * (p["J"] ** 2 + p["J"] * p["K"])


def one_gate_count(p):
    """This is the count with a single gate: the new gate has parameters of its own."""
    return 2 * (p["J"] ** 2 + p["J"] * p["K"]) + 3 * p["J"]


def four_blocks(p):
    """You counted four pairs of matrices, as an LSTM has them: how many pairs stand in the equations?"""
    return 4 * (p["J"] ** 2 + p["J"] * p["K"]) + 4 * p["J"]


def without_input(p):
    """The matrices that act on the input x are missing from your count."""
    return 3 * p["J"] ** 2 + 4 * p["J"]


def square_input(p):
    """The matrices that act on x are not square: they map vectors of one size to vectors of another."""
    return 3 * (p["J"] ** 2 + p["K"] ** 2) + 4 * p["J"]


def bias_of_every_product(p):
    """You gave each product a bias of its own, as torch's modules do; the gates here have one bias each."""
    return 3 * (p["J"] ** 2 + p["J"] * p["K"]) + 6 * p["J"]


MISTAKES = {
    **EQUATION_MISTAKES,
    "ugrnn": [
        other_side,
        added_bias,
        same_activation,
        gate_of_tanh,
        not_convex,
        no_gate,
        gate_from_input,
        transposed_state,
        detached_gate,
    ],
    "two_gate": [
        reset_inside,
        no_complement,
        outside_tanh,
        ungated_biases,
        state_gate_swapped,
        input_gate_swapped,
        plus_B,
        tanh_gates,
        sigmoid_candidate,
        one_gate_only,
        one_gate_twice,
        gates_swapped,
        tanh_after_mixing,
        detached_gates,
    ],
    "TwoGateUGRNN": [
        KeepsItsState,
        ForgetsState,
        ReadsBackwards,
        StatesBefore,
        OnlyLast,
        StartsAtZero,
        BiasesAdded,
        GateSwapped,
        StateGateSwapped,
        NotThroughTime,
        CandidateReturned,
    ],
    "open_gate": [closed_branch, both_branches, neither_branch],
    "gru": [gru_has_cell, gru_not_convex, gru_is_same, gru_divides],
    "parameters": [
        one_bias_for_R,
        no_biases,
        one_gate_count,
        four_blocks,
        without_input,
        square_input,
        bias_of_every_product,
    ],
}

"""Every problem folder: the audit finds no fault, and the references agree with what is known by other routes."""

from pathlib import Path

import pytest
import torch
from torch import nn

from autograder.audit.problem import audit
from autograder.authoring.loading import load, slugs, statement_text

ROOT = Path(__file__).parents[2] / "problems"
F64 = torch.float64


@pytest.mark.parametrize("slug", slugs(ROOT))
def test_the_audit_finds_no_fault(slug):
    """References earn all, mistakes lose, equivalents keep, statements show what is graded."""
    report = audit(load(slug, ROOT), statement_text(slug, ROOT), variants=2)
    assert report.faults == ()
    killed, listed = report.kill_score
    assert killed == listed > 0


IN_NUMBERS = {"function", "module", "number", "vector"}
IN_SYMBOLS = {"expression", "equation", "derivation", "matrix"}


@pytest.mark.parametrize("slug", slugs(ROOT))
def test_numbers_and_symbols(slug):
    """Every problem has a question that is answered by numbers or code, and one that is answered by a formula."""
    kinds = {part.kind for part in load(slug, ROOT).parts}
    assert kinds & IN_NUMBERS and kinds & IN_SYMBOLS


def part(slug, name):
    """A part of a problem."""
    return load(slug, ROOT).part(name)


def mistake(slug, name, wanted):
    """A mistake by its name."""
    return next(item for item in part(slug, name).mistakes if item.__name__ == wanted)


# The UGRNN


def cell(names, J=5, K=3, B=2):
    """Random arguments of a cell, by the shapes that their names say."""
    torch.manual_seed(11)
    shapes = {"h": (B, J), "x": (B, K)}
    shape = lambda name: shapes.get(name) or {"W_h": (J, J), "W_x": (J, K)}.get(name[:3], (J,))  # noqa: E731
    return {name: torch.randn(shape(name), dtype=F64) for name in names.split()}


ONE = "h x W_hR W_xR B_R W_hG W_xG B_G"
TWO = "h x W_hGR W_xGR B_GR W_hR B_hR W_xR B_xR W_hGh W_xGh B_Gh"
ORIENTATIONS = [{"R_gate": R, "h_gate": h} for R in ("h", "x") for h in ("old", "new")]


@pytest.mark.parametrize("p", ORIENTATIONS)
def test_two_gates_hold_the_cell_with_one(p):
    """With G^R at one half and doubled branches, the two-gate cell is the UGRNN."""
    two = cell(TWO)
    for name in ("W_hGR", "W_xGR", "B_GR"):
        two[name] = two[name] * 0
    one = {
        "h": two["h"],
        "x": two["x"],
        "W_hR": two["W_hR"] / 2,
        "W_xR": two["W_xR"] / 2,
        "B_R": (two["B_hR"] + two["B_xR"]) / 2,
        "W_hG": two["W_hGh"],
        "W_xG": two["W_xGh"],
        "B_G": two["B_Gh"],
    }
    wanted = part("ugrnn_gates", "ugrnn").reference(**one, p=p)
    torch.testing.assert_close(part("ugrnn_gates", "two_gate").reference(**two, p=p), wanted, rtol=1e-13, atol=0)


def test_orientations_are_negated_parameters():
    """Turning a gate round is negating what goes into it."""
    two_gate, given = part("ugrnn_gates", "two_gate").reference, cell(TWO)
    for gate, key, other in (("GR", "R_gate", "x"), ("Gh", "h_gate", "new")):
        negated = {name: -value if name.endswith(gate) else value for name, value in given.items()}
        here = {"R_gate": "h", "h_gate": "old"}
        torch.testing.assert_close(
            two_gate(**given, p=here), two_gate(**negated, p={**here, key: other}), rtol=1e-13, atol=1e-15
        )


def test_the_ugrnn_is_a_gru_whose_reset_gate_is_open():
    """torch's GRU with r = 1 is the cell with one gate, once the signs of the biases are turned."""
    given = cell(ONE)
    J, K = 5, 3
    gru = nn.GRUCell(K, J, dtype=F64)
    with torch.no_grad():
        gru.weight_hh.copy_(torch.cat([torch.zeros(J, J), given["W_hG"], given["W_hR"]]))
        gru.weight_ih.copy_(torch.cat([torch.zeros(J, K), given["W_xG"], given["W_xR"]]))
        gru.bias_ih.copy_(torch.cat([torch.full((J,), 1e3), -given["B_G"], -given["B_R"]]))
        gru.bias_hh.zero_()
    ugrnn = part("ugrnn_gates", "ugrnn").reference(**given, p={"h_gate": "old"})
    torch.testing.assert_close(ugrnn, gru(given["x"], given["h"]), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("p", ORIENTATIONS)
def test_the_module_is_the_cell_step_by_step(p):
    """Run over time with loaded parameters, the module gives the states of the cell."""
    given = cell(TWO)
    module = part("ugrnn_gates", "TwoGateUGRNN").reference(5, 3, p=p).double()
    module.load_state_dict({name: value for name, value in given.items() if name not in ("h", "x")})
    x = torch.randn(2, 4, 3, dtype=F64)
    states = module(x, given["h"])
    h = given["h"]
    for t in range(4):
        h = part("ugrnn_gates", "two_gate").reference(**{**given, "h": h, "x": x[:, t]}, p=p)
        torch.testing.assert_close(states[:, t], h, rtol=1e-12, atol=1e-15)
    count = sum(parameter.numel() for parameter in module.parameters())
    assert count == part("ugrnn_gates", "parameters").reference({"J": 5, "K": 3})


# One matrix for query and key


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("causal", [False, True])
def test_merged_attention_is_torchs_attention(scaled, causal):
    """Queries and keys through their two matrices give the weights that the merged matrix gives."""
    torch.manual_seed(3)
    K, I, J, T = 3, 2, 7, 5  # noqa: E741
    W_Q, W_K, L = (torch.randn(*shape, dtype=F64) for shape in ((K, I, J), (K, I, J), (T, J)))
    p = {"scaled": scaled, "causal": causal}
    W = part("merged_query_key", "merge").reference(W_Q, W_K, p=p)
    alpha = part("merged_query_key", "attention").reference(W, L, p=p)
    eye = torch.eye(T, dtype=F64).expand(K, T, T)  # as values, they give back the weights
    wanted = nn.functional.scaled_dot_product_attention(
        L @ W_Q.mT, L @ W_K.mT, eye, is_causal=causal, scale=None if scaled else 1.0
    )
    torch.testing.assert_close(alpha, wanted, rtol=1e-10, atol=1e-14)
    assert torch.linalg.matrix_rank(W).tolist() == [I] * K


def test_counts_of_the_merged_form():
    """J = 512, K = 8: 524,288 against 2,097,152; GPT-2 small: 1,179,648 against 7,077,888; equal for two heads."""
    separate, merged = (part("merged_query_key", name).reference for name in ("separate", "merged"))
    assert [f({"K": 8, "I": 64}) for f in (separate, merged)] == [524_288, 2_097_152]
    assert [f({"K": 12, "I": 64}) for f in (separate, merged)] == [1_179_648, 7_077_888]
    assert separate({"K": 2, "I": 64}) == merged({"K": 2, "I": 64})


# Counting parameters

BASE = {"N": 6, "h": 8, "d": 512, "d_ff": 2048, "V": 37_000, "P": 512}
BIG = {**BASE, "h": 16, "d": 1024, "d_ff": 4096}
PAPER = {"matrices": 1, "attention_bias": False, "final_norm": False}
TORCH = {"matrices": 1, "attention_bias": True, "final_norm": True}
TOTALS = [
    (BASE, PAPER, 63_045_632),
    ({**BASE, "V": 32_000}, PAPER, 60_485_632),
    (BASE, {**PAPER, "attention_bias": True}, 63_082_496),
    (BASE, {**PAPER, "matrices": 2}, 81_989_632),
    (BASE, {**PAPER, "matrices": 3}, 100_933_632),
    (BIG, PAPER, 214_171_648),
    (BASE, TORCH, 63_084_544),
    ({**BASE, "V": 32_000}, TORCH, 60_524_544),
    ({**BASE, "V": 0}, TORCH, 44_140_544),
    ({**BASE, "N": 2}, PAPER, 33_644_544),
    ({**BASE, "d_ff": 1024}, PAPER, 50_450_432),
]


@pytest.mark.parametrize(("sizes", "p", "total"), TOTALS)
def test_known_totals(sizes, p, total):
    """The published architecture and torch's own, to the last parameter."""
    assert part("parameter_counting", "count").reference(**sizes, p=p)["total"] == total


WRONG = [
    ("as_printed", 32_000, 62_683_136),
    ("no_cross_attention", 37_000, 56_748_032),
    ("no_norms", 37_000, 63_014_912),
    ("no_feed_forward_biases", 37_000, 63_014_912),
    ("no_output", 37_000, 58_327_040),
    ("every_head_full", 37_000, 195_166_208),
    ("encoder_only", 37_000, 37_846_016),
    ("other_embeddings", 37_000, 81_989_632),
    ("feed_forward_of_width_d", 37_000, 44_152_832),
    ("counts_positions", 37_000, 63_045_632 + 512 * 512),
]


@pytest.mark.parametrize(("name", "V", "total"), WRONG)
def test_known_wrong_totals(name, V, total):
    """Each wrong number that is known from print or from students belongs to the mistake that explains it."""
    assert mistake("parameter_counting", "count", name)(**{**BASE, "V": V}, p=PAPER)["total"] == total


def test_the_body_is_torchs_transformer():
    """torch.nn.Transformer on the meta device has as many parameters, for a shape that is not its default."""
    body = nn.Transformer(24, 4, 5, 5, 56, device="meta", batch_first=True)
    counted = part("parameter_counting", "count").reference(N=5, h=4, d=24, d_ff=56, V=0, P=0, p=TORCH)
    assert sum(parameter.numel() for parameter in body.parameters()) == counted["total"]


def test_recurrent_cells_are_torchs():
    """With two biases to a pre-activation, the counts are those of torch's cells."""
    counted = part("parameter_counting", "recurrent").reference(7, 5, p={"gate_biases": "two"})
    for name, kind in (("vanilla", nn.RNNCell), ("gru", nn.GRUCell), ("lstm", nn.LSTMCell)):
        assert counted[name] == sum(parameter.numel() for parameter in kind(5, 7, device="meta").parameters())
    two_gate = part("ugrnn_gates", "parameters").reference({"J": 7, "K": 5})
    assert part("parameter_counting", "recurrent").reference(7, 5, p={"gate_biases": "one"})["two_gate"] == two_gate

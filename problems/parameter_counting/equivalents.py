"""Right counts by other routes, one of them torch's own modules on the meta device: shapes without memory."""

import torch
from torch import nn

from . import hours_mistakes


def _numel(*modules):
    return sum(parameter.numel() for module in modules for parameter in module.parameters())


def by_modules(N, h, d, d_ff, V, P, *, p):
    with torch.device("meta"):
        attention = nn.ModuleList(nn.MultiheadAttention(d, h, bias=p["attention_bias"]) for _ in range(3 * N))
        inner = [nn.Sequential(nn.Linear(d, d_ff), nn.ReLU(), nn.Linear(d_ff, d)) for _ in range(2 * N)]
        norms = nn.ModuleList(nn.LayerNorm(d) for _ in range(5 * N + 2 * p["final_norm"]))
        tables = [nn.Embedding(V, d) for _ in range(p["matrices"])]
    shares = (_numel(*tables), _numel(attention), _numel(*inner), _numel(norms))
    return dict(zip(["embedding", "attention", "feed_forward", "layer_norm", "total"], [*shares, sum(shares)]))  # noqa: B905


def by_counting_layers(N, h, d, d_ff, V, P, *, p):
    w = d // h  # the width of one head
    head = 3 * (d * w + (w if p["attention_bias"] else 0))
    sublayer = h * head + h * w * d + (d if p["attention_bias"] else 0)
    counts = {"embedding": 0, "attention": 0, "feed_forward": 0, "layer_norm": 0}
    for _ in range(p["matrices"]):
        counts["embedding"] += V * d
    for attentions in [1] * N + [2] * N:
        counts["attention"] += attentions * sublayer
        counts["feed_forward"] += (d + 1) * d_ff + (d_ff + 1) * d
        counts["layer_norm"] += (attentions + 1) * 2 * d
    if p["final_norm"]:
        counts["layer_norm"] += 4 * d
    counts["total"] = sum(counts.values())
    return counts


def closed_form(N, h, d, d_ff, V, P, *, p):
    b, f = int(p["attention_bias"]), int(p["final_norm"])
    parts = {
        "attention": 12 * N * d * (d + b),
        "embedding": p["matrices"] * V * d,
        "layer_norm": 2 * d * (5 * N + 2 * f),
        "feed_forward": 2 * N * (2 * d * d_ff + d + d_ff),
    }
    parts["total"] = d * (12 * N * (d + b) + p["matrices"] * V + 12 * N + 4 * f + 4 * N * d_ff) + 2 * N * d_ff
    return parts


def by_recurrent_modules(J, K, *, p):
    two = p["gate_biases"] == "two"
    with torch.device("meta"):
        cells = [cell(K, J, bias=two) for cell in (nn.RNNCell, nn.GRUCell, nn.LSTMCell)]
    vanilla, gru, lstm = (_numel(cell) for cell in cells)
    if not two:
        vanilla, gru, lstm = vanilla + J, gru + 3 * J, lstm + 4 * J
    return {"vanilla": vanilla, "ugrnn": 2 * vanilla, "two_gate": gru if two else gru + J, "gru": gru, "lstm": lstm}


def by_gates(J, K, *, p):
    matrices = J * (J + K)
    biases = J if p["gate_biases"] == "one" else 2 * J
    names = {"vanilla": 1, "ugrnn": 2, "gru": 3, "lstm": 4}
    result = {name: number * (matrices + biases) for name, number in names.items()}
    result["two_gate"] = 3 * matrices + 2 * J + 2 * biases
    return result


def from_linear_maps(J, K, *, p):
    both = p["gate_biases"] == "two"

    def pre(second):
        return _numel(nn.Linear(J, J, bias=True, device="meta"), nn.Linear(K, J, bias=second, device="meta"))

    n = pre(both)
    return {"vanilla": n, "ugrnn": n * 2, "two_gate": n * 2 + pre(True), "gru": n * 3, "lstm": n * 4}


def total_by_powers(p):
    """Collected by powers, in LaTeX."""
    d = 3 * 4 * p["attention_bias"] + 2 + 10
    ends = "+ 4 d" if p["final_norm"] else ""
    return rf"12 N d^2 + N (4 d_{{ff}} d + 2 d_{{ff}} + {d} d) + {p['matrices']} V d {ends}"


def two_gate_by_powers(p):
    """Collected by powers."""
    return f"3 J (J + K) + {4 if p['gate_biases'] == 'one' else 6} J"


def lstm_by_powers(p):
    """Collected by powers."""
    return f"4J^2 + 4JK + {4 if p['gate_biases'] == 'one' else 8}J"


def as_tuple(p):
    d, d_ff, bias = p["d"], p["d_ff"], p["attention_bias"]
    return (4 * d * (d + bias), d_ff * (d + 1) + d * (d_ff + 1), d + d)


def as_decimals(p):
    return [float(number) for number in as_tuple(p)]


EQUIVALENTS = {
    **hours_mistakes.EQUIVALENTS,
    "total_formula": [total_by_powers],
    "two_gate_formula": [two_gate_by_powers],
    "lstm_formula": [lstm_by_powers],
    "count": [by_modules, by_counting_layers, closed_form],
    "recurrent": [by_recurrent_modules, by_gates, from_linear_maps],
    "sublayers": [as_tuple, as_decimals],
}

"""Answers that no author listed: right ones in odd dress keep all points, wrong ones lose, and none is held."""

from pathlib import Path

import pytest

from autograder.audit.simulated_answers import handed_in
from autograder.authoring.loading import load
from autograder.authoring.variants import variant
from autograder.grading.judge import judge_part

ROOT = Path(__file__).parents[2] / "problems"

CELL = """
def ugrnn(h, x, W_hR, W_xR, B_R, W_hG, W_xG, B_G):
    R = torch.tanh(h @ W_hR.T + x @ W_xR.T - B_R)
    G = torch.sigmoid(h @ W_hG.T + x @ W_xG.T - B_G)
    return G * h + (1 - G) * R
"""
LINEAR = """
def ugrnn(a, b, c, d, e, f, g, i):
    F = torch.nn.functional
    R = torch.tanh(F.linear(a, c) + F.linear(b, d, -e))
    G = torch.sigmoid(F.linear(a, f, -i) + F.linear(b, g))
    return a * G + R - R * G
"""
LAMBDA = """
ugrnn = lambda h, x, WR, XR, BR, WG, XG, BG: (
    lambda G: G * h + (1 - G) * torch.tanh(h @ WR.T + x @ XR.T - BR))(torch.sigmoid(h @ WG.T + x @ XG.T - BG))
"""
RETURN = "    return G * h + (1 - G) * R\n"
UGRNN = [
    (CELL, True), (LINEAR, True), (LAMBDA, True),
    (CELL.replace(RETURN, "    return torch.where(G >= 0, G * h + (1 - G) * R, R)\n"), True),
    (CELL.replace(RETURN, "    return (G * h + (1 - G) * R).float()\n"), False),
    (CELL.replace(RETURN, "    return (G * h + (1 - G) * R).float().double()\n"), False),
    (CELL.replace(RETURN, "    return (G * h + (1 - G) * R).squeeze()\n"), False),
    (CELL.replace(RETURN, "    return (G * h + (1 - G) * R).detach()\n"), False),
    (CELL.replace(RETURN, "    return (G * h + (1 - G) * R,)\n"), False),
    (CELL.replace(RETURN, "    return G * h + (1 - G) * R + 1e-7\n"), False),
    (CELL.replace(RETURN, "    G = G.mean(0)\n" + RETURN), False),
    (CELL.replace("- B_R", "+ B_R"), False),
    (CELL.replace("torch.sigmoid", "torch.nn.functional.hardsigmoid"), False),
    (CELL.replace(RETURN, "    return ugrnn(h, x, W_hR, W_xR, B_R, W_hG, W_xG, B_G)\n"), False),
    ("class ugrnn:\n    pass\n", False),
    ("import numpy\n" + CELL.replace(RETURN, RETURN[:-1] + ".detach().numpy()\n"), False),
]  # fmt: skip

MASKED = """
def attention(W, L):
    s = L @ W @ L.T
    m = torch.tril(torch.ones(len(L), len(L)))
    return torch.softmax(s.masked_fill(m == 0, -torch.inf), -1)
"""
FUSED = """
def attention(W, L):
    K, T = len(W), len(L)
    values = torch.eye(T, dtype=L.dtype).expand(K, T, T)
    keys = L.expand(K, -1, -1)
    return torch.nn.functional.scaled_dot_product_attention(L @ W, keys, values, is_causal=True, scale=1.0)
"""
ATTENTION = [
    (MASKED, True), (FUSED, True), (MASKED.replace("-torch.inf", "-1e9"), True),
    (MASKED.replace("-torch.inf", "-10.0"), False), (MASKED.replace("-torch.inf", "0"), False),
    (MASKED.replace("tril", "triu"), False), (MASKED.replace("m == 0", "m.tril(-1) == 0"), False),
    (MASKED.replace("-1)\n", "0)\n"), False), (MASKED.replace("L @ W @ L.T", "L @ L.T @ W.sum()"), False),
]  # fmt: skip

SVD = """
def factor(W, I):
    U, S, V = torch.linalg.svd(W)
    return [U[:, :, :I].mT * S[:, :I, None] * I**.5, V[:, :I]]
"""
SKETCH = """
def factor(W, I):
    P = torch.linalg.qr(W @ torch.randn(W.shape[2], I, dtype=W.dtype))[0].mT
    return P, P @ W * I**.5
"""
FACTOR = [
    (SVD, True), (SKETCH, True),
    (SVD.replace("    return", "    S[:, max(1, I - 1):] = 0\n    return").replace("I**.5", "I**.49"), False),
    ("def factor(W, I):\n    return torch.eye(W.shape[1], dtype=W.dtype).expand(len(W), -1, -1) * I**.5, W\n", False),
    ("def factor(W, I):\n    return None, None\n", False), ("def factor(W, I):\n    return 'a', 'b'\n", False),
    (SVD.replace("I**.5", "I**.5 / 0"), False),
    (SVD.replace("V[:, :I]]", "V[:, :I].float()]"), False),
]  # fmt: skip

COUNT = """
def count(N, h, d, d_ff, V, P):
    a = 3 * N * 4 * d * d
    f = 2 * N * (2 * d * d_ff + d_ff + d)
    n = 5 * N * 2 * d
    e = V * d
    return dict(total=a + f + n + e, attention=a, feed_forward=f, layer_norm=n, embedding=e)
"""
COUNTING = [
    (COUNT, True), (COUNT.replace("=a,", "=float(a),"), True), (COUNT.replace("=a,", "=torch.tensor(a),"), True),
    (COUNT.replace("4 * d * d", "(3 * h * d * (d / h) + d * d)"), True),
    (COUNT.replace("total=a + f + n + e, ", ""), False),
    (COUNT.replace("total=a + f + n + e", "total=a + f + n"), False),
    (COUNT.replace("=e)", "=e, heads=h)"), False), (COUNT.replace("=a,", "=str(a) + '!',"), False),
    (COUNT.replace("2 * N *", "N *"), False), (COUNT.replace("return dict(", "return list("), False),
]  # fmt: skip

ROWS = [
    (slug, name, wanted, cell, right)
    for slug, name, wanted, cells in [
        ("ugrnn_gates", "ugrnn", {"h_gate": "old"}, UGRNN),
        ("merged_query_key", "attention", {"causal": True}, ATTENTION),
        ("merged_query_key", "factor", {"scaled": True}, FACTOR),
        ("parameter_counting", "count", {"matrices": 1, "attention_bias": False, "final_norm": False}, COUNTING),
    ]
    for cell, right in cells
]


@pytest.mark.parametrize(("slug", "name", "wanted", "cell", "right"), ROWS)
def test_unlisted_answers(slug, name, wanted, cell, right):
    """The verdict rests on what the function does, whatever it looks like."""
    problem = load(slug, ROOT)
    draws = (variant(problem, seed).parameters for seed in range(400))
    p = next(p for p in draws if all(p[key] == value for key, value in wanted.items()))
    part = problem.part(name)
    outcome = judge_part(part, p, handed_in(problem, part, cell), (5, 9))
    assert outcome.standing == ("earned" if right else "lost"), outcome.verdicts

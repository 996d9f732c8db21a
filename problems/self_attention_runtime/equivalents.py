"""Correct answers written differently; each must earn full marks."""

import torch
from torch.nn import functional as F

from .bounds import chained, hidden, row, worked


def _looks(T, p):
    t = torch.arange(T)
    if p["mask"] == "causal":
        return torch.ones(T, T, dtype=torch.bool).tril()
    if p["mask"] == "window":
        return (t[:, None] >= t - p["reach"]) & (t[:, None] <= t + p["reach"])
    return torch.ones(T, T, dtype=torch.bool)


def by_matrices(h, W_Q, W_K, W_V, *, p):
    T, K = len(h), len(W_Q)
    q, k, v = (
        torch.nn.functional.linear(h, W.reshape(-1, W.shape[-1])).view(T, K, -1).transpose(0, 1)
        for W in (W_Q, W_K, W_V)
    )
    scores = q @ k.mT / (W_Q.shape[1] ** 0.5 if p["scaled"] else 1)
    alpha = torch.softmax(scores + torch.where(_looks(T, p), 0.0, -torch.inf), -1)
    return alpha, (alpha @ v).transpose(0, 1).reshape(T, -1)


def merged(h, W_Q, W_K, W_V, *, p):
    W = torch.einsum("kia,kib->kab", W_Q, W_K) * (W_Q.shape[1] ** -0.5) ** int(p["scaled"])
    e = torch.exp(torch.einsum("ta,kab,sb->kts", h, W, h)) * _looks(len(h), p)
    alpha = e / e.sum(-1, keepdim=True)
    return alpha, torch.einsum("kts,sj,kij->tki", alpha, h, W_V).flatten(1)


def by_sdpa(h, W_Q, W_K, W_V, *, p):
    q, k, v = (torch.einsum("kij,tj->kti", W, h)[None] for W in (W_Q, W_K, W_V))
    options = {"scale": W_Q.shape[1] ** -0.5 if p["scaled"] else 1.0, "attn_mask": _looks(len(h), p)}
    out = F.scaled_dot_product_attention(q, k, v, **options)[0].transpose(0, 1).flatten(1)
    eye = torch.eye(len(h), dtype=h.dtype).expand(1, len(W_Q), -1, -1)
    return F.scaled_dot_product_attention(q, k, eye, **options)[0], out


def by_loops(h, W_Q, W_K, W_V, *, p):
    mask, heads, weights = _looks(len(h), p), [], []
    for Q, K, V in zip(W_Q, W_K, W_V):  # noqa: B905 - one head at a time
        rows, results = [], []
        for t, x in enumerate(h):
            seen = h[mask[t]]
            scores = seen @ K.T @ (Q @ x)
            scores = scores / len(Q) ** 0.5 if p["scaled"] else scores
            e = (scores - scores.max()).exp()
            row_of_t = e / e.sum()
            rows.append(torch.zeros(len(h), dtype=h.dtype).masked_scatter(mask[t], row_of_t))
            results.append(V @ (row_of_t @ seen))
        weights.append(torch.stack(rows))
        heads.append(torch.stack(results))
    return torch.stack(weights), torch.cat(heads, dim=1)


def by_plain_tensors(h, W_Q, W_K, W_V, *, p):
    """With tensors made without a word about their dtype."""
    (K, U, _), I, T = W_Q.shape, W_V.shape[1], len(h)  # noqa: E741
    alpha, out = torch.zeros(K, T, T), torch.zeros(T, K * I)
    mask = torch.zeros(T, T).masked_fill(~_looks(T, p), -1e9)
    for k in range(K):
        scores = (h @ W_Q[k].T) @ (h @ W_K[k].T).T
        weights = torch.softmax((scores / torch.sqrt(torch.tensor(U)) if p["scaled"] else scores) + mask, dim=1)
        alpha[k] = weights
        out[:, k * I : (k + 1) * I] = weights @ (h @ W_V[k].T)
    return alpha, out


def row_together(p):
    return f"O(ln({row(p)} U))"


def row_largest(p):
    return f"max(ln({row(p)}), ln(U))"


def row_sum_inside(p):
    return f"Theta(log({row(p)} + U))"


def row_constants(p):
    return f"3*log2({row(p)}) + 7*log10(U^2) + 5"


def row_practice_largest(p):
    return f"max(U, {f'ln({row(p)})' if p['row_serial'] == 'scores' else row(p)})"


def row_practice_constants(p):
    return f"O(2U + {f'log2({row(p)})' if p['row_serial'] == 'scores' else row(p)} + ln(U))"


def layer_together(p):
    return f"O({chained(p, 'ln(T J F)' if p['layer'] == 'feed_forward' else 'ln(T J)')})"


def layer_with_heads(p):
    return f"O({chained(p, 'ln T + ln J + ln K + ln U' + hidden(p, 'ln F'))})"


def layer_split(p):
    return f"O({chained(p, 'ln(T) + ln(J/K) + ln(K)' + hidden(p, 'ln F'))})"


def layer_largest(p):
    return f"O({chained(p, 'ln(T + J + F)' if p['layer'] == 'feed_forward' else 'ln(T + J)')})"


def layer_practice_largest(p):
    positions = "ln(T)" if p["serial"] == "features" else "T"
    return f"O({chained(p, f'max(J, {positions})' + hidden(p, 'F'))})"


def layer_practice_all(p):
    positions = "log2(T)" if p["serial"] == "features" else "T"
    return f"O({chained(p, f'J + U + I + 2{positions} + ln(K)' + hidden(p, 'F + J'))})"


def work_by_heads(p):
    attention = "T U I" if p["layer"] == "linear" else "T^2 (U + I)"
    work = f"K (T J (2U + I) + {attention}){hidden(p, '2 T J F')}"
    return f"O(L ({work}))" if p["layer"] == "stack" else f"O({work})"


def work_with_constants(p):
    return f"O(3 ({worked(p)}) + T K)"


def steps_by_floor(p):
    positions = "floor(log2(N-1)) + 1"
    return f"floor(log2(U-1)) + 4 + {positions}" + (f" + 1 + {positions}" if p["stable"] else "")


def steps_in_latex(p):
    factor, singles = ("2", 4) if p["stable"] else ("", 3)
    return rf"{singles} + \lceil \log_2 U \rceil + {factor}\lceil \log_2 N \rceil"


EQUIVALENTS = {
    "softmax_steps": [steps_by_floor, steps_in_latex],
    "layer": [by_matrices, merged, by_sdpa, by_loops, by_plain_tensors],
    "softmax_time": [row_together, row_largest, row_sum_inside, row_constants],
    "softmax_practice": [row_practice_largest, row_practice_constants],
    "layer_time": [layer_together, layer_with_heads, layer_split, layer_largest],
    "layer_practice": [layer_practice_largest, layer_practice_all],
    "layer_work": [work_by_heads, work_with_constants],
}

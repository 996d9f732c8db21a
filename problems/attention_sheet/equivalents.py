"""Correct code written differently; each must earn full marks."""

import torch

from . import proof_mistakes


def _seen_by(t, T, p):
    """The positions that position t sees, as a list."""
    first = max(0, t - p["width"] + 1) if p["mask"] == "window" else 0
    last = max(t, p["width"] - 1) if p["mask"] == "prefix" else t
    return [s for s in range(T) if first <= s <= last]


def row_by_row(scores, *, p):
    K, T, _ = scores.shape
    alpha = torch.zeros_like(scores)
    for k in range(K):
        for t in range(T):
            seen = _seen_by(t, T, p)
            alpha[k, t, seen] = torch.softmax(scores[k, t, seen], dim=0)
    return alpha


def added_infinity(scores, *, p):
    T = scores.shape[-1]
    mask = torch.full((T, T), float("-inf"), dtype=scores.dtype)
    for t in range(T):
        mask[t, _seen_by(t, T, p)] = 0.0
    return (scores + mask).softmax(-1)


def lowest_number(scores, *, p):
    T = scores.size(1)
    seen = torch.tril(torch.ones(T, T, dtype=torch.bool))
    if p["mask"] == "window":
        seen = seen.triu(1 - p["width"])
    if p["mask"] == "prefix":
        seen[:, : p["width"]] = True
    return torch.nn.functional.softmax(torch.where(seen, scores, torch.finfo(scores.dtype).min), dim=2)


def by_exponentials(scores, *, p):
    T = scores.shape[1]
    seen = torch.zeros(T, T, dtype=torch.bool)
    for t in range(T):
        seen[t, _seen_by(t, T, p)] = True
    hidden = scores.masked_fill(~seen, -1e9)
    weights = torch.exp(hidden - hidden.max(dim=-1, keepdim=True).values)
    return weights / weights.sum(-1, keepdim=True)


def by_one_hot(tokens, E_tok, E_seg, E_pos, sep, *, p):
    is_end = tokens == sep
    segments = torch.cat([torch.zeros(1, dtype=torch.long), is_end.long().cumsum(0)[:-1]])
    positions = torch.arange(len(tokens))
    if p["restart"]:
        positions = torch.cat([torch.arange(int((segments == s).sum())) for s in segments.unique()])
    hot = torch.nn.functional.one_hot
    stacked = torch.cat([E_tok, E_seg, E_pos])
    rows = [hot(tokens, len(E_tok)), hot(segments, len(E_seg)), hot(positions, len(E_pos))]
    return torch.cat(rows, dim=1).to(stacked.dtype) @ stacked


def token_by_token(tokens, E_tok, E_seg, E_pos, sep, *, p):
    rows, segment, position = [], 0, 0
    for token in tokens:
        rows.append(E_tok[token] + E_seg[segment] + E_pos[position])
        position += 1
        if token == sep:
            segment += 1
            if p["restart"]:
                position = 0
    return torch.stack(rows)


def by_embedding_bag(tokens, E_tok, E_seg, E_pos, sep, *, p):
    segment, count, segments, positions = 0, 0, [], []
    for number, token in enumerate(tokens.tolist()):
        segments.append(segment)
        positions.append(count if p["restart"] else number)
        segment, count = (segment + 1, 0) if token == sep else (segment, count + 1)
    lookup = torch.nn.functional.embedding
    return lookup(tokens, E_tok) + lookup(torch.tensor(positions), E_pos) + lookup(torch.tensor(segments), E_seg)


# The typed answers.


def layer_cost_by_heads(p):
    two = 2 if p["adds"] else 1
    return f"h*(3*{two}*n*d*(d/h) + 2*{two}*n^2*(d/h)) + {two}*n*d^2"


def parameters_by_matrices(p):
    if p["sharing"] == "fixed":
        return "3 h (d w) + (h w) d"
    shared = {"full": "h", "multi_query": "1", "grouped": "g"}[p["sharing"]]
    return f"h d (d/h) + 2 ({shared}) d (d/h) + d^2"


def pairs_by_rows(p):
    """The full square less what is hidden, or rows that grow and rows that do not."""
    return {
        "causal": "T^2 - (T^2 - T)/2",
        "window": "w(w+1)/2 + (T - w) w",
        "prefix": "q^2 + (T - q) q + (T - q)(T - q + 1)/2",
    }[p["mask"]]


def bert_sum_in_latex(p):
    place = "r_t" if p["restart"] else "t"
    return (
        rf"E[t,j] = E^{{\text{{pos}}}}[{place},j] + "
        r"\left(E^{\text{seg}}[s_t,j] + E^{\text{tok}}[w_t,j]\right)"
    )


def bert_sum_in_steps(p):
    place = "r[t]" if p["restart"] else "t"
    return f"A[t,j] = E^tok[w[t],j] + E^seg[s[t],j]\nE[t,J] = A[t,J] + E^pos[{place},J]"


def bert_parameters_apart(p):
    return "V d + S d + d P" + (" + d + d" if p["norm"] else "")


def ratio_written_out(p):
    return "(4 n^2 d)/(2 n d^2)" if p["matrices"] == "state" else "4 n^2 d / (4 n d^2)"


def cost_factored(p):
    return f"{4 if p['adds'] else 2} n d (2 d + n)"


EQUIVALENTS = {
    **proof_mistakes.EQUIVALENTS,
    "self_attention": ["O(2 n^2 d + n^2)", "n^2 (d+1)", "O(4n^2d)", r"\mathcal{O}(n^2 \cdot d)", "n*n*d"],
    "recurrent": ["O(2 n d^2 + n d)", "n d (d+1)", r"O(n \cdot d^2)"],
    "convolution": ["O(2 k n d^2 + n d)", "n*k*d*d"],
    "path_contiguous": ["(n-1)/(k-1)", "O(2n/k)", "n/(k-1) + 1"],
    "path_dilated": ["log_k(n)", "O(log2(n)/log2(k))", r"O(\log_k n)", "O(1 + log_k(n))"],
    "flop_ratio": [ratio_written_out],
    "layer_cost": [layer_cost_by_heads, cost_factored],
    "layer_parameters": [parameters_by_matrices],
    "masked_weights": [added_infinity, lowest_number, by_exponentials, row_by_row],
    "visible_pairs": [pairs_by_rows],
    "bert_sum": [bert_sum_in_latex, bert_sum_in_steps],
    "bert_input": [by_one_hot, token_by_token, by_embedding_bag],
    "bert_parameters": [bert_parameters_apart],
}

"""Right code in other dress; each must keep every point."""

import torch


def seen_by(t, T, p):
    """The positions that position t sees, as a list."""
    first = max(0, t - p["width"] + 1) if p["mask"] == "window" else 0
    last = max(t, p["width"] - 1) if p["mask"] == "prefix" else t
    return [s for s in range(T) if first <= s <= last]


def row_by_row(scores, *, p):
    K, T, _ = scores.shape
    alpha = torch.zeros_like(scores)
    for k in range(K):
        for t in range(T):
            seen = seen_by(t, T, p)
            alpha[k, t, seen] = torch.softmax(scores[k, t, seen], dim=0)
    return alpha


def added_infinity(scores, *, p):
    T = scores.shape[-1]
    mask = torch.full((T, T), float("-inf"), dtype=scores.dtype)
    for t in range(T):
        mask[t, seen_by(t, T, p)] = 0.0
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
        seen[t, seen_by(t, T, p)] = True
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

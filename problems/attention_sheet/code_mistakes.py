"""Wrong code for the mask and for BERT's input; the docstring is the hint that whoever writes the same reads."""

import torch


def _visible(T, p, *, left=0, mask=None):
    """Which positions are seen: rows look, columns are looked at; `left` positions more than the mask says."""
    looks, seen = torch.arange(T)[:, None], torch.arange(T)[None, :]
    mask = mask or p["mask"]
    if mask == "causal":
        return seen <= looks + left
    if mask == "window":
        return (seen <= looks) & (seen > looks - p["width"] - left)
    return (seen <= looks) | (seen < p["width"] + left)


def scores_times_zero(scores, *, p):
    """You multiplied scores by zero: a score of zero still has a weight."""
    return torch.softmax(scores * _visible(scores.shape[1], p), dim=-1)


def weights_times_zero(scores, *, p):
    """Your rows no longer sum to one: what is hidden must leave before the softmax."""
    return torch.softmax(scores, dim=-1) * _visible(scores.shape[1], p)


def future_instead_of_past(scores, *, p):
    """Your mask is transposed: rows are the positions that look."""
    return torch.softmax(scores.masked_fill(~_visible(scores.shape[1], p).T, -torch.inf), dim=-1)


def one_too_many(scores, *, p):
    """Your positions see one position more than they should."""
    return torch.softmax(scores.masked_fill(~_visible(scores.shape[1], p, left=1), -torch.inf), dim=-1)


def one_too_few(scores, *, p):
    """Your positions see one position fewer than they should; each sees itself."""
    seen = _visible(scores.shape[1], p, left=-1)
    seen = seen | (torch.arange(len(seen))[:, None] + torch.arange(len(seen)) == 0)  # the first row keeps itself
    return torch.softmax(scores.masked_fill(~seen, -torch.inf), dim=-1)


def other_mask(scores, *, p):
    """Read once more which positions are seen in this exercise."""
    mask = "window" if p["mask"] == "causal" else "causal"
    return torch.softmax(scores.masked_fill(~_visible(scores.shape[1], p, mask=mask), -torch.inf), dim=-1)


def not_masked(scores, *, p):
    """Nothing is masked."""
    return torch.softmax(scores, dim=-1)


def softmax_over_lookers(scores, *, p):
    """Your columns sum to one: the weights of one position are shared out among those that it looks at."""
    seen = _visible(scores.shape[1], p)
    return torch.softmax(scores.masked_fill(~seen, -torch.inf), dim=-2)


def minus_hundred(scores, *, p):
    """Your mask adds a number of moderate size: a large score overcomes it."""
    return torch.softmax(scores - 100.0 * ~_visible(scores.shape[1], p), dim=-1)


def minus_ten(scores, *, p):
    """Your mask makes hidden positions unlikely, not impossible."""
    return torch.softmax(scores.masked_fill(~_visible(scores.shape[1], p), -10.0), dim=-1)


def _numbers(tokens, sep, restart):
    """Segments and positions of the tokens, by a loop."""
    segments, positions, segment, position = [], [], 0, 0
    for token in tokens.tolist():
        segments.append(segment)
        positions.append(position)
        position += 1
        if token == sep:
            segment += 1
            position = 0 if restart else position
    return torch.tensor(segments), torch.tensor(positions)


def concatenated(tokens, E_tok, E_seg, E_pos, sep, *, p):
    """You put the three vectors side by side."""
    segments, positions = _numbers(tokens, sep, p["restart"])
    return torch.cat([E_tok[tokens], E_seg[segments], E_pos[positions]], dim=1)


def multiplied(tokens, E_tok, E_seg, E_pos, sep, *, p):
    """You multiplied word and segment, entry by entry."""
    segments, positions = _numbers(tokens, sep, p["restart"])
    return E_tok[tokens] * E_seg[segments] + E_pos[positions]


def without_segments(tokens, E_tok, E_seg, E_pos, sep, *, p):
    """The segment is missing."""
    return E_tok[tokens] + E_pos[_numbers(tokens, sep, p["restart"])[1]]


def without_positions(tokens, E_tok, E_seg, E_pos, sep, *, p):
    """The position is missing."""
    return E_tok[tokens] + E_seg[_numbers(tokens, sep, p["restart"])[0]]


def separator_to_the_next(tokens, E_tok, E_seg, E_pos, sep, *, p):
    """A separator ends its sentence; with you it opens the next one."""
    _, positions = _numbers(tokens, sep, p["restart"])
    segments = (tokens == sep).long().cumsum(0).clamp(max=len(E_seg) - 1)
    return E_tok[tokens] + E_seg[segments] + E_pos[positions]


def no_separator_at_first(tokens, E_tok, E_seg, E_pos, sep, *, p):
    """A separator in the very first place ends a sentence as well: the next token belongs to the second one."""
    other = torch.cat([torch.full_like(tokens[:1], sep + 1), tokens[1:]])
    segments, positions = _numbers(other, sep, p["restart"])
    return E_tok[tokens] + E_seg[segments] + E_pos[positions]


def positions_the_other_way(tokens, E_tok, E_seg, E_pos, sep, *, p):
    """Read once more whether positions start again in each sentence."""
    segments, positions = _numbers(tokens, sep, not p["restart"])
    return E_tok[tokens] + E_seg[segments] + E_pos[positions]


def positions_from_one(tokens, E_tok, E_seg, E_pos, sep, *, p):
    """Your first position has the number 1; it is row 0 of the table."""
    segments, positions = _numbers(tokens, sep, p["restart"])
    return E_tok[tokens] + E_seg[segments] + E_pos[positions + 1]


def sinusoids(tokens, E_tok, E_seg, E_pos, sep, *, p):
    """Your positions are sinusoids; there is a table for them."""
    segments, positions = _numbers(tokens, sep, p["restart"])
    J = E_tok.shape[1]
    angles = positions[:, None] / 10000 ** (2 * (torch.arange(J, dtype=E_tok.dtype) // 2) / J)
    waves = torch.where(torch.arange(J) % 2 == 0, angles.sin(), angles.cos())
    return E_tok[tokens] + E_seg[segments] + waves


def segment_counts_words(tokens, E_tok, E_seg, E_pos, sep, *, p):
    """Your segment is the number of the word in its sentence; it is the number of the sentence."""
    _, within = _numbers(tokens, sep, True)
    _, positions = _numbers(tokens, sep, p["restart"])
    return E_tok[tokens] + E_seg[within.clamp(max=len(E_seg) - 1)] + E_pos[positions]


def two_segments_alternate(tokens, E_tok, E_seg, E_pos, sep, *, p):
    """You used two segments in turn; the table has a row for each sentence."""
    segments, positions = _numbers(tokens, sep, p["restart"])
    return E_tok[tokens] + E_seg[segments % 2] + E_pos[positions]

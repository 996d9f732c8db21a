"""Wrong code that students write; the docstring is the hint that whoever gives the same answers reads."""

import torch


def _asker(h, x, p):
    return h if p["query"] == "state" else x


def _behind(M, lengths, first=0):
    return torch.arange(M.shape[1]) + first >= lengths[:, None]


def _seen(alpha, M):
    return alpha, torch.einsum("bs,bsj->bj", alpha, M)


def no_padding(h, x, M, W_key, lengths, *, p):
    """You also look at what stands behind a source's last word."""
    return _seen(torch.softmax(torch.einsum("bj,bsj->bs", _asker(h, x, p) @ W_key, M), 1), M)


def masked_after(h, x, M, W_key, lengths, *, p):
    """You took weight away from what stands behind the last word, but gave it to nobody: weights sum to one."""
    alpha, _ = no_padding(h, x, M, W_key, lengths, p=p)
    return _seen(alpha.masked_fill(_behind(M, lengths), 0.0), M)


def masked_by_zero(h, x, M, W_key, lengths, *, p):
    """A score of zero is an ordinary score: what it belongs to still has weight."""
    s = torch.einsum("bj,bsj->bs", _asker(h, x, p) @ W_key, M)
    return _seen(torch.softmax(s.masked_fill(_behind(M, lengths), 0.0), 1), M)


def masked_moderately(h, x, M, W_key, lengths, *, p):
    """Your mask is a moderate number, which other scores may fall below."""
    s = torch.einsum("bj,bsj->bs", _asker(h, x, p) @ W_key, M)
    return _seen(torch.softmax(s.masked_fill(_behind(M, lengths), -100.0), 1), M)


def one_word_less(h, x, M, W_key, lengths, *, p):
    """You leave out the last word of the longer sources: the first lengths[b] positions are looked at."""
    s = torch.einsum("bj,bsj->bs", _asker(h, x, p) @ W_key, M)
    return _seen(torch.softmax(s.masked_fill(_behind(M, lengths.clamp(min=2), 1), -torch.inf), 1), M)


def scaled_look(h, x, M, W_key, lengths, *, p):
    """You divided by a square root that this attention does not have."""
    s = torch.einsum("bj,bsj->bs", _asker(h, x, p) @ W_key, M) / M.shape[2] ** 0.5
    return _seen(torch.softmax(s.masked_fill(_behind(M, lengths), -torch.inf), 1), M)


def over_the_batch(h, x, M, W_key, lengths, *, p):
    """Your weights sum to one over the sentences of the batch."""
    s = torch.einsum("bj,bsj->bs", _asker(h, x, p) @ W_key, M)
    return _seen(torch.softmax(s, 0).masked_fill(_behind(M, lengths), 0.0), M)


def keys_seen(h, x, M, W_key, lengths, *, p):
    """You average what the scores are made of; what is seen are the vectors of the source."""
    s = torch.einsum("bj,bsj->bs", _asker(h, x, p) @ W_key, M)
    alpha = torch.softmax(s.masked_fill(_behind(M, lengths), -torch.inf), 1)
    return alpha, (_asker(h, x, p) @ W_key) * _seen(alpha, M)[1]


def best_alone(h, x, M, W_key, lengths, *, p):
    """You see the position with the largest weight alone; all of them are averaged."""
    s = torch.einsum("bj,bsj->bs", _asker(h, x, p) @ W_key, M).masked_fill(_behind(M, lengths), -torch.inf)
    return torch.softmax(s, 1), M[torch.arange(len(M)), s.argmax(1)]


def weights_cut(h, x, M, W_key, lengths, *, p):
    """The values are right, but no gradient flows through the weights to what is seen."""
    s = torch.einsum("bj,bsj->bs", _asker(h, x, p) @ W_key, M)
    alpha = torch.softmax(s.masked_fill(_behind(M, lengths), -torch.inf), 1)
    return alpha, _seen(alpha.detach(), M)[1]


def seen_alone(h, x, M, W_key, lengths, *, p):
    """You return what is seen alone; the weights are wanted, too."""
    s = torch.einsum("bj,bsj->bs", _asker(h, x, p) @ W_key, M)
    return _seen(torch.softmax(s.masked_fill(_behind(M, lengths), -torch.inf), 1), M)[1]


# A translation


def _translated(M, h, start, e, W_key, W_auto, W_h, W_V, W_x, B, T, p, **how):
    x, words, weights = start.expand(len(M), -1), [], []
    for _ in range(T):
        asker = _asker(h, x, how.get("asks", p))
        s = torch.einsum("bj,bsj->bs", asker @ W_key, M) if asker.shape[1] == len(W_key) else M.sum(2)
        alpha = torch.softmax(s, 1)
        V = torch.einsum("bs,bsj->bj", alpha, M)
        new = torch.tanh(h @ W_h.T + V @ W_V.T + x @ W_x.T + how.get("sign", -1) * B)
        scores = (h if how.get("late") else new) @ W_auto.T @ e.T
        word = scores.argmin(1) if how.get("least") else scores.argmax(1)
        h = h if how.get("keeps") else new
        x = start.expand(len(M), -1) if how.get("deaf") else e[word]
        words.append(word)
        weights.append(alpha)
    return torch.stack(words, 1), torch.stack(weights, 1)


def least_likely(M, h, start, e, W_key, W_auto, W_h, W_V, W_x, B, T, *, p):
    """You write the least likely word."""
    return _translated(M, h, start, e, W_key, W_auto, W_h, W_V, W_x, B, T, p, least=True)


def late_words(M, h, start, e, W_key, W_auto, W_h, W_V, W_x, B, T, *, p):
    """Your words follow from the state before the step: what a step sees comes one word late."""
    return _translated(M, h, start, e, W_key, W_auto, W_h, W_V, W_x, B, T, p, late=True)


def state_kept(M, h, start, e, W_key, W_auto, W_h, W_V, W_x, B, T, *, p):
    """Every step of yours begins with the first state."""
    return _translated(M, h, start, e, W_key, W_auto, W_h, W_V, W_x, B, T, p, keeps=True)


def own_words_unread(M, h, start, e, W_key, W_auto, W_h, W_V, W_x, B, T, *, p):
    """Every step of yours reads `start`; from the second on, the word that was written last is read."""
    return _translated(M, h, start, e, W_key, W_auto, W_h, W_V, W_x, B, T, p, deaf=True)


def translated_with_bias_added(M, h, start, e, W_key, W_auto, W_h, W_V, W_x, B, T, *, p):
    """You added the bias. Here a bias is a threshold."""
    return _translated(M, h, start, e, W_key, W_auto, W_h, W_V, W_x, B, T, p, sign=1)


def weights_first(M, h, start, e, W_key, W_auto, W_h, W_V, W_x, B, T, *, p):
    """You return the weights first; the words come first."""
    words, weights = _translated(M, h, start, e, W_key, W_auto, W_h, W_V, W_x, B, T, p)
    return weights, words


def steps_first(M, h, start, e, W_key, W_auto, W_h, W_V, W_x, B, T, *, p):
    """Your results have the steps first; the sentences of the batch come first."""
    words, weights = _translated(M, h, start, e, W_key, W_auto, W_h, W_V, W_x, B, T, p)
    return words.T, weights.transpose(0, 1)


def aligned_once(M, h, start, e, W_key, W_auto, W_h, W_V, W_x, B, T, *, p):
    """You look once and write the whole translation by it; every step looks anew."""
    _, weights = _translated(M, h, start, e, W_key, W_auto, W_h, W_V, W_x, B, T, p)
    V = torch.einsum("bs,bsj->bj", weights[:, 0], M)
    x, words = start.expand(len(M), -1), []
    for _ in range(T):
        h = torch.tanh(h @ W_h.T + V @ W_V.T + x @ W_x.T - B)
        words.append((h @ W_auto.T @ e.T).argmax(1))
        x = e[words[-1]]
    return torch.stack(words, 1), weights[:, :1].expand(-1, T, -1)


# Attention with heads


def _attended(x, memory, W_Q, W_K, W_V, W_O, p, scale=None, over=3, cut=False, join=None):
    query = torch.einsum("kuj,btj->bktu", W_Q, x)
    key = torch.einsum("kum,bsm->bksu", W_K, memory)
    value = torch.einsum("kim,bsm->bksi", W_V, memory)
    scale = (W_Q.shape[1] ** -0.5 if p["scaled"] else 1.0) if scale is None else scale
    alpha = torch.softmax(query @ key.transpose(2, 3) * scale, over)
    heads = (alpha.detach() if cut else alpha) @ value
    joined = heads.transpose(1, 2).flatten(2) if join is None else join(heads)
    return joined @ W_O.T


def cross_other_scale(x, memory, W_Q, W_K, W_V, W_O, *, p):
    """Read once more what the scores are divided by here, if by anything."""
    return _attended(x, memory, W_Q, W_K, W_V, W_O, p, scale=1.0 if p["scaled"] else W_Q.shape[1] ** -0.5)


def cross_by_model_width(x, memory, W_Q, W_K, W_V, W_O, *, p):
    """It is not the width of a vector of the model that scores are divided by."""
    return _attended(x, memory, W_Q, W_K, W_V, W_O, p, scale=x.shape[2] ** -0.5)


def cross_by_all_heads(x, memory, W_Q, W_K, W_V, W_O, *, p):
    """You divided by the width of all heads together, or where nothing is divided."""
    return _attended(x, memory, W_Q, W_K, W_V, W_O, p, scale=(len(W_Q) * W_Q.shape[1] + 1) ** -0.5)


def cross_over_queries(x, memory, W_Q, W_K, W_V, W_O, *, p):
    """Your weights sum to one over the positions that ask; they do so over those that are asked."""
    return _attended(x, memory, W_Q, W_K, W_V, W_O, p, over=2)


def cross_over_heads(x, memory, W_Q, W_K, W_V, W_O, *, p):
    """Your weights sum to one over the heads; each head has a distribution of its own."""
    return _attended(x, memory, W_Q, W_K, W_V, W_O, p, over=1)


def cross_entry_by_entry(x, memory, W_Q, W_K, W_V, W_O, *, p):
    """You put the first entries of all heads together, then the second ones; the heads come one after the other."""
    return _attended(x, memory, W_Q, W_K, W_V, W_O, p, join=lambda heads: heads.permute(0, 2, 3, 1).flatten(2))


def cross_heads_not_moved(x, memory, W_Q, W_K, W_V, W_O, *, p):
    """You brought the heads into a row without putting the positions first: entries of several positions are mixed."""
    return _attended(x, memory, W_Q, W_K, W_V, W_O, p, join=lambda heads: heads.reshape(len(x), x.shape[1], -1))


def cross_causal(x, memory, W_Q, W_K, W_V, W_O, *, p):
    """You hide a part of the sequence that is asked; every position may look at all of it."""
    T, S = x.shape[1], memory.shape[1]
    query, key = torch.einsum("kuj,btj->bktu", W_Q, x), torch.einsum("kum,bsm->bksu", W_K, memory)
    hidden = torch.ones(T, S, dtype=torch.bool).triu(1)
    scores = (query @ key.transpose(2, 3) * (W_Q.shape[1] ** -0.5 if p["scaled"] else 1.0)).masked_fill(
        hidden, -torch.inf
    )
    heads = torch.softmax(scores, 3) @ torch.einsum("kim,bsm->bksi", W_V, memory)
    return heads.transpose(1, 2).flatten(2) @ W_O.T


def cross_added_to_x(x, memory, W_Q, W_K, W_V, W_O, *, p):
    """You added what asks; the attention alone is wanted."""
    return x + _attended(x, memory, W_Q, W_K, W_V, W_O, p)


def cross_cut(x, memory, W_Q, W_K, W_V, W_O, *, p):
    """The values are right, but no gradient flows through the weights."""
    return _attended(x, memory, W_Q, W_K, W_V, W_O, p, cut=True)


CODE = {
    "look": [
        no_padding,
        masked_after,
        masked_by_zero,
        masked_moderately,
        one_word_less,
        scaled_look,
        over_the_batch,
        keys_seen,
        best_alone,
        weights_cut,
        seen_alone,
    ],
    "translate": [
        least_likely,
        late_words,
        state_kept,
        own_words_unread,
        translated_with_bias_added,
        weights_first,
        steps_first,
        aligned_once,
    ],
    "cross_attention": [
        cross_other_scale,
        cross_by_model_width,
        cross_by_all_heads,
        cross_over_queries,
        cross_over_heads,
        cross_entry_by_entry,
        cross_heads_not_moved,
        cross_causal,
        cross_added_to_x,
        cross_cut,
    ],
}

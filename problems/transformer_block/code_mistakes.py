"""Wrong code that students write; the docstring is the hint that whoever gives the same answers reads."""

import torch


def _activated(a, p):
    if p["activation"] == "silu":
        return a * torch.sigmoid(a)
    return torch.relu(a) if p["activation"] == "relu" else torch.relu(a) ** 2


def _inner(L, W_FF1, B_FF1, W_FF2, B_FF2, p):
    return _activated(L @ W_FF1.T - B_FF1, p) @ W_FF2.T - B_FF2


def ff_biases_added(L, W_FF1, B_FF1, W_FF2, B_FF2, *, p):
    """You added the biases. Here a bias is a threshold."""
    return _inner(L, W_FF1, -B_FF1, W_FF2, -B_FF2, p)


def ff_no_activation(L, W_FF1, B_FF1, W_FF2, B_FF2, *, p):
    """Without an activation between them, two matrices are one."""
    return (L @ W_FF1.T - B_FF1) @ W_FF2.T - B_FF2


def ff_other_activation(L, W_FF1, B_FF1, W_FF2, B_FF2, *, p):
    """Read once more which activation function the layer has here."""
    other = {"relu": "silu", "silu": "relu", "squared relu": "relu"}[p["activation"]]
    return _inner(L, W_FF1, B_FF1, W_FF2, B_FF2, {"activation": other})


def ff_activated_twice(L, W_FF1, B_FF1, W_FF2, B_FF2, *, p):
    """There is no activation behind the second matrix."""
    return torch.relu(_inner(L, W_FF1, B_FF1, W_FF2, B_FF2, p))


def ff_stream_added(L, W_FF1, B_FF1, W_FF2, B_FF2, *, p):
    """The layer alone is wanted, without the way past it."""
    return L + _inner(L, W_FF1, B_FF1, W_FF2, B_FF2, p)


def ff_one_bias(L, W_FF1, B_FF1, W_FF2, B_FF2, *, p):
    """Both matrices have a bias."""
    return _inner(L, W_FF1, B_FF1, W_FF2, 0 * B_FF2, p)


def ff_leaky(L, W_FF1, B_FF1, W_FF2, B_FF2, *, p):
    """Your activation lets a small part of negative numbers through."""
    return _activated(L @ W_FF1.T - B_FF1, p) @ W_FF2.T - B_FF2 + 0.01 * torch.relu(B_FF1 - L @ W_FF1.T) @ W_FF2.T


def ff_detached(L, W_FF1, B_FF1, W_FF2, B_FF2, *, p):
    """The values are right, but no gradient flows through the activation."""
    return _activated(L @ W_FF1.T - B_FF1, p).detach() @ W_FF2.T - B_FF2


# The block


def _norm(x, gain, p, eps=1e-5):
    if p["norm"] == "layer":
        x = x - x.mean(-1, keepdim=True)
    return gain * x / torch.sqrt((x**2).mean(-1, keepdim=True) + eps)


def _attention(L, W_Q, W_K, W_V, W_O, p, **how):
    query, key, value = (torch.einsum("kuj,btj->bktu", W, L) for W in (W_Q, W_K, W_V))
    scores = query @ key.mT / (1.0 if how.get("unscaled") else W_Q.shape[1] ** 0.5)
    if p["causal"]:
        later = torch.ones(scores.shape[2:], dtype=torch.bool).triu(1)
        scores = scores.masked_fill(later, -torch.inf)
    heads = torch.softmax(scores, how.get("over", 3)) @ value
    joined = heads.transpose(1, 2).flatten(2) if not how.get("mixed") else heads.permute(0, 2, 3, 1).flatten(2)
    return joined @ W_O.T


def _block(L, W_Q, W_K, W_V, W_O, gain_1, W_FF1, B_FF1, W_FF2, B_FF2, gain_2, p, norm=_norm, **how):
    matrices, inner = (W_Q, W_K, W_V, W_O), (W_FF1, B_FF1, W_FF2, B_FF2)
    if p["place"] == "before":
        L = L + _attention(norm(L, gain_1, p), *matrices, p, **how)
        return L + _inner(norm(L, gain_2, p), *inner, p)
    L = norm(L + _attention(L, *matrices, p, **how), gain_1, p)
    return norm(L + _inner(L, *inner, p), gain_2, p)


def block_other_place(L, W_Q, W_K, W_V, W_O, gain_1, W_FF1, B_FF1, W_FF2, B_FF2, gain_2, *, p):
    """Read once more where the norms stand."""
    other = {**p, "place": "after" if p["place"] == "before" else "before"}
    return _block(L, W_Q, W_K, W_V, W_O, gain_1, W_FF1, B_FF1, W_FF2, B_FF2, gain_2, other)


def block_other_norm(L, W_Q, W_K, W_V, W_O, gain_1, W_FF1, B_FF1, W_FF2, B_FF2, gain_2, *, p):
    """Read once more whether this norm subtracts a mean."""
    other = {**p, "norm": "rms" if p["norm"] == "layer" else "layer"}
    return _block(L, W_Q, W_K, W_V, W_O, gain_1, W_FF1, B_FF1, W_FF2, B_FF2, gain_2, other)


def block_other_mask(L, W_Q, W_K, W_V, W_O, gain_1, W_FF1, B_FF1, W_FF2, B_FF2, gain_2, *, p):
    """Read once more who may look at whom."""
    other = {**p, "causal": not p["causal"]}
    return _block(L, W_Q, W_K, W_V, W_O, gain_1, W_FF1, B_FF1, W_FF2, B_FF2, gain_2, other)


def block_unscaled(L, W_Q, W_K, W_V, W_O, gain_1, W_FF1, B_FF1, W_FF2, B_FF2, gain_2, *, p):
    """Your scores are not divided by the root of a query's width."""
    return _block(L, W_Q, W_K, W_V, W_O, gain_1, W_FF1, B_FF1, W_FF2, B_FF2, gain_2, p, unscaled=True)


def block_heads_mixed(L, W_Q, W_K, W_V, W_O, gain_1, W_FF1, B_FF1, W_FF2, B_FF2, gain_2, *, p):
    """You put the first entries of all heads together, then the second ones; the heads come one after the other."""
    return _block(L, W_Q, W_K, W_V, W_O, gain_1, W_FF1, B_FF1, W_FF2, B_FF2, gain_2, p, mixed=True)


def block_over_heads(L, W_Q, W_K, W_V, W_O, gain_1, W_FF1, B_FF1, W_FF2, B_FF2, gain_2, *, p):
    """Your weights do not sum to one for each head and each position that looks."""
    open_to_all = {**p, "causal": False}
    return _block(L, W_Q, W_K, W_V, W_O, gain_1, W_FF1, B_FF1, W_FF2, B_FF2, gain_2, open_to_all, over=1)


def block_no_gains(L, W_Q, W_K, W_V, W_O, gain_1, W_FF1, B_FF1, W_FF2, B_FF2, gain_2, *, p):
    """The gains of your norms have no effect."""
    one = torch.ones_like(gain_1)
    return _block(L, W_Q, W_K, W_V, W_O, one, W_FF1, B_FF1, W_FF2, B_FF2, one, p)


def block_gains_exchanged(L, W_Q, W_K, W_V, W_O, gain_1, W_FF1, B_FF1, W_FF2, B_FF2, gain_2, *, p):
    """You exchanged the gains of the two norms."""
    return _block(L, W_Q, W_K, W_V, W_O, gain_2, W_FF1, B_FF1, W_FF2, B_FF2, gain_1, p)


def block_unbiased(L, W_Q, W_K, W_V, W_O, gain_1, W_FF1, B_FF1, W_FF2, B_FF2, gain_2, *, p):
    """The mean of the squares divides by how many there are, not by one less."""

    def norm(x, gain, p):
        x = x - x.mean(-1, keepdim=True) if p["norm"] == "layer" else x
        return gain * x / torch.sqrt((x**2).sum(-1, keepdim=True) / (x.shape[-1] - 1) + 1e-5)

    return _block(L, W_Q, W_K, W_V, W_O, gain_1, W_FF1, B_FF1, W_FF2, B_FF2, gain_2, p, norm=norm)


def block_without_way_past(L, W_Q, W_K, W_V, W_O, gain_1, W_FF1, B_FF1, W_FF2, B_FF2, gain_2, *, p):
    """Nothing leads around your feed-forward layer."""
    closed = (torch.zeros_like(W_FF1), torch.zeros_like(B_FF1), torch.zeros_like(W_FF2), torch.zeros_like(B_FF2))
    stream = _block(L, W_Q, W_K, W_V, W_O, gain_1, *closed, torch.ones_like(gain_2), p)
    if p["place"] == "before":
        return _inner(_norm(stream, gain_2, p), W_FF1, B_FF1, W_FF2, B_FF2, p)
    stream = _norm(L + _attention(L, W_Q, W_K, W_V, W_O, p), gain_1, p)
    return _norm(_inner(stream, W_FF1, B_FF1, W_FF2, B_FF2, p), gain_2, p)


def block_side_by_side(L, W_Q, W_K, W_V, W_O, gain_1, W_FF1, B_FF1, W_FF2, B_FF2, gain_2, *, p):
    """Your feed-forward layer reads the stream before the attention; it comes after it."""
    if p["place"] == "before":
        attended = _attention(_norm(L, gain_1, p), W_Q, W_K, W_V, W_O, p)
        return L + attended + _inner(_norm(L, gain_2, p), W_FF1, B_FF1, W_FF2, B_FF2, p)
    attended = _norm(L + _attention(L, W_Q, W_K, W_V, W_O, p), gain_1, p)
    return _norm(attended + _inner(L, W_FF1, B_FF1, W_FF2, B_FF2, p), gain_2, p)


def block_feed_forward_first(L, W_Q, W_K, W_V, W_O, gain_1, W_FF1, B_FF1, W_FF2, B_FF2, gain_2, *, p):
    """Your feed-forward layer comes before the attention."""
    if p["place"] == "before":
        L = L + _inner(_norm(L, gain_2, p), W_FF1, B_FF1, W_FF2, B_FF2, p)
        return L + _attention(_norm(L, gain_1, p), W_Q, W_K, W_V, W_O, p)
    L = _norm(L + _inner(L, W_FF1, B_FF1, W_FF2, B_FF2, p), gain_2, p)
    return _norm(L + _attention(L, W_Q, W_K, W_V, W_O, p), gain_1, p)


def block_biases_added(L, W_Q, W_K, W_V, W_O, gain_1, W_FF1, B_FF1, W_FF2, B_FF2, gain_2, *, p):
    """You added the biases. Here a bias is a threshold."""
    return _block(L, W_Q, W_K, W_V, W_O, gain_1, W_FF1, -B_FF1, W_FF2, -B_FF2, gain_2, p)


CODE = {
    "feed_forward": [
        ff_biases_added,
        ff_no_activation,
        ff_other_activation,
        ff_activated_twice,
        ff_stream_added,
        ff_one_bias,
        ff_leaky,
        ff_detached,
    ],
    "block": [
        block_other_place,
        block_other_norm,
        block_other_mask,
        block_unscaled,
        block_heads_mixed,
        block_over_heads,
        block_no_gains,
        block_gains_exchanged,
        block_unbiased,
        block_without_way_past,
        block_side_by_side,
        block_feed_forward_first,
        block_biases_added,
    ],
}

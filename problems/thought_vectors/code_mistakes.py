"""Wrong code that students write; the docstring is the hint that whoever gives the same answers reads."""

import torch


def _encoded(x, W_h, W_x, B, lengths, reads):
    g = torch.zeros(len(x), len(B), dtype=x.dtype)
    for s in reversed(range(x.shape[1])) if reads == "right to left" else range(x.shape[1]):
        g = torch.where((s < lengths)[:, None], torch.tanh(g @ W_h.T + x[:, s] @ W_x.T - B), g)
    return g


def thought_other_end(x, W_h, W_x, B, lengths, *, p):
    """Read once more from which end the source is read."""
    return _encoded(x, W_h, W_x, B, lengths, "left to right" if p["reads"] == "right to left" else "right to left")


def thought_with_padding(x, W_h, W_x, B, lengths, *, p):
    """You also read what stands behind the end of the shorter sources."""
    return _encoded(x, W_h, W_x, B, torch.full_like(lengths, x.shape[1]), p["reads"])


def thought_zeroed(x, W_h, W_x, B, lengths, *, p):
    """A word vector of zeros is read as a word: the state changes by it."""
    words = (torch.arange(x.shape[1]) < lengths[:, None])[..., None]
    return _encoded(x * words, W_h, W_x, B, torch.full_like(lengths, x.shape[1]), p["reads"])


def thought_bias_added(x, W_h, W_x, B, lengths, *, p):
    """You added the bias. Here a bias is a threshold."""
    return _encoded(x, W_h, W_x, -B, lengths, p["reads"])


def thought_transposed(x, W_h, W_x, B, lengths, *, p):
    """The square matrix is the wrong way round: W_h[j, i] leads from entry i to entry j."""
    return _encoded(x, W_h.T, W_x, B, lengths, p["reads"])


def thought_last_word_missing(x, W_h, W_x, B, lengths, *, p):
    """The last word of your sources is missing: the first lengths[b] positions are read."""
    return _encoded(x, W_h, W_x, B, (lengths - 1).clamp(min=1), p["reads"])


def thought_averaged(x, W_h, W_x, B, lengths, *, p):
    """You average the word vectors; they are read one after the other."""
    words = (torch.arange(x.shape[1]) < lengths[:, None])[..., None]
    return torch.tanh((x * words).sum(1) / lengths[:, None] @ W_x.T - B)


def thought_cut(x, W_h, W_x, B, lengths, *, p):
    """The values are right, but no gradient flows back from step to step."""
    g = torch.zeros(len(x), len(B), dtype=x.dtype)
    for s in reversed(range(x.shape[1])) if p["reads"] == "right to left" else range(x.shape[1]):
        g = torch.where((s < lengths)[:, None], torch.tanh(g.detach() @ W_h.T + x[:, s] @ W_x.T - B), g)
    return g


# The decoder


def _losses(c, v, start, e, W_auto, W_h, W_x, B, *, shifted=True, late=False):
    h, x, losses = c, start.expand(len(v), -1), []
    for t in range(v.shape[1]):
        new = torch.tanh(h @ W_h.T + (x if shifted else e[v[:, t]]) @ W_x.T - B)
        scores = (h if late else new) @ W_auto.T @ e.T
        losses.append(-torch.log_softmax(scores, 1).gather(1, v[:, t, None])[:, 0])
        h, x = new, e[v[:, t]]
    return torch.stack(losses, 1)


def _together(losses, lengths, p, counts=None):
    counts = torch.arange(losses.shape[1]) < lengths[:, None] if counts is None else counts
    total = (losses * counts).sum(1)
    return total / lengths if p["loss"] == "mean" else total


def reads_the_answer(c, v, start, e, lengths, W_auto, W_h, W_x, B, *, p):
    """Your decoder reads the word that it is to predict."""
    return _together(_losses(c, v, start, e, W_auto, W_h, W_x, B, shifted=False), lengths, p)


def one_step_late(c, v, start, e, lengths, W_auto, W_h, W_x, B, *, p):
    """Your scores come from the state before the step: the word just read has no part in them."""
    return _together(_losses(c, v, start, e, W_auto, W_h, W_x, B, late=True), lengths, p)


def padding_counts(c, v, start, e, lengths, W_auto, W_h, W_x, B, *, p):
    """You also count what stands behind the end of the shorter translations."""
    losses = _losses(c, v, start, e, W_auto, W_h, W_x, B)
    return _together(losses, lengths, p, counts=torch.ones_like(losses))


def other_reduction(c, v, start, e, lengths, W_auto, W_h, W_x, B, *, p):
    """Read once more whether losses are summed or averaged."""
    other = {"loss": "sum" if p["loss"] == "mean" else "mean"}
    return _together(_losses(c, v, start, e, W_auto, W_h, W_x, B), lengths, other)


def over_the_batch(c, v, start, e, lengths, W_auto, W_h, W_x, B, *, p):
    """You return one number; a loss is wanted for each translation."""
    return _together(_losses(c, v, start, e, W_auto, W_h, W_x, B), lengths, p).mean()


def thought_unused(c, v, start, e, lengths, W_auto, W_h, W_x, B, *, p):
    """Your decoder starts from zero: the thought vector has no effect."""
    return _together(_losses(0 * c, v, start, e, W_auto, W_h, W_x, B), lengths, p)


def sign_of_the_loss(c, v, start, e, lengths, W_auto, W_h, W_x, B, *, p):
    """This is the logarithm of the probability; a loss is large where that is small."""
    return -_together(_losses(c, v, start, e, W_auto, W_h, W_x, B), lengths, p)


def decoder_bias_added(c, v, start, e, lengths, W_auto, W_h, W_x, B, *, p):
    """You added the bias. Here a bias is a threshold."""
    return _together(_losses(c, v, start, e, W_auto, W_h, W_x, -B), lengths, p)


def in_bits(c, v, start, e, lengths, W_auto, W_h, W_x, B, *, p):
    """This is in bits; nats were asked for."""
    return _together(_losses(c, v, start, e, W_auto, W_h, W_x, B), lengths, p) / torch.tensor(2.0).log()


CODE = {
    "thought": [
        thought_other_end,
        thought_with_padding,
        thought_zeroed,
        thought_bias_added,
        thought_transposed,
        thought_last_word_missing,
        thought_averaged,
        thought_cut,
    ],
    "translation_loss": [
        reads_the_answer,
        one_step_late,
        padding_counts,
        other_reduction,
        over_the_batch,
        thought_unused,
        sign_of_the_loss,
        decoder_bias_added,
        in_bits,
    ],
}

"""Correct answers written differently; each must earn full marks."""

import torch

from .references import before

# Equations and closed forms


def encoder_in_latex(p):
    return rf"g[s,j] = \tanh\left(W^x[j,I]\,e[w_s,I] + W^h[j,K]\,g[{before(p)},K] - B[j]\right)"


def encoder_with_a_name(p):
    return f"x[s,I] = e[w_s,I]\na[s,j] = W^x[j,I] x[s,I] - B[j]\ng[s,j] = tanh(a[s,j] + W^h[j,K] g[{before(p)},K])"


def loss_by_scores(p):
    """The logarithm of a softmax, written out."""
    average = " / T" if p["loss"] == "mean" else ""
    return f"Loss = (sum_t (ln(sum_u exp(S[t,u])) - S[t,v[t]])){average}"


def loss_in_latex(p):
    average = r"\frac{1}{T}" if p["loss"] == "mean" else ""
    return rf"P[t,w] &= \underset{{w}}{{\text{{softmax}}}}\ S[t,w] \\ Loss &= -{average} \sum_t \ln(P[t,v[t]])"


def path_in_parts(p):
    return "t + (s - 1) + 1" if p["reads"] == "right to left" else "(S - s) + (t + 1)"


def capacity_by_logarithms(p):
    return "J*ln(2^b)/ln(V)" if p["asked"] == "words" else "log2(V^n)/b"


# Code


def thought_one_by_one(x, W_h, W_x, B, lengths, *, p):
    vectors = []
    for words, length in zip(x, lengths.tolist(), strict=True):
        words = words[:length].flip(0) if p["reads"] == "right to left" else words[:length]
        g = torch.zeros_like(B)
        for word in words:
            g = torch.tanh(W_h @ g + W_x @ word - B)
        vectors.append(g)
    return torch.stack(vectors)


def thought_among_all_states(x, W_h, W_x, B, lengths, *, p):
    """Turned within each length, run to the end, and read where the source ends."""
    place = torch.arange(x.shape[1]).expand(x.shape[:2])
    if p["reads"] == "right to left":
        place = torch.where(place < lengths[:, None], lengths[:, None] - 1 - place, place)
    turned = x.gather(1, place[..., None].expand_as(x)) @ W_x.T - B
    g, states = x.new_zeros(len(x), len(B)), []
    for z in turned.unbind(1):
        g = torch.tanh(z + g @ W_h.T)
        states.append(g)
    return torch.stack(states, 1)[torch.arange(len(x)), lengths - 1]


def loss_by_cross_entropy(c, v, start, e, lengths, W_auto, W_h, W_x, B, *, p):
    read = torch.cat([start.expand(len(v), 1, -1), e[v[:, :-1]]], 1) @ W_x.T - B
    h, states = c, []
    for z in read.unbind(1):
        h = torch.tanh(z + h @ W_h.T)
        states.append(h)
    scores = torch.stack(states, 2).transpose(1, 2) @ (e @ W_auto).T
    losses = torch.nn.functional.cross_entropy(scores.transpose(1, 2), v, reduction="none")
    losses = torch.where(torch.arange(v.shape[1]) < lengths[:, None], losses, 0.0)
    return losses.sum(1) / (lengths if p["loss"] == "mean" else 1)


def loss_one_by_one(c, v, start, e, lengths, W_auto, W_h, W_x, B, *, p):
    losses = []
    for h, words, length in zip(c, v, lengths.tolist(), strict=True):
        x, total = start, 0.0
        for word in words[:length].tolist():
            h = torch.tanh(W_h @ h + W_x @ x - B)
            scores = e @ (W_auto @ h)
            total = total + torch.logsumexp(scores, 0) - scores[word]
            x = e[word]
        losses.append(total / length if p["loss"] == "mean" else total)
    return torch.stack(losses)


EQUIVALENTS = {
    "encoder_equation": [encoder_in_latex, encoder_with_a_name],
    "thought": [thought_one_by_one, thought_among_all_states],
    "loss_equation": [loss_by_scores, loss_in_latex],
    "translation_loss": [loss_by_cross_entropy, loss_one_by_one],
    "path": [path_in_parts],
    "capacity": [capacity_by_logarithms],
}

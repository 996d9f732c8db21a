"""Correct answers written differently; each must earn full marks."""

import torch

from .references import steps, walk

# The states beside the blanks.


def each_blank_alone(x, W_hf, W_xf, B_f, W_hb, W_xb, B_b, start, end, *, p):
    """A run of its own for each place, over the visible words only."""
    sign = -1 if p["bias_sign"] == "subtracted" else 1
    sides = []
    for n in range(x.shape[1] - p["m"] + 1):
        h = start.repeat(len(x), 1)
        for word in x[:, :n].unbind(1):
            h = torch.tanh(torch.einsum("ij,bj->bi", W_hf, h) + torch.einsum("ji,bi->bj", W_xf, word) + sign * B_f)
        g = end.repeat(len(x), 1)
        for word in reversed(x[:, n + p["m"] :].unbind(1)):
            g = torch.tanh(torch.einsum("ij,bj->bi", W_hb, g) + torch.einsum("ji,bi->bj", W_xb, word) + sign * B_b)
        sides.append(torch.hstack([h, g]))
    return torch.stack(sides, 1)


def by_rnn_modules(x, W_hf, W_xf, B_f, W_hb, W_xb, B_b, start, end, *, p):
    """torch's own recurrent network, called with the given tensors in the place of its parameters."""
    sign = -1 if p["bias_sign"] == "subtracted" else 1
    rnn = torch.nn.RNN(x.shape[2], len(start), batch_first=True).double()
    names = ("weight_hh_l0", "weight_ih_l0", "bias_ih_l0", "bias_hh_l0")

    def read(words, h, W_h, W_x, B):
        first = h.expand(1, len(x), -1).contiguous()
        given = dict(zip(names, (W_h, W_x, sign * B, 0 * B)))  # noqa: B905
        states, _ = torch.func.functional_call(rnn, given, (words, first))
        return torch.cat([first.transpose(0, 1), states], 1)

    N = x.shape[1] - p["m"] + 1
    ahead, back = read(x, start, W_hf, W_xf, B_f), read(x.flip(1), end, W_hb, W_xb, B_b)
    return torch.cat([ahead[:, :N], back[:, :N].flip(1)], -1)


# The distribution.


def concatenated_code(left, right, e, W_f, W_b, *, p):
    if p["head"] == "mixture":
        both = torch.stack([left @ W_f.T, right @ W_b.T]) @ e.T
        return both.softmax(-1).mean(0)
    z = torch.cat([left, right], -1) @ torch.cat([W_f, W_b], 1).T
    return torch.softmax((torch.tanh(z) if p["head"] == "tanh" else z) @ e.T + 3.7, -1)


def experts_code(left, right, e, W_f, W_b, *, p):
    a, b = left @ W_f.T @ e.T, right @ W_b.T @ e.T
    if p["head"] == "linear":
        product = torch.softmax(a, -1) * torch.softmax(b, -1)
        return product / product.sum(-1, keepdim=True)
    if p["head"] == "mixture":
        return torch.logaddexp(torch.log_softmax(a, -1), torch.log_softmax(b, -1)).exp() / 2
    scores = torch.einsum("vi,bi->bv", e, torch.tanh(left @ W_f.T + right @ W_b.T)).exp()
    return scores / scores.sum(1)[:, None]


def by_words(left, right, e, W_f, W_b, *, p):
    rows = []
    for h, g in zip(left, right):  # noqa: B905
        if p["head"] == "mixture":
            one, two = (torch.stack([v @ W @ s for v in e]).exp() for W, s in ((W_f, h), (W_b, g)))
            rows.append(one / (2 * one.sum()) + two / (2 * two.sum()))
            continue
        z = W_f @ h + W_b @ g
        scores = torch.stack([v @ (torch.tanh(z) if p["head"] == "tanh" else z) for v in e]).exp()
        rows.append(scores / scores.sum())
    return torch.stack(rows)


# The Markov chain.


def chain_by_steps(p):
    """One fraction, both sums written out."""
    inside, again = steps(p["m"]), steps(p["m"], first="z")
    return f"P[w] = A[a,w] ({inside}) / (sum_z A[a,z] ({again}))"


def chain_by_capitals(p):
    between = ["U", "X", "Y"][: p["m"] - 1]
    product, total = walk(["w", *between, "b"]), walk(["a", "W", *between, "b"])
    return rf"P[w] = \frac{{A[a,w] {product}}}{{{total}}}"


def as_logarithms(p):
    return f"r[w] = {steps(p['m'])}\nP[w] = softmax_w[ ln(A[a,w]) + ln(r[w]) ]"


def by_brute_force(A, pi, w, *, p):
    """Add up the probabilities of all sentences that agree with what is visible."""
    import itertools

    m, V = p["m"], len(pi)
    rows = []
    for n in range(len(w) - m + 1):
        P = torch.zeros(V, dtype=A.dtype)
        for filling in itertools.product(range(V), repeat=m):
            sentence = [*w[:n].tolist(), *filling, *w[n + m :].tolist()]
            chance = pi[sentence[0]]
            for one, other in itertools.pairwise(sentence):
                chance = chance * A[one, other]
            P[filling[0]] += chance
        rows.append(P / P.sum())
    return torch.stack(rows)


def by_messages(A, pi, w, *, p):
    """Messages from the right, one step at a time, and logarithms."""
    rows = []
    for n in range(len(w) - p["m"] + 1):
        before = pi if n == 0 else A[w[n - 1]]
        message = torch.ones(len(pi), dtype=A.dtype)
        if n + p["m"] < len(w):
            message = A[:, w[n + p["m"]]]
            for _ in range(p["m"] - 1):
                message = A @ message
        rows.append(torch.softmax(before.log() + message.log(), 0))
    return torch.stack(rows)


def by_column(A, pi, w, *, p):
    """With a state for the edge of a sentence on either side, all places are alike."""
    V, m = len(pi), p["m"]
    one = torch.ones(1, dtype=A.dtype)
    wider = torch.zeros(V + 2, V + 2, dtype=A.dtype)
    wider[:V, :V], wider[V, :V], wider[:V, V + 1] = A, pi, one
    words = [V, *w.tolist(), V + 1]
    rows = []
    for n in range(1, len(w) - m + 2):
        reach = wider[:, words[n + m]]
        for _ in range(m - 1):
            reach = wider[:, :V] @ reach[:V]
        row = wider[words[n - 1], :V] * reach[:V]
        rows.append(row / row.sum())
    return torch.stack(rows)


EQUIVALENTS = {
    "contexts": [each_blank_alone, by_rnn_modules],
    "probabilities": [concatenated_code, experts_code, by_words],
    "markov": [chain_by_steps, chain_by_capitals, as_logarithms],
    "exact_blanks": [by_brute_force, by_messages, by_column],
}

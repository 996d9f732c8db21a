"""Correct answers written differently; each must earn full marks."""

import math

import numpy as np
import torch


def by_cross_entropy(scores, w, eos, *, p):
    B, T, V = scores.shape
    each = torch.nn.functional.cross_entropy(scores.reshape(B * T, V), w.reshape(-1), reduction="none").view(B, T)
    first = (w == eos).int().argmax(dim=1)
    keep = torch.arange(T) <= first[:, None]
    return (each * keep).sum(dim=1) / (math.log(2) if p["unit"] == "bits" else 1)


def by_rows(scores, w, eos, *, p):
    losses = []
    for b in range(len(w)):
        loss = 0
        for t in range(w.shape[1]):
            P = torch.exp(scores[b, t]) / torch.exp(scores[b, t]).sum()
            loss = loss - (torch.log(P[w[b, t]]) if p["unit"] == "nats" else torch.log2(P[w[b, t]]))
            if w[b, t] == eos:
                break
        losses.append(loss)
    return torch.stack(losses)


def by_ignoring(scores, w, eos, *, p):
    target, ended = w.clone(), torch.zeros(len(w), dtype=torch.bool)
    for t in range(w.shape[1]):
        target[ended, t] = -100
        ended = ended | (w[:, t] == eos)
    loss = torch.nn.functional.cross_entropy(scores.transpose(1, 2), target, reduction="none").sum(-1)
    return loss if p["unit"] == "nats" else loss * math.log2(math.e)


def by_single_constant(scores, w, eos, *, p):
    """The unit as a tensor made of a Python number: torch gives that single precision."""
    unit = torch.log(torch.tensor(2.0)) if p["unit"] == "bits" else torch.tensor(1.0)
    each = torch.nn.functional.nll_loss(scores.log_softmax(-1).flatten(0, 1), w.flatten(), reduction="none")
    before = torch.cat([torch.zeros_like(w[:, :1]), (w == eos).long().cumsum(1)[:, :-1]], 1)
    return (each.view(w.shape) / unit).masked_fill(before > 0, 0.0).sum(1)


def by_token(loss, lengths, *, p):
    count = lengths.sum() - (0 if p["counts_eos"] else len(lengths))
    return torch.pow(torch.tensor(math.e if p["unit"] == "nats" else 2.0, dtype=loss.dtype), loss.sum() / count)


def by_product(loss, lengths, *, p):
    """The inverse of the geometric mean, as it is defined; one over a whole number has single precision in torch."""
    inverse = (torch.e if p["unit"] == "nats" else 2) ** loss
    return torch.prod(inverse) ** (1 / (lengths if p["counts_eos"] else lengths - 1).sum())


def by_weights(loss, lengths, *, p):
    tokens = (lengths if p["counts_eos"] else lengths - 1).to(loss.dtype)
    mean = (loss / tokens * tokens / tokens.sum()).sum()
    return (mean if p["unit"] == "nats" else mean * math.log(2)).exp()


def by_masks(h, u, e, W_hh, W_xh, B, eos, *, p):
    rows, lengths = [], []
    for b in range(len(h)):
        state, row = h[b], []
        for t in range(u.shape[1]):
            if eos in row:
                row.append(eos)
                continue
            total, word = 0.0, len(e) - 1
            for v, probability in enumerate(torch.softmax(e @ state, 0).tolist()):
                total += probability
                if total > u[b, t]:
                    word = v
                    break
            row.append(word)
            z = W_hh @ state + W_xh @ e[word] - B
            state = torch.tanh(z) if p["activation"] == "tanh" else 1 / (1 + torch.exp(-z))
        rows.append(row)
        words = row.index(eos) if eos in row else len(row)
        lengths.append(words + (p["length_with_eos"] and eos in row))
    return torch.tensor(rows), torch.tensor(lengths)


def by_search(h, u, e, W_hh, W_xh, B, eos, *, p):
    w = torch.full(u.shape, eos)
    running = torch.ones(len(h), dtype=torch.bool)
    for t in range(u.size(1)):
        P = torch.softmax(torch.nn.functional.linear(h, e), -1)
        found = torch.searchsorted(P.cumsum(-1), u[:, t : t + 1].contiguous(), right=True).squeeze(1)
        w[running, t] = found.clamp(max=e.size(0) - 1)[running]
        running = running & (w[:, t] != eos)
        if not running.any():
            break
        z = torch.nn.functional.linear(h, W_hh, -B) + torch.nn.functional.linear(e[w[:, t]], W_xh)
        h = z.tanh() if p["activation"] == "tanh" else z.sigmoid()
    words = (w != eos).cumprod(1).sum(1)
    return w, words + (~running).long() if p["length_with_eos"] else words


def by_torch(g, k, n_max, *, p):
    parameters = [torch.nn.Parameter(torch.zeros_like(item)) for item in (g, k)]
    for parameter, value in zip(parameters, (g, k), strict=True):
        parameter.grad = value.clone()
    if p["together"]:
        torch.nn.utils.clip_grad_norm_(parameters, n_max)
    else:
        for parameter in parameters:
            torch.nn.utils.clip_grad_norm_([parameter], n_max)
    return parameters[0].grad, parameters[1].grad


def in_one_factor(g, k, n_max, *, p):
    both = torch.cat([g.flatten(), k]).norm()
    factors = [
        min(1.0, n_max / float(norm)) if norm > 0 else 1.0
        for norm in ((both, both) if p["together"] else (g.norm(), k.norm()))
    ]
    return [factors[0] * g, factors[1] * k]


def with_powers(p):
    """The mean loss of a sentence, with the mean number of words put in."""
    words = "(1/q-1)" if p["empty"] else "1/q"
    return f"-ln(q)-(1/q-1)*ln(1-q)+{words}*ln(V-1)"


def _either(empty, never_empty):
    """A text for each of the two ways to begin."""

    def chosen(p):
        return empty if p["empty"] else never_empty

    return chosen


def _in_unit(text):
    """A text with the logarithm of the variant."""

    def chosen(p):
        made = text(p)
        return made if p["unit"] == "nats" else f"({made})/ln(2)"

    return chosen


def clears_after_the_scores(p):
    return ["scores", "zero", "loss", "backward", "clip", "step"]


def clears_after_the_loss(p):
    return ["scores", "loss", "zero", "backward", "clip", "step"]


def by_gumbel(scores, temperature, n):
    noise = -torch.log(-torch.log(torch.rand(n, len(scores), dtype=torch.float64)))
    return (scores / temperature + noise).argmax(-1)


def by_inversion(scores, temperature, n):
    cumulative = torch.softmax(scores / temperature, dim=-1).cumsum(-1)
    return torch.searchsorted(cumulative, torch.rand(n, dtype=torch.float64)).clamp(max=len(scores) - 1)


def by_distribution(scores, temperature, n):
    return torch.distributions.Categorical(logits=scores / temperature).sample((n,))


def by_numpy(scores, temperature, n):
    P = torch.softmax(scores / temperature, dim=-1).numpy()
    return torch.from_numpy(np.random.choice(len(P), size=n, p=P / P.sum()))


def by_fresh_generator(scores, temperature, n):
    P = torch.softmax(scores / temperature, dim=-1).numpy()
    return torch.as_tensor(np.random.default_rng(np.random.randint(2**31)).choice(len(P), n, p=P / P.sum()))


def by_plain_steps(before, following, new, V):
    tables = torch.zeros(2, V, V, dtype=torch.float64, requires_grad=True)
    for _ in range(50):
        scores = tables[0, before[:, 0]] + tables[1, before[:, 1]]
        loss = -torch.log_softmax(scores, -1)[torch.arange(len(before)), following].mean()
        (slope,) = torch.autograd.grad(loss, tables)
        tables = (tables - 2 * slope).detach().requires_grad_()
    return torch.log_softmax(tables[0, new[:, 0]] + tables[1, new[:, 1]], -1)


def by_modules(before, following, new, V):
    model = torch.nn.Linear(2 * V, V, dtype=torch.float32)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)

    def features(pairs):
        return torch.nn.functional.one_hot(pairs, V).flatten(1).float()

    for _ in range(50):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(features(before)), following).backward()
        optimizer.step()
    return torch.log_softmax(model(features(new)), -1)


def by_counting(before, following, new, V):
    counts = torch.full((V, V, V), 0.3, dtype=torch.float64)
    for (a, b), w in zip(before.tolist(), following.tolist(), strict=True):
        counts[a, b, w] += 1
    return (counts / counts.sum(-1, keepdim=True)).log()[new[:, 0], new[:, 1]]


EQUIVALENTS = {
    "log_loss": [by_cross_entropy, by_rows, by_ignoring, by_single_constant],
    "perplexity": [by_token, by_weights, by_product],
    "generate": [by_masks, by_search],
    "clip": [by_torch, in_one_factor],
    "sentence": [
        _either(r"\left(\frac{1-q}{V-1}\right)^n q", r"\frac{1}{V-1}\left(\frac{1-q}{V-1}\right)^{n-1} q"),
        _either("(1-q)^n*q/(V-1)^n", "q*(1-q)^n/((1-q)(V-1)^n)"),
        _either("exp(n*ln((1-q)/(V-1))+ln(q))", "exp(n*ln((1-q)/(V-1))+ln(q)-ln(1-q))"),
    ],
    "sentence_loss": [
        _in_unit(_either("-ln(q*((1-q)/(V-1))^n)", "-ln(q*(1-q)^(n-1)/(V-1)^n)")),
        _in_unit(_either("n*ln((V-1)/(1-q))+ln(1/q)", "n*ln((V-1)/(1-q))+ln((1-q)/q)")),
    ],
    "expected_tokens": [_either("(1-q)/q+1", "(1+q)/q"), _either("q^(-1)", "2+(1-q)/q")],
    "sequence_entropy": [
        with_powers,
        _either(
            "1/q*(-q*ln(q)-(1-q)*ln((1-q)/(V-1)))",
            "ln(V-1)+1/q*(-q*ln(q)-(1-q)*ln((1-q)/(V-1)))",
        ),
    ],
    "length_law": ["The geometric distribution.", "Geometric", "a geometric law", "geometrically distributed"],
    "sample": [by_gumbel, by_inversion, by_distribution, by_numpy, by_fresh_generator],
    "train": [by_plain_steps, by_modules, by_counting],
    "training_step": [clears_after_the_scores, clears_after_the_loss],
}

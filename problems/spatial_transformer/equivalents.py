"""Correct answers written differently; each must earn full marks."""

import torch
from torch.nn import functional as F

from .arrangements import added, lookers, of, scaled, seen, written
from .mistakes import attended

# The equations.


def key_first(p):
    a = of(p)
    return written(p, a=attended(p, scores=scaled(f"Key[k,{a.key},U] Query[k,{a.query},U]", p)))


def other_letters(p):
    """The letters a, b, ... in the place of those with numbers and primes."""
    a = of(p)
    text = written(p)
    for old, new in (("x_1", "a"), ("y_1", "d"), ("z_1", "e"), ("x_2", "m"), ("y_2", "n"), ("z_2", "p")):
        text = text.replace(old, new)
    return (
        text
        if not a.there
        else text.replace("sum_{x,y}", "sum_{m,n}").replace(
            "alpha[k,t,x,y] Value[k,x,y,I]", "alpha[k,t,m,n] Value[k,m,n,I]"
        )
    )


def own_softmax(p):
    a = of(p)
    scores = scaled(f"Query[k,{a.query},U] Key[k,{a.key},U]", p) + added(a.extra)
    e = f"e[k,{a.alpha}] = exp({scores})"
    return written(
        p,
        a=f"{e}\nZ[k,{a.query}] = sum_{{{a.over}}} e[k,{a.alpha}]\n"
        f"alpha[k,{a.alpha}] = e[k,{a.alpha}] / Z[k,{a.query}]",
    )


def merged_matrix(p):
    a = of(p)
    first, second = ("h_text", "h_image") if a.there else ("h_in", "h_in")
    scores = scaled(f"{first}[{a.query},J_1] W[k,J_1,J_2] {second}[{a.key},J_2]", p)
    return written(p, q="W[k,j_1,j_2] = W^Q[k,U,j_1] W^K[k,U,j_2]", k="", a=attended(p, scores=scores))


def values_last(p):
    a = of(p)
    there = a.value
    return written(
        p,
        v=f"R[k,{a.here},j] = sum_{{{a.summed}}} alpha[k,{a.alpha_summed}] "
        f"{'h_image' if a.there else 'h_in'}[{there},j]",
        o=f"Out[k,{a.here},I] = W^V[k,I,J] R[k,{a.here},J]",
    )


def concat(p):
    here = of(p).here
    if p["output"]:
        return written(p, c=f"Cat[{here},C] = concat_{{k}} Out[k,{here},I]")
    return written(p, h=f"h_out[{here},J] = concat_{{k}} Out[k,{here},I]")


def shifted_scores(p):
    a = of(p)
    scores = scaled(f"Query[k,{a.query},U] Key[k,{a.key},U]", p) + " - 3 + ln(2)"
    return written(p, a=attended(p, scores=scores))


def lower_case_sums(p):
    a = of(p)
    there = a.there or a.here
    source = ("h_text", "h_image") if a.there else ("h_in", "h_in")
    scores = scaled(f"(sum_u Query[k,{a.query},u] Key[k,{a.key},u])", p)
    return written(
        p,
        q=f"Query[k,{a.here},u] = sum_j W^Q[k,u,j] {source[0]}[{a.here},j]",
        k=f"Key[k,{there},u] = sum_j W^K[k,u,j] {source[1]}[{there},j]",
        a=attended(p, scores=scores),
    )


def in_latex(p):
    text = written(p).replace("sqrt(U)", r"\sqrt{U}").replace("alpha", r"\alpha").replace("softmax", r"\text{softmax}")
    text = text.replace("sum_", r"\sum_").replace("...", r"\dots").replace("h_in", r"h_{\text{in}}")
    for name in ("Query", "Key", "Value", "Out", "Cat"):
        text = text.replace(f"{name}[", rf"\mathrm{{{name}}}[")
    return text.replace("h_out", r"h_{\text{out}}").replace(" = ", " &= ").replace("\n", " \\\\\n")


# The code.


def by_loops(h, W_Q, W_K, W_V, *, p):
    places = [tuple(place) for place in torch.cartesian_prod(*(torch.arange(n) for n in h.shape[:-1])).tolist()]

    def looks(one, two):
        if p["code"] == "rows":
            return one[0] == two[0]
        if p["code"] == "columns":
            return one[1] == two[1]
        if p["code"] == "window":
            return max(abs(a - b) for a, b in zip(one, two)) <= p["w"]  # noqa: B905 - of one length
        return p["code"] != "video" or two[0] <= one[0]

    heads, weights = [], []
    for Q, K, V in zip(W_Q, W_K, W_V):  # noqa: B905
        rows, results = [], []
        for one in places:
            seen = torch.tensor([looks(one, two) for two in places])
            others = h[tuple(torch.tensor(places)[seen].T)]  # [how many are seen, J]
            scores = others @ K.T @ Q @ h[one]
            e = torch.exp(scores / len(Q) ** 0.5 if p["scaled"] else scores)
            share = e / e.sum()
            row = torch.zeros(len(places), dtype=h.dtype)
            rows.append(row.masked_scatter(seen, share))
            results.append(V @ (share @ others))
        weights.append(torch.stack(rows))
        heads.append(torch.stack(results))
    alpha = torch.stack(weights).reshape(-1, *h.shape[:-1], *h.shape[:-1])
    return alpha, torch.cat(heads, dim=1).reshape(h.shape)


def _allowed(h, p):
    grid = torch.cartesian_prod(*(torch.arange(n) for n in h.shape[:-1])).reshape(-1, h.dim() - 1)
    one, two = grid[:, None], grid[None]
    if p["code"] in ("rows", "columns"):
        axis = 0 if p["code"] == "rows" else 1
        return one[..., axis] == two[..., axis]
    if p["code"] == "window":
        return ((one - two).abs() <= p["w"]).prod(-1).bool()
    return one[..., 0] >= two[..., 0] if p["code"] == "video" else torch.ones(len(grid), len(grid)).bool()


def by_sdpa(h, W_Q, W_K, W_V, *, p):
    flat = h.reshape(-1, h.shape[-1])
    q, k, v = (torch.einsum("kij,tj->kti", W, flat)[None] for W in (W_Q, W_K, W_V))
    mask, scale = _allowed(h, p), (W_Q.shape[1] ** -0.5 if p["scaled"] else 1.0)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=scale)
    eye = torch.eye(len(flat), dtype=h.dtype).expand(1, len(W_Q), -1, -1)
    alpha = F.scaled_dot_product_attention(q, k, eye, attn_mask=mask, scale=scale)
    return alpha[0].reshape(-1, *h.shape[:-1], *h.shape[:-1]), out[0].transpose(0, 1).reshape(h.shape)


def by_einsum(h, W_Q, W_K, W_V, *, p):
    flat = h.flatten(0, -2)
    e = torch.exp(torch.einsum("tj,kuj,kui,si->kts", flat, W_Q, W_K, flat) * (W_Q.shape[1] ** -0.5) ** p["scaled"])
    e = e * _allowed(h, p)
    alpha = e / e.sum(-1, keepdim=True)
    out = torch.einsum("kts,kij,sj->tki", alpha, W_V, flat)
    return alpha.reshape(-1, *h.shape[:-1], *h.shape[:-1]), out.reshape(h.shape)


def stable(h, W_Q, W_K, W_V, *, p):
    flat = h.flatten(0, -2)
    scores = torch.einsum("kuj,tj->ktu", W_Q, flat) @ torch.einsum("kuj,tj->kut", W_K, flat)
    scores = scores * (1 / W_Q.shape[1] ** 0.5 if p["scaled"] else 1)
    scores = scores + torch.where(_allowed(h, p), 0.0, -torch.inf)
    alpha = (scores - scores.logsumexp(-1, keepdim=True)).exp()
    heads = [weights @ flat @ V.T for weights, V in zip(alpha, W_V)]  # noqa: B905
    return alpha.reshape(-1, *h.shape[:-1], *h.shape[:-1]), torch.cat(heads, -1).reshape(h.shape)


def by_plain_tensors(h, W_Q, W_K, W_V, *, p):
    """With tensors made without a word about their dtype."""
    flat, (K, U, _), I = h.reshape(-1, h.shape[-1]), W_Q.shape, W_V.shape[1]  # noqa: E741
    alpha, out = torch.zeros(K, len(flat), len(flat)), torch.zeros(len(flat), K * I)
    mask = torch.zeros(len(flat), len(flat)).masked_fill(~_allowed(h, p), -1e9)
    for k in range(K):
        scores = (flat @ W_Q[k].T) @ (flat @ W_K[k].T).T
        weights = torch.softmax((scores / torch.sqrt(torch.tensor(U)) if p["scaled"] else scores) + mask, dim=1)
        alpha[k] = weights
        out[:, k * I : (k + 1) * I] = weights @ (flat @ W_V[k].T)
    return alpha.reshape(K, *h.shape[:-1], *h.shape[:-1]), out.reshape(h.shape)


# The bounds.


def one_logarithm(p):
    return f"O(ln({seen(p)} J))"


def base_two(p):
    return f"3 log2({seen(p)}) + 7 log2(J) + 5"


def largest(p):
    return f"max(ln({seen(p)}), ln(J))"


def all_widths(p):
    return f"O(ln({seen(p)}) + ln(U) + ln(J) + ln(J/K) + ln(K))"


def practice_by_max(p):
    positions = f"ln({seen(p)})" if p["serial"] == "features" else seen(p)
    return f"O(max(2J, {positions}))"


def practice_with_heads(p):
    positions = f"log2({seen(p)})" if p["serial"] == "features" else seen(p)
    return f"O(J + U + {positions} + ln(K))"


def work_by_heads(p):
    positions = "(T + X Y)" if p["layer"] == "caption" else lookers(p)
    return f"O(K ({lookers(p)} {seen(p)} (U + I) + {positions} J (2U + I)))"


def work_of_all_lines(p):
    positions = "(T + X Y)" if p["layer"] == "caption" else lookers(p)
    return f"O(3 {positions} J^2 + 2 {lookers(p)} {seen(p)} J + K {lookers(p)} {seen(p)})"


EQUIVALENTS = {
    "layer": [
        key_first,
        other_letters,
        own_softmax,
        merged_matrix,
        values_last,
        concat,
        shifted_scores,
        lower_case_sums,
        in_latex,
    ],
    "spatial": [by_loops, by_sdpa, by_einsum, stable, by_plain_tensors],
    "time": [one_logarithm, base_two, largest, all_widths],
    "practice": [practice_by_max, practice_with_heads],
    "work": [work_by_heads, work_of_all_lines],
}

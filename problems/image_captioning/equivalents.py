"""Correct answers written differently; each must earn full marks."""

import torch

from .references import W_see, cell, distribution, head, score, update, values, weights, whole_V

# The equations.


def words_in_latex(p):
    see = ""
    if p["use"] == "same step":
        see = " + e[w_t, I] " + W_see(p).replace("W^see", r"W^{\text{see}}") + " " + whole_V(p)
    return (
        r"P(w_t \mid w_1, \dots, w_{t-1}) &= \underset{w_t}{\text{softmax}} \ e[w_t, I] W^{\text{auto}}[I, J] h[t-1, J]"
        + see
    )


def words_with_time(p):
    text = distribution(p).split("softmax_w[", 1)[1].rstrip(" ]") + "]"
    return f"s[v] = {text}\nP[t,v] = exp(s[v]) / sum_u exp(s[u])".replace("e[w,", "e[v,")


def attention_in_latex(p):
    place, n = cell(p).replace(",", ", "), head(p)
    body = score(p).replace("W^key", r"W^{\text{key}}").replace("tanh(", r"\tanh\left(").replace("])", r"]\right)")
    if p["score"] == "bilinear":
        body = score(p).replace("W^key", r"W^{\text{key}}")
    else:
        body = score(p).replace("tanh(", r"\tanh \left( ")[:-1] + r" \right)"
    body = rf"\frac{{{body}}}{{\tau}}" if p["temperature"] else body
    return rf"\alpha[{n}{place}] = \underset{{{place}}}{{\text{{softmax}}}} \left[ {body} \right]"


def attention_by_exp(p):
    """Scores, exponentials, and a sum over renamed places; with the step's index."""
    n, place = head(p), cell(p)
    other = place.replace("x", "x'").replace("y", "y'").replace("f", "f'")
    divided = " / tau" if p["temperature"] else ""
    return (
        f"s[{n}{place}] = {score(p)}\nE[{n}{place}] = exp(s[{n}{place}]{divided})\n"
        f"alpha[{n}{place}] = E[{n}{place}] / sum_{{{other}}} E[{n}{other}]"
    )


def attention_shifted(p):
    """A softmax does not mind what is added to all scores."""
    return weights(p).replace("[ (", "[ h[t-1,J] h[t-1,J] + 2.5 + (", 1)


def attention_by_stages(p):
    """First where in x, given nothing, then where in y, given x; in between sums of exponentials."""
    n, place = head(p), cell(p)
    divided = " / tau" if p["temperature"] else ""
    outer = place[:-2]
    return (
        f"E[{n}{place}] = exp(({score(p)}){divided})\nR[{n}{outer}] = sum_y E[{n}{place}]\n"
        f"alpha[{n}{place}] = (R[{n}{outer}] / sum_{{{outer}}} R[{n}{outer}]) E[{n}{place}] / R[{n}{outer}]"
    )


def values_by_capitals(p):
    n, place = head(p), cell(p).upper()
    if p["values"] == "mapped":
        return f"V[{n}j] = alpha[{n}{place}] M[{place},K] W^val[{n}j,K]"
    return f"V[{n}K] = M[{place},K] alpha[{n}{place}]"


def values_nested(p):
    sums = " ".join(f"sum_{{{letter}}}" for letter in cell(p).split(","))
    return values(p).replace(f"sum_{{{cell(p)}}}", sums)


def values_divided(p):
    """An average by weights, divided by their sum, which is one."""
    return values(p, after=f" / sum_{{{cell(p)}}} alpha[{head(p)}{cell(p)}]")


def update_in_latex(p):
    return rf"h[t, J] &= \text{{CELL}}_{{\Phi}}(h[t-1, J], {whole_V(p)}, e[w_t, I])"


def update_by_lookup(p):
    return update(p, third="e[w[t],I]")


def update_in_two_lines(p):
    """The word's vector under a name of its own."""
    return f"x[t,I] = e[w_t,I]\nh[t,J] = CELL(h[t-1,J], {whole_V(p)}, x[t,I])"


def start_by_parts(p):
    total = "F X Y" if p["memory"] == "video" else "X Y"
    return f"m[k] = sum_{{{cell(p)}}} M[{cell(p)},k] / ({total})\ns[j] = W^init[j,K] m[K]"


def start_under_the_sum(p):
    total = r"F X Y" if p["memory"] == "video" else "X Y"
    return rf"s[J] = \frac{{1}}{{{total}}} \sum_{{{cell(p)}}} W^{{\text{{init}}}}[J, K] M[{cell(p)}, K]"


def derivative_written_out(p):
    place = cell(p)
    other = place.replace("x", "x'").replace("y", "y'").replace("f", "f'")
    return f"G[{place},k] = beta[{place}] M[{place},k] - beta[{place}] sum_{{{other}}} beta[{other}] M[{other},k]"


def derivative_factored(p):
    place = cell(p)
    return f"G[{place},K] = -(c[K] - M[{place},K]) * beta[{place}]"


def derivative_by_pairs(p):
    """Every other place gives way by what it weighs; the weights sum to one."""
    place = cell(p)
    other = place.replace("x", "x'").replace("y", "y'").replace("f", "f'")
    return f"G[{place},k] = sum_{{{other}}} beta[{place}] beta[{other}] (M[{place},k] - M[{other},k])"


# The attention, as code.


def head_by_head(h, M, W_key, tau):
    places = M.reshape(len(M), -1, M.shape[-1])
    alphas, Vs = [], []
    for W in W_key:
        s = ((h @ W)[:, None] * places).sum(-1) / tau
        a = torch.exp(s - s.max(1, keepdim=True).values)
        a = a / a.sum(1, keepdim=True)
        alphas.append(a.view(M.shape[:-1]))
        Vs.append((a[..., None] * places).sum(1))
    return torch.stack(alphas, 1), torch.cat(Vs, 1)


def in_two_stages(h, M, W_key, tau):
    """Where along all but the last axis, then where along the last."""
    q = torch.einsum("bj,njk->bnk", h, W_key)
    s = torch.einsum("bnk,b...k->bn...", q, M) / tau
    rows = torch.logsumexp(s, -1)
    outer = torch.softmax(rows.flatten(2), -1).view_as(rows)
    alpha = outer[..., None] * torch.softmax(s, -1)
    return alpha, torch.einsum("bn...,b...k->bnk", alpha, M).reshape(len(h), -1)


def by_sdpa(h, M, W_key, tau):
    """torch's attention, asked for the places as values, and again for the weights."""
    places = M.flatten(1, -2)
    q = torch.einsum("bj,njk->bnk", h, W_key) / tau
    eye = torch.eye(places.shape[1], dtype=M.dtype).expand(len(M), -1, -1)
    attention = torch.nn.functional.scaled_dot_product_attention
    alpha = attention(q, places, eye, scale=1.0)
    return alpha.view(len(M), len(W_key), *M.shape[1:-1]), attention(q, places, places, scale=1.0).flatten(1)


# A captioner, as code.


def hoisted(M, x, start, e, W_init, W_key, W_auto, W_h, W_V, W_x, B):
    """What does not depend on the state is computed before the loop."""
    places = M.reshape(len(M), -1, M.shape[-1])
    keys, from_V = places @ W_key.T, places @ W_V.T
    from_words = torch.cat([start.repeat(len(x), 1, 1), x], 1) @ W_x.T - B
    h, out = torch.einsum("jk,bk->bj", W_init, places.mean(1)), []
    for z in from_words.unbind(1):
        alpha = torch.softmax((keys @ h[..., None]).squeeze(-1), 1)
        h = torch.tanh(h @ W_h.T + (alpha[:, None] @ from_V).squeeze(1) + z)
        out += [h]
    scores = torch.stack(out, 1) @ (e @ W_auto).T
    return scores.softmax(2)


def prefix_by_prefix(M, x, start, e, W_init, W_key, W_auto, W_h, W_V, W_x, B):
    """Every word from a run of its own over the words before it, picture by picture."""
    captions = []
    for b in range(len(x)):
        places = M[b].reshape(-1, M.shape[-1])
        rows = []
        for t in range(x.shape[1] + 1):
            h = W_init @ places.mean(0)
            for word in [start, *x[b, :t]]:
                a = torch.exp(places @ (h @ W_key))
                h = torch.tanh(W_h @ h + W_V @ (a @ places / a.sum()) + W_x @ word - B)
            s = torch.exp(e @ W_auto @ h)
            rows.append(s / s.sum())
        captions.append(torch.stack(rows))
    return torch.stack(captions)


EQUIVALENTS = {
    "words": [words_in_latex, words_with_time],
    "attention": [attention_in_latex, attention_by_exp, attention_shifted, attention_by_stages],
    "glimpse": [values_by_capitals, values_nested],
    "state": [update_in_latex, update_by_lookup, update_in_two_lines],
    "start": [start_by_parts, start_under_the_sum],
    "sensitivity": [derivative_written_out, derivative_factored],
    "attend": [head_by_head, in_two_stages, by_sdpa],
    "captioner": [hoisted, prefix_by_prefix],
}

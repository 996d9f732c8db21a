"""Correct answers written differently; each must earn full marks."""

import torch

from .references import norm_lines

# Equations


def in_latex(p):
    """As the slides print it."""
    a = r"W^{FF1}[f,J]\,L[t,J] - B^{FF1}[f]"
    h = {
        "relu": rf"\text{{ReLU}}\left({a}\right)",
        "silu": rf"\left({a}\right) \sigma\left({a}\right)",
        "squared relu": rf"\text{{ReLU}}\left({a}\right)^2",
    }[p["activation"]]
    return rf"h[t,f] &= {h} \\" + "\n" + r"O[t,j] &= W^{FF2}[j,F]\,h[t,F] - B^{FF2}[j]"


def by_other_functions(p):
    """A rectifier is a maximum, a logistic function a quotient."""
    h = {"relu": "max(0, a[t,f])", "silu": "a[t,f] / (1 + exp(-a[t,f]))", "squared relu": "max(a[t,f], 0) a[t,f]"}
    return (
        f"a[t,f] = W^FF1[f,J] L[t,J] - B^FF1[f]\nh[t,f] = {h[p['activation']]}\n"
        "O[t,j] = -B^FF2[j] + sum_{f} h[t,f] W^FF2[j,f]"
    )


def backward_in_steps(p):
    return "u[t,f] = s[t,f] G[t,J] W^FF2[J,f]\nD[t,i] = u[t,F] W^FF1[F,i] + G[t,i]"


def backward_by_the_jacobian(p):
    return "Q[t,j,i] = W^FF2[j,F] s[t,F] W^FF1[F,i] + delta[i,j]\nD[t,i] = sum_j G[t,j] Q[t,j,i]"


def _layer(reads, p):
    h = {"relu": "relu(a[t,f])", "silu": "a[t,f] sigma(a[t,f])", "squared relu": "relu(a[t,f]) relu(a[t,f])"}
    return f"a[t,f] = W^FF1[f,I] {reads}[t,I] - B^FF1[f]\nh[t,f] = {h[p['activation']]}"


def sublayer_with_other_names(p):
    """The variance as a mean of squares minus the square of the mean."""
    reads = "X" if p["place"] == "before" else "R"
    mean = f"mu[t] = 1/J sum_k {reads}[t,k]" if p["norm"] == "layer" else ""
    square = f"q[t] = 1/J sum_k {reads}[t,k]^2"
    centred, variance = (f"({reads}[t,j] - mu[t])", "q[t] - mu[t]^2") if mean else (f"{reads}[t,j]", "q[t]")
    lines = [*([mean] if mean else []), square]
    result = f"{centred} g[j] / sqrt(epsilon + {variance})"
    if p["place"] == "before":
        lines += [f"Z[t,j] = {result}", _layer("Z", p), "Y[t,j] = W^FF2[j,F] h[t,F] - B^FF2[j] + X[t,j]"]
    else:
        lines = [_layer("X", p), "R[t,j] = X[t,j] + W^FF2[j,F] h[t,F] - B^FF2[j]", *lines, f"Y[t,j] = {result}"]
    return "\n".join(lines)


def sublayer_by_power(p):
    """A division by a root is a power."""
    norm = {"root": "(({0})^(1/2))"}
    if p["place"] == "before":
        return "\n".join([norm_lines(p, **norm), _layer("N", p), "Y[t,j] = X[t,j] + W^FF2[j,F] h[t,F] - B^FF2[j]"])
    stream = "R[t,j] = W^FF2[j,F] h[t,F] - B^FF2[j] + X[t,j]"
    return "\n".join([_layer("X", p), stream, norm_lines(p, reads="R", name="Y", **norm)])


def count_by_kind(p):
    if p["stack"] == "decoder":
        return "8 N J^2 + 2 N J F + N F + 4 N J"
    return "4 N J^2 + 2 N F J + N (F + 3 J)"


def break_even_as_quotient(p):
    products = {"all": "4 J^2 + 2 J F", "inner and output": "2 J F + J^2", "projections": "4 J^2"}[p["compared"]]
    return f"({products}) / (2 J)"


# Code


def ff_by_einsum(L, W_FF1, B_FF1, W_FF2, B_FF2, *, p):
    a = torch.einsum("btj,fj->btf", L, W_FF1) - B_FF1
    h = {
        "relu": torch.where(a > 0, a, torch.zeros_like(a)),
        "silu": a / (1 + torch.exp(-a)),
        "squared relu": a * a.clamp(min=0),
    }[p["activation"]]
    return torch.einsum("btf,jf->btj", h, W_FF2) - B_FF2


def ff_by_linear(L, W_FF1, B_FF1, W_FF2, B_FF2, *, p):
    functional = torch.nn.functional
    a = functional.linear(L.flatten(0, 1), W_FF1, -B_FF1)
    h = functional.silu(a) if p["activation"] == "silu" else functional.relu(a)
    h = h.square() if p["activation"] == "squared relu" else h
    return functional.linear(h, W_FF2, -B_FF2).view_as(L)


def _normalised(x, gain, p):
    functional = torch.nn.functional
    if p["norm"] == "layer":
        return functional.layer_norm(x, x.shape[-1:], weight=gain, eps=1e-5)
    return functional.rms_norm(x, x.shape[-1:], weight=gain, eps=1e-5)


def block_by_functional(L, W_Q, W_K, W_V, W_O, gain_1, W_FF1, B_FF1, W_FF2, B_FF2, gain_2, *, p):
    """With what torch has."""

    def attend(x):
        q, k, v = ((x @ W.flatten(0, 1).T).unflatten(-1, W.shape[:2]).transpose(1, 2) for W in (W_Q, W_K, W_V))
        out = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=p["causal"])
        return out.transpose(1, 2).reshape(*x.shape[:2], -1) @ W_O.T

    for branch, gain in ((attend, gain_1), (lambda x: ff_by_linear(x, W_FF1, B_FF1, W_FF2, B_FF2, p=p), gain_2)):
        L = L + branch(_normalised(L, gain, p)) if p["place"] == "before" else _normalised(L + branch(L), gain, p)
    return L


def block_head_by_head(L, W_Q, W_K, W_V, W_O, gain_1, W_FF1, B_FF1, W_FF2, B_FF2, gain_2, *, p):
    """One sequence and one head after the other; the output matrix cut into heads."""

    def normed(x, gain):
        if p["norm"] == "layer":
            x = x - x.mean(-1, keepdim=True)
        return x * gain * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5)

    def attend(x):
        total = torch.zeros_like(x)
        for Q, K, V, O in zip(W_Q, W_K, W_V, W_O.unflatten(1, W_V.shape[:2]).unbind(1), strict=True):  # noqa: E741
            s = (x @ Q.T) @ (x @ K.T).T * len(Q) ** -0.5
            if p["causal"]:
                s = torch.where(torch.ones_like(s).tril() > 0, s, -torch.inf)
            e = torch.exp(s - s.max(1, keepdim=True).values)
            total = total + (e / e.sum(1, keepdim=True)) @ (x @ V.T) @ O.T
        return total

    out = []
    for x in L:
        before = p["place"] == "before"
        x = x + attend(normed(x, gain_1)) if before else normed(x + attend(x), gain_1)
        inner = ff_by_einsum((normed(x, gain_2) if before else x)[None], W_FF1, B_FF1, W_FF2, B_FF2, p=p)[0]
        out.append(x + inner if before else normed(x + inner, gain_2))
    return torch.stack(out)


EQUIVALENTS = {
    "feed_forward_equations": [in_latex, by_other_functions],
    "feed_forward": [ff_by_einsum, ff_by_linear],
    "backward": [backward_in_steps, backward_by_the_jacobian],
    "sublayer_equations": [sublayer_with_other_names, sublayer_by_power],
    "block": [block_by_functional, block_head_by_head],
    "block_count": [count_by_kind],
    "break_even": [break_even_as_quotient],
}

"""Correct answers written differently; each must earn full marks."""

import torch
from torch import nn

from .equations import two_gate_equations


def step_back(h, x, W_hR, W_xR, B_R, W_hG, W_xG, B_G, *, p):
    R = torch.tanh(torch.einsum("ji,bi->bj", W_hR, h) + torch.einsum("jk,bk->bj", W_xR, x) - B_R)
    G = torch.sigmoid(torch.einsum("ji,bi->bj", W_hG, h) + torch.einsum("jk,bk->bj", W_xG, x) - B_G)
    return R + G * (h - R) if p["h_gate"] == "old" else h + G * (R - h)


def one_matrix(h, x, W_hR, W_xR, B_R, W_hG, W_xG, B_G, *, p):
    z = torch.cat([h, x], dim=1) @ torch.cat([torch.cat([W_hR, W_xR], 1), torch.cat([W_hG, W_xG], 1)]).T
    r, g = (z - torch.cat([B_R, B_G])).chunk(2, dim=1)
    keep = torch.sigmoid(g if p["h_gate"] == "old" else -g)
    return torch.lerp(torch.tanh(r), h, keep)


def as_steps(h, x, W_hR, W_xR, B_R, W_hG, W_xG, B_G, *, p):
    rows = []
    for h_b, x_b in zip(h, x):  # noqa: B905 - one row of the batch at a time
        R = torch.tanh(W_hR @ h_b + W_xR @ x_b - B_R)
        G = 1 / (1 + torch.exp(-(W_hG @ h_b + W_xG @ x_b - B_G)))
        rows.append(G * h_b + (1 - G) * R if p["h_gate"] == "old" else (1 - G) * h_b + G * R)
    return torch.stack(rows)


def as_lerp(h, x, W_hGR, W_xGR, B_GR, W_hR, B_hR, W_xR, B_xR, W_hGh, W_xGh, B_Gh, *, p):
    GR = torch.sigmoid(h @ W_hGR.T + x @ W_xGR.T - B_GR)
    Gh = torch.sigmoid(h @ W_hGh.T + x @ W_xGh.T - B_Gh)
    on, off = h @ W_hR.T - B_hR, x @ W_xR.T - B_xR
    if p["R_gate"] == "x":
        on, off = off, on
    R = torch.tanh(torch.lerp(off, on, GR))
    return torch.lerp(R, h, Gh) if p["h_gate"] == "old" else torch.lerp(h, R, Gh)


def one_product(h, x, W_hGR, W_xGR, B_GR, W_hR, B_hR, W_xR, B_xR, W_hGh, W_xGh, B_Gh, *, p):
    hx = torch.cat([h, x], dim=-1)
    W = torch.cat([torch.cat([W_hGR, W_xGR], dim=1), torch.cat([W_hGh, W_xGh], dim=1)])
    GR, Gh = torch.sigmoid(hx @ W.T - torch.cat([B_GR, B_Gh])).chunk(2, dim=-1)
    share = GR if p["R_gate"] == "h" else 1 - GR  # of the hidden branch
    R = torch.tanh(share * (h @ W_hR.T) + (1 - share) * (x @ W_xR.T) - (share * B_hR + (1 - share) * B_xR))
    keep = Gh if p["h_gate"] == "old" else 1 - Gh
    return keep * h + (1 - keep) * R


def with_exp(h, x, W_hGR, W_xGR, B_GR, W_hR, B_hR, W_xR, B_xR, W_hGh, W_xGh, B_Gh, *, p):
    GR = 1 - torch.sigmoid(-(h @ W_hGR.T + x @ W_xGR.T - B_GR))
    e = torch.exp(h @ W_hGh.T + x @ W_xGh.T - B_Gh)
    Gh = e / (1 + e)
    a = h @ W_hR.T - B_hR
    b = x @ W_xR.T - B_xR
    u = b + GR * (a - b) if p["R_gate"] == "h" else a + GR * (b - a)
    R = 2 * torch.sigmoid(2 * u) - 1
    return R + Gh * (h - R) if p["h_gate"] == "old" else h + Gh * (R - h)


class Fused(nn.Module):
    def __init__(self, J, K, *, p):
        super().__init__()
        self.p = p
        self.W_hGR, self.W_hR, self.W_hGh = (nn.Parameter(torch.zeros(J, J)) for _ in range(3))
        self.W_xGR, self.W_xR, self.W_xGh = (nn.Parameter(torch.zeros(J, K)) for _ in range(3))
        self.B_GR, self.B_hR, self.B_xR, self.B_Gh = (nn.Parameter(torch.zeros(J)) for _ in range(4))

    def forward(self, x, h):
        from_x = x @ torch.cat([self.W_xGR, self.W_xR, self.W_xGh]).T  # all steps at once
        from_x = from_x - torch.cat([self.B_GR, self.B_xR, self.B_Gh])
        W = torch.cat([self.W_hGR, self.W_hR, self.W_hGh])
        states = []
        for t in range(x.shape[1]):
            x_GR, b, x_Gh = from_x[:, t].chunk(3, dim=-1)
            h_GR, a, h_Gh = (h @ W.T).chunk(3, dim=-1)
            a = a - self.B_hR
            share = torch.sigmoid(h_GR + x_GR) if self.p["R_gate"] == "h" else torch.sigmoid(-h_GR - x_GR)
            keep = torch.sigmoid(h_Gh + x_Gh) if self.p["h_gate"] == "old" else torch.sigmoid(-h_Gh - x_Gh)
            h = keep * h + (1 - keep) * torch.tanh(share * a + (1 - share) * b)
            states += [h]
        return torch.stack(states, 1)


class InPlaceOfStates(nn.Module):
    def __init__(self, J, K, *, p):
        super().__init__()
        self.sign_R = 1 if p["R_gate"] == "h" else -1
        self.sign_h = 1 if p["h_gate"] == "old" else -1
        shapes = {"W_hGR": (J, J), "W_xGR": (J, K), "W_hR": (J, J), "W_xR": (J, K), "W_hGh": (J, J), "W_xGh": (J, K)}
        shapes.update(B_GR=(J,), B_hR=(J,), B_xR=(J,), B_Gh=(J,))
        for name, shape in shapes.items():
            self.register_parameter(name, nn.Parameter(torch.empty(shape).uniform_(-0.1, 0.1)))

    def step(self, h, x):
        share = torch.sigmoid(self.sign_R * (h @ self.W_hGR.T + x @ self.W_xGR.T - self.B_GR))
        keep = torch.sigmoid(self.sign_h * (h @ self.W_hGh.T + x @ self.W_xGh.T - self.B_Gh))
        a, b = h @ self.W_hR.T - self.B_hR, x @ self.W_xR.T - self.B_xR
        return keep * h + (1 - keep) * torch.tanh(share * a + (1 - share) * b)

    def forward(self, x, h):
        states = [h]
        for t in range(x.size(1)):
            states.append(self.step(states[-1], x[:, t]))
        return torch.stack(states[1:], dim=0).transpose(0, 1)


class AsLerp(InPlaceOfStates):
    def step(self, h, x):
        share = torch.sigmoid(self.sign_R * (h @ self.W_hGR.mT + x @ self.W_xGR.mT - self.B_GR))
        keep = torch.sigmoid(self.sign_h * (nn.functional.linear(h, self.W_hGh, -self.B_Gh) + x @ self.W_xGh.mT))
        a = nn.functional.linear(h, self.W_hR, -self.B_hR)
        b = nn.functional.linear(x, self.W_xR, -self.B_xR)
        return torch.lerp(torch.tanh(torch.lerp(b, a, share)), h, keep)


class WithBuffer(AsLerp):
    def __init__(self, J, K, *, p):
        super().__init__(J, K, p=p)
        self.register_buffer("one", torch.ones(1))

    def step(self, h, x):
        return self.one * super().step(h, x)


def own_lines(p):
    """Each branch has a line, and all indices other letters."""
    hidden = r"u[n,s,i] = -B^{h,R}[i] + \sum_{l} W^{h,R}[i,l] h[n,s-1,l]"
    own = r"v[n,s,i] = W^{x,R}[i,K] x[n,s,K] - B^{x,R}[i]"
    one, other = ("u", "v") if p["R_gate"] == "h" else ("v", "u")
    inside = r"\sigma\left(W^{h,%s}[i,J] h[n,s-1,J] + W^{x,%s}[i,K] x[n,s,K] - B^{%s}[i]\right)"
    gates = [f"{name}[n,s,i] = {inside % (of, of, of)}" for name, of in (("g", "GR"), ("z", "Gh"))]
    R = f"R[n,s,i] = tanh({other}[n,s,i] + g[n,s,i] ({one}[n,s,i] - {other}[n,s,i]))"
    keep, take = ("z[n,s,i]", "(1-z[n,s,i])") if p["h_gate"] == "old" else ("(1-z[n,s,i])", "z[n,s,i]")
    return "\n".join([hidden, own, *gates, R, f"h[n,s,i] = {keep} h[n,s-1,i] + {take} R[n,s,i]"])


def one_line(p):
    """The gates put into the last line."""
    text = two_gate_equations(p)
    R_gate, R, h_gate, h = (line.split(" = ", 1)[1] for line in text.splitlines())
    R = R.replace("G^R[b,t,j]", f"{R_gate}")
    return f"h[b,t,j] = {h.replace('R[b,t,j]', R).replace('G^h[b,t,j]', h_gate)}"


def with_indicator(p):
    """1[i=j] for delta, and the slopes in lines of their own."""
    keep, take, sign = ("G[j]", "(1 - G[j])", "+") if p["h_gate"] == "old" else ("(1 - G[j])", "G[j]", "-")
    return "\n".join(
        [
            "s[j] = G[j] - G[j]^2",
            "u[j] = (1 - R[j]) (1 + R[j])",
            f"D[j,i] = 1[i=j] {keep} {sign} (h[j]-R[j]) s[j] W^{{h,G}}[j,i] + {take} u[j] W^{{h,R}}[j,i]",
        ]
    )


def collected(p):
    """The terms of the gate first."""
    return (
        "D[j,i] = G[j] (1-G[j]) W^{h,G}[j,i] h[j] - G[j] (1-G[j]) R[j] W^{h,G}[j,i] + W^{h,R}[j,i]"
        " - R[j]^2 W^{h,R}[j,i] - G[j] (1-R[j]^2) W^{h,R}[j,i] + \\delta_{ji} G[j]"
        if p["h_gate"] == "old"
        else "D[j,i] = G[j] (R[j]-h[j]) (1-G[j]) W^{h,G}[j,i] + G[j] W^{h,R}[j,i] (1-R[j]^2)"
        " + \\delta_{ij} - \\delta_{ij} G[j]"
    )


EQUIVALENTS = {
    "two_gate_equations": [own_lines, one_line],
    "through_time": [with_indicator, collected],
    "ugrnn": [step_back, one_matrix, as_steps],
    "two_gate": [as_lerp, one_product, with_exp],
    "TwoGateUGRNN": [Fused, InPlaceOfStates, AsLerp, WithBuffer],
}

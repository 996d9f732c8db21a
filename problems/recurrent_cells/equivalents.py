"""Correct answers written differently; each must earn full marks."""

import torch

from .references import gru_lines, lstm_lines

# Equations


def gru_in_latex(p):
    """Pasted, with other letters for the gates and a step between the two."""
    gates = r"""\rho[t,j] &= \sigma\left(W^{h,r}[j,I]\,h[t-1,I] + W^{x,r}[j,K]\,x[t,K] - B^r[j]\right) \\
u[t,j] &= \sigma\left(W^{h,z}[j,I]\,h[t-1,I] + W^{x,z}[j,K]\,x[t,K] - B^z[j]\right) \\
"""
    hidden = (
        r"W^{h,n}[j,I]\,\rho[t,I]\,h[t-1,I] - B^{h,n}[j]"
        if p["reset"] == "before"
        else r"\rho[t,j]\,(W^{h,n}[j,I]\,h[t-1,I] - B^{h,n}[j])"
    )
    mixed = (
        r"u[t,j]\,h[t-1,j] + (1-u[t,j])\,R[t,j]" if p["z_gate"] == "old" else r"u[t,j]\,R[t,j] + (1-u[t,j])\,h[t-1,j]"
    )
    candidate = rf"R[t,j] &= \tanh\left({hidden} + W^{{x,n}}[j,K]\,x[t,K] - B^{{x,n}}[j]\right) \\"
    return gates + candidate + f"\nh[t,j] &= {mixed}"


def gru_as_a_step(p):
    """The state moves towards the candidate by a part of the way."""
    part = "(1 - z[t,j])" if p["z_gate"] == "old" else "z[t,j]"
    return gru_lines(p, mixed=f"h[t-1,j] + {part} (n[t,j] - h[t-1,j])")


def derivative_in_two_lines(p):
    keep, new = ("z[t,i]", "1 - z[t,i]") if p["z_gate"] == "old" else ("1 - z[t,i]", "z[t,i]")
    reset = "r[t,j]" if p["reset"] == "before" else "r[t,i]"
    through = f"A[t,i,j] = W^{{h,n}}[i,j] {reset} (1 - n[t,i]) (1 + n[t,i])"
    return f"{through}\nD[t,i,j] = delta[i,j] ({keep}) + ({new}) A[t,i,j]"


def derivative_with_the_other_delta(p):
    keep, new = ("z[t,j]", "(1 - z[t,i])") if p["z_gate"] == "old" else ("(1 - z[t,j])", "z[t,i]")
    reset = "r[t,j]" if p["reset"] == "before" else "r[t,i]"
    return f"D[t,i,j] = {new} W^{{h,n}}[i,j] {reset} - {new} n[t,i]^2 W^{{h,n}}[i,j] {reset} + {keep} 1[j=i]"


def lstm_in_latex(p):
    """Pasted, in the usual order, with tildes."""
    gate = r"\sigma\left(W^{h,%s}[j,I]\,h[t-1,I] + W^{x,%s}[j,K]\,x[t,K] - B^%s[j]\right)"
    shares = r"(1-f[t,j])" if p["coupled"] else r"\iota[t,j]"
    lines = [] if p["coupled"] else [r"\iota[t,j] &= " + gate % ("i", "i", "i")]
    lines += [
        r"f[t,j] &= " + gate % ("f", "f", "f"),
        r"\tilde{c}[t,j] &= " + (gate % ("g", "g", "g")).replace(r"\sigma", r"\tanh"),
        r"c[t,j] &= f[t,j]\,c[t-1,j] + " + shares + r"\,\tilde{c}[t,j]",
        r"o[t,j] &= " + gate % ("o", "o", "o"),
        r"h[t,j] &= o[t,j]\,\tanh(c[t,j])",
    ]
    return " \\\\\n".join(lines)


def lstm_by_logistic(p):
    """A hyperbolic tangent is a stretched logistic function."""
    return lstm_lines(p, state="o[t,j] (2 sigma(2 c[t,j]) - 1)")


def through_by_cosh(p):
    return "E[t,j] = f[t,j] o[t,j] / cosh(c[t,j])^2"


def through_in_two_lines(p):
    return "y[t,j] = tanh(c[t,j])\nE[t,j] = (o[t,j] - o[t,j] y[t,j]^2) f[t,j]"


def memory_towards_its_end(p):
    end = "g" if p["coupled"] else "(i*g/(1-f))"
    return f"{end} + f^T (c_0 - {end})"


def memory_in_latex(p):
    end = "g" if p["coupled"] else r"\frac{i g}{1-f}"
    return rf"c[T] = c_0 f^T + {end} - {end} f^T"


LAYER_IN_ONE_LINE = (
    r"L_{l+1}[t,j] = L_l[t,j] + \tanh(W^h_{l+1}[j,I] s_{l+1}[t-1,I] + W^x_{l+1}[j,I] L_l[t,I] - B_{l+1}[j])"
)


def layer_by_difference(p):
    """The argument first."""
    return "\n".join(
        [
            "a[t,j] = W^x_{l+1}[j,I] L_l[t,I] - B_{l+1}[j]",
            "s_{l+1}[t,j] = tanh(a[t,j] + W^h_{l+1}[j,I] s_{l+1}[t-1,I])",
            "L_{l+1}[t,j] = s_{l+1}[t,j] + L_l[t,j]",
        ]
    )


def layer_in_one_line(p):
    return LAYER_IN_ONE_LINE


def count_by_layers(p):
    if p["counted"] == "GRU":
        return "J (6 J N + 4 N + 3 (K - J))"
    return "J (6 J N + 3 N + 3 (K - J))" if p["coupled"] else "4 J (2 J N + N + K - J)"


# Code


def gru_stacked(h, x, W_hr, W_xr, B_r, W_hz, W_xz, B_z, W_hn, B_hn, W_xn, B_xn, *, p):
    """Both gates by one product."""
    J = h.shape[1]
    gates = torch.cat([h, x], 1) @ torch.cat([torch.cat([W_hr, W_xr], 1), torch.cat([W_hz, W_xz], 1)]).T
    r, z = torch.sigmoid(gates - torch.cat([B_r, B_z])).split([J, J], 1)
    if p["reset"] == "before":
        n = torch.tanh(torch.cat([r * h, x], 1) @ torch.cat([W_hn, W_xn], 1).T - (B_hn + B_xn))
    else:
        n = torch.tanh(torch.addcmul(x @ W_xn.T - B_xn, r, torch.nn.functional.linear(h, W_hn, -B_hn)))
    return torch.lerp(n, h, z) if p["z_gate"] == "old" else torch.lerp(h, n, z)


def gru_row_by_row(h, x, W_hr, W_xr, B_r, W_hz, W_xz, B_z, W_hn, B_hn, W_xn, B_xn, *, p):
    rows = []
    for s, u in zip(h, x, strict=True):
        r = 1 / (1 + torch.exp(-(W_hr @ s + W_xr @ u - B_r)))
        z = 1 / (1 + torch.exp(-(W_hz @ s + W_xz @ u - B_z)))
        a = W_hn @ (r * s) - B_hn if p["reset"] == "before" else r * (W_hn @ s - B_hn)
        n = torch.tanh(a + W_xn @ u - B_xn)
        keep = z if p["z_gate"] == "old" else 1 - z
        rows.append(n + keep * (s - n))
    return torch.stack(rows)


def lstm_by_slices(h, c, x, W_h, W_x, B, *, p):
    names, J = p["blocks"].replace(" ", "").split(","), h.shape[1]

    def block(name):
        rows = slice(names.index(name) * J, (names.index(name) + 1) * J)
        return torch.einsum("ji,bi->bj", W_h[rows], h) + torch.einsum("jk,bk->bj", W_x[rows], x) - B[rows]

    forget, candidate = torch.sigmoid(block("f")), torch.tanh(block("g"))
    write = torch.sigmoid(-block("f")) if p["coupled"] else torch.sigmoid(block("i"))
    cell = torch.addcmul(forget * c, write, candidate)
    return torch.sigmoid(block("o")).mul(cell.tanh()), cell


def lstm_unflattened(h, c, x, W_h, W_x, B, *, p):
    names = p["blocks"].split(", ")
    a = (torch.cat([h, x], -1) @ torch.cat([W_h, W_x], -1).mT - B).unflatten(1, (len(names), -1))
    f, g, o = a[:, names.index("f")].sigmoid(), a[:, names.index("g")].tanh(), a[:, names.index("o")].sigmoid()
    c = torch.lerp(g, c, f) if p["coupled"] else f * c + a[:, names.index("i")].sigmoid() * g
    return (o * torch.tanh(c), c)


def stack_step_by_step(x, W_h, W_x, B, *, p):
    """All layers at one step before the next step."""
    N, outputs = len(W_h), []
    s = [torch.zeros(x.shape[0], x.shape[2], dtype=x.dtype) for _ in range(N)]
    for t in range(x.shape[1]):
        stream = x[:, t]
        for n in range(N):
            s[n] = torch.tanh(s[n] @ W_h[n].T + stream @ W_x[n].T - B[n])
            stream = s[n] + (stream if n or p["skip_first"] else 0)
        outputs.append(stream)
    return torch.stack(outputs, 1)


def stack_hoisted(x, W_h, W_x, B, *, p):
    """What a layer reads is multiplied before the loop."""
    for n, (W, U, b) in enumerate(zip(W_h, W_x, B, strict=True)):
        z = torch.nn.functional.linear(x, U, -b).transpose(0, 1)
        states = [z[0].tanh()]
        for t in range(1, len(z)):
            states.append((z[t] + states[-1] @ W.T).tanh())
        states = torch.stack(states).transpose(0, 1)
        x = states if n == 0 and not p["skip_first"] else states + x
    return x


EQUIVALENTS = {
    "gru_equations": [gru_in_latex, gru_as_a_step],
    "gru": [gru_stacked, gru_row_by_row],
    "gru_derivative": [derivative_in_two_lines, derivative_with_the_other_delta],
    "lstm_equations": [lstm_in_latex, lstm_by_logistic],
    "lstm": [lstm_by_slices, lstm_unflattened],
    "through_the_cell": [through_by_cosh, through_in_two_lines],
    "constant_gates": [memory_towards_its_end, memory_in_latex],
    "residual_layer": [layer_in_one_line, layer_by_difference],
    "residual_stack": [stack_step_by_step, stack_hoisted],
    "stack_count": [count_by_layers],
}

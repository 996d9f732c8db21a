"""The equations of each variant, and what they and the wrong ones are made of."""


def other(p, name, one, two):
    """The value that a parameter with two values does not have."""
    return two if p[name] == one else one


# The GRU


def gate(name, hidden="W^{{h,{0}}}[j,I] h[t-1,I] + "):
    """A gate's argument of the logistic function."""
    return f"{hidden.format(name)}W^{{x,{name}}}[j,K] x[t,K] - B^{name}[j]"


HIDDEN = {
    "before": "W^{h,n}[j,I] r[t,I] h[t-1,I] - B^{h,n}[j]",
    "after": "r[t,j] (W^{h,n}[j,I] h[t-1,I] - B^{h,n}[j])",
    "never": "W^{h,n}[j,I] h[t-1,I] - B^{h,n}[j]",
    "not the bias": "r[t,j] W^{h,n}[j,I] h[t-1,I] - B^{h,n}[j]",
}
MIXED = {"old": "z[t,j] h[t-1,j] + (1 - z[t,j]) n[t,j]", "new": "z[t,j] n[t,j] + (1 - z[t,j]) h[t-1,j]"}


def gru_lines(p, *, reset=None, mixed=None, squash="tanh", argument="{hidden} + {seen}", hidden_of_gates=None):
    """Give the equations of the GRU, from its gates to its state."""
    words = {} if hidden_of_gates is None else {"hidden": hidden_of_gates}
    argument = argument.format(hidden=HIDDEN[reset or p["reset"]], seen="W^{x,n}[j,K] x[t,K] - B^{x,n}[j]")
    return "\n".join(
        [
            f"r[t,j] = sigma({gate('r', **words)})",
            f"z[t,j] = sigma({gate('z', **words)})",
            f"n[t,j] = {squash}({argument})",
            f"h[t,j] = {mixed or MIXED[p['z_gate']]}",
        ]
    )


# The derivative of the GRU's state with its gates held fixed


def jacobian_line(p, *, keep=None, new=None, matrix="W^{h,n}[i,j]", slope="(1 - n[t,i]^2)", reset=None, same="1[i=j]"):
    """Give the derivative of h[t,i] by h[t-1,j], gates fixed."""
    old, candidate = ("z[t,i]", "(1 - z[t,i])") if p["z_gate"] == "old" else ("(1 - z[t,i])", "z[t,i]")
    reset = ("r[t,j]" if p["reset"] == "before" else "r[t,i]") if reset is None else reset
    return f"D[t,i,j] = {same} {keep or old} + {new or candidate} {slope} {matrix} {reset}"


# The LSTM


def lstm_lines(p, *, squash="tanh", cell="f[t,j] c[t-1,j] + i[t,j] g[t,j]", state="o[t,j] tanh(c[t,j])", own=None):
    """Give the equations of the LSTM, from its gates to its state."""
    own = not p["coupled"] if own is None else own
    return "\n".join(
        [
            f"f[t,j] = sigma({gate('f')})",
            f"i[t,j] = {'sigma(' + gate('i') + ')' if own else '1 - f[t,j]'}",
            f"g[t,j] = {squash}({gate('g')})",
            f"o[t,j] = sigma({gate('o')})",
            f"c[t,j] = {cell}",
            f"h[t,j] = {state}",
        ]
    )


# A layer of the stack


def layer_lines(carried="s_{l+1}[t-1,I]", below="L_l[t,I]", out="L_l[t,j] + s_{l+1}[t,j]", inside=""):
    """Give the equations of one layer with a residual connection."""
    return "\n".join(
        [
            rf"s_{{l+1}}[t,j] = tanh(W^h_{{l+1}}[j,I] {carried} + W^x_{{l+1}}[j,I] {below} - B_{{l+1}}[j]{inside})",
            rf"L_{{l+1}}[t,j] = {out}",
        ]
    )

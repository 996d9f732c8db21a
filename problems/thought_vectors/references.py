"""The equations of each variant, and what they and the wrong ones are made of."""


def before(p):
    """The position that is read just before position s."""
    return "s+1" if p["reads"] == "right to left" else "s-1"


def encoder_line(p, *, state=None, word="e[w_s,I]", squash="tanh", matrix="W^h[j,K]", sign="-"):
    """Give the equation of the encoder's states."""
    state = state or f"g[{before(p)},K]"
    return f"g[s,j] = {squash}({matrix} {state} + W^x[j,I] {word} {sign} B[j])"


def loss_lines(p, *, sign="-", entry="v[t]", over="softmax_w", inside="ln({0})", divisor=None):
    """Give the equations of the loss of a translation."""
    divisor = divisor or (" / T" if p["loss"] == "mean" else "")
    return f"P[t,w] = {over}[S[t,w]]\nLoss = {sign} (sum_t {inside.format(f'P[t,{entry}]')}){divisor}"

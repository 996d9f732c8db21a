"""The equations of each variant, and what they and the wrong ones are made of."""

ACTIVATION = {"relu": "relu({0})", "silu": "({0}) sigma({0})", "squared relu": "relu({0})^2"}


def feed_forward_lines(p, *, reads="L", name="O", activation=None, inner="W^FF1[f,J] {0}[t,J] - B^FF1[f]", after=""):
    """Give the equations of the feed-forward layer at each position."""
    inner = inner.replace("{0}", reads)
    return (
        f"a[t,f] = {inner}\nh[t,f] = {(activation or ACTIVATION[p['activation']]).replace('{0}', 'a[t,f]')}\n"
        f"{name}[t,j] = W^FF2[j,F] h[t,F] - B^FF2[j]{after}"
    )


def norm_lines(p, *, reads="X", name="N", kind=None, root="sqrt({0})", divisor="J", gain="g[j] ", over="j'"):
    """Give the equations of the norm: of a layer norm or by the root of the mean square."""
    if (kind or p["norm"]) == "rms":
        square = f"v[t] = sum_{{{over}}} {reads}[t,{over}]^2 / {divisor}"
        return f"{square}\n{name}[t,j] = {gain}{reads}[t,j] / {root.replace('{0}', 'v[t] + epsilon')}"
    mean = f"m[t] = sum_{{{over}}} {reads}[t,{over}] / J"
    square = f"v[t] = sum_{{{over}}} ({reads}[t,{over}] - m[t])^2 / {divisor}"
    return f"{mean}\n{square}\n{name}[t,j] = {gain}({reads}[t,j] - m[t]) / {root.replace('{0}', 'v[t] + epsilon')}"


def sublayer_lines(p, *, place=None, skip="X[t,j] + ", **norm):
    """Give the equations of the feed-forward layer with its norm and its residual connection."""
    if (place or p["place"]) == "before":
        lines = [norm_lines(p, **norm), feed_forward_lines(p, reads="N"), f"Y[t,j] = {skip}O[t,j]"]
    else:
        lines = [feed_forward_lines(p, reads="X"), f"R[t,j] = {skip}O[t,j]", norm_lines(p, reads="R", name="Y", **norm)]
    return "\n".join(lines)


def counted(p, *, attention="4*J^2", inner="2*J*F + F + J", gains=None):
    """Give the count of parameters of N blocks."""
    cross = p["stack"] == "decoder"
    gains = ("3*J" if cross else "2*J") if gains is None else gains
    return f"N*({'2*' if cross else ''}{attention} + {inner} + {gains})"

"""The typed right answers that wrong ones are made from."""


def layer_equation(p, at=None, body=None, bias=" - B_{l+1}[i]", outside="", f=None):
    """Give the equation of L_{l+1}."""
    stride, gap, sign = p["stride"], p["gap"], "+" if p["look"] == "ahead" else "-"
    at = at or f"{stride}t{sign}{'' if gap == 1 else gap}Dt"
    full = p["filters"] == "full"
    body = body or (
        "sum_{{Dt,i'}} W_{{l+1}}[Dt,i',i] L_l[b,{0},i']" if full else "sum_{{Dt}} W_{{l+1}}[Dt,i] L_l[b,{0},i]"
    )
    f = p["activation"] if f is None else f
    return f"L_{{l+1}}[b,t,i] = {f}(({body.format(at)}){bias}){outside}"


def shorter(T, p, look=None):
    """The length of the layer above."""
    span = p["gap"] * (p["D"] - 1)
    return (T - span - 1) // p["stride"] + 1 if (look or p["look"]) == "ahead" else (T - 1) // p["stride"] + 1


def length(p):
    T = p["T"]
    for _ in range(p["L"]):
        T = shorter(T, p)
    return T

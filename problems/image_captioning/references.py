"""The equations of each variant, and what they and the wrong ones are made of."""

# What varies: image or video, one head or several, how scores are made, what is averaged, when the image is used.


def cell(p):
    """The indices of a place that is looked at."""
    return "f,x,y" if p["memory"] == "video" else "x,y"


def head(p):
    """The index of the head, before others."""
    return "n," if p["heads"] else ""


def score(p, h="h[t-1,J]", place=None):
    """The score of a place."""
    n, place = head(p), place or cell(p)
    if p["score"] == "bilinear":
        return f"{h} W^key[{n}J,K] M[{place},K]"
    return f"v[{n}A] tanh(W^h[{n}A,J] {h} + W^M[{n}A,K] M[{place},K] - B[{n}A])"


def weights(p, over=None, h="h[t-1,J]", temperature=None):
    """Give the equation of alpha."""
    place, divided = cell(p), " / tau" if p["temperature"] else ""
    divided = divided if temperature is None else temperature
    return f"alpha[{head(p)}{place}] = softmax_{{{over or place}}}[ ({score(p, h)}){divided} ]"


def values(p, before="", alpha=None, after="", place=None, M=None):
    """Give the equation of V."""
    n, place = head(p), place or cell(p)
    alpha = f"alpha[{n}{place}]" if alpha is None else alpha
    if p["values"] == "mapped":
        return f"V[{n}j] = {before}sum_{{{place}}} {alpha} W^val[{n}j,K] M[{M or place},K]{after}"
    return f"V[{n}k] = {before}sum_{{{place}}} {alpha} M[{M or place},k]{after}"


def whole_V(p):
    """V with all its axes."""
    return f"V[{'N,' if p['heads'] else ''}{'J' if p['values'] == 'mapped' else 'K'}]"


def W_see(p):
    """The matrix by which V enters the distribution of the same step."""
    return f"W^see[I,{whole_V(p)[2:]}"


def distribution(p, h="h[t-1,J]", use=None, f="softmax_w", word="w"):
    """Give the equation of P."""
    see = f" + e[{word},I] {W_see(p)} {whole_V(p)}" if (use or p["use"]) == "same step" else ""
    return f"P[{word}] = {f}[ e[{word},I] W^auto[I,J] {h}{see} ]"


def update(p, first="h[t-1,J]", second=None, third="e[w_t,I]"):
    """Give the equation of h[t,J]."""
    return f"h[t,J] = CELL({first}, {second or whole_V(p)}, {third})"


def first_state(p, before=None, body=None):
    """Give the equation of the first state."""
    total = "F X Y" if p["memory"] == "video" else "X Y"
    before = f"1/({total}) " if before is None else before
    return f"s[j] = W^init[j,K] {before}{body or f'(sum_{{{cell(p)}}} M[{cell(p)},K])'}"


def derivative(p, body="beta[{0}] (M[{0},k] - c[k])"):
    """Give the derivative."""
    return f"G[{cell(p)},k] = {body.format(cell(p))}"

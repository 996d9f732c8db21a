"""The typed answers: the cell with two gates, and the derivative of a step by the state before it."""

TWO_GATES = [
    "h[B,T,J]",
    "x[B,T,K]",
    *("W^{h,GR}[J,J]", "W^{x,GR}[J,K]", "B^{GR}[J]"),
    *("W^{h,R}[J,J]", "B^{h,R}[J]", "W^{x,R}[J,K]", "B^{x,R}[J]"),
    *("W^{h,Gh}[J,J]", "W^{x,Gh}[J,K]", "B^{Gh}[J]"),
]
CELL = {"tensors": TWO_GATES, "target": "h", "same": {"I": "J"}}
ONE_STEP = {
    "tensors": ["h[J]", "R[J]", "G[J]", "W^{h,R}[J,J]", "W^{h,G}[J,J]"],
    "target": "D",
    "positive": "G",
}


def from_state(name, state="h[b,t-1,I]"):
    """A matrix times the previous state."""
    return f"W^{{h,{name}}}[j,I] {state}"


def from_input(name):
    """A matrix times the input."""
    return f"W^{{x,{name}}}[j,K] x[b,t,K]"


def gate(name, function="sigma", sign="-"):
    """The equation of a gate."""
    return f"G^{name}[b,t,j] = {function}({from_state(f'G{name}')} + {from_input(f'G{name}')} {sign} B^{{G{name}}}[j])"


def convex(weight, one, other):
    """A convex combination, in which the weight multiplies the first of two."""
    return f"{weight} ({one}) + (1 - {weight}) ({other})"


def branches(p, sign="-"):
    """The two branches, that of G^R first."""
    hidden, own = f"{from_state('R')} {sign} B^{{h,R}}[j]", f"{from_input('R')} {sign} B^{{x,R}}[j]"
    return (hidden, own) if p["R_gate"] == "h" else (own, hidden)


def candidate(p, sign="-"):
    """The equation of R."""
    return f"R[b,t,j] = tanh({convex('G^R[b,t,j]', *branches(p, sign))})"


def mixed(p, weight="G^h[b,t,j]"):
    """The equation of the new state."""
    old, new = "h[b,t-1,j]", "R[b,t,j]"
    return f"h[b,t,j] = {convex(weight, *((old, new) if p['h_gate'] == 'old' else (new, old)))}"


def two_gate_equations(p, *, R_gate=None, R=None, h_gate=None, h=None):
    """The cell, with another line in the place of one of its four."""
    return "\n".join([R_gate or gate("R"), R or candidate(p), h_gate or gate("h"), h or mixed(p)])


def through_time(p, *, copied=None, of_gate=None, of_candidate=None):
    """D[j,i], with another term in the place of one of its three."""
    keep, take, sign = ("G[j]", "(1 - G[j])", "") if p["h_gate"] == "old" else ("(1 - G[j])", "G[j]", "-")
    copied = copied or f"{keep} delta[j,i]"
    of_gate = of_gate or f"{sign}(h[j] - R[j]) G[j] (1 - G[j]) W^{{h,G}}[j,i]"
    return f"D[j,i] = {copied} + ({of_gate}) + {of_candidate or f'{take} (1 - R[j]^2) W^{{h,R}}[j,i]'}"

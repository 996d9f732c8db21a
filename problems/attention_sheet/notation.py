"""What typed answers may use in each variant: letters and where they live, tensors."""

COST_VARIABLES = {"restricted": "n r d", "separable": "n k d", "linear": "n d", "whole": "n d"}


def other_variables(p):
    return COST_VARIABLES[p["layer"]]


def other_constraints(p):
    return {"restricted": ["r<=n"], "separable": ["k<=n"]}.get(p["layer"], [])


def parameter_names(p):
    more = {"grouped": ("g",), "fixed": ("w",)}.get(p["sharing"], ())
    return dict.fromkeys(("d", "h", *more), "posint")


def pair_constraints(p):
    """A window or a prefix is not longer than the text."""
    return {"window": ["w<=T"], "prefix": ["q<=T"]}.get(p["mask"], [])


def pair_names(p):
    return dict.fromkeys({"causal": "T", "window": "T w", "prefix": "T q"}[p["mask"]].split(), "posint")


def tables(p):
    first = "P" if p["restart"] else "T"
    return ["E^tok[V,J]", "E^seg[S,J]", f"E^pos[{first},J]", "w[T]", "s[T]", *(["r[T]"] if p["restart"] else [])]


COUNTS = {"n": "posint", "d": "posint"}
COUNTS_BY_HEADS = {**COUNTS, "h": "posint"}
TABLE_SIZES = dict.fromkeys("VPSd", "posint")
# The letters of the other layer, and of the layers of kernel width k.
OTHER = {"variables": other_variables, "constraints": other_constraints}
PATHS = {"variables": "n k", "constraints": ["k<=n"]}
# The letters of the numbers of visible pairs; a closed form is asked for.
PAIRS_SEEN = {"domains": pair_names, "constraints": pair_constraints, "forbid": ["sum", "min", "max"]}

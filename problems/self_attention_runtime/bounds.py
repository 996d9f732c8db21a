"""What a variant's bounds are made of: its variables, and the chain of its sums."""


def row(p):
    """The number of positions that one softmax runs over."""
    return {"all": "T", "causal": "n", "window": "r"}[p["row"]]


def row_variables(p):
    return " ".join(dict.fromkeys([row(p), "T", "U", "J", "K"]))


def row_constraints(p):
    return ["U<=J", "K<=J", *([f"{row(p)}<=T"] if row(p) != "T" else [])]


def variables(p, widths="U"):
    more = {"stack": "L", "feed_forward": "F"}.get(p["layer"], "")
    return f"T J K {widths} {more}".strip()


def equal_widths(p):
    """The variables where U is no variable of its own."""
    return variables(p, widths="")


# What the bounds may use.
ROW_LETTERS = {"variables": row_variables, "constraints": row_constraints}
LAYER_LETTERS = {"variables": variables, "constraints": ["U<=J", "K<=J"], "definitions": {"I": "J/K"}}
STEPS = {"domains": {"N": "{2,3,...}", "U": "{2,3,...}"}}
EQUAL_LETTERS = {"variables": equal_widths, "constraints": ["K<=J"], "definitions": {"I": "J/K", "U": "J/K"}}


def chained(p, time):
    """The time of the whole from that of one layer: a stack and a written text wait."""
    return {"stack": f"L ({time})", "decoding": f"T ({time})"}.get(p["layer"], time)


def hidden(p, term):
    """A term for the hidden layer, where there is one."""
    return f" + {term}" if p["layer"] == "feed_forward" else ""


def stages(p):
    """The parallel time."""
    return chained(p, f"ln T + ln J{hidden(p, 'ln F')}")


def practised(p, serial=None):
    """The time with some sums serial."""
    positions = "ln T" if (serial or p["serial"]) == "features" else "T"
    return chained(p, f"J + {positions}{hidden(p, 'F')}")


def worked(p):
    """All operations: projections, scores and means, a hidden layer."""
    attention = "" if p["layer"] == "linear" else " + T^2 J"
    work = f"T J^2{attention}{hidden(p, 'T J F')}"
    return f"L ({work})" if p["layer"] == "stack" else work

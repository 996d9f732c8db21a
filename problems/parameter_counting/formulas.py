"""The counts in letters."""

SIZES = {"domains": dict.fromkeys(("N", "d", "d_ff", "V"), "posint")}
CELL = {"domains": {"J": "posint", "K": "posint"}}


def model_formula(p, **other):
    """All parameters, as a sum of shares, some of which may be others."""
    norms = "(5 N + 2)" if p["final_norm"] else "5 N"
    shares = {
        "embedding": f"{p['matrices']} V d",
        "attention": f"3 N ({attention_formula(p)})",
        "feed_forward": "2 N (2 d d_ff + d_ff + d)",
        "layer_norm": f"{norms} 2 d",
    }
    return " + ".join({**shares, **other}.values())


def attention_formula(p):
    """One attention sub-layer."""
    return "4 d^2 + 4 d" if p["attention_bias"] else "4 d^2"


def pre_activation(p):
    """What a candidate or a gate begins with."""
    return "J^2 + J K + J" if p["gate_biases"] == "one" else "J^2 + J K + 2 J"


def two_gate_formula(p):
    """Three pre-activations, where the candidate has two biases in any case."""
    return f"3 ({pre_activation(p)}) + J" if p["gate_biases"] == "one" else f"3 ({pre_activation(p)})"


def lstm_formula(p):
    """Four pre-activations."""
    return f"4 ({pre_activation(p)})"

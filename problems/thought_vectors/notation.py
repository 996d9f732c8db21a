"""The tensors and variables that are given in each part."""

ENCODER = {"tensors": ["g[S,J]", "e[W,I]", "W^h[J,J]", "W^x[J,I]", "B[J]"], "sequences": "w", "target": "g"}
LOSS = {"tensors": ["S[T,V]", "v[T]"], "sequences": "v", "target": "Loss"}
PLACES = dict.fromkeys(("s", "t", "S"), "posint")


def room(p):
    """Bits, vocabulary, and the one of the two lengths that is given."""
    return {"b": "posint", "V": "{2,3,...}", ("J" if p["asked"] == "words" else "n"): "posint"}

"""The tensors that are given in each part."""


def tables(p):
    return ["e[V,I]", "r[T,I]"] if p["position"] else ["e[V,I]"]


def below(p):
    return ["L_l[B,T,I]", "W_{l+1}[D,I,I]" if p["filters"] == "full" else "W_{l+1}[D,I]", "B_{l+1}[I]"]


LAYERS = {"D": "posint", "L": "posint"}
SIZES = dict.fromkeys("VILD", "posint")

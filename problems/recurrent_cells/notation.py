"""The tensors and variables that are given in each part."""

_GRU = "W^{h,r}[J,J] W^{x,r}[J,K] B^r[J] W^{h,z}[J,J] W^{x,z}[J,K] B^z[J]"
_CANDIDATE = "W^{h,n}[J,J] B^{h,n}[J] W^{x,n}[J,K] B^{x,n}[J]"
GRU = {"tensors": ["h[T,J]", "x[T,K]", *_GRU.split(), *_CANDIDATE.split()], "target": "h"}
JACOBIAN = {"tensors": ["r[T,J]", "z[T,J]", "n[T,J]", "W^{h,n}[J,J]"], "target": "D"}


def lstm_tensors(p):
    """State, cell and input, then matrices and biases of every gate that has its own, and of the candidate."""
    own = "fgo" if p["coupled"] else "ifgo"
    return [
        *("h[T,J]", "c[T,J]", "x[T,K]"),
        *(text for name in own for text in (f"W^{{h,{name}}}[J,J]", f"W^{{x,{name}}}[J,K]", f"B^{name}[J]")),
    ]


THROUGH = {"tensors": ["f[T,J]", "o[T,J]", "c[T,J]"], "target": "E", "positive": "f o"}
LAYER = {
    "tensors": ["L_l[T,J]", "s_{l+1}[T,J]", "W^h_{l+1}[J,J]", "W^x_{l+1}[J,J]", "B_{l+1}[J]"],
    "target": "L_{l+1}",
}
MEMORY = {"f": "unit", "g": "real", "c_0": "real", "T": "posint"}
SIZES = {"N": "posint", "J": "posint", "K": "posint"}


def memory_names(p):
    """With gates that are coupled there is no i."""
    return MEMORY if p["coupled"] else {"i": "unit", **MEMORY}

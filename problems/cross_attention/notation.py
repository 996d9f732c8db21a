"""The tensors and variables that are given in each part."""

from .references import word_axis


def given_look(p):
    asks = "h[T,J]" if p["query"] == "state" else f"e[W,{word_axis(p)}]"
    matrix = f"W^key[{'J' if p['query'] == 'state' else 'I'},J]"
    return [asks, "M[S,J]", *([matrix] if p["matrix"] else [])]


def given_next(p):
    I = word_axis(p)  # noqa: E741 - the axis of a word vector
    return [f"e[W,{I}]", f"W^auto[{I},J]", "h[T,J]", *([f"W^see[{I},J]", "V[T,J]"] if p["reads"] == "both" else [])]


LOOK = {"tensors": given_look, "sequences": "w", "target": "V"}
NEXT = {"tensors": given_next, "target": "P"}
MEMORY = {
    "tensors": ["q[J]", "M[S,J]", "alpha[S]", "V[J]"],
    "given_equations": "alpha[s] = softmax_s[q[J] M[s,J]]\nV[j] = sum_s alpha[s] M[s,j]",
    "target": "G",
}
HEADS = {"tensors": ["X[T,J]", "M[S,D]", "W^Q[K,U,J]", "W^K[K,U,D]", "W^V[K,I,D]"], "target": "Out"}
SIZES = dict.fromkeys(("T", "S", "J", "K"), "posint")

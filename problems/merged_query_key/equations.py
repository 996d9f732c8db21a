"""The typed answers: the merged matrix, the way to it from the scores, and what both forms cost."""

from autograder import Milestone


def root(p):
    """What scores are divided by."""
    return " / sqrt(I)" if p["scaled"] else ""


def matrices(p):
    """Query and key matrices; in self-attention their last axes are one."""
    return ["W^Q[K,I,J_1]", "W^K[K,I,J_2]"] if p["cross"] else ["W^Q[K,I,J]", "W^K[K,I,J]"]


def axes(p):
    """In self-attention both widths are J."""
    return {} if p["cross"] else {"J_1": "J", "J_2": "J"}


def vectors(p):
    """All tensors of the way: L' is L in self-attention."""
    of_layer = ["L[T,J_1]", "L'[S,J_2]", "W~[K,J_1,J_2]"] if p["cross"] else ["L[T,J]", "L'[T,J]", "W~[K,J,J]"]
    return [*matrices(p), *of_layer, "Query[K,T,I]", "Key[K,S,I]" if p["cross"] else "Key[K,T,I]"]


def words(p):
    """The names of an axis."""
    return {"same": axes(p)}


def merged_matrix(p, asks="W^Q[k,I,j_1]", asked="W^K[k,I,j_2]", divided=None):
    """The equation of the merged matrix."""
    return f"W~[k,j_1,j_2] = {asks} {asked}{root(p) if divided is None else divided}"


def definitions(p):
    """What the statement says of the tensors of the way."""
    one, other = ("J_1", "J_2") if p["cross"] else ("J", "J")
    lines = [
        f"Query[k,t,i] = W^Q[k,i,{one}] L[t,{one}]",
        f"Key[k,t,i] = W^K[k,i,{other}] L'[t,{other}]",
        f"W~[k,a,b] = W^Q[k,I,a] W^K[k,I,b]{root(p)}",
    ]
    return "\n".join(lines if p["cross"] else [*lines, "L'[t,j] = L[t,j]"])


def scores(p):
    """The given line."""
    return f"S[k,t_1,t_2] = Query[k,t_1,I] Key[k,t_2,I]{root(p)}"


def merged_scores(p):
    """The last line."""
    return "S[k,t_1,t_2] = L[t_1,J_1] W~[k,J_1,J_2] L'[t_2,J_2]"


def steps(p, asks="W^Q[k,I,J_1] L[t_1,J_1]", asked="W^K[k,I,J_2] L'[t_2,J_2]", last=None, divided=None):
    """The way, with another factor in its second line, or another last line."""
    written = f"({asks}) ({asked}){root(p) if divided is None else divided}"
    return "\n".join([scores(p), f"= {written}", f"= {last or merged_scores(p).split(' = ')[1]}"])


WRITTEN_OUT = Milestone(
    "the scores in `W^Q`, `W^K` and the vectors, without `Query` and `Key`",
    has=["W^Q", "W^K"],
    lacks=["Query", "Key"],
    weight=2,
)
MERGED = {"tensors": matrices, "target": r"\tilde{W}", "same": {"J_1": "J", "J_2": "J"}}
STEPS = {
    "tensors": vectors,
    "words": words,
    "given_equations": definitions,
    "milestones": [WRITTEN_OUT],
    "forbid": ["W^Q", "W^K", "Query", "Key"],
    "end": "the scores in `W~` and the vectors, without `W^Q` and `W^K`",
}
COUNTS = {"domains": dict.fromkeys("KIJ", "posint")}

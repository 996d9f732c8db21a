"""The equations of each variant, and what they and the wrong ones are made of."""


def word_axis(p):
    """The letter of a word vector's axis: without a matrix, words and states have the same width."""
    return "J" if p["query"] == "word" and not p["matrix"] else "I"


def score(p, *, query=None, word="w_t", state="h[t-1,{0}]", matrix=None, order="{0},{1}"):
    """The score of the source's position s in step t."""
    state_asks, matrix = (query or p["query"]) == "state", p["matrix"] if matrix is None else matrix
    asks, axis = (state, "J_1" if matrix else "J") if state_asks else (f"e[{word},{{0}}]", word_axis(p))
    other = "J_2" if state_asks and matrix else "J"
    if not matrix:
        return f"{asks.replace('{0}', axis)} M[s,{axis}]"
    return f"{asks.replace('{0}', axis)} W^key[{order.format(axis, other)}] M[s,{other}]"


def look_lines(p, *, over="s", before="softmax_{over}", after="", seen="sum_s alpha[t,s] M[s,j]", **changed):
    """Give the equations of the weights and of what is seen."""
    return f"alpha[t,s] = {before.format(over=over)}[{score(p, **changed)}{after}]\nV[t,j] = {seen}"


def next_line(p, *, state="h[t,{0}]", seen="V[t,{0}]", reads=None, over="softmax_w"):
    """Give the equation of the next word's distribution."""
    one, two = ("J_1", "J_2") if word_axis(p) == "J" else ("I", "J")
    scores = f"e[w,{one}] W^auto[{one},{two}] {state.format(two)}"
    if (reads or p["reads"]) == "both":
        scores += f" + e[w,{one}] W^see[{one},{two}] {seen.format(two)}"
    return f"P[t,w] = {over}[{scores}]"


def heads_lines(p, *, over="s", scale=None, query="X[t,J]", key="M[s,D]", value="M[s,D]", last="alpha[k,t,s]"):
    """Give the equations of attention with several heads from one sequence to another."""
    scale = (" / sqrt(U)" if p["scaled"] else "") if scale is None else scale
    return "\n".join(
        [
            f"Query[k,t,u] = W^Q[k,u,J] {query}",
            f"Key[k,s,u] = W^K[k,u,D] {key}",
            f"Value[k,s,i] = W^V[k,i,D] {value}",
            f"alpha[k,t,s] = softmax_{over}[Query[k,t,U] Key[k,s,U]{scale}]",
            f"Out[k,t,i] = sum_s {last} Value[k,s,i]",
        ]
    )

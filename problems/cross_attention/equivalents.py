"""Correct answers written differently; each must earn full marks."""

import torch

from .references import score, word_axis

# Equations


def look_in_latex(p):
    """As the slides and the sheet print it, with capitals for the sum."""
    typed = score(p).replace("W^key", r"W^{\text{key}}")
    return rf"\alpha[t,s] &= \underset{{s}}{{\text{{softmax}}}} \ {typed} \\" + "\n" + r"V[t,J] &= \alpha[t,S]\,M[S,J]"


def look_by_exp(p):
    """The softmax written out, in one average."""
    over = score(p).replace("[s,", "[s',")
    return f"V[t,j] = sum_s exp({score(p)}) M[s,j] / (sum_{{s'}} exp({over}))"


def look_with_a_query(p):
    """What meets the source has a name."""
    if p["query"] == "state":
        asks = "h[t-1,I] W^key[I,j]" if p["matrix"] else "h[t-1,j]"
    else:
        asks = "e[w_t,I] W^key[I,j]" if p["matrix"] else "e[w_t,j]"
    return f"q[t,j] = {asks}\na[t,s] = q[t,J] M[s,J]\nalpha[t,s] = softmax_s[a[t,s]]\nV[t,j] = sum_s alpha[t,s] M[s,j]"


def next_factored(p):
    """The words' vectors meet the sum of both."""
    one, two = ("J_1", "J_2") if word_axis(p) == "J" else ("I", "J")
    seen = f" + W^see[{one.lower()},{two}] V[t,{two}]" if p["reads"] == "both" else ""
    return (
        f"y[t,{one.lower()}] = W^auto[{one.lower()},{two}] h[t,{two}]{seen}\nP[t,w] = softmax_w[y[t,{one}] e[w,{one}]]"
    )


def next_in_latex(p):
    one, two = ("J_1", "J_2") if word_axis(p) == "J" else ("I", "J")
    see = rf" + e[w,{one}]\,W^{{\text{{see}}}}[{one},{two}]\,V[t,{two}]" if p["reads"] == "both" else ""
    scores = rf"e[w,{one}]\,W^{{\text{{auto}}}}[{one},{two}]\,h[t,{two}]{see}"
    return rf"P[t,w] = \underset{{w}}{{\text{{softmax}}}}\left({scores}\right)"


def derivative_written_out(p):
    return "G[s,j,i] = alpha[s] 1[i=j] + alpha[s] M[s,j] q[i] - alpha[s] q[i] V[j]"


def derivative_by_the_softmax(p):
    """By the derivative of every weight."""
    return "G[s,j,i] = alpha[s] delta[i,j] + sum_{s'} M[s',j] alpha[s'] (delta[s,s'] - alpha[s]) q[i]"


def heads_in_two_lines(p):
    scale = r"\frac{1}{\sqrt{U}}\," if p["scaled"] else ""
    return (
        rf"\alpha[k,t,s] &= \underset{{s}}{{\text{{softmax}}}}\; {scale}X[t,J]\,W^Q[k,U,J]\,W^K[k,U,D]\,M[s,D] \\"
        "\n"
        r"Out[k,t,i] &= \alpha[k,t,S]\,W^V[k,i,D]\,M[S,D]"
    )


def heads_average_first(p):
    """The average first, then the matrix of the values."""
    scale = " / sqrt(U)" if p["scaled"] else ""
    return (
        "q[k,t,u] = W^Q[k,u,J] X[t,J]\nr[k,s,u] = W^K[k,u,D] M[s,D]\n"
        f"a[k,t,s] = softmax_s[q[k,t,U] r[k,s,U]{scale}]\nm[k,t,d] = sum_s a[k,t,s] M[s,d]\n"
        "Out[k,t,i] = W^V[k,i,D] m[k,t,D]"
    )


def cost_in_order(p):
    """Queries, keys, scores, values, averages, output."""
    unit, kept = ("" if p["unit"] == "multiplications" else "2 "), "S" if p["keys"] == "once" else "S T"
    return " + ".join(f"{unit}{term}" for term in ("T J^2", f"{kept} J^2", "T S J", f"{kept} J^2", "T S J", "T J^2"))


# Code


def look_one_by_one(h, x, M, W_key, lengths, *, p):
    alphas, seen = [], []
    for h_b, x_b, M_b, length in zip(h, x, M, lengths.tolist(), strict=True):
        s = M_b[:length] @ ((h_b if p["query"] == "state" else x_b) @ W_key)
        a = torch.exp(s - s.max())
        a = a / a.sum()
        alphas.append(torch.cat([a, a.new_zeros(len(M_b) - length)]))
        seen.append(a @ M_b[:length])
    return torch.stack(alphas), torch.stack(seen)


def look_by_products(h, x, M, W_key, lengths, *, p):
    keys = M @ W_key.T  # [B, S, J or I]
    s = (keys @ (h if p["query"] == "state" else x)[:, :, None])[:, :, 0]
    visible = torch.arange(M.size(1)).expand(len(M), -1) < lengths.unsqueeze(1)
    alpha = torch.where(visible, s, float("-inf")).softmax(-1)
    return alpha, (alpha[:, None] @ M)[:, 0]


def look_by_a_low_mask(h, x, M, W_key, lengths, *, p):  # exactly 0 for all scores that the statement admits
    s = (M @ ((h if p["query"] == "state" else x) @ W_key)[:, :, None])[:, :, 0]
    behind = torch.arange(M.size(1)) >= lengths[:, None]
    alpha = (s - 1e8 * behind).softmax(-1)
    return alpha, torch.einsum("bs,bsj->bj", alpha, M)


def translate_one_by_one(M, h, start, e, W_key, W_auto, W_h, W_V, W_x, B, T, *, p):
    sentences, weights = [], []
    for M_b, s in zip(M, h, strict=True):
        x, words, alphas = start, [], []
        for _ in range(T):
            a = (M_b @ ((s if p["query"] == "state" else x) @ W_key)).softmax(0)
            s = torch.tanh(W_h @ s + W_V @ (a @ M_b) + W_x @ x - B)
            words.append(int(torch.argmax(e @ (W_auto @ s))))
            x = e[words[-1]]
            alphas.append(a)
        sentences.append(words)
        weights.append(torch.stack(alphas))
    return torch.tensor(sentences), torch.stack(weights)


def translate_hoisted(M, h, start, e, W_key, W_auto, W_h, W_V, W_x, B, T, *, p):
    """What does not depend on the state is computed before the loop."""
    keys, seen, out = M @ W_key.mT, M @ W_V.mT, (e @ W_auto).mT
    x = start.repeat(M.shape[0], 1)
    words = torch.zeros(M.shape[0], T, dtype=torch.long)
    weights = M.new_zeros(M.shape[0], T, M.shape[1])
    for t in range(T):
        alpha = torch.softmax(torch.einsum("bsi,bi->bs", keys, h if p["query"] == "state" else x), -1)
        h = torch.tanh(h @ W_h.mT + torch.einsum("bs,bsj->bj", alpha, seen) + torch.nn.functional.linear(x, W_x, -B))
        weights[:, t] = alpha
        words[:, t] = torch.log_softmax(h @ out, 1).argmax(1)
        x = torch.nn.functional.embedding(words[:, t], e)
    return words, weights


def cross_head_by_head(x, memory, W_Q, W_K, W_V, W_O, *, p):
    outputs = []
    for Q, K, V in zip(W_Q, W_K, W_V, strict=True):
        s = (x @ Q.T) @ (memory @ K.T).mT
        if p["scaled"]:
            s = s / len(Q) ** 0.5
        a = torch.exp(s - s.max(-1, keepdim=True).values)
        outputs.append(a / a.sum(-1, keepdim=True) @ (memory @ V.T))
    return torch.cat(outputs, -1) @ W_O.T


def cross_by_sdpa(x, memory, W_Q, W_K, W_V, W_O, *, p):
    def split(y, W):
        return (y @ W.flatten(0, 1).T).unflatten(-1, W.shape[:2]).transpose(1, 2)

    heads = torch.nn.functional.scaled_dot_product_attention(
        split(x, W_Q), split(memory, W_K), split(memory, W_V), scale=None if p["scaled"] else 1.0
    )
    return torch.einsum("bkti,jki->btj", heads, W_O.unflatten(1, (len(W_V), -1)))


EQUIVALENTS = {
    "look_equations": [look_in_latex, look_by_exp, look_with_a_query],
    "next_word": [next_factored, next_in_latex],
    "look": [look_one_by_one, look_by_products, look_by_a_low_mask],
    "memory_derivative": [derivative_written_out, derivative_by_the_softmax],
    "translate": [translate_one_by_one, translate_hoisted],
    "heads_equations": [heads_in_two_lines, heads_average_first],
    "cross_attention": [cross_head_by_head, cross_by_sdpa],
    "cost": [cost_in_order],
}

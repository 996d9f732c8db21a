"""Correct answers written differently; each must earn full marks."""

import torch
import torch.nn.functional as F

# The equations.


def one_hot_sum(p):
    """A softmax is no one-hot vector, but a sum over one word is that word's row."""
    left = "t,b" if p["order"] == "time first" else "b,t"
    body = f"e[w[{left}],i]" + (" + r[t,i]" if p["position"] else "")
    return f"x[{left},j] = {body.replace(',i]', ',j]')}\nL_0[{left},i] = x[{left},i]"


def renamed_words(p):
    if p["order"] == "time first":
        return r"L_0[s, n, J] = " + ("r[s, J] + " if p["position"] else "") + r"e[w[s, n], J]"
    return r"L_0[n, s, J] = " + ("r[s, J] + " if p["position"] else "") + r"e[w[n, s], J]"


def _place(p, tap=r"Dt", t="t"):
    gap = "" if p["gap"] == 1 else p["gap"]
    return f"{p['stride']}{t}{'+' if p['look'] == 'ahead' else '-'}{gap}{tap}"


def layer_with_bounds(p):
    """As LaTeX, with the range written out."""
    gap = "" if p["gap"] == 1 else p["gap"]
    at = rf"{p['stride']}t {'+' if p['look'] == 'ahead' else '-'} {gap}\Delta t"
    f = {"sigma": r"\sigma", "tanh": r"\tanh", "relu": r"\mathrm{relu}"}[p["activation"]]
    if p["filters"] == "full":
        body = (
            r"\sum_{\Delta t=0}^{D-1} \sum_{i'} W_{\ell+1}[\Delta t, i', i] L_{\ell}[b, "
            + at
            + r", i'] - B_{\ell+1}[i]"
        )
    else:
        body = r"\sum_{\Delta t=0}^{D-1} W_{\ell+1}[\Delta t, i] L_{\ell}[b, " + at + r", i] - B_{\ell+1}[i]"
    return r"L_{\ell+1}[b, t, i] = " + f + r"\left( " + body + r" \right)"


def layer_by_capitals(p):
    if p["filters"] == "full":
        inside = f"sum_{{Dt}} W_{{l+1}}[Dt,I',i] L_l[b,{_place(p)},I']"
    else:
        inside = f"sum_{{Dt}} L_l[b,{_place(p)},i] * W_{{l+1}}[Dt,i]"
    return f"L_{{l+1}}[b,t,i] = {p['activation']}(-B_{{l+1}}[i] + {inside})"


def layer_renamed(p):
    if p["filters"] == "full":
        inside = f"sum_{{d,a}} L_l[n,{_place(p, 'd', 's')},a] W_{{l+1}}[d,a,c]"
    else:
        inside = f"sum_{{d}} L_l[n,{_place(p, 'd', 's')},c] W_{{l+1}}[d,c]"
    return f"L_{{l+1}}[n,s,c] = {p['activation']}(({inside}) - B_{{l+1}}[c])"


def layer_by_preactivation(p):
    """In two lines, without a name for what comes in between that the question gives."""
    if p["filters"] == "full":
        first = f"z[b,t,i] = sum_{{Dt}} sum_{{i'}} W_{{l+1}}[Dt,i',i] L_l[b,{_place(p)},i'] - B_{{l+1}}[i]"
    else:
        first = f"z[b,t,i] = (sum_{{Dt}} W_{{l+1}}[Dt,i] L_l[b,{_place(p)},i]) - B_{{l+1}}[i]"
    if p["activation"] == "relu":
        return f"{first}\nL_{{l+1}}[b,t,i] = max(0, z[b,t,i])"
    if p["activation"] == "sigma":
        return f"{first}\nL_{{l+1}}[b,t,i] = 1 / (1 + exp(-z[b,t,i]))"
    return f"{first}\nL_{{l+1}}[b,t,i] = 2 sigma(2 z[b,t,i]) - 1"


# The embedding layer, as code.


def by_one_hot(w, e, *, p):
    rows = F.one_hot(w, len(e)).double()
    if p["padding"]:
        rows[..., 0] = 0
    return rows @ e


def by_table_lookup(w, e, *, p):
    table = torch.cat([0 * e[:1].detach(), e[1:]]) if p["padding"] else e
    return F.embedding(w, table)


def by_index_select(w, e, *, p):
    L0 = e.index_select(0, w.flatten()).view(*w.shape, -1)
    return torch.where((w == 0)[..., None], torch.zeros_like(L0), L0) if p["padding"] else L0


# The layer, as code.


def by_loops(L, W, B, *, p):
    D, T = len(W), L.shape[1]
    step = p["gap"] if p["look"] == "ahead" else -p["gap"]
    sentences = []
    for sentence in L:
        rows, t = [], 0
        while p["stride"] * t < T and p["stride"] * t + step * (D - 1) < T:
            z = -B
            for d in range(D):
                s = p["stride"] * t + step * d
                if s >= 0:
                    z = z + (sentence[s] @ W[d] if p["filters"] == "full" else sentence[s] * W[d])
            rows.append({"sigma": torch.sigmoid, "tanh": torch.tanh, "relu": torch.relu}[p["activation"]](z))
            t += 1
        sentences.append(torch.stack(rows))
    return torch.stack(sentences)


def by_gathering(L, W, B, *, p):
    span = p["gap"] * (len(W) - 1)
    if p["look"] == "back":
        L = torch.cat([L.new_zeros(len(L), span, L.shape[2]), L], 1)
        W = W.flip(0)
    windows = L.unfold(1, span + 1, p["stride"])[..., :: p["gap"]]  # [B,T',I,D]
    z = torch.einsum("btid,dio->bto" if p["filters"] == "full" else "btid,di->bti", windows, W) - B
    if p["activation"] == "sigma":
        return 1 / (1 + torch.exp(-z))
    return torch.tanh(z) if p["activation"] == "tanh" else z.clamp(min=0)


def as_matrices(L, W, B, *, p):
    """Every tap is a matrix that picks positions; torch's strided convolution plays no part."""
    D, T, gap, s = len(W), L.shape[1], p["gap"], p["stride"]
    ahead = p["look"] == "ahead"
    length = (T - gap * (D - 1) - 1) // s + 1 if ahead else (T - 1) // s + 1
    z = 0
    for d in range(D):
        pick = L.new_zeros(length, T)
        for t in range(length):
            place = s * t + (gap * d if ahead else -gap * d)
            if place >= 0:
                pick[t, place] = 1
        z = z + (pick @ L @ W[d] if p["filters"] == "full" else (pick @ L) * W[d])
    return {"sigma": torch.sigmoid, "tanh": torch.tanh, "relu": torch.relu}[p["activation"]](z - B)


# Formulas and times.


def summed_up(p):
    return f"1 + {p['gap']}*(D-1)*sum({p['stride']}^n, n, 0, L-1)"


def by_recursion(p):
    """Walk down from one output: a layer of stride s turns r positions into s (r - 1) + gap (D - 1) + 1."""
    return f"{p['stride']}^L + ({p['gap']}*(D-1) + 1 - {p['stride']})*({p['stride']}^L - 1)/({p['stride']} - 1)"


def in_brackets(p):
    return "I*(V + L*(D*I + 1))" if p["filters"] == "full" else "I (V + L (D + 1))"


def rnn_time_otherwise(p):
    return "O(max(T, L))" if p["rnn"] == "one way" else "O(2 L (T + 3))"


EQUIVALENTS = {
    "embedding": [one_hot_sum, renamed_words],
    "layer": [layer_with_bounds, layer_by_capitals, layer_renamed, layer_by_preactivation],
    "embed": [by_one_hot, by_table_lookup, by_index_select],
    "conv": [by_loops, by_gathering, as_matrices],
    "receptive_field": [summed_up, by_recursion],
    "parameters": [in_brackets],
    "cnn_time": ["O(3 L)", "O(L + 1)", "O(L + ln L)", "L"],
    "rnn_time": [rnn_time_otherwise],
    "tree_time": ["O(log2(T))", "O(2 log T + 1)"],
}

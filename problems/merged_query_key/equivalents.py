"""Correct answers written differently; each must earn full marks."""

import torch


def by_matmul(W_Q, W_K, *, p):
    return W_Q.mT @ W_K * (W_Q.size(1) ** -0.5 if p["scaled"] else 1)


def by_transposing_twice(W_Q, W_K, *, p):
    quarter = W_Q.shape[-2] ** 0.25 if p["scaled"] else 1.0
    return ((W_K / quarter).transpose(1, 2) @ (W_Q / quarter)).transpose(1, 2)


def written_out(W_Q, W_K, *, p):
    I = W_Q.shape[1]  # noqa: E741
    W = sum(W_Q[:, i, :, None] * W_K[:, i, None, :] for i in range(I))
    return W / torch.tensor(float(I), dtype=W.dtype).sqrt() if p["scaled"] else W


def by_plain_tensors(W_Q, W_K, *, p):
    """With tensors made without a word about their dtype."""
    K, I, J1 = W_Q.shape  # noqa: E741
    W = torch.zeros(K, J1, W_K.shape[2])
    for k in range(K):
        W[k] = W_Q[k].T @ W_K[k]
    return W / torch.sqrt(torch.tensor(I)) if p["scaled"] else W


def head_by_head(W, L, *, p):
    rows = []
    for W_k in W:
        scores = L @ W_k @ L.T
        if p["causal"]:
            scores = scores + torch.full_like(scores, float("-inf")).triu(diagonal=1)
        rows.append(scores.softmax(dim=1))
    return torch.stack(rows)


def by_sum_over_heads(W, L, *, p):
    scores = (L[None] @ W) @ L.T
    exp = torch.exp(scores - scores.amax(dim=-1, keepdim=True).detach())
    exp = exp.tril() if p["causal"] else exp
    return exp / exp.sum(dim=-1, keepdim=True)


def by_masked_sum(W, L, *, p):
    K, T = W.shape[0], L.shape[0]
    alpha = torch.zeros(K, T, T, dtype=L.dtype)
    for k in range(K):
        for t in range(T):
            seen = t + 1 if p["causal"] else T
            alpha[k, t, :seen] = torch.softmax(L[:seen] @ (W[k].T @ L[t]), dim=0)
    return alpha


def everything_left(W, I, *, p):  # noqa: E741
    U, S, Vh = torch.linalg.svd(W)
    W_Q = U[:, :, :I].mT * S[:, :I, None] * (I**0.5 if p["scaled"] else 1.0)
    return W_Q, Vh[:, :I]


def by_qr(W, I, *, p):  # noqa: E741
    Q, _ = torch.linalg.qr(W[:, :, :I])
    return Q.mT, Q.mT @ W * (I**0.5 if p["scaled"] else 1.0)


def mixed_factors(W, I, *, p):  # noqa: E741
    U, S, Vh = torch.linalg.svd(W, full_matrices=False)
    G = torch.eye(I, dtype=W.dtype) + torch.ones(I, I, dtype=W.dtype).tril()
    W_Q = G @ (S[:, :I, None] * U[:, :, :I].mT)
    W_K = torch.linalg.inv(G).T @ Vh[:, :I]
    return W_Q * (I**0.5 if p["scaled"] else 1), W_K


def by_roots(W, I, *, p):  # noqa: E741
    _, vectors = torch.linalg.eigh(W @ W.mT)
    basis = vectors[:, :, -I:]
    return [basis.mT * (I**0.5 if p["scaled"] else 1.0), basis.mT @ W]


def equation_of_print(p):
    """As the printed solution has it."""
    factor = r"\frac{1}{\sqrt{I}} " if p["scaled"] else ""
    return rf"\tilde{{W}}[k,j_1,j_2] = {factor}W^Q[k,I,j_1] W^K[k,I,j_2]"


def equation_with_own_line(p):
    """The sum is written, and the factor has a line of its own."""
    power = "I^(-1/2)" if p["scaled"] else "1"
    return rf"c = {power}" + "\n" + r"\tilde W[h,a,b] = c \sum_{i} W^K[h,i,b] W^Q[h,i,a]"


def steps_by_sums(p):
    """Sums are written, as in the printed solution."""
    factor = r"\frac{1}{\sqrt{I}} " if p["scaled"] else ""
    other = "L'" if p["cross"] else "L"
    return "\n".join(
        [
            f"S[k,t_1,t_2] = {factor}Query[k,t_1,I] Key[k,t_2,I]",
            rf"= {factor}\sum_{{j_1,j_2,i}} L[t_1,j_1] W^Q[k,i,j_1] W^K[k,i,j_2] {other}[t_2,j_2]",
            rf"= \sum_{{j_1,j_2}} L[t_1,j_1] \left({factor}\sum_i W^Q[k,i,j_1] W^K[k,i,j_2]\right) {other}[t_2,j_2]",
            rf"= \sum_{{j_1,j_2}} L[t_1,j_1] \tilde{{W}}[k,j_1,j_2] {other}[t_2,j_2]",
        ]
    )


EQUIVALENTS = {
    "merged_equation": [equation_of_print, equation_with_own_line],
    "merged_steps": [steps_by_sums],
    "separate_formula": ["K I J + J I K", "2*J*K*I"],
    "merged_formula": ["J^2 K", "K*J*J"],
    "merge": [by_matmul, by_transposing_twice, written_out, by_plain_tensors],
    "attention": [head_by_head, by_sum_over_heads, by_masked_sum],
    "factor": [everything_left, by_qr, mixed_factors, by_roots],
}

"""Correct answers written differently, and other right answers to the open questions; each must earn full marks."""

import torch

from .references import left, right, side

# The open question: other spellings of the linear model, then other models.


def in_latex(p):
    forward, backward = left(p), right(p)
    return (
        r"P_\Phi[w] = \underset{w}{\operatorname{softmax}}\; e[w, I] \vec{W}[I, J] \vec{h}[" + forward + r", J] + "
        r"e[w, I] \overleftarrow{W}[I, J] \overleftarrow{h}[" + backward + ", J]"
    ).replace(r"P_\Phi", "P")


def indexed_by_word(p):
    text = f"P(w_t) = softmax_{{w_t}}[ {side(p, 'forward')} + {side(p, 'backward')} ]"
    return text.replace("e[w,", "e[w_t,")


def concatenated(p):
    return f"c[t,K] = h->[{left(p)},J]; h<-[{right(p)},J]\nP[t,w] = softmax_w[ e[w,I] W[I,K] c[t,K] ]"


def product_of_experts(p):
    forward, backward = side(p, "forward"), side(p, "backward")
    return f"P_f[w] = softmax_w[{forward}]\nP_b[w] = softmax_w[{backward}]\nP[w] = P_f[w] P_b[w] / sum_v P_f[v] P_b[v]"


def tanh_inside(p):
    return f"P[w] = softmax_w[ e[w,I] tanh(W_f[I,J] h->[{left(p)},J] + W_b[I,J] h<-[{right(p)},J] - B[I]) ]"


def hidden_layer(p):
    return (
        f"z[k] = relu(A[k,J] h->[{left(p)},J] + C[k,J] h<-[{right(p)},J] - B[k])\n"
        "P[w] = exp(s[w]) / sum_v exp(s[v])\ns[w] = e[w,I] D[I,K] z[K]"
    )


def with_bias(p):
    return f"P[w] = softmax_w[ {side(p, 'forward')} + {side(p, 'backward')} - B[w] ]"


def as_mixture(p):
    return f"P[w] = 1/2 softmax_w[{side(p, 'forward')}] + 1/2 softmax_w[{side(p, 'backward')}]"


def gated_mixture(p):
    return (
        f"g = sigma(a[J] h->[{left(p)},J] + c[J] h<-[{right(p)},J])\n"
        f"P[w] = g softmax_w[{side(p, 'forward')}] + (1-g) softmax_w[{side(p, 'backward')}]"
    )


def one_matrix(p):
    return f"P[w] = softmax_w[ e[w,I] W[I,J] (h->[{left(p)},J] + h<-[{right(p)},J]) ]"


def elementwise(p):
    return f"P[w] = softmax_w[ e[w,I] W[I,J] h->[{left(p)},J] h<-[{right(p)},J] ]"


def experts_over_prior(p):
    """The prior as a softmax of parameters, so that it is positive."""
    return (
        f"P_0[w] = softmax_w[c[w]]\nP_f[w] = softmax_w[{side(p, 'forward')}]\n"
        f"P_b[w] = softmax_w[{side(p, 'backward')}]\nF[w] = P_f[w] P_b[w] / P_0[w]\nP[w] = F[w] / sum_v F[v]"
    )


# The open question in code: other models, with parameters of their own.


def _places(p, t):
    """Where the states beside the blanks stand."""
    own = p["states"] == "with own word"
    return (t - 1, t + p["m"]) if own else (t, t + p["m"] - 1)


def half_and_half(e, forward, backward, t, *, p):
    generator = torch.Generator().manual_seed(7)
    before, behind = _places(p, t)
    U, V = torch.randn(2, forward.shape[1], e.shape[1], generator=generator, dtype=torch.float64) / e.shape[1]
    return (torch.softmax(e @ (forward[before] @ U), 0) + torch.softmax(e @ (backward[behind] @ V), 0)) / 2


def through_a_hidden_layer(e, forward, backward, t, *, p):
    generator = torch.Generator().manual_seed(3)
    before, behind = _places(p, t)
    both = torch.cat([forward[before], backward[behind]])
    A = torch.randn(9, len(both), generator=generator, dtype=torch.float64) / len(both)
    C = torch.randn(e.shape[1], 9, generator=generator, dtype=torch.float64)
    return torch.softmax(e @ (C @ torch.tanh(A @ both)), dim=0)


def by_ones(e, forward, backward, t, *, p):
    before, behind = _places(p, t)
    score = e.sum(1) * (0.3 * forward[before].sum() - 0.2 * backward[behind].sum())
    weights = torch.exp(score - score.max())
    return weights / weights.sum()


EQUIVALENTS = {
    "distribution": [
        in_latex,
        indexed_by_word,
        concatenated,
        product_of_experts,
        tanh_inside,
        hidden_layer,
        with_bias,
        as_mixture,
        gated_mixture,
        one_matrix,
        elementwise,
        experts_over_prior,
    ],
    "predict": [half_and_half, through_a_hidden_layer, by_ones],
}

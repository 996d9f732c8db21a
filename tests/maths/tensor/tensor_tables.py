"""Equivalents and typical mistakes of the course's tensor questions, in equation form: tables on both sides of a rule.

Each question has a reference, declarations, spellings that mean the same, and mistakes with what went wrong.
"""

from __future__ import annotations

from dataclasses import dataclass

from autograder.maths.tensor import Declarations, declare


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question's reference with answers on both sides."""

    name: str
    reference: str
    target: str
    right: tuple[str, ...]
    wrong: tuple[tuple[str, str], ...]
    declarations: Declarations


QUERY, KEY, VALUE = (
    "Query[k,t,U] = W^Q[k,U,J] h_in[t,J]",
    "Key[k,t,U] = W^K[k,U,J] h_in[t,J]",
    "Value[k,t,I] = W^V[k,I,J] h_in[t,J]",
)
ALPHA = "alpha[k,t_1,t_2] = softmax_{t_2} Query[k,t_1,U] Key[k,t_2,U]"
OUT = "Out[k,t,I] = sum_{t'} alpha[k,t,t'] Value[k,t',I]"
JOIN = "h_out[t,J] = Out[1,t,I]; ... ; Out[K,t,I]"
ATTENTION = "\n".join([QUERY, KEY, ALPHA, VALUE, OUT, JOIN])
HEADS = declare(
    "W^Q[K,U,J]",
    "W^K[K,U,J]",
    "W^V[K,I,J]",
    "h_in[T,J]",
    sizes={"J": "K*I"},
)


def attention(**changed: str) -> str:
    """The attention layer with some lines replaced: q, k, a, v, o, j."""
    lines = {"q": QUERY, "k": KEY, "a": ALPHA, "v": VALUE, "o": OUT, "j": JOIN, **changed}
    return "\n".join(line for line in lines.values() if line)


LAYER = Question(
    name="self-attention layer",
    reference=ATTENTION,
    target="h_out",
    declarations=HEADS,
    right=(
        ATTENTION,
        attention(a="alpha[k,t_1,t_2] = softmax_{t_2} Key[k,t_2,U] Query[k,t_1,U]"),
        attention(a="alpha[k,s,t] = softmax_t[Query[k,s,U] Key[k,t,U]]"),
        attention(
            a="alpha[k,t_1,t_2] = exp(S[k,t_1,t_2]) / sum_{t} exp(S[k,t_1,t]) \n S[k,a,b] = Query[k,a,U] Key[k,b,U]"
        ),
        attention(a="alpha[k,t_1,t_2] = softmax_{t_2}[Query[k,t_1,U] Key[k,t_2,U] - 3 Query[k,t_1,U] Query[k,t_1,U]]"),
        attention(a="alpha[k,t_1,t_2] = softmax_{t_2}[Query[k,t_1,U] Key[k,t_2,U] + ln(2)]"),
        attention(
            q="",
            k="",
            v="",
            o="",
            a="alpha[k,t,s] = softmax_{s}[W^Q[k,U,J_1] h_in[t,J_1] W^K[k,U,J_2] h_in[s,J_2]]",
            j="h_out[t,J] = concat_{k} alpha[k,t,S] W^V[k,I,J_1] h_in[S,J_1]",
        ),
        attention(o="Out[k,t,I] = W^V[k,I,J] C[k,t,J] ;; C[k,t,J] = sum_{s} alpha[k,t,s] h_in[s,J]", v=""),
        attention(o="Out[k,t,i] = alpha[k,t,T] Value[k,T,i]"),
        attention(o="Out[k,t,I] = sum_{t'=1}^{T} alpha[k,t,t'] Value[k,t',I]"),
        attention(o="Out[k,t,I] = sum_{s} softmax_{s}(Query[k,t,U] Key[k,s,U]) Value[k,s,I]", a=""),
        attention(j="h_out[t,J] = concat_{k} Out[k,t,I]"),
        attention(j="h_out[t,J] = Out[0,t,I]; ... ; Out[K-1,t,I]"),
        attention(j="h_out[t,j] = concat_{h} Out[h,t,I]"),
        attention(j="h_out[t,J] = Out[1,t,I]; Out[2,t,I]; ...; Out[K,t,I]"),
        attention(q="Query[k,t,u] = sum_{j} W^Q[k,u,j] h_in[t,j]"),
        attention(q="Q[k,t,U] = W^Q[k,U,J] h_in[t,J]", a="alpha[k,t_1,t_2] = softmax_{t_2} Q[k,t_1,U] Key[k,t_2,U]"),
        attention(a="alpha[k,t_1,t_2] = softmax_{t_2} sum_{u} Query[k,t_1,u] Key[k,t_2,u]"),
        attention(
            q="",
            k="",
            a="alpha[k,t_1,t_2] = softmax_{t_2}[h_in[t_1,J_1] M[k,J_1,J_2] h_in[t_2,J_2]] \n "
            "M[k,j_1,j_2] = W^Q[k,U,j_1] W^K[k,U,j_2]",
        ),
        attention(v="Value[k,t,I] = h_in[t,J] W^V[k,I,J] + 0"),
        attention(o="Out[k,t,I] = sum_{t'} Value[k,t',I] alpha[k,t,t'] / 2 * 2"),
    ),
    wrong=(
        (attention(a="alpha[k,t_1,t_2] = softmax_{t_1} Query[k,t_1,U] Key[k,t_2,U]"), "softmax over the queries"),
        (attention(a="alpha[k,t_1,t_2] = softmax_{k} Query[k,t_1,U] Key[k,t_2,U]"), "softmax over the heads"),
        (attention(a="alpha[k,t_1,t_2] = softmax_{t_1,t_2} Query[k,t_1,U] Key[k,t_2,U]"), "softmax over both"),
        (attention(a="alpha[k,t_1,t_2] = softmax_{t_2} Key[k,t_1,U] Query[k,t_2,U]"), "query and key swapped"),
        (attention(a="alpha[k,t_1,t_2] = softmax_{t_2} Query[k,t_1,U] Key[k,t_1,U]"), "key at the query's position"),
        (attention(a="alpha[k,t_1,t_2] = Query[k,t_1,U] Key[k,t_2,U]"), "no softmax"),
        (attention(a="alpha[k,t_1,t_2] = softmax_{t_2}[Query[k,t_1,U] Key[k,t_2,U] / sqrt(U)]"), "scaled"),
        (attention(a="alpha[k,t_1,t_2] = softmax_{t_2}[2 Query[k,t_1,U] Key[k,t_2,U]]"), "temperature"),
        (
            attention(a="alpha[k,t_1,t_2] = softmax_{t_2}[Query[k,t_1,U] Key[k,t_2,U] + Key[k,t_2,U] Key[k,t_2,U]]"),
            "a shift that depends on the softmax index",
        ),
        (attention(o="Out[k,t,I] = sum_{t'} alpha[k,t',t] Value[k,t',I]"), "alpha transposed"),
        (attention(o="Out[k,t,I] = sum_{t'} alpha[k,t,t'] Key[k,t',I]"), "keys as values"),
        (attention(o="Out[k,t,I] = sum_{t'} alpha[k,t,t'] Value[k,t,I]"), "value of the query"),
        (attention(o="Out[k,t,I] = sum_{t'=1}^{t} alpha[k,t,t'] Value[k,t',I]"), "causal sum"),
        (attention(o="Out[k,t,I] = sum_{t'} alpha[k,t,t'] Value[k,t',I] / T"), "an average of an average"),
        (attention(j="h_out[t,J] = sum_{k} Out[k,t,J]"), "heads summed"),
        (attention(j="h_out[t,J] = Out[K,t,I]; ... ; Out[1,t,I]"), "heads in reverse"),
        (attention(j="h_out[t,J] = concat_{t} Out[k,t,I]"), "concatenated over time"),
        (attention(q="Query[k,t,U] = W^Q[k,U,J] h_in[t,J] + 1"), "a bias of one"),
        (attention(q="Query[k,t,U] = 1.0000000001 W^Q[k,U,J] h_in[t,J]"), "a rounded constant"),
        (attention(v="Value[k,t,I] = W^V[1,I,J] h_in[t,J]"), "one head's values for all"),
        (attention(a="alpha[k,t_1,t_2] = sum_{h} softmax_{t_2}[Query[h,t_1,U] Key[h,t_2,U]] / K"), "heads averaged"),
    ),
)

SPATIAL_LINES = (
    "Query[k,x,y,U] = W^Q[k,U,J] h_in[x,y,J]",
    "Key[k,x,y,U] = W^K[k,U,J] h_in[x,y,J]",
    "alpha[k,x_1,y_1,x_2,y_2] = softmax_{x_2,y_2} Query[k,x_1,y_1,U] Key[k,x_2,y_2,U]",
    "Value[k,x,y,I] = W^V[k,I,J] h_in[x,y,J]",
    "Out[k,x,y,I] = sum_{x',y'} alpha[k,x,y,x',y'] Value[k,x',y',I]",
    "h_out[x,y,J] = Out[1,x,y,I]; ... ; Out[K,x,y,I]",
)


def spatial(**changed: str) -> str:
    """The spatial layer with some lines replaced."""
    return "\n".join({**dict(zip("qkavoj", SPATIAL_LINES, strict=True)), **changed}.values())


SPATIAL = Question(
    name="spatial self-attention",
    reference=spatial(),
    target="h_out",
    declarations=declare("W^Q[K,U,J]", "W^K[K,U,J]", "W^V[K,I,J]", "h_in[X,Y,J]", sizes={"J": "K*I"}),
    right=(
        spatial(),
        spatial(a="alpha[k,x_1,y_1,x_2,y_2] = softmax_{y_2,x_2} Key[k,x_2,y_2,U] Query[k,x_1,y_1,U]"),
        spatial(a="alpha[k,x,y,p,q] = softmax_{p,q}[Query[k,x,y,U] Key[k,p,q,U]]"),
        spatial(o="Out[k,x,y,i] = alpha[k,x,y,X,Y] Value[k,X,Y,i]"),
        spatial(o="Out[k,x,y,I] = sum_{x'} sum_{y'} alpha[k,x,y,x',y'] Value[k,x',y',I]"),
        spatial(
            a="S[k,a,b,c,d] = Query[k,a,b,U] Key[k,c,d,U] \n alpha[k,x,y,p,q] = "
            "softmax_{p}[ln(sum_{q'} exp(S[k,x,y,p,q']))] softmax_{q}[S[k,x,y,p,q]]",
        ),
    ),
    wrong=(
        (spatial(a="alpha[k,x_1,y_1,x_2,y_2] = softmax_{y_2} Query[k,x_1,y_1,U] Key[k,x_2,y_2,U]"), "over y only"),
        (spatial(a="alpha[k,x_1,y_1,x_2,y_2] = softmax_{x_2} Query[k,x_1,y_1,U] Key[k,x_2,y_2,U]"), "over x only"),
        (
            spatial(
                a="S[k,a,b,c,d] = Query[k,a,b,U] Key[k,c,d,U] \n alpha[k,x,y,p,q] = "
                "softmax_{p}[S[k,x,y,p,q]] softmax_{q}[S[k,x,y,p,q]]"
            ),
            "product of two softmaxes",
        ),
        (
            spatial(a="alpha[k,x_1,y_1,x_2,y_2] = softmax_{x_1,y_1,x_2,y_2} Query[k,x_1,y_1,U] Key[k,x_2,y_2,U]"),
            "over all four",
        ),
        (spatial(a="alpha[k,x_1,y_1,x_2,y_2] = softmax_{x_2,y_2} Query[k,x_1,y_1,U] Key[k,x_1,y_2,U]"), "one row"),
        (spatial(o="Out[k,x,y,I] = sum_{x',y'} alpha[k,x',y',x,y] Value[k,x',y',I]"), "over the query's position"),
        (spatial(o="Out[k,x,y,I] = sum_{x',y'} alpha[k,y,x,x',y'] Value[k,x',y',I]"), "x and y exchanged"),
        (
            spatial(a="alpha[k,x_1,y_1,x_2,y_2] = softmax_{x_2,y_2}[Query[k,x_1,y_1,U] Key[k,x_2,y_2,U] / sqrt(U)]"),
            "scaled",
        ),
    ),
)

MERGED = Question(
    name="merged query and key",
    reference="W~^Q[k,j_1,j_2] = 1/sqrt(I) W^Q[k,I,j_1] W^K[k,I,j_2]",
    target="W~^Q",
    declarations=declare("W^Q[K,I,J]", "W^K[K,I,J]"),
    right=(
        r"\tilde{W}^Q[k, j_1, j_2] &= \frac{1}{\sqrt{I}} W^Q[k, I, j_1] W^K[k, I, j_2]",
        "W~^Q[k,J_1,J_2] = W^K[k,I,J_2] W^Q[k,I,J_1] / sqrt(I)",
        "W~^Q[k,a,b] = sum_{i} W^Q[k,i,a] W^K[k,i,b] I^{-1/2}",
        "W~^Q[k,a,b] = A[k,I,a] C[k,I,b] ;; A[k,i,j] = W^Q[k,i,j]/I^{1/4} ;; C[k,i,j] = W^K[k,i,j] I^{-0.25}",
        "W~^Q[k,a,b] = (sqrt(I)/I) W^Q[k,I,a] W^K[k,I,b]",
        "W~^Q[k,a,b] = sum_{i=1}^{I} (1/sqrt(I)) * W^Q[k,i,a] * W^K[k,i,b]",
        r"\tilde W^Q[k,j_1,j_2] = \sum_i \frac{W^Q[k,i,j_1] W^K[k,i,j_2]}{\sqrt I}".replace(r"\sqrt I", r"\sqrt{I}"),
        "M[k,a,b] = W^Q[k,I,a] W^K[k,I,b]\nW~^Q[k,a,b] = M[k,a,b] / sqrt(I)",
    ),
    wrong=(
        ("W~^Q[k,j_1,j_2] = 1/sqrt(I) W^K[k,I,j_1] W^Q[k,I,j_2]", "transposed"),
        ("W~^Q[k,j_1,j_2] = W^Q[k,I,j_1] W^K[k,I,j_2]", "no scale"),
        ("W~^Q[k,j_1,j_2] = 1/sqrt(J) W^Q[k,I,j_1] W^K[k,I,j_2]", "1/sqrt(J)"),
        ("W~^Q[k,j_1,j_2] = 1/I W^Q[k,I,j_1] W^K[k,I,j_2]", "1/I"),
        ("W~^Q[k,i_1,i_2] = 1/sqrt(I) W^Q[k,i_1,J] W^K[k,i_2,J]", "contracts J"),
        ("W~^Q[k,j_1,j_2] = 1/sqrt(I) sum_{k} W^Q[k,I,j_1] W^K[k,I,j_2]", "sums over the heads"),
        ("W~^Q[k,j_1,j_2] = 1/sqrt(I) sum_{h} W^Q[k,I,j_1] W^K[h,I,j_2]", "keys of all heads"),
        ("W~^Q[k,j_1,j_2] = 1/sqrt(I) (sum_{i} W^Q[k,i,j_1]) (sum_{i} W^K[k,i,j_2])", "sums each on its own"),
        ("W~^Q[k,j_1,j_2] = 1/sqrt(I) W^Q[k,I,j_1] W^Q[k,I,j_2]", "W^Q twice"),
        ("W~^Q[k,j_1,j_2] = softmax_{j_2}[1/sqrt(I) W^Q[k,I,j_1] W^K[k,I,j_2]]", "a softmax of the matrix"),
        ("W~^Q[k,j_1,j_2] = (W^Q[k,I,j_1] W^K[k,I,j_2] W^Q[k,J,j_1])^{1/2}", "nonsense with a root"),
    ),
)

CONVOLUTION = Question(
    name="stride-2 convolution",
    target="L_{l+1}",
    reference="L_{l+1}[b,t,i] = relu((sum_{Dt,i'} W_{l+1}[Dt,i',i] L_l[b,2t+Dt,i']) - B_{l+1}[i])",
    declarations=declare("L_l[B,T,I]", sizes={"DT": 3}),
    right=(
        r"L_{\ell+1}[b,t,i] = \text{ReLU} \left( \left( \sum_{\Delta t, i'} W_{\ell+1}[\Delta t, i', i] "
        r"L_{\ell}[b, 2t + \Delta t, i'] \right) - B_{\ell+1}[i] \right)",
        "L_{l+1}[b,t,i] = max(0, sum_{Dt} W_{l+1}[Dt,I_1,i] L_l[b,Dt+2t,I_1] - B_{l+1}[i])",
        "L_{l+1}[b,t,j] = relu(-B_{l+1}[j] + sum_{i,Dt} L_l[b,2*t+Dt,i] W_{l+1}[Dt,i,j])",
        "L_{l+1}[b,t,i] = relu(sum_{Dt} sum_{i'} W_{l+1}[Dt,i',i] L_l[b,2t+Dt,i'] - B_{l+1}[i])",
        "S[b,t,i] = sum_{Dt} W_{l+1}[Dt,I',i] L_l[b,t+Dt,I']\nL_{l+1}[b,t,i] = relu(S[b,2t,i] - B_{l+1}[i])",
        "L_{l+1}[b,t,i] = (Z[b,t,i] + abs(Z[b,t,i]))/2 ;; "
        "Z[b,t,i] = (sum_{Dt,i'} W_{l+1}[Dt,i',i] L_l[b,2t+Dt,i']) - B_{l+1}[i]",
    ),
    wrong=(
        ("L_{l+1}[b,t,i] = relu((sum_{Dt,i'} W_{l+1}[Dt,i',i] L_l[b,t+Dt,i']) - B_{l+1}[i])", "stride 1"),
        ("L_{l+1}[b,t,i] = relu((sum_{Dt,i'} W_{l+1}[Dt,i',i] L_l[b,t+2Dt,i']) - B_{l+1}[i])", "dilation"),
        ("L_{l+1}[b,t,i] = relu((sum_{Dt,i'} W_{l+1}[Dt,i',i] L_l[b,2t-Dt,i']) - B_{l+1}[i])", "flipped"),
        ("L_{l+1}[b,t,i] = relu((sum_{Dt,i'} W_{l+1}[Dt,i',i] L_l[b,2t+Dt,i']) + B_{l+1}[i])", "+B"),
        ("L_{l+1}[b,t,i] = relu(sum_{Dt,i'} (W_{l+1}[Dt,i',i] L_l[b,2t+Dt,i'] - B_{l+1}[i]))", "bias in the sum"),
        ("L_{l+1}[b,t,i] = relu((sum_{Dt,i'} W_{l+1}[Dt,i,i'] L_l[b,2t+Dt,i']) - B_{l+1}[i])", "W transposed"),
        ("L_{l+1}[b,t,i] = relu(sum_{Dt,i'} W_{l+1}[Dt,i',i] L_l[b,2t+Dt,i']) - B_{l+1}[i]", "bias outside"),
        ("L_{l+1}[b,t,i] = relu((sum_{Dt} W_{l+1}[Dt,i,i] L_l[b,2t+Dt,i]) - B_{l+1}[i])", "depthwise"),
        ("L_{l+1}[b,t,i] = relu((sum_{Dt,i'} W_{l+1}[Dt,i',i] L_l[b,2t+Dt+1,i']) - B_{l+1}[i])", "off by one"),
        ("L_{l+1}[b,t,i] = (sum_{Dt,i'} W_{l+1}[Dt,i',i] L_l[b,2t+Dt,i']) - B_{l+1}[i]", "no activation"),
        ("L_{l+1}[b,t,i] = relu((sum_{i'} W_{l+1}[0,i',i] L_l[b,2t,i']) - B_{l+1}[i])", "kernel of one"),
    ),
)

EMBEDDING = Question(
    name="embedding layer",
    reference="L_0[b,t,i] = e[w[b,t],i]",
    target="L_0",
    declarations=declare("w[B,T]", "e[V,I]", sequences="w"),
    right=("L_0[b,t,I] = e[w[b,t],I]", "L_0[n,s,i] = e(w[n,s])[i]", "L_0[b,t,i] = 1 * e[w(b,t),i]"),
    wrong=(
        ("L_0[b,t,i] = e[w[t,b],i]", "index order"),
        ("L_0[b,t,i] = e[i,w[b,t]]", "transposed"),
        ("L_0[b,t,i] = e[t,i]", "embeds the position"),
        ("L_0[b,t,i] = e[w[1,t],i]", "drops the batch"),
        ("L_0[b,t,i] = sum_{s} e[w[b,s],i]", "bag of words"),
        ("L_0[b,t,i] = e[w[b,t-1],i]", "shifted"),
    ),
)

GATE_LINES = (
    "G^R[b,t,j] = sigma(W^{h,GR}[j,I] h[b,t-1,I] + W^{x,GR}[j,K] x[b,t,K] - B^{GR}[j])",
    "R[b,t,j] = tanh(G^R[b,t,j] (W^{h,R}[j,I] h[b,t-1,I] - B^{h,R}[j]) + (1-G^R[b,t,j]) "
    "(W^{x,R}[j,K] x[b,t,K] - B^{x,R}[j]))",
    "G^h[b,t,j] = sigma(W^{h,Gh}[j,I] h[b,t-1,I] + W^{x,Gh}[j,K] x[b,t,K] - B^{Gh}[j])",
    "h[b,t,j] = G^h[b,t,j] h[b,t-1,j] + (1-G^h[b,t,j]) R[b,t,j]",
)


def gated(**changed: str) -> str:
    """The two-gate cell with some lines replaced: g, r, u (the update gate), h."""
    return "\n".join({**dict(zip("gruh", GATE_LINES, strict=True)), **changed}.values())


BRANCHES = "A[b,t,j] = W^{h,R}[j,I] h[b,t-1,I] - B^{h,R}[j]\nC[b,t,j] = W^{x,R}[j,K] x[b,t,K] - B^{x,R}[j]\nR[b,t,j] = "
TWO_GATES = Question(
    name="two-gate cell",
    reference=gated(),
    target="h",
    declarations=declare(same={"I": "J"}),
    right=(
        gated(),
        gated(r=BRANCHES + "tanh(C[b,t,j] + G^R[b,t,j] (A[b,t,j] - C[b,t,j]))"),
        gated(h="h[b,t,j] = R[b,t,j] + G^h[b,t,j] (h[b,t-1,j] - R[b,t,j])"),
        gated(g="G^R[b,t,j] = 1 - sigma(B^{GR}[j] - W^{h,GR}[j,I] h[b,t-1,I] - W^{x,GR}[j,K] x[b,t,K])"),
        gated(g="G^R[b,t,j] = 1 / (1 + exp(B^{GR}[j] - W^{h,GR}[j,I] h[b,t-1,I] - W^{x,GR}[j,K] x[b,t,K]))"),
        gated(r=BRANCHES + "2 sigma(2 (G^R[b,t,j] A[b,t,j] + (1-G^R[b,t,j]) C[b,t,j])) - 1"),
        gated(
            r=BRANCHES + "tanh(G^R[b,t,j] W^{h,R}[j,I] h[b,t-1,I] + (1-G^R[b,t,j]) W^{x,R}[j,K] x[b,t,K] "
            "- (G^R[b,t,j] B^{h,R}[j] + (1-G^R[b,t,j]) B^{x,R}[j]))"
        ),
        gated(h=r"h[b,t,J] = G^h[b,t,J] \odot h[b,t-1,J] + (1 - G^h[b,t,J]) \odot R[b,t,J]"),
        gated().replace("[b,t,", "[n,s,").replace("[b,t-1,", "[n,s-1,"),
        gated().replace("h[b,t-1,I]", "h[b,t-1,J]").replace("[j,I]", "[j,J]"),
    ),
    wrong=(
        (
            gated(
                r="R[b,t,j] = tanh(W^{h,R}[j,I] G^R[b,t,I] h[b,t-1,I] - B^{h,R}[j] + W^{x,R}[j,K] x[b,t,K] "
                "- B^{x,R}[j])"
            ),
            "a reset gate",
        ),
        (gated(r=BRANCHES + "tanh(G^R[b,t,j] A[b,t,j] + C[b,t,j])"), "x not gated"),
        (gated(r=BRANCHES + "G^R[b,t,j] tanh(A[b,t,j]) + (1-G^R[b,t,j]) tanh(C[b,t,j])"), "combined outside"),
        (
            gated(
                r="R[b,t,j] = tanh(G^R[b,t,j] W^{h,R}[j,I] h[b,t-1,I] + (1-G^R[b,t,j]) W^{x,R}[j,K] x[b,t,K] "
                "- B^{h,R}[j] - B^{x,R}[j])"
            ),
            "biases not gated",
        ),
        (gated(h="h[b,t,j] = (1-G^h[b,t,j]) h[b,t-1,j] + G^h[b,t,j] R[b,t,j]"), "update gate reversed"),
        (gated(r=BRANCHES + "tanh((1-G^R[b,t,j]) A[b,t,j] + G^R[b,t,j] C[b,t,j])"), "gate on the other branch"),
        (gated().replace("- B", "+ B"), "+B"),
        (gated(g=GATE_LINES[0].replace("sigma", "tanh")), "tanh gate"),
        (gated(r=GATE_LINES[1].replace("tanh", "sigma")), "sigmoid candidate"),
        (gated(r=BRANCHES + "tanh(A[b,t,j] + C[b,t,j])"), "no second gate"),
        (gated(h="h[b,t,j] = G^h[b,t,j] h[b,t,j] + (1-G^h[b,t,j]) R[b,t,j]"), "defined by itself"),
        (gated(h="h[b,t,j] = G^h[b,t,j] h[b,t-2,j] + (1-G^h[b,t,j]) R[b,t,j]"), "two steps back"),
        (gated(g="G^R[b,t,j] = sigma(W^{h,GR}[j,I] h[b,t,I] + W^{x,GR}[j,K] x[b,t,K] - B^{GR}[j])"), "h of now"),
    ),
)

CAPTION = Question(
    name="captioning",
    target="h",
    declarations=declare(sequences="w", context="t"),
    reference="alpha[x,y] = softmax_{x,y} h[t-1,J] W^{key}[J,K] M[x,y,K]\nV[K] = sum_{x,y} alpha[x,y] M[x,y,K]\n"
    "h[t,J] = CELL_Phi(h[t-1,J], V[K], e[w_t,I])",
    right=(
        "alpha[x,y] = softmax_{x,y} h[t-1,J] W^{key}[J,K] M[x,y,K]\nV[k] = alpha[X,Y] M[X,Y,k]\n"
        r"h[t, J] &= \text{CELL}_{\Phi}(h[t-1, J], V[K], e[w_t, I])",
        "alpha[t,x,y] = softmax_{x,y} h[t-1,J] W^{key}[J,K] M[x,y,K]\nV[t,k] = alpha[t,X,Y] M[X,Y,k]\n"
        "h[t,J] = CELL_Phi(h[t-1,J], V[t,K], e[w[t],I])",
        "s[x,y] = h[t-1,J] W^{key}[J,K] M[x,y,K]\nV[K] = (sum_{x,y} exp(s[x,y]) M[x,y,K]) / sum_{x,y} exp(s[x,y])\n"
        "h[t,J] = CELL_Phi(h[t-1,J], V[K], e[w_t,I])",
    ),
    wrong=(
        (
            "alpha[x,y] = softmax_{y} h[t-1,J] W^{key}[J,K] M[x,y,K]\nV[K] = sum_{x,y} alpha[x,y] M[x,y,K]\n"
            "h[t,J] = CELL_Phi(h[t-1,J], V[K], e[w_t,I])",
            "softmax over y",
        ),
        (
            "alpha[x,y] = softmax_{x,y} h[t,J] W^{key}[J,K] M[x,y,K]\nV[K] = sum_{x,y} alpha[x,y] M[x,y,K]\n"
            "h[t,J] = CELL_Phi(h[t-1,J], V[K], e[w_t,I])",
            "the state of now",
        ),
        (
            "alpha[x,y] = softmax_{x,y} h[t-1,J] W^{key}[J,K] M[x,y,K]\nV[K] = sum_{x,y} alpha[x,y] M[x,y,K]\n"
            "h[t,J] = CELL_Phi(h[t-1,J], V[J], e[w_t,I])",
            "the old signature of CELL",
        ),
        ("V[K] = sum_{x,y} M[x,y,K] / (X Y)\nh[t,J] = CELL_Phi(h[t-1,J], V[K], e[w_t,I])", "average pooling"),
        (
            "alpha[x,y] = softmax_{x,y} h[t-1,J] W^{key}[J,K] M[x,y,K]\nV[K] = sum_{x,y} alpha[x,y] M[x,y,K]\n"
            "h[t,J] = CELL_Phi(V[K], h[t-1,J], e[w_t,I])",
            "arguments exchanged",
        ),
        (
            "alpha[x,y] = softmax_{x,y} h[t-1,J] W^{key}[J,K] M[x,y,K]\nV[K] = sum_{x,y} alpha[x,y] M[x,y,K]\n"
            "h[t,J] = CELL_Phi(h[t-1,J], V[K], e[w_{t-1},I])".replace("w_{t-1}", "w[t-1]"),
            "the word before",
        ),
        (
            "V[K] = sum_{x,y} h[t-1,J] W^{key}[J,K_1] M[x,y,K_1] M[x,y,K]\nh[t,J] = CELL_Phi(h[t-1,J], V[K], e[w_t,I])",
            "raw scores",
        ),
        (
            "alpha[x,y] = softmax_{x,y} h[t-1,J] W^{key}[J,K] M[x,y,K]\nV[K] = sum_{x,y} alpha[x,y] M[x,y,K] / (X Y)\n"
            "h[t,J] = CELL_Phi(h[t-1,J], V[K], e[w_t,I])",
            "averaged again",
        ),
    ),
)

RESIDUAL = Question(
    name="residual layer",
    target="h_{l+1}",
    declarations=Declarations(),
    reference="h~_{l+1}[i] = sigma(W_{l+1}^{h,h}[i,I] h_l[I] - B_{l+1}^{h,h}[i])\nh_{l+1}[i] = h~_{l+1}[i] + h_l[i]",
    right=(
        r"\tilde{h}_{\ell+1}[i] = \sigma(W_{\ell+1}^{h,h}[i,I]h_{\ell}[I] - B_{\ell+1}^{h,h}[i])"
        "\n"
        r"h_{\ell+1}[i] = \tilde{h}_{\ell+1}[i] + h_{\ell}[i]",
        "h_{l+1}[j] = h_l[j] + sigma(sum_{i} W^{h,h}_{l+1}[j,i] h_l[i] - B^{h,h}_{l+1}[j])",
        "h_{l+1}[I] = h_l[I] + sigma(W_{l+1}^{h,h}[I,I'] h_l[I'] - B_{l+1}^{h,h}[I])",
        "h_{l+1}[i] = h_l[i] + 1 - sigma(B_{l+1}^{h,h}[i] - W_{l+1}^{h,h}[i,I] h_l[I])",
    ),
    wrong=(
        ("h_{l+1}[i] = sigma(W_{l+1}^{h,h}[i,I] h_l[I] - B_{l+1}^{h,h}[i])", "no residual"),
        ("h_{l+1}[i] = sigma(W_{l+1}^{h,h}[i,I] h_l[I] - B_{l+1}^{h,h}[i]) + x[i]", "skip from the input"),
        ("h_{l+1}[i] = sigma(W_{l+1}^{h,h}[i,I] h_l[I] - B_{l+1}^{h,h}[i] + h_l[i])", "skip inside"),
        ("h_{l+1}[i] = sigma(W_{l+1}^{h,h}[i,I] h_l[I] - B_{l+1}^{h,h}[i]) - h_l[i]", "sign"),
        ("h_{l+1}[i] = sigma(W_{l+1}^{h,h}[i,I] h_l[I] + B_{l+1}^{h,h}[i]) + h_l[i]", "+B"),
        ("h_{l+1}[i] = h_l[i] + W_{l+1}^{h,h}[i,I] sigma(h_l[I]) - B_{l+1}^{h,h}[i]", "before the activation"),
        ("h_{l+1}[i] = sigma(W_{l+1}^{h,h}[I,i] h_l[I] - B_{l+1}^{h,h}[i]) + h_l[i]", "W transposed"),
        ("h_{l+1}[i] = sigma(W_{l+1}^{h,h}[i,I] h_{l+1}[I] - B_{l+1}^{h,h}[i]) + h_l[i]", "the wrong layer"),
    ),
)

BLANK = Question(
    name="blank language model",
    target="P",
    declarations=declare(context="t"),
    reference="P[w] = softmax_{w}[e[w,I] W->[I,J] h->[t-1,J] + e[w,I] W<-[I,J] h<-[t+1,J]]",
    right=(
        r"P[w] = \underset{w}{\operatorname{softmax}} e[w,I] \vec{W}[I,J] \vec{h}[t-1,J] + e[w,I] "
        r"\overleftarrow{W}[I,J] \overleftarrow{h}[t+1,J]",
        "P[w] = softmax_{w}[e[w,I] (W->[I,J] h->[t-1,J] + W<-[I,J] h<-[t+1,J])]",
        "F[w] = softmax_w[e[w,I] W->[I,J] h->[t-1,J]]\nC[w] = softmax_w[e[w,I] W<-[I,J] h<-[t+1,J]]\n"
        "P[w] = F[w] C[w] / sum_{v} F[v] C[v]",
        "P[w] = softmax_{w}[3.7 + sum_{i,j} e[w,i] (W->[i,j] h->[t-1,j] + W<-[i,j] h<-[t+1,j])]",
        "P(w_t | w_1, ..., w_{t-1}) = softmax_{w_t} e[w_t,I] W->[I,J] h->[t-1,J] + e[w_t,I] W<-[I,J] h<-[t+1,J]",
    ),
    wrong=(
        ("P[w] = softmax_{w}[e[w,I] W->[I,J] h->[t,J] + e[w,I] W<-[I,J] h<-[t,J]]", "leak"),
        ("P[w] = softmax_{w}[e[w,I] W->[I,J] h->[t+1,J] + e[w,I] W<-[I,J] h<-[t-1,J]]", "directions swapped"),
        ("P[w] = softmax_{w}[e[w,I] W->[I,J] h->[t-1,J]]", "no right context"),
        ("P[w] = softmax_{w}[e[w,I] W->[I,J] h->[t-1,J]] softmax_{w}[e[w,I] W<-[I,J] h<-[t+1,J]]", "a bare product"),
        ("P[w] = softmax_{w}[e[w,I] W->[I,J] h->[t-1,J]] + softmax_{w}[e[w,I] W<-[I,J] h<-[t+1,J]]", "a bare sum"),
        ("P[w] = e[w,I] W->[I,J] h->[t-1,J] + e[w,I] W<-[I,J] h<-[t+1,J]", "scores"),
        ("P[w] = softmax_{w}[e[w,I] W->[I,J] h->[t-1,J] h<-[t+1,J]]", "product of the states"),
        ("P[w] = softmax_{w}[e[w,I] tanh(W->[I,J] h->[t-1,J] + W<-[I,J] h<-[t+1,J])]", "another model"),
    ),
)

QUESTIONS = (LAYER, SPATIAL, MERGED, CONVOLUTION, EMBEDDING, TWO_GATES, CAPTION, RESIDUAL, BLANK)

# What students type and paste: brackets around a concatenation, e^{…}, bounds written out, sums by capital letters.
NATURAL = (
    (LAYER, attention(j="h_out[t,J] = [Out[1,t,I]; ...; Out[K,t,I]]")),
    (LAYER, attention(j="h_out[t,J] = (Out[1,t,I]; ...; Out[K,t,I])")),
    (LAYER, attention(j=r"h_{\text{out}}[t,J] = \text{concat}_{k=1}^{K} \text{Out}[k,t,I]")),
    (LAYER, attention(j="h_out[t,J] = concat_k(Out[k,t,I])")),
    (
        LAYER,
        attention(
            a=r"\alpha[k,t_1,t_2] = \frac{e^{\text{Query}[k,t_1,U]\text{Key}[k,t_2,U]}}{\sum_{t_3} e^{\text{Query}[k,t_1,U]\text{Key}[k,t_3,U]}}"
        ),
    ),
    (
        LAYER,
        attention(
            a=r"Z[k,t_1] = \sum_{t_2} e^{s[k,t_1,t_2]} \\ s[k,t_1,t_2] = \text{Query}[k,t_1,U]\text{Key}[k,t_2,U] \\ \alpha[k,t_1,t_2] = \frac{1}{Z[k,t_1]} e^{s[k,t_1,t_2]}"
        ),
    ),
    (TWO_GATES, gated(h="h[b,t,j] = R[b,t,j] + G^h[b,t,j] [h[b,t-1,j] - R[b,t,j]]")),
    (
        TWO_GATES,
        gated(
            g=r"G^R[b,t,j] = \text{sigmoid}\left[ \sum_{i=1}^{I} W^{h,GR}[j,i] h[b,t-1,i] + \sum_{k=1}^{K} W^{x,GR}[j,k] x[b,t,k] - B^{GR}[j] \right]"
        ),
    ),
    (
        CONVOLUTION,
        r"L_{\ell+1}[b,t,i] = \max\{0, \sum_{\Delta t=0}^{2} \sum_{i'=1}^{I} W_{\ell+1}[\Delta t,i',i] L_\ell[b,2t+\Delta t,i'] - B_{\ell+1}[i]\}",
    ),
    (
        CONVOLUTION,
        "L_{l+1}[b,t,i] = relu(sum_{k=1}^{3} W_{l+1}[(k),J,i] L_l[b,2(t-1)+(k+2),J] - B_{l+1}[i])",
    ),
    (CONVOLUTION, "L_{l+1}[b,t,i] = relu(sum_{Dt} W_{l+1}[Dt,J,i] L_l[b,-(-t*2-Dt),J] - B_{l+1}[i])"),
    (SPATIAL, spatial(o=r"Out[k,x,y,I] = \sum_{x'=1}^{X}\sum_{y'=1}^{Y} \alpha[k,x,y,x',y'] Value[k,x',y',I]")),
    (
        BLANK,
        r"P[w] = \frac{e^{s[w]}}{\sum_{w'} e^{s[w']}} \\ s[w] = e[w,I](\vec{W}[I,J] \vec{h}[t-1,J] + \overleftarrow{W}[I,J] \overleftarrow{h}[t+1,J])",
    ),
    (MERGED, r"\tilde{W}^Q[k,J_1,J_2] = \frac{\sum_{i=1}^{I} W^Q[k,i,J_1] W^K[k,i,J_2]}{I^{0.5}}"),
    (MERGED, r"\tilde{W}^Q[k,J_1,J_2] = \frac{1}{\sqrt{I}} \sum_{I} W^Q[k,I,J_1] W^K[k,I,J_2]"),
    (MERGED, r"\tilde{W}^Q[k,j,j'] = \frac{1}{\sqrt{I}} W^Q[k,I,j] W^K[k,I,j']"),
    (
        RESIDUAL,
        r"h_{\ell+1}[i] = h_\ell[i] + \sigma\left(\sum_{i'} W^{h,h}_{\ell+1}[i,i'] h_\ell[i'] - B^{h,h}_{\ell+1}[i]\right)",
    ),
    (
        CAPTION,
        "alpha[x,y] = softmax_{x,y} s[x,y]\ns[x,y] = sum_{j,k} h[t-1,j] W^{key}[j,k] M[x,y,k]\nh[t,J] = CELL(h[t-1,J], alpha[X,Y] M[X,Y,K], e[w_t,I])",
    ),
)

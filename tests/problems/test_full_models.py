"""Every code reference beside its full model, in every convention that the model has; elsewhere beside a second route.

`ROUTES` has a line for each part that is code. A route computes what is asked for from the parameters and the hidden
arguments, by a model of `solutions`, by torch's own modules, or by loops over single numbers: never by the reference.
"""

import importlib
import itertools
import math
import re

import mpmath
import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from autograder.authoring import walkthrough
from autograder.authoring.loading import load, slugs
from autograder.authoring.variants import variant
from autograder.checks.compare import difference
from autograder.protocol.respondents import local
from solutions import (
    attention,
    bidirectional,
    captioner,
    counting,
    layers,
    mlp,
    rnn,
    sampling,
    seq2seq,
    spatial,
    ugrnn,
)
from solutions.language_cnn import stride_two_layer
from solutions.positional import shift_matrix, sinusoid
from solutions.tasks import TASKS
from solutions.transformer import FeedForward, Layer, Transformer

ROOT = walkthrough.loading.find_problems()
SLUGS = slugs(ROOT)
F64 = torch.float64


def loaded(module, values):
    """A module with these parameters, in float64."""
    module = module.double()
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            parameter.copy_(values[name])
    return module


# Recurrent cells. A gate that points the other way is the same gate with its parameters negated.


def turned(p, key, here, values):
    """The values of a gate, negated where it points the other way."""
    return values if p[key] == here else [-value for value in values]


def one_gate(p, h, x, W_hR, W_xR, B_R, W_hG, W_xG, B_G):
    """The UGRNN's cell."""
    return ugrnn.ugrnn_cell(h, x, W_hR, W_xR, B_R, *turned(p, "h_gate", "old", [W_hG, W_xG, B_G]))


def two_gates(p, h, x, W_hGR, W_xGR, B_GR, W_hR, B_hR, W_xR, B_xR, W_hGh, W_xGh, B_Gh):
    """The cell with two gates."""
    inner = turned(p, "R_gate", "h", [W_hGR, W_xGR, B_GR])
    outer = turned(p, "h_gate", "old", [W_hGh, W_xGh, B_Gh])
    return ugrnn.two_gate_cell(h, x, W_hR, B_hR, W_xR, B_xR, *inner, *outer)


def two_gate_module(p, state, x, h):
    """The layer over time, by its fast path."""
    values = dict(state)
    for key, here, gate in (("R_gate", "h", "GR"), ("h_gate", "old", "Gh")):
        names = [f"W_h{gate}", f"W_x{gate}", f"B_{gate}"]
        values |= dict(zip(names, turned(p, key, here, [state[name] for name in names]), strict=True))
    return loaded(ugrnn.TwoGateUGRNN(x.shape[2], h.shape[1]), values)(x, h)[0]


# Merged attention.


def merge(p, W_Q, W_K):
    """The merged matrix, by a product of matrices head by head."""
    merged = attention.merge_query_key(W_Q, W_K, W_Q.shape[1] ** -0.5 if p["scaled"] else 1.0)
    by_hand = torch.stack([Q.T @ K for Q, K in zip(W_Q, W_K, strict=True)])
    assert difference(merged, by_hand / (W_Q.shape[1] ** 0.5 if p["scaled"] else 1), rtol=1e-12) is None
    return merged


def merged_weights(p, W, L):
    """alpha, by `attention_weights` with the merged matrix in the place of the queries."""
    query = (L @ W)[None]  # [1, K, T, J]
    return attention.attention_weights(query, L[None, None], scale=1.0, causal=p["causal"])[0]


def factored(p, W, I):  # noqa: E741 - the size's name
    """Any pair whose merger is W will do: that of `factor_query_key`, signs of singular vectors aside."""
    return attention.factor_query_key(W, I, I**-0.5 if p["scaled"] else 1.0)


# Counts.


def transformer_counts(p, N, h, d, d_ff, V, P):
    """The model's formula; of one layer, the parameters of a module on the meta device."""
    sizes = {"V": V, "J": d, "K": h, "I": d // h, "F": d_ff, "N": N}
    options = {"tables": p["matrices"], "bias": p["attention_bias"], "final_norm": p["final_norm"]}
    found = counting.transformer(**sizes, **options)
    if N == 1:
        assert found == counting.counted(counting.without_memory(lambda: Transformer(**sizes, **options)))
    kinds = {"embedding": found.embedding, "attention": found.attention, "feed_forward": found.feed_forward}
    return kinds | {"layer_norm": found.norm, "total": found.total}


def cell_counts(p, J, K):
    """The parameters of cells: of the course's with one bias, of torch's with two, where torch has the cell."""

    def size(module):
        return sum(parameter.numel() for parameter in module.parameters())

    if p["gate_biases"] == "one":
        cells = {"vanilla": rnn.VanillaRNN, "ugrnn": ugrnn.UGRNN, "two_gate": ugrnn.TwoGateUGRNN, "lstm": rnn.LSTM}
        counts = {name: size(cell(K, J)) for name, cell in cells.items()}
        return counts | {"gru": size(rnn.GRU(K, J, reset="before"))}
    map_of_both = size(nn.RNN(K, J))  # two biases
    ours = {"ugrnn": 2 * map_of_both, "two_gate": 2 * map_of_both + size(nn.RNN(K, J, bias=False)) + 2 * J}
    return ours | {"vanilla": map_of_both, "gru": size(nn.GRU(K, J)), "lstm": size(nn.LSTM(K, J))}


# Positions.


def encoding(p, positions, d):
    """PE, from the model's; cosines first is sines with the two components exchanged."""
    PE = sinusoid(positions, d, base=float(p["base"]), layout=p["layout"], last=p["last"])
    return PE if p["first"] == "sin" else exchanged(PE, p, d)


def exchanged(PE, p, d):
    """The two components of each pair exchanged."""
    pairs = PE.unflatten(-1, (2, d // 2) if p["layout"] == "halves" else (d // 2, 2))
    return pairs.flip(-2 if p["layout"] == "halves" else -1).flatten(-2)


def shift(p, k, d):
    """A^(k), or A^(-k) where encodings move back; rows and columns exchanged where cosines come first."""
    A = shift_matrix(
        k if p["direction"] == "forward" else -k, d, base=float(p["base"]), layout=p["layout"], last=p["last"]
    )
    return A if p["first"] == "sin" else exchanged(exchanged(A, p, d).T, p, d).T


# Attention over sequences and images.


def sequence_layer(p, h, W_Q, W_K, W_V):
    """Self-attention of a sequence: the model's equations, with a mask by its weights where there is one."""
    scale = W_Q.shape[1] ** -0.5 if p["scaled"] else 1.0
    if p["mask"] == "none":
        return attention.self_attention(h, W_Q, W_K, W_V, scale)
    T = len(h)
    mask = attention.causal_mask(T)
    if p["mask"] == "window":
        mask = (torch.arange(T)[:, None] - torch.arange(T)).abs()[None, None] <= p["reach"]
    return _masked(h, W_Q, W_K, W_V, scale, mask)


def _masked(h, W_Q, W_K, W_V, scale, mask):
    """alpha and the heads side by side, by a layer with these matrices and no W^O."""
    K, U, J = W_Q.shape
    model = attention.MultiHeadAttention(J, K, U=U, I=W_V.shape[1], output=False)
    model.scale = scale
    out, alpha = loaded(model, {"W_Q": W_Q, "W_K": W_K, "W_V": W_V}).with_weights(h[None], mask=mask)
    return alpha[0], out[0]


def image_layer(p, h, W_Q, W_K, W_V):
    """Attention over an image by its oracle; elsewhere all positions in one row under a mask of listed pairs."""
    scale = W_Q.shape[1] ** -0.5 if p["scaled"] else 1.0
    if p["code"] == "image":
        return spatial.spatial_attention(h, W_Q, W_K, W_V, scale)
    places = list(itertools.product(*map(range, h.shape[:-1])))
    sees = {
        "volume": lambda a, b: True,
        "rows": lambda a, b: a[0] == b[0],
        "columns": lambda a, b: a[1] == b[1],
        "window": lambda a, b: max(abs(a[0] - b[0]), abs(a[1] - b[1])) <= p["w"],
        "video": lambda a, b: b[0] <= a[0],
    }[p["code"]]
    mask = torch.tensor([[sees(a, b) for b in places] for a in places])
    alpha, out = _masked(h.flatten(0, -2), W_Q, W_K, W_V, scale, mask[None, None])
    return alpha.reshape(-1, *h.shape[:-1], *h.shape[:-1]), out.reshape(h.shape)


def masked_weights(p, scores):
    """The softmax under the masks of the model."""
    T = scores.shape[1]
    mask = {
        "causal": attention.causal_mask(T),
        "window": attention.window_mask(T, p["width"]),
        "prefix": attention.prefix_mask(T, min(p["width"], T)),
    }[p["mask"]][0]
    return torch.softmax(scores.masked_fill(~mask, -math.inf), -1)


def bert_input(p, tokens, E_tok, E_seg, E_pos, sep):
    """Token by token: the sentence that it stands in, and its place, are counted."""
    rows, sentence, place = [], 0, 0
    for token in tokens.tolist():
        rows.append(E_tok[token] + E_seg[sentence] + E_pos[place])
        place += 1
        if token == sep:
            sentence, place = sentence + 1, 0 if p["restart"] else place
    return torch.stack(rows)


# The softmax of energies.


def closed(text, **letters):
    """A typed closed form in fifty digits."""
    with mpmath.workdps(50):
        names = {"e": mpmath.e, "ln": mpmath.log, "floor": mpmath.floor, "coth": mpmath.coth, "sinh": mpmath.sinh}
        exact = {letter: mpmath.mpf(value) for letter, value in letters.items()}
        return float(
            eval(re.sub(r"(?<![\w.])(\d+)(?![\w.])", r"mpf(\1)", text).replace("^", "**"), names | exact | MPF)
        )


MPF = {"mpf": mpmath.mpf, "abs": abs}


def softmax_in_digits(p, beta, i):
    """The typed answer to the same question, which other tests compare with sums."""
    text = load("softmax_entropy", ROOT).part("softmax").reference(p)
    return torch.tensor([[closed(text, beta=b, i=n) for n in i.tolist()] for b in beta.tolist()], dtype=F64)


def entropies_in_digits(p, beta):
    """The typed entropy."""
    text = load("softmax_entropy", ROOT).part("entropy").reference(p)
    return torch.tensor([closed(text, beta=b) for b in beta.tolist()], dtype=F64)


# Language models.


def attend(p, h, M, W_key, tau):
    """Head by head, as the captioner attends to a picture of one row."""
    places = M.flatten(1, -2)[:, None]  # [B, 1, S, K]
    B, J, K = len(h), h.shape[1], M.shape[-1]
    model, found = captioner.Captioner(2, 1, J, K).double(), []
    for W in W_key:
        model.W_key.data = W / tau
        found.append(model.attend(h, places))
    alpha = torch.stack([weights.flatten(1) for _, weights in found], 1)
    return alpha.reshape(B, len(W_key), *M.shape[1:-1]), torch.cat([V for V, _ in found], 1)


def captions(p, M, x, start, e, W_init, W_key, W_auto, W_h, W_V, W_x, B):
    """The captioner's attention around torch's own recurrent cell."""
    (V, width), J, K = e.shape, len(B), M.shape[-1]
    model = captioner.Captioner(V, width, J, K).double()
    model.W_key.data = W_key
    cell = nn.RNNCell(K + width, J).double()
    values = {"weight_ih": torch.cat([W_V, W_x], 1), "weight_hh": W_h, "bias_ih": -B, "bias_hh": torch.zeros_like(B)}
    loaded(cell, values)
    places = M.flatten(1, -2)[:, None]
    h, P = places.mean((1, 2)) @ W_init.T, []
    for word in torch.cat([start.expand(len(x), 1, -1), x], 1).unbind(1):
        h = cell(torch.cat([model.attend(h, places)[0], word], 1), h)
        P.append(torch.softmax(h @ W_auto.T @ e.T, -1))
    return torch.stack(P, 1)


def contexts(p, x, W_hf, W_xf, B_f, W_hb, W_xb, B_b, start, end):
    """The model's vanilla RNNs from both ends, each begun at its boundary state."""
    sign = 1 if p["bias_sign"] == "subtracted" else -1
    ahead = loaded(rnn.VanillaRNN(x.shape[2], len(start)), {"W_xh": W_xf, "W_hh": W_hf, "B": sign * B_f})
    back = loaded(rnn.VanillaRNN(x.shape[2], len(end)), {"W_xh": W_xb, "W_hh": W_hb, "B": sign * B_b})
    B, T, m = len(x), x.shape[1], p["m"]
    left = torch.cat([start.expand(B, 1, -1), ahead(x, start.expand(B, -1))[0]], 1)
    right = torch.cat([layers.reverse(back(layers.reverse(x), end.expand(B, -1))[0]), end.expand(B, 1, -1)], 1)
    return torch.cat([left[:, : T - m + 1], right[:, m:]], 2)


def probabilities(p, left, right, e, W_f, W_b):
    """The model's scores, its word vectors being e; the other heads word by word."""
    if p["head"] == "linear":
        model = bidirectional.BlankLanguageModel(*e.shape, left.shape[1]).double()
        model.words.e.data = e
        return torch.softmax(model.words.scores(left @ W_f.T + right @ W_b.T), -1)
    rows = []
    for at_left, at_right in zip(left, right, strict=True):
        one, other = W_f @ at_left, W_b @ at_right
        if p["head"] == "tanh":
            weights = torch.stack([(vector @ torch.tanh(one + other)).exp() for vector in e])
            rows.append(weights / weights.sum())
        else:
            halves = [torch.stack([vector @ side for vector in e]) for side in (one, other)]
            rows.append(sum((half - half.max()).exp() / (half - half.max()).exp().sum() for half in halves) / 2)
    return torch.stack(rows)


def predict(p, e, forward, backward, t):
    """The model's scores, with the matrices that the reference draws, of the states beside the blanks."""
    width, J = e.shape[1], forward.shape[1]
    model = bidirectional.BlankLanguageModel(len(e), width, J).double()
    drawn = torch.Generator().manual_seed(0)
    model.W_f.data, model.W_b.data = torch.randn(2, width, J, generator=drawn, dtype=F64) / (width * J) ** 0.25
    model.words.e.data = e / (width * J) ** 0.25
    beside = (t - 1, t + p["m"]) if p["states"] == "with own word" else (t, t + p["m"] - 1)
    left, right = forward[beside[0]], backward[beside[1]]
    return torch.softmax(model.words.scores(left @ model.W_f.T + right @ model.W_b.T), -1)


def exact_blanks(p, A, pi, w):
    """All ways to fill the run of blanks are listed and added up."""
    m, V, words = p["m"], len(pi), w.tolist()
    rows = []
    for n in range(len(words) - m + 1):
        row = torch.zeros(V, dtype=A.dtype)
        for run in itertools.product(range(V), repeat=m):
            path = words[:n][-1:] + list(run) + words[n + m :][:1]
            steps = [A[a, b] for a, b in itertools.pairwise(path)]
            row[run[0]] += math.prod(steps) * (1 if n else pi[run[0]])
        rows.append(row / row.sum())
    return torch.stack(rows)


def log_loss(p, scores, w, eos):
    """The model's log loss through the first end token."""
    loss = layers.sequence_log_loss(scores, w, layers.through_eos(w, eos))
    return loss / math.log(2) if p["unit"] == "bits" else loss


def perplexity(p, loss, lengths):
    """The geometric mean of one over the probabilities of the tokens that count."""
    tokens = sum(n if p["counts_eos"] else n - 1 for n in lengths.tolist())
    base = 2.0 if p["unit"] == "bits" else math.e
    return torch.tensor(math.prod((base**value) ** (1 / tokens) for value in loss.tolist()), dtype=F64)


def generate(p, h, u, e, W_hh, W_xh, B, eos):
    """Row by row and word by word, with the model's cell."""
    activation = torch.tanh if p["activation"] == "tanh" else torch.sigmoid
    cell = loaded(rnn.VanillaRNN(e.shape[1], len(B), activation), {"W_xh": W_xh, "W_hh": W_hh, "B": B})
    rows, lengths = [], []
    for state, numbers in zip(h, u, strict=True):
        state, words = state[None], []
        for number in numbers.tolist():
            cumulated = np.cumsum(torch.softmax(state[0] @ e.T, -1).detach().numpy())
            word = min(int(np.searchsorted(cumulated, number, side="right")), len(e) - 1)
            words.append(eos if eos in words else word)
            _, state = cell(e[words[-1]][None, None], state)
        before = words.index(eos) if eos in words else len(words)
        lengths.append(before + (1 if p["length_with_eos"] and eos in words else 0))
        rows.append(words)
    return torch.tensor(rows), torch.tensor(lengths)


def clip(p, g, k, n_max):
    """The model's clipping, of both together or of each."""
    parameters = [nn.Parameter(torch.zeros_like(value)) for value in (g, k)]
    for parameter, value in zip(parameters, (g, k), strict=True):
        parameter.grad = value.clone()
    for group in [parameters] if p["together"] else [[one] for one in parameters]:
        layers.clip_gradient(group, n_max)
    return tuple(parameter.grad for parameter in parameters)


# Convolutions.


def embed(p, w, e):
    """The model's embedding; padding as torch has it."""
    words = layers.Embedding(*e.shape).double()
    words.e.data = e
    assert difference(words(w), e[w], rtol=0.0) is None
    return F.embedding(w, e.index_fill(0, torch.tensor([0]), 0.0) if p["padding"] else e)


def conv(p, L, W, B):
    """The model's layer where the geometry is its own; else output by output and tap by tap."""
    activation = {"sigma": torch.sigmoid, "tanh": torch.tanh, "relu": torch.relu}[p["activation"]]
    if (p["stride"], p["gap"], p["look"], p["filters"]) == (2, 1, "ahead", "full"):
        return stride_two_layer(L, W, B, activation)
    D, T, columns = len(W), L.shape[1], []
    last = T - 1 - p["gap"] * (D - 1) if p["look"] == "ahead" else T - 1
    for at in range(0, last + 1, p["stride"]):
        z = -B.expand(len(L), -1)
        for tap in range(D):
            read = at + p["gap"] * tap if p["look"] == "ahead" else at - p["gap"] * tap
            if read >= 0:
                z = z + (L[:, read] @ W[tap] if p["filters"] == "full" else L[:, read] * W[tap])
        columns.append(activation(z))
    return torch.stack(columns, 1)


# The deep perceptron.

SIGMA = {"tanh": torch.tanh, "logistic": torch.sigmoid, "relu": torch.relu}


def perceptron(p, x, W, B, w, b, *, heads, residual):
    """The predictions of the model with these tensors, its first map being the identity."""
    width, L = x.shape[1], len(W)
    model = mlp.DeepMLP(width, width, L, heads=heads, residual=residual, activation=SIGMA[p["activation"]]).double()
    values = {"inner.W": torch.eye(width, dtype=F64), "inner.B": torch.zeros(width, dtype=F64)}
    for n in range(L):
        values |= {f"layers.{n}.W": W[n], f"layers.{n}.B": B[n]}
    for n in range(L if heads else 1):
        values |= {f"heads.{n}.W": w[n][None] if heads else w[None], f"heads.{n}.B": torch.as_tensor(b).view(-1)[[n]]}
    return loaded(model, values)


def loss_heads(p, x, y, W, B, w, b):
    """Losses and predictions of the model with heads."""
    y_hat = perceptron(p, x, W, B, w, b, heads=True, residual=False)(x)
    return (y - y_hat).square().sum(0) * (0.5 if p["half"] else 1), y_hat


def residual_mlp(p, x, y, W, B, w, b):
    """Losses and predictions of the model with residual connections."""
    (y_hat,) = perceptron(p, x, W, B, w, b, heads=False, residual=True)(x)
    return (y - y_hat).square() * (0.5 if p["half"] else 1), y_hat


def first_gradients(p, x, y, W, B, w, b):
    """The gradients at the model's first layer."""

    def norm(model):
        (mlp.squared_loss(model(x), y) * (0.5 if p["half"] else 1)).backward()
        return model.layers[0].W.grad.norm().item()

    top = {"heads": False, "residual": False}
    return {
        "final": norm(perceptron(p, x, W, B, w[-1], b[-1], **top)),
        "heads": norm(perceptron(p, x, W, B, w, b, heads=True, residual=False)),
        "residual": norm(perceptron(p, x, W, B, w[-1], b[-1], heads=False, residual=True)),
    }


# Recurrent cells with blocks, and a stack. A coupled input gate has the negated parameters of the forget gate.


def gru_step(p, h, x, W_hr, W_xr, B_r, W_hz, W_xz, B_z, W_hn, B_hn, W_xn, B_xn):
    """The GRU; where the reset gate stands before the matrix, both biases of the candidate are one."""
    before = p["reset"] == "before"
    W_hz, W_xz, B_z = turned(p, "z_gate", "old", [W_hz, W_xz, B_z])
    values = {"W_h": torch.cat([W_hr, W_hz, W_hn]), "W_x": torch.cat([W_xr, W_xz, W_xn])}
    values |= {"B": torch.cat([B_r, B_z, B_xn + B_hn if before else B_xn]), "B_hn": B_hn}
    return loaded(rnn.GRU(x.shape[1], h.shape[1], reset=p["reset"]), values)(x[:, None], h)[1]


def lstm_step(p, h, c, x, W_h, W_x, B):
    """The LSTM, its blocks in torch's order."""
    names, values = p["blocks"].split(", "), {}
    for key, stacked in (("W_h", W_h), ("W_x", W_x), ("B", B)):
        blocks = dict(zip(names, stacked.chunk(len(names)), strict=True))
        values[key] = torch.cat([{"i": -blocks["f"], **blocks}[name] for name in "ifgo"])
    return loaded(rnn.LSTM(x.shape[1], h.shape[1]), values)(x[:, None], (h, c))[1]


def residual_stack(p, x, W_h, W_x, B):
    """The stack of vanilla layers; where nothing leads around the lowest, it stands on one plain layer."""
    stack = rnn.ResidualRNN(x.shape[2], len(B), rnn.VanillaRNN)
    for layer, W_hh, W_xh, bias in zip(stack.layers, W_h, W_x, B, strict=True):
        loaded(layer, {"W_hh": W_hh, "W_xh": W_xh, "B": bias})
    if not p["skip_first"]:
        x, _ = stack.layers[0](x)
        stack.layers = stack.layers[1:]
    return stack(x)[0]


# Translation.


def translator(p, W_key, V, I, J):  # noqa: E741 - the width of a word's vector
    """The translator with either asker."""
    model = seq2seq.Seq2Seq(V, V, I, J, attention=p["query"]).double()
    with torch.no_grad():
        model.W_key.copy_(W_key)
    return model


def look(p, h, x, M, W_key, lengths):
    """The translator's step, whose cell notes what it reads."""
    model, seen = translator(p, W_key, 2, x.shape[1], h.shape[1]), []
    model.cell.step = lambda h, x: seen.append(x) or h
    _, alpha = model.step(h, x, M, layers.before(lengths, M.shape[1]))
    return alpha, seen[0][:, : M.shape[2]]


def translate(p, M, h, start, e, W_key, W_auto, W_h, W_V, W_x, B, T):
    """The translator's greedy words, with the cell of the question."""
    model = translator(p, W_key, *e.shape, h.shape[1])
    with torch.no_grad():
        for parameter, value in ((model.start, start), (model.target.e, e), (model.W_auto, W_auto)):
            parameter.copy_(value)
    W = torch.cat([W_V, W_x], 1)
    model.cell.step = lambda h, x: torch.tanh(F.linear(h, W_h, -B) + F.linear(x, W))
    model.encode = lambda w_in, lengths: (h, M)
    return model.translate(torch.zeros(M.shape[:2], dtype=torch.int64), T)


def from_one_to_another(p, x, memory, W_Q, W_K, W_V, W_O):
    """The layer of heads with a memory."""
    (K, U, J), (_, I, M) = W_Q.shape, W_V.shape  # noqa: E741
    model = attention.MultiHeadAttention(J, K, U=U, I=I, M=M, scaled=p["scaled"])
    return loaded(model, {"W_Q": W_Q, "W_K": W_K, "W_V": W_V, "W_O": W_O})(x, memory)


# Translation by a thought vector: the translator without attention, with the cell of the question.


class VanillaSteps(nn.Module):
    """A vanilla network in the place of the encoder."""

    def __init__(self, W_h, W_x, B):
        super().__init__()
        self.cell = loaded(rnn.VanillaRNN(W_x.shape[1], len(B)), {"W_hh": W_h, "W_xh": W_x, "B": B})

    def forward(self, x):
        """All states, and the last."""
        return self.cell(x)

    def step(self, h, x):
        """One step."""
        return self.cell(x[:, None], h)[1]


def thought(p, x, W_h, W_x, B, lengths):
    """The translator's encoder; from left to right, on the source turned round."""
    if p["reads"] == "left to right":
        x = layers.reverse(x, lengths)
    model = seq2seq.Seq2Seq(2, 2, x.shape[2], len(B), attention=None).double()
    model.encoder, model.source = VanillaSteps(W_h, W_x, B), nn.Identity()
    model.source.forward = lambda w_in: x
    return model.encode(torch.zeros(x.shape[:2], dtype=torch.int64), lengths)[0]


def translation_loss(p, c, v, start, e, lengths, W_auto, W_h, W_x, B):
    """The translator's scores of the right words, and the loss over those that are there."""
    model = seq2seq.Seq2Seq(2, *e.shape, len(B), attention=None).double()
    with torch.no_grad():
        for parameter, value in ((model.start, start), (model.target.e, e), (model.W_auto, W_auto)):
            parameter.copy_(value)
    model.cell = VanillaSteps(W_h, W_x, B)
    model.encode = lambda w_in, lengths: (c, c[:, None])
    scores = model(torch.zeros(len(v), 1, dtype=torch.int64), v)
    loss = layers.sequence_log_loss(scores, v, layers.before(lengths, v.shape[1]))
    return loss / lengths if p["loss"] == "mean" else loss


# A block of the Transformer.

ACTIVATIONS = {"relu": F.relu, "silu": F.silu, "squared relu": lambda x: F.relu(x) ** 2}


class RMSNorm(nn.LayerNorm):
    """Torch's RMS norm in the place of a layer norm."""

    def forward(self, x):
        """Without the mean, and without a shift."""
        return F.rms_norm(x, x.shape[-1:], self.weight, self.eps)


def feed_forward(p, L, W_FF1, B_FF1, W_FF2, B_FF2):
    """The feed-forward layer."""
    model = FeedForward(L.shape[2], len(W_FF1), ACTIVATIONS[p["activation"]])
    return loaded(model, {"W_FF1": W_FF1, "B_FF1": B_FF1, "W_FF2": W_FF2, "B_FF2": B_FF2})(L)


def block(p, L, W_Q, W_K, W_V, W_O, gain_1, W_FF1, B_FF1, W_FF2, B_FF2, gain_2):
    """One layer of the residual stack."""
    (K, U, J), I = W_Q.shape, W_V.shape[1]  # noqa: E741
    options = {"U": U, "pre_norm": p["place"] == "before", "activation": ACTIVATIONS[p["activation"]]}
    model = Layer(J, K, I, len(W_FF1), **options)
    if p["norm"] == "rms":
        model.attention_norm, model.feed_forward_norm = RMSNorm(J), RMSNorm(J)
    values = {"W_FF1": W_FF1, "B_FF1": B_FF1, "W_FF2": W_FF2, "B_FF2": B_FF2}
    values = {f"feed_forward.{name}": value for name, value in values.items()}
    values |= {"attention.W_Q": W_Q, "attention.W_K": W_K, "attention.W_V": W_V, "attention.W_O": W_O}
    values |= {"attention_norm.weight": gain_1, "feed_forward_norm.weight": gain_2}
    values |= {f"{name}_norm.bias": torch.zeros(J) for name in ("attention", "feed_forward")}
    return loaded(model, values)(L, causal=p["causal"])


ROUTES = {
    "attention_sheet": {"masked_weights": masked_weights, "bert_input": bert_input},
    "blank_definition": {"predict": predict},
    "blank_language_model": {"contexts": contexts, "probabilities": probabilities, "exact_blanks": exact_blanks},
    "cross_attention": {"look": look, "translate": translate, "cross_attention": from_one_to_another},
    "image_captioning": {"attend": attend, "captioner": captions},
    "language_cnn": {"embed": embed, "conv": conv},
    "language_modeling": {"log_loss": log_loss, "perplexity": perplexity, "generate": generate, "clip": clip},
    "loss_heads": {"loss_heads": loss_heads, "residual_mlp": residual_mlp, "first_gradients": first_gradients},
    "merged_query_key": {"merge": merge, "attention": merged_weights, "factor": factored},
    "parameter_counting": {"count": transformer_counts, "recurrent": cell_counts},
    "positional_rotation": {"encoding": encoding, "shift": shift},
    "recurrent_cells": {"gru": gru_step, "lstm": lstm_step, "residual_stack": residual_stack},
    "self_attention_runtime": {"layer": sequence_layer},
    "softmax_entropy": {"probabilities": softmax_in_digits, "entropies": entropies_in_digits},
    "spatial_transformer": {"spatial": image_layer},
    "thought_vectors": {"thought": thought, "translation_loss": translation_loss},
    "transformer_block": {"feed_forward": feed_forward, "block": block},
    "ugrnn_gates": {"ugrnn": one_gate, "two_gate": two_gates, "TwoGateUGRNN": two_gate_module},
}
PARTS = [(slug, name) for slug, routes in ROUTES.items() for name in routes]
# Parts of which several answers are right: what is compared instead.
MERGED_AGAIN = {("merged_query_key", "factor"): lambda p, pair: merge(p, *pair)}
SEEDS = range(400)


class Read(dict):
    """Parameters that note which of them were read."""

    def __init__(self, p):
        super().__init__(p)
        self.keys_read = set()

    def __getitem__(self, key):
        self.keys_read.add(key)
        return super().__getitem__(key)


def conventions(slug, part):
    """The parameters of a few seeds in which each pair of values occurs, of all that the part's code reads."""
    drawn = [variant(load(slug, ROOT), seed).parameters for seed in SEEDS]
    keys = set()
    for p in drawn[:12]:
        read = Read(p)
        for case in first_of_each(part, read):
            part.respondent(local(part.reference, part.name, read), case).call(*case.arguments.values())
        keys |= read.keys_read
    chosen, seen = [], set()
    for p in drawn:
        facts = set(itertools.combinations_with_replacement([(key, p[key]) for key in sorted(keys)], 2))
        if not facts <= seen or not chosen:
            seen |= facts
            chosen.append(p)
    return chosen


def first_of_each(part, p):
    """The first hidden case of each of the author's inputs that is one plain call."""
    cases = [case for case in part.cases(p, (7,)) if case.drawn_by and "before" not in case.options]
    return {case.drawn_by: case for case in reversed(cases)}.values()


@pytest.mark.parametrize(("slug", "name"), PARTS)
def test_the_reference_is_the_full_model(slug, name):
    """In every pair of conventions, the first hidden inputs of each kind give what the model or another route gives."""
    part, route = load(slug, ROOT).part(name), ROUTES[slug][name]
    same = MERGED_AGAIN.get((slug, name), lambda p, value: value)
    for p in conventions(slug, part):
        for case in first_of_each(part, p):
            ours = part.respondent(local(part.reference, name, p), case).call(*case.arguments.values())
            state = {"state": case.options["state"]} if "state" in case.options else {}
            with torch.enable_grad():
                theirs = route(p, **state, **case.arguments)
            found = difference(same(p, ours), _detached(same(p, theirs)), rtol=1e-7)
            assert found is None, f"{found.message} under {p}, {case.drawn_by}"


def _detached(value):
    if isinstance(value, torch.Tensor):
        return value.detach()
    return type(value)(map(_detached, value)) if isinstance(value, tuple) else value


# Kinds of code without numbers to compare: of some, no two answers give the same ones (the tests below), and tests say
# what they say of functions that are in the table.
BY_LAW = {"sampled", "trained", "tests"}


@pytest.mark.parametrize("slug", SLUGS)
def test_every_part_that_is_code_has_a_route(slug):
    """A part that is added, or called otherwise, needs a line of the table."""
    parts = {part.name for part in load(slug, ROOT).parts if part.runs and part.kind not in BY_LAW}
    assert parts == set(ROUTES.get(slug, {}))


def test_draws_have_the_law_of_the_full_model():
    """Of 20,000 draws, each word comes as often as by the Transformer's `sample`, to six standard deviations."""
    reference, n = load("language_modeling", ROOT).part("sample").reference, 20_000
    g = torch.Generator().manual_seed(5)
    for temperature in (0.5, 1.0, 2.0):
        scores = 2 * torch.randn(7, generator=g, dtype=F64)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(6)
            ours = reference(scores, temperature, n).bincount(minlength=7)
        theirs = sampling.sample(scores.expand(n, -1), temperature, g).bincount(minlength=7)
        P = torch.softmax(scores / temperature, 0)
        assert ((ours - theirs).abs() <= 6 * (2 * n * P * (1 - P)).sqrt() + 1).all()


def test_training_comes_near_the_best_fit():
    """The reference's law is that of the convex optimum, found by another method, to a tenth of a nat on average."""
    part = load("language_modeling", ROOT).part("train")
    case = part.cases(variant(load("language_modeling", ROOT), 0).parameters, (7,))[0]
    before, following, new, V = case.arguments.values()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(8)
        ours = part.reference(before, following, new, V)
    W = torch.zeros(2 * V, V, dtype=F64, requires_grad=True)
    both = lambda pairs: F.one_hot(pairs, V).flatten(1).double()  # noqa: E731
    optimizer = torch.optim.LBFGS([W], max_iter=200, line_search_fn="strong_wolfe")

    def closure():
        optimizer.zero_grad()
        loss = F.cross_entropy(both(before) @ W, following) + 1e-4 * W.square().sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    best = torch.log_softmax(both(new) @ W, 1).detach()
    assert (best.exp() * (best - ours)).sum(1).mean() < 0.1
    assert (best.exp() * (best + math.log(V))).sum(1).mean() > 0.3  # the uniform law is far from it


@pytest.mark.parametrize("slug", SLUGS)
def test_every_problem_names_its_full_model_and_task(slug):
    """The text names a class of `solutions` and a training task that must succeed."""
    problem = load(slug, ROOT)
    module, _, name = problem.full_model.rpartition(".")
    assert isinstance(getattr(importlib.import_module(f"solutions.{module}"), name), type)
    assert problem.task in TASKS
    assert not problem.task.startswith("control_")

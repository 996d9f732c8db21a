"""Recurrent layers against torch.nn and loops over the equations; the language model by probability."""

import itertools
import math

import pytest
import torch
from torch import nn

from solutions import fused
from solutions.layers import sequence_log_loss
from solutions.rnn import GRU, LSTM, RecurrentLanguageModel, ResidualRNN, VanillaRNN
from solutions.ugrnn import UGRNN, TwoGateUGRNN

B, T, K, J = 3, 11, 5, 7
LAYERS = {
    "vanilla": VanillaRNN,
    "gru_before": lambda K, J: GRU(K, J, reset="before"),
    "gru_after": GRU,
    "lstm": LSTM,
    "ugrnn": UGRNN,
    "two_gate": TwoGateUGRNN,
}


def randomize(model, seed=0, scale=0.6):
    """Draw every parameter, biases too, from a normal distribution, in float64."""
    g = torch.Generator().manual_seed(seed)
    for p in model.double().parameters():
        p.data = scale * torch.randn(p.shape, generator=g, dtype=torch.float64)
    return model


def draw(*shape, seed=1):
    """Normal numbers in float64."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def from_torch(theirs, ours):
    """Give `ours` the function that a torch layer computes: one bias of the other sign."""
    b_ih, b_hh = theirs.bias_ih_l0.detach(), theirs.bias_hh_l0.detach()
    weights = {"W_x": theirs.weight_ih_l0.detach(), "W_h": theirs.weight_hh_l0.detach(), "B": -(b_ih + b_hh)}
    if isinstance(ours, VanillaRNN):
        weights = {"W_xh": weights["W_x"], "W_hh": weights["W_h"], "B": weights["B"]}
    if isinstance(ours, GRU):  # the candidate's bias of h stands inside the reset gate's product
        weights["B"] = torch.cat([weights["B"][: 2 * J], -b_ih[2 * J :]])
        weights["B_hn"] = -b_hh[2 * J :]
    ours.load_state_dict(weights)


@pytest.mark.parametrize(
    ("ours", "theirs"), [(VanillaRNN, nn.RNN), (GRU, nn.GRU), (LSTM, nn.LSTM)], ids=["rnn", "gru", "lstm"]
)
def test_torch_layer_with_converted_weights(ours, theirs):
    """States and all gradients agree with torch.nn to 1e-10, from a start that is not zero."""
    ours, theirs = ours(K, J).double(), randomize(theirs(K, J, batch_first=True))
    from_torch(theirs, ours)
    state = (draw(B, J, seed=2), draw(B, J, seed=3)) if isinstance(ours, LSTM) else draw(B, J, seed=2)
    their_state = tuple(s[None] for s in state) if isinstance(ours, LSTM) else state[None]
    cotangent, results = draw(B, T, J, seed=4), []
    for layer, start in ((ours, state), (theirs, their_state)):
        x = draw(B, T, K).requires_grad_()
        h, last = layer(x, start)
        h.backward(cotangent)
        results.append((h, x.grad, *(last if isinstance(last, tuple) else (last,))))
    for a, b in zip(*results, strict=True):
        torch.testing.assert_close(a, b.view_as(a), rtol=1e-10, atol=1e-10)


FUSED = {name: LAYERS[name] for name in ("vanilla", "gru_after", "lstm")}


@pytest.fixture
def steps(monkeypatch):
    """Makes the layers take their own steps; without it, the fused operation must have run."""
    return lambda: monkeypatch.setattr(fused, "allowed", lambda *tensors: False)


@pytest.mark.parametrize("name", FUSED)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16], ids=str)
def test_the_fused_operation_is_the_steps(name, dtype, steps, monkeypatch):
    """States, last state, first and second derivatives agree to rounding; under autocast states stay whole."""
    calls, run = [], fused._run
    monkeypatch.setattr(fused, "_run", lambda *given: calls.append(1) or run(*given))
    layer, results = randomize(LAYERS[name](K, J)).to(dtype), []
    with torch.autocast("cpu", torch.bfloat16):
        assert layer(draw(B, T, K).to(dtype))[0].dtype == dtype
    for _ in range(2):
        x, c = draw(B, T, K).to(dtype).requires_grad_(), draw(B, T, J, seed=4).to(dtype)
        h, last = layer(x)
        first = torch.autograd.grad(h, [x, *layer.parameters()], c, create_graph=True)
        second = torch.autograd.grad(first[0], list(layer.parameters()), draw(B, T, K, seed=5).to(dtype))
        results.append((h, last, first, second))
        steps()
    tolerance = {torch.float64: 1e-12, torch.float32: 1e-4, torch.bfloat16: 0.5}[dtype]
    torch.testing.assert_close(*results, rtol=tolerance, atol=tolerance)
    assert len(calls) == 2


@pytest.mark.filterwarnings("ignore:.*torch.jit.script.*:DeprecationWarning")  # torch's own, in forward mode
@pytest.mark.parametrize("name", FUSED)
def test_transforms_see_the_steps(name):
    """torch.func.grad, jvp and vmap, and forward mode, which the fused operations lack, give autograd's numbers."""
    layer, x, v = randomize(LAYERS[name](K, J)), draw(B, T, K), draw(B, T, K, seed=6)

    def loss(z):
        return layer(z)[0].square().sum()

    z = x.clone().requires_grad_()
    (expected,) = torch.autograd.grad(loss(z), z)
    torch.testing.assert_close(torch.func.grad(loss)(x), expected)
    per_row = torch.func.vmap(torch.func.grad(lambda row: loss(row[None])))(x)
    torch.testing.assert_close(per_row, expected)
    torch.testing.assert_close(torch.func.jvp(loss, (x,), (v,))[1], (expected * v).sum())
    with torch.autograd.forward_ad.dual_level():
        out = loss(torch.autograd.forward_ad.make_dual(x, v))
        torch.testing.assert_close(torch.autograd.forward_ad.unpack_dual(out).tangent, (expected * v).sum())


def sigmoid(z):
    """The logistic function of one number."""
    return 1 / (1 + math.exp(-z))


def test_gru_of_cho_by_loops():
    """reset="before" is Cho et al.'s equations, evaluated one unit at a time."""
    gru = randomize(GRU(K, J, reset="before"))
    W_x, W_h, b = (p.tolist() for p in (gru.W_x, gru.W_h, gru.B))
    x, h0 = draw(B, T, K), draw(B, J, seed=2)
    h_fast, _ = gru(x, h0)

    def argument(row, x, h):
        return sum(W_x[row][k] * x[k] for k in range(K)) + sum(W_h[row][i] * h[i] for i in range(J)) - b[row]

    for n in range(B):
        h = h0[n].tolist()
        for t in range(T):
            x_t = x[n, t].tolist()
            r = [sigmoid(argument(j, x_t, h)) for j in range(J)]
            z = [sigmoid(argument(J + j, x_t, h)) for j in range(J)]
            reset = [r[j] * h[j] for j in range(J)]
            new = [math.tanh(argument(2 * J + j, x_t, reset)) for j in range(J)]
            h = [z[j] * h[j] + (1 - z[j]) * new[j] for j in range(J)]
            torch.testing.assert_close(h_fast[n, t].tolist(), h, rtol=1e-10, atol=1e-10)


def test_the_two_grus_differ_unless_the_reset_gate_is_constant():
    """Equal weights give different functions; with r equal for all units (and B_hn = 0) they are the same."""
    after, cho = randomize(GRU(K, J)), GRU(K, J, reset="before").double()
    after.B_hn.data.zero_()
    cho.load_state_dict({k: v for k, v in after.state_dict().items() if k != "B_hn"})
    x = draw(B, T, K)
    assert (after(x)[0] - cho(x)[0]).abs().max() > 1e-3
    for gru in (after, cho):
        gru.W_x.data[:J] = 0
        gru.W_h.data[:J] = 0
        gru.B.data[:J] = 0.3
    torch.testing.assert_close(after(x)[0], cho(x)[0], rtol=1e-12, atol=1e-12)


def test_unknown_reset_is_refused():
    """The convention of the reset gate must be one of the two."""
    with pytest.raises(ValueError, match="before"):
        GRU(K, J, reset="during")


@pytest.mark.parametrize("name", LAYERS)
def test_two_pieces_are_as_good_as_one(name):
    """Feeding 4 steps, then 1, then the rest from the returned states equals feeding everything."""
    layer = randomize(LAYERS[name](K, J))
    x = draw(B, T, K)
    whole, last = layer(x)
    pieces, state = [], None
    for piece in x.split([4, 1, T - 5], 1):
        h, state = layer(piece, state)
        pieces.append(h)
    torch.testing.assert_close(torch.cat(pieces, 1), whole, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(state, last, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", LAYERS)
def test_states_stay_in_the_unit_interval(name):
    """From zero, no component of h leaves [-1, 1], whatever the weights."""
    layer = randomize(LAYERS[name](K, J), scale=20)
    assert layer(10 * draw(B, T, K))[0].abs().max() <= 1


@pytest.mark.parametrize("name", LAYERS)
def test_no_state_depends_on_the_future(name):
    """∂h[t]/∂x[s] is exactly zero for s > t and not zero for s <= t."""
    layer = randomize(LAYERS[name](K, J), scale=0.3)
    x = draw(B, T, K).requires_grad_()
    (gradient,) = torch.autograd.grad(layer(x)[0][:, 4], x, draw(B, J, seed=3))
    reached = gradient.abs().amax((0, 2)) > 0
    assert reached.tolist() == [True] * 5 + [False] * (T - 5)


def test_gates_at_their_extremes():
    """z = 1 keeps a GRU's state for ever, up to the rounding of n + z (h - n); f = 1 keeps an LSTM's cell exactly."""
    x, h, c = draw(B, T, K), draw(B, J, seed=2), draw(B, J, seed=3)
    for reset in ("before", "after"):
        gru = randomize(GRU(K, J, reset))
        gru.B.data[J : 2 * J] = -1e4
        torch.testing.assert_close(gru(x, h)[1], h, rtol=0, atol=0 if reset == "before" else 1e-14)
    lstm = randomize(LSTM(K, J))
    lstm.B.data[:J], lstm.B.data[J : 2 * J] = 1e4, -1e4
    torch.testing.assert_close(lstm(x, (h, c))[1][1], c, rtol=0, atol=0)


@pytest.mark.parametrize("name", LAYERS)
def test_residual_stack_with_zero_parameters_is_the_identity(name):
    """Every layer outputs zero then, and the stream passes unchanged."""
    stack = ResidualRNN(J, 3, LAYERS[name]).double()
    for p in stack.parameters():
        p.data.zero_()
    x = draw(B, T, J)
    torch.testing.assert_close(stack(x)[0], x, rtol=0, atol=0)


def test_residual_stack_adds_each_layer():
    """The definition, written out for three layers; N = 1 is the layer plus its input."""
    stack = randomize(ResidualRNN(J, 3, GRU))
    x = draw(B, T, J)
    h1 = x + stack.layers[0](x)[0]
    h2 = h1 + stack.layers[1](h1)[0]
    h3 = h2 + stack.layers[2](h2)[0]
    torch.testing.assert_close(stack(x)[0], h3)


# ----------------------------------------------------------------------------------------- the language model


def probability(model, *rows):
    """P of each row by the model's log loss."""
    w = torch.tensor(rows)
    return torch.exp(-sequence_log_loss(model(w), w))


@pytest.mark.parametrize("N", [1, 2])
def test_chain_rule_sums_to_one(N):
    """The probabilities of all 3^4 sequences of four words add up to one."""
    model = randomize(RecurrentLanguageModel(3, J, N, UGRNN))
    P = probability(model, *itertools.product(range(3), repeat=4))
    assert P.min() > 0
    assert P.sum().item() == pytest.approx(1, abs=1e-12)


def test_with_eos_every_sentence_counts_once():
    """Sentences of up to four words, and what has not ended by then, have total probability one."""
    model, eos, longest = randomize(RecurrentLanguageModel(3, J, 1, GRU)), 2, 4
    ended = sum(
        probability(model, *((*words, eos) for words in itertools.product((0, 1), repeat=n))).sum().item()
        for n in range(longest)
    )
    unended = probability(model, *itertools.product((0, 1), repeat=longest)).sum().item()
    assert ended > 0.1
    assert ended + unended == pytest.approx(1, abs=1e-12)


def test_scores_do_not_depend_on_the_word_they_predict():
    """Changing word s leaves the scores at t <= s alone and changes a later one."""
    model = randomize(RecurrentLanguageModel(11, J, 2, UGRNN))
    w = torch.randint(11, (B, T), generator=torch.Generator().manual_seed(0))
    changed = w.clone()
    changed[:, 5] = (w[:, 5] + 1) % 11
    difference = (model(w) - model(changed)).abs().amax((0, 2))
    assert difference[:6].max() < 1e-12
    assert difference[6:].min() > 1e-6


def test_samples_follow_the_chain_rule():
    """Frequencies of 20000 samples of three words agree with the exact probabilities (chi-square, 26 dof)."""
    model, n = randomize(RecurrentLanguageModel(3, J, 1, UGRNN)), 20000
    w, lengths = model.sample(n, 3, generator=torch.Generator().manual_seed(0))
    rows = list(itertools.product(range(3), repeat=3))
    P = probability(model, *rows).detach()
    counts = torch.bincount(w @ torch.tensor([9, 3, 1]), minlength=27)
    assert ((counts - n * P) ** 2 / (n * P)).sum() < 54.1  # exceeded once in a thousand times
    assert lengths.tolist() == [3] * n


def test_rows_stop_at_their_own_eos():
    """After its <EOS> a row holds nothing else; lengths count it; rows that never end have full length."""
    model, eos = randomize(RecurrentLanguageModel(5, J, 1, GRU)), 4
    w, lengths = model.sample(64, 6, generator=torch.Generator().manual_seed(0), eos=eos)
    assert lengths.min() < lengths.max() == 6
    for row, length in zip(w.tolist(), lengths.tolist(), strict=True):
        assert eos not in row[: length - 1]
        assert set(row[length:]) <= {eos}
        assert length == 6 or row[length - 1] == eos


def test_equal_generators_give_equal_sentences_and_leave_the_global_one_alone():
    """Sampling is a function of its generator."""
    model = randomize(RecurrentLanguageModel(5, J, 1, GRU))
    state = torch.get_rng_state()
    first, second, other = (model.sample(8, 9, generator=torch.Generator().manual_seed(s))[0] for s in (3, 3, 4))
    assert torch.equal(first, second)
    assert not torch.equal(first, other)
    assert torch.equal(torch.get_rng_state(), state)


def test_low_temperature_takes_the_likeliest_word():
    """At temperature 1e-4 every sampled word is the argmax of the scores that the whole row gives."""
    model = randomize(RecurrentLanguageModel(5, J, 2, GRU))
    w, _ = model.sample(3, 9, generator=torch.Generator().manual_seed(0), temperature=1e-4)
    assert torch.equal(model(w).argmax(2), w)

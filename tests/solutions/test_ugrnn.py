"""The UGRNN and its two-gate relative: equations, limits of the gates, the fast path against the plain."""

import math
import time

import pytest
import torch
import torchrecurrent
from torch import nn

from solutions.ugrnn import UGRNN, TwoGateUGRNN, two_gate_cell, ugrnn_cell

B, T, K, J = 3, 11, 5, 7
BOTH = pytest.mark.parametrize("layer", [UGRNN, TwoGateUGRNN])
TWO_GATE_ORDER = (
    "W_hR", "B_hR", "W_xR", "B_xR", "W_hGR", "W_xGR", "B_GR", "W_hGh", "W_xGh", "B_Gh",
)  # fmt: skip


def draw(*shape, seed=1):
    """Normal numbers in float64."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def randomize(model, seed=0, scale=0.6):
    """Draw every parameter, biases too, from a normal distribution, in float64."""
    g = torch.Generator().manual_seed(seed)
    for p in model.double().parameters():
        p.data = scale * torch.randn(p.shape, generator=g, dtype=torch.float64)
    return model


def sigmoid(z):
    """The logistic function of one number."""
    return 1 / (1 + math.exp(-z))


# ---------------------------------------------------------------------------------------------- the equations


def test_ugrnn_cell_by_loops():
    """One step, unit by unit, as the slides write it."""
    m = randomize(UGRNN(K, J))
    h, x = draw(B, J), draw(B, K, seed=2)
    new = m.step(h, x)
    for b in range(B):
        for j in range(J):

            def argument(W_h, W_x, bias, b=b, j=j):
                return (
                    sum(W_h[j, i] * h[b, i] for i in range(J)) + sum(W_x[j, k] * x[b, k] for k in range(K)) - bias[j]
                ).item()

            R = math.tanh(argument(m.W_hR, m.W_xR, m.B_R))
            G = sigmoid(argument(m.W_hG, m.W_xG, m.B_G))
            assert new[b, j].item() == pytest.approx(G * h[b, j].item() + (1 - G) * R, rel=1e-12)


def test_two_gate_cell_by_loops():
    """One step, unit by unit, as the exam's solution writes it: each branch has its own, gated bias."""
    m = randomize(TwoGateUGRNN(K, J))
    h, x = draw(B, J), draw(B, K, seed=2)
    new = two_gate_cell(h, x, *(getattr(m, name) for name in TWO_GATE_ORDER))
    for b in range(B):
        for j in range(J):

            def from_h(W, b=b, j=j):
                return sum(W[j, i] * h[b, i] for i in range(J)).item()

            def from_x(W, b=b, j=j):
                return sum(W[j, k] * x[b, k] for k in range(K)).item()

            G_R = sigmoid(from_h(m.W_hGR) + from_x(m.W_xGR) - m.B_GR[j].item())
            G_h = sigmoid(from_h(m.W_hGh) + from_x(m.W_xGh) - m.B_Gh[j].item())
            a, c = from_h(m.W_hR) - m.B_hR[j].item(), from_x(m.W_xR) - m.B_xR[j].item()
            R = math.tanh(G_R * a + (1 - G_R) * c)
            assert new[b, j].item() == pytest.approx(G_h * h[b, j].item() + (1 - G_h) * R, rel=1e-12)


def test_torchrecurrents_ugrnn_with_converted_weights():
    """The same states and input gradients as an independent package, to 1e-10; its biases are added."""
    ours, theirs = randomize(UGRNN(K, J)), torchrecurrent.UGRNN(K, J, batch_first=True).double()
    cell = theirs.cells[0] if hasattr(theirs, "cells") else theirs
    parameters = dict(cell.named_parameters())
    parameters["weight_hh"].data = torch.cat([ours.W_hR, ours.W_hG]).detach()
    parameters["weight_ih"].data = torch.cat([ours.W_xR, ours.W_xG]).detach()
    parameters["bias_ih"].data = -torch.cat([ours.B_R, ours.B_G]).detach()
    parameters["bias_hh"].data.zero_()
    cotangent, results = draw(B, T, J, seed=3), []
    for layer in (ours, theirs):
        x = draw(B, T, K).requires_grad_()
        h = layer(x)[0]
        h.backward(cotangent)
        results.append((h, x.grad))
    for a, b in zip(*results, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-10, atol=1e-10)


# ---------------------------------------------------------------------------------------------- the fast path


@BOTH
def test_fast_path_is_the_equations(layer):
    """States and the gradients of input, start and every parameter agree with the loop over the equations."""
    m, cotangent = randomize(layer(K, J)), draw(B, T, J, seed=3)
    results = []
    for path in (m.forward, m.forward_by_steps):
        x, h0 = draw(B, T, K).requires_grad_(), draw(B, J, seed=2).requires_grad_()
        h, last = path(x, h0)
        loss = (h * cotangent).sum() + (last * cotangent[:, 0]).sum()  # the last state is read twice
        results.append((h, last, *torch.autograd.grad(loss, [x, h0, *m.parameters()])))
    for a, b in zip(*results, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-10, atol=1e-12)


@BOTH
@pytest.mark.parametrize(("B", "T"), [(1, 1), (1, 5), (5, 1)])
def test_fast_path_of_one_row_or_one_step(layer, B, T):
    """Axes of length one are no special case, forwards and backwards."""
    m, cotangent = randomize(layer(K, J)), draw(B, T, J, seed=3)
    results = []
    for path in (m.forward, m.forward_by_steps):
        x = draw(B, T, K).requires_grad_()
        h = path(x)[0]
        results.append((h, *torch.autograd.grad(h, [x, *m.parameters()], cotangent)))
    for a, b in zip(*results, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-10, atol=1e-12)


def test_written_out_derivative_passes_gradcheck():
    """Every gradient of the hand-written backward pass against finite differences."""
    m = randomize(UGRNN(2, 3))
    names = [name for name, _ in m.named_parameters()]

    def states(x, h0, *parameters):
        return torch.func.functional_call(m, dict(zip(names, parameters, strict=True)), (x, h0))[0]

    inputs = [draw(2, 5, 2), draw(2, 3, seed=2), *m.parameters()]
    assert torch.autograd.gradcheck(states, [i.detach().requires_grad_() for i in inputs])


def test_second_derivatives_are_those_of_the_equations():
    """Products with the Hessian, in each way that torch has, equal those of the loop, and are not 0."""
    m, x, v = randomize(UGRNN(K, J)), draw(B, T, K), draw(B, T, K, seed=2)

    def loss(path):
        return lambda x: path(x)[0].square().sum()

    wanted = torch.autograd.functional.hvp(loss(m.forward_by_steps), x, v)[1]
    assert wanted.abs().max() > 0.1
    f = loss(m)
    found = {
        "reverse over reverse": torch.autograd.functional.hvp(f, x, v)[1],
        "forward over reverse": torch.func.jvp(torch.func.grad(f), (x,), (v,))[1],
        "reverse over forward": torch.func.grad(lambda x: torch.func.jvp(f, (x,), (v,))[1])(x),
        "batched": torch.autograd.functional.hessian(f, x, vectorize=True).flatten(3).flatten(0, 2) @ v.flatten(),
    }
    for way, product in found.items():
        torch.testing.assert_close(product.view_as(wanted), wanted, rtol=1e-9, atol=1e-9, msg=way)


def test_gradcheck_in_every_mode():
    """First and second derivatives against finite differences: backwards, forwards, for several cotangents at once."""
    m, x = randomize(UGRNN(2, 3)), draw(2, 4, 2).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: m(x)[0], x, check_forward_ad=True, check_batched_grad=True)
    assert torch.autograd.gradgradcheck(lambda x: m(x)[0], x)


def test_a_start_that_was_computed_from_the_input_is_counted_once():
    """The second derivative takes partial ones: h[0] = W x[0] and x are two inputs, though one comes from the other."""
    m, W, x = randomize(UGRNN(K, J)), draw(J, K, seed=4), draw(B, T, K)
    one, other = (
        torch.autograd.functional.hessian(lambda x, path=path: path(x, x[:, 0] @ W.T)[0].square().sum(), x)
        for path in (m.forward, m.forward_by_steps)
    )
    torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-9)


def test_no_step_at_all():
    """An empty sequence gives no state, and the start as the last one; gradients are zero."""
    m, h0 = randomize(UGRNN(K, J)), draw(B, J, seed=2)
    h, last = m(torch.empty(B, 0, K, dtype=torch.float64), h0)
    assert h.shape == (B, 0, J) and torch.equal(last, h0)
    h.sum().backward()
    assert m.W_hR.grad.abs().max() == 0


def test_fast_path_can_be_walked_back_twice():
    """What the forward pass saved survives the backward pass: the second gradient equals the first."""
    m, x, cotangent = randomize(UGRNN(K, J)), draw(B, T, K).requires_grad_(), draw(B, T, J, seed=3)
    kept = x.detach().clone()
    h = m(x)[0]
    first, second = (torch.autograd.grad(h, [x, *m.parameters()], cotangent, retain_graph=True) for _ in range(2))
    for a, b in zip(first, second, strict=True):
        assert torch.equal(a, b)
    assert torch.equal(x, kept)


@BOTH
def test_other_devices_and_precisions(layer, device, dtype):
    """States and gradients stay near those of float64 on the CPU, on their device, in their precision."""
    m, cotangent = randomize(layer(K, J)), draw(B, T, J, seed=3)
    x = draw(B, T, K)
    right = m(x)[0]
    right_gradients = torch.autograd.grad(right, list(m.parameters()), cotangent)
    m.to(device=device, dtype=dtype)
    h = m(x.to(device, dtype))[0]
    gradients = torch.autograd.grad(h, list(m.parameters()), cotangent.to(device, dtype))
    assert h.device.type == device.type
    assert h.dtype == dtype
    tolerance = {torch.float64: 1e-10, torch.float32: 1e-5, torch.bfloat16: 5e-2}[dtype]
    for got, wanted in zip((h, *gradients), (right, *right_gradients), strict=True):
        error = (got.cpu().double() - wanted).abs().max() / wanted.abs().max()
        assert error < tolerance


def rounds(candidates, seconds):
    """The shortest CPU time of each candidate, taken in turn so that a busy machine slows all alike."""
    best, end = dict.fromkeys(candidates, math.inf), time.monotonic() + seconds
    while time.monotonic() < end:
        for name, run in candidates.items():
            begin = time.process_time()
            run()
            best[name] = min(best[name], time.process_time() - begin)
    return best


def test_training_is_faster_than_torchs_gru_and_torchrecurrents_ugrnn():
    """Forward and backward pass at B8 T128 J128 on one thread; measured alone, more than twice as fast."""
    B, T, J = 8, 128, 128
    x, cotangent = torch.randn(B, T, J), torch.randn(B, T, J)

    def training(layer):
        return lambda: torch.autograd.grad(layer(x)[0], list(layer.parameters()), cotangent)

    layers = {
        "ours": UGRNN(J, J),
        "gru": nn.GRU(J, J, batch_first=True),
        "torchrecurrent": torchrecurrent.UGRNN(J, J, batch_first=True),
    }
    best = rounds({name: training(layer) for name, layer in layers.items()}, seconds=2)
    assert best["gru"] > 1.5 * best["ours"]
    assert best["torchrecurrent"] > 1.2 * best["ours"]


# ------------------------------------------------------------------------------------------------- properties


def test_update_gate_at_its_extremes():
    """B_G -> -∞ keeps the state exactly; B_G -> +∞ gives R, which one step of a vanilla RNN is."""
    m, x, h0 = randomize(UGRNN(K, J)), draw(B, T, K), draw(B, J, seed=2)
    m.B_G.data[:] = -1e4
    torch.testing.assert_close(m(x, h0)[0], h0[:, None].expand(B, T, J), rtol=0, atol=0)
    m.B_G.data[:] = 1e4
    R = torch.tanh(h0 @ m.W_hR.T + x[:, 0] @ m.W_xR.T - m.B_R)
    torch.testing.assert_close(m(x, h0)[0][:, 0], R, rtol=1e-12, atol=1e-12)


def test_second_gate_at_its_extremes():
    """With G_h = 0: G_R = 1 makes h[t] blind to x[t], and G_R = 0 makes it blind to h[t-1], exactly."""
    m, x, h0 = (
        randomize(TwoGateUGRNN(K, J)),
        draw(B, 1, K).requires_grad_(),
        draw(B, J, seed=2).requires_grad_(),
    )
    m.B_Gh.data[:] = 1e4
    for bias, blind, sees in ((-1e4, x, h0), (1e4, h0, x)):
        m.B_GR.data[:] = bias
        gradients = torch.autograd.grad(m(x, h0)[0], [blind, sees], draw(B, 1, J, seed=3))
        assert gradients[0].abs().max() == 0
        assert gradients[1].abs().min() > 0


@BOTH
def test_new_state_is_bounded_by_the_old_one_and_one(layer):
    """Componentwise |h[t]| <= max(|h[t-1]|, 1), also for states far outside [-1, 1]."""
    m, x, h = randomize(layer(K, J), scale=5), draw(B, T, K), 10 * draw(B, J, seed=2)
    states = torch.cat([h[:, None], m(x, h)[0]], 1).abs()
    assert (states[:, 1:] <= states[:, :-1].clamp(min=1) * (1 + 1e-12)).all()


def test_swapping_the_branches_of_the_second_gate():
    """Negating G_R's parameters exchanges its branches: the other orientation is the same family."""
    m = randomize(TwoGateUGRNN(K, J))
    h, x = draw(B, J), draw(B, K, seed=2)
    p = {name: getattr(m, name).detach() for name in TWO_GATE_ORDER}
    a, c = h @ p["W_hR"].T - p["B_hR"], x @ p["W_xR"].T - p["B_xR"]
    negated = torch.sigmoid(-(h @ p["W_hGR"].T + x @ p["W_xGR"].T - p["B_GR"]))
    G_h = torch.sigmoid(h @ p["W_hGh"].T + x @ p["W_xGh"].T - p["B_Gh"])
    other = G_h * h + (1 - G_h) * torch.tanh((1 - negated) * a + negated * c)
    torch.testing.assert_close(two_gate_cell(h, x, *p.values()), other, rtol=1e-12, atol=1e-12)


def test_two_gate_contains_the_ugrnn():
    """With G_R = 1/2 everywhere, doubled branch weights give the one-gate network to 1e-12."""
    one, two = randomize(UGRNN(K, J)), TwoGateUGRNN(K, J).double()
    zero = {name: torch.zeros_like(p) for name, p in two.state_dict().items()}
    two.load_state_dict(
        zero
        | {"W_hR": 2 * one.W_hR, "W_xR": 2 * one.W_xR, "B_hR": 0.5 * one.B_R, "B_xR": 1.5 * one.B_R}
        | {"W_hGh": one.W_hG, "W_xGh": one.W_xG, "B_Gh": one.B_G}
    )
    x = draw(B, T, K)
    torch.testing.assert_close(two(x)[0], one(x)[0], rtol=1e-12, atol=1e-12)


def test_jacobian_of_one_step():
    """∂h'/∂h = diag(G) + diag(h - R) ∂G + diag((1-G)(1-R²)) W_hR, with ∂G = diag(G(1-G)) W_hG."""
    m, h, x = randomize(UGRNN(K, J)), draw(1, J), draw(1, K, seed=2)
    R = torch.tanh(h @ m.W_hR.T + x @ m.W_xR.T - m.B_R)[0]
    G = torch.sigmoid(h @ m.W_hG.T + x @ m.W_xG.T - m.B_G)[0]
    dG = (G * (1 - G))[:, None] * m.W_hG
    formula = torch.diag(G) + (h[0] - R)[:, None] * dG + ((1 - G) * (1 - R**2))[:, None] * m.W_hR
    jacobian = torch.autograd.functional.jacobian(lambda h: m.step(h, x)[0], h)[:, 0]
    torch.testing.assert_close(jacobian, formula.detach(), rtol=1e-10, atol=1e-12)


def test_a_keeping_gate_carries_the_gradient():
    """Over 100 steps |∂h[100]/∂h[0]| vanishes with G = 1/2 at the start and survives with B_G = -6."""
    sizes = []
    for gate_bias in (0.0, -6.0):
        torch.manual_seed(0)
        m = UGRNN(K, J, gate_bias=gate_bias).double()
        h0 = torch.zeros(1, J, dtype=torch.float64, requires_grad=True)
        (gradient,) = torch.autograd.grad(m(draw(1, 100, K), h0)[1], h0, draw(1, J, seed=2))
        sizes.append(gradient.norm().item())
    assert sizes[0] < 1e-6
    assert sizes[1] > 0.1


def test_zero_start_is_the_default():
    """No start given is a start of zeros."""
    m, x = randomize(UGRNN(K, J)), draw(B, T, K)
    assert torch.equal(m(x)[0], m(x, torch.zeros(B, J, dtype=torch.float64))[0])
    torch.testing.assert_close(
        m(x)[0][:, 0],
        ugrnn_cell(torch.zeros(B, J, dtype=torch.float64), x[:, 0], m.W_hR, m.W_xR, m.B_R, m.W_hG, m.W_xG, m.B_G),
    )

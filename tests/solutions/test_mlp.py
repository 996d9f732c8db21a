"""The deep perceptrons: the exam's equations, and what heads and residual connections do to gradients."""

import pytest
import torch

from solutions.mlp import DeepMLP, squared_loss

K, I, L, B = 5, 7, 4, 3


def draw(*shape, seed=1):
    """Normal numbers in float64."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def build(L=L, scale=0.6, **kinds):
    """A perceptron with random parameters, biases too."""
    model, g = DeepMLP(K, I, L, **kinds).double(), torch.Generator().manual_seed(0)
    for p in model.parameters():
        p.data = scale * torch.randn(p.shape, generator=g, dtype=torch.float64)
    return model


@pytest.mark.parametrize("heads", [False, True])
@pytest.mark.parametrize("residual", [False, True])
def test_equations(heads, residual):
    """Hidden layers, heads and their sum of squares as the exam prints them."""
    m, x, y = build(heads=heads, residual=residual, activation=torch.tanh), draw(B, K), draw(B, seed=2)
    h, predictions = x @ m.inner.W.T - m.inner.B, []
    for l in range(L):
        new = torch.tanh(h @ m.layers[l].W.T - m.layers[l].B)
        h = h + new if residual else new
        head = m.heads[l] if heads else m.heads[0]
        predictions.append(h @ head.W[0] - head.B)
    predictions = predictions if heads else predictions[-1:]
    torch.testing.assert_close(m(x), torch.stack(predictions), rtol=1e-12, atol=1e-12)
    loss = sum(((y - p) ** 2).mean() for p in predictions)
    torch.testing.assert_close(squared_loss(m(x), y), loss, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("activation", "drift"), [(torch.tanh, 0.0), (torch.relu, 0.0), (torch.sigmoid, 0.5)])
def test_zero_layers_pass_the_stream_on(activation, drift):
    """With W = B = 0 in all layers h_L = h_0, but for the logistic σ, which adds 1/2 a layer."""
    m, x = build(residual=True, activation=activation), draw(B, K)
    for p in m.layers.parameters():
        p.data.zero_()
    stream = x @ m.inner.W.T - m.inner.B + L * drift
    head = m.heads[0]
    torch.testing.assert_close(m(x)[0], stream @ head.W[0] - head.B, rtol=1e-12, atol=1e-12)


def test_jacobian_of_the_residual_stream():
    """∂ŷ/∂x is the head times Π_l (1 + diag σ'_l W_l) times W_in."""
    m, x = build(residual=True, activation=torch.tanh), draw(1, K)
    h, jacobian = x @ m.inner.W.T - m.inner.B, m.inner.W
    for layer in m.layers:
        new = torch.tanh(h @ layer.W.T - layer.B)
        jacobian = (torch.eye(I) + (1 - new[0] ** 2)[:, None] * layer.W) @ jacobian
        h = h + new
    computed = torch.autograd.functional.jacobian(lambda x: m(x)[0, 0], x)[0]
    torch.testing.assert_close(computed, m.heads[0].W[0] @ jacobian, rtol=1e-10, atol=1e-12)


def test_gradients_vanish_below_without_heads_or_residuals():
    """Sixty logistic layers: the first gradient is below 1e-25 with one loss at the top, above 1e-3 else."""
    sizes = {}
    for name, kinds in (("final", {}), ("heads", {"heads": True}), ("residual", {"residual": True})):
        torch.manual_seed(0)
        m = DeepMLP(K, 32, 60, **kinds).double()
        squared_loss(m(draw(B, K)), draw(B, seed=2)).backward()
        sizes[name] = m.layers[0].W.grad.norm().item()
    assert sizes["final"] < 1e-25
    assert sizes["heads"] > 1e-3
    assert sizes["residual"] > 1e-3


def nodes(output):
    """The number of operations that backpropagation visits."""
    seen, stack = set(), [output.grad_fn]
    while stack:
        node = stack.pop()
        if node is not None and node not in seen:
            seen.add(node)
            stack += [following for following, _ in node.next_functions]
    return len(seen)


def test_backpropagation_is_linear_in_the_number_of_layers():
    """With heads, the graph grows by the same number of operations with every layer: O(L), not O(L²)."""
    sizes = [nodes(squared_loss(build(L, heads=True)(draw(B, K)), draw(B))) for L in (10, 20, 40, 80)]
    per_layer = [(b - a) / n for a, b, n in zip(sizes, sizes[1:], (10, 20, 40), strict=False)]
    assert per_layer[0] == per_layer[1] == per_layer[2]

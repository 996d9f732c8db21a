"""Correct answers written differently; each must earn full marks."""

import torch


def _sigma(p):
    """The activation of the variant."""
    return {"tanh": torch.tanh, "logistic": torch.sigmoid, "relu": torch.relu}[p["activation"]]


def by_stacking(x, y, W, B, w, b, *, p):
    states = [x]
    for matrix, offset in zip(W, B):  # noqa: B905
        states.append(_sigma(p)(torch.einsum("ij,nj->ni", matrix, states[-1]) - offset))
    y_hat = torch.einsum("lni,li->ln", torch.stack(states[1:]), w) - b[:, None]
    return ((y_hat - y) ** 2).sum(dim=0) * (0.5 if p["half"] else 1.0), y_hat


def by_recursion(x, y, W, B, w, b, *, p):
    def from_layer(h, layer):
        if layer == len(W):
            return 0 * y, []
        h = _sigma(p)(h @ W[layer].T - B[layer])
        y_hat = h @ w[layer] - b[layer]
        loss, rest = from_layer(h, layer + 1)
        return loss + (y - y_hat) ** 2, [y_hat, *rest]

    loss, y_hat = from_layer(x, 0)
    return (0.5 * loss if p["half"] else loss), torch.stack(y_hat)


def by_inner_products(x, y, W, B, w, b, *, p):
    h = x.T
    total, y_hat = torch.zeros_like(y), []
    for layer in range(W.shape[0]):
        h = _sigma(p)(W[layer] @ h - B[layer].unsqueeze(1))
        y_hat.append((w[layer].unsqueeze(1) * h).sum(0) - b[layer])
        total = total + torch.pow(y_hat[-1] - y, 2) / (2 if p["half"] else 1)
    return [total, torch.stack(y_hat, dim=0)]


def by_sum_of_branches(x, y, W, B, w, b, *, p):
    branches = []
    for layer in range(len(W)):
        h = x + sum(branches)
        branches.append(_sigma(p)(h @ W[layer].T - B[layer]))
    y_hat = (x + torch.stack(branches).sum(0)) @ w - b
    return (y_hat - y) ** 2 / (2 if p["half"] else 1), y_hat


def pre_activation(x, y, W, B, w, b, *, p):
    h = x
    for layer in range(len(W)):
        h = h + _sigma(p)(h) @ W[layer].T - B[layer]
    y_hat = (h * w).sum(-1) - b
    return (y_hat - y) ** 2 / (2 if p["half"] else 1), y_hat


def offset_inside(x, y, W, B, w, b, *, p):
    h = x
    for layer in range(len(W)):
        h = h + torch.einsum("ij,nj->ni", W[layer], _sigma(p)(h - B[layer]))
    y_hat = torch.mv(h, w) - b
    return (y_hat - y).square() * (0.5 if p["half"] else 1), y_hat


def offset_first(x, y, W, B, w, b, *, p):
    for matrix, offset in zip(W, B):  # noqa: B905
        x = x + _sigma(p)((x - offset) @ matrix.T)
    return (y - (x @ w - b)) ** 2 * (0.5 if p["half"] else 1), x @ w - b


def offset_last(x, y, W, B, w, b, *, p):
    for matrix, offset in zip(W, B):  # noqa: B905
        x = x - offset + _sigma(p)(x @ matrix.T)
    return (y - (x @ w - b)) ** 2 * (0.5 if p["half"] else 1), x @ w - b


def offset_between(x, y, W, B, w, b, *, p):
    for matrix, offset in zip(W, B):  # noqa: B905
        x = x + (_sigma(p)(x) - offset) @ matrix.T
    return (y - (x @ w - b)) ** 2 * (0.5 if p["half"] else 1), x @ w - b


def by_autograd_of_a_clone(x, y, W, B, w, b, *, p):
    result = {}
    for kind in ["final", "heads", "residual"]:
        matrices = W.detach().clone().requires_grad_(True)
        h, loss = x, 0
        for layer in range(len(W)):
            new = _sigma(p)(h @ matrices[layer].T - B[layer])
            h = h + new if kind == "residual" else new
            if kind == "heads" or layer == len(W) - 1:
                loss = loss + ((y - h @ w[layer] + b[layer]) ** 2).mean() / (2 if p["half"] else 1)
        loss.backward()
        result[kind] = torch.linalg.norm(matrices.grad[0])
    return result


def by_backpropagation(x, y, W, B, w, b, *, p):
    activation = _sigma(p)
    slopes = {
        "tanh": lambda z: 1 - torch.tanh(z) ** 2,
        "logistic": lambda z: torch.sigmoid(z) * torch.sigmoid(-z),
        "relu": lambda z: (z > 0) * 1.0,
    }
    slope = slopes[p["activation"]]
    factor = (1 if p["half"] else 2) / len(x)

    def norm(with_heads, skip):
        h, pre, states = x, [], [x]
        for layer in range(len(W)):
            pre.append(h @ W[layer].T - B[layer])
            h = activation(pre[-1]) + (h if skip else 0)
            states.append(h)
        g = torch.zeros_like(x)
        for layer in range(len(W) - 1, -1, -1):
            if with_heads or layer == len(W) - 1:
                g = g + torch.outer(factor * (states[layer + 1] @ w[layer] - b[layer] - y), w[layer])
            through = g * slope(pre[layer])
            last = through
            g = through @ W[layer] + (g if skip else 0)
        return torch.einsum("ni,nj->ij", last, x).square().sum().sqrt().item()

    return {"final": norm(False, False), "heads": norm(True, False), "residual": norm(False, True)}


def through_jacobians(x, y, W, B, w, b, *, p):
    """With the pre-activation block in the residual network."""
    activation = _sigma(p)

    def losses(first, kind):
        h, total = x, 0
        for layer, matrix in enumerate([first, *W[1:]]):
            after = kind != "residual"
            h = activation(h @ matrix.T - B[layer]) if after else h + activation(h) @ matrix.T - B[layer]
            if kind == "heads" or layer + 1 == len(W):
                total = total + (y - (h @ w[layer] - b[layer])).square()
        return total.mean() * (0.5 if p["half"] else 1)

    kinds = ("residual", "heads", "final")
    jacobian = torch.autograd.functional.jacobian
    return {kind: float(jacobian(lambda first, k=kind: losses(first, k), W[0]).norm()) for kind in kinds}


# The backward pass, typed.


def adjoint_by_sum(p):
    two = "" if p["half"] else "2"
    return (
        rf"e = \hat{{y}}_l - y ;; a[j] = s_{{l+1}}[j] g_{{l+1}}[j] ;; "
        rf"g_l[i] = sum_j a[j] W_{{l+1}}[j,i] + {two} e w_l[i]"
    )


def adjoint_in_latex(p):
    two = "" if p["half"] else "2"
    return (
        rf"g_\ell[i] = \sum_{{j}} g_{{\ell+1}}[j] s_{{\ell+1}}[j] W_{{\ell+1}}[j,i] "
        rf"+ {two} \left(\hat{{y}}_\ell - y\right) w_\ell[i]"
    )


EQUIVALENTS = {
    "loss_heads": [by_stacking, by_recursion, by_inner_products],
    "adjoint": [adjoint_by_sum, adjoint_in_latex],
    "time": ["L", "O(2L + 3)", r"\Theta(L)", "O(L + L)"],
    "residual": [
        "R_{l+1}[i] = sigma(W_{l+1}[i,I] h_l[I] - B_{l+1}[i]) ;; h_{l+1}[i] = R_{l+1}[i] + h_l[i]",
        r"\tilde{h}_{\ell+1}[i] = \sigma\left(W_{\ell+1}[i,I] h_\ell[I] - B_{\ell+1}[i]\right)"
        "\n"
        r"h_{\ell+1}[i] = \tilde{h}_{\ell+1}[i] + h_\ell[i]",
        "h_{l+1}[I] = h_l[I] + sigma(W_{l+1}[I,I_2] h_l[I_2] - B_{l+1}[I])",
        "h_{l+1}[i] = h_l[i] + sigma(sum_j W_{l+1}[i,j] h_l[j] - B_{l+1}[i])",
    ],
    "residual_mlp": [by_sum_of_branches, pre_activation, offset_inside, offset_first, offset_last, offset_between],
    "first_gradients": [by_autograd_of_a_clone, by_backpropagation, through_jacobians],
}

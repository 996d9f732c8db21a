"""The networks that the hidden tests compare with: one head or many, and every residual block that is accepted."""

import torch

SIGMA = {"tanh": torch.tanh, "logistic": torch.sigmoid, "relu": torch.relu}


def scaled(loss, p):
    """The loss with the factor of the variant."""
    return loss / 2 if p["half"] else loss


def blocks(p):
    """The accepted residual blocks: the matrix, the offset and the activation once each, in any order."""
    sigma = SIGMA[p["activation"]]
    return [
        lambda h, W, B: h + sigma(h @ W.T - B),
        lambda h, W, B: h + sigma(h @ W.T) - B,
        lambda h, W, B: h + sigma((h - B) @ W.T),
        lambda h, W, B: h + sigma(h) @ W.T - B,
        lambda h, W, B: h + (sigma(h) - B) @ W.T,
        lambda h, W, B: h + sigma(h - B) @ W.T,
    ]


def family(x, y, W, B, w, b, *, p):
    """Loss and prediction of the network of each accepted block."""
    results = []
    for block in blocks(p):
        h = x
        for matrix, offset in zip(W, B, strict=True):
            h = block(h, matrix, offset)
        y_hat = h @ w - b
        results.append((scaled((y - y_hat).square(), p), y_hat))
    return results


def plain(x, y, W, B, w, b, *, p, heads):
    """The norm of the gradient at W[0], with all heads or the last, by a backward pass written out by hand."""
    sigma = SIGMA[p["activation"]]
    slope = {"tanh": lambda h: 1 - h * h, "logistic": lambda h: h * (1 - h), "relu": lambda h: (h > 0).to(h.dtype)}
    states = [x]
    for matrix, offset in zip(W, B, strict=True):
        states.append(sigma(states[-1] @ matrix.T - offset))
    g = torch.zeros_like(x)
    for layer in reversed(range(len(W))):
        h = states[layer + 1]
        if heads or layer == len(W) - 1:
            error = h @ w[layer] - b[layer] - y
            g = g + (error if p["half"] else 2 * error)[:, None] * w[layer] / len(y)
        z = g * slope[p["activation"]](h)
        g = z @ W[layer]
    return (z.T @ x).norm()

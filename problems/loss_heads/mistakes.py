"""Wrong answers that students give; the docstring is the hint that whoever gives the same answer reads."""

import torch

from .growth import LAYER, TWICE, UNCHANGED


def _sigma(p):
    """The activation of the variant."""
    return {"tanh": torch.tanh, "logistic": torch.sigmoid, "relu": torch.relu}[p["activation"]]


def _scaled(loss, p):
    """The loss with the factor of the variant."""
    return loss / 2 if p["half"] else loss


def _heads(x, W, B, w, b, p):
    """The predictions of all heads."""
    h, y_hat = x, []
    for layer in range(len(W)):
        h = _sigma(p)(h @ W[layer].T - B[layer])
        y_hat.append(h @ w[layer] - b[layer])
    return torch.stack(y_hat)


# Why heads help.


def larger_gradients(p):
    """A larger learning rate would do the same; what matters is not the sum's size but where its terms enter."""
    return "The sum of $L$ losses is larger than one loss, so all gradients are multiplied by about $L$."


def ensemble(p):
    """The predictor asked for is the last one alone; nothing is averaged when it is used."""
    return "The $L$ heads are an ensemble: their predictions are averaged when the network is used."


def linear_network(p):
    """The layers below the last head are what they were, activation included."""
    return "The heads are linear, so the non-linearity between the layers no longer stands in the way of the gradient."


def own_rates(p):
    """There is one scalar loss, and SGD minimises that."""
    return (
        "Each head minimises its own loss, so that each layer is trained by itself, with a step size of its own, and "
        "waits for no other."
    )


def identity_path(p):
    """That is what another kind of connection does: no head carries a state from one layer to the next."""
    return "Each head carries the state past the next layer, so that the Jacobian of every layer contains the identity."


# The network with heads.


def last_head_only(x, y, W, B, w, b, *, p):
    """Your loss is that of the last head; every head has one."""
    y_hat = _heads(x, W, B, w, b, p)
    return _scaled((y - y_hat[-1]).square(), p), y_hat


def mean_over_heads(x, y, W, B, w, b, *, p):
    """You took the mean over the heads; the loss is their sum."""
    y_hat = _heads(x, W, B, w, b, p)
    return _scaled((y - y_hat).square().mean(0), p), y_hat


def boosting(x, y, W, B, w, b, *, p):
    """You added the predictions before you compared: each head predicts y by itself."""
    y_hat = _heads(x, W, B, w, b, p)
    return _scaled((y - y_hat.sum(0)).square(), p), y_hat


def one_shared_head(x, y, W, B, w, b, *, p):
    """All your heads have the same weights; there are as many rows of w as layers."""
    y_hat = _heads(x, W, B, w[-1:].expand_as(w), b[-1:].expand_as(b), p)
    return _scaled((y - y_hat).square().sum(0), p), y_hat


def plus_offsets(x, y, W, B, w, b, *, p):
    """You added the offsets B and b; in this course they are subtracted."""
    y_hat = _heads(x, W, -B, w, -b, p)
    return _scaled((y - y_hat).square().sum(0), p), y_hat


def plus_head_offset(x, y, W, B, w, b, *, p):
    """The layers are right; look at the sign of the heads' offset."""
    y_hat = _heads(x, W, B, w, -b, p)
    return _scaled((y - y_hat).square().sum(0), p), y_hat


def factor_of_the_loss(x, y, W, B, w, b, *, p):
    """Your loss is a constant times the one asked for: read its definition once more."""
    y_hat = _heads(x, W, B, w, b, p)
    return _scaled((y - y_hat).square().sum(0), {"half": not p["half"]}), y_hat


def transposed_matrices(x, y, W, B, w, b, *, p):
    """Your matrices are transposed: which of the two axes of W meets the state of the layer below?"""
    y_hat = _heads(x, W.mT, B, w, b, p)
    return _scaled((y - y_hat).square().sum(0), p), y_hat


def heads_see_the_input(x, y, W, B, w, b, *, p):
    """Every layer of yours reads x; it should read the layer below."""
    y_hat = torch.stack(
        [_heads(x, W[i : i + 1], B[i : i + 1], w[i : i + 1], b[i : i + 1], p)[0] for i in range(len(W))]
    )
    return _scaled((y - y_hat).square().sum(0), p), y_hat


def heads_before_layers(x, y, W, B, w, b, *, p):
    """Your heads are one layer too low: the first head reads the first hidden layer, not the input."""
    h, y_hat = x, []
    for layer in range(len(W)):
        y_hat.append(h @ w[layer] - b[layer])
        h = _sigma(p)(h @ W[layer].T - B[layer])
    y_hat = torch.stack(y_hat)
    return _scaled((y - y_hat).square().sum(0), p), y_hat


def other_activation(x, y, W, B, w, b, *, p):
    """Read once more which activation this network has."""
    other = {"tanh": "logistic", "logistic": "tanh", "relu": "tanh"}[p["activation"]]
    y_hat = _heads(x, W, B, w, b, {"activation": other})
    return _scaled((y - y_hat).square().sum(0), p), y_hat


def summed_over_examples(x, y, W, B, w, b, *, p):
    """You summed over the examples as well; the loss is asked for each of them."""
    y_hat = _heads(x, W, B, w, b, p)
    return _scaled((y - y_hat).square().sum(), p), y_hat


def residual_added(x, y, W, B, w, b, *, p):
    """Your layers carry their input on; that comes later, here there is no such connection."""
    h, y_hat = x, []
    for layer in range(len(W)):
        h = h + _sigma(p)(h @ W[layer].T - B[layer])
        y_hat.append(h @ w[layer] - b[layer])
    y_hat = torch.stack(y_hat)
    return _scaled((y - y_hat).square().sum(0), p), y_hat


# The gradient at a hidden layer.


def _two(p):
    return "" if p["half"] else "2 "


def adjoint_transposed(p):
    """Going down, the matrix is met from its other side: which of its axes belongs to layer l?"""
    return rf"g_l[i] = -{_two(p)}(y - \hat{{y}}_l) w_l[i] + W_{{l+1}}[i,I] s_{{l+1}}[I] g_{{l+1}}[I]"


def adjoint_sign(p):
    """Check the sign of the head's term: what is the derivative of y - y_hat by y_hat?"""
    return rf"g_l[i] = {_two(p)}(y - \hat{{y}}_l) w_l[i] + W_{{l+1}}[I,i] s_{{l+1}}[I] g_{{l+1}}[I]"


def adjoint_other_factor(p):
    """Check the factor of the head's term against the definition of the loss."""
    factor = "2 " if p["half"] else ""
    return rf"g_l[i] = -{factor}(y - \hat{{y}}_l) w_l[i] + W_{{l+1}}[I,i] s_{{l+1}}[I] g_{{l+1}}[I]"


def adjoint_without_head(p):
    """This is what comes down from above; the layer's own head is missing."""
    return "g_l[i] = W_{l+1}[I,i] s_{l+1}[I] g_{l+1}[I]"


def adjoint_head_only(p):
    """This is the term of the layer's own head; what comes down from the layers above is missing."""
    return rf"g_l[i] = -{_two(p)}(y - \hat{{y}}_l) w_l[i]"


def adjoint_without_slope(p):
    """On the way down you went past the activation without its slope."""
    return rf"g_l[i] = -{_two(p)}(y - \hat{{y}}_l) w_l[i] + W_{{l+1}}[I,i] g_{{l+1}}[I]"


def adjoint_slope_of_this_layer(p):
    """The slope belongs to the activation of layer l+1: it meets the gradient before the matrix does."""
    return rf"g_l[i] = -{_two(p)}(y - \hat{{y}}_l) w_l[i] + s_{{l+1}}[i] W_{{l+1}}[I,i] g_{{l+1}}[I]"


def adjoint_of_prediction(p):
    """The head's term is the derivative of the loss by the prediction; go on to the hidden layer."""
    return rf"g_l[i] = -{_two(p)}(y - \hat{{y}}_l) + W_{{l+1}}[I,i] s_{{l+1}}[I] g_{{l+1}}[I]"


# Running times.


def sweep_per_head(p):
    """You counted a backward pass for each head: what becomes of two gradients that meet at the same layer?"""
    return "O(L^2)"


def in_parallel(p):
    """A layer's gradient waits for the one of the layer above it."""
    return "O(1)"


def with_logarithm(p):
    """Where would a logarithm come from? Count the assignments of the program."""
    return "O(L ln L)"


def one_pass_each(p):
    """That would be a pass for each head; is one needed?"""
    return "Every head needs a backward pass of its own, from its layer down to the input."


def heads_are_free(p):
    """The heads cost time too, and so would layers without heads."""
    return "There are $L$ losses, and a loss takes the same time wherever it stands; the layers between cost nothing."


def all_paths(p):
    """The sum over paths is never written out: that is the point of backpropagation."""
    return (
        "Backpropagation follows every path from a head to the input, and each layer has one path to each other layer."
    )


def layers_at_once(p):
    """They are not independent: each gradient is computed from the one above it."""
    return (
        "All layers are independent once the forward pass is done, since each has a loss of its own: their gradients "
        "are computed at the same time, layer by layer, whatever stands above."
    )


def as_if_unchanged(p):
    """Count once more what the change does to the number of steps: what is there once, and what once for each layer?"""
    return f"O({UNCHANGED[p['change']]})"


def once_too_often(p):
    """You counted something more often than it happens."""
    return f"O({TWICE[p['change']]})"


def per_layer(p):
    """Look again at what one layer costs, and at how many there are."""
    return f"O({LAYER[p['change']]})"


def nothing_grows(p):
    """This does not grow at all."""
    return "O(1)"


# Residual connections.


def no_connection(p):
    """This is the layer as it was, without its head: with all weights zero, what becomes of the state below?"""
    return "h_{l+1}[i] = sigma(W_{l+1}[i,I] h_l[I] - B_{l+1}[i])"


def inside_activation(p):
    """What comes from below goes through the activation: then its derivative is no identity plus something."""
    return "h_{l+1}[i] = sigma(W_{l+1}[i,I] h_l[I] - B_{l+1}[i] + h_l[i])"


def minus_state(p):
    """What comes from below changes its sign at every layer."""
    return "h_{l+1}[i] = sigma(W_{l+1}[i,I] h_l[I] - B_{l+1}[i]) - h_l[i]"


def plus_offset(p):
    """The connection is there; offsets are subtracted in this course."""
    return "h_{l+1}[i] = sigma(W_{l+1}[i,I] h_l[I] + B_{l+1}[i]) + h_l[i]"


def product_with_state(p):
    """You multiplied by what comes from below."""
    return "h_{l+1}[i] = sigma(W_{l+1}[i,I] h_l[I] - B_{l+1}[i]) h_l[i]"


def transposed_block(p):
    """The connection is there; which axis of W meets the state?"""
    return "h_{l+1}[i] = sigma(W_{l+1}[I,i] h_l[I] - B_{l+1}[i]) + h_l[i]"


def linear_block(p):
    """The activation is gone: the whole network would be linear."""
    return "h_{l+1}[i] = W_{l+1}[i,I] h_l[I] - B_{l+1}[i] + h_l[i]"


def _residual(x, y, W, B, w, b, p, *, block=None, read=None):
    """The residual network with one thing changed: a block, or what the head reads."""
    activation = _sigma(p)
    block = block or (lambda h, matrix, offset: h + activation(h @ matrix.T - offset))
    states = [x]
    for matrix, offset in zip(W, B, strict=True):
        states.append(block(states[-1], matrix, offset))
    y_hat = (read(states) if read else states[-1]) @ w - b
    return _scaled((y - y_hat).square(), p), y_hat


def plain_network(x, y, W, B, w, b, *, p):
    """This is the network as it was, with all heads but the last removed: nothing passes a layer unchanged."""
    activation = _sigma(p)
    return _residual(x, y, W, B, w, b, p, block=lambda h, matrix, offset: activation(h @ matrix.T - offset))


def from_the_input(x, y, W, B, w, b, *, p):
    """Your connections all start at x: from one layer to the next there is none."""
    activation = _sigma(p)
    return _residual(x, y, W, B, w, b, p, block=lambda h, matrix, offset: activation(h @ matrix.T - offset) + x)


def added_inside(x, y, W, B, w, b, *, p):
    """What comes from below goes through the activation with the rest: it does not arrive unchanged."""
    activation = _sigma(p)
    return _residual(x, y, W, B, w, b, p, block=lambda h, matrix, offset: activation(h @ matrix.T - offset + h))


def heads_kept(x, y, W, B, w, b, *, p):
    """There is a loss at every layer of yours; here it is one, at the end."""
    loss = 0
    for layer in range(len(W)):
        one, y_hat = _residual(x, y, W[: layer + 1], B[: layer + 1], w, b, p)
        loss = loss + one
    return loss, y_hat


def sum_of_layers(x, y, W, B, w, b, *, p):
    """Your head reads the sum of all layers; the last state has all of them in it already."""
    return _residual(x, y, W, B, w, b, p, read=lambda states: sum(states[1:]))


def one_layer_short(x, y, W, B, w, b, *, p):
    """The last layer has no effect on your prediction."""
    return _residual(x, y, W, B, w, b, p, read=lambda states: states[-2])


def subtracted(x, y, W, B, w, b, *, p):
    """What comes from below changes its sign at every layer."""
    activation = _sigma(p)
    return _residual(x, y, W, B, w, b, p, block=lambda h, matrix, offset: activation(h @ matrix.T - offset) - h)


def offsets_added(x, y, W, B, w, b, *, p):
    """You added the offsets B and b; in this course they are subtracted."""
    return _residual(x, y, W, -B, w, -b, p)


def last_block_plain(x, y, W, B, w, b, *, p):
    """The last layer of yours has no connection past it."""
    activation = _sigma(p)
    return _residual(x, y, W, B, w, b, p, read=lambda states: activation(states[-2] @ W[-1].T - B[-1]))


def branches_read_the_input(x, y, W, B, w, b, *, p):
    """Every layer of yours computes from x; it should compute from the state below it."""
    activation = _sigma(p)
    return _residual(x, y, W, B, w, b, p, block=lambda h, matrix, offset: h + activation(x @ matrix.T - offset))


def residual_factor(x, y, W, B, w, b, *, p):
    """Prediction and network are right; your loss is a constant times the one asked for."""
    return _residual(x, y, W, B, w, b, {**p, "half": not p["half"]})


# The experiment.


def _measured(x, y, W, B, w, b, p, norm=torch.Tensor.norm, reduce=torch.mean, at=lambda gradient: gradient[0]):
    """The experiment with another norm, another reduction over the examples, or another place."""
    matrices = W.clone().requires_grad_()
    y_hat = _heads(x, matrices, B, w, b, p)
    single = _residual(x, y, matrices, B, w[-1], b[-1], p)[0]
    losses = {
        "final": _scaled((y - y_hat[-1]).square(), p),
        "heads": _scaled((y - y_hat).square().sum(0), p),
        "residual": single,
    }
    gradients = {
        name: torch.autograd.grad(reduce(loss), matrices, retain_graph=True)[0] for name, loss in losses.items()
    }
    return {name: norm(at(gradient)).item() for name, gradient in gradients.items()}


def at_last_layer(x, y, W, B, w, b, *, p):
    """You measured at the last matrix: the lowest layer is the one farthest from the loss."""
    return _measured(x, y, W, B, w, b, p, at=lambda gradient: gradient[-1])


def of_all_matrices(x, y, W, B, w, b, *, p):
    """You took the norm over all matrices together; the first alone is asked for."""
    return _measured(x, y, W, B, w, b, p, at=lambda gradient: gradient)


def sum_over_examples(x, y, W, B, w, b, *, p):
    """You added the losses of the examples up; their mean is asked for."""
    return _measured(x, y, W, B, w, b, p, reduce=torch.sum)


def squared_norms(x, y, W, B, w, b, *, p):
    """These are the sums of squares; a root is missing."""
    return _measured(x, y, W, B, w, b, p, norm=lambda gradient: gradient.square().sum())


def largest_entries(x, y, W, B, w, b, *, p):
    """These are the largest entries; the norm asked for is the root of the sum of all squares."""
    return _measured(x, y, W, B, w, b, p, norm=lambda gradient: gradient.abs().max())


def heads_for_final(x, y, W, B, w, b, *, p):
    """Your first two entries have changed places."""
    right = _measured(x, y, W, B, w, b, p)
    return {**right, "final": right["heads"], "heads": right["final"]}


def residual_with_heads(x, y, W, B, w, b, *, p):
    """There is a loss at every layer of your residual network; it has one, at the end."""
    first = W[0].clone().requires_grad_()
    loss = 0
    for layer in range(len(W)):
        matrices = torch.stack([first, *W[1:]])[: layer + 1]
        loss = loss + _residual(x, y, matrices, B[: layer + 1], w[layer], b[layer], p)[0].mean()
    gradient = torch.autograd.grad(loss, first)[0]
    return {**_measured(x, y, W, B, w, b, p), "residual": gradient.norm().item()}


def by_the_input(x, y, W, B, w, b, *, p):
    """These are the gradients by x; the first matrix is asked for."""
    given = x.clone().requires_grad_()
    y_hat = _heads(given, W, B, w, b, p)
    losses = {
        "final": _scaled((y - y_hat[-1]).square(), p),
        "heads": _scaled((y - y_hat).square().sum(0), p),
        "residual": _residual(given, y, W, B, w[-1], b[-1], p)[0],
    }
    return {
        name: torch.autograd.grad(loss.mean(), given, retain_graph=True)[0].norm().item()
        for name, loss in losses.items()
    }


def of_the_prediction(x, y, W, B, w, b, *, p):
    """These are gradients of the predictions; the gradient of the loss is asked for."""
    matrices = W.clone().requires_grad_()
    y_hat = _heads(x, matrices, B, w, b, p)
    single = _residual(x, y, matrices, B, w[-1], b[-1], p)[1]
    values = {"final": y_hat[-1], "heads": y_hat.sum(0), "residual": single}
    return {
        name: torch.autograd.grad(value.mean(), matrices, retain_graph=True)[0][0].norm().item()
        for name, value in values.items()
    }


def on_the_matrix_itself(x, y, W, B, w, b, *, p):
    """You made W itself require gradients: whoever called your function has a tensor that is not as it was."""
    return _measured(x, y, W.requires_grad_(), B, w, b, p)


def first_head_alone(x, y, W, B, w, b, *, p):
    """Your second entry has the loss of the first head only."""
    matrices = W.clone().requires_grad_()
    loss = _scaled((y - _heads(x, matrices, B, w, b, p)[0]).square(), p).mean()
    gradient = torch.autograd.grad(loss, matrices)[0][0]
    return {**_measured(x, y, W, B, w, b, p), "heads": gradient.norm().item()}


def claim_the_other_way(p):
    """Let your function measure it: L = 60, a few widths, and see how the first norm changes from L = 10 to L = 60."""
    if p["measured"] == "logistic":
        return "Within a factor of a thousand, as large: the printed claim is wrong here."
    return r"More than $10^{30}$ times smaller: the printed claim is right here."


def claim_larger(p):
    """A product of contracting factors does not grow; measure it."""
    return r"More than $10^{30}$ times larger: the gradient explodes."


def claim_zero(p):
    """It is no exact zero: every factor of the product is positive, however small."""
    return "It is exactly zero: no path leads from the last loss to the first layer."


MISTAKES = {
    "reason": [larger_gradients, ensemble, linear_network, own_rates, identity_path],
    "loss_heads": [
        last_head_only,
        mean_over_heads,
        boosting,
        one_shared_head,
        plus_offsets,
        plus_head_offset,
        factor_of_the_loss,
        transposed_matrices,
        heads_see_the_input,
        heads_before_layers,
        other_activation,
        summed_over_examples,
        residual_added,
    ],
    "adjoint": [
        adjoint_transposed,
        adjoint_sign,
        adjoint_other_factor,
        adjoint_without_head,
        adjoint_head_only,
        adjoint_without_slope,
        adjoint_slope_of_this_layer,
        adjoint_of_prediction,
    ],
    "time": [sweep_per_head, in_parallel, with_logarithm],
    "time_reason": [one_pass_each, heads_are_free, all_paths, layers_at_once],
    "time_changed": [as_if_unchanged, once_too_often, per_layer, nothing_grows],
    "residual": [
        no_connection,
        inside_activation,
        minus_state,
        plus_offset,
        product_with_state,
        transposed_block,
        linear_block,
    ],
    "residual_mlp": [
        plain_network,
        from_the_input,
        added_inside,
        heads_kept,
        sum_of_layers,
        one_layer_short,
        subtracted,
        offsets_added,
        last_block_plain,
        branches_read_the_input,
        residual_factor,
    ],
    "first_gradients": [
        at_last_layer,
        of_all_matrices,
        sum_over_examples,
        squared_norms,
        largest_entries,
        heads_for_final,
        residual_with_heads,
        by_the_input,
        of_the_prediction,
        first_head_alone,
        on_the_matrix_itself,
    ],
    "claim": [claim_the_other_way, claim_larger, claim_zero],
}

"""Loss heads and residual connections in a deep perceptron; exam 1 of 2021, problem 2."""

import torch

from autograder import (
    Choice,
    Equation,
    Function,
    Growth,
    Problem,
    Written,
    close,
    difference,
    form,
    gradient,
    holds,
    sizes,
    tensors,
    unchanged,
)

from .equivalents import EQUIVALENTS
from .growth import BOUNDS, QUESTIONS, VARIABLES, constraints, variables
from .mistakes import MISTAKES
from .networks import family, plain
from .notation import BACKWARD, TENSORS


def draw(rng):
    """The activation, the factor of the loss, what is changed about the running time, and the network measured."""
    return {
        "activation": ["tanh", "logistic", "relu"][int(rng.integers(3))],
        "half": bool(rng.integers(2)),
        "change": sorted(BOUNDS)[int(rng.integers(len(BOUNDS)))],
        "measured": ["tanh", "logistic"][int(rng.integers(2))],
    }


def phrases(p):
    """The activation and the loss in words and formulas, and the question on the changed program."""
    names = {
        "tanh": r"$\sigma = \tanh$ (`torch.tanh`)",
        "logistic": r"$\sigma(z) = 1/(1+e^{-z})$ (`torch.sigmoid`)",
        "relu": r"$\sigma(z) = \max(z, 0)$ (`torch.relu`)",
    }
    return {
        "sigma": names[p["activation"]],
        "factor": r"\tfrac12\," if p["half"] else "",
        "factor_words": "one half of the squared difference"
        if p["half"]
        else "the squared difference, without a one half",
        "question": QUESTIONS[p["change"]],
        "letters": " and ".join(f"`{letter}`" for letter in VARIABLES[p["change"]].split()),
        "measured_sigma": r"$\tanh$"
        if p["measured"] == "tanh"
        else r"the logistic function, whose slope is at most $1/4$",
    }


def settled(drawn, p):
    """Matrices that neither shut nor open the activation, and offsets that leave some units of a relu alive."""
    W, B = drawn["W"], drawn["B"]
    return {"W": W / W.shape[-1] ** 0.5, "B": B / 2 - (1.0 if p["activation"] == "relu" else 0.0)}


def with_heads(rng, p, **fixed):
    """A network with a head at every layer."""
    n = {**sizes(rng, "N I L"), **fixed}
    drawn = tensors(rng, n, x="N I", y="N", W="L I I", B="L I", w="L I", b="L")
    return {**drawn, **settled(drawn, p)}


def one_of_each(rng, p):
    """One example and one hidden unit in a network of three layers: no axis may be squeezed away."""
    return with_heads(rng, p, N=1, I=1, L=3)


def with_one_head(rng, p, **fixed):
    """A network with a single head."""
    n = {**sizes(rng, "N I", largest=7), "L": int(rng.choice([3, 4, 5])), **fixed}
    drawn = tensors(rng, n, x="N I", y="N", W="L I I", B="L I", w="I")
    return {**drawn, **settled(drawn, p), "b": float(rng.normal())}


def narrow(rng, p):
    """One example and one hidden unit."""
    return with_one_head(rng, p, N=1, I=1)


def to_measure(rng, p):
    """A network of a few layers."""
    return with_heads(rng, p, N=7, I=5, L=int(rng.choice([3, 4, 6])))


def deep(rng, p):
    """A deep network, in which a gradient may be very small."""
    return with_heads(rng, p, N=3, I=7, L=20)


def sigma(p):
    """The activation of the variant."""
    return {"tanh": torch.tanh, "logistic": torch.sigmoid, "relu": torch.relu}[p["activation"]]


def loss_heads(x, y, W, B, w, b, *, p):
    """The loss of each example, summed over the heads, and all predictions: loss[N], y_hat[L,N]."""
    h, y_hat = x, []
    for layer in range(len(W)):
        h = sigma(p)(h @ W[layer].T - B[layer])
        y_hat.append(h @ w[layer] - b[layer])
    y_hat = torch.stack(y_hat)
    loss = (y - y_hat).square().sum(0)
    return (loss / 2 if p["half"] else loss), y_hat


def residual_mlp(x, y, W, B, w, b, *, p):
    """A residual network with one head: the loss of each example and its prediction, loss[N], y_hat[N]."""
    h = x
    for layer in range(len(W)):
        h = h + sigma(p)(h @ W[layer].T - B[layer])
    y_hat = h @ w - b
    loss = (y - y_hat).square()
    return (loss / 2 if p["half"] else loss), y_hat


def first_gradients(x, y, W, B, w, b, *, p):
    """The norms of the gradient at the first matrix: {"final": ..., "heads": ..., "residual": ...}."""

    def norm(heads, residual):
        matrices = W.clone().requires_grad_()
        h, loss = x, 0.0
        for layer in range(len(W)):
            new = sigma(p)(h @ matrices[layer].T - B[layer])
            h = h + new if residual else new
            if heads or layer == len(W) - 1:
                loss = loss + (y - (h @ w[layer] - b[layer])).square().mean()
        loss = loss / 2 if p["half"] else loss
        return torch.autograd.grad(loss, matrices)[0][0].norm().item()

    return {"final": norm(False, False), "heads": norm(True, False), "residual": norm(False, True)}


def one_accepted_block_throughout(f, inputs, p):
    """Loss and prediction must be those of a residual network on the tensors given."""
    return any(difference(f(*inputs.values()), other, rtol=1e-10) is None for other in family(**inputs, p=p))


def norm_with_the_final_loss(f, inputs, p):
    """The entry "final" must be the norm for the network whose only head is the last."""
    return _entry_is("final", f, inputs, plain(**inputs, p=p, heads=False))


def norm_with_all_heads(f, inputs, p):
    """The entry "heads" must be the norm for the sum of the losses of all heads."""
    return _entry_is("heads", f, inputs, plain(**inputs, p=p, heads=True))


def norm_with_residual_connections(f, inputs, p):
    """The entry "residual" must be the norm for a residual network whose only head is the last of those given."""
    single = {**inputs, "w": inputs["w"][-1], "b": inputs["b"][-1]}
    losses = lambda W: [loss.mean() for loss, _ in family(**{**single, "W": W}, p=p)]  # noqa: E731
    W = inputs["W"].clone().requires_grad_()
    norms = [torch.autograd.grad(loss, W, retain_graph=True)[0][0].norm() for loss in losses(W)]
    return any(_entry_is("residual", f, inputs, norm) for norm in norms)


def _entry_is(name, f, inputs, norm):
    given = f(*inputs.values())
    return isinstance(given, dict) and difference(given.get(name), float(norm), rtol=1e-9) is None


def short_paths(p):
    return (
        "Each head adds, to the gradient at its own layer, a term that has been through no long product of Jacobians."
    )


def one_sweep(p):
    return (
        "The gradient that comes from above and the one of the layer's own head are added, and the sum is carried on: "
        "every assignment of the program is visited once."
    )


def at_first_layer(p):
    return (
        r"More than $10^{30}$ times smaller: the printed claim is right here."
        if p["measured"] == "logistic"
        else r"Within a factor of a thousand, as large: the printed claim is wrong here."
    )


def adjoint(p):
    two = "" if p["half"] else "2 "
    return rf"g_l[i] = -{two}(y - \hat{{y}}_l) w_l[i] + W_{{l+1}}[I,i] s_{{l+1}}[I] g_{{l+1}}[I]"


RESIDUAL = "h_{l+1}[i] = sigma(W_{l+1}[i,I] h_l[I] - B_{l+1}[i]) + h_l[i]"


def other_blocks():
    """The accepted blocks, the three steps of a layer in each order, with the activation under each of its names."""
    blocks = [
        "h_{l+1}[i] = h_l[i] + %s(W_{l+1}[i,I] h_l[I] - B_{l+1}[i])",
        "h_{l+1}[i] = h_l[i] + %s(W_{l+1}[i,I] h_l[I]) - B_{l+1}[i]",
        "h_{l+1}[i] = h_l[i] + %s(W_{l+1}[i,I] (h_l[I] - B_{l+1}[I]))",
        "h_{l+1}[i] = h_l[i] + W_{l+1}[i,I] %s(h_l[I]) - B_{l+1}[i]",
        "h_{l+1}[i] = h_l[i] + W_{l+1}[i,I] (%s(h_l[I]) - B_{l+1}[I])",
        "h_{l+1}[i] = h_l[i] + W_{l+1}[i,I] %s(h_l[I] - B_{l+1}[I])",
    ]
    named = [block % sigma for sigma in ("sigma", "tanh", "relu") for block in blocks]
    return named[1:]  # the first is the reference


def bound(p):
    return f"O({BOUNDS[p['change']]})"


WHY = """
With one loss at the end, the gradient at a low layer is a product of the Jacobians of all layers above it. Where these
contract, as for a logistic activation, the product shrinks exponentially with the number of layers, and SGD hardly
moves the low layers. The head at layer l adds a multiple of (y_hat_l - y) w_l directly to the gradient at h_l, one
step away from its loss. So every layer is pulled towards features from which y can be predicted, and the layers above
it start from these.
"""

RUBRIC = """
3 points, one for each:
1 - with the final loss alone, the gradient at a low layer is a product of many Jacobians, which shrinks (or explodes)
    exponentially in the number of layers ("the gradient vanishes" without a reason: half);
1 - a head gives its own layer a gradient term directly, over a short path ("deep supervision");
1 - hence the low layers learn informative features, from which the upper layers go on.
No points for: more losses are more data, or a larger step; an ensemble whose predictions are averaged (the predictor is
the last one); regularisation as the reason; each head minimised by itself; heads as residual connections.
Take nothing off for the remark that with tanh and suitable weights the gradient need not vanish; it is right.
"""

LOSS_HEADS_INPUTS = [with_heads, one_of_each]
RESIDUAL_MLP_INPUTS = [with_one_head, narrow]
# Where units are shut, what is left of a gradient is rounding.
NORMS = {"inputs": [to_measure, deep], "also": ("large", "small", "zeros")}
RESIDUAL_MLP_CHECKS = [form(), holds(one_accepted_block_throughout)]
NORM_CHECKS = [
    form(),
    holds(norm_with_the_final_loss),
    holds(norm_with_all_heads),
    holds(norm_with_residual_connections),
    unchanged(),
]

PROBLEM = Problem(
    title="Loss heads and residual connections",
    version=3,
    source="exam 1 of 2021, problem 2",
    draw=draw,
    phrases=phrases,
    variants=60,
    full_model="mlp.DeepMLP",
    task="deep_heads",
    mistakes=MISTAKES,
    equivalents=EQUIVALENTS,
    parts=[
        Written("why", points=3, reference=WHY, rubric=RUBRIC),
        Choice("reason", points=1, reference=short_paths),
        Function(
            "loss_heads", points=3, inputs=LOSS_HEADS_INPUTS, reference=loss_heads, checks=[close(weight=2), gradient()]
        ),
        Equation("adjoint", points=2, tensors=BACKWARD, target="g_l", reference=adjoint),
        Growth("time", points=1, variables="L", reference="O(L)"),
        Choice("time_reason", points=1, reference=one_sweep),
        Growth("time_changed", points=2, variables=variables, constraints=constraints, reference=bound),
        Equation(
            "residual", points=3, tensors=TENSORS, target="h_{l+1}", reference=RESIDUAL, alternatives=other_blocks()
        ),
        Function(
            "residual_mlp", points=4, inputs=RESIDUAL_MLP_INPUTS, reference=residual_mlp, checks=RESIDUAL_MLP_CHECKS
        ),
        Function("first_gradients", points=4, **NORMS, reference=first_gradients, checks=NORM_CHECKS),
        Choice("claim", points=1, reference=at_first_layer),
    ],
)

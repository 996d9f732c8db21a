"""Self-attention over an image (the spatial transformer): equations, code, costs."""

import torch

from autograder import Choice, Equation, Function, Growth, Number, Problem, close, gradient, holds
from autograder import sizes as drawn_sizes
from autograder import tensors as drawn_tensors

from .arrangements import (
    EQUAL,
    HEADS,
    entries,
    equal_widths,
    growing,
    growing_together,
    lookers,
    seen,
    sizes,
    tensors,
    widths,
    written,
)
from .equivalents import EQUIVALENTS
from .mistakes import MISTAKES
from .wording import phrases

LAYERS = ["image", "volume", "rows", "columns", "window", "bias", "caption", "video"]
CODES = ["image", "volume", "rows", "columns", "window", "video"]


def draw(rng):
    """Who looks at whom in the equations and in the code, scale, output matrix, what is serial, and sizes."""
    layer = LAYERS[int(rng.integers(len(LAYERS)))]
    others = [code for code in CODES if code != layer]
    P = int(rng.choice([2, 4]))
    return {
        "layer": layer,
        "code": others[int(rng.integers(len(others)))],
        "scaled": bool(rng.integers(2)),
        "output": bool(rng.integers(2)),
        "serial": ["features", "everything"][int(rng.integers(2))],
        "w": int(rng.choice([1, 2])),
        "K": int(rng.choice([3, 4, 6, 8])),
        "X": P * int(rng.choice([4, 5, 7])),
        "Y": P * int(rng.choice([3, 6, 8])),
        "Z": int(rng.choice([5, 7, 9])),
        "T": int(rng.choice([10, 11, 13])),
        "P": P,
    }


# The layer in code.


def drawn(rng, p, **fixed):
    """An image, a volume or a video, and the matrices of a layer; no weight is nearly 0 or 1."""
    many = p["code"] in ("volume", "video")
    n = {**drawn_sizes(rng, "A X Y" if many else "X Y", largest=5), "K": 3, "U": 5, "I": 2}
    if p["code"] == "window":  # wider both ways than what a position sees, and than a window larger by one
        n["X"], n["Y"] = (int(size) for size in rng.permutation([5, 7]))
    n |= fixed
    positions = {"volume": "X Y A", "video": "A X Y"}.get(p["code"], "X Y")
    result = drawn_tensors(rng, n, h=f"{positions} K*I", W_Q="K U K*I", W_K="K U K*I", W_V="K I K*I")
    width = (n["K"] * n["I"]) ** 0.5
    return {name: tensor if name == "h" else tensor / width for name, tensor in result.items()}


def wide_values(rng, p):
    """Values wider than queries, two heads."""
    return drawn(rng, p, K=2, U=2, I=3)


def one_of_each(rng, p):
    """One position, one head, one entry of each: no axis may be squeezed away."""
    return drawn(rng, p, A=1, X=1, Y=1, K=1, U=1, I=1)


def far_apart(rng, p):
    """Scores that lie far apart, some above 50 and some below -50, and none so far that its exponential overflows."""
    result = drawn(rng, p)
    return {**result, "W_Q": result["W_Q"] * (15 * result["W_Q"].shape[1] ** 0.5 if p["scaled"] else 15)}


def spatial(h, W_Q, W_K, W_V, *, p):
    """Self-attention over positions: h[..., J] -> the weights alpha[K, ..., ...] and h_out[..., J]."""
    flat = h.flatten(0, -2)  # [N, J], all positions in one row
    query, key, value = flat @ W_Q.mT, flat @ W_K.mT, flat @ W_V.mT  # [K, N, U], [K, N, U], [K, N, I]
    scores = query @ key.mT
    if p["scaled"]:
        scores = scores / W_Q.shape[1] ** 0.5
    axes = [torch.arange(n) for n in h.shape[:-1]]
    place = torch.stack(torch.meshgrid(*axes, indexing="ij"), dim=-1).flatten(0, -2)  # [N, number of axes]
    step = place[None, :] - place[:, None]  # from the position that looks to the one that is looked at
    if p["code"] == "rows":
        sees = step[..., 0] == 0
    elif p["code"] == "columns":
        sees = step[..., 1] == 0
    elif p["code"] == "window":
        sees = (step.abs() <= p["w"]).all(dim=-1)
    elif p["code"] == "video":
        sees = step[..., 0] <= 0
    else:
        sees = torch.ones(len(flat), len(flat), dtype=torch.bool)
    alpha = torch.softmax(scores.masked_fill(~sees, -torch.inf), dim=-1)
    out = (alpha @ value).transpose(0, 1).flatten(1)  # [N, K I]: head 1; ...; head K
    return alpha.reshape(-1, *h.shape[:-1], *h.shape[:-1]), out.reshape(h.shape)


def hidden_positions_have_weight_zero(f, inputs, p):
    """A weight where nobody looks must be exactly zero, also where scores are as low as minus a million."""
    h, W_Q, W_K = (inputs[name].abs() + 1 for name in ("h", "W_Q", "W_K"))
    flat, root = h.flatten(0, -2), W_Q.shape[1] ** 0.5 if p["scaled"] else 1.0
    highest = ((flat @ W_Q.mT) @ (flat @ W_K.mT).mT).max() / root
    alpha, _ = f(h, W_Q, -1e6 / highest * W_K, inputs["W_V"])  # the lowest score is minus a million
    hidden = spatial(h, W_Q * 0, W_K, inputs["W_V"], p=p)[0] == 0
    return not (alpha[hidden].abs() > 0).any()


# The typed answers.


def layer(p):
    return written(p)


def time(p):
    logarithms = {"X Y": "ln X + ln Y", "X Y Z": "ln X + ln Y + ln Z", "T X Y": "ln T + ln X + ln Y", "w^2": "ln w"}
    return f"O({logarithms.get(seen(p), f'ln {seen(p)}')} + ln J)"


def practice(p):
    return f"O(J + ln({seen(p)}))" if p["serial"] == "features" else f"O(J + {seen(p)})"


def work(p):
    positions = "(T + X Y)" if p["layer"] == "caption" else lookers(p)
    return f"O({lookers(p)} {seen(p)} J + {positions} J^2)"


def patched(p):
    return p["K"] * ((p["X"] // p["P"]) * (p["Y"] // p["P"])) ** 2


def no_position(p):
    return "Its weights are the same for all positions: it mixes entries of a vector, and no position looks at another."


# A score is a product of two vectors: of huge ones, an exponential would overflow in a right answer.
REDRAWN = {"trials": 2, "also": ("large", "small", "zeros")}
SPATIAL_INPUTS = [drawn, wide_values, far_apart, one_of_each]
SPATIAL_CHECKS = [close(weight=5), holds(hidden_positions_have_weight_zero), gradient()]

PROBLEM = Problem(
    title="The spatial transformer",
    version=3,
    source="problems on language modeling, translation and attention (2020), 5; transformer problems, 2",
    draw=draw,
    phrases=phrases,
    setup="import torch\nfrom torch.nn import functional as F",
    variants=200,
    full_model="spatial.SpatialAttention",
    task="lookup_image",
    mistakes=MISTAKES,
    equivalents=EQUIVALENTS,
    parts=[
        Equation("layer", points=8, tensors=tensors, sizes=sizes, target="h_out", reference=layer),
        Function("spatial", points=7, inputs=SPATIAL_INPUTS, **REDRAWN, reference=spatial, checks=SPATIAL_CHECKS),
        Growth("time", points=2, variables=growing, constraints=widths, definitions=HEADS, reference=time),
        Growth("practice", points=2, variables=growing, constraints=widths, definitions=HEADS, reference=practice),
        Growth(
            "work", points=2, variables=growing_together, constraints=equal_widths, definitions=EQUAL, reference=work
        ),
        Number("entries", points=1, reference=entries),
        Number("patched", points=1, reference=patched),
        Choice("channels", points=2, reference=no_position),
    ],
)

"""How long self-attention takes: layers by other routes, simulated machines, and bounds that nobody listed."""

import math
import re

import pytest
import torch
from torch import nn

from autograder.authoring.loading import load
from autograder.authoring.variants import variant
from autograder.core import Answer
from autograder.grading.judge import judge_part
from solutions.attention import self_attention

PROBLEM = load("self_attention_runtime")
VARIANTS = [variant(PROBLEM, seed).parameters for seed in range(400)]
F64 = torch.float64


def with_(**wanted):
    """The first variant with these values."""
    return next(p for p in VARIANTS if all(p[key] == value for key, value in wanted.items()))


def standing(name, answer, p):
    """What becomes of a typed answer."""
    return judge_part(PROBLEM.part(name), p, lambda question: Answer(value=answer), (0,)).standing


# The code.


def given(T=5, K=2, U=3, I=4):  # noqa: E741 - the axis
    """Random arguments of `layer`."""
    g = torch.Generator().manual_seed(5)
    shapes = {"h": (T, K * I), "W_Q": (K, U, K * I), "W_K": (K, U, K * I), "W_V": (K, I, K * I)}
    return {name: torch.randn(shape, generator=g, dtype=F64) / 2 for name, shape in shapes.items()}


def layer(p, **arguments):
    """The reference."""
    return PROBLEM.part("layer").reference(**arguments, p=p)


def same(one, other):
    """Equal to rounding."""
    torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("scaled", [False, True])
def test_the_layer_is_that_of_the_solutions(scaled):
    """Without a mask, weights and result are those of the equations."""
    arguments = given()
    for mine, wanted in zip(
        layer(with_(mask="none", scaled=scaled), **arguments),
        self_attention(**arguments, scale=3**-0.5 if scaled else 1.0),
        strict=True,
    ):
        same(mine, wanted)


@pytest.mark.parametrize("mask", ["none", "causal", "window"])
def test_the_scaled_layer_is_torch_s_module(mask):
    """`nn.MultiheadAttention` without biases, with the identity as output matrix."""
    p = with_(mask=mask, scaled=True)
    arguments = given(T=7, U=4)
    module = nn.MultiheadAttention(8, 2, bias=False, batch_first=True, dtype=F64)
    with torch.no_grad():
        module.in_proj_weight.copy_(torch.cat([arguments[name].flatten(0, 1) for name in ("W_Q", "W_K", "W_V")]))
        module.out_proj.weight.copy_(torch.eye(8))
    t = torch.arange(7)
    hidden = {
        "none": None,
        "causal": t[None, :] > t[:, None],
        "window": (t[None, :] - t[:, None]).abs() > p["reach"],
    }[mask]
    h = arguments["h"][None]
    out, alpha = module(h, h, h, attn_mask=hidden, average_attn_weights=False)
    mine = layer(p, **arguments)
    same(mine[0], alpha[0])
    same(mine[1], out[0])


# A machine with as many processors as it can use.


def tree(times):
    """When the sum of numbers is there that are ready at these times, two being added in each step."""
    times = list(times)
    while len(times) > 1:
        times = [max(pair) + 1 for pair in zip(times[::2], times[1::2], strict=False)] + times[len(times) & ~1 :]
    return times[0]


def one_by_one(times):
    """The same where one term is added after the other."""
    total, *others = times
    for time in others:
        total = max(total, time) + 1
    return total


def test_a_tree_is_as_deep_as_it_is_known_to_be():
    """The simulated adders need the logarithm, rounded up."""
    assert [tree([0] * n) for n in (1, 2, 3, 4, 5, 8, 9, 1000)] == [0, 1, 2, 2, 3, 3, 4, 10]
    assert one_by_one([0] * 9) == 8


def test_steps_of_one_softmax():
    """The exact number is the time of the last weight in a simulation."""
    part = PROBLEM.part("softmax_depth")
    for p in VARIANTS:
        score = tree([1] * p["U"])
        if p["stable"]:
            score = tree([score] * p["N"]) + 1
        exponential = score + 1
        last = max(exponential, tree([exponential] * p["N"])) + 1
        assert part.reference(p) == last
        assert last not in [mistake(p) for mistake in part.mistakes]


def simulated(p, n, serial=None):
    """When the layer's result is there, all positions being alike."""
    features = one_by_one if serial else tree
    positions = one_by_one if serial == "everything" else tree

    def one(start, T):
        made = features([start + 1] * n["J"])  # queries, keys, values
        if p["layer"] == "linear":
            held = positions([made + 2] * T)
            return features([held + 1] * n["U"]) + 1
        score = features([made + 1] * n["U"])
        weight = positions([score + 1] * T) + 1
        return positions([weight + 1] * T)

    time = 0
    if p["layer"] == "decoding":
        for place in range(1, n["T"] + 1):
            time = one(time, place)
        return time
    for _ in range(n["L"] if p["layer"] == "stack" else 1):
        time = one(time, n["T"])
    if p["layer"] == "output":
        time = features([time + 1] * n["J"])
    if p["layer"] == "feed_forward":
        time = features([features([time + 1] * n["J"]) + 2] * n["F"])
    return time


def value(text, n):
    """A bound of the references at given sizes."""
    words = re.findall(r"ln|[A-Za-z]|\d+|[-+()^/]", text.removeprefix("O"))
    result, opened = [], False
    for place, word in enumerate(words):
        if place and word not in "+-)^/" and words[place - 1] not in ("+", "-", "(", "^", "/", "ln"):
            result.append("*")
        result.append({"ln": "log2(", "^": "**"}.get(word, str(n.get(word, word))))
        if opened:
            result.append(")")
        opened = word == "ln"
    return eval("".join(result), {"log2": math.log2})


def growing():
    """Sizes that grow, each variable alone and all together."""
    start = {"T": 8, "J": 16, "U": 4, "K": 4, "L": 2, "F": 8}
    for names in ("T", "J", "L", "F", "TJ", "TJULF", "U"):
        for factor in (1, 4, 8):
            yield {name: size * (factor if name in names else 1) for name, size in start.items()}


@pytest.mark.parametrize("kind", ["plain", "output", "stack", "feed_forward", "linear", "decoding"])
@pytest.mark.parametrize("serial", [None, "features", "everything"])
def test_bounds_follow_the_simulated_machine(kind, serial):
    """However the sizes grow, simulated time and bound stay within a factor of six of each other."""
    p = with_(layer=kind, **({"serial": serial} if serial else {}))
    text = PROBLEM.part("layer_practice" if serial else "layer_time").reference(p)
    ratios = [simulated(p, n, serial) / value(text, n) for n in growing() if n["U"] <= n["J"]]
    assert max(ratios) < 6 * min(ratios) and min(ratios) > 0.5


# Bounds that nobody listed.

CASES = {
    ("softmax_time", "row=all", "earned"): [
        "ln(T*U)", "max(ln(T),ln(U))", "log2(T)+log10(U)", "ln(T+U)", "3*ln(T)+7*ln(U)+5", "ln(T^2*U)",
        "ln(U)+ln(T)+ln(T)", r"O(\log T + \log U)", "Theta(log T + log U)", "ln(T) + ln(U) + 1", "log(TU)",
    ],
    ("softmax_time", "row=all", "lost"): [
        "T*U", "T+U", "ln(T)*ln(U)", "T*ln(U)", "ln(T)", "ln(U)", "U+ln(T)", "T^2", "ln(T)^2+ln(U)", "sqrt(T)+ln(U)",
        "1+0*T", "ln(ln(T))+ln(U)", "ln T + ln J", "ln T + ln K", "K(ln T + ln U)", "T U / (T + U)",
    ],
    ("softmax_time", "row=causal", "earned"): ["ln n + ln U", "ln(n U)"],
    ("softmax_time", "row=causal", "lost"): ["ln T + ln U", "ln n + ln T + ln U", "n + ln U", "ln U"],
    ("softmax_time", "row=window", "earned"): ["ln r + ln U"],
    ("softmax_time", "row=window", "lost"): ["ln T + ln U", "ln U", "r + ln U"],
    ("softmax_practice", "row=all row_serial=scores", "earned"): ["max(U, ln(T))", "2*U+log2(T)", "ln(T)+U+ln(U)"],
    ("softmax_practice", "row=all row_serial=scores", "lost"): [
        "ln(T)+ln(U)", "T+U", "U*ln(T)", "U", "ln(T)", "T+ln(U)", "J + ln T",
    ],
    ("softmax_practice", "row=all row_serial=everything", "earned"): ["T+U", "max(T,U)", "2T + U + ln U"],
    ("softmax_practice", "row=all row_serial=everything", "lost"): ["T U", "U + ln T", "T + ln U", "T", "T + J"],
    ("layer_time", "layer=plain", "earned"): [
        "ln(T*J)", "ln(T+J)", "ln(T)+ln(J)+ln(K)", "max(ln(T),ln(J))", "ln(T)+ln(J/K)+ln(K)", "ln(T*J*K)",
        "ln T + ln J + ln U + ln I", "ln T + ln I + ln K", "2 ln J + 2 ln T + ln U", "log_2 J + log_2 T",
    ],
    ("layer_time", "layer=plain", "lost"): [
        "ln(T)+ln(J/K)+1", "T^2*J", "ln(T)*ln(J)", "K*(ln(T)+ln(J))", "ln(T)+J", "ln(T)+1", "ln(T)+ln(K)+1", "T+J",
        "T*ln(J)", "ln T + ln I + 1", "ln T + ln U", "ln T + ln U + ln K", "ln T + ln J + K",
    ],
    ("layer_time", "layer=stack", "earned"): ["L ln(T J)", "L ln T + L ln J"],
    ("layer_time", "layer=stack", "lost"): ["ln T + ln J", "L + ln T + ln J", "L ln T + ln J", "L^2 ln(TJ)"],
    ("layer_time", "layer=decoding", "earned"): ["T ln(T J)", "T ln T + T ln J"],
    ("layer_time", "layer=decoding", "lost"): ["T + ln J", "T ln J", "T^2 + T ln J", "ln T + ln J", "T ln T"],
    ("layer_practice", "layer=plain serial=features", "earned"): ["J + ln T", "J + U + ln T", "max(J, ln T)"],
    ("layer_practice", "layer=plain serial=features", "lost"): ["J + T", "J ln T", "U + ln T", "ln J + ln T", "J"],
    ("layer_practice", "layer=plain serial=everything", "earned"): ["J + T", "max(J, T)", "2T + J + U"],
    ("layer_practice", "layer=plain serial=everything", "lost"): ["J + ln T", "J T", "T", "T + U", "T + ln J"],
    ("layer_work", "layer=plain", "earned"): ["T J^2 + T^2 J", "T J (T + J)", "K T^2 U + T J^2", "T J max(T, J)"],
    ("layer_work", "layer=plain", "lost"): ["T^2 J", "T J^2", "T^2 J K + T J^2", "T^2 U + T J^2", "T^2 + T J^2"],
    ("layer_work", "layer=linear", "earned"): ["T J^2", "T J^2 + T J I", "T J^2 + T U J"],
    ("layer_work", "layer=linear", "lost"): ["T^2 J + T J^2", "T J", "T J I"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "which", "wanted", "text"), [(*key, text) for key, texts in CASES.items() for text in texts]
)
def test_bounds(name, which, wanted, text):
    """Right and wrong orders of growth, in many forms: none of them waits for a person."""
    p = with_(**dict(item.split("=") for item in which.split()))
    assert standing(name, text, p) == wanted

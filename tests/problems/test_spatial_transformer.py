"""The spatial transformer: the layer by other routes, counts by listing pairs, and answers that nobody listed."""

import functools
import itertools

import pytest
import torch

from autograder.authoring.loading import load
from autograder.authoring.variants import variant
from autograder.core import Answer
from autograder.grading.judge import judge_part
from autograder.protocol.answering import answer
from solutions.attention import self_attention
from solutions.spatial import AxialAttention, SpatialAttention, WindowAttention, spatial_attention, window_pairs

PROBLEM = load("spatial_transformer")
VARIANTS = [variant(PROBLEM, seed).parameters for seed in range(400)]
F64 = torch.float64


def with_(**wanted):
    """The first variant with these values."""
    return next(p for p in VARIANTS if all(p[key] == value for key, value in wanted.items()))


def standing(name, answer, p):
    """What becomes of a typed answer."""
    return judge_part(PROBLEM.part(name), p, lambda question: Answer(value=answer), (0,)).standing


def layer(p, *lines):
    """The reference's equations with the lines that define the same tensors replaced."""
    old = PROBLEM.part("layer").reference(p).split("\n")
    new = {line.split("[")[0]: line for line in lines}
    return "\n".join([*(new.pop(line.split("[")[0], line) for line in old), *new.values()])


IMAGE = with_(layer="image", scaled=False, output=False)
SCALED = with_(layer="image", scaled=True, output=True)
BIAS = with_(layer="bias", scaled=False, output=False)
WINDOW = with_(layer="window", scaled=False, output=False)
ROWS = with_(layer="rows", scaled=False, output=False)
CAPTION = with_(layer="caption", scaled=False, output=False)

QK = "Query[k,x_1,y_1,U] Key[k,x_2,y_2,U]"
ALPHA = "alpha[k,x_1,y_1,x_2,y_2] = softmax_{x_2,y_2}"

RIGHT = [
    (IMAGE, [f"{ALPHA} {QK}"]),
    (IMAGE, [f"alpha[k,x_1,y_1,x_2,y_2] = softmax_{{y_2,x_2}}[{QK}]"]),
    (IMAGE, ["Out[k,x,y,i] = alpha[k,x,y,X,Y] Value[k,X,Y,i]"]),
    (CAPTION, ["alpha[k,t,x,y] = softmax_{x,y}[Query[k,t,U] Key[k,x,y,U] - 3 + ln(2)]"]),
    (IMAGE, ["Out[k,x,y,I] = sum_{x'} sum_{y'} alpha[k,x,y,x',y'] Value[k,x',y',I]"]),
    (IMAGE, ["h_out[x,y,J] = Out[1,x,y,I]; Out[2,x,y,I]"]),
    (SCALED, [f"{ALPHA}[U^(-1/2) {QK}]"]),
    (SCALED, [f"{ALPHA}[\\frac{{{QK}}}{{\\sqrt{{U}}}}]"]),
    (SCALED, ["Query[k,x,y,U] = W^Q[k,U,J] h_in[x,y,J] / sqrt(U)", f"{ALPHA}[{QK}]"]),
    (SCALED, ["h_out[x,y,j] = sum_{c} W^O[j,c] Cat[x,y,c]"]),
    (BIAS, [f"S[k,x_1,y_1,x_2,y_2] = {QK} + b[k,x_1-x_2,y_1-y_2]", f"{ALPHA} S[k,x_1,y_1,x_2,y_2]"]),
    (WINDOW, [f"{ALPHA}[M[x_1,y_1,x_2,y_2] + {QK}]"]),
    (ROWS, ["alpha[k,x,y,y'] = softmax_{y'} Query[k,x,y,U] Key[k,x,y',U]"]),
    (CAPTION, ["alpha[k,t,x,y] = softmax_{y,x}[Key[k,x,y,U] Query[k,t,U]]"]),
]

WRONG = [
    (IMAGE, [f"{ALPHA}[{QK} / sqrt(J)]"]),
    (IMAGE, [f"{ALPHA}[{QK} / U]"]),
    (IMAGE, ["Query[k,x,y,U] = W^K[k,U,J] h_in[x,y,J]"]),
    (IMAGE, ["Query[k,x,y,U] = W^Q[k,U,J] h_in[y,x,J]"]),
    (IMAGE, [f"{ALPHA}[Query[k,x_1,y_1,U] Key[k,x_2,y_1,U]]"]),
    (IMAGE, [f"{ALPHA}[Query[k,x_1,U] Key[k,x_2,U]]"]),
    (IMAGE, ["Out[k,x,y,I] = sum_{x'} alpha[k,x,y,x',y] Value[k,x',y,I]"]),
    (IMAGE, ["Out[k,x,y,I] = sum_{x',y'} alpha[k,x,y,x',y'] Key[k,x',y',I]"]),
    (IMAGE, ["h_out[x,y,J] = Out[K,x,y,I]; ... ; Out[1,x,y,I]"]),
    (IMAGE, ["h_out[x,y,J] = sum_{k} Out[k,x,y,J]"]),
    (IMAGE, ["h_out[x,y,I] = Out[1,x,y,I]"]),
    (SCALED, ["h_out[x,y,j] = W^O[c,j] Cat[x,y,c]"]),
    (SCALED, ["h_out[x,y,j] = Cat[x,y,j]"]),
    (SCALED, [f"{ALPHA}[sqrt(U) {QK}]"]),
    (BIAS, [f"{ALPHA}[{QK} b[k,x_1-x_2,y_1-y_2]]"]),
    (BIAS, [f"{ALPHA}[{QK} + b[1,x_1-x_2,y_1-y_2]]"]),
    (BIAS, [f"{ALPHA}[{QK} + b[k,x_1-x_2,y_2-y_1]]"]),
    (BIAS, ["Out[k,x,y,I] = sum_{x',y'} (alpha[k,x,y,x',y'] + b[k,x-x',y-y']) Value[k,x',y',I]", f"{ALPHA}[{QK}]"]),
    (WINDOW, [f"{ALPHA}[{QK} M[x_1,y_1,x_2,y_2]]"]),
    (WINDOW, ["Out[k,x,y,I] = sum_{x',y'} (alpha[k,x,y,x',y'] + M[x,y,x',y']) Value[k,x',y',I]", f"{ALPHA}[{QK}]"]),
    (ROWS, ["alpha[k,x,y_1,y_2] = softmax_{x}[Query[k,x,y_1,U] Key[k,x,y_2,U]]"]),
    (CAPTION, ["alpha[k,t,x,y] = softmax_{t}[Query[k,t,U] Key[k,x,y,U]]"]),
    (CAPTION, ["Value[k,x,y,I] = W^V[k,I,J] h_text[t,J]"]),
]


@pytest.mark.parametrize(("p", "lines"), RIGHT)
def test_right_equations(p, lines):
    """Correct answers written differently earn full marks."""
    assert standing("layer", layer(p, *lines), p) == "earned"


@pytest.mark.parametrize(("p", "lines"), WRONG)
def test_wrong_equations(p, lines):
    """Wrong answers that no mistake lists are lost, not held."""
    assert standing("layer", layer(p, *lines), p) == "lost"


def test_equations_of_a_sequence_are_no_answer():
    """Who hands in the six lines of the statement has not rewritten them."""
    text = """Query[k,t,U] = W^Q[k,U,J] h_in[t,J]
    Key[k,t,U] = W^K[k,U,J] h_in[t,J]
    alpha[k,t_1,t_2] = softmax_{t_2} Query[k,t_1,U] Key[k,t_2,U]
    Value[k,t,I] = W^V[k,I,J] h_in[t,J]
    Out[k,t,I] = sum_{t'} alpha[k,t,t'] Value[k,t',I]
    h_out[t,J] = Out[1,t,I]; ... ; Out[K,t,I]"""
    for p in (IMAGE, ROWS, BIAS):
        assert standing("layer", text, p) == "lost"


BOUNDS = {
    ("time", "earned"): [
        "ln(X)+ln(Y)+ln(J)", "O(ln XYJ)", "max(ln(X),ln(Y),ln(J))", "ln(X+Y)+ln(J)", "ln(X^2+Y^2)+ln(J)",
        "2*ln(X)+3*ln(Y)+ln(J)", "Theta(log X + log Y + log J)", "O(log_2(XY) + log_2 J)", r"O(\ln X + \ln Y + \ln J)",
        "ln XY + ln J + ln K", "ln X + ln Y + ln I + ln K", "ln(X Y K I)",
        "O(ln X + ln Y + ln U + ln J + ln I)", "O(ln(XYJ/K) + ln K)",
    ],
    ("time", "lost"): [
        "ln(X)*ln(Y)+ln(J)", "X*Y+ln(J)", "X+Y+ln(J)", "ln(X)+ln(J)", "X*Y*J", "(X*Y)^2*J", "ln(X*Y)*ln(J)",
        "ln(X)+ln(Y)", "ln(X*Y)^2+ln(J)", "K*ln(X*Y) + ln J", "1", "ln(ln(XY)) + ln J", "sqrt(X) + ln(Y J)",
        "ln X + ln Y + ln K", "ln X + ln Y + ln I", "ln(X Y)/ln(J)",
    ],
    ("work", "earned"): ["(X*Y)^2*J+X*Y*J^2", "X*Y*J*(X*Y+J)", "X Y K U (X Y + J)", "O(XYJ max(XY, J))"],
    ("work", "lost"): [
        "X*Y*(X+Y)*J+X*Y*J^2", "(X*Y)^2*J", "X^2*Y*J", "X*Y*J^2", "(X*Y)^2 J K + X Y J^2", "(X*Y)^2*U + X*Y*J^2",
        "(XY)^2 J^2", "ln X + ln Y + ln J",
    ],
}  # fmt: skip


@pytest.mark.parametrize(("name", "wanted", "text"), [(*key, text) for key, texts in BOUNDS.items() for text in texts])
def test_bounds(name, wanted, text):
    """Orders of growth of the layer on an image, in many forms."""
    assert standing(name, text, IMAGE) == wanted


@pytest.mark.parametrize(
    ("name", "more", "text", "wanted"),
    [
        ("time", {"layer": "rows"}, "ln Y + ln J", "earned"),
        ("time", {"layer": "rows"}, "ln X + ln Y + ln J", "lost"),
        ("time", {"layer": "window"}, "ln w + ln J", "earned"),
        ("time", {"layer": "window"}, "ln(2w+1) + ln J", "earned"),
        ("time", {"layer": "window"}, "ln(XY) + ln J", "lost"),
        ("time", {"layer": "window"}, "ln J", "lost"),
        ("time", {"layer": "caption"}, "ln X + ln Y + ln J + ln T", "lost"),
        ("time", {"layer": "volume"}, "ln(X+Y+Z) + ln J", "earned"),
        ("practice", {"layer": "image", "serial": "features"}, "J + ln XY", "earned"),
        ("practice", {"layer": "image", "serial": "features"}, "J + ln X + ln Y + ln U", "earned"),
        ("practice", {"layer": "image", "serial": "features"}, "U + ln XY", "lost"),
        ("practice", {"layer": "image", "serial": "everything"}, "X Y + J", "earned"),
        ("practice", {"layer": "image", "serial": "everything"}, "X + Y + J", "lost"),
        ("work", {"layer": "rows"}, "X Y^2 J + X Y J^2", "earned"),
        ("work", {"layer": "rows"}, "X Y (X + Y) J + X Y J^2", "lost"),
        ("work", {"layer": "window"}, "X Y (2w+1)^2 J + X Y J^2", "earned"),
        ("work", {"layer": "caption"}, "T X Y J + T J^2 + X Y J^2", "earned"),
        ("work", {"layer": "caption"}, "T X Y J + X Y J^2", "lost"),
        ("work", {"layer": "video"}, "T X Y J (T X Y + J)", "earned"),
    ],
)
def test_bounds_of_other_arrangements(name, more, text, wanted):
    """Who looks at fewer positions takes less time and work."""
    assert standing(name, text, with_(**more)) == wanted


# The code.


def given(p, K=2, U=3, I=4, seed=0):  # noqa: E741 - the axis
    """Random arguments of `spatial`."""
    places = {"volume": (2, 3, 4), "video": (3, 2, 4)}.get(p["code"], (3, 5))
    g = torch.Generator().manual_seed(seed)
    shapes = {"h": (*places, K * I), "W_Q": (K, U, K * I), "W_K": (K, U, K * I), "W_V": (K, I, K * I)}
    return {
        name: torch.randn(shape, generator=g, dtype=F64) / (1 if name == "h" else shape[-1] ** 0.5)
        for name, shape in shapes.items()
    }


def spatial(p, **arguments):
    """The reference."""
    return PROBLEM.part("spatial").reference(**arguments, p=p)


def same(one, other):
    """Equal to rounding."""
    torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("scaled", [False, True])
def test_the_layer_is_that_of_the_solutions(scaled):
    """On an image as the oracle, flattened as self-attention of a sequence."""
    p = with_(code="image", scaled=scaled)
    arguments = given(p)
    alpha, out = spatial(p, **arguments)
    scale = 3**-0.5 if scaled else 1.0
    wanted = spatial_attention(**arguments, scale=scale)
    same(alpha, wanted[0])
    same(out, wanted[1])
    h = arguments.pop("h")
    flat_alpha, flat_out = self_attention(h.flatten(0, 1), **arguments, scale=scale)
    same(alpha.flatten(1, 2).flatten(2), flat_alpha)
    same(out.flatten(0, 1), flat_out)


MODELS = {
    "image": lambda p, **options: SpatialAttention(8, 2, **options),
    "rows": lambda p, **options: AxialAttention(8, 2, axis="y", **options),
    "columns": lambda p, **options: AxialAttention(8, 2, axis="x", **options),
    "window": lambda p, **options: WindowAttention(8, 2, w=p["w"], **options),
}


@pytest.mark.parametrize("code", MODELS)
def test_the_code_is_the_fast_models_with_the_same_weights(code):
    """The modules of the solutions, once their matrices are the given ones."""
    p = with_(code=code, scaled=True)
    arguments = given(p, U=4)
    model = MODELS[code](p).double()
    state = model.state_dict()
    matrices = {
        "W_Q": arguments["W_Q"],
        "W_K": arguments["W_K"],
        "W_V": arguments["W_V"],
        "W_O": torch.eye(8, dtype=F64),
    }
    with torch.no_grad():
        for name, value in state.items():
            wanted = next((matrix for key, matrix in matrices.items() if key in name.replace(".", "_")), None)
            value.copy_(torch.zeros_like(value) if wanted is None else wanted.reshape(value.shape))
    same(spatial(p, **arguments)[1], model(arguments["h"][None])[0])


@pytest.mark.parametrize("code", ["image", "volume", "rows", "columns", "window", "video"])
def test_weights_are_normalised_and_zero_where_nobody_looks(code):
    """Rows sum to one; the weights that are not zero are those of the stated pairs."""
    p = with_(code=code)
    arguments = given(p)
    alpha, _ = spatial(p, **arguments)
    axes = arguments["h"].dim() - 1
    same(alpha.flatten(-axes).sum(-1), torch.ones(alpha.shape[:-axes], dtype=F64))
    looks = {
        "rows": lambda one, two: one[0] == two[0],
        "columns": lambda one, two: one[1] == two[1],
        "window": lambda one, two: abs(one[0] - two[0]) <= p["w"] and abs(one[1] - two[1]) <= p["w"],
        "video": lambda one, two: two[0] <= one[0],
    }.get(code, lambda one, two: True)
    places = list(itertools.product(*map(range, arguments["h"].shape[:-1])))
    for one, two in itertools.product(places, places):
        assert bool((alpha[(slice(None), *one, *two)] > 0).all()) == looks(one, two)
        assert bool((alpha[(slice(None), *one, *two)] == 0).all()) != looks(one, two)


def test_an_image_has_no_order():
    """Exchanging x and y, or any positions, exchanges the results; one column is a sequence."""
    p = with_(code="image")
    arguments = given(p)
    h = arguments["h"]
    _, out = spatial(p, **arguments)
    same(spatial(p, **{**arguments, "h": h.transpose(0, 1)})[1], out.transpose(0, 1))
    order = torch.randperm(15, generator=torch.Generator().manual_seed(1))
    shuffled = h.flatten(0, 1)[order].reshape(h.shape)
    same(spatial(p, **{**arguments, "h": shuffled})[1], out.flatten(0, 1)[order].reshape(h.shape))
    column = spatial(with_(code="columns", scaled=p["scaled"]), **{**arguments, "h": h[:, :1]})
    same(column[1], spatial(p, **{**arguments, "h": h[:, :1]})[1])


def test_rows_then_columns_reach_everything():
    """One axial layer does not connect all pairs; one along each axis does."""
    h = given(with_(code="rows"))["h"].requires_grad_()
    others = {name: value for name, value in given(with_(code="rows")).items() if name != "h"}

    def reached(*codes):
        out = h
        for code in codes:
            out = spatial(with_(code=code), h=out, **others)[1]
        (slope,) = torch.autograd.grad(out[1, 2].sum(), h)
        return bool((slope.abs().sum(-1) > 0).all())

    assert not reached("rows") and not reached("columns")
    assert reached("rows", "columns")


# The counts, and the choice.


def listed(p):
    """The weights that are not made zero, by listing all pairs."""
    X, Y, Z, T, w = (range(p[name]) if name != "w" else p[name] for name in "XYZTw")
    one = {"volume": (X, Y, Z), "caption": (T,), "video": (T, X, Y)}.get(p["layer"], (X, Y))
    two = (X, Y) if p["layer"] == "caption" else one
    looks = {
        "rows": lambda a, b: a[0] == b[0],
        "columns": lambda a, b: a[1] == b[1],
        "window": lambda a, b: max(abs(a[0] - b[0]), abs(a[1] - b[1])) <= w,
        "video": lambda a, b: b[0] <= a[0],
    }.get(p["layer"], lambda a, b: True)
    return p["K"] * sum(looks(a, b) for a in itertools.product(*one) for b in itertools.product(*two))


@pytest.mark.parametrize("name", ["image", "bias", "volume", "rows", "columns", "window", "caption", "video"])
def test_weights_are_as_many_as_pairs(name):
    """The closed forms count what a list holds."""
    p = {**with_(layer=name), "X": 4, "Y": 6, "Z": 3, "T": 3}
    assert PROBLEM.part("entries").reference(p) == listed(p)
    if name == "window":
        assert listed(p) == p["K"] * window_pairs(4, 6, p["w"])


def test_counts_of_mistakes_differ():
    """No wrong count is right by accident, in any variant."""
    for name in ("entries", "patched"):
        part = PROBLEM.part(name)
        for p in VARIANTS:
            assert part.reference(p) not in [mistake(p) for mistake in part.mistakes]


def test_channel_attention_knows_no_position():
    """Its weights stay as they are when positions are exchanged, and sum to one over the channels."""
    g = torch.Generator().manual_seed(3)
    query, key = (torch.randn(2, 3, 5, 4, generator=g, dtype=F64) for _ in range(2))
    alpha = torch.softmax(torch.einsum("kxyi,kxyj->kij", query, key), -1)
    order = torch.randperm(15, generator=g)
    query, key = (tensor.flatten(1, 2)[:, order].reshape(2, 3, 5, 4) for tensor in (query, key))
    same(torch.softmax(torch.einsum("kxyi,kxyj->kij", query, key), -1), alpha)
    same(alpha.sum(-1), torch.ones(2, 4, dtype=F64))


def masked(p, sees):
    """The reference with another rule for who looks at whom; `sees` gets a displacement."""

    def spatial(h, W_Q, W_K, W_V):
        flat, places = h.flatten(0, -2), list(itertools.product(*map(range, h.shape[:-1])))
        steps = [[tuple(b - a for a, b in zip(one, two, strict=True)) for two in places] for one in places]
        allowed = torch.tensor([[sees(*step) for step in row] for row in steps])
        scores = (flat @ W_Q.mT) @ (flat @ W_K.mT).mT / (W_Q.shape[1] ** 0.5 if p["scaled"] else 1)
        alpha = scores.masked_fill(~allowed, -torch.inf).softmax(-1)
        out = (alpha @ (flat @ W_V.mT)).transpose(0, 1).reshape(h.shape)
        return alpha.reshape(-1, *h.shape[:-1], *h.shape[:-1]), out

    return spatial


@pytest.mark.parametrize("w", [1, 2])
@pytest.mark.parametrize(
    ("label", "sees", "verdict"),
    [
        ("right", lambda w, x, y: max(abs(x), abs(y)) <= w, "earned"),
        ("no window", lambda w, x, y: True, "lost"),
        ("along x only", lambda w, x, y: abs(x) <= w, "lost"),
        ("along y only", lambda w, x, y: abs(y) <= w, "lost"),
        ("one larger", lambda w, x, y: max(abs(x), abs(y)) <= w + 1, "lost"),
        ("one larger along y", lambda w, x, y: abs(x) <= w and abs(y) <= w + 1, "lost"),
        ("one smaller", lambda w, x, y: max(abs(x), abs(y)) <= w - 1, "lost"),
        ("a diamond", lambda w, x, y: abs(x) + abs(y) <= w, "lost"),
    ],
)
def test_windows_are_narrower_than_the_hidden_images(w, label, sees, verdict):
    """Whatever the draw, a window that is wrong along one axis only loses."""
    p = with_(code="window", w=w)
    student = masked(p, lambda x, y: sees(w, x, y))
    for key in range(6):
        ask = functools.partial(answer, namespace={"spatial": student})
        assert judge_part(PROBLEM.part("spatial"), p, ask, (key,)).standing == verdict, label

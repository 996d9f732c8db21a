"""The same code on numbers of a hundred digits: implementations agree to the last digit, rounded constants show."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable
from decimal import Decimal

import mpmath
import numpy as np
import pytest

from autograder.errors import StudentError
from autograder.maths.symbolic import Digits, compare, high_precision, high_precision_torch
from autograder.maths.symbolic.precise import Precise

EPS = 1e-5
RNG = np.random.default_rng(7)
X = RNG.normal(size=(5, 6))
Q, K, V = RNG.normal(size=(3, 5, 6))


# -- numpy: each group computes one function -------------------------------------------------------------------------
def _softmax_shifted(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def _softmax_plain(x):
    e = np.exp(x)
    return e / np.sum(e, axis=1, keepdims=True)


def _softmax_reshaped(x):
    z = np.exp(x - np.max(x, axis=1).reshape(-1, 1))
    return (z.T / z.sum(1)).T


def _softmax_loops(x):
    out = np.zeros_like(x)
    for i in range(x.shape[0]):
        row = [math.exp(value) for value in x[i]]
        for j in range(len(row)):
            out[i, j] = row[j] / sum(row)
    return out


def _lse_shifted(x):
    m = x.max(-1, keepdims=True)
    return (m + np.log(np.exp(x - m).sum(-1, keepdims=True)))[..., 0]


def _lse_plain(x):
    return np.log(np.sum(np.exp(x), axis=-1))


def _lse_reduced(x):
    return np.logaddexp.reduce(x, axis=-1)


def _norm_methods(x):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)


def _norm_powers(x):
    mu = np.mean(x, axis=-1, keepdims=True)
    return (x - mu) * (np.mean((x - mu) ** 2, axis=-1, keepdims=True) + EPS) ** -0.5


def _norm_einsum(x):
    d = x.shape[-1]
    centred = x - (np.einsum("td->t", x) / d)[:, None]
    return centred / np.sqrt(np.einsum("td,td->t", centred, centred) / d + 1 / 100000)[:, None]


def _attention_matmul(q, k, v):
    return _softmax_shifted(q @ k.T / np.sqrt(q.shape[-1])) @ v


def _attention_einsum(q, k, v):
    scores = np.einsum("td,sd->ts", q, k) * q.shape[-1] ** -0.5
    a = np.exp(scores)
    a /= a.sum(-1, keepdims=True)
    return np.einsum("ts,si->ti", a, v)


def _attention_dot(q, k, v):
    e = np.exp(np.matmul(q, np.transpose(k)) / math.sqrt(q.shape[1]))
    return np.dot(e / e.sum(axis=1)[:, np.newaxis], v)


def _causal_where(q, k, v):
    T = q.shape[0]
    s = q @ k.T / np.sqrt(q.shape[-1])
    return _softmax_shifted(np.where(np.arange(T)[:, None] >= np.arange(len(k))[None, :], s, -np.inf)) @ v


def _causal_assigned(q, k, v):
    s = q @ k.T / np.sqrt(q.shape[-1])
    s[np.triu_indices(s.shape[0], 1)] = -np.inf
    return _softmax_shifted(s) @ v


def _causal_tril(q, k, v):
    e = np.exp(q @ k.T * (1 / math.sqrt(len(q[0])))) * np.tril(np.ones((len(q), len(k))))
    return e @ v / e.sum(-1, keepdims=True)


def _cross_entropy_picked(x):
    y = np.arange(x.shape[0]) % x.shape[1]
    return -np.mean(np.log(_softmax_shifted(x)[np.arange(len(y)), y]))


def _cross_entropy_onehot(x):
    y = np.arange(x.shape[0]) % x.shape[1]
    return (_lse_shifted(x) - (x * np.eye(x.shape[1])[y]).sum(1)).mean()


def _gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def _gelu_tanh_math(x):
    return x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * np.power(x, 3))))


def _gate_sigmoid(x, h):
    z = 1 / (1 + np.exp(-(x + h)))
    return z * h + (1 - z) * np.tanh(x)


def _gate_tanh(x, h):
    z = 0.5 * (1 + np.tanh((x + h) / 2))
    return h * z + np.tanh(x) - z * np.tanh(x)


def _positions_power(x):
    T, d = x.shape
    angle = np.arange(T)[:, None] / 10000 ** (2 * np.arange(d // 2) / d)[None]
    return np.concatenate([np.sin(angle), np.cos(angle)], -1)


def _positions_exp(x):
    T, d = x.shape
    w = np.exp(-np.log(10000.0) * np.arange(0, d - 1, 2) / d)
    return np.hstack((np.sin(np.outer(np.arange(T), w)), np.cos(np.outer(np.arange(T), w))))


def _relu_maximum(x):
    return np.maximum(x, 0)


def _relu_where(x):
    return np.where(x > 0, x, 0.0)


def _unit_norm(x):
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def _unit_sum(x):
    return x / np.sqrt(np.sum(np.square(x), axis=-1, keepdims=True))


def _standard_std(x):
    return (x - np.mean(x, 0)) / np.std(x, 0)


def _standard_var(x):
    return (x - x.mean(0)) / np.sqrt(np.var(x, axis=0))


def _clip_clip(x):
    return np.clip(x, -1, 1)


def _clip_both(x):
    return np.minimum(np.maximum(x, -1), 1)


def _heads_reshape(q, k, v):
    T, d = q.shape
    split = lambda z: z.reshape(T, 2, d // 2).transpose(1, 0, 2)  # noqa: E731
    a = _softmax_shifted(split(q) @ np.swapaxes(split(k), -1, -2) / np.sqrt(d // 2))
    return (a @ split(v)).transpose(1, 0, 2).reshape(T, d)


def _heads_slices(q, k, v):
    d = q.shape[1]
    parts = [slice(h * d // 2, (h + 1) * d // 2) for h in range(2)]
    return np.concatenate([_softmax_plain(q[:, s] @ k[:, s].T / math.sqrt(d / 2)) @ v[:, s] for s in parts], axis=-1)


GROUPS = [
    ("softmax", (X,), [_softmax_shifted, _softmax_plain, _softmax_reshaped, _softmax_loops]),
    ("log-sum-exp", (X,), [_lse_shifted, _lse_plain, _lse_reduced]),
    ("layer norm", (X,), [_norm_methods, _norm_powers, _norm_einsum]),
    ("attention", (Q, K, V), [_attention_matmul, _attention_einsum, _attention_dot]),
    ("causal attention", (Q, K, V), [_causal_where, _causal_assigned, _causal_tril]),
    ("cross-entropy", (X,), [_cross_entropy_picked, _cross_entropy_onehot]),
    ("gelu", (X,), [_gelu_tanh, _gelu_tanh_math]),
    ("gate", (Q, K), [_gate_sigmoid, _gate_tanh]),
    ("positions", (X,), [_positions_power, _positions_exp]),
    ("relu", (X,), [_relu_maximum, _relu_where]),
    ("unit length", (X,), [_unit_norm, _unit_sum]),
    ("standardised", (X,), [_standard_std, _standard_var]),
    ("clipping", (X,), [_clip_clip, _clip_both]),
    ("heads", (Q, K, V), [_heads_reshape, _heads_slices]),
]
PAIRS = [(name, args, functions[0], other) for name, args, functions in GROUPS for other in functions]


@pytest.mark.parametrize(("name", "arguments", "first", "other"), PAIRS, ids=lambda v: getattr(v, "__name__", ""))
def test_numpy_implementations(name: str, arguments: tuple, first: Callable, other: Callable) -> None:
    """Every implementation runs, is the float one to 1e-12, and agrees with its neighbours to 60 digits."""
    found = high_precision(other, *arguments)
    floats = np.asarray(other(*arguments))
    assert found[0].shape == floats.shape
    np.testing.assert_allclose([float(entry) for entry in found[0].entries], floats.ravel(), rtol=1e-12, atol=1e-13)
    assert compare(high_precision(first, *arguments), found).code == "agree"


def test_time_of_a_run() -> None:
    """A typical implementation takes a few milliseconds of processor time."""
    times = []
    for _, arguments, functions in GROUPS:
        start = time.process_time()
        high_precision(functions[0], *arguments)
        times.append(time.process_time() - start)
    assert statistics.median(times) < 0.05


def test_nothing_of_the_student_changes() -> None:
    """Arguments, globals and the function itself are as before the run."""

    def doubled(x):
        x *= 2
        return x * np.float64(1)

    before = X.copy()
    high_precision(doubled, X)
    high_precision(_norm_powers, X)
    assert (before == X).all() and EPS == 1e-5 and type(EPS) is float and np.exp(0.0) == 1.0
    assert type(_norm_powers.__globals__["np"]) is type(math)


SQRT7 = 7**-0.5


def _scaled(constant):
    return lambda x: x * constant


CONSTANTS = [
    (lambda x: x / math.sqrt(2), lambda x: x * 0.70710678, "rounded_constant"),
    (lambda x: x / math.sqrt(2), lambda x: x * 0.707106781186, "rounded_constant"),
    (lambda x: x / math.sqrt(2), lambda x: x * 0.7071, "value"),
    (lambda x: x / math.sqrt(2), lambda x: x * 2**-0.5, "agree"),
    (lambda x: x / np.sqrt(7), lambda x: x * SQRT7, "agree"),
    (lambda x: x / np.sqrt(7), _scaled(7**-0.5), "agree"),
    (lambda x: x / 3, lambda x: x * (1 / 3), "agree"),
    (lambda x: x / 3, lambda x: x * 0.333333333, "rounded_constant"),
    (lambda x: x / 10, lambda x: x * 0.1, "agree"),
    (lambda x: x * 0.3, lambda x: x * (0.1 + 0.2), "agree"),
    (lambda x: x * np.pi, lambda x: x * math.pi, "agree"),
    (lambda x: x * np.pi, lambda x: x * 3.14159265, "rounded_constant"),
    (lambda x: x * np.pi, lambda x: x * 22 / 7, "value"),
    (lambda x: x / np.log(2), lambda x: x / 0.6931471805599453, "agree"),
    (lambda x: x * math.e, lambda x: x * np.exp(1), "agree"),
    (lambda x: x / x.std(), lambda x: x / (x.std() + 1e-9), "rounded_constant"),
    (lambda x: x / x.std(), lambda x: x / np.sqrt(x.var() + 1e-12), "rounded_constant"),
    (lambda x: x / x.std(), lambda x: x / (x.std() + 1e-3), "value"),
    (lambda x: x / x.std(), lambda x: x / x.std(ddof=1), "value"),
    (lambda x: np.exp(x), lambda x: 1 + x + x**2 / 2 + x**3 / 6, "value"),
    (lambda x: x, lambda x: x + 1e-40, "rounded_constant"),
    (lambda x: x, lambda x: (x + 1e20) - 1e20, "agree"),
    (lambda x: x - x, lambda x: 0 * x, "agree"),
    (lambda x: x.mean(0), lambda x: x.mean(1), "shape"),
    (lambda x: x, lambda x: (x, x), "count"),
    (lambda x: np.log(x * x), lambda x: np.log(0 * x), "not_finite"),
    (lambda x: np.log(0 * x), lambda x: np.log(0 * x), "agree"),
    (lambda x: np.sqrt(-1 - x * x), lambda x: np.sqrt(-1 - x * x), "not_finite"),
]


@pytest.mark.parametrize(("reference", "answer", "code"), CONSTANTS)
def test_constants(reference: Callable, answer: Callable, code: str) -> None:
    """Exact constants, however written, agree; rounded ones and small epsilons are told from other functions."""
    found = compare(high_precision(reference, X), high_precision(answer, X))
    assert found.code == code, found
    assert found.equal == (code == "agree")


def _masked(value):
    def attend(q, k, v):
        s = q @ k.T / np.sqrt(q.shape[-1])
        return _softmax_shifted(np.where(np.tril(np.ones_like(s)) > 0, s, value)) @ v

    return attend


@pytest.mark.parametrize(
    ("value", "code"), [(-np.inf, "agree"), (-1e9, "agree"), (-100, "rounded_constant"), (-10, "value")]
)
def test_masks(value: float, code: str) -> None:
    """A mask of -100 leaks 1e-44: nothing in floats, visible here; -1e9 leaks nothing that any digit shows."""
    found = compare(high_precision(_causal_where, Q, K, V), high_precision(_masked(value), Q, K, V))
    assert found.code == code, found


WRONG = [
    (_softmax_shifted, (X,), lambda x: _softmax_shifted(x.T).T),
    (_softmax_shifted, (X,), lambda x: np.exp(x) / np.exp(x).sum()),
    (_lse_plain, (X,), lambda x: np.log2(np.exp(x).sum(-1))),
    (_norm_methods, (X,), lambda x: (x - x.mean()) / np.sqrt(x.var() + 1e-5)),
    (_norm_methods, (X,), lambda x: (x - x.mean(-1, keepdims=True)) / (x.std(-1, keepdims=True) + 1e-5)),
    (_attention_matmul, (Q, K, V), lambda q, k, v: _softmax_shifted(q @ k.T / np.sqrt(64)) @ v),
    (_attention_matmul, (Q, K, V), lambda q, k, v: _softmax_shifted(q @ k.T) @ v),
    (_attention_matmul, (Q, K, V), lambda q, k, v: _softmax_shifted(k @ q.T / np.sqrt(6)) @ v),
    (_gelu_tanh, (X,), lambda x: x / (1 + np.exp(-1.702 * x))),
    (_relu_where, (X,), lambda x: np.where(x > 0, x, 0.01 * x)),
    (_cross_entropy_onehot, (X,), lambda x: -np.log(_softmax_plain(x)).mean()),
]


@pytest.mark.parametrize(("reference", "arguments", "answer"), WRONG)
def test_wrong_functions(reference: Callable, arguments: tuple, answer: Callable) -> None:
    """Wrong functions are different by value, not by rounding."""
    assert compare(high_precision(reference, *arguments), high_precision(answer, *arguments)).code == "value"


@pytest.mark.parametrize("function", [
    lambda x: np.random.rand(3), lambda x: np.linalg.inv(x[:5, :5]), lambda x: x.no_such_method(),
    lambda x: undefined_name,  # noqa: F821
    np.exp, "text", lambda x: np.fft.fft(x), lambda x: 1 // 0, lambda x: print,
])  # fmt: skip
def test_what_cannot_run(function: object) -> None:
    """Code without a precise counterpart, or that fails, is not symbolic; nothing is said about its correctness."""
    with pytest.raises(StudentError) as caught:
        high_precision(function, X)
    assert caught.value.code == "not_symbolic"


@pytest.mark.parametrize(
    "name", ["exp", "log", "sqrt", "tanh", "sin", "cos", "erf", "log1p", "expm1", "sinh", "cosh", "log2", "log10"]
)
def test_precise_functions_against_mpmath(name: str) -> None:
    """Every function of a precise number has mpmath's digits."""
    reference = mpmath.MPContext()
    reference.dps = 100
    function = {"log2": lambda x: reference.log(x, 2)}.get(name) or getattr(reference, name)
    for argument in ("0.001", "0.5", "1", "3.75", "25", "123.456"):
        found, wanted = getattr(Precise(argument), name)(), function(reference.mpf(argument))
        assert abs(reference.mpf(str(found.value)) - wanted) <= abs(wanted) * reference.mpf(10) ** -90, argument


@pytest.mark.parametrize(("typed", "meant"), [
    (0.1, "0.1"), (1 / 3, "1/3"), (2 / 7, "2/7"), (0.5, "0.5"), (1e-5, "0.00001"), (-1 / 3, "-1/3"), (1e300, "1e300"),
])  # fmt: skip
def test_floats_as_they_were_meant(typed: float, meant: str) -> None:
    """A float stands for the short decimal or the fraction that it was rounded from."""
    top, _, bottom = meant.partition("/")
    assert Precise(typed) == Precise(top) / Precise(bottom or "1")


def test_ordinary_floats_stay() -> None:
    """Random floats are never taken for a fraction or a root."""
    changed = [x for x in RNG.normal(size=3000).tolist() if Precise(x).value != Decimal(repr(x))]
    assert not changed


def test_nan_equals_nothing() -> None:
    """NaN beside NaN is not agreement; infinities agree by sign."""
    entry = lambda text: [Digits(shape=(1,), entries=(text,))]  # noqa: E731
    assert compare(entry("NaN"), entry("NaN")).code == "not_finite"
    assert compare(entry("Infinity"), entry("-Infinity")).code == "not_finite"
    assert compare(entry("-Infinity"), entry("-Infinity")).code == "agree"
    assert compare(entry("0"), entry("0")).code == "agree"
    assert compare(entry("0"), entry("1e-300")).code == "value"


@pytest.mark.parametrize(
    "given",
    [
        Digits(shape=(2,), entries=("1",)),
        Digits(shape=(1,), entries=("1", "1")),
        Digits(shape=(1,), entries=("one",)),
        Digits(shape=(1,), entries=("",)),
        Digits(shape=(1,), entries=("1" * 10**6,)),
        Digits(shape=(1,), entries=("sNaN",)),
    ],
)
def test_malformed_digits(given: Digits) -> None:
    """Digits that another process garbled are refused, not believed and not fatal."""
    reference = Digits(shape=given.shape, entries=("1",) * math.prod(given.shape))
    assert compare([reference], [given]).code == "malformed"


# -- torch -----------------------------------------------------------------------------------------------------------
torch = pytest.importorskip("torch")
F = torch.nn.functional


def _t_causal(q, k, v):
    mask = torch.triu(torch.ones(q.shape[0], k.shape[0], dtype=torch.bool), 1)
    return torch.softmax((q @ k.T * q.shape[-1] ** -0.5).masked_fill(mask, -torch.inf), -1) @ v


def _t_heads(q, k, v):
    T, d = q.shape
    split = lambda z: z.view(T, 2, d // 2).transpose(0, 1)  # noqa: E731
    return (torch.softmax(split(q) @ split(k).mT / math.sqrt(d // 2), -1) @ split(v)).transpose(0, 1).reshape(T, d)


def _t_relu_in_place(x):
    y = x.clone()
    y[y < 0] = 0
    return y


def _t_rows_in_place(x):
    y = torch.zeros_like(x)
    for t in range(x.shape[0]):
        y[t] = x[t] * 2
    y[-1].mul_(0.5)
    return y


def _t_target(x):
    return torch.arange(x.shape[0]) % x.shape[1]


LINEAR = torch.nn.Linear(6, 3).double()
TORCH_PAIRS = [
    (lambda x: torch.softmax(x, -1), lambda x: x.exp() / x.exp().sum(dim=1)[:, None]),
    (lambda x: torch.softmax(x, -1),
     lambda x: (e := torch.exp(x - x.max(-1, keepdim=True).values)) / e.sum(-1, keepdim=True)),
    (lambda x: torch.logsumexp(x, -1), lambda x: x.amax(-1) + (x - x.amax(-1)[:, None]).exp().sum(-1).log()),
    (lambda x: F.layer_norm(x, (6,)), lambda x: (x - x.mean(-1, keepdim=True))
     / torch.sqrt(x.var(-1, unbiased=False, keepdim=True) + 1e-5)),
    (lambda x: F.cross_entropy(x, _t_target(x)),
     lambda x: -torch.log_softmax(x, -1).gather(1, _t_target(x)[:, None]).mean()),
    (lambda x: F.cross_entropy(x, _t_target(x)),
     lambda x: (torch.logsumexp(x, 1) - x[torch.arange(len(x)), _t_target(x)]).mean()),
    (lambda x: F.gelu(x, approximate="tanh"),
     lambda x: 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))),
    (lambda x: F.gelu(x), lambda x: x / 2 * (1 + torch.erf(x / 2**0.5))),
    (torch.relu, _t_relu_in_place), (torch.relu, lambda x: x.clamp(min=0)), (torch.relu, lambda x: (x + x.abs()) / 2),
    (LINEAR, lambda x: x @ LINEAR.weight.T + LINEAR.bias),
    (lambda x: x / x.norm(dim=-1, keepdim=True), lambda x: x / (x * x).sum(-1, keepdim=True).sqrt()),
    (lambda x: torch.cat([x[:-1] * 2, x[-1:]]), _t_rows_in_place),
    (lambda x: F.silu(x), lambda x: x * 0.5 * (1 + torch.tanh(x / 2))),
    (lambda x: torch.sigmoid(-x), lambda x: 1 - torch.sigmoid(x)),
]  # fmt: skip


def _fused(q, k, v, **options):
    return F.scaled_dot_product_attention(q[None, None], k[None, None], v[None, None], **options)[0, 0]


TORCH_TRIPLES = [
    (lambda q, k, v: torch.softmax(q @ k.T / q.shape[-1] ** 0.5, -1) @ v, _fused),
    (_t_causal, lambda q, k, v: _fused(q, k, v, is_causal=True)),
    (
        _t_heads,
        lambda q, k, v: torch.cat(
            [
                torch.softmax(a @ b.T / math.sqrt(3), -1) @ c
                for a, b, c in zip(*(z.chunk(2, -1) for z in (q, k, v)), strict=True)
            ],
            -1,
        ),
    ),
]


@pytest.mark.parametrize(
    ("arguments", "left", "right"),
    [((X,), *pair) for pair in TORCH_PAIRS] + [((Q, K, V), *pair) for pair in TORCH_TRIPLES],
)
def test_torch_implementations(arguments: tuple, left: Callable, right: Callable) -> None:
    """Traced torch code has torch's own floats, and equal functions agree to 60 digits."""
    tensors = [torch.from_numpy(argument) for argument in arguments]
    results = [high_precision_torch(function, *tensors) for function in (left, right)]
    for function, result in zip((left, right), results, strict=True):
        floats = function(*tensors).detach().numpy()
        assert result[0].shape == floats.shape
        found = [float(entry) for entry in result[0].entries]
        np.testing.assert_allclose(found, floats.ravel(), rtol=1e-11, atol=1e-12)
    assert compare(*results).code == "agree", compare(*results)


@pytest.mark.parametrize(
    ("left", "right", "code"),
    [
        (lambda x: torch.softmax(x, -1), lambda x: torch.softmax(x, 0), "value"),
        (lambda x: x / 2**0.5, lambda x: x * 0.70710678, "rounded_constant"),
        (lambda x: x / x.norm(), lambda x: x / (x.norm() + 1e-9), "rounded_constant"),
        (lambda x: F.gelu(x), lambda x: F.gelu(x, approximate="tanh"), "value"),
        (lambda x: x.var(-1), lambda x: x.var(-1, unbiased=False), "value"),
        (lambda x: x.mean(0), lambda x: x.mean(1), "shape"),
    ],
)
def test_torch_differences(left: Callable, right: Callable, code: str) -> None:
    """Wrong functions and rounded constants are told apart in torch too."""
    tensor = torch.from_numpy(X)
    assert compare(high_precision_torch(left, tensor), high_precision_torch(right, tensor)).code == code


def test_torch_and_numpy_meet() -> None:
    """A numpy reference and a torch answer are compared by their digits alone."""
    tensors = [torch.from_numpy(array) for array in (Q, K, V)]
    found = high_precision_torch(lambda q, k, v: torch.softmax(q @ k.T / math.sqrt(6), -1) @ v, *tensors)
    assert compare(high_precision(_attention_matmul, Q, K, V), found).code == "agree"


def test_torch_operations_without_counterpart() -> None:
    """An operator that is not in the table makes the code not symbolic."""
    with pytest.raises(StudentError) as caught:
        high_precision_torch(torch.linalg.inv, torch.eye(3))
    assert caught.value.code == "not_symbolic"

"""How students' code is called: as a network would call it, whatever modes the notebook has switched on."""

import sys
import warnings

import numpy as np
import pytest
import torch
from torch import nn

from autograder.core import Question
from autograder.protocol.answering import answer, answers, question_frame, question_key, value_alone, with_value
from autograder.protocol.codec import encode
from autograder.sandbox.task import Asked

X = torch.tensor([[0.5, -1.0], [2.0, 3.0]], dtype=torch.float64)
ONES = torch.ones(2, 2, dtype=torch.float64)


def ask(function, kind="call", arguments=(X,), **options):
    """The answer to one question."""
    return answer(Question(kind=kind, name="f", arguments=arguments, options=options), {"f": function})


def gradient(function):
    """The gradient of the sum of a function of x."""
    found = ask(function, "gradient", wrt=[0], cotangent=[ONES])
    assert found.failure is None, found.detail
    return found.value[0]


RIGHT = [
    lambda x: 2 * x,
    lambda x: x.mul_(2),
    lambda x: torch.add(x, x, out=None),
    lambda x: x.t().mul_(2).t(),
    lambda x: nn.Parameter(torch.full((), 2.0)) * x,
    lambda x: torch.func.vmap(lambda row: 2 * row)(x),
    lambda x: torch.func.functional_call(nn.Linear(2, 2, bias=False), {"weight": 2 * torch.eye(2)}, x),
    lambda x: x[:, [1, 0]].flip(1) + x.requires_grad_(),
]


@pytest.mark.parametrize("function", RIGHT)
def test_what_a_function_is_given_is_no_leaf(function):
    """In place or not, through a view or a library: the gradient is that of the argument as it was given."""
    assert torch.equal(gradient(function), 2 * ONES)


def test_gradients_of_one_call_come_from_one_run():
    """As in grading, where they are asked together; another call, or one that failed, is run anew."""
    ran = []

    def square(x, y):
        ran.append(x.shape)
        if len(ran) == 4:
            raise ValueError("the fourth time")
        return x * x * y

    def pulled(function, arguments, wrt, weight):
        question = Question(
            kind="gradient", name="f", arguments=arguments, options={"wrt": wrt, "cotangent": [weight * ONES]}
        )
        return answer(question, {"f": function})

    other = X.clone()
    first, second = (pulled(square, (X, X), (0,), weight).value[0] for weight in (1, 3))
    assert torch.equal(first, 2 * X * X) and torch.equal(second, 3 * first) and len(ran) == 1
    assert torch.equal(pulled(square, (X, other), (0,), 1).value[0], first) and len(ran) == 2  # equal, but another
    assert torch.equal(pulled(square, (X, other), (1,), 1).value[0], X * X) and len(ran) == 3
    assert pulled(square, (X, X), (0,), 1).failure == "raised" and len(ran) == 4
    assert torch.equal(pulled(square, (X, X), (0,), 1).value[0], first) and len(ran) == 5
    assert torch.equal(pulled(lambda x, y: x + y, (X, X), (0,), 1).value[0], ONES) and len(ran) == 5


WRONG = [lambda x: 2 * x.detach(), lambda x: 2 * x.data, lambda x: torch.tensor(x.tolist()) * 2]


def test_a_gradient_imports_no_compiler(monkeypatch):
    """torch has one to look at the shapes of a cotangent: it would take a third of a second of every notebook."""
    monkeypatch.setitem(sys.modules, "torch.fx.experimental.symbolic_shapes", None)  # an import of it would fail
    assert torch.equal(gradient(lambda x: 2 * x), 2 * ONES)


@pytest.mark.parametrize("function", WRONG)
def test_a_cut_path_has_no_gradient(function):
    """The copy that is given hides no cut."""
    assert gradient(function) is None


def in_place_of_what_is_needed(x):
    """The square needs x, which is overwritten."""
    y = x.square()
    x.mul_(2)
    return y


def test_what_autograd_refuses_in_a_network_it_refuses_here():
    """A value that backward needs must not be overwritten."""
    assert ask(in_place_of_what_is_needed, "gradient", wrt=[0], cotangent=[ONES]).failure == "raised"


def modes():
    """All that can be switched on for a whole notebook."""
    return [
        torch.is_grad_enabled(),
        torch.get_default_dtype(),
        torch.get_default_device(),
        torch.are_deterministic_algorithms_enabled(),
        torch.is_anomaly_enabled(),
        torch.is_autocast_enabled("cpu"),
        np.geterr(),
        list(warnings.filters),
    ]


SWITCHES = {
    "no gradients": lambda: torch.set_grad_enabled(False),
    "half precision": lambda: torch.set_default_dtype(torch.float16),
    "another device": lambda: torch.set_default_device("meta"),
    "deterministic": lambda: torch.use_deterministic_algorithms(True),
    "anomaly": lambda: torch.autograd.set_detect_anomaly(True),
    "warnings": lambda: warnings.simplefilter("error"),
    "numpy's errors": lambda: np.seterr(all="raise"),
    "autocast": lambda: torch.set_autocast_enabled("cpu", True),
}


@pytest.fixture
def restored():
    """The modes of this process as they were."""
    seterr, dtype = np.geterr(), torch.get_default_dtype()
    with warnings.catch_warnings():
        yield
    torch.set_grad_enabled(True)
    torch.set_default_dtype(dtype)
    torch.set_default_device(None)
    torch.use_deterministic_algorithms(False)
    torch.autograd.set_detect_anomaly(False)
    torch.set_autocast_enabled("cpu", False)
    np.seterr(**seterr)


@pytest.mark.parametrize("switch", SWITCHES.values(), ids=SWITCHES)
def test_modes_of_the_notebook_do_not_count(switch, restored):
    """A function is judged in the modes of a training step; the notebook finds its own again."""
    switch()
    before = modes()

    def scores(x):
        warnings.warn("by the way", stacklevel=1)
        np.log(np.zeros(1))
        return x @ torch.eye(2) / torch.sqrt(torch.tensor(4))

    assert torch.equal(gradient(scores), ONES / 2)
    assert modes() == before


@pytest.mark.parametrize("switch", SWITCHES.values(), ids=SWITCHES)
def test_a_function_switches_modes_for_itself_alone(switch, restored):
    """What an answer switches on is off again for the next question: a reference must not agree with it by that."""
    before = modes()
    ask(lambda x: switch() or x)
    assert modes() == before


def test_inference_mode_that_was_never_left(restored):
    """Tensors are made, and gradients asked for, outside the inference mode that a cell went into."""
    mode = torch.inference_mode()
    mode.__enter__()
    try:
        assert torch.equal(gradient(lambda x: 2 * x), 2 * ONES)
    finally:
        mode.__exit__(None, None, None)


def test_gradients_switched_off_for_what_comes_after(restored):
    """A function that switches gradients off when all is computed has gradients; one that does so first has none."""

    def last(x):
        y = 2 * x
        torch.set_grad_enabled(False)
        return y

    def first(x):
        torch.set_grad_enabled(False)
        return 2 * x

    assert torch.equal(gradient(last), 2 * ONES)
    assert gradient(first) is None


def test_what_a_call_leaves_of_its_arguments():
    """Changed entries come back, and whether a tensor was made to require gradients."""
    found = [ask(f, "after").value for f in (lambda x: x + 1, lambda x: x.add_(1), lambda x: x.requires_grad_())]
    assert [bool((item["arguments"][0] == X).all()) for item in found] == [True, False, True]
    assert [item["marked"] for item in found] == [[False], [False], [True]]


class Mean(nn.Module):
    """Takes off the running mean of what it has seen in training; scales."""

    def __init__(self, width):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(width))
        self.register_buffer("mean", torch.zeros(width))

    def forward(self, x):
        """x without the mean, scaled."""
        if self.training:
            self.mean = (self.mean + x.detach().mean(0)) / 2
        return self.scale * (x - self.mean)


def module(constructor=Mean, **options):
    """What a module answers, its scale being 1 and 2."""
    given = {"init": {"width": 2}, "state": {"scale": torch.tensor([1.0, 2.0], dtype=torch.float64)}, **options}
    return ask(constructor, "module", **given)


STEPS = [
    ((), X.mean(0) / 2),
    ([["eval"]], 0 * X[0]),
    ([["call", X], ["eval"]], X.mean(0) / 2),
    ([["call", X], ["call", X], ["eval"]], X.mean(0) * 3 / 4),
    ([["eval"], ["call", X], ["train"]], X.mean(0) / 2),
]


@pytest.mark.parametrize(("before", "mean"), STEPS)
def test_what_is_done_to_a_module_before_it_is_asked(before, mean):
    """Calls, training and evaluation in the order given; the last call is the answer, with the buffers after it."""
    wanted = torch.tensor([1.0, 2.0], dtype=torch.float64) * (X - mean)
    assert torch.allclose(module(before=before).value, wanted, rtol=1e-14)
    found = module(before=before, with_buffers=True).value
    assert torch.allclose(found["output"], wanted) and torch.allclose(found["buffers"]["mean"], mean)


def test_buffers_are_loaded_where_they_are_given():
    """Values for a buffer go to the buffer of that name; without them it is what the constructor makes of it."""
    found = module(before=[["eval"]], buffers={"mean": X[0]}).value
    assert torch.equal(found, torch.tensor([1.0, 2.0], dtype=torch.float64) * (X - X[0]))
    assert module(buffers={"variance": X[0]}).detail == "has no buffer variance"


class Renamed(nn.Module):
    """The parameter has another name."""

    def __init__(self, width):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(width))


class More(Mean):
    """A parameter too many."""

    def __init__(self, width):
        super().__init__(width)
        self.more = nn.Parameter(torch.ones(width))


class Wide(Mean):
    """Other shapes."""

    def __init__(self, width):
        super().__init__(width + 1)


class ByPlace(Mean):
    """A constructor without names."""

    def __init__(self, *sizes):
        super().__init__(*sizes)


class ByOtherName(Mean):
    """A constructor with other names."""

    def __init__(self, columns):
        super().__init__(columns)


@pytest.mark.parametrize(
    ("constructor", "said"),
    [
        (Mean, ""),
        (ByPlace, ""),
        (ByOtherName, ""),
        (lambda width: Mean(width), ""),
        (Renamed, "has no parameter scale"),
        (More, "has a parameter more that is not asked for"),
        (Wide, "has a parameter scale of shape (3,), but it should have shape (2,)"),
    ],
)
def test_parameters_by_name(constructor, said):
    """A module has the parameters that it should have, and no others; how its constructor is called is its affair."""
    found = module(constructor)
    assert (found.failure, found.detail) == (("parameters", said) if said else (None, ""))


class _LostOnTheWayBack(torch.autograd.Function):
    """Its value can be had, its gradient cannot."""

    @staticmethod
    def forward(ctx, x):
        return 2 * x

    @staticmethod
    def backward(ctx, weight):
        raise ValueError("no way back")


class _Scaled(nn.Module):
    """A module with one parameter."""

    def __init__(self):
        super().__init__()
        self.a = nn.Parameter(torch.ones(()))

    def forward(self, x):
        return self.a * x


def _sent(replies):
    """Answers as they travel."""
    return [encode(vars(reply)) for reply in replies]


def _fails(x):
    raise ValueError(f"{x.shape}")


def _changes_and_needs_numbers(x):
    return torch.from_numpy(x.mul_(2).numpy())


TWO_IN_ONE = {
    "right": lambda x: x.exp(),
    "changes its argument": lambda x: x.mul_(2),
    "detached": lambda x: (2 * x).detach(),
    "constant": lambda x: torch.ones(2, 2, dtype=torch.float64),
    "two outputs, one detached": lambda x: (x.sin(), (2 * x).detach()),
    "one output too few": lambda x: (),
    "another shape": lambda x: x.sum(),
    "another dtype": lambda x: x.float(),
    "no tensor": lambda x: [float(x.sum()), "word"],
    "raises": _fails,
    "cannot have gradients": _changes_and_needs_numbers,
    "raises where gradients are wanted": lambda x: 1 / 0 if x.requires_grad else 2 * x,
    "lost on the way back": _LostOnTheWayBack.apply,
    "ends the process": lambda x: exit(),
    "out of memory": lambda x: (_ for _ in ()).throw(MemoryError()),
    "nothing": None,
}


@pytest.mark.parametrize("subject", TWO_IN_ONE.values(), ids=TWO_IN_ONE)
def test_a_value_and_its_gradients_by_one_run_are_the_answers_to_the_two_questions(subject):
    """Whatever fails on one side only: each question has the answer that it has by itself."""
    weights = [ONES, ONES] if isinstance(subject, type(lambda: 0)) and "sin" in subject.__code__.co_names else [ONES]
    question = Question(kind="gradient", name="f", arguments=(X,), options={"wrt": (0,), "cotangent": weights})
    value = Question(kind="call", name="f", arguments=(X,))
    assert question_frame(value_alone(question)) == question_frame(value)
    found = [reply for _, reply in answers(question_frame(with_value(question)), {"f": subject})]
    wanted = [answer(value, {"f": subject}), answer(question, {"f": subject})]
    assert _sent(found) == _sent(wanted[:1] if wanted[0].failure == "missing" else wanted)


@pytest.mark.parametrize("subject", TWO_IN_ONE.values(), ids=TWO_IN_ONE)
def test_several_gradients_by_one_run_are_the_answers_to_each(subject):
    """A second cotangent, and one that fits no result: what is pulled back first takes nothing from the others."""
    value = Question(kind="call", name="f", arguments=(X,))
    several = [
        Question(kind="gradient", name="f", arguments=(X,), options={"wrt": (0,), "cotangent": weights})
        for weights in ([ONES], [ONES * X, ONES], [3 * X], [ONES])
    ]
    found = [reply for _, reply in answers(question_frame(with_value(*several)), {"f": subject})]
    wanted = [answer(question, {"f": subject}) for question in (value, *several)]
    assert _sent(found) == _sent(wanted[:1] if wanted[0].failure == "missing" else wanted)


@pytest.mark.parametrize("name", ["set_default_dtype", "enable_grad"])
def test_code_that_breaks_torch_keeps_no_answer_back(monkeypatch, name):
    """There is an answer to each question, though the modes cannot be switched back, or cannot be switched on."""
    before, works = torch.get_default_dtype(), getattr(torch, name)
    monkeypatch.setattr(torch, name, works)  # put back afterwards

    def breaks(x):
        setattr(torch, name, None)
        return 2 * x

    several = [
        Question(kind="gradient", name="f", arguments=(X,), options={"wrt": (0,), "cotangent": [weights]})
        for weights in (ONES, X)
    ]
    first, second = (list(answers(question_frame(with_value(*several)), {"f": breaks})) for _ in range(2))
    setattr(torch, name, works)
    torch.set_default_dtype(before)
    assert len(first) == len(second) == 3
    assert torch.equal(first[0][1].value, 2 * X) and {reply.failure for _, reply in second} == {"raised"}


def test_gradients_by_the_same_arguments_are_asked_with_their_value():
    """The most of them in one question; those by other arguments, and those of another call, by themselves."""
    calls = [Question(kind="call", name="f", arguments=arguments) for arguments in ((X, ONES), (ONES, X))]
    first, second, other, elsewhere = (
        Question(kind="gradient", name="f", arguments=arguments, options={"wrt": wrt, "cotangent": [weights]})
        for arguments, wrt, weights in (
            ((X, ONES), (0,), ONES),
            ((X, ONES), (0,), X),
            ((X, ONES), (0, 1), X),
            ((X, X), (0,), X),
        )
    )
    asked = Asked.together("f", [other, calls[0], first, calls[1], elsewhere, second])
    together = (question_key(calls[0]), question_key(first), question_key(second))
    assert [item.keys for item in asked] == [
        (question_key(other),), together, (question_key(calls[1]),), (question_key(elsewhere),)
    ]  # fmt: skip
    found = [reply for item in asked for _, reply in answers(item.frame, {"f": lambda x, y: (x * y).exp()})]
    asked_apart = [other, calls[0], first, second, calls[1], elsewhere]
    assert _sent(found) == _sent([answer(each, {"f": lambda x, y: (x * y).exp()}) for each in asked_apart])


def test_a_module_by_one_run():
    """The same for a module: what it gives, and the gradients by its inputs and parameters."""
    options = {"init": {}, "state": {"a": torch.tensor(3.0, dtype=torch.float64)}}
    value = Question(kind="module", name="f", arguments=(X,), options=options)
    question = Question(kind="module", name="f", arguments=(X,), options={**options, "cotangent": [ONES]})
    assert question_frame(value_alone(question)) == question_frame(value) and value_alone(value) is None
    found = [reply for _, reply in answers(question_frame(with_value(question)), {"f": _Scaled})]
    assert _sent(found) == _sent([answer(value, {"f": _Scaled}), answer(question, {"f": _Scaled})])
    assert torch.equal(found[0].value, 3 * X) and torch.equal(found[1].value[1], X.sum())

"""From a question and what the student defined to an answer: the one routine that runs students' functions.

It runs in the student's process while grading, and in ours only for references, mistakes and equivalents. It forms no
verdict: values come back as data, and anything that keeps a value from coming back becomes a failure with a reason.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import inspect
import io
import operator
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from autograder.core import Answer, Question
from autograder.errors import Unreadable
from autograder.protocol.codec import decode, encode, plain
from autograder.protocol.run_state import last_line, seeded
from autograder.protocol.sympy_text import in_words


def one_thread() -> None:
    """From here on torch takes one processor core: tensors are small here, and sums are added in one order."""
    import torch

    torch.set_num_threads(1)


def question_key(question: Question) -> str:
    """The same key for the same question, across runs. It is found once for each question: many ask for it."""
    if not question.found_key:
        with_key(question, hashlib.sha256(question_frame(question)).hexdigest())
    return question.found_key


def with_key(question: Question, key: str) -> Question:
    """A question that has this key: of one on record, what it asked is not kept."""
    object.__setattr__(question, "found_key", key)  # frozen to all others
    return question


def question_frame(question: Question) -> bytes:
    """A question's content as it travels."""
    if not question.found_frame:
        content = (question.kind, question.name, list(question.arguments), dict(question.options))
        object.__setattr__(question, "found_frame", encode(content))
    return question.found_frame


def question_in(frame: bytes | memoryview) -> Question:
    """The question in a frame. Its tensors can have gradients, even where a notebook has never left inference mode."""
    torch = sys.modules.get("torch")
    with torch.inference_mode(False) if torch else contextlib.nullcontext():
        kind, name, arguments, options = decode(frame)
    return Question(kind=kind, name=name, arguments=tuple(arguments), options=options)


PullBack = Callable[[Any], list[Any]]
Hear = Callable[[BaseException], object]


def _ignore(error: BaseException) -> None:
    """Nobody asks for the error itself."""


def answer(question: Question, namespace: Mapping[str, Any], hear: Hear = _ignore) -> Answer:
    """Answer one question from the names in `namespace`; never raises, except what stops the whole process.

    Arguments are the callee's own copies, and values ours: whatever one side does to them stays with it. `hear` is told
    of an error that the code raised.
    """
    try:
        found = answer_alone(question, namespace, hear, _OURS.get(question.kind, _of_a_copy))
    except BaseException as error:
        return failure_of(error, question.name)
    return arrived(found, question.name)


def _of_a_copy(subject: Any, question: Question) -> Any:
    return _KINDS[question.kind](subject, question_in(question_frame(question)))


@dataclasses.dataclass(frozen=True)
class _Ran:
    """A function that was called for its gradients."""

    function: Any
    arguments: tuple[Any, ...]
    others: dict[str, Any]  # whatever else was asked for
    pull_back: PullBack

    def answers(self, function: Any, arguments: tuple[Any, ...], others: dict[str, Any]) -> bool:
        """Whether it was the same call."""
        same = len(arguments) == len(self.arguments) and all(map(operator.is_, arguments, self.arguments))
        return self.function is function and same and self.others == others


_LAST: list[_Ran] = []  # one, or none


def _gradient_of_a_copy(function: Callable[..., Any], question: Question) -> Any:
    """The gradients, by the run that those before came from if they are of the same call: as in grading, where they
    are asked together.
    """
    others = {**question.options, "cotangent": None}
    ran = next(iter(_LAST), None)
    if ran is None or not ran.answers(function, question.arguments, others):
        _LAST.clear()
        _, pull_back = _run(function, question_in(question_frame(question)))
        ran = _Ran(function, question.arguments, others, pull_back)
        _LAST[:] = [ran]
    return ran.pull_back(question.options["cotangent"])


def arrived(found: Answer, name: str) -> Answer:
    """An answer as it comes out of another process: its value is data that nobody else holds."""
    try:
        return Answer(value=plain(found.value), failure=found.failure, detail=found.detail)
    except BaseException as error:
        return failure_of(error, name)


def answer_alone(
    question: Question, namespace: Mapping[str, Any], hear: Hear = _ignore, run: Callable[..., Any] | None = None
) -> Answer:
    """The same for a question just read, where nobody else holds the arguments, and whose value is sent on at once.

    `run` does what its kind asks for with what has its name.
    """
    if missing := _missing(question, namespace):
        return missing
    try:
        with _as_in_training(question):
            return Answer(value=(run or _KINDS[question.kind])(namespace[question.name], question))
    except BaseException as error:  # a student's SystemExit or KeyboardInterrupt is an answer too
        hear(error)
        return failure_of(error, question.name)


def _missing(question: Question, namespace: Mapping[str, Any]) -> Answer | None:
    if question.name not in namespace:
        return Answer(failure="missing", detail=f"{question.name} is not defined")
    subject = namespace[question.name]
    if subject is None or subject is ...:
        return Answer(failure="missing", detail=f"{question.name} is still {subject}")
    return None


def with_value(*questions: Question) -> Question:
    """Questions for gradients of the same call as one, whose answers are several: the value, then theirs in order."""
    cotangents = [question.options["cotangent"] for question in questions]
    return dataclasses.replace(questions[0], options={**questions[0].options, "cotangent": cotangents, _BOTH: True})


def value_alone(question: Question) -> Question | None:
    """The question for the value that gradients are asked of; None where none are."""
    options = {word: value for word, value in question.options.items() if word not in ("wrt", "cotangent", _BOTH)}
    if question.kind not in _RUNS or "cotangent" not in question.options:
        return None
    kind = {"gradient": "call"}.get(question.kind, question.kind)
    return Question(kind=kind, name=question.name, arguments=question.arguments, options=options)


def answers(frame: bytes | memoryview, namespace: Mapping[str, Any]) -> Iterator[tuple[str, Answer]]:
    """The name that a question in a frame asks for, with each answer: several, where it is `with_value`.

    They are the answers to the several questions, found by one run. Where that fails, it may be that only gradients
    cannot be had: then the value is asked for by itself.
    """
    question = question_in(frame)
    name = question.name
    if _BOTH not in question.options or _missing(question, namespace):
        yield name, answer_alone(question, namespace)
        return
    cotangents = question.options["cotangent"]
    told = 0
    try:
        with _as_in_training(question):
            output, pull_back = _RUNS[question.kind](namespace[name], question)
            told = 1
            yield name, Answer(value=output)
            for cotangent in cotangents:
                told += 1
                yield name, _pulled(pull_back, cotangent, name)
        return
    except GeneratorExit:
        raise
    except BaseException as error:  # also of code that keeps these modes from being switched on, or off again
        failed = failure_of(error, name)
    if not told:
        value = value_alone(question_in(frame))  # the code may have changed what it was given
        assert value
        yield name, answer_alone(value, namespace)
    yield from [(name, failed)] * (len(cotangents) + 1 - max(told, 1))


def _pulled(pull_back: PullBack, cotangent: Any, name: str) -> Answer:
    try:
        return Answer(value=pull_back(cotangent))
    except BaseException as error:
        return failure_of(error, name)


def failure_of(error: BaseException, name: str) -> Answer:
    """What is answered where an error keeps a value from being found, or from being read."""
    match error:
        case _OtherParameters():
            return Answer(failure="parameters", detail=str(error))
        case Unreadable():
            return Answer(failure="unreadable", detail=error.message)
        case MemoryError():
            return Answer(failure="memory", detail=f"{name} ran out of memory")
    return Answer(failure="raised", detail=last_line(error))


@contextlib.contextmanager
def _as_in_training(question: Question) -> Iterator[None]:
    """The modes that code meets in a training step, whatever was switched on before; that is switched on again after.

    Gradients are on, nothing is inferred, traced for anomalies or cast, new tensors live on the processor, and no
    warning is an error. Where no tensor given is of another precision, new ones are float64 unless their code says
    otherwise: else a right `scores / torch.sqrt(torch.tensor(U))` would differ by a rounding that nobody sees.
    """
    import numpy as np

    torch = sys.modules.get("torch")
    with (
        warnings.catch_warnings(),
        np.errstate(divide="warn", over="warn", under="ignore", invalid="warn"),
        contextlib.ExitStack() as modes,
        _torch_modes(torch, question) if torch else contextlib.nullcontext(),
    ):
        warnings.simplefilter("ignore")
        if "seed" in question.options:
            modes.enter_context(seeded(int(question.options["seed"])))
        if torch and "gradients" in question.options:
            _counted(torch, int(question.options["gradients"]), modes)
        yield


@contextlib.contextmanager
def _torch_modes(torch: Any, question: Question) -> Iterator[None]:
    device, dtype = _default_device(), torch.get_default_dtype()
    strict = torch.are_deterministic_algorithms_enabled()
    warn_only = torch.is_deterministic_algorithms_warn_only_enabled()
    elsewhere = device is not None and device.type != "cpu"
    try:
        # Not `use_deterministic_algorithms`, which imports a compiler, for seconds.
        torch._C._set_deterministic_algorithms(False)
        torch.set_default_dtype(torch.float64 if _all_float64(question) else torch.float32)
        with (
            torch.device("cpu") if elsewhere else contextlib.nullcontext(),
            torch.inference_mode(False),
            torch.enable_grad(),
            torch.autograd.set_detect_anomaly(False),
            torch.autocast("cpu", enabled=False),
        ):
            yield
    finally:
        torch._C._set_deterministic_algorithms(strict, warn_only=warn_only)
        torch.set_default_dtype(dtype)
        if _default_device() != device:
            torch.set_default_device(device)


def _counted(torch: Any, most: int, modes: contextlib.ExitStack) -> None:
    """No more than so many gradients are computed: whoever asks for another one gets an error."""
    left = [most]

    def counting(compute: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(compute)
        def computed(*arguments: Any, **words: Any) -> Any:
            left[0] -= 1
            if left[0] < 0:
                raise RuntimeError(f"more than {most} gradients were computed")
            return compute(*arguments, **words)

        return computed

    for name in ("backward", "grad"):
        modes.callback(setattr, torch.autograd, name, compute := getattr(torch.autograd, name))
        setattr(torch.autograd, name, counting(compute))


def _default_device() -> Any:
    """Where the notebook wants new tensors; None where it has not said. `get_default_device` wants it to be here."""
    return getattr(sys.modules.get("torch.utils._device"), "CURRENT_DEVICE", None)


def _all_float64(question: Question) -> bool:
    """Whether no tensor given is of another precision."""
    given = tensor_leaves([list(question.arguments), question.options.get("state")])
    return not {str(leaf.dtype) for leaf in given if leaf.is_floating_point()} - {"torch.float64"}


@contextlib.contextmanager
def quiet_stderr() -> Iterator[None]:
    """Nothing reaches standard error meanwhile, not even from a logging handler that holds the stream.

    nbgrader's own grading takes a cell that wrote to it for wrong.
    """
    stream = sys.stderr
    with contextlib.redirect_stderr(io.StringIO()) as sink:
        with contextlib.suppress(AttributeError, TypeError):
            stream.write = sink.write  # type: ignore[method-assign]
        try:
            yield
        finally:
            with contextlib.suppress(AttributeError, TypeError):
                del stream.write


def _call(function: Callable[..., Any], question: Question) -> Any:
    return function(*question.arguments)


def _value(subject: Any, question: Question) -> Any:
    return subject


def _typed(subject: Any, question: Question) -> Any:
    return in_words(subject)


def _gradient(function: Callable[..., Any], question: Question) -> Any:
    """The gradients of <cotangent, output> by the arguments at `wrt`; None where there is no path."""
    _, pull_back = _run(function, question)
    return pull_back(question.options["cotangent"])


def _run(function: Callable[..., Any], question: Question) -> tuple[Any, PullBack]:
    """What the function returns, and what pulls a cotangent back from there."""
    arguments, leaves = _grown(question.arguments, question.options["wrt"])
    output = function(*arguments)
    return output, functools.partial(_pull_back, output, leaves)


def _grown(arguments: Sequence[Any], wrt: Sequence[int]) -> tuple[list[Any], list[Any]]:
    """The arguments, and the leaves that those at `wrt` have grown from.

    As in a network, where what a layer is given is no leaf: it may be changed in place.
    """
    leaves = {place: arguments[place].requires_grad_() for place in wrt}
    grown = [leaves[place].clone() if place in leaves else item for place, item in enumerate(arguments)]
    return grown, list(leaves.values())


def _after(function: Callable[..., Any], question: Question) -> Any:
    """The arguments as they are after a call, and which of them have come to require gradients, or to have one."""
    arguments = question.arguments
    function(*arguments)
    return {
        "arguments": [item.detach() if tensor_leaves(item) == [item] else item for item in arguments],
        "marked": [any(leaf.requires_grad for leaf in tensor_leaves(item)) for item in arguments],
    }


def _module(constructor: Callable[..., Any], question: Question) -> Any:
    """Build the module, load its state, do what comes before, run it.

    A cotangent, if any, is pulled back to the floating-point inputs and to the parameters. Buffers are compared only
    where they are asked for.
    """
    if "cotangent" in question.options:
        _, pull_back = _run_module(constructor, question)
        return pull_back(question.options["cotangent"])
    module = _made_ready(constructor, question)
    output = module(*question.arguments)
    asked = question.options.get("with_buffers")
    return {"output": output, "buffers": dict(module.named_buffers())} if asked else output


def _made_ready(constructor: Callable[..., Any], question: Question) -> Any:
    options = question.options
    module = _built(constructor, options["init"]).double()
    _load(module, options["state"], options.get("buffers", {}))
    for word, *arguments in options.get("before", ()):
        module(*arguments) if word == "call" else module.train(word == "train")
    return module


def _run_module(constructor: Callable[..., Any], question: Question) -> tuple[Any, PullBack]:
    """What the module returns, and what pulls a cotangent back from there to inputs and parameters."""
    import torch

    module, given = _made_ready(constructor, question), question.arguments
    floating = [place for place, item in enumerate(given) if torch.is_tensor(item) and item.is_floating_point()]
    grown, leaves = _grown(given, floating)
    named = dict(sorted(module.named_parameters()))
    output = module(*grown)
    return output, functools.partial(_pull_back, output, [*leaves, *named.values()])


class _OtherParameters(Exception):
    """A module has not the parameters that it should have."""


def _load(module: Any, parameters: Mapping[str, Any], buffers: Mapping[str, Any]) -> None:
    """Load values by name: exactly these parameters, and among its buffers these. It may have buffers of its own."""
    for word, given, wanted in (
        ("parameter", dict(module.named_parameters()), parameters),
        ("buffer", dict(module.named_buffers()), buffers),
    ):
        for name, value in wanted.items():
            if name not in given:
                raise _OtherParameters(f"has no {word} {name}")
            if given[name].shape != value.shape:
                shapes = f"shape {tuple(given[name].shape)}, but it should have shape {tuple(value.shape)}"
                raise _OtherParameters(f"has a {word} {name} of {shapes}")
    if more := [name for name, _ in module.named_parameters() if name not in parameters]:
        raise _OtherParameters(f"has a parameter {more[0]} that is not asked for")
    module.load_state_dict({**parameters, **buffers}, strict=False)


def _built(constructor: Callable[..., Any], init: Mapping[str, Any]) -> Any:
    """The module, by the names of its constructor's arguments, or by their places where it calls them otherwise."""
    try:
        inspect.signature(constructor).bind(**init)
    except (TypeError, ValueError):
        return constructor(*init.values())
    return constructor(**init)


def _symbolic(function: Callable[..., Any], question: Question) -> Any:
    """The function run on numbers of a hundred digits: its results as digits, or why it cannot be run so."""
    from autograder.errors import StudentError
    from autograder.maths import symbolic

    arguments = question.arguments
    run = symbolic.high_precision_torch if tensor_leaves(arguments) else symbolic.high_precision
    try:
        results = run(function, *arguments)
    except StudentError as error:
        return {"unsupported": error.message}
    return {"digits": [[list(result.shape), list(result.entries)] for result in results]}


def _pull_back(output: Any, inputs: list[Any], cotangent: Any) -> list[Any]:
    import torch

    outputs = [item for item in tensor_leaves(output) if item.is_floating_point()]
    with torch.enable_grad():  # whatever the code has left behind
        # Not the cotangent itself: torch imports a compiler, for a second, to see that its shape is right.
        first, *others = [(item * weight).sum() for item, weight in zip(outputs, cotangent, strict=True)] or [None]
        total = sum(others, first)
    if not (torch.is_tensor(total) and total.requires_grad):
        return [None] * len(inputs)
    return list(torch.autograd.grad(total, inputs, allow_unused=True, retain_graph=True))  # others may be pulled back


def tensor_leaves(value: Any) -> list[Any]:
    """The torch tensors in a value, in the order in which they are written down."""
    if type(value).__module__.split(".")[0] == "torch" and hasattr(value, "detach"):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [leaf for item in value for leaf in tensor_leaves(item)]
    return []


_BOTH = "with_value"
_RUNS: dict[str, Callable[[Any, Question], tuple[Any, PullBack]]] = {
    "gradient": _run,
    "module": _run_module,
}


def _tests(suite: Callable[..., Any], question: Question) -> Any:
    """The student's tests, run on functions of which only results are there."""
    from autograder.protocol.stand_in import tried

    return tried(suite, question)


_OURS = {"gradient": _gradient_of_a_copy}
_KINDS: dict[str, Callable[[Any, Question], Any]] = {
    "after": _after,
    "call": _call,
    "gradient": _gradient,
    "module": _module,
    "symbolic": _symbolic,
    "tests": _tests,
    "text": _value,
    "typed": _typed,
    "value": _value,
}

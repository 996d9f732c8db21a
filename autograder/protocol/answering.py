"""From a question and what the student defined to an answer: the one routine that runs students' functions.

It runs in the student's process while grading, and in ours only for references, mistakes and equivalents. It forms no
verdict: values come back as data, and anything that keeps a value from coming back becomes a failure with a reason.
"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import io
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from autograder.core import Answer, Question
from autograder.errors import Unreadable
from autograder.protocol.codec import encode, plain
from autograder.protocol.sympy_text import in_words

MAX_DETAIL = 500


def one_thread() -> None:
    """From here on torch takes one processor core: tensors are small here, and sums are added in one order."""
    import torch

    torch.set_num_threads(1)


def question_key(question: Question) -> str:
    """The same key for the same question, across runs. It is found once for each question: many ask for it."""
    if not question.found_key:
        content = (question.kind, question.name, list(question.arguments), dict(question.options))
        object.__setattr__(question, "found_key", hashlib.sha256(encode(content)).hexdigest())  # frozen to all others
    return question.found_key


def answer(question: Question, namespace: Mapping[str, Any]) -> Answer:
    """Answer one question from the names in `namespace`; never raises, except what stops the whole process.

    Arguments are the callee's own copies: whatever it does to them stays with it.
    """
    if question.name not in namespace:
        return Answer(failure="missing", detail=f"{question.name} is not defined")
    subject = namespace[question.name]
    if subject is None or subject is ...:
        return Answer(failure="missing", detail=f"{question.name} is still {subject}")
    try:
        with _new_tensors_as_given(question):
            return Answer(value=plain(_KINDS[question.kind](subject, question)))
    except Unreadable as error:
        return Answer(failure="unreadable", detail=error.message)
    except MemoryError:
        return Answer(failure="memory", detail=f"{question.name} ran out of memory")
    except BaseException as error:  # a student's SystemExit or KeyboardInterrupt is an answer too
        return Answer(failure="raised", detail=last_line(error))


@contextlib.contextmanager
def _new_tensors_as_given(question: Question) -> Iterator[None]:
    """Where no tensor given is of another precision, those made meanwhile are float64 unless their code says otherwise.

    Else a right `scores / torch.sqrt(torch.tensor(U))` would differ by a rounding to float32 that nobody sees.
    """
    given = tensor_leaves([list(question.arguments), question.options.get("state")])
    dtypes = {str(leaf.dtype) for leaf in given if leaf.is_floating_point()}
    torch = sys.modules.get("torch")
    if torch is None or dtypes - {"torch.float64"}:
        yield
        return
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


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


def last_line(error: BaseException) -> str:
    """`ValueError: …`, shortened; an exception whose own text raises keeps its type."""
    try:
        line = traceback.format_exception_only(error)[-1].strip()
    except BaseException:
        line = type(error).__name__
    return line[:MAX_DETAIL]


def _call(function: Callable[..., Any], question: Question) -> Any:
    return function(*plain(question.arguments))


def _value(subject: Any, question: Question) -> Any:
    return subject


def _typed(subject: Any, question: Question) -> Any:
    return in_words(subject)


def _gradient(function: Callable[..., Any], question: Question) -> Any:
    """Outputs, and the gradients of <cotangent, output> by the arguments at `wrt`; None where there is no path."""
    arguments = list(plain(question.arguments))
    inputs = [arguments[position].requires_grad_(True) for position in question.options["wrt"]]
    output = function(*arguments)
    return {"output": output, "gradient": _pull_back(output, inputs, question.options["cotangent"])}


def _module(constructor: Callable[..., Any], question: Question) -> Any:
    """Build the module, load the state strictly, run it; pull a cotangent, if any, back to inputs and parameters."""
    import torch

    module = _built(constructor, question.options["init"]).double()
    module.load_state_dict(plain(question.options["state"]), strict=True)
    arguments = list(plain(question.arguments))
    cotangent = question.options.get("cotangent")
    if cotangent is None:
        with torch.no_grad():
            return module(*arguments)
    inputs = [item.requires_grad_(True) for item in arguments if torch.is_tensor(item) and item.is_floating_point()]
    named = dict(sorted(module.named_parameters()))
    output = module(*arguments)
    return {"output": output, "gradient": _pull_back(output, [*inputs, *named.values()], cotangent)}


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

    arguments = plain(question.arguments)
    run = symbolic.high_precision_torch if tensor_leaves(arguments) else symbolic.high_precision
    try:
        results = run(function, *arguments)
    except StudentError as error:
        return {"unsupported": error.message}
    return {"digits": [[list(result.shape), list(result.entries)] for result in results]}


def _pull_back(output: Any, inputs: list[Any], cotangent: Any) -> list[Any]:
    import torch

    outputs = [item for item in tensor_leaves(output) if item.is_floating_point()]
    total = sum((item * weight).sum() for item, weight in zip(outputs, plain(list(cotangent)), strict=True))
    if not (torch.is_tensor(total) and total.requires_grad):
        return [None] * len(inputs)
    return list(torch.autograd.grad(total, inputs, allow_unused=True))


def tensor_leaves(value: Any) -> list[Any]:
    """The torch tensors in a value, in the order in which they are written down."""
    if type(value).__module__.split(".")[0] == "torch" and hasattr(value, "detach"):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [leaf for item in value for leaf in tensor_leaves(item)]
    return []


_KINDS: dict[str, Callable[[Any, Question], Any]] = {
    "call": _call,
    "gradient": _gradient,
    "module": _module,
    "symbolic": _symbolic,
    "text": _value,
    "typed": _typed,
    "value": _value,
}

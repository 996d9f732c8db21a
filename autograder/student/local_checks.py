"""Local checks in a student's notebook: they say what is malformed, never what is right."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from autograder.core import Answer, Question
from autograder.errors import StudentError, Unreadable
from autograder.student.preview import (
    Shown,
    as_typed,
    present,
    show_derivation,
    show_equation,
    show_expression,
    show_growth,
    show_matrix,
)


class Malformed(StudentError):
    """An answer that has not the form asked for; shown in a notebook without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return [f"Not yet in the form asked for: {self.message}"]


@dataclass(frozen=True)
class Array:
    """The library, dtype and shape of an array, without its entries."""

    library: str
    shape: tuple[int, ...]
    dtype: str

    def example(self, number: int = 0) -> Any:
        """Some array of that form; whole numbers are zeros and ones, so that they can index anything."""
        import numpy as np

        rng = np.random.default_rng(number)
        whole = "int" in self.dtype or self.dtype == "bool"
        entries = rng.integers(0, 2, self.shape) if whole else rng.standard_normal(self.shape)
        if self.library == "numpy":
            return np.asarray(entries).astype(self.dtype)
        import torch

        return torch.as_tensor(np.asarray(entries)).to(getattr(torch, self.dtype))

    def __str__(self) -> str:
        library = "torch tensor" if self.library == "torch" else "numpy array"
        return f"a {library} of shape {self.shape} and dtype {self.dtype}"


def tensor(*shape: int, dtype: str = "float64") -> Array:
    """The form of a torch tensor."""
    return Array("torch", shape, dtype)


def array(*shape: int, dtype: str = "float64") -> Array:
    """The form of a numpy array."""
    return Array("numpy", shape, dtype)


def check(name: str, /, *, returns: Any, **arguments: Any) -> None:
    """Call the function `name` on arguments of the given forms and look at the form of what it returns."""
    subject = _defined(name)
    if not callable(subject):
        raise Malformed("type", f"{name} is {_form(subject)}, not a function.")
    values = tuple(_example(form, place) for place, form in enumerate(arguments.values()))
    _look(name, subject, Question(kind="call", name=name, arguments=values), returns)


def check_module(name: str, /, *, init: dict[str, Any], state: dict[str, Any], returns: Any, **arguments: Any) -> None:
    """Build the module `name`, load parameters of the given names and shapes, and look at the form of its result."""
    subject = _defined(name)
    if not isinstance(subject, type):
        raise Malformed("type", f"{name} is {_form(subject)}, not a class.")
    options = {"init": init, "state": {key: form.example() for key, form in state.items()}}
    values = tuple(_example(form, place) for place, form in enumerate(arguments.values()))
    _look(name, subject, Question(kind="module", name=name, arguments=values, options=options), returns)


def check_number(name: str, /) -> None:
    """Say whether the name is bound to a number."""
    from autograder.checks.compare import number

    subject = _defined(name)
    if number(subject) is None:
        raise Malformed("type", f"{name} is {_form(subject)}; a number is wanted.")
    print(f"{name}: a number. (Whether it is right is not looked at here.)")


def check_choice(name: str, letters: str, /) -> None:
    """Say whether the name is bound to one of the letters."""
    subject = _defined(name)
    if not isinstance(subject, str) or subject.strip().strip("().:").strip().lower() not in list(letters):
        raise Malformed("no_option", f"{name} must be one of {', '.join(map(repr, letters))}.")
    print(f"{name}: one of the letters. (Whether it is right is not looked at here.)")


def check_expression(name: str, /, **declared: Any) -> None:
    """Show a closed form as the grader reads it, or where reading stops."""
    _read(name, as_typed(_defined(name)), str, show_expression, declared)


def check_matrix(name: str, /, **declared: Any) -> None:
    """Show a matrix of closed forms as the grader reads it, or where reading stops."""
    _read(name, _defined(name), list, show_matrix, declared)


def check_growth(name: str, /, **declared: Any) -> None:
    """Show a bound as the grader reads it, or where reading stops."""
    _read(name, _defined(name), str, show_growth, declared)


def check_equation(name: str, /, **declared: Any) -> None:
    """Show tensor equations as the grader reads them, with a note on each index, or where reading stops."""
    _read(name, _defined(name), str, show_equation, declared)


def check_derivation(name: str, /, **declared: Any) -> None:
    """Show the lines as the grader reads them, or where reading stops."""
    _read(name, _defined(name), str, show_derivation, declared)


def _read(name: str, subject: Any, wanted: type, show: Callable[..., Shown], declared: dict[str, Any]) -> None:
    if not isinstance(subject, wanted):
        raise Malformed("type", f"{name} is {_form(subject)}; write it as the comment in the cell above shows.")
    try:
        shown = show(subject, **declared)
    except Unreadable as error:
        raise Malformed(error.code, f"{name} cannot be read:\n{error.caret()}") from error
    present(shown.bundle())
    print(f"{name}: this is how it is read. (Whether it is right is not looked at here.)")


def _defined(name: str) -> Any:
    """What the notebook calls `name`: the globals of the cell that called the check."""
    names = sys._getframe(2).f_globals
    if name not in names or names[name] is None or names[name] is ...:
        raise Malformed("missing", f"{name} is not defined yet. Answer it in the cell above, and run that cell.")
    return names[name]


def _look(name: str, subject: Any, question: Question, returns: Any) -> None:
    from autograder.protocol.answering import answer, quiet_stderr

    with quiet_stderr():
        reply: Answer = answer(question, {name: subject})
    if reply.failure:
        what = (
            "is not written yet" if reply.detail.startswith("NotImplementedError") else f"stopped with {reply.detail}"
        )
        raise Malformed(reply.failure, f"{name} {what}.")
    if fault := _fault(reply.value, returns, "the result"):
        raise Malformed("form", f"{name}: {fault}.")
    print(f"{name}: the result has the form asked for. (Whether it is right is not looked at here.)")


def _example(form: Any, place: int) -> Any:
    if isinstance(form, Array):
        return form.example(place)
    if isinstance(form, dict):
        return {key: _example(item, place) for key, item in form.items()}
    if isinstance(form, list | tuple):
        return type(form)(_example(item, place) for item in form)
    return form


def _fault(value: Any, form: Any, where: str) -> str:
    """What keeps a value from having the form; empty if nothing does."""
    if isinstance(form, dict):
        if not isinstance(value, dict):
            return f"{where} is {_form(value)}; a dict is wanted"
        if set(value) != set(form):
            return f"{where} has the entries {', '.join(value) or 'none'}; wanted are {', '.join(form)}"
        return next(filter(None, (_fault(value[key], item, f"entry {key!r}") for key, item in form.items())), "")
    if isinstance(form, list | tuple):
        if not isinstance(value, list | tuple) or len(value) != len(form):
            return f"{where} is {_form(value)}; {len(form)} values are wanted"
        pairs = enumerate(zip(value, form, strict=True), 1)
        return next(filter(None, (_fault(item, wanted, f"value {i} of {where}") for i, (item, wanted) in pairs)), "")
    if isinstance(form, Array):
        return "" if _form(value) == str(form) else f"{where} is {_form(value)}; wanted is {form}"
    from autograder.checks.compare import number

    good = number(value) is not None if form in (int, float) else form is None or isinstance(value, form)
    return "" if good else f"{where} is {_form(value)}; wanted is {getattr(form, '__name__', form)}"


def _form(value: Any) -> str:
    from autograder.checks.compare import is_tensor, kind

    if is_tensor(value):
        return str(Array("torch", tuple(value.shape), str(value.dtype).removeprefix("torch.")))
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return str(Array("numpy", tuple(value.shape), str(value.dtype)))
    return kind(value)

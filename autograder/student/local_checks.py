"""Local checks in a student's notebook: they say what is malformed, never what is right.

What is common to them; each kind of answer has its own check in its own file (`Part.check_form`).
"""

from __future__ import annotations

import sys
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from autograder.errors import StudentError
from autograder.protocol.respondents import filled

if TYPE_CHECKING:
    from autograder.core import Question


WIDTH = 80  # columns that a notebook shows in a window of 900 pixels


class Malformed(StudentError):
    """An answer that has not the form asked for; shown in a notebook without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return [f"This does not have the required form yet: {self.message}"]


@dataclass(frozen=True)
class Array:
    """The library, dtype and shape of an array, without its entries; any dtype where none is named."""

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
        return f"a {library} of shape {self.shape}" + (f" and dtype {self.dtype}" if self.dtype else "")


def tensor(*shape: int, dtype: str = "float64") -> Array:
    """The form of a torch tensor."""
    return Array("torch", shape, dtype)


def array(*shape: int, dtype: str = "float64") -> Array:
    """The form of a numpy array."""
    return Array("numpy", shape, dtype)


def defined(name: str) -> Any:
    """What the notebook calls `name`: the globals of the cell that called the check."""
    names = of_the_notebook()
    if name not in names or not filled(names[name]):
        empty = "is not defined yet" if name not in names else "is not answered yet"
        raise Malformed("missing", f"{name} {empty}. Write your answer in the cell above and run that cell.")
    return names[name]


def of_the_notebook() -> dict[str, Any]:
    """The names of the notebook's kernel: the globals of the cell that called us."""
    frame = sys._getframe(1)
    while str(frame.f_globals.get("__name__")).split(".")[0] == "autograder" and frame.f_back:
        frame = frame.f_back
    return frame.f_globals


def look(subject: Any, question: Question, returns: Any) -> None:
    """Ask the question and say what keeps its answer from having the form."""
    from autograder.protocol.answering import answer, quiet_stderr

    name = question.name
    heard: list[BaseException] = []
    with quiet_stderr():
        reply = answer(question, {name: subject}, heard.append)
    if reply.detail.startswith("NotImplementedError"):
        raise Malformed("missing", f"{name} is not written yet.")
    if reply.failure == "parameters":
        raise Malformed(reply.failure, f"{name} {reply.detail}.")
    if reply.failure:
        where = "".join(f"\n  {line}" for error in heard[:1] for line in frames(error))
        raise Malformed(reply.failure, f"{name} stopped with {reply.detail}.{where}")
    if fault := _fault(reply.value, returns, "the result"):
        raise Malformed("form", f"{name}: {fault}.")
    well_formed(name, "the result has the required form")


def well_formed(name: str, said: str) -> None:
    """Say that an answer has its form, and no more."""
    no_more = "(This cell does not check whether it is correct.)"
    room = len(f"{name}: {said}. {no_more}") <= WIDTH
    say(f"{name}: {said}.{' ' if room else chr(10)}{no_more}")


def say(text: str) -> None:
    """Print a message; a notebook would break long lines within words."""
    for line in text.split("\n"):
        words = textwrap.wrap(line, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
        print("\n".join(words) or line)


def frames(error: BaseException) -> list[str]:
    """Where in the notebook's cells an error arose, the outermost place first."""
    import linecache
    import traceback

    shell = the_shell()
    told = []
    for frame, line in traceback.walk_tb(error.__traceback__):
        code = frame.f_code
        if frame.f_globals.get("__name__") != "__main__":
            continue
        place = shell and getattr(shell.compile, "format_code_name", lambda name: None)(code.co_filename)
        cell = f"cell {place[1].removeprefix('In')}, " if place else ""
        text = linecache.getline(code.co_filename, line).strip()
        told.append(f"{cell}line {line}, in {code.co_name}{f': {text}' if text else ''}")
    return told if len(told) <= _MOST_FRAMES else [*told[:2], "…", *told[3 - _MOST_FRAMES :]]


_MOST_FRAMES = 10


def the_shell() -> Any:
    """The IPython that runs the notebook; None outside one."""
    ipython = sys.modules.get("IPython")
    return ipython and ipython.get_ipython()


def example(form: Any, place: int) -> Any:
    """Some value of that form."""
    if isinstance(form, Array):
        return form.example(place)
    if isinstance(form, dict):
        return {key: example(item, place) for key, item in form.items()}
    if isinstance(form, list | tuple):
        return type(form)(example(item, place) for item in form)
    return form


def _fault(value: Any, form: Any, where: str) -> str:
    """What keeps a value from having the form; empty if nothing does."""
    if isinstance(form, dict):
        if not isinstance(value, dict):
            return f"{where} is {form_of(value)}, but it should be a dict"
        if set(value) != set(form):
            return f"{where} has the entries {', '.join(value) or 'none'}; it should have {', '.join(form)}"
        return next(filter(None, (_fault(value[key], item, f"entry {key!r}") for key, item in form.items())), "")
    if isinstance(form, list | tuple):
        if not isinstance(value, list | tuple) or len(value) != len(form):
            return f"{where} is {form_of(value)}, but it should be {len(form)} values"
        pairs = enumerate(zip(value, form, strict=True), 1)
        return next(filter(None, (_fault(item, wanted, f"value {i} of {where}") for i, (item, wanted) in pairs)), "")
    if isinstance(form, Array):
        found = form_of(value) if form.dtype else form_of(value).partition(" and dtype")[0]
        return "" if found == str(form) else f"{where} is {form_of(value)}, but it should be {form}"
    from autograder.checks.compare import number

    good = number(value) is not None if form in (int, float) else form is None or isinstance(value, form)
    return "" if good else f"{where} is {form_of(value)}, but it should be {getattr(form, '__name__', form)}"


def form_of(value: Any) -> str:
    """What a value is, in a student's words; an array with its shape and dtype."""
    from autograder.checks.compare import is_tensor, kind

    if is_tensor(value):
        return str(Array("torch", tuple(value.shape), str(value.dtype).removeprefix("torch.")))
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return str(Array("numpy", tuple(value.shape), str(value.dtype)))
    return kind(value)

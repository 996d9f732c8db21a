"""Students that the audit makes up: whoever hands in a given cell, nothing at all, or something without thought."""

from __future__ import annotations

import contextlib
import functools
import io
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from autograder.checks.compare import is_tensor
from autograder.core import Answer, Ask, Parameters, Part, Problem, Question
from autograder.parts.source import BEGIN, END, FORM
from autograder.protocol.answering import answer, last_line
from autograder.protocol.respondents import takes_parameters

_SOLUTION = re.compile(rf"^([ \t]*){re.escape(BEGIN)}.*?{re.escape(END)}", re.MULTILINE | re.DOTALL)


def handed_in(problem: Problem, part: Part, cell: str) -> Ask:
    """Answers for a notebook whose answer cell has this text: run after the problem's setup, in names of its own."""
    if part.judged_by_person:
        text = re.sub(rf"^({re.escape(BEGIN)}|{re.escape(END)})$", "", cell, flags=re.MULTILINE)
        return lambda question: Answer(value=text)
    namespace: dict[str, Any] = {"__name__": "answers"}
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(problem.setup, f"setup of {problem.slug}", "exec"), namespace)  # noqa: S102 - an author's text
            exec(compile(cell, f"answer cell of {part.name}", "exec"), namespace)  # noqa: S102
    except Exception as error:
        if part.name not in namespace:
            stopped = Answer(failure="raised", detail=f"{last_line(error)} (while its cell ran)")
            return lambda question: stopped
    return functools.partial(answer, namespace=namespace)


def visible_check(problem: Problem, part: Part, p: Parameters, cell: str) -> str:
    """What the notebook's visible check says against this cell; empty where it says nothing, or there is none."""
    namespace: dict[str, Any] = {"__name__": "answers"}
    text = part.local_check(p)
    try:
        exec(compile(problem.setup, f"setup of {problem.slug}", "exec"), namespace)  # noqa: S102
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(cell, f"answer cell of {part.name}", "exec") if text else "", namespace)  # noqa: S102
            exec(FORM, namespace)  # noqa: S102
            exec(compile(text, f"visible check of {part.name}", "exec"), namespace)  # noqa: S102
    except Exception as error:
        return last_line(error)
    return ""


def untouched(problem: Problem, part: Part, p: Parameters) -> Ask:
    """Answers for a student who hands in the released cell as it is."""
    gap = "" if part.judged_by_person else r"\1raise NotImplementedError()"
    return handed_in(problem, part, _SOLUTION.sub(gap, part.solution_cell(p)))


def thoughtless(part: Part, p: Parameters) -> Iterator[tuple[str, Ask]]:
    """Answers that take no thought, with what they are: none of them may earn points."""
    subjects: dict[str, Any] = {"None": None}
    if part.kind == "function":
        reference = functools.partial(part.reference, p=p) if takes_parameters(part.reference) else part.reference
        subjects |= {
            "a function that returns None": lambda *arguments: None,
            "zeros of the right shape": lambda *arguments: _zeros(reference(*arguments)),
            "the first argument": lambda *arguments: arguments[0],
        }
    elif part.kind == "module":
        subjects |= {
            "a module that returns None": _module(part.reference, p, lambda result, arguments: None),
            "zeros of the right shape": _module(part.reference, p, lambda result, arguments: _zeros(result)),
            "the first argument": _module(part.reference, p, lambda result, arguments: arguments[0]),
        }
    elif part.kind == "number":
        subjects |= {"nan": float("nan"), "an empty string": "", "an empty list": []}
    elif part.kind == "choice":
        subjects |= {"an empty string": "", "all letters at once": "abcdefghijklmnopqrstuvwxyz", "a number": 1}
    elif part.judged_by_person:
        subjects = {"an empty answer": "", "blanks": " \n\t"}
    for name, subject in subjects.items():
        yield (
            name,
            (_says(subject) if part.judged_by_person else functools.partial(answer, namespace={part.name: subject})),
        )


def _says(text: str) -> Ask:
    def ask(question: Question) -> Answer:
        return Answer(value=text)

    return ask


def _module(reference: Any, p: Parameters, alter: Callable[[Any, tuple[Any, ...]], Any]) -> Any:
    """A constructor of modules that have the reference's parameters and alter its result."""

    def forward(self: Any, *arguments: Any) -> Any:
        return alter(reference.forward(self, *arguments), arguments)

    altered = type("Altered", (reference,), {"forward": forward})
    return functools.partial(altered, p=p) if takes_parameters(reference) else altered


def _zeros(value: Any) -> Any:
    if is_tensor(value):
        return value * 0
    if isinstance(value, np.ndarray):
        return np.zeros_like(value)
    if isinstance(value, dict):
        return {key: _zeros(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_zeros(item) for item in value)
    return 0 if isinstance(value, int | float) else value

"""Students that the audit makes up: whoever hands in a given cell, nothing at all, or something without thought."""

from __future__ import annotations

import contextlib
import functools
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from types import CodeType, MappingProxyType
from typing import Any

from autograder.core import BEGIN, END, Answer, Ask, Parameters, Part, Problem, Question
from autograder.protocol.answering import answer, answers, arrived, question_key
from autograder.protocol.cell_text import written_text
from autograder.protocol.run_state import last_line
from autograder.sandbox.task import Asked

Pairs = Mapping[str, Asked]
FORM = "from autograder import student as form"  # by which a visible check is called
_FORMULA = re.compile(r"\$\$(.+?)\$\$|\$([^$]+)\$", re.DOTALL)
_NAME = re.compile(r"\\?[A-Za-z]+(_\{?\w+\}?)?|\d+")  # it stands in every statement


@functools.lru_cache(maxsize=1024)
def _code(text: str, name: str) -> CodeType:
    return compile(text, name, "exec")


def handed_in(problem: Problem, part: Part, cell: str, pairs: Pairs = MappingProxyType({})) -> Ask:
    """Answers for a notebook whose answer cell has this text: run after the problem's setup, in names of its own.

    `pairs` are asked as in grading, where a value and its gradients come from one run.
    """
    if part.judged_by_person:
        text = re.sub(rf"^({re.escape(BEGIN)}|{re.escape(END)})$", "", cell, flags=re.MULTILINE)
        return lambda question: Answer(value=text)
    namespace = _words(part)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(_code(problem.setup, f"setup of {problem.slug}"), namespace)  # noqa: S102 - an author's text
            exec(_code(cell, f"answer cell of {part.name}"), namespace)  # noqa: S102
    except Exception as error:
        if part.name not in namespace:
            stopped = Answer(failure="raised", detail=f"{last_line(error)} (while its cell ran)")
            return lambda question: stopped
    return _in_pairs(namespace, pairs) if pairs else functools.partial(answer, namespace=namespace)


def foreseen(part: Part, questions: Sequence[Question]) -> Pairs:
    """Of the questions that a right answer is asked, those for a value and its gradients, by the key of the value."""
    return {item.keys[0]: item for item in Asked.together(part.name, questions) if len(item.keys) > 1}


def _in_pairs(namespace: dict[str, Any], pairs: Pairs) -> Ask:
    replies: dict[str, Answer] = {}

    def ask(question: Question) -> Answer:
        key = question_key(question)
        if key in pairs and key not in replies:  # a single one comes back where there is no such name
            found = answers(pairs[key].frame, namespace)
            replies.update(
                (of, arrived(reply, name)) for of, (name, reply) in zip(pairs[key].keys, found, strict=False)
            )
        return replies[key] if key in replies else answer(question, namespace)

    return ask


def _words(part: Part) -> dict[str, Any]:
    """The names of a notebook in which nothing was run but its first cell."""
    preview = type(part).preview
    return {"__name__": "answers", **({part.kind: preview} if preview else {})}


def visible_check(problem: Problem, part: Part, text: str, cell: str) -> str:
    """What a visible check of this text says against a cell; empty where it says nothing, or there is none."""
    namespace = _words(part)
    try:
        exec(_code(problem.setup, f"setup of {problem.slug}"), namespace)  # noqa: S102
        with contextlib.redirect_stdout(io.StringIO()):
            exec(_code(cell if text else "", f"answer cell of {part.name}"), namespace)  # noqa: S102
            exec(_code(FORM, "form"), namespace)  # noqa: S102
            exec(_code(text, f"visible check of {part.name}"), namespace)  # noqa: S102
    except Exception as error:
        return last_line(error)
    return ""


def untouched(problem: Problem, part: Part, p: Parameters) -> Ask:
    """Answers for a student who hands in the released cell as it is."""
    if part.judged_by_person:
        return handed_in(problem, part, written_text(part.stub_cell(p)))
    return handed_in(problem, part, part.stub_cell(p))


def thoughtless(part: Part, p: Parameters) -> Iterator[tuple[str, Ask]]:
    """Answers that take no thought, with what they are: all of them are lost."""
    for name, subject in part.trivial_answers(p).items():
        yield name, functools.partial(answer, namespace={part.name: subject})


def blind(part: Part, p: Parameters, section: str) -> Iterator[tuple[str, Ask]]:
    """Answers of somebody who does not know it, with what they are: none of them may earn points."""
    formulas = [" ".join((displayed or inline).split()) for displayed, inline in _FORMULA.findall(section)]
    shown = [formula for formula in dict.fromkeys(formulas) if not _NAME.fullmatch(formula)]
    for name, subject in part.blind_answers(p, shown).items():
        yield name, functools.partial(answer, namespace={part.name: subject})

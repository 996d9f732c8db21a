"""Respondents: the student through a channel, and references or mistakes in our own process."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from autograder.answering import answer
from autograder.core import Answer, Ask, Case, Parameters, Question, Verdict
from autograder.errors import AuthorError
from autograder.parts.source import takes_parameters


class NoAnswer(Exception):
    """A respondent gave a failure instead of a value."""

    def __init__(self, reply: Answer) -> None:
        super().__init__(reply.detail)
        self.reply = reply


def value_of(reply: Answer) -> Any:
    """The value of an answer; raises NoAnswer for a failure."""
    if reply.failure is not None:
        raise NoAnswer(reply)
    return reply.value


def local(function: Callable[..., Any], name: str, p: Parameters) -> Ask:
    """Answers for a function of ours, by the same route as a student's."""
    bound = functools.partial(function, p=p) if takes_parameters(function) else function
    return functools.partial(answer, namespace={name: bound})


def trusted(function: Callable[..., Any], name: str, p: Parameters) -> Ask:
    """Answers for a reference: what keeps it from answering is raised, so that no student is marked for it."""
    ask = local(function, name, p)

    def raising(question: Question) -> Answer:
        reply = ask(question)
        if reply.failure is not None:
            raise RuntimeError(f"the reference of {name} fails: {reply.detail or reply.failure}")
        return reply

    return raising


@dataclass(frozen=True, kw_only=True)
class FunctionRespondent:
    """Somebody who answers for a function."""

    name: str
    ask: Ask

    def call(self, *arguments: Any) -> Any:
        """What the function returns."""
        return value_of(self.ask(Question(kind="call", name=self.name, arguments=arguments)))

    def gradient(self, arguments: tuple[Any, ...], wrt: tuple[int, ...], cotangent: list[Any]) -> Any:
        """Output and gradients by the arguments at `wrt`."""
        options = {"wrt": list(wrt), "cotangent": cotangent}
        return value_of(self.ask(Question(kind="gradient", name=self.name, arguments=arguments, options=options)))

    def precise(self, *arguments: Any) -> Any:
        """What the function returns on numbers of a hundred digits: `{"digits": …}` or `{"unsupported": why}`."""
        return value_of(self.ask(Question(kind="symbolic", name=self.name, arguments=arguments)))


@dataclass(frozen=True, kw_only=True)
class ModuleRespondent:
    """Somebody who answers for a module, built anew for each question from the case's `init` and `state`."""

    name: str
    ask: Ask
    case: Case

    def call(self, *arguments: Any) -> Any:
        """What `forward` returns."""
        return value_of(
            self.ask(Question(kind="module", name=self.name, arguments=arguments, options=self.case.options))
        )

    def gradient(self, arguments: tuple[Any, ...], wrt: tuple[int, ...], cotangent: list[Any]) -> Any:
        """Output and gradients by every floating-point input, then by every parameter in order of their names."""
        options = {**self.case.options, "cotangent": cotangent}
        return value_of(self.ask(Question(kind="module", name=self.name, arguments=arguments, options=options)))

    def precise(self, *arguments: Any) -> Any:
        """A module's parameters are floats: there is nothing exact to ask for."""
        raise AuthorError("symbolic", f"part {self.name!r}: symbolic() is for functions, not for modules")


def failure_verdict(check: str, name: str, reply: Answer) -> Verdict:
    """What a student reads where there is no value."""
    detail = reply.detail
    if reply.failure == "raised" and detail.startswith("NotImplementedError"):
        reply = Answer(failure="missing", detail=detail)
    sentences = {
        "missing": f"{name} has not been answered: the notebook does not define it.",
        "raised": f"{name} raised {detail}",
        "timeout": f"{name} took too long: {detail}",
        "memory": f"{name} used more memory than there is for one submission.",
        "exit": f"The process ended while {name} was running: {detail}",
        "unreadable": f"{name} gave {detail}, which is no answer of the kind asked for.",
        "staff": f"{name} could not be looked at; this is not your fault, and a person will.",
    }
    failure = reply.failure or "staff"
    return Verdict(
        check=check, ok=None if failure == "staff" else False, code=failure, message=sentences[failure], staff=detail
    )

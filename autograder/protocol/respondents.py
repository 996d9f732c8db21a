"""Who answers questions: the student through a channel, and references or mistakes in our own process.

Light on purpose: a kind of answer imports this in a student's notebook too, where nobody is asked anything.
"""

from __future__ import annotations

import functools
import inspect
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from autograder.core import Answer, Ask, Case, Parameters, Question, Verdict
from autograder.errors import AuthorError, Unreadable
from autograder.protocol.lacking import lacking

PARAMETERS = "p"  # the keyword-only argument by which a reference asks for the variant's parameters


@functools.lru_cache(maxsize=4096)
def takes_parameters(function: Callable[..., Any]) -> bool:
    """Whether the function, or the class's constructor, asks for the variant's parameters (`*, p`)."""
    parameter = inspect.signature(function).parameters.get(PARAMETERS)
    return parameter is not None and parameter.kind is inspect.Parameter.KEYWORD_ONLY


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


class Interview:
    """Asks each question once and remembers the answers, in order."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._replies: dict[str, tuple[Question, Answer]] = {}

    def __call__(self, question: Question) -> Answer:
        """The answer to a question, from memory where it was asked before."""
        from autograder.protocol.answering import question_key

        key = question_key(question)
        if key not in self._replies:
            self._replies[key] = (question, self._ask(question))
        return self._replies[key][1]

    @property
    def answers(self) -> tuple[tuple[Question, Answer], ...]:
        """Everything that was asked and what came back."""
        return tuple(self._replies.values())


def local(subject: Any, name: str, p: Parameters) -> Ask:
    """Answers for a function or a value of ours, by the same route as a student's."""
    from autograder.protocol.answering import answer

    bound = functools.partial(subject, p=p) if callable(subject) and takes_parameters(subject) else subject
    return functools.partial(answer, namespace={name: bound})


@dataclass(frozen=True)
class Known:
    """Answers for a reference or a mistake, each worked out once: a whole class is asked the same questions."""

    function: Callable[..., Any]
    name: str
    parameters: bytes
    ask: Ask = field(compare=False)

    def __call__(self, question: Question) -> Answer:
        """The answer to a question, from memory where it was asked before."""
        from autograder.protocol.answering import question_key

        place = (self.function, self.name, self.parameters, question_key(question))
        found = _KNOWN.get(place)
        if found is None:
            found = self.ask(question)
            if _bytes(found.value) <= _SMALL:
                while len(_KNOWN) >= _MOST:
                    del _KNOWN[next(iter(_KNOWN))]
                _KNOWN[place] = found
        return found


def known(function: Callable[..., Any], name: str, p: Parameters) -> Ask:
    """`Known` answers, where the parameters are data; each is worked out anew, where they are none."""
    from autograder.protocol.codec import encode

    ask = local(function, name, p)
    try:
        return Known(function, name, encode(p), ask)
    except Unreadable:
        return ask


# At most _MOST answers of at most _SMALL bytes of numbers each are remembered: 256 MB.
_KNOWN: dict[tuple[Any, ...], Answer] = {}
_MOST, _SMALL = 4096, 2**16


def _bytes(value: Any) -> int:
    """About how much memory the arrays and texts in a value take."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return sum(map(_bytes, value))
    return int(getattr(value, "nbytes", 0)) or (len(value) if isinstance(value, str | bytes) else 0)


def trusted(function: Callable[..., Any], name: str, p: Parameters) -> Ask:
    """Answers for a reference: what keeps it from answering is raised, so that no student is marked for it."""
    ask = known(function, name, p)

    def raising(question: Question) -> Answer:
        reply = ask(question)
        if reply.failure is not None:
            raise RuntimeError(f"the reference of {name} fails: {reply.detail or reply.failure}")
        return reply

    return raising


def _question(
    case: Case, kind: str, name: str, arguments: tuple[Any, ...], options: Mapping[str, Any], more: Mapping[str, Any]
) -> Question:
    """A question to whoever is judged by `case`: made once for all of them, where the case owns all that is in it."""

    def made() -> Question:
        return Question(kind=kind, name=name, arguments=arguments, options={**options, **more})

    words = {word: value for word, value in more.items() if word in _WORDS}
    values = (*arguments, *(value for word, value in more.items() if word not in _WORDS))
    if not all(map(case.owns, values)):
        return made()
    return case.once((kind, name, *words.items(), *map(id, values)), made)


_WORDS = ("wrt", "with_buffers")


@dataclass(frozen=True, kw_only=True)
class FunctionRespondent:
    """Somebody who answers for a function in a case."""

    name: str
    ask: Ask
    case: Case

    def call(self, *arguments: Any) -> Any:
        """What the function returns."""
        return self._asked("call", arguments)

    def gradient(self, arguments: tuple[Any, ...], wrt: tuple[int, ...], cotangent: list[Any]) -> Any:
        """The gradients by the arguments at `wrt`."""
        return self._asked("gradient", arguments, wrt=tuple(wrt), cotangent=cotangent)

    def buffers(self, *arguments: Any) -> Any:
        """A function has none."""
        raise AuthorError("buffers", f"part {self.name!r}: buffers() is for modules, not for functions")

    def after(self, *arguments: Any) -> Any:
        """What a call leaves of its arguments: `{"arguments": [...], "marked": [...]}`."""
        return self._asked("after", arguments)

    def precise(self, *arguments: Any) -> Any:
        """What the function returns on numbers of a hundred digits: `{"digits": …}` or `{"unsupported": why}`."""
        return self._asked("symbolic", arguments)

    def _asked(self, kind: str, arguments: tuple[Any, ...], **options: Any) -> Any:
        return value_of(self.ask(_question(self.case, kind, self.name, arguments, {}, options)))


@dataclass(frozen=True, kw_only=True)
class ModuleRespondent:
    """Somebody who answers for a module, built anew for each question from the case's `init` and `state`."""

    name: str
    ask: Ask
    case: Case

    def call(self, *arguments: Any) -> Any:
        """What `forward` returns."""
        return self._asked(arguments)

    def gradient(self, arguments: tuple[Any, ...], wrt: tuple[int, ...], cotangent: list[Any]) -> Any:
        """The gradients by every floating-point input, then by every parameter in order of their names."""
        return self._asked(arguments, cotangent=cotangent)

    def buffers(self, *arguments: Any) -> Any:
        """The module's buffers after the call, by name."""
        return self._asked(arguments, with_buffers=True)["buffers"]

    def _asked(self, arguments: tuple[Any, ...], **more: Any) -> Any:
        return value_of(self.ask(_question(self.case, "module", self.name, arguments, self.case.options, more)))

    def after(self, *arguments: Any) -> Any:
        """What a module does to its arguments is not asked."""
        raise AuthorError("unchanged", f"part {self.name!r}: unchanged() is for functions, not for modules")

    def precise(self, *arguments: Any) -> Any:
        """A module's parameters are floats: there is nothing exact to ask for."""
        raise AuthorError("symbolic", f"part {self.name!r}: symbolic() is for functions, not for modules")


def failure_verdict(check: str, name: str, reply: Answer) -> Verdict:
    """What a student reads where there is no value."""
    detail = reply.detail
    if reply.failure == "raised" and (lack := lacking(detail)):
        return lack_verdict(check, name, lack, detail)
    stub = reply.failure == "raised" and detail.startswith("NotImplementedError")
    empty = "it is empty" if " is still " in detail else "the notebook does not define it"
    missing = "it still raises NotImplementedError" if stub else empty
    sentences = {
        "missing": f"{name} has not been answered: {missing}.",
        "raised": f"{name} raised {detail}",
        "parameters": f"{name} {detail}.",
        "timeout": f"{name} took too long: {detail}",
        "memory": f"{name} used more memory than a submission may use.",
        "exit": f"The process ended while {name} was running: {detail}",
        "unreadable": f"{name} gave {detail}, which is not the kind of answer asked for.",
        "staff": f"{name} could not be checked. This is not your fault; a grader will check it.",
    }
    failure = "missing" if stub else reply.failure or "staff"
    return Verdict(
        check=check, ok=None if failure == "staff" else False, code=failure, message=sentences[failure], staff=detail
    )


def lack_verdict(check: str, name: str, lack: tuple[str, str], staff: str) -> Verdict:
    """What a student reads whose code needs what the grading machine has not got."""
    code, sentence = lack
    return Verdict(
        check=check,
        ok=None,
        code=code,
        message=f"{name} could not be run. {sentence} A grader will check it.",
        staff=staff,
    )


def value_verdict(check: str, name: str, reply: Answer) -> Verdict:
    """The same where the name itself is the answer: an object that cannot be read is a person's."""
    if reply.failure == "unreadable":
        return _for_a_person(check, f"{name} is {reply.detail}", "")
    return failure_verdict(check, name, reply)


def unread_verdict(check: str, name: str, given: Any, wanted: str) -> Verdict:
    """What a student reads whose answer is not of the kind asked for: a person looks, unless it is empty."""
    if not filled(given):
        return Verdict(check=check, ok=False, code="missing", message=f"{name} has not been answered: it is empty.")
    shown = repr(given) if isinstance(given, str | bool | int | float | list | tuple) else f"a {type(given).__name__}"
    shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
    return _for_a_person(check, f"{name} is {shown}", f"; {wanted[0].lower()}{wanted[1:].rstrip('.')}")


_SHOWN = 80


def filled(given: Any) -> bool:
    """Whether there is anything but blanks in a text, or any entry that is filled."""
    if isinstance(given, str | bytes):
        return bool(given.strip())
    if isinstance(given, dict):
        given = tuple(given.values())
    return any(map(filled, given)) if isinstance(given, list | tuple) else given is not None and given is not ...


def _for_a_person(check: str, what: str, wanted: str) -> Verdict:
    text = f"{what}, which cannot be read as this kind of answer{wanted}. A grader will check this."
    return Verdict(check=check, ok=None, code="unreadable", message=text, staff=what)


def fault_verdict(check: str) -> Verdict:
    """What a student reads while an exception of ours is handled: in a check, a reference, the channel."""
    return Verdict(
        check=check,
        ok=None,
        code="staff",
        message="This could not be decided. It is not your fault; a grader will check it.",
        staff=traceback.format_exc(limit=8),
    )

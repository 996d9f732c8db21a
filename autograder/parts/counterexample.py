"""`Counterexample`: the student gives an input on which the printed code errs; both it and the right function are run.

They run here: the answer is numbers, of the sizes and the bounds that the statement admits.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np

from autograder.checks.compare import array, difference, is_tensor
from autograder.core import BEGIN, END, Answer, Ask, Parameters, Part, Question, Room, Verdict
from autograder.errors import AuthorError, Unreadable
from autograder.parts.arguments import Takes, Unfit, admitted
from autograder.parts.source import answer_source
from autograder.protocol.respondents import NoAnswer, known, unread_verdict, value_of, value_verdict
from autograder.student.local_checks import Malformed, defined, well_formed

SAME = 1e-9  # of the largest entry: results that agree so far are the same
APART = 1e-3  # and those that differ by more than this are not
LEAST = 1e-9  # by less than this, whatever the entries are, a rounding may be all
SHIFT = 1e-12  # of each real number: what so little a change of the input changes is no matter of the code


@dataclass(frozen=True)
class Counterexample(Part):
    """An input on which the printed code gives something else than the right function.

    `reference(p)` gives one: a dict of nested lists by the arguments' names; so do equivalents, and mistakes, on whose
    inputs the code gives what is right. `code` is printed, without its docstring, under the name `function`; `correct`
    is the function that it should be. Both may take `*, p`. `takes` and `sizes` say which inputs are admitted
    (`parts.arguments`); among them must be no trivial one on which the code errs.
    """

    _: KW_ONLY
    function: str = ""
    code: Callable[..., Any] | None = None
    correct: Callable[..., Any] | None = None
    takes: Mapping[str, str] | Callable[[Parameters], Mapping[str, str]] = field(default_factory=dict)
    sizes: Mapping[str, str] = field(default_factory=dict)

    kind = "counterexample"
    all_or_nothing = True
    if_kept = "the code errs on it"
    by_hand = "An input is written as the names of the arguments with numbers in square brackets, row by row."

    def __post_init__(self) -> None:
        super().__post_init__()
        if not all(map(callable, (self.reference, self.code, self.correct))) or not self.function.isidentifier():
            raise AuthorError(
                "code",
                f"part {self.name!r}: reference= is a function of p, code= the printed function, correct= the right, "
                "and function= what the statement calls it",
            )

    def form(self, p: Parameters) -> Takes:
        """Which inputs are admitted."""
        return admitted(self.name, self.takes, self.sizes, (self.code, self.correct), p)

    # In a student's notebook, and on paper.

    @classmethod
    def check_form(cls, name: str, takes: Mapping[str, str], sizes: Mapping[str, str], /) -> None:
        """Say whether the answer is an input that is admitted."""
        given = defined(name)
        try:
            read = Takes(arguments=takes, sizes=sizes).entries(given)
        except Unreadable as error:
            raise Malformed(error.code, f"{name} cannot be read: {error.message}.") from error
        except Unfit as error:
            raise Malformed("form", f"{name}: {error}") from error
        shapes = ", ".join(f"{word} of shape {list(value.shape)}" for word, value in read.items())
        well_formed(name, f"read as {shapes}; such an input is admitted")

    def local_check(self, p: Parameters) -> str:
        """Reads the input."""
        return f"form.check_counterexample({self.name!r}, {self.form(p).source()})"

    def printed(self, p: Parameters) -> str:
        """The code as the statement shows it: docstrings and comments would say what it is."""
        assert self.code is not None
        tree = ast.parse(answer_source(self.code, self.function, p, marks=False))
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and ast.get_docstring(node) is not None:
                node.body = node.body[1:] or [ast.Pass()]
        return ast.unparse(tree)

    def rule(self, p: Parameters) -> str:
        """The code, which inputs are admitted, and what counts as an error."""
        return (
            f"```python\n{self.printed(p)}\n```\n\n"
            f"An input may be:\n\n{self.form(p).in_words()}\n\n"
            "Write it as a dict of the arguments by their names; lists of numbers will do.\n\n"
            "**How this is marked.** The printed code and the right function are run on your input. It is a "
            "counterexample if the code stops with an error, or gives infinite values or nan where the right function "
            "gives numbers, or another shape, or a result that differs by more than a thousandth of the largest right "
            "entry. Where both agree to nine digits, it is none; between the two, a grader decides."
        )

    def room(self, p: Parameters) -> Room:
        """A line or two for each argument."""
        return Room(lines=2 + len(self.form(p).forms))

    def solution_cell(self, p: Parameters) -> str:
        """The input between nbgrader's marks, under a line that shows the form."""
        names = ", ".join(f'"{name}": ...' for name in self.form(p).forms)
        solution = f"{BEGIN}\n{self.name} = {self.reference(p)!r}\n{END}\n"
        return f"# {self.name} = {{{names}}}   (a dict of {_and(list(self.form(p).forms))})\n{solution}"

    def typed_answer(self, p: Parameters) -> str:
        """The input of the solution."""
        return repr(self.reference(p))

    def answer_cell(self, subject: Any, p: Parameters) -> str:
        """The answer cell of somebody who gives an input."""
        return f"{self.name} = {subject(p) if callable(subject) else subject!r}\n"

    def cell_of(self, text: str, p: Parameters) -> str:
        """The input as it was written."""
        return f"{self.name} = {text.strip()}\n"

    def read_as(self, value: Any, p: Parameters) -> str:
        """The arguments as they were read."""
        try:
            read = self.form(p).read(value)
        except Unfit as error:
            raise Unreadable("form", str(error)) from error
        return "\n".join(f"- `{name}` = `{item.tolist()}`" for name, item in read.items())

    def same_answer(self, one: str, other: str, p: Parameters) -> bool:
        """The same numbers."""
        try:
            first, second = (self.form(p).read(ast.literal_eval(text)) for text in (one, other))
        except (Unreadable, Unfit, ValueError, SyntaxError, RecursionError, MemoryError):
            return super().same_answer(one, other, p)
        return difference(first, second, rtol=0) is None

    def mistake_in_words(self, mistake: Callable[..., Any], p: Parameters) -> str:
        """The input."""
        return f"It gives `{mistake(p)!r}`."

    # How it is judged.

    def judge(self, p: Parameters, ask: Ask, key: tuple[int, ...]) -> list[Verdict]:
        """One verdict: both functions are run on the input; one in doubt is a person's."""
        try:
            given = value_of(ask(Question(kind="value", name=self.name)))
        except NoAnswer as error:
            return [value_verdict(self.kind, self.name, error.reply)]
        try:
            read = self.form(p).read(given)
        except Unreadable as error:
            return [unread_verdict(self.kind, self.name, given, error.message)]
        except Unfit as error:
            return [self._named(self._verdict(False, "not_admitted", str(error)), given, p)]
        return [self._named(self._decided(read, p, key), given, p)]

    def _verdict(self, ok: bool | None, code: str, message: str = "", staff: str = "") -> Verdict:
        return Verdict(check=self.kind, ok=ok, code=code, message=message, staff=staff)

    def _named(self, verdict: Verdict, given: Any, p: Parameters) -> Verdict:
        """The same under the name of the mistake that gives this very input."""
        if verdict.ok is not False:
            return verdict
        read = _numbers(given)
        for mistake in self.mistakes:
            if read is not None and _numbers(mistake(p)) == read:
                hint = inspect.getdoc(mistake) or ""
                return self._verdict(False, mistake.__name__, hint)
        return verdict

    def _decided(self, read: dict[str, Any], p: Parameters, key: tuple[int, ...]) -> Verdict:
        right, found = (self._run(item, read, p) for item in (self.correct, self.code))
        if right.failure is not None:
            raise RuntimeError(f"the right function of {self.name} fails: {right.detail or right.failure}")
        if not _finite(right.value):
            return self._doubtful("the right function gives infinite values or nan")
        near = _shifted(read, np.random.default_rng((*key, 13)))
        again, found_again = (self._run(item, near, p) for item in (self.correct, self.code))
        if again.failure is not None or difference(again.value, right.value, rtol=APART / 10):
            return self._doubtful("the right function changes with the last digits of the input")
        pairs = ((found, right), (found_again, again))
        how = ["apart" if mine.failure else _compared(mine.value, its.value) for mine, its in pairs]
        if how == ["apart", "apart"]:
            return self._verdict(True, "ok")
        if how == ["same", "same"]:
            return self._verdict(False, "agrees", "On this input, the printed code gives what is right.")
        return self._doubtful(f"the results are {how[0]}, and with other last digits of the input {how[1]}")

    def _doubtful(self, why: str) -> Verdict:
        text = "On this input, rounding decides whether the code errs. A grader will check this."
        return self._verdict(None, "doubtful", text, staff=why)

    def _run(self, function: Any, arguments: dict[str, Any], p: Parameters) -> Answer:
        """What a function of ours gives; that it raises is an answer, all else that keeps it from one is our fault."""
        reply = known(function, self.function, p)(
            Question(kind="call", name=self.function, arguments=tuple(arguments.values()))
        )
        if reply.failure not in (None, "raised"):
            raise RuntimeError(f"{function.__name__} gives no result: {reply.detail or reply.failure}")
        return reply

    # What the audit asks.

    def listed(self) -> list[Any]:
        """Both functions as well."""
        return [*super().listed(), self.code, self.correct, self.takes]

    def trivial_answers(self, p: Parameters) -> dict[str, Any]:
        """Nothing, and what is admitted without thought."""
        return {**super().trivial_answers(p), "an empty text": "", "an empty dict": {}, **self._made(_CONSTANT, p)}

    def blind_answers(self, p: Parameters, shown: Sequence[str]) -> dict[str, Any]:
        """Inputs that anybody would try: numbers in order, and random ones."""
        return self._made(_TRIED, p)

    def _made(self, makers: Mapping[str, Callable[[tuple[int, ...]], Any]], p: Parameters) -> dict[str, Any]:
        return {
            f"{name}, {'largest' if largest else 'smallest'} sizes": self.form(p).example(make, largest)
            for name, make in makers.items()
            for largest in (False, True)
        }

    def answer_under(self, p: Parameters) -> Any:
        """The code and the input that shows it."""
        return [self.printed(p), self.reference(p)]


def _tried(seed: int, scale: float) -> Callable[[tuple[int, ...]], Any]:
    return lambda shape: scale * np.random.default_rng(seed).standard_normal(shape)


_CONSTANT: dict[str, Callable[[tuple[int, ...]], Any]] = {
    "zeros": np.zeros,
    "ones": np.ones,
    "minus ones": lambda shape: -np.ones(shape),
}
_TRIED: dict[str, Callable[[tuple[int, ...]], Any]] = {
    "one, two, three": lambda shape: np.arange(1.0, np.prod(shape) + 1).reshape(shape),
    "random numbers": _tried(0, 1.0),
    "other random numbers": _tried(1, 3.0),
    "random numbers around ten": lambda shape: 10 + _tried(2, 5.0)(shape),
}


def _and(words: list[str]) -> str:
    return ", ".join(words[:-1]) + f" and {words[-1]}" if len(words) > 1 else f"{words[0]} alone"


def _numbers(value: Any) -> Any:
    """Nested lists of floats, by which two inputs are the same; None for what is no input."""
    if isinstance(value, dict):
        return {name: _numbers(item) for name, item in value.items()}
    if is_tensor(value) or isinstance(value, np.ndarray):
        value = array(value).tolist()
    if isinstance(value, list | tuple):
        return [_numbers(item) for item in value]
    return float(value) if isinstance(value, int | float) else None


def _leaves(value: Any) -> list[np.ndarray]:
    """The numbers of a result as arrays."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [leaf for item in value for leaf in _leaves(item)]
    found = array(value)
    return [found] if found.dtype.kind in "biuf" else []


def _finite(value: Any) -> bool:
    return all(bool(np.isfinite(leaf).all()) for leaf in _leaves(value))


def _shifted(read: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """The same input, each real number a little larger or smaller."""
    import torch

    def shift(value: Any) -> Any:
        signs = torch.from_numpy(np.asarray(rng.choice([-1.0, 1.0], tuple(value.shape))))
        return value * (1 + SHIFT * signs) if value.is_floating_point() else value

    return {name: shift(value) for name, value in read.items()}


def _compared(found: Any, right: Any) -> str:
    """`same`, `apart`, or `near`: neither of them."""
    if difference(found, right, rtol=SAME) is None:
        return "same"
    apart = difference(found, right, rtol=APART)
    if apart is None:
        return "near"
    if apart.code != "value":
        return "apart"
    pairs = zip(_leaves(found), _leaves(right), strict=True)
    gaps = [np.abs(one.astype(float) - other.astype(float)).max(initial=0.0) for one, other in pairs]
    return "apart" if max(gaps) > LEAST else "near"

"""The nouns of the package: frozen dataclasses of the standard library, and nothing else.

A `Problem` has `Part`s and, for each seed, a `Variant`. A grader asks a student's code `Question`s and gets `Answer`s;
checks turn answers into `Verdict`s; a part's verdicts make an `Outcome`; a submission's outcomes make a `Report`.
"""

from __future__ import annotations

import copy
import inspect
import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, InitVar, dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, TypeVar

from autograder.errors import AuthorError, did_you_mean

if TYPE_CHECKING:
    import numpy as np

Parameters = dict[str, Any]
Standing = Literal["earned", "lost", "held"]

# The marks between which nbgrader's students find a gap.
BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
# What is asked for may stand above the mark: `# NAME = ...   (a whole number)`.
_SOLUTION = re.compile(
    r"^(?:# \w+ = (?P<form>\S.*?) +\((?P<words>.+)\)\n)?(?P<indent>[ \t]*)"
    rf"{re.escape(BEGIN)}(?:.|\n)*?{re.escape(END)}",
    re.MULTILINE,
)
GAP = "# YOUR CODE HERE\n{indent}raise NotImplementedError()"

# Why there is no value, and nothing more is asked: code that is not there, or does not come back.
LAST_WORDS = ("missing", "timeout", "memory", "exit", "staff")
# Why there is no value: one of those, or the code raised, or a module has other parameters, or what was given is no
# answer of this kind.
FAILURES = (*LAST_WORDS, "raised", "parameters", "unreadable")
# Why a person must look: what the grading machine has not got.
LACKS = ("no_module", "no_device", "file_left_out")


SHORT = 200  # letters of an answer that a line can hold

Made = TypeVar("Made")
_BY_NAME = ("value", "typed")
WRITTEN = (*_BY_NAME, "text")


@dataclass(frozen=True, kw_only=True)
class Question:
    """What is put to the student's process, as data: never an expected value, never a verdict.

    `kind` names what is wanted (`call`, `gradient`, `after`, `module`, `symbolic`, `tests`, `value`, `typed`: a value
    in which a sympy expression is its text, `text`), `name` what the student defined, and `arguments` what a call
    receives. Answers are stored and replayed by `protocol.answering.question_key`, which keeps what it found in
    `found_key`; `found_frame` is its content as it travels.
    """

    kind: str
    name: str
    arguments: tuple[Any, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    found_key: str = field(default="", init=False, repr=False, compare=False)
    found_frame: bytes = field(default=b"", init=False, repr=False, compare=False)

    @property
    def by_name(self) -> bool:
        """Whether it asks what a name is bound to: the answer is then what somebody wrote."""
        return self.kind in _BY_NAME

    @property
    def written(self) -> bool:
        """Whether the answer is what somebody wrote: bound to a name, or the words of a cell."""
        return self.kind in WRITTEN


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A value that came back from the student's process, or the reason why there is none.

    `failure` is one of `FAILURES` or None; `detail` is for people (an exception's last line, a type's name).
    """

    value: Any = None
    failure: str | None = None
    detail: str = ""


class Ask(Protocol):
    """Puts one question to the student's code and waits for the answer."""

    def __call__(self, question: Question) -> Answer: ...  # noqa: D102 - described by the class


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What one check says. `ok` is None where it could not be decided: a person must look.

    `message` is what the student reads; it never holds the reference's numbers. `code` is stable and holds no number.
    `staff` is for graders only.
    """

    check: str
    ok: bool | None
    code: str
    message: str = ""
    witness: str = ""
    staff: str = ""


def in_points(number: float) -> str:
    """`1 point`, `2.5 points`: at most two decimals."""
    text = f"{round(number, 2):g}"
    return f"{text} point" if text == "1" else f"{text} points"


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """A part's verdicts and what they are worth.

    `answered` is the same where the answer's cell is. `by_hand` is a mark given by hand that yielded to a void.
    `packed` are the answers as bytes, one for one, where they have been made already.
    """

    part: str
    standing: Standing
    points: float
    max_points: float
    verdicts: tuple[Verdict, ...] = ()
    answers: tuple[tuple[Question, Answer], ...] = ()
    notes: tuple[str, ...] = ()
    answered: str = ""
    by_hand: float | None = None
    packed: tuple[bytes, ...] = field(default=(), repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class Report:
    """Everything known about one graded notebook, answers included, so that judging again needs no re-run.

    `digest` is the same where the same cells and files were run, and `beside` has a digest of each of the files.
    `key` tells by which key the hidden inputs were drawn (empty: the course's secret itself, as once), and `tests` is
    the same where the same tests, points and voids decided.
    """

    slug: str
    version: int
    parameters: Parameters
    outcomes: tuple[Outcome, ...]
    flags: tuple[str, ...] = ()
    digest: str = ""
    beside: Mapping[str, str] = field(default_factory=dict)
    key: str = ""
    tests: str = ""

    @property
    def points(self) -> float:
        """The sum over the parts; held parts count nothing until a person has looked."""
        return sum(outcome.points for outcome in self.outcomes)


@dataclass(frozen=True, kw_only=True)
class Case:
    """One draw of hidden inputs: the arguments by name, and the parameters they were drawn under.

    `options` holds what a module is built from (`init`, `state`) and what is done to it first (`before`); `rng_key`
    seeds whatever else a check draws; `drawn_by` is the name of the author's function that drew it, empty where what
    it drew was altered, or one of many alike. With `values_only`, no gradient is asked for.
    """

    parameters: Parameters
    arguments: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    rng_key: tuple[int, ...] = (0,)
    drawn_by: str = ""
    values_only: bool = False
    made: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    _places: set[int] = field(default_factory=set, init=False, repr=False, compare=False)  # of what was made

    def once(self, what: Hashable, make: Callable[[], Made]) -> Made:
        """What is the same for everybody who is judged by this case: made for the first of them, and kept."""
        if what not in self.made:
            self.made[what] = make()
            self._places.add(id(self.made[what]))
        found: Made = self.made[what]
        return found

    def owns(self, item: Any) -> bool:
        """Whether this very object is one of the arguments, or was made once."""
        return id(item) in self._places or any(item is own for own in self.arguments.values())


class _NamedArguments(type):
    """Turns a misspelt argument into an AuthorError that says what there is instead.

    A metaclass, since it must stand around every subclass's `__init__`, which `dataclass` writes after the class is
    made, and must leave `__new__` alone, which copying and unpickling call without arguments.
    """

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        _, *known = inspect.signature(cls.__init__).parameters  # type: ignore[misc]
        name = str(args[0]) if args else str(kwargs.get("name", kwargs.get("title", "?")))
        for key in kwargs:
            if key not in known:
                raise AuthorError(
                    "unknown_argument",
                    f"{cls.__name__}({name!r}): there is no argument {key!r}{did_you_mean(key, known)}; "
                    f"the arguments are {', '.join(known)}",
                )
        try:
            return super().__call__(*args, **kwargs)
        except TypeError as error:
            raise AuthorError("arguments", f"{cls.__name__}({name!r}): {error}") from error


def without_solution(cell: str, name: str) -> str:
    """A solution cell with a gap between its marks: there `name` is nothing yet, or a definition has no code yet."""

    def gap(match: re.Match[str]) -> str:
        indent, form, words = match["indent"], match["form"] or "...", match["words"]
        if indent:
            return indent + GAP.format(indent=indent)
        line = f"{name} = " + ('""' if form[0] in "\"'" else "...")
        shown = f"{form}, " if form[0] == "[" else ""
        return f"{line}  # {shown}{words}" if words else line

    return _SOLUTION.sub(gap, cell)


@dataclass(frozen=True, kw_only=True)
class Room:
    """The frame that an answer gets on paper: as high as so many written lines, `ruled` or empty.

    `head` is code that is printed above the lines. `options`: the answer is a cross beside a text of the statement, or
    several; then there is no frame.
    """

    lines: int = 1
    ruled: bool = False
    head: str = ""
    options: bool = False


@dataclass(frozen=True)
class Part(metaclass=_NamedArguments):
    """One question of a problem: what is handed in, how it is read, how it is judged, what it is worth.

    `name` is what the student defines and the gradebook's key. `reference` gives the right answer; each of `mistakes`
    is a function whose docstring is the student's hint and whose name is the verdict's code, and must lose points;
    each of `equivalents` must keep them all. `points` is what the part is worth, and `rubric` what a person reads who
    has to decide.
    """

    name: str
    _: KW_ONLY
    points: float
    reference: Any = None
    mistakes: Sequence[Callable[..., Any]] = ()
    equivalents: Sequence[Any] = ()
    rubric: str = ""
    judged: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)  # by `judge_part` alone

    kind = "part"
    follows = ""  # an earlier part, whose answer this one is judged by as well
    runs = False  # whether the student's code is run to judge it
    judged_by_person = False  # answered in words, in one markdown cell
    formula = False  # answered by a formula: shown typeset beside its text, and compared as mathematics
    repeats = False  # code that gives the same values each time: what it gives may be asked about
    by_lines = False  # each line of it may be asked about
    given_lines = 0  # of these, how many at its beginning the question gives
    run_by = "called"  # what is done with code that is run
    at_best: ClassVar[Standing] = "earned"  # what a right answer is before a person has looked
    if_kept = "it may be right"  # why a mistake may keep its points
    all_or_nothing = False  # whether every mistake loses every point
    by_hand = ""  # how such an answer is written on paper, in Markdown

    # What is asked by the kind's name; None where there is no such thing.
    preview: ClassVar[Callable[..., Any] | None] = None  # what a student writes around it: `form.<kind>`
    check_form: ClassVar[Callable[..., None] | None] = None  # what `local_check` runs: `form.check_<kind>`
    decide_by_hand: ClassVar[Callable[..., Any] | None] = None  # compares two answers: `autograder decide <kind>`

    def __post_init__(self) -> None:
        if not self.name.isidentifier():
            raise AuthorError(
                "name", f"part {self.name!r}: a part's name is a Python name, since the student defines it"
            )
        if not 0 < self.points < float("inf"):
            raise AuthorError("points", f"part {self.name!r}: points must be positive, not {self.points!r}")
        for mistake in self.mistakes:
            if not callable(mistake):
                raise AuthorError("mistake", f"part {self.name!r}: mistake {mistake!r} is not a function")
            if not (mistake.__doc__ or "").strip():  # its own: a class would inherit that of torch.nn.Module
                raise AuthorError(
                    "mistake_without_hint",
                    f"part {self.name!r}: mistake {mistake.__name__!r} has no docstring; it is the student's hint",
                )
        names = [mistake.__name__ for mistake in self.mistakes]
        for name in names:
            if names.count(name) > 1:
                raise AuthorError("duplicate_mistake", f"part {self.name!r}: two mistakes are called {name!r}")

    # What a kind of part says of itself. `p` are the variant's parameters.

    def judge(self, p: Parameters, ask: Ask, key: tuple[int, ...]) -> list[Verdict]:
        """Put the hidden questions through `ask` and say what each check finds."""
        raise NotImplementedError(f"{type(self).__name__} has no judge")

    def at(self, points: float) -> Part:
        """The same part for other points. What was found of it, such as its hidden cases, belongs to both."""
        other = copy.copy(self)
        object.__setattr__(other, "points", points)  # frozen to all others
        return other

    def judging(self, p: Parameters, ask: Ask, key: tuple[int, ...]) -> Iterator[Verdict]:
        """The verdicts one by one, for whoever need not hear all of them."""
        yield from self.judge(p, ask, key)

    def settled(self, verdicts: Sequence[Verdict]) -> bool:
        """Whether points are lost already, whatever the verdicts that are still to come."""
        return verdicts[0].ok is False

    def solution_cell(self, p: Parameters) -> str:
        """The answer cell's text with the solution between nbgrader's marks."""
        raise NotImplementedError(f"{type(self).__name__} has no answer cell")

    def stub_cell(self, p: Parameters) -> str:
        """The answer cell as a student gets it. It runs as it is, and whoever asks for the answer hears of none."""
        return without_solution(self.solution_cell(p), self.name)

    def answer_cell(self, subject: Any, p: Parameters) -> str:
        """The answer cell of somebody who hands in `subject`: the reference, a mistake or an equivalent."""
        raise NotImplementedError(f"{type(self).__name__} has no answer cell")

    def local_check(self, p: Parameters) -> str:
        """Source of the visible check: what is malformed, never what is right. Empty where there is none."""
        return ""

    def applies(self, subject: Any, p: Parameters) -> bool:
        """Whether a mistake or an equivalent can be handed in under `p`."""
        return True

    def declarations(self, p: Parameters) -> Mapping[str, Any]:
        """What a typed answer may use, for the notebook's first cell; nothing for other kinds."""
        return {}

    def statement(self, p: Parameters) -> str:
        """What the package adds under the author's statement of this part."""
        texts = "\n".join(f"- **{letter})** {text}" for letter, text in self.lettered(p).items())
        return "\n\n".join(filter(None, [texts, self.rule(p)]))

    def lettered(self, p: Parameters) -> Mapping[str, str]:
        """The texts that the statement shows under letters, of which an answer is made; paper reorders them."""
        return {}

    def rule(self, p: Parameters) -> str:
        """What the package says of the answer and of its marking."""
        return ""

    def room(self, p: Parameters) -> Room:
        """What an answer takes on paper."""
        return Room()

    def typed_answer(self, p: Parameters) -> str:
        """The right answer as one types it, for whoever marks by hand; of lettered texts, their letters."""
        right = getattr(self, "written_by_author", None) or getattr(self, "right", None)
        return str(right(p) if right else self.answer_under(p)).strip()

    def also_right(self, p: Parameters) -> list[str]:
        """Other right answers as one types them; of code and words, what they are called."""
        return [
            item.__name__.replace("_", " ") for item in self.equivalents if callable(item) and self.applies(item, p)
        ]

    def cell_of(self, text: str, p: Parameters) -> str:
        """The answer cell of somebody who wrote `text` on paper; lettered texts have the letters of the notebook."""
        return f"{self.name} = {text.strip()!r}\n"

    def accepting(self, answers: Sequence[Any]) -> Part:
        """The same part, by which these further answers are correct; AuthorError where its kind has none."""
        raise AuthorError(
            "answers", f'part {self.name!r} ({self.kind}) cannot be given further answers; write "full" or "drop"'
        )

    def read_as(self, value: Any, p: Parameters) -> str:
        """A handed-in answer as Markdown, as the judge reads it; empty where there is no more to it than its text.

        Unreadable where reading stops.
        """
        return ""

    def mistake_in_words(self, mistake: Callable[..., Any], p: Parameters) -> str:
        """What is handed in by whoever makes a mistake, as a sentence; empty where that is no short text."""
        value = mistake(p)
        if isinstance(value, int) and not isinstance(value, bool):
            return f"It gives `{value:,}`."
        return f"It gives `{value!r}`." if isinstance(value, float | str) and len(str(value)) <= SHORT else ""

    # What grading asks a kind beside its judge.

    def questions(self, p: Parameters, key: tuple[int, ...]) -> list[Question]:
        """What a run of the notebook will be asked."""
        return [Question(kind="value", name=self.name)]

    def weights(self, verdicts: Sequence[Verdict]) -> list[float]:
        """What each verdict counts of the points."""
        return [1.0] * len(verdicts)

    def same_answer(self, one: str, other: str, p: Parameters) -> bool:
        """Whether two answers, right or wrong, are the same one to the judge; where it compares no texts, by words."""
        return one.split() == other.split()

    # What the audit asks a kind.

    @property
    def in_closed_form(self) -> bool:
        """Whether its answers are expressions, which the audit reads a second time by other means."""
        return False

    @property
    def shown_options(self) -> int:
        """Among how many options one is chosen; nought where the answer is free."""
        return 0

    def right_answers(self) -> list[Any]:
        """What must keep every point, beside the reference."""
        return list(self.equivalents)

    def listed(self) -> list[Any]:
        """Everything that an author lists with a part, the reference first."""
        return [self.reference, *self.mistakes, *self.right_answers()]

    def trivial_answers(self, p: Parameters) -> dict[str, Any]:
        """What the name may be bound to without thought, by what it is called: all of it is lost."""
        return {"None": None}

    def blind_answers(self, p: Parameters, shown: Sequence[str]) -> dict[str, Any]:
        """What somebody may try who does not know the answer, by what it is called: none of it may earn points.

        A person may look at it. `shown` are the formulas of the statement.
        """
        return {}

    def copied_answers(self, p: Parameters, shown: Sequence[Sequence[str]]) -> Iterator[tuple[str, Any]]:
        """What somebody may hand in who copies it from what an assignment shows, each with the text that it is from.

        `shown` are the formulas and code spans of each of its cells.
        """
        yield from ()

    def harmless_copy(self, subject: Any, p: Parameters) -> str:
        """Why it does no harm that a copied answer earns points; empty where it does."""
        return ""

    def bound_again(self, p: Parameters, others: Sequence[Any]) -> Iterator[tuple[Any, str]]:
        """What the name of the part before may be bound to in this part's cell, with a cell of what follows from it.

        `others` are wrong answers to that part.
        """
        yield from ()

    def answer_under(self, p: Parameters) -> Any:
        """What is right under `p`, as data: equal where variants ask for the same."""
        return self.reference(p) if callable(self.reference) else self.reference

    def unstable(self, p: Parameters, key: tuple[int, ...]) -> str:
        """What differs when it is asked twice; empty where nothing does."""
        differs = callable(self.reference) and self.reference(p) != self.reference(p)
        return "the reference returns two different values when called twice" if differs else ""

    def cases(self, p: Parameters, key: tuple[int, ...]) -> list[Case]:
        """The hidden cases; none where nothing is drawn."""
        return []

    def kept_cases(self, p: Parameters, key: tuple[int, ...]) -> list[Case]:
        """The same, drawn once for everybody who has them."""
        return self.cases(p, key)

    def passes(self, subject: Any, case: Case) -> bool:
        """Whether `subject` passes every check in one hidden case."""
        raise NotImplementedError(f"{type(self).__name__} has no hidden cases")

    def terse(self) -> Part:
        """The same part for whoever asks for marks alone: it need not say what is wrong."""
        return self

    def mutants(self, p: Parameters) -> Iterator[Any] | None:
        """The reference with each single slip that a machine can make in it; None where it can make none."""
        return None

    def harmless(self, agrees: Callable[[Part], bool]) -> str | None:
        """Why a mutant that keeps every point does no harm; None if it does.

        `agrees` says whether it earns all on further hidden inputs too, where it is judged by the part given.
        """
        return None


@dataclass(frozen=True, kw_only=True)
class Problem(metaclass=_NamedArguments):
    """One folder of `problems/`: a title, a draw of parameters, and the marking scheme as one table.

    Long lists of mistakes and equivalents stand in modules of their own, as tables by the part's name: `mistakes` and
    `equivalents` hand them to the parts, which keep them; they are no attributes of the problem.

    `title` heads the notebook, `source` says where the question comes from, and `parts` are asked in their order.
    `draw(rng)` gives the numbers a variant shows and is graded by. `phrases(p)` gives further placeholders of the
    statement that follow from them. `version` is raised by whatever can move a mark. `setup` is the notebook's first
    code cell. `variants` is how many distinct draws there must be at least, `par` how many times longer the longest
    variant's solution may be than the shortest one's. `full_model` is the class of `solutions/` that the problem is a
    part of, as `ugrnn.TwoGateUGRNN`, and `task` the training task by which it is seen to learn: text, since a problem
    imports no solution.
    """

    title: str
    version: int
    source: str
    parts: Sequence[Part]
    draw: Callable[[np.random.Generator], Parameters] = lambda rng: {}
    phrases: Callable[[Parameters], Mapping[str, str]] = lambda p: {}
    setup: str = "import torch"
    variants: int = 1
    par: float = 2.0
    full_model: str = ""
    task: str = ""
    slug: str = ""
    mistakes: InitVar[Mapping[str, Sequence[Callable[..., Any]]] | None] = None
    equivalents: InitVar[Mapping[str, Sequence[Any]] | None] = None

    def __post_init__(self, mistakes: Any, equivalents: Any) -> None:
        if not self.parts:
            raise AuthorError("no_parts", f"problem {self.title!r} has no parts")
        names = [part.name for part in self.parts]
        for name in names:
            if names.count(name) > 1:
                raise AuthorError("duplicate_part", f"two parts are called {name!r}; a student defines each name once")
        for place, part in enumerate(self.parts):
            if part.follows and part.follows not in names[:place]:
                raise AuthorError(
                    "follows",
                    f"part {part.name!r} follows {part.follows!r}, which is not an earlier part"
                    f"{did_you_mean(part.follows, names[:place])}",
                )
        if not isinstance(self.version, int) or self.version < 1:
            raise AuthorError("version", f"version is a whole number from 1, not {self.version!r}")
        self._hand_out("mistakes", mistakes or {})
        self._hand_out("equivalents", equivalents or {})

    def _hand_out(self, word: str, table: Any) -> None:
        """Give each part its line of a table."""
        parts = {part.name: part for part in self.parts}
        if not isinstance(table, Mapping):
            raise AuthorError("table", f"{word} of a problem are a table, {{part: [...]}}, not {table!r}")
        for name, listed in table.items():
            if name not in parts:
                raise AuthorError(
                    "unknown_part",
                    f"the table of {word} has a line for {name!r}, which is no part{did_you_mean(name, parts)}",
                )
            if not isinstance(listed, list | tuple):
                raise AuthorError("table", f"part {name!r}: the table of {word} holds {listed!r} where a list belongs")
            if getattr(parts[name], word):
                raise AuthorError("listed_twice", f"part {name!r} has {word} of its own and in the problem's table")
            given: dict[str, Any] = {word: listed}
            parts[name] = replace(parts[name], **given)
        object.__setattr__(self, "parts", list(parts.values()))

    @property
    def points(self) -> float:
        """What the whole problem is worth."""
        return sum(part.points for part in self.parts)

    def worth(self, total: float | None) -> Problem:
        """The same problem with its points scaled to a total, in quarter points; as it is for None.

        No part becomes worth nothing: AuthorError where the total is too small for that.
        """
        if total is None or total == self.points:
            return self
        quarters = round(4 * total)
        if quarters != 4 * total or quarters < len(self.parts):
            raise AuthorError(
                "points", f"{self.slug or self.title}: {total:g} points cannot be divided into quarter points"
            )
        exact = [quarters * part.points / self.points for part in self.parts]
        shares = [max(1, int(share)) for share in exact]
        # What rounding down left over goes where most was cut off; what the least of one took comes from the largest.
        order = sorted(range(len(shares)), key=lambda i: shares[i] - exact[i])
        for turn in range(quarters - sum(shares)):
            shares[order[turn % len(order)]] += 1
        while sum(shares) > quarters:
            shares[shares.index(max(shares))] -= 1
        parts = [replace(part, points=share / 4) for part, share in zip(self.parts, shares, strict=True)]
        return replace(self, parts=parts)

    def part(self, name: str) -> Part:
        """The part of that name; AuthorError if there is none."""
        for part in self.parts:
            if part.name == name:
                return part
        names = [part.name for part in self.parts]
        raise AuthorError(
            "unknown_part",
            f"{self.slug or self.title}: no part {name!r}{did_you_mean(name, names)}; there are {', '.join(names)}",
        )


@dataclass(frozen=True, kw_only=True)
class Variant:
    """One draw of a problem; equal exactly where the parameters are."""

    slug: str
    version: int
    parameters: Parameters
    seed: int = field(default=0, compare=False)

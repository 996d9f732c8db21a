"""Derivations: a chain of lines from a given one to an answer, paid for the forms that it reaches on the way.

The rule, as a statement prints it. The chain starts with the given line; another start earns nothing. The given line
may be written otherwise, but a line that has a milestone's form already is another one. A `Milestone` is a form told in
words. It is reached by the first line that has it (the line before does not), and earned if every link
since the milestone before it, or since the start, holds: a broken link costs the milestone that it leads to and no
other. Milestones count in their order; one line may reach several. The end is earned by a last line that is the answer
in the form that is asked, if the links since the last milestone hold, and only where one was reached: the end alone
earns nothing where a way is asked. Links themselves earn nothing, so that lines about constants, repetitions and
rewritings neither earn nor cost.

A line that is the answer in disguise reaches no milestone, nor does a step back from one: what cancels, a factor of
one, a sum that is one are taken out first (`expression.essence`). A link that can be neither proved nor
refuted holds the milestone that it leads to.

The language of the lines is a parameter: expressions, or tensor equations with one left side.

    derivation = [ left "=" ] line { ( newline [ relation ] | relation ) line } ;
    left       = NAME [ "(" … ")" | "[" … "]" ] ;      names what is derived
    relation   = "=" | "<=" | "<" | ">=" | ">" ;
    line       = sum | NAME "[" sum "]" ;              a closed form, by the grammar of `expression/expression_grammar`;
                                                       or the right side of a tensor equation
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from typing import Any, Protocol

from autograder.errors import AuthorError, Unreadable
from autograder.maths import chain
from autograder.maths.chain import Line
from autograder.maths.decision import Decision, different, equal, undecided


@dataclass(frozen=True)
class Milestone:
    """A form that a chain is to reach, `words` as the statement names it.

    `has` and `lacks` are what a line must and must not contain as it is written (see `expression.line_form`); no
    function may have all of `apart` in its argument. `weight` is what it counts beside the others and the end, which
    counts 1. `others` are further forms that reach it. With `opened` off, a line counts although it would be the end
    once its brackets are opened: `cos((t+k) - t)`.
    """

    words: str
    _: KW_ONLY
    has: Sequence[str] = ()
    lacks: Sequence[str] = ()
    apart: Sequence[str] = ()
    weight: float = 1.0
    others: Sequence[Milestone] = ()
    opened: bool = True


class Language(Protocol):
    """What a derivation must know of its lines: `read` gives what the other methods take."""

    def read(self, text: str) -> Any:
        """A line as it was read; raises Unreadable."""

    def names(self, text: str) -> bool:
        """Whether this is a left side that only names what is derived."""

    def link(self, before: Any, after: Any, relation: str) -> Decision:
        """Whether two lines are related so."""

    def has_form(self, line: Any, milestone: Milestone) -> bool:
        """Whether a line has a milestone's form as it is written."""

    def is_end(self, line: Any) -> bool:
        """Whether a line has the form that is asked for the end as it is written."""

    def is_disguised(self, line: Any, *, opened: bool = True) -> bool:
        """Whether a line has the form of the end, or is the answer, once what does nothing in it is taken out.

        Brackets are opened for that, or they are not.
        """


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What was found about one thing that is paid for: the start, a milestone, the end. `ok` None goes to a person."""

    name: str
    ok: bool | None
    code: str
    message: str = ""
    witness: str = ""


@dataclass(frozen=True, kw_only=True)
class Link:
    """The step to line `number` of the text, and whether it holds."""

    number: int
    decision: Decision


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A chain by its rule: the start, then each milestone, then the end."""

    findings: tuple[Finding, ...]
    links: tuple[Link, ...]

    @property
    def first_wrong(self) -> Link | None:
        """The first link that does not hold."""
        return next((link for link in self.links if link.decision.outcome == "different"), None)

    @property
    def decision(self) -> Decision:
        """The whole as one decision: equal where everything is earned."""
        lost = next((item for item in self.findings if item.ok is False), None)
        if lost is not None:
            return different(lost.code, lost.message, witness=lost.witness, findings=self.findings)
        held = next((item for item in self.findings if item.ok is None), None)
        found = undecided(held.code, held.message) if held else equal()
        return Decision(**{**vars(found), "detail": {"findings": self.findings}})


def judge(
    answer: str, *, start: str, reference: str, language: Language, milestones: Sequence[Milestone] = ()
) -> Judged:
    """Judge a chain that is to lead from `start` to `reference`; raises Unreadable with the number of the line."""
    lines, read = _read(answer, language, start)
    links = tuple(_links(language, lines, read))
    closed = [language.is_disguised(line) for line in read] if milestones else []
    late = next((form.words for form in milestones if _has(language, read[0], form, closed[0])), "")
    first = _start(language.link(language.read(start), read[0], "="), lines[0], late)
    key = language.read(reference)
    answered = [end and language.link(key, line, "=").equal for end, line in zip(closed, read, strict=False)]
    found, reached = [first], 0
    for number, milestone in enumerate(milestones, 1):
        has = [_has(language, line, milestone, end) for line, end in zip(read, closed, strict=True)]
        place = _reached(has, answered, max(reached, 1))
        item = _milestone(f"form_{number}", milestone, lines, links, reached, place)
        if place is not None and place == reached:  # the same line has reached two
            item = _like(found[-1], item)
        found.append(item)
        reached = reached if place is None else place
    last = language.link(key, read[-1], "=")
    found.append(_end(last, language.is_end(read[-1]), links[reached:], on_a_way=reached > 0 or not milestones))
    return Judged(findings=tuple(found), links=links)


def _read(answer: str, language: Language, start: str) -> tuple[list[Line], list[Any]]:
    """The lines, with what was read; a left side that only names what is derived is none of them.

    Where the text begins with a relation, the given line is what stands before it.
    """
    lines = chain.lines(answer)
    if not lines:
        raise Unreadable("empty", "there is no line here")
    if lines[0].relation != "first":
        lines = [Line(text=start, number=0), *lines]
    elif len(lines) > 1 and lines[1].relation == "=" and language.names(lines[0].text):
        label = lines[0].text
        lines = [line for line in lines if line.text != label]
    if not lines:
        raise Unreadable("empty", "there is no line here")
    return lines, [_line(language, line) for line in lines]


def _line(language: Language, line: Line) -> Any:
    try:
        return language.read(line.text)
    except Unreadable as error:
        raise Unreadable(error.code, f"line {line.number}: {error.message}", error.text, error.column) from error


def _start(decision: Decision, line: Line, late: str) -> Finding:
    """The given line, as it is written in the question or otherwise; a line of a form that is asked (`late`) is not."""
    message = f"Line {line.number} is not the given line, with which the chain starts"
    message += f": it has this form already: {late}." if late else "."
    if decision.equal and not late:
        return Finding(name="start", ok=True, code="ok")
    if decision.outcome == "undecided" and not late:
        return Finding(name="start", ok=None, code=decision.code, message=decision.message)
    return Finding(name="start", ok=False, code="start", message=message, witness=decision.witness)


def _links(language: Language, lines: Sequence[Line], read: Sequence[Any]) -> list[Link]:
    """The steps; the inequalities among them all go one way, which the first one shows."""
    found, way = [], ""
    for number in range(1, len(lines)):
        line = lines[number]
        if line.relation != "=" and way and line.relation[0] != way:
            decision = different("direction", "it turns the inequality around")
        else:
            decision = language.link(read[number - 1], read[number], line.relation)
        way = way or line.relation.strip("=")[:1]
        found.append(Link(number=line.number, decision=decision))
    return found


def _has(language: Language, line: Any, milestone: Milestone, closed: bool) -> bool:
    """Whether a line has one of a milestone's forms, and is not the end in disguise."""
    return any(
        language.has_form(line, form)
        and not (closed if form.opened else closed and language.is_disguised(line, opened=False))
        for form in (milestone, *milestone.others)
    )


def _reached(has: Sequence[bool], answered: Sequence[bool], first: int) -> int | None:
    """The line from `first` on that has a form which the line before has not; the answer is not that line before."""
    places = (k for k in range(first, len(has)) if has[k] and not has[k - 1] and not answered[k - 1])
    return next(places, None)


def _milestone(
    name: str, form: Milestone, lines: Sequence[Line], links: Sequence[Link], since: int, place: int | None
) -> Finding:
    if place is None:
        text = f"No line after the first one reaches this form: {form.words}."
        return Finding(name=name, ok=False, code="milestone", message=text)
    return _after(name, links[since:place], f"Line {lines[place].number} reaches this form: {form.words}.")


def _like(before: Finding, item: Finding) -> Finding:
    return Finding(name=item.name, ok=before.ok, code=before.code, message=before.message, witness=before.witness)


def _after(name: str, links: Sequence[Link], what: str) -> Finding:
    """Earned if all of these links hold, lost if one is broken, else a person's."""
    for link in links:
        if link.decision.outcome == "different":
            text = f"Line {link.number} does not follow from the line before it: {_why(link.decision)}"
            return Finding(name=name, ok=False, code="step", message=text, witness=link.decision.witness)
    for link in links:
        if link.decision.outcome == "undecided":
            text = f"Whether line {link.number} follows from the line before it could not be decided."
            return Finding(name=name, ok=None, code=link.decision.code, message=f"{text} {link.decision.message}")
    return Finding(name=name, ok=True, code="ok", message=what)


def _why(decision: Decision) -> str:
    """Both lines are the student's own, so that both values may be shown."""
    if "your answer gives" not in decision.witness:
        return decision.message
    return decision.witness.replace("your answer gives", "it gives").replace("expected", "and the line before it gives")


def _end(final: Decision, has_form: bool, links: Sequence[Link], *, on_a_way: bool) -> Finding:
    if final.outcome == "different":
        text = f"The last line is not the answer: {final.message}"
        return Finding(name="end", ok=False, code="end", message=text, witness=final.witness)
    if not has_form:
        return Finding(name="end", ok=False, code="form", message="The last line does not have the form that is asked.")
    if not on_a_way:
        text = "The way is what is asked: the last line earns nothing without a form before it."
        return Finding(name="end", ok=False, code="no_way", message=text)
    if final.outcome == "undecided":
        return Finding(name="end", ok=None, code=final.code, message=final.message)
    return _after("end", links, "")


@dataclass(frozen=True)
class Expressions:
    """Lines that are expressions, read with the options of `expression.decide`.

    `start` is the given line: sums over its ranges stay sums. `forbid` and `require` are the form of the end.
    `operators` are brackets that the question defines (`chain`), and `direction` is `<=` or `>=` where a bound is
    asked: inequalities of the other way are none of its links.
    """

    reference: str
    start: str = ""
    direction: str = ""
    operators: Mapping[str, str] = field(default_factory=dict)
    forbid: Sequence[str] = ()
    require: Sequence[str] = ()
    options: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def budget(self) -> Any:
        """What all links together may cost; those that come after are left open."""
        from autograder.maths.expression.budget import UNITS, Budget

        return Budget(3 * UNITS)

    @cached_property
    def reading(self) -> Any:
        """What looking for disguises may cost; a line takes a hundredth of it."""
        from autograder.maths.expression.budget import UNITS, Budget

        return Budget(UNITS)

    def read(self, text: str) -> Any:
        """The line's tree."""
        from autograder.maths import expression

        declared = {name: self.options[name] for name in _DECLARATIONS if name in self.options}
        return expression.parse(chain.written_out(text, self.operators), **declared)

    def names(self, text: str) -> bool:
        """A name that cannot be read as a line, such as `H(P)`."""
        try:
            return chain.is_label(text) and self.read(text) is None
        except Unreadable:
            return True

    def link(self, before: Any, after: Any, relation: str) -> Decision:
        """Equality on the domains, or an inequality in the direction of the question."""
        from autograder.maths import expression

        if relation == "=":
            return expression.decide(before, after, **self.options, budget=self.budget)
        if relation[0] != self.direction[:1]:
            return different("direction", other_relation(relation, self.direction))
        from autograder.maths.expression.bounds import ordered
        from autograder.maths.expression.options import Options

        return ordered(before.node, after.node, relation, Options(**self.options, budget=self.budget))

    def has_form(self, line: Any, milestone: Milestone) -> bool:
        """By the words of the form."""
        from autograder.maths.expression.line_form import has_form

        return has_form(line.node, milestone.has, milestone.lacks, milestone.apart)

    def is_end(self, line: Any) -> bool:
        """By what is forbidden and required at the end."""
        return self._ends(line.node)

    def is_disguised(self, line: Any, *, opened: bool = True) -> bool:
        """By the same without noise, or by being the reference but for noise (and open brackets)."""
        from autograder.maths.expression.essence import essence, ranges
        from autograder.maths.expression.options import Options

        lives = Options(**self.options).lives
        given = ranges(self.read(self.start).node) if self.start else frozenset()
        core = essence(line.node, lives, self.reading, opens=opened, given=given)
        asked = bool(self.forbid or self.require)
        return (asked and (self._ends(line.node) or self._ends(core))) or core == essence(
            self.read(self.reference).node, lives, self.reading, opens=opened, given=given
        )

    def _ends(self, node: Any) -> bool:
        from autograder.maths.expression.line_form import stands

        return not any(stands(node, what) for what in self.forbid) and all(stands(node, what) for what in self.require)


def other_relation(relation: str, direction: str = "") -> str:
    """What is said of a relation that the question does not ask for."""
    wanted = f"only = and {direction}" if direction else "equality"
    return f"the question asks for {wanted}, not for {relation}"


_DECLARATIONS = ("domains", "variables", "functions", "definitions", "log", "imaginary")


@dataclass(frozen=True)
class Equations:
    """Lines that are right sides of one tensor equation, whose `left` side stands in the given line.

    `tensors` and `words` are what `tensor.declare` takes, `given_equations` the question's own equations. `forbid`
    names tensors that the end must do without.
    """

    left: str
    reference: str
    forbid: Sequence[str] = ()
    tensors: Sequence[str] = ()
    words: Mapping[str, Any] = field(default_factory=dict)
    given_equations: str = ""

    def read(self, text: str) -> str:
        """The right side as it is read, in the language's own spelling."""
        from autograder.maths import tensor

        side = text.split("=", 1)[1] if text.replace(" ", "").startswith(f"{self.left}=".replace(" ", "")) else text
        return tensor.to_text(tensor.parse(f"{self.left} = {side}")).split("=", 1)[1].strip()

    def names(self, text: str) -> bool:
        """The left side."""
        from autograder.maths import tensor

        try:
            one, own = (tensor.parse(f"{side} = 0").equations[0].left.name for side in (text, self.left))
        except Unreadable:
            return False
        return one.key == own.key

    def link(self, before: str, after: str, relation: str) -> Decision:
        """Whether both define the same tensor."""
        if relation != "=":
            return different("direction", other_relation(relation))
        return self._compared(before, after, self.tensors)

    def has_form(self, line: str, milestone: Milestone) -> bool:
        """By the names that stand in the line; what it must have, it must depend on."""
        names = self._names(line)
        needed = set(milestone.has)
        return needed <= names and not names & set(milestone.lacks) and all(self._matters(x, line) for x in needed)

    def is_end(self, line: str) -> bool:
        """Without what is forbidden."""
        return not self._names(line) & set(self.forbid)

    def is_disguised(self, line: str, *, opened: bool = True) -> bool:
        """The same by the names that matter; where nothing is forbidden, by their being those of the reference."""
        names = {name for name in self._names(line) if self._matters(name, line)}
        return not names & set(self.forbid) if self.forbid else names == self._names(self.read(self.reference))

    @cached_property
    def budget(self) -> Any:
        """What all comparisons together may cost."""
        from autograder.maths.tensor.values import OPERATIONS, Budget

        return Budget(2 * OPERATIONS)

    @cached_property
    def found(self) -> dict[tuple[str, ...], Decision]:
        """What came of the comparisons so far: lines are repeated."""
        return {}

    def _compared(self, before: str, after: str, tensors: Sequence[str]) -> Decision:
        """Whether two lines are equal; `_Expensive` where that is too much for one chain."""
        key = (before, after, *tensors)
        if key not in self.found:
            self.budget.left -= _READING
            self.found[key] = self._decided(before, after, tensors)
        if self.budget.left < 0:
            raise _Expensive
        return self.found[key]

    def _decided(self, before: str, after: str, tensors: Sequence[str]) -> Decision:
        from autograder.maths import tensor

        lines = f"{self.left} = {before}", f"{self.left} = {after}"
        declared, given = tensor.declare(*tensors, **self.words), self.given_equations or None
        return tensor.decide(*lines, declarations=declared, given=given, hints=False, budget=self.budget)

    def _names(self, line: str) -> set[str]:
        from autograder.maths import tensor

        (equation,) = tensor.parse(f"{self.left} = {line}").equations
        return set(tensor.names(equation.right))

    def _matters(self, name: str, line: str) -> bool:
        """Whether another tensor in the place of this one would make another line: `X - X` does not stand there."""
        axes = next((item.removeprefix(name) for item in self.tensors if item.startswith(f"{name}[")), "")
        if not axes:
            return True
        changed = line.replace(f"{name}[", f"{_OTHER}[")
        return not self._compared(line, changed, [*self.tensors, f"{_OTHER}{axes}"]).equal


_OTHER = "Other"
_READING = 15_000  # operations, about, that it takes to read two lines and to resolve their indices


class _Expensive(Exception):  # named for what a chain is
    """The comparisons of a chain have cost what they may cost."""


def decide(
    reference: str,
    answer: str,
    *,
    start: str,
    milestones: Sequence[Milestone] = (),
    **told: Any,
) -> Decision:
    """A chain as one decision; `detail["findings"]` says what each milestone and the end earn.

    `told` are the fields of `Expressions` (its options as keywords), or of `Equations`. An AuthorError is raised where
    the given line or the end has a milestone's form already.
    """
    lines: Language
    if "tensors" in told:
        lines = Equations(left=start.split("=", 1)[0].strip(), reference=_side(reference), **told)
    else:
        own = {name: told.pop(name) for name in ("direction", "operators", "forbid", "require") if name in told}
        lines = Expressions(reference=reference, start=_side(start), options=told, **own)
    start, reference = _side(start), _side(reference)
    _sound(lines, start, reference, milestones)
    try:
        return judge(answer, start=start, reference=reference, language=lines, milestones=milestones).decision
    except _Expensive:
        return undecided("cost", "This derivation takes too long to compare automatically.")


def _side(text: str) -> str:
    """The right side of an equation; an expression has one side."""
    return text.split("=", 1)[-1].strip()


def _sound(language: Language, start: str, reference: str, milestones: Sequence[Milestone]) -> None:
    """Whether the question's own lines fit its rule."""
    try:
        first, last = language.read(start), language.read(reference)
    except Unreadable as error:
        raise AuthorError("reference", f"the given line or the reference cannot be read: {error.message}") from error
    for milestone in [form for listed in milestones for form in (listed, *listed.others)]:
        for line, name in ((first, "the given line"), (last, "the reference")):
            if language.has_form(line, milestone):
                raise AuthorError("milestone", f"{name} has the form of the milestone {milestone.words!r} already")

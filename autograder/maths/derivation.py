"""Derivations: lines of which each must mean the same as the one before it, the last the same as the key.

An error is paid for once: later lines that follow from a wrong one keep their credit. Lines that were written
before count once, so that padding earns nothing. The language of the lines is a parameter: expressions and
tensor equations are judged alike.

    derivation = line { newline line } ;
    line       = [ "=" ] sum ;                    a closed form, by the grammar of `expression/expression_grammar`
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from autograder.errors import Unreadable
from autograder.maths.decision import Decision, different, equal
from autograder.maths.spelling import is_blank


@dataclass(frozen=True, kw_only=True)
class Language:
    """What a derivation needs to know of its lines. Lines with equal readings are the same line.

    Lines with equal `opened` readings differ by rewriting alone, such as opened brackets. `contains(line, what)`
    answers whether a milestone's word occurs in a line; `size(before, after)` is how far a step goes, for
    questions that cap it.
    """

    decide: Callable[[str, str], Decision]
    read: Callable[[str], object] = str.split
    opened: Callable[[str], object] = str.split
    contains: Callable[[str, str], bool] = lambda line, what: what in line
    size: Callable[[str, str], int] = lambda _before, _after: 0


@dataclass(frozen=True, kw_only=True)
class Link:
    """The step to line `line` (from 0) from the line before it, or from the start."""

    line: int
    decision: Decision
    counts: bool = True
    leap: bool = False


@dataclass(frozen=True, kw_only=True)
class Derivation:
    """How a derivation holds together.

    `links[k]` leads to line k. `first_wrong` is the first line that does not follow, `final` compares the
    last line with the key, `missing` names milestones that no line reaches, `leaps` the lines reached by too
    large a step. `closed` is the first line from which on every 'no …' is kept to, None where the last line is not.
    """

    links: tuple[Link, ...]
    final: Decision
    missing: tuple[str, ...] = ()
    steps: int | None = None
    closed: int | None = 0

    @property
    def first_wrong(self) -> int | None:
        """The index of the first line that differs from its predecessor."""
        return next((link.line for link in self.links if link.decision.outcome == "different"), None)

    @property
    def undecided(self) -> tuple[int, ...]:
        """Lines that a person must look at; the key counts as the line after the last."""
        lines = tuple(link.line for link in self.links if link.decision.outcome == "undecided")
        return lines + ((len(self.links),) if self.final.outcome == "undecided" else ())

    @property
    def leaps(self) -> tuple[int, ...]:
        """Lines reached by a step that is larger than the question allows."""
        return tuple(link.line for link in self.links if link.leap)

    @property
    def share(self) -> Fraction:
        """The part of the links that hold, the one to the key included.

        Repeated lines count neither way, nor does a wrong end that follows from a wrong line: an error is
        paid once. Where the question names the `steps` of a full solution, each error costs at least one of
        them: filling up with harmless lines does not make it cheaper. A chain that does not come to the right end
        then earns one of them for each link between two lines, and at most half unless a link that holds
        leads to its closed form: to write down the question, and any end under it, is no step. A first line
        that is not the question costs one: what follows from another question is no answer to this one.
        """
        counted = [link.decision.equal and not link.leap for link in self.links if link.counts]
        if self.final.equal or self.first_wrong is None:
            counted.append(self.final.equal and not self.missing)
        wrong = counted.count(False)
        total = min(len(counted), self.steps) if self.steps else len(counted)
        share = max(Fraction(0), 1 - Fraction(wrong, total))
        if not self.steps or (self.final.equal and self.closed is not None):
            return share
        taken = sum(link.line > 0 and link.counts and link.decision.equal and not link.leap for link in self.links)
        taken = max(0, taken - (self.first_wrong == 0))
        arrived = self.closed is not None and self.links[self.closed].decision.equal
        return min(share, Fraction(taken, self.steps), Fraction(1) if arrived else Fraction(1, 2))

    @property
    def decision(self) -> Decision:
        """The whole as one decision: equal only where every link holds and every milestone is reached."""
        if (line := self.first_wrong) is not None:
            wrong = self.links[line].decision
            message = f"line {line + 1} does not follow from the one before it: {wrong.message}"
            return different("step", message, witness=wrong.witness, line=line, reason=wrong.code)
        if self.final.outcome == "different":
            return different(
                "end", f"the last line is not the answer: {self.final.message}", witness=self.final.witness
            )
        if self.undecided:
            return next((x.decision for x in self.links if x.decision.outcome == "undecided"), self.final)
        if self.missing:
            return different("milestone", f"no line reaches this form: {self.missing[0]}", milestone=self.missing[0])
        if self.leaps:
            return different(
                "leap", f"the step to line {self.leaps[0] + 1} is too large: write out the steps in between"
            )
        return equal()


def judge(
    lines: Sequence[str],
    key: str,
    *,
    language: Language,
    start: str | None = None,
    requires: Iterable[str] = (),
    cap: int | None = None,
    steps: int | None = None,
) -> Derivation:
    """Judge `lines` against the question's `start` (by default the key, as every line should equal it).

    `requires` are milestones: 'no sum' asks for a line without `sum`, 'sum' for one with it; the last line
    must satisfy every 'no …'. `cap` bounds the size of one step; `steps` is how many links a full
    solution has, so that padding cannot dilute an error. Where the question gives its `start`, to open brackets
    or to write out an abbreviation is no step. Raises `Unreadable` with the number of the line.
    """
    lines = [line for line in lines if not is_blank(line)]
    if not lines:
        raise Unreadable("empty", "there is no line here")
    readings = [_read(language, line, number) for number, line in enumerate(lines)]
    links = [_first(language, lines[0], readings[0], key, start, cap)]
    opened = [language.opened(line) for line in lines] if start is not None else []
    for number in range(1, len(lines)):
        rewritten = bool(opened) and opened[number] == opened[number - 1]
        links.append(_link(language, lines, readings, number, cap, rewritten))
    final = links[-1].decision if len(lines) == 1 and start is None else language.decide(key, lines[-1])
    milestones = tuple(requires)
    missing = tuple(what for what in milestones if not _reached(language, lines, what))
    closed = _closed(language, lines, [what for what in milestones if what.startswith("no ")])
    return Derivation(links=tuple(links), final=final, missing=missing, steps=steps, closed=closed)


def _closed(language: Language, lines: Sequence[str], forms: Sequence[str]) -> int | None:
    """The first line from which on all lines have these forms."""
    open_lines = (n for n in range(len(lines), 0, -1) if not all(_reached(language, lines[:n], what) for what in forms))
    first = next(open_lines, 0)
    return first if first < len(lines) else None


def _read(language: Language, line: str, number: int) -> object:
    try:
        return language.read(line)
    except Unreadable as error:
        raise Unreadable(error.code, f"line {number + 1}: {error.message}", error.text, error.column) from error


def _first(language: Language, line: str, reading: object, key: str, start: str | None, cap: int | None) -> Link:
    """The step from the question to the first line; a copy of the question's own line is no step."""
    if start is None:
        return Link(line=0, decision=language.decide(key, line))
    if reading == language.read(start):
        return Link(line=0, decision=equal("same_line"), counts=False)
    leap = cap is not None and language.size(start, line) > cap
    return Link(line=0, decision=language.decide(start, line), leap=leap)


def _link(
    language: Language, lines: Sequence[str], readings: Sequence[object], number: int, cap: int | None, rewritten: bool
) -> Link:
    if readings[number] == readings[number - 1]:
        return Link(line=number, decision=equal("same_line"), counts=False)
    decision = language.decide(lines[number - 1], lines[number])
    leap = cap is not None and language.size(lines[number - 1], lines[number]) > cap
    again = readings[number] in readings[:number] or (rewritten and decision.equal)
    return Link(line=number, decision=decision, counts=not again, leap=leap)


def _reached(language: Language, lines: Sequence[str], what: str) -> bool:
    if what.startswith("no "):
        return not language.contains(lines[-1], what.removeprefix("no ").strip())
    return any(language.contains(line, what) for line in lines)


def expressions(
    *,
    decide: Callable[..., Any] | None = None,
    domains: Mapping[str, str] | None = None,
    **options: Any,
) -> Language:
    """Lines that are expressions, read with the options of `expression.decide`.

    A line may begin with '='. `decide` replaces the comparison, so that it can run under a guard. Lines that
    differ in the order of terms, a `+0` or a parenthesis only are the same line.
    """
    from autograder.maths import expression
    from autograder.maths.expression.same_line import normal, opened

    declared = {name: options[name] for name in _DECLARATIONS if name in options}
    compare = decide or expression.decide

    def read(line: str) -> expression.Expression:
        return expression.parse(_bare(line), domains=domains, **declared)

    def decided(before: str, after: str) -> Decision:
        result = compare(_bare(before), _bare(after), domains=domains, **options)
        assert isinstance(result, Decision)
        return result

    return Language(
        decide=decided,
        read=lambda line: normal(read(line).node),
        opened=lambda line: opened(read(line).node),
        contains=lambda line, what: expression.contains(read(line).node, what),
        size=lambda before, after: _distance(read(before).node, read(after).node),
    )


_DECLARATIONS = ("variables", "functions", "definitions", "log", "imaginary")


def _bare(line: str) -> str:
    return line.strip().removeprefix("=").strip()


def _distance(before: Any, after: Any) -> int:
    """How many subexpressions of one line the other does not have, the larger of the two directions."""
    from autograder.maths.expression.syntax import walk

    old, new = set(walk(before)), set(walk(after))
    return max(len(new - old), len(old - new))


def decide(
    reference: str,
    answer: str,
    *,
    start: str | None = None,
    requires: Iterable[str] = (),
    cap: int | None = None,
    steps: int | None = None,
    **options: Any,
) -> Decision:
    """A chain of expressions, one a line of `answer`, as one decision; `detail["share"]` is the part that holds."""
    language = expressions(**options)
    found = judge(
        answer.splitlines(), reference, language=language, start=start, requires=requires, cap=cap, steps=steps
    )
    decision = found.decision
    detail = {**(decision.detail or {}), "share": float(found.share)}
    return Decision(**{**vars(decision), "detail": detail})

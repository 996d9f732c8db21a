"""Whether an answer's equations define the same tensor as the reference's."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from autograder.errors import AuthorError, Unreadable, did_you_mean

from ..decision import Decision, different, undecided
from .axes import Side, add_answer, add_reference, declared
from .checking import Interpreted, inputs, interpret, names, ordered, recurring
from .comparison import Compared, Comparison, grid_of, link_of, position_names, tensor_of
from .core import Fault, Meaning
from .declarations import Declarations, tensor_key
from .grammar import parse
from .symbols import axes as axes_of
from .tree import System

Text = str | Sequence[str] | System
HINT_SECONDS = 0.4


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A reference and an answer ready to be compared, or the faults that forbid it."""

    reference: Interpreted
    answer: Interpreted
    target: str
    faults: tuple[Fault, ...]
    comparison: Comparison | None

    @property
    def fatal(self) -> Fault | None:
        """The first fault that leaves the answer without a meaning."""
        return next((fault for fault in self.faults if fault.fatal), None)


def system_of(text: Text) -> System:
    """A system from text, from a list of lines, or as it is."""
    if isinstance(text, System):
        return text
    return _parsed(text if isinstance(text, str) else "\n".join(text))


@lru_cache(maxsize=256)
def _parsed(text: str) -> System:
    return parse(text)


def author_system(text: Text) -> System:
    """A system that an author wrote; raises AuthorError where it cannot be read."""
    try:
        return system_of(text)
    except Unreadable as error:
        raise AuthorError("reference", f"an equation of the problem cannot be read:\n{error.caret()}") from error


def with_given(system: System, given: System | None) -> System:
    """The system and those given equations that it does not define itself."""
    if given is None:
        return system
    own = {equation.left.name.key for equation in system.equations}
    extra = tuple(equation for equation in given.equations if equation.left.name.key not in own)
    return replace(system, equations=extra + system.equations)


class Question:
    """A reference that answers are compared with: parsed and resolved once."""

    def __init__(
        self, *, reference: Text, declarations: Declarations, target: str | None = None, given: Text | None = None
    ) -> None:
        self.declarations = declarations
        self.given = author_system(given) if given is not None else None
        self.system = with_given(author_system(reference), self.given)
        key = self.system.equations[-1].left.name.key if target is None else tensor_key(target)
        self.target = key
        if not self.system.defining(key):
            raise AuthorError("target", f"the reference does not define {key}{did_you_mean(key, _lefts(self.system))}")
        self.found = interpret(self.system, declarations)
        for fault in self.found.faults:
            if fault.fatal:
                raise AuthorError("reference", f"the reference has no meaning: {fault.message}")

    def prepare(self, answer: Text, *, deadline: float, seed: int = 0, closed: bool = True) -> Prepared:
        """Parse, resolve and unify an answer; tensors that the question does not know are a fault if `closed`."""
        second = interpret(with_given(system_of(answer), self.given), self.declarations, axes_of(self.system))
        faults = [*second.faults, *_named(self.found, second, self.target, self.declarations, closed)]
        comparison = None
        if not any(fault.fatal for fault in faults):
            comparison, more = _unify(self.found, second, self.target, self.declarations, deadline, seed)
            faults += more
        if any(fault.fatal for fault in faults):
            comparison = None
        return Prepared(
            reference=self.found, answer=second, target=self.target, faults=ordered(faults), comparison=comparison
        )


def _lefts(system: System) -> list[str]:
    return [equation.left.name.key for equation in system.equations]


def _named(
    first: Interpreted, second: Interpreted, target: str, declarations: Declarations, closed: bool
) -> list[Fault]:
    """Faults of names and numbers of indices against what the reference knows."""
    known = inputs(first)
    known.update(recurring(first))
    known.update({name: len(shape) for name, shape in declarations.shapes.items()})
    shifted = {m.name: len(m.left) for m in first.last if m.name == target}
    own = {m.name for m in second.last if m.name != target}
    arities = {name: count for name, count in {**known, **shifted}.items() if name not in own}
    if target in arities:
        arities[target] += len(context_positions(second, target, first))
    faults = names(second, arities, declarations, closed=closed)
    if target not in second.own:
        faults.append(Fault(code="no_target", message=_no_target(target, second)))
    return faults


def _no_target(target: str, answer: Interpreted) -> str:
    return f"no equation defines {target}{did_you_mean(target, answer.own)}"


def _unify(
    first: Interpreted, second: Interpreted, target: str, declarations: Declarations, deadline: float, seed: int
) -> tuple[Comparison, list[Fault]]:
    axes = declared(declarations)
    reference = Side(owner="reference", meanings=first.last, own=first.own - set(declarations.shapes))
    answer = Side(owner="answer", meanings=second.last, own=second.own - set(declarations.shapes))
    add_reference(axes, reference)
    arity = len(next(m for m in first.last if m.name == target).left)
    for number, place in enumerate(shared_positions(second, target, first)[:arity]):
        axes.unite(reference.position(target, number), answer.position(target, place))
    letters = axes_of(first.system) | {letter for shape in declarations.shapes.values() for letter in shape}
    faults = add_answer(axes, answer, frozenset(letters | set(declarations.sizes)))
    comparison = Comparison(reference, answer, axes, declarations, deadline=deadline, seed=seed)
    comparison.sizes(0)
    if comparison.fault is not None:
        faults.append(comparison.fault)
    return comparison, faults


def targets(prepared: Prepared, name: str) -> list[Compared]:
    """What to compare for a tensor: one comparison for each reference equation that defines it."""
    assert prepared.comparison is not None
    side = prepared.comparison.reference
    defining = [meaning for meaning in prepared.reference.last if meaning.name == name]
    shown = next(meaning for meaning in prepared.answer.last if meaning.name == name)
    return [_compared(prepared, side, meaning, shown) for meaning in defining]


def context_positions(answer: Interpreted, name: str, reference: Interpreted) -> dict[int, str]:
    """The positions where the answer writes an index of the context that the reference leaves out: `P[t,w]` for `P[w]`."""
    mine = next((m for m in answer.last if m.name == name), None)
    theirs = next((m for m in reference.last if m.name == name), None)
    if mine is None or theirs is None:
        return {}
    left_out = {key[1:] for m in reference.last for key in m.symbols if key.startswith("@")} - set(theirs.free)
    return {p: index.variable for p, index in enumerate(mine.left) if index.variable in left_out}


def shared_positions(answer: Interpreted, name: str, reference: Interpreted) -> list[int]:
    """The answer's positions that the reference has too, in order."""
    extra = context_positions(answer, name, reference)
    mine = next((m for m in answer.last if m.name == name), None)
    return [] if mine is None else [position for position in range(len(mine.left)) if position not in extra]


def _compared(prepared: Prepared, side: Side, meaning: Meaning, shown: Meaning) -> Compared:
    extra = context_positions(prepared.answer, meaning.name, prepared.reference)
    places = shared_positions(prepared.answer, meaning.name, prepared.reference)
    names = position_names(shown)
    return Compared(
        positions=tuple(names[place] for place in places), grids=lambda sizes: grid_of(side, meaning, sizes),
        first=tensor_of(meaning.name), second=tensor_of(meaning.name, places, extra),
    )


def verdict(prepared: Prepared) -> Decision:
    """Equal, different or undecided, without any search for the cause."""
    fatal = prepared.fatal
    if fatal is not None:
        return different(fatal.code, fatal.message, faults=prepared.faults)
    assert prepared.comparison is not None
    broken = chain_fault(prepared)
    if broken is not None:
        return broken
    outcome = None
    for what in targets(prepared, prepared.target):
        outcome = prepared.comparison.decide(what)
        if not outcome.equal:
            break
    assert outcome is not None
    soft = prepared.faults[0] if prepared.faults else None
    if outcome.outcome == "different" and set(recurring(prepared.answer)) - set(recurring(prepared.reference)):
        return undecided("recurrence", "a recurrence is not compared with a formula that has none")
    if outcome.outcome == "different" and outcome.code == "value" and soft is not None:
        return different(soft.code, soft.message, witness=outcome.witness, faults=prepared.faults)
    return outcome


def chain_fault(prepared: Prepared) -> Decision | None:
    """The first link of a chain `A = x = y` that does not equal the next one."""
    comparison = prepared.comparison
    assert comparison is not None
    side = comparison.answer
    for chain in prepared.answer.links:
        for number, (link, following) in enumerate(zip(chain, chain[1:], strict=False)):
            mirror = Comparison(side, side, comparison.axes, comparison.declarations, deadline=comparison.deadline)
            what = Compared(
                positions=position_names(link), grids=lambda sizes, m=following: grid_of(side, m, sizes),  # type: ignore[misc]
                first=link_of(link), second=link_of(following),
            )
            outcome = mirror.decide(what)
            if not outcome.equal:
                message = f"step {number + 2} of the chain for {link.name} does not equal the step before it"
                kind = different if outcome.outcome == "different" else undecided
                return kind("chain", message)
    return None


def decide(
    reference: Text,
    answer: Text,
    *,
    declarations: Declarations | None = None,
    target: str | None = None,
    given: Text | None = None,
    hints: bool = True,
    seconds: float = 2.0,
    seed: int = 0,
) -> Decision:
    """Whether `answer` defines `target` as `reference` does; the last tensor of the reference if no target is named.

    Own definitions are inlined, so names of intermediate tensors and of indices do not matter; names of given tensors
    do. `given` are equations of the question that both sides may use. An answer that cannot be read raises Unreadable,
    a reference that cannot be used AuthorError. Codes: equal `agree`, `agree_analytic`; different `value`, `domain`,
    `chain`, `no_target` or that of a fault; undecided `size`, `time`, `precision`, `branch`, `saturated`, `domain`,
    `number`, `left_index`, `recurrence`, `softmax_scope`. After a refusal, `detail["hints"]` is a ladder of sentences from vague to
    plain (none with `hints=False`).
    """
    deadline = time.monotonic() + seconds
    question = Question(reference=reference, declarations=declarations or Declarations(), target=target, given=given)
    prepared = question.prepare(answer, deadline=deadline, seed=seed)
    outcome = verdict(prepared)
    if outcome.outcome == "different":
        outcome = _read_otherwise(question, answer, outcome, deadline, seed)
    if outcome.outcome == "different" and hints:
        from .hints import ladder

        return ladder(question, prepared, outcome, deadline=min(deadline, time.monotonic() + HINT_SECONDS))
    return outcome


def _read_otherwise(question: Question, answer: Text, outcome: Decision, deadline: float, seed: int) -> Decision:
    """Undecided if the other reading of `softmax_i (…) …` would be right: a person must look."""
    system = system_of(answer)
    if all(warning.code != "softmax_scope" for warning in system.warnings) or not system.text:
        return outcome
    other = question.prepare(parse(system.text, softmax_prefix=True), deadline=deadline, seed=seed)
    if verdict(other).equal:
        message = "softmax followed by a round bracket can be read in two ways: write softmax_{i}[ … ]"
        return undecided("softmax_scope", message)
    return outcome

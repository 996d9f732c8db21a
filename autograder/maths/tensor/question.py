"""A question's reference, and an answer laid beside it: parsed, resolved, over common axes."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from autograder.errors import AuthorError, did_you_mean
from autograder.maths.tensor import messages
from autograder.maths.tensor.axes import Axes, Side, add_answer, add_reference, declared
from autograder.maths.tensor.checking import (
    Interpreted,
    as_read,
    functions,
    inputs,
    interpret,
    names,
    needed,
    ordered,
    recurring,
)
from autograder.maths.tensor.comparison import Compared, Comparison, grid_of, position_names, tensor_of
from autograder.maths.tensor.core_tree import Fault
from autograder.maths.tensor.declarations import Declarations, tensor_key
from autograder.maths.tensor.shelf import Shelves
from autograder.maths.tensor.symbols import axes as axes_of
from autograder.maths.tensor.system_texts import Text, author_system, content, system_of, with_given
from autograder.maths.tensor.tensor_tree import System
from autograder.maths.tensor.values import Budget

Read = dict[Hashable, tuple[Interpreted, Collection[str]]]
MOST_ASKED = 16


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
        found = (fault for fault in self.faults if fault.fatal)
        return min(found, key=lambda fault: messages.UNREAD.get(fault.code, 1), default=None)

    def compared(self, name: str) -> list[Compared]:
        """What to compare for a tensor: one comparison for each reference equation that defines it."""
        assert self.comparison is not None
        side = self.comparison.reference
        extra = context_positions(self.answer, name, self.reference)
        places = shared_positions(self.answer, name, self.reference)
        shown = position_names(next(meaning for meaning in self.answer.last if meaning.name == name))
        return [
            Compared(
                positions=tuple(shown[place] for place in places),
                grids=lambda sizes, meaning=meaning: grid_of(side, meaning, sizes),  # type: ignore[misc]
                first=tensor_of(name),
                second=tensor_of(name, places, extra),
            )
            for meaning in self.reference.last
            if meaning.name == name
        ]


class Question:
    """A reference that answers are compared with: parsed and resolved once."""

    def __init__(
        self,
        *,
        reference: Text,
        declarations: Declarations,
        target: str | None = None,
        given: Text | None = None,
    ) -> None:
        self.declarations = declarations
        self.given = given
        self.system = with_given(author_system(reference), self.given)
        key = self.system.equations[-1].left.name.key if target is None else tensor_key(target)
        self.target = key
        if not self.system.defining(key):
            raise AuthorError("target", f"the reference does not define {key}{did_you_mean(key, _lefts(self.system))}")
        self.found = interpret(self.system, declarations)
        for fault in self.found.faults:
            if fault.fatal:
                raise AuthorError("reference", f"the reference has no meaning: {fault.message}")
        self.shelves = Shelves()
        self.side = Side(owner="reference", meanings=self.found.last, own=self.found.own - set(declarations.shapes))

    @cached_property
    def axes(self) -> Axes:
        """The axes of the declarations and the reference, before there is an answer."""
        axes = declared(self.declarations)
        add_reference(axes, self.side)
        return axes

    @cached_property
    def letters(self) -> frozenset[str]:
        """The axes that the question fixes."""
        declarations = self.declarations
        shaped = {letter for shape in declarations.shapes.values() for letter in shape}
        return axes_of(self.system) | shaped | set(declarations.sizes)

    def prepare(
        self,
        answer: Text,
        *,
        budget: Budget,
        seed: int = 0,
        closed: bool = True,
        fixed: Mapping[str, int] | None = None,
        apart: bool = False,
        read: Read | None = None,
    ) -> Prepared:
        """Parse, resolve and unify an answer; with `closed`, tensors that the question does not know are a
        fault. Axes of the letters in `fixed` have these sizes. `apart` is a reading that `interpret` explains.

        `read` keeps what one answer was read as, for questions that differ in their references alone.
        """
        read = {} if read is None else read
        around = frozenset(self._arities.items()), axes_of(self.system), apart  # what else its reading depends on
        if around not in read:
            read[around] = self._read(answer, apart)
        second, written = read[around]
        faults = [*second.faults, *self._named(second, closed, written)]
        comparison = None
        if not any(fault.fatal for fault in faults):
            comparison, more = self._unified(second, budget, seed, fixed)
            faults += more
        if any(fault.fatal for fault in faults):
            comparison = None
        return Prepared(
            reference=self.found,
            answer=second,
            target=self.target,
            faults=ordered(faults),
            comparison=comparison,
        )

    def _read(self, answer: Text, apart: bool) -> tuple[Interpreted, Collection[str]]:
        """The answer with a meaning, and the tensors that its lines define."""
        system = as_read(system_of(answer), self.declarations, self.given, self._arities, target=self.target)
        written = {equation.left.name.key for equation in system.equations}
        if system.defining(self.target):
            system = needed(system, self.target)  # lines that the target does not need cannot spoil it
        return interpret(system, self.declarations, axes_of(self.system), apart=apart), written

    @cached_property
    def _arities(self) -> dict[str, int]:
        """The tensors that the question knows, with their numbers of indices."""
        shapes = {name: len(shape) for name, shape in self.declarations.shapes.items()}
        return {**inputs(self.found), **recurring(self.found), **shapes}

    def _named(self, second: Interpreted, closed: bool, written: Collection[str]) -> list[Fault]:
        """Faults of names and numbers of indices against what the question knows."""
        shifted = {m.name: len(m.left) for m in self.found.last if m.name == self.target}
        own = {m.name for m in second.last if m.name != self.target}
        arities = {name: count for name, count in {**self._arities, **shifted}.items() if name not in own}
        if self.target in arities:
            arities[self.target] += len(context_positions(second, self.target, self.found))
        faults = names(second, arities, self.declarations, closed=closed, written=written)
        known = {_base(name) for name in functions(self.found)}  # of MLP_1 and MLP_2 one is wrong
        others = {name: meaning for name, meaning in functions(second).items() if _base(name) not in known}
        faults += [replace(messages.function(name), equation=meaning.equation) for name, meaning in others.items()]
        if self.target not in second.own:
            arity = next(len(meaning.left) for meaning in self.found.last if meaning.name == self.target)
            faults.append(_no_target(self.target, arity, second))
        return faults

    def _unified(
        self, second: Interpreted, budget: Budget, seed: int, fixed: Mapping[str, int] | None
    ) -> tuple[Comparison, list[Fault]]:
        """An answer over the axes of the question, and what does not fit."""
        axes = self.axes.copy()
        answer = Side(owner="answer", meanings=second.last, own=second.own - set(self.declarations.shapes))
        arity = len(next(m for m in self.found.last if m.name == self.target).left)
        for number, place in enumerate(shared_positions(second, self.target, self.found)[:arity]):
            axes.unite(self.side.position(self.target, number), answer.position(self.target, place))
        faults = add_answer(axes, replace(answer, meanings=second.every), self.letters)
        comparison = Comparison(
            self.side, answer, axes, self.declarations, budget=budget, seed=seed, fixed=fixed, shelves=self.shelves
        )
        comparison.sizes(0)
        if comparison.fault is not None:
            faults.append(comparison.fault)
        return comparison, faults


_ASKED: OrderedDict[tuple[object, ...], Question] = OrderedDict()


def asked(reference: Text, declarations: Declarations, target: str | None, given: Text | None) -> Question:
    """The question, resolved once for all its answers, with what its reference is worth."""
    key = (content(reference), repr(declarations), target, content(given))
    question = _ASKED.pop(key, None)
    _ASKED[key] = question or Question(reference=reference, declarations=declarations, target=target, given=given)
    if len(_ASKED) > MOST_ASKED:
        _ASKED.popitem(last=False)
    return _ASKED[key]


def _base(name: str) -> str:
    return re.split(r"[_^']", name)[0]


def _lefts(system: System) -> list[str]:
    return [equation.left.name.key for equation in system.equations]


def _no_target(target: str, arity: int, answer: Interpreted) -> Fault:
    if below := next((name for name in answer.own if messages.subscripted(name, target, arity)), ""):
        return messages.in_brackets(below, target)
    return Fault(code="no_target", message=f"no equation defines {target}{did_you_mean(target, answer.own)}")


def context_positions(answer: Interpreted, name: str, reference: Interpreted) -> dict[int, str]:
    """The positions where the answer writes an index of the context that the reference leaves out: `P[t,w]`
    for `P[w]`.
    """
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

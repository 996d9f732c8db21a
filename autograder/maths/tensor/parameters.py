"""Answers with parameters of the student's own: equality up to their names, their order of indices and their
signs.

`sigma(-x) = 1 - sigma(x)` makes a gate that points the other way the same model with negated parameters; a
matrix may be stored transposed. The search maps the answer's parameters to the reference's and decides each
candidate.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, permutations, product

from autograder.maths.decision import Decision, different, undecided
from autograder.maths.tensor.checking import Interpreted, inputs
from autograder.maths.tensor.comparison import Compared, Comparison
from autograder.maths.tensor.declarations import Declarations, tensor_key
from autograder.maths.tensor.equivalence import verdict
from autograder.maths.tensor.question import Question
from autograder.maths.tensor.rewriting import map_tensors
from autograder.maths.tensor.system_texts import Text, system_of
from autograder.maths.tensor.tensor_grammar import parse
from autograder.maths.tensor.tensor_tree import Name, Sum, System, Tensor
from autograder.maths.tensor.values import OPERATIONS, Budget, LimitError

MOST_CANDIDATES = 4_000
SEARCH = 4 * OPERATIONS  # for all candidates together


@dataclass(frozen=True, kw_only=True)
class Match:
    """The answer's parameter `own` is the reference's `name`, indices in this order, times `sign`."""

    own: str
    name: str
    order: tuple[int, ...]
    sign: int


def decide_model(
    reference: Text,
    answer: Text,
    *,
    parameters: Collection[str],
    declarations: Declarations | None = None,
    target: str | None = None,
    given: Text | None = None,
    signs: bool = True,
    transposes: bool = True,
    seed: int = 0,
) -> Decision:
    """Whether the answer is the reference's model: equal for some renaming, transposition and negation of
    `parameters`.

    On equality `detail["parameters"]` says which of the answer's parameters plays which part. Undecided with
    code `search` where there are more candidates than can be tried.
    """
    budget = Budget(SEARCH)
    question = Question(reference=reference, declarations=declarations or Declarations(), target=target, given=given)
    theirs = {name: count for name, count in inputs(question.found).items() if name in set(map(tensor_key, parameters))}
    system = system_of(answer)
    prepared = question.prepare(system, budget=budget, seed=seed, closed=False)
    fatal = [fault for fault in prepared.faults if fault.fatal and fault.code not in ("axis", "arity", "undefined")]
    if fatal:
        return different(fatal[0].code, fatal[0].message, faults=prepared.faults)
    own = _own(prepared.answer, question.found, theirs)
    if len(own) > len(theirs):
        return undecided("search", "the answer has more parameters than the question's own solution")
    candidates = _candidates(own, theirs, signs=signs, transposes=transposes)
    return _try(question, system, candidates, budget, seed)


def _own(answer: Interpreted, reference: Interpreted, theirs: dict[str, int]) -> dict[str, int]:
    known = set(inputs(reference)) - set(theirs)
    return {name: count for name, count in inputs(answer).items() if name not in known}


def _candidates(
    own: dict[str, int], theirs: dict[str, int], *, signs: bool, transposes: bool
) -> Iterator[tuple[Match, ...]]:
    """All assignments, the plain ones first: no transposition and no sign before any."""
    for flips in sorted(product((1, -1), repeat=len(own)), key=lambda s: s.count(-1)) if signs else [(1,) * len(own)]:
        for names in permutations(theirs, len(own)):
            if any(theirs[name] != count for name, count in zip(names, own.values(), strict=True)):
                continue
            for orders in product(*(_orders(count, transposes) for count in own.values())):
                yield tuple(
                    Match(own=mine, name=name, order=order, sign=sign)
                    for mine, name, order, sign in zip(own, names, orders, flips, strict=True)
                )


def _orders(count: int, transposes: bool) -> list[tuple[int, ...]]:
    return list(permutations(range(count))) if transposes and count <= 4 else [tuple(range(count))]


def _try(
    question: Question, system: System, candidates: Iterator[tuple[Match, ...]], budget: Budget, seed: int
) -> Decision:
    doubt: Decision | None = None
    for match in islice(candidates, MOST_CANDIDATES):
        if budget.left < 0:
            return undecided("search", "there are too many ways to match your parameters")
        prepared = question.prepare(apply(system, match), budget=budget, seed=seed)
        if prepared.comparison is None or not _quick(prepared.comparison, prepared.compared(question.target)):
            continue
        outcome = verdict(prepared)
        if outcome.equal:
            plain = tuple((m.own, m.name, m.order, m.sign) for m in match)
            return Decision(outcome="equal", code=outcome.code, detail={"parameters": plain})
        doubt = outcome if outcome.outcome == "undecided" else doubt
    if doubt is not None:
        return doubt
    if next(candidates, None) is not None:
        return undecided("search", "there are too many ways to match your parameters")
    return different("value", "no choice of your parameters gives the required model")


def _quick(comparison: Comparison, what: Sequence[Compared]) -> bool:
    try:
        return all(comparison.quick(each) for each in what)
    except LimitError:
        return True


def apply(system: System, match: Sequence[Match]) -> System:
    """The system with the answer's parameters replaced."""
    table = {each.own: each for each in match}

    def change(tensor: Tensor) -> Tensor | Sum:
        each = table.get(tensor.name.key)
        if each is None or len(tensor.indices) != len(each.order):
            return tensor
        indices = tuple(tensor.indices[place] for place in each.order)
        other = Tensor(name=_name(each.name), indices=indices, column=tensor.column)
        return other if each.sign > 0 else Sum(terms=((-1, other),))

    return map_tensors(system, change)


def _name(key: str) -> Name:
    return parse(f"{key} = 0").equations[0].left.name

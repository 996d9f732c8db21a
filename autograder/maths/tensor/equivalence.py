"""Whether an answer's equations define the same tensor as the reference's."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from autograder.maths.decision import Decision, different, undecided
from autograder.maths.tensor.checking import recurring
from autograder.maths.tensor.comparison import Compared, Comparison, grid_of, link_of, position_names
from autograder.maths.tensor.declarations import Declarations
from autograder.maths.tensor.hints import ladder
from autograder.maths.tensor.messages import UNBOUND, UNREAD
from autograder.maths.tensor.question import Prepared, Question, asked
from autograder.maths.tensor.subscripts import BELOW
from autograder.maths.tensor.system_texts import Text, system_of
from autograder.maths.tensor.tensor_grammar import parse
from autograder.maths.tensor.tensor_tree import System
from autograder.maths.tensor.values import OPERATIONS, Budget


def verdict(prepared: Prepared) -> Decision:
    """Equal, different or undecided, without any search for the cause."""
    fatal = prepared.fatal
    if fatal is not None and fatal.code in UNREAD:
        return undecided(fatal.code, fatal.message)
    below = any(warning.code == BELOW for warning in prepared.answer.system.warnings)
    if fatal is not None and below and {fault.code for fault in prepared.faults if fault.fatal} <= UNBOUND:
        return undecided("brackets", f"with the indices below the names in brackets, {fatal.message}")
    if fatal is not None:
        return different(fatal.code, fatal.message, faults=prepared.faults)
    assert prepared.comparison is not None
    broken = chain_fault(prepared)
    if broken is not None:
        return broken
    outcome = None
    for what in prepared.compared(prepared.target):
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
        for number, (link, following) in enumerate(pairwise(chain)):
            mirror = Comparison(side, side, comparison.axes, comparison.declarations, budget=comparison.budget)
            what = Compared(
                positions=position_names(link),
                grids=lambda sizes, m=following: grid_of(side, m, sizes),  # type: ignore[misc]
                first=link_of(link),
                second=link_of(following),
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
    seed: int = 0,
    budget: Budget | None = None,
) -> Decision:
    """Whether `answer` defines `target` as `reference` does; the last tensor of the reference if no target is
    named.

    Own definitions are inlined, so names of intermediate tensors and of indices do not matter; names of given
    tensors do. `given` are equations of the question that both sides may use. An answer that cannot be read
    raises Unreadable, a reference that cannot be used AuthorError. Codes: equal `agree`, `agree_analytic`;
    different `value`, `domain`, `chain`, `no_target` or that of a fault; undecided `size`, `time`,
    `precision`, `branch`, `saturated`, `domain`, `number`, `left_index`, `recurrence`, `softmax_scope`,
    `notation`, `brackets`. After a refusal, `detail["hints"]` is a ladder of sentences from vague to plain (none with
    `hints=False`). `budget` is for several decisions together.
    """
    # Seven lines with constants beside their scores need more than one.
    budget = Budget(2 * OPERATIONS) if budget is None else budget
    question = asked(reference, declarations or Declarations(), target, given)
    prepared = question.prepare(answer, budget=budget, seed=seed)
    outcome = verdict(prepared)
    if outcome.outcome == "different" and (outcome.code == "chain" or prepared.fatal):
        outcome = _of_its_links(question, system_of(answer), outcome, budget, seed)
    if outcome.outcome == "different":
        outcome = _read_otherwise(question, answer, prepared, outcome, budget, seed)
    return ladder(question, prepared, outcome) if outcome.outcome == "different" and hints else outcome


def explain(
    reference: Text,
    answer: Text,
    outcome: Decision,
    *,
    declarations: Declarations | None = None,
    target: str | None = None,
    given: Text | None = None,
) -> Decision:
    """The decision *different* that `decide` came to without hints, with them."""
    question = asked(reference, declarations or Declarations(), target, given)
    return ladder(question, question.prepare(answer, budget=Budget()), outcome)


def _of_its_links(question: Question, system: System, outcome: Decision, budget: Budget, seed: int) -> Decision:
    """A chain with a link that is broken, or has no meaning, says several things: undecided if one is right."""
    for place, equation in enumerate(system.equations):
        for link in equation.links if len(equation.links) > 1 else ():
            said = [replace(each, links=each.links[-1:]) for each in system.equations]
            said[place] = replace(equation, links=(link,))
            other = verdict(question.prepare(replace(system, equations=tuple(said)), budget=budget, seed=seed))
            if other.outcome != "different":
                return undecided("chain", f"{outcome.message}, so it says several things")
    return outcome


def _read_otherwise(
    question: Question, answer: Text, prepared: Prepared, outcome: Decision, budget: Budget, seed: int
) -> Decision:
    """Equal if it is so where `softmax_s[… D …] … D …` sums D twice, as it was meant then; undecided if the other
    reading of `softmax_i (…) …` would be right: a person must look.
    """
    system = system_of(answer)
    other = question.prepare(system, budget=budget, seed=seed, apart=True)
    if other.answer.last != prepared.answer.last and (meant := verdict(other)).equal:
        return meant
    if all(warning.code != "softmax_scope" for warning in system.warnings) or not system.text:
        return outcome
    other = question.prepare(parse(system.text, softmax_prefix=True), budget=budget, seed=seed)
    if verdict(other).equal:
        message = "softmax followed by a round bracket can be read in two ways: write softmax_{i}[ … ]"
        return undecided("softmax_scope", message)
    return outcome

"""Whether an answer means the same as the reference, and what to say where it does not."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from autograder.errors import AuthorError, Unreadable
from autograder.maths.decision import Decision, equal, undecided
from autograder.maths.expression.expression_printing import to_text
from autograder.maths.expression.options import Options
from autograder.maths.expression.parsing import parse_chain, parse_with
from autograder.maths.expression.syntax import Expression, Node
from autograder.maths.expression.vocabulary import Vocabulary
from autograder.maths.expression.written_form import broken_rule

_UNDECIDED = {
    "cost": "This answer takes too long to compare automatically.",
    "precision": "This answer could not be distinguished from the expected one automatically.",
    "branch": "This answer has cases that were not met where it was compared automatically.",
    "lg": "lg is the binary logarithm to some and the decimal one to others: write log2 or log10.",
    "edge": "This answer equals the expected one except at an edge of its domain.",
    "undefined": "This answer has no value at the points of comparison.",
}


def decide(reference: str | Expression, answer: str | Expression, **options: Any) -> Decision:
    """Compare `answer` with `reference`; the keywords are the fields of `Options`.

    Raises `Unreadable` for an answer that cannot be read, `AuthorError` for a slip in the question.
    """
    question = Options(**options)
    key = _key(reference, question.words).node
    members = (answer,) if isinstance(answer, Expression) else parse_chain(answer, question.words)
    given = members[-1].node
    if (broken := broken_rule(question, given)) is not None:
        return broken
    # Here, since they load python-flint.
    from autograder.maths.expression.comparing import compare
    from autograder.maths.expression.diagnosis import explain
    from autograder.maths.expression.relations import equal_up_to

    for one, other in pairwise(members):
        link = compare(question, one.node, other.node).kind
        # A chain with a broken link says several things: where none of them is right, it is wrong.
        if link == "undecided" or (link == "refuted" and any(_may_be(question, key, each.node) for each in members)):
            texts = f"{to_text(one)} and {to_text(other)}"
            return undecided("chain", f"The members {texts} of this chain could not be shown to be equal.")
    finding = compare(question, key, given)
    if finding.kind == "agree":
        return equal()
    if finding.kind == "undecided":
        return undecided(finding.code, _UNDECIDED[finding.code])
    if question.up_to and equal_up_to(question, key, given):
        return equal()
    return explain(question, key, given, finding)


def _may_be(question: Options, key: Node, given: Node) -> bool:
    """Whether an answer has the form that is asked, and is right or cannot be told from a right one."""
    from autograder.maths.expression.comparing import compare
    from autograder.maths.expression.relations import equal_up_to

    if broken_rule(question, given) is not None:
        return False
    kind = compare(question, key, given).kind
    return kind != "refuted" or (bool(question.up_to) and equal_up_to(question, key, given))


def first_equal(candidates: Sequence[str], answer: str, **options: Any) -> int | None:
    """The place of the first candidate that `answer` equals. No reason is looked for where it differs."""
    from autograder.maths.expression.budget import UNITS, Budget
    from autograder.maths.expression.comparing import compare
    from autograder.maths.expression.relations import equal_up_to

    question = Options(**options)
    given = parse_chain(answer, question.words)[-1].node
    if broken_rule(question, given) is not None:
        return None
    budget = Budget(4 * UNITS)  # for all together
    for place, text in enumerate(candidates):
        try:
            key = parse_with(text, question.words).node
            kind = compare(question, key, given, budget).kind
            if kind == "agree" or (kind == "refuted" and question.up_to and equal_up_to(question, key, given)):
                return place
        except (Unreadable, AuthorError):
            continue
    return None


def _key(text: str | Expression, words: Vocabulary) -> Expression:
    if isinstance(text, Expression):
        return text
    try:
        return parse_with(text, words)
    except Unreadable as error:
        raise AuthorError("reference", f"the reference {text!r} cannot be read: {error.message}") from error

"""Whether an answer means the same as the reference, and what to say where it does not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from autograder.errors import AuthorError, Unreadable
from autograder.maths.decision import Decision, equal, undecided
from autograder.maths.expression.parsing import parse_with, reading
from autograder.maths.expression.syntax import Expression, Node
from autograder.maths.expression.vocabulary import Domain, Vocabulary, domain
from autograder.maths.expression.written_form import broken_rule

if TYPE_CHECKING:
    from autograder.maths.expression.budget import Budget
    from autograder.maths.expression.comparing import Finding

UpTo = Literal["", "sign", "factor", "constant"]

_UNDECIDED = {
    "cost": "this answer is too costly to compare by machine; a person looks at it",
    "precision": "this answer could not be told from the expected one by machine; a person looks at it",
    "undefined": "this answer has no value at the points of comparison; a person looks at it",
}


@dataclass(frozen=True, kw_only=True)
class Question:
    """How the answers of one question are read and compared."""

    words: Vocabulary
    tolerance: Fraction | None = None
    up_to: UpTo = ""
    forbid: tuple[str, ...] = ()
    require: tuple[str, ...] = ()
    allow: frozenset[str] | None = None
    mistakes: Mapping[str, str] = field(default_factory=dict)

    @property
    def domains(self) -> dict[str, Domain]:
        """Where each declared variable lives."""
        return {name: domain(text) for name, text in self.words.domains}


def decide(
    reference: str | Expression,
    answer: str | Expression,
    *,
    domains: Mapping[str, str] | None = None,
    variables: Iterable[str] = (),
    functions: Iterable[str] | None = None,
    definitions: Mapping[str, str] | None = None,
    log: str = "ln",
    imaginary: str = "",
    tolerance: float | str | Fraction | None = None,
    up_to: UpTo = "",
    forbid: Iterable[str] = (),
    require: Iterable[str] = (),
    allow: Iterable[str] | None = None,
    mistakes: Mapping[str, str] | None = None,
) -> Decision:
    """Compare `answer` with `reference`.

    `tolerance` is relative, for questions that ask for decimals. `up_to` accepts a sign, a constant factor or
    an added constant. `forbid` names functions, `sum` or abbreviations that the answer must not use,
    `require` symbols it must, `allow` the only variables it may. `mistakes` maps names to wrong answers that
    feedback recognises. Raises `Unreadable` for an answer that cannot be read, `AuthorError` for a slip in
    the question.
    """
    words = reading(
        domains=domains,
        variables=variables,
        functions=functions,
        definitions=definitions,
        log=log,
        imaginary=imaginary,
    )
    question = Question(
        words=words,
        tolerance=None if tolerance is None else Fraction(str(tolerance)),
        up_to=up_to,
        forbid=tuple(forbid),
        require=tuple(require),
        allow=None if allow is None else frozenset(allow),
        mistakes=mistakes or {},
    )
    return judge(question, reference, answer)


def judge(question: Question, reference: str | Expression, answer: str | Expression) -> Decision:
    """`decide` with the options already collected."""
    key = _key(reference, question.words).node
    given = (answer if isinstance(answer, Expression) else parse_with(answer, question.words)).node
    if (broken := broken_rule(question, given)) is not None:
        return broken
    from autograder.maths.expression.diagnosis import explain
    from autograder.maths.expression.relations import equal_up_to

    finding = compare(question, key, given)
    if finding.kind == "agree":
        return equal()
    if finding.kind == "undecided":
        return undecided(finding.code, _UNDECIDED[finding.code])
    if question.up_to and equal_up_to(question, key, given):
        return equal()
    return explain(question, key, given, finding)


def _key(text: str | Expression, words: Vocabulary) -> Expression:
    if isinstance(text, Expression):
        return text
    try:
        return parse_with(text, words)
    except Unreadable as error:
        raise AuthorError("reference", f"the reference {text!r} cannot be read: {error.message}") from error


def compare(question: Question, key: Node, given: Node, budget: Budget | None = None) -> Finding:
    """Both trees at the points of comparison."""
    from autograder.maths.expression.comparing import Comparison

    allowed: Any = None
    if question.tolerance is not None:
        from flint import fmpq

        allowed = fmpq(question.tolerance.numerator, question.tolerance.denominator)
    return Comparison(key, given, question.domains, tolerance=allowed, budget=budget).find()

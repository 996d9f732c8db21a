"""Which of a question's known mistakes an answer is.

An answer that equals none of them is told so by floats: each mistake and the answer are evaluated once, on axes whose
sizes the question's own reference fixes, and what a mistake is worth is kept for the next answer. A mistake whose
floats agree is then decided like a reference.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from autograder.errors import AuthorError, Unreadable
from autograder.maths.tensor.declarations import Declarations
from autograder.maths.tensor.equivalence import verdict
from autograder.maths.tensor.likeness import Values, alike, sizes_of
from autograder.maths.tensor.number_systems import Floats
from autograder.maths.tensor.question import Question, Read, asked
from autograder.maths.tensor.system_texts import Text, content, system_of
from autograder.maths.tensor.values import OPERATIONS, Budget

MOST_KEPT = 16


class Mistakes:
    """The mistakes of one question, and what each is worth."""

    def __init__(
        self, reference: Text, texts: Sequence[Text], declarations: Declarations, target: str | None, given: Text | None
    ) -> None:
        self.fixed = sizes_of(asked(reference, declarations, target, given))
        self.questions: list[Question | None] = []
        self.values: list[Values] = [OrderedDict() for _ in texts]
        for text in texts:
            try:
                question = Question(reference=text, declarations=declarations, target=target, given=given)
            except (Unreadable, AuthorError):
                question = None
            self.questions.append(question)

    def first(self, answer: Text) -> int | None:
        """The place of the first mistake that the answer equals."""
        system = system_of(answer)
        theirs: Values = OrderedDict()
        budget = Budget(2 * OPERATIONS)  # for all together
        floats, read = Floats(0), Read()
        for place, question in enumerate(self.questions):
            if question is None:
                continue
            prepared = question.prepare(system, budget=budget, fixed=self.fixed, read=read)
            if (
                alike(prepared, floats, self.values[place], theirs)
                and verdict(question.prepare(system, budget=budget, read=read)).equal
            ):
                return place
        return None


_KEPT: OrderedDict[tuple[object, ...], Mistakes] = OrderedDict()


def first_equal(
    candidates: Sequence[Text],
    answer: Text,
    *,
    reference: Text,
    declarations: Declarations | None = None,
    target: str | None = None,
    given: Text | None = None,
) -> int | None:
    """The place of the first candidate that the answer equals. `reference` is the question's own answer.

    What the candidates are worth is kept in this process for the next answer to the same question; an answer is told
    the same with it as without.
    """
    declarations = declarations or Declarations()
    texts = tuple(map(content, (reference, given, *candidates)))
    key: tuple[Any, ...] = (texts, repr(declarations), target)
    mistakes = _KEPT.pop(key, None) or Mistakes(reference, candidates, declarations, target, given)
    _KEPT[key] = mistakes
    if len(_KEPT) > MOST_KEPT:
        _KEPT.popitem(last=False)
    return mistakes.first(answer)

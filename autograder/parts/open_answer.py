"""An answer to an open tensor question, as its author's demands see it.

    def demands(answer, p):
        yield answer.fits()
        yield answer.normalised(otherwise="not_a_distribution")
        yield answer.reads_only("h->[t-1,J]", otherwise="sees_the_blank")

Each demand is a `Decision`; `otherwise` names the mistake whose hint a student reads where it is not met.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from autograder.core import Parameters
from autograder.maths.decision import Decision, equal


@dataclass(frozen=True, kw_only=True)
class OpenAnswer:
    """Equations that a student wrote, and the properties of the tensor that they define."""

    text: str
    target: str
    declarations: Any

    def fits(self, *, otherwise: str = "") -> Decision:
        """It has a meaning with the given shapes."""
        return self._ask("fits", otherwise)

    def normalised(self, *over: str, otherwise: str = "") -> Decision:
        """It sums to one over these indices; without any, over all that are no index of the context."""
        return self._ask("normalised", otherwise, over)

    def nonnegative(self, *, otherwise: str = "") -> Decision:
        """No entry is negative."""
        return self._ask("nonnegative", otherwise)

    def depends_on(self, tensor: str, *, otherwise: str = "") -> Decision:
        """It changes with a given tensor."""
        return self._ask("depends_on", otherwise, tensor)

    def does_not_read(self, entry: str, *, otherwise: str = "") -> Decision:
        """It does not change with an entry, such as `h->[t,J]`."""
        return self._ask("does_not_read", otherwise, entry)

    def reads_only(self, entry: str, *, otherwise: str = "") -> Decision:
        """It changes with this entry, and with no other of that tensor."""
        return self._ask("reads_only", otherwise, entry)

    def own_parameters(self, axis: str, *, otherwise: str = "") -> Decision:
        """What the student invented has no index along this axis."""
        return self._ask("own_parameters", otherwise, axis)

    def _ask(self, question: str, otherwise: str, *words: Any) -> Decision:
        from autograder.maths import guard

        found = guard.call(
            "autograder.maths.tensor", question, (self.text, self.target, *words), {"declarations": self.declarations}
        )
        assert isinstance(found, Decision)
        return replace(found, code=otherwise) if otherwise and found.outcome == "different" else found


# demands(answer, p) -> what must hold, in the order in which it is looked at
Demands = Callable[[OpenAnswer, Parameters], Iterable[Decision]]


def judged(demands: Iterable[Decision]) -> Decision:
    """The first demand that is not met or could not be decided (what follows may rest on it), else equal."""
    return next((found for found in demands if not found.equal), equal("properties"))

"""`Equation`: tensor equations in the course's index notation, compared as mathematics."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

from autograder.core import Parameters
from autograder.maths.decision import Decision
from autograder.parts.typed import Typed, guarded


@dataclass(frozen=True)
class Equation(Typed):
    """One equation or several, the last of which defines `target`.

    `tensors` declares the given tensors with their axes (`["W^Q[K,I,J]", "L[T,J]"]`, or a function of p), `sizes` axes
    that are products or numbers (`{"J": "K*I"}`), `sequences` integer tensors such as `w`, `context` indices fixed
    outside. `given` are equations of the question that both sides may use.
    """

    _: KW_ONLY
    tensors: Sequence[str] | Callable[[Parameters], Sequence[str]] = ()
    target: str = ""
    sizes: Mapping[str, int | str] = field(default_factory=dict)
    sequences: str = ""
    context: str = ""
    given_equations: str = ""

    kind = "equation"
    call = "equation"
    example = 'r"""..."""'

    def declarations(self, p: Parameters) -> Mapping[str, Any]:
        """The given tensors, sizes, sequences and context, as keywords of `tensor.declare`."""
        tensors = self.tensors(p) if callable(self.tensors) else self.tensors
        return {
            "tensors": tuple(tensors),
            "sizes": dict(self.sizes),
            "sequences": self.sequences,
            "context": self.context,
        }

    def decide(self, reference: Any, answer: Any, p: Parameters) -> Decision:
        """Equal as tensors for all sizes and entries."""
        from autograder.maths.tensor import declare

        words = dict(self.declarations(p))
        return guarded(
            "tensor",
            reference,
            answer,
            declarations=declare(*words.pop("tensors"), **words),
            target=self.target or None,
            given=self.given_equations or None,
            hints=self.hints,
        )

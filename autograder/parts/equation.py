"""`Equation`: tensor equations in the course's index notation, compared as mathematics."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

from autograder.core import Parameters
from autograder.maths.decision import Decision
from autograder.parts.typed import Typed, guarded

Sizes = Mapping[str, int | str]


@dataclass(frozen=True)
class Equation(Typed):
    """One equation or several, the last of which defines `target`.

    `tensors` declares the given tensors with their axes (`["W^Q[K,I,J]", "L[T,J]"]`, or a function of p), `sizes` axes
    that are products or numbers (`{"J": "K*I"}`, or a function of p), `sequences` integer tensors such as `w`,
    `context` indices fixed outside. `given_equations` are those of the question that both sides may use.
    """

    _: KW_ONLY
    tensors: Sequence[str] | Callable[[Parameters], Sequence[str]] = ()
    target: str = ""
    sizes: Sizes | Callable[[Parameters], Sizes] = field(default_factory=dict)
    sequences: str = ""
    context: str = ""
    given_equations: str = ""

    kind = "equation"
    call = "equation"
    example = 'r"""..."""'

    def declarations(self, p: Parameters) -> Mapping[str, Any]:
        """The given tensors, sizes, sequences and context, as keywords of `tensor.declare`."""
        tensors = self.tensors(p) if callable(self.tensors) else self.tensors
        sizes = self.sizes(p) if callable(self.sizes) else self.sizes
        return {
            "tensors": tuple(tensors),
            "sizes": dict(sizes),
            "sequences": self.sequences,
            "context": self.context,
        }

    def local_check(self, p: Parameters) -> str:
        """Reads the equations as the grader will, and says whether one of them defines the target."""
        check = super().local_check(p)
        return f"{check[:-1]}, target={self._key()!r})" if self.target else check

    def _key(self) -> str:
        """The target as the language names it."""
        from autograder.maths.tensor.declarations import tensor_key

        return tensor_key(self.target)

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

"""`Derivation`: a chain of lines, each of which must follow from the one before it, the last of which is the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

from autograder.core import Parameters, Verdict
from autograder.maths.decision import Decision
from autograder.parts.expression import Expression
from autograder.parts.typed import Text, guarded


@dataclass(frozen=True)
class Derivation(Expression):
    """Lines of expressions; `reference` is the last line.

    `start` is what the first line must equal (by default the reference). `milestones` are forms to be reached, such as
    `no sum`; `cap` bounds the size of one step. Each link that holds earns its share, so an error is paid for once.
    """

    _: KW_ONLY
    start: Text = ""
    milestones: Sequence[str] = ()
    cap: int | None = None

    kind = "derivation"
    call = "derivation"
    example = 'r"""one line under the other"""'

    def decide(self, reference: Any, answer: Any, p: Parameters) -> Decision:
        """The whole chain as one decision; its `detail` holds the share of links that hold."""
        return guarded(
            "derivation",
            reference,
            answer,
            start=self.given(self.start, p) or None,
            requires=tuple(self.milestones),
            cap=self.cap,
            **self.declarations(p),
        )

    def from_decision(self, decision: Decision, answer: Any, p: Parameters, earlier: Any) -> Verdict:
        """The first line that does not follow, with numbers plugged in; the links that hold keep their share."""
        verdict = super().from_decision(decision, answer, p, earlier)
        share = float((decision.detail or {}).get("share", 0.0)) if verdict.ok is False else 0.0  # type: ignore[arg-type]
        return Verdict(**{**vars(verdict), "share": share})

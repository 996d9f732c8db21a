"""`Derivation`: a chain of lines, each of which must follow from the one before it, the last of which is the answer."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

from autograder.core import Parameters, Verdict
from autograder.errors import AuthorError, Unreadable
from autograder.maths.decision import Decision
from autograder.parts.expression import Expression
from autograder.parts.typed import Text, guarded
from autograder.student.preview import Shown


@dataclass(frozen=True)
class Derivation(Expression):
    """Lines of expressions; `reference` is the last line, `model` the whole chain that the solution shows.

    `start` is what the first line must equal (by default the reference). `milestones` are forms to be reached, such as
    `no sum`; `cap` bounds the size of one step. Each link that holds earns its share, so an error is paid for once;
    `steps` is how many links a full solution has, so that padding cannot dilute an error, and the question's own line
    with a guess under it earns nothing.
    """

    _: KW_ONLY
    model: Text = ""
    start: Text = ""
    milestones: Sequence[str] = ()
    cap: int | None = None
    steps: int | None = None

    kind = "derivation"
    example = 'r"""one line under the other"""'

    @classmethod
    def show(cls, answer: Any, **declared: Any) -> Shown:
        """The lines one under the other; a fault comes with its line's number."""
        from autograder.maths import expression as language

        lines = []
        for number, line in enumerate(filter(str.strip, answer.splitlines()), 1):
            try:
                lines.append(language.to_latex(language.parse(line.strip().removeprefix("=").strip(), **declared)))
            except Unreadable as error:
                raise Unreadable(error.code, f"line {number}: {error.message}", error.text, error.column) from error
        return Shown(r"\begin{aligned} & " + r" \\ = {} & ".join(lines) + r" \end{aligned}")

    def written_by_author(self, p: Parameters) -> Any:
        """The model derivation, or the last line alone where there is none."""
        return self.given(self.model, p) if self.model else super().written_by_author(p)

    def blind_answers(self, p: Parameters, shown: Sequence[str]) -> dict[str, Any]:
        """Lines about nothing: by themselves, under the question's own line, and in the place of its steps."""
        start, end = _lines(self.written_by_author(p))[0], _lines(self.right(p))[-1]
        nothing = ("ln(1)", "sin(0)", "tanh(0)", "floor(1/2)", "0^1")
        after = [f"{start} + {text}" for text in nothing]
        return {
            **{f"a formula of the statement, {formula!r}": formula for formula in shown},
            "0": "0",
            "1": "1",
            "lines about nothing": "\n".join(("0", *nothing)),
            "an empty sum": "sum(0, n, 0, inf)\n0",
            "the question's line": start,
            "the question's line with nothing added": "\n".join((start, *after)),
            "the question's line with nothing added, then zero": "\n".join((start, *after[:3], "0")),
            "the answer with an empty sum": f"sum(0, n, 0, inf) + {end}\n{end}",
        }

    def decide(self, reference: Any, answer: Any, p: Parameters) -> Decision:
        """The whole chain as one decision; its `detail` holds the share of links that hold."""
        return guarded(
            "derivation",
            reference,
            answer,
            start=self.given(self.start, p) or None,
            requires=tuple(self.milestones),
            cap=self.cap,
            steps=self.steps,
            **self.declarations(p),
        )

    def from_decision(self, decision: Decision, answer: Any, p: Parameters, earlier: Any) -> Verdict:
        """The first line that does not follow, with numbers plugged in; the links that hold keep their share."""
        verdict = super().from_decision(decision, answer, p, earlier)
        if verdict.ok is not False:
            return verdict
        detail = decision.detail or {}
        message = verdict.message
        if verdict.code != decision.code and self.hints:
            message = f"{message} ({decision.message})"
        share = detail.get("share", 0.0)
        assert isinstance(share, float)
        return dataclasses.replace(verdict, message=message, share=share)

    def _is(self, mistake: Callable[..., Any], answer: Any, p: Parameters, earlier: Any) -> bool:
        """Whether two chains come to the same wrong end, or, where the end is right, are equal line by line."""
        if not self.applies(mistake, p):
            return False
        theirs, ours = _lines(self.given(mistake, p, earlier)), _lines(answer)
        if not self._same(theirs[-1], ours[-1], p):
            return False
        if not self._same(self.right(p), ours[-1], p):
            return True
        return len(theirs) == len(ours) and all(self._same(a, b, p) for a, b in zip(theirs, ours, strict=True))

    def _same(self, one: str, other: str, p: Parameters) -> bool:
        try:
            return guarded("expression", one, other, **self.declarations(p)).equal
        except (Unreadable, AuthorError):
            return False


def _lines(text: str) -> list[str]:
    """The lines of a chain, each without the equals sign that may lead it."""
    return [line.strip().removeprefix("=").strip() for line in str(text).splitlines() if line.strip()] or [""]

"""`Derivation`: a chain of lines from a given one to an answer, paid for the forms that it reaches on the way."""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar

from autograder.core import Ask, Parameters, Part, Room, Verdict, in_points
from autograder.errors import AuthorError, Unreadable
from autograder.maths import chain
from autograder.maths.decision import Decision
from autograder.maths.derivation import Finding, Milestone, other_relation
from autograder.parts.expression import Expression, differing
from autograder.parts.typed import Text, Typed, guarded, guarded_first
from autograder.student.local_checks import Malformed, defined
from autograder.student.preview import Shown

Operators = Mapping[str, str]
SECONDS = 10.0  # for all links of a chain together
_RULE = (
    "A form is reached by the first line after the given one that has it. It counts if every line since the form "
    "before it follows from the line before: a wrong step costs the form that it leads to, and no other. Repeated or "
    "rewritten lines, and lines about constants, earn nothing and cost nothing. A chain with another first line, and "
    "the last line alone, earn nothing."
)
_WITHOUT_FORMS = (
    "It counts if every line follows from the line before it. A chain with another first line earns nothing."
)
_SHOWN = {"=": "=", "<=": r"\le", "<": "<", ">=": r"\ge", ">": ">"}


@dataclass(frozen=True)
class Derivation(Expression):
    """Lines from `start` to `reference`, each of which follows from the one before it.

    The points are divided among the `milestones` and the end by weight; the rule is that of
    `autograder.maths.derivation`, and is printed under the author's statement. `forbid` and `require` are the form of
    the end, `end` its words. `model` is the whole chain that the solution shows. `operators` are brackets that the
    question defines, such as `{"E[f(i)]": "sum(P(n)*f(n), n, 0, inf)"}`. Where a bound is asked, `direction` is `<=`
    or `>=`.

    Lines of tensor equations are asked by `tensors` (and `words`, further keywords of `tensor.declare`; both may be
    functions of p): then `start` and `reference` are equations with one left side, and both may use `given_equations`.
    """

    _: KW_ONLY
    start: Text = ""
    milestones: Sequence[Milestone] = ()
    model: Text = ""
    end: str = "the answer"
    direction: str = ""
    operators: Operators | Callable[[Parameters], Operators] = field(default_factory=dict)
    tensors: Sequence[str] | Callable[[Parameters], Sequence[str]] = ()
    words: Mapping[str, Any] | Callable[[Parameters], Mapping[str, Any]] = field(default_factory=dict)
    given_equations: Text = ""

    kind = "derivation"
    by_lines = True
    given_lines = 1
    all_or_nothing = False
    by_hand = "A derivation is written line by line, the given line first, each line equal to the one before it."
    told: ClassVar[tuple[str, ...]] = (
        *Expression.told,
        "operators",
        "tensors",
        "sizes",
        "same",
        "sequences",
        "context",
        "zero",
        "positive",
    )
    example = 'r"""one line under the other"""'
    blank = 'r"""\n\n"""'

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.start:
            raise AuthorError("start", f"part {self.name!r}: a derivation has a start, the line that it begins with")

    @classmethod
    def show(cls, answer: Any, **declared: Any) -> Shown:
        """The lines one under the other; a fault comes with its line's number."""
        lines = chain.lines(answer)
        shown: list[str] = []
        after = 0
        for place, line in enumerate(lines):
            begin = answer.find(line.text, after)
            after = max(after, begin + len(line.text))
            try:
                latex = _typeset(line.text, declared)
            except Unreadable as error:
                if len(lines) > 1 and chain.is_label(line.text) and line.text == lines[0].text:
                    continue
                message = f"line {line.number}: {error.message}"
                if error.column is None or begin < 0 or error.text != line.text:
                    raise Unreadable(error.code, message, error.text, error.column) from error
                # The caret stands in the line as it was typed.
                raise Unreadable(error.code, message, answer, begin + error.column) from error
            relation = _SHOWN.get(line.relation, "") if shown or place == 0 else ""
            shown.append(f"{relation} {{}} & {latex}" if relation else f"& {latex}")
        if not shown:
            raise Unreadable("empty", "there is no line here")
        return Shown(r"\begin{aligned} " + r" \\ ".join(shown) + r" \end{aligned}")

    @classmethod
    def decide_by_hand(cls, reference: Any, answer: Any, **told: Any) -> Decision:
        """Without a problem: where no start is told, the chain's own first line is the given one."""
        lines = chain.lines(answer)
        return super().decide_by_hand(reference, answer, **{"start": lines[0].text if lines else reference, **told})

    def rule(self, p: Parameters) -> str:
        """The rule by which the chain is marked."""
        related = f" or related to it by `{self.direction}`" if self.direction else ""
        where = super().rule(p)
        rule = [
            f"{where} "
            * bool(where)
            + f"**How this is marked.** Write lines, each equal to the one before it{related}. "
            f"The first line is the given one: `{self.first(p)}`."
        ]
        if not self.milestones:
            return f"{rule[0]} All points are for the last line: {self.end}. {_WITHOUT_FORMS}"
        *worth, last = (in_points(self.points * weight / sum(self._weights())) for weight in self._weights())
        order = "Points are for forms that the lines reach, in this order:" if len(worth) > 1 else "Points are:"
        forms = zip(worth, self.milestones, strict=True)
        listed = [f"- {points} for a line of this form: {milestone.words};" for points, milestone in forms]
        before = "at least one of the forms" if len(worth) > 1 else "the form"
        listed.append(f"- {last} for the last line: {self.end}, after {before} above.")
        return "\n\n".join([f"{rule[0]} {order}", "\n".join(listed), _RULE])

    def first(self, p: Parameters) -> str:
        """The given line of this variant."""
        return str(self.given(self.start, p))

    def declarations(self, p: Parameters) -> Mapping[str, Any]:
        """The variables, abbreviations and brackets of the question, or its tensors."""
        if self.tensors:
            return self._tensors(p)
        operators = self.operators(p) if callable(self.operators) else self.operators
        words = super().declarations(p)
        return {**words, "operators": dict(operators)} if operators else words

    def _tensors(self, p: Parameters) -> dict[str, Any]:
        """The tensors of the lines, with what else is declared of them."""
        tensors = self.tensors(p) if callable(self.tensors) else self.tensors
        return {"tensors": tuple(tensors), **(self.words(p) if callable(self.words) else self.words)}

    def rules(self, p: Parameters) -> Mapping[str, Any]:
        """Which relations may stand between lines; milestones are what a chain comes to, and no rule on each line."""
        return {"direction": self.direction}

    @classmethod
    def check_form(cls, name: str, /, *, direction: str = "", **told: Any) -> None:
        """Say which relation between lines the question does not ask for; if none, show the chain as it is read."""
        answer = defined(name)
        for line in chain.lines(answer) if isinstance(answer, str) else []:
            if line.relation not in ("first", "=") and line.relation[0] != direction[:1]:
                raise Malformed("form", f"{name}: line {line.number}: {other_relation(line.relation, direction)}.")
        super().check_form(name, **told)

    def written_by_author(self, p: Parameters) -> Any:
        """The model derivation, or the given line and the answer where there is none."""
        return self.given(self.model, p) if self.model else f"{self.first(p)}\n{super().written_by_author(p)}"

    def room(self, p: Parameters) -> Room:
        """As many lines as the model has, and some more."""
        return Room(lines=min(16, max(8, 4 + 2 * len(self.typed_answer(p).splitlines()))), ruled=True)

    def blind_answers(self, p: Parameters, shown: Sequence[str]) -> dict[str, Any]:
        """The formulas of its statement, constants, and an empty sum in the place of the steps."""
        formulas = {**Typed.blind_answers(self, p, shown), "0": "0", "1": "1"}
        first, end = self.first(p), str(self.right(p))
        rewritten = {f"given, given {text}": f"{first}\n({first}){text}" for text in ("+0", "*1", "+ 0*ln(0)")}
        formulas |= {"0 = 0": "0\n= 0", "given, 0 = 0": f"{first}\n0\n0"} | ({} if self.tensors else rewritten)
        if self.tensors:
            return formulas
        empty = f"sum(0, n, 0, inf) + ({end})\n{end}"
        sums = {"an empty sum, the end": empty, "given, an empty sum, the end": f"{first}\n{empty}"}
        far = {f"given, the end {text}": f"{first}\n({end}) {text}\n{end}" for text in differing(self._domains(p))}
        return {**formulas, "an empty sum": f"{first}\nsum(0, n, 0, inf)\n0", **sums, **far}

    def copied_answers(self, p: Parameters, shown: Sequence[Sequence[str]]) -> Iterator[tuple[str, Any]]:
        """Each formula after the given line, and those together that are equal to it."""
        first, chain = self.first(p), []
        for text, line in super().copied_answers(p, shown):
            yield text, line
            if line not in chain and self._same(self.right(p), line, p):
                chain.append(line)
                yield text, f"{first}\n{line}"
                yield text, "\n".join([first, *chain])

    def _domains(self, p: Parameters) -> Mapping[str, str]:
        domains: Mapping[str, str] = self.declarations(p)["domains"]
        return domains

    @property
    def in_closed_form(self) -> bool:
        """Each line is one, where the lines are not tensor equations."""
        return not self.tensors

    def accepting(self, answers: Sequence[Any]) -> Part:
        """A chain of lines is paid by its forms, and has no further answers."""
        return Part.accepting(self, answers)

    def decide(self, reference: Any, answer: Any, p: Parameters) -> Decision:
        """The whole chain as one decision; its `detail` holds what each milestone and the end earn."""
        told: dict[str, Any]
        if self.tensors:
            given = self.given(self.given_equations, p)
            words = self._tensors(p)
            told = {"tensors": words.pop("tensors"), "words": words, "given_equations": given}
        else:
            told = {**self.declarations(p), "direction": self.direction, "require": tuple(self.require)}
        return guarded(
            "derivation",
            reference,
            answer,
            start=self.first(p),
            milestones=tuple(self.milestones),
            forbid=tuple(self.forbid),
            seconds=SECONDS,
            **told,
        )

    def same_answer(self, one: str, other: str, p: Parameters) -> bool:
        """By their words: a decision about a chain is about what it earns."""
        return Part.same_answer(self, one, other, p)

    def weights(self, verdicts: Sequence[Verdict]) -> list[float]:
        """The start opens the door and counts nothing; then the milestones and the end."""
        weights = [0.0, *self._weights()]
        return weights if len(verdicts) == len(weights) else super().weights(verdicts)

    def _weights(self) -> list[float]:
        return [*(float(milestone.weight) for milestone in self.milestones), 1.0]

    def verdicts(self, answer: Any, p: Parameters, ask: Ask) -> list[Verdict]:
        """One for the start, one for each milestone, one for the end; the first that is lost names a known mistake."""
        earlier = self._earlier(p, ask)
        try:
            decision = self.compare(answer, p)
            if decision.outcome != "equal" and earlier is not None:
                decision = self._carried_forward(decision, answer, p, earlier)
        except Unreadable as error:
            return [self._unreadable(error)]
        findings = (decision.detail or {}).get("findings")
        if not isinstance(findings, tuple):  # stopped by the guard, or carried forward
            return [self.from_decision(decision, answer, p, earlier)]
        verdicts = [self._found(finding) for finding in findings]
        lost = next((place for place, verdict in enumerate(verdicts) if verdict.ok is False), None)
        known = None if lost is None else self._known(decision, answer, p, earlier)
        if lost is not None and known is not None and not isinstance(known, Decision):
            hint = f"{inspect.getdoc(known) or ''}" + (f" ({verdicts[lost].message})" if self.hints else "")
            verdicts[lost] = dataclasses.replace(verdicts[lost], code=known.__name__, message=hint)
        return verdicts

    def _found(self, finding: Finding) -> Verdict:
        message = finding.message if self.hints or finding.ok is not False else "This is not correct."
        if finding.ok is None:
            message = f"{message} A grader will check this."
        return Verdict(check=finding.name, ok=finding.ok, code=finding.code, message=message, staff=finding.witness)

    def trivial_answers(self, p: Parameters) -> dict[str, Any]:
        """Chains without a way: the end, the end rewritten, and lines about nothing."""
        first, end = self.first(p), str(self.right(p))
        if self.tensors or not self.milestones:
            return {**super().trivial_answers(p), "the given line": first} | (
                {"the end alone": end, "given, end": f"{first}\n{end}"} if self.milestones else {}
            )
        chains = {"the given line": first, "the end alone": end, "given, end": f"{first}\n{end}"}
        for dress in ("…+0", "…*1", "…+ln(1)", "…+sin(0)", *self._disguises()):
            chains[f"given, {dress}, end"] = f"{first}\n{dress.replace('…', f'({end})')}\n{end}"
        constants = "0\nln(1)\nsin(0)\ntanh(0)\nfloor(1/2)\n0^1"
        chains["lines about constants"] = constants
        chains["given, lines about constants"] = f"{first}\n{constants}"
        chains["given, wrong, wrong rewritten"] = f"{first}\n({end})+7\n7+({end})"
        chains["the given line padded"] = "\n".join([first, f"{first} + ln(1)", f"{first} + sin(0)"])
        return {**super().trivial_answers(p), **chains}

    def _disguises(self) -> Iterator[str]:
        """What the milestones ask for, put around a line (…) without changing it."""
        for what in {what for milestone in self.milestones for what in milestone.has}:
            if what == "sum":
                yield from ("…+sum(0, m, 0, 3)", "sum(…/3, m, 1, 3)", "sum(…/2^m, m, 1, inf)")
                yield "cases(…, 0 = 0; sum(m, m, 0, 3), otherwise)"
            elif what.isidentifier():
                yield from (f"…+{what}-{what}", f"…*{what}/{what}", f"max(…, …-{what}^2)")

    def first_equal(self, texts: Sequence[Any], answer: Any, p: Parameters) -> int | Decision | None:
        """The first chain that is the same mistake."""
        return next((place for place, text in enumerate(texts) if self._is(text, answer, p)), None)

    def _is(self, text: Any, answer: Any, p: Parameters) -> bool:
        """Whether two chains come to the same wrong end, or, where the end is right, are equal line by line."""
        theirs, ours = self._lines(text, p), self._lines(answer, p)
        if not theirs or not ours or not self._same(theirs[-1], ours[-1], p):
            return False
        if not self._same(self.right(p), ours[-1], p):
            return True
        return len(theirs) == len(ours) and all(self._alike(a, b, p) for a, b in zip(theirs, ours, strict=True))

    def _alike(self, one: str, other: str, p: Parameters) -> bool:
        """Whether two lines are equal and have the same of what the end must do without: a right chain's all are."""
        if self.tensors:
            return self._same(one, other, p)
        from autograder.maths import expression

        declared = {name: value for name, value in self.declarations(p).items() if name != "operators"}
        nodes = [expression.parse(text, **declared).node for text in (one, other)]
        left = [{what for what in self.forbid if expression.contains(node, what)} for node in nodes]
        return left[0] == left[1] and self._same(one, other, p)

    def _lines(self, text: Any, p: Parameters) -> list[str]:
        operators = self.declarations(p).get("operators", {})
        return [chain.written_out(line.text, operators) for line in chain.lines(str(text))]

    def _same(self, one: str, other: str, p: Parameters) -> bool:
        if one == other:
            return True
        if self.tensors:
            return self._same_tensors(one, other, p)
        declared = {name: value for name, value in self.declarations(p).items() if name != "operators"}
        return guarded_first("expression", [one], other, **declared) == 0

    def _same_tensors(self, one: str, other: str, p: Parameters) -> bool:
        """Two right sides of the equation that the chain is about."""
        from autograder.maths.tensor import declare

        left = self.first(p).split("=", 1)[0]
        lines = (f"{left}= {line.split('=', 1)[-1]}" for line in (one, other))
        words = self._tensors(p)
        declarations, given = declare(*words.pop("tensors"), **words), self.given(self.given_equations, p) or None
        try:
            return guarded("tensor", *lines, declarations=declarations, given=given, hints=False).equal
        except (Unreadable, AuthorError):
            return False


def _typeset(text: str, declared: Mapping[str, Any]) -> str:
    """A line as it is read: an expression, or the right side of a tensor equation."""
    words = {name: value for name, value in declared.items() if name in Expression.told}
    if declared.get("tensors") and "[" in text:
        from autograder.maths import tensor

        with contextlib.suppress(Unreadable):
            return tensor.to_latex(tensor.parse(f"y = {text}")).split("=", 1)[1].strip()
    from autograder.maths import expression

    return expression.to_latex(expression.parse(chain.written_out(text, declared.get("operators", {})), **words))

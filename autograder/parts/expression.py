"""`Expression`: a closed form in named variables, compared as mathematics."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

from autograder.core import Parameters
from autograder.errors import Unreadable
from autograder.maths.decision import Decision
from autograder.parts.typed import Typed, guarded, guarded_first
from autograder.protocol.sympy_text import in_words
from autograder.student.local_checks import Malformed, defined
from autograder.student.preview import Shown

Names = Mapping[str, str]


@dataclass(frozen=True)
class Expression(Typed):
    """A closed form.

    `domains` says where each variable lives (`{"beta": "positive", "i": "nat"}`, or a function of p); only these may
    occur. `definitions` are abbreviations of the question, such as `{"P(i)": "..."}`, or a function of p. `forbid`
    names what the answer must do without (`sum`, a function, an abbreviation): equivalence alone would accept the
    question as its answer. `require` names what it must contain, `functions` the only functions that may occur (by
    default all that the language knows), and `log` what log means: `ln`, `log2`, `log10`, or `refuse` to ask for one.
    `constraints` such as `K<=E` say where the variables live together; the package shows them under the statement.
    `tolerance` is for questions that ask for decimals; `up_to` accepts a `sign`, a `factor` or a `constant`.
    """

    _: KW_ONLY
    domains: Names | Callable[[Parameters], Names] = field(default_factory=dict)
    definitions: Names | Callable[[Parameters], Names] = field(default_factory=dict)
    constraints: Sequence[str] | Callable[[Parameters], Sequence[str]] = ()
    forbid: Sequence[str] = ()
    require: Sequence[str] = ()
    functions: Sequence[str] | None = None
    tolerance: float | None = None
    up_to: str = ""
    log: str = "ln"

    kind = "expression"
    by_lines = True
    all_or_nothing = True
    by_hand = (
        "A formula is written as in a text book: fractions, powers and roots as usual, $\\ln$ for the natural "
        "logarithm, parentheses wherever it could be read in two ways. Put the final formula alone into the frame."
    )
    told: ClassVar[tuple[str, ...]] = ("domains", "definitions", "functions", "log")

    @classmethod
    def show(cls, answer: Any, **declared: Any) -> Shown:
        """A closed form, typed in ASCII or LaTeX, typeset."""
        from autograder.maths import expression as language

        return Shown(language.answer_latex(answer, **declared))

    @classmethod
    def check_form(
        cls, name: str, /, *, forbid: Sequence[str] = (), require: Sequence[str] = (), **declared: Any
    ) -> None:
        """Say which rule on its form the answer breaks; if none, show the answer as the grader reads it."""
        with contextlib.suppress(Unreadable):  # shown below, with its caret
            answer = cls.text(in_words(defined(name))) if forbid or require else None
            broken = "" if answer is None else cls.broken(answer, forbid=forbid, require=require, **declared)
            if broken:
                raise Malformed("form", f"{name}: {broken}.")
        super().check_form(name, **declared)

    @classmethod
    def broken(cls, answer: Any, *, forbid: Sequence[str], require: Sequence[str], **declared: Any) -> str:
        """The rule on its form that an answer breaks, as grading says it; empty where it breaks none."""
        from autograder.maths.expression.options import Options
        from autograder.maths.expression.parsing import parse_answer
        from autograder.maths.expression.written_form import broken_rule

        found = broken_rule(Options(forbid=forbid, require=require), parse_answer(answer, **declared)[-1].node)
        return found.message if found else ""

    @classmethod
    def text(cls, value: Any) -> Any:
        """A text; a number counts as its own, so that `math.inf` is infinity, and not-a-number as none."""
        is_number = isinstance(value, int | float | Fraction) and not isinstance(value, bool) and value == value
        return super().text(str(value) if is_number else value)

    def declarations(self, p: Parameters) -> Mapping[str, Any]:
        """The variables, abbreviations and the meaning of log."""
        domains = self.domains(p) if callable(self.domains) else self.domains
        definitions = self.definitions(p) if callable(self.definitions) else self.definitions
        words: dict[str, Any] = {"domains": dict(domains), "definitions": dict(definitions)}
        if self.functions is not None:
            words["functions"] = tuple(self.functions)
        if constraints := self._constraints(p):
            words["constraints"] = constraints
        return words if self.log == "ln" else {**words, "log": self.log}

    def blind_answers(self, p: Parameters, shown: Sequence[str]) -> dict[str, Any]:
        """Abbreviations of the question, constants, unless one is the answer, and what differs from the answer where
        no point is compared.
        """
        right, declared = str(self.right(p)), self.declarations(p)
        constants = CONSTANTS if not right.strip("+-() ").isdigit() else ()
        differs = {f"the answer {text}": f"({right}) {text}" for text in differing(declared["domains"])}
        given = [text for definition in declared["definitions"].items() for text in definition]
        abbreviations = {f"an abbreviation of the question, {text!r}": text for text in given}
        formulas = super().blind_answers(p, shown)
        return {**formulas, **abbreviations, **{text: text for text in constants}, **differs}

    def local_check(self, p: Parameters) -> str:
        """Reads the answer as the grader will, by the same rules on its form."""
        words = "".join(f", {key}={value!r}" for key, value in self.rules(p).items() if value)
        return f"{super().local_check(p).removesuffix(')')}{words})"

    def rules(self, p: Parameters) -> Mapping[str, Any]:
        """What grading asks of an answer's form, as keywords of the visible check."""
        return {"forbid": tuple(self.forbid), "require": tuple(self.require)}

    def _constraints(self, p: Parameters) -> tuple[str, ...]:
        return tuple(self.constraints(p) if callable(self.constraints) else self.constraints)

    def rule(self, p: Parameters) -> str:
        """Where the variables live together."""
        from autograder.maths import expression as language

        if not (constraints := self._constraints(p)):
            return ""
        words = {key: value for key, value in self.declarations(p).items() if key != "constraints"}
        return f"Here ${', '.join(language.constraint_latex(text, **words) for text in constraints)}$."

    @property
    def in_closed_form(self) -> bool:
        """Each answer is one."""
        return True

    def decide(self, reference: Any, answer: Any, p: Parameters) -> Decision:
        """Equal as mathematics on the declared domains, and in a form that the question allows."""
        return guarded("expression", reference, answer, **self._options(p))

    def first_equal(self, texts: Sequence[Any], answer: Any, p: Parameters) -> int | Decision | None:
        """All texts in one call, without a search for the reason of a difference."""
        return guarded_first("expression", texts, answer, **self._options(p))

    def _options(self, p: Parameters) -> dict[str, Any]:
        return {
            **self.declarations(p),
            "forbid": tuple(self.forbid),
            "require": tuple(self.require),
            "tolerance": self.tolerance,
            "up_to": self.up_to,
        }


CONSTANTS = ("0", "1", "sum(0, n, 0, inf)", "0*ln(0)")


def differing(domains: Names) -> Iterator[str]:
    """What has no value, and what is zero, but for one place or far out, in each variable that goes so far."""
    yield from ("+ 0*ln(0)", "+ ln(0) - ln(0)")
    for name, domain in domains.items():
        if domain in ("real", "positive", "gt1"):
            yield f"+ floor(1/(1+({name}-12345)^2))"
            yield f"+ 0^abs({name}-123456789)"
        if domain in ("real", "positive", "gt1", "nat", "posint", "int"):
            yield f"+ relu({name}-10^50)"
        if domain in ("nat", "posint", "int"):
            yield f"+ floor({name}/10^15)"

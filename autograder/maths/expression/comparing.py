"""Two trees at many points: do they agree everywhere, or where not?

At a point both values are enclosed. Disjoint balls prove a difference; balls that overlap and are known to
300 bits agree; else the precision doubles, up to 8192 bits. A value that stays within 2^-1000 of zero on both
sides agrees with zero. Isolated points of continuous domains are never met: `(x^2-1)/(x-1)` equals `x+1`;
integers are met.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from flint import acb, arb, ctx, fmpq

from autograder.errors import AuthorError
from autograder.maths.expression import points
from autograder.maths.expression.arithmetic import Unclear, Undefined
from autograder.maths.expression.branches import all_seen
from autograder.maths.expression.budget import Budget, Exhausted, Expensive, Paid
from autograder.maths.expression.cancellation import AUDIT, COMPLEX_AUDIT
from autograder.maths.expression.elementary import REAL
from autograder.maths.expression.extended import COMPLEX, Infinity, extended
from autograder.maths.expression.fitted_points import Constraints
from autograder.maths.expression.options import Options
from autograder.maths.expression.program import Loop, Machine, Program
from autograder.maths.expression.sums import evaluate
from autograder.maths.expression.switches import around_switches, has_pieces
from autograder.maths.expression.syntax import Call, Compare, Node, free_variables, renamed, walk
from autograder.maths.expression.vocabulary import Domain
from autograder.maths.precision import precision

PRECISIONS = (384, 768, 1536, 3072, 8192)
AGREE_BITS = 300
ZERO_BITS = 1000
ENOUGH = 8

Kind = Literal["agree", "differ", "domain", "nowhere", "unclear", "skipped"]


@dataclass(frozen=True, kw_only=True)
class Sight:
    """What one point showed. A value is None where the side is undefined there, and `why` says why."""

    kind: Kind
    point: dict[str, Any]
    reference: Any = None
    answer: Any = None
    why: str = ""
    exact: bool = False


@dataclass(frozen=True, kw_only=True)
class Finding:
    """All points together: agree, the first sight that refutes, or the reason why neither could be shown."""

    kind: Literal["agree", "refuted", "undecided"]
    code: str = ""
    sight: Sight | None = None


class Comparison:
    """Reference and answer in one program."""

    def __init__(
        self,
        reference: Node,
        answer: Node,
        domains: dict[str, Domain],
        *,
        tolerance: Any = None,
        budget: Budget | None = None,
        constraints: Iterable[Compare] = (),
    ) -> None:
        self.constraints = Constraints(constraints, domains)
        names = sorted(self.constraints.names(free_variables(reference) | free_variables(answer)))
        if unknown := [name for name in names if name not in domains]:
            raise AuthorError("variable", f"{unknown[0]} has no domain in this question")
        self.domains = {name: domains[name] for name in names}
        self.tolerance = tolerance
        self.budget = budget or Budget()
        program = Program()
        self.reference = program.enter(reference)
        self.answer = program.enter(answer)
        self.seed = program.text()
        leaves = {step.name for step in program.steps}
        self.real = "i" not in leaves and all(domain.kind != "complex" for domain in self.domains.values())
        tables = [REAL, AUDIT] if self.real else [COMPLEX, COMPLEX_AUDIT]
        if "inf" in leaves:
            tables = [extended(table) for table in tables]
        self.machine, self.auditor = (Machine(program, table, self._series) for table in tables)

    def _series(self, machine: Machine, loop: Loop) -> Any:
        if any(isinstance(machine.registers[k], Infinity) for k in loop.outside):
            raise Undefined("a sum over infinities")
        return evaluate(machine, loop, self.budget)

    def find(self) -> Finding:
        """Compare at all points."""
        with precision(PRECISIONS[0]):
            try:
                return self._find()
            except Exhausted:
                return Finding(kind="undecided", code="cost")

    def _find(self) -> Finding:
        rng = points.generator(self.seed)
        agreed: list[Sight] = []
        edges: list[Sight] = []
        counts = {"nowhere": 0, "unclear": 0, "skipped": 0}
        for point in self._base_points(rng, agreed):
            sight = self.look(point)
            if self._refutes(sight, rng):
                if not self._only_at_an_edge(sight, edges):
                    return _refuted(sight, edges)
            elif sight.kind == "agree":
                agreed.append(sight)
            elif sight.kind in counts:
                counts[sight.kind] += 1
            if counts["unclear"] > 3:
                break
        needed = (2 * ENOUGH if counts["skipped"] else ENOUGH) if self.domains else 1
        if counts["unclear"] or len(agreed) < needed:
            if edges:
                return _refuted(edges[0])
            code = "undefined" if counts["nowhere"] and not counts["unclear"] else "precision"
            return Finding(kind="undecided", code=code)
        met = [sight.point for sight in agreed]
        for point in self._far_points(rng, met.copy()):
            sight = self.look(point, PRECISIONS[:2])
            if self._refutes(sight, rng):
                if not self._only_at_an_edge(sight, edges):
                    return _refuted(sight, edges)
            elif sight.kind in ("differ", "domain") and self.machine.jumps:
                edges.append(sight)  # a single point that a condition or a jump may name
            met += [point] if sight.kind == "agree" else []
        finding = self._audited(agreed)
        if finding.kind != "agree":
            return finding
        if edges:
            return Finding(kind="undecided", code="edge")
        seen = not self.real or all_seen(self.machine, self.reference, self.answer, self.domains, met)
        return finding if seen else Finding(kind="undecided", code="branch")

    def _only_at_an_edge(self, sight: Sight, edges: list[Sight]) -> bool:
        """Whether one side has no value here, at the edge where that was so before."""
        together = [*edges, sight]
        if sight.kind != "domain" or not self.constraints.at_edge([one.point for one in together]):
            return False
        edges.append(sight)
        return True

    def _refutes(self, sight: Sight, rng: Any) -> bool:
        """Whether the sides differ here and not only in an isolated point of a continuous domain."""
        if sight.kind not in ("differ", "domain"):
            return False
        beside = points.nearby(sight.point, self.domains, rng)
        for _ in range(4):
            if beside is None or any(self.constraints.fitted([beside])):
                break
            beside = points.nearby(sight.point, self.domains, rng)
        return beside is None or self.look(beside).kind in ("differ", "domain", "unclear")

    def _base_points(self, rng: Any, agreed: list[Sight]) -> Iterable[dict[str, Any]]:
        return self.constraints.fitted(self._stratified(rng, agreed))

    def _stratified(self, rng: Any, agreed: list[Sight]) -> Iterator[dict[str, Any]]:
        """The plain and stratified points; more of them while both sides are undefined at most."""
        if not self.domains:
            yield {}
            return
        yield from points.plain(self.domains)
        yield from points.stratified(self.domains, rng)
        for _ in range(8):
            if len(agreed) >= ENOUGH:
                return
            yield from points.stratified(self.domains, rng)

    def _far_points(self, rng: Any, bases: list[dict[str, Any]]) -> Iterable[dict[str, Any]]:
        if not self.domains:
            return []
        far = list(points.wide(self.domains, rng))
        if self.real:
            beside = list(around_switches(self.machine, self.domains, bases[:2]))
            far += beside
            if self.machine.partial:  # where two conditions meet
                far += around_switches(self.machine, self.domains, beside[:6])
        return self.constraints.fitted(far)

    def look(self, point: dict[str, Any], precisions: tuple[int, ...] = PRECISIONS) -> Sight:
        """Compare at one point, with as much precision as it takes."""
        for bits in precisions:
            self.budget.spend(len(self.machine.program.steps), bits)
            try:
                sight = self._at(self.machine, point, bits)
            except Expensive:
                return Sight(kind="skipped", point=point)
            except Unclear:
                continue
            if sight is not None:
                return sight
        return Sight(kind="unclear", point=point)

    def _at(self, machine: Machine, point: dict[str, Any], bits: int) -> Sight | None:
        if ctx.prec != bits:
            with precision(bits):
                return self._at(machine, point, bits)
        machine.start(point)
        reference, lacks = _value(machine, self.reference)
        answer, why = _value(machine, self.answer)
        if reference is None and answer is None:
            return Sight(kind="nowhere", point=point)
        if reference is None or answer is None:
            return Sight(kind="domain", point=point, reference=reference, answer=answer, why=why or lacks)
        same = self._same(reference, answer)
        if same is None:
            return None
        exact = type(reference) is fmpq and type(answer) is fmpq
        kind: Kind = "agree" if same else "differ"
        return Sight(kind=kind, point=point, reference=reference, answer=answer, exact=exact)

    def pair(self, point: dict[str, Any]) -> tuple[Any, Any] | None:
        """Both values at the present precision, where both are known finite numbers."""
        self.budget.spend(len(self.machine.program.steps), ctx.prec)
        self.machine.start(point)
        try:
            pair = self.machine.value(self.reference), self.machine.value(self.answer)
        except (Undefined, Unclear):
            return None
        return None if any(isinstance(value, Infinity) for value in pair) else pair

    def _same(self, reference: Any, answer: Any) -> bool | None:
        """Whether the values agree; None where the balls are too wide to say."""
        if isinstance(reference, Infinity) or isinstance(answer, Infinity):
            return bool(reference == answer)
        if self.tolerance is not None:
            return _within(reference, answer, self.tolerance)
        if type(reference) is fmpq and type(answer) is fmpq:
            return bool(reference == answer)
        return same(reference, answer)

    def _audited(self, agreed: list[Sight]) -> Finding:
        """Look again, with the arithmetic that notices what vanished."""
        inexact = [s for s in agreed if not s.exact and not isinstance(s.answer, Infinity)]
        if self.reference == self.answer or not inexact or self.tolerance is not None:
            return Finding(kind="agree")
        passed = 0
        for sight in inexact if has_pieces(self.machine) else inexact[:4]:
            second = self._audit(sight.point)
            if second is not None and second.kind in ("differ", "domain"):
                return Finding(kind="refuted", code=second.kind, sight=second)
            passed += second is not None
        return Finding(kind="agree") if passed else Finding(kind="undecided", code="precision")

    def _audit(self, point: dict[str, Any]) -> Sight | None:
        for bits in (384, 1536, 8192):
            self.budget.spend(len(self.machine.program.steps), bits)
            try:
                sight = self._at(self.auditor, point, bits)
            except Unclear:
                continue
            if sight is not None and not _is_coarse(sight, bits):
                return sight
        return None


def compare(options: Options, reference: Node, answer: Node, budget: Budget | None = None) -> Finding:
    """Both trees at the points of comparison, as the question's options say."""
    budget = budget or options.budget
    if any(isinstance(part, Call) and part.name == "lg" for tree in (reference, answer) for part in walk(tree)):
        return _with_either_base(options, reference, answer, budget)
    exact = None if options.tolerance is None else Fraction(str(options.tolerance))
    about = (reference, answer, tuple(options.lives.items()), exact, options.comparisons)
    budget = budget or Budget()

    def find() -> Finding:
        tolerance = None if exact is None else fmpq(exact.numerator, exact.denominator)
        return Comparison(
            reference, answer, options.lives, tolerance=tolerance, budget=budget, constraints=options.comparisons
        ).find()

    return _FOUND.once(about, budget, find)


# Lines of derivations, and candidates for a known mistake, are compared again and again.
_FOUND: Paid[Finding] = Paid()


def _refuted(sight: Sight, edges: Iterable[Sight] = ()) -> Finding:
    """Refuted by the first sight that showed it."""
    first = next(iter(edges), sight)
    return Finding(kind="refuted", code=first.kind, sight=first)


def _with_either_base(options: Options, reference: Node, answer: Node, budget: Budget | None) -> Finding:
    """lg is the binary logarithm to some and the decimal one to others: both readings must say the same."""
    budget = budget or Budget()
    binary, decimal = (
        compare(options, renamed(reference, {"lg": base}), renamed(answer, {"lg": base}), budget)
        for base in ("log2", "log10")
    )
    return binary if binary.kind == decimal.kind else Finding(kind="undecided", code="lg")


def _is_coarse(sight: Sight, bits: int) -> bool:
    """Whether a rational agrees with an irrational value to fewer bits than the rational itself has.

    The partial sums of a series come close to its limit; a ball must be finer than they are to tell.
    """
    exact = [value for value in (sight.reference, sight.answer) if type(value) is fmpq]
    return sight.kind == "agree" and len(exact) == 1 and 2 * exact[0].height_bits() + 64 > bits


def _value(machine: Machine, register: int) -> tuple[Any, str]:
    try:
        return machine.value(register), ""
    except Undefined as error:
        return None, str(error)


def same(reference: Any, answer: Any) -> bool | None:
    """Whether two finite values agree: False is a proof, None says that the balls are too wide."""
    kind = acb if acb in (type(reference), type(answer)) else arb
    x, y = kind(reference), kind(answer)
    if not (x.is_finite() and y.is_finite()):
        return None
    if not x.overlaps(y):
        return False
    if x.rel_accuracy_bits() >= AGREE_BITS and y.rel_accuracy_bits() >= AGREE_BITS:
        return True
    return True if _is_zero(x) and _is_zero(y) else None


def _is_zero(x: Any) -> bool:
    return bool(x.contains(0) and x.abs_upper() < arb(2) ** -ZERO_BITS)


def _within(reference: Any, answer: Any, tolerance: Any) -> bool | None:
    distance, allowed = abs(answer - reference), tolerance * abs(reference)
    return True if distance <= allowed else False if distance > allowed else None

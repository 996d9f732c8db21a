"""Expressions as straight-line programs: what several of them share is computed once per point.

Equal subexpressions get one register (value numbering, with sums and products in a fixed order), so that `1 -
e^(-beta)` is evaluated once however often reference and answer mention it. Indices of sums are numbered by
nesting, hence `sum(f(i), i, …)` and `sum(f(j), j, …)` share their registers too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from flint import fmpq

from autograder.maths.expression.arithmetic import Unclear, Undefined
from autograder.maths.expression.syntax import (
    Add,
    Call,
    Cases,
    Compare,
    Constant,
    Div,
    Given,
    Mul,
    Neg,
    Node,
    Number,
    Pow,
    Prod,
    Sum,
    Variable,
)

NONE = -1


@dataclass(frozen=True, slots=True)
class Loop:
    """A sum or a product: `body` is evaluated with `index` from `lower` to `upper` (NONE: to infinity)."""

    name: str
    body: int
    index: int
    lower: int
    upper: int
    inside: tuple[int, ...]
    """The registers that depend on the index, operands first."""
    outside: tuple[int, ...]
    """The operands of those that do not."""


@dataclass(frozen=True, slots=True)
class Step:
    """One register: an operation on one or two earlier ones, a leaf, or a sum."""

    name: str
    first: int = NONE
    second: int = NONE
    payload: Any = None


class Program:
    """Registers under construction; `enter` adds an expression and returns its register."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.depends: list[frozenset[int]] = []
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._indices: dict[str, int] = {}
        self._level = 0
        self._needed: dict[int, list[int]] = {}

    def enter(self, node: Node) -> int:
        """The register of `node`."""
        match node:
            case Number(value):
                return self._leaf("number", fmpq(value.numerator, value.denominator))
            case Constant(name):
                return self._leaf(name)
            case Variable(name) if name in self._indices:
                return self._indices[name]
            case Variable(name):
                return self._leaf("variable", name)
            case Neg(operand):
                return self._step("neg", self.enter(operand))
            case Div(numerator, denominator):
                return self._step("div", self.enter(numerator), self.enter(denominator))
            case Pow(Constant("e"), exponent):
                return self._step("exp", self.enter(exponent))
            case Pow(base, exponent):
                return self._step("pow", self.enter(base), self.enter(exponent))
            case Given(_, _, body):
                return self.enter(body)
            case Sum():
                return self._sum(node)
            case Add(terms):
                return self._add(terms)
            case Mul(factors):
                return self._fold("mul", sorted(map(self.enter, factors)))
            case Compare(sign, left, right):
                return self._step(sign, self.enter(left), self.enter(right))
            case Cases(values, conditions):
                return self._cases(values, conditions)
            case Call(name, arguments):
                return self._call(name, arguments)

    def _add(self, terms: tuple[Node, ...]) -> int:
        plus = sorted(self.enter(term) for term in terms if not isinstance(term, Neg))
        minus = sorted(self.enter(term.operand) for term in terms if isinstance(term, Neg))
        if not plus:
            return self._step("neg", self._fold("add", minus))
        register = self._fold("add", plus)
        for subtracted in minus:
            register = self._step("sub", register, subtracted)
        return register

    def _fold(self, name: str, registers: list[int]) -> int:
        register = registers[0]
        for other in registers[1:]:
            register = self._step(name, register, other)
        return register

    def _call(self, name: str, arguments: tuple[Node, ...]) -> int:
        if name in ("sin", "cos", "tan") and (turns := _without_pi(arguments[0])) is not None:
            return self._step(f"{name}_pi", self.enter(turns))
        registers = [self.enter(argument) for argument in arguments]
        if name == "ceil":
            return self._step("neg", self._step("floor", self._step("neg", *registers)))
        if name == "mod":
            x, y = registers
            whole = self._step("floor", self._step("div", x, y))
            return self._step("sub", x, self._fold("mul", sorted((y, whole))))
        if name == "binom":
            return self._step(name, *registers)
        return self._fold(name, sorted(registers)) if len(registers) > 1 else self._step(name, registers[0])

    def _cases(self, values: tuple[Node, ...], conditions: tuple[tuple[Compare, ...], ...]) -> int:
        """Each value with its condition, from the last one up: `if` takes a truth and a pair of registers."""
        register = self._leaf("none")
        for value, condition in reversed(list(zip(values, conditions, strict=True))):
            if not condition:
                register = self.enter(value)
                continue
            truth = self._fold("and", [self.enter(comparison) for comparison in condition])
            register = self._step("if", truth, self._step("pair", self.enter(value), register))
        return register

    def _sum(self, node: Sum) -> int:
        lower = self.enter(node.lower)
        upper = NONE if node.upper == Constant("inf") else self.enter(node.upper)
        self._level += 1
        index = self._leaf("index", self._level)
        self.depends[index] = frozenset((index,))
        outer = self._indices.get(node.index)
        self._indices[node.index] = index
        body = self.enter(node.body)
        self._level -= 1
        del self._indices[node.index]
        if outer is not None:
            self._indices[node.index] = outer
        return self._loop("prod" if isinstance(node, Prod) else "sum", body, index, lower, upper)

    def _loop(self, name: str, body: int, index: int, lower: int, upper: int) -> int:
        inside = [k for k in self.order(body, index) if k != index]
        outside = {k for step in inside for k in self.operands(step)} | {body}
        outside = {k for k in outside if k != NONE and index not in self.depends[k]}
        loop = Loop(name, body, index, lower, upper, tuple(inside), tuple(sorted(outside)))
        depends = self.depends[body] - {index}
        for k in (lower, upper):
            depends |= self.depends[k] if k != NONE else frozenset()
        return self._number((name, body, index, lower, upper), Step(name, payload=loop), depends)

    def needed(self, root: int) -> list[int]:
        """`order` of a finished program, remembered."""
        if root not in self._needed:
            self._needed[root] = self.order(root)
        return self._needed[root]

    def order(self, root: int, index: int = NONE) -> list[int]:
        """What must be evaluated for `root`, operands first; with `index`, only what depends on it."""
        found: dict[int, None] = {}
        pending: list[tuple[int, bool]] = [(root, False)]
        while pending:
            register, ready = pending.pop()
            if register in found or (index != NONE and index not in self.depends[register]):
                continue
            if ready:
                found[register] = None
                continue
            pending.append((register, True))
            pending.extend((k, False) for k in reversed(self.operands(register)) if k != NONE)
        return list(found)

    def operands(self, register: int) -> tuple[int, ...]:
        """The registers that `register` is computed from, those outside the loop for a sum."""
        step = self.steps[register]
        if isinstance(step.payload, Loop):
            return (step.payload.lower, step.payload.upper, *step.payload.outside)
        return (step.first, step.second)

    def text(self) -> str:
        """All registers, to seed a draw with: it differs where the expressions differ."""
        return " ".join(f"{s.name}{s.first},{s.second}{s.payload if s.first == NONE else ''}" for s in self.steps)

    def _leaf(self, name: str, payload: Any = None) -> int:
        return self._number((name, payload), Step(name, payload=payload), frozenset())

    def _step(self, name: str, first: int, second: int = NONE) -> int:
        depends = self.depends[first] | (self.depends[second] if second != NONE else frozenset())
        return self._number((name, first, second), Step(name, first, second), depends)

    def _number(self, key: tuple[Any, ...], step: Step, depends: frozenset[int]) -> int:
        if key not in self._numbers:
            self._numbers[key] = len(self.steps)
            self.steps.append(step)
            self.depends.append(depends)
        return self._numbers[key]


def _without_pi(node: Node) -> Node | None:
    """x where `node` is pi times x as written, else None."""
    match node:
        case Constant("pi"):
            return Number(1)  # type: ignore[arg-type]  # an int has numerator and denominator too
        case Neg(operand):
            rest = _without_pi(operand)
            return None if rest is None else Neg(rest)
        case Div(numerator, denominator):
            rest = _without_pi(numerator)
            return None if rest is None else Div(rest, denominator)
        case Mul(factors):
            for k, factor in enumerate(factors):
                if (rest := _without_pi(factor)) is not None:
                    return Mul((*factors[:k], rest, *factors[k + 1 :]))
            return None
        case Add(terms):
            rests = [_without_pi(term) for term in terms]
            return None if None in rests else Add(tuple(rest for rest in rests if rest is not None))
        case _:
            return None


class Machine:
    """A program bound to one arithmetic; `value` evaluates a register at a point that `start` has set."""

    def __init__(self, program: Program, table: dict[str, Any], series: Callable[[Machine, Loop], Any]) -> None:
        self.program = program
        self.table = table
        self.series = series
        self.registers: list[Any] = []
        self._leaves: list[Any] = [s.payload if s.name == "number" else None for s in program.steps]
        self._variables = [(k, s.payload) for k, s in enumerate(program.steps) if s.name == "variable"]
        self.partial = any(s.name == "if" for s in program.steps)
        """Whether some values may be needed nowhere, so that what has none is kept until it is asked for."""
        self.jumps = self.partial or any(s.name == "floor" for s in program.steps)
        """Whether some value at a single point is no limit of those beside it."""
        used = {name: _kept(name, function) for name, function in table.items()} if self.partial else table
        self._code: list[tuple[Any, int, int]] = [(used.get(s.name), s.first, s.second) for s in program.steps]

    def start(self, point: dict[str, Any]) -> None:
        """Set the variables and forget every other value."""
        self.registers = self._leaves.copy()
        for register, name in self._variables:
            self.registers[register] = point[name]

    def value(self, root: int) -> Any:
        """The value of a register; raises `Undefined` or `Unclear`."""
        self.run(self.program.needed(root))
        return self.known(root)

    def known(self, register: int) -> Any:
        """A value that was computed; raises where there is none."""
        value = self.registers[register]
        if self.partial and isinstance(value, Exception):
            raise value
        return value

    def run(self, order: Iterable[int]) -> None:
        """Evaluate those registers of `order` that have no value yet."""
        registers, code = self.registers, self._code
        for k in order:
            if registers[k] is None:
                function, first, second = code[k]
                if second >= 0:
                    registers[k] = function(registers[first], registers[second])
                elif first >= 0:
                    registers[k] = function(registers[first])
                elif function is not None:
                    registers[k] = function()
                elif not self.partial:
                    registers[k] = self.series(self, self.program.steps[k].payload)
                else:
                    registers[k] = self._kept_series(self.program.steps[k].payload)

    def _kept_series(self, loop: Loop) -> Any:
        try:
            for k in (loop.lower, *loop.outside, *([] if loop.upper == NONE else [loop.upper])):
                self.known(k)
            return self.series(self, loop)
        except (Undefined, Unclear) as error:
            return error


def _kept(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, with what it raises as its value; of a pair only the part that is chosen counts."""

    def operation(*operands: Any) -> Any:
        if name != "pair":
            for operand in operands:
                if isinstance(operand, Exception):
                    return operand
        try:
            return function(*operands)
        except (Undefined, Unclear) as error:
            return error

    return operation

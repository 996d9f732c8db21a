"""What a question says about its variables together, such as `K<=E`: points of comparison respect it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from autograder.maths.expression.arithmetic import Unclear, Undefined
from autograder.maths.expression.elementary import REAL
from autograder.maths.expression.points import inside
from autograder.maths.expression.program import Machine, Program
from autograder.maths.expression.syntax import Compare, Node, Variable, free_variables
from autograder.maths.expression.vocabulary import Domain

EDGE = 2
Point = dict[str, Any]


class Constraints:
    """Comparisons between variables that all points of a comparison fulfil."""

    def __init__(self, comparisons: Iterable[Compare], domains: dict[str, Domain]) -> None:
        self.comparisons = tuple(comparisons)
        self.domains = domains
        program = Program()
        self.registers = [program.enter(comparison) for comparison in self.comparisons]
        self.sides = [(program.enter(c.left), program.enter(c.right)) for c in self.comparisons]
        self.machine = Machine(program, REAL, lambda *_: None)

    def names(self, used: Iterable[str]) -> set[str]:
        """The variables in use, and those that a constraint ties to them."""
        found = set(used)
        for _ in self.comparisons:
            for comparison in self.comparisons:
                tied = free_variables(comparison)
                found |= tied if tied & found else set()
        return found

    def fitted(self, points: Iterable[Point]) -> Iterator[Point]:
        """The points that fulfil the constraints, and those that do when a value or two is changed."""
        for point in points:
            found = self._fitted(point) if self.comparisons else point
            if found is not None:
                yield found

    def _fitted(self, point: Point) -> Point | None:
        for _ in range(len(self.comparisons) + 1):
            broken = self._broken(point)
            if broken is None:
                return point
            changed = self._changed(point, self.comparisons[broken], *self._values(point, broken))
            if changed is None or not all(inside(changed[name], self.domains[name]) for name in changed):
                return None
            point = changed
        return None

    def _broken(self, point: Point) -> int | None:
        self.machine.start({**dict.fromkeys(self._variables, 1), **point})
        for number, register in enumerate(self.registers):
            if not free_variables(self.comparisons[number]) <= point.keys():
                continue
            try:
                if not self.machine.value(register):
                    return number
            except (Undefined, Unclear):
                return number
        return None

    @property
    def _variables(self) -> set[str]:
        return set().union(*map(free_variables, self.comparisons))

    def _values(self, point: Point, number: int) -> tuple[Any, Any]:
        try:
            left, right = (self.machine.value(side) for side in self.sides[number])
        except (Undefined, Unclear):
            return None, None
        return left, right

    def _changed(self, point: Point, comparison: Compare, left: Any, right: Any) -> Point | None:
        """Two variables swapped, or the one on a side moved to where the other side allows it."""
        sides: tuple[Node, Node] = (comparison.left, comparison.right)
        if left is None or comparison.sign == "!=":
            return None
        match sides:
            case Variable(one), _ if comparison.sign == "=":
                return {**point, one: right}
            case Variable(one), Variable(other):
                return {**point, one: point[other], other: point[one]}
            case _, Variable(other):
                return {**point, other: left + abs(point[other])}
            case _:
                return None

    def at_edge(self, points: Iterable[Point]) -> bool:
        """Whether all points lie within two steps of one edge: of a domain of integers, or of a constraint."""
        distances = [self._distances(point) for point in points]
        shared = set(distances[0]).intersection(*distances) if distances else set()
        return any(all(0 <= one[edge] <= EDGE for one in distances) for edge in shared)

    def _distances(self, point: Point) -> dict[object, Any]:
        found: dict[object, Any] = {}
        for name, value in point.items():
            domain = self.domains[name]
            if domain.kind in ("posint", "nat"):
                found[name, "low"] = value - (domain.kind == "posint")
            elif domain.kind == "steps":
                found[name, "low"] = (value - domain.low.numerator) / domain.step
                if domain.count:
                    found[name, "high"] = (domain.high.numerator - value) / domain.step
        self.machine.start({**dict.fromkeys(self._variables, 1), **point})
        for number, comparison in enumerate(self.comparisons):
            if comparison.sign in ("<", "<=") and free_variables(comparison) <= point.keys():
                left, right = self._values(point, number)
                if left is not None and all(self._is_whole(name) for name in free_variables(comparison)):
                    found[number] = right - left
        return found

    def _is_whole(self, name: str) -> bool:
        return self.domains[name].kind in ("posint", "nat", "int", "steps")

"""How large every axis is in a trial: primes, different for different axes and from trial to trial."""

from __future__ import annotations

import random
from collections.abc import Mapping

from autograder.maths.tensor.axes import Axes, Node
from autograder.maths.tensor.core_tree import Fault
from autograder.maths.tensor.declarations import Declarations

PRIMES = (3, 2, 5, 7, 11, 13)
OTHERS = (2, 5, 3, 11, 7, 17)  # every second trial
MORE = (2, 3)  # beyond six axes, so that the arrays stay small


class Sizes:
    """The size of every axis in one trial: distinct primes; products and sums computed.

    `fixed` are sizes of letters that are not drawn.
    """

    def __init__(
        self,
        axes: Axes,
        declarations: Declarations,
        trial: int,
        seed: int = 0,
        fixed: Mapping[str, int] | None = None,
    ) -> None:
        self.axes = axes
        self.values: dict[Node, int] = {}
        self.stated = {
            axes.letter(letter): size for letter, size in declarations.sizes.items() if isinstance(size, int)
        }
        self.fault: Fault | None = None
        products: dict[Node, tuple[str, ...]] = {}
        for letter, size in declarations.sizes.items():
            if not isinstance(size, int):
                products[axes.letter(letter)] = size
        for root, letters in axes.letters.items():
            if known := sorted(letters & set(fixed or {})):
                self.values[axes.root(root)] = (fixed or {})[known[0]]
        self.values.update(self.stated)
        derived = {axes.root(output) for output, _, _ in axes.joined} | set(products)
        free = self._drawn(derived)
        self._draw(free, trial, seed)
        self._order([(axes.letter(one), axes.letter(other)) for one, other in declarations.constraints], free)
        for _ in range(4):
            self._products(products)
            self._joins()

    def _drawn(self, derived: set[Node]) -> list[Node]:
        """The axes whose sizes are drawn, heavily used ones first."""
        roots = {self.axes.root(node) for node in (*self.axes.parents, *self.axes.letters)}
        return sorted(
            roots - derived - set(self.values),
            key=lambda root: (-self.axes.weights[root], self.axes.named(root), str(root[0]), str(root[2:])),
        )

    def _draw(self, roots: list[Node], trial: int, seed: int) -> None:
        """Heavily used axes get small primes, so that nothing grows large; no axis keeps its size in the next
        trial.
        """
        before: dict[Node, int] = {}
        for number in range(trial + 1 if roots else 0):
            rng = random.Random(f"{seed}/{number}")
            for _ in range(50):
                drawn = self._assigned(roots, number, rng)
                if all(before.get(root) != size for root, size in drawn.items()):
                    break
            before = drawn
        self.values.update(before)

    def _order(self, constraints: list[tuple[Node, Node]], free: list[Node]) -> None:
        """Swap the sizes of two drawn axes where the question says which is the larger one."""
        for _ in constraints:
            for smaller, larger in constraints:
                if smaller in free and larger in free and self.values[smaller] > self.values[larger]:
                    self.values[smaller], self.values[larger] = self.values[larger], self.values[smaller]

    def _assigned(self, roots: list[Node], trial: int, rng: random.Random) -> dict[Node, int]:
        pool = (OTHERS if trial % 2 else PRIMES) + MORE * len(roots)
        drawn: dict[Node, int] = {}
        while len(drawn) < len(roots):
            start = len(drawn)
            weight = self.axes.weights[roots[start]]
            group = [root for root in roots[start:] if self.axes.weights[root] == weight]
            primes = [pool[start + offset] for offset in range(len(group))]
            rng.shuffle(primes)
            drawn.update(zip(group, primes, strict=True))
        return drawn

    def _products(self, products: Mapping[Node, tuple[str, ...]]) -> None:
        for root, letters in products.items():
            factors = [self.values.get(self.axes.letter(letter)) for letter in letters]
            size = 1
            for factor in factors:
                size *= factor or 0
            if size:
                self.values[root] = size

    def _joins(self) -> None:
        for output, pieces, fault in self.axes.joined:
            total = 0
            for head, axis in pieces:
                total += (1 if head is None else self.of(head)) * self.of(axis)
            root = self.axes.root(output)
            if self.values.setdefault(root, total) != total:
                self.fault = fault

    def of(self, node: Node) -> int:
        """The size of the axis of a node."""
        return self.values.get(self.axes.root(node), 2)

    def axis(self, letter: str) -> int:
        """The size of the axis of a letter."""
        return self.of(self.axes.letter(letter))

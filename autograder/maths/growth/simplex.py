"""A linear programme in exact rationals: the simplex method on a dense tableau with Bland's rule, which cannot cycle.

The programmes of this package have a few dozen columns; exactness is worth more than speed there. The rationals of the
tableau are flint's, which are ten times as fast as Python's.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import flint

Row = list[Fraction]
Tableau = list[list[Any]]


def maximise(objective: Row, rows: list[Row], right: Row) -> Row | None:
    """The x >= 0 that maximises objective·x under rows·x = right, or None where none is feasible.

    The caller keeps the objective bounded; an unbounded direction ends the search at the point reached.
    """
    width = len(objective)
    table = []
    for index, (row, value) in enumerate(zip(rows, right, strict=True)):
        sign = -1 if value < 0 else 1
        artificial = [flint.fmpq(int(i == index)) for i in range(len(rows))]
        table.append([sign * entry for entry in _exact(row)] + artificial + _exact([sign * value]))
    basis = [width + index for index in range(len(rows))]
    _improve(table, basis, [flint.fmpq(0)] * width + [flint.fmpq(-1)] * len(rows), width + len(rows))
    if any(table[i][-1] != 0 for i, column in enumerate(basis) if column >= width):
        return None
    _retire_artificials(table, basis, width)
    _improve(table, basis, _exact(objective) + [flint.fmpq(0)] * len(rows), width)
    solution = [Fraction(0)] * width
    for reduced, column in zip(table, basis, strict=True):
        if column < width:
            solution[column] = Fraction(int(reduced[-1].p), int(reduced[-1].q))
    return solution


def _exact(row: Row) -> list[Any]:
    return [flint.fmpq(entry.numerator, entry.denominator) for entry in row]


def _retire_artificials(table: Tableau, basis: list[int], width: int) -> None:
    """Pivot artificial columns out at zero; a row without another entry is redundant and stays inert."""
    for index, column in enumerate(basis):
        if column >= width:
            entering = next((j for j in range(width) if table[index][j] != 0), None)
            if entering is not None:
                _pivot(table, basis, index, entering)


def _improve(table: Tableau, basis: list[int], objective: list[Any], columns: int) -> None:
    while True:
        prices = [objective[column] for column in basis]
        costly = [(price, row) for price, row in zip(prices, table, strict=True) if price]
        gains = (j for j in range(columns) if j not in basis and objective[j] > _price(costly, j))
        entering = next(gains, None)
        if entering is None:
            return
        ratios = [(row[-1] / row[entering], basis[i], i) for i, row in enumerate(table) if row[entering] > 0]
        if not ratios:
            return
        _pivot(table, basis, min(ratios)[2], entering)


def _price(costly: list[tuple[Any, list[Any]]], column: int) -> Any:
    return sum((price * row[column] for price, row in costly if row[column]), flint.fmpq(0))


def _pivot(table: Tableau, basis: list[int], index: int, entering: int) -> None:
    factor = table[index][entering]
    chosen = table[index] = [entry / factor if entry else entry for entry in table[index]]
    for i, row in enumerate(table):
        if i != index and (scale := row[entering]):
            table[i] = [entry - scale * other if other else entry for entry, other in zip(row, chosen, strict=True)]
    basis[index] = entering

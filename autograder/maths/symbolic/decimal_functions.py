"""The context of hundred-digit decimals, and the functions that the decimal module lacks.

Decimals, and not the binary numbers of mpmath or flint, since a student's 0.1 is a tenth here: `0.1 + 0.6 == 0.7` must
hold as it does on paper, and a branch must go the way that was meant. What is lacking are three series.
"""

from __future__ import annotations

import decimal
from decimal import Decimal
from functools import lru_cache

DIGITS = 100
CONTEXT = decimal.Context(
    prec=DIGITS, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN, rounding=decimal.ROUND_HALF_EVEN, traps=[]
)
_ONE = Decimal(1)


@lru_cache(maxsize=1)
def pi() -> Decimal:
    """Machin's formula: 16 arctan(1/5) - 4 arctan(1/239)."""
    with decimal.localcontext(CONTEXT) as context:
        context.prec = DIGITS + 10
        return 16 * _arctan_inverse(5) - 4 * _arctan_inverse(239)


def _arctan_inverse(number: int) -> Decimal:
    total, term, index = Decimal(0), _ONE / number, 0
    while term and abs(term) > Decimal(10) ** -(DIGITS + 12):
        total += term / (2 * index + 1)
        term, index = -term / (number * number), index + 1
    return total


def sine(angle: Decimal) -> Decimal:
    """By its Taylor series, after whole turns are taken off."""
    if not angle.is_finite():
        return Decimal("NaN")
    with decimal.localcontext(CONTEXT) as context:
        context.prec = DIGITS + 20
        turns = (angle / (2 * pi())).to_integral_value()
        angle -= turns * 2 * pi()
        total, term, index = Decimal(0), angle, 1
        while term and abs(term) > Decimal(10) ** -(DIGITS + 15):
            total += term
            term *= -angle * angle / ((index + 1) * (index + 2))
            index += 2
        return total


def error_function(argument: Decimal) -> Decimal:
    """By its alternating series, with digits to spare for the cancellation; beyond 16 it is 1 to every digit kept."""
    if argument.is_nan() or abs(argument) > 16:
        return argument if argument.is_nan() else _ONE.copy_sign(argument)
    with decimal.localcontext(CONTEXT) as context:
        context.prec = 2 * DIGITS + 60
        total, term, index = Decimal(0), argument, 0
        while term and abs(term) > Decimal(10) ** -(DIGITS + 10):
            total += term / (2 * index + 1)
            index += 1
            term *= -argument * argument / index
        return 2 * total / pi().sqrt()

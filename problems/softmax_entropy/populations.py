"""The population distributions that P is compared with, and what cross-entropies need to know of them."""

from dataclasses import dataclass
from fractions import Fraction

from .families import FAMILIES, Family


@dataclass(frozen=True, kw_only=True)
class Population:
    """`energy` is the mean energy under Pop, `entropy` that of Pop; both are texts.

    Where Pop has zeros on P's support, both reverse quantities are infinite. Else Pop is P at another temperature.
    """

    words: str
    energy: str
    entropy: str
    zeros: bool = True


def one_hot(family: Family) -> Population:
    """All weight on k."""
    return Population(
        words=r"$\mathrm{Pop}$ is **one-hot**: $\mathrm{Pop}(k) = 1$ for one number $k$ among those that $i$ ranges "
        r"over, and $\mathrm{Pop}(i) = 0$ for all $i \ne k$. Your answers may contain $\beta$ and $k$.",
        energy=family.energy_at("k"),
        entropy="0",
    )


def uniform(family: Family, count: int) -> Population:
    """Equal weights on the first numbers."""
    numbers = family.first[:count]
    return Population(
        words=rf"$\mathrm{{Pop}}$ is **uniform on the {count} numbers** ${', '.join(map(str, numbers))}$ and zero on "
        r"all others. Your answers may contain $\beta$.",
        energy=text(sum(map(family.energy_of, numbers), Fraction()) / count),
        entropy=f"ln({count})",
    )


def two_point(family: Family, places: tuple[int, int], q: str) -> Population:
    """Weight q on one number, the rest on another."""
    a, c = (family.first[place] for place in places)
    share = Fraction(q)
    return Population(
        words=rf"$\mathrm{{Pop}}({a}) = {shown(share)}$, $\mathrm{{Pop}}({c}) = {shown(1 - share)}$, and all other "
        r"numbers have $\mathrm{Pop}(i) = 0$. Your answers may contain $\beta$.",
        energy=text(share * family.energy_of(a) + (1 - share) * family.energy_of(c)),
        entropy=f"(-{text(share)}*ln({text(share)})-{text(1 - share)}*ln({text(1 - share)}))",
    )


def other_temperature(family: Family) -> Population:
    """The same softmax at inverse temperature gamma."""
    return Population(
        words=r"$\mathrm{Pop}$ is the **same softmax at another inverse temperature**: $\beta$ is replaced by "
        r"$\gamma > 0$. Your answers may contain $\beta$ and $\gamma$.",
        energy=family.mean("gamma"),
        entropy=f"({family.entropy('gamma')})",
        zeros=False,
    )


def family_of(p):
    """The distribution of this variant."""
    return FAMILIES[p["family"]]()


def population_of(p):
    """The population of this variant."""
    family = family_of(p)
    match p["population"]:
        case "one-hot":
            return one_hot(family)
        case "uniform":
            return uniform(family, p["count"])
        case "two points":
            return two_point(family, tuple(p["places"]), p["q"])
        case _:
            return other_temperature(family)


def text(number: Fraction) -> str:
    """A fraction as a factor of a text."""
    return f"({number})" if number.denominator > 1 else str(number)


def shown(number: Fraction) -> str:
    """A fraction in LaTeX."""
    return rf"\frac{{{number.numerator}}}{{{number.denominator}}}"

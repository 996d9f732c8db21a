"""The distributions: which numbers i ranges over, with which energy, and what follows from them in closed form.

Every text is in the language of typed answers. `{x}` stands for the text of e^(-beta), `{b}` for the text of beta:
wrong answers put other texts there. `{i}` stands for the number.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, kw_only=True)
class Family:
    """A softmax of minus beta times an energy.

    `energy_of` is the energy of a number. `walk` is how a sum of step one runs over the support: the number as a text
    of n, and the bounds of n. `prefactor(x)` is P(i) over e^(-beta E(i)), `mean(b)` the mean energy, `variance(b)` its
    variance, `entropy(b)` that of P; the fields with an underscore hold their texts. `beta_of` and `entropy_of` are
    functions of the mean u of what `u_words` says, where they can be written down; u lies in `u_domain`. `integral`
    and `continuous` are what P(i) and the entropy become for whoever integrates.
    """

    words: str
    support: str
    energy: str
    energy_of: Callable[[int], Fraction] = Fraction
    energy_latex: str
    walk: tuple[str, str, str]
    first: tuple[int, ...]
    prefactor_: str
    mean_: str
    variance_: str
    entropy_: str
    integral: str
    continuous: str | None
    u_domain: str = ""
    u_words: str = "the mean energy"
    beta_of: str = ""
    entropy_of: str = ""
    size: int = 0

    def energy_at(self, i: str) -> str:
        """E(i) for a text i."""
        return self.energy.format(i=i)

    def prefactor(self, x: str) -> str:
        """P(i) over e^(-beta E(i)), for a text of e^(-beta)."""
        return self.prefactor_.format(x=x)

    def mean(self, b: str) -> str:
        """The mean energy, for a text of beta."""
        return self.mean_.format(b=b)

    def variance(self, b: str) -> str:
        """The variance of the energy, for a text of beta."""
        return self.variance_.format(b=b)

    def entropy(self, b: str) -> str:
        """The entropy, for a text of beta."""
        return self.entropy_.format(b=b)

    def total(self, term: Callable[[str], str]) -> str:
        """The sum over the support of a term, given as a function of the number's text."""
        number, lower, upper = self.walk
        return f"sum({term(number)}, n, {lower}, {upper})"

    def probability(self, i: str = "i", b: str = "beta") -> str:
        """P(i)."""
        return f"{self.prefactor(f'e^(-{b})')}*e^(-{b}*{self.energy_at(i)})"


def progression(start: int, step: int) -> Family:
    """i = start, start + step, start + 2 step, …, with energy i; one of the two is plain: start is 0, or step is 1."""
    ratio, many = ("{x}", "{b}") if step == 1 else (f"({{x}})^{step}", f"{step}*{{b}}")
    first = f"{start}+" if start else ""
    steps = _steps_from_the_mean(start, step)
    return Family(
        words=_numbers_in_words(start, step),
        support={(0, 1): "nat", (1, 1): "posint"}.get((start, step), f"{{{start},{start + step},...}}"),
        energy="{i}",
        energy_latex="i",
        walk=(_number_after(start, step), "0", "inf"),
        first=tuple(start + step * n for n in range(8)),
        prefactor_=f"((1-{ratio})/({{x}})^{start})" if start else f"(1-{ratio})",
        mean_=f"({first}{step}/(e^({many})-1))",
        variance_=f"({step}^2*e^({many})/(e^({many})-1)^2)",
        entropy_=f"-ln(1-e^(-{many}))+{many}/(e^({many})-1)",
        integral=f"beta*e^(-beta*(i-{start}))" if start else "beta*e^(-beta*i)",
        continuous="1-ln(beta)",
        u_domain={0: "positive", 1: "gt1"}.get(start, ""),
        beta_of=f"ln(1+1/{steps})" if step == 1 else f"ln(1+1/{steps})/{step}",
        entropy_of=f"({steps}+1)*ln({steps}+1)-{steps}*ln({steps})",
    )


def _numbers_in_words(start: int, step: int) -> str:
    """The numbers of a progression, as the statement names them."""
    if step == 1 and start:
        return rf"the integers from **${start}$** on: ${start}, {start + 1}, {start + 2}, \ldots$"
    return {
        (0, 1): r"the non-negative integers $0, 1, 2, \ldots$",
        (0, 2): r"the **even** non-negative integers $0, 2, 4, \ldots$",
        (1, 2): r"the **odd** positive integers $1, 3, 5, \ldots$",
    }.get((start, step), rf"the **multiples of ${step}$** from zero on: $0, {step}, {2 * step}, \ldots$")


def _number_after(start: int, step: int) -> str:
    """The number after n steps, as a text of n."""
    if step == 1:
        return f"({start}+n)" if start else "n"
    return f"({step}*n+{start})" if start else f"({step}*n)"


def _steps_from_the_mean(start: int, step: int) -> str:
    """How many steps lie between the first number and the mean u."""
    plain = {(0, 1): "u", (1, 1): "(u-1)"}
    return plain.get((start, step), f"((u-{start})/{step})" if start else f"(u/{step})")


def truncated(N: int) -> Family:
    """i = 0, …, N."""
    n = N + 1
    numbers = ", ".join(map(str, range(n))) if N < 5 else rf"0, 1, 2, \ldots, {N}"
    return Family(
        words=rf"the integers **from $0$ to ${N}$**: ${numbers}$",
        support=f"{{0,1,...,{N}}}",
        energy="{i}",
        energy_latex="i",
        walk=("n", "0", str(N)),
        first=tuple(range(n)),
        prefactor_=f"((1-{{x}})/(1-({{x}})^{n}))",
        mean_=f"(1/(e^({{b}})-1)-{n}/(e^({n}*{{b}})-1))",
        variance_=f"(e^({{b}})/(e^({{b}})-1)^2-{n}^2*e^({n}*{{b}})/(e^({n}*{{b}})-1)^2)",
        entropy_=f"ln((1-e^(-{n}*{{b}}))/(1-e^(-{{b}})))+{{b}}*(1/(e^({{b}})-1)-{n}/(e^({n}*{{b}})-1))",
        integral=f"beta*e^(-beta*i)/(1-e^(-{N}*beta))",
        continuous=None,
        size=n,
    )


def two_states() -> Family:
    """i is 0 or 1."""
    return Family(
        words=r"the **two numbers $0$ and $1$**",
        support="{0,1}",
        energy="{i}",
        energy_latex="i",
        walk=("n", "0", "1"),
        first=(0, 1),
        prefactor_="(1/(1+{x}))",
        mean_="(1/(e^({b})+1))",
        variance_="(e^({b})/(e^({b})+1)^2)",
        entropy_="ln(1+e^(-{b}))+{b}/(e^({b})+1)",
        integral="beta*e^(-beta*i)/(1-e^(-beta))",
        continuous=None,
        u_domain="[0,1/2]",
        beta_of="ln(1/u-1)",
        entropy_of="-u*ln(u)-(1-u)*ln(1-u)",
        size=2,
    )


def all_integers() -> Family:
    """i = …, -1, 0, 1, …, with energy |i|."""
    return Family(
        words=r"**all integers** $\ldots, -1, 0, 1, \ldots$",
        support="int",
        energy="abs({i})",
        energy_of=lambda i: Fraction(abs(i)),
        energy_latex="|i|",
        walk=("n", "-inf", "inf"),
        first=(0, 1, -2, 3, -4, 5, -6),
        prefactor_="((1-{x})/(1+{x}))",
        mean_="(1/sinh({b}))",
        variance_="(cosh({b})/sinh({b})^2)",
        entropy_="ln(coth({b}/2))+{b}/sinh({b})",
        integral="beta/2*e^(-beta*abs(i))",
        continuous="1+ln(2)-ln(beta)",
        u_domain="positive",
        u_words="the mean of $|i|$",
        beta_of="asinh(1/u)",
        entropy_of="ln(u+sqrt(u^2+1))+u*asinh(1/u)",
    )


def levels(states: int) -> Family:
    """i = 0, 1, 2, …, where `states` neighbours have the same energy."""
    return Family(
        words=r"the non-negative integers $0, 1, 2, \ldots$",
        support="nat",
        energy=f"floor({{i}}/{states})",
        energy_of=lambda i: Fraction(i // states),
        energy_latex=rf"\lfloor i/{states} \rfloor",
        walk=("n", "0", "inf"),
        first=(1, 4, 5, 6, 9, 11, 14),
        prefactor_=f"((1-{{x}})/{states})",
        mean_="(1/(e^({b})-1))",
        variance_="(e^({b})/(e^({b})-1)^2)",
        entropy_=f"ln({states})-ln(1-e^(-{{b}}))+{{b}}/(e^({{b}})-1)",
        integral=f"beta/{states}*e^(-beta*floor(i/{states}))",
        continuous=f"1+ln({states})-ln(beta)",
        u_domain="positive",
        beta_of="ln(1+1/u)",
        entropy_of=f"ln({states})+(u+1)*ln(u+1)-u*ln(u)",
    )


def offset(shift: str) -> Family:
    """i = 0, 1, 2, …, with energy i + shift: the same distribution as without the shift, with another normaliser."""
    return Family(
        words=r"the non-negative integers $0, 1, 2, \ldots$",
        support="nat",
        energy=f"({{i}}+{shift})",
        energy_of=lambda i: i + Fraction(shift),
        energy_latex=rf"\left(i + {shift}\right)",
        walk=("n", "0", "inf"),
        first=tuple(range(8)),
        prefactor_=f"((1-{{x}})/({{x}})^({shift}))",
        mean_=f"({shift}+1/(e^({{b}})-1))",
        variance_="(e^({b})/(e^({b})-1)^2)",
        entropy_="-ln(1-e^(-{b}))+{b}/(e^({b})-1)",
        integral="beta*e^(-beta*i)",
        continuous="1-ln(beta)",
        u_domain="positive",
        u_words="the mean of $i$ (not of the energy)",
        beta_of="ln(1+1/u)",
        entropy_of="(u+1)*ln(u+1)-u*ln(u)",
    )


FAMILIES: dict[str, Callable[[], Family]] = {
    "from 0": lambda: progression(0, 1),
    **{f"from {s}": (lambda s=s: progression(s, 1)) for s in (1, 2, 3)},
    "even": lambda: progression(0, 2),
    "odd": lambda: progression(1, 2),
    **{f"multiples of {m}": (lambda m=m: progression(0, m)) for m in (3, 4, 5)},
    **{f"up to {N}": (lambda N=N: truncated(N)) for N in range(2, 10)},
    "two states": two_states,
    "all integers": all_integers,
    "pairs": lambda: levels(2),
    "triples": lambda: levels(3),
    **{f"offset {a}": (lambda a=a: offset(a)) for a in ("1/2", "1/3", "3/2", "2")},
}

"""The last question: what else follows from a closed form."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .families import Family
from .populations import Population


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One last question: its text, the letters it adds, and its answer."""

    words: Callable[[Any, Family], str]
    answer: Callable[[Any, Family, Population, str], str]
    letters: Callable[[Any, Family], dict[str, str]] = lambda p, family: {}


def smoothing_words(p, family):
    share = p["share"]
    rest = f"{int(share[2:]) - 1}/{share[2:]}"
    return (
        r"**Smoothing.** Training targets are sometimes smoothed with the model's own distribution. Let "
        rf"$\mathrm{{Pop}}'(i) = \frac{{{rest.replace('/', '}{')}}}\,\mathrm{{Pop}}(i) + "
        rf"\frac{{{share.replace('/', '}{')}}}\,P(i)$, with $\mathrm{{Pop}}$ as above. "
        r"Give $H(\mathrm{Pop}', P)$."
    )


def smoothing_answer(p, family, population, cross_entropy):
    return f"(1-{p['share']})*({cross_entropy})+{p['share']}*({family.entropy('beta')})"


def plain(text):
    """A question with the same words in every variant."""
    return lambda p, family: text


KINDS = {
    "smoothing": Kind(words=smoothing_words, answer=smoothing_answer),
    "slope": Kind(
        words=plain(
            r"**The gradient of training.** Suppose that $\beta$ is fitted to the population by gradient descent on "
            r"$H(\mathrm{Pop}, P)$. Give the derivative $\frac{d}{d\beta} H(\mathrm{Pop}, P)$."
        ),
        answer=lambda p, family, population, h: f"{population.energy}-{family.mean('beta')}",
    ),
    "entropy slope": Kind(
        words=plain(r"**Cooling.** Give the derivative of the entropy, $\frac{d}{d\beta} H(P)$."),
        answer=lambda p, family, population, h: f"-beta*{family.variance('beta')}",
    ),
    "fit": Kind(
        words=lambda p, family: (
            rf"**The temperature of a mean.** Let $u$ be {family.u_words} under $P$. Which $\beta$ belongs to a given "
            r"$u$? Give $\beta$ as an expression in $u$ alone, typed `u`."
        ),
        answer=lambda p, family, population, h: family.beta_of,
        letters=lambda p, family: {"u": family.u_domain},
    ),
    "entropy of mean": Kind(
        words=lambda p, family: (
            rf"**Entropy from a mean.** Let $u$ be {family.u_words} under $P$. Give the entropy of $P$ as an "
            r"expression in $u$ alone (no $\beta$), typed `u`."
        ),
        answer=lambda p, family, population, h: family.entropy_of,
        letters=lambda p, family: {"u": family.u_domain},
    ),
    "growing degeneracy": Kind(
        words=plain(
            r"**Another distribution.** Let $i$ range over $0, 1, 2, \ldots$ and let $Q(i) = "
            r"\mathrm{softmax}_i\left[-\beta i + \ln(i+1)\right]$. Give $Q(i)$ in closed form."
        ),
        answer=lambda p, family, population, h: "(i+1)*(1-e^(-beta))^2*e^(-beta*i)",
        letters=lambda p, family: {"i": "nat"},
    ),
    "Poisson": Kind(
        words=plain(
            r"**Another distribution.** Let $i$ range over $0, 1, 2, \ldots$ and let $Q(i) = "
            r"\mathrm{softmax}_i\left[i \ln\mu - \ln i!\right]$ with $\mu > 0$, typed `mu`. You can use "
            r"$\sum_{n=0}^{\infty} \mu^n/n! = e^{\mu}$. Give $Q(i)$ in closed form; `factorial(i)` is $i!$."
        ),
        answer=lambda p, family, population, h: "e^(-mu)*mu^i/factorial(i)",
        letters=lambda p, family: {"i": "nat", "mu": "positive"},
    ),
    "Poisson divergence": Kind(
        words=plain(
            r"**Another distribution.** For $\mu > 0$ let $Q_\mu(i) = e^{-\mu}\mu^i/i!$ for $i = 0, 1, 2, \ldots$; its "
            r"mean is $\mu$. Give $KL(Q_{\mu_1}, Q_{\mu_2})$ in closed form, typed with `mu_1` and `mu_2`."
        ),
        answer=lambda p, family, population, h: "mu_1*ln(mu_1/mu_2)+mu_2-mu_1",
        letters=lambda p, family: {"mu_1": "positive", "mu_2": "positive"},
    ),
    "two indices": Kind(
        words=plain(
            r"**Two indices.** Let $i$ and $j$ both range over $0, 1, 2, \ldots$ and let $Q(i,j) = "
            r"\mathrm{softmax}_{i,j}\left[-\beta(i+j)\right]$, normalised over all pairs. Give $Q(i,j)$ in closed form."
        ),
        answer=lambda p, family, population, h: "(1-e^(-beta))^2*e^(-beta*(i+j))",
        letters=lambda p, family: {"i": "nat", "j": "nat"},
    ),
    "two indices, entropy": Kind(
        words=plain(
            r"**Two indices.** Let $i$ and $j$ both range over $0, 1, 2, \ldots$ and let $Q(i,j) = "
            r"\mathrm{softmax}_{i,j}\left[-\beta(i+j)\right]$, normalised over all pairs. Give the entropy of $Q$ in "
            "closed form."
        ),
        answer=lambda p, family, population, h: "2*(-ln(1-e^(-beta))+beta/(e^beta-1))",
    ),
}


def possible(kind: str, family: Family) -> bool:
    """Whether the question has an answer in closed form in this family."""
    return bool(family.u_domain) if kind in ("fit", "entropy of mean") else True

"""Correct answers written differently; each must earn full marks. None where a form belongs to another variant."""

from .families import FAMILIES
from .in_code import CODE_EQUIVALENTS
from .populations import family_of, population_of

X = "e^(-beta)"
COTH = "beta/2*coth(beta/2)-ln(2*sinh(beta/2))"


def _powers(N, *, times=False):
    """The sum of the powers of e^(-beta) up to N, written out; with `times`, each times its exponent."""
    return "+".join((f"{n}*" if times else "") + f"e^(-{n}*beta)" for n in range(N + 1))


# P(i).


def over_the_sum(p):
    family = family_of(p)
    return f"e^(-beta*{family.energy_at('i')})/(1/{family.prefactor(X)})"


def one_exponential(p):
    family = family_of(p)
    return f"exp(-beta*{family.energy_at('i')}+log({family.prefactor(X)}))"


def in_latex(p):
    family = family_of(p)
    energy = (
        family.energy_at("i").replace("abs(i)", "|i|").replace("floor(", r"\lfloor ").replace("i/2)", r"i/2\rfloor")
    )
    energy = energy.replace("i/3)", r"i/3\rfloor")
    below = family.prefactor(r"e^{-\beta}")
    return rf"{below}\cdot e^{{-\beta {energy}}}"


def powers_of_lambda(p):
    family = family_of(p)
    return f"{family.prefactor('exp(-beta)')}*exp(-beta)^({family.energy_at('i')})"


SOFTMAX_BY_FAMILY = {
    "from 0": [
        "e^(-beta*i)-e^(-beta*(i+1))",
        r"(e^\beta - 1)\, e^{-\beta (i+1)}",
        "2*sinh(beta/2)*exp(-beta*(i+1/2))",
        "exp(-beta*i)*tanh(beta/2)*(1+exp(-beta))",
        "(1-exp(-beta))/exp(beta)^i",
        "(1 - e^-β) e^(-β i)",
    ],
    **{f"from {s}": [f"(1-e^(-beta))*e^(-beta*(i-{s}))", f"(e^beta-1) e^(-beta*(i-{s - 1}))"] for s in (1, 2, 3)},
    "even": ["(1-exp(-2*beta))*exp(-beta*i)", "2*sinh(beta)*e^(-beta*(i+1))", "(1+(-1)^i)/2*(1-e^(-2beta))e^(-beta i)"],
    "odd": [
        "(1-e^(-2*beta))*e^(-beta*(i-1))",
        "2*sinh(beta)*e^(-beta*i)",
        "(1-(-1)^i)/2*(e^beta-e^(-beta))*e^(-i*beta)",
    ],
    **{f"multiples of {m}": [f"(1-exp(-{m}*beta))*exp(-beta*i)", f"e^(-beta*i)-e^(-beta*(i+{m}))"] for m in (3, 4, 5)},
    **{
        f"up to {N}": [
            f"(1-exp(-beta))*exp(-beta*i)/(1-exp(-{N + 1}*beta))",
            f"e^(-beta*i)/({'+'.join(f'e^(-{n}*beta)' for n in range(N + 1))})",
            f"sinh(beta/2)/sinh({N + 1}*beta/2)*e^(-beta*(i-{N}/2))",
        ]
        for N in range(2, 10)
    },
    "two states": ["sigma(beta*(1-2*i))", "sigma(-beta)^i*sigma(beta)^(1-i)", "i/(1+e^beta)+(1-i)/(1+e^(-beta))"],
    "all integers": [
        "tanh(beta/2)*e^(-beta*|i|)",
        r"\tanh(\beta/2)\,e^{-\beta|i|}",
        "(e^beta-1)/(e^beta+1)*e^(-beta*abs(i))",
    ],
    "pairs": ["(1-e^(-beta))*e^(-beta*floor(i/2))/2", "(1-e^(-beta))/2*exp(-beta*(2*i-1+(-1)^i)/4)"],
    "triples": ["(e^(-beta*floor(i/3))-e^(-beta*(1+floor(i/3))))/3"],
    **{
        f"offset {a}": [
            "(1-exp(-beta))*exp(-beta*i)",
            f"e^(-beta*(i+{a}))*(1-e^(-beta))/e^(-{a}*beta)",
            "2*sinh(beta/2)*exp(-beta*(i+1/2))",
        ]
        for a in ("1/2", "1/3", "3/2", "2")
    },
}

ENTROPY_BY_FAMILY = {
    "from 0": [
        "-log(1-exp(-beta))+beta/(exp(beta)-1)",
        "beta*exp(beta)/(exp(beta)-1)-log(exp(beta)-1)",
        COTH,
        "(1+1/(exp(beta)-1))*log(1+1/(exp(beta)-1))-1/(exp(beta)-1)*log(1/(exp(beta)-1))",
        "(-(1-exp(-beta))*log(1-exp(-beta))+exp(-beta)*beta)/(1-exp(-beta))",
        r"-\ln(1-e^{-\beta}) + \frac{\beta e^{-\beta}}{1-e^{-\beta}}",
    ],
    **{f"from {s}": ["-ln(1-e^(-beta))+beta*e^(-beta)/(1-e^(-beta))", COTH] for s in (1, 2, 3)},
    "even": ["-ln(1-e^(-2*beta))+2*beta*e^(-2*beta)/(1-e^(-2*beta))", "beta*coth(beta)-ln(2*sinh(beta))"],
    "odd": ["-ln(1-e^(-2*beta))+2*beta*e^(-2*beta)/(1-e^(-2*beta))", "beta*coth(beta)-ln(2*sinh(beta))"],
    **{f"multiples of {m}": [f"-ln(1-e^(-{m}*beta))+{m}*beta*e^(-{m}*beta)/(1-e^(-{m}*beta))"] for m in (3, 4, 5)},
    **{f"up to {N}": [f"ln({_powers(N)})+beta*({_powers(N, times=True)})/({_powers(N)})"] for N in range(2, 10)},
    "two states": [
        "softplus(-beta)+beta*sigma(-beta)",
        "-sigma(beta)*ln(sigma(beta))-sigma(-beta)*ln(sigma(-beta))",
        "ln(1+e^beta)-beta*e^beta/(1+e^beta)",
        "ln(2*cosh(beta/2))-beta/2*tanh(beta/2)",
    ],
    "all integers": ["-ln(tanh(beta/2))+2*beta/(e^beta-e^(-beta))", "ln((1+e^(-beta))/(1-e^(-beta)))+beta/sinh(beta)"],
    "pairs": ["ln(2)-log(1-exp(-beta))+beta/(exp(beta)-1)", f"ln(2)+{COTH}", "-ln((1-e^-beta)/2)+beta/(e^beta-1)"],
    "triples": ["ln(3)-log(1-exp(-beta))+beta/(exp(beta)-1)"],
    **{f"offset {a}": [COTH, "-log(1-exp(-beta))+beta*e^(-beta)/(1-e^(-beta))"] for a in ("1/2", "1/3", "3/2", "2")},
}


def _forms(table):
    """One equivalent for each place in the lists of the table."""

    def form(place):
        def listed(p):
            found = table[p["family"]]
            return found[place] if place < len(found) else None

        listed.__name__ = f"form_{place + 1}"
        return listed

    assert set(table) == set(FAMILIES)
    return [form(place) for place in range(max(map(len, table.values())))]


# The entropy.


def mean_energy_and_normaliser(p):
    family = family_of(p)
    return f"-ln({family.prefactor(X)})+beta*{family.mean('beta')}"


def from_the_log_sum(p):
    family = family_of(p)
    return f"ln(1/{family.prefactor(X)})+{family.mean('beta')}*beta+0"


def as_in_print(p):
    family = family_of(p)
    c = family.prefactor(X)
    return "\n".join(
        [
            family.total(lambda i: f"P({i})*(-ln({c}*e^(-beta*{family.energy_at(i)})))"),
            "= " + family.total(lambda i: f"P({i})*(-ln({c})+beta*{family.energy_at(i)})"),
            f"= -ln({c})*"
            + family.total(lambda i: f"P({i})")
            + "+"
            + family.total(lambda i: f"{c}*e^(-beta*{family.energy_at(i)})*beta*{family.energy_at(i)}"),
            f"= -ln({c})+beta*{c}*" + family.total(lambda i: f"{family.energy_at(i)}*e^(-beta*{family.energy_at(i)})"),
            f"= -ln({c})+beta*{c}*({family.mean('beta')}/{c})",
            f"= {family.entropy('beta')}",
        ]
    )


def by_free_energy(p):
    family = family_of(p)
    return "\n".join(
        [
            "H(P) = E[-ln P(i)]",
            f"= E[ln Z + beta*{family.energy_at('i')}] = ln Z + beta*E[{family.energy_at('i')}]",
            f"= -ln({family.prefactor(X)})+beta*{family.mean('beta')}.",
        ]
    )


def over_i_itself(p):
    """Where the support is all integers from some number on, the sum may run over i."""
    family = family_of(p)
    if p["family"] in ("even", "odd") or p["family"].startswith("multiples"):
        return None
    energy, number = family.energy_at("i"), chr(92) + "infty"
    lower = family.walk[1] if not p["family"].startswith("from") else str(family.first[0])
    upper = family.walk[2]
    return "\n".join(
        [
            f"sum(-P(i)*ln(P(i)), i, {lower}, {upper})",
            rf"\sum_{{i={lower.replace('inf', number)}}}^{{{upper.replace('inf', number)}}} "
            rf"P(i) \left(\ln(Z) + \beta {energy}\right)",
            f"ln(Z)*sum(P(i), i, {lower}, {upper})+beta*sum({energy}*P(i), i, {lower}, {upper})",
            family.entropy("beta"),
        ]
    )


# Cross-entropies.


def of_a_product(p):
    family, population = family_of(p), population_of(p)
    return f"-ln({family.prefactor(X)}*e^(-beta*{population.energy}))"


def log_of_the_inverse(p):
    family, population = family_of(p), population_of(p)
    return f"ln(1/{family.prefactor(X)})+{population.energy}*beta"


def as_half_integers(p):
    here = p["family"] == "from 0" and p["population"] == "one-hot"
    return "beta*(k+1/2)-ln(2*sinh(beta/2))" if here else None


def as_difference(p):
    here = p["family"] == "from 0" and p["population"] == "one-hot"
    return r"-\ln\left(e^{-\beta k} - e^{-\beta(k+1)}\right)" if here else None


def over_exp_minus_one(p):
    here = p["family"] == "from 0" and p["population"] == "one-hot"
    return "beta*(k+1)-log(exp(beta)-1)" if here else None


def shifted(p):
    here = p["family"].startswith("from") and p["population"] == "one-hot"
    return f"beta*(k-{family_of(p).first[0]})-ln(1-e^(-beta))" if here else None


def two_temperatures(p):
    here = p["family"] == "from 0" and p["population"] == "temperature"
    return "-ln(1-e^(-beta))+beta/(e^gamma-1)" if here else None


def cross_entropy_less_entropy(p):
    return f"{of_a_product(p)}-{population_of(p).entropy}"


def two_temperatures_divergence(p):
    here = p["family"] == "from 0" and p["population"] == "temperature"
    return "ln((1-e^(-gamma))/(1-e^(-beta)))+(beta-gamma)/(e^gamma-1)" if here else None


def minus_sum_of_logs(p):
    family, population = family_of(p), population_of(p)
    return f"-{population.entropy}-ln({family.prefactor(X)})+{population.energy}*beta"


def _infinity(word):
    """`inf` by another name, where the answer is infinite."""

    def named(p):
        return word if population_of(p).zeros else None

    named.__name__ = f"infinity {word}"
    return named


INFINITIES = [_infinity(word) for word in ("oo", "infinity", "infinite", r"\infty", r"+\infty", "∞", "+inf", " Inf ")]


# The last question.


def by_kind(p):
    return {
        "growing degeneracy": "(i+1)*e^(-beta*i)*(1-2*e^(-beta)+e^(-2*beta))",
        "Poisson": "exp(-mu+i*ln(mu))/factorial(i)",
        "Poisson divergence": "mu_1*(ln(mu_1)-ln(mu_2))-mu_1+mu_2",
        "two indices": "(1-e^(-beta))*e^(-beta*i)*(1-e^(-beta))*e^(-beta*j)",
        "two indices, entropy": f"2*({COTH})",
    }.get(p["further"])


def written_out(p):
    family, population = family_of(p), population_of(p)
    if p["further"] == "smoothing":
        mean = f"((1-{p['share']})*{population.energy}+{p['share']}*{family.mean('beta')})"
        return f"-ln({family.prefactor(X)})+beta*{mean}"
    return {
        "entropy slope": f"-{family.variance('beta')}*beta",
        "slope": f"-({family.mean('beta')}-{population.energy})",
    }.get(p["further"])


def of_the_mean(p):
    if p["family"] == "from 0":
        return {"fit": "ln((u+1)/u)", "entropy of mean": "ln(1+u)+u*ln(1+1/u)"}.get(p["further"])
    return None


EQUIVALENTS = {
    **CODE_EQUIVALENTS,
    "softmax": [over_the_sum, one_exponential, in_latex, powers_of_lambda, *_forms(SOFTMAX_BY_FAMILY)],
    "entropy": [mean_energy_and_normaliser, from_the_log_sum, *_forms(ENTROPY_BY_FAMILY)],
    "entropy_steps": [as_in_print, by_free_energy, over_i_itself],
    "cross_entropy": [
        of_a_product,
        log_of_the_inverse,
        as_half_integers,
        as_difference,
        over_exp_minus_one,
        shifted,
        two_temperatures,
    ],
    "divergence": [cross_entropy_less_entropy, two_temperatures_divergence, minus_sum_of_logs],
    "reverse_cross_entropy": INFINITIES,
    "reverse_divergence": INFINITIES,
    "further": [by_kind, written_out, of_the_mean],
}

"""Wrong answers that students give; the docstring is the hint that whoever gives the same answer reads.

A mistake gives None in variants where nobody can make it, or where it is right.
"""

import functools

from .in_code import CODE_MISTAKES
from .populations import family_of, population_of

X = "e^(-beta)"


# P(i).


def multiplied_by_normaliser(p):
    """You multiplied by the sum of the weights; a softmax divides by it. Do your values sum to one?"""
    family = family_of(p)
    return f"e^(-beta*{family.energy_at('i')})/{family.prefactor(X)}"


def not_normalised(p):
    """These are the weights before they are divided by their sum: what do they sum to?"""
    return f"e^(-beta*{family_of(p).energy_at('i')})"


def growing_ratio(p):
    """You used e^beta as the ratio of neighbouring terms of the sum. Is it smaller than one?"""
    family = family_of(p)
    return f"{family.prefactor('e^beta')}*e^(-beta*{family.energy_at('i')})"


def ratio_is_beta(p):
    """You took beta itself as the ratio of neighbouring terms; the weights are powers of something else."""
    family = family_of(p)
    return f"{family.prefactor('beta')}*beta^({family.energy_at('i')})"


def integrated(p):
    """You integrated over i as if it were continuous; here it is a whole number, so it is a sum."""
    return family_of(p).integral


def index_in_the_sum(p):
    """Your normaliser depends on i. In it, i has been summed over: use another letter there."""
    family = family_of(p)
    return f"{family.prefactor('e^(-beta*i)')}*e^(-beta*{family.energy_at('i')})"


def energy_upside_down(p):
    """Your probabilities grow with the energy: a minus sign was lost in the exponent."""
    family = family_of(p)
    return f"{family.prefactor(X)}*e^(beta*{family.energy_at('i')})"


def only_two_states(p):
    """Your normaliser has two terms only, those of a sigmoid. Over which numbers does i range?"""
    family = family_of(p)
    return None if family.size == 2 else f"e^(-beta*{family.energy_at('i')})/(1+{X})"


def success_and_failure(p):
    """You exchanged the two factors of a geometric law: which one is raised to the power i?"""
    return f"(1-{X})^({family_of(p).energy_at('i')})*{X}"


def other_support(p):
    """You normalised over 0, 1, 2, … with energy i. Over which numbers, and with which energies, is the sum here?"""
    family = family_of(p)
    return None if p["family"] == "from 0" else f"(1-{X})*e^(-beta*{family.energy_at('i')})"


def one_term_too_few(p):
    """Your sum ends one term too early: how many numbers are there from 0 to the last one?"""
    family = family_of(p)
    if not p["family"].startswith("up to"):
        return None
    return f"(1-{X})*{X}^i/(1-{X}^{family.size - 1})"


def one_sided(p):
    """You counted the number zero on both sides: how often does its energy occur?"""
    return f"(1-{X})/2*e^(-beta*abs(i))" if p["family"] == "all integers" else None


# The entropy.


def sign_of_logarithm(p):
    """The sign of the logarithm is wrong: is the logarithm of a number below one positive or negative?"""
    family = family_of(p)
    return f"ln({family.prefactor(X)})+beta*{family.mean('beta')}"


def mean_not_normalised(p):
    """In the mean energy you summed i times the weight, and forgot that P(i) has a normaliser too."""
    family = family_of(p)
    return f"-ln({family.prefactor(X)})+beta*{family.mean('beta')}/{family.prefactor(X)}"


def mean_is_ratio(p):
    """The mean energy is a sum over all numbers; you put the ratio of neighbouring terms in its place."""
    return f"-ln({family_of(p).prefactor(X)})+beta*{X}"


def beta_lost(p):
    """A factor beta was lost: the logarithm of e^(-beta E) is -beta E."""
    family = family_of(p)
    return f"-ln({family.prefactor(X)})+{family.mean('beta')}"


def sign_of_energy(p):
    """The sign of the energy's term is wrong: there is one minus from the entropy and one from the exponent."""
    family = family_of(p)
    return f"-ln({family.prefactor(X)})-beta*{family.mean('beta')}"


def differential_entropy(p):
    """This is the entropy of a continuous variable; it agrees with yours only as beta goes to zero."""
    return family_of(p).continuous


def in_bits(p):
    """Your answer is in bits. The course measures in nats: the logarithm is natural."""
    return f"({family_of(p).entropy('beta')})/ln(2)"


def energy_only(p):
    """You averaged beta times the energy; the logarithm of the normaliser belongs to -ln P(i) too."""
    return f"beta*{family_of(p).mean('beta')}"


def normaliser_only(p):
    """You have the logarithm of the normaliser; the energy's average belongs to -ln P(i) too."""
    return f"-ln({family_of(p).prefactor(X)})"


def mean_upside_down(p):
    """In the mean energy the sign of an exponent is wrong: your mean is negative."""
    family = family_of(p)
    return f"-ln({family.prefactor(X)})+beta*{family.mean('(-beta)')}"


def entropy_from_zero(p):
    """This is the entropy for 0, 1, 2, … with energy i. Here the sum runs over other numbers or energies."""
    right = ("from", "offset")
    return None if p["family"].startswith(right) else f"-ln(1-{X})+beta/(e^beta-1)"


def shift_counted_once(p):
    """Numbering the same probabilities differently does not change their entropy: your answer depends on the start."""
    family = family_of(p)
    if not p["family"].startswith(("from", "offset", "odd")) or p["family"] == "from 0":
        return None
    step = "2*" if p["family"] == "odd" else ""
    return f"-ln(1-e^(-{step}beta))+beta*{family.mean('beta')}"


def _chain_to(mistake):
    """The derivation that starts well and ends in a wrong entropy, under the same name and hint."""

    @functools.wraps(mistake)
    def chain(p):
        family, end = family_of(p), mistake(p)
        return end and "\n".join([family.total(lambda i: f"P({i})*(-ln(P({i})))"), end])

    del chain.__wrapped__
    return chain


def wrong_on_the_way(p):
    """A line in the middle is wrong though the last one is right: two mistakes that undo each other, or a slip."""
    family = family_of(p)
    return "\n".join(
        [
            family.total(lambda i: f"P({i})*(-ln(P({i})))"),
            family.total(lambda i: f"P({i})*(ln(Z)-beta*{family.energy_at(i)})"),
            family.entropy("beta"),
        ]
    )


def still_a_sum(p):
    """Every line is right, but the last one still has a sum in it."""
    family = family_of(p)
    return "\n".join(
        [
            family.total(lambda i: f"P({i})*(-ln(P({i})))"),
            f"-ln({family.prefactor(X)})+beta*" + family.total(lambda i: f"{family.energy_at(i)}*P({i})"),
        ]
    )


def nothing_but_the_end(p):
    """The end alone is no derivation: start with the definition of the entropy, and show how its sum is evaluated."""
    return family_of(p).entropy("beta")


def definition_and_end(p):
    """The definition and the result are known: what is asked is the way from one to the other."""
    family = family_of(p)
    return "\n".join([family.total(lambda i: f"P({i})*(-ln(P({i})))"), family.entropy("beta")])


# Cross-entropy and divergence of Pop and P.


def _forward(p):
    """The cross-entropy H(Pop, P)."""
    return f"beta*{population_of(p).energy}-ln({family_of(p).prefactor(X)})"


def log_added(p):
    """The sign of the logarithm is wrong: -ln of a product is the sum of two terms, each with its minus sign."""
    return f"beta*{population_of(p).energy}+ln({family_of(p).prefactor(X)})"


def energy_subtracted(p):
    """The sign of the energy's term is wrong: there is one minus from -ln and one in the exponent."""
    return f"-beta*{population_of(p).energy}-ln({family_of(p).prefactor(X)})"


def without_normaliser(p):
    """You forgot the normaliser: -ln P(i) is more than beta times the energy."""
    return f"beta*{population_of(p).energy}"


def weighted_by_P(p):
    """You weighted -ln P by P itself: in H(Pop, P), the average is over Pop."""
    if p["population"] != "one-hot":
        return family_of(p).entropy("beta")
    return f"{family_of(p).probability('k')}*({_forward(p)})"


def probability_itself(p):
    """This is a probability; the cross-entropy is the mean of its negative logarithm."""
    return family_of(p).probability("k") if p["population"] == "one-hot" else None


def index_left_free(p):
    """Your answer contains i, which is summed over: on which number does the population put its weight?"""
    family = family_of(p)
    return f"beta*{family.energy_at('i')}-ln({family.prefactor(X)})" if p["population"] == "one-hot" else None


def not_divided(p):
    """You added -ln P(i) over the numbers of the population; their mean was wanted."""
    return f"{p['count']}*({_forward(p)})" if p["population"] == "uniform" else None


def middle_unweighted(p):
    """You gave both numbers the same weight; look at their probabilities under Pop."""
    if p["population"] != "two points":
        return None
    family = family_of(p)
    a, c = (family.energy_of(family.first[place]) for place in p["places"])
    return None if a == c else f"beta*({(a + c) / 2})-ln({family.prefactor(X)})"


def roles_exchanged(p):
    """You averaged over P; in H(Pop, P), the average is over Pop."""
    family = family_of(p)
    if p["population"] != "temperature":
        return None
    return f"gamma*{family.mean('beta')}-ln({family.prefactor('e^(-gamma)')})"


def infinite(p):
    """This is infinite only where P is zero and Pop is not. Where is P zero?"""
    return "inf"


def zero_divergence(p):
    """The divergence is zero only where the two distributions are equal."""
    return "0"


def negative_divergence(p):
    """A divergence is never negative: the sign is wrong."""
    return f"{population_of(p).entropy}-({_forward(p)})"


def entropy_forgotten(p):
    """This is the cross-entropy. Its smallest value is the entropy of Pop, and Pop's entropy is not zero here."""
    return None if p["population"] == "one-hot" else _forward(p)


def entropy_added(p):
    """You added Pop's entropy to the cross-entropy: should the divergence be the larger or the smaller of the two?"""
    return None if p["population"] == "one-hot" else f"({_forward(p)})+{population_of(p).entropy}"


def other_entropy(p):
    """You subtracted the entropy of P; in KL(Pop, P), which distribution is averaged over?"""
    return f"({_forward(p)})-({family_of(p).entropy('beta')})"


# The reverse direction.


def zero_of_zeros(p):
    """You used 0 ln 0 = 0. Here the terms are P(i) times -ln 0, and P(i) is not zero."""
    return "0" if population_of(p).zeros else None


def symmetric(p):
    """Neither quantity is symmetric: now P weights the terms, and the logarithm is of Pop."""
    return _forward(p)


def minus_infinity(p):
    """The sign is wrong: the logarithm of zero is minus infinity, and it enters with a minus sign."""
    return "-inf" if population_of(p).zeros else None


def own_entropy(p):
    """This is the entropy of P: the logarithm should be of Pop."""
    return family_of(p).entropy("beta")


def entropy_of_population(p):
    """This is the entropy of Pop: the average should be over P."""
    return f"{population_of(p).entropy}" if p["population"] not in ("one-hot",) else None


def reverse_log_added(p):
    """The sign of the logarithm is wrong."""
    family = family_of(p)
    return None if population_of(p).zeros else f"gamma*{family.mean('beta')}+ln({family.prefactor('e^(-gamma)')})"


def infinite_though_positive(p):
    """This is infinite only where Pop is zero and P is not. Where is Pop zero here?"""
    return None if population_of(p).zeros else "inf"


def finite_divergence(p):
    """KL is the cross-entropy minus a finite entropy. Can it be finite where the cross-entropy is not?"""
    return f"-({family_of(p).entropy('beta')})" if population_of(p).zeros else None


def symmetric_divergence(p):
    """A divergence is not symmetric: KL(P, Pop) averages over P."""
    return f"({_forward(p)})-{population_of(p).entropy}"


def same_as_cross_entropy(p):
    """This is the cross-entropy; P has an entropy, which must be subtracted."""
    family = family_of(p)
    return None if population_of(p).zeros else f"gamma*{family.mean('beta')}-ln({family.prefactor('e^(-gamma)')})"


def zero_reverse_divergence(p):
    """The divergence is zero only where the two distributions are equal."""
    return "0"


# The last question.


def _only(kind):
    """Leaves a mistake to variants that ask for `kind`."""

    def leave(mistake):
        @functools.wraps(mistake)
        def limited(p):
            return mistake(p) if p["further"] == kind else None

        del limited.__wrapped__
        return limited

    return leave


@_only("smoothing")
def smoothing_ignored(p):
    """The cross-entropy is linear in its first argument: the second part of the mixture counts too."""
    return f"(1-{p['share']})*({_forward(p)})"


@_only("smoothing")
def smoothing_unweighted(p):
    """The two parts of the mixture have weights."""
    return f"{_forward(p)}+{family_of(p).entropy('beta')}"


@_only("smoothing")
def weights_exchanged(p):
    """The two weights of the mixture have changed places."""
    return f"{p['share']}*({_forward(p)})+(1-{p['share']})*({family_of(p).entropy('beta')})"


@_only("slope")
def slope_upside_down(p):
    """The sign is wrong: what happens to beta if P's mean energy is larger than the population's?"""
    return f"{family_of(p).mean('beta')}-{population_of(p).energy}"


@_only("slope")
def normaliser_constant(p):
    """The normaliser depends on beta too."""
    return population_of(p).energy


@_only("slope")
def slope_of_ratio(p):
    """The derivative of the logarithm of a function is the function's derivative divided by the function."""
    return f"{population_of(p).energy}-{X}"


@_only("entropy slope")
def grows(p):
    """The sign is wrong: does a distribution become broader when beta grows?"""
    return f"beta*{family_of(p).variance('beta')}"


@_only("entropy slope")
def factor_lost(p):
    """This is the derivative of the mean energy; in the entropy it stands with a factor."""
    return f"-{family_of(p).variance('beta')}"


@_only("entropy slope")
def product_rule(p):
    """You differentiated one of the three places in which beta occurs."""
    return family_of(p).mean("beta")


@_only("fit")
def log_of_inverse(p):
    """You solved for the ratio of neighbouring terms; beta is minus its logarithm."""
    return f"e^(-({family_of(p).beta_of}))"


@_only("fit")
def sign_of_temperature(p):
    """The sign is wrong: beta is positive."""
    return f"-({family_of(p).beta_of})"


@_only("fit")
def classical(p):
    """This holds for a continuous variable, or for large means."""
    return "1/u"


@_only("entropy of mean")
def classical_entropy(p):
    """This is the entropy of a continuous variable with this mean; it is right for large means only."""
    return "1+ln(u)"


@_only("entropy of mean")
def one_term_of_two(p):
    """A term is missing: put beta as a function of u into both terms of the entropy."""
    return "ln(1+u)"


@_only("growing degeneracy")
def normalised_as_before(p):
    """Your values do not sum to one: the factor i+1 is in the normaliser's sum as well."""
    return f"(i+1)*(1-{X})*e^(-beta*i)"


@_only("growing degeneracy")
def log_left_in_place(p):
    """e to the logarithm of i+1 is i+1; it does not stay a logarithm."""
    return f"ln(i+1)*(1-{X})^2*e^(-beta*i)"


@_only("growing degeneracy")
def sum_of_n(p):
    """You summed n times the ratio's powers, where n+1 was wanted."""
    return f"(i+1)*(1-{X})^2*e^(-beta*i)/{X}"


@_only("Poisson")
def poisson_not_normalised(p):
    """These are the weights before they are divided by their sum."""
    return "mu^i/factorial(i)"


@_only("Poisson")
def poisson_multiplied(p):
    """You multiplied by the sum of the weights; a softmax divides by it."""
    return "e^mu*mu^i/factorial(i)"


@_only("Poisson")
def poisson_without_factorial(p):
    """Minus the logarithm of i! in the exponent becomes a division by i!."""
    return "e^(-mu)*mu^i"


@_only("Poisson divergence")
def poisson_reversed(p):
    """KL(Q_1, Q_2) averages over the first of the two; yours over the second."""
    return "mu_2*ln(mu_2/mu_1)+mu_1-mu_2"


@_only("Poisson divergence")
def poisson_normaliser_forgotten(p):
    """The two distributions have different normalisers: their logarithms do not cancel."""
    return "mu_1*ln(mu_1/mu_2)"


@_only("Poisson divergence")
def poisson_sign(p):
    """A divergence is never negative: check the signs of the two normalisers."""
    return "mu_1*ln(mu_1/mu_2)+mu_1-mu_2"


@_only("two indices")
def one_normaliser(p):
    """You normalised over one index; the sum runs over all pairs."""
    return f"(1-{X})*e^(-beta*(i+j))"


@_only("two indices")
def sum_of_both(p):
    """The weights of i and j multiply, they do not add."""
    return f"(1-{X})*(e^(-beta*i)+e^(-beta*j))/2"


@_only("two indices, entropy")
def entropy_of_one(p):
    """This is the entropy of one of the two indices."""
    return "-ln(1-e^(-beta))+beta/(e^beta-1)"


@_only("two indices, entropy")
def entropy_squared(p):
    """Probabilities of independent variables multiply; what do their entropies do?"""
    return "(-ln(1-e^(-beta))+beta/(e^beta-1))^2"


_OF_ENTROPY = [
    sign_of_logarithm,
    mean_not_normalised,
    mean_is_ratio,
    beta_lost,
    sign_of_energy,
    differential_entropy,
    in_bits,
    energy_only,
    normaliser_only,
    mean_upside_down,
    entropy_from_zero,
    shift_counted_once,
]

MISTAKES = {
    **CODE_MISTAKES,
    "softmax": [
        multiplied_by_normaliser,
        not_normalised,
        growing_ratio,
        ratio_is_beta,
        integrated,
        index_in_the_sum,
        energy_upside_down,
        only_two_states,
        success_and_failure,
        other_support,
        one_term_too_few,
        one_sided,
    ],
    "entropy": _OF_ENTROPY,
    "entropy_steps": [
        *map(_chain_to, _OF_ENTROPY),
        wrong_on_the_way,
        still_a_sum,
        nothing_but_the_end,
        definition_and_end,
    ],
    "cross_entropy": [
        log_added,
        energy_subtracted,
        without_normaliser,
        weighted_by_P,
        probability_itself,
        index_left_free,
        not_divided,
        middle_unweighted,
        roles_exchanged,
        infinite,
    ],
    "divergence": [zero_divergence, negative_divergence, entropy_forgotten, entropy_added, other_entropy, infinite],
    "reverse_cross_entropy": [
        zero_of_zeros,
        symmetric,
        minus_infinity,
        own_entropy,
        entropy_of_population,
        reverse_log_added,
        infinite_though_positive,
    ],
    "reverse_divergence": [
        zero_reverse_divergence,
        symmetric_divergence,
        minus_infinity,
        finite_divergence,
        same_as_cross_entropy,
        infinite_though_positive,
    ],
    "further": [
        smoothing_ignored,
        smoothing_unweighted,
        weights_exchanged,
        slope_upside_down,
        normaliser_constant,
        slope_of_ratio,
        grows,
        factor_lost,
        product_rule,
        log_of_inverse,
        sign_of_temperature,
        classical,
        classical_entropy,
        one_term_of_two,
        normalised_as_before,
        log_left_in_place,
        sum_of_n,
        poisson_not_normalised,
        poisson_multiplied,
        poisson_without_factorial,
        poisson_reversed,
        poisson_normaliser_forgotten,
        poisson_sign,
        one_normaliser,
        sum_of_both,
        entropy_of_one,
        entropy_squared,
    ],
}

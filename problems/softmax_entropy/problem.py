"""A softmax of energies, its entropy, cross-entropies and divergences in closed form (exam 1, problem 1)."""

from autograder import Derivation, Expression, Function, Problem, Unreadable, close, gradient
from autograder.maths import expression

from .code_inputs import DISTRIBUTIONS, ENTROPIES
from .equivalents import EQUIVALENTS
from .families import FAMILIES
from .further import KINDS, possible
from .in_code import entropies, probabilities
from .mistakes import MISTAKES
from .notation import CLOSED, FURTHER, STEPS, letters
from .populations import family_of, population_of

QUARTERS = ["1/4", "1/3", "2/5", "2/3", "3/4", "1/5"]


def draw(rng):
    """What i ranges over, the population that P is compared with, and what is asked last."""
    name = str(rng.choice(list(FAMILIES)))
    size = FAMILIES[name]().size or 8
    kinds = ["one-hot", "one-hot", "temperature", "uniform", "two points"] if size > 2 else ["one-hot", "temperature"]
    population = str(rng.choice(kinds))
    p = {"family": name, "population": population}
    if population == "uniform":
        p["count"] = int(rng.integers(2, min(size, 7))) if size > 3 else 2
    if population == "two points":
        places = sorted(int(place) for place in rng.permutation(min(size, 5))[:2])
        p |= {"places": places, "q": str(rng.choice(QUARTERS))}
    p["further"] = str(rng.choice([kind for kind in KINDS if possible(kind, FAMILIES[name]())]))
    return p | ({"share": str(rng.choice(["1/10", "1/5", "1/4", "1/20"]))} if p["further"] == "smoothing" else {})


def phrases(p):
    """The words and formulas of this variant."""
    family, population = family_of(p), population_of(p)
    number, lower, upper = family.walk
    limits = {"0": "0", "-inf": r"-\infty"}[lower], r"\infty" if upper == "inf" else upper
    return {
        "numbers": family.words,
        "energy": family.energy_latex,
        "sum": rf"\sum_{{n={limits[0]}}}^{{{limits[1]}}}",
        "number": number.strip("()").replace("*", ""),
        "example": family.total(lambda i: f"P({i})" if i == "n" else f"P{i}"),
        "population": population.words,
        "last": KINDS[p["further"]].words(p, family),
    }


# The answers. Where a part follows another, a wrong earlier answer is carried forward.


def closed_form(p):
    return family_of(p).probability()


def factor(p, softmax):
    """The student's own P(i) over e^(-beta E(i)), at the number of lowest energy; what else it does is not carried."""
    family = family_of(p)
    lowest = min(family.first, key=family.energy_of)
    return f"(sum({finite(softmax, p)}, i, {lowest}, {lowest})*e^(beta*{family.energy_at(str(lowest))}))"


def finite(answer, p):
    """The student's earlier answer; nothing follows from one that is no expression, or that is infinite."""
    if answer is not None:
        node = expression.parse(answer, domains=letters(p)).node
        if expression.contains(node, "inf"):
            raise Unreadable("infinite", "nothing follows from an infinite answer")
    return answer


def entropy_after(p, *, softmax=None):
    family = family_of(p)
    if softmax is None:
        return family.entropy("beta")
    c = factor(p, softmax)
    weights = f"{c}/{family.prefactor('e^(-beta)')}"  # their sum
    return f"-ln({c})*{weights}+beta*{family.mean('beta')}*{weights}"


def family_entropy(p):
    return family_of(p).entropy("beta")


def definition(p):
    """The definition of the entropy, which is the given line."""
    return family_of(p).total(lambda i: f"P({i})*(-ln(P({i})))")


def steps(p):
    """The whole chain, from the definition to the closed form."""
    family = family_of(p)
    energy = family.total(lambda i: f"{family.energy_at(i)}*P({i})")
    return "\n".join(
        [
            definition(p),
            family.total(lambda i: f"P({i})*(ln(Z)+beta*{family.energy_at(i)})"),
            f"ln(Z)+beta*{energy}",
            f"-ln({family.prefactor('e^(-beta)')})+beta*{energy}",
            f"-ln({family.prefactor('e^(-beta)')})+beta*{family.mean('beta')}",
            family.entropy("beta"),
        ]
    )


def cross_entropy_after(p, *, softmax=None):
    family, population = family_of(p), population_of(p)
    c = family.prefactor("e^(-beta)") if softmax is None else factor(p, softmax)
    return f"beta*{population.energy}-ln({c})"


def divergence_after(p, *, cross_entropy=None):
    return f"({finite(cross_entropy, p) or cross_entropy_after(p)})-{population_of(p).entropy}"


def reverse_cross_entropy_of(p):
    family = family_of(p)
    if population_of(p).zeros:
        return "inf"
    return f"gamma*{family.mean('beta')}-ln({family.prefactor('e^(-gamma)')})"


def reverse_after(p, *, reverse_cross_entropy=None):
    if reverse_cross_entropy is None and population_of(p).zeros:
        return "inf"
    return f"({finite(reverse_cross_entropy, p) or reverse_cross_entropy_of(p)})-({family_entropy(p)})"


def further_after(p, *, cross_entropy=None):
    earlier = finite(cross_entropy, p) or cross_entropy_after(p)
    return KINDS[p["further"]].answer(p, family_of(p), population_of(p), earlier)


IN_CODE = {"checks": [close(weight=3), gradient("beta")], "also": (), "values_only": ["hot"]}

PROBLEM = Problem(
    title="Softmax, entropy and cross-entropy in closed form",
    version=3,
    source="exam 1 of 2021, problem 1",
    draw=draw,
    phrases=phrases,
    variants=1000,
    full_model="rnn.RecurrentLanguageModel",
    task="lengths",
    mistakes=MISTAKES,
    equivalents=EQUIVALENTS,
    parts=[
        Expression("softmax", points=4, **CLOSED, reference=closed_form),
        Function("probabilities", points=2, **IN_CODE, inputs=DISTRIBUTIONS, reference=probabilities),
        Expression("entropy", points=3, follows="softmax", **CLOSED, reference=entropy_after),
        Function("entropies", points=2, **IN_CODE, inputs=ENTROPIES, reference=entropies),
        Derivation("entropy_steps", points=5, **STEPS, start=definition, reference=family_entropy, model=steps),
        Expression("cross_entropy", points=3, follows="softmax", **CLOSED, reference=cross_entropy_after),
        Expression("divergence", points=2, follows="cross_entropy", **CLOSED, reference=divergence_after),
        Expression("reverse_cross_entropy", points=1, **CLOSED, reference=reverse_cross_entropy_of),
        Expression("reverse_divergence", points=1, follows="reverse_cross_entropy", **CLOSED, reference=reverse_after),
        Expression("further", points=2, follows="cross_entropy", **FURTHER, reference=further_after),
    ],
)

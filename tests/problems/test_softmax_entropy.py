"""Softmax, entropy and cross-entropy: every family, population and last question against sums by brute force."""

import functools
import math
from fractions import Fraction
from pathlib import Path

import mpmath
import pytest

from autograder.audit.simulated_answers import handed_in, visible_check
from autograder.authoring.loading import load
from autograder.authoring.variants import variant
from autograder.grading.judge import judge_part

ROOT = Path(__file__).parents[2] / "problems"
BETAS = (0.3, 1.0, 2.5)
PROBLEM = load("softmax_entropy", ROOT)
NAMES = {
    "e": mpmath.e, "inf": mpmath.inf, "ln": mpmath.ln, "abs": abs, "floor": mpmath.floor, "sinh": mpmath.sinh,
    "cosh": mpmath.cosh, "coth": mpmath.coth, "asinh": mpmath.asinh, "sqrt": mpmath.sqrt,
    "factorial": mpmath.factorial,
}  # fmt: skip


@functools.cache
def drawn(seed):
    """The parameters of a seed; nobody changes them."""
    return variant(PROBLEM, seed).parameters


def draws(count):
    """The parameters of the first seeds."""
    return map(drawn, range(count))


def value(text, **letters):
    """The number that a reference's text stands for; our own texts only."""
    exact = {name: mpmath.mpf(letter) for name, letter in letters.items()}
    with mpmath.workdps(40):
        return float(eval(text.replace("^", "**"), {**NAMES, **exact}))


def right(p, name, **letters):
    """The official answer to a part at these numbers."""
    return value(PROBLEM.part(name).right(p), **letters)


# The distributions once more, by what their names say.


@functools.cache
def energies(name, cut):
    """The numbers that i ranges over, as far as they matter below `cut`, with their energies."""
    kind, _, last = name.rpartition(" ")
    far = int(cut) + 2
    if name == "all integers":
        return {i: Fraction(abs(i)) for i in range(-far, far)}
    if name in ("pairs", "triples"):
        size = 2 if name == "pairs" else 3
        return {i: Fraction(i // size) for i in range(far * size)}
    if kind == "offset":
        return {i: i + Fraction(last) for i in range(far)}
    match kind or name:
        case "even":
            numbers = range(0, far, 2)
        case "odd":
            numbers = range(1, far, 2)
        case "two":
            numbers = range(2)
        case "from":
            numbers = range(int(last), far + int(last))
        case "up to":
            numbers = range(int(last) + 1)
        case _:
            numbers = range(0, far, int(last))
    return {i: Fraction(i) for i in numbers}


def softmax(energy, beta):
    """P(i) by dividing weights by their sum."""
    weights = {i: math.exp(-beta * float(E)) for i, E in energy.items()}
    total = math.fsum(weights.values())
    return {i: weight / total for i, weight in weights.items()}


@functools.cache
def boltzmann(name, cut, beta):
    """The softmax of a family's energies below `cut`."""
    return softmax(energies(name, cut), beta)


@functools.cache
def two_indices(beta):
    """P(i, j) of the energy i + j."""
    return softmax({(i, j): i + j for i in range(120) for j in range(120)}, beta)


@functools.cache
def poisson(mu):
    """P(i) of mean mu, divided by its sum."""
    law = [math.exp(i * math.log(mu) - math.lgamma(i + 1)) for i in range(100)]
    return {i: x / math.fsum(law) for i, x in enumerate(law)}


def mean(P, f):
    """The average of f(i) over P; a number without weight adds nothing."""
    return math.fsum(weight * f(i) for i, weight in P.items() if weight)


def cross(Q, P):
    """H(Q, P) by its definition."""
    return mean(Q, lambda i: -math.log(P[i]) if P.get(i) else math.inf)


def population(p, cut, gamma, k):
    """Pop as a table of numbers."""
    energy = energies(p["family"], cut)
    first = {"all integers": [0, 1, -2, 3, -4, 5, -6], "pairs": [1, 4, 5, 6, 9, 11], "triples": [1, 4, 5, 6, 9, 11]}
    numbers = first.get(p["family"], sorted(energy))
    match p["population"]:
        case "one-hot":
            return {k: 1.0}
        case "uniform":
            return dict.fromkeys(numbers[: p["count"]], 1 / p["count"])
        case "two points":
            a, c = (numbers[place] for place in p["places"])
            return {a: float(Fraction(p["q"])), c: float(1 - Fraction(p["q"]))}
        case _:
            return boltzmann(p["family"], cut, gamma)


def test_every_variant_by_brute_force():
    """Each official answer of 250 draws, at three temperatures, equals the sum that it stands for."""
    seen = set()
    for p in draws(250):
        seen |= {p["family"], p["population"], p["further"]}
        for beta in BETAS:
            gamma = 1.7 * beta
            cut = 110 / beta
            energy, P = energies(p["family"], cut), boltzmann(p["family"], cut, beta)
            k = sorted(energy, key=lambda i: (energy[i], i))[1]
            Pop = population(p, cut, gamma, k)
            letters = {"beta": beta, "gamma": gamma, "k": k}
            for i in sorted(energy, key=abs)[:5]:
                assert right(p, "softmax", beta=beta, i=i) == pytest.approx(P[i], rel=1e-11)
            entropy, forward = cross(P, P), cross(Pop, P)
            assert right(p, "entropy", beta=beta) == pytest.approx(entropy, rel=1e-11)
            assert right(p, "cross_entropy", **letters) == pytest.approx(forward, rel=1e-11), p
            assert right(p, "divergence", **letters) == pytest.approx(forward - cross(Pop, Pop), rel=1e-10, abs=1e-13)
            backward = cross(P, Pop)
            assert right(p, "reverse_cross_entropy", **letters) == pytest.approx(backward, rel=1e-11)
            assert right(p, "reverse_divergence", **letters) == pytest.approx(backward - entropy, rel=1e-10)
            check_further(p, cut, beta, Pop, letters)
    assert {"from 0", "even", "two states", "all integers", "offset 1/2", "one-hot", "temperature", "uniform",
            "two points", "smoothing", "slope", "entropy slope", "fit", "entropy of mean", "growing degeneracy",
            "Poisson", "Poisson divergence", "two indices", "two indices, entropy"} <= seen  # fmt: skip


def check_further(p, cut, beta, Pop, letters):
    """The last question, by sums or by differences."""
    energy, h = energies(p["family"], cut), 1e-4
    P, *near = (boltzmann(p["family"], cut, beta + step) for step in (0, -h, h))
    number = float if p["family"].startswith("offset") else lambda i: float(energy[i])
    u = mean(P, number)
    match p["further"]:
        case "smoothing":
            share = float(Fraction(p["share"]))
            mixed = {i: (1 - share) * Pop.get(i, 0) + share * P[i] for i in P}
            assert right(p, "further", **letters) == pytest.approx(cross(mixed, P), rel=1e-11)
        case "slope":
            wanted = (cross(Pop, near[1]) - cross(Pop, near[0])) / (2 * h)
            assert right(p, "further", **letters) == pytest.approx(wanted, rel=1e-5, abs=1e-6)
        case "entropy slope":
            wanted = (cross(near[1], near[1]) - cross(near[0], near[0])) / (2 * h)
            assert right(p, "further", **letters) == pytest.approx(wanted, rel=1e-5)
        case "fit":
            assert right(p, "further", u=u) == pytest.approx(beta, rel=1e-10)
        case "entropy of mean":
            assert right(p, "further", u=u) == pytest.approx(cross(P, P), rel=1e-10)
        case kind:
            other_distribution(p, kind, beta)


def other_distribution(p, kind, beta):
    """The last questions about a distribution of their own."""
    numbers = range(400)
    if kind == "growing degeneracy":
        weights = [(i + 1) * math.exp(-beta * i) for i in numbers]
        assert right(p, "further", beta=beta, i=3) == pytest.approx(weights[3] / math.fsum(weights), rel=1e-11)
    elif kind.startswith("Poisson"):
        Q, R = poisson(beta), poisson(2.0)
        if kind == "Poisson":
            assert right(p, "further", mu=beta, i=4) == pytest.approx(Q[4], rel=1e-11)
        else:
            assert right(p, "further", mu_1=beta, mu_2=2) == pytest.approx(cross(Q, R) - cross(Q, Q), rel=1e-9)
    else:
        Q = two_indices(beta)
        if kind == "two indices":
            assert right(p, "further", beta=beta, i=2, j=1) == pytest.approx(Q[2, 1], rel=1e-10)
        else:
            assert right(p, "further", beta=beta) == pytest.approx(cross(Q, Q), rel=1e-10)


def found(wanted):
    """Parameters of a variant with these values."""
    return next(p for p in draws(4000) if all(p.get(key) == item for key, item in wanted.items()))


def standing(name, p, **answers):
    """How a part fares, where the notebook holds these answers."""
    cell = "\n".join(f"{key} = {text!r}" for key, text in answers.items())
    part = PROBLEM.part(name)
    return judge_part(part, p, handed_in(PROBLEM, part, cell), (1,))


PLAIN = {"family": "from 0", "population": "one-hot"}
SHARED = {"family": "two states", "population": "temperature"}
ROWS = [
    (PLAIN, "softmax", r"\frac{e^{-\beta i}}{\frac{1}{1-e^{-\beta}}}", "earned"),
    (PLAIN, "softmax", "(1-e^-beta) e^(-beta i)", "earned"),
    (PLAIN, "softmax", "1/(e^(beta*i)*(1+1/(e^beta-1)))", "earned"),
    (PLAIN, "softmax", "P(i)", "lost"),
    (PLAIN, "softmax", "e^(-beta*i)/Z", "lost"),
    (PLAIN, "softmax", "e^(-beta*i)/sum(e^(-beta*n), n, 0, inf)", "lost"),
    (PLAIN, "softmax", "(1-e^(-beta))*e^(-beta)^(i)+0.0001", "lost"),
    (PLAIN, "softmax", "(1-e^(-beta))*e^(-beta*i)*(1+beta/1000)", "lost"),
    (PLAIN, "softmax", "1", "lost"), (PLAIN, "softmax", "(1-e^(-beta))", "lost"),
    (PLAIN, "entropy", "beta/(e^beta-1) - ln(1 - 1/e^beta)", "earned"),
    (PLAIN, "entropy", "beta/(e^beta-1)+ln(e^beta/(e^beta-1))", "earned"),
    (PLAIN, "entropy", "1-ln(beta)+beta^2/24", "lost"), (PLAIN, "entropy", "0", "lost"),
    (PLAIN, "entropy", "inf", "lost"), (PLAIN, "entropy", "beta*i-ln(1-e^(-beta))", "lost"),
    (PLAIN, "cross_entropy", "k*beta + ln(1/(1-e^(-beta)))", "earned"),
    (PLAIN, "cross_entropy", "beta*i-ln(1-e^(-beta))", "lost"), (PLAIN, "cross_entropy", "0", "lost"),
    (PLAIN, "reverse_cross_entropy", "oo", "earned"), (PLAIN, "reverse_cross_entropy", "infinity", "earned"),
    (PLAIN, "reverse_cross_entropy", "10^308", "lost"), (PLAIN, "reverse_cross_entropy", "0", "lost"),
    (PLAIN, "reverse_cross_entropy", "-ln(0)", "lost"),
    (PLAIN, "entropy_steps", "sum(P(i)*(-ln P(i)), i, 0, inf)\n-ln(1-e^-beta)+beta/(e^beta-1)", "lost"),
    (PLAIN, "entropy_steps",
     "H(P) = E[-ln P(i)]\n= " r"\sum_{i=0}^{\infty} P(i) (\ln Z + \beta i)" "\n= ln(Z)+beta*sum(i*P(i),i,0,inf)\n"
     "= beta/(e^beta-1)-ln(1-e^(-beta))",
     "earned"),
    (PLAIN, "entropy_steps", "ln(Z)+beta*sum(i*P(i),i,0,inf)", "lost"),
    (PLAIN, "entropy_steps", "sum(P(i)*(-ln P(i)), i, 1, inf)\n-ln(1-e^-beta)+beta/(e^beta-1)", "lost"),
    ({"family": "all integers"}, "softmax", r"\frac{1-e^{-\beta}}{1+e^{-\beta}} e^{-\beta \left|i\right|}", "earned"),
    ({"family": "all integers"}, "entropy_steps",
     "sum(-P(n)*ln(P(n)), n, -inf, inf)\n-P(0)*ln(P(0))-2*sum(P(n)*ln(P(n)), n, 1, inf)\n"
     "P(0)*ln(Z)+2*sum(P(n)*ln(Z), n, 1, inf)+2*beta*sum(n*P(n), n, 1, inf)\nln(Z)+2*beta*sum(n*P(n), n, 1, inf)\n"
     "ln(coth(beta/2))+beta/sinh(beta)",
     "earned"),
    ({"family": "pairs"}, "entropy_steps",
     "sum(-P(i)*ln(P(i)), i, 0, inf)\n-2*sum(P(2n)*ln(P(2n)), n, 0, inf)\n"
     "ln(Z)+2*beta*sum(n*P(2n), n, 0, inf)\nln(2)-ln(1-e^(-beta))+beta/(e^beta-1)",
     "earned"),
    ({"family": "even"}, "softmax", "(1+cos(pi*i))/2*(1-e^(-2*beta))*e^(-beta*i)", "earned"),
    ({"family": "two states"}, "softmax", "sigma(-beta*(2i-1))", "earned"),
    ({"family": "two states"}, "softmax", "sigma(-beta*i)", "lost"),
    (SHARED, "cross_entropy", "ln(1+e^(-beta))+beta*sigma(-gamma)", "earned"),
    (SHARED, "cross_entropy", "ln(1+e^(-gamma))+gamma*sigma(-beta)", "lost"),
    (SHARED, "reverse_cross_entropy", "ln(1+e^(-gamma))+gamma*sigma(-beta)", "earned"),
    (SHARED, "reverse_cross_entropy", "inf", "lost"), (SHARED, "reverse_divergence", "inf", "lost"),
]  # fmt: skip


@pytest.mark.parametrize(("wanted", "name", "text", "verdict"), ROWS)
def test_unlisted_answers(wanted, name, text, verdict):
    """Right answers in odd dress keep all points, wrong ones lose, and none of these is held."""
    outcome = standing(name, found(wanted), **{name: text})
    assert outcome.standing == verdict, outcome.verdicts


@pytest.mark.parametrize(
    ("value", "verdict"),
    [(math.inf, "earned"), (-math.inf, "lost"), (math.nan, "held"), (0, "lost"), (True, "held"), (10**30, "lost")],
)
def test_infinity_by_its_name_in_python(value, verdict):
    """A number that is no text counts as its text, in the visible check too; what is no number is held."""
    p, part = found(PLAIN), PROBLEM.part("reverse_cross_entropy")
    cell = f"nan, inf = float('nan'), float('inf')\n{part.name} = {value!r}"
    assert judge_part(part, p, handed_in(PROBLEM, part, cell), (1,)).standing == verdict
    told = visible_check(PROBLEM, part, part.local_check(p), cell)
    assert bool(told) == (value is True or value != value), told


CARRIED = [
    ("entropy", {"softmax": "e^(-beta*i)"}, "beta*e^(-beta)/(1-e^(-beta))^2", "earned"),
    ("entropy", {"softmax": "e^(-beta*i)"}, "beta*e^(-beta)/(1-e^(-beta))", "lost"),
    ("entropy", {"softmax": "(1-e^(-beta))*e^(-beta*i)"}, "beta*e^(-beta)/(1-e^(-beta))^2", "lost"),
    ("cross_entropy", {"softmax": "e^(-beta*i)/(1-e^(-beta))"}, "beta*k+ln(1-e^(-beta))", "earned"),
    ("cross_entropy", {"softmax": "beta*e^(-beta*i)"}, "beta*k-ln(beta)", "earned"),
    ("divergence", {"cross_entropy": "beta*k"}, "beta*k", "earned"),
    ("divergence", {"cross_entropy": "beta*k"}, "beta*k+1", "lost"),
    # Nothing follows from what is no answer.
    ("entropy", {"softmax": "inf"}, "-inf", "lost"), ("entropy", {"softmax": "inf"}, "inf", "lost"),
    ("entropy", {"softmax": "1"}, "0", "lost"), ("cross_entropy", {"softmax": "1"}, "0", "lost"),
    ("entropy", {"softmax": "0"}, "0", "lost"), ("entropy", {"softmax": "1, i, 0, 0)+(1"}, "0", "lost"),
    ("cross_entropy", {"softmax": "(1-e^beta)*e^(-beta*i)"}, "0", "lost"),
    ("divergence", {"cross_entropy": "inf"}, "inf", "lost"),
    ("reverse_divergence", {"reverse_cross_entropy": "inf"}, "inf", "earned"),
    ("reverse_divergence", {"reverse_cross_entropy": "-inf"}, "-inf", "lost"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "earlier", "text", "verdict"), CARRIED)
def test_errors_carried_forward(name, earlier, text, verdict):
    """What follows from a wrong earlier answer earns; what follows from nonsense does not."""
    outcome = standing(name, found(PLAIN), **{**earlier, name: text})
    assert outcome.standing == verdict, outcome.verdicts


@pytest.mark.parametrize("end", ["", "0", "1", "beta", "e^(-beta)"])
@pytest.mark.parametrize("seed", range(0, 40, 5))
def test_the_definition_with_a_guess_under_it_earns_nothing(seed, end):
    """What the statement says already is no derivation, in any variant."""
    p = variant(PROBLEM, seed).parameters
    definition = PROBLEM.part("entropy_steps").model(p).split("\n")[0]
    outcome = standing("entropy_steps", p, entropy_steps=f"{definition}\n{end}")
    assert (outcome.standing, outcome.points) == ("lost", 0.0)


TWO = "ln(1+e^(-beta))+beta/(e^beta+1)"


@pytest.mark.parametrize(
    ("line", "points"),
    [("-ln(1/Z)*sum(P(n),n,0,1)+beta/Z*sum(n*e^(-beta*n),n,0,1)", 5), ("ln(Z)+beta*sum(n*P(n),n,0,1)", 5),
     (f"({TWO})*sum(P(n),n,0,1)", 0), (f"sum(P(n)*({TWO}),n,0,1)", 0), (f"sum(({TWO})*n,n,0,1)", 0),
     (f"sum(cases({TWO}, n=1; 0, otherwise),n,0,1)", 0), (f"({TWO})+sum(n,n,0,1)-1", 0),
     ("ln(1+e^(-beta))+sum(beta*n/(e^(beta*n)+1),n,0,1)", 0)],
)  # fmt: skip
def test_a_sum_over_two_states_stays_a_sum(line, points):
    """Its term at zero is nothing, yet it is the question's own sum; the end within a sum is the end in disguise."""
    chain = f"sum(P(n)*(-ln(P(n))), n, 0, 1)\n{line}\n{TWO}"
    outcome = standing("entropy_steps", found({"family": "two states"}), entropy_steps=chain)
    assert outcome.points == points, outcome.verdicts


def test_there_are_thousands_of_variants():
    """Every family with every population, and each of them drawn."""
    distinct = {str(sorted(p.items(), key=str)) for p in draws(6000)}
    assert len(distinct) > 2000

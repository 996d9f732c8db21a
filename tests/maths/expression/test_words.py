"""Words that students type first: counting, products, logarithms to any base, ceilings, remainders, cases, chains."""

from __future__ import annotations

import pytest

from autograder.errors import AuthorError, Unreadable
from autograder.maths import expression

NAMES = {"n": "posint", "m": "posint", "k": "nat", "x": "real", "p": "positive", "q": "gt1"}

PAIRS = [
    ("n(n+1)/2", r"\binom{n+1}{2}", "equal"),
    ("n(n+1)/2", r"{n+1 \choose 2}", "equal"),
    ("n(n+1)/2", "C(n, 2)", "different"),
    ("2^n", "sum(binom(n, k), k, 0, n)", "equal"),
    ("binom(n+m, m)", "(n+m)!/(m! n!)", "equal"),
    ("binom(x, 2)", "x(x-1)/2", "equal"),
    ("0", "binom(n, n+1)", "equal"),
    ("binom(n, m)", "binom(m, n)", "different"),
    ("n!", r"\prod_{i=1}^{n} i", "equal"),
    ("n!", "prod(i, i, 1, n-1)", "different"),
    ("1", "prod(i, i, 5, 4)", "equal"),
    ("1/2", "prod(1-1/i^2, i, 2, inf)", "undecided"),
    ("1", "prod(1/2, i, 1, 10^6)", "undecided"),
    ("ln(p)/ln(3)", r"\log_3 p", "equal"),
    ("log2(p)", "log(p, 2)", "equal"),
    ("log2(p)", "log(p, 3)", "different"),
    ("ln(p)/ln(q)", r"\log_q p", "equal"),
    ("log2(p)", "lg p", "undecided"),
    ("ln(p)/ln(q)", "lg(p)/lg(q)", "equal"),
    ("p", "lg p", "different"),
    ("-floor(-x)", "ceil(x)", "equal"),
    ("floor(x)+1", "ceil(x)", "undecided"),
    ("floor(x)", "ceil(x)", "different"),
    ("n-3floor(n/3)", "n mod 3", "equal"),
    ("n mod m", "m mod n", "different"),
    ("relu(x)", "cases(x, x >= 0; 0)", "equal"),
    ("relu(x)", "cases(x, x > 1000; 0)", "different"),
    ("relu(x)", "cases(x, x > 0; 0, x < 0)", "undecided"),
    ("cases(1, x > 0; 0)", "cases(1, x >= 0; 0)", "undecided"),
    ("n", "cases(5, n = 37; n)", "different"),
    ("n m", "cases(5, n = 37 and m = 11; n m)", "different"),
    ("n m", "cases(n^2, n = m; n m)", "equal"),
    ("1/n", "cases(1/n, n != 0; 0)", "equal"),
    ("1", "sum(cases(1, i = 3; 0), i, 1, n+2)", "equal"),
    ("x", "x + binom(n, 50000)", "different"),
    ("n", "cases(5, (n-12345)^2 = 0; n)", "different"),
    ("n", "cases(5, (n-37)(n-12345) = 0; n)", "different"),
    ("n(n-1)/2+n", "n!/(2 (n-2)!) + n", "undecided"),
    ("n(n-1)/2+n", "n!/(2 (n-9)!) + n", "different"),
    ("ln|x|", "ln x", "different"),
]


@pytest.mark.parametrize(("reference", "answer", "outcome"), PAIRS)
def test_each_word_is_decided_or_held(reference: str, answer: str, outcome: str) -> None:
    """A pair has its verdict in both orders."""
    assert expression.decide(reference, answer, domains=NAMES).outcome == outcome
    assert expression.decide(answer, reference, domains=NAMES).outcome == outcome


CHAINS = [
    ("x + 1", "equal"),
    ("y = x + 1", "equal"),
    ("f(x) = 1 + x = x + 1", "equal"),
    ("= x + 1", "equal"),
    ("dH/dx = x + 1", "equal"),
    ("∂H/∂x = x + 1,", "equal"),
    (r"\frac{\mathrm{d}H(P)}{\mathrm{d}x} = x + 1", "equal"),
    (r"\frac{d}{dx} H(P) = x + 1", "equal"),
    (r"\nabla_x H = x + 1", "equal"),
    ("H'(x) = x + 1", "equal"),
    (r"D_{KL}(P \| Q) := x + 1", "equal"),
    (r"\text{the slope} = x + 1", "equal"),
    (r"\boxed{H(P) = x + 1}", "equal"),
    (r"dH/dx = \boxed{x + 1}.", "equal"),
    ("dH/dx = x + 2", "different"),
    ("dH/dx = 2 3 x", "unreadable"),
    ("H + r = x + 1", "unreadable"),
    ("2 r = x + 1", "unreadable"),
    ("r, s = x + 1", "unreadable"),
    ("(1-r) + r x, r = x + 1", "unreadable"),
    ("r where r = x + 1", "unreadable"),
    (r"H_{max}(P) = 1 + x", "equal"),
    (r"P(w_t) = 1 + x", "equal"),
    ("y = x + 2", "different"),
    ("2x = x + 1", "undecided"),
    ("x + 1 = 2x", "undecided"),
    ("sin(x) = x + 1", "undecided"),
    ("2x = x + 1 = 3x", "undecided"),
    ("2x = 3x", "different"),
    ("x + 2 = 2 + x", "different"),
    ("2x = x + 2 = 3x", "different"),
    ("y = 2x = 3x", "different"),
]


@pytest.mark.parametrize(("answer", "outcome"), CHAINS)
def test_a_chain_is_its_last_member_if_all_are_equal(answer: str, outcome: str) -> None:
    """A name before the members is dropped; members that differ are two answers, for a person if one of them is right.

    A left side that is neither a name nor an expression of the question cannot be read.
    """
    if outcome == "unreadable":
        with pytest.raises(Unreadable):
            expression.decide("x+1", answer, domains={"x": "real"})
        return
    decision = expression.decide("x+1", answer, domains={"x": "real"})
    assert decision.outcome == outcome
    assert outcome != "undecided" or ("x + 1" in decision.message and decision.code == "chain")


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ("sum(x, i, 1, 3) = 3x", "equal"),
        ("sum(x, i, 1, 3) = 4x", "different"),
        ("3x = 4x", "undecided"),
        ("4x = 3x", "undecided"),
    ],
)
def test_the_question_before_a_wrong_end_is_no_answer(answer: str, outcome: str) -> None:
    """A member that has not the form that is asked is not the right one of two answers."""
    assert expression.decide("3x", answer, domains={"x": "real"}, forbid=["sum"]).outcome == outcome


def test_an_abbreviation_before_a_chain_is_a_name() -> None:
    """`P(i) = …` says what is asked, whatever the question calls P(i); in a product it is a member."""
    words = {"domains": {"x": "real", "i": "nat"}, "definitions": {"P(i)": "i^2"}}
    for answer, outcome in [("P(i) = x + 1", "equal"), ("P(i) = x", "different"), ("2 P(i) = x + 1", "undecided")]:
        assert expression.decide("x+1", answer, **words).outcome == outcome


def test_a_fault_behind_a_name_keeps_its_place() -> None:
    """The caret stands under what the student typed."""
    with pytest.raises(Unreadable) as refused:
        expression.parse_answer("dH/dx = x + q", domains={"x": "real"})
    assert (refused.value.column, refused.value.text) == (12, "dH/dx = x + q")


def test_a_chain_is_no_expression_by_itself() -> None:
    """A line of a derivation must not hide a step in a chain."""
    with pytest.raises(Unreadable):
        expression.parse("x = x + 1", domains={"x": "real"})


CONSTRAINED = [
    ("E-K", "abs(E-K)", (), "different"),
    ("E-K", "abs(E-K)", ("K<=E",), "equal"),
    ("E-K", "abs(E-K)+1", ("K<=E",), "different"),
    ("(1-K/E)^T", "((E-1)! (E-K)!/((E-1-K)! E!))^T", (), "different"),
    ("(1-K/E)^T", "((E-1)! (E-K)!/((E-1-K)! E!))^T", ("K<E",), "equal"),
    ("(1-K/E)^T", "((E-1)! (E-K)!/((E-1-K)! E!))^T", ("K<=E",), "undecided"),
    ("E", "max(E, 2K)", ("2K<=E",), "equal"),
    ("E", "max(E, 2K+1)", ("2K<=E",), "different"),
    ("E", "K T", ("E = K T",), "equal"),
    ("T-K", "abs(T-E)+abs(E-K)", ("K<=E", "E<=T"), "equal"),
]


@pytest.mark.parametrize(("reference", "answer", "constraints", "outcome"), CONSTRAINED)
def test_points_respect_the_constraints(
    reference: str, answer: str, constraints: tuple[str, ...], outcome: str
) -> None:
    """Answers are compared where the question says that its variables live."""
    domains = dict.fromkeys(("E", "K", "T"), "posint")
    assert expression.decide(reference, answer, domains=domains, constraints=constraints).outcome == outcome


def test_a_constraint_that_cannot_be_read_is_the_authors() -> None:
    """The sentence names the constraint."""
    with pytest.raises(AuthorError, match="K<<E"):
        expression.decide("K", "K", domains={"K": "posint", "E": "posint"}, constraints=["K<<E"])


@pytest.mark.parametrize("text", [row[1] for row in PAIRS] + [row[0] for row in PAIRS])
def test_what_is_shown_reads_back(text: str) -> None:
    """The ASCII and the LaTeX of a tree are read as the same tree."""
    tree = expression.parse(text, domains=NAMES)
    for shown in (expression.to_text(tree), expression.to_latex(tree)):
        assert expression.parse(shown, domains=NAMES).node == tree.node


def test_letters_that_spell_a_new_word_are_a_product_or_two_ways() -> None:
    """`lb` with l and b declared is held, not a logarithm; C is a variable where it is declared."""
    with pytest.raises(Unreadable, match="one word or a product"):
        expression.parse("lb(x)", domains=dict.fromkeys("lbx", "real"))
    assert expression.decide("C*(n+1)", "C(n+1)", domains={"C": "real", "n": "posint"}).equal


NAMED = [
    (r"\frac{dH}{d\beta} = 2 beta", "equal"),
    (r"\frac{dH(P)}{d\beta} = 2 \beta", "equal"),
    ("dH/dbeta = 2 beta", "equal"),
    ("P(i) = 2 beta", "equal"),
    ("Z = 2 beta = beta + beta", "equal"),
    ("dH/dbeta = 3 beta", "different"),
    ("P(i) = 3 beta", "different"),
    ("P(i) = beta = 2 beta", "undecided"),
    ("2 P(i) = 2 beta", "undecided"),
]


@pytest.mark.parametrize(("answer", "outcome"), NAMED)
def test_what_is_asked_may_stand_before_the_answer(answer: str, outcome: str) -> None:
    """A derivative, or an abbreviation alone, names what is asked; anything else is a member of the chain."""
    given = {"Z": "1/(1-e^(-beta))", "P(j)": "e^(-beta*j)/Z"}
    domains = {"beta": "positive", "i": "nat"}
    assert expression.decide("2 beta", answer, domains=domains, definitions=given).outcome == outcome

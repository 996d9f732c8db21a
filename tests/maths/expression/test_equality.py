"""Equal, different or undecided: tables of cases on both sides of every rule."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from autograder.maths import expression

CASES = Path(__file__).parents[2] / "data" / "cases" / "expression.jsonl"
ROWS = [json.loads(line) for line in CASES.read_text().splitlines()]


@pytest.mark.parametrize("row", ROWS, ids=[f"{row['reference']} | {row['answer']}" for row in ROWS])
def test_case_file(row: dict[str, Any]) -> None:
    """Every row of the case file has the verdict it names."""
    decision = expression.decide(
        row["reference"], row["answer"], domains=row.get("domains", {}), constraints=row.get("constraints", ())
    )
    assert decision.outcome == ("equal" if row["verdict"] else "different")


# The exam's softmax over -beta i and its variants, in the notation of the marking scheme.
DOMAINS = {
    "b": "positive",
    "i": "nat",
    "k": "nat",
    "m": "posint",
    "N": "nat",
    "mu": "positive",
    "mu1": "positive",
}
DOMAINS |= {"mu2": "positive", "g": "positive", "j": "nat"}

PROBABILITY = "(1-exp(-b))*exp(-b*i)"
ENTROPY = "-log(1-exp(-b))+b*exp(-b)/(1-exp(-b))"
CROSS = "b*k-log(1-exp(-b))"
ACCEPTED = {
    PROBABILITY: [
        "exp(-b*i)-exp(-b*(i+1))",
        "(exp(b)-1)*exp(-b*(i+1))",
        "2*sinh(b/2)*exp(-b*(i+1/2))",
        "exp(-b*i)*tanh(b/2)*(1+exp(-b))",
        "(1-exp(-b))/exp(b)**i",
        "exp(-b*i+log(1-exp(-b)))",
        r"\left(1-e^{-b}\right)e^{-bi}",
        "e^(-bi)(1-e^-b)",
        "(1-e^(-b)) / e^(b i)",
        "1/(sum(e^(-b k), k, 0, inf) e^(b i))",
    ],
    ENTROPY: [
        "-log(1-exp(-b))+b/(exp(b)-1)",
        "b*exp(b)/(exp(b)-1)-log(exp(b)-1)",
        "(b/2)*coth(b/2)-log(2*sinh(b/2))",
        "(1+1/(exp(b)-1))*log(1+1/(exp(b)-1))-1/(exp(b)-1)*log(1/(exp(b)-1))",
        "(-(1-exp(-b))*log(1-exp(-b))+exp(-b)*b)/(1-exp(-b))",
        r"-\ln(1-e^{-b}) + \frac{b e^{-b}}{1-e^{-b}}",
        "b/(e^b-1) - ln(1-1/e^b)",
        "ln2*(-log2(1-exp(-b))) + b/(exp(b)-1)",
    ],
    CROSS: [
        "b*(k+1)-log(exp(b)-1)",
        "b*(k+1/2)-log(2*sinh(b/2))",
        "-log((1-exp(-b))*exp(-b*k))",
        "-log(exp(-b*k)-exp(-b*(k+1)))",
    ],
    "(1-exp(-m*b))*exp(-b*i)": ["exp(-b*i)-exp(-b*(i+m))"],
    "(1-exp(-b))*exp(-b*i)/(1-exp(-b*(N+1)))": ["exp(-b*i)/sum(exp(-b*j),j,0,N)"],
    "log((1-exp(-b*(N+1)))/(1-exp(-b)))+b*(1/(exp(b)-1)-(N+1)/(exp(b*(N+1))-1))": [
        "log(sum(exp(-b*j),j,0,N)) + b*sum(j*exp(-b*j),j,0,N)/sum(exp(-b*j),j,0,N)"
    ],
    "exp(-b*i)/(1+exp(-b))": ["e^(-b i)*sigma(b)"],
    "log(1+exp(-b))+b/(exp(b)+1)": ["softplus(-b)+b*sigma(-b)"],
    "tanh(b/2)*exp(-b*abs(i))": ["(1-e^-b)/(1+e^-b)*e^(-b|i|)"],
    "log(coth(b/2))+b/sinh(b)": ["-ln(tanh(b/2)) + 2b/(e^b-e^-b)"],
    "(i+1)*(1-exp(-b))**2*exp(-b*i)": ["(i+1)*e^(-b*i)/sum((j+1)*e^(-b*j),j,0,inf)"],
    "(1-exp(-b))*exp(-b*floor(i/2))/2": ["(1-e^-b)/(2*e^(b*floor(i/2)))"],
    "exp(-mu)*mu**i/factorial(i)": ["mu^i/(i! e^mu)", "mu^i/i!/sum(mu^j/j!,j,0,inf)"],
    "mu1*log(mu1/mu2)+mu2-mu1": ["mu2-mu1*(1+ln(mu2/mu1))"],
    "(m+1)*log(m+1)-m*log(m)": ["ln(m+1)+m*ln((m+1)/m)", "m*ln(1+1/m)+ln(1+m)"],
    "log(1+1/m)": ["ln(m+1)-ln m"],
    "b*N/2-log(1-exp(-b))": ["sum(b*j-ln(1-e^-b),j,0,N)/(N+1)"],
    "-log(1-exp(-g))+g/(exp(b)-1)": ["sum((1-e^-b)e^(-b*j)*(g*j-ln(1-e^-g)),j,0,inf)"],
    "log((1-exp(-b))/(1-exp(-g)))+(g-b)/(exp(b)-1)": ["ln(1-e^-b)-ln(1-e^-g)+(g-b)/(e^b-1)"],
    "b*(0.3*2+0.7*5)-log(1-exp(-b))": ["4.1b - ln(1-e^-b)"],
    "0.9*(3*b-log(1-exp(-b)))+0.1*(-log(1-exp(-b))+b/(exp(b)-1))": ["2.7b-ln(1-e^-b)+b/(10*(e^b-1))"],
    "k-1/(exp(b)-1)": ["k-e^-b/(1-e^-b)"],
}
REFUSED = {
    PROBABILITY: [
        "exp(-b*i)/(1-exp(-b))",
        "exp(-b*i)",
        "(1-exp(b))*exp(-b*i)",
        "(1-b)*b**i",
        "b*exp(-b*i)",
        "(1-exp(-b*i))*exp(-b*i)",
        "(1-exp(-b))*exp(b*i)",
        "exp(-b*i)/(1+exp(-b))",
        "(1-exp(-b))**i*exp(-b)",
        "(1-exp(-b))*exp(-b*k)",
        "1-exp(-b)*exp(-b*i)",
    ],
    ENTROPY: [
        "log(1-exp(-b))+b*exp(-b)/(1-exp(-b))",
        "-log(1-exp(-b))+b*exp(-b)/(1-exp(-b))**2",
        "-log(1-exp(-b))+b*exp(-b)",
        "-log(1-exp(-b))+exp(-b)/(1-exp(-b))",
        "-log(1-exp(-b))-b*exp(-b)/(1-exp(-b))",
        "1-log(b)",
        "1-log(b)+b^2/24",
        "(-log(1-exp(-b))+b*exp(-b)/(1-exp(-b)))/log(2)",
        "b*exp(-b)/(1-exp(-b))",
        "-log(1-exp(-b))+b*exp(b)/(1-exp(b))",
    ],
    CROSS: [
        "b*k+log(1-exp(-b))",
        "-b*k-log(1-exp(-b))",
        "b*k",
        "(1-exp(-b))*exp(-b*k)*(b*k-log(1-exp(-b)))",
        "exp(-b*k)*(1-exp(-b))",
        "b*i-log(1-exp(-b))",
    ],
    "inf": ["0", "-log((1-exp(-b))*exp(-b*k))", "-inf", "1/0", "10^308", "-ln(0)", "inf-inf", "0*inf", "b*k"],
    "-log(1-exp(-2*b))+2*b/(exp(2*b)-1)": [ENTROPY, "2*(-log(1-exp(-b))+b/(exp(b)-1))"],
    "(i+1)*(1-exp(-b))**2*exp(-b*i)": ["i*(1-exp(-b))**2*exp(-b*i)"],
    "exp(-mu)*mu**i/factorial(i)": ["exp(-mu)*mu**i", "exp(-mu)*mu**i/i^i"],
    "(m+1)*log(m+1)-m*log(m)": ["(m+1)*log(m+1)", "log(m+1)"],
}
PAIRS = [(key, answer, "equal") for key, answers in ACCEPTED.items() for answer in (key, *answers)]
PAIRS += [(key, answer, "different") for key, answers in REFUSED.items() for answer in answers]


@pytest.mark.parametrize(("reference", "answer", "outcome"), PAIRS)
def test_exam_and_its_variants(reference: str, answer: str, outcome: str) -> None:
    """Equivalent forms of every variant keep their points, each typical mistake is told apart."""
    assert expression.decide(reference, answer, domains=DOMAINS).outcome == outcome


PASTED = {
    PROBABILITY: [
        r"\frac{e^{-\beta i}}{\sum_{j=0}^{\infty} e^{-\beta j}}",
        "(1 - exp(-beta)) * exp(-beta * i)",
        r"$e^{-\beta i}(1-e^{-\beta})$",
        "e^{-βi} − e^{−β(i+1)}",
        r"\exp\left(-\beta i\right)\left(1-\exp(-\beta)\right)",
        r"\left[1-e^{-\beta}\right]e^{-i\beta}",
        "(1-e**-beta)*e**(-beta*i)",
        "np.exp(-beta*i)*(1-np.exp(-beta))",
        r"\frac{1-e^{-\beta}}{e^{\beta i}}",
        "(1-1/e^β)/e^(βi)",
        "(1-e^(-beta))(e^(-beta))^i",
        "P(i)",
    ],
    ENTROPY: [
        r"-\ln(1-e^{-\beta}) + \beta \frac{e^{-\beta}}{1-e^{-\beta}}",
        "β/(e^β−1) − ln(1−e^(−β))",
        r"\ln\frac{1}{1-e^{-\beta}} + \frac{\beta}{e^{\beta}-1}",
        r"-\sum_{i=0}^\infty P(i) \ln P(i)",
        r"\sum_{k=0}^{\infty} -P(k)\ln(P(k))",
        r"\sum\limits_{i=0}^{\infty}P(i)\left(\beta i-\ln(1-e^{-\beta})\right)",
        r"-\log(1-e^{-\beta})+\tfrac{\beta}{e^\beta-1}",
    ],
}


@pytest.mark.parametrize(("key", "answer"), [(key, answer) for key in PASTED for answer in PASTED[key]])
def test_answers_as_they_are_typed_and_pasted(key: str, answer: str) -> None:
    """Python, LaTeX and formula editors' letters are all read as the same answer."""
    names = {"beta": "positive", "i": "nat"}
    given = {"P(i)": "(1-e^(-beta))*e^(-beta*i)"}
    reference = key.replace("b", "beta")
    assert expression.decide(reference, answer, domains=names, definitions=given).equal


NAMES = {
    **dict.fromkeys(("x", "y", "z", "t"), "real"),
    **dict.fromkeys(("a", "b", "s"), "positive"),
    **dict.fromkeys(("n", "k"), "nat"),
    "m": "int",
    "J": "posint",
    "I": "posint",
    "p": "unit",
    "q": "unit",
    "r": "gt1",
    "u": "[-1,1]",
    "w": "complex",
    "v": "complex",
}

# Identities of deep learning, and what looks like them.
LEARNING = [
    ("softplus(x)", "ln(1+e^x)", "equal"),
    ("softplus(x)", "relu(x)+ln(1+e^(-|x|))", "equal"),
    ("softplus(x)", "-ln(sigma(-x))", "equal"),
    ("softplus(x)-softplus(-x)", "x", "equal"),
    ("softplus(x)", "relu(x)", "different"),
    ("sigma(-x)", "1-sigma(x)", "equal"),
    ("sigma(x)", "(1+tanh(x/2))/2", "equal"),
    ("sigma(x)", "(1+tanh(x))/2", "different"),
    ("sigma(x)*(1-sigma(x))", "1/(4*cosh(x/2)^2)", "equal"),
    ("sigma(x)*(1-sigma(x))", "sigma(x)-sigma(x)^2", "equal"),
    ("sigma(x)*(1-sigma(x))", "sigma(x)*sigma(-x)", "equal"),
    ("sigma(x)*(1-sigma(x))", "x*(1-x)", "different"),
    ("1-tanh(x)^2", "sech(x)^2", "equal"),
    ("1-tanh(x)^2", "4/(e^x+e^-x)^2", "equal"),
    ("1-tanh(x)^2", "(1-tanh(x))^2", "different"),
    ("tanh(x)", "(e^x-e^-x)/(e^x+e^-x)", "equal"),
    ("tanh(x)", "(1-e^(2x))/(1+e^(2x))", "different"),
    ("relu(x)", "(x+|x|)/2", "equal"),
    ("relu(x)", "x*sigma(10^6*x)", "different"),
    ("relu(x)", "x", "different"),
    ("relu(x)", "|x|", "different"),
    ("relu(x)+relu(-x)", "|x|", "equal"),
    ("max(x,y)", "(x+y+|x-y|)/2", "equal"),
    ("max(x,y)", "y+relu(x-y)", "equal"),
    ("max(x,y)+min(x,y)", "x+y", "equal"),
    ("max(x,y,z)", "max(max(z,x),y)", "equal"),
    ("ln(e^x+e^y+e^z)", "x+ln(1+e^(y-x)+e^(z-x))", "equal"),
    ("ln(e^x+e^y)", "max(x,y)", "different"),
    ("e^x/(e^x+e^y+e^z)", "1/(1+e^(y-x)+e^(z-x))", "equal"),
    ("e^x/(e^x+e^y+e^z)", "e^(x+t)/(e^(x+t)+e^(y+t)+e^(z+t))", "equal"),
    ("e^x/(e^x+e^y+e^z)", "e^x/(e^x+e^y)", "different"),
    ("-p ln p - (1-p) ln(1-p)", "ln(1/(1-p)) + p ln((1-p)/p)", "equal"),
    ("-p ln p - (1-p) ln(1-p)", "-p log2 p - (1-p) log2(1-p)", "different"),
    ("-p log2 p - (1-p) log2(1-p)", "-(p ln p + (1-p) ln(1-p))/ln 2", "equal"),
    ("p ln(p/q)+(1-p) ln((1-p)/(1-q))", "q ln(q/p)+(1-q) ln((1-q)/(1-p))", "different"),
    ("p ln(p/q)+(1-p) ln((1-p)/(1-q))", "p ln p - p ln q + (1-p) ln(1-p) - (1-p) ln(1-q)", "equal"),
    ("ln(p/(1-p))", "-ln(1/p-1)", "equal"),
    ("x/3", "0.33333x", "different"),
    ("x", "1.0005x", "different"),
    ("asinh(x)", "ln(x+sqrt(x^2+1))", "equal"),
    ("asinh(x)", "ln(x+sqrt(x^2-1))", "different"),
    ("J/sqrt(J)", "sqrt(J)", "equal"),
    ("1/sqrt(I)", "I^(-1/2)", "equal"),
    ("1/sqrt(I)", "1/sqrt(J)", "different"),
    ("2*I*J-I^2", "I*(2J-I)", "equal"),
    ("10000^(-2n/J)", "e^(-2n ln(10000)/J)", "equal"),
    ("10000^(-2n/J)", "10000^(-n/J)", "different"),
    ("cos(a*t)^2-sin(a*t)^2", "cos(2a*t)", "equal"),
    ("x*sigma(x)+1-sigma(x)", "1+(x-1)*sigma(x)", "equal"),
]

# One rule of the language after the other, from both sides.
RULES = [
    # where an expression is defined
    ("ln(x+3)", "ln|x+3|", "different"),
    ("ln|x+3|", "ln(x+3)", "different"),
    ("ln(x^2)", "2 ln x", "different"),
    ("ln(x^2)", "2 ln|x|", "equal"),
    ("ln(x y)", "ln x + ln y", "different"),
    ("ln(a b)", "ln a + ln b", "equal"),
    ("x", "sqrt(x)^2", "different"),
    ("a", "sqrt(a)^2", "equal"),
    ("|x|", "sqrt(x^2)", "equal"),
    ("x", "sqrt(x^2)", "different"),
    ("a", "sqrt(a^2)", "equal"),
    ("sqrt(x)*sqrt(x-1)", "sqrt(x*(x-1))", "different"),
    ("ln x", "-ln(1/x)", "equal"),
    ("ln(-a)", "ln(-a)", "undecided"),
    ("1", "1/0", "different"),
    ("1", "0*ln(0)", "different"),
    ("1/0", "1/0", "undecided"),
    ("x+1", "(x^2-1)/(x-1)", "equal"),
    ("n", "n^2/n", "undecided"),
    ("J", "J^2/J", "equal"),
    ("1/(n-n)", "1/(n-n)", "undecided"),
    ("r", "|r|", "equal"),
    ("sqrt(1-u^2)", "sqrt(1-u)*sqrt(1+u)", "equal"),
    ("ln(r-1)", "ln|r-1|", "equal"),
    ("ln(r-2)", "ln|r-2|", "different"),
    # powers
    ("x^0", "1", "equal"),
    ("0^n", "0", "different"),
    ("n^n", "n^(n+1)/n", "undecided"),
    ("x^(1/3)", "|x|^(1/3)", "different"),
    ("(x^2)^(1/2)", "x", "different"),
    ("(-1)^n", "cos(pi*n)", "equal"),
    ("(-1)^m", "cos(m*pi)", "equal"),
    ("(-1)^m", "(-1)^(-m)", "equal"),
    ("(-1)^x", "cos(pi*x)", "different"),
    ("(-1)^n", "1", "different"),
    ("((-1)^n)^2", "1", "equal"),
    ("(-8)^(1/3)", "-2", "different"),
    ("8^(1/3)", "2", "equal"),
    ("(a b)^n", "a^n b^n", "equal"),
    ("(a b)^x", "a^x b^x", "equal"),
    ("(x y)^n", "x^n y^n", "equal"),
    ("a^(x^y)", "(a^x)^y", "different"),
    ("a^x", "e^(x ln a)", "equal"),
    ("e^(2x)", "e^x^2", "different"),
    ("e^2 x", "x e^2", "equal"),
    # integers against reals
    ("sin(pi*n)", "0", "equal"),
    ("sin(pi*x)", "0", "different"),
    ("sin(pi*n/2)", "0", "different"),
    ("sin(2*pi*n+x)", "sin(x)", "equal"),
    ("floor(n)", "n", "equal"),
    ("floor(x)", "x", "different"),
    ("floor(n/2)+floor((n+1)/2)", "n", "equal"),
    ("(1-(-1)^n)/2", "n-2*floor(n/2)", "equal"),
    ("n*(n-1)*(n-2)*(n-3)*(n-4)", "0", "different"),
    ("n!", "n*(n-1)!", "undecided"),
    ("(n+1)!", "(n+1)*n!", "equal"),
    ("min(n, 1)", "1-0^n", "equal"),
    ("min(n, 500)", "n", "different"),
    ("relu(m)", "relu(m)*1^m", "equal"),
    # zero
    ("sin(x)^2+cos(x)^2-1", "0", "equal"),
    ("ln(a)+ln(1/a)", "0", "equal"),
    ("ln(a)+ln(1/a)", "10^(-50)", "different"),
    ("relu(sin x)", "(|sin x|+sin x)/2", "equal"),
    ("0", "e^(-10000)", "different"),
    ("0", "1+e^(-10000)-1", "undecided"),
    # differences too small for a careless precision
    ("x", "x+10^(-40)", "different"),
    ("sin x", "sin x+10^(-40)", "different"),
    ("sin x", "sin x+10^(-400)", "different"),
    ("sin x", "sin x+e^(-3000)", "different"),
    ("sin x", "sin x+e^(-10000)", "undecided"),
    ("sin x", "(1+e^(-10000))*sin x", "undecided"),
    ("1", "tanh(1000)", "different"),
    ("1", "tanh(10^6)", "undecided"),
    ("1", "sigma(10^9)", "undecided"),
    ("1", "cos(e^(-1000))", "different"),
    ("1", "e^(e^(-1000))", "different"),
    ("1", "coth(10^6)", "undecided"),
    ("sin(e^(-9000))", "e^(-9000)", "undecided"),
    ("sinh(10^6)", "cosh(10^6)", "undecided"),
    ("pi", "3.14159265358979323846264338327950288420", "different"),
    ("e", "(1+1/10^30)^(10^30)", "different"),
    ("e^(pi*sqrt(163))", "640320^3+744", "different"),
    # large numbers
    ("2^2005", "2^2005+1", "different"),
    ("2^20050", "2^20050+1", "different"),
    ("2^2005", "4^1002*2", "equal"),
    ("2^(10^9)", "2^(10^9)+1", "undecided"),
    ("100!", "100*99!", "equal"),
    ("62683136", "62683137", "different"),
    ("0.1+0.2", "0.3", "equal"),
    ("1/3", "0.3333333333", "different"),
    # pieces far away or narrow
    ("x", "x+relu(x-1000)", "different"),
    ("x", "x+relu(-x-5000)", "different"),
    ("x", "x+relu(x-1000)-relu(x-1001)", "different"),
    ("x", "x+relu(x^2-10^6)", "different"),
    ("x", "max(x,-10^9)", "different"),
    ("x", "min(x, y+10^6)", "different"),
    ("|x-100|", "|x-100.001|", "different"),
    ("p", "max(p, 10^(-5))", "different"),
    ("p", "min(p, 0.9999)", "different"),
    ("relu(sin x)", "relu(sin x)+e^(-6000)*relu(-sin x)", "different"),
    ("n", "n+floor(n/10^6)", "different"),
    ("n", "n+0^(n-600)", "different"),
    ("x", "x+sin(16777216*pi*x)", "different"),
    # an isolated point of a continuous domain does not count, also where it is a plain number
    ("2x+3", "(4x^2-9)/(2x-3)", "equal"),
    ("2x-5", "(4x^2-25)/(2x+5)", "equal"),
    ("1+4p", "(1-16p^2)/(1-4p)", "equal"),
    ("floor(2x)+floor(-2x)", "-1", "undecided"),
    ("floor(n)+floor(-n)", "-1", "different"),
    ("x/|x|", "2*relu(x)/x-1", "equal"),
    # infinities
    ("inf", "2*inf", "equal"),
    ("inf", "inf+99", "equal"),
    ("inf", "a*inf", "equal"),
    ("inf", "x*inf", "different"),
    ("inf", "|x|*inf", "equal"),
    ("inf", "max(x, inf)", "equal"),
    ("inf", "10^308", "different"),
    ("inf", "e^inf", "equal"),
    ("0", "e^(-inf)", "equal"),
    ("0", "1/inf", "equal"),
    ("1", "inf/inf", "different"),
    ("inf", "inf^2", "equal"),
    ("-inf", "-inf", "equal"),
    ("-inf", "ln(0)", "different"),
    # complex numbers: branches
    ("e^(ln w)", "w", "equal"),
    ("ln(e^w)", "w", "different"),
    ("sqrt(w^2)", "w", "different"),
    ("ln(w^2)", "2 ln w", "different"),
    ("ln(w v)", "ln w+ln v", "different"),
    ("(w a)^(1/2)", "w^(1/2) a^(1/2)", "equal"),
    ("(w v)^(1/2)", "w^(1/2) v^(1/2)", "different"),
    ("e^(w+v)", "e^w e^v", "equal"),
    ("sin(w)^2+cos(w)^2", "1", "equal"),
    ("w^2-v^2", "(w-v)(w+v)", "equal"),
    ("|w v|", "|w||v|", "equal"),
    ("inf/w", "inf", "different"),
    ("|w+v|", "|w|+|v|", "different"),
    ("|w|^2", "w^2", "different"),
    ("w", "w+e^(-3000)", "different"),
    ("w", "w+e^(-10000)", "undecided"),
    ("w", "w*tanh(10^6)", "undecided"),
    ("tanh(w)", "(e^(2w)-1)/(e^(2w)+1)", "equal"),
    ("sigma(w)+sigma(-w)", "1", "equal"),
]


@pytest.mark.parametrize(("reference", "answer", "outcome"), LEARNING + RULES)
def test_both_sides_of_every_rule(reference: str, answer: str, outcome: str) -> None:
    """A pair has its verdict in both orders."""
    assert expression.decide(reference, answer, domains=NAMES).outcome == outcome
    assert expression.decide(answer, reference, domains=NAMES).outcome == outcome


# Pieces that no point shows, beside pieces that some points show or that cannot be there.
PIECES = [
    ("x", "x+floor(1/(1+(x-12345)^2))", "undecided"),
    ("x", "x+floor(1/(2+(x-12345)^2))", "equal"),
    ("x", "x+floor(1-10^-40+10^-40/(1+(x-12345)^2))-0", "undecided"),
    ("x", "x+0^|x-123456789|", "undecided"),
    ("x", "x+0^((x-123456789)^2)", "undecided"),
    ("x", "x+0^((x-123456789)^2+1)", "equal"),
    ("x", "x+relu(1-(x-12345)^2)", "undecided"),
    ("x", "x+relu(-1-(x-12345)^2)", "equal"),
    ("x", "x+relu(-(x-12345)^2)", "equal"),
    ("x", "x+relu(10^-40-(x-12345)^2)", "undecided"),
    ("1", "min(1, e^(x^2))", "equal"),
    ("1", "min(1, cosh(x))", "equal"),
    ("1", "max(1, tanh(x))", "equal"),
    ("1", "min(1, sqrt(1+x^2))", "equal"),
    ("1", "min(1, 1+(x-12345)^2)", "equal"),
    ("1", "min(1, 1-10^-40+(x-12345)^2)", "undecided"),
    ("1", "min(1, 0.99999999999999999999999999+(x-12345)^2)", "undecided"),
    ("1", "min(1, 2^n)", "equal"),
    ("1", "cases(1, x^2 >= 0; x, otherwise)", "equal"),
    ("1", "cases(1, (x-12345)^2 > 0; x, otherwise)", "undecided"),
    ("x", "x+relu(x-10^50)", "undecided"),
    ("x", "x+relu(relu(x-10^50)-1)", "undecided"),
    ("x", "x+|x-10^50|+(x-10^50)", "undecided"),
    ("x", "x+sqrt((x-10^50)^2)+(x-10^50)", "undecided"),
    ("x", "x+max(x,10^50)-10^50", "undecided"),
    ("relu(x)", "relu(x)+relu(x-10^50)", "undecided"),
    ("n", "n+floor(n/10^15)", "undecided"),
    ("floor(n/2)", "floor(n/2)+floor(n/10^15)", "undecided"),
    ("x+floor(x)", "x+floor(x)+floor(1/(1+(x-12345)^2))", "undecided"),
    ("floor(x^2)", "floor(x^2+1)-1", "equal"),
    ("floor(n/2)", "floor((n+2)/2)-1", "equal"),
    ("n", "n+relu(n-10^50)", "undecided"),
    ("n", "n+sum(1,i,10^15,n)", "undecided"),
    ("n(n+1)/2", "sum(i,i,1,n)", "equal"),
    ("n", "n+sum(floor(i/10^15),i,0,n)", "undecided"),
    ("x+y", "x+y+relu(x-1000)*relu(y-1000)", "undecided"),
    ("x+y", "x+y+relu(-x^2)*relu(y-1000)", "equal"),
    ("n", "max(n,0)", "equal"),
    ("n", "max(n,-10^50)", "equal"),
    ("n", "|n|", "equal"),
    ("n", "sqrt(n^2)", "equal"),
    ("x^2+1", "|x^2+1|", "equal"),
    ("|x|", "sqrt(x^2)", "equal"),
    ("p", "min(p,1)", "equal"),
    ("1-0^n", "min(n,1)", "equal"),
]


@pytest.mark.parametrize(("reference", "answer", "outcome"), PIECES)
def test_pieces_that_no_point_shows(reference: str, answer: str, outcome: str) -> None:
    """An answer with a case of its own that was never met is not called equal; one whose cases were all met is."""
    assert expression.decide(reference, answer, domains=NAMES).outcome == outcome


SUMS = [
    ("1/(1-p)", "sum(p^k, k, 0, inf)", "equal"),
    ("p/(1-p)^2", "sum(k*p^k, k, 0, inf)", "equal"),
    ("p*(1+p)/(1-p)^3", "sum(k^2*p^k, k, 0, inf)", "equal"),
    ("p/(1-p)", "sum(p^k, k, 1, inf)", "equal"),
    ("p^3/(1-p)", "sum(p^k, k, 3, inf)", "equal"),
    ("p^n/(1-p)", "sum(p^k, k, n, inf)", "equal"),
    ("1/(1-p)", "sum(p^k, k, 1, inf)", "different"),
    ("1/(1+p)", "sum((-p)^k, k, 0, inf)", "equal"),
    ("-ln(1-p)", "sum(p^k/k, k, 1, inf)", "equal"),
    ("-ln(1-p)", "sum(p^k/(k+1), k, 1, inf)", "different"),
    ("e^x", "sum(x^k/factorial(k), k, 0, inf)", "equal"),
    ("e^x", "sum(x^k/factorial(k), k, 1, inf)", "different"),
    ("e^x", "sum(x^k/factorial(k), k, 0, 50)", "different"),
    ("cos(x)", "sum((-1)^k*x^(2k)/factorial(2k), k, 0, inf)", "equal"),
    ("cos(x)", "sum((-1)^k*x^(2k)/factorial(2k+1), k, 0, inf)", "different"),
    ("n*(n+1)/2", "sum(k, k, 0, n)", "equal"),
    ("n*(n-1)/2", "sum(k, k, 0, n)", "different"),
    ("(n*(n+1)/2)^2", "sum(k^3, k, 1, n)", "equal"),
    ("2^n", "sum(n!/(k!*(n-k)!), k, 0, n)", "equal"),
    ("(1-x^(n+1))/(1-x)", "sum(x^k, k, 0, n)", "equal"),
    ("0", "sum(k, k, 5, 4)", "equal"),
    ("1", "sum(sigma(-b)*sigma(b)^k, k, 0, inf)", "equal"),
    ("1", "sum(e^x, k, 0, inf)", "different"),
    ("x", "sum(2^k, k, 0, inf)", "different"),
    ("x", "sum(x, k, 1/2, 3)", "different"),
    ("pi^2/6", "sum(1/k^2, k, 1, inf)", "undecided"),
    ("e^x", "sum(x^k/k!, k, 0, 200)", "different"),
    ("sum(e^(-k^2), k, 0, inf)", "sum(e^(-k^2), k, 0, 30)", "different"),
    ("sum(e^(-k^2), k, 0, inf)", "sum(e^(-k^2), k, 0, 80)", "undecided"),
    ("1/(1-p)", "sum(p^k+e^(-3000)*p^k, k, 0, inf)", "different"),
    ("1/(1-p)", "sum(p^k+e^(-9000)*p^k, k, 0, inf)", "undecided"),
    ("1/(1-p)", "sum(p^k, k, 0, 10^6)", "different"),
    ("b+b^2", "sum(k^2*e^(-b)*b^k/k!, k, 0, inf)", "equal"),
    ("(p^(n+1)-(1/3)^(n+1))/(p-1/3)", "sum(p^k*(1/3)^(n-k), k, 0, n)", "equal"),
    ("n*(n+1)*(2n+1)*(3n^2+3n-1)/30", "sum(k^4, k, 1, n)", "equal"),
    ("sum(p^k*ln(k+1), k, 0, inf)", "p*sum(p^k*ln(k+2), k, 0, inf)", "equal"),
    ("sum(e^(-b*k^2), k, 1, inf)", "sum(e^(-b*(k+1)^2), k, 0, inf)", "equal"),
    ("sum(sum(j*k, j, 1, k), k, 1, n)", "sum(k^2*(k+1)/2, k, 1, n)", "equal"),
    ("1/(1-p)^2", "sum(sum(p^k, j, 0, k), k, 0, inf)", "undecided"),
]


@pytest.mark.parametrize(("reference", "answer", "outcome"), SUMS)
def test_sums(reference: str, answer: str, outcome: str) -> None:
    """Sums are compared with a certified tail; what converges too slowly goes to a person."""
    names = {name: NAMES[name] for name in ("p", "x", "n", "b")}
    assert expression.decide(reference, answer, domains=names | {"x": "[-3,3]"}).outcome == outcome


def test_tolerance() -> None:
    """Rounded decimals are accepted only where the question asks for decimals, relative to the reference."""
    assert not expression.decide("x/3", "0.33333x", variables=["x"]).equal
    assert expression.decide("x/3", "0.33333x", variables=["x"], tolerance=1e-4).equal
    assert not expression.decide("x/3", "0.333x", variables=["x"], tolerance=1e-4).equal
    assert expression.decide("ln 2", "0.6931", tolerance="0.0001").equal
    assert not expression.decide("ln 2", "0.6930", tolerance="0.0001").equal
    assert not expression.decide("0", "10^(-30)", tolerance="0.01").equal


def test_up_to() -> None:
    """A question may leave open a sign, a constant factor or an added constant, and nothing else."""
    names = {"x": "real", "y": "real"}
    for up_to, good, bad in [
        ("sign", ["sin x", "-sin x"], ["2 sin x", "|sin x|", "cos x"]),
        ("factor", ["sin x", "-3 sin x", "pi sin x"], ["x sin x", "0", "sin x+1", "|sin x|"]),
        ("constant", ["sin x", "sin x-7", "sin x+ln 2"], ["2 sin x", "sin x+y", "|sin x|"]),
    ]:
        for answer in good:
            assert expression.decide("sin x", answer, domains=names, up_to=up_to).equal, (up_to, answer)
        for answer in bad:
            assert not expression.decide("sin x", answer, domains=names, up_to=up_to).equal, (up_to, answer)


def test_rules_on_the_form() -> None:
    """Equality alone would take the question for its answer."""
    names = {"b": "positive", "i": "nat"}
    given = {"P(i)": "e^(-b i)/sum(e^(-b j), j, 0, inf)"}
    key = "(1-e^-b)e^(-b i)"
    for answer, code in [("P(i)", "form"), ("e^(-b i)/sum(e^(-b j), j, 0, inf)", "form"), (key, "agree")]:
        decision = expression.decide(key, answer, domains=names, definitions=given, forbid=["sum", "P"])
        assert decision.code == code
    assert expression.decide(key, "P(i)", domains=names, definitions=given).equal
    assert expression.decide("2b", "b+b", domains=names, forbid=["+"]).code == "form"
    numbers = {"n": "nat"}
    for answer, code in [
        ("ln(prod(e^j, j, 0, n))", "form"),
        ("sum(j, j, 0, n) = n(n+1)/2", "agree"),
        ("n(n+1)/2", "agree"),
    ]:
        assert expression.decide("n(n+1)/2", answer, domains=numbers, forbid=["sum"]).code == code
    assert expression.decide("n!", "prod(j, j, 1, n)", domains=numbers, forbid=["+"]).equal
    assert expression.decide("2b", "b+b", domains=names, require=["*"]).code == "form"
    assert expression.decide("2b", "2b+0*i", domains=names, allow=["b"]).code == "symbol"


def test_imaginary_unit() -> None:
    """A question may have an imaginary unit; elsewhere i is a name like any other."""
    names = {"k": "real", "t": "real"}
    assert expression.decide("e^(i k t)", "cos(k t)+i sin(k t)", domains=names, imaginary="i").equal
    assert not expression.decide("e^(i k t)", "cos(k t)-i sin(k t)", domains=names, imaginary="i").equal
    assert expression.decide("i^2", "-1", imaginary="i").equal
    assert not expression.decide("i^2", "-1", variables=["i"]).equal


def test_verdicts_repeat() -> None:
    """The points are drawn from the texts: a verdict and its witness never change."""
    first, second = (expression.decide("sin(x)", "x-x^3/6", variables=["x"]) for _ in range(2))
    assert first == second and first.witness


def test_cost() -> None:
    """Typical decisions take about a millisecond of a core; the bounds are generous, for a busy machine."""
    costs = []
    for row in ROWS * 2:
        start = time.thread_time()
        expression.decide(row["reference"], row["answer"], domains=row.get("domains", {}))
        costs.append(time.thread_time() - start)
    costs.sort()
    assert costs[len(costs) // 2] < 0.004 and costs[int(0.95 * len(costs))] < 0.020


@pytest.mark.parametrize(
    ("answer", "reference", "outcome"),
    [
        ("sum(a^n*0^n, n, 0, inf)", "1", "equal"),
        ("sum(a*0^n, n, 0, inf)", "a", "equal"),
        ("sum(a*0^(n-2), n, 2, inf)", "a", "equal"),
        ("sum(e^(-n)*a*0^n, n, 0, inf)", "a", "equal"),
        ("sum(e^(-n)+0^n, n, 0, inf)", "1/(1-e^(-1))+1", "equal"),
        ("sum(a*0^n, n, 0, m)", "a", "equal"),
        ("sum(a*0^n, n, 1, inf)", "0", "equal"),
        ("sum(a*0^n, n, 0, inf)", "0", "different"),
        ("sum(a*0^n, n, 1, inf)", "a", "different"),
        ("sum(a*0^n, n, 0, inf)", "2*a", "different"),
        ("sum(a*0^(n-3), n, 2, inf)", "a", "different"),
        ("sum(1+a*0^n, n, 0, inf)", "a", "different"),
    ],
)
def test_a_power_of_zero_picks_one_term_of_a_sum(answer, reference, outcome):
    """0^n is one where n is zero and nothing behind it; before it, the sum has no value."""
    assert expression.decide(reference, answer, domains={"a": "positive", "m": "nat"}).outcome == outcome

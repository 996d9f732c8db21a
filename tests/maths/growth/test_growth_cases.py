"""Growth bounds against tables of verdicts: the case file, the course's questions, and each rule from both sides."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from autograder.maths import growth

VARIABLES = tuple("TJUXYIKndkLmpw")
ROWS = [json.loads(line) for line in (Path(__file__).parents[2] / "data/cases/growth.jsonl").read_text().splitlines()]

# question | reference | accepted | rejected | constraints
QUESTIONS = """
cnn time|L|3*L; L+1; L+ln(L)|L*T; T; ln(T); L*ln(T); L+T; 2**L; T/2**L; 1+0*L|
rnn time|T|T+5; 2*T; T+ln(T); T-1|ln(T); T**2; 1+0*T; T*ln(T)|
stacked rnn|T+L|max(T,L); T+2*L; T+L-1|T*L; T; L; ln(T)+L; T+L*ln(T)|
bidirectional stack|T L|L*T; 2TL + T|T+L; T; T^2 L|
to one vector|ln T|log2 T; ceil(log_2 T); log10(T) + 4|T; ln ln T; sqrt(T); ln^2 T|
wide kernel|L ln(k*I)|L(ln k + ln I); L ln(k) + L ln(I)|L ln(k) ln(I); L k I; ln(k I)|
softmax time|ln(T)+ln(U)|ln(T*U); max(ln(T),ln(U)); log2(T)+log10(U); ln(T+U); 3*ln(T)+7*ln(U)+5; ln(T**2*U); \
ln(U)+ln(T)+ln(T)|T*U; T+U; ln(T)*ln(U); T*ln(U); ln(T); ln(U); U+ln(T); T**2; ln(T)**2+ln(U); sqrt(T)+ln(U); 1+0*T; \
ln(ln(T))+ln(U)|
softmax in practice|U+ln(T)|max(U,ln(T)); 2*U+log2(T); ln(T)+U+ln(U)|ln(T)+ln(U); T+U; U*ln(T); U; ln(T); T+ln(U)|
brent|T*U/p + ln T + ln U|ln(T*U) + (T U)/p; max((T*U)/p, ln T, ln U)|T U/p; T*U + ln(T); ln(T*U/p)|
layer time|ln(T)+ln(J)|ln(T*J); ln(T+J); ln(T)+ln(J)+ln(K); max(ln(T),ln(J)); ln(T)+ln(J/K)+ln(K); ln(T*J*K); \
log2(T)+log2(J/K)+log2(K)|ln(T)+ln(J/K)+1; T**2*J; ln(T)*ln(J); K*(ln(T)+ln(J)); ln(T)+J; ln(T)+1; ln(T)+ln(K)+1; \
T+J; T*ln(J)|K<=J
spatial time|ln(X*Y)+ln(J)|ln(X)+ln(Y)+ln(J); ln(X*Y*J); max(ln(X),ln(Y),ln(J)); ln(X+Y)+ln(J); ln(X**2+Y**2)+ln(J); \
2*ln(X)+3*ln(Y)+ln(J)|ln(X)*ln(Y)+ln(J); X*Y+ln(J); X+Y+ln(J); ln(X)+ln(J); X*Y*J; (X*Y)**2*J; ln(X*Y)*ln(J); \
ln(X)+ln(Y); ln(X*Y)**2+ln(J); K ln(XY) + ln(J)|
spatial work|(X*Y)**2*J+X*Y*J**2|X*Y*J*(X*Y+J)|X*Y*(X+Y)*J+X*Y*J**2; (X*Y)**2*J; X**2*Y*J; X*Y*J**2|
backprop time|L|2*L; 2L+1|L^2; 1; 2^L; L ln L; L(L+1)/2; L*I^2|
checkpoint memory|sqrt(L)|L^0.5; L^(1/2); 2 sqrt(L) + ln L|L; ln L; L/2; L^(1/3)|
self-attention|n**2*d|2*n**2*d+n**2; n**2*d+n**2; n**2*(d+1); n^2 d (1+1/d)|n*d**2; n**2; n*d; n**2*d**2; n**3*d; \
n**2*d+n*d**2; n*d*ln(n)|
recurrent|n*d**2|2*n*d**2+n*d; n*d*(d+1)|n**2*d; n*d; d**2; n**2*d**2|
convolution|k*n*d**2|2*k*n*d**2+n*d|n*d**2; k*n*d; k**2*n*d**2; n**2*d*k|
dilated path|ln(n)/ln(k)|log2(n)/log2(k); log_k(n); log_k n; \\log_k n; log(n, k); ceil(log_k n)|n/k; ln(n); n; \
ln(n/k)+1; k*ln(n); log2 n|k<=n
contiguous path|n/k|(n-1)/(k-1); n/(k-1)+1; 2*n/k; ceil((n-1)/(k-1)); (n-k)/(k-1)+1|ln(n)/ln(k); n; n/2; n*k; n-k; \
n/k-1; n/k + k|k<=n
with projections|n^2 d + n d^2|n d max(n,d); n d (n+d); 8n*d^2 + 4n^2*d|n d; (n d)^1.5; n^2 d; n^2 d^2; n d min(n, d)|
"""

# rule | reference | accepted | rejected | constraints
RULES = """
sum is max|n+d|max(n,d); n+d-1; 2n+3d; n + d + sqrt(n d); sqrt(n^2+d^2); n + d + n d/(n+d)|min(n,d); n d; sqrt(n d); \
sqrt(n^2+d); n|
min is harmonic|min(n,m)|n m/(n+m); 1/(1/n+1/m); min(2n, m+1)|n; m; sqrt(n m); n+m; max(n,m)|
min under order|min(n,m)|n; n m/(n+m)|m; sqrt(n m)|n<=m
log base drops|n ln n|n log2 n; nlogn; n log_2(n); n ln(n^3); ln(n^n); n ln(n)+n; n \\log_{10} n|n ln n ln n; \
n^1.0001; n; n sqrt(ln n); n ln ln n|
exponent keeps base|n^(log2 3)|3^(log2 n); 3^(log_2 n); n^{\\log_2 3}; 3^(ln(n)/ln(2)); n^(ln(3)/ln(2)); 9^(log_4 n)|\
n^1.585; n^2; n^1.58; 3^(ln n); 2^n; n^(log2 3 + 0.0000000001)|
log of a sum|ln(n+m)|ln n + ln m; max(ln n, ln m); ln(n m); ln(n^2+m); ln(n+m+1)|ln(n) ln(m); ln n; n+m; ln ln n + ln m|
log of a product|ln X + ln J|ln(XJ); ln(X^3 J) - 2ln(X)|ln XY + ln J; ln X; ln(X)ln(J); ln(X+J)^2|
log log|ln ln n|ln(ln(n^2)); ln(2 ln n); ln ln n + 7; ln(ln(n) + ln ln n)|ln n; 1; ln ln ln n; sqrt(ln ln n); 2 ln n|
quotient of logs|ln(n)/ln(k)|log_k n; 3log_k(n)|ln n; ln(n/k); ln n - ln k; log_k(n) + 1|
quotient with order|ln(n)/ln(k)|log_k(n) + 1|ln n; ln(n/k)+1|k<=n
independent|n/k|2n/k|n/(k-1)+1; n; n/k + 1|
lower order term vanishes|T|T-1; T-100000; T - ln T; T-T/2; T(1-1/T); T*(1-1/U); ceil(T/2); floor(T/3); T + 1/T|\
T-T/2-T/2; T-0.3T-0.7T; 0.3; T/U; 1/T|
all lower order|T U|T U - T - U + 1; (T-1)(U-1)|T U - T U + T; T U - T U/1; (T-1)/(U-1)|
cancellation is exact|1|n-(n-1); 5; 0.001; ln(2); (n+1) - n; n/n; n^(1/ln n); 9^9^9^9; 2^10^10|0; n-n; -1; ln(1); \
ln(0.5); 1/n; ln n; n^0.0001|
cancelled logs|ln n|ln(ln(n^n)); ln(n^2+n); ln(n)-1; ln(n)/1000 - 1000; ln(n*m) - ln(m)|ln(n)-ln(n); ln(n m); ln(n/m)|
irrational coefficients|n^2|n^2 ln 2; n^2 sqrt(3) - n^2|n^2*(ln 6 - ln 2 - ln 3) + n|
signs of a quotient|n/k|(1-n)/(1-k); sqrt((1-n)^2)/(k-1); ((1-n)/(1-k))^1.0|(1-n)/k|
square of a difference|n^2+m^2|(n+m)^2|(n-m)^2; n^2 - 2n*m + m^2 + n + m; n^2 m^2|
difference under order|n-m|n-m; 2n-2m; 3(n-m)/2|n; n+m; m-n|m<=n
powers of sums|n^2+m^2|(n+m)^2; (n^3+m^3)^(2/3)|n^2+m^2+n^1.5*m^1.5; (n+m)^2.01; n m|
weighted means|n^3+m^3|n^3+m^3+n^2 m + n m^2; (n+m)^3|n^3+m^3+n^2 m^1.5; n^2 m + n m^2|
mean with logarithms|n+m|n + m + sqrt(n m) ln(ln n)/ln(n)|n + m + sqrt(n m) ln(n)/ln(ln n)|
exponential order alone|exp(m)|exp(m) + m|exp(m) + exp(n)|n<=m^2
exponential order of a root|exp(m)|exp(m) + m|exp(m) + exp(n)|n^0.5<=m
mean across depths|d + m|d + m + ln m + sqrt(d ln m)|d + m + d ln m; d + ln m|
order of variables|m^2|m^2 + n m; m^2 + n^2|n m; m^2 + n^3; n^2|n<=m
chained order|m|m+n|n; m + n ln n|n<=k; k<=d; d<=m
product constraint|J|J+K*I; J + K + I|K*I; J + K^2; K|K*I<=J
order of logs|ln T + ln J|ln T + ln J + ln U + ln I; ln(T J U I)|ln T + ln J + U; ln T + ln U|U<=J; I<=J
exponentials|2^n|4^(n/2); 2^(n+1); 3*2^n + n^5; 2^n + 1.9^n|3^n; 2^n n; 2^(n + ln n); 2^(n/2); n^9; 2^(n^2); n^n; e^n|
exponential order|exp(m)|exp(m) + exp(n); exp(m + 1)|exp(m+n); exp(n)|n<=m
towers|n^n|exp(n ln n); 2^(n log2 n)|2^(n ln n); (2n)^n; 2^n; n^2|
log of exponential|n|ln(2^n); log2(3^n * n); ln(2^n + n^5)|log2(2^n + 2^m); ln(n^n)|
shifted exponents|n|n^(1+1/ln n); n^(1+1/n)|n^(1+1/ln(ln n)); n^1.0000000000000000000000001; n^0.9999999999|
"""


def table(text: str) -> list[tuple[str, str, str, bool, tuple[str, ...]]]:
    """(name, reference, answer, accepted, constraints) for every entry."""
    found = []
    for row in text.strip().splitlines():
        name, reference, accepted, rejected, constraints = row.split("|")
        given = tuple(c.strip() for c in constraints.split(";") if c.strip())
        for answers, verdict in ((accepted, True), (rejected, False)):
            found += [(name, reference, answer.strip(), verdict, given) for answer in answers.split(";")]
    return found


def constraint(exponents: dict[str, int]) -> str:
    """The case file's exponents of a ratio >= 1, as typed."""
    small, large = ([v for v, e in exponents.items() if e * sign > 0] for sign in (-1, 1))
    return f"{'*'.join(small)} <= {'*'.join(large)}"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['reference']} ~ {row['answer']}")
def test_case_file(row: dict) -> None:
    """Every row of the shared table of cases gets its verdict."""
    constraints = [constraint(exponents) for exponents in row.get("constraints", [])]
    found = growth.decide(row["reference"], row["answer"], variables=VARIABLES, constraints=constraints)
    assert found.outcome == ("equal" if row["verdict"] else "different"), found


@pytest.mark.parametrize("row", table(QUESTIONS), ids=lambda row: f"{row[0]}: {row[2]}")
def test_questions_of_the_course(row: tuple) -> None:
    """Right and wrong answers to the course's questions on running time are told apart, never left to a person."""
    _, reference, answer, verdict, constraints = row
    found = growth.decide(reference, answer, variables=VARIABLES, constraints=constraints)
    assert found.outcome == ("equal" if verdict else "different"), found


@pytest.mark.parametrize("row", table(RULES), ids=lambda row: f"{row[0]}: {row[2]}")
def test_rules_from_both_sides(row: tuple) -> None:
    """Each rule of the comparison accepts what it should and stops where it should."""
    _, reference, answer, verdict, constraints = row
    found = growth.decide(reference, answer, variables=VARIABLES, constraints=constraints)
    assert found.outcome == ("equal" if verdict else "different"), found


@pytest.mark.parametrize("row", table(QUESTIONS + RULES.strip()), ids=lambda row: f"{row[0]}: {row[2]}")
def test_comparison_is_symmetric(row: tuple) -> None:
    """Exchanging reference and answer never turns equal into different."""
    _, reference, answer, verdict, constraints = row
    try:
        found = growth.decide(answer, reference, variables=VARIABLES, constraints=constraints)
    except growth.theta.AuthorError:
        assert not verdict  # a reference that is not positive
        return
    assert found.outcome in ({"equal", "undecided"} if verdict else {"different", "undecided"}), found


@pytest.mark.parametrize(
    ("reference", "answer", "code", "witness"),
    [
        ("ln XY + ln J", "ln X + ln J", "too_small", "J and X are fixed and Y grows"),
        ("T + L", "T*L", "too_large", "L and T grow at the same rate"),
        (
            "n^2 d",
            "n d^2",
            "incomparable",
            "too small when d is fixed and n grows; too large when n is fixed and d grows",
        ),
        ("T", "T^2", "too_large", "T grows"),
        ("n + m", "n - m", "not_positive", "n is fixed and m grows"),
        ("n", "1/(n-n)", "undefined", ""),
        ("n", "ln(0*n)", "undefined", ""),
        ("n^2 + m^2", "n^2 - n m + m^2", "undecided", ""),
        ("n^n", "(n+1)^n", "undecided", ""),
        ("2^n", "2^(n*(sqrt(n+m)/sqrt(n+2m)))", "too_small", "m and n grow at the same rate"),
        ("2^n", "2^(n*((1/sqrt(n+2m))*sqrt(n+m)))", "too_small", "m and n grow at the same rate"),
        ("n", "n^(n-n+1) + sqrt(n+m) - sqrt(n+m+1)", "undecided", ""),
    ],
)
def test_witness(reference: str, answer: str, code: str, witness: str) -> None:
    """A refusal names the regime in the student's terms; what cannot be compared is left open."""
    found = growth.decide(reference, answer, variables=VARIABLES)
    assert (found.code, found.witness) == (code, witness)
    assert all(part in found.message for part in witness.split("; "))
    assert found.message


@pytest.mark.parametrize("given", ["U", "U<J", "U<=J<=T", "U<=2*J", "U<=Q", "U+J<=T", "1<=U", "U<=(J"])
def test_author_errors(given: str) -> None:
    """A constraint that is not <= between products of declared variables is the author's slip, and says so."""
    with pytest.raises(growth.theta.AuthorError) as caught:
        growth.decide("U", "U", variables="UJT", constraints=[given])
    assert caught.value.code == "constraint"


@pytest.mark.parametrize("reference", ["0", "-n", "n-n", "ln(0.5)", "1/(n-n)"])
def test_reference_without_a_growth(reference: str) -> None:
    """A reference that is not positive is the author's slip."""
    with pytest.raises(growth.theta.AuthorError) as caught:
        growth.decide(reference, "n", variables="n")
    assert caught.value.code == "reference"

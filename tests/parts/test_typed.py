"""Typed parts: right answers earn, known mistakes are named, unreadable ones are held, errors carry forward."""

import functools
from fractions import Fraction
from pathlib import Path

import pytest
import sympy

from autograder import Equation, Expression, Problem
from autograder.audit.problem import audit
from autograder.authoring.loading import load, statement_text
from autograder.errors import AuthorError
from autograder.grading.judge import judge_part
from autograder.protocol.answering import answer

ROOT = Path(__file__).parents[1] / "data" / "typed" / "problems"
P = {"scaled": True}


def judged(name, p=P, **names):
    """The outcome of a part for a notebook that defines these names."""
    part = load("languages", ROOT).part(name)
    return judge_part(part, p, functools.partial(answer, namespace=names), (1,))


def test_the_audit_finds_no_fault():
    """The sample problem with one part of each typed kind is sound."""
    report = audit(load("languages", ROOT), statement_text("languages", ROOT), variants=2)
    assert report.faults == ()


@pytest.mark.parametrize(
    ("part", "typed", "standing", "code"),
    [
        ("softmax", "(1-e^(-beta)) e^(-beta i)", "earned", "ok"),
        ("softmax", r"(1-e^{-\beta})\,e^{-\beta i}", "earned", "ok"),
        ("softmax", "e^(-beta*i)", "lost", "not_normalised"),
        ("softmax", "e^(-beta*i)/(1-e^(-beta))", "lost", "wrong_way"),
        ("softmax", "(1-e^(-beta))*e^(-beta*i)/ln 2", "lost", "unit"),
        ("softmax", "(1-e^(-beta)*e^(-beta*i)", "held", "unreadable"),
        ("softmax", "(1-e^(-b))*e^(-b*i)", "held", "unreadable"),
        ("softmax", "", "lost", "missing"),
        ("softmax", "  ", "lost", "missing"),
        ("softmax", [], "lost", "missing"),
        ("softmax", None, "lost", "missing"),
        ("softmax", ..., "lost", "missing"),
        ("softmax", 7, "lost", "value"),
        ("softmax", Fraction(1, 3), "lost", "value"),
        ("softmax", [7], "held", "unreadable"),
        ("softmax", True, "held", "unreadable"),
        ("softmax", float("nan"), "held", "unreadable"),
        ("softmax", lambda beta, i: 0, "held", "unreadable"),
        ("softmax", sympy, "held", "unreadable"),
        ("softmax", {"(1-e^(-beta)) e^(-beta i)"}, "held", "unreadable"),
        ("softmax", ["(1-e^(-beta)) e^(-beta i)"], "held", "unreadable"),
        ("time", sympy, "held", "unreadable"),
        ("merged", lambda: 0, "held", "unreadable"),
        ("entropy", ["1", "2"], "held", "unreadable"),
        ("merged", "W[k,a,b] = 1/sqrt(I) W^Q[k,I,a] W^K[k,I,b]", "earned", "ok"),
        ("merged", "W[k,a,b] = W^Q[k,I,a] W^K[k,I,b]", "lost", "value"),
        ("merged", "W[k,a,b] = 1/sqrt(I) W^K[k,I,a] W^Q[k,I,b]", "lost", "transposed"),
        ("merged", "W[k,a,b] = 1/sqrt(I) W^Q[k,I,a W^K[k,I,b]", "held", "unreadable"),
        ("time", "O(max(ln T, ln U))", "earned", "ok"),
        ("time", "O(ln T)", "lost", "too_small"),
        ("time", "O(T + U)", "lost", "serial"),
        ("time", "O(T + ", "held", "unreadable"),
        ("turn", [["cos x", "sin x"], ["-sin x", "cos x"]], "earned", "ok"),
        ("turn", [["cos x", "-sin x"], ["sin x", "cos x"]], "lost", "other_way"),
        ("turn", [["cos x", "sin x"]], "lost", "shape"),
        ("turn", [["cos x", "sin x"], ["-sin x", "cos (x"]], "held", "unreadable"),
        ("turn", "cos x", "held", "unreadable"),
        ("turn", r"\begin{pmatrix} \cos x & \sin x \\ -\sin x & \cos x \end{pmatrix}", "earned", "ok"),
        (
            "turn",
            r"A = \left(\begin{array}{cc} \cos x & \sin x \\ -\sin x & \cos x \end{array}\right).",
            "earned",
            "ok",
        ),
        ("turn", r"\begin{pmatrix} \cos x & -\sin x \\ \sin x & \cos x \end{pmatrix}", "lost", "other_way"),
        ("turn", r"2 \begin{pmatrix} \cos x & \sin x \\ -\sin x & \cos x \end{pmatrix}", "held", "unreadable"),
        ("turn", r"\begin{vmatrix} \cos x & \sin x \\ -\sin x & \cos x \end{vmatrix}", "held", "unreadable"),
        ("turn", "[['cos x', 'sin x'], ['-sin x', 'cos x']]", "earned", "ok"),
        ("turn", "[[cos x, sin x], [-sin x, cos x]]", "held", "unreadable"),
    ],
)
def test_verdicts(part, typed, standing, code):
    """Each row is one typed answer, on one side of a rule."""
    outcome = judged(part, **{part: typed})
    assert (outcome.standing, outcome.verdicts[0].code) == (standing, code)


def test_no_message_holds_the_reference():
    """What a student reads after a wrong answer shows no value of the reference; staff read the witness."""
    verdict = judged("softmax", softmax="e^(-beta*i)/2").verdicts[0]
    assert verdict.ok is False
    assert verdict.witness == ""
    assert verdict.staff and verdict.staff not in verdict.message


@pytest.mark.parametrize(
    ("softmax", "first", "standing", "code"),
    [
        ("(1-e^(-beta))*e^(-beta*i)", "1-e^(-beta)", "earned", "ok"),
        ("e^(-beta*i)", "1", "earned", "carried_forward"),
        ("e^(-beta*i)", "1-e^(-beta)", "earned", "ok"),
        ("e^(-beta*i)", "2", "lost", "constant_factor"),
        ("(1-e^(-beta))*e^(-beta*i)", "1", "lost", "value"),
        ("e^(-beta*", "1", "lost", "value"),
        (None, "1", "lost", "value"),
    ],
)
def test_error_carried_forward(softmax, first, standing, code):
    """A later part is right if it is right, or if it follows from the student's own earlier answer; else it is lost."""
    outcome = judged("first", softmax=softmax, first=first)
    assert outcome.standing == standing
    if standing == "earned":
        assert outcome.verdicts[0].code == code
    if code == "carried_forward":
        assert "your own answer to softmax" in outcome.verdicts[0].message


DEFINITION, OUT = "sum(P(i)*(-ln(P(i))), i, 0, inf)", "-ln(1-e^(-beta)) + beta*sum(i*P(i), i, 0, inf)"
END = "-ln(1-e^(-beta)) + beta*e^(-beta)/(1-e^(-beta))"


@pytest.mark.parametrize(
    ("lines", "points", "code", "words"),
    [
        (f"{DEFINITION}\n{OUT}\n{END}", 6.0, "ok", ""),
        (f"H(P) = {DEFINITION} = {OUT} = {END}.", 6.0, "ok", ""),
        (f"{DEFINITION}\n{OUT}\n{END}/2", 3.0, "end", "The last line is not the answer"),
        (f"{DEFINITION}\n{OUT}", 3.0, "form", "does not have the form"),
        (
            f"{DEFINITION}\n{OUT.replace('+', '-')}\n{END.replace('+', '-')}",
            0.0,
            "lost_sign",
            "A sign was lost on the way. (Line 2",
        ),
        (f"{DEFINITION}\n{END}", 0.0, "milestone", "reaches this form"),
        (END, 0.0, "milestone", "reaches this form"),
        (f"1\n{OUT}\n{END}", 0.0, "start", "is not the given line"),
    ],
)
def test_derivations_are_paid_for_their_milestones_and_the_end(lines, points, code, words):
    """What is lost is named, with the line where it was lost; a known mistake has its own hint."""
    outcome = judged("entropy", entropy=lines)
    assert outcome.points == pytest.approx(points)
    lost = next((verdict for verdict in outcome.verdicts if not verdict.ok), outcome.verdicts[-1])
    assert lost.code == code
    assert words in lost.message


def test_what_cannot_be_read_in_a_chain_is_held():
    """A person looks at it; the line is named."""
    outcome = judged("entropy", entropy=f"{DEFINITION}\nbeta*(\n{END}")
    assert (outcome.standing, outcome.verdicts[0].code) == ("held", "unreadable")
    assert "line 2" in outcome.verdicts[0].message


def test_hints_can_be_switched_off():
    """Without hints, a wrong answer is only wrong."""
    part = Expression("x", points=1, domains={"y": "real"}, reference="2*y", hints=False)
    verdict = judge_part(part, {}, functools.partial(answer, namespace={"x": "y"}), (1,)).verdicts[0]
    assert verdict.message == "This is not correct."


@pytest.mark.parametrize(
    "make",
    [
        lambda: Expression("b", points=1, reference="1", follows="a"),
        lambda: Expression("b", points=1, reference=lambda p: "1", follows="a"),
        lambda: Problem(
            title="t",
            version=1,
            source="s",
            parts=[Expression("b", points=1, reference=lambda p, *, a="1": a, follows="a")],
        ),
    ],
)
def test_slips_in_follows_are_heard(make):
    """A part that follows another needs a default for it, and the other before it."""
    with pytest.raises(AuthorError) as caught:
        make()
    assert caught.value.code == "follows"


@pytest.mark.parametrize(
    ("rungs", "words", "not_yet"),
    [(0, "", "alpha"), (1, "your alpha differs", "wrong index"), (2, "wrong index", "t_2"), (3, "run over t_2", "@")],
)
def test_the_ladder_of_hints_has_as_many_rungs_as_the_question_allows(rungs, words, not_yet):
    """From which tensor differs, over what kind of slip it is, to the repair; by default the repair is kept back."""
    reference = "S[t,s] = Q[t,U] K[s,U]\nalpha[t_1,t_2] = softmax_{t_2} S[t_1,t_2]"
    part = Equation("alpha", points=1, target="alpha", reference=reference, rungs=rungs)
    wrong = reference.replace("softmax_{t_2}", "softmax_{t_1}")
    message = judge_part(part, {}, functools.partial(answer, namespace={"alpha": wrong}), (1,)).verdicts[0].message
    assert words.lower() in message.lower()
    assert not_yet not in message


def test_a_mistake_to_the_letter_is_compared_with_those_before_it_alone():
    """It need not be shown to equal itself; an earlier one that it equals in other words still gives its hint first."""
    asked = []

    class Counted(Expression):
        def first_equal(self, texts, answer, p):
            """Keeps the texts."""
            asked.append(list(texts))
            return super().first_equal(texts, answer, p)

    def doubled(p):
        """You doubled it."""
        return "2*x"

    def added(p):
        """You added one."""
        return "x + 1"

    def doubled_again(p):
        """You took it twice."""
        return "x + x"

    part = Counted("f", points=1, domains={"x": "real"}, reference="x", mistakes=[doubled, added, doubled_again])
    codes = {
        text: judge_part(part, {}, functools.partial(answer, namespace={"f": text}), (1,)).verdicts[0].code
        for text in ("2*x", "x + 1", "x + x", "1 + x")
    }
    assert codes == {"2*x": "doubled", "x + 1": "added", "x + x": "doubled", "1 + x": "added"}
    assert asked == [["2*x"], ["2*x", "x + 1"], ["2*x", "x + 1", "x + x"]]

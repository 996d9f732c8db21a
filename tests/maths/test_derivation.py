"""Derivations: chains and what they earn, on both sides of the rule."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from autograder.errors import AuthorError, Unreadable
from autograder.maths import chain, derivation, guard
from autograder.maths.derivation import Milestone

CASES = Path(__file__).parents[1] / "data" / "cases"
ROWS = [json.loads(line) for line in (CASES / "chains.jsonl").read_text(encoding="utf-8").splitlines()]
LINKS = [json.loads(line) for line in (CASES / "derivation.jsonl").read_text(encoding="utf-8").splitlines()]

WAVES = {"domains": {"t": "int", "k": "int", "omega_j": "positive"}, "forbid": ("t",)}
QUESTIONS: dict[str, dict[str, Any]] = {
    "entropy": {
        "start": "sum(P(n)*(-ln(P(n))), n, 0, inf)",
        "reference": "-ln(1-e^(-beta))+beta*e^(-beta)/(1-e^(-beta))",
        "domains": {"beta": "positive", "i": "nat"},
        "definitions": {"Z": "sum(e^(-beta*n), n, 0, inf)", "P(i)": "e^(-beta*i)/Z"},
        "operators": {"E[f(i)]": "sum(P(n)*f(n), n, 0, inf)"},
        "forbid": ("sum", "P", "Z"),
        "milestones": (
            Milestone("a sum, and no logarithm of its number", has=["sum"], lacks=["index in ln"]),
            Milestone("a sum, and no logarithm under it", has=["sum"], lacks=["ln in sum"]),
        ),
    },
    "row": {
        **WAVES,
        "start": "sin((t+k)*omega_j)",
        "reference": "cos(k*omega_j)*s+sin(k*omega_j)*c",
        "definitions": {"f_j": "1/omega_j", "s": "sin(t*omega_j)", "c": "cos(t*omega_j)"},
        "milestones": (Milestone("waves of t and of k", has=["t"], apart=["t", "k"]),),
    },
    "inner": {
        **WAVES,
        "start": "sin(t*omega_j)*sin((t+k)*omega_j) + cos(t*omega_j)*cos((t+k)*omega_j)",
        "reference": "cos(k*omega_j)",
        "milestones": (Milestone(
            "waves of t and of k", has=["t", "k in sin"], apart=["t", "k"],
            others=[Milestone("the theorem backwards", has=["t k in cos"], lacks=["sin"], opened=False)],
        ),),
    },
    "bound": {
        "start": "sum(w(n)*ln(n+1), n, 0, inf)",
        "reference": "1/(e^b-1)",
        "domains": {"b": "positive", "i": "nat"},
        "definitions": {"w(i)": "(1-e^(-b))*e^(-b*i)"},
        "direction": "<=",
        "forbid": ("sum",),
        "milestones": (Milestone("a logarithm, and none under a sum", has=["ln", "sum"], lacks=["ln in sum"]),),
    },
    "merged": {
        "start": "S[k,t,u] = Q[k,t,I] R[k,u,I]",
        "reference": "S[k,t,u] = W[k,J_1,J_2] L[t,J_1] L[u,J_2]",
        "tensors": ["W^Q[K,I,J]", "W^K[K,I,J]", "L[T,J]"],
        "words": {"same": {"U": "T"}},
        "given_equations": "Q[k,t,i] = W^Q[k,i,J] L[t,J]\nR[k,t,i] = W^K[k,i,J] L[t,J]\n"
        "W[k,j_1,j_2] = W^Q[k,I,j_1] W^K[k,I,j_2]",
        "forbid": ("Q", "R", "W^Q", "W^K"),
        "milestones": (Milestone("a projection written out", has=["W^Q"], lacks=["Q"]),),
    },
}  # fmt: skip


def decided(question: str, text: str) -> Any:
    """The decision about a chain."""
    return derivation.decide(answer=text, **QUESTIONS[question])


def earned(question: str, text: str) -> str:
    """What a chain earns: 1, 0 or ? for each milestone and the end; nothing where it does not start as it should."""
    found = decided(question, text).detail["findings"]
    signs = {True: "1", False: "0", None: "?"}
    return "".join(signs[item.ok] if found[0].ok else "0" for item in found[1:])


@pytest.mark.parametrize("row", ROWS, ids=[f"{row['question']}: {row['note']}" for row in ROWS])
def test_what_a_chain_earns(row: dict[str, Any]) -> None:
    """Every row earns the milestones and the end that it names."""
    assert earned(row["question"], row["chain"]) == row["earns"]


@pytest.mark.parametrize("row", LINKS, ids=[row["note"] for row in LINKS])
def test_the_first_broken_link(row: dict[str, Any]) -> None:
    """Every row has the first wrong line, counted from nothing, and the end that it names."""
    options = {"domains": {"beta": "positive"}, "definitions": {"P(i)": "(1-e^(-beta))*e^(-beta*i)"}}
    lines = derivation.Expressions(reference=row["reference"], options=options)
    judged = derivation.judge(
        "\n".join(row["answer"]), start=row["answer"][0], reference=row["reference"], language=lines
    )
    broken = judged.first_wrong
    assert (broken and broken.number - 1) == row["verdict"]["first_wrong"]
    assert (judged.findings[-1].code != "end") == row["verdict"]["final_ok"]


def test_the_message_names_the_line_and_both_values() -> None:
    """A broken link is told by its line and by numbers of the student's own two lines; codes hold no numbers."""
    text = "sin((t+k)*omega_j)\nsin(t*omega_j)*cos(k*omega_j)\ns*cos(k*omega_j)"
    (_, milestone, end) = decided("row", text).detail["findings"]
    assert (milestone.code, end.code) == ("step", "end")
    assert milestone.message.startswith(
        "Line 2 does not follow from the line before it: at k = 2, omega_j = 1/2, t = 1"
    )
    assert "it gives" in milestone.message and "the line before it gives" in milestone.message


def test_a_link_that_is_not_decided_holds_what_it_leads_to() -> None:
    """No rule proves this inequality, no number refutes it: the milestone before it is earned, the end a person's."""
    asked = {"start": "ln(1+x)", "reference": "sqrt(1+x^2)+1", "milestones": [Milestone("x^2", has=["ln", "^"])]}
    told = {"definitions": {}, "domains": {"x": "positive"}, "forbid": ("ln",)}
    question = {**QUESTIONS["bound"], **asked, **told}
    decision = derivation.decide(answer="ln(1+x)\n<= ln(1+x+x^2)\n<= sqrt(1+x^2)+1", **question)
    assert [item.ok for item in decision.detail["findings"]] == [True, True, None]
    assert decision.outcome == "undecided"


def test_an_unreadable_line_is_named() -> None:
    """The message counts lines from 1; nothing is judged."""
    with pytest.raises(Unreadable) as caught:
        decided("row", "sin((t+k)*omega_j)\nsin(t*omega_j")
    assert caught.value.message.startswith("line 2:")
    with pytest.raises(Unreadable):
        decided("row", " \n ")


@pytest.mark.parametrize(("changed", "words"), [
    ({"milestones": [Milestone("k", has=["k"])]}, "the given line has the form"),
    ({"milestones": [Milestone("s", has=["s"])]}, "the reference has the form"),
    ({"reference": "cos("}, "cannot be read"),
])  # fmt: skip
def test_slips_in_a_question_are_heard(changed: dict[str, Any], words: str) -> None:
    """A form that nobody has to reach is the author's slip."""
    with pytest.raises(AuthorError, match=words):
        derivation.decide(answer="k", **{**QUESTIONS["row"], **changed})


def test_without_milestones_the_end_is_what_is_asked() -> None:
    """Then a chain from the given line to the end earns it, if no link is broken."""
    question = {**QUESTIONS["inner"], "milestones": ()}
    start, end = question["start"], question["reference"]
    ok = {
        text: derivation.decide(answer=text, **question).equal
        for text in (f"{start}\n{end}", f"{start}\n0\n{end}", end)
    }
    assert list(ok.values()) == [True, False, True]


def test_under_the_guard() -> None:
    """Milestones travel to the guarded worker, and what was found comes back."""
    question = dict(QUESTIONS["row"])
    text = "sin((t+k)*omega_j) = sin(t*omega_j)*cos(k*omega_j)+cos(t*omega_j)*sin(k*omega_j)"
    decision = guard.call("autograder.maths.derivation", "decide", (question.pop("reference"), text), question)
    assert [item.ok for item in decision.detail["findings"]] == [True, True, False]
    guard.close()


LINES = [
    ("a\n= b", [("first", "a"), ("=", "b")]),
    ("a = b = c", [("first", "a"), ("=", "b"), ("=", "c")]),
    ("= a\n\n= b", [("=", "a"), ("=", "b")]),
    ("a =\nb", [("first", "a"), ("=", "b")]),
    ("a \\leq b\n\\ge c", [("first", "a"), ("<=", "b"), (">=", "c")]),
    ("a ≤ b < c", [("first", "a"), ("<=", "b"), ("<", "c")]),
    ("\\left(a\\right)", [("first", "\\left(a\\right)")]),
    ("\\begin{align}a &= b, \\\\[2pt] &= 6.\\end{align}", [("first", "a"), ("=", "b"), ("=", "6")]),
    ("\\sum_{n=0}^{N} n\n= sum(n, n, 0, N)", [("first", "\\sum_{n=0}^{N} n"), ("=", "sum(n, n, 0, N)")]),
    ("a\nb", [("first", "a"), ("=", "b")]),
]


@pytest.mark.parametrize(("text", "read"), LINES)
def test_lines_as_people_write_them(text: str, read: list[tuple[str, str]]) -> None:
    """Relations in any spelling, at the end or beginning of a line; what LaTeX needs for setting is dropped."""
    assert [(line.relation, line.text) for line in chain.lines(text)] == read


@pytest.mark.parametrize(("text", "label"), [
    ("H(P)", True), ("S", True), (r"\mathrm{KL}(Q,P)", True), ("S[t,u]", True), ("L_1", True), ("2x", False),
    ("a+b", False), ("sin(x)+1", False),
])  # fmt: skip
def test_left_sides(text: str, label: bool) -> None:
    """A name, with arguments or indices, may be a left side."""
    assert chain.is_label(text) == label


@pytest.mark.parametrize(("text", "written"), [
    ("E[i]", "(sum(P((2*n))*( ((2*n))), n, 0, inf))"), ("2 E_k[k^2]", "2 (sum(P((2*n))*(((2*n))^2), n, 0, inf))"),
    ("beta + E", "beta + E"), ("e[i]", "e[i]"),
])  # fmt: skip
def test_averages_are_written_out(text: str, written: str) -> None:
    """The letter in the brackets becomes the number that the question sums over."""
    operators = {"E[f(i)]": "sum(P((2*n))*f((2*n)), n, 0, inf)"}
    assert chain.written_out(text, operators).replace(" ", "") == written.replace(" ", "")


PROJECTED = "W^Q[k,I,J_1] L[t,J_1] W^K[k,I,J_2] L[u,J_2]"
WAY = [QUESTIONS["merged"]["start"], f"= {PROJECTED}"]
END = "= W[k,J_1,J_2] L[t,J_1] L[u,J_2]"


@pytest.mark.parametrize(
    ("between", "outcome"),
    [
        ([f"= {PROJECTED} + {n} - {n}" for n in range(12)], "equal"),
        ([f"= {PROJECTED} + {n} - {n}" for n in range(150)], "undecided"),
        ([f"= {PROJECTED}"] * 150, "equal"),
    ],
    ids=["twelve lines", "150 different lines", "one line 150 times"],
)
def test_all_lines_of_tensor_equations_have_one_budget(between, outcome):
    """Reading two lines counts; what was compared before is not compared again."""
    found = decided("merged", "\n".join([*WAY, *between, END]))
    assert found.outcome == outcome and (outcome == "equal" or found.code == "cost")

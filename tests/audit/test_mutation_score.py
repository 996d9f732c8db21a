"""Slips made by machine: they change what they say, strong tests kill them, and weak tests are found out."""

from math import inf

import numpy as np
import pytest
import torch
from torch import softmax

from autograder import Expression, Function, Problem, close, tensors
from autograder.audit.mutation_score import _different, strength
from autograder.parts.mutants import mutants_of_code, mutants_of_rows, mutants_of_text


def score(q, k):
    """Scaled scores."""
    return q @ k.T / q.shape[1] ** 0.5


def below(x, bound):
    """The entries up to a bound."""
    return x[x <= bound] - 1


def masked(scores, n):
    """Many places where a slip can be made; it is never called."""
    z = scores.clone()
    z[:, :n] = -torch.inf if 0 < n <= 5 else -inf
    z = z.masked_fill(n, -float("inf"))
    return softmax(z, -1) + z.exp() + torch.exp(z)


def remembered(x):
    """A sum; its mutant keeps the first one for each shape."""
    return x.sum(0)


def inputs(rng, p):
    """Queries and keys that are neither square nor alike."""
    return tensors(rng, {"T": 3, "S": 5, "U": 2}, q="T U", k="S U")


def one_size(rng, p):
    """A vector."""
    return tensors(rng, {}, x="5")


def weak_inputs(rng, p):
    """One query of width one: a root of it is itself."""
    return tensors(rng, {"T": 1, "S": 1, "U": 1}, q="T U", k="S U")


def problem(*parts):
    """A problem of these parts, with one variant."""
    return Problem(title="t", version=1, source="s", parts=list(parts))


@pytest.mark.parametrize(
    ("function", "kind", "place"),
    [
        (score, "swapped", "q @ k.T → k.T @ q"),
        (score, "transposed", "k.T → k"),
        (score, "factor dropped", "q @ k.T / q.shape[1] ** 0.5 → q @ k.T"),
        (score, "detached", "return q @ k.T / q.shape[1] ** 0.5 → return (q @ k.T / q.shape[1] ** 0.5).detach()"),
        (score, "off by one", "0.5 → 1.5"),
        (below, "boundary", "x <= bound → x < bound"),
        (below, "sign", "x[x <= bound] - 1 → x[x <= bound] + 1"),
        (masked, "infinity", "-torch.inf → -30.0"),
        (masked, "infinity", "-inf → -100.0"),
        (masked, "infinity", "-float('inf') → -10000.0"),
        (masked, "clone left out", "scores.clone() → scores"),
        (masked, "detached", "z = scores.clone() → z = scores.clone().detach()"),
        (masked, "single precision", "z = scores.clone() → z = scores.clone().float().double()"),
        (masked, "slice", ":n → :"),
        (masked, "slice", ":n → :n + 1"),
        (masked, "slice", ":n → :n - 1"),
        (masked, "boundary", "0 < n <= 5 → 0 <= n <= 5"),
        (masked, "boundary", "0 < n <= 5 → 0 < n < 5"),
        (masked, "function dropped", "softmax(z, -1) → z"),
        (masked, "function dropped", "z.exp() → z"),
        (masked, "function dropped", "torch.exp(z) → z"),
        (masked, "remembered", "a result is kept, and given again for arguments of the same shapes"),
    ],
)
def test_slips_of_code(function, kind, place):
    """Each kind of slip is made where it can be made, and says what it changed."""
    assert (kind, place) in {(mutant.kind, mutant.place) for mutant in mutants_of_code(function)}


def test_a_mutant_computes_what_it_says():
    """The compiled function has the slip, and the reference is left as it was."""
    mutant = next(item for item in mutants_of_code(below) if item.kind == "boundary")
    x = np.array([1.0, 2.0, 3.0])
    assert mutant.subject(x, 2.0).tolist() == [0.0]
    assert below(x, 2.0).tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("text", "mutant"),
    [
        ("W[k,a] = Q[k,I,a] / sqrt(I)", "W[k,a] = Q[k,I,a]"),
        ("a + b", "a-b"),
        ("2*x", "3*x"),
        ("ln(x)", "log2(x)"),
        ("A[k,t] = S[k,t]", "A[k,t] = S[t,k]"),
        ("softmax_{t_2} S", "softmax_{t_1} S"),
        ("-2j/d", "2j/d"),
        ("sin(k) + cos(k)", "cos(k) + cos(k)"),
        ("sin(k) + cos(k)", "sin(k) + sin(k)"),
    ],
)
def test_slips_of_typed_answers(text, mutant):
    """A sign, a number, a root, two indices: each slip that can be made in the text."""
    assert mutant in {item.subject for item in mutants_of_text(text)}


def test_slips_of_a_matrix():
    """A slip in one entry leaves the others; rows and columns may be exchanged, unless that changes nothing."""
    made = [mutant.subject for mutant in mutants_of_rows([["1", "x"], ["-x", "1"]])]
    assert [["1", "x"], ["x", "1"]] in made and [["2", "x"], ["-x", "1"]] in made
    assert made[-1] == [["1", "-x"], ["x", "1"]]
    assert [["1", "x"], ["x", "1"]] not in [mutant.subject for mutant in mutants_of_rows([["1", "x"], ["x", "1"]])]


def test_strong_inputs_leave_no_survivor():
    """Every slip in the scores is killed by inputs that are neither square nor alike."""
    (found,) = strength(problem(Function("score", points=1, reference=score, inputs=inputs, checks=[close()])))
    assert found.made == found.killed + len(found.harmless)
    assert found.survivors == ()
    assert all("not checked" in reason for mutant, reason in found.harmless if mutant.kind == "detached")


def test_a_result_that_is_remembered_by_its_shape():
    """The mutant gives its first result for a shape again, and what is drawn once more with the same sizes kills it."""
    mutant = next(item for item in mutants_of_code(remembered) if item.kind == "remembered")
    assert [mutant.subject(np.full(n, value)).item() for n, value in ((2, 1.0), (3, 1.0), (2, 5.0))] == [2.0, 3.0, 2.0]
    part = Function("remembered", points=1, reference=remembered, inputs=one_size, checks=[close()], trials=1, also=())
    (found,) = strength(problem(part))
    assert "remembered" not in [item.kind for item in (*found.survivors, *(item for item, _ in found.harmless))]


def test_weak_inputs_are_found_out():
    """On one query of width one, slips survive that further inputs cannot excuse."""
    part = Function("score", points=1, reference=score, inputs=weak_inputs, checks=[close()], trials=1)
    (weak,) = strength(problem(part))
    (strong,) = strength(problem(Function("score", points=1, reference=score, inputs=inputs, checks=[close()])))
    assert weak.killed < strong.killed


def test_typed_survivors_are_proved_equal():
    """A slip that leaves the value alone is accepted by proof, and listed as harmless."""
    (found,) = strength(problem(Expression("e", points=1, domains={"x": "real"}, reference="1*x + 0")))
    assert found.survivors == ()
    assert found.killed >= 2
    assert {reason for _, reason in found.harmless} == {"proved equal by the answer language"}


def turned(q, *, p):
    """A vector, turned round in half of the variants."""
    return -q if p["turned"] else q * 1


def test_variants_that_are_the_same_to_a_part_count_once():
    """Of eight variants, a part that looks at one truth value has two; one whose inputs follow a number has all."""
    draws = [{"turned": bool(number % 2), "N": number + 2} for number in range(8)]
    sized = lambda rng, p: tensors(rng, p, q="N")  # noqa: E731
    parts = [Function("turned", points=1, reference=turned, inputs=inputs, checks=[close()])
             for inputs in (lambda rng, p: tensors(rng, {}, q="3"), sized)]  # fmt: skip
    whole = problem(*parts[:1])
    assert [len(_different(whole, part, draws)) for part in parts] == [2, 8]
    assert [p["turned"] for p in _different(whole, parts[0], draws)] == [False, True]


BELOW = {
    "return (x[x <= bound] - 1).detach()": [0, 1], "return (x[x <= bound] - 1)[None]": [[0, 1]],
    "x[x <= bound] + 1": [2, 3], "x[x <= bound]": [1, 2], "1": 1, "1 - x[x <= bound]": [0, -1], "2": [-1, 0],
    "0": [1, 2], "x < bound": [0],
    "a result is kept, and given again for arguments of the same shapes": [0, 1],
}  # fmt: skip


def test_a_mutant_is_made_without_a_trace():
    """The tree in which slips are made is whole again for the next one: each has one slip, and no other."""
    found = {
        mutant.place.split(" → ")[-1]: mutant.subject(torch.tensor([1, 2, 3]), 2) for mutant in mutants_of_code(below)
    }
    assert {place: torch.as_tensor(result).tolist() for place, result in found.items()} == BELOW

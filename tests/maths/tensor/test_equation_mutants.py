"""Mutants of the attention layer against a second route: plain einsum on random arrays, sharing no code with the judge.

A line is data here: its left indices, its factors, the index of its softmax. The same data gives the text that the
judge reads and the contraction that numpy computes, so an accepted mutant that is not the layer shows at once.
"""

from __future__ import annotations

import random
import re
import time
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.errors import Unreadable
from autograder.maths.tensor import decide
from tests.maths.tensor.tensor_tables import ATTENTION, HEADS, QUESTIONS, Question

Factor = tuple[str, tuple[str, ...]]


@dataclass(frozen=True)
class Line:
    """`name[left] = softmax_{softmax}[product of factors]`; capitals and the index of `total` are summed."""

    name: str
    left: tuple[str, ...]
    factors: tuple[Factor, ...]
    softmax: str = ""
    total: str = ""

    def text(self) -> str:
        """The line as a student types it."""
        product = " ".join(f"{name}[{','.join(indices)}]" for name, indices in self.factors)
        if self.total:
            product = f"sum_{{{self.total}}} {product}"
        if self.softmax:
            product = f"softmax_{{{self.softmax}}}[{product}]"
        return f"{self.name}[{','.join(self.left)}] = {product}"


LINES = (
    Line("Query", ("k", "t", "U"), (("W^Q", ("k", "U", "J")), ("h_in", ("t", "J")))),
    Line("Key", ("k", "t", "U"), (("W^K", ("k", "U", "J")), ("h_in", ("t", "J")))),
    Line("alpha", ("k", "t_1", "t_2"), (("Query", ("k", "t_1", "U")), ("Key", ("k", "t_2", "U"))), softmax="t_2"),
    Line("Value", ("k", "t", "I"), (("W^V", ("k", "I", "J")), ("h_in", ("t", "J")))),
    Line("Out", ("k", "t", "I"), (("alpha", ("k", "t", "t'")), ("Value", ("k", "t'", "I"))), total="t'"),
)
JOIN = "h_out[t,J] = concat_{k} Out[k,t,I]"
SIZES = {"K": 2, "T": 4, "U": 3, "I": 5, "J": 10}
POOL = ("k", "t", "t_1", "t_2", "t'", "U", "J", "I")


class IllFormedError(Exception):
    """The lines have no value: shapes that do not fit, or an index that nothing binds."""


def contract(line: Line, arrays: dict[str, np.ndarray]) -> np.ndarray:
    """The line's value by einsum."""
    letters: dict[str, str] = {}
    sizes: dict[str, int] = {}
    inputs, operands = [], []
    for name, indices in line.factors:
        array = arrays[name]
        if array.ndim != len(indices):
            raise IllFormedError
        for index, size in zip(indices, array.shape, strict=True):
            letters.setdefault(index, "abcdefghijklmnop"[len(letters)])
            if sizes.setdefault(index, size) != size:
                raise IllFormedError
        inputs.append("".join(letters[index] for index in indices))
        operands.append(array)
    bound = {index for index in letters if index[0].isupper() or index == line.total} - set(line.left)
    if line.total and line.total in line.left:
        bound.add(line.total)
    free = [index for index in letters if index not in bound]
    if any(index not in line.left for index in free) or len(set(line.left)) < len(line.left):
        raise IllFormedError
    array = np.einsum(",".join(inputs) + "->" + "".join(letters[index] for index in free), *operands)
    shape = {index: SIZES.get(index[0].upper(), 0) for index in line.left}
    for index in line.left:
        if index not in free:
            array, free = array[..., None].repeat(shape[index], -1), [*free, index]
    array = array.transpose([free.index(index) for index in line.left])
    if not line.softmax:
        return array
    if line.softmax not in line.left:
        raise IllFormedError
    power = np.exp(array - array.max())
    return power / power.sum(line.left.index(line.softmax), keepdims=True)


def value(lines: tuple[Line, ...], seed: int) -> np.ndarray:
    """The layer's output on random arrays."""
    rng = np.random.default_rng(seed)
    draw = {"W^Q": "KUJ", "W^K": "KUJ", "W^V": "KIJ", "h_in": "TJ"}
    arrays = {name: rng.normal(size=[SIZES[axis] for axis in axes]) for name, axes in draw.items()}
    for line in lines:
        arrays[line.name] = contract(line, arrays)
    out = arrays["Out"]
    if out.shape != (SIZES["K"], SIZES["T"], SIZES["I"]):
        raise IllFormedError
    return out.transpose(1, 0, 2).reshape(SIZES["T"], SIZES["J"])


def mutate(lines: tuple[Line, ...], rng: random.Random) -> tuple[Line, ...]:
    """One index, softmax index or tensor name changed somewhere."""
    number = rng.randrange(len(lines))
    line = lines[number]
    kind = rng.random()
    if kind < 0.08 and line.softmax:
        line = replace(line, softmax=rng.choice(line.left))
    elif kind < 0.2:
        line = replace(line, factors=line.factors[::-1])
    else:
        place = rng.randrange(len(line.factors))
        name, indices = line.factors[place]
        slot = rng.randrange(len(indices))
        if kind < 0.4:
            other = rng.randrange(len(indices))
            changed = list(indices)
            changed[slot], changed[other] = changed[other], changed[slot]
        else:
            changed = [*indices[:slot], rng.choice(POOL), *indices[slot + 1 :]]
        factor = (name, tuple(changed))
        line = replace(line, factors=(*line.factors[:place], factor, *line.factors[place + 1 :]))
    return (*lines[:number], line, *lines[number + 1 :])


def test_the_second_route_agrees_on_the_layer() -> None:
    """The lines as printed are accepted, and their value does not depend on the order of factors."""
    text = "\n".join(line.text() for line in LINES) + "\n" + JOIN
    assert decide(ATTENTION, text, declarations=HEADS, target="h_out").equal
    flipped = tuple(replace(line, factors=line.factors[::-1]) for line in LINES)
    assert np.allclose(value(LINES, 0), value(flipped, 0))


@pytest.mark.parametrize("block", range(6))
def test_no_mutant_is_accepted_unless_it_is_the_layer(block: int) -> None:
    """What the judge accepts has the layer's value on random arrays, and what it refuses as `value` has not."""
    accepted = refused = 0
    for seed in range(60):
        rng = random.Random(f"{block}/{seed}")
        lines = mutate(LINES, rng)
        if rng.random() < 0.3:
            lines = mutate(lines, rng)
        text = "\n".join(line.text() for line in lines) + "\n" + JOIN
        decision = decide(ATTENTION, text, declarations=HEADS, target="h_out", hints=False)
        try:
            same = all(np.allclose(value(lines, s), value(LINES, s), rtol=1e-9) for s in (1, 2))
        except IllFormedError:
            same = False
        assert decision.outcome != "undecided", text
        assert decision.equal == same, (text, decision)
        accepted += decision.equal
        refused += not decision.equal
    assert accepted and refused


@given(st.data())
@settings(max_examples=60, deadline=None, derandomize=True)
def test_a_verdict_is_reflexive_and_symmetric(data: st.DataObject) -> None:
    """Every answer of the tables equals itself, and two of them are as different one way round as the other."""
    question: Question = data.draw(st.sampled_from([q for q in QUESTIONS if q.name != "spatial self-attention"]))
    texts = [*question.right, *(text for text, _ in question.wrong)]
    first, second = data.draw(st.sampled_from(question.right)), data.draw(st.sampled_from(texts))

    def verdict(one: str, other: str) -> str:
        return decide(one, other, declarations=question.declarations, target=question.target, hints=False).outcome

    assert verdict(first, first) == "equal"
    there = verdict(first, second)
    assert there == ("equal" if second in question.right else "different")
    if there == "equal":
        assert verdict(second, first) == "equal"


TOKEN = re.compile(r"\\[A-Za-z]+|[A-Za-z]+|\d+|.", re.DOTALL)


@given(st.sampled_from(QUESTIONS), st.integers(0, 2**20))
@settings(max_examples=120, deadline=None, derandomize=True)
def test_a_slip_of_the_keyboard_is_decided_or_refused(question: Question, seed: int) -> None:
    """One token changed, dropped or doubled: a decision in bounded time, or Unreadable, and never anything else."""
    rng = random.Random(seed)
    tokens = TOKEN.findall(rng.choice([*question.right, *(text for text, _ in question.wrong)]))
    place = rng.randrange(len(tokens))
    tokens[place] = rng.choice(["", tokens[place] * 2, rng.choice(tokens), "j", "J", "t_1", "2", "]", "softmax_{t}"])
    start = time.process_time()
    try:
        decide(question.reference, "".join(tokens), declarations=question.declarations, target=question.target)
    except Unreadable as error:
        assert 0 <= (error.column or 0) <= len("".join(tokens))  # noqa: PT017   any message will do
    assert time.process_time() - start < 4


RENAMED = {
    "t'": ("s", "t_9", "z'"),
    "t_1": ("a", "p"),
    "t_2": ("c", "q'"),
    "U": ("V", "U_3", "D"),
    "J_1": ("J_7", "J'"),
}


@given(st.permutations(sorted(RENAMED)), st.integers(0, 2**16))
@settings(max_examples=40, deadline=None, derandomize=True)
def test_renaming_bound_indices_never_changes_a_verdict(order: list[str], seed: int) -> None:
    """Bound and left indices may have any names, in the right answers and in the wrong ones."""
    rng = random.Random(seed)
    lines = list(mutate(LINES, rng) if rng.random() < 0.7 else LINES)
    text = "\n".join(line.text() for line in lines) + "\n" + JOIN
    for number, line in enumerate(lines):
        names = {old: rng.choice(RENAMED[old]) for old in order[: rng.randint(1, 4)] if old != "U"}

        def new(indices: tuple[str, ...], names: dict[str, str] = names) -> tuple[str, ...]:
            return tuple(names.get(index, index) for index in indices)

        lines[number] = Line(
            line.name,
            new(line.left),
            tuple((name, new(indices)) for name, indices in line.factors),
            softmax=names.get(line.softmax, line.softmax),
            total=names.get(line.total, line.total),
        )
    renamed = "\n".join(line.text() for line in lines) + "\n" + JOIN

    def verdict(answer: str) -> str:
        return decide(ATTENTION, answer, declarations=HEADS, target="h_out", hints=False).outcome

    assert verdict(text) == verdict(renamed), (text, renamed)

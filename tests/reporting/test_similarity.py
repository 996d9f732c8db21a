"""Similar answers: planted copies are found, a class without contact is not, and what everybody has weighs nothing."""

from __future__ import annotations

import numpy as np
import pytest

from autograder.reporting import report_files
from autograder.reporting.class_marks import ClassMarks, Item, Mark, Pupil
from autograder.reporting.code_passages import passages
from autograder.reporting.similarity import likeness

CODE = Item(notebook="gates", part="cell", maximum=4, kind="function")
TYPED = Item(notebook="gates", part="bound", maximum=2, kind="expression", mistakes=frozenset({"listed"}))

COPIED = """
def cell(x, h):
    # mine
    s = torch.cat([x, h], dim=-1)
    a = torch.tanh(s @ W_c.transpose(0, 1) + b_c)
    g = torch.sigmoid(s @ W_g.transpose(0, 1) + b_g)
    left = g * h
    right = (1 - g) * a
    return left + right
"""
RENAMED = COPIED.replace("s = ", "both   = ").replace("s @", "both @").replace("# mine", "# all my own work").replace(
    "left", "kept"
).replace("right", "fresh")  # fmt: skip
SAME = [
    ("renamed", COPIED, RENAMED),
    ("comments and spaces", COPIED, COPIED.replace("# mine\n", "\n\n").replace(" + ", "  +  ")),
    ("another variant", f"{COPIED}    p = {{'K': 2}}\n", f"{COPIED}    p = {{'K': 3, 'old': True}}\n"),
    ("a docstring", COPIED, COPIED.replace("    # mine", '    """Mine."""')),
]
OTHER = [
    ("another library call", "torch.tanh", "torch.relu"),
    ("another number", "1 - g", "2 - g"),
    ("another order", "(1 - g)", "(g - 1)"),
]


@pytest.mark.parametrize(("name", "one", "other"), SAME, ids=[row[0] for row in SAME])
def test_the_same_program_otherwise_written(name: str, one: str, other: str) -> None:
    """It has the same fingerprints."""
    assert passages(one).found == passages(other).found


@pytest.mark.parametrize(("name", "old", "new"), OTHER, ids=[row[0] for row in OTHER])
def test_another_program(name: str, old: str, new: str) -> None:
    """What differs in its library names, numbers or order differs in some fingerprint."""
    assert passages(COPIED).found != passages(COPIED.replace(old, new)).found


@pytest.mark.parametrize("source", ["", "def f(:", "x = '''", "\0", "a b c", "x = 1"])
def test_what_is_no_program_or_too_short_has_no_passages(source: str) -> None:
    """Nothing is raised."""
    assert not passages(source).found


def program(number: int) -> str:
    """A program of one's own: lines drawn from many that all work."""
    rng = np.random.default_rng(number)
    verbs = ["exp", "tanh", "sigmoid", "relu", "abs", "sin", "square", "sqrt", "log1p", "floor"]
    lines = [
        f"    v{i} = torch.{rng.choice(verbs)}(x {rng.choice(list('+-*/@'))} h) + {rng.integers(9)}" for i in range(9)
    ]
    return "def cell(x, h):\n" + "\n".join(lines) + "\n    return v1\n"


def pupil(number: int, typed: str = "", code: str = "", points: float = 2, **parameters: object) -> Pupil:
    """A student by the typed answer; full points in the code."""
    bound = Mark(status="graded", points=points, typed=typed, codes=(code,) if code else ())
    marks = {CODE.name: Mark(status="graded", points=4), TYPED.name: bound}
    return Pupil(id=f"s{number:02}", marks=marks, parameters={"gates": parameters})


def class_of(*pupils: Pupil) -> ClassMarks:
    """A class."""
    return ClassMarks(assignment="ps1", title="Set 1", items=(CODE, TYPED), pupils=pupils)


def sources(seed: int = 0, **others: str) -> dict[str, dict[str, str]]:
    """Thirty programs of one's own, some replaced."""
    made = {f"s{i:02}": program(100 * seed + i) for i in range(30)}
    return {student: {CODE.name: text} for student, text in (made | others).items()}


CLASS = class_of(*(pupil(i, "x") for i in range(30)))


@pytest.mark.parametrize("seed", range(6))
def test_a_planted_copy_is_first(seed: int) -> None:
    """Renamed, it still has the highest score, far above all others, and its lines are marked."""
    found = likeness(CLASS, sources(seed, s04=COPIED, s17=RENAMED), {})
    first = found.pairs[0]
    assert first.students == ("s04", "s17") and first.bits > 1.9 * sorted(found.scores)[-2]
    assert first.by_chance < 0.05 and all(pair.by_chance > 0.2 for pair in found.pairs[1:])
    assert first.signals[0].lines[0] == first.signals[0].lines[1] != ()
    assert sum(count for _, count in found.histogram) == len(found.scores) == 435


@pytest.mark.parametrize("seed", range(6))
def test_a_class_without_contact_has_no_such_pair(seed: int) -> None:
    """Programs of one's own share next to nothing, and chance explains it."""
    found = likeness(CLASS, sources(seed), {})
    assert max(found.scores) < 8 and all(pair.by_chance > 0.2 for pair in found.pairs)


def test_known_code_weighs_nothing() -> None:
    """What was handed out, or is listed by the problem, is nobody's from anybody."""
    pairs = likeness(CLASS, sources(s04=COPIED, s17=RENAMED), {CODE.name: [COPIED]}).pairs
    assert ("s04", "s17") not in {pair.students for pair in pairs}


def test_what_many_have_weighs_nothing() -> None:
    """A passage of more than a few students is a way to write it."""
    many = {f"s{i:02}": COPIED for i in range(4)}
    assert not [pair for pair in likeness(CLASS, sources(0, **many), {}).pairs if pair.bits > 8]


WRONG = [
    ("two share it", [("2y", ""), ("y*2", ""), ("3y", ""), ("4y", "")], {("s00", "s01")}),
    ("others write it so", [("2y", ""), ("y*3", ""), ("4y", "")], set()),
    ("nobody shares it", [("2y", ""), ("3y", ""), ("4y", "")], set()),
    ("the problem lists it", [("2y", "listed"), ("2y", "listed"), ("3y", "")], set()),
    ("four share it", [("2y", "")] * 4 + [("3y", "")], set()),
]  # fmt: skip


@pytest.mark.parametrize(("name", "typed", "pairs"), WRONG, ids=[row[0] for row in WRONG])
def test_equal_wrong_mathematics(name: str, typed: list[tuple[str, str]], pairs: set[tuple[str, str]]) -> None:
    """Unusual and unlisted: only then it says something. A right answer never does."""
    people = [pupil(i, text, code, points=0) for i, (text, code) in enumerate(typed)]
    right = [pupil(i, "y") for i in range(len(typed), 12)]
    found = likeness(
        class_of(*people, *right), {}, {}, same=lambda item, p, one, two: sorted(one) == sorted(two.replace("*", ""))
    )
    assert {pair.students for pair in found.pairs} == pairs


def test_right_for_another_seat() -> None:
    """Wrong for one's own numbers and right for those of one seat in nineteen: with how many seats would take it."""
    people = [pupil(i, str(10 + i), K=i) for i in range(20)]
    people[3] = pupil(3, "17", points=0, K=3)
    found = likeness(class_of(*people), {}, {}, lambda item, p, typed: typed == str(10 + p["K"]))  # type: ignore[operator]
    (pair,) = found.pairs
    assert pair.students == ("s03", "s07") and pair.signals[0].kind == "seat"
    assert "of 19 other variants 1 would take it" in pair.signals[0].sentence


def test_what_many_seats_would_take_says_nothing() -> None:
    """Nor does an answer that no seat takes."""
    people = [pupil(i, "x", K=i) for i in range(20)]
    people[3] = pupil(3, "17", points=0, K=3)
    for taking in (lambda item, p, typed: p["K"] % 2 == 0, lambda item, p, typed: False):
        assert not likeness(class_of(*people), {}, {}, taking).pairs


def test_coincidences_in_many_parts_are_rarer_by_chance() -> None:
    """A pair alike in three parts is less likely to come about than three pairs alike in one each."""
    items = tuple(Item(notebook="n", part=f"p{i}", maximum=1) for i in range(3))

    def classroom(pairs: list[tuple[int, int]]) -> ClassMarks:
        wrong = {(i, part) for part, pair in enumerate(pairs) for i in pair}

        def mark(i: int, j: int) -> Mark:
            return Mark(status="graded", points=float((i, j) not in wrong), typed=f"{j}" if (i, j) in wrong else "x")

        people = [
            Pupil(id=f"s{i:02}", marks={item.name: mark(i, j) for j, item in enumerate(items)}) for i in range(20)
        ]
        return ClassMarks(assignment="a", title="a", items=items, pupils=tuple(people))

    concentrated = likeness(classroom([(0, 1)] * 3), {}, {}).pairs[0].by_chance
    spread = likeness(classroom([(0, 1), (2, 3), (4, 5)]), {}, {}).pairs[0].by_chance
    assert concentrated < 0.05 and spread >= 2.9


def test_the_page_accuses_nobody() -> None:
    """It says what is shared and that a person must look; no percentage, no probability, and every text is escaped."""
    evil = COPIED.replace("# mine", "# <script>alert(1)</script>")
    text = sources(s04=evil, s17=RENAMED)
    page = report_files.similar_page(likeness(CLASS, text, {}), CLASS, text)
    assert "a person must look" in page and "<mark>" in page and "<script" not in page
    for word in ("cheat", "%", "plagiar", "p-value", "probability"):
        assert word not in page.partition("</style>")[2].lower()

"""Several options, lists of numbers, names, lines in order: what counts as right, with near misses on both sides."""

import contextlib
import io
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import torch

from autograder import Ordering, Selection, Term, Vector
from autograder.core import Answer
from autograder.errors import AuthorError
from autograder.grading.judge import judge_part
from autograder.parts.term import spellings, words_of
from autograder.protocol.codec import plain

KEY = (1, 2, 3)


def judged(part, given, p=None):
    """The outcome of an answer."""
    return judge_part(part, p or {}, lambda question: Answer(value=plain(given)), KEY)


def found(part, given, p=None):
    """Points and the first code that is not ok."""
    outcome = judged(part, given, p)
    code = next((verdict.code for verdict in outcome.verdicts if not verdict.ok), "ok")
    return ("held" if outcome.standing == "held" else outcome.points), code


def said(part, given):
    """What the visible check prints, or why it stops."""
    names, shown = {"__name__": "__main__", part.name: given}, io.StringIO()
    with contextlib.redirect_stdout(shown):
        try:
            exec(f"from autograder import student as form\n{part.local_check({})}", names)
        except Exception as error:
            return str(error)
    return shown.getvalue().partition(" (")[0].strip()


# Several options


def first(p):
    """The first of three right options."""
    return "Warm."


def second(p):
    """The second."""
    return "Wet."


def third(p):
    """The third."""
    return "Blue."


def cold(p):
    """Feel it."""
    return "Cold."


def dry(p):
    """Touch it."""
    return "Dry."


def red(p):
    """Look at it."""
    return "Red." if p.get("red", True) else None


SELECTION = Selection("s", points=6, reference=[first, second, third], mistakes=[cold, dry, red])
LETTER = {function.__name__: letter for letter, function in SELECTION.options({}).items()}
SELECTIONS = [
    ("first second third", 6, "ok"), ("third second first", 6, "ok"), ("first second third first", 6, "ok"),
    ("first second", 4, "missed"), ("third", 2, "missed"),
    ("first second third cold", 4, "cold"), ("first second third cold dry", 2, "cold"),
    ("first second cold", 2, "cold"), ("first second third cold dry red", 0, "cold"),
    ("first dry", 0, "dry"), ("first second dry red", 0, "dry"), ("red", 0, "red"),
]  # fmt: skip
DRESSES = ["{}", "({})", "Options {}", "{}.", "**{}**"]


@pytest.mark.parametrize(("names", "points", "code"), SELECTIONS)
def test_each_option_has_its_share(names, points, code):
    """A right one gives a share, a wrong one takes one, and nothing falls below zero, however letters are written."""
    letters = [LETTER[name] for name in names.split()]
    several = len(letters) > 1
    for given in (letters, tuple(letters), ", ".join(letters), " and ".join(letters).upper(), "; ".join(letters)):
        assert found(SELECTION, given) == (points, code)
    for dress in DRESSES if several else ():
        assert found(SELECTION, dress.format(", ".join(letters))) == (points, code)
    if len(set(letters)) == len(letters):
        assert found(SELECTION, "".join(letters)) == (points, code)


def test_the_texts_of_options_are_read():
    """In a list, as in a choice."""
    assert found(SELECTION, ["Warm.", "wet", "blue"]) == (6, "ok")


IN_DOUBT = ["a or b", "not a", "all", "none", "a, z", "a-c", "ab, c", "aa", 1, {"a": 1}, "a, b?c", "abxyz", 3.5]


@pytest.mark.parametrize("given", IN_DOUBT)
def test_what_names_no_options_for_sure_is_held(given):
    """A person looks at words, at ranges, and at a letter that there is not beside one that there is."""
    assert found(SELECTION, given) == ("held", "unreadable")


@pytest.mark.parametrize(
    ("given", "code"), [("", "missing"), ([], "missing"), (None, "missing"), ("z", "no_option"), ("x, y", "no_option")]
)
def test_nothing_and_no_option_are_lost(given, code):
    """So are empty answers, and letters of which there is none."""
    assert found(SELECTION, given) == (0, code)


def test_as_many_wrong_options_as_right_ones_are_needed():
    """In every variant: else all letters at once would earn."""
    with pytest.raises(AuthorError, match="3 right options and 2 wrong ones"):
        SELECTION.statement({"red": False})
    with pytest.raises(AuthorError, match="lists the functions"):
        Selection("s", points=1, reference=first, mistakes=[cold])


def test_further_options_move_with_the_variant():
    """The order follows from the parameters, not from what is right."""
    orders = {SELECTION.right({"K": number}) for number in range(20)}
    assert len(orders) > 8


# A list of numbers


def exact(p):
    """Three counts."""
    return [1024, 7, 0]


def swapped(p):
    """These are the other way round."""
    return [7, 1024, 0]


def decimals(p):
    """Three shares."""
    return [0.5, 0.002, 0.0]


WHOLE = Vector("v", points=2, reference=exact, mistakes=[swapped])
NEAR = Vector("v", points=2, reference=decimals, rtol=0.01)
VECTORS = [
    (WHOLE, [1024, 7, 0], "ok"), (WHOLE, (1024, 7, 0), "ok"), (WHOLE, np.array([1024, 7, 0]), "ok"),
    (WHOLE, torch.tensor([1024.0, 7.0, 0.0]), "ok"), (WHOLE, ["1,024", "7", "0"], "ok"), (WHOLE, "1024, 7, 0", "ok"),
    (WHOLE, "[1024 7 0]", "ok"), (WHOLE, "1,024; 7; 0", "ok"), (WHOLE, "1,024, 7, 0", "ok"), (WHOLE, "1024,7,0", "ok"),
    (WHOLE, "(1024, 7, 0)", "ok"), (WHOLE, "1024\n7\n0", "ok"), (WHOLE, [Fraction(2048, 2), 7, 0], "ok"),
    (WHOLE, "1 024, 7, 0", "ok"), (WHOLE, [2**10, 7.0, -0.0], "ok"),
    (WHOLE, [1024, 7, 1e-300], "value"), (WHOLE, [1024, 7.0000001, 0], "value"), (WHOLE, [1023, 7, 0], "value"),
    (WHOLE, [7, 1024, 0], "swapped"), (WHOLE, "7, 1024, 0", "swapped"), (WHOLE, [0, 7, 1024], "order"),
    (WHOLE, [1024, 7], "length"), (WHOLE, [1024, 7, 0, 0], "length"), (WHOLE, [1024], "length"),
    (WHOLE, [1024, 7, float("nan")], "finite"), (WHOLE, [1024, 7, float("inf")], "value"),
    (WHOLE, [], "missing"), (WHOLE, "", "missing"), (WHOLE, None, "missing"),
    (WHOLE, ["1.024", "7", "0"], "unreadable"), (WHOLE, [[1024, 7, 0]], "unreadable"), (WHOLE, 1024, "unreadable"),
    (WHOLE, torch.tensor([[1024, 7, 0]]), "unreadable"), (WHOLE, [1024, 7, "none"], "unreadable"),
    (WHOLE, {"a": 1024, "b": 7, "c": 0}, "unreadable"), (WHOLE, [True, 7, 0], "unreadable"),
    (WHOLE, "1024, 7 and 0", "unreadable"), (WHOLE, [1024, 7, None], "unreadable"),
    (WHOLE, "v = 1024, 7, 0", "unreadable"),
    (NEAR, [0.5, 0.002, 0], "ok"), (NEAR, [0.5049, 0.00198001, 0.0], "ok"), (NEAR, [0.5, 0.002, 1.9e-5], "ok"),
    (NEAR, [0.5051, 0.002, 0.0], "value"), (NEAR, [0.5, 0.0020201, 0.0], "value"),
    (NEAR, [0.5, 0.002, 2.1e-5], "value"),
    (NEAR, [0.5, 0.004, 0.0], "value"), (NEAR, [0.5, -0.002, 0.0], "value"), (NEAR, "0,5; 0,002; 0", "unreadable"),
    (NEAR, ["1/2", "1/500", "0"], "ok"),
]  # fmt: skip


@pytest.mark.parametrize(("part", "given", "code"), VECTORS, ids=[f"{row[1]!r}" for row in VECTORS])
def test_lists_of_numbers_in_any_dress(part, given, code):
    """Each entry is compared by itself; what can be read in two ways, or in none, is a person's."""
    points = {"ok": 2, "unreadable": "held"}.get(code, 0)
    assert found(part, given) == (points, code)


def test_a_list_may_have_further_right_answers():
    """Given as a list or as text; what is none is refused."""
    assert found(WHOLE.accepting([[1, 2, 3], "4, 5, 6"]), [4, 5, 6]) == (2, "ok")
    with pytest.raises(AuthorError, match="lists of numbers"):
        WHOLE.accepting(["seven"])
    without = replace(WHOLE, reference=lambda p: [1, float("nan")])
    with pytest.raises(AuthorError, match="gives a list of numbers"):
        without.right({})


# A name


def poisson(p):
    """That counts events in a time."""
    return "Poisson (distribution)"


GEOMETRIC = Term(
    "t",
    points=1,
    reference=lambda p: "geometric (distribution)",
    forms=["geometric law|Pascal law of one success"],
    mistakes=[poisson],
)
CLOSED = replace(GEOMETRIC, complete=True)
TERMS = [
    ("geometric", "ok", "ok"), ("Geometric distribution", "ok", "ok"), ("the geometric distribution.", "ok", "ok"),
    ("GEOMETRIC-DISTRIBUTION", "ok", "ok"), (" *geometric* ", "ok", "ok"), ('"geometric"', "ok", "ok"),
    ("a geometric  law", "ok", "ok"), ("géometric", "ok", "ok"), ("pascal law of one success", "ok", "ok"),
    ("Poisson", "poisson", "poisson"), ("the poisson distribution", "poisson", "poisson"),
    ("geometrical", "other_words", "other_words"), ("geometirc", "other_words", "other_words"),
    ("not geometric", "other_words", "other_words"), ("geometric or Poisson", "other_words", "other_words"),
    ("shifted geometric distribution", "other_words", "other_words"), ("hypergeometric", "other_words", "value"),
    ("exponential", "other_words", "value"), ("law", "other_words", "value"), ("distribution", "other_words", "value"),
    ("x" * 200, "other_words", "other_words"),
    ("", "missing", "missing"), ("  ", "missing", "missing"), (7, "unreadable", "unreadable"),
    (["geometric"], "unreadable", "unreadable"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "open_code", "closed_code"), TERMS)
def test_names_are_right_in_their_accepted_forms(given, open_code, closed_code):
    """Other words are a person's; where the list is complete, they are lost unless they may be meant as right ones."""
    for part, code in ((GEOMETRIC, open_code), (CLOSED, closed_code)):
        points = {"ok": 1, "other_words": "held", "unreadable": "held"}.get(code, 0)
        assert found(part, given) == (points, code)


FORMS = [
    ("a", ["a"]), ("a|b c", ["a", "b c"]), ("(very) big", ["very big", " big"]),
    ("x(1)(2)", ["x12", "x1", "x2", "x"]),
]  # fmt: skip


@pytest.mark.parametrize(("form", "texts"), FORMS)
def test_what_a_form_stands_for(form, texts):
    """Words in brackets may be left out; a bar stands between alternatives."""
    assert spellings(form, "t") == texts


@pytest.mark.parametrize("form", ["(a", "a)", "((a)) b", "(a)" * 9])
def test_forms_that_are_none(form):
    """Brackets in brackets, and too many of them."""
    with pytest.raises(AuthorError, match="brackets"):
        spellings(form, "t")


def test_a_form_that_may_be_empty_is_refused():
    """It would accept what says nothing."""
    with pytest.raises(AuthorError, match="may be empty"):
        replace(GEOMETRIC, forms=["(law)"]).accepted({})


def test_an_article_alone_is_a_word():
    """What remains is compared as it is."""
    assert (words_of("The"), words_of("the A"), words_of("A-B  c!")) == ("the", "a", "b c")


# Lines in order


def lines(p):
    """What is done with a book."""
    return {"open": "Open.", "read": "Read.", "note": "Note.", "close": "Close.", "leave": "Leave."}


def others(p):
    """What is not."""
    return {"burn": "Burn."}


def closed_too_early(p):
    """You closed it before you read it."""
    return ["open", "close", "read", "note", "leave"]


ORDERING = Ordering(
    "o", points=3, reference=lines, others=others, mistakes=[closed_too_early],
    after={"read": "open", "close": "read", "leave": "close", "note": "open"},
)  # fmt: skip
PLACE = {name: letter for letter, name in ORDERING.letters({}).items()}
ORDERS = [
    ("open read note close leave", "ok"), ("open note read close leave", "ok"), ("open read close note leave", "ok"),
    ("open read close leave note", "ok"),
    ("open close read note leave", "closed_too_early"), ("open close note read leave", "too_early"),
    ("note open read close leave", "too_early"), ("open read note leave close", "too_early"),
    ("open read close leave", "missing_line"), ("open read note close leave burn", "not_needed"),
    ("open burn close leave note", "not_needed"), ("open read note close leave open", "twice"),
]  # fmt: skip


@pytest.mark.parametrize(("names", "code"), ORDERS)
def test_every_order_that_the_dependencies_allow(names, code):
    """Is right, and no other one, however the letters are written."""
    letters = [PLACE[name] for name in names.split()]
    for given in (letters, ", ".join(letters), " -> ".join(letters).upper(), "\n".join(letters)):
        assert found(ORDERING, given) == (3 if code == "ok" else 0, code)
    if len(set(letters)) == len(letters):
        assert found(ORDERING, "".join(letters)) == (3 if code == "ok" else 0, code)


@pytest.mark.parametrize("given", ["a or b", "a b z", 7, "first a, then b", {"a": 1}, "aab"])
def test_what_is_no_order_is_held(given):
    """A person looks."""
    assert found(ORDERING, given) == ("held", "unreadable")


@pytest.mark.parametrize(
    ("word", "value", "message"),
    [
        ("after", {"read": "opne"}, "did you mean open"),
        ("after", {"open": "read"}, "has 'open' before 'read'"),
        ("after", {"read": "open"}, "are right, not 5% at most"),
        ("others", lambda p: {"open": "Burn."}, "the same name or text"),
        ("others", lambda p: {"burn": "Open."}, "the same name or text"),
    ],
)
def test_slips_of_an_author(word, value, message):
    """Names that there are not, a reference that is wrong, lines that nearly any order satisfies, equal lines."""
    with pytest.raises(AuthorError, match=message):
        replace(ORDERING, **{word: value}).letters({})


def test_no_order_shown_is_right():
    """Whatever the variant, neither from the beginning nor from the end."""
    for number in range(40):
        for given in ORDERING.blind_answers({"K": number}, ()).values():
            assert found(ORDERING, given, {"K": number})[0] != 3


# The visible checks

VISIBLE = [
    (SELECTION, "B, a", "s: read as a, b."), (SELECTION, "ax", "s must be letters from a, b, c, d, e, f"),
    (WHOLE, "1,024; 7; 0", "v: read as 1024, 7, 0."), (WHOLE, [1, 2], "v has 2 entries; write 3."),
    (WHOLE, [1, 2.5, 3], "entry 2 of v is no whole number"), (WHOLE, "many", "v is a string; write a list"),
    (GEOMETRIC, "The Law", "t: read as 'law'."), (GEOMETRIC, "!", "t is empty."),
    (GEOMETRIC, 3, "t is a whole number"),
    (ORDERING, "b a", "o: read as b, a."), (ORDERING, "a b a", "o names line a twice."),
    (ORDERING, 5, "o must be letters"),
]  # fmt: skip


@pytest.mark.parametrize(("part", "given", "start"), VISIBLE)
def test_what_the_visible_check_says(part, given, start):
    """How an answer is read, or what is malformed about it; never whether it is right."""
    assert said(part, given).startswith(start)


@pytest.mark.parametrize("part", [SELECTION, WHOLE, GEOMETRIC, ORDERING], ids=lambda part: part.kind)
def test_the_solution_earns_everything(part):
    """As it stands in the source notebook; what takes no thought is lost, and what is blind earns nothing."""
    names = {}
    exec(part.solution_cell({}), names)
    assert found(part, names[part.name])[1] == "ok"
    assert {judged(part, given).standing for given in part.trivial_answers({}).values()} == {"lost"}
    assert all(found(part, given)[0] in (0, "held") for given in part.blind_answers({}, ["x + y"]).values())

"""Receipts as texts: what is signed is read back, and whatever is changed in it is noticed."""

import html
import json

import pytest

from autograder.authoring.commitment import canonical
from autograder.errors import StaffError
from autograder.grading.receipt import Judged, Receipt, public_key, read, signed

KEY, OTHER = b"k" * 32, b"o" * 32
PART = Judged(
    standing="lost", judged=0.0, of=4.0, points=3.0, by="person",
    verdicts=(("close", "values", False), ("form", "<ok>", True), ("g", "x", None)),
)  # fmt: skip
RECEIPT = Receipt(
    assignment="ps1", notebook="tiny", student="zoë <3", commitment="c" * 64, digest="d" * 64,
    seed=7, version=2, asked=1, parts={"centre": PART}, beside={"data.csv": "e" * 64}, who="zoë",
    salt="00", late=0.5, transcribed=True,
)  # fmt: skip


def test_a_receipt_is_read_back_from_text_and_from_a_page():
    """Also where a name holds signs that mean something in HTML."""
    text = signed(RECEIPT, KEY)
    page = f'<body><pre>no receipt</pre><pre id="receipt">{html.escape(text, quote=False)}</pre></body>'
    for shown in (read(text), read(page), read(json.dumps(json.loads(text), indent=3))):
        assert shown.receipt == RECEIPT
        assert shown.is_signed(public_key(KEY))


def changed(path, value):
    """The text of the receipt with another value at a path, and the signature that it had."""
    said = json.loads(signed(RECEIPT, KEY))
    place = said
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return json.dumps(said)


CHANGES = {
    "another student": (("student",), "ada"),
    "more points": (("parts", "centre", "points"), 4.0),
    "the same points, as an integer": (("parts", "centre", "points"), 3),
    "a verdict": (("parts", "centre", "verdicts", 0, 2), True),
    "the judge in a person's place": (("parts", "centre", "by"), "judge"),
    "a part more": (("parts", "axis"), json.loads(canonical(vars(PART)))),
    "another seed": (("seed",), 8),
    "nothing taken off": (("late",), 0.0),
    "other tests": (("commitment",), "f" * 64),
    "no signature": (("signature",), ""),
    "a signature that is none": (("signature",), "zz"),
    "another signature": (("signature",), "00" * 64),
}


@pytest.mark.parametrize(("path", "value"), CHANGES.values(), ids=CHANGES)
def test_a_changed_receipt_is_not_signed(path, value):
    """Whatever is changed, the signature is not one of it."""
    shown = read(changed(path, value))
    assert not shown.is_signed(public_key(KEY))


def test_another_key_signs_nothing_here():
    """A receipt that somebody signed with a key of their own; and a public key that is none."""
    assert not read(signed(RECEIPT, OTHER)).is_signed(public_key(KEY))
    assert not read(signed(RECEIPT, KEY)).is_signed("00")


UNREADABLE = {
    "no JSON": "a page without one",
    "a list": "[1]",
    "deep": "[" * 100_000,
    "a form of later": changed(("format",), 2),
    "a text for a number": changed(("seed",), "7"),
    "a list for parts": changed(("parts",), []),
    "a word more": changed(("more",), 1),
    "a part without points": changed(("parts", "centre"), {"standing": "lost"}),
    "a verdict of two": changed(("parts", "centre", "verdicts"), [["close", "values"]]),
}


@pytest.mark.parametrize("text", UNREADABLE.values(), ids=UNREADABLE)
def test_what_is_no_receipt_is_refused_in_a_sentence(text):
    """Anything may stand in a file that somebody calls a receipt."""
    with pytest.raises(StaffError, match="there is no receipt that can be read"):
        read(text)

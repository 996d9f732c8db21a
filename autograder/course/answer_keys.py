"""By what held answers are known as the same one: the question, what is right there, why it waits, and the answer."""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from autograder.core import FAILURES, Outcome, Parameters, Part, Verdict
from autograder.grading.feedback import decides_all
from autograder.grading.report import bound_to, in_one_text

_A_GRADER = re.compile(r"\s*A (?:grader|person) will .*$", re.DOTALL)
_CARET = re.compile(r"^ *\^$", re.MULTILINE)
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
RIGHT = "⟨right⟩"  # where the right number of the student's own variant stands
_ALL_CODES = ("unreadable", "too_long", *FAILURES)


@dataclass(frozen=True, kw_only=True)
class Key:
    """By what answers are the same: equal keys are the same answer to the same question.

    `asks` is what is right there, `declared` what an answer may use, `reason` why a person must look, where that is not
    the comparison itself, `earlier` the wrong answer that this one may follow from, and `spelled` the answer without
    spaces. `typed`, `right` and `p` are the answer, the reference and the variant's parameters as text and data, where
    the answer is typed; `compared` tells that it could be read.
    """

    item: str
    asks: str = ""
    declared: str = ""
    reason: str = ""
    earlier: str = ""
    spelled: str
    compared: bool = False
    typed: str = field(default="", compare=False)
    right: str = field(default="", compare=False)
    p: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def question(self) -> tuple[object, ...]:
        """What answers have in common that can be the same in two variants."""
        return (self.item, self.declared, self.reason, self.earlier, self.compared)


def known_key(known: Mapping[str, Any]) -> Key:
    """The key that the journal keeps of an answer."""
    return Key(**{each.name: known[each.name] for each in fields(Key)})


def key_of(
    item: str,
    outcome: Outcome | None,
    part: Part | None,
    p: Parameters,
    value: Any,
    text: str,
    pictures: Mapping[str, Any],
    report: Any,
    own: str,
) -> Key:
    """Code is the same where the whole notebook is, since its cells need each other; pictures are nobody else's."""
    if part is None or outcome is None or decides_all(outcome) or pictures:
        return Key(item=item, reason=reason(outcome), spelled=own)
    told: dict[str, Any] = {"item": item, "asks": _asks(part, p), "declared": _declared(part, p)}
    told["earlier"] = _earlier(part, report)
    if part.judged_by_person:
        words = " ".join(str(value if value is not None else text).split())
        unwritten = value is None and any(verdict.code == "missing" for verdict in outcome.verdicts)
        return Key(**told, spelled=own if unwritten else words)  # on paper, say: nobody knows yet what it is
    if part.runs or value is None:
        return Key(**told, reason=reason(outcome), spelled=f"{report.digest} {text}" if report.digest else own)
    if not isinstance(value, str):
        text = in_one_text(value) if part.formula else ""
        if not text:
            return Key(**told, reason=reason(outcome), spelled=spelled_of(repr(value)))
        value = text
    if _by_its_kind(part, outcome) and (own := _around_the_right(part, p, spelled_of(value))):
        return Key(item=item, earlier=told["earlier"], asks=RIGHT, spelled=own)
    told |= {"spelled": spelled_of(value), "typed": value}
    if part.formula:
        told |= {"right": in_one_text(part.answer_under(p)), "p": _plain(p)}
    if part.formula and _by_its_kind(part, outcome, but=_ALL_CODES):
        return Key(**told, compared=True)
    return Key(**told, reason=reason(outcome))


def spelled_of(text: str) -> str:
    """A text without spaces."""
    return "".join(text.split())


def _plain(value: Any) -> Any:
    """Parameters as JSON has them."""
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)


def _around_the_right(part: Part, p: Parameters, spelled: str) -> str:
    """A text with the variant's right number in it, which is put aside: "24parameters" here is "60parameters" there.

    Empty where it holds another number, or none, or what is right is no number.
    """
    right = part.answer_under(p)
    if not _is_number(right):
        return ""
    text = NUMBER.sub(lambda found: RIGHT if str(right) == found[0] else found[0], spelled)
    return text if RIGHT in text and not any(sign.isdigit() for sign in text) else ""


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _by_its_kind(part: Part, outcome: Outcome, but: Collection[str] = ()) -> bool:
    """Whether it waits for what the part's own kind found alone, and for none of some codes."""
    waits = [verdict for verdict in outcome.verdicts if verdict.ok is None]
    return all(verdict.check == part.kind and verdict.code not in but for verdict in waits)


def reason(outcome: Outcome | None) -> str:
    """Why a person must look."""
    waits = [verdict for verdict in outcome.verdicts if verdict.ok is None] if outcome else []
    return "; ".join(dict.fromkeys(why_in_a_line(verdict) or verdict.code for verdict in waits))


def why_in_a_line(verdict: Verdict) -> str:
    """What a verdict says, without the line that shows where reading stopped, which depends on spaces."""
    text = _A_GRADER.sub("", verdict.message).strip()
    return " ".join(_CARET.split(text)[-1].split())


def _asks(part: Part, p: Parameters) -> str:
    """What is right: equal where variants ask for the same."""
    with contextlib.suppress(Exception):  # a fault of the problem's is told where it is judged
        right = part.answer_under(p)
        numbers = _is_number(right) or (isinstance(right, list | tuple) and all(map(_is_number, right)))
        if part.formula or part.judged_by_person or numbers:  # the letters of options mean others in other variants
            return _digest(right)
    return _digest(sorted(p.items(), key=str))


def _declared(part: Part, p: Parameters) -> str:
    """What a typed answer may use."""
    return _digest(dict(part.declarations(p))) if hasattr(part, "declarations") else ""


def _digest(value: object) -> str:
    return hashlib.sha256(repr(value).encode()).hexdigest()[:32]


def _earlier(part: Part, report: Any) -> str:
    """The answer from which this one may follow, unless it is the right one."""
    before = next((each for each in report.outcomes if each.part == part.follows), None) if part.follows else None
    if before is None or before.standing == "earned":
        return ""
    return "".join(repr(bound_to(before.part, before.answers)).split())

"""Puts one part of a problem to the test under one variant: who hands in what, and what the judge says to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from autograder.audit.second_route import read_again
from autograder.audit.simulated_answers import (
    Pairs,
    blind,
    foreseen,
    handed_in,
    thoughtless,
    untouched,
    visible_check,
)
from autograder.core import FAILURES, LACKS, Ask, Case, Outcome, Parameters, Part, Problem, Verdict
from autograder.errors import AuthorError
from autograder.grading.judge import award, carrying, judge_part
from autograder.maths import guard
from autograder.protocol.codec import encode
from autograder.protocol.respondents import Interview, Known, known

# Codes that verdicts have without any mistake: a mistake of such a name could not be told from them.
RESERVED = {*FAILURES, *LACKS, "ok", "value", "changed", "shape", "dtype", "type", "finite", "keys", "length",
            "detached", "no_option", "not_reached", "person"}  # fmt: skip


REBOUND = 3  # wrong answers to which an earlier name is bound again


@dataclass(kw_only=True)
class Findings:
    """Collects a part's sentences over the variants: each subject is reported once, under its first parameters."""

    where: str
    stopped: bool = False  # not everybody's answer was judged
    faults: dict[str, str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    survivors: set[str] = field(default_factory=set)
    losers: set[str] = field(default_factory=set)
    made: set[str] = field(default_factory=set)
    weak: dict[str, set[str]] = field(default_factory=dict)
    reread: dict[str, str] = field(default_factory=dict)  # closed forms read a second time, or why not
    shown: dict[str, set[bytes]] = field(default_factory=dict)  # the values of each hidden argument
    shapes: dict[str, set[tuple[int, ...]]] = field(default_factory=dict)

    def fault(self, subject: str, sentence: str) -> None:
        """Something the author must mend."""
        self.faults.setdefault(subject, f"{self.where}: {sentence}")

    def note(self, subject: str, sentence: str) -> None:
        """Something the author may accept."""
        self.notes.setdefault(subject, f"{self.where}: {sentence}")

    def add(self, other: Findings) -> None:
        """What was found under the next variant."""
        self.stopped |= other.stopped
        self.losers |= other.losers
        self.survivors |= other.survivors
        self.made |= other.made
        for who, why in other.reread.items():
            self.reread[who] = self.reread.get(who) or why
        for ours, theirs in ((self.faults, other.faults), (self.notes, other.notes)):
            for subject, sentence in theirs.items():
                ours.setdefault(subject, sentence)
        for drawn_by, unseen in other.weak.items():
            if left := unseen - self.losers:
                self.weak.setdefault(drawn_by, set()).update(left)
        for name, values in other.shown.items():
            self.shown.setdefault(name, set()).update(values)
        for name, shapes in other.shapes.items():
            self.shapes.setdefault(name, set()).update(shapes)

    def narrow(self) -> Iterator[str]:
        """What the hidden inputs never vary: slips that no case could show."""
        for name, values in self.shown.items():
            if len(values) == 1:
                yield f"hidden argument {name!r} is the same in every case: an answer that ignores it would earn marks"
        for name, shapes in self.shapes.items():
            for axis, sizes in enumerate(zip(*shapes, strict=False)):
                if set(sizes) == {1}:
                    always = f"axis {axis} of hidden argument {name!r} has size 1 in every case"
                    yield f"{always}: mistakes along it go unnoticed"


def heard(found: Findings, p: Parameters, step: Callable[..., Any], *arguments: Any) -> Any:
    """What one step gives; whatever it raises is a fault of the author's, and gives None."""
    try:
        return step(*arguments, found)
    except AuthorError as error:
        found.stopped = True
        sentence = error.message
        for known in (f"{found.where}: ", f"{found.where.split(', ')[-1]}: "):  # the place is said once
            sentence = sentence.removeprefix(known)
        found.faults.setdefault(
            error.code, sentence if sentence.startswith("problems/") else f"{found.where}: {sentence}"
        )
    except Exception as error:
        found.stopped = True
        found.fault("raised", f"{type(error).__name__}: {error} (under {p})")
    return None


def examine(problem: Problem, part: Part, p: Parameters, key: tuple[int, ...], section: str, found: Findings) -> None:
    """Everybody hands in, under one variant's parameters; `section` is what the student reads of this part."""
    for mistake in part.mistakes:
        if mistake.__name__ in RESERVED:
            found.fault(mistake.__name__, f"mistake {mistake.__name__!r} has the name of a verdict's code; rename it")
    for name in sorted({"e", "pi", "inf"} & set(part.declarations(p).get("domains", {}))):
        found.note(f"letter {name}", f"the variable {name!r} hides the constant of that name")
    pairs = _reference(problem, part, p, key, found)
    if pairs is None:
        found.stopped = True
        return
    check = part.local_check(p)  # which may run the reference: made once for all right answers
    _visible(problem, part, p, (check, part.solution_cell(p)), "the reference", found)
    for equivalent in (item for item in part.right_answers() if part.applies(item, p)):
        _equivalent(problem, part, equivalent, p, key, (check, pairs), found)
    read_again(part, p, found)
    for mistake in (item for item in part.mistakes if part.applies(item, p)):
        found.made.add(mistake.__name__)
        _mistake(problem, part, mistake, p, key, found)
    terse = part.terse()  # what a student would read of a wrong answer is looked for only where it is not lost
    for name, ask in (("the unchanged cell", untouched(problem, part, p)), *thoughtless(part, p)):
        if not _lost(_judged(terse, p, ask, key)) and not _lost(outcome := _judged(part, p, ask, key)):
            sentence = f"a trivial answer, {name}, {_earns(outcome)} under {p}; it must earn nothing"
            found.fault(f"trivial {name}", sentence)
    _blind(problem, (part, terse), p, key, section, found)
    _weak_inputs(part, part.kept_cases(p, key), found)


def _blind(
    problem: Problem, parts: tuple[Part, Part], p: Parameters, key: tuple[int, ...], section: str, found: Findings
) -> None:
    """Who does not know the answer gets nothing, also by binding the name of an earlier part again.

    `parts` are the part, and the same without what a student would read.
    """
    part, terse = parts
    answers = list(blind(part, p, section))
    before = [earlier for earlier in problem.parts if earlier.name == part.follows]
    for earlier in before:
        ask = handed_in(problem, earlier, earlier.solution_cell(p))
        judged = [judge_part(earlier, p, ask, key)]
        given = getattr(earlier, "given", None)
        wrong = [given(item, p) for item in earlier.mistakes if given and earlier.applies(item, p)]
        for value, cell in part.bound_again(p, wrong[:REBOUND]):
            ask = carrying(part, handed_in(problem, part, f"{earlier.name} = {value!r}\n{cell}"), judged)
            answers.append((f"{earlier.name} = {value!r} before it", ask))
    for name, ask in answers:
        if _earned(_judged(terse, p, ask, key)) and _earned(outcome := _judged(part, p, ask, key)):
            sentence = f"an answer without knowledge, {name}, {_earns(outcome)} under {p}; it must earn nothing"
            found.fault(f"blind {name}", sentence)


def _lost(outcome: Outcome) -> bool:
    return outcome.standing == "lost" and outcome.points == 0


def _earned(outcome: Outcome) -> bool:
    return outcome.points > 0 or outcome.standing == "earned"


def _equivalent(
    problem: Problem,
    part: Part,
    equivalent: Any,
    p: Parameters,
    key: tuple[int, ...],
    shared: tuple[str, Pairs],
    found: Findings,
) -> None:
    """An equivalent earns full marks; `shared` by all are the visible check, and what is asked in pairs."""
    name, cell = name_of(equivalent), part.answer_cell(equivalent, p)
    check, pairs = shared
    _visible(problem, part, p, (check, cell), f"equivalent {name!r}", found)
    outcome = _judged(part, p, handed_in(problem, part, cell, pairs), key)
    if outcome.standing != "earned":
        found.survivors.add(f"equivalent {name}")
        found.fault(f"equivalent {name}", f"equivalent {name!r} {_earns(outcome)} under {p}; it must earn full marks")


def _visible(problem: Problem, part: Part, p: Parameters, cells: tuple[str, str], who: str, found: Findings) -> None:
    """A right answer must not be told that it is malformed: `cells` are the visible check and the answer."""
    place = ("visible check", problem.slug, part.name, *cells)
    if said := guard.once(place, lambda: visible_check(problem, part, *cells)):
        found.fault(f"visible {who}", f"the visible check rejects {who}, which is correct: {said} (under {p})")


def _judged(part: Part, p: Parameters, ask: Ask, key: tuple[int, ...]) -> Outcome:
    """The judge's outcome; an author's exception comes through, where grading would hold the part."""
    verdicts: list[Verdict] = []
    remembering = ask if isinstance(ask, Known | Interview) else Interview(ask)
    for verdict in part.judging(p, remembering, key):
        verdicts.append(verdict)
        if verdicts[0].ok is False:
            break  # a lost gate earns nothing, whatever comes after
    standing, points = award(part, verdicts)
    return Outcome(
        part=part.name, standing=standing, points=points, max_points=float(part.points), verdicts=tuple(verdicts)
    )


def _reference(problem: Problem, part: Part, p: Parameters, key: tuple[int, ...], found: Findings) -> Pairs | None:
    """The solution cell earns all (or waits for a person), and gives the same answers twice; None where not.

    What comes back is what right answers are asked in pairs.
    """
    if unstable := part.unstable(p, key):
        found.fault("unstable", f"{unstable}; it must be the same under the same parameters")
        return None
    asked = Interview(handed_in(problem, part, part.solution_cell(p)))
    outcome = _judged(part, p, asked, key)
    if outcome.standing != part.at_best:
        found.fault("reference", f"the reference {_earns(outcome)} under {p}; it must earn full marks")
        return None
    return foreseen(part, [question for question, _ in asked.answers])


def _mistake(
    problem: Problem, part: Part, mistake: Callable[..., Any], p: Parameters, key: tuple[int, ...], found: Findings
) -> None:
    """A mistake loses points, and its student reads its own hint.

    Of code, both the cell and the function that it was made from are run. Once they have given the same in every case
    of a variant, the function answers for its cell under the next ones.
    """
    name, names = mistake.__name__, [item.__name__ for item in part.mistakes]
    alike = guard.once(("mistakes whose cells are their functions", problem.slug, part.name), set)
    by_function = name in alike
    ask = known(mistake, part.name, p) if by_function else handed_in(problem, part, part.answer_cell(mistake, p))
    outcome = _judged(part, p, ask, key)
    if outcome.standing != "lost" or outcome.points >= outcome.max_points:
        found.survivors.add(name)
        found.fault(name, f"mistake {name!r} {_earns(outcome)} under {p}: {part.if_kept}")
        return
    if outcome.points > 0:
        found.losers.add(name)
        found.note(
            f"partial {name}",
            f"mistake {name!r} keeps {outcome.points:g} of {part.points:g} points (the prerequisite holds)",
        )
    lost = next(verdict for verdict in outcome.verdicts if verdict.ok is False)
    if lost.code not in names:
        found.fault(
            f"hint {name}",
            f"mistake {name!r} loses marks, but the student reads {lost.message!r} ({lost.code}) instead of its hint",
        )
    elif lost.code != name:
        found.note(f"same {name}", f"mistakes {lost.code!r} and {name!r} cannot be told apart under {p}")
    elif part.runs:
        alike.add(name)


def _weak_inputs(part: Part, cases: list[Case], found: Findings) -> None:
    """Notes which mistakes pass every check on the first hidden case of a draw (if all cases were like it, they would
    earn), and what the cases have for arguments."""
    first: dict[str, Case] = {}
    for case in cases:
        if case.drawn_by:
            first.setdefault(case.drawn_by, case)
        for name, value in case.arguments.items():
            found.shown.setdefault(name, set()).add(encode(value))
            if hasattr(value, "shape"):
                found.shapes.setdefault(name, set()).add(tuple(value.shape))
    for drawn_by, case in first.items():
        for mistake in part.mistakes:
            if mistake.__name__ not in found.losers and part.passes(mistake, case):
                found.weak.setdefault(drawn_by, set()).add(mistake.__name__)


def name_of(subject: Any) -> str:
    """A function's name, or the text of an equivalent that is no function."""
    return str(getattr(subject, "__name__", subject))


def _earns(outcome: Outcome) -> str:
    """'earns 2 of 5 points (shape: the result has …)', in an author's words."""
    said = next((verdict for verdict in outcome.verdicts if not verdict.ok), None)
    reason = f" ({said.code}: {_reason(said)})" if said else ""
    if outcome.standing == "held":
        return f"could not be judged{reason}"
    return f"earns {outcome.points:g} of {outcome.max_points:g} points{reason}"


def _reason(verdict: Verdict) -> str:
    """The last line of a traceback, or of what a student reads; where that sends for a grader, the line before it."""
    lines = (verdict.staff.strip() or verdict.message).splitlines() or [""]
    return lines[-2] if verdict.code == "unreadable" and len(lines) > 1 else lines[-1]

"""Open questions, judged by properties: normalised, depends on each input, uses only what is given, no leak.

For "give a definition of P(w_t | the other words)" many answers are right; each must sum to one over w, look
at both contexts, and not read the states that have seen w_t. A decision `equal` says that the property holds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from autograder.errors import AuthorError
from autograder.maths.decision import Decision, different, equal, undecided
from autograder.maths.tensor.checking import check, inputs, interpret
from autograder.maths.tensor.comparison import TOLERANCE
from autograder.maths.tensor.core_tree import reads, variables
from autograder.maths.tensor.declarations import Declarations, tensor_key
from autograder.maths.tensor.number_systems import Arithmetic, Array, PrimeField
from autograder.maths.tensor.subject import Subject, decided
from autograder.maths.tensor.system_texts import Text, system_of
from autograder.maths.tensor.tensor_tree import Expr, Index, Opaque, Pieces, Tensor, children

TRIALS = 2
SIGNS = 8
STRETCHED = (1.0, 4.0)  # in turn: a weight between -1 and 1 leaves a mixture nearly always positive
PLACES = (2, 5)  # of an index of the context: what holds at one place only is no property


def fits(answer: Text, target: str, *, declarations: Declarations | None = None) -> Decision:
    """Whether the answer has a meaning with the declared shapes and defines the target; own parameters are allowed.

    Codes `fits`, or that of the fault. Undecided where a given tensor is defined anew (`redefined`), and where there
    is a fault with a concatenation or a function that is only named in the middle of a formula (`nameless`).
    """
    subject = Subject(answer, target, declarations)
    if taken := sorted(subject.found.own & set(subject.declarations.shapes)):
        return undecided("redefined", f"{taken[0]} is given by the question but defined again here")
    faults = [fault for fault in check(subject.system, replace(subject.declarations, open=True)) if fault.fatal]
    if faults and any(_nameless(link) for equation in subject.system.equations for link in equation.links):
        return undecided("nameless", "give a concatenation or the result of a function a name: c[K] = a[I]; b[J]")
    if faults:
        return different(faults[0].code, faults[0].message)
    return subject.refused or equal("fits")


def _nameless(node: Expr) -> bool:
    """Whether a vector without a name, and so without an index, stands inside: `W[I,K] (a[I]; b[I])`."""
    return any(isinstance(child, (Pieces, Opaque)) or _nameless(child) for child in children(node))


def normalised(
    answer: Text, target: str, over: Collection[str] = (), *, declarations: Declarations | None = None
) -> Decision:
    """Whether the target sums to one over these of its left indices, or over all that are no index of the context.

    Codes `normalised`, `not_normalised`.
    """
    subject = Subject(answer, target, declarations)
    return decided(subject, lambda: _normalised(subject, tuple(over) or _free(subject)))


def _free(subject: Subject) -> tuple[str, ...]:
    found = (index.variable for index in subject.meaning.left)
    return tuple(name for name in found if name and name not in subject.declarations.context)


def _normalised(subject: Subject, over: tuple[str, ...]) -> Decision:
    from autograder.maths.precision import precision
    from autograder.maths.tensor.balls import BITS, Balls

    places = [position for position, index in enumerate(subject.meaning.left) if index.variable in over]
    if len(places) != len(over):
        return different("no_index", f"the left side of {subject.target} lacks one of the indices {', '.join(over)}")
    for trial in range(TRIALS):
        try:
            field = PrimeField(trial)
            total = subject.value(field, trial)[0]
            for place in sorted(places, reverse=True):
                total = field.along(total, place)
        except ZeroDivisionError:
            break
        if not np.all(total == 1):
            break
    else:
        return equal("normalised")
    with precision(BITS):
        for trial in range(TRIALS):
            total = np.add.reduce(subject.value(Balls(trial), trial)[0], axis=tuple(places))
            one = Balls(trial).constant(Fraction(1))
            for entry in np.asarray(total, dtype=object).ravel():
                if not entry.overlaps(one):
                    message = f"{subject.target} does not sum to one over {', '.join(over)}"
                    return different("not_normalised", message)
                if not (entry - one).abs_upper() < TOLERANCE:
                    return undecided("precision", "the sum is too close to one to be told apart")
    return equal("normalised")


def nonnegative(answer: Text, target: str, *, declarations: Declarations | None = None) -> Decision:
    """Whether no entry of the target is negative, at the points tried. Codes `nonnegative`, `negative`.

    Undecided (`sign`) where only the signs of undeclared tensors make it negative: a mixture's weight, a prior.
    """
    subject = Subject(answer, target, declarations)
    return decided(subject, lambda: _nonnegative(subject))


def _nonnegative(subject: Subject) -> Decision:
    found = _signs(subject, frozenset())
    own = frozenset(inputs(subject.found)) - set(subject.declarations.shapes)
    if found.code != "negative" or not own or _signs(subject, own).code == "negative":
        return found
    return undecided("sign", f"{subject.target} is nonnegative only if some of {', '.join(sorted(own))} are")


def _signs(subject: Subject, positive: frozenset[str]) -> Decision:
    """The signs of the target's entries where the tensors `positive` have entries between 0 and 1."""
    from autograder.maths.precision import precision
    from autograder.maths.tensor.balls import BITS, Balls

    with precision(BITS):
        for trial in range(SIGNS):
            balls = Balls(trial, STRETCHED[trial % len(STRETCHED)])
            balls.positives = positive
            for entry in np.asarray(subject.value(balls, trial)[0], dtype=object).ravel():
                if entry < 0:
                    return different("negative", f"{subject.target} has negative entries")
                if not entry.is_finite():
                    return undecided("domain", f"{subject.target} has no real value at a point tried")
    return equal("nonnegative")


def depends_on(answer: Text, target: str, tensor: str, *, declarations: Declarations | None = None) -> Decision:
    """Whether the target's value changes with this given tensor. Codes `depends`, `independent`."""
    subject = Subject(answer, target, declarations)
    name = tensor_key(tensor)
    everywhere = _spoiler(name, lambda _: True)
    return decided(subject, lambda: _changes(subject, everywhere, {}, name))


def _changes(subject: Subject, spoiled: Any, fixed: dict[str, int], name: str) -> Decision:
    if _differs(subject, spoiled, fixed):
        return equal("depends")
    return different("independent", f"{subject.target} does not depend on {name}")


def _spoiler(name: str, where: Callable[[Sequence[Array]], Any]) -> Callable[[str, Sequence[Array]], Array]:
    def spoiled(other: str, indices: Sequence[Array]) -> Array:
        return np.asarray(where(indices) if other == name else False)

    return spoiled


def _differs(subject: Subject, spoiled: Any, fixed: dict[str, int]) -> bool:
    """Whether the real value changes; an oracle value that does not change proves that it cannot."""
    from autograder.maths.precision import precision
    from autograder.maths.tensor.balls import BITS, Balls

    def pair(make: Callable[[], Arithmetic], trial: int) -> tuple[Array, Array]:
        plain, changed = make(), make()
        changed.spoiled = spoiled
        first, second = subject.value(plain, trial, fixed)[0], subject.value(changed, trial, fixed)[0]
        return first, second

    for trial in range(TRIALS):
        first, second = pair(lambda t=trial: PrimeField(t), trial)  # type: ignore[misc]
        if np.all(first == second):
            continue
        with precision(BITS):
            first, second = pair(lambda t=trial: Balls(t), trial)  # type: ignore[misc]
            if any(not one.overlaps(other) for one, other in zip(first.ravel(), second.ravel(), strict=True)):
                return True
    return False


def does_not_read(answer: Text, target: str, entry: str, *, declarations: Declarations | None = None) -> Decision:
    """Whether the target at given index values is independent of an entry: no leak. Codes `unread`, `leak`.

    `entry` is written with the target's own indices, `h->[t,J]`: a symbol of the target's left side or of the
    context stands for its value there, any other symbol for every value.
    """
    subject = Subject(answer, target, declarations)
    read = _entry(entry)
    return decided(subject, lambda: _unread(subject, read))


def reads_only(answer: Text, target: str, entry: str, *, declarations: Declarations | None = None) -> Decision:
    """Whether of this entry's tensor the target depends on that entry and on no other. Codes `reads_only`, `unread`,
    `elsewhere`.

    `entry` is written as for `does_not_read`; here its symbols stand for values at several places.
    """
    subject = Subject(answer, target, declarations)
    read = _entry(entry)
    return decided(subject, lambda: _only(subject, read))


def _only(subject: Subject, entry: Tensor) -> Decision:
    key = entry.name.key
    for place in PLACES:
        fixed = _fixed(subject, entry, place)
        here = _spoiler(key, lambda indices, f=fixed: _matches(entry.indices, indices, f))  # type: ignore[misc]
        elsewhere = _spoiler(key, lambda indices, f=fixed: ~_matches(entry.indices, indices, f))  # type: ignore[misc]
        if _differs(subject, elsewhere, fixed):
            return different("elsewhere", f"{subject.target} depends on {key} at an index where it should not")
        if not _differs(subject, here, fixed):
            return different("unread", f"{subject.target} does not depend on {key}")
    return equal("reads_only")


def own_parameters(answer: Text, target: str, axis: str, *, declarations: Declarations | None = None) -> Decision:
    """Whether the tensors that the answer invents are parameters: none has an index along `axis` (such as time).

    Codes `own_parameters`, `own_state`.
    """
    subject = Subject(answer, target, declarations)
    return decided(subject, lambda: _timeless(subject, axis))


def _timeless(subject: Subject, axis: str) -> Decision:
    known = subject.found.own | set(subject.declarations.shapes)
    time = subject.axes.root(subject.axes.letter(axis))
    for meaning in subject.found.last:
        for read in reads(meaning.body):
            if read.name in known:
                continue
            for name in frozenset[str]().union(*(variables(index) for index in read.indices)):
                if subject.axes.root(subject.side.variable(meaning, name)) == time:
                    message = f"{read.name} is not given, and as it depends on {axis.lower()} it is not a parameter"
                    return different("own_state", message)
    return equal("own_parameters")


def _entry(text: str) -> Tensor:
    right = system_of(f"x = {text}").equations[0].right
    if not isinstance(right, Tensor):
        raise AuthorError("entry", f"{text!r} is not an entry of a tensor, such as h[t,J]")
    return right


def _fixed(subject: Subject, entry: Tensor, place: int) -> dict[str, int]:
    """The symbols of an entry that are indices of the target or the context, all at one place."""
    names = {index.variable for index in subject.meaning.left if index.variable} | set(subject.declarations.context)
    keys = [getattr(term.atom, "key", None) for index in entry.indices for term in index.terms]
    return {str(key): place for key in keys if key in names}


def _unread(subject: Subject, entry: Tensor) -> Decision:
    fixed = _fixed(subject, entry, PLACES[0])
    spoiled = _spoiler(entry.name.key, lambda indices: _matches(entry.indices, indices, fixed))
    if _differs(subject, spoiled, fixed):
        return different("leak", f"{subject.target} depends on {entry.name.key} at an index that it must not see")
    return equal("unread")


def _matches(pattern: Sequence[Index], indices: Sequence[Array], fixed: dict[str, int]) -> Any:
    inside: Any = np.True_
    for index, array in zip(pattern, indices, strict=True):
        keys = [getattr(term.atom, "key", None) for term in index.terms]
        if all(key is None or key in fixed for key in keys):
            value = sum(
                term.coefficient * (1 if key is None else fixed[key])
                for term, key in zip(index.terms, keys, strict=True)
            )
            inside = inside & (array == value)
    return inside


def uses_only(answer: Text, allowed: Collection[str], *, declarations: Declarations | None = None) -> Decision:
    """Whether every tensor that is read and not defined is among `allowed`. Codes `uses_only`, `foreign`."""
    found = interpret(system_of(answer), declarations or Declarations())
    names = {tensor_key(name) for name in allowed}
    foreign = sorted(name for name in inputs(found) if name not in names)
    if foreign:
        return different("foreign", f"{', '.join(foreign)} is not given by the question", names=tuple(foreign))
    return equal("uses_only")

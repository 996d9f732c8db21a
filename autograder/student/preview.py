"""Typed answers in a notebook: shown as the mathematics that the grader understood, or with a caret under the fault.

They never say whether an answer is right. An answer that cannot be read is kept all the same: a person will see it.
"""

from __future__ import annotations

import html
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from autograder.errors import Unreadable

# What the notebook's first cell has declared: names with where they live, abbreviations, tensors.
_DECLARED: dict[str, Any] = {}
_EACH: list[dict[str, Any]] = []  # what each part with equations has declared
_EQUATIONS = ("tensors", "sizes", "same", "sequences", "context", "zero", "positive")
_CLOSED_FORMS = ("domains", "definitions", "functions", "log")
_FIRST_CELL = "Run the notebook's first cells again: they say which names an answer may use."


def as_typed(value: Any) -> Any:
    """A number as its text, since `math.inf` is infinity as well as "inf"; all else, and not-a-number, as it is."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and value == value
    return str(value) if is_number else value


class TypedText(str):
    """The text of an answer; in a notebook it shows itself as mathematics."""

    _shown: Shown

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return self._shown.bundle()


class TypedRows(list[list[str]]):
    """The rows of a matrix of typed entries."""

    _shown: Shown

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return self._shown.bundle()


class Shown:
    """What a typed answer shows: LaTeX with notes, or the fault with a caret."""

    def __init__(self, latex: str = "", notes: Sequence[str] = (), fault: str = "") -> None:
        self.latex, self.notes, self.fault = latex, tuple(notes), fault

    def bundle(self) -> dict[str, str]:
        """The MIME bundle for a notebook."""
        if self.fault:
            page = f"<p>This cannot be read yet:</p><pre>{html.escape(self.fault)}</pre>"
            return {"text/plain": f"This cannot be read yet:\n{self.fault}", "text/html": page}
        notes = "".join(f"\n\n{note}" for note in self.notes)
        return {
            "text/plain": f"{self.latex}{notes}",
            "text/markdown": f"$$\n{self.latex}\n$${notes}",
            "text/latex": f"$${self.latex}$$",
        }


def declare(**words: Any) -> None:
    """Say what typed answers of this notebook may use; called by the notebook's first cell.

    `domains` (name to where it lives), `definitions`, `functions`, `log`, `variables` (of growth), `tensors`, `sizes`,
    `sequences`, `context`, `same`, `zero`, `positive`, `open` (equations may have parameters of one's own).
    """
    if "tensors" in words:
        _EACH.append({key: value for key, value in words.items() if key in (*_EQUATIONS, "open")})
    for key, value in words.items():
        if key == "open":
            continue  # said of one part, not of all: see `equation`
        if isinstance(value, Mapping):
            _DECLARED[key] = {**_DECLARED.get(key, {}), **value}
        elif key == "log":
            _DECLARED[key] = value
        else:
            _DECLARED[key] = _united(_DECLARED.get(key), value)


def _united(before: Any, more: Any) -> Any:
    """The names of both, each once: several parts of a notebook declare what they need."""
    if isinstance(more, str):
        return " ".join(dict.fromkeys((before or "").split() + more.split()))
    return tuple(dict.fromkeys((*(before or ()), *more)))


def expression(text: str) -> TypedText:
    """A closed form, typed in ASCII or LaTeX: `expression("(1 - e^(-beta)) e^(-beta i)")`."""
    return _typed(text, lambda: show_expression(text, **_some(*_CLOSED_FORMS)))


def growth(text: str) -> TypedText:
    """A bound: `growth("O(U + ln T)")`."""
    return _typed(text, lambda: show_growth(text, **_some("variables")))


def equation(text: str) -> TypedText:
    """Tensor equations in index notation: `equation("W[k,j_1,j_2] = W^Q[k,I,j_1] W^K[k,I,j_2]")`."""
    return _typed(text, lambda: _show_in_some_part(text))


def _show_in_some_part(text: str) -> Shown:
    """By all that the notebook declares; where that does not fit, as the answer to the first part that it fits."""
    united = _some(*_EQUATIONS)
    try:
        return show_equation(text, **united)
    except Unreadable as error:
        for words in _EACH:
            try:
                return show_equation(text, **words)
            except Unreadable:
                continue
        raise error


def derivation(text: str) -> TypedText:
    """A chain of lines, one under the other, each of which follows from the one before."""
    return _typed(text, lambda: show_derivation(text, **_some(*_CLOSED_FORMS)))


def matrix(rows: Sequence[Sequence[str]]) -> TypedRows:
    """A matrix of closed forms, row by row: `matrix([["cos(x)", "sin(x)"], ["-sin(x)", "cos(x)"]])`."""
    result = TypedRows([[str(entry) for entry in row] for row in rows])
    result._shown = _shown(lambda: show_matrix(result, **_some(*_CLOSED_FORMS)))
    present(result._shown.bundle())
    return result


def show_expression(text: str, **declared: Any) -> Shown:
    """An expression as the grader reads it; raises Unreadable."""
    from autograder.maths import expression as language

    read = language.parse(text, **declared)
    return Shown(language.to_latex(read))


def show_matrix(rows: Sequence[Sequence[str]], **declared: Any) -> Shown:
    """A matrix as the grader reads it; raises Unreadable with the entry's place."""
    from autograder.maths import expression as language

    lines = []
    for i, row in enumerate(rows, 1):
        entries = []
        for j, entry in enumerate(row, 1):
            try:
                entries.append(language.to_latex(language.parse(entry, **declared)))
            except Unreadable as error:
                message = f"row {i}, column {j}: {error.message}"
                raise Unreadable(error.code, message, error.text, error.column) from error
        lines.append(" & ".join(entries))
    return Shown(r"\begin{pmatrix} " + r" \\ ".join(lines) + r" \end{pmatrix}")


def show_growth(text: str, **declared: Any) -> Shown:
    """A bound as the grader reads it; raises Unreadable."""
    from autograder.maths import growth as language

    return Shown(language.to_latex(language.parse(text, **declared)))


def show_derivation(text: str, **declared: Any) -> Shown:
    """The lines as the grader reads them; raises Unreadable with the line's number."""
    from autograder.maths import expression as language
    from autograder.maths.spelling import is_blank

    lines = []
    written = [line for line in text.splitlines() if not is_blank(line)]
    for number, line in enumerate(written, 1):
        try:
            lines.append(language.to_latex(language.parse(line.strip().removeprefix("=").strip(), **declared)))
        except Unreadable as error:
            raise Unreadable(error.code, f"line {number}: {error.message}", error.text, error.column) from error
    return Shown(r"\begin{aligned} & " + r" \\ = {} & ".join(lines) + r" \end{aligned}")


def show_equation(text: str, *, target: str = "", **declared: Any) -> Shown:
    """Equations as the grader reads them, with a note on each index; raises Unreadable, also for a fault of meaning.

    Where a `target` is named, one of the equations must define it.
    """
    from autograder.maths import tensor as language

    words = dict(declared)
    system = language.parse(text)
    declarations = language.declare(*words.pop("tensors", ()), **words)
    fatal = [fault for fault in language.check(system, declarations) if fault.fatal]
    if fatal:
        raise Unreadable(fatal[0].code, fatal[0].message)
    description = language.describe(system, declarations)
    if target and target not in (equation.name for equation in description.equations):
        raise Unreadable("no_target", f"no equation has {target} alone on its left side")
    return Shown(language.to_latex(system), _index_notes(description))


def _index_notes(description: Any) -> list[str]:
    """A note on each equation's indices, then on what can be read in two ways."""
    notes = []
    for equation in description.equations:
        kinds = {
            "free": equation.free,
            "summed": equation.summed,
            "normalised by the softmax": equation.normalised,
        }
        said = "; ".join(f"{kind}: {', '.join(names)}" for kind, names in kinds.items() if names)
        notes.append(f"{equation.name} has {said or 'no index'}")
    return notes + [warning.message for warning in description.warnings]


def _some(*names: str) -> dict[str, Any]:
    known = {name: _DECLARED[name] for name in names if name in _DECLARED}
    if not known:
        raise Unreadable("undeclared", _FIRST_CELL)
    return known


def _typed(text: str, show: Callable[[], Shown]) -> TypedText:
    from autograder.maths.spelling import notes

    result = TypedText(text)
    result._shown = _shown(show)
    result._shown.notes += notes(str(text))
    present(result._shown.bundle())
    return result


def _shown(show: Callable[[], Shown]) -> Shown:
    if not _DECLARED:
        return Shown(fault=_FIRST_CELL)
    try:
        return show()
    except Unreadable as error:
        return Shown(fault=error.caret())


def present(bundle: dict[str, str]) -> None:
    """Show a MIME bundle in a notebook; print its text elsewhere."""
    ipython = sys.modules.get("IPython")
    shell = ipython and ipython.get_ipython()
    if shell:
        shell.display_pub.publish(bundle)
    else:
        print(bundle["text/plain"])

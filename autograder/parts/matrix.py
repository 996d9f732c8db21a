"""`Matrix`: closed forms in rows, compared entry by entry."""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from autograder.core import Parameters, Part, Room
from autograder.errors import AuthorError, Unreadable
from autograder.maths.decision import Decision, different, equal, undecided
from autograder.parts.expression import CONSTANTS, Expression, differing
from autograder.protocol.sympy_text import in_words
from autograder.student.local_checks import Malformed, defined
from autograder.student.preview import Shown, TypedRows, TypedText


@dataclass(frozen=True)
class Matrix(Expression):
    """A matrix of closed forms, row by row: `[["cos(x)", "sin(x)"], ["-sin(x)", "cos(x)"]]`."""

    kind = "matrix"

    @staticmethod
    def kept_as(given: Any) -> TypedText | TypedRows:
        """The rows; what has none is kept as its text, for a person."""
        rows = _rows(given.tolist() if hasattr(given, "tolist") else given)
        nested = isinstance(rows, list | tuple) and all(isinstance(row, list | tuple) for row in rows)
        return TypedRows(rows) if nested else TypedText(given)

    example = '[["...", "..."], ["...", "..."]]'
    wanted = "write the rows as the comment in the cell above shows, each entry in quotes"

    @classmethod
    def show(cls, answer: Any, **declared: Any) -> Shown:
        """The entries in their places; a fault comes with its row and column."""
        from autograder.maths import expression as language

        if isinstance(answer, str):
            raise Unreadable("matrix", f"write {cls.kind}({cls.example})", answer, 0)
        lines = []
        for i, row in enumerate(answer, 1):
            entries = []
            for j, entry in enumerate(row, 1):
                with _at(f"row {i}, column {j}"):
                    entries.append(language.answer_latex(entry, **declared))
            lines.append(" & ".join(entries))
        return Shown(r"\begin{pmatrix} " + r" \\ ".join(lines) + r" \end{pmatrix}")

    @classmethod
    def show_piece(cls, text: str, **declared: Any) -> Shown:
        """A matrix in LaTeX, or an entry."""
        return cls.show(cls.text(text), **declared) if "matrix" in text else super().show(text, **declared)

    @classmethod
    def check_form(cls, name: str, /, *, shape: tuple[int, int] | None = None, **told: Any) -> None:
        """Say whether there are as many rows and columns as asked for, and then what is said of the entries."""
        with contextlib.suppress(Unreadable):
            answer = cls.text(in_words(defined(name))) if shape else None
            if shape and answer is not None and (fault := _other_shape(answer, *shape)):
                raise Malformed("shape", f"{name}: {fault}")
        super().check_form(name, **told)

    @classmethod
    def broken(cls, answer: Any, **told: Any) -> str:
        """The first rule that an entry breaks, with its place."""
        for i, row in enumerate(answer, 1):
            for j, entry in enumerate(row, 1):
                if fault := super().broken(entry, **told):
                    return f"row {i}, column {j}: {fault}"
        return ""

    def stub_cell(self, p: Parameters) -> str:
        """As many rows and columns as are asked for, with nothing in them."""
        rows, columns = self.rules(p)["shape"] or (2, 2)
        row = f"[{', '.join([self.blank] * columns)}]"
        return f"{self.name} = {self.kind}([{', '.join([row] * rows)}])\n"

    def rules(self, p: Parameters) -> Mapping[str, Any]:
        """Those of the entries, and the shape, where every right answer has that one."""
        right = self.right(p)
        shape = None if self.alternatives or self.follows else (len(right), len(right[0]))
        return {**super().rules(p), "shape": shape}

    @classmethod
    def decide_by_hand(cls, reference: Any, answer: Any, **told: Any) -> Decision:
        """The rows as Python lists."""
        rows = [cls.text(given) for given in (reference, answer)]
        return super().decide_by_hand(*rows, **told)

    @classmethod
    def text(cls, value: Any) -> Any:
        """Rows of texts; numbers count as their text. LaTeX's matrices, and Python's lists in a text, are rows."""
        value = _rows(value)
        if isinstance(value, str) and ("matrix" in value or "[" in value):
            raise Unreadable("matrix", f"write {cls.kind}({cls.example})", value, 0)
        if not isinstance(value, list | tuple) or not all(isinstance(row, list | tuple) for row in value):
            return None
        rows = [[str(item) for item in row if isinstance(item, str | int | float | Fraction)] for row in value]
        return rows if all(len(row) == len(given) for row, given in zip(rows, value, strict=True)) else None

    def cell_of(self, text: str, p: Parameters) -> str:
        """The rows as Python's list, or as LaTeX's matrix."""
        given: Any = text.strip()
        with contextlib.suppress(Unreadable):
            given = self.text(given) or given
        return f"{self.name} = {self.kind}({self.written(given)})\n"

    def room(self, p: Parameters) -> Room:
        """Two lines for each row."""
        return Room(lines=2 * len(self.right(p)) + 1)

    def blind_answers(self, p: Parameters, shown: Sequence[str]) -> dict[str, Any]:
        """The same constant everywhere, unless it is the answer, and entries that differ where none is compared."""
        rows = [list(row) for row in self.right(p)]
        filled = {text: [[text] * len(row) for row in rows] for text in CONSTANTS}
        differs = {
            f"the answer, its last entry {text}": [*rows[:-1], [*rows[-1][:-1], f"({rows[-1][-1]}) {text}"]]
            for text in differing(self.declarations(p)["domains"])
        }
        return {f"{text} everywhere": matrix for text, matrix in filled.items() if matrix != rows} | differs

    def copied_answers(self, p: Parameters, shown: Sequence[Sequence[str]]) -> Iterator[tuple[str, Any]]:
        """Each formula that is a matrix, and one of displayed formulas, where all entries are among them."""
        entries = [entry for row in self.right(p) for entry in row]
        found: dict[str, str] = {}
        for text, line in super().copied_answers(p, shown):
            if "matrix" in line:
                yield text, line
                continue
            for entry in (entry for entry in entries if entry not in found):
                with contextlib.suppress(Unreadable):
                    if Expression.decide(self, entry, line, p).equal:
                        found[entry] = line
            if len(found) == len(set(entries)):
                yield text, [[found[entry] for entry in row] for row in self.right(p)]
                return

    def mutants(self, p: Parameters) -> Iterator[Any] | None:
        """Slips in the entries, and rows for columns."""
        from autograder.parts.mutants import mutants_of_rows

        return mutants_of_rows(self.written_by_author(p))

    def written(self, value: Any) -> str:
        """The rows as Python lists."""
        return repr([list(row) for row in value])

    def first_equal(self, texts: Sequence[Any], answer: Any, p: Parameters) -> int | Decision | None:
        """One matrix after the other, each up to the first entry that is not equal."""
        for place, rows in enumerate(texts):
            pairs = [pair for row, given in zip(rows, answer, strict=False) for pair in zip(row, given, strict=False)]
            with contextlib.suppress(Unreadable, AuthorError):
                if not _other_shape(answer, len(rows), len(rows[0])) and all(
                    super(Matrix, self).decide(key, entry, p).equal for key, entry in pairs
                ):
                    return place
        return None

    def same_answer(self, one: str, other: str, p: Parameters) -> bool:
        """Entry by entry; by their words where one has no rows."""
        mine, theirs = self.text(one), self.text(other)
        return self.decide(mine, theirs, p).equal if mine and theirs else Part.same_answer(self, one, other, p)

    def decide(self, reference: Any, answer: Any, p: Parameters) -> Decision:
        """Entry by entry; the first entry that differs is named, without what it should be."""
        if fault := _other_shape(answer, len(reference), len(reference[0])):
            return different("shape", fault)
        open_entries = []
        for i, (right, given) in enumerate(zip(reference, answer, strict=True), 1):
            for j, (key, entry) in enumerate(zip(right, given, strict=True), 1):
                with _at(f"row {i}, column {j}"):
                    found = super().decide(key, entry, p)
                if found.outcome == "different":
                    text = f"The entry in row {i}, column {j} is not correct. {found.message}"
                    return different(f"entry_{found.code}", text, witness=found.witness)
                open_entries += [found] if found.outcome == "undecided" else []
        return undecided(open_entries[0].code, open_entries[0].message) if open_entries else equal()


def _other_shape(answer: Any, rows: int, columns: int) -> str:
    """What is said of rows that are not so many by so many; empty where they are."""
    if [len(row) for row in answer] == [columns] * rows:
        return ""
    given = f"{len(answer)} by {max(map(len, answer), default=0)}"
    return f"The matrix is {given}, but it should be {rows} by {columns}."


_MATRIX = re.compile(
    r"(?:[^=]*=)?[\s$]*(?:\\\[)?\s*(?:(?:\\left\s*)?[(\[])?\s*"
    r"\\begin\s*\{([pbB]?matrix|smallmatrix|array)\}(?:\s*\{[lcr|\s]*\})?((?:(?!\\begin).)*)\\end\s*\{\1\}"
    r"\s*(?:(?:\\right\s*)?[)\]])?[\s$.,]*(?:\\\])?[\s$.,]*",
    re.DOTALL,
)


def _rows(value: Any) -> Any:
    """The rows that a text holds, in LaTeX or as Python's lists; any other value as it is."""
    if not isinstance(value, str):
        return value
    if found := _MATRIX.fullmatch(value):
        lines = [line for line in re.split(r"\\\\(?:\[[^\]]*\])?", found[2]) if line.strip()]
        return [[entry.strip() for entry in line.split("&")] for line in lines]
    with contextlib.suppress(SyntaxError, ValueError, MemoryError, RecursionError):
        return rows if isinstance(rows := ast.literal_eval(value.strip()), list | tuple) else value
    return value


@contextlib.contextmanager
def _at(place: str) -> Iterator[None]:
    """What cannot be read is said with its place."""
    try:
        yield
    except Unreadable as error:
        raise Unreadable(error.code, f"{place}: {error.message}", error.text, error.column) from error

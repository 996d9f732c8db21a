"""Tables of cases: rows of JSON with a reference, an answer and the verdict that is right, decided and counted.

A row has `kind`, `reference`, `answer`, `verdict`, and what the language must be told: `domains` of an expression,
`target` and `decl` of an equation, `constraints` and `variables` of growth, `definitions` of a derivation, and of any
other kind of typed answer the arguments of its part. `verdict` is true or false; for a derivation, the index of the
first wrong line and whether the last line is right.

A row that cannot be decided because of what its author wrote is faulty: it is counted, and the other rows go on.
"""

from __future__ import annotations

import json
import re
import statistics
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from typing import Any

from autograder import parts
from autograder.errors import AuthorError, StaffError, Unreadable, did_you_mean
from autograder.maths.decision import Decision

RESULTS = ("right", "false_accept", "false_reject", "undecided", "unreadable", "faulty")

# The distribution that the course's derivation of an entropy starts from.
_GEOMETRIC = {"P(i)": "(1-e^(-beta))*e^(-beta*i)"}


@dataclass(frozen=True, kw_only=True)
class Case:
    """One row, decided: `line` of the file, `result` one of `RESULTS`, `said` what the language said."""

    line: int
    row: dict[str, Any]
    result: str
    said: str
    milliseconds: float


def read(lines: Iterable[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows of a file with their lines; StaffError names the line that is none."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise StaffError("cases", f"line {number} is not JSON: {error}") from error
        if not isinstance(row, dict) or not isinstance(row.get("kind"), str):
            raise StaffError("cases", f"line {number} is no row: write an object with a kind")
        yield number, row


def decide(row: dict[str, Any], line: int = 1) -> Case:
    """Decide one row and compare with its verdict."""
    start = time.perf_counter()
    try:
        for name in ("reference", "answer", "verdict"):
            if name not in row:
                raise AuthorError("cases", f"the row has no {name}")
        accepted, said = _DECIDE.get(row["kind"], _as_part)(row)
        result = _result(accepted, row["verdict"])
    except Unreadable as error:
        said, result = error.message, "unreadable"
    except (AuthorError, StaffError) as error:
        said, result = error.message, "faulty"
    except Exception as error:  # what else a row may hold: a number for a text, a list for a table
        said, result = f"{type(error).__name__}: {error}", "faulty"
    return Case(line=line, row=row, result=result, said=said, milliseconds=1000 * (time.perf_counter() - start))


def scoreboard(cases: Iterable[Case]) -> dict[str, dict[str, float]]:
    """Per kind: how many of each result, median and 95th percentile of the milliseconds."""
    by_kind: dict[str, list[Case]] = {}
    for case in cases:
        by_kind.setdefault(case.row["kind"], []).append(case)
    return {kind: _summary(found) for kind, found in by_kind.items()}


def _summary(cases: list[Case]) -> dict[str, float]:
    times = sorted(case.milliseconds for case in cases)
    counts: dict[str, float] = {result: sum(case.result == result for case in cases) for result in RESULTS}
    p95 = times[min(len(times) - 1, int(0.95 * len(times)))]
    return {**counts, "median_ms": round(statistics.median(times), 3), "p95_ms": round(p95, 3)}


def _result(accepted: Any, verdict: Any) -> str:
    if accepted is None:
        return "undecided"
    if accepted == verdict:
        return "right"
    if isinstance(verdict, dict):
        wrong = verdict["first_wrong"] is not None or not verdict["final_ok"]
        return "false_accept" if wrong and _accepts(accepted) else "false_reject"
    return "false_accept" if accepted else "false_reject"


def _accepts(found: dict[str, Any]) -> bool:
    return found["first_wrong"] is None and found["final_ok"]


def _plain(decision: Decision) -> tuple[bool | None, str]:
    accepted = {"equal": True, "different": False, "undecided": None}[decision.outcome]
    return accepted, " ".join(filter(None, (decision.code + ".", decision.message, decision.witness)))


def _expression(row: dict[str, Any]) -> tuple[bool | None, str]:
    from autograder.maths import expression

    domains = row.get("domains")
    if domains is None:
        domains = dict.fromkeys(_variables(row["reference"]), "real")
    domains = _domains(domains)
    options: dict[str, Any] = {
        key: row[key] for key in ("definitions", "tolerance", "up_to", "forbid", "log", "constraints") if key in row
    }
    if row.get("allow_i"):
        options["imaginary"] = "i"
    return _plain(expression.decide(row["reference"], row["answer"], domains=domains, **options))


def _variables(text: str) -> list[str]:
    """The names of a text that mean nothing by themselves: no function, no constant, no sign of LaTeX."""
    from autograder.maths.expression.names import function
    from autograder.maths.expression.vocabulary import INFINITY_WORDS, Vocabulary
    from autograder.maths.spelling import GREEK

    words = Vocabulary()
    known = {*words.known(), *INFINITY_WORDS, "e", "mod", "and", "otherwise"}
    found = set(re.findall(r"\\?[A-Za-z]\w*", text))
    names = {name.removeprefix("\\") for name in found if name[0] != "\\" or name[1:] in GREEK}
    return sorted(name for name in names - known if not function(name, words, text, 0))


def _domains(given: Any) -> dict[str, str]:
    """Names with their domains. AuthorError for what is no table."""
    if not isinstance(given, dict):
        raise AuthorError("domain", f'domains are {given!r}; write a table such as {{"x": "real"}}')
    return given


def _equation(row: dict[str, Any]) -> tuple[bool | None, str]:
    from autograder.maths import tensor

    declared = row.get("decl") or {}
    sizes = {
        axis: "*".join(size[1:]) if isinstance(size, list) else size for axis, size in declared.get("sizes", {}).items()
    }
    declarations = tensor.declare(
        *declared.get("tensors", ()),
        sizes=sizes,
        same=declared.get("axis", {}),
        sequences=" ".join(declared.get("seqs", ())),
        context=" ".join(declared.get("context", ())),
    )
    decision = tensor.decide(
        _lines(row["reference"]),
        _lines(row["answer"]),
        declarations=declarations,
        target=row.get("target"),
        hints=False,
    )
    return _plain(decision)


def _lines(text: str | list[str]) -> str:
    return text if isinstance(text, str) else "\n".join(text)


def _growth(row: dict[str, Any]) -> tuple[bool | None, str]:
    from autograder.maths import growth

    names = row.get("variables") or _growing(row["reference"] + " " + row["answer"])
    constraints = [_constraint(item) for item in row.get("constraints", ())]
    return _plain(growth.decide(row["reference"], row["answer"], variables=names, constraints=constraints))


def _growing(text: str) -> list[str]:
    """The one-letter variables of a bound: what is left of its words without the names of functions."""
    words = re.sub(r"\b(?:O|Theta|ln|log\d*|log_\d+|max|min|sqrt|exp)\b|\\[A-Za-z]+", " ", text)
    return sorted(set("".join(re.findall(r"[A-Za-z]+", words))))


def _constraint(item: str | dict[str, int]) -> str:
    """`{"J": 1, "U": -1}` says that J / U is at least 1."""
    if isinstance(item, str):
        return item
    (larger,) = [name for name, sign in item.items() if sign > 0]
    (smaller,) = [name for name, sign in item.items() if sign < 0]
    return f"{smaller}<={larger}"


def _derivation(row: dict[str, Any]) -> tuple[dict[str, Any] | None, str]:
    from autograder.maths import derivation

    definitions = row.get("definitions", _GEOMETRIC if any("P(" in line for line in row["answer"]) else {})
    options = {"domains": _domains(row.get("domains", {"beta": "positive"})), "definitions": definitions}
    found = derivation.judge(
        "\n".join(row["answer"]),
        start=row.get("start", row["reference"]),
        reference=row["reference"],
        language=derivation.Expressions(reference=row["reference"], options=options),
    )
    start, *_, end = found.findings
    said = found.decision.message
    if any(item.ok is None for item in found.findings) or "undecided" in {x.decision.outcome for x in found.links}:
        return None, said
    broken = found.first_wrong
    first_wrong = 0 if not start.ok else broken.number - 1 if broken else None
    return {"first_wrong": first_wrong, "final_ok": end.code != "end"}, said


def _as_part(row: dict[str, Any]) -> tuple[bool | None, str]:
    """A row of another kind: its part compares the two."""
    kind = parts.find(row["kind"])
    if kind is None or kind.decide_by_hand is None:
        known = [name for name, other in parts.kinds().items() if other.decide_by_hand]
        raise AuthorError(
            "cases",
            f"there is no typed answer of kind {row['kind']!r}{did_you_mean(row['kind'], known)}; "
            f"there are {', '.join(known)}",
        )
    told = {item.name: row[item.name] for item in fields(kind) if item.name in row and item.name != "reference"}
    return _plain(kind.decide_by_hand(str(row["reference"]), str(row["answer"]), **told))


# Kinds whose rows have a form of their own.
_DECIDE = {"expression": _expression, "equation": _equation, "growth": _growth, "derivation": _derivation}

"""`statement.md` and a variant's parameters to the text that a student reads.

The file opens with what is common to all parts. A heading `## Title {#name}` opens the part of that name. `{{x}}` is
the parameter or phrase x. An unfilled placeholder, a parameter that no placeholder shows, a part without a heading
and a heading without a part are AuthorErrors: what is shown is what is graded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from autograder.core import Parameters, Problem
from autograder.errors import AuthorError, did_you_mean

_HEADING = re.compile(r"^##[ \t]+(?P<title>.+?)[ \t]*\{#(?P<name>\w+)\}[ \t]*$", re.MULTILINE)
_PLACEHOLDER = re.compile(r"\{\{\s*(\w+)\s*\}\}")


class _Recorded(Mapping[str, Any]):
    """Parameters that remember which of them were read."""

    def __init__(self, values: Parameters) -> None:
        self.values_ = values
        self.read: set[str] = set()

    def __getitem__(self, key: str) -> Any:
        self.read.add(key)
        return self.values_[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.values_)

    def __len__(self) -> int:
        return len(self.values_)


def render(problem: Problem, text: str, p: Parameters) -> dict[str, str]:
    """The introduction under the key "", and each part's text, with title, under its name."""
    recorded = _Recorded(p)
    phrases = dict(problem.phrases(recorded))  # type: ignore[arg-type]
    shown: set[str] = set()
    values = {**{key: shown_value(value) for key, value in p.items()}, **phrases}
    sections = {
        name: filled(section, values, f"{problem.slug}/statement.md", shown)
        for name, section in _sections(text, problem).items()
    }
    if unused := [key for key in p if key not in shown and key not in recorded.read]:
        raise AuthorError(
            "placeholder_unused",
            f"problems/{problem.slug}: draw() gives {unused[0]!r}, but statement.md never shows {{{{{unused[0]}}}}}",
        )
    if unused := [key for key in phrases if key not in shown]:
        raise AuthorError(
            "placeholder_unused", f"problems/{problem.slug}: phrases() gives {unused[0]!r}, which is never shown"
        )
    for part in problem.parts:
        if extra := part.statement(p):
            sections[part.name] = f"{sections[part.name]}\n\n{extra}"
    return sections


def shown_value(value: Any) -> str:
    """How a parameter reads in running text: thousands are set apart, words stay as they are."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10_000:
        return f"{value:,}"
    return str(value)


def _sections(text: str, problem: Problem) -> dict[str, str]:
    headings = list(_HEADING.finditer(text))
    names = [heading["name"] for heading in headings]
    known = [part.name for part in problem.parts]
    for name in names:
        if name not in known:
            raise AuthorError(
                "unknown_part",
                f"problems/{problem.slug}/statement.md: {{#{name}}} does not name a part{did_you_mean(name, known)}; "
                f"there are {', '.join(known)}",
            )
        if names.count(name) > 1:
            raise AuthorError("duplicate_part", f"problems/{problem.slug}/statement.md: two headings are {{#{name}}}")
    if missing := [name for name in known if name not in names]:
        raise AuthorError(
            "missing_part",
            f"problems/{problem.slug}/statement.md has no heading for part {missing[0]!r}; "
            f"write `## Title {{#{missing[0]}}}` above its text",
        )
    ends = [heading.start() for heading in headings[1:]] + [len(text)]
    sections = {"": text[: headings[0].start()].strip()}
    for heading, end in zip(headings, ends, strict=True):
        sections[heading["name"]] = f"## {heading['title']}\n\n{text[heading.end() : end].strip()}"
    return sections


def filled(section: str, values: Mapping[str, str], where: str, shown: set[str] | None = None) -> str:
    """A text with its placeholders filled, which are noted in `shown`; `where` is the file, in `problems/`."""

    def value(match: re.Match[str]) -> str:
        name = match[1]
        if name not in values:
            raise AuthorError(
                "placeholder_unfilled",
                f"problems/{where}: nothing fills {{{{{name}}}}}{did_you_mean(name, values)}; "
                f"draw() and phrases() give {', '.join(values) or 'nothing'}",
            )
        if shown is not None:
            shown.add(name)
        return values[name]

    return _PLACEHOLDER.sub(value, section)

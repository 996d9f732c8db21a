"""A student's pages: one for each notebook, and one for the whole assignment, which links them.

Each is one file that reads without a network or a script, on a phone, in the dark, on paper, and aloud. What was lost
comes first; what was earned is folded. A page is made of what grading has put into the notebook and of the gradebook's
marks, so that `nbgrader generate_feedback` and `autograder grade` give the same one.
"""

from __future__ import annotations

import functools
import hashlib
import html
import re
import urllib.parse
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.authoring.source_notebook import OPENING, OVERVIEW, WRITTEN_MARK, answer_id
from autograder.core import in_points
from autograder.grading.feedback import is_for_staff
from autograder.grading.notebook import ANSWER, FOUND, VOIDED
from autograder.grading.receipt import PLACE
from autograder.grading.repair import OWN, OWN_LABEL
from autograder.grading.typeset import code, words
from autograder.nbgrader.cell_html import markdown, outputs
from autograder.nbgrader.standings import NOT_GRADED, WHOLE, Mark, Standing

SIGNS = {"earned": "✓", "partly": "◐", "lost": "✗", "held": "…"}
ORDER = ("lost", "partly", "held", "earned")
OVERVIEW_PAGE = "index.html"
_PARTS = '<div id="parts"></div>'  # where the first link of the page leads

Comments = Mapping[str, tuple[str, str]]

_CHECK = re.compile(r"^(?:lost|waiting): [^—\n]* — ", re.MULTILINE)  # as `student_comment` begins
_HEADING = re.compile(r"^#+ (?P<title>.+?)(?: \([\d.]+ points?\))?$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """What a student's pages of an assignment are made of.

    `title` is the assignment's; `titles` are those of notebooks' parts, in their order. `missing` notebooks were not
    handed in. `contact` is the address that is asked for another look; `said` tells, by
    `notebook.part`, what came of having asked.
    """

    student: str
    assignment: str
    standings: Mapping[str, Standing]
    title: str = ""
    titles: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    missing: Sequence[str] = ()
    contact: str = ""
    said: Mapping[str, str] = field(default_factory=dict)


@dataclass(kw_only=True)
class Part:
    """The cells of one part: the question, the answer, and the test under it, or the answer in words alone."""

    name: str
    title: str = ""
    question: list[Any] = field(default_factory=list)
    answer: Any = None
    test: Any = None


@functools.cache
def _look() -> str:
    lines = Path(__file__).with_name("feedback.css").read_text(encoding="utf-8").splitlines()
    return " ".join(line.strip() for line in lines)


def overview(sheet: Sheet) -> str:
    """The whole assignment on one page: the total, what waits, and each notebook with its parts."""
    body = [
        _total(sheet, sheet.standings),
        _notebooks(sheet),
        *(words(line, escape=True) for line in _asked_for(sheet)),
        _PARTS,
        *(_parts_of(sheet, name) for name in sheet.standings if name not in sheet.missing),
    ]
    heading = sheet.title or sheet.assignment
    return _document(f"Feedback: {sheet.assignment}", f"Feedback on {sheet.assignment}", heading, body)


def page(
    sheet: Sheet,
    name: str,
    notebook: Any,
    comments: Comments,
    solution: Callable[[str], str] = lambda part: "",
    receipt: str = "",
) -> str:
    """One notebook's page.

    `comments` are a person's and the package's own, by the cells' names. `solution` gives the reference of a part with
    its reason, as HTML; nothing before these are told. `receipt` is the text of one, if there is one.
    """
    standing = sheet.standings[name]
    parts, rest, title = taken_apart(notebook)
    known, noted = {part.name for part in parts}, {part.name for part in parts if _void(part)}
    body = [
        _total(sheet, {name: standing}),
        *([_whole(sheet)] if len(sheet.standings) > 1 else []),
        _table(standing, {part.name: part.title for part in parts}, f"{len(standing.marks)} parts", known, noted=noted),
        *_sections(sheet, name, parts, comments, solution),
        _rest(rest),
        _receipt(receipt),
    ]
    return _document(f"Feedback: {name}", f"Feedback on {sheet.assignment} / {name}", title or name, body)


def _document(title: str, label: str, heading: str, body: Sequence[str]) -> str:
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{_text(title)}</title><style>{_look()}</style></head>\n"
        '<body><a class="skip" href="#parts">Skip to the parts</a>\n'
        f'<header><p class="label">{_text(label)}</p>\n<h1>{_text(heading)}</h1></header>\n'
        f"<main>\n{_joined(body)}\n</main></body></html>\n"
    )


def _joined(pieces: Sequence[str]) -> str:
    return "\n".join(filter(None, pieces))


def _text(text: object) -> str:
    return html.escape(str(text))


def _number(points: float) -> str:
    return f"{round(points, 2):g}"


def _points(points: float, of: float) -> str:
    return f"{_number(points)} of {in_points(of)}"


def _total(sheet: Sheet, standings: Mapping[str, Standing]) -> str:
    """The sum so far, and what waits."""
    several = len(standings) > 1
    waiting = [
        f"{name}: {part}" if several else part
        for name, standing in standings.items()
        if name not in sheet.missing
        for part in standing.waiting()
    ]
    late = sum(standing.late for standing in standings.values())
    points = _points(_sum(standings, "points"), _sum(standings, "of"))
    return (
        f'<p class="total"><strong>{points}</strong>'
        + (f" so far; waiting for a grader: {_text(', '.join(waiting))}" if waiting else "")
        + (f" (with {_number(late)} deducted for late submission)" if late > 0 else "")
        + "</p>"
    )


def _sum(standings: Mapping[str, Standing], what: str) -> float:
    return sum(float(getattr(standing, what)) for standing in standings.values())


def _whole(sheet: Sheet) -> str:
    """The assignment around this notebook, with the pages of the others."""
    waits = any(standing.waiting() for name, standing in sheet.standings.items() if name not in sheet.missing)
    points = _points(_sum(sheet.standings, "points"), _sum(sheet.standings, "of"))
    lacking = f"; not handed in: {_text(', '.join(sheet.missing))}" if sheet.missing else ""
    summary = f"The whole assignment: {points}{' so far' if waits else ''}{lacking}"
    return f"<details><summary>{summary}</summary>{_notebooks(sheet)}</details>"


def _notebooks(sheet: Sheet) -> str:
    rows = []
    for name, standing in sheet.standings.items():
        absent = name in sheet.missing
        link = _text(name) if absent else f'<a href="{urllib.parse.quote(name)}.html">{_text(name)}</a>'
        waits = standing.waiting() if not absent else []
        said = "not handed in" if absent else ("waiting for a grader" if waits else "decided")
        count = f"{len(waits)} waiting" if waits and waits != [WHOLE] else said
        rows.append(_row(link, f"{_number(standing.points)} of {_number(standing.of)}", count))
    return _as_table("The notebooks of this assignment", ("Notebook", "Points", "State"), rows)


def _asked_for(sheet: Sheet) -> Iterator[str]:
    """What came of having asked for another look."""
    for item, sentence in sheet.said.items():
        yield f"{item}: {sentence}"


def _parts_of(sheet: Sheet, name: str) -> str:
    """A notebook's parts, each with a link to where it stands on that notebook's page."""
    standing = sheet.standings[name]
    page_of = f"{urllib.parse.quote(name)}.html"
    return _table(standing, sheet.titles.get(name, {}), name, set(standing.marks), page_of)


def _table(
    standing: Standing,
    titles: Mapping[str, str],
    caption: str,
    known: Container[str],
    page_of: str = "",
    noted: Container[str] = (),
) -> str:
    """A row for each part, in the order of the notebook, with a link to its section; what is `noted` has a note."""
    rows = []
    for name in [*titles, *(name for name in standing.marks if name not in titles)]:
        if name not in standing.marks:
            continue
        mark = standing.marks[name]
        word, said = standing.word(mark)
        title = titles.get(name) or name
        label = f"{_text(title)} <span class=name>{_text(name)}</span>" if title != name else _text(name)
        link = f'<a href="{page_of}#{_text(name)}">{label}</a>' if name in known else label
        said = said if name in known or word == "held" else "not in this file"
        said += ", with a note" if name in noted else ""
        points = f"{'–' if word == 'held' else _number(mark.points)} of {_number(mark.of)}"
        rows.append(_row(link, points, f'<span aria-hidden="true">{SIGNS[word]}</span>&nbsp;{said}'))
    return _as_table(caption, ("Part", "Points", "Result"), rows)


def _as_table(caption: str, heads: Sequence[str], rows: Sequence[str]) -> str:
    head = "".join(f'<th scope="col"{" class=number" if name == "Points" else ""}>{name}</th>' for name in heads)
    return (
        f'<div class="wide" tabindex="0"><table><caption>{_text(caption)}</caption><thead><tr>{head}</tr></thead>\n'
        f"<tbody>{_joined(rows)}</tbody></table></div>"
    )


def _row(first: str, points: str, last: str) -> str:
    return f'<tr><th scope="row">{first}</th><td class="number">{points}</td><td>{last}</td></tr>'


def taken_apart(notebook: Any) -> tuple[list[Part], list[Any], str]:
    """The parts in order, the cells that are of none, and the notebook's title."""
    parts: list[Part] = []
    rest: list[Any] = []
    question: list[Any] = []
    answers: dict[str, Any] = {}
    title = ""
    for cell in notebook.cells:
        if is_for_staff(cell):
            continue
        marks = cell.metadata.get("nbgrader") or {}
        name = marks.get("grade_id", "")
        if name == OPENING[0]:
            title = title or _title(cell.source)
        if marks.get("grade"):
            answer = cell if marks.get("solution") else answers.get(name)
            heading = next(filter(None, (_title(item.source) for item in question)), "")
            test = None if marks.get("solution") else cell
            parts.append(Part(name=name, title=heading, question=question, answer=answer, test=test))
            question = []
        elif marks.get("solution"):
            answers[name.removesuffix(answer_id(""))] = cell
        elif marks and cell.cell_type == "markdown" and name not in OPENING:
            question.append(cell)
        elif not marks or (name != OVERVIEW and _troubled(cell)):
            rest.append(cell)
    return parts, rest, title


def _title(source: str) -> str:
    found = _HEADING.search(source)
    return found["title"].strip() if found else ""


def _troubled(cell: Any) -> bool:
    """Whether a cell that was handed out says something that its reader should see."""
    return any(output.output_type == "error" for output in cell.get("outputs", ()))


def _sections(
    sheet: Sheet, name: str, parts: Sequence[Part], comments: Comments, solution: Callable[[str], str]
) -> list[str]:
    """The parts, those that lost points first; of parts that stand alike the first of the notebook comes first."""
    standing = sheet.standings[name]
    shown = [part for part in parts if part.name in standing.marks]
    if reason := _one_reason(standing, shown, comments):
        return [f'<section class="part held" id="parts">{_note("Why it waits", reason)}</section>']
    shown.sort(key=lambda part: ORDER.index(standing.word(standing.marks[part.name])[0]))
    sections = [_section(sheet, name, part, standing, comments, solution(part.name)) for part in shown]
    return [_PARTS, *sections]


def _one_reason(standing: Standing, parts: Sequence[Part], comments: Comments) -> str:
    """Why all parts wait, where that is one reason: of a file that cannot be read, there is nothing to show."""
    reasons = {_own_comment(part, comments) for part in parts} if standing.waiting() == [WHOLE] else set()
    return reasons.pop() if len(reasons) == 1 and any(part.test is not None for part in parts) else ""


def _section(sheet: Sheet, notebook: str, part: Part, standing: Standing, comments: Comments, solution: str) -> str:
    mark = standing.marks[part.name]
    word, said = standing.word(mark)
    points = f", {_points(mark.points, mark.of)}" if word != "held" else f", {in_points(mark.of)}"
    title = part.title or part.name
    name = f' <span class="name">{_text(part.name)}</span>' if title != part.name else ""
    heading = f"<h2>{words_in_line(title)}{name}</h2>"
    line = f'<p class="mark"><span aria-hidden="true">{SIGNS[word]}</span> {said}{points}</p>'
    looked = sheet.said.get(f"{notebook}.{part.name}", "")
    body = _joined(
        [
            _void(part),
            _answer(part),
            _found(part, word, mark, said, comments),
            _comment(part, word, mark, said, comments, looked),
            _said(looked),
            _folded("The reference, and why", solution, "solution"),
            _folded("The question", "".join(map(markdown, part.question)), "question"),
            _ask(sheet, notebook, part, word, said, mark),
        ]
    )
    place = f'class="part {word}" id="{_text(part.name)}"'
    if word == "earned":
        return f"<details {place}><summary>{heading}{line}</summary>\n{body}</details>"
    return f"<section {place}>{heading}{line}\n{body}</section>"


def words_in_line(text: str) -> str:
    """A heading's words, with its mathematics."""
    return re.sub(r"^<p>|</p>\s*$", "", words(text).strip())


def _void(part: Part) -> str:
    cell = part.test or part.answer
    return _note("About this part", cell.metadata.get(VOIDED, "") if cell else "")


def _note(label: str, text: str) -> str:
    return f'<div class="note"><p class="label">{label}</p><p>{_text(text)}</p></div>' if text else ""


def _said(sentence: str) -> str:
    """What came of having asked for another look, with a grader's own words."""
    return (
        f'<div class="note"><p class="label">Your request</p>{words(sentence, escape=True)}</div>' if sentence else ""
    )


def _folded(label: str, content: str, kind: str) -> str:
    if not content:
        return ""
    return f'<details class="{kind}"><summary>{label}</summary>{content}</details>'


def _answer(part: Part) -> str:
    """What was handed in: typeset as it was judged, else the cell; and what the cell has said."""
    if part.answer is None:
        return ""
    if part.answer.cell_type == "markdown":
        text = part.answer.source.replace(WRITTEN_MARK.format(name=part.name), "")
        shown = f'<div class="words">{markdown(part.answer, text)}</div>'
        return f"<h3>Your answer</h3>{shown}"
    read = _output_of(part, ANSWER)
    shown = f'<div class="answer">{read}</div>' if read else code(part.answer.source)
    return f"<h3>Your answer</h3>{shown}{outputs(part.answer, previews=not read)}"


def _output_of(part: Part, role: str) -> str:
    """What grading has put under the test."""
    for output in part.test.get("outputs", ()) if part.test is not None else ():
        if output.get("metadata", {}).get("autograder") == role:
            return str(output.data.get("text/html", ""))
    return ""


def _found(part: Part, word: str, mark: Mark, said: str, comments: Comments) -> str:
    """What the judge found, unless a person has overruled it; where it was held later, why."""
    if mark.decided or said == NOT_GRADED or part.test is None:
        return ""
    found = _output_of(part, FOUND)
    if word == "held" and 'class="found held"' not in found:
        return _note("Why it waits", _own_comment(part, comments))
    return found


def _own_comment(part: Part, comments: Comments) -> str:
    text = next((comments[name][1] for name in (answer_id(part.name), part.name) if name in comments), "")
    return _CHECK.sub("", text)


def _comment(part: Part, word: str, mark: Mark, said: str, comments: Comments, looked: str) -> str:
    """What a person wrote, unless what came of another look says the same; under an answer in words that nobody has
    decided about, what the package says.
    """
    by_hand = next(
        (comments[name][0] for name in (answer_id(part.name), part.name) if comments.get(name, ("",))[0]), ""
    )
    if by_hand and by_hand.strip() in looked:
        return ""
    if by_hand:
        return f'<div class="note"><p class="label">Comment</p>{words(by_hand, escape=True)}</div>'
    if part.test is not None or mark.decided or said == NOT_GRADED:
        return ""
    return _note("Why it waits" if word == "held" else "What is wrong", _own_comment(part, comments))


def look_code(student: str, assignment: str, notebook: str, part: str, source: str) -> str:
    """Eight letters that tell which answer a request is about: another one where the answer is."""
    text = "\0".join((student, assignment, notebook, part, source))
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _ask(sheet: Sheet, notebook: str, part: Part, word: str, said: str, mark: Mark) -> str:
    """A letter to the course's address, in which it stands already what it is about."""
    if not sheet.contact or word in ("held", "earned"):
        return ""
    source = part.answer.source if part.answer is not None else ""
    letter = {
        "subject": f"[{sheet.assignment}] another look: {notebook}.{part.name}",
        "body": f"Student: {sheet.student}\nPart: {notebook}.{part.name}\n"
        f"Code: {look_code(sheet.student, sheet.assignment, notebook, part.name, source)}\n"
        f"Result: {said}, {_points(mark.points, mark.of)}\n\nPlease look again, because:\n",
    }
    query = urllib.parse.urlencode(letter, quote_via=urllib.parse.quote)
    address = f"mailto:{urllib.parse.quote(sheet.contact, safe='@')}?{query}"
    return f'<p class="ask"><a href="{_text(address)}">Ask for another look</a></p>'


def _receipt(text: str) -> str:
    """What `autograder verify` takes from this page."""
    if not text:
        return ""
    return (
        "<details class=rest><summary>Your receipt</summary><p>It tells which tests judged your notebook, and what "
        "they found. Keep this page and your notebook. When your course publishes the tests, "
        "<code>autograder verify</code> judges your notebook again on your own machine.</p>"
        f'<pre id="{PLACE}">{html.escape(text, quote=False)}</pre></details>'
    )


def _rest(cells: Sequence[Any]) -> str:
    """What the student added, which belongs to no part."""
    shown = []
    for cell in cells:
        if cell.cell_type == "markdown":
            own = cell.metadata.get(OWN)
            label = '<p class="label">Your own text</p>' if own else ""
            shown.append(f"{label}<div class=words>{markdown(cell, cell.source.removeprefix(OWN_LABEL))}</div>")
        elif cell.cell_type == "code" and (cell.source.strip() or cell.outputs):
            shown.append(f"{code(cell.source) if cell.source.strip() else ''}{outputs(cell)}")
        elif cell.source.strip():
            shown.append(f"<pre>{_text(cell.source)}</pre>")
    return (
        f"<details class=rest><summary>The rest of your notebook</summary>{''.join(shown)}</details>" if shown else ""
    )

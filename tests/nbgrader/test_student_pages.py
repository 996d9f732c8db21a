"""A student's pages, made of a graded notebook and the gradebook's marks: what stands where, and for whom it reads."""

from __future__ import annotations

import datetime
import html
import json
import re
import urllib.parse
import warnings
from types import SimpleNamespace

import pytest
from nbformat import from_dict
from nbgrader.api import Gradebook

from autograder.core import Outcome, Verdict
from autograder.grading.feedback import as_html, next_step
from autograder.grading.notebook import ANSWER, FOUND, VOIDED
from autograder.nbgrader import own_pages
from autograder.nbgrader.cell_html import outputs
from autograder.nbgrader.config import prepare_gradebooks
from autograder.nbgrader.feedback_page import Sheet, look_code, overview, page
from autograder.nbgrader.standings import Mark, Standing, comments, standings
from autograder.reporting import review_journal

FORMULA = '<p><math alttext="1/b"><mn>1</mn></math></p>'


def cell(kind, source="", name="", outputs=(), **marks):
    """A cell; with a name, one that was handed out."""
    given = {"grade_id": name, "grade": False, "solution": False, "locked": True, **marks}
    metadata = {"nbgrader": given} if name else {}
    more = {"outputs": list(outputs)} if kind == "code" else {}
    return {"cell_type": kind, "source": source, "metadata": metadata, **more}


def shown(role, text):
    """An output that grading has put under a test."""
    return {"output_type": "display_data", "data": {"text/html": text}, "metadata": {"autograder": role}}


def verdict(ok, message="", check="expression", code="value"):
    """What a check says."""
    return Verdict(check=check, ok=ok, code=code if not ok else "ok", message=message)


def part(name, standing="lost", message="It is too small.", void=""):
    """A typed part's three cells as grading leaves them."""
    ok = {"earned": True, "lost": False, "held": None}[standing]
    outcome = Outcome(part=name, standing=standing, points=0, max_points=4, verdicts=(verdict(ok, message),))
    test = cell("code", name=name, grade=True, points=4, outputs=[
        shown(ANSWER, FORMULA), shown(FOUND, as_html(outcome, "expression"))
    ])  # fmt: skip
    test["metadata"] |= {VOIDED: void} if void else {}
    return [
        cell("markdown", f"## About {name} (4 points)\n\nGive $x^2$.", f"{name}-statement"),
        cell("code", f'{name} = expression("1/b")', f"{name}-answer", solution=True),
        test,
    ]


MARKS = {
    "right": Mark(name="right", points=4, of=4, judged=4.0),
    "wrong": Mark(name="wrong", points=0, of=4, judged=0.0),
    "half": Mark(name="half", points=2, of=4, judged=2.0),
    "open": Mark(name="open", points=0, of=4, waits=True),
    "by_hand": Mark(name="by_hand", points=3, of=4, by_hand=3.0),
}
NOTEBOOK = from_dict({"cells": [
    cell("markdown", "# Sums and products\n\nRead first.", "introduction"),
    *part("right", "earned", ""),
    *part("open", "held", "It cannot be decided."),
    *part("wrong", void="Everybody has the points."),
    *part("half"),
    *part("by_hand", "held", "The machine could not say."),
    cell("code", "print(1)", outputs=[{"output_type": "stream", "name": "stdout", "text": "\x1b[31mone\x1b[0m <b>"}]),
], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})  # fmt: skip
COMMENTS = {"by_hand-answer": ("The sum $\\sum_i x_i$ is right, but <b>not</b> $x < y$.", "machine")}


def sheet(**more):
    """A student with two notebooks, one of them missing."""
    found = {"sums": Standing(marks=MARKS, late=1.0), "absent": Standing(marks={"a": Mark(name="a", points=0, of=5)})}
    words = {"student": "ada", "assignment": "ps1", "standings": found, "missing": ["absent"]}
    return Sheet(**(words | more))


def words_of(text):
    """What somebody reads."""
    return " ".join(html.unescape(re.sub(r"<style.*?</style>|<[^>]+>", " ", text, flags=re.DOTALL)).split())


def sections(text):
    """The parts of a page by name, in their order, with how each stands."""
    begin = r'<(?:section|details) class="part'
    found = re.finditer(rf'{begin} (\w+)" id="(\w+)">(.*?)(?={begin}|<details class=rest|</main>)', text, re.DOTALL)
    return {match[2]: (match[1], match[0]) for match in found}


PAGE = page(sheet(), "sums", NOTEBOOK, COMMENTS)


def test_what_was_lost_comes_first_and_what_was_earned_is_folded():
    """Lost, partly earned, waiting, earned; only the last are folded, and partly earned is not shown as lost."""
    found = sections(PAGE)
    assert [(name, word) for name, (word, _) in found.items()] == [
        ("wrong", "lost"), ("half", "partly"), ("by_hand", "partly"), ("open", "held"), ("right", "earned")
    ]  # fmt: skip
    assert [name for name, (_, text) in found.items() if text.startswith("<details")] == ["right"]


def test_a_part_says_what_is_wrong_and_what_to_try():
    """The answer typeset, with its typed line as the formula's text; what is wrong; what next; the question folded."""
    text = sections(PAGE)["wrong"][1]
    assert 'alttext="1/b"' in text and "expression(" not in text
    said = words_of(text)
    assert said.startswith("About wrong wrong ✗ lost, 0 of 4 points")
    assert "What is wrong It is too small. What to try next Put numbers for the variables" in said
    assert re.search(r"<details class=\"question\"><summary>The question</summary>.*<math", text, re.DOTALL)


def test_a_persons_decision_stands_in_place_of_the_machines():
    """The page says that a grader decided; a comment has its mathematics, and tags in it are text."""
    text = sections(PAGE)["by_hand"][1]
    said = words_of(text)
    assert "partly earned, marked by a grader, 3 of 4 points" in said
    assert "The machine could not say" not in said and "machine" not in said
    assert text.count("<munder") + text.count("<msub") > 1 and "&lt;b&gt;not" in text and "<b>" not in text
    assert "$" not in said


def test_a_void_is_said():
    """The part has the sentence, and its row points to it."""
    assert "About this part Everybody has the points." in words_of(sections(PAGE)["wrong"][1])
    assert re.search("About wrong wrong 0 of 4 ✗ lost, with a note", words_of(PAGE))


def test_the_total_and_what_waits_stand_at_the_top():
    """Of the notebook, lateness taken off; and of the assignment, with what was not handed in."""
    said = words_of(PAGE)
    assert "8 of 20 points so far; waiting for a grader: open (with 1 deducted for late submission)" in said
    assert "The whole assignment: 8 of 25 points so far; not handed in: absent" in said


def test_the_assignments_page_links_the_notebooks():
    """The total, what waits and where, a link to each notebook that was handed in, and to each of its parts."""
    titles = {"sums": {"half": "About half", "wrong": "About wrong"}}
    text = overview(sheet(title="Problem set 1", titles=titles))
    said = words_of(text)
    assert "Problem set 1 8 of 25 points so far; waiting for a grader: sums: open" in said
    assert 'href="sums.html"' in text and 'href="sums.html#half"' in text and "absent.html" not in text
    assert said.index("About half") < said.index("About wrong") < said.index("by_hand")
    assert "absent 0 of 5 not handed in" in said


@pytest.mark.parametrize("text", [PAGE, overview(sheet())], ids=["notebook", "assignment"])
def test_a_page_reads_aloud_on_a_phone_and_in_the_dark(text):
    """Language, a link over the head, captions, headings of rows and columns; each id once; nothing is fetched."""
    assert '<html lang="en">' in text and 'name="viewport"' in text
    assert "prefers-color-scheme: dark" in text and "@media print" in text and "details-content" in text
    ids = re.findall(r'\sid="([^"]+)"', text)
    assert len(ids) == len(set(ids)) and re.findall(r'class="skip" href="#(\w+)"', text) == ["parts"] and "parts" in ids
    tables = re.findall(r"<table>.*?</table>", text, re.DOTALL)
    assert tables and all(
        "<caption>" in table and 'scope="col"' in table and 'scope="row"' in table for table in tables
    )
    assert not re.search(r"<script|<link|url\(|@import|\son\w+=", text)


def test_a_request_is_a_letter_with_all_that_it_is_about():
    """Address, student, part and code; for parts that are decided and not full, and only where there is an address."""
    text = page(sheet(student="o'neil & co", contact="dl@uni.example"), "sums", NOTEBOOK, COMMENTS)
    links = {name: re.findall(r'href="(mailto:[^"]+)"', section) for name, (_, section) in sections(text).items()}
    assert {name for name, found in links.items() if found} == {"wrong", "half", "by_hand"}
    address, _, query = html.unescape(links["half"][0]).partition("?")
    letter = urllib.parse.parse_qs(query)
    code = look_code("o'neil & co", "ps1", "sums", "half", 'half = expression("1/b")')
    assert address == "mailto:dl@uni.example" and letter["subject"] == ["[ps1] another look: sums.half"]
    assert letter["body"][0].split("\n")[:4] == [
        "Student: o'neil & co", "Part: sums.half", f"Code: {code}", "Result: partly earned, 2 of 4 points"
    ]  # fmt: skip
    assert "mailto" not in PAGE


def test_the_code_is_another_one_for_another_answer():
    """By student, assignment, notebook, part and the answer's text."""
    given = ("ada", "ps1", "sums", "half", "x = 1")
    others = [(*given[:place], "other", *given[place + 1 :]) for place in range(len(given))]
    assert len({look_code(*words) for words in (given, *others)}) == 6 and re.fullmatch(
        "[0-9a-f]{8}", look_code(*given)
    )


def test_what_came_of_a_request_is_said():
    """At the part, and on the assignment's page."""
    said = {"sums.half": "You asked for another look. Your points stay as they are."}
    text = page(sheet(said=said), "sums", NOTEBOOK, COMMENTS)
    assert "Your request You asked for another look." in words_of(sections(text)["half"][1])
    assert "Your request" not in words_of(sections(text)["wrong"][1])
    assert "sums.half: You asked for another look." in words_of(overview(sheet(said=said)))
    answered = {"sums.half": "You asked for another look. Your points were changed. Half of it."}
    spoken = page(sheet(said=answered), "sums", NOTEBOOK, COMMENTS | {"half-answer": ("Half of it.", "")})
    assert words_of(sections(spoken)["half"][1]).count("Half of it.") == 1, "not once more as the comment"


def test_references_stand_only_where_they_are_told():
    """Folded in their part; without them there is no such line."""
    told = page(sheet(), "sums", NOTEBOOK, COMMENTS, lambda name: f"<p>so {name}</p>")
    assert all("The reference, and why" in section for _, section in sections(told).values())
    assert "so half" in sections(told)["half"][1] and "The reference" not in PAGE


def test_a_file_that_cannot_be_read_is_one_note():
    """All parts wait for one reason: it is said once, and no part is shown."""
    held = Standing(marks={name: Mark(name=name, points=0, of=4, waits=name == "right") for name in MARKS})
    reason = {f"{name}-answer": ("", "waiting: submission — The file is not JSON.") for name in MARKS}
    text = page(sheet(standings={"sums": held}, missing=[]), "sums", NOTEBOOK, reason)
    assert "waiting for a grader: the whole notebook" in words_of(text)
    assert text.count("The file is not JSON.") == 1 and "Your answer" not in text
    reason["half-answer"] = ("", "waiting: expression — Another reason.")
    assert "Your answer" in page(sheet(standings={"sums": held}, missing=[]), "sums", NOTEBOOK, reason)


def test_what_is_held_later_says_why():
    """Where two runs disagreed, what the first one found does not stand there as if it counted."""
    marks = MARKS | {"right": Mark(name="right", points=0, of=4, waits=True)}
    notes = {"right-answer": ("", "waiting: repeat — Two runs gave different answers.")}
    text = page(sheet(standings={"sums": Standing(marks=marks)}, missing=[]), "sums", NOTEBOOK, notes)
    assert "Why it waits Two runs gave different answers." in words_of(sections(text)["right"][1])


WORDS = {
    "earned": (Mark(name="a", points=4, of=4, judged=4.0), "earned", "earned"),
    "more than all": (Mark(name="a", points=5, of=4, judged=4.0), "earned", "earned"),
    "nearly": (Mark(name="a", points=3.75, of=4, judged=3.75), "partly", "partly earned"),
    "nothing": (Mark(name="a", points=0, of=4, judged=0.0), "lost", "lost"),
    "nobody yet": (Mark(name="a", points=0, of=4, waits=True), "held", "waiting for a grader"),
    "a mark to be looked at again": (Mark(name="a", points=3, of=4, by_hand=3.0, waits=True), "held", "waiting"),
    "by a person": (Mark(name="a", points=0, of=4, judged=4.0, by_hand=0.0), "lost", "lost, marked by a grader"),
    "dropped": (Mark(name="a", points=0, of=0, judged=0.0), "earned", "does not count"),
    "decided with its notebook": (Mark(name="a", points=0, of=4), "lost", "not graded"),
}


@pytest.mark.parametrize("name", WORDS)
def test_how_a_part_stands(name):
    """In a word and in a sentence, by the gradebook alone."""
    mark, word, said = WORDS[name]
    found = Standing(marks={"a": mark}).word(mark)
    assert found[0] == word and found[1].startswith(said)


def test_output_is_text():
    """What a terminal would obey is left out, what a browser would obey is text; previews go where none are wanted."""
    said = from_dict({"outputs": [
        {"output_type": "stream", "name": "stderr", "text": "\x1b]8;;javascript:a\x07link\x1b]8;;\x07 <b>"},
        {"output_type": "error", "ename": "E", "evalue": "x", "traceback": ["\x1b[0;31mE\x1b[0m: <x>"]},
        {"output_type": "display_data", "data": {"text/plain": r"\frac{1}{2}"}, "metadata": {}},
    ]})  # fmt: skip
    assert outputs(said, previews=False) == (
        '<pre class="errors">link &lt;b&gt;</pre><pre class="errors">E: &lt;x&gt;</pre>'
    )
    assert r"\frac{1}{2}" in outputs(said)


STEPS = {
    "by the code": (verdict(False, code="shape", check="values"), "", "Print the shape"),
    "by the check": (verdict(False, check="gradient"), "function", "Look for what cuts the gradient"),
    "by the kind": (verdict(False, check="form_1"), "derivation", "Put numbers for the variables into each line"),
    "of code": (verdict(False, check="values"), "function", "Work a small case out by hand"),
    "of an input": (
        verdict(False, check="counterexample", code="agrees"),
        "",
        "Work out by hand what the printed code",
    ),
    "of tests": (
        verdict(False, check="wrong function 2", code="passes_f"),
        "tests",
        "Change one place of the function",
    ),
    "of tests that are too strict": (verdict(False, check="right functions", code="rejects_right"), "tests", "Write"),
}


@pytest.mark.parametrize("name", STEPS)
def test_what_to_try_next(name):
    """By the verdict's code, else by the check, else by the kind of the part."""
    found, kind, said = STEPS[name]
    assert next_step(found, kind).startswith(said)


def test_what_checks_say_alike_is_said_once():
    """Two checks that fail for one reason name it once, with both their names; what was not reached says nothing."""
    alike = [verdict(False, "f raised E", check=name, code="raised") for name in ("values", "gradient")]
    late = Verdict(check="form", ok=False, code="not_reached", message="later")
    outcome = Outcome(part="f", standing="lost", points=0, max_points=2, verdicts=(*alike, late))
    text = words_of(as_html(outcome, "function"))
    assert text.count("f raised E") == 1 and "in the checks values, gradient" in text and "later" not in text
    assert text.count("What to try next") == 1


def test_numbered_checks_are_listed_by_their_numbers():
    """Once by name, those that were lost apart from those that were earned; a name without a number stands alone."""
    checks = [("right functions", True), *((f"wrong function {number}", number in (2, 11)) for number in (1, 2, 3, 11))]
    verdicts = tuple(verdict(ok, "A wrong one passes.", check=name) for name, ok in [*checks, ("form_7", False)])
    outcome = Outcome(part="f", standing="lost", points=1, max_points=2, verdicts=verdicts)
    text = words_of(as_html(outcome, "tests"))
    listed = "✓ earned: right functions ✗ lost: wrong function 1, 3 ✓ earned: wrong function 2, 11 ✗ lost: form 7"
    assert listed in text
    assert "in the checks wrong function 1, 3, form 7" in text


@pytest.fixture(scope="module")
def gradebook(tmp_path_factory):
    """A gradebook with one assignment, two notebooks, and a student who handed in one of them."""
    prepare_gradebooks()
    with Gradebook(f"sqlite:///{tmp_path_factory.mktemp('gradebook')}/g.db") as found:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # nbgrader's own
            found.add_assignment("ps1", duedate=datetime.datetime(2026, 5, 1))
            found.add_student("ada")
            for name in ("sums", "absent"):
                found.add_notebook(name, "ps1")
                found.add_grade_cell("half", name, "ps1", max_score=4, cell_type="code")
                found.add_solution_cell("half-answer", name, "ps1")
            found.add_task_cell("deed", "sums", "ps1", max_score=2, cell_type="markdown")
            found.add_submission("ps1", "ada")
            grade = found.find_grade("half", "sums", "ps1", "ada")
            grade.auto_score, grade.needs_manual_grade = 3.0, False
            found.find_comment("half-answer", "sums", "ps1", "ada").manual_comment = "Fine."
            found.find_submission_notebook("sums", "ps1", "ada").late_submission_penalty = 0.5
            found.db.commit()
        yield found


def test_the_gradebook_is_read_as_nbgrader_reads_it(gradebook):
    """Points, maxima of tests and tasks, what waits, lateness, and comments: nbgrader's own sums."""
    found = standings(gradebook.db, "ps1", "ada")
    row = gradebook.find_submission_notebook("sums", "ps1", "ada")
    assert found["sums"].points == row.score - row.late_submission_penalty == 2.5
    assert found["sums"].of == row.max_score == 6 and found["absent"].of == 4
    assert found["sums"].marks["half"].judged == 3.0 and found["sums"].marks["deed"].waits
    assert comments(gradebook.db, "ps1", "ada", "sums")["half-answer"] == ("Fine.", "")
    assert standings(gradebook.db, "ps1", "nobody") == {}


class Log:
    """Keeps warnings."""

    def __init__(self):
        self.said = []

    def warning(self, text, *words):
        """Keep one."""
        self.said.append(text % words)


@pytest.mark.parametrize(
    ("wanted", "due", "extension", "told", "warned"),
    [
        (False, -5, None, False, False),
        (True, -5, None, True, False),
        (True, None, None, True, False),
        (True, 5, None, False, True),
        (True, -5, 4, True, False),
        (True, -5, 6, False, True),
    ],
)
def test_references_are_told_after_everybodys_last_moment(
    gradebook, tmp_path, monkeypatch, wanted, due, extension, told, warned
):
    """If the course wants it, once the due date and the longest extension are over; before, a line says why not."""
    now = datetime.datetime.now(datetime.UTC).replace(tzinfo=None)
    assignment, row = gradebook.find_assignment("ps1"), gradebook.find_submission("ps1", "ada")
    assignment.duedate = None if due is None else now + datetime.timedelta(days=due)
    row.extension = None if extension is None else datetime.timedelta(days=extension)
    gradebook.db.commit()
    monkeypatch.setattr(own_pages, "solutions", lambda *_: lambda name: "<p>this is it</p>")
    place = SimpleNamespace(root=str(tmp_path), source_directory="source", autograded_directory="autograded")
    place.format_path = lambda step, student, name: str(tmp_path / step / student / name)
    log = Log()
    settings = SimpleNamespace(contact="", solutions=wanted, log=log)
    pages = own_pages.Pages(place, "ps1", gradebook.db, settings)
    notebook = from_dict({**NOTEBOOK, "metadata": {"autograder": {"slug": "sums", "version": 1, "seed": 0}}})
    text = pages.page(sheet(), "sums", notebook)
    assert ("this is it" in text) == told and bool(log.said) == warned


def test_requests_are_read_from_the_journal_of_decisions(gradebook, tmp_path):
    """A student's own requests, as they stand now; a line that is added is seen."""
    place = SimpleNamespace(root=str(tmp_path), source_directory="source", autograded_directory="autograded")
    place.format_path = lambda step, student, name: str(tmp_path / step / student / name)
    pages = own_pages.Pages(place, "ps1", gradebook.db, SimpleNamespace(contact="", solutions=False, log=Log()))
    assert pages.sheet("ada").said == {} and pages.sheet("ada").missing == ["absent", "sums"]
    journal = review_journal.path_of(tmp_path, "ps1")
    journal.parent.mkdir()
    asked = '{"kind": "request", "id": "r1", "time": 1, "student": "ada", "item": "sums.half", "text": "please"}\n'
    journal.write_text(asked)
    assert pages.sheet("ada").said["sums.half"].endswith("Nobody has decided yet.")
    told = {"kind": "reply", "id": "r1", "time": 2, "state": "accepted", "by": "gil", "ruling": ""}
    reply = json.dumps(told | {"reply": "You are right."}) + "\n"
    journal.write_text(asked + reply)
    assert pages.sheet("ada").said["sums.half"].endswith("Your points were changed. You are right.")
    assert pages.sheet("bob").said == {}

"""The page that a student gets back: what was earned and lost and why, and nothing else."""

import html
import json
import re
from html.parser import HTMLParser

import nbformat
import pytest
from nbconvert.filters import Highlight2HTML
from nbformat.v4 import new_markdown_cell, new_notebook

from autograder.core import Outcome, Verdict
from autograder.grading.feedback import as_html, as_text, student_comment
from autograder.grading.typeset import with_mathml
from autograder.nbgrader.course_api import done, opened
from autograder.nbgrader.feedback_exporter import _coloured
from autograder.simulation.classroom import own_cell
from autograder.simulation.personas import personas

FETCHING = ("src", "href", "data", "action", "xlink:href", "srcdoc", "formaction")


class Page(HTMLParser):
    """What a browser would run or fetch: scripts, event handlers, and addresses outside the page.

    A link to a web page waits for a click.
    """

    def __init__(self, page):
        super().__init__()
        self.handlers, self.fetched, self.scripts, self.tags = [], [], [], []
        self.in_script = False
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        """Note what the tag would do."""
        self.tags.append(tag)
        self.in_script = tag == "script"
        for name, content in attributes:
            if name.startswith("on"):
                self.handlers.append((tag, name, content))
            harmless = r"#|data:image/(png|jpeg);base64," + ("|https?:" if tag == "a" else "")
            if name in FETCHING and not re.match(harmless, content or ""):
                self.fetched.append((tag, content))

    def handle_data(self, data):
        """Note what a script holds."""
        if self.in_script and data.strip():
            self.scripts.append(data)

    def handle_endtag(self, tag):
        """Scripts do not nest."""
        self.in_script = False


ATTACKS = {
    "script in text": "<script>attack()</script>",
    "image handler": "<img src=x onerror=attack()>",
    "link": "[x](javascript:attack())",
    "link in entities": "[x](&#106;avascript:attack())",
    "reference link": "[x][y]\n\n[y]: javascript:attack()",
    "autolink": "<javascript:attack()>",
    "picture from elsewhere": "![x](http://tracker.example/x.png)",
    "reference picture": "![x][y]\n\n[y]: http://tracker.example/x.png",
    "attachment with a handler": '![x](attachment:x.png" onerror="attack())',
    "tex link": r"$\href{javascript:attack()}{x}$",
    "tex text": r"$\text{<img src=x onerror=attack()>}$",
    "tex colour": r'$\color{red" onmouseover="attack()}{x}$',
    "code fence": '```html"><script>attack()</script>\nx\n```',
    "style": "<style>@import url(http://tracker.example/x.css)</style>",
    "base": "<base href=http://tracker.example/>",
    "comment": "<!--><script>attack()</script>-->",
    "table": "| a |\n|---|\n| <svg/onload=attack()> |",
}
OUTPUTS = [
    "from IPython.display import *",
    "display(HTML('<script>attack()</script>'), Javascript('attack()'), Latex('<script>attack()</script>'))",
    "display(Markdown('[x](javascript:attack())'), SVG('<svg onload=\"attack()\"></svg>'))",
    "display({'image/png': 'x\" onerror=\"attack()'}, raw=True)",
    "display({'text/plain': '<script>attack()</script>'}, raw=True)",
    "display({'application/vnd.jupyter.widget-view+json': '{\"model_id\": \"x\"}'}, raw=True)",
    "print('<script>attack()</script>', '\\x1b[31m<img src=x onerror=attack()>\\x1b[0m')",
    "print('\\x1b]8;;javascript:attack()\\x07link\\x1b]8;;\\x07')",
    "raise ValueError('<script>attack()</script>')",
]


STUDENTS = ("perfect", "half_done", "mistake_centre_detached_mean", "exception_in_answer", "truncated_json")


@pytest.fixture(scope="module")
def pages(new_course, tmp_path_factory):
    """The feedback pages of some of the class, and of one who attacks whoever reads them."""
    course = new_course(tmp_path_factory.mktemp("pages") / "course")
    work = course.work().solve()
    for text in ATTACKS.values():
        work.cells.append(own_cell(text, "markdown"))
    work.cells.append(own_cell("\n".join(OUTPUTS)))
    work.answer_cell(course.problem.parts[-1])["source"] += "\n\n" + "\n\n".join(ATTACKS.values())
    for line in OUTPUTS[1:]:
        work.cells.append(own_cell(f"{OUTPUTS[0]}\n{line}"))
    text = "<img src=x onerror=attack()>[x](javascript:attack())"
    work.answer_cell()["source"] = f"def centre(x):\n    raise ValueError({text!r})"  # its text is in the comment
    course.hand_in("attacker", work.files())
    for persona in personas(course.problem):
        if persona.name in STUDENTS:
            course.hand_in(persona.name, persona.make(course.work()))
    assert course.autograde()["success"]
    return {name: course.feedback(name) for name in (*STUDENTS, "attacker")}


def words_of(page):
    """What somebody reads of a page."""
    return html.unescape(" ".join(re.sub(r"<style.*?</style>|<[^>]+>", " ", page, flags=re.DOTALL).split()))


def section(page, part):
    """What somebody reads of a part."""
    begin = r'<(?:section|details) class="part'
    found = re.search(rf'{begin} \w+" id="{part}">.*?(?={begin}|</main>)', page, re.DOTALL)
    return words_of(found[0])


def test_each_check_is_shown_with_what_it_earned(pages):
    """One line a check, earned or lost in words, with the hint of the mistake that was made."""
    centre = section(pages["mistake_centre_detached_mean"], "centre")
    assert "partly earned, 2 of 4 points" in centre and "✓ earned: values ✗ lost: gradient" in centre
    assert "What is wrong You detached the mean: the values are right" in centre
    assert "Where it shows in the check gradient. What to try next Look for what cuts" in centre
    assert "earned, 3 of 3 points" in section(pages["mistake_centre_detached_mean"], "Layer")
    assert "waiting for a grader, 2 points" in section(pages["mistake_centre_detached_mean"], "why")


@pytest.mark.parametrize(("student", "points"), [("perfect", 10), ("mistake_centre_detached_mean", 8)])
def test_the_marks_stand_at_the_top(pages, student, points):
    """The sum so far, and what still waits for a person."""
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", pages[student]))
    assert f"{points} of 12 points so far; waiting for a grader: why" in text


def test_an_unreadable_file_is_said_to_be_unreadable(pages):
    """The student reads that a person looks, and why."""
    assert "The notebook could not be read: the file is not JSON" in pages["truncated_json"]


def test_a_cell_that_stopped_is_named_with_its_reason(pages):
    """The student reads which error kept the answer from being defined."""
    assert "stopped with NameError: name 'np' is not defined" in html.unescape(pages["exception_in_answer"])


OURS = ("hidden.score", "HIDDEN", "BEGIN", "detached_mean", "by_sum", "judge_part", "site-packages", "seed=7",
        "centred", "keepdim=True) * p", "rows' independence")  # fmt: skip


@pytest.mark.parametrize("secret", OURS)
def test_nothing_of_ours_leaks(pages, secret):
    """No hidden source, reference, mistake's code, rubric or traceback of ours is on any page."""
    for name, page in pages.items():
        body = page[page.index("<body") :]
        assert secret not in re.sub(r"detached the mean", "", body), name


def test_the_reference_is_on_no_page_of_who_did_not_write_it(pages):
    """A student who answered half sees nothing of the other half's solution."""
    assert "torch.sigmoid" not in pages["half_done"]


def test_pages_read_without_a_network(pages):
    """No page fetches anything: no script, font, style sheet or picture from elsewhere."""
    for name, page in pages.items():
        found = Page(page)
        assert (name, found.fetched, found.scripts) == (name, [], [])
        styles = " ".join(re.findall(r"<style.*?</style>", page, re.DOTALL))
        assert not re.search(r"@import|url\(\s*['\"]?(?!data:)[a-z]+:", styles), name


def test_mathematics_is_mathml(pages):
    """TeX becomes markup that browsers and screen readers know."""
    page = pages["perfect"]
    assert "<math" in page and r"$\bar x$" not in page


def test_what_a_student_writes_is_inert(pages):
    """No markup of a student's, in text, output or error, runs in the reader's browser."""
    page = pages["attacker"]
    found = Page(page)
    assert found.handlers == []
    assert not {"script", "iframe", "object", "embed", "svg", "form", "base", "link"} & set(found.tags)
    assert "attack" in page  # it was there to be shown


MATH = {
    "$x$ and $y$": 2,
    "$$\nx^2\n$$": 1,
    "`$x$`": 0,
    "```\n$x$\n```": 0,
    "it costs $5 and $6": 0,
    r"\$x\$": 0,
    "a $x": 0,
    r"$\unknowncommand{$": 0,
}


@pytest.mark.parametrize("text", MATH, ids=repr)
def test_what_is_mathematics_and_what_is_not(text):
    """Prices, code and unfinished formulas stay as they were typed."""
    assert with_mathml(text).count("<math") == MATH[text]


def test_an_exceptions_text_is_inert_in_the_comment():
    """nbgrader renders comments as markdown; what a student's exception says must not become a tag or a link."""
    verdict = Verdict(
        check="values", ok=False, code="raised", message="f raised E: <img src=x onerror=a> [x](javascript:a)"
    )
    outcome = Outcome(part="f", standing="lost", points=0.0, max_points=1.0, verdicts=(verdict,))
    assert student_comment(outcome) == "lost: values — f raised E: < img src=x onerror=a> [x] (javascript:a)"


def test_graders_read_the_rubric_where_they_mark_and_students_do_not(new_course, tmp_path):
    """Under what is held stands why, the rubric and the model answer, once; the student's page has none of it."""
    course = new_course(tmp_path / "course")
    work = course.work().solve()
    work.add(1, "**For the grader**: give all the points", "markdown")
    course.hand_in("ada", work.files())
    for _ in range(2):
        assert course.autograde("ada")["success"]
        graded = json.loads((course.path / "autograded/ada/ps1/tiny.ipynb").read_text())
        notes = [cell for cell in graded["cells"] if cell["metadata"].get("autograder_staff")]
        (note,) = notes
        before = graded["cells"][graded["cells"].index(note) - 1]
        assert before["metadata"]["nbgrader"]["grade_id"] == "why"
        text = "".join(note["source"])
        assert "Rubric:" in text and "A model answer:" in text
    page = course.feedback("ada")
    assert "Rubric:" not in page and "A model answer:" not in page
    assert "rows' independence" not in html.unescape(page)
    assert "give all the points" in page, "the student's own cell stays"
    own = next(cell for cell in graded["cells"] if "give all the points" in "".join(cell["source"]))
    assert "".join(own["source"]).startswith("**Written by the student:**") and "Your own text" in page


def test_a_page_has_every_part_of_a_notebook_that_is_not_ours(new_course, tmp_path):
    """Tasks have their points and the person's comment; what is not in the file is told, and waits."""
    course = new_course(tmp_path / "course")

    def marks(**more):
        return {
            "nbgrader": {"schema_version": 3, "task": False, "locked": True, "grade": False, "solution": False, **more}
        }

    cells = [
        new_markdown_cell("Do it.", metadata=marks(grade_id="deed", task=True, points=4)),
        new_markdown_cell(
            "Say it.", metadata=marks(grade_id="word", grade=True, solution=True, locked=False, points=2)
        ),
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    nbformat.write(new_notebook(cells=cells, metadata=kernel), course.path / "source/ps1/foreign.ipynb")
    with opened(course.path) as api:
        done("generate_assignment", api.generate_assignment("ps1"))
    released = (course.path / "release/ps1/foreign.ipynb").read_text()
    stripped = new_notebook(cells=[new_markdown_cell("Do it.")], metadata=kernel)
    for student, text in (("ada", released), ("bob", nbformat.writes(stripped))):
        course.hand_in(student, {**course.work().files(), "foreign.ipynb": text.encode()})
        assert course.autograde(student)["success"]
    course.feedback("bob")
    page = (course.path / "feedback/bob/ps1/foreign.html").read_text()
    assert "0 of 6 points</strong> so far; waiting for a grader: the whole notebook" in page
    with opened(course.path) as api, api.gradebook as gradebook:
        place = ("foreign", "ps1", "ada")
        for part, points in (("deed", 3), ("word", 1)):
            grade = gradebook.find_grade(part, *place)
            grade.manual_score, grade.needs_manual_grade = points, False
        gradebook.find_comment("deed", *place).manual_comment = "Well done."
        gradebook.db.commit()
    course.feedback("ada")
    page = (course.path / "feedback/ada/ps1/foreign.html").read_text()
    assert "4 of 6 points</strong></p>" in page and "Well done." in page and "waiting" not in page
    assert re.search(r"deed</a></td>\s*<td class=\"number\">3 of 4</td>\s*<td>partly earned, marked by a grader", page)


@pytest.mark.parametrize(
    ("oks", "points", "said"),
    [((False, True), 0, True), ((True, False), 3, False), ((False, False), 0, False), ((None, True), 0, False)],
)
def test_why_an_earned_check_counts_nothing(oks, points, said):
    """Where the first check is lost, the student reads that the others count once it is right."""
    verdicts = tuple(Verdict(check=f"check {place}", ok=ok, code="x") for place, ok in enumerate(oks))
    outcome = Outcome(part="f", standing="lost", points=points, max_points=4.0, verdicts=verdicts)
    for text in (as_text(outcome), as_html(outcome)):
        assert ("The other checks count only if check 0 is correct." in text) == said


@pytest.mark.parametrize("language", ["python", "ipython3", "r", "no such language"])
@pytest.mark.filterwarnings("ignore:No lexer found")
def test_code_is_coloured_as_nbconvert_does(language):
    """The same page for the same cell, whatever the kernel's language."""
    for source in ("x = 1  # one\n", "%timeit f(2)\n!ls", "  \n", "", "<script>"):
        assert _coloured(source, language, None) == Highlight2HTML(pygments_lexer=language)(source)

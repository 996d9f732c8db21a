"""What is changed after the exam: points, parts, seed, secret, voids. Gradebook, reports and export say one thing."""

from __future__ import annotations

import csv
import random
import re
import shutil

import pytest
from nbgrader.converters import GenerateFeedback
from nbgrader.plugins import CsvExportPlugin

from autograder.authoring import building, loading
from autograder.authoring.assignment import read_assignment
from autograder.commands.grade_class import extend
from autograder.course import regrading
from autograder.course.run import Options
from autograder.course.run import run as grade_class
from autograder.errors import AutograderError
from autograder.grading import report as reports
from autograder.nbgrader.course_api import done, opened
from autograder.nbgrader.scale import before_build

PEOPLE = ("perfect", "half_done", "mistake_centre_detached_mean", "mistake_axis_first", "not_json", "untouched")
RIGHT = {"centre": 4, "Layer": 3, "parameters": 2, "axis": 1}  # the points of `perfect`; `why` waits, with 2
VOID = "\n[void.'tiny.{}']\n"


class Exam:
    """A course after an exam: its files can be changed, and every command be given, in this process."""

    def __init__(self, path):
        self.path = path

    def change(self, name, old, new):
        """Replace text in a file of the course."""
        file = self.path / name
        text = file.read_text()
        assert old in text, name
        file.write_text(text.replace(old, new))
        loading._load.cache_clear()

    def problem(self, old, new):
        """Replace text in the problem."""
        self.change("../problems/tiny/problem.py", old, new)

    def append(self, text):
        """Write more into the assignment's file."""
        file = self.path / "ps1.toml"
        file.write_text(file.read_text() + text)

    def build(self):
        """`autograder build ps1`."""
        before_build(self.path, "ps1", None)
        building.write(self.path, read_assignment(self.path, "ps1"))

    def generate(self):
        """`nbgrader generate_assignment ps1 --force`."""
        with opened(self.path) as api:
            return done("generate_assignment", api.generate_assignment("ps1", force=True))

    def grade(self, *students):
        """`autograder grade ps1`."""
        return grade_class(self.path, Options(assignment="ps1", students=students))

    def regrade(self, *students, dry_run=False):
        """`autograder regrade ps1`."""
        return regrading.run(self.path, "ps1", students, dry_run=dry_run, feedback=True)

    def autograde(self, student="*"):
        """`nbgrader autograde ps1 --force`."""
        with opened(self.path) as api:
            return done("autograde", api.autograde("ps1", student, force=True))

    def feedback(self, student="perfect"):
        """`nbgrader generate_feedback ps1`, as on the command line: without --force."""
        with opened(self.path) as api:
            api.coursedir.assignment_id, api.coursedir.student_id = "ps1", student
            GenerateFeedback(coursedir=api.coursedir, parent=api).start()
        return self.page(student)

    def page(self, student):
        """A student's page as it lies there."""
        return (self.path / f"feedback/{student}/ps1/tiny.html").read_text()

    def by_hand(self, student, part, points):
        """What formgrader does when a person types a mark."""
        with opened(self.path) as api, api.gradebook as gradebook:
            grade = gradebook.find_grade(part, "tiny", "ps1", student)
            grade.manual_score, grade.needs_manual_grade = points, False
            gradebook.db.commit()

    def rows(self):
        """Student -> part -> (score, maximum, whether a person must look)."""
        with opened(self.path) as api, api.gradebook as gradebook:
            return {
                submission.student.id: {
                    grade.name: (grade.score, grade.max_score, grade.needs_manual_grade)
                    for grade in submission.notebooks[0].grades
                }
                for submission in gradebook.assignment_submissions("ps1")
            }

    def three_totals(self):
        """Points and maximum of each student by gradebook, reports, and nbgrader's export."""
        with opened(self.path) as api, api.gradebook as gradebook:
            found = gradebook.assignment_submissions("ps1")
            book = {item.student.id: (item.score, item.max_score) for item in found}
            CsvExportPlugin(to=str(self.path / "grades.csv"), parent=api).export(gradebook)
        with (self.path / "grades.csv").open() as file:
            export = {row["student_id"]: (float(row["score"]), float(row["max_score"])) for row in csv.DictReader(file)}
        ours = {}
        for path in (self.path / "reports/ps1").glob("*/tiny.json"):
            report = reports.load(path)
            ours[path.parent.name] = (report.points, sum(outcome.max_points for outcome in report.outcomes))
        rounded = [
            {name: tuple(round(value, 3) for value in pair) for name, pair in each.items()}
            for each in (book, ours, export)
        ]
        return rounded


@pytest.fixture(scope="module")
def marked(build_course, tmp_path_factory):
    """A class that was graded."""
    classroom = build_course(tmp_path_factory.mktemp("marked") / "course", people=PEOPLE)
    assert Exam(classroom.path).grade().exit_code == 0
    return classroom.path


@pytest.fixture
def exam(marked, tmp_path):
    """A copy of one's own."""
    shutil.copytree(marked.parent, tmp_path / "course", symlinks=True)
    loading._load.cache_clear()
    yield Exam(tmp_path / "course" / "notebooks")
    loading._load.cache_clear()


def points(exam, student):
    """A student's sum and its maximum, once all three agree."""
    book, ours, export = exam.three_totals()
    assert book == ours == export
    return book[student]


def another_part(exam):
    """One that nobody was asked."""
    more = '    parts=[\n        Number("bonus", points=5, reference=with_bias, mistakes=[without_bias]),\n'
    exam.problem("    parts=[\n", more)
    exam.change("../problems/tiny/statement.md", "## A function", "## More {#bonus}\n\nHow many?\n\n## A function")


def one_part_less(exam):
    """The choice is taken out."""
    exam.problem('Choice("axis", points=1, reference=last, mistakes=[first, both]),', "")
    exam.change("../problems/tiny/statement.md", "## A choice {#axis}\n\nOver which axis is the mean taken?\n\n", "")


CHANGES = {
    "a part's points": lambda exam: exam.problem('"centre",\n            points=4', '"centre",\n            points=8'),
    "its points again": lambda exam: exam.problem('"axis", points=1', '"axis", points=3'),
    "the problem's points": lambda exam: exam.append("\n[points]\ntiny = 24\n"),
    "a part more": lambda exam: another_part(exam),
    "a part less": lambda exam: one_part_less(exam),
    "a mended statement": lambda exam: exam.change("../problems/tiny/statement.md", "\n\n", "\n\nMended. \n\n"),
    "everybody has it": lambda exam: exam.append(VOID.format("centre") + 'as = "full"\n'),
    "nobody has it": lambda exam: exam.append(VOID.format("Layer") + 'as = "drop"\nnobody_loses = false\n'),
    "dropped": lambda exam: exam.append(VOID.format("parameters") + 'as = "drop"\n'),
    "another answer": lambda exam: exam.append(VOID.format("axis") + 'as = ["The first axis."]\n'),
    "the seed": lambda exam: exam.change("ps1.toml", "seed = 7", "seed = 8"),
    "the secret": lambda exam: (exam.path / ".course-secret").write_text("f" * 64 + "\n"),
}  # fmt: skip
COMMANDS = {
    "build": lambda exam: exam.build(),
    "generate_assignment": lambda exam: exam.generate(),
    "grade": lambda exam: exam.grade(),
    "grade one": lambda exam: exam.grade("half_done"),
    "regrade": lambda exam: exam.regrade(),
    "regrade one": lambda exam: exam.regrade("half_done"),
    "dry run": lambda exam: exam.regrade(dry_run=True),
    "autograde": lambda exam: exam.autograde(),
    "autograde one": lambda exam: exam.autograde("half_done"),
    "generate_feedback": lambda exam: exam.feedback("half_done"),
}  # fmt: skip


def refusal(command, exam):
    """What a command says that does nothing."""
    try:
        command(exam)
    except AutograderError as error:
        return error.message
    return ""


@pytest.mark.parametrize("change", CHANGES)
def test_three_totals_are_one(exam, change):
    """After any change and any command, gradebook, reports and export have equal points, and the release is there.

    A command that would break this does nothing, and says in a sentence what to do.
    """
    order = random.Random(change).sample(sorted(COMMANDS), 6)
    CHANGES[change](exam)
    for name in ["build", "generate_assignment", *order, "regrade"]:
        refused = refusal(COMMANDS[name], exam)
        assert not refused or re.search(r"autograder (build|regrade)", refused), (name, refused)
        book, ours, export = exam.three_totals()
        assert book == ours == export, name
        assert (exam.path / "release/ps1/tiny.ipynb").is_file(), name


@pytest.mark.parametrize("seed", [1, 2])
def test_three_totals_are_one_through_a_term(exam, seed):
    """Also where changes meet, each followed by some commands in any order."""
    rng = random.Random(seed)
    for change in rng.sample(sorted(CHANGES.keys() - {"a part more", "a part less"}), 5):
        CHANGES[change](exam)
        for name in ["build", *rng.sample(sorted(COMMANDS), 2)]:
            refused = refusal(COMMANDS[name], exam)
            assert not refused or re.search(r"autograder (build|regrade)", refused), (change, name, refused)
            book, ours, export = exam.three_totals()
            assert book == ours == export, (change, name)
    exam.build()
    exam.generate()
    exam.grade()
    book, ours, export = exam.three_totals()
    assert book == ours == export
    waiting = {part: maximum for part, (_, maximum, held) in exam.rows()["perfect"].items() if held}
    assert set(waiting) <= {"why"}


def test_points_change_for_everybody_at_once(exam):
    """The gradebook keeps its scale until the class is marked again; then all marks have the new one."""
    CHANGES["a part's points"](exam)
    with pytest.raises(AutograderError, match="autograder build ps1"):
        exam.regrade()
    exam.build()
    assert "autograder regrade ps1" in exam.generate()
    assert points(exam, "perfect") == (10, 12)
    for command in ("grade one", "autograde one", "regrade one"):
        with pytest.raises(AutograderError, match="autograder regrade ps1"):
            COMMANDS[command](exam)
    moves = {(move.student, move.part): (move.before, move.after) for move in exam.regrade(dry_run=True).moves}
    assert moves["perfect", "centre"] == (4, 8) and moves["mistake_centre_detached_mean", "centre"] == (2, 4)
    assert points(exam, "perfect") == (10, 12)
    exam.regrade()
    assert points(exam, "perfect") == (14, 16) and points(exam, "mistake_centre_detached_mean") == (10, 16)
    exam.grade("half_done")  # and now one student can be graded again
    assert points(exam, "perfect") == (14, 16)


@pytest.mark.parametrize("change", ["a part more", "a part less"])
def test_parts_of_a_marked_class_stay(exam, change):
    """Neither `build` nor `generate_assignment` lets a part come or go; each says so and loses nothing."""
    source = (exam.path / "source/ps1/tiny.ipynb").read_text()
    release = (exam.path / "release/ps1/tiny.ipynb").read_text()
    CHANGES[change](exam)
    with pytest.raises(AutograderError, match=r"tiny\.(bonus|axis)"):
        exam.build()
    assert (exam.path / "source/ps1/tiny.ipynb").read_text() == source
    building.write(exam.path, read_assignment(exam.path, "ps1"))  # whoever does it all the same
    with pytest.raises(AutograderError, match=r"tiny\.(bonus|axis)"):
        exam.generate()
    assert (exam.path / "release/ps1/tiny.ipynb").read_text() == release
    assert points(exam, "perfect") == (10, 12)


def test_a_release_survives_whatever_fails(exam):
    """A source that cannot be released leaves the released notebook as it is."""
    release = (exam.path / "release/ps1/tiny.ipynb").read_text()
    exam.change("source/ps1/tiny.ipynb", "### END HIDDEN TESTS", "### END")
    with pytest.raises(AutograderError, match="as it was"):
        exam.generate()
    assert (exam.path / "release/ps1/tiny.ipynb").read_text() == release


def test_full_is_for_all_who_handed_it_in(exam):
    """Right, wrong, empty and unreadable notebooks have the points; a mark given by hand yields, and comes back."""
    exam.by_hand("half_done", "why", 0.5)
    exam.append(VOID.format("why") + 'as = "full"\nreason = "Two readings."\n')
    result = exam.regrade(dry_run=True)
    assert result.voids == [
        "void tiny.why: Everybody who handed in this notebook has the points of this part. Two readings."
    ]
    assert {move.student for move in result.moves} == set(PEOPLE)
    exam.regrade()
    assert {student: row["why"] for student, row in exam.rows().items()} == dict.fromkeys(PEOPLE, (2, 2, False))
    assert "Two readings." in exam.page("untouched") and "waiting" not in exam.page("perfect")
    assert points(exam, "perfect") == (12, 12)
    exam.change("ps1.toml", VOID.format("why"), "\n[points]\n#")
    exam.change("ps1.toml", 'as = "full"\nreason = "Two readings."\n', "")
    exam.regrade()
    assert exam.rows()["half_done"]["why"] == (0.5, 2, False) and exam.rows()["perfect"]["why"] == (0, 2, True)


@pytest.mark.parametrize(("keep", "kept"), [("", 4), ("nobody_loses = false\n", 0)])
@pytest.mark.parametrize("command", ["grade", "regrade", "autograde"])
def test_drop_lowers_the_maximum(exam, command, keep, kept):
    """The other parts' points stay; what was earned in the part is kept, unless the file says otherwise."""
    exam.append(VOID.format("centre") + f'as = "drop"\n{keep}')
    COMMANDS[command](exam)
    assert points(exam, "perfect") == (6 + kept, 8) and points(exam, "untouched") == (0, 8)
    assert "This part does not count." in exam.feedback("perfect")
    exam.change("ps1.toml", VOID.format("centre") + f'as = "drop"\n{keep}', "")
    exam.regrade()
    assert points(exam, "perfect") == (10, 12)


@pytest.mark.parametrize("command", ["grade", "regrade", "autograde"])
def test_further_answers_are_correct(exam, command):
    """An answer that the file lists earns all, the official one still does, and others earn nothing more."""
    exam.append(VOID.format("axis") + 'as = ["The first axis."]\nreason = "Both are said."\n')
    COMMANDS[command](exam)
    rows = {student: row["axis"][0] for student, row in exam.rows().items()}
    assert rows == {
        **dict.fromkeys(PEOPLE, 0),
        "perfect": 1,
        "mistake_centre_detached_mean": 1,
        "mistake_axis_first": 1,
    }
    assert "Both are said." in exam.feedback("mistake_axis_first")


@pytest.mark.parametrize(("seeds", "moved"), [("[7]", 1.0), ("[7, 9]", 1.0), ("[8]", 0.0)])
def test_a_void_can_be_for_some_variants(exam, seeds, moved):
    """It holds for the seeds that are listed, and for no other."""
    exam.append(VOID.format("axis") + f'as = "full"\nvariants = {seeds}\n')
    exam.regrade()
    assert exam.rows()["untouched"]["axis"][0] == moved


WRONG = {
    'as = "ful"': "did you mean full",
    'as = "full"\nreasons = "x"': "did you mean reason",
    "as = []": "further correct answers",
    "as = [true]": "further correct answers",
    'as = "drop"\nvariants = [8]': "leave variants out",
    'as = "full"\nvariants = []': "leave it out",
    'reason = "none"': "further correct answers",
}


@pytest.mark.parametrize("lines", WRONG)
def test_a_void_with_a_slip_is_refused(exam, lines):
    """Every command says what is wrong, and does nothing."""
    exam.append(VOID.format("centre") + lines + "\n")
    for command in ("build", "grade", "regrade", "autograde"):
        with pytest.raises(AutograderError, match=WRONG[lines]):
            COMMANDS[command](exam)


@pytest.mark.parametrize(
    ("name", "answers", "sentence"),
    [
        ("tiny.centr", '"full"', "did you mean centre"),
        ("tinny.centre", '"full"', "did you mean tiny"),
        ("centre", '"full"', "problem.part"),
        ("tiny.centre", '["x - x.mean()"]', "cannot be given further answers"),
        ("tiny.parameters", '["many"]', "are numbers"),
        ("tiny.axis", '["The third axis."]', "cannot be read"),
    ],
)
def test_a_void_of_nothing_is_refused(exam, name, answers, sentence):
    """A part that is not there, and an answer that its part could not take."""
    exam.append(f"\n[void.'{name}']\nas = {answers}\n")
    with pytest.raises(AutograderError, match=sentence):
        exam.regrade(dry_run=True)


def test_marks_by_hand_stay_decided(exam):
    """As long as the answer is the same, whatever else is done; and they keep their share of the points."""
    exam.by_hand("perfect", "why", 1.5)
    exam.by_hand("perfect", "axis", 0.5)
    CHANGES["a mended statement"](exam)
    CHANGES["the problem's points"](exam)
    exam.build()
    exam.generate()
    for command in ("regrade", "grade", "autograde"):
        COMMANDS[command](exam)
        row = exam.rows()["perfect"]
        assert (row["why"], row["axis"]) == ((3, 4, False), (1, 2, False)), command


def test_the_printed_total_has_the_marks_by_hand(exam):
    """What `autograder grade` prints is what the gradebook says; a resumed run makes the page anew."""
    exam.by_hand("perfect", "why", 1.5)
    kept = grade_class(exam.path, Options(assignment="ps1", resume=True))
    row = next(row for row in kept.rows if row.student == "perfect")
    assert (row.state, row.points, row.of, row.held) == ("kept", 11.5, 12, 0)
    assert "1.5 of 2" in exam.page("perfect")
    row = next(row for row in exam.grade("perfect").rows if row.student == "perfect")
    assert (row.points, row.of, row.held) == (11.5, 12, 0) and "11.5 of 12 points; with marks by hand" in row.why


def test_a_rebuild_is_no_tampering(exam):
    """Cells as they were handed out, in whatever release, are not flagged; changed ones are."""
    CHANGES["a mended statement"](exam)
    CHANGES["its points again"](exam)
    exam.build()
    exam.generate()
    exam.change("submitted/half_done/ps1/tiny.ipynb", "# A tiny problem", "# Another problem")
    result = exam.grade()
    flags = {row.student: [flag for flag in row.flags if "changed" in flag] for row in result.rows}
    assert flags.pop("half_done") == ["The locked cell 'introduction' was changed; it has been restored."]
    assert not any(flags.values())


@pytest.mark.parametrize("command", ["grade", "autograde"])
def test_a_broken_upload_is_one_decision(exam, command):
    """One part waits for the whole notebook, with one note; the page says so, and then what was decided."""
    COMMANDS[command](exam)
    assert sum(row[2] for row in exam.rows()["not_json"].values()) == 1
    graded = (exam.path / "autograded/not_json/ps1/tiny.ipynb").read_text()
    assert graded.count("**For the grader**") == 1 and "one decision for the whole notebook" in graded
    page = exam.feedback("not_json")
    assert "waiting for a grader: the whole notebook" in page and page.count("could not be read") == 1
    exam.by_hand("not_json", "centre", 0)
    page = exam.feedback("not_json")
    assert "waiting" not in page and "lost, marked by a grader, 0 of 4 points" in page


@pytest.mark.parametrize("cells", ["[]", '[{"cell_type": "markdown", "metadata": {}, "source": "hello"}]'])
def test_a_notebook_stripped_of_everything_is_held(exam, cells):
    """No zero that nobody has looked at."""
    file = exam.path / "submitted/perfect/ps1/tiny.ipynb"
    file.write_text(f'{{"cells": {cells}, "metadata": {{}}, "nbformat": 4, "nbformat_minor": 5}}')
    exam.grade("perfect")
    assert sum(row[2] for row in exam.rows()["perfect"].values()) == 1
    assert "0 of 12 points</strong> so far; waiting for a grader: the whole notebook" in exam.page("perfect")


LATE = "due = 2030-01-10T12:00:00+02:00\npenalty = 0.25\ngrace_days = 1\n"


LOST = {
    "2030-01-10 09:59:59 UTC": 0,
    "2030-01-11 09:59:59 UTC": 0,
    "2030-01-11 10:00:01 UTC": 2.5,
    "2030-01-12 10:00:01 UTC": 5,
    "2030-02-12 10:00:01 UTC": 10,
}


@pytest.mark.parametrize("command", ["grade", "autograde"])
def test_lateness_costs_what_the_file_says(exam, command):
    """A share for each day that has begun after the grace days, on both routes; an extension moves the date."""
    exam.change("ps1.toml", "seed = 7", f"seed = 7\n{LATE}")
    place = exam.path / "submitted"
    students = {f"late{number}": handed_in for number, handed_in in enumerate(LOST)}
    for student, handed_in in students.items():
        shutil.copytree(place / "perfect", place / student)
        (place / student / "ps1/timestamp.txt").write_text(handed_in)
    for student in PEOPLE:
        shutil.rmtree(place / student)
    COMMANDS[command](exam)
    for student, handed_in in students.items():
        lost = LOST[handed_in]
        assert penalty(exam, student) == lost, handed_in
        said = extend(exam.path, "ps1", student, 2)
        assert "2030-01-12 10:00 UTC" in said
        assert penalty(exam, student) == (0 if lost <= 5 else 10), handed_in
        extend(exam.path, "ps1", student, 0)
        assert penalty(exam, student) == lost, handed_in


def penalty(exam, student):
    """What is deducted."""
    with opened(exam.path) as api, api.gradebook as gradebook:
        return gradebook.find_submission("ps1", student).late_submission_penalty


def test_an_extension_can_come_before_the_submission(exam):
    """Nothing waits for a grader in it; a name with a slip, and an assignment without a date, are refused."""
    with pytest.raises(AutograderError, match="no due date"):
        extend(exam.path, "ps1", "perfect", 2)
    exam.change("ps1.toml", "seed = 7", f"seed = 7\n{LATE}")
    with pytest.raises(AutograderError, match="did you mean perfect"):
        extend(exam.path, "ps1", "perfekt", 2)
    with opened(exam.path) as api, api.gradebook as gradebook:
        gradebook.add_student("zoe")
    extend(exam.path, "ps1", "zoe", 2)
    assert not any(row[2] for row in exam.rows()["zoe"].values())
    assert exam.grade().absent == ["zoe"]

"""Every assignment as it is: released, handed in right, empty and with every known mistake, and graded by commands."""

import json
import os
import shutil
import sqlite3
from pathlib import Path

import pytest

from autograder import Tests
from autograder.authoring import loading
from autograder.authoring.assignment import read_assignment
from autograder.authoring.variants import class_seed, course_secret, variant
from autograder.grading import report
from autograder.simulation.classroom import Work, hand_in
from tests import forked

ROOT = Path(__file__).parents[2]
COURSE = ROOT / "notebooks"
NAMES = sorted(path.stem for path in COURSE.glob("*.toml"))


def command(course, program, *words):
    """Run nbgrader or autograder as a user would."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "AUTOGRADER_PROBLEMS": str(ROOT / "problems")}
    run = forked.run([program, *words], cwd=course, env=environment)
    assert run.returncode in (0, 1), run.stdout + run.stderr  # 1: something is held for a person
    return run.stdout + run.stderr


def applicable(problem, p, *, following):
    """Part's name -> the mistakes that can be handed in, in the parts that follow another one or in the others."""
    return {
        part.name: [item for item in part.mistakes if part.applies(item, p)]
        for part in problem.parts
        if not part.judged_by_person and bool(part.follows) is following
    }


def wrong_work(released, problem, p):
    """Notebooks with one mistake in each part, until every mistake was made: (number, part -> mistake or None, files).

    A part that follows another one takes over what was answered there, so that it has notebooks of its own. A part
    without a mistake that is left is answered rightly, but a suite of tests, for which a notebook is run once for each
    function, only once more, beside the mistakes of others: it calls nothing of theirs. Then it stays as it was
    released: None.
    """
    number = 0
    for following in (False, True):
        lists = applicable(problem, p, following=following)
        for place in range(max(map(len, lists.values()), default=0)):
            work, made = Work(released, problem, p).solve(), {}
            for name, mistakes in lists.items():
                part = problem.part(name)
                if place < len(mistakes):
                    made[name] = mistakes[place]
                    work.answer(part, mistakes[place])
                elif isinstance(part, Tests) and place > len(mistakes):
                    made[name] = None
                    work.answer_cell(part)["source"] = Work(released, problem, p).answer_cell(part)["source"]
            number += 1
            yield number, made, work.files()


def first_to_list(slug):
    """The first assignment that has a problem."""
    return next(name for name in NAMES if slug in read_assignment(COURSE, name).problems)


@pytest.mark.parametrize("name", NAMES)
def test_an_assignment_from_release_to_marks(name, tmp_path):
    """Solutions earn everything, empty notebooks nothing, and every known mistake loses and reads its own hint."""
    course, assignment, wrong = graded(name, tmp_path / "notebooks")
    solutions_earn_full_marks(course, assignment)
    empty_notebooks_earn_nothing(course, assignment)
    mistakes_read_their_own_hints(course, assignment, wrong)


def graded(name, course):
    """(course, assignment, what was handed in wrong) after nbgrader's and our own commands."""
    course.mkdir()
    for file in (f"{name}.toml", "nbgrader_config.py"):
        shutil.copy(COURSE / file, course / file)
    shutil.copytree(COURSE / "source" / name, course / "source" / name)
    course_secret(course)  # as `autograder build` would have made it
    assignment = read_assignment(course, name)
    command(course, "nbgrader", "generate_assignment", assignment.name)
    handed: dict[str, dict[str, bytes]] = {"solved": {}, "empty": {}}
    wrong = {}
    for slug in assignment.problems:
        problem = loading.load(slug)
        p = variant(problem, class_seed(assignment, problem)).parameters
        released = json.loads((course / "release" / assignment.name / f"{slug}.ipynb").read_text())
        handed["solved"] |= Work(released, problem, p).solve().files()
        handed["empty"] |= Work(released, problem, p).files()
        if first_to_list(slug) != assignment.name:
            continue  # its mistakes are handed in there
        for number, made, files in wrong_work(released, problem, p):
            handed.setdefault(f"wrong{number}", {}).update(files)
            wrong[f"wrong{number}", slug] = made
    for student in ("solved", "empty"):
        hand_in(handed.pop(student), course / "submitted" / student / assignment.name)
    command(course, "nbgrader", "autograde", assignment.name)
    by_nbgrader = marks(course)
    for student, files in handed.items():
        hand_in(files, course / "submitted" / student / assignment.name)
    command(course, "autograder", "grade", assignment.name, "--no-feedback")
    assert {student: marks(course)[student] for student in by_nbgrader} == by_nbgrader
    return course, assignment, wrong


def marks(course):
    """Student -> (notebook, cell) -> (points, points there are, whether a person must look)."""
    query = """
        select student_id, base_notebook.name, base_cell.name, auto_score, grade_cells.max_score, needs_manual_grade
        from grade join submitted_notebook on grade.notebook_id = submitted_notebook.id
        join submitted_assignment on submitted_notebook.assignment_id = submitted_assignment.id
        join base_cell on grade.cell_id = base_cell.id join grade_cells on grade_cells.id = base_cell.id
        join notebook as base_notebook on submitted_notebook.notebook_id = base_notebook.id
    """
    found = {}
    with sqlite3.connect(course / "gradebook.db") as database:
        for student, notebook, cell, points, most, held in database.execute(query):
            found.setdefault(student, {})[notebook, cell] = (points, most, bool(held))
    return found


def parts_of(assignment):
    """(slug, part) for every part of an assignment."""
    return [(slug, part) for slug in assignment.problems for part in loading.load(slug).parts]


def solutions_earn_full_marks(course, assignment):
    """Every part that a machine marks has all its points, and nothing but written answers waits for a person."""
    found = marks(course)["solved"]
    assert len(found) == len(parts_of(assignment))
    for slug, part in parts_of(assignment):
        points, most, held = found[slug, part.name]
        assert most > 0
        assert (points or 0.0, held) == ((0.0, True) if part.judged_by_person else (most, False)), (slug, part.name)


def empty_notebooks_earn_nothing(course, assignment):
    """Every part of it is lost, and what is lost is no error of ours."""
    found = marks(course)["empty"]
    assert len(found) == len(parts_of(assignment))
    assert {points or 0.0 for points, _, _ in found.values()} == {0.0}
    for slug in assignment.problems:
        for outcome in report.load(report.path_of(course, assignment.name, "empty", slug)).outcomes:
            assert outcome.standing in ("lost", "held")
            codes = {verdict.code for verdict in outcome.verdicts}
            assert codes <= {"missing", "not_reached"}, (slug, outcome)


def mistakes_read_their_own_hints(course, assignment, wrong):
    """Handed in as a notebook, each known mistake loses points, and the report says what its docstring says."""
    assert bool(wrong) == any(first_to_list(slug) == assignment.name for slug in assignment.problems)
    astray = []
    for (student, slug), made in wrong.items():
        outcomes = {
            item.part: item for item in report.load(report.path_of(course, assignment.name, student, slug)).outcomes
        }
        for name, mistake in made.items():
            outcome = outcomes[name]
            codes = [verdict.code for verdict in outcome.verdicts if verdict.ok is False]
            if mistake is None:
                assert outcome.standing == "lost" and codes == ["missing"], (slug, outcome)
                continue
            known = {item.__name__ for item in loading.load(slug).part(name).mistakes}
            if outcome.standing != "lost" or outcome.points >= outcome.max_points or not known & set(codes):
                astray.append((slug, name, mistake.__name__, outcome.standing, codes))
            elif mistake.__name__ not in codes:
                print("same answer as", codes, ":", slug, name, mistake.__name__)
        untouched = [item for item in outcomes.values() if item.part not in made and item.standing == "lost"]
        astray += [(slug, item.part, "was answered rightly") for item in untouched]
    assert astray == []

"""How the students of a course are called on graders' screens, those that only its gradebook knows among them."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import text

from autograder.authoring.course_settings import read_settings
from autograder.authoring.pseudonyms import Called, all_but, called_in, in_folders
from autograder.authoring.roster import Person, of_course
from autograder.errors import StaffError
from autograder.nbgrader.course_directory import gradebook_of

_PEOPLE = text("select id, first_name, last_name, email from student")


def called(course: Path) -> Called:
    """What the students are called: by their ids, unless the course hides them."""
    return called_in(course, enrolled(course)) if read_settings(course).pseudonyms else Called()


def others_than(student: str, course: Path) -> Called:
    """What is said of anybody else in texts for one student."""
    people = [*enrolled(course), *of_course(course)]
    return all_but(student, people, in_folders(course))


def enrolled(course: Path) -> list[Person]:
    """The students in the gradebook; nobody where there is none yet."""
    try:
        with gradebook_of(course) as (connection, _):
            return [_person(*row) for row in connection.execute(_PEOPLE)]
    except StaffError:  # the first release makes it
        return []


def _person(student: str, first: str | None, last: str | None, mail: str | None) -> Person:
    return Person(id=student, names=(f"{last}, {first}",) if first and last else (), mail=mail or "")

"""nbgrader's configuration of the course with a kind of its own."""

from pathlib import Path

from autograder.nbgrader import configure

c = get_config()  # noqa: F821 - nbgrader puts it here
c.CourseDirectory.course_id = "new-kind"
configure(c, Path(__file__).parent)

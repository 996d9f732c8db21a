"""The configuration of the README's course: the last line plugs autograder into nbgrader."""

from pathlib import Path

from autograder.nbgrader import configure

c = get_config()  # noqa: F821 - nbgrader puts it here
c.CourseDirectory.course_id = "example"
configure(c, Path(__file__).parent)

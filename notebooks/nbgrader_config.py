"""nbgrader's configuration of this course: `nbgrader autograde` and formgrader grade through autograder."""

from pathlib import Path

from autograder.nbgrader import configure

c = get_config()  # noqa: F821 - nbgrader puts it here
c.CourseDirectory.course_id = "deep-learning"
configure(c, Path(__file__).parent)

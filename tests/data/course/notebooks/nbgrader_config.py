"""nbgrader's configuration of the test course; short limits, so that endless loops end soon."""

from pathlib import Path

from autograder.nbgrader import configure

c = get_config()  # noqa: F821 - nbgrader puts it here
c.CourseDirectory.course_id = "tiny-course"
c.RunAndJudge.cell_seconds = 3
c.RunAndJudge.question_seconds = 2
configure(c, Path(__file__).parent)

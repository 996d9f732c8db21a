"""The course of the benchmark; without the last line it is nbgrader as it comes."""

from pathlib import Path

from autograder.nbgrader import configure

c = get_config()  # noqa: F821 - nbgrader puts it here
c.CourseDirectory.course_id = "benchmark"
configure(c, Path(__file__).parent)

"""The only folder that imports nbgrader: what a course's `nbgrader_config.py` plugs into nbgrader's commands."""

from autograder.nbgrader.config import configure

__all__ = ["configure"]

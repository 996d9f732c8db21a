"""The only folder that imports nbgrader: what a course's `nbgrader_config.py` plugs into nbgrader's commands."""

import sys

from autograder.nbgrader.config import configure

__all__ = ["configure"]

# jsonschema makes parsers of internet addresses from this, for a second in each process. No schema of notebooks or of
# nbgrader's asks for them: it goes without where it finds none.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

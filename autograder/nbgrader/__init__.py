"""The only folder that imports nbgrader: what a course's `nbgrader_config.py` plugs into nbgrader's commands."""

import sys

from autograder.nbgrader.config import configure

__all__ = ["configure"]

# By these jsonschema looks at internet addresses, durations and colours in strings: it makes parsers from them and
# loads a library of dates, for a second in each process. No schema of notebooks or of nbgrader's asks for that, and
# jsonschema goes without what it does not find.
if "jsonschema" not in sys.modules:
    for _name in ("rfc3987_syntax", "isoduration", "uri_template", "webcolors"):
        sys.modules.setdefault(_name, None)  # type: ignore[arg-type]

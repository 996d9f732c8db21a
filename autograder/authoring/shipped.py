"""The problems and models of the second distribution, where an instructor has installed it.

They are data beside the interpreter's libraries, in `share/`: what a notebook sees that is graded on the same machine
are `bin` and `lib` (`sandbox/mounts.py`), so that no student's code can read them.
"""

from __future__ import annotations

import functools
import importlib.metadata
from pathlib import Path

DISTRIBUTION = "deep-learning-autograder-problems"


@functools.cache
def shipped() -> Path | None:
    """The folder of the installed problems, beside which their `solutions/` lies; None where there are none."""
    try:
        files = importlib.metadata.distribution(DISTRIBUTION).files or []
    except importlib.metadata.PackageNotFoundError:
        return None
    found = (Path(str(file.locate())).resolve() for file in files if file.name == "problem.py")
    return next((path.parents[1] for path in found if path.is_file()), None)

"""What a student's notebook imports: previews of typed answers, and checks of the form of an answer.

The words of a kind of answer are found by its name, in `autograder/parts`: `check_expression` is what the cell under an
answer calls, `expression` what a student writes around it. Released notebooks name them.

Light on purpose: neither torch nor nbgrader is imported before a check needs it.
"""

from __future__ import annotations

import importlib
from typing import Any

from autograder.student.asked import check as check
from autograder.student.asked import overview as overview
from autograder.student.asked import part as part
from autograder.student.local_checks import Malformed as Malformed
from autograder.student.local_checks import array as array
from autograder.student.local_checks import tensor as tensor
from autograder.student.preview import declare as declare

_OWN = ("Malformed", "array", "check", "declare", "overview", "part", "tensor")


def __getattr__(name: str) -> Any:
    """A word of a kind of answer: its check, or what is written around it."""
    if name == "__all__":
        return __dir__()  # for `import *`
    kind = importlib.import_module("autograder.parts").find(name.removeprefix("check_"))
    found = kind and (kind.check_form if name.startswith("check_") else kind.preview)
    if found is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return found


def __dir__() -> list[str]:
    kinds = importlib.import_module("autograder.parts").kinds()
    checks = (f"check_{name}" for name, kind in kinds.items() if kind.check_form)
    return sorted({*_OWN, *checks, *(name for name, kind in kinds.items() if kind.preview)})

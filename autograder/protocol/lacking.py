"""What the grading machine lacks: a package, a device, a file. Code that needs one is held for a person, never lost."""

from __future__ import annotations

import importlib.util
import re

_NO_MODULE = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")
_NO_BACKEND = re.compile(r"'(\w+)' is not a recognised GUI loop or backend name")
_NO_FILE = re.compile(r"FileNotFoundError: \[Errno 2\] No such file or directory: ['\"](.+)['\"]")
_NO_DEVICE = re.compile(
    r"not compiled with (CUDA|XPU)|(CUDA) generator without|No (CUDA) GPUs|no (NVIDIA) driver|"
    r"(?:support for|without) (mps|MPS|xpu|cuda)\b|arguments from the '(\w+)' backend|on a (CUDA) device",
    re.IGNORECASE,
)


def lacking(error: str) -> tuple[str, str] | None:
    """The code and the sentence for an error's last line; None where nothing is lacking here."""
    if (found := _NO_MODULE.search(error)) and not _installed(found[1]):
        return "no_module", f"It needs the package {found[1]!r}, which is not installed on the grading machine."
    if found := _NO_BACKEND.search(error):
        return "no_module", f"It needs {found[1]!r}, which is not installed on the grading machine."
    if found := _NO_DEVICE.search(error):
        device = next(filter(None, found.groups()))
        return "no_device", f"It needs a device ({device}) that the grading machine does not have."
    if found := _NO_FILE.search(error):
        return "file_left_out", f"It needs the file {found[1]!r}, which is not among the files that were handed in."
    return None


def _installed(name: str) -> bool:
    """Whether the package is here, so that it is a part of it that there is not: a slip of whoever imports it.

    A package of packages (`google`) may be here without the one that is meant. Nothing is imported.
    """
    try:
        found = importlib.util.find_spec(name.split(".")[0])
    except (ImportError, ValueError):
        return False
    return found is not None and found.origin is not None

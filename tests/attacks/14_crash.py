"""A crash in C code ends the process only, and leaves no core file."""

CELLS = [
    "import resource\nresource.setrlimit(resource.RLIMIT_CORE, (-1, -1))\nprint('BREACH: core files')",
    "import ctypes\nctypes.string_at(0)",
    "import os\nos.abort()",
]
REAL = True

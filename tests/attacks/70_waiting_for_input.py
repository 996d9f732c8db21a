"""Nobody waits for input: it ends at once."""

LIMITS = {"cell_seconds": 2}
CELLS = [
    "input('name? ')",
    "import sys\nprint(repr(sys.stdin.read()))",
    "import getpass\ngetpass.getpass()",
    "!cat",
    "%debug",
]

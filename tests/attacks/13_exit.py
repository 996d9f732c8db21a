"""os._exit, sys.exit, SIGKILL and SIGSTOP to oneself end at most the cell."""

CELLS = [
    "import os\nos._exit(0)",
    "import sys\nsys.exit('leaving')",
    "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)",
    "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)",
    "raise SystemExit",
]

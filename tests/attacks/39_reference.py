"""The references cannot be imported, loaded or read: the problems' folder is not there."""

REAL = True
CELLS = [
    """
import os, sys
from pathlib import Path
try:
    print(open("@PROBLEMS@/attacked/problem.py").read() and "BREACH: the reference")
except OSError as error:
    print(error)
from autograder.authoring import loading
for root in (None, Path("@PROBLEMS@")):
    try:
        print("BREACH:", loading.load("attacked", root))
    except Exception as error:
        print(type(error))
""",
    """
import os, sys
for entry in sys.path:
    for folder, _, names in os.walk(entry):
        if "problem.py" in names and "attacked" in folder:
            print("BREACH:", folder)
""",
]

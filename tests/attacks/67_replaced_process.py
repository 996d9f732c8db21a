"""A process that turns into another program is gone for the grader at once, and ends with the notebook."""

CELLS = ["import os\nos.execv('/bin/sleep', ['sleep', '600'])"]

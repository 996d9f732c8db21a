"""Sits an exam by choosing letters at random; it reads no question. `autograder sit ps1 --with "python THIS"`."""

import json
import os
import random
import re
import sys

notebook = json.load(sys.stdin)
rng = random.Random(os.environ.get("AUTOGRADER_RUN"))
for cell in notebook["cells"]:
    source = "".join(cell["source"])
    if found := re.fullmatch(r"(\w+) = \.\.\.  # one of (.*)", source.strip()):
        cell["source"] = f"{found[1]} = {rng.choice(found[2].split(', '))}"
json.dump(notebook, sys.stdout)

"""Sits an exam by the right answers that its problems list, another one in each run: all of them must earn all points.

`autograder sit ps1 --with "python THIS problems"`
"""

import json
import os
import sys
from pathlib import Path

from autograder.authoring import loading
from autograder.authoring.variants import variant
from autograder.simulation.classroom import Work

problems, stub = map(Path, sys.argv[1:])
released = json.loads(stub.read_text(encoding="utf-8"))
marks = released["metadata"]["autograder"]
problem = loading.load(marks["slug"], problems)
work = Work(released, problem, variant(problem, marks["seed"]).parameters).solve()
for part in problem.parts:
    others = [item for item in part.right_answers() if part.applies(item, work.p)]
    if others:
        work.answer(part, others[int(os.environ["AUTOGRADER_RUN"]) % len(others)])
stub.write_text(work.text(), encoding="utf-8")

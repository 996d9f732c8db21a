"""`autograder init`: a private course outside any checkout, in which every command works at once."""

from __future__ import annotations

import re
from pathlib import Path

from autograder.authoring import wheel
from autograder.authoring.loading import CONFIGURATION, FOLDER
from autograder.authoring.scaffold import scaffold
from autograder.errors import StaffError

PROBLEM = "scaled_scores"  # the course's first, and what the demo plays where there is no other
ASSIGNMENT = "ps1"
ROSTER = "roster.csv"
WHEELS = "wheels"

_CONFIGURATION = '''"""nbgrader's configuration of this course, which autograder reads as well."""

from pathlib import Path

from autograder.nbgrader import configure

c = get_config()  # noqa: F821 - nbgrader puts it here
c.CourseDirectory.course_id = "{course}"
configure(c, Path(__file__).parent)
'''

_ASSIGNMENT = f'''title = "Problem set 1"
seed = 1                             # the numbers that everybody gets
problems = ["{PROBLEM}"]         # folders of problems/, in this order
# opening = "What stands above the first question of each notebook."
# hand_in = "Upload the notebook in Moodle, under Problem set 1."
# variants = "student"               # each student of {ROSTER} gets numbers of their own
# due = 2027-05-10T23:59:00+02:00
# penalty = 0.1                      # the share of the points that each day begun costs
'''

_ROSTER = "id,last_name,first_name,email\n"

_IGNORED = """# What decides marks, or is a student's: never committed.
.course-secret
ledger.jsonl
gradebook.db*
release/
submitted/
autograded/
feedback/
students/
reports/
zips/
walkthrough/
print/
*.zip
# Tables of students and of marks, and reports on them, which commands write here.
/*.csv
/*.json
/*-report.html
/*-similar.html
/*-sit.jsonl
/*-dossier/
.*.lock
# Of this machine.
.venv/
__pycache__/
.ipynb_checkpoints/
"""

_README = f"""# {{title}}

A private course: `problems/` and `source/` hold the answers. Keep this repository private. Students get the zip files
that `autograder release` makes, and nothing else of it.

Once on each machine, in this folder (Linux or macOS; on Windows in WSL), unless `autograder --version` answers already:

```sh
python3 -m venv .venv
. .venv/bin/activate
pip install -r requirements.txt    # the package, from {WHEELS}/; no package index has it
```

The term in five commands:

```sh
autograder audit                   # is every mistake caught, every right answer accepted?
autograder build {ASSIGNMENT}               # {ASSIGNMENT}.toml and problems/ -> source/{ASSIGNMENT}/
autograder release {ASSIGNMENT} --zip       # -> zips/{ASSIGNMENT}.zip: hand it out
autograder grade {ASSIGNMENT}               # what lies in submitted/STUDENT/{ASSIGNMENT}/ -> marks and feedback/
autograder export {ASSIGNMENT}              # -> {ASSIGNMENT}.csv: everybody's marks
```

What students hand in lies in `submitted/STUDENT/{ASSIGNMENT}/*.ipynb`, where STUDENT is the id in `{ROSTER}`:
`autograder collect {ASSIGNMENT} DOWNLOAD` puts the zip file of Canvas, Moodle or Gradescope there. Each student's pages
lie in `feedback/STUDENT/{ASSIGNMENT}/`: send them, upload them to Moodle beside the marks (`export` packs them), or let
`nbgrader release_feedback {ASSIGNMENT}` give them back. `autograder demo` plays the whole term with a simulated class,
in a temporary folder; `autograder --help` lists all commands.

- **Your problems.** `{PROBLEM}` is an example that every new course has: change it, or write your own, before you hand
  anything out. `autograder new my_problem` makes a folder with one working part; `autograder new my_gates --from
  ugrnn_gates` copies a problem of the second distribution, where that is installed. `problems = [...]` in
  `{ASSIGNMENT}.toml` lists those that are handed out.
- **Your students.** Put their table into `{ROSTER}`: nbgrader's own columns, or what Canvas, Moodle, Gradescope,
  Brightspace or Blackboard exports. Git does not see it, nor any other table in this folder.
- **The secret.** `.course-secret` is made by the first `build`. Hidden inputs, seals and students' own numbers follow
  from it. Keep a copy of `.course-secret`, `ledger.jsonl`, `gradebook.db`, `submitted/` and `reports/` outside git.
- **A second grader's machine** needs this repository and the same secret: copy `.course-secret` and `ledger.jsonl`, or
  set AUTOGRADER_SECRET to the secret. One machine at a time writes `gradebook.db`.
"""


def init(place: Path) -> list[Path]:
    """Make the course; the files made. StaffError where the folder holds something already."""
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise StaffError("init", f"{place} is there and is not empty; a new course needs a folder of its own")
    place = place.resolve()
    course = re.sub(r"[^\w.-]+", "-", place.name).strip("-.") or "course"
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    problem = scaffold(place / FOLDER, PROBLEM)
    (place / WHEELS).mkdir()
    package = wheel.write_wheel(place / WHEELS)
    texts = {
        "README.md": _README.format(title=place.name),
        CONFIGURATION: _CONFIGURATION.format(course=course),
        f"{ASSIGNMENT}.toml": _ASSIGNMENT,
        ROSTER: _ROSTER,
        ".gitignore": _IGNORED,
        "requirements.txt": f"./{WHEELS}/{package.name}[instructor]\n",
    }
    for name, text in texts.items():
        (place / name).write_text(text, encoding="utf-8")
    return [*(place / name for name in texts), package, *problem]

"""Nothing stalls a class: neither what does not end nor what has to be asked again."""

from __future__ import annotations

import json

from autograder.protocol.answering import question_key
from tests.course.test_odd_submissions import alone, notebook_of, report_of, submit

FURTHER = '''
def twice(f, inputs, p):
    """centring twice is centring once, times the factor."""
    x = inputs["x"]
    return bool(torch.allclose(f(f(x)), f(x) * p["scale"]))


def centred'''


def with_cell(notebook, source):
    """The same notebook with an own cell at its top."""
    changed = json.loads(json.dumps(notebook))
    changed["cells"].insert(2, {"cell_type": "code", "metadata": {}, "source": source, "outputs": []})
    return changed


def test_a_class_is_done_before_those_that_stall(classroom):
    """At two jobs, three notebooks that do not end come first by name, and last in the journal; marks are as ever."""
    solved = notebook_of(classroom)
    alone(classroom)
    for number in range(3):
        submit(classroom, f"a{number}", {"tiny.ipynb": with_cell(solved, "while True:\n    pass")})
    for number in range(5):
        submit(classroom, f"b{number}", {"tiny.ipynb": solved})
    assert classroom.grade("--jobs", "2")["graded"] == 8
    order = [line["student"] for line in classroom.lines() if line["state"] == "done"]
    assert {name[0] for name in order[:5]} == {"b"}
    assert {line["points"] for line in classroom.lines() if line["state"] == "done"} == {10}


def test_further_rounds_keep_nobody_waiting(classroom):
    """A wrong answer that has to be asked again, in a slow notebook: others are judged and written meanwhile."""
    problem = classroom.path.parent / "problems/tiny/problem.py"
    text = (
        problem.read_text().replace("\ndef centred", FURTHER, 1).replace("gradient()]", "gradient(), holds(twice)]", 1)
    )
    problem.write_text(text.replace("gradient, sizes", "gradient, holds, sizes"))
    solved, wrong = notebook_of(classroom), notebook_of(classroom, "mistake_centre_over_batch")
    alone(classroom)
    submit(classroom, "again", {"tiny.ipynb": with_cell(wrong, "import time\ntime.sleep(2)")})
    for number in range(6):
        submit(classroom, f"b{number}", {"tiny.ipynb": with_cell(solved, "import time\ntime.sleep(1)")})
    assert classroom.grade("--jobs", "2", "--no-feedback")["graded"] == 7
    lines = {line["student"]: line for line in classroom.lines() if line["state"] == "done"}
    outcomes = [report_of(classroom, name).outcomes[0] for name in ("b0", "again")]
    foreseen, asked = ({question_key(question) for question, _ in outcome.answers} for outcome in outcomes)
    assert asked - foreseen and lines["again"]["points"] == 6
    assert list(lines)[-1] == "again"

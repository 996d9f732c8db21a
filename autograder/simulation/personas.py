"""Who is in the class: what students do to their notebooks, by accident and on purpose, and what it deserves.

Each function of the table takes a fresh copy of the released notebook and gives the files that are handed in. Its
docstring is what the demo shows. All other personas come from the problem's own mistakes and equivalents, so every
persona works for every problem.
"""

from __future__ import annotations

import copy
import functools
import inspect
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

from autograder.authoring.source_notebook import answer_id
from autograder.core import Part, Problem
from autograder.simulation.classroom import Files, Link, Persona, Work, own_cell, target_of

# Wraps whatever the student defined: a function, a class of torch, or a value.
_WRAP = """
def _wrapped(right):
    if isinstance(right, type):
        class Wrapped(right):
            def forward(self, *arguments):
                noise()
                return super().forward(*arguments)
        return Wrapped
    if callable(right):
        def wrapped(*arguments):
            noise()
            return right(*arguments)
        return wrapped
    noise()
    return right

{name} = _wrapped({name})
"""
_NOISE = """
import logging, sys, warnings
def noise():
    warnings.warn("a warning, 0.0")
    logging.warning("logged, 1")
    print("a line on standard error", file=sys.stderr)
    try:
        from tqdm import tqdm
        list(tqdm(range(3)))
    except ImportError:
        print(" 50%|#####     | 5/10", end="\\r", file=sys.stderr)
"""


def perfect(work: Work) -> Files:
    """Everything correct."""
    return work.solve().files()


def untouched(work: Work) -> Files:
    """The notebook as it was released."""
    return work.files()


def half_done(work: Work) -> Files:
    """Every second part answered."""
    for part in work.problem.parts[::2]:
        work.answer(part, part.reference)
    return work.files()


def empty_notebook(work: Work) -> Files:
    """A notebook without cells."""
    work.cells.clear()
    return work.files()


def no_submission(work: Work) -> Files:
    """Nothing handed in."""
    return {}


def missing_notebook(work: Work) -> Files:
    """A folder with a note in it, and no notebook."""
    return {"excuse.txt": b"my laptop broke"}


def wrong_but_running(work: Work) -> Files:
    """A function that returns 0."""
    return work.solve().spoil().files()


def exception_in_answer(work: Work) -> Files:
    """An answer cell that stops with a NameError before it defines anything."""
    work.solve()
    cell = work.answer_cell()
    cell["source"] = "np.seterr(all='raise')\n" + cell["source"]
    return work.files()


def loop_in_own_cell(work: Work) -> Files:
    """An endless loop in an extra cell; all answers are correct."""
    work.solve().add(work.place(answer_id(work.target.name)), "while True:\n    pass")
    return work.files()


def loop_in_answer_cell(work: Work) -> Files:
    """An endless loop at the end of an answer cell."""
    work.solve().answer_cell()["source"] += "\nwhile True:\n    pass\n"
    return work.files()


def loop_in_function(work: Work) -> Files:
    """A function that does not return."""
    work.solve().answer_cell()["source"] = f"def {work.target.name}(*arguments, **options):\n    while True: pass\n"
    return work.files()


def exit_in_own_cell(work: Work) -> Files:
    """os._exit in an extra cell; all answers are correct."""
    work.solve().add(work.place(work.target.name) + 1, "import os\nos._exit(0)")
    return work.files()


def exit_in_function(work: Work) -> Files:
    """A function that ends the process."""
    name = work.target.name
    work.solve().answer_cell()["source"] = f"import os\ndef {name}(*arguments, **options):\n    os._exit(0)\n"
    return work.files()


def noise_on_stderr(work: Work) -> Files:
    """Warnings, logging and a tqdm bar on standard error inside a correct answer."""
    work.solve().answer_cell()["source"] += _NOISE + _WRAP.format(name=work.target.name)
    return work.files()


def prints(work: Work) -> Files:
    """Prints inside a correct answer, numbers among them."""
    work.solve().answer_cell()["source"] += "\ndef noise():\n    print('0.0')\n" + _WRAP.format(name=work.target.name)
    return work.files()


def strange_characters_printed(work: Work) -> Files:
    """Output that cannot be encoded as UTF-8; all answers are correct."""
    work.solve().answer_cell()["source"] += "\nprint('\\ud800', '\\x00', '\\x1b[31mred')\n"
    return work.files()


def much_output(work: Work) -> Files:
    """Forty megabytes printed on one line; all answers are correct."""
    work.solve().add(work.place(work.target.name), "print('x' * 40_000_000)")
    return work.files()


def _doubled(work: Work, *sources: str) -> Files:
    """Several cells with the id of the target's answer."""
    place = work.place(answer_id(work.target.name))
    original = work.cells.pop(place)
    for source in reversed(sources):
        work.cells.insert(place, {**copy.deepcopy(original), "source": source})
    for number, cell in enumerate(work.cells):
        cell["id"] = f"cell-{number}"
    return work.files()


def _sources(work: Work) -> tuple[str, str, str]:
    """The target's stub, its right answer, and a wrong one."""
    stub = work.answer_cell()["source"]
    right = work.solve().answer_cell()["source"]
    return stub, right, work.spoil().answer_cell()["source"]


def edited_then_stub(work: Work) -> Files:
    """The answer cell twice: the correct answer, then the stub."""
    stub, right, _ = _sources(work)
    return _doubled(work, right, stub)


def stub_then_edited(work: Work) -> Files:
    """The answer cell twice: the stub, then the correct answer."""
    stub, right, _ = _sources(work)
    return _doubled(work, stub, right)


def wrong_then_right(work: Work) -> Files:
    """The answer cell twice: a first try, then the correct answer."""
    _, right, wrong = _sources(work)
    return _doubled(work, wrong, right)


def right_then_wrong(work: Work) -> Files:
    """The answer cell twice: the correct answer, then a wrong one that replaces it."""
    _, right, wrong = _sources(work)
    return _doubled(work, right, wrong)


def doubled_test_cell(work: Work) -> Files:
    """A test cell twice."""
    work.solve().cells.insert(work.place(work.target.name), copy.deepcopy(work.test_cell()))
    return work.files()


def deleted_test_cell(work: Work) -> Files:
    """A test cell deleted."""
    del work.solve().cells[work.place(work.target.name)]
    return work.files()


def deleted_answer_cell(work: Work) -> Files:
    """An answer cell deleted."""
    del work.solve().cells[work.place(answer_id(work.target.name))]
    return work.files()


def renamed_ids(work: Work) -> Files:
    """The grade ids of an answer and its test renamed."""
    answer, test = work.solve().answer_cell(), work.test_cell()
    answer["metadata"]["nbgrader"]["grade_id"] = "cell-1a2b3c"
    test["metadata"]["nbgrader"]["grade_id"] = "cell-4d5e6f"
    return work.files()


def stripped_metadata(work: Work) -> Files:
    """All metadata removed, as Colab does."""
    work.solve().notebook["metadata"] = {"colab": {"provenance": []}}
    for cell in work.cells:
        cell["metadata"] = {"id": "aBcD"}
        cell.pop("id", None)
    return work.files()


def reordered_cells(work: Work) -> Files:
    """The cells in another order."""
    random.Random(5).shuffle(work.solve().cells)
    return work.files()


def _with_helper(work: Work) -> str:
    """The target's right answer, through a name that a cell of the student's own defines."""
    name = work.target.name
    answer = work.solve().answer_cell()
    source: str = answer["source"]
    answer["source"] = f"{name} = my_{name}"
    return source + f"\nmy_{name} = {name}\ndel {name}\n"


def helper_cell(work: Work) -> Files:
    """An answer that uses an extra cell above it."""
    source = _with_helper(work)
    work.add(work.place(answer_id(work.target.name)), source)
    return work.files()


def imports_in_locked_cell(work: Work) -> Files:
    """An answer that uses lines added to the locked cell at the top."""
    source = _with_helper(work)
    work.cell("setup" if work.problem.setup.strip() else work.target.name)["source"] += "\n" + source
    return work.files()


def answer_below_the_test(work: Work) -> Files:
    """The stub unchanged; the correct answer in an extra cell below the test."""
    stub, right, _ = _sources(work)
    work.answer_cell()["source"] = stub
    work.add(work.place(work.target.name) + 1, right)
    return work.files()


def allclose_redefined(work: Work) -> Files:
    """A wrong answer; np.allclose and torch.allclose always return True."""
    code = "import numpy as np, torch\nnp.allclose = torch.allclose = torch.equal = lambda *a, **k: True\n"
    work.solve().spoil().add(0, code + "np.testing.assert_allclose = torch.testing.assert_close = lambda *a, **k: None")
    return work.files()


def asserts_dropped(work: Work) -> Files:
    """A wrong answer, and a syntax transformer that removes every assert."""
    code = (
        "import ast\nclass Drop(ast.NodeTransformer):\n    def visit_Assert(self, node):\n        return ast.Pass()\n"
        "get_ipython().ast_transformers.append(Drop())"
    )
    work.solve().spoil().add(0, code)
    return work.files()


def score_patched(work: Work) -> Files:
    """A wrong answer; the notebook replaces this package's own judge."""
    code = "import autograder.hidden, autograder.grading.judge\n"
    work.solve().spoil().add(
        0, code + "autograder.hidden.score = autograder.grading.judge.judge_part = lambda *a, **k: 1e9"
    )
    return work.files()


def _forged(source: str) -> Callable[[Work], Files]:
    def forged(work: Work) -> Files:
        work.solve().spoil().test_cell()["source"] = source
        work.cells.insert(work.place(work.target.name), own_cell(source))
        return work.files()

    forged.__doc__ = f"A wrong answer, and a test cell that says `{source.splitlines()[-1]}`."
    return forged


def skip_execution(work: Work) -> Files:
    """A wrong answer, and the test cell tagged skip-execution."""
    work.solve().spoil().test_cell()["metadata"]["tags"] = ["skip-execution"]
    return work.files()


def not_json(work: Work) -> Files:
    """A file that is not JSON."""
    return {work.name: b"\x89PNG\r\n\x1a\n" + bytes(64)}


def truncated_json(work: Work) -> Files:
    """An upload that was cut off in the middle."""
    content = work.solve().text().encode()
    return {work.name: content[: len(content) // 2]}


def a_directory(work: Work) -> Files:
    """A directory in place of the notebook."""
    return {work.name: None}


def a_link(work: Work) -> Files:
    """A link to the gradebook in place of the notebook."""
    return {work.name: Link("../../../gradebook.db")}


def renamed_file(work: Work) -> Files:
    """The notebook under the name that a browser gives to a second download."""
    return {f"{work.problem.slug} (1).ipynb": work.solve().text().encode()}


def schema_version_99(work: Work) -> Files:
    """A cell whose metadata claims a schema of the future."""
    work.solve().answer_cell()["metadata"]["nbgrader"]["schema_version"] = 99
    return work.files()


def format_3(work: Work) -> Files:
    """The notebook in format 3, as an old tool saves it."""
    cells = copy.deepcopy(work.solve().cells)
    for cell in cells:
        if cell["cell_type"] == "code":
            cell["input"] = cell.pop("source")
            cell |= {"language": "python", "prompt_number": 1}
            del cell["execution_count"]
        cell.pop("id", None)
    notebook = {"metadata": {"name": ""}, "nbformat": 3, "nbformat_minor": 0, "worksheets": [{"cells": cells}]}
    return {work.name: json.dumps(notebook).encode()}


def table(problem: Problem) -> list[Persona]:
    """Every persona that does not depend on the problem's mistakes."""
    target = frozenset({target_of(problem).name})
    every = frozenset(part.name for part in problem.parts)
    second = frozenset(part.name for part in problem.parts[1::2])
    none: frozenset[str] = frozenset()

    def persona(make: Callable[[Work], Files], lost: Any = none, held: Any = none, name: str = "") -> Persona:
        text = (inspect.getdoc(make) or "").strip()
        return Persona(name=name or make.__name__, description=text, make=make, lost=lost, held=held)

    right = (
        perfect,
        loop_in_own_cell,
        exit_in_own_cell,
        noise_on_stderr,
        prints,
        strange_characters_printed,
        much_output,
        edited_then_stub,
        stub_then_edited,
        wrong_then_right,
        doubled_test_cell,
        deleted_test_cell,
        renamed_ids,
        reordered_cells,
        helper_cell,
        imports_in_locked_cell,
        answer_below_the_test,
        renamed_file,
        stripped_metadata,
        schema_version_99,
        format_3,
    )
    wrong = (
        wrong_but_running,
        exception_in_answer,
        loop_in_answer_cell,
        loop_in_function,
        exit_in_function,
        right_then_wrong,
        deleted_answer_cell,
        allclose_redefined,
        asserts_dropped,
        score_patched,
        skip_execution,
    )
    forged = {"1e9": "1e9", "nan": "float('nan')", "tensor": "import torch\ntorch.tensor(3.)", "print": "print(1e9)"}
    return [
        *map(persona, right),
        persona(half_done, lost=second),
        *(persona(make, lost=every) for make in (untouched, no_submission, missing_notebook)),
        *(persona(make, lost=target) for make in wrong),
        *(persona(_forged(code), lost=target, name=f"forged_{name}") for name, code in forged.items()),
        *(persona(make, held=every) for make in (empty_notebook, not_json, truncated_json, a_directory, a_link)),
    ]


def answers(problem: Problem) -> Iterator[Persona]:
    """Who hands in one equivalent, or one mistake, and is right in all else."""
    for part in problem.parts:
        if part.judged_by_person:
            continue
        for kind, subjects in (("mistake", part.mistakes), ("equivalent", part.equivalents)):
            for subject in subjects:
                wrong = kind == "mistake"
                yield Persona(
                    name=f"{kind}_{part.name}_{getattr(subject, '__name__', 'value')}",
                    description=f"{part.name}: {_first_line(subject) if wrong else 'correct, written differently'}",
                    make=functools.partial(_hand_in_subject, part=part, subject=subject),
                    lost=frozenset({part.name} if wrong else ()),
                    subjects={part.name: subject} if wrong else {},
                )


def _first_line(subject: Any) -> str:
    return str(subject.__doc__).strip().split("\n")[0]


def _hand_in_subject(work: Work, *, part: Part, subject: Any) -> Files:
    work.solve().answer(part, subject)
    return work.files()


def personas(problem: Problem) -> list[Persona]:
    """Everybody in the class: the fixed table, and one for each mistake and each equivalent of the problem."""
    return [*table(problem), *answers(problem)]

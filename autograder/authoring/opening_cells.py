"""The first code cells of a notebook: where the package is found, and what its answers may use."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Mapping

from autograder.core import Parameters, Problem
from autograder.errors import AuthorError
from autograder.parts import kinds

WIDTH = 96

# It runs on any machine, and in the grader's process, where the package is found at once.
_PACKAGE = '''\
# Run this cell first: it finds the package that looks at the form of your answers.
# Without the package all cells run as well, and your answers are graded all the same.
class WithoutPackage:
    """Keeps answers as they are typed, and says that nobody looked at their form."""

    def check(self, name, *_, **__):
        print(f"{name}: its form was not checked here. Your answer is graded all the same.")

    def part(self, *_, **__):
        pass

    def overview(self, *_):
        print("Without the package there is no overview. Save this notebook and hand it in.")

    def __getattr__(self, word):
        return self.check if word.startswith("check_") else lambda *given, **_: given[0] if given else None


def find_package(words):
    """The package as it is installed, or in a wheel beside the notebook; another one of its name counts as none."""
    import os
    import sys
    from importlib import import_module, invalidate_caches
    from pathlib import Path

    notebooks = globals().get("__vsc_ipynb_file__"), os.environ.get("JPY_SESSION_NAME")
    folders = dict.fromkeys([Path.cwd(), *(Path(file).parent for file in notebooks if file)])
    wheels = [str(wheel) for folder in folders for wheel in sorted(folder.glob("*autograder*.whl"), reverse=True)]
    for place in ["", *wheels]:
        sys.path[:0] = [place] if place else []
        try:
            invalidate_caches()
            found = import_module("autograder.student")
            if all(hasattr(found, word) for word in words.split()):
                return found
        except (Exception, SystemExit):
            pass
        for name in [name for name in sys.modules if name.split(".")[0] == "autograder"]:
            del sys.modules[name]
        if place:
            sys.path.remove(place)
    print(
        "The package that looks at the form of your answers is not here. If you were given\\n"
        "a file deep_learning_autograder-….whl, put it beside this notebook (on Colab: upload\\n"
        "it under Files, on the left) and run this cell again. Or go on without it: every\\n"
        "cell runs, and your answers are graded all the same."
    )
    return WithoutPackage()


form = find_package("""
{words}
""")
{kept}'''


def package_cell(problem: Problem, declarations: str) -> str:
    """Where the package is found: the same text in all notebooks, but for the words that a notebook uses."""
    typed = typed_words(problem)
    words = sorted({"check", "overview", *typed, *re.findall(r"\bform\.(\w+)", declarations)})
    kept = f"{', '.join(typed)} = {', '.join(f'form.{word}' for word in typed)}" if typed else ""
    return _PACKAGE.replace("{words}", textwrap.fill(" ".join(words), WIDTH)).replace("{kept}", kept).rstrip()


def typed_words(problem: Problem) -> list[str]:
    """What is written around the answers of a problem. AuthorError where one of its parts has such a name."""
    typed = {kind for kind, part in kinds().items() if part.preview}
    for part in problem.parts:
        if part.name in typed or part.name == "form":
            raise AuthorError("part_name", f"{problem.slug}: a notebook has a word {part.name!r}; rename the part")
    return sorted({part.kind for part in problem.parts} & typed)


def declarations_cell(problem: Problem, titles: Mapping[str, str], p: Parameters) -> str:
    """The names that typed answers may use, and the form of every answer, one part after the other."""
    lines = ["# The names that typed answers may use, and the form of every answer."]
    for part in problem.parts:
        check = ast.parse(part.local_check(p) or "None", mode="eval").body
        words = [repr(part.name), repr(titles[part.name]), f"{part.points:g}"]
        if isinstance(check, ast.Call):
            given = [*check.args[1:], *check.keywords]
            words += [ast.unparse(check.func), *(ast.unparse(item) for item in given)]
        elif declared := {key: value for key, value in part.declarations(p).items() if value}:
            words += [f"{key}={value!r}" for key, value in declared.items()]
        lines += wrapped(f"form.part({', '.join(words)})")
    return "\n".join(lines)


def setup_text(problem: Problem, p: Parameters) -> str:
    """The first code cell where nothing is asked: the problem's own, and what typed answers may use."""
    lines = problem.setup.strip().splitlines()
    if typed := typed_words(problem):
        lines += ["", f"from autograder.student import {', '.join(['declare', *typed])}"]
        for words in [part.declarations(p) for part in problem.parts]:
            kept = ", ".join(f"{key}={value!r}" for key, value in words.items() if value)
            lines += [f"declare({kept})"] if kept and f"declare({kept})" not in lines else []
    return "\n".join(lines).strip()


def wrapped(source: str) -> list[str]:
    """The lines of an expression that is too long for one."""
    return _wrapped(ast.parse(source, mode="eval").body, "", "", "")


def _wrapped(node: ast.AST, indent: str, before: str, after: str) -> list[str]:
    text = f"{indent}{before}{ast.unparse(node)}{after}"
    if len(text) <= WIDTH:
        return [text]
    inner = f"{indent}    "
    match node:
        case ast.Call():
            opening, closing = f"{ast.unparse(node.func)}(", ")"
            items = [("", item) for item in node.args]
            items += [(f"{item.arg}=", item.value) for item in node.keywords]
        case ast.Dict():
            opening, closing = "{", "}"
            items = [(f"{ast.unparse(key)}: ", value) for key, value in zip(node.keys, node.values, strict=True) if key]
        case ast.Tuple() | ast.List():
            opening, closing = "()" if isinstance(node, ast.Tuple) else "[]"
            items = [("", item) for item in node.elts]
        case _:
            return [text]
    lines = [line for word, item in items for line in _wrapped(item, inner, word, ",")]
    return [f"{indent}{before}{opening}", *lines, f"{indent}{closing}{after}"]

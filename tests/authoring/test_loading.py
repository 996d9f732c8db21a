"""Finding and loading problem folders."""

from pathlib import Path

import pytest

from autograder.authoring.loading import find_problems, load, slugs, statement_text
from autograder.errors import AuthorError, StaffError

PROBLEM = """
from autograder import Number, Problem

from .mistakes import eight


def seven(p):
    return 7


PROBLEM = Problem(title="Seven", version=1, source="s", parts=[
    Number("n", points=1, reference=seven, mistakes=[eight]),
])
"""
MISTAKES = '''
def eight(p):
    """One too many."""
    return {value}
'''


def write(root: Path, slug: str, value: int = 8) -> Path:
    """A folder with a file of mistakes beside the problem."""
    folder = root / "problems" / slug
    folder.mkdir(parents=True)
    (folder / "problem.py").write_text(PROBLEM)
    (folder / "mistakes.py").write_text(MISTAKES.format(value=value))
    (folder / "statement.md").write_text("Hello, £.", encoding="utf-8")
    return root / "problems"


def test_a_problem_knows_its_folder(tmp_path):
    """The slug is the folder's name, and is told by nobody else."""
    root = write(tmp_path, "lib_seven")
    assert load("lib_seven", root).slug == "lib_seven"
    assert statement_text("lib_seven", root) == "Hello, £."
    assert slugs(root) == ["lib_seven"]


def test_mistakes_beside_the_problem_are_its_own(tmp_path):
    """Two checkouts with folders of one name do not share their mistakes."""
    one, other = write(tmp_path / "one", "lib_twin", 8), write(tmp_path / "other", "lib_twin", 9)
    for root, value in ((one, 8), (other, 9), (one, 8)):
        assert load("lib_twin", root).part("n").mistakes[0]({}) == value


def test_a_folder_is_loaded_once(tmp_path):
    """The same object comes back."""
    root = write(tmp_path, "lib_once")
    assert load("lib_once", root) is load("lib_once", root)


def test_an_unknown_problem_is_a_matter_for_staff(tmp_path):
    """The message says what there is."""
    root = write(tmp_path, "lib_known")
    with pytest.raises(
        StaffError, match=r"no problem 'lib_knwn' in .* \(did you mean lib_known\?\); there are lib_known"
    ):
        load("lib_knwn", root)


def test_problems_are_found_from_below(tmp_path, monkeypatch):
    """Any folder of the checkout will do; the environment takes precedence; nothing found is said."""
    monkeypatch.delenv("AUTOGRADER_PROBLEMS", raising=False)
    root = write(tmp_path / "checkout", "lib_found")
    below = tmp_path / "checkout" / "notebooks" / "source"
    below.mkdir(parents=True)
    (below / "problems").mkdir()  # one that is still empty is taken where there is no other
    assert find_problems(below) == root
    (tmp_path / "empty").mkdir()
    with pytest.raises(StaffError, match="there is no problems/ folder in"):
        find_problems(tmp_path / "empty")
    monkeypatch.setenv("AUTOGRADER_PROBLEMS", str(root))
    assert find_problems(tmp_path / "empty") == root


def test_a_slip_below_the_problem_names_the_folder(tmp_path):
    """An error in mistakes.py is the author's as well."""
    root = write(tmp_path, "lib_broken")
    (root / "lib_broken" / "mistakes.py").write_text("eight = 8\n")
    with pytest.raises(AuthorError, match="problems/lib_broken: part 'n': mistake 8 is not a function"):
        load("lib_broken", root)


SCHEME = """
from autograder import Number, Problem

from .mistakes import MISTAKES, seven


PROBLEM = Problem(title="Seven", version=1, source="s", mistakes=MISTAKES, parts=[
    Number("n", points=1, reference=seven),
])
"""
TABLE = '''
def seven(p):
    return 7


def _by(p, more):
    """Seven and more."""
    return seven(p) + more


def eight(p):
    """One too many."""
    return _by(p, 1)


def nine(p):
    """Two too many."""
    return _by(p, 2)


MISTAKES = {LISTED}
'''

# name, what stands in the table, what is replaced, by what, the fault
FORGOTTEN = [
    ("all listed", '{"n": [eight, nine]}', "", "", None),
    ("mistake", '{"n": [eight]}', "", "", "nine in mistakes.py is listed with no part; list it, or call it _nine"),
    ("mistake that another uses", '{"n": [nine]}', "_by(p, 2)", "eight(p) + 1", "eight in mistakes.py is listed with"),
    ("all", "{}", "", "", "eight in mistakes.py is listed with no part"),
    (
        "helper",
        '{"n": [eight, nine]}',
        "_by",
        "by",
        "by in mistakes.py is listed with no part; list it, or call it _by",
    ),
]


@pytest.mark.parametrize(("name", "listed", "old", "new", "fault"), FORGOTTEN, ids=[row[0] for row in FORGOTTEN])
def test_a_forgotten_mistake_is_heard(tmp_path, name, listed, old, new, fault):
    """In a module of mistakes, every function is listed with a part or has a private name."""
    slug = f"lib_{name.replace(' ', '_')}"
    root = write(tmp_path, slug)
    (root / slug / "problem.py").write_text(SCHEME)
    table = TABLE.replace("{LISTED}", listed)
    (root / slug / "mistakes.py").write_text(table.replace(old, new) if old else table)
    if fault is None:
        assert [item.__name__ for item in load(slug, root).part("n").mistakes] == ["eight", "nine"]
        return
    with pytest.raises(AuthorError) as caught:
        load(slug, root)
    assert caught.value.code == "unlisted" and f"problems/{slug}: {fault}" in caught.value.message


def test_a_forgotten_mistake_is_heard_where_parts_list_their_own(tmp_path):
    """A module without a table is judged as soon as something of it is listed."""
    root = write(tmp_path, "lib_listless")
    with (root / "lib_listless" / "mistakes.py").open("a") as file:
        file.write('\n\ndef nine(p):\n    """Two too many."""\n    return 9\n')
    with pytest.raises(AuthorError, match=r"nine in mistakes\.py is listed with no part"):
        load("lib_listless", root)

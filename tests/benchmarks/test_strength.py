"""The page of problems: each run writes the sections that it made, and no other."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial

from benchmarks import strength

ROW = "| `scores` | function | 2 | 1/1 | – | 3/3 | 0 | 0 | 5 |"


def made(slug, row=ROW):
    """A section."""
    return f"## A title: `{slug}`\n\nFrom a sheet.\n\n| part |\n| --- |\n{row}\n"


def rows(page):
    """The last row of each section, by slug."""
    return {slug: text.strip().splitlines()[-1] for slug, text in strength.sections_of(page.read_text()).items()}


def test_runs_side_by_side_keep_each_others_sections(tmp_path):
    """Whoever writes last leaves what the others wrote; sections stand in the order of the folders."""
    page = tmp_path / "problems.md"
    names = ["ugrnn_gates", "loss_heads", "softmax_entropy", "attention_sheet"]
    with ThreadPoolExecutor() as runs:
        list(runs.map(lambda slug: strength.rewrite(slug, made(slug), page), names * 5))
    assert list(rows(page)) == sorted(names) and set(rows(page).values()) == {ROW}


def test_answers_are_counted_in_the_section_as_it_is_now(tmp_path):
    """A table that another run wrote meanwhile keeps its figures; only the last column is made anew."""
    page = tmp_path / "problems.md"
    strength.rewrite("loss_heads", made("loss_heads"), page)
    counting = partial(strength.with_answers, answers={"scores": 1})
    strength.rewrite("loss_heads", made("loss_heads", ROW.replace("3/3", "7/7")), page)
    strength.rewrite("loss_heads", counting, page)
    assert rows(page) == {"loss_heads": ROW.replace("3/3", "7/7").replace("| 5 |", "| constant |")}

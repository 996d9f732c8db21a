"""`python -m autograder.maths.spelling`: `--table` prints spelling x language, `--page FILE` the page."""

from __future__ import annotations

import argparse
from pathlib import Path

from autograder.maths.spelling import notation_page, spelling_table


def main() -> int:
    """Print the table, its faults counted by the exit status, or write the page."""
    parser = argparse.ArgumentParser(prog="python -m autograder.maths.spelling", description=__doc__)
    parser.add_argument("--table", action="store_true", help="print what each spelling means in each language")
    parser.add_argument("--page", nargs="?", const="-", metavar="FILE", help="write docs/notation.md, or print it")
    options = parser.parse_args()
    if options.page:
        text = notation_page.page()
        print(text, end="") if options.page == "-" else Path(options.page).write_text(text, encoding="utf-8")
    if options.page and not options.table:
        return 0
    print("\n".join(spelling_table.lines()))
    wrong = spelling_table.faults()
    print(f"\n{len(list(spelling_table.rows()))} spellings, {len(wrong)} not as the table says")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())

"""The table of problems with their full models and training tasks, in the README and in docs/walkthroughs.md.

python -m benchmarks.full_models       writes it anew from the problems' folders
"""

from __future__ import annotations

from pathlib import Path

from autograder.authoring.loading import load, slugs
from benchmarks.pages import written

ROOT = Path(__file__).parents[1]
PROBLEMS = ROOT / "problems"
PAGES = [ROOT / "README.md", ROOT / "docs" / "walkthroughs.md"]


def table() -> str:
    """A line for each problem."""
    lines = ["| problem | full model, in `solutions` | training task |", "| --- | --- | --- |"]
    for slug in slugs(PROBLEMS):
        problem = load(slug, PROBLEMS)
        lines.append(f"| `{slug}` | `{problem.full_model}` | `{problem.task}` |")
    return "\n".join([*lines, ""])


def main() -> None:
    """Write the table into both pages."""
    for page in PAGES:
        page.write_text(written(page.read_text(encoding="utf-8"), {"models": table()}), encoding="utf-8")


if __name__ == "__main__":
    main()

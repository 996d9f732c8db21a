"""The gallery: each problem as its students see it, made from its folder into docs/gallery/ when a build begins."""

from pathlib import Path

import nbformat
from traitlets.config import Config

from autograder.authoring import loading
from autograder.authoring.assignment import Assignment
from autograder.authoring.building import notebook_text
from autograder.nbgrader.handouts import released_form

ROOT = Path(__file__).parents[2] / "problems"
SEED = 1
HEAD = """# Gallery

Each problem as its students see it, with the numbers of seed {seed}. What JupyterLab folds is left out.
`autograder preview {first} --answers` shows one with its answers.

```{{toctree}}
:maxdepth: 1

{pages}
```
"""


def setup(app):
    """Write the pages when a build begins."""
    app.connect("builder-inited", _write)
    return {"parallel_read_safe": True}


def _write(app):
    folder = Path(app.srcdir, "gallery")
    folder.mkdir(exist_ok=True)
    slugs = loading.slugs(ROOT)
    pages = {slug: page(slug) for slug in slugs}
    pages["index"] = HEAD.format(seed=SEED, first=slugs[0], pages="\n".join(slugs))
    for name, text in pages.items():
        path = folder / f"{name}.md"
        if not path.is_file() or path.read_text(encoding="utf-8") != text:  # else Sphinx reads it again
            path.write_text(text, encoding="utf-8")


def page(slug):
    """The released notebook of a problem as Markdown."""
    problem = loading.load(slug, ROOT)
    assignment = Assignment(name=slug, title=problem.source, problems=(slug,))
    source = nbformat.reads(notebook_text(assignment, slug, SEED, ROOT), as_version=4)
    notebook, _ = released_form(source, Config())
    return "\n\n".join(_cell(cell) for cell in notebook.cells if not _folded(cell)) + "\n"


def _cell(cell):
    return cell.source if cell.cell_type == "markdown" else f"```python\n{cell.source}\n```"


def _folded(cell):
    return cell.metadata.get("jupyter", {}).get("source_hidden", False)

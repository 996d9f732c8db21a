"""The documentation site: `make docs` writes it to docs/_site. A warning is an error there."""

import re
import sys
from pathlib import Path

DOCS = Path(__file__).parent
sys.path[:0] = [str(DOCS / "extensions"), str(DOCS.parent)]

project = "autograder"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_click", "docstrings", "gallery", "mathematics"]
exclude_patterns = ["_site", "example"]
myst_enable_extensions = ["dollarmath", "attrs_block"]
myst_heading_anchors = 3  # `page.md#a-heading`, as on GitHub
html_theme = "furo"
html_title = "autograder"
html_static_path: list[str] = []
html_math_renderer = "mathml"
html_copy_source = False
html_show_copyright = False
default_role = "code"
highlight_language = "text"
autodoc_member_order = "bysource"
autodoc_default_options = {"exclude-members": "partial"}  # of the standard library: it has no signature to read
autodoc_typehints = "none"  # docstrings give shapes and conventions; types stand in the source


def setup(app):
    """Pages link to the files at the top of the repository, which are pages of the site."""
    app.connect("source-read", _inside)
    app.connect("html-page-context", _accessible, priority=900)  # after the theme's own


def _inside(app, page, source):
    source[0] = re.sub(r"\]\(\.\./(CHANGELOG|CONTRIBUTING)\.md", lambda link: f"]({link[1].lower()}.md", source[0])


def _accessible(app, page, template, context, doctree):
    """A heading says of which level it is, and what scrolls sideways can be reached by the keyboard."""
    tree = context.get("furo_navigation_tree", "")
    context["furo_navigation_tree"] = tree.replace('role="heading"', 'role="heading" aria-level="2"')
    context["body"] = re.sub(
        r'<div class="(math|table)-wrapper', r'<div tabindex="0" class="\1-wrapper', context.get("body", "")
    )

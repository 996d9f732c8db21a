"""The documentation site is made without a warning, fetches nothing, and shows what there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from autograder.authoring.loading import slugs
from tests.site.building import DOCS, build, built

pytestmark = pytest.mark.site


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The site."""
    return built(tmp_path_factory)


def test_every_page_is_there(site):
    """Each page of docs/ and each problem; how they are reached, Sphinx has looked at."""
    sources = [path.relative_to(DOCS) for path in DOCS.rglob("*.md") if "example" not in path.parts]
    assert len(sources) > 40
    assert [path for path in sources if not (site / path).with_suffix(".html").is_file()] == []
    shown = {path.stem for path in (site / "gallery").glob("*.html")} - {"index"}
    assert shown == set(slugs(DOCS.parent / "problems"))


def test_nothing_is_fetched(site):
    """No script, style, font or picture has an address on the network."""
    fetched = re.compile(r"""<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=["'](?:https?:)?//[^>]*>""")
    pages = list(site.rglob("*.html"))
    found = [found for page in pages for found in fetched.findall(page.read_text(encoding="utf-8"))]
    assert [tag for tag in found if 'rel="canonical"' not in tag] == []
    assert fetched.search('<script src="https://example.org/x.js">')


def test_formulas_are_mathml(site):
    """No formula is left as TeX for a script to find."""
    page = (site / "gallery/softmax_entropy.html").read_text(encoding="utf-8")
    assert page.count("<math") > 20
    assert "math notranslate" not in page  # how Sphinx writes TeX


def test_the_gallery_shows_no_solution(site):
    """The pages are made from what is released."""
    page = (site / "gallery/ugrnn_gates.html").read_text(encoding="utf-8")
    assert "YOUR" in page
    assert "BEGIN SOLUTION" not in page and "HIDDEN TESTS" not in page


def test_a_dead_link_stops_the_build(tmp_path):
    """A warning is an error: this page's link leads nowhere."""
    source = tmp_path / "docs"
    source.mkdir()
    (source / "conf.py").write_text('extensions = ["myst_parser"]\n')
    (source / "index.md").write_text("# A page\n\n[nowhere](there-is-no-such-page.md)\n")
    run = build(source, tmp_path / "site")
    assert run.returncode != 0
    assert "there-is-no-such-page" in run.stderr

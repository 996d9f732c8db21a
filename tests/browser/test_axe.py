"""The rules of accessibility can fail."""

from __future__ import annotations

from tests.browsing import violations


def test_a_page_with_faults_has_violations(open_page, tmp_path):
    """No language, a picture without words, grey on grey: three rules are broken."""
    page = tmp_path / "page.html"
    page.write_text('<title>x</title><img src="data:,"><p style="color:#bbb;background:#ccc">Words</p>')
    found = {line.partition(":")[0] for line in violations(open_page(page))}
    assert found == {"html-has-lang", "image-alt", "color-contrast"}

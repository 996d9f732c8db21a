"""Markdown on paper: what stands in a text is printed as it stands, and nothing in it is an order to the typesetter."""

from __future__ import annotations

import pypdfium2
import pytest

from autograder.errors import AuthorError
from autograder.printing.markup import markup
from autograder.printing.typesetting import Typesetter

TEXTS = [
    ("plain words", "plain words"),
    ("`x`; then", "x; then"),
    ("`x`.sum and `y`(z) and `w`[i]", "x.sum and y(z) and w[i]"),
    ("a # b, $5 and @here, x_1 <tag2> ~ \\\\ /* no */ // no", "a # b, $5 and @here, x_1"),
    ("*it* is **so** ~~not~~", "it is so not"),
    ("#panic(1) and #read(x)", "#panic(1) and #read(x)"),
    ("- one\n- two `c`", "one"),
    ("1. one\n2. two", "two"),
    ("> quoted", "quoted"),
    ("```python\nif a < b: #x\n```", "if a < b: #x"),
    ("| a | b |\n| --- | --- |\n| `x` | y; |", "y;"),
    ("a [link](https://x.org) here", "a link here"),
    ("<b>bold</b> <!-- gone --> text", "bold"),
    ("= no heading\n\n+ no list", "= no heading"),
]  # fmt: skip


@pytest.fixture(scope="module")
def typesetter(tmp_path_factory) -> Typesetter:
    """Of an empty course."""
    return Typesetter(tmp_path_factory.mktemp("course"))


@pytest.mark.parametrize(("text", "wanted"), TEXTS)
def test_a_text_is_printed_as_it_stands(text: str, wanted: str, typesetter) -> None:
    """The compiled page has its words, as an accessible PDF."""
    pdf = typesetter.pdf(f"= Title\n\n{markup(text)}", {}, title="T", language="en")
    found = pypdfium2.PdfDocument(pdf)[0].get_textpage().get_text_range()
    assert wanted.split() == [word for word in found.split() if word in wanted.split()][: len(wanted.split())]


def test_a_picture_has_its_words(typesetter) -> None:
    """A file beside the statement, with the alternative that its author wrote; any other address is refused."""
    svg = b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>'
    code = markup("![a black square](a.svg)", lambda address: f"pictures/{address}")
    assert b"/Alt" in typesetter.pdf(f"= T\n\n{code}", {"pictures/a.svg": svg}, title="T", language="en")
    for address in ("https://x.org/a", "a.exe"):
        with pytest.raises(AuthorError, match="cannot be printed"):
            markup(f"![x]({address})", lambda address: address)


NAMES = ["Łukasz Żółć", "Иван Иванов", "Γιώργος", "Nguyễn Văn Ạnh", "محمد"]


@pytest.mark.parametrize("name", NAMES)
def test_names_in_many_scripts_have_a_font(name: str, typesetter) -> None:
    """Without the machine's own fonts."""
    assert typesetter.missing(name) == ""


def test_a_name_without_a_font_is_noticed(typesetter) -> None:
    """Each sign once."""
    assert typesetter.missing("王 小 王 x") == "王小"

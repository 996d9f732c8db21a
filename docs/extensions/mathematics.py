"""Formulas as MathML, by the converter of the feedback pages: no page needs a script or a network for them."""

from pygments.lexers.special import TextLexer

from autograder.grading.typeset import mathml

FENCES = "csv", "derivation", "equation", "expression", "growth", "matrix"  # tables, and what students type


def setup(app):
    """Register the renderer, and our own fences as plain text."""
    app.add_html_math_renderer("mathml", inline_renderers=(_inline, None), block_renderers=(_block, None))
    for name in FENCES:
        app.add_lexer(name, TextLexer)
    return {"parallel_read_safe": True}


def _inline(writer, node):
    _write(writer, node, display=False)


def _block(writer, node):
    _write(writer, node, display=True)


def _write(writer, node, *, display):
    from docutils.nodes import SkipNode
    from sphinx.util import logging

    found = mathml(node.astext(), display=display)
    if not found:
        logging.getLogger(__name__).warning("a formula that has no MathML: %s", node.astext(), location=node)
    writer.body.append(f"<div>{found}</div>" if display else found)
    raise SkipNode

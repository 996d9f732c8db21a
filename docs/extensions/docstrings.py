"""Docstrings and help texts are plain text, with `code` between backticks and examples indented."""

import re

# A bullet, code and *words* mean something; any other star or bar is itself.
_MARKS = re.compile(r"(^[*-] |`[^`]*`|(?<!\w)\*\w(?:[^*]*\w)?\*(?!\w))|([*|])")


def setup(app):
    """Register the translations of what autodoc and sphinx-click read."""
    app.connect("autodoc-process-docstring", lambda app, what, name, thing, options, lines: _translate(lines))
    app.connect("sphinx-click-process-description", lambda app, context, lines: _translate_help(lines))
    # Parts are written with keywords alone, which their docstrings explain: a signature would say nothing.
    app.connect("autodoc-process-signature", lambda app, what, *_: ("", "") if what in ("class", "exception") else None)
    return {"parallel_read_safe": True}


def _translate_help(lines):
    """Lines that click does not wrap, which sphinx-click begins with a bar, are shown as they stand."""
    lines[:] = [f"    {line[2:]}" if line.startswith("| ") else line for line in lines]
    _translate(lines)


def _translate(lines):
    """An indented block is shown as it stands; an item of a list keeps its hanging lines."""
    found, literal, listed = [], False, False
    for line in lines:
        indented = line.startswith(" ")
        if line and not indented:
            found += [""] * literal
            literal, listed = False, line.startswith(("- ", "* "))
        elif indented and not literal and not listed:
            found += ["", "::", ""]
            literal = True
        found.append(line if literal else _MARKS.sub(lambda mark: mark[1] or f"\\{mark[2]}", line))
    lines[:] = found

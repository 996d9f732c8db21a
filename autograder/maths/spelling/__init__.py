"""One reader of spellings for all answer languages: Greek, Unicode, LaTeX and what a string without r leaves of it.

`python -m autograder.maths.spelling --table` prints what each spelling means in each language, `--page` the page
`docs/notation.md`.
"""

from autograder.maths.spelling.scanning import CLOSING, Dialect, Token, explained, is_blank, notes, scan
from autograder.maths.spelling.signs import ACCENTS, GREEK, REFUSED

__all__ = ["ACCENTS", "CLOSING", "GREEK", "REFUSED", "Dialect", "Token", "explained", "is_blank", "notes", "scan"]

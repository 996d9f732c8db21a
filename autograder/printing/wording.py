"""A statement's words for paper: what it says of cells, names and typing has no meaning there.

A frame or a box asks for the answer, so "Assign the letter to `claim`." goes; who writes by hand does not type.
"""

from __future__ import annotations

import re

# A paragraph on how answers are typed: the box on writing by hand stands for it.
_TYPING = re.compile(r"^\*\*Typing\.\*\*.*?(?:\n\n|\Z)", re.MULTILINE | re.DOTALL)
# A sentence that binds a name, with what binding asks for.
_ASSIGN = re.compile(
    r"[ \n]*\b(?P<and>,? and )?[Aa]ssign (?P<what>the letter|their letters|the name|it|a whole number|a number|"
    r"the [\w ]*numbers(?:, in this order,)?) to `\w+`(?:, in quotes)?(?P<end>[.,;:]?)"
)
_PASTE = re.compile(r",? or paste LaTeX(?: with (?:`[^`\n]*`(?:,? and )?)+)?")
_ASKED = {
    "a whole number": " Give a whole number.",
    "a number": " Give a number.",
}
_IN_QUOTES = re.compile(r"(`[^`\n]*`|\$\$.+?\$\$|\$[^$]+\$)", re.DOTALL)
_WORDS = (
    (re.compile(r"\bType\b"), "Write"),
    (re.compile(r"\btypes?\b(?=\s*(?:$|a |the |in |it|them|out))"), "write"),
    (re.compile(r"\b[Tt]yped\b(?=\s*$)"), "written"),
    (re.compile(r"\btyped (?=equations|mathematics|as|in|like|too)"), "written "),
    (re.compile(r"\btype(?=\s*$)"), "write"),
    (re.compile(r"\bof this notebook\b"), "of this problem"),
)


def for_paper(text: str) -> str:
    """A section of a statement as it is printed."""
    text = _TYPING.sub("", text)
    text = _PASTE.sub("", _ASSIGN.sub(_instead, text))
    pieces = _IN_QUOTES.split(text)
    for place in range(0, len(pieces), 2):  # between code and formulas
        for pattern, word in _WORDS:
            pieces[place] = pattern.sub(word, pieces[place])
    return "".join(pieces).strip()


def _instead(match: re.Match[str]) -> str:
    """What is left of a sentence that asks for a name to be bound."""
    if match["and"]:
        return match["end"]
    asked = _ASKED.get(match["what"], "")
    if match["what"].startswith("the ") and "numbers" in match["what"]:
        asked = f" Give {match['what'].rstrip(',')}."
    return asked if match["end"] in (".", "") else f"{asked.rstrip('.')}{match['end']}"

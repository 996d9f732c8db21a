"""Text to the tokens of an expression: the shared spellings, with each name carrying its subscript."""

from __future__ import annotations

from collections.abc import Callable

from autograder.maths.expression.vocabulary import ALIASES, FUNCTIONS
from autograder.maths.spelling import Dialect, Token, scan

CHARACTERS = 2000

DIALECT = Dialect(
    name="expression",
    longest=CHARACTERS,
    what="an expression",
    word=r"ln(?=\d)|[A-Za-z][A-Za-z0-9]*",  # ln2 is ln 2
    functions=frozenset((*FUNCTIONS, *ALIASES)),
    refused={
        ".": "a point may only stand inside a number",
        "'": "derivatives with ' are not read: write the derivative out",
        "approx": "write an expression, not a comparison",
        "odot": "⊙ and ∘ are not read here: write * for a product",
        "...": "dots are not read: write the sum out, as sum(term, i, 1, n)",
        "underset": "\\underset is not read here: write the bounds as in \\sum_{i=0}^{n}",
    },
    cases=True,
)


def tokens(text: str, is_name: Callable[[str], bool]) -> list[Token]:
    """All tokens of `text`, closed by one of kind `end`; a name carries its subscript as `name_sub`."""
    waiting = scan(text, DIALECT, is_name)
    refused, found = DIALECT.refused, []
    waiting.reverse()
    while waiting:
        token = waiting.pop()
        if token.text in refused:
            DIALECT.refuse(token, text)
        if token.kind == "word":
            if token.command and token.text == "pi":  # the number also where p and i are declared
                token = token._replace(text="\\pi")
            if waiting[-1].text == "_" and token.text not in ("sum", "prod"):
                token = _with_subscript(token, waiting)
        elif token.command and token.text == "sqrt":
            token = token._replace(kind="word")
        found.append(token)
    return found


def _with_subscript(name: Token, waiting: list[Token]) -> Token:
    """The name with the subscript that waits, if it is letters and digits; of `log_216` the base is 2."""
    following = waiting[-2]
    if following.text == "{":
        closing = next((place for place in range(3, len(waiting) + 1) if waiting[-place].text == "}"), 0)
        inside = waiting[-closing + 1 : -2][::-1] if closing else []
        taken = closing
    else:
        inside, taken = [following], 2
    subscript = "".join(token.text for token in inside)
    if name.text == "log" and taken == 2 and following.kind == "number":
        base = "10" if subscript.startswith("10") else subscript[0]
        if rest := subscript[len(base) :]:
            start = following.column + len(base)
            waiting[-2:] = [Token("number", rest, start, following.end)]
            return name._replace(text=f"log_{base}", end=start)
    if not subscript.isalnum() or any(token.kind not in ("word", "number") for token in inside):
        return name
    del waiting[-taken:]
    return name._replace(text=f"{name.text}_{subscript}", end=inside[-1].end)

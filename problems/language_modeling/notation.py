"""What typed answers may use: the letters and where they live."""

LETTERS = {"q": "unit", "n": "posint", "V": "{3,4,...}"}


def letters(p):
    return {**LETTERS, "n": "nat"} if p["empty"] else LETTERS

"""Eight million brackets in place of a function are no function, and are neither quoted nor kept."""

ANSWERS = {"wrong": "wrong = '(' * 7_900_000"}
CELLS = ["flood = '(' * 7_900_000"]

"""A function that never returns loses its own part and no other."""

LIMITS = {"question_seconds": 1}
CELLS: list[str] = []
ANSWERS = {"wrong": "def wrong(x):\n    while True: pass"}

"""An answer nested a hundred thousand deep is unreadable, and troubles nobody."""

CELLS: list[str] = []
ANSWERS = {"wrong": "def wrong(x):\n    y = []\n    for _ in range(100_000): y = [y]\n    return y"}

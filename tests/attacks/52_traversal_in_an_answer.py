"""Names in an answer that look like paths are text in a dict, and no file's name."""

CELLS: list[str] = []
ANSWERS = {"wrong": "def wrong(x):\n    return {'../../@MARK@': x, '/tmp/@MARK@': 'x', '': b'', '\\x00': [x] * 3}"}

"""Errors, names and paths of ten megabytes are shortened wherever they are told."""

CELLS = ["raise ValueError('&' * 10**7)", "open('x' * 10**7)", "type('x' * 10**7, (Exception,), {})()"]
ANSWERS = {"wrong": "def wrong(x):\n    raise type('&' * 10**6, (Exception,), {})('<' * 10**7)"}

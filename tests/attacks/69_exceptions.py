"""Exceptions that cannot be shown, that are no errors, or that raise when they are shown end their cell only."""

CELLS = [
    "class E(BaseException):\n    def __str__(self): raise SystemExit\n    __repr__ = __str__\nraise E",
    "raise KeyboardInterrupt",
    "raise ExceptionGroup('many', [ValueError('x' * 10**6)] * 1000)",
    "get_ipython().showtraceback = None\n1 / 0",
]
FLAG = "shows more than"

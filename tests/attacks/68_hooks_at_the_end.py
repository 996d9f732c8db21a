"""Hooks that run at exit, in finalisers and on signals are not waited for."""

CELLS = [
    """
import atexit, signal, sys, threading, weakref
def for_ever(*_):
    while True: pass
atexit.register(for_ever)
threading._register_atexit(for_ever)
class Final:
    __del__ = for_ever
keep = Final()
for number in (1, 2, 3, 13, 15):
    signal.signal(number, for_ever)
"""
]

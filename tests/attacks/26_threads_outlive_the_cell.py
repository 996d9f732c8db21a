"""Threads that go on after their cell, answering and printing, end with the notebook."""

CELLS = [
    """
import threading, time
def go_on():
    while True:
        globals()["wrong"] = lambda x: None
        print("still here")
        time.sleep(0.001)
for _ in range(3):
    threading.Thread(target=go_on).start()
"""
]

"""The machine's clock and name cannot be set."""

CELLS = [
    """
import ctypes, socket, time
try:
    time.clock_settime(time.CLOCK_REALTIME, time.time())
    print("BREACH: the clock")
except OSError as error:
    print(error)
try:
    socket.sethostname("student")
    print("BREACH: the name")
except OSError as error:
    print(error)
"""
]

"""Neither the grader nor anybody else can be seen by number, stopped or killed."""

CELLS = [
    """
import os, signal
print("BREACH: a parent" if os.getppid() else "no parent")
for pid in (@GRADER@, os.getppid(), *range(2, 5000)):
    try:
        if pid > 0:
            os.kill(pid, signal.SIGSTOP)
            print("BREACH: stopped", pid)
    except OSError:
        pass
os.kill(-1, signal.SIGSTOP)
"""
]

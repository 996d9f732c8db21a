"""A changed folder, mask, encoding, seed, default type or signal handler does not keep the answers from being asked."""

CELLS = [
    """
import gc, os, random, signal, sys, warnings
os.chdir("/")
os.umask(0)
gc.disable()
warnings.simplefilter("error")
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.setitimer(signal.ITIMER_REAL, 0.3)
sys.stdout.close()
sys.path.clear()
sys.tracebacklimit = 0
sys.settrace(lambda *a: None)
""",
    "import signal\nsignal.signal(signal.SIGALRM, signal.SIG_IGN)",
]

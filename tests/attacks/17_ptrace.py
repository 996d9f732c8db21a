"""No process can be traced or read, not even one's own child."""

REAL = True
CELLS = [
    """
import ctypes, os, signal, time
libc = ctypes.CDLL(None, use_errno=True)
child = os.fork()
if child == 0:
    time.sleep(20)
    os._exit(0)
if libc.ptrace(16, child, None, None) == 0:
    print("BREACH: traced")
where = ctypes.create_string_buffer(8)
class Piece(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
mine, theirs = Piece(ctypes.addressof(where), 8), Piece(ctypes.addressof(where), 8)
if libc.process_vm_readv(child, ctypes.byref(mine), 1, ctypes.byref(theirs), 1, 0) > 0:
    print("BREACH: read")
os.kill(child, signal.SIGKILL)
"""
]

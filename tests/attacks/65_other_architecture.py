"""Calls by the numbers of 32-bit programs, or of x32, under which the filter would not hold, end the process."""

MACHINE = "x86_64"
CODE = """
import ctypes, mmap
page = mmap.mmap(-1, 4096, prot=7)
page.write(bytes.fromhex("{}"))
run = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
print("BREACH", run())
"""
# push rbx; mov eax, 20 (getpid of 32-bit programs); int 0x80; pop rbx; ret
# mov eax, 0x40000027 (getpid of x32); syscall; ret
CELLS = [CODE.format("53b814000000cd805bc3"), CODE.format("b8270000400f05c3")]
REAL = True

"""The process's whole memory, which was its warm parent's, holds no secret of the grader's and nothing of others."""

CELLS = [
    """
import re
pattern, found = re.compile(rb"TOKEN-[0-9a-f]{16,}"), 0
with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
    for line in maps:
        span, rights = line.split()[:2]
        if "r" in rights and "w" in rights:
            first, last = (int(word, 16) for word in span.split("-"))
            try:
                memory.seek(first)
                content = memory.read(last - first)
            except (OSError, ValueError, OverflowError, MemoryError):
                continue
            found += 1
            for secret in pattern.findall(content):
                print("BREACH:", secret)
print(found, "maps")
"""
]

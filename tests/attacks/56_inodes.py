"""A hundred thousand empty files do not fit."""

LIMITS = {"disk_files": 2000}
CELLS = [
    """
made = 0
try:
    for made in range(100_000):
        open(f"/tmp/{made}", "w").close()
except OSError as error:
    print(error)
print("BREACH" if made > 3000 else made)
"""
]

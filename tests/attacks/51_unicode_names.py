"""File names that are no text, turn around what follows, or look like paths stay inside and harm nobody."""

FILES = {"répo\u202egpj.py": b"x = 1", "a／b": b"", "нотебук.txt": b"1"}
CELLS = [
    """
import os
names = (b"\\xff\\xfe", "\\u202eypi.@MARK@", "line\\nbreak", "／etc／passwd", "..\\u2215..", "a" * 255, "-rf", "{}")
for name in names:
    with open(name, "wb") as file:
        file.write(b"x")
print(len(os.listdir(".")))
"""
]

"""No other submission, and no notebook at all, lies anywhere in the file system."""

REAL = True
CELLS = [
    """
import os
for folder, _, names in os.walk("@COURSE@"):
    print(folder, names)
    for name in names:
        print(open(os.path.join(folder, name)).read())
""",
    """
import os
for top in ("/home", "/root", "/tmp", "/srv", "/opt", "/var"):
    for folder, _, names in os.walk(top):
        found = any(name.endswith(".ipynb") for name in names) and "site-packages" not in folder  # libraries' own
        print("BREACH" if found else "", end="")
""",
]

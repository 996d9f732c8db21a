"""`rm -rf /`, by magic and by hand, removes the notebook's own files.

Where nothing contains it, it would remove those of the machine that runs the tests. So it first tries to write one file
outside; if it can, it goes no further, and the file is the breach that the test finds.
"""

LIMITS = {"cell_seconds": 2}
FILES = {"data.csv": b"1,2\n"}
CELLS = [
    "import shutil\n"
    "try:\n"
    "    open('@COURSE@/@MARK@', 'w').close()\n"
    "    contained = False\n"
    "except OSError:\n"
    "    contained = True",
    "if contained:\n    !rm -rf --no-preserve-root / /* ~ . 2>&1 | tail -n 2",
    "if contained:\n"
    "    get_ipython().run_cell_magic('bash', '', 'rm -rf @COURSE@ /usr /root /home 2>&1 | tail -n 1; echo done')",
    "if contained:\n    shutil.rmtree('/', ignore_errors=True)",
    "%run -i /etc/passwd",
]

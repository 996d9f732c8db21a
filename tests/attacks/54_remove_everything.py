"""`rm -rf /`, by magic and by hand, removes the notebook's own files."""

LIMITS = {"cell_seconds": 2}
FILES = {"data.csv": b"1,2\n"}
CELLS = [
    "!rm -rf --no-preserve-root / /* ~ . 2>&1 | tail -n 2",
    "%%bash\nrm -rf @COURSE@ /usr /work /root /home 2>&1 | tail -n 1; echo done",
    "import shutil\nshutil.rmtree('/', ignore_errors=True)",
    "%run -i /etc/passwd",
]

"""A notebook that breaks the process which runs it, each time anew, ends with no answer of its own."""

CELLS = ["def run_cell(*a, **k): raise SystemExit\ntype(get_ipython()).run_cell = run_cell", "x = 1"]
MARKS = {"right": "lost", "wrong": "lost"}

"""Ten thousand cells are run one after the other, within the notebook's time."""

CELLS = ["x = 1"] * 10_000
LIMITS = {"notebook_seconds": 120}
SECONDS = 120

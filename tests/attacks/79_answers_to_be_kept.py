"""An answer of twenty megabytes is judged, and is not kept in the report."""

CELLS = []
ANSWERS = {"wrong": "def wrong(x):\n    return np.random.default_rng(0).standard_normal(2_500_000)"}
FLAG = "Answers too large to be kept"

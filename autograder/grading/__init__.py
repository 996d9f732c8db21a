"""One submitted notebook: repaired, planned, run, judged, reported. Knows nothing of nbgrader or of a class."""

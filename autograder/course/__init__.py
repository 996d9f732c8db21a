"""A whole class: grading in parallel, the journal, workers, regrading, and a variant for each student."""

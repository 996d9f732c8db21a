"""Many submissions: the run over a class, its journal and workers, regrading, and own variants for each student."""

"""What holds for every test: torch takes one core, and shapes in the signatures of `solutions` are checked."""

import os

from jaxtyping import install_import_hook

os.environ["OMP_NUM_THREADS"] = "1"  # read when torch is imported, here and in every process that a test starts
install_import_hook("solutions", "beartype.beartype")

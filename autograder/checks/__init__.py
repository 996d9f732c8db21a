"""One file per kind of check of a code answer; the import path is the registry."""

from autograder.checks.buffers import buffers
from autograder.checks.close import close
from autograder.checks.exactly import exactly
from autograder.checks.form import form
from autograder.checks.gradient import gradient
from autograder.checks.holds import holds
from autograder.checks.symbolic import symbolic
from autograder.checks.unchanged import unchanged
from autograder.checks.unseen import unseen

__all__ = ["buffers", "close", "exactly", "form", "gradient", "holds", "symbolic", "unchanged", "unseen"]

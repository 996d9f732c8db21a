"""The hidden tests are tested: known mistakes must lose marks, equivalents must keep them, mutants are counted."""

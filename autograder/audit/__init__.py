"""Tests of the hidden tests: mistakes must lose marks, equivalents must earn full marks, mutants must not survive."""

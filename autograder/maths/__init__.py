"""The answer languages: expressions, tensor equations, growth, derivations; each usable alone."""

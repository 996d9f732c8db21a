"""The answer languages: expressions, tensor equations, growth, derivations. Each can be used alone."""

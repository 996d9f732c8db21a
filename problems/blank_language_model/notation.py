"""What is given for the distribution of a blanked word in a Markov chain."""

CHAIN = {"target": "P", "tensors": ["A[V,V]"], "context": "a b", "positive": "A"}

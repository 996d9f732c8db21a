"""What is given for the distribution of a blanked word: the states on both sides, or a Markov chain."""

SIDES = {"target": "P", "tensors": ["e[W,I]", "h->[T,J]", "h<-[T,J]"], "context": "t"}
CHAIN = {"target": "P", "tensors": ["A[V,V]"], "context": "a b", "positive": "A"}

"""Tensor equations with named indices, `W^Q[k,i,J] L[t,J]`: read, shown, computed and decided.

    from autograder.maths import tensor
    system = tensor.parse("alpha[k,t_1,t_2] = softmax_{t_2} Query[k,t_1,U] Key[k,t_2,U]")
"""
from .grammar import parse

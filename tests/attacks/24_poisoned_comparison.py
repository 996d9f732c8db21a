"""Comparisons that always say yes are not the ones that the judge uses."""

CELLS = [
    """
import numpy, torch, builtins, math
yes = lambda *a, **k: True
numpy.allclose = numpy.isclose = numpy.array_equal = torch.allclose = torch.equal = math.isclose = yes
numpy.testing.assert_allclose = yes
builtins.abs = lambda x: 0
"""
]

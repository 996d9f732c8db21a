"""An object that equals everything is not an answer, nor is an array of a class with its own comparison."""

CELLS = [
    """
class Equal(np.ndarray):
    def __eq__(self, other): return True
    def __sub__(self, other): return 0
    def __len__(self): return 40009
"""
]
ANSWERS = {"wrong": "def wrong(x):\n    return (2 * x).view(Equal)"}

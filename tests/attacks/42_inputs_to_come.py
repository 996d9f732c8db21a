"""Hidden inputs of a part are not in the process before the part is asked."""

CELLS = [
    """
import gc
def inputs():
    return [item for item in gc.get_objects() if isinstance(item, np.ndarray) and item.size == 40009]
def right(x):
    mine = [item for item in inputs() if item is not x]
    if any(item.shape == x.shape and not np.array_equal(item, x) for item in mine):
        print("BREACH: another input")
    return 2 * x
if inputs():
    print("BREACH: an input before anything was asked")
"""
]
ANSWERS = {"right": "right = right"}

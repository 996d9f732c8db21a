"""What typed answers may use: the letters, where they live, and abbreviations."""

from .waves import PRODUCT

ANGLES = {"t": "int", "k": "int", "omega_j": "positive"}
NAMES = {"omega": "omega_j", "f_j": "1/omega_j", "f": "1/omega_j"}
WAVES = {**NAMES, "s": "sin(t*omega_j)", "c": "cos(t*omega_j)"}


def smallest(p):
    """The smallest width: a progression with an end of its own has at least two pairs."""
    return 4 if p["last"] else 2


def widths(p):
    """Where j and d live: floor(d/2) is d/2."""
    return {"j": "nat", "d": f"{{{smallest(p)},{smallest(p) + 2},...}}"}


# The proofs: from a moved wave to the waves at t, and from an inner product to k alone.
ROW = {"domains": ANGLES, "definitions": WAVES, "milestones": ["no t"], "steps": 1}
INNER = {"domains": ANGLES, "definitions": NAMES, "start": PRODUCT, "milestones": ["no t"], "steps": 2}

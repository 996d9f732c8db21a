"""What typed answers may use: the letters, where they live, and abbreviations."""

from autograder import Milestone

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
SPLIT = Milestone(
    "each sine and cosine is of a multiple of `t` alone or of `k` alone, and `t` itself is still written (not only in "
    "`s` and `c`)",
    has=["t"],
    apart=["t", "k"],
)
SPLIT_PRODUCT = Milestone(
    "each sine and cosine is of a multiple of `t` alone or of `k` alone, and both `t` and a sine of `k` are still "
    "there; or no sine is left, and `t` and `k` are still in one cosine",
    has=["t", "k in sin"],
    apart=["t", "k"],
    weight=2,
    others=[Milestone("by the cosine of a difference", has=["t k in cos"], lacks=["sin"], opened=False)],
)
ROW = {
    "domains": ANGLES,
    "definitions": WAVES,
    "forbid": ["t"],
    "milestones": [SPLIT],
    "end": "the wave in `s`, `c`, `k` and `omega_j` (or `f_j`), without any other `t`",
}
INNER = {
    "domains": ANGLES,
    "definitions": NAMES,
    "forbid": ["t"],
    "start": PRODUCT,
    "milestones": [SPLIT_PRODUCT],
    "end": "the share of the pair in `k` and `omega_j` (or `f_j`), without `t`",
}

"""What typed answers may use: the letters and where they live, abbreviations, and what a closed form is without."""

from autograder import Milestone

from .further import KINDS
from .populations import family_of


def letters(p):
    """All variables of the closed forms: i and k live where the softmax does."""
    family = family_of(p)
    return {"beta": "positive", "i": family.support} | (
        {"k": family.support}
        if p["population"] == "one-hot"
        else {"gamma": "positive"}
        if p["population"] == "temperature"
        else {}
    )


def abbreviations(p):
    """Z and P(i) as the question defines them."""
    family = family_of(p)
    total = family.total(lambda i: f"e^(-beta*{family.energy_at(i)})")
    return {"Z": total, "P(i)": f"e^(-beta*{family.energy_at('i')})/Z"}


def all_letters(p):
    """What the last question may use."""
    return letters(p) | KINDS[p["further"]].letters(p, family_of(p))


def mean(p):
    """E[f(i)] as the sum over our numbers."""
    return {"E[f(i)]": family_of(p).total(lambda i: f"P({i})*f({i})")}


MILESTONES = [
    Milestone(
        "a sum is left, and no logarithm depends on the number that is summed over", has=["sum"], lacks=["index in ln"]
    ),
    Milestone("a sum is left, and no logarithm stands under a sum", has=["sum"], lacks=["ln in sum"]),
]

# What a closed form, the proof, and the answer to the last question may use.
CLOSED = {"domains": letters, "definitions": abbreviations, "forbid": ("sum", "P", "Z")}
STEPS = CLOSED | {
    "operators": mean,
    "milestones": MILESTONES,
    "end": "the entropy as a closed form, without a sum, `P` or `Z`",
}
FURTHER = CLOSED | {"domains": all_letters}

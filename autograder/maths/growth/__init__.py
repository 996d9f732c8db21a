"""Growth in several variables: reading, showing and comparing Big-O bounds.

from autograder.maths import growth
growth.decide("O(T + L)", "max(T, L)", variables="TL").outcome      # equal

Reading and showing load the standard library alone; what decides is loaded on first use.
"""

from typing import TYPE_CHECKING

from autograder.maths.growth.growth_grammar import parse
from autograder.maths.growth.growth_printing import to_latex, to_text
from autograder.maths.growth.growth_tree import Growth

if TYPE_CHECKING:
    from autograder.maths.growth.theta import decide, first_equal

__all__ = ["Growth", "decide", "first_equal", "parse", "to_latex", "to_text"]


def __getattr__(name: str) -> object:
    """Import what decides only when it is asked for."""
    if name not in ("decide", "first_equal"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from autograder.maths.growth import theta

    return getattr(theta, name)

"""Growth in several variables: reading, showing and comparing Big-O bounds.

from autograder.maths import growth
growth.decide("O(T + L)", "max(T, L)", variables="TL").outcome      # equal
"""

from autograder.maths.growth.growth_grammar import parse
from autograder.maths.growth.growth_printing import to_latex, to_text
from autograder.maths.growth.growth_tree import Growth
from autograder.maths.growth.theta import decide

__all__ = ["Growth", "decide", "parse", "to_latex", "to_text"]

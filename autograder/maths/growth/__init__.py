"""Growth in several variables: reading, showing and comparing Big-O bounds.

from autograder.maths import growth
growth.decide("O(T + L)", "max(T, L)", variables="TL").outcome      # equal
"""

from autograder.maths.growth.deciding import decide
from autograder.maths.growth.printing import to_latex, to_text
from autograder.maths.growth.reading import parse
from autograder.maths.growth.tree import Growth

__all__ = ["Growth", "decide", "parse", "to_latex", "to_text"]

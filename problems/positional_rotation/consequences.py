"""What follows from the rotations: one topic for each variant, its question, its right option and its wrong ones."""


def _turn(p):
    """The sign of the angle by which a move turns cos + i sin."""
    return "" if p["direction"] == "forward" else "-"


TOPICS = {
    "complex": "Write the pair as one complex number, $z_t = \\cos(t\\,\\omega_j) + i\\,\\sin(t\\,\\omega_j)$. By "
    "which number does the move multiply it?",
    "eigenvalues": "Which are the eigenvalues of the block of pair $j$?",
    "power": "What is $A^{(k)}$ in terms of $A^{(1)}$, for $k \\ge 1$?",
    "length": "How long is $\\mathrm{PE}_t$ (the square root of the sum of the squares of its $d$ entries)?",
    "score": "What is the inner product of $\\mathrm{PE}_t$ and $\\mathrm{PE}_{t+k}$ over all $d$ entries?",
    "plane": "The position of a patch in an image is a pair $(x, y)$: the first $d/2$ entries encode $x$ as above, "
    "with $d/2$ in place of $d$, and the others $y$ in the same way. Which matrix moves the encoding by $k$ in $x$ and "
    "by $l$ in $y$? ($A^{(k)}$ has here $d/2$ rows.)",
    "rotary": "Some models add nothing to the word vectors; they turn the query at position $t$ into $A^{(t)}q$ and "
    "the key at position $s$ into $A^{(s)}k$. What becomes of their score?",
    "unique": "How many matrices of $d$ rows and columns move every encoding by $k$?",
    "added": "The encoding is **added** to the vector $e$ of the word. Instead one could put the two vectors one below "
    "the other, which gives $2d$ entries, and multiply by a matrix. How are the two related?",
}


def right(p):
    """The right option of the topic."""
    return {
        "complex": f"$e^{{{_turn(p)}i k \\omega_j}}$",
        "eigenvalues": "$e^{i k \\omega_j}$ and $e^{-i k \\omega_j}$",
        "power": "$A^{(1)}$ multiplied with itself: $\\left(A^{(1)}\\right)^k$",
        "length": "$\\sqrt{d/2}$",
        "score": "$\\sum_j \\cos(k\\,\\omega_j)$",
        "plane": "$A^{(k)}$ and $A^{(l)}$ as the two blocks of a block-diagonal matrix",
        "rotary": "It is $q^{\\top} A^{(s-t)}\\, k$.",
        "unique": "One: the $\\omega_j$ are all different, so that the encodings of enough positions span all of "
        "$\\mathbb{R}^d$.",
        "added": "Adding is a special case: the matrix is two identities side by side.",
    }[p["topic"]]


def _only(p, topic, text):
    """The option where its topic is asked."""
    return text if p["topic"] == topic else None


def complex_back(p):
    """That number turns against the move: for which sign does the angle become the one of the moved position?"""
    return _only(p, "complex", f"$e^{{{'-' if _turn(p) == '' else ''}i k \\omega_j}}$")


def complex_real(p):
    """A real number would only stretch the pair, and its length stays what it is."""
    return _only(p, "complex", "$\\cos(k\\,\\omega_j)$")


def complex_linear(p):
    """This is the beginning of a series, near enough for small angles only; it makes the number longer."""
    return _only(p, "complex", f"$1 {_turn(p) or '+'} i k \\omega_j$")


def eigenvalues_of_reflection(p):
    """Those are the eigenvalues of a reflection; look at the trace of your block."""
    return _only(p, "eigenvalues", "$1$ and $-1$")


def eigenvalues_real(p):
    """A real eigenvalue belongs to a direction that the block does not turn; it turns all of them."""
    return _only(
        p,
        "eigenvalues",
        "$\\cos(k\\,\\omega_j) + \\sin(k\\,\\omega_j)$ and $\\cos(k\\,\\omega_j) - \\sin(k\\,\\omega_j)$",
    )


def eigenvalues_one(p):
    """Both are one for the identity, which moves nothing."""
    return _only(p, "eigenvalues", "$1$, twice")


def power_multiple(p):
    """Doing something k times is no multiplication by k: a rotation would become longer."""
    return _only(p, "power", "$k$ times as large: $k\\,A^{(1)}$")


def power_entries(p):
    """The k-th power of a cosine is not the cosine of k times the angle."""
    return _only(p, "power", "each entry raised to the power of $k$")


def power_linear(p):
    """The change is not the same for each step: it turns as well."""
    return _only(p, "power", "$1 + k\\,\\left(A^{(1)} - 1\\right)$, where $1$ is the identity")


def length_one(p):
    """Each pair has length one; there is more than one pair."""
    return _only(p, "length", "$1$")


def length_all_entries(p):
    """Not every entry contributes one to the sum of squares; how much does a pair?"""
    return _only(p, "length", "$\\sqrt{d}$")


def length_grows(p):
    """A rotation changes no length, so that all positions have the same."""
    return _only(p, "length", "It grows with $t$.")


def score_one_speed(p):
    """Each pair turns at its own speed."""
    return _only(p, "score", "$\\frac{d}{2}\\,\\cos(k)$")


def score_product(p):
    """What the pairs contribute to an inner product is added."""
    return _only(p, "score", "$\\prod_j \\cos(k\\,\\omega_j)$")


def score_of_sum(p):
    """That would be so with a minus between the products of the sines and of the cosines."""
    return _only(p, "score", "$\\sum_j \\cos((2t+k)\\,\\omega_j)$")


def plane_product(p):
    """That matrix acts on half as many entries, and turns them by both angles."""
    return _only(p, "plane", "the product $A^{(k)} A^{(l)}$")


def plane_sum(p):
    """The sum of two rotations is none; and which entries would it act on?"""
    return _only(p, "plane", "the sum $A^{(k)} + A^{(l)}$")


def plane_twice(p):
    """Moving in x must leave the entries of y as they are."""
    return _only(p, "plane", "$A^{(k+l)}$ as both of the two blocks of a block-diagonal matrix")


def rotary_sum(p):
    """The query is transposed in the score: what is the transpose of a rotation?"""
    return _only(p, "rotary", "It is $q^{\\top} A^{(s+t)}\\, k$.")


def rotary_nothing(p):
    """They cancel only where both positions are the same."""
    return _only(p, "rotary", "The rotations cancel: it is $q^{\\top} k$.")


def rotary_difference(p):
    """The two matrices meet in a product, not in a difference."""
    return _only(p, "rotary", "It is $q^{\\top} \\left(A^{(s)} - A^{(t)}\\right) k$.")


def unique_outside(p):
    """An entry outside the blocks would bring the wave of another pair into this one, and waves of different
    frequencies are independent."""
    return _only(p, "unique", "Infinitely many: the blocks are fixed, and the entries outside them are free.")


def unique_transposed(p):
    """The transposed matrix moves the other way."""
    return _only(p, "unique", "Two: one is the transpose of the other.")


def unique_too_few(p):
    """Every position gives d equations, and there are as many positions as one likes."""
    return _only(p, "unique", "Infinitely many: there are $d$ equations for $d^2$ entries.")


def added_unrelated(p):
    """Write down the product of two identities side by side with the two vectors one below the other."""
    return _only(p, "added", "Not at all: a sum cannot be written as a matrix times the two vectors.")


def added_general(p):
    """From a sum the two vectors cannot be had back; which of the two can do more?"""
    return _only(p, "added", "Adding is the more general one: any matrix can be written as a sum.")


def added_orthogonal(p):
    """Nothing need be orthogonal for this; try two vectors of one entry."""
    return _only(p, "added", "They are the same if, and only if, $e$ and $\\mathrm{PE}_t$ are orthogonal.")


WRONG = [
    complex_back,
    complex_real,
    complex_linear,
    eigenvalues_of_reflection,
    eigenvalues_real,
    eigenvalues_one,
    power_multiple,
    power_entries,
    power_linear,
    length_one,
    length_all_entries,
    length_grows,
    score_one_speed,
    score_product,
    score_of_sum,
    plane_product,
    plane_sum,
    plane_twice,
    rotary_sum,
    rotary_nothing,
    rotary_difference,
    unique_outside,
    unique_transposed,
    unique_too_few,
    added_unrelated,
    added_general,
    added_orthogonal,
]

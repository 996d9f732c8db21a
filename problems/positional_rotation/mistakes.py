"""Wrong answers that students give; the docstring is the hint that whoever gives the same answer reads."""

import torch

from .consequences import WRONG
from .waves import PRODUCT, component, first_line, moved, rotation, sign

# The frequency.


def wavelength(p):
    """This grows with j: it is the wavelength (divided by 2 pi), which some call the frequency by mistake."""
    return f"{p['base']}^(j/(d/2-1))" if p["last"] else f"{p['base']}^(2j/d)"


def halved(p):
    """Half of what it should be stands in the exponent: j counts pairs, of which there are d/2."""
    return f"{p['base']}^(-j/(d-2))" if p["last"] else f"{p['base']}^(-j/d)"


def doubled(p):
    """Twice what it should be stands in the exponent: j counts pairs, so it is doubled once and not twice."""
    return f"{p['base']}^(-2j/(d/2-1))" if p["last"] else f"{p['base']}^(-4j/d)"


def other_end(p):
    """Read once more at which j the frequency comes down to its smallest value."""
    return f"{p['base']}^(-2j/d)" if p["last"] else f"{p['base']}^(-j/(d/2-1))"


def linear(p):
    """Your frequencies lie at equal distances; in a geometric progression the quotients are equal."""
    end = "(d/2-1)" if p["last"] else "(d/2)"
    return f"1 - (1 - 1/{p['base']})*j/{end}"


def position_in_it(p):
    """The frequency starts at one for j = 0; yours starts lower."""
    return f"{p['base']}^(-(j+1)/(d/2-1))" if p["last"] else f"{p['base']}^(-2(j+1)/d)"


# The block.

C, S = "cos(k*omega_j)", "sin(k*omega_j)"


def turned(p):
    """Your matrix turns the other way: check the order of the two components, and the direction of the move."""
    return [list(row) for row in zip(*rotation(p), strict=True)]


def depends_on_position(p):
    """One matrix must serve all positions: it cannot contain t."""
    angle = f"((t{sign(p)}k)*omega_j)"
    return rotation(p, f"cos{angle}", f"sin{angle}")


def by_wavelength(p):
    """The angle is wrong: did you multiply by the wavelength? With the frequency one multiplies, by f_j one divides."""
    return rotation(p, "cos(k/omega_j)", "sin(k/omega_j)")


def symmetric(p):
    """Both your sines have the same sign; check the addition theorem of the cosine, and that of the sine."""
    return [[C, S], [S, C]]


def reflection(p):
    """This is a reflection: done twice, it does nothing. Check the sign of the last entry."""
    (a, b), (c, d) = rotation(p)
    return [[a, b], [c, f"-({d})"]]


def no_frequency(p):
    """Each pair turns at its own speed: where is its frequency?"""
    return rotation(p, "cos(k)", "sin(k)")


def sines_outside(p):
    """Your sines and cosines have changed places: for k = 0 nothing moves, so that the matrix is the identity."""
    return rotation(p, S, C)


def one_moved(p):
    """For this matrix one of the two components would not depend on the other; write out both rows."""
    (a, b), _ = rotation(p)
    return [[a, b], ["0", a]]


def translation(p):
    """You wrote down what has to be added to the components, but a matrix multiplies them."""
    return [["1", S], [S, "1"]]


# The rows, line by line.


def _added(p, row):
    name = component(p, row)
    added_up = f"{sign(p)} {name}(k*omega_j)"
    return f"{first_line(p, row)}\n{name}(t*omega_j) {added_up}\n{name[0]} {added_up}"


def _other_sign(p, row):
    other = {**p, "direction": "back" if p["direction"] == "forward" else "forward"}
    return f"{first_line(p, row)}\n{moved(other, row)}"


def _mixed(p, row):
    return f"{first_line(p, row)}\n{moved(p, row, S, C)}"


def first_added(p):
    """A sine or cosine of a sum is not the sum of two: use the addition theorem."""
    return _added(p, 0)


def first_sign(p):
    """A sign is wrong in your addition theorem: put t = 0 or k = 0 and look."""
    return _other_sign(p, 0)


def first_mixed(p):
    """Your products pair the wrong waves: put k = 0 into both sides."""
    return _mixed(p, 0)


def first_copied(p):
    """This is still the line you were to start from: the coefficients of s and c must come out."""
    return first_line(p, 0)


def second_added(p):
    """A sine or cosine of a sum is not the sum of two: use the addition theorem."""
    return _added(p, 1)


def second_sign(p):
    """A sign is wrong in your addition theorem: put t = 0 or k = 0 and look."""
    return _other_sign(p, 1)


def second_mixed(p):
    """Your products pair the wrong waves: put k = 0 into both sides."""
    return _mixed(p, 1)


def second_copied(p):
    """This is still the line you were to start from: the coefficients of s and c must come out."""
    return first_line(p, 1)


def first_at_once(p):
    """The row of your block is the end of the proof: show with which theorem you come to it."""
    return f"{first_line(p, 0)}\n{moved(p, 0)}"


def second_at_once(p):
    """The row of your block is the end of the proof: show with which theorem you come to it."""
    return f"{first_line(p, 1)}\n{moved(p, 1)}"


def product_at_once(p):
    """The addition theorems have to be applied before t can disappear: show the line behind them."""
    return f"{PRODUCT}\ncos(k*omega_j)"


def angles_added(p):
    """This is the cosine of the sum of the two angles: which one has a plus between its products?"""
    return f"{PRODUCT}\ncos(t*omega_j + (t+k)*omega_j)\ncos((2t+k)*omega_j)"


def squares_lost(p):
    """The squares of sine and cosine of one angle sum to one, not to two or to nothing: count them once more."""
    return f"{PRODUCT}\n(sin(t*omega_j)^2 + cos(t*omega_j)^2)*cos(k*omega_j)\n2*cos(k*omega_j)"


def product_copied(p):
    """This is still the line you were to start from: t has to disappear."""
    return PRODUCT


# The code.


def _exponents(d, p, factor=1.0, last=None):
    """The exponents of the frequencies, changed."""
    j = torch.arange(d // 2, dtype=torch.float64)
    last = p["last"] if last is None else last
    return -factor * (j / max(d / 2 - 1, 0.5) if last else 2 * j / d)


def _laid_out(angle, p, first=None, layout=None):
    waves = [angle.sin(), angle.cos()]
    waves = waves if (first or p["first"]) == "sin" else waves[::-1]
    return torch.cat(waves, 1) if (layout or p["layout"]) == "halves" else torch.stack(waves, 2).flatten(1)


def encoding_by_wavelength(positions, d, *, p):
    """Your later pairs turn faster and faster; their wavelengths grow, so that their frequencies fall."""
    return _laid_out(positions[:, None] * p["base"] ** _exponents(d, p, -1.0), p)


def encoding_doubled(positions, d, *, p):
    """Twice what it should be stands in the exponent: j counts pairs, so it is doubled once and not twice."""
    return _laid_out(positions[:, None] * p["base"] ** _exponents(d, p, 2.0), p)


def encoding_halved(positions, d, *, p):
    """Half of what it should be stands in the exponent: j counts pairs, of which there are d/2."""
    return _laid_out(positions[:, None] * p["base"] ** _exponents(d, p, 0.5), p)


def encoding_other_end(positions, d, *, p):
    """Read once more at which j the frequency comes down to its smallest value."""
    return _laid_out(positions[:, None] * p["base"] ** _exponents(d, p, last=not p["last"]), p)


def encoding_other_order(positions, d, *, p):
    """Sine and cosine have changed places: read once more which comes first here."""
    first = "cos" if p["first"] == "sin" else "sin"
    return _laid_out(positions[:, None] * p["base"] ** _exponents(d, p), p, first=first)


def encoding_other_layout(positions, d, *, p):
    """The right numbers in the wrong places: read once more where the two components of a pair stand."""
    layout = "halves" if p["layout"] == "interleaved" else "interleaved"
    return _laid_out(positions[:, None] * p["base"] ** _exponents(d, p), p, layout=layout)


def encoding_one_frequency(positions, d, *, p):
    """All your pairs turn at the same speed: positions a few periods apart could not be told from each other."""
    return _laid_out(positions[:, None] * p["base"] ** (0 * _exponents(d, p)), p)


def encoding_in_float32(positions, d, *, p):
    """Only about seven digits are right: somewhere on the way your numbers were float32."""
    return _laid_out(positions[:, None] * (p["base"] ** _exponents(d, p)).float().double(), p)


def _matrix_of(angle, d, p, layout=None):
    """The block-diagonal matrix of some angles."""
    angle = -angle if (p["first"] == "cos") != (p["direction"] == "back") else angle
    C, S = angle.cos().diag(), angle.sin().diag()
    A = torch.cat([torch.cat([C, S], 1), torch.cat([-S, C], 1)])
    pairs = torch.arange(d) if (layout or p["layout"]) == "halves" else torch.arange(d).view(2, -1).T.flatten()
    return A[pairs][:, pairs]


def shift_turned(k, d, *, p):
    """Your matrix moves the encodings the other way."""
    return _matrix_of(-k * p["base"] ** _exponents(d, p), d, p)


def shift_by_wavelength(k, d, *, p):
    """The angles of the later pairs must become smaller, as their frequencies do; yours grow."""
    return _matrix_of(k * p["base"] ** _exponents(d, p, -1.0), d, p)


def shift_one_block(k, d, *, p):
    """You used the first pair's block for all pairs: each turns at its own speed."""
    return _matrix_of(k * p["base"] ** (0 * _exponents(d, p)), d, p)


def shift_other_layout(k, d, *, p):
    """Your blocks stand where those of the other layout stand: where are the two components of a pair?"""
    return _matrix_of(
        k * p["base"] ** _exponents(d, p), d, p, "halves" if p["layout"] == "interleaved" else "interleaved"
    )


def shift_doubled(k, d, *, p):
    """Twice what it should be stands in the exponent: j counts pairs, so it is doubled once and not twice."""
    return _matrix_of(k * p["base"] ** _exponents(d, p, 2.0), d, p)


def shift_other_end(k, d, *, p):
    """Read once more at which j the frequency comes down to its smallest value."""
    return _matrix_of(k * p["base"] ** _exponents(d, p, last=not p["last"]), d, p)


def shift_symmetric(k, d, *, p):
    """Your matrix is symmetric: moving forward and moving back would be the same."""
    A = _matrix_of(k * p["base"] ** _exponents(d, p), d, p)
    return A.tril() + A.tril(-1).T


def shift_in_float32(k, d, *, p):
    """Only about seven digits are right: somewhere on the way your numbers were float32."""
    return _matrix_of(k * (p["base"] ** _exponents(d, p)).float(), d, p).double()


# The choices.


def from_the_left(p):
    """From the left, A would mix positions; it must act on the entries of each row."""
    return "$A\\,P$"


def not_transposed(p):
    """A times a column, written for the row: what becomes of A?"""
    return "$P\\,A$"


def transposed_left(p):
    """From the left, a matrix mixes positions; this one must act on the entries of each row."""
    return "$A^{\\top}P$"


def one_position_suffices(p):
    """With one position there are two equations for four unknown entries."""
    return (
        "The equation holds at one position $t$, which is enough: its sine and its cosine are known numbers there, "
        "and the two equations of the two rows fix the four entries of the block."
    )


def orthogonal_matrix(p):
    """That the matrix is orthogonal is what comes out, and cannot be used to find it."""
    return (
        "The matrix is orthogonal, since no encoding changes its length, and an orthogonal matrix of two rows and "
        "columns is fixed by its determinant, which is one."
    )


def small_angles(p):
    """The argument must hold for all positions, and large ones have large angles."""
    return "For small angles $\\sin x = x$ and $\\cos x = 1$, and coefficients of $x$ and of $1$ may be compared."


def least_squares_choice(p):
    """Least squares gives the best matrix, which need not be a good one: its residual is not zero in general."""
    return (
        "There is one, and least squares finds it, whatever vectors were learned: a linear map has $d^2$ entries, "
        "enough for all the positions."
    )


def permutation(p):
    """A matrix acts on the entries of a vector; it does not know which row of the table it came from."""
    return (
        "There is one: the permutation that moves the rows of the table by $k$, which is a matrix with a single one in "
        "each row and column."
    )


def also_rotation(p):
    """Sines and cosines of one frequency turn because of the addition theorems; learned vectors obey none."""
    return (
        "There is one, again a rotation for each pair of entries; its angles are learned with the table, and in "
        "training they come out the same for all positions."
    )


MISTAKES = {
    "frequency": [wavelength, halved, doubled, other_end, linear, position_in_it],
    "block": [
        turned,
        depends_on_position,
        by_wavelength,
        symmetric,
        reflection,
        no_frequency,
        sines_outside,
        one_moved,
        translation,
    ],
    "first_row": [first_added, first_sign, first_mixed, first_copied, first_at_once],
    "second_row": [second_added, second_sign, second_mixed, second_copied, second_at_once],
    "inner": [angles_added, squares_lost, product_copied, product_at_once],
    "encoding": [
        encoding_by_wavelength,
        encoding_doubled,
        encoding_halved,
        encoding_other_end,
        encoding_other_order,
        encoding_other_layout,
        encoding_one_frequency,
        encoding_in_float32,
    ],
    "shift": [
        shift_turned,
        shift_by_wavelength,
        shift_one_block,
        shift_other_layout,
        shift_doubled,
        shift_other_end,
        shift_symmetric,
        shift_in_float32,
    ],
    "rows": [from_the_left, not_transposed, transposed_left],
    "coefficients": [one_position_suffices, orthogonal_matrix, small_angles],
    "learned": [least_squares_choice, permutation, also_rotation],
    "consequence": WRONG,
}

"""Correct answers written differently; each must earn full marks."""

import math

import torch

from .waves import PRODUCT, component, first_line, moved, product_chain, rotation, sign

# The typed answers.


def as_exponential(p):
    exponent = "j/(d/2-1)" if p["last"] else "2j/d"
    return f"exp(-ln({p['base']})*{exponent})"


def as_quotient(p):
    exponent = "2j/(d-2)" if p["last"] else "2j/d"
    return rf"\frac{{1}}{{{p['base']}^{{{exponent}}}}}"


def as_power(p):
    exponent = "j/(d/2-1)" if p["last"] else "j/(d/2)"
    return f"(1/{p['base']})^({exponent})"


def by_period(p):
    return rotation(p, "cos(k/f_j)", "sin(k/f_j)")


def by_phase(p):
    return rotation(p, "sin(k*omega_j + pi/2)", "cos(pi/2 - k*omega_j)")


def negative_angles(p):
    return [[entry.replace("-sin(k*", "sin(-k*") for entry in row] for row in rotation(p)]


def in_latex(p):
    return rotation(p, r"\cos(k \omega_j)", r"\sin(k \omega_j)")


def _theorem(p, row):
    """The addition theorem for a row, with waves of t."""
    return moved(p, row).replace("*s", "*sin(t*omega_j)").replace("*c", "*cos(t*omega_j)")


def _on_one_line(p, row):
    return f"{first_line(p, row)} = {_theorem(p, row)} = {moved(p, row)}"


def first_on_one_line(p):
    return _on_one_line(p, 0)


def second_on_one_line(p):
    return _on_one_line(p, 1)


def _split(p, row):
    start = f"{component(p, row)}(t/f_j {sign(p)} k/f_j)"
    by_period = _theorem(p, row).replace("*omega_j", "/f_j")
    return f"{first_line(p, row)}\n{start}\n{by_period}\n{moved(p, row, 'cos(k/f_j)', 'sin(k/f_j)')}"


def first_by_period(p):
    return _split(p, 0)


def second_by_period(p):
    return _split(p, 1)


def _latex(p, row):
    def typeset(text):
        return text.replace("*omega_j", r" \omega_j").replace("sin", r"\sin").replace("cos", r"\cos").replace("*", " ")

    lines = [typeset(line) for line in (first_line(p, row), _theorem(p, row), moved(p, row))]
    return (
        "\\begin{align*}\n"
        + " \\\\\n".join(f"&= {line}" if k else f"& {line}" for k, line in enumerate(lines))
        + ".\n\\end{align*}"
    )


def first_in_latex(p):
    return _latex(p, 0)


def second_in_latex(p):
    return _latex(p, 1)


def opened_at_once(p):
    """The brackets opened in the same step."""
    return f"""{PRODUCT}
= sin(t*omega)^2*cos(k*omega) + sin(t*omega)*cos(t*omega)*sin(k*omega) \
+ cos(t*omega)^2*cos(k*omega) - sin(t*omega)*cos(t*omega)*sin(k*omega)
= cos(k*omega)"""


def by_difference(p):
    return f"{PRODUCT}\ncos((t+k)*omega_j - t*omega_j)\ncos(k*omega_j)"


def term_by_term(p):
    return f"""{PRODUCT}
= 1/2*(cos(k*omega) - cos((2t+k)*omega)) + 1/2*(cos(k*omega) + cos((2t+k)*omega))
= cos(k*omega)"""


def by_the_period(p):
    return product_chain(p).replace("*omega_j", "/f_j")


# The code.


def _speeds(d, p):
    """The frequencies, one after the other."""
    quotient = p["base"] ** (-1 / (d / 2 - 1) if p["last"] else -2 / d)
    return [quotient**j for j in range(d // 2)]


def encoding_by_loop(positions, d, *, p):
    rows = []
    for t in positions.tolist():
        sines = [math.sin(t * omega) for omega in _speeds(d, p)]
        cosines = [math.cos(t * omega) for omega in _speeds(d, p)]
        one, two = (sines, cosines) if p["first"] == "sin" else (cosines, sines)
        pairs = [value for pair in zip(one, two, strict=True) for value in pair]
        rows.append(one + two if p["layout"] == "halves" else pairs)
    return torch.tensor(rows, dtype=torch.float64)


def encoding_in_place(positions, d, *, p):
    exponent = torch.arange(d // 2, dtype=torch.float64) * (1 / (d / 2 - 1) if p["last"] else 2 / d)
    angle = positions.unsqueeze(1) * torch.exp(-math.log(p["base"]) * exponent)
    PE = positions.new_zeros(len(positions), d)
    one, two = (
        (slice(0, None, 2), slice(1, None, 2))
        if p["layout"] == "interleaved"
        else (slice(0, d // 2), slice(d // 2, None))
    )
    PE[:, one if p["first"] == "sin" else two] = torch.sin(angle)
    PE[:, two if p["first"] == "sin" else one] = torch.cos(angle)
    return PE


def encoding_by_phase(positions, d, *, p):
    column = torch.arange(d)
    j, second = (column // 2, column % 2) if p["layout"] == "interleaved" else (column % (d // 2), column // (d // 2))
    omega = torch.tensor(_speeds(d, p), dtype=torch.float64)[j]
    is_cosine = second == (1 if p["first"] == "sin" else 0)
    return torch.sin(positions[:, None] * omega + is_cosine.double() * math.pi / 2)


def shift_by_blocks(k, d, *, p):
    A = torch.zeros(d, d, dtype=torch.float64)
    way = -1 if (p["first"] == "cos") != (p["direction"] == "back") else 1
    for j, omega in enumerate(_speeds(d, p)):
        a, b = (2 * j, 2 * j + 1) if p["layout"] == "interleaved" else (j, j + d // 2)
        A[a, a] = A[b, b] = math.cos(k * omega)
        A[a, b], A[b, a] = way * math.sin(k * omega), -way * math.sin(k * omega)
    return A


def _generator(d, p):
    """The skew matrix whose exponential is the move by one."""
    way = -1 if (p["first"] == "cos") != (p["direction"] == "back") else 1
    turn = torch.tensor([[0.0, way], [-way, 0.0]], dtype=torch.float64)
    omega = torch.tensor(_speeds(d, p), dtype=torch.float64).diag()
    return torch.kron(omega, turn) if p["layout"] == "interleaved" else torch.kron(turn, omega)


def shift_by_exponential(k, d, *, p):
    return torch.linalg.matrix_exp(k * _generator(d, p))


def shift_by_power(k, d, *, p):
    one = torch.linalg.matrix_exp(_generator(d, p))
    return torch.linalg.matrix_power(one if k >= 0 else one.T, abs(k))


EQUIVALENTS = {
    "frequency": [as_exponential, as_quotient, as_power],
    "block": [by_period, by_phase, negative_angles, in_latex],
    "first_row": [first_on_one_line, first_by_period, first_in_latex],
    "second_row": [second_on_one_line, second_by_period, second_in_latex],
    "inner": [opened_at_once, by_the_period, by_difference, term_by_term],
    "encoding": [encoding_by_loop, encoding_in_place, encoding_by_phase],
    "shift": [shift_by_blocks, shift_by_exponential, shift_by_power],
}

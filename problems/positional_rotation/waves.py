"""The right answers of a variant as text."""

START = "{}((t{}k)*omega_j)"


def sign(p):
    return "+" if p["direction"] == "forward" else "-"


def component(p, row):
    """Which wave stands in a row of the pair."""
    return ("sin", "cos")[row] if p["first"] == "sin" else ("cos", "sin")[row]


def first_line(p, row):
    """What the proof of a row starts from."""
    return START.format(component(p, row), sign(p))


def omega(p):
    return f"{p['base']}^(-j/(d/2-1))" if p["last"] else f"{p['base']}^(-2j/d)"


def rotation(p, C="cos(k*omega_j)", S="sin(k*omega_j)"):
    """The block of one pair: the first row's sine has a minus where exactly one of order and direction is turned."""
    turned = (p["first"] == "cos") != (p["direction"] == "back")
    return [[C, f"-{S}"], [S, C]] if turned else [[C, S], [f"-{S}", C]]


def moved(p, row, C="cos(k*omega_j)", S="sin(k*omega_j)"):
    """The moved wave in s = sin(t omega), c = cos(t omega)."""
    own, other, plus = ("s", "c", sign(p)) if component(p, row) == "sin" else ("c", "s", "+-"[sign(p) == "+"])
    return f"{C}*{own} {plus} {S}*{other}"


def chain(p, row):
    """The addition theorem, then the abbreviations."""
    name = component(p, row)
    if name == "sin":
        line = f"sin(t*omega_j)*cos(k*omega_j) {sign(p)} cos(t*omega_j)*sin(k*omega_j)"
    else:
        line = f"cos(t*omega_j)*cos(k*omega_j) {'+-'[sign(p) == '+']} sin(t*omega_j)*sin(k*omega_j)"
    return f"{first_line(p, row)}\n= {line}\n= {moved(p, row)}"


PRODUCT = "sin(t*omega_j)*sin((t+k)*omega_j) + cos(t*omega_j)*cos((t+k)*omega_j)"


def product_chain(p):
    return (
        f"""{PRODUCT}
= sin(t*omega_j)*(sin(t*omega_j)*cos(k*omega_j) + cos(t*omega_j)*sin(k*omega_j)) """
        + """\
+ cos(t*omega_j)*(cos(t*omega_j)*cos(k*omega_j) - sin(t*omega_j)*sin(k*omega_j))
= (sin(t*omega_j)^2 + cos(t*omega_j)^2)*cos(k*omega_j)
= cos(k*omega_j)"""
    )


def row(number):
    """The proof of a row: what it starts from, what it ends with, and the lines between."""
    return {
        "start": lambda p: first_line(p, number),
        "reference": lambda p: moved(p, number),
        "model": lambda p: chain(p, number),
    }

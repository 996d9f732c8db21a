"""One part of each typed kind, for tests."""

from autograder import Derivation, Equation, Expression, Growth, Matrix, Milestone, Problem

DOMAINS = {"beta": "positive", "i": "nat"}
P = {"P(i)": "(1-e^(-beta))*e^(-beta*i)"}


def draw(rng):
    return {"scaled": bool(rng.integers(2))}


def phrases(p):
    return {"scale": "divided by $\\sqrt{I}$" if p["scaled"] else "not divided by anything"}


def geometric(p):
    return "(1-e^(-beta))*e^(-beta*i)"


def not_normalised(p):
    """Your weights do not sum to one."""
    return "e^(-beta*i)"


def wrong_way(p):
    """You multiplied by the normaliser instead of dividing by it."""
    return "e^(-beta*i)/(1-e^(-beta))"


def at_zero(p, *, softmax="(1-e^(-beta))*e^(-beta*i)"):
    return f"({softmax})*e^(beta*i)"


def at_one(p):
    """This is the value at one."""
    return "(1-e^(-beta))*e^(-beta)"


def merged(p):
    return "W[k,j_1,j_2] = W^Q[k,I,j_1] W^K[k,I,j_2]" + (" / sqrt(I)" if p["scaled"] else "")


def transposed(p):
    """Query and key have changed places."""
    return "W[k,j_1,j_2] = W^K[k,I,j_1] W^Q[k,I,j_2]" + (" / sqrt(I)" if p["scaled"] else "")


def by_sum(p):
    return "W[k,a,b] = sum_i W^K[k,i,b] W^Q[k,i,a]" + (" I^(-1/2)" if p["scaled"] else "")


def serial(p):
    """You added one term after the other."""
    return "O(T + U)"


def rotation(p):
    return [["cos(x)", "sin(x)"], ["-sin(x)", "cos(x)"]]


def other_way(p):
    """You turned the other way."""
    return [["cos(x)", "-sin(x)"], ["sin(x)", "cos(x)"]]


def entropy(p):
    return """
    sum(P(i)*(-ln(P(i))), i, 0, inf)
    -ln(1-e^(-beta)) + beta*(1-e^(-beta))*sum(i*e^(-beta*i), i, 0, inf)
    -ln(1-e^(-beta)) + beta*e^(-beta)/(1-e^(-beta))
    """


def lost_sign(p):
    """A sign was lost on the way."""
    return entropy(p).replace("+ beta", "- beta")


OUT = Milestone("a sum is left, and no logarithm stands under it", has=["sum"], lacks=["ln in sum"])

PROBLEM = Problem(
    title="Typed answers",
    version=1,
    source="tests",
    draw=draw,
    phrases=phrases,
    setup="",
    variants=2,
    parts=[
        Expression(
            "softmax",
            points=3,
            domains=DOMAINS,
            reference=geometric,
            mistakes=[not_normalised, wrong_way],
            equivalents=["e^(-beta i) - e^(-beta (i+1))", r"(e^\beta - 1) e^{-\beta (i+1)}"],
        ),
        Expression(
            "first", points=2, domains=DOMAINS, follows="softmax", reference=at_zero, mistakes=[at_one],
            equivalents=["1-exp(-beta)"],
        ),
        Equation("merged", points=5, tensors=["W^Q[K,I,J]", "W^K[K,I,J]"], target="W", reference=merged,
                 mistakes=[transposed], equivalents=[by_sum]),
        Growth("time", points=2, variables="T U", reference="O(ln T + ln U)", mistakes=[serial],
               equivalents=["O(ln(T U))", "O(log2(T+U))"]),
        Matrix("turn", points=2, domains={"x": "real"}, reference=rotation, mistakes=[other_way],
               equivalents=[[["cos x", "sin x"], ["cos(x+pi/2)", "sin(x+pi/2)"]]]),
        Derivation("entropy", points=6, domains=DOMAINS, definitions=P, forbid=["sum"],
                   start="sum(P(i)*(-ln(P(i))), i, 0, inf)", milestones=[OUT],
                   reference="-ln(1-e^(-beta)) + beta*e^(-beta)/(1-e^(-beta))", model=entropy, mistakes=[lost_sign]),
    ],
)  # fmt: skip

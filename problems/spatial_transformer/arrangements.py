"""Who looks at whom: the arrangements of positions, each with its index letters, its reach and its costs."""

import math
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Arrangement:
    """The index lists of a layer's six lines.

    A position `here` asks; in alpha it is called `query`, and what it looks at `key`; the softmax runs `over` some of
    these letters. In the last sum `value` is looked at, `summed` are its own letters.
    """

    here: str
    query: str
    key: str
    alpha: str
    over: str
    value: str
    summed: str
    alpha_summed: str
    there: str = ""  # the positions that keys and values live at, where they are others
    extra: str = ""
    given: str = ""
    heads: int = 0


IMAGE = {
    "here": "x,y",
    "query": "x_1,y_1",
    "key": "x_2,y_2",
    "alpha": "x_1,y_1,x_2,y_2",
    "over": "x_2,y_2",
    "value": "x',y'",
    "summed": "x',y'",
    "alpha_summed": "x,y,x',y'",
    "heads": 2,
}

ARRANGEMENTS = {
    "image": Arrangement(**IMAGE),
    "volume": Arrangement(
        here="x,y,z",
        query="x_1,y_1,z_1",
        key="x_2,y_2,z_2",
        alpha="x_1,y_1,z_1,x_2,y_2,z_2",
        over="x_2,y_2,z_2",
        value="x',y',z'",
        summed="x',y',z'",
        alpha_summed="x,y,z,x',y',z'",
        heads=2,
    ),
    "rows": Arrangement(
        here="x,y",
        query="x,y_1",
        key="x,y_2",
        alpha="x,y_1,y_2",
        over="y_2",
        value="x,y'",
        summed="y'",
        alpha_summed="x,y,y'",
    ),
    "columns": Arrangement(
        here="x,y",
        query="x_1,y",
        key="x_2,y",
        alpha="x_1,y,x_2",
        over="x_2",
        value="x',y",
        summed="x'",
        alpha_summed="x,y,x'",
    ),
    "window": Arrangement(**IMAGE, extra="M[x_1,y_1,x_2,y_2]", given="M[X,Y,X,Y]"),
    "bias": Arrangement(**IMAGE, extra="b[k,x_1-x_2,y_1-y_2]", given="b[K,D,E]"),
    "caption": Arrangement(
        here="t",
        query="t",
        key="x,y",
        alpha="t,x,y",
        over="x,y",
        value="x,y",
        summed="x,y",
        alpha_summed="t,x,y",
        there="x,y",
    ),
    "video": Arrangement(
        here="t,x,y",
        query="t_1,x_1,y_1",
        key="t_2,x_2,y_2",
        alpha="t_1,x_1,y_1,t_2,x_2,y_2",
        over="t_2,x_2,y_2",
        value="t',x',y'",
        summed="t',x',y'",
        alpha_summed="t,x,y,t',x',y'",
        extra="M[t_1,t_2]",
        given="M[T,T]",
        heads=2,
    ),
}


def of(p):
    """The arrangement of the typed equations."""
    return ARRANGEMENTS[p["layer"]]


def lines(p):
    """The layer line by line, by short names: what asks, what is asked, its content, weights, mean, joined, result."""
    a = of(p)
    there = a.there or a.here
    source = "h_image" if a.there else "h_in"
    scores = f"Query[k,{a.query},U] Key[k,{a.key},U]"
    result = {
        "q": f"Query[k,{a.here},U] = W^Q[k,U,J] {'h_text' if a.there else 'h_in'}[{a.here},J]",
        "k": f"Key[k,{there},U] = W^K[k,U,J] {source}[{there},J]",
        "a": f"alpha[k,{a.alpha}] = softmax_{{{a.over}}}[{scaled(scores, p)}{added(a.extra)}]",
        "v": f"Value[k,{there},I] = W^V[k,I,J] {source}[{there},J]",
        "o": f"Out[k,{a.here},I] = sum_{{{a.summed}}} alpha[k,{a.alpha_summed}] Value[k,{a.value},I]",
    }
    if p["output"]:
        result["c"] = f"Cat[{a.here},C] = Out[1,{a.here},I]; ... ; Out[K,{a.here},I]"
        result["h"] = f"h_out[{a.here},j] = W^O[j,C] Cat[{a.here},C]"
    else:
        result["h"] = f"h_out[{a.here},J] = Out[1,{a.here},I]; ... ; Out[K,{a.here},I]"
    return result


def added(extra):
    return f" + {extra}" if extra else ""


def scaled(scores, p):
    return f"{scores} / sqrt(U)" if p["scaled"] else scores


def written(p, **changed):
    """The layer's text with some lines replaced."""
    return "\n".join({**lines(p), **changed}.values())


def tensors(p):
    """The tensors that the equations may use."""
    a = of(p)
    positions = a.here.upper()
    vectors = ["h_text[T,J]", "h_image[X,Y,J]"] if a.there else [f"h_in[{positions},J]"]
    return [
        "W^Q[K,U,J]",
        "W^K[K,U,J]",
        "W^V[K,I,J]",
        *(["W^O[J,C]"] if p["output"] else []),
        *vectors,
        *([a.given] if a.given else []),
    ]


def sizes(p):
    """J is divided among the heads; two heads where there are many positions."""
    heads = {"K": of(p).heads} if of(p).heads else {}
    return {"J": "K*I", **({"C": "K*I"} if p["output"] else {}), **heads}


# Costs. A position looks at `seen(p)` others, all lookers together are `lookers(p)`.

LOOKERS = {
    "image": "X Y",
    "volume": "X Y Z",
    "rows": "X Y",
    "columns": "X Y",
    "window": "X Y",
    "bias": "X Y",
    "caption": "T",
    "video": "T X Y",
}
SEEN = {
    "image": "X Y",
    "volume": "X Y Z",
    "rows": "Y",
    "columns": "X",
    "window": "w^2",
    "bias": "X Y",
    "caption": "X Y",
    "video": "T X Y",
}


def lookers(p):
    return LOOKERS[p["layer"]]


def seen(p):
    return SEEN[p["layer"]]


def growing(p):
    """The variables of the bounds."""
    extra = {"volume": "Z", "window": "w", "caption": "T", "video": "T"}.get(p["layer"], "")
    return f"X Y {extra} J K U"


def growing_together(p):
    """The variables where U is none of its own."""
    return growing(p).removesuffix(" U")


def near(p):
    return ["w<=X", "w<=Y"] if p["layer"] == "window" else []


def widths(p):
    """No width is larger than J, and a head has J/K."""
    return ["U<=J", "K<=J", *near(p)]


def equal_widths(p):
    """As `widths`, with U = I."""
    return ["K<=J", *near(p)]


HEADS = {"I": "J/K"}  # what is given by the variables
EQUAL = {"I": "J/K", "U": "J/K"}


def window_pairs(n, w):
    """Pairs on a line of n places that are at most w apart."""
    return n * (2 * w + 1) - w * (w + 1)


def entries(p):
    """The weights of one layer that no mask makes zero."""
    K, X, Y, Z, T, w = (p[name] for name in "KXYZTw")
    return (
        K
        * {
            "image": (X * Y) ** 2,
            "bias": (X * Y) ** 2,
            "volume": (X * Y * Z) ** 2,
            "rows": X * Y**2,
            "columns": X**2 * Y,
            "window": window_pairs(X, w) * window_pairs(Y, w),
            "caption": T * X * Y,
            "video": (X * Y) ** 2 * math.comb(T + 1, 2),
        }[p["layer"]]
    )


def attended(p, *, over=None, query=None, key=None, scores=None, extra=None, roles=("Query", "Key")):
    """The line of alpha with something changed."""
    a = of(p)
    product = f"{roles[0]}[k,{query or a.query},U] {roles[1]}[k,{key or a.key},U]"
    body = scores or scaled(product, p)
    return f"alpha[k,{a.alpha}] = softmax_{{{over or a.over}}}[{body}{added(a.extra) if extra is None else extra}]"

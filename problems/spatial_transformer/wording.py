"""The sentences of a variant."""

from .arrangements import ARRANGEMENTS, of

STORY = {
    "image": "an **image**: the vectors are $h_{in}[x,y,J]$, and each position $(x,y)$ looks at **all positions** of "
    "the image.",
    "volume": "a **volume**: the vectors are $h_{in}[x,y,z,J]$, and each position $(x,y,z)$ looks at **all positions** "
    "of the volume.",
    "rows": "an **image**: the vectors are $h_{in}[x,y,J]$, and each position $(x,y)$ looks at the positions $(x,y')$ "
    "**with the same $x$** only (axial attention along $y$).",
    "columns": "an **image**: the vectors are $h_{in}[x,y,J]$, and each position $(x,y)$ looks at the positions "
    "$(x',y)$ **with the same $y$** only (axial attention along $x$).",
    "window": "an **image** with a **window**: the vectors are $h_{in}[x,y,J]$, and position $(x_1,y_1)$ looks at the "
    "positions $(x_2,y_2)$ with $|x_1-x_2| \\le w$ and $|y_1-y_2| \\le w$ only. In the equations a given mask "
    "$M[x_1,y_1,x_2,y_2]$ says so: it is $0$ where position $(x_1,y_1)$ looks and $-\\infty$ elsewhere, and is added "
    "to the scores.",
    "bias": "an **image**: the vectors are $h_{in}[x,y,J]$, and each position looks at **all positions**. There is a "
    "**relative bias**: head $k$ adds a learned number $b[k,\\Delta_x,\\Delta_y]$ to each score, where the "
    "displacement is **position that looks minus position that is looked at**.",
    "caption": "**attention from a text to an image**: each word $t$ of the text, with vector $h_{text}[t,J]$, looks "
    "at **all positions** of the image, with vectors $h_{image}[x,y,J]$ of the same width. Queries come from the text, "
    "keys and values from the image, and the result is $h_{out}[t,J]$.",
    "video": "a **video**: the vectors are $h_{in}[t,x,y,J]$, and position $(t_1,x_1,y_1)$ looks at all positions "
    "$(t_2,x_2,y_2)$ of the same picture and of all earlier ones, **$t_2 \\le t_1$**. In the equations a given mask "
    "$M[t_1,t_2]$ says so: it is $0$ where $t_2 \\le t_1$ and $-\\infty$ elsewhere, and is added to the scores.",
}

CODE = {
    "image": "every position $(x,y)$ of an image looks at **all positions**",
    "volume": "every position $(x,y,z)$ of a volume looks at **all positions**",
    "rows": "position $(x_1,y_1)$ of an image looks at the positions $(x_2,y_2)$ **with $x_2 = x_1$**",
    "columns": "position $(x_1,y_1)$ of an image looks at the positions $(x_2,y_2)$ **with $y_2 = y_1$**",
    "video": "position $(t_1,x_1,y_1)$ of a video looks at the positions $(t_2,x_2,y_2)$ **with $t_2 \\le t_1$**",
}

PLACES = {"image": "X, Y", "volume": "X, Y, Z", "video": "T, X, Y"}

SIZES = {
    "volume": "$X = {X}$, $Y = {Y}$, $Z = {Z}$",
    "caption": "$X = {X}$, $Y = {Y}$ and a text of $T = {T}$ words",
    "video": "$X = {X}$, $Y = {Y}$ and $T = {T}$ pictures",
    "window": "$X = {X}$, $Y = {Y}$ and the window $w = {w}$",
}


def phrases(p):
    """The sentences and formulas of this variant."""
    arrangement, code = of(p), p["code"]
    places = PLACES.get(code, "X, Y")
    here = arrangement.here
    name = ", ".join(f"${letter}$" for letter in growing_letters(p))
    return {
        "story": STORY[p["layer"]],
        "scale_words": (
            r"Scores **are divided** by $\sqrt{U}$."
            if p["scaled"]
            else r"Scores are **not scaled**: nothing is divided by $\sqrt{U}$."
        ),
        "output_words": (
            "The heads' results, one after another, are a vector $\\mathrm{Cat}$ of $C = KI = J$ entries, and an "
            f"**output matrix** $W^O[J,C]$ makes $h_{{out}}[{here},j] = W^O[j,C]\\,\\mathrm{{Cat}}[{here},C]$ of it."
            if p["output"]
            else "The heads' results, one after another, **are** the layer's result: there is **no output matrix**."
        ),
        "heads_words": "There are $K = 2$ heads." if arrangement.heads else "There are $K$ heads.",
        "given": ", ".join(f"`{tensor}`" for tensor in given_tensors(p)),
        "result": f"h_out[{here},J]",
        "who": CODE.get(code)
        or f"position $(x_1,y_1)$ of an image looks at the positions $(x_2,y_2)$ **with $|x_1-x_2| \\le {p['w']}$ and "
        f"$|y_1-y_2| \\le {p['w']}$**",
        "places": places,
        "scale_code": r"scores are divided by $\sqrt{U}$" if p["scaled"] else "scores are not scaled",
        "variables": name,
        "constraints": ("$U \\le J$ and $KI = J$" + (", and $w \\le X$, $w \\le Y$" if p["layer"] == "window" else "")),
        "serial_words": (
            "a sum over entries of a vector (over $J$, $C$ or $U$) adds one term after the other, while sums over "
            "positions are still done in a tree"
            if p["serial"] == "features"
            else "**every** sum, over entries as over positions, adds one term after the other; different sums are "
            "still done at the same time"
        ),
        "sizes": SIZES.get(p["layer"], "$X = {X}$, $Y = {Y}$").format(**p),
        "heads": str(p["K"]),
        "masked": (" (weights that the mask makes zero are not counted)" if p["layer"] in ("window", "video") else ""),
        "picture": f"$X = {p['X']}$, $Y = {p['Y']}$",
        "P_shown": str(p["P"]),
    }


def growing_letters(p):
    """The variables of the bounds that the statement names."""
    more = {"volume": ["Z"], "window": ["w"], "caption": ["T"], "video": ["T"]}.get(p["layer"], [])
    return ["X", "Y", *more, "J", "K", "U", "I"]


def given_tensors(p):
    """The tensors as the statement lists them."""
    arrangement = ARRANGEMENTS[p["layer"]]
    positions = arrangement.here.upper()
    vectors = ["h_text[T,J]", "h_image[X,Y,J]"] if arrangement.there else [f"h_in[{positions},J]"]
    mask = {"window": ["M[X,Y,X,Y]"], "video": ["M[T,T]"], "bias": ["b[K,D,E]"]}.get(p["layer"], [])
    return ["W^Q[K,U,J]", "W^K[K,U,J]", "W^V[K,I,J]", *(["W^O[J,C]"] if p["output"] else []), *vectors, *mask]

"""Every spelling of a letter, a sign or a command, once: what the answer languages make of Unicode and of LaTeX."""

from __future__ import annotations

import unicodedata

GREEK = (
    *("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu", "nu"),
    *("xi", "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega"),
    *("Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Upsilon", "Phi", "Psi", "Omega"),
)

_VARIANTS = {"ϵ": "epsilon", "ϕ": "phi", "ϑ": "theta", "ς": "sigma", "ϱ": "rho", "ϖ": "pi", "ϰ": "kappa"}
GREEK_LETTERS = {
    unicodedata.lookup(f"GREEK {'CAPITAL' if name[0].isupper() else 'SMALL'} LETTER "
                       f"{'LAMDA' if name.lower() == 'lambda' else name.upper()}"): name
    for name in GREEK
} | _VARIANTS  # fmt: skip

# A character beside ASCII and what it stands for.
SIGNS = {
    **dict.fromkeys("−–—―‐‑‒", "-"), **dict.fromkeys("·⋅∙•×∗", "*"), **dict.fromkeys("÷∕⁄", "/"),
    "⊙": "\\odot", "∘": "\\circ", "∞": "\\infty", "√": "\\√", "∑": "\\sum", "∏": "\\prod", "ℓ": "\\ell",
    "⌊": "\\lfloor", "⌋": "\\rfloor", "⌈": "\\lceil", "⌉": "\\rceil", "∣": "|", "∥": "\\|", "…": "...", "⋯": "...",
    "’": "'", "′": "'", "≤": "\\leq", "≥": "\\geq", "≠": "\\neq", "≈": "\\approx", "∈": "\\in", "ᵀ": "^{T}",
    "±": "\\pm", "∂": "\\partial", "∫": "\\int",
}  # fmt: skip
# A letter at the foot or the head of another one; what has no such letter in Unicode cannot be typed that way.
SUPERSCRIPTS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ⁿⁱˣʲᵏᵗᵐ", "0123456789+-()nixjktm", strict=True))
SUBSCRIPTS = dict(zip("₀₁₂₃₄₅₆₇₈₉ᵢⱼₖₘₙₜₓ", "0123456789ijkmntx", strict=True))
# Letters of other alphabets that print like a Latin one, and quotation marks.
LOOK_ALIKES = dict(zip("АВЕЅІЈКМНОРСТХУаеѕіјорсухһԁԛԝ", "ABESIJKMHOPCTXYaesijopcyxhdqw", strict=True))
LOOK_ALIKES |= dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧο", "ABEZHIKMNOPTYXo", strict=True))
LOOK_ALIKES |= {"ı": "i", "‚": ",", "‘": "'", "“": '"', "”": '"'}

FUNCTIONS = (
    "exp", "ln", "log", "lg", "sin", "cos", "tan", "tanh", "sinh", "cosh", "coth", "sech", "max", "min", "arctan",
    "arsinh", "abs", "floor", "relu", "softplus",
)  # fmt: skip
# Accents of a tensor's name.
ACCENTS = {
    "tilde": "tilde", "widetilde": "tilde", "vec": "vec", "overrightarrow": "vec", "overleftarrow": "backvec",
    "hat": "hat", "widehat": "hat", "bar": "bar", "overline": "bar", "dot": "dot",
}  # fmt: skip
# A LaTeX command that is a word: the word.
WORDS = {
    **{name: name for name in (*GREEK, *FUNCTIONS, "ell", "sum", "prod", "mod", "softmax", "concat")},
    "sigmoid": "sigmoid", "ReLU": "ReLU",
    "varepsilon": "epsilon", "varphi": "phi", "vartheta": "theta", "varrho": "rho", "varpi": "pi", "varsigma": "sigma",
    "varkappa": "kappa", "infty": "inf", "bmod": "mod", "land": "and", "wedge": "and",
}  # fmt: skip
# A LaTeX command that is a sign. `bar(` and `bar)` are bars that say which side they are.
COMMANDS = {
    "cdot": "*", "times": "*", "ast": "*", "cdotp": "*", "div": "/", "odot": "odot", "circ": "odot",
    "lvert": "bar(", "rvert": "bar)", "vert": "|", "mid": "|", "Vert": "|",
    "lfloor": "floor(", "rfloor": "floor)", "lceil": "ceil(", "rceil": "ceil)",
    "lbrace": "(", "rbrace": ")", "lbrack": "[", "rbrack": "]", "lparen": "(", "rparen": ")",
    "dots": "...", "ldots": "...", "cdots": "...", "dotsc": "...", "dotsb": "...", "prime": "'",
    "frac": "frac", "dfrac": "frac", "tfrac": "frac", "cfrac": "frac", "sqrt": "sqrt", "underset": "underset",
    "binom": "binom", "dbinom": "binom", "tbinom": "binom", "choose": "choose",
    "lt": "<", "gt": ">", "le": "<=", "leq": "<=", "leqslant": "<=", "ge": ">=", "geq": ">=", "geqslant": ">=",
    "ne": "!=", "neq": "!=", "approx": "approx", "equiv": "approx",
}  # fmt: skip
SIZES = frozenset(
    ["left", "right", "middle", *(f"{big}{side}" for big in ("big", "Big", "bigg", "Bigg") for side in ("", *"lrm"))]
)
SILENT = frozenset((
    "limits", "nolimits", "displaystyle", "textstyle", "scriptstyle", "scriptscriptstyle", "quad", "qquad", "nonumber",
    "notag", "enspace", "thinspace", "negthinspace", "medspace", "thickspace", "mathstrut", "strut", "noindent", "bf",
    "rm", "it", "sf", "cal", "hfill",
))  # fmt: skip
FONTS = frozenset((
    "text", "textrm", "textbf", "textit", "textsf", "texttt", "textnormal", "mbox", "hbox", "operatorname", "mathrm",
    "mathbf", "mathit", "mathsf", "mathtt", "mathcal", "mathscr", "mathfrak", "mathbb", "mathnormal", "mathop",
    "mathord", "mathbin", "mathrel", "boldsymbol", "bm", "symbf", "ensuremath",
))  # fmt: skip
BOXES = frozenset(("boxed", "fbox", "underline"))  # around a result
# Environments around the answer, which do not change it.
ENVIRONMENTS = frozenset((
    "equation", "align", "aligned", "alignat", "gather", "gathered", "eqnarray", "displaymath", "math", "split",
    "multline", "array", "flalign", "alignedat",
))  # fmt: skip
CASES = ("cases", "dcases", "rcases")

# What is read in no language, and what to write instead.
REFUSED = {
    "pmod": "\\pmod is not read: write mod(a, b) for the remainder of a by b",
    "int": "integrals are not read: write out their value",
    "partial": "derivatives are not read: write them out",
    "over": "\\over is not read: write \\frac{…}{…}",
    "pm": "± is two answers: write + or -",
    "mp": "∓ is two answers: write + or -",
    "top": "write the transposed tensor with its indices, such as W[k,j,i], not with a transposition sign",
    "intercal": "write the transposed tensor with its indices, such as W[k,j,i], not with a transposition sign",
    ":": "a colon is not read: write / for a quotient",
    "@": "@ is not read: write the product with its indices or with *",
    "\"": "a quotation mark stands inside the answer",
    "`": "a quotation mark stands inside the answer",
}  # fmt: skip


def is_command(name: str) -> bool:
    """Whether LaTeX's command of this name has a meaning in some answer."""
    return name in WORDS or name in COMMANDS or name in SIZES or name in SILENT or name in FONTS or name in (
        *ACCENTS, *REFUSED, "begin", "end", "hspace", "nabla", "forall", "arcsin",
    )  # fmt: skip

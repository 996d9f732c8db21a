"""The sentences of every fault, in the student's terms; one place, one code each."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence

from autograder.errors import did_you_mean
from autograder.maths.tensor.core_tree import Fault
from autograder.maths.tensor.tensor_tree import Symbol


def free_right(index: str) -> Fault:
    """A lower-case index that nothing binds."""
    text = (
        f"index {index} is free on the right but not on the left (add it to the left, or bind it with sum_{{{index}}})"
    )
    return Fault(code="free_right", message=text)


def softmax_free(index: str) -> Fault:
    """A softmax keeps its index, so the left needs it."""
    text = (
        f"index {index} is free on the right but not on the left: "
        f"softmax_{{{index}}} is a function of {index} again (add it to the left, or sum over it)"
    )
    return Fault(code="free_right", message=text)


def unused_left(index: str) -> Fault:
    """The right side does not depend on a left index."""
    return Fault(code="unused_left", message=f"index {index} is on the left but nowhere on the right", fatal=False)


def cap_open(index: str) -> Fault:
    """A capital with nothing to sum it with."""
    text = f"capital index {index} occurs only once in its term and is not on the left: nothing to sum it with"
    return Fault(code="cap_open", message=text)


def cap_twice(symbol: Symbol, name: str) -> Fault:
    """A capital twice in one tensor."""
    letter = symbol.letter
    text = (
        f"{name} has the capital index {symbol.key} twice: use {letter}_1 and {letter}_2, "
        f"or sum_{{{letter.lower()}}} with a lower-case index for a trace"
    )
    return Fault(code="cap_twice", message=text)


def lhs_repeat(symbol: Symbol) -> Fault:
    """An index twice on the left."""
    text = f"index {symbol.key} is on the left twice: use {symbol.letter}_1 and {symbol.letter}_2"
    return Fault(code="lhs_repeat", message=text)


def sum_unused(index: str) -> Fault:
    """A sum over nothing multiplies by a size."""
    text = f"sum_{{{index}}}: nothing in its term depends on {index}, so it only multiplies by a size"
    return Fault(code="sum_unused", message=text, fatal=False)


def softmax_unbound(index: str) -> Fault:
    """A softmax over an index that its scope does not hold is uniform."""
    text = f"softmax_{{{index}}}: nothing in its scope depends on {index}, so every weight is the same"
    return Fault(code="softmax_unbound", message=text, fatal=False)


SOFTMAX_NOINDEX = Fault(code="softmax_noindex", message="softmax needs the index it runs over, such as softmax_{t_2}")
CAT_AXIS = Fault(
    code="cat_axis",
    message="a concatenation joins pieces with one whole axis each, such as Out[k,t,I], into one axis of the left side",
)
CAT_DOTS = Fault(code="cat_axis", message="write the concatenation as A[1,..]; ...; A[K,..] or as concat_{k} A[k,..]")
CAT_NESTED = Fault(code="cat_axis", message="write the concatenation as a separate equation")


def cat_size(axis: str) -> Fault:
    """The pieces do not fill the axis of the left side."""
    return Fault(
        code="cat_axis", message=f"the concatenated pieces have a different number of entries than axis {axis}"
    )


def arity(name: str, axes: Sequence[str], written: int) -> Fault:
    """A wrong number of indices."""
    listed = f" [{','.join(axes)}]" if axes and all(axes) else ""
    count = f"{len(axes)} {'index' if len(axes) == 1 else 'indices'}{listed}" if axes else "no index"
    return Fault(code="arity", message=f"{name} has {count}, but you wrote {written}")


def whole(name: str, axes: Sequence[str]) -> Fault:
    """A whole tensor by its bare name, as in `Y = A + W x`: a notation that is not read here."""
    return Fault(code="whole", message=f"{arity(name, axes, 0).message}: write indices in square brackets, {name}[…]")


def function(name: str) -> Fault:
    """A function that neither the language nor the question knows: what it does, only a person can say."""
    return Fault(code="function", message=f"{name} is not a function that is known here: write out what it does")


def axis(position: int, name: str, used: str, expected: str, *, fatal: bool) -> Fault:
    """An index that belongs to another axis."""
    text = f"index {position} of {name}: an index of axis {used} is used where axis {expected} is expected"
    return Fault(code="axis", message=text, fatal=fatal)


# Faults that a formula has in a notation that is not read here, first and last among all faults: a person looks.
UNREAD = {"brackets": 0, "function": 0, "whole": 0, "notation": 2}
# Faults that papers leave to the reader where indices stand below: `y_i = W_{ij} x_j` sums over j.
UNBOUND = frozenset(("free_right", "cap_open", "cap_twice", "lhs_repeat", "arity"))
# The indices that a subscript may say, and a power or a transpose of a whole tensor.
_LETTERS = re.compile(r"\{?[A-Za-z]'*(?:,?[A-Za-z]'*)*\}?")
_TURNED = re.compile(r"\^\{?(T|top|-?\d+)\}?")


def subscripted(name: str, tensor: str, indices: int) -> bool:
    """Whether a name is a tensor with its indices as a subscript: `W_{ij}` for `W[i,j]`."""
    label = name.removeprefix(f"{tensor}_")
    letters = re.findall(r"[A-Za-z]'*", label) if label != name and _LETTERS.fullmatch(label) else []
    return bool(letters) and len(letters) == indices


def in_brackets(name: str, tensor: str) -> Fault:
    """Indices that stand below, as they are often set: a notation that is not read here."""
    return Fault(code="brackets", message=f"{name} is not defined: write indices in square brackets, {tensor}[…]")


def undefined(name: str, known: Mapping[str, int]) -> Fault:
    """A tensor that is neither given nor defined; a usual notation that is not read here is no mistake."""
    names = list(known)
    if tensor := next((other for other in names if subscripted(name, other, known[other])), ""):
        return in_brackets(name, tensor)
    plain = _TURNED.sub("", name)
    if plain in names and plain != name:
        text = f"{name} is not defined: write powers and transposes with indices, such as C[a,b] = A[a,K] A[K,b]"
        return Fault(code="notation", message=text)
    if name == "sigma" or name.split("_")[0] in ("delta", "onehot"):
        return Fault(code="notation", message=f"{name} is a common name, but it is not defined here")
    base = re.split(r"[_^~'.<-]", name)[0]
    related = [other for other in names if re.split(r"[_^~'.<-]", other)[0] == base]
    return Fault(
        code="undefined",
        message=f"{name} is not defined{_closest(name, related) or did_you_mean(name, names)}",
    )


def _closest(name: str, related: Sequence[str]) -> str:
    """Another tensor with the same letter, however different its labels."""
    close = difflib.get_close_matches(name, related, n=1, cutoff=0.0)
    return f" (did you mean {close[0]}?)" if close else ""


def cycle(name: str) -> Fault:
    """A definition that needs itself at the same indices."""
    return Fault(code="cycle", message=f"{name} is defined by itself")


def twice(name: str) -> Fault:
    """Two definitions of one tensor."""
    return Fault(code="twice", message=f"{name} is defined twice")

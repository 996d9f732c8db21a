"""`A[1,..]; ...; A[K,..]` as a concatenation over one axis."""

from __future__ import annotations

from autograder.maths.tensor.tensor_tree import Concat, Expr, Index, IndexTerm, Pieces, Symbol, Tensor

DOTTED = 100  # primes of the index that stands for the dots, which no one types


def dotted(node: Pieces) -> Pieces | Concat | None:
    """The pieces themselves without dots; with dots, `concat_k A[k,..]`; None where the dots cannot be filled
    in.

    Heads are counted from 1 to K or from 0 to K-1.
    """
    if None not in node.parts:
        return node
    if node.parts.count(None) != 1 or node.parts[-2] is not None:
        return None
    *before, _, last = node.parts
    first = before[0]
    if not isinstance(first, Tensor) or not isinstance(last, Tensor) or first.name != last.name:
        return None
    differing = [p for p, (a, b) in enumerate(zip(first.indices, last.indices, strict=False)) if a != b]
    if len(first.indices) != len(last.indices) or len(differing) != 1:
        return None
    position = differing[0]
    start, head = first.indices[position].number, _last_head(last.indices[position])
    if head is None or start not in (0, 1) or head[1] != start - 1:
        return None
    for number, part in enumerate(before):
        if part != _with(first, position, Index(terms=(IndexTerm(coefficient=start + number, atom=None),))):
            return None
    symbol = Symbol(letter=head[0].letter.lower(), label=head[0].label, primes=head[0].primes + DOTTED)
    body: Expr = _with(first, position, Index(terms=(IndexTerm(coefficient=1, atom=symbol),)))
    return Concat(symbols=(symbol,), body=body, column=node.column)


def _last_head(index: Index) -> tuple[Symbol, int] | None:
    """The axis and the offset of `K` or `K-1`."""
    match index.terms:
        case (IndexTerm(coefficient=1, atom=Symbol() as symbol),) if symbol.capital:
            return symbol, 0
        case (IndexTerm(coefficient=1, atom=Symbol() as symbol), IndexTerm(coefficient=-1, atom=None)):
            return (symbol, -1) if symbol.capital else None
    return None


def _with(tensor: Tensor, position: int, index: Index) -> Tensor:
    indices = tuple(index if p == position else old for p, old in enumerate(tensor.indices))
    return Tensor(name=tensor.name, indices=indices, given=tensor.given, column=tensor.column)

"""Faults that show without a reference: scopes, names, numbers of indices, axes, definitions in a circle."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from autograder.maths.tensor import messages
from autograder.maths.tensor.axes import Side, add_answer, declared
from autograder.maths.tensor.core_tree import (
    Core,
    CoreIndex,
    Fault,
    Integer,
    Meaning,
    Read,
    Unknown,
    Variable,
    inner,
    reached,
)
from autograder.maths.tensor.declarations import Declarations
from autograder.maths.tensor.meaning import meanings
from autograder.maths.tensor.scope import Setting
from autograder.maths.tensor.shifting import at_layer
from autograder.maths.tensor.subscripts import bracketed
from autograder.maths.tensor.symbols import axes, bare
from autograder.maths.tensor.system_texts import Text, author_system, with_given
from autograder.maths.tensor.tensor_tree import Expr, Indicator, System, Tensor, children, kept


@dataclass(frozen=True, kw_only=True)
class Interpreted:
    """A system with the meaning of every link; `last` are those that define."""

    system: System
    links: tuple[tuple[Meaning, ...], ...]

    @cached_property
    def last(self) -> tuple[Meaning, ...]:
        """What each equation defines its left side to be."""
        return tuple(chain[-1] for chain in self.links)

    @cached_property
    def every(self) -> tuple[Meaning, ...]:
        """What each link of each equation says."""
        return tuple(meaning for chain in self.links for meaning in chain)

    @cached_property
    def own(self) -> frozenset[str]:
        """The tensors that are defined here."""
        return frozenset(chain[-1].name for chain in self.links)

    @cached_property
    def faults(self) -> tuple[Fault, ...]:
        """The faults of single equations."""
        return tuple(fault for meaning in self.every for fault in meaning.faults)


def interpret(
    system: System, declarations: Declarations, more_axes: frozenset[str] = frozenset(), *, apart: bool = False
) -> Interpreted:
    """Resolve every equation. A bare capital is a size if any index, here or in `more_axes`, has its axis: no other
    axes are a part of the setting, so that it is the same beside other references.

    With `apart` a softmax or function sums by itself the capitals that are paired in it.
    """
    system = bracketed(system, arities_of(declarations))
    known = axes(system) | set(declarations.sizes) | set(declarations.same) | more_axes
    shaped = {axis for shape in declarations.shapes.values() for axis in shape}
    scalars = {name for name, shape in declarations.shapes.items() if not shape}
    scalars |= {equation.left.name.key for equation in system.equations if not equation.left.indices}
    setting = Setting(
        context=declarations.context,
        sequences=declarations.sequences,
        axes=frozenset(known | shaped) & bare(system),
        scalars=frozenset(scalars),
        zero=declarations.zero,
        apart=apart,
        kronecker=not declarations.open
        and "delta" not in {*declarations.shapes, *(equation.left.name.key for equation in system.equations)},
    )
    return Interpreted(system=system, links=meanings(system, setting))


def arities_of(declarations: Declarations) -> dict[str, int]:
    """The numbers of indices of the tensors that are declared."""
    return {name: len(shape) for name, shape in declarations.shapes.items()}


def as_read(
    system: System,
    declarations: Declarations,
    given: Text | None = None,
    more: Mapping[str, int] | None = None,
    *,
    target: str = "",
) -> System:
    """An answer with the indices below its names in brackets, behind the given equations that it does not define.

    `more` are tensors with their numbers of indices that are known beside the declared ones. Where the answer is about
    another layer than the `target`, it is moved to that one.
    """
    theirs = author_system(given).equations if given else ()
    known = {equation.left.name.key: len(equation.left.indices) for equation in theirs}
    known |= {**(more or {}), **arities_of(declarations)}
    moved = at_layer(system, target)
    written = {equation.left.name.key for equation in moved.equations}
    if frozenset().union(*(tensors(equation.right) for equation in moved.equations)) <= {*known, *written}:
        system = moved
    return with_given(bracketed(system, known), given)


def check(system: System, declarations: Declarations | None = None) -> tuple[Fault, ...]:
    """Every fault of a system in itself, in the order of the text; the fatal ones leave it without a meaning.

    Names are checked only where shapes are declared. Sequences and context indices come from the
    declarations.
    """
    declarations = declarations or Declarations()
    found = interpret(system, declarations)
    known = arities_of(declarations)
    faults = [*found.faults, *names(found, known, declarations, closed=bool(known) and not declarations.open)]
    if not any(fault.fatal for fault in faults):
        side = Side(owner="answer", meanings=found.every, own=found.own - set(known))
        letters = frozenset(axis for shape in declarations.shapes.values() for axis in shape)
        faults += add_answer(declared(declarations), side, letters)
    return ordered(faults)


def ordered(faults: Iterable[Fault]) -> tuple[Fault, ...]:
    """Each fault once, by place."""
    unique = {(fault.code, fault.message, fault.equation): fault for fault in faults}
    return tuple(sorted(unique.values(), key=lambda fault: (fault.code == "cycle", fault.equation, fault.column)))


def names(
    found: Interpreted,
    known: Mapping[str, int],
    declarations: Declarations,
    *,
    closed: bool,
    written: Collection[str] = (),
) -> list[Fault]:
    """Undefined tensors (where the list of known ones is `closed`), numbers of indices, repeated and circular
    definitions. `written` are tensors that the answer defines beside those found.
    """
    defined = {chain[-1].name: len(chain[-1].left) for chain in found.links}
    arities = {**defined, **known}
    families = _families(found.system, declarations)
    faults: list[Fault] = []
    for chain in found.links:
        for meaning in chain:
            for read in _all_reads(meaning.body):
                faults += _name(read, meaning, arities, families, declarations, closed, written)
        count, wanted = len(chain[-1].left), arities[chain[-1].name]
        if count != wanted:
            faults.append(_at(_arity(chain[-1].name, wanted, count, chain[-1], declarations), chain[-1]))
    return faults + _twice(found) + _circles(found)


def _name(
    read: Read,
    meaning: Meaning,
    arities: dict[str, int],
    families: Mapping[str, int],
    declarations: Declarations,
    closed: bool,
    others: Collection[str],
) -> list[Fault]:
    written = len(read.indices)
    wanted = arities.get(read.name)
    if wanted is None and closed and _is_applied(read, {*arities, *others}, declarations):
        return [_at(messages.function(read.name), meaning, read.column)]
    if wanted is None and closed and read.name not in declarations.sequences and not read.name.endswith("_"):
        return [_at(messages.undefined(read.name, arities), meaning, read.column)]
    if wanted is None:
        wanted = families.get(_family(read.name), written)
        arities[read.name] = written if wanted == written else wanted
    if written != wanted:
        return [_at(_arity(read.name, wanted, written, meaning, declarations), meaning, read.column)]
    return []


def _is_applied(read: Read, tensors: Collection[str], declarations: Declarations) -> bool:
    """Whether a tensor stands where the first index should: `g(a[t,f])` or `f(a)[t,j]` for a function of a."""
    match read.indices[:1]:
        case (CoreIndex(terms=((1, Integer(name=name)),)),):
            return name in tensors and name not in declarations.sequences
        case (CoreIndex(terms=((1, Variable(name=name)),)),):
            return name.partition("#")[0] in tensors
    return False


def _arity(name: str, wanted: int, written: int, meaning: Meaning, declarations: Declarations) -> Fault:
    axes = declarations.shapes.get(name, ("",) * wanted)
    return messages.arity(name, axes, written) if written or meaning.left else messages.whole(name, axes)


def _at(fault: Fault, meaning: Meaning, column: int = 0) -> Fault:
    return Fault(code=fault.code, message=fault.message, fatal=fault.fatal, equation=meaning.equation, column=column)


def _families(system: System, declarations: Declarations) -> dict[str, int]:
    """The number of indices of a tensor in other layers: L_l has as many as L_{l+1}."""
    found = {_family(name): len(shape) for name, shape in declarations.shapes.items() if _family(name)}
    for equation in system.equations:
        family = _family(equation.left.name.key)
        if family:
            found.setdefault(family, len(equation.left.indices))
    found.pop("", None)
    return found


def _family(key: str) -> str:
    """The name without its layer; empty where there is no layer label."""
    for label in ("_{l+1}", "_{l-1}", "_{L}", "_l", "_L"):
        if label in key:
            return key.replace(label, "_*", 1)
    return ""


def _twice(found: Interpreted) -> list[Fault]:
    seen: dict[tuple[str, tuple[int | None, ...]], Meaning] = {}
    faults = []
    for meaning in found.last:
        pattern = tuple(None if index.terms else index.constant for index in meaning.left)
        if (meaning.name, pattern) in seen:
            faults.append(_at(messages.twice(meaning.name), meaning))
        seen[meaning.name, pattern] = meaning
    return faults


def _circles(found: Interpreted) -> list[Fault]:
    """Definitions that need themselves at unshifted indices."""
    needs: dict[str, set[str]] = {name: set() for name in found.own}
    for meaning in found.last:
        for read in _all_reads(meaning.body):
            if read.name in needs and all(index.variable is not None for index in read.indices):
                needs[meaning.name].add(read.name)
    return [
        _at(messages.cycle(meaning.name), meaning)
        for meaning in found.last
        if meaning.name in reached(needs, meaning.name)
    ]


@kept
def _all_reads(node: Core) -> tuple[Read, ...]:
    """Every reading, those of integer functions inside indices too."""
    here = [node, *_lookups(node.indices, node.column)] if isinstance(node, Read) else []
    return (*here, *(read for child in inner(node) for read in _all_reads(child)))


def _lookups(indices: Sequence[CoreIndex], column: int) -> Iterable[Read]:
    for index in indices:
        for _, atom in index.terms:
            if isinstance(atom, Integer):
                yield Read(atom.name, atom.indices, column)
                yield from _lookups(atom.indices, column)


def inputs(found: Interpreted) -> dict[str, int]:
    """The tensors that a system reads and does not define, with their numbers of indices."""
    arities: dict[str, int] = {}
    for meaning in found.last:
        for read in _all_reads(meaning.body):
            if read.name not in found.own:
                arities.setdefault(read.name, len(read.indices))
    return arities


def functions(found: Interpreted) -> dict[str, Meaning]:
    """The functions that are only named, each with the first equation that has it."""
    named: dict[str, Meaning] = {}
    for meaning in found.every:
        for name in _unknown(meaning.body):
            named.setdefault(name, meaning)
    return named


@kept
def _unknown(node: Core) -> tuple[str, ...]:
    here = (node.name,) if isinstance(node, Unknown) else ()
    return here + tuple(name for child in inner(node) for name in _unknown(child))


def recurring(found: Interpreted) -> dict[str, int]:
    """The tensors read at a shifted index that need themselves, `h[t] = f(h[t-1])`, with their arity."""
    needs = {name: set[str]() for name in found.own}
    shifted: set[str] = set()
    for meaning in found.last:
        for read in _all_reads(meaning.body):
            needs[meaning.name] |= {read.name} & found.own
            if any(index.variable is None for index in read.indices):
                shifted.add(read.name)
    return {m.name: len(m.left) for m in found.last if m.name in shifted & reached(needs, m.name)}


@kept
def tensors(node: Expr) -> frozenset[str]:
    """Every tensor name that is written in an expression."""
    found = frozenset({node.name.key} if isinstance(node, Tensor) and not isinstance(node, Indicator) else ())
    return found.union(*(tensors(child) for child in children(node)))


def needed(system: System, name: str) -> System:
    """The equations that a tensor is computed from."""
    wanted: set[str] = set()
    waiting = [name]
    while waiting:
        key = waiting.pop()
        if key not in wanted:
            wanted.add(key)
            for equation in system.defining(key):
                waiting.extend(tensors(equation.right))
    return replace(system, equations=tuple(e for e in system.equations if e.left.name.key in wanted))

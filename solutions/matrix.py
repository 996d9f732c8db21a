"""What an engineer does with a model, tried with every model: `python -m solutions.matrix [MODEL …] [--quick]`.

Each cell is a check that compares numbers; the table shows ✓ where it holds, and else a number, under which the reason
stands below. The exit code is 1 if a check fails without a reason, or holds in spite of one. `--quick` leaves out what
is compiled or exported: seconds instead of minutes.
"""

import argparse
import functools
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import torch

from solutions.everyday import CHECKS, B, T, build, equal, gradients, gradients_of_new, model_and_arguments, wide
from solutions.examples import EXAMPLES, Example, tensors

LENGTHS, BATCHES = (11, 13, 17, 29, 37), (2, 3, 7)
GRAPHS, OPERATIONS = 2, 450  # for all of these together, and in any one of the graphs; LanguageModel has 138

# --------------------------------------------------------------------------------------------- compiled, exported


def compiled_once(example: Example) -> None:
    """As one graph for one shape, with the same gradients."""
    model, arguments = model_and_arguments(example)
    torch._dynamo.reset()
    _compiled.cache_clear()  # what was compiled before is forgotten with it
    fast = torch.compile(model, backend="aot_eager", fullgraph=True)
    equal(tensors(fast(*arguments)), tensors(model(*arguments)))
    equal(gradients(model, fast(*arguments)), gradients_of_new(example))


@functools.lru_cache(maxsize=1)
def _compiled(example: Example) -> tuple[Any, Any, Any]:
    """A model to be compiled for any size, the same compiled, and what counts its graphs.

    The last one is kept: sizes go on where batches have ended.
    """
    from torch._dynamo.testing import CompileCounterWithBackend  # a second: only where something is compiled

    torch._dynamo.reset()
    model, counter = build(example), CompileCounterWithBackend("aot_eager")
    return model, torch.compile(model, backend=counter, fullgraph=True, dynamic=True), counter


def _few_graphs(example: Example, sizes: Iterable[tuple[int, int]]) -> None:
    model, fast, counter = _compiled(example)
    for rows, length in sizes:
        arguments = wide(example.arguments(rows, length))
        wanted = model(*arguments)
        found = fast(*arguments)
        equal(tensors(found), tensors(wanted))
        assert counter.frame_count <= GRAPHS, f"{counter.frame_count} graphs"
    equal(gradients(model, found), gradients(model, wanted))
    assert counter.op_count <= counter.frame_count * OPERATIONS, f"{counter.op_count} operations"


def any_batch(example: Example) -> None:
    """Batches of any size in at most two graphs, of few operations each."""
    _few_graphs(example, [(rows, T) for rows in BATCHES])


def any_size(example: Example) -> None:
    """Batches and sequences of any size, from 2 up, in at most two graphs of few operations each."""
    _few_graphs(example, [(rows, length) for length in LENGTHS for rows in BATCHES])


def _exported(example: Example, dynamic: Sequence[str], sizes: Iterable[tuple[int, int]]) -> None:
    model, arguments = model_and_arguments(example)
    shapes = tuple(
        {axis: torch.export.Dim.DYNAMIC for axis, name in enumerate(axes) if name in dynamic} for axes in example.axes
    )
    program = torch.export.export(model, arguments, dynamic_shapes=shapes).module()
    for rows, length in sizes:
        arguments = wide(example.arguments(rows, length))
        equal(tensors(program(*arguments)), tensors(model(*arguments)))


def exported(example: Example) -> None:
    """By torch.export, for one shape."""
    _exported(example, (), [(B, T)])


def exported_any_batch(example: Example) -> None:
    """By torch.export, for batches of any size."""
    _exported(example, ("B",), [(B, T), (7, T), (2, T)])


def exported_any_size(example: Example) -> None:
    """By torch.export, for batches and sequences of any size."""
    _exported(example, ("B", "T", "T2"), [(B, T), (7, 29), (2, 11)])


COMPILED: Mapping[str, Callable[[Example], None]] = MappingProxyType(
    {
        "compiled": compiled_once,
        "compiled, any batch": any_batch,
        "compiled, any size": any_size,
        "exported": exported,
        "exported, any batch": exported_any_batch,
        "exported, any size": exported_any_size,
    }
)

ALL = {**CHECKS, **COMPILED}

UNROLLED = (
    "the input of each decoder step depends on the state before it through an attention, so that the steps are written "
    "out, for each length of the target anew; batches and, for Seq2Seq, sources may be of any size"
)
REASONS: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        (model, check): UNROLLED
        for model in ("Seq2Seq", "Captioner")
        for check in ("compiled, any size", "exported, any size")
    }
)

# ---------------------------------------------------------------------------------------------------- the command


def outcome(model: str, check: str) -> str:
    """✓, a number of REASONS, or what went wrong, as a sentence with ✗ before it."""
    reason = REASONS.get((model, check))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ALL[check](EXAMPLES[model])
    except Exception as error:  # whatever a model, torch or a compiler may raise
        if reason is None:
            return f"✗ {type(error).__name__}: {error}"
        return str(list(dict.fromkeys(REASONS.values())).index(reason) + 1)
    return "✓" if reason is None else f"✗ holds, though it is said that {reason}"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; see the top of this file."""
    parser = argparse.ArgumentParser(prog="python -m solutions.matrix", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("models", nargs="*", metavar="MODEL", help=f"of {', '.join(EXAMPLES)}")
    parser.add_argument("--quick", action="store_true", help="without what is compiled or exported")
    options = parser.parse_args(arguments)
    if unknown := set(options.models) - set(EXAMPLES):
        parser.error(f"no model is named {', '.join(sorted(unknown))}; there are {', '.join(EXAMPLES)}")
    torch.set_num_threads(1)
    checks = list(CHECKS if options.quick else ALL)
    print(f"| model | {' | '.join(checks)} |\n|{' --- |' * (len(checks) + 1)}")
    failures = []
    for model in options.models or EXAMPLES:
        cells = {check: outcome(model, check) for check in checks}
        failures += [f"{model}, {check}: {cell}" for check, cell in cells.items() if cell.startswith("✗")]
        print(f"| {model} | {' | '.join(cell[0] for cell in cells.values())} |", flush=True)
    for number, reason in enumerate(dict.fromkeys(REASONS.values()), 1):
        if not options.quick:
            print(f"\n{number}: {reason}.")
    print("".join(f"\n{failure}" for failure in failures))
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())

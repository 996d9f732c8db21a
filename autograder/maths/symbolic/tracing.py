"""torch code on precise numbers: traced once by torch itself, then interpreted operator by operator.

`make_fx` runs the function on the real arguments and records every ATen operator, so that what is interpreted is what
torch executed, whatever the Python around it looked like. Branches are those that these arguments take. Python computes
its constants in floats before torch sees them; those of a recognisable form (see `precise`) are restored.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.errors import StudentError
from autograder.maths.symbolic.namespaces import unavailable
from autograder.maths.symbolic.operators import OPERATORS
from autograder.maths.symbolic.precise import Precise
from autograder.maths.symbolic.precise_run import Digits, digits_of
from autograder.maths.symbolic.rebinding import lifted, lifted_data


def high_precision_torch(function: Callable[..., Any], *arguments: Any) -> tuple[Digits, ...]:
    """Like `high_precision`, for a function of torch tensors; float tensors among the arguments are lifted."""
    from torch.fx.experimental.proxy_tensor import make_fx

    try:
        tensors = [argument.detach() if hasattr(argument, "detach") else argument for argument in arguments]
        # make_fx counts the parameters of what it traces; through *given any signature, and any module, will do.
        return digits_of(_interpreted(make_fx(lambda *given: function(*given))(*tensors), tensors))
    except StudentError:
        raise
    except Exception as error:
        raise unavailable(f"This code ({type(error).__name__}: {error})") from error


def _interpreted(traced: Any, arguments: list[Any]) -> Any:
    import torch
    from torch.utils import _pytree

    known: dict[Any, Any] = {}
    given = iter(_pytree.tree_leaves(arguments))
    for node in traced.graph.nodes:
        if node.op == "placeholder":
            known[node] = _array(next(given), lifted_data)
        elif node.op == "get_attr":
            known[node] = _array(getattr(traced, node.target), lifted)
        elif node.op == "call_function":
            parts, options = (torch.fx.node.map_arg(part, known.__getitem__) for part in (node.args, node.kwargs))
            known[node] = _applied(node.target, list(map(lifted, parts)), options)
        elif node.op == "output":
            return torch.fx.node.map_arg(node.args[0], known.__getitem__)
    raise unavailable("Code without a result")


def _applied(target: Any, arguments: list[Any], options: dict[str, Any]) -> Any:
    name = target.__name__.split(".")[0]
    if name == "getitem":
        return arguments[0][arguments[1]]
    in_place = name.endswith("_") and not name.startswith("__")
    operator = OPERATORS.get(name.rstrip("_") if in_place else name)
    if operator is None:
        raise unavailable(f"The operation {name}")
    found = operator(*arguments, **options)
    if in_place:
        # The traced graph refers to the changed tensor through its views, so the change must happen in place.
        arguments[0][...] = found
        return arguments[0]
    return found


def _array(value: Any, lift: Callable[[Any], Any]) -> Any:
    if not hasattr(value, "detach"):
        return Precise(value) if isinstance(value, float) else value
    found = value.detach().cpu().numpy()
    if found.dtype == np.float32:
        # The shortest digits of a float32: widened, 0.1 would become 0.10000000149.
        found = np.array([float(str(entry)) for entry in found.flat], dtype=float).reshape(found.shape)
    return lift(found)

"""What holds of every model: each function here compares numbers for one of `examples`, and raises where they differ.

    kept, moved, narrowed     copies, files, memory that comes later, half precision, autocast
    how it is called          with given parameters, without autograd, with checkpoints, strides, no rows
    derivatives               torch.func, forward mode, second derivatives: against differences, loops, autograd

`python -m solutions.matrix` runs them for all models.
"""

import copy
import io
import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, jvp, stack_module_state, vmap
from torch.utils.checkpoint import checkpoint

from solutions.examples import Example, tensors

B, T = 3, 13
Arguments = tuple[Tensor, ...]


def wide(arguments: Iterable[Tensor], dtype: torch.dtype = torch.float64) -> Arguments:
    """The same numbers in another precision; words stay words."""
    return tuple(x.to(dtype) if x.is_floating_point() else x for x in arguments)


def build(example: Example, seed: int = 0) -> nn.Module:
    """The model in float64."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        return example.make().double()


def model_and_arguments(example: Example, rows: int = B, length: int = T) -> tuple[nn.Module, Arguments]:
    """A model, and what it is called with."""
    return build(example), wide(example.arguments(rows, length))


def loss(output: object) -> Tensor:
    """A number that depends on all outputs, each with a weight of its own, and not only linearly."""
    total = torch.zeros((), dtype=torch.float64)
    for y in tensors(output):
        weights = torch.linspace(-1, 2, max(y.numel(), 1), dtype=torch.float64)[: y.numel()].view(y.shape)
        total = total + (weights * y + y.square() / 2).sum()
    return total


def gradients(model: nn.Module, output: object) -> list[Tensor]:
    """Of the loss, by every parameter."""
    return list(torch.autograd.grad(loss(output), list(model.parameters()), materialize_grads=True))


def equal(found: Sequence[Tensor], wanted: Sequence[Tensor], tolerance: float = 1e-9) -> None:
    """Shapes first, then numbers, beside the largest one there is."""
    assert [x.shape for x in found] == [x.shape for x in wanted]
    for x, y in zip(found, wanted, strict=True):
        error = (x.double() - y.double()).abs().max().item() if x.numel() else 0.0
        size = max(1.0, y.abs().max().item()) if y.numel() else 1.0
        assert error <= tolerance * size, f"differs by {error:.1e} of {size:.1e}"


def gradients_of_new(example: Example) -> list[Tensor]:
    """Of a model that has done nothing else."""
    model, arguments = model_and_arguments(example)
    return gradients(model, model(*arguments))


# ------------------------------------------------------------------------------------------ kept, moved, narrowed


def copied(example: Example) -> None:
    """Copied and pickled after a forward pass, with the same outputs."""
    model, arguments = model_and_arguments(example)
    wanted = tensors(model(*arguments))
    equal(tensors(copy.deepcopy(model)(*arguments)), wanted, 0.0)
    equal(tensors(pickle.loads(pickle.dumps(model))(*arguments)), wanted, 0.0)  # noqa: S301 our own bytes


def saved(example: Example) -> None:
    """Saved, and loaded strictly into a model of another seed; no two entries share memory, as safetensors wants."""
    model, arguments = model_and_arguments(example)
    state, file = model.state_dict(), io.BytesIO()
    assert len({x.data_ptr() for x in state.values() if x.numel()}) == len([x for x in state.values() if x.numel()])
    assert all(x.is_contiguous() for x in state.values())
    torch.save(state, file)
    file.seek(0)
    other = build(example, seed=1)
    other.load_state_dict(torch.load(file, weights_only=True), strict=True)
    equal(tensors(other(*arguments)), tensors(model(*arguments)), 0.0)


def from_meta(example: Example) -> None:
    """Built without memory, given some, loaded."""
    model, arguments = model_and_arguments(example)
    empty = build(example, seed=1).to("meta")
    shapes = [y.shape for y in tensors(empty(*(x.to("meta") for x in arguments)))]
    other = empty.to_empty(device="cpu")
    other.load_state_dict(model.state_dict())
    wanted = tensors(model(*arguments))
    assert shapes == [y.shape for y in wanted]
    equal(tensors(other(*arguments)), wanted, 0.0)


def narrow(dtype: torch.dtype) -> Callable[[Example], None]:
    """A check of the model in half precision."""

    def half(example: Example) -> None:
        model, arguments = model_and_arguments(example)
        wanted = tensors(model(*arguments))
        found = tensors(model.to(dtype)(*wide(arguments, dtype)))
        assert {y.dtype for y in found} == {dtype}
        equal(found, wanted, 0.1)
        assert all(g.isfinite().all() for g in gradients(model, [y.double() for y in found]))

    return half


def autocast(example: Example) -> None:
    """Under autocast to bfloat16, near the float32 outputs, with finite gradients."""
    model, arguments = model_and_arguments(example)
    model, arguments = model.float(), wide(arguments, torch.float32)
    wanted = tensors(model(*arguments))
    with torch.autocast("cpu", torch.bfloat16):
        found = tensors(model(*arguments))
    equal(found, wanted, 0.1)
    assert all(g.isfinite().all() for g in gradients(model, [y.double() for y in found]))


# ------------------------------------------------------------------------------------------------ how it is called


def functional(example: Example) -> None:
    """With parameters that are given."""
    model, arguments = model_and_arguments(example)
    other = build(example, seed=1)
    equal(tensors(functional_call(other, model.state_dict(), arguments)), tensors(model(*arguments)), 1e-12)


def checkpointed(example: Example) -> None:
    """Computed again for the gradient, which stays the same."""
    model, arguments = model_and_arguments(example)
    again = checkpoint(model, *arguments, use_reentrant=False)
    equal(gradients(model, again), gradients(model, model(*arguments)))


def inferred(example: Example) -> None:
    """Without autograd; and what was remembered there does not disturb training."""
    model, arguments = model_and_arguments(example)
    with torch.inference_mode():
        first = [y.clone() for y in tensors(model(*arguments))]
    equal(first, tensors(model(*arguments)), 1e-12)
    equal(gradients(model, model(*arguments)), gradients_of_new(example))


def strided(example: Example) -> None:
    """Of inputs that lie in memory in another order."""
    model, arguments = model_and_arguments(example)
    turned = tuple(x.transpose(0, -1).contiguous().transpose(0, -1) for x in arguments)
    equal(tensors(model(*turned)), tensors(model(*arguments)), 1e-12)


def without_rows(example: Example) -> None:
    """Of no row at all."""
    model, arguments = model_and_arguments(example)
    none = tuple(x[:0] for x in arguments)
    found = tensors(model(*none))
    assert all(y.isfinite().all() for y in found) and not all(y.numel() for y in found)
    assert all(not g.any() for g in gradients(model, found))


# ---------------------------------------------------------------------------------------------------- derivatives


def as_function(model: nn.Module, arguments: Arguments) -> Callable[[Mapping[str, Tensor]], Tensor]:
    """The loss, as a function of the parameters."""
    return lambda parameters: loss(functional_call(model, dict(parameters), arguments))


def parameters_of(model: nn.Module) -> dict[str, Tensor]:
    """By name, without history."""
    return {name: p.detach() for name, p in model.named_parameters()}


def direction(parameters: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Somewhere else, at random."""
    g = torch.Generator().manual_seed(7)
    return {name: torch.randn(p.shape, generator=g, dtype=p.dtype) for name, p in parameters.items()}


def func_grad(example: Example) -> None:
    """torch.func.grad is autograd's gradient; and what was remembered there does not disturb a later call."""
    model, arguments = model_and_arguments(example)
    found = grad(as_function(model, arguments))(parameters_of(model))
    equal(list(found.values()), gradients_of_new(example))
    equal(gradients(model, model(*arguments)), gradients_of_new(example))


def ensemble(example: Example) -> None:
    """Two models of stacked parameters at once, by vmap."""
    models, arguments = [build(example, seed) for seed in (0, 1)], wide(example.arguments(B, T))
    stacked, buffers = stack_module_state(models)
    found = vmap(lambda p, b: tensors(functional_call(models[0], {**p, **b}, arguments)))(stacked, buffers)
    for n, model in enumerate(models):
        equal([y[n] for y in found], tensors(model(*arguments)))


def per_sample(example: Example) -> None:
    """The gradient of each row by itself, by vmap of grad."""
    model, arguments = model_and_arguments(example)

    def of_row(parameters: dict[str, Tensor], row: Arguments) -> Tensor:
        return as_function(model, tuple(x[None] for x in row))(parameters)

    found = vmap(grad(of_row), in_dims=(None, 0))(parameters_of(model), arguments)
    for n in range(B):
        row = tuple(x[n : n + 1] for x in arguments)
        equal([g[n] for g in found.values()], gradients(model, model(*row)))


def forward_mode(example: Example) -> None:
    """The derivative along a direction is its product with the gradient."""
    model, arguments = model_and_arguments(example)
    parameters = parameters_of(model)
    v = direction(parameters)
    _, found = jvp(as_function(model, arguments), (parameters,), (v,))
    equal([found], [sum((g * d).sum() for g, d in zip(gradients_of_new(example), v.values(), strict=True))])


def curvature(example: Example) -> tuple[Callable[[Mapping[str, Tensor]], Tensor], dict, dict, list[Tensor]]:
    """The loss, its parameters, a direction, and the Hessian times that, by differences of gradients."""
    model, arguments = model_and_arguments(example)
    parameters = parameters_of(model)
    v, small = direction(parameters), 1e-6

    def slope(h: float) -> list[Tensor]:
        moved = {name: (p + h * v[name]).requires_grad_() for name, p in parameters.items()}
        value = loss(functional_call(model, moved, arguments))
        return list(torch.autograd.grad(value, list(moved.values()), materialize_grads=True))

    differences = [(up - down) / (2 * small) for up, down in zip(slope(small), slope(-small), strict=True)]
    return as_function(model, arguments), parameters, v, differences


def second_reverse(example: Example) -> None:
    """The Hessian times a vector by two backward passes, and not zero."""
    f, parameters, v, wanted = curvature(example)
    given = {name: p.clone().requires_grad_() for name, p in parameters.items()}
    first = torch.autograd.grad(f(given), list(given.values()), create_graph=True, materialize_grads=True)
    along = sum((g * d).sum() for g, d in zip(first, v.values(), strict=True))
    found = torch.autograd.grad(along, list(given.values()), materialize_grads=True)
    assert any(g.abs().max() > 1e-3 for g in found)
    equal(found, wanted, 1e-4)


def second_forward(example: Example) -> None:
    """The same by forward mode over reverse mode, all of it in torch.func."""
    f, parameters, v, wanted = curvature(example)
    _, found = jvp(grad(f), (parameters,), (v,))
    equal(list(found.values()), wanted, 1e-4)


CHECKS: Mapping[str, Callable[[Example], None]] = MappingProxyType(
    {
        "copied": copied,
        "saved": saved,
        "from meta": from_meta,
        "bfloat16": narrow(torch.bfloat16),
        "float16": narrow(torch.float16),
        "autocast": autocast,
        "functional": functional,
        "checkpoint": checkpointed,
        "inference": inferred,
        "strided": strided,
        "no rows": without_rows,
        "grad": func_grad,
        "ensemble": ensemble,
        "per sample": per_sample,
        "jvp": forward_mode,
        "hvp": second_reverse,
        "jvp of grad": second_forward,
    }
)

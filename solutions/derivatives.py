"""Which derivatives a fast path knows, and how the readable steps give the others.

What is fast here, a fused kernel or a derivative written out by hand, knows the first derivative in reverse mode
and nothing else. Asked for more, it must not be silently wrong:

    ordinary      may a fast path be taken? Not under torch.func, and not in forward mode
    gradients     the derivative of the readable steps, which can be differentiated again
    twice         the second derivative that the results of torch's fused kernels lack
    Operator      a recurrence as one operator, for autograd, compilers and export alike
    compiled      the same of the readable steps alone, for compilers and export
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

import torch
from torch import Tensor
from torch.autograd import forward_ad

from solutions.layers import full_precision

Steps = Callable[..., Tensor | tuple[Tensor, ...]]

_BATCHED = torch._C._parse_dispatch_key("VmapMode")  # of `is_grads_batched`, whose tensors torch.func knows nothing of


def ordinary() -> bool:
    """True in plain eager code, and while a compiler traces it: at most a first derivative, in reverse mode.

    False under a transform of torch.func (grad, vmap, jvp), within a level of forward mode, and for the batched
    cotangents of `torch.autograd.grad(…, is_grads_batched=True)`. Torch's state is asked and not each tensor: a
    recurrence of one step takes no longer than this did.
    """
    if torch._C._are_functorch_transforms_active():
        return False
    if torch.compiler.is_compiling():
        return True
    return forward_ad._current_level < 0 and not torch._C._dispatch_tls_is_dispatch_key_included(_BATCHED)


def gradients(
    steps: Steps, inputs: Sequence[Tensor | None], needed: Sequence[bool], cotangents: Sequence[Tensor | None]
) -> list[Tensor | None]:
    """The derivative of `steps` by the inputs that are `needed`; in grad mode it can be differentiated again."""
    again = torch.is_grad_enabled()

    def seen(x: Tensor | None, need: bool) -> Tensor | None:
        # A view, since one input may have been computed from another: partial derivatives are wanted.
        return x.detach().requires_grad_() if need and not again else x.view_as(x) if need else x

    with torch.enable_grad():
        given = [seen(x, need) for x, need in zip(inputs, needed, strict=True)]
        outputs = steps(*given)
    outputs = (outputs,) if isinstance(outputs, Tensor) else outputs
    known = [(y, g) for y, g in zip(outputs, cotangents, strict=True) if g is not None]
    found = torch.autograd.grad(
        [y for y, _ in known],
        [x for x, need in zip(given, needed, strict=True) if need],
        [g for _, g in known],
        create_graph=again,
        materialize_grads=True,
    )
    rest = iter(found)
    return [next(rest) if need else None for need in needed]


# ------------------------------------------------------------------------------------------- torch's fused kernels


class _Twice(torch.autograd.Function):
    """The identity of `out`, whose derivative goes around the fused kernel where it will be differentiated again."""

    @staticmethod
    def forward(ctx, out: Tensor, steps: Steps, *inputs: Tensor | None) -> Tensor:
        ctx.steps = steps
        ctx.save_for_backward(*inputs)  # what the kernel has saved as well: the same tensors
        return out.view_as(out)

    @staticmethod
    def backward(ctx, g: Tensor):
        inputs = ctx.saved_tensors
        if ordinary() and not torch.is_grad_enabled():
            return g, None, *(None for _ in inputs)
        return None, None, *gradients(ctx.steps, inputs, ctx.needs_input_grad[2:], [g])


def twice(out: Tensor, steps: Steps, *inputs: Tensor | None) -> Tensor:
    """`out`, computed from `inputs` by a fused kernel; from the second derivative on, `steps` stand in for it."""
    if torch.compiler.is_compiling() or not out.requires_grad:
        return out  # a compiled function refuses a second derivative by itself
    return _Twice.apply(out, steps, *inputs)


# ---------------------------------------------------------------------------------------------------- recurrences


class Operator:
    """A recurrence as the operator `solutions::name`: for a compiler one node, however many steps there are.

    `steps(*inputs)` gives the first `results` of what `fast(*inputs)` gives; what else that gives is kept for
    `gradient(needed, inputs, outputs, cotangents)`, which returns a gradient for every input that is needed, in full
    precision. `shapes(*inputs)` is `fast` without the numbers. Outputs share no memory, and there are at least two.

    `ordinary` calls only: see there. A second derivative is that of `steps`.
    """

    def __init__(
        self,
        name: str,
        inputs: Sequence[str],
        *,
        results: int,
        steps: Steps,
        fast: Callable[..., tuple[Tensor, ...]],
        shapes: Callable[..., tuple[Tensor, ...]],
        outputs: int,
        gradient: Callable[..., Sequence[Tensor | None]],
    ) -> None:
        self.steps, self.results, self.gradient = steps, results, gradient
        self.inputs, self.outputs = len(inputs), outputs

        def tensors(letter: str, n: int) -> str:
            return ", ".join(f"Tensor {letter}{i}" for i in range(n))

        def several(n: int) -> str:
            return ", ".join(["Tensor"] * n)

        given = ", ".join(f"Tensor {x}" for x in inputs)
        custom_op = torch.library.custom_op
        self._forward = custom_op(
            f"solutions::{name}", fast, mutates_args=(), schema=f"({given}) -> ({several(outputs)})"
        )
        self._backward = custom_op(
            f"solutions::{name}_gradient",
            self._differentiate,
            mutates_args=(),
            schema=f"(bool[] needed, {given}, {tensors('output', outputs)}, {tensors('cotangent', results)})"
            f" -> ({several(self.inputs)})",
        )
        self._forward.register_fake(shapes)
        self._backward.register_fake(
            lambda needed, *saved: tuple(map(_room, needed, saved[: self.inputs])),
        )
        self._forward.register_autograd(self._derive, setup_context=self._keep)

    def __call__(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        """The results of the recurrence."""
        return self._forward(*inputs)[: self.results]

    def _keep(self, ctx, inputs, output) -> None:
        ctx.save_for_backward(*inputs, *output)
        ctx.mark_non_differentiable(*output[self.results :])
        ctx.set_materialize_grads(False)

    def _derive(self, ctx, *cotangents: Tensor | None) -> tuple[Tensor | None, ...]:
        saved, needed = ctx.saved_tensors, ctx.needs_input_grad[: self.inputs]
        cotangents = cotangents[: self.results]
        if torch.is_grad_enabled() or not ordinary():
            return tuple(gradients(self.steps, saved[: self.inputs], needed, cotangents))
        results = saved[self.inputs : self.inputs + self.results]
        given = [torch.zeros_like(y) if g is None else g for y, g in zip(results, cotangents, strict=True)]
        found = self._backward(list(needed), *saved, *given)
        return tuple(g if need else None for g, need in zip(found, needed, strict=True))

    def _differentiate(self, needed: Sequence[bool], *saved: Tensor) -> tuple[Tensor, ...]:
        inputs, rest = saved[: self.inputs], saved[self.inputs :]
        outputs, cotangents = rest[: self.outputs], rest[self.outputs :]
        with full_precision(inputs[0]):
            found = self.gradient(needed, inputs, outputs, cotangents)
        rooms = map(_room, needed, inputs)
        return tuple(room if g is None else g.contiguous() for g, room in zip(found, rooms, strict=True))


def compiled(name: str, inputs: Sequence[str], steps: Steps, *, states: int = 1) -> Operator:
    """An operator of the steps alone, for compilers: they would write out each step, and anew for each length.

    `steps(x, *start, *parameters)` gives the states h[B,T,J] and the `states` last ones. On the way back the steps
    are taken again.
    """

    def fast(x: Tensor, *rest: Tensor) -> tuple[Tensor, ...]:
        with full_precision(x):
            h, *last = steps(x, *rest)
        return h.contiguous(), *(state.clone() for state in last)

    def gradient(needed, inputs, outputs, cotangents):
        with _recording():
            return gradients(steps, inputs, needed, cotangents)

    def shapes(x: Tensor, *rest: Tensor) -> tuple[Tensor, ...]:
        start = rest[:states]
        return x.new_empty(*x.shape[:2], start[0].shape[1]), *(torch.empty_like(state) for state in start)

    results = states + 1
    return Operator(
        name, inputs, steps=steps, fast=fast, gradient=gradient, shapes=shapes, results=results, outputs=results
    )


def _recording() -> AbstractContextManager:
    """Autograd works again within an operator, below which it is switched off."""
    excluded = torch._C._dispatch_tls_local_exclude_set()
    for key in (torch._C.DispatchKey.AutogradFunctionality, torch._C.DispatchKey.ADInplaceOrView):
        excluded = excluded.remove(key)
    return torch._C._ForceDispatchKeyGuard(torch._C._dispatch_tls_local_include_set(), excluded)


def _room(need: bool, x: Tensor) -> Tensor:
    """What a gradient looks like: an operator gives a tensor in any case, an empty one where none is needed."""
    return torch.empty_like(x, memory_format=torch.contiguous_format) if need else x.new_empty(0)

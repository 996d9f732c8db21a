"""`Module`: the student writes a torch module; a state is loaded into it strictly, and it is asked like a function."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from autograder.core import Ask, Case, Parameters, Question
from autograder.errors import AuthorError
from autograder.parts.function import Function, Inputs, described, zeros
from autograder.parts.source import argument_names
from autograder.protocol.respondents import PARAMETERS, ModuleRespondent, local, takes_parameters
from autograder.student.local_checks import Malformed, defined, example, form_of, look


@dataclass(frozen=True)
class Module(Function):
    """A class derived from `torch.nn.Module`, in float64.

    `inputs(rng, p)` gives `{"init": {constructor's keywords}, "call": {forward's arguments}}`. The parameters' names
    and shapes are those of the reference, which the statement must give; their values are drawn anew for each case.
    A reference whose constructor takes `*, p` gets the variant's parameters there.
    """

    _: KW_ONLY

    kind = "module"

    @classmethod
    def check_form(  # type: ignore[override]  # a module is called with more than a function
        cls, name: str, /, *, init: dict[str, Any], state: dict[str, Any], returns: Any, **arguments: Any
    ) -> None:
        """Build the module, load parameters of the given names and shapes, and look at the form of its result."""
        subject = defined(name)
        if not isinstance(subject, type):
            raise Malformed("type", f"{name} is {form_of(subject)}, not a class.")
        options = {"init": init, "state": {key: form.example() for key, form in state.items()}}
        values = tuple(example(form, place) for place, form in enumerate(arguments.values()))
        look(subject, Question(kind="module", name=name, arguments=values, options=options), returns)

    def _same_signatures(self) -> None:
        for other in (self.reference, *self.mistakes, *self.equivalents):
            if not isinstance(other, type):
                raise AuthorError("reference", f"part {self.name!r}: {other!r} is not a class")

    def case(self, draw: Inputs, p: Parameters, key: tuple[int, ...]) -> Case:
        """One draw of constructor arguments, state and inputs."""
        drawn = self.drawn(draw, p, key)
        if set(drawn) != {"init", "call"}:
            raise AuthorError(
                "inputs", f"part {self.name!r}: {draw.__name__}() must return 'init' and 'call', not {list(drawn)}"
            )
        wanted = argument_names(self.reference)
        if list(drawn["init"]) != wanted[: len(drawn["init"])]:
            raise AuthorError(
                "inputs",
                f"part {self.name!r}: {draw.__name__}() gives init={', '.join(drawn['init'])}; "
                f"{self.reference.__name__} takes {', '.join(wanted)}, in this order",
            )
        wanted = argument_names(self.reference.forward)[1:]
        if list(drawn["call"]) != wanted:
            raise AuthorError(
                "inputs",
                f"part {self.name!r}: {draw.__name__}() gives {', '.join(drawn['call'])}; "
                f"forward takes {', '.join(wanted)}",
            )
        options = {"init": drawn["init"], "state": self._state(drawn["init"], p, (*key, 2))}
        return Case(parameters=p, arguments=dict(drawn["call"]), options=options, rng_key=key, drawn_by=draw.__name__)

    def _state(self, init: dict[str, Any], p: Parameters, key: tuple[int, ...]) -> dict[str, Any]:
        """Standard normal vectors, and matrices that keep the size of what they are multiplied with."""
        import torch

        rng = np.random.default_rng(key)
        more = {PARAMETERS: p} if takes_parameters(self.reference) else {}
        state = self.reference(**init, **more).double().state_dict()
        return {
            name: torch.from_numpy(np.asarray(rng.standard_normal(shape) / (shape[-1] ** 0.5 if shape[1:] else 1.0)))
            for name, shape in ((name, tuple(item.shape)) for name, item in state.items())
        }

    def trivial_answers(self, p: Parameters) -> dict[str, Any]:
        """Modules with the reference's parameters that look at no more than the form."""

        def altered(alter: Callable[[Any, tuple[Any, ...]], Any]) -> Any:
            def forward(module: Any, *arguments: Any) -> Any:
                return alter(self.reference.forward(module, *arguments), arguments)

            made = type("Altered", (self.reference,), {"forward": forward})
            return functools.partial(made, p=p) if takes_parameters(self.reference) else made

        return {
            "None": None,
            "a module that returns None": altered(lambda result, arguments: None),
            "zeros of the right shape": altered(lambda result, arguments: zeros(result)),
            "the first argument": altered(lambda result, arguments: arguments[0]),
        }

    def respondent(self, ask: Ask, case: Case) -> ModuleRespondent:
        """Who answers for the student's module, or for one of ours."""
        return ModuleRespondent(name=self.name, ask=ask, case=case)

    def local_check(self, p: Parameters) -> str:
        """Builds the module and says which parameters it lacks and what is malformed about its result."""
        case = self.case(self._draws()[0], p, (0,))
        result = self.respondent(local(self.reference, self.name, p), case).call(*case.arguments.values())
        words = [repr(self.name), f"init={case.options['init']!r}", f"state={described(case.options['state'])}"]
        words += [f"{name}={described(value)}" for name, value in case.arguments.items()]
        return f"form.check_module({', '.join([*words, f'returns={described(result, kind_only=True)}'])})"

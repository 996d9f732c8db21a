"""`Module`: the student writes a torch module; its parameters are loaded, and it is asked like a function."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np

from autograder.core import Ask, Case, Parameters, Question
from autograder.errors import AuthorError
from autograder.parts.function import CONSTANTS, Function, Generators, Inputs, described, zeros
from autograder.parts.source import argument_names
from autograder.protocol.respondents import PARAMETERS, ModuleRespondent, local, takes_parameters
from autograder.student.local_checks import Malformed, defined, example, form_of, look


@dataclass(frozen=True)
class Module(Function):
    """A class derived from `torch.nn.Module`, in float64.

    `inputs(rng, p)` gives `{"init": {constructor's keywords}, "call": {forward's arguments}}`. The parameters' names
    and shapes are those of the reference, which the statement must give; their values are drawn anew for each case.
    A reference whose constructor takes `*, p` gets the variant's parameters there. Each object is new, in training, and
    called once, or `inputs` says under `before` what is done first: `[("call", {...}), ("eval",)]`; under `buffers` it
    gives values to load into buffers, which otherwise are what the constructor makes of them.
    """

    _: KW_ONLY

    kind = "module"
    run_by = "built and called"

    @classmethod
    def check_form(  # type: ignore[override]  # a module is called with more than a function
        cls, name: str, /, *, init: dict[str, Any], state: dict[str, Any], returns: Any, **arguments: Any
    ) -> None:
        """Build the module, load parameters of the given names and shapes, and look at the form of its result."""
        subject = defined(name)
        if not isinstance(subject, type):
            raise Malformed("type", f"{name} is {form_of(subject)}, not a class.")
        _same_names(name, subject, init, state)
        options = {"init": init, "state": {key: form.example() for key, form in state.items()}}
        values = tuple(example(form, place) for place, form in enumerate(arguments.values()))
        look(subject, Question(kind="module", name=name, arguments=values, options=options), returns)

    def _same_signatures(self) -> None:
        for other in (self.reference, *self.mistakes, *self.equivalents):
            if not isinstance(other, type):
                raise AuthorError("reference", f"part {self.name!r}: {other!r} is not a class")

    def cases(self, p: Parameters, key: tuple[int, ...]) -> list[Case]:
        """Those of a function, one of them as a second call of the same object, and one as a second in evaluation."""
        cases = super().cases(p, key)
        first, again = cases[0], next(case for case in cases if not case.drawn_by)
        call = ["call", *first.arguments.values()]
        return [*cases, _done_before(again, call), _done_before(again, call, ["eval"], call)]

    def case_of(self, draw: Inputs, p: Parameters, key: tuple[int, ...], generator: Generators) -> Case:
        """One draw of constructor arguments, state and inputs from the generator of a key."""
        drawn = self.drawn(draw, p, generator(key))
        if not {"init", "call"} <= set(drawn) <= {"init", "call", "before", "buffers"}:
            raise AuthorError(
                "inputs",
                f"part {self.name!r}: {draw.__name__}() must return 'init' and 'call', and may return 'before' and "
                f"'buffers', not {list(drawn)}",
            )
        self._as_taken(draw, drawn["init"], argument_names(self.reference), "init=", whole=False)
        wanted = argument_names(self.reference.forward)[1:]
        self._as_taken(draw, drawn["call"], wanted, "")
        steps = drawn.get("before", ())
        options = {
            "init": drawn["init"],
            "state": self._state(drawn["init"], p, generator((*key, 2))),
            **({"before": [self._step(draw, step, wanted) for step in steps]} if steps else {}),
            **({"buffers": dict(drawn["buffers"])} if "buffers" in drawn else {}),
        }
        return Case(parameters=p, arguments=dict(drawn["call"]), options=options, rng_key=key, drawn_by=draw.__name__)

    def _as_taken(
        self, draw: Inputs, given: Mapping[str, Any], wanted: list[str], word: str, *, whole: bool = True
    ) -> None:
        """AuthorError unless these are the arguments of forward, or the first ones of the constructor."""
        if list(given) != (wanted if whole else wanted[: len(given)]):
            taker = "forward" if whole else self.reference.__name__
            raise AuthorError(
                "inputs",
                f"part {self.name!r}: {draw.__name__}() gives {word}{', '.join(given)}; "
                f"{taker} takes {', '.join(wanted)}, in this order",
            )

    def _step(self, draw: Inputs, step: Any, wanted: list[str]) -> list[Any]:
        """What is done before the call that is asked for: `("train",)`, `("eval",)` or `("call", {arguments})`."""
        word, *rest = step
        if word == "call" and len(rest) == 1:
            self._as_taken(draw, rest[0], wanted, "")
            return [word, *rest[0].values()]
        if word in ("train", "eval") and not rest:
            return [word]
        raise AuthorError(
            "inputs",
            f"part {self.name!r}: {draw.__name__}() gives the step {step!r}; "
            "a step is ('train',), ('eval',) or ('call', {arguments})",
        )

    def _state(self, init: dict[str, Any], p: Parameters, rng: np.random.Generator) -> dict[str, Any]:
        """Parameters: standard normal vectors, and matrices that keep the size of what they are multiplied with."""
        import torch

        more = {PARAMETERS: p} if takes_parameters(self.reference) else {}
        state = self.reference(**init, **more).named_parameters()
        return {
            name: torch.from_numpy(np.asarray(rng.standard_normal(shape) / (shape[-1] ** 0.5 if shape[1:] else 1.0)))
            for name, shape in ((name, tuple(item.shape)) for name, item in state)
        }

    def trivial_answers(self, p: Parameters) -> dict[str, Any]:
        """Modules with the reference's parameters that look at no more than the form."""
        return {
            "None": None,
            "a module that returns None": self._altered(p, lambda result, arguments: None),
            "zeros of the right shape": self._altered(p, lambda result, arguments: zeros(result)),
            "the first argument": self._altered(p, lambda result, arguments: arguments[0]),
        }

    def blind_answers(self, p: Parameters, shown: Sequence[str]) -> dict[str, Any]:
        """Modules with the reference's parameters that give one constant."""

        def constant(value: Any) -> Any:
            return self._altered(p, lambda result, arguments: zeros(result, value))

        return {f"{name} of the right shape": constant(value) for name, value in CONSTANTS.items()}

    def _altered(self, p: Parameters, alter: Callable[[Any, tuple[Any, ...]], Any]) -> Any:
        """The reference with another result, made of the right one and the arguments."""

        def forward(module: Any, *arguments: Any) -> Any:
            return alter(self.reference.forward(module, *arguments), arguments)

        made = type("Altered", (self.reference,), {"forward": forward})
        return functools.partial(made, p=p) if takes_parameters(self.reference) else made

    def respondent(self, ask: Ask, case: Case) -> ModuleRespondent:
        """Who answers for the student's module, or for one of ours."""
        return ModuleRespondent(name=self.name, ask=ask, case=case)

    def local_check(self, p: Parameters) -> str:
        """Builds the module and says which parameters it lacks and what is malformed about its result."""
        case = self.case(self.draws()[0], p, (0,))
        result = self.respondent(local(self.reference, self.name, p), case).call(*case.arguments.values())
        words = [repr(self.name), f"init={case.options['init']!r}", f"state={described(case.options['state'])}"]
        words += [f"{name}={described(value)}" for name, value in case.arguments.items()]
        return f"form.check_module({', '.join([*words, f'returns={described(result, kind_only=True)}'])})"


def _done_before(case: Case, *steps: list[Any]) -> Case:
    """The same case after some more steps."""
    return replace(case, options={**case.options, "before": [*case.options.get("before", ()), *steps]})


def _same_names(name: str, subject: Callable[..., Any], init: dict[str, Any], state: Iterable[str]) -> None:
    """Malformed where the module's parameters are called otherwise than the statement says."""
    try:
        module = subject(**init)
        found, own = set(module.state_dict()), {key for key, _ in module.named_parameters()}
    except Exception:  # what stops it is said with its line when the module is asked
        return
    missing, extra = sorted(set(state) - found), sorted(own - set(state))
    if missing:
        beside = f" and it has {', '.join(extra)} beside" if extra else ""
        wanted = f"the parameters are called {', '.join(state)}; it has no {', '.join(missing)}"
        raise Malformed("parameters", f"{name}: {wanted}{beside}.")

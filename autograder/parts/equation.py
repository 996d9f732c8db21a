"""`Equation`: tensor equations in the course's index notation, compared as mathematics."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any

from autograder.core import Parameters, Part, Room
from autograder.errors import AuthorError, Unreadable
from autograder.maths.decision import Decision
from autograder.parts import copying
from autograder.parts.open_answer import Demands, OpenAnswer, judged
from autograder.parts.typed import Typed, guarded, guarded_first
from autograder.student.preview import Shown, declared_by_each

Sizes = Mapping[str, int | str]


@dataclass(frozen=True)
class Equation(Typed):
    """One equation or several, the last of which defines `target`.

    `tensors` declares the given tensors with their axes (`["W^Q[K,I,J]", "L[T,J]"]`, or a function of p), `sizes` axes
    that are products or numbers (`{"J": "K*I"}`, or a function of p), `sequences` integer tensors such as `w`,
    `context` indices fixed outside, `zero` axes that count from 0, `same` letters that are other names of an axis,
    `positive` tensors with entries between 0 and 1, `constraints` which of two axes is the larger (`["K<=E"]`).
    `given_equations` are equations of the question that both sides may use (text, or a function of p).

    Where many answers are right, `demands(answer, p)` yields what each must fulfil (see `OpenAnswer`): then nothing is
    compared with the reference, which is only one of the right ones, and students may use parameters of their own.

    After a wrong answer `rungs` of the ladder of hints are shown: 1 says which tensor differs first, 2 what kind of
    slip it is, 3 the single repair that would mend it."""

    _: KW_ONLY
    tensors: Sequence[str] | Callable[[Parameters], Sequence[str]] = ()
    target: str = ""
    sizes: Sizes | Callable[[Parameters], Sizes] = field(default_factory=dict)
    sequences: str = ""
    context: str = ""
    zero: str = ""
    positive: str = ""
    constraints: Sequence[str] = ()
    same: Mapping[str, str] = field(default_factory=dict)
    given_equations: str | Callable[[Parameters], str] = ""
    demands: Demands | None = None
    rungs: int = 2

    kind = "equation"
    by_lines = True
    all_or_nothing = True
    by_hand = (
        "In an equation between tensors, write all indices in brackets, as in $W[k,i,j_1]$: one of the left side in "
        "small letters, one that is summed over as a capital, or as a small letter under a sum sign. Labels go above "
        "($W^Q$), layers below ($h_{l+1}$). Distinguish $I$ from $l$ and $1$, and $u$ from $v$. Cross out what does "
        "not count."
    )
    told = ("tensors", "sizes", "same", "sequences", "context", "zero", "positive", "constraints", "given")
    example = 'r"""..."""'
    blank = 'r"""\n\n"""'

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.demands and self.given_equations:
            text = f"part {self.name!r} has demands, which see the answer's own equations alone: give no others"
            raise AuthorError("given_equations", text)

    @classmethod
    def show(cls, answer: Any, *, target: str = "", given: Sequence[str] = (), **declared: Any) -> Shown:
        """The equations typeset, with a note on each index; Unreadable also for a fault of meaning.

        Where a `target` is named, one of the equations must define it. `given` are equations of the question.
        """
        from autograder.maths import tensor as language

        words = dict(declared)
        system = language.parse(answer)
        declarations = language.declare(*words.pop("tensors", ()), **words)
        whole = language.as_read(system, declarations, given, target=target)
        fatal = [fault for fault in language.check(whole, declarations) if fault.fatal]
        if fatal:
            raise Unreadable(fatal[0].code, fatal[0].message)
        description = language.describe(whole, declarations)
        system = replace(whole, equations=whole.equations[-len(system.equations) :])
        own = {equation.left.name.key for equation in system.equations}
        if target and target not in own:
            raise Unreadable("no_target", f"no equation has {target} alone on its left side")
        return Shown(language.to_latex(system), _index_notes(description, own))

    @classmethod
    def show_declared(cls, answer: Any) -> Shown:
        """By all that the notebook declares; where that does not fit, as the answer to the first part that it fits."""
        try:
            return super().show_declared(answer)
        except Unreadable as error:
            for words in declared_by_each(*cls.told, "open"):
                with contextlib.suppress(Unreadable):
                    return cls.show(answer, **words)
            raise error

    def declarations(self, p: Parameters) -> Mapping[str, Any]:
        """The given tensors, sizes, sequences and context, as keywords of `tensor.declare`, and given equations."""
        given = self._given(p)
        tensors = self.tensors(p) if callable(self.tensors) else self.tensors
        sizes = self.sizes(p) if callable(self.sizes) else self.sizes
        return {
            "tensors": tuple(tensors),
            "sizes": dict(sizes),
            "same": dict(self.same),
            "sequences": self.sequences,
            "context": self.context,
            "zero": self.zero,
            "positive": self.positive,
            "open": self.demands is not None,
            **({"constraints": tuple(self.constraints)} if self.constraints else {}),
            **({"given": (given,)} if given else {}),
        }

    def rule(self, p: Parameters) -> str:
        """Which of two axes is the larger one."""
        shown = (text.replace("<=", r" \le ").replace(">=", r" \ge ") for text in self.constraints)
        return f"Here ${', '.join(shown)}$." if self.constraints else ""

    def room(self, p: Parameters) -> Room:
        """Two lines, and two more for each equation of the answer."""
        return Room(lines=2 + 2 * len(self.typed_answer(p).splitlines()))

    def local_check(self, p: Parameters) -> str:
        """Reads the equations as the grader will, and says whether one of them defines the target."""
        check = super().local_check(p)
        return f"{check[:-1]}, target={self._key()!r})" if self.target else check

    def _key(self) -> str:
        """The target as the language names it."""
        from autograder.maths.tensor.declarations import tensor_key

        return tensor_key(self.target)

    def blind_answers(self, p: Parameters, shown: Sequence[str]) -> dict[str, Any]:
        """The question's own equations, a target that is constant or itself, and the answer with a term that has no
        value.
        """
        right = self.right(p).strip()
        left = right.splitlines()[-1].partition("=")[0]
        nothing = ("0", "1", left.strip(), "0*ln(0)", "ln(0)-ln(0)", f"{left.strip()} - {left.strip()}")
        constant = {f"{text} everywhere": f"{left}= {text}" for text in nothing}
        valueless = {f"the answer {text}": f"{right} {text}" for text in ("+ 0*ln(0)", "+ ln(0) - ln(0)")}
        given = self._told(p)["given"]
        copied = {"the question's own equations": given} if given else {}
        return {**super().blind_answers(p, shown), **copied, **constant, **valueless}

    def copied_answers(self, p: Parameters, shown: Sequence[Sequence[str]]) -> Iterator[tuple[str, Any]]:
        """Each displayed equation, what stands on its sides under the target's name, and all of a cell together."""
        left = self.right(p).strip().splitlines()[-1].partition("=")[0]
        for cell in shown:
            equations: dict[str, str] = {}
            for text in cell:
                for line in copying.lines(text):
                    sides = copying.sides(line)
                    answers = [f"{left}= {side}" for side in sides if "[" in side and not copying.bare(side)]
                    if len(sides) > 1 and not copying.bare(line):
                        equations[line] = text
                        answers.append(line)
                    yield from ((text, answer) for answer in answers if self._reads(answer, p))
            together = "\n".join(equations)
            if len(equations) > 1 and self._reads(together, p):
                yield list(equations.values())[-1], together

    def compare(self, answer: Any, p: Parameters) -> Decision:
        """By its properties where the question is open, else by equality."""
        if self.demands is None:
            return super().compare(answer, p)
        declarations = self._declared(p)
        return judged(self.demands(OpenAnswer(text=answer, target=self.target, declarations=declarations), p))

    def harmless(self, agrees: Callable[[Part], bool]) -> str | None:
        """Proved equal; to an open question there is more than one right answer."""
        return super().harmless(agrees) if self.demands is None else "another correct answer to an open question"

    def first_equal(self, texts: Sequence[Any], answer: Any, p: Parameters) -> int | Decision | None:
        """All texts in one call, told apart by what they are worth."""
        return guarded_first("tensor", texts, answer, reference=self.right(p), **self._told(p))

    def explained(self, decision: Decision, answer: Any, p: Parameters) -> Decision:
        """With as many rungs of the ladder of hints as the question allows."""
        if self.demands is not None:
            return decision
        from autograder.maths import guard

        arguments = (self.right(p), answer, decision)
        found = guard.call("autograder.maths.tensor", "explain", arguments, self._told(p))
        assert isinstance(found, Decision)
        ladder = (found.detail or {}).get("hints")
        if found.outcome != "different" or not isinstance(ladder, tuple) or not ladder:
            return decision
        sentences = [f"{hint[0].upper()}{hint[1:]}." for hint in map(str, ladder[: self.rungs])]
        return replace(found, message=" ".join(sentences))

    def _declared(self, p: Parameters) -> Any:
        from autograder.maths.tensor import declare

        words = {name: value for name, value in self.declarations(p).items() if name != "given"}
        return declare(*words.pop("tensors"), **words)

    def decide(self, reference: Any, answer: Any, p: Parameters) -> Decision:
        """Equal as tensors for all sizes and entries."""
        return guarded("tensor", reference, answer, hints=False, **self._told(p))

    def _told(self, p: Parameters) -> dict[str, Any]:
        """What the language is told of the question."""
        return {"declarations": self._declared(p), "target": self.target or None, "given": self._given(p) or None}

    def _given(self, p: Parameters) -> str:
        return self.given_equations(p) if callable(self.given_equations) else self.given_equations


def _index_notes(description: Any, own: Collection[str]) -> list[str]:
    """A note on the indices of each own equation, then on what can be read in two ways."""
    notes = []
    for equation in (each for each in description.equations if each.name in own):
        kinds = {
            "free": equation.free,
            "summed": equation.summed,
            "normalised by the softmax": equation.normalised,
        }
        said = "; ".join(f"{kind}: {', '.join(names)}" for kind, names in kinds.items() if names)
        notes.append(f"{equation.name} has {said or 'no index'}")
    return notes + [warning.message for warning in description.warnings]

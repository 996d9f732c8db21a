"""What all typed answers share: text is read by a language of `autograder.maths`, and the decision becomes a verdict.

Text that cannot be read is held for a person, not lost: it is not wrong, it is unreadable. So is what the language can
neither prove nor refute.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar

from autograder.core import BEGIN, END, SHORT, Ask, Parameters, Part, Question, Verdict
from autograder.errors import AuthorError, Unreadable
from autograder.maths.decision import Decision
from autograder.parts import copying
from autograder.protocol.sympy_text import in_words
from autograder.student.local_checks import Malformed, defined, form_of, well_formed
from autograder.student.preview import Shown, TypedRows, TypedText, declared_together, keep, noted, present

MAX_LENGTH = 10_000  # characters of an answer; no language here needs a tenth of it

SHOWN_SECONDS = 5.0  # to typeset an answer

# A text, or a function of the parameters (and, where the part follows another, of the earlier answer by its name).
Text = str | Callable[..., Any]


@dataclass(frozen=True)
class Typed(Part):
    """A typed answer. `reference`, each mistake and each equivalent is a text or a function of `p` that gives one.

    A mistake or equivalent gives None where nobody can hand it in under `p`.

    `follows` names an earlier part: functions then take its answer as a keyword of that name, and an answer that is
    right given the student's own earlier one earns everything (error carried forward). `alternatives` are for open
    questions: other right answers, with other values. `hints` off leaves out all feedback beyond right and wrong.
    """

    _: KW_ONLY
    follows: str = ""
    alternatives: Sequence[Text] = ()
    hints: bool = True

    formula = True
    told: ClassVar[tuple[str, ...]] = ()  # the words of `declarations` by which an answer is read
    wanted: ClassVar[str] = "put the formula in quotes, as the comment in the cell above shows"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.reference is None:
            raise AuthorError("reference", f"part {self.name!r} has no reference")
        if self.follows and self.follows not in (_defaults(self.reference) if callable(self.reference) else {}):
            raise AuthorError(
                "follows",
                f"part {self.name!r} follows {self.follows!r}: write its reference as a function of p with a keyword "
                f"{self.follows}=..., whose default is the official answer to that part",
            )

    def decide(self, reference: Any, answer: Any, p: Parameters) -> Decision:
        """Compare two answers in the part's language; raises Unreadable for the second."""
        raise NotImplementedError(f"{type(self).__name__} has no language")

    def same_answer(self, one: str, other: str, p: Parameters) -> bool:
        """Equal in the part's language."""
        return self.decide(one, other, p).equal

    def compare(self, answer: Any, p: Parameters) -> Decision:
        """The decision about an answer by itself: whether it equals the official one."""
        return self.decide(self.right(p), answer, p)

    @classmethod
    def show(cls, answer: Any, **declared: Any) -> Shown:
        """The answer as the grader reads it; raises Unreadable."""
        raise NotImplementedError(f"{cls.__name__} has no preview")

    @classmethod
    def show_piece(cls, text: str, **declared: Any) -> Shown:
        """A text that may be an answer or, where that has several, one entry of it; raises Unreadable."""
        return cls.show(text, **declared)

    @classmethod
    def show_declared(cls, answer: Any) -> Shown:
        """The same in a notebook whose first cell has declared what an answer may use."""
        return cls.show(answer, **declared_together(*cls.told))

    @staticmethod
    def kept_as(given: Any) -> TypedText | TypedRows:
        """What is typed, as it is kept in a notebook."""
        return TypedText(given)

    @classmethod
    def preview(cls, given: Any) -> Any:
        """What is written around an answer: shown as the grader reads it, and kept as typed."""
        instead = "" if isinstance(given, str | int | float | list | tuple) else form_of(given)
        with contextlib.suppress(Unreadable):  # a sympy expression without such a text is kept as sympy's own
            given = in_words(given)
        return keep(cls.kept_as(given), cls.show_declared, instead)

    @classmethod
    def check_form(cls, name: str, /, **declared: Any) -> None:
        """Show the answer as the grader reads it, or where reading stops."""
        subject = defined(name)
        try:
            answer = cls.text(in_words(subject))
            if answer is None:
                raise Malformed("type", f"{name} is {form_of(subject)}; {cls.wanted}.")
            shown = noted(cls.show(answer, **declared), answer)
        except Unreadable as error:
            raise Malformed(error.code, f"{name} cannot be read:\n{error.caret()}") from error
        present(shown.bundle())
        well_formed(name, "this is how your answer is read")

    @classmethod
    def decide_by_hand(cls, reference: Any, answer: Any, **told: Any) -> Decision:
        """Compare two answers without a problem; `told` are arguments of the part."""
        part = cls("answer", points=1, reference=reference, **told)
        decision = part.decide(part.right({}), part.text(answer), {})
        return part.explained(decision, part.text(answer), {}) if decision.outcome == "different" else decision

    @classmethod
    def text(cls, value: Any) -> Any:
        """The answer as its language takes it, or None for what is none; Unreadable for what a person should see."""
        return str(value) if isinstance(value, str) else None

    def given(self, text: Text, p: Parameters, earlier: Any = None) -> Any:
        """The answer that a reference, a mistake or an equivalent stands for."""
        if not callable(text):
            return text
        carries = earlier is not None and self.follows in _defaults(text)
        return text(p, **{self.follows: earlier}) if carries else text(p)

    def judge(self, p: Parameters, ask: Ask, key: tuple[int, ...]) -> list[Verdict]:
        """One verdict: right, wrong with what can be said about it, or for a person."""
        from autograder.protocol.respondents import filled, unread_verdict, value_verdict  # no notebook asks anybody

        reply = ask(self._question(self.name))
        if reply.failure is not None:
            return [value_verdict(self.kind, self.name, reply)]
        if isinstance(reply.value, str) and len(reply.value) > MAX_LENGTH:
            length = f"{self.name} has {len(reply.value):,} characters; at most {MAX_LENGTH:,} are read."
            return [self._verdict(None, "too_long", f"{length} A grader will check this.")]
        try:
            answer = self.text(reply.value)
        except Unreadable as error:
            return [self._unreadable(error)]
        if answer is None or not filled(answer):
            return [unread_verdict(self.kind, self.name, reply.value, f"write {self.name} = {self.kind}(...)")]
        return self.verdicts(answer, p, ask)

    def verdicts(self, answer: Any, p: Parameters, ask: Ask) -> list[Verdict]:
        """What is said about an answer that is there: one verdict, where the kind has no more to say."""
        return [self._judged(answer, p, ask)]

    def questions(self, p: Parameters, key: tuple[int, ...]) -> list[Question]:
        """Its own answer; what the part before it says is known by then."""
        return [self._question(self.name)]

    def _question(self, name: str) -> Question:
        """What is asked after an answer."""
        return Question(kind="typed", name=name)

    def _judged(self, answer: Any, p: Parameters, ask: Ask) -> Verdict:
        earlier = self._earlier(p, ask)
        try:
            decision = self.compare(answer, p)
            if decision.outcome != "equal" and earlier is not None:
                decision = self._carried_forward(decision, answer, p, earlier)
            if decision.outcome != "equal":
                decision = self._otherwise(decision, answer, p)
        except Unreadable as error:
            return self._unreadable(error)
        return self.from_decision(decision, answer, p, earlier)

    def _unreadable(self, error: Unreadable) -> Verdict:
        return self._verdict(
            None, "unreadable", f"{self.name} cannot be read:\n{error.caret()}\nA grader will check this."
        )

    def _otherwise(self, first: Decision, answer: Any, p: Parameters) -> Decision:
        """The first alternative that the answer equals; undecided where that cannot be said of one of them."""
        others = [self.decide(self.given(item, p), answer, p) for item in self.alternatives if self.applies(item, p)]
        if found := next((other for other in others if other.outcome == "equal"), None):
            return found
        return next((other for other in others if other.outcome == "undecided"), first)

    def accepting(self, answers: Sequence[Any]) -> Part:
        """With further alternatives."""
        return replace(self, alternatives=[*self.alternatives, *map(str, answers)])

    def applies(self, subject: Any, p: Parameters) -> bool:
        """Whether the text is not None."""
        return self.given(subject, p) is not None

    def read_as(self, value: Any, p: Parameters) -> str:
        """Typeset, as its language reads it."""
        text = self.text(value)
        return f"$$\n{_latex(pickle.dumps((type(self), text, dict(self.declarations(p)))))}\n$$" if text else ""

    def mistake_in_words(self, mistake: Callable[..., Any], p: Parameters) -> str:
        """The line as it is typed."""
        text = "; ".join(line for line in str(self.given(mistake, p)).strip().split("\n") if line.strip())
        return f"As typed: `` {text} ``" if len(text) <= SHORT and "`" not in text else ""

    def right(self, p: Parameters) -> Any:
        """The official answer: where the part follows another, with the default of that keyword."""
        return self.reference(p) if callable(self.reference) else self.reference

    def _earlier(self, p: Parameters, ask: Ask) -> Any:
        """The answer to the part that this one follows; None where there is none, or nothing can follow from it."""
        if not self.follows:
            return None
        from autograder.protocol.respondents import filled

        reply = ask(self._question(self.follows))
        if reply.failure is not None or not filled(reply.value):
            return None
        earlier = str(reply.value) if isinstance(reply.value, int | float) else reply.value
        try:
            self.given(self.reference, p, earlier)
        except Exception:  # it is made for answers of the earlier part's kind
            return None
        return earlier

    def _carried_forward(self, first: Decision, answer: Any, p: Parameters, earlier: Any) -> Decision:
        """The decision against what follows from the student's own earlier answer, if anything does."""
        try:
            reference = self.given(self.reference, p, earlier)
            second = self.decide(reference, answer, p)
        except (Unreadable, AuthorError):
            return first  # nothing follows from an earlier answer that cannot be read
        if second.outcome == "equal":
            text = f"This follows correctly from your own answer to {self.follows}, so it counts as correct."
            return Decision(outcome="equal", code="carried_forward", message=text)
        return first if second.outcome == "different" else second

    def from_decision(self, decision: Decision, answer: Any, p: Parameters, earlier: Any) -> Verdict:
        """The decision in a student's words, under the name of the known mistake that it shows."""
        if decision.outcome == "equal":
            return self._verdict(True, "ok" if decision.code != "carried_forward" else decision.code, decision.message)
        if decision.outcome == "undecided":
            text = decision.message or "This could not be decided."
            return self._verdict(None, decision.code, f"{text} A grader will check this.")
        mistake = self._known(decision, answer, p, earlier)
        if isinstance(mistake, Decision):
            return self._verdict(None, mistake.code, f"{mistake.message} A grader will check this.")
        if mistake is not None:
            return self._verdict(False, mistake.__name__, inspect.getdoc(mistake) or "")
        if not self.hints:
            return self._verdict(False, decision.code, "This is not correct.")
        decision = self.explained(decision, answer, p)
        # The witness shows both values, the reference's too: it is for staff.
        return self._verdict(False, decision.code, decision.message, staff=decision.witness)

    def _known(
        self, decision: Decision, answer: Any, p: Parameters, earlier: Any
    ) -> Callable[..., Any] | Decision | None:
        """The first mistake that the decision names or that the answer equals; a decision where nobody can say."""
        named = next((mistake for mistake in self.mistakes if mistake.__name__ == decision.code), None)
        texts: list[tuple[Callable[..., Any], Any]] = []
        for mistake in self.mistakes:
            if mistake is named:
                break
            with contextlib.suppress(Unreadable, AuthorError):
                if self.applies(mistake, p):
                    texts.append((mistake, self.given(mistake, p, earlier)))
        same = next((place for place, (_, text) in enumerate(texts) if text == answer), None)  # to the letter
        others = [text for _, text in texts[:same]]
        place = self.first_equal(others, answer, p) if others else None
        place = same if place is None else place
        return place if isinstance(place, Decision) else named if place is None else texts[place][0]

    def first_equal(self, texts: Sequence[Any], answer: Any, p: Parameters) -> int | Decision | None:
        """The place of the first text that the answer equals; a decision where the limits were reached."""
        for place, text in enumerate(texts):
            with contextlib.suppress(Unreadable, AuthorError):
                if self.decide(text, answer, p).equal:
                    return place
        return None

    def explained(self, decision: Decision, answer: Any, p: Parameters) -> Decision:
        """The decision with what can be said to the student of a wrong answer that is no known mistake."""
        return decision

    def _verdict(self, ok: bool | None, code: str, message: str = "", staff: str = "") -> Verdict:
        return Verdict(check=self.kind, ok=ok, code=code, message=message, staff=staff)

    def written(self, value: Any) -> str:
        """Source text of an answer."""
        text = inspect.cleandoc(str(value))
        return f'r"""\n{text}\n"""' if "\n" in text else _quoted(text)

    def answer_cell(self, subject: Text, p: Parameters) -> str:
        """The answer cell of somebody who hands in `subject`."""
        value = self.written_by_author(p) if subject is self.reference else self.given(subject, p)
        return f"{self.name} = {self.kind}({self.written(value)})\n"

    def solution_cell(self, p: Parameters) -> str:
        """The assignment between nbgrader's marks, under lines that show the form."""
        line = f"{self.name} = {self.kind}({self.written(self.written_by_author(p))})"
        return f"# {self.name} = {self.kind}({self.example})\n{BEGIN}\n{line}\n{END}\n"

    def stub_cell(self, p: Parameters) -> str:
        """The assignment with nothing in its quotes."""
        return f"{self.name} = {self.kind}({self.blank})\n"

    def written_by_author(self, p: Parameters) -> Any:
        """The answer that the solution shows."""
        return self.right(p)

    example = 'r"..."'
    blank = 'r""'

    def also_right(self, p: Parameters) -> list[str]:
        """The texts of equivalents and alternatives."""
        return [str(self.given(item, p)).strip() for item in self.right_answers() if self.applies(item, p)]

    def cell_of(self, text: str, p: Parameters) -> str:
        """The text in the quotes of its kind."""
        return f"{self.name} = {self.kind}({self.written(text.strip())})\n"

    def right_answers(self) -> list[Any]:
        """The equivalents, and the alternatives of an open question."""
        return [*super().right_answers(), *self.alternatives]

    def blind_answers(self, p: Parameters, shown: Sequence[str]) -> dict[str, Any]:
        """The formulas of its own statement: the question is not its answer."""
        return {f"a formula of the statement, {formula!r}": formula for formula in shown}

    def copied_answers(self, p: Parameters, shown: Sequence[Sequence[str]]) -> Iterator[tuple[str, Any]]:
        """Each formula, and each of its sides, where it can be read; a bare name or number if the answer is one."""
        constant = bool(self.harmless_copy("", p))
        for text in dict.fromkeys(text for cell in shown for text in cell):
            answers = (answer for line in copying.lines(text) for answer in (line, *copying.sides(line)))
            for answer in dict.fromkeys(answers):
                if (constant or not copying.bare(answer)) and self._reads(answer, p):
                    yield text, answer

    def harmless_copy(self, subject: Any, p: Parameters) -> str:
        """A constant, or a variable by itself, is the answer to many questions."""
        right = str(self.right(p)).removeprefix("O")
        bare = copying.bare(right.replace(" ", "").replace("inf", "0"))
        return "the answer is a bare number or name" if bare else ""

    def _reads(self, answer: Any, p: Parameters) -> bool:
        """Whether it can be read as an answer at all."""
        from autograder.maths import guard

        declared = self.declarations(p)

        def show() -> bool:
            with contextlib.suppress(Unreadable, AuthorError):
                self.show_piece(answer, **declared)
                return True
            return False

        return bool(guard.once((self.kind, repr(declared), answer), show))

    def bound_again(self, p: Parameters, others: Sequence[Any]) -> Iterator[tuple[Any, str]]:
        """A constant, or a wrong answer to that part, with what would follow from it."""
        for earlier in ("0", "1", *others) if self.follows else ():
            with contextlib.suppress(Exception):  # nothing follows
                later = self.given(self.reference, p, earlier)
                if not self.decide(self.right(p), later, p).equal:
                    yield earlier, self.answer_cell(later, p)

    def terse(self) -> Part:
        """Without the search for a known mistake and for hints."""
        return replace(self, mistakes=(), hints=False)

    def mutants(self, p: Parameters) -> Iterator[Any] | None:
        """Slips in the text of the solution."""
        from autograder.parts.mutants import mutants_of_text

        return mutants_of_text(self.written_by_author(p))

    def harmless(self, agrees: Callable[[Part], bool]) -> str | None:
        """What the language accepts, it has proved."""
        return "proved equal by the answer language"

    def declarations(self, p: Parameters) -> Mapping[str, Any]:
        """What the language must know to read an answer, as keywords of its `parse`."""
        return {}

    def local_check(self, p: Parameters) -> str:
        """Reads the answer as the grader will, and shows it typeset."""
        words = "".join(f", {key}={value!r}" for key, value in self.declarations(p).items() if value)
        return f"form.check_{self.kind}({self.name!r}{words})"


def _quoted(text: str) -> str:
    return f'r"{text}"' if "\\" in text and '"' not in text else repr(text)


def _defaults(function: Callable[..., Any]) -> set[str]:
    """The arguments of a function that have a default."""
    parameters = inspect.signature(function).parameters.values()
    return {parameter.name for parameter in parameters if parameter.default is not parameter.empty}


@functools.lru_cache(maxsize=2048)
def _latex(kind_answer_words: bytes) -> str:
    """How an answer is read, as LaTeX: many students give the same. Unreadable also where it takes too long to say."""
    from autograder.maths import guard

    found = guard.call(__name__, "shown_latex", pickle.loads(kind_answer_words), seconds=SHOWN_SECONDS)  # noqa: S301 - our own
    if isinstance(found, Decision):
        raise Unreadable("time", "It takes too long to typeset this.")
    return str(found)


def shown_latex(kind: type[Typed], answer: Any, declared: Mapping[str, Any]) -> str:
    """What a student's preview shows of an answer; run in a process that can be killed."""
    return kind.show(answer, **declared).latex


def guarded(language: str, reference: Any, answer: Any, *, seconds: float | None = None, **options: Any) -> Decision:
    """`autograder.maths.<language>.decide` in a process that can be killed; Unreadable is raised here."""
    from autograder.maths import guard

    decision = guard.call(
        f"autograder.maths.{language}", "decide", (reference, answer), options, seconds=seconds or guard.SECONDS
    )
    assert isinstance(decision, Decision)
    return decision


def guarded_first(language: str, texts: Sequence[Any], answer: Any, **options: Any) -> int | Decision | None:
    """`autograder.maths.<language>.first_equal`, in one call for all texts."""
    from autograder.maths import guard

    try:
        found = guard.call(f"autograder.maths.{language}", "first_equal", (list(texts), answer), options)
    except (Unreadable, AuthorError):
        return None
    assert found is None or isinstance(found, int | Decision)
    return found

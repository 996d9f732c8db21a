"""Answers to points: earned, lost, held, shares; each question is asked once and every answer is kept."""

import pytest

from autograder import Expression, Function, Number, close, gradient, holds, tensors
from autograder.core import Answer, Question, Verdict
from autograder.grading.judge import award, judge_part
from autograder.protocol.answering import question_key
from autograder.protocol.respondents import _KNOWN as KNOWN
from autograder.protocol.respondents import Interview


def inputs(rng, p):
    """One tensor."""
    return tensors(rng, {}, x="3 2")


def total(x):
    """The sum."""
    return x.sum()


def grows(f, inputs, p):
    """It grows."""
    return True


THREE = Function(
    "f", points=10, inputs=inputs, reference=total, checks=[close(weight=2), gradient(weight=1), holds(grows, weight=1)]
)
ONE = Number("n", points=3, reference=lambda p: 1)

# verdicts' ok, standing, points of ten
AWARDS = [
    ((True, True, True), "earned", 10.0),
    ((True, False, True), "lost", 7.5),
    ((True, True, False), "lost", 7.5),
    ((True, False, False), "lost", 5.0),
    ((False, True, True), "lost", 0.0),
    ((False, False, False), "lost", 0.0),
    ((None, True, True), "held", 0.0),
    ((True, None, True), "held", 0.0),
    ((True, False, None), "held", 0.0),
    ((False, None, True), "lost", 0.0),
    ((), "lost", 0.0),
]


@pytest.mark.parametrize(("oks", "standing", "points"), AWARDS)
def test_awards(oks, standing, points):
    """A lost gate earns nothing, an undecided check holds all, the rest earns by weight."""
    verdicts = [Verdict(check=str(place), ok=ok, code="c") for place, ok in enumerate(oks)]
    assert award(THREE, verdicts) == (standing, points)


def test_a_part_without_checks_is_all_or_nothing():
    """A number has one verdict."""
    assert award(ONE, [Verdict(check="number", ok=True, code="ok")]) == ("earned", 3.0)
    assert award(ONE, [Verdict(check="number", ok=False, code="value")]) == ("lost", 0.0)


def test_shares_never_round_up_to_all():
    """Thirds are rounded, and a part that is not whole stays below its points."""
    part = Function("f", points=1, inputs=inputs, reference=total, checks=[close(weight=2), gradient(weight=1)])
    verdicts = [Verdict(check="a", ok=True, code="ok"), Verdict(check="b", ok=False, code="c")]
    assert award(part, verdicts) == ("lost", 0.6667)


def test_a_question_is_asked_once_and_kept():
    """Checks may ask the same thing again; the report holds each answer once."""
    asked = []

    def ask(question):
        asked.append(question)
        return Answer(value=len(asked))

    interview = Interview(ask)
    one, same, other = (Question(kind="call", name="f", arguments=(number,)) for number in (1, 1, 2))
    assert [interview(question).value for question in (one, same, other, one)] == [1, 1, 2, 1]
    assert len(asked) == 2 and [answer.value for _, answer in interview.answers] == [1, 2]


def test_question_keys_see_everything():
    """Kind, name, arguments and options all count."""
    base = {"kind": "call", "name": "f", "arguments": (1,), "options": {"a": 1}}
    changes = [{"kind": "gradient"}, {"name": "g"}, {"arguments": (2,)}, {"arguments": (1.0,)}, {"options": {"a": 2}}]
    keys = {question_key(Question(**{**base, **change})) for change in [{}, *changes]}
    assert len(keys) == 6 and question_key(Question(**base)) == question_key(Question(**base))


def test_judging_again_from_the_answers_gives_the_same():
    """An outcome's answers are all that a regrade needs, and no question is asked twice."""
    from functools import partial

    from autograder.protocol.answering import answer

    first = judge_part(THREE, {}, partial(answer, namespace={"f": lambda x: x.sum()}), (4,))
    stored = {question_key(question): reply for question, reply in first.answers}
    again = judge_part(THREE, {}, lambda question: stored[question_key(question)], (4,))
    assert (again.standing, again.points, again.verdicts) == (first.standing, first.points, first.verdicts)
    assert first.standing == "earned" and first.points == 10.0
    assert len(stored) == len(first.answers) > len(THREE.checks)


@pytest.mark.parametrize("failure", ["timeout", "memory", "exit", "missing"])
def test_code_that_does_not_come_back_is_not_asked_again(failure):
    """One question is enough to know; the other checks say so."""
    asked = []

    def ask(question):
        asked.append(question)
        return Answer(failure=failure)

    outcome = judge_part(THREE, {}, ask, (4,))
    assert len(asked) == 1 and [verdict.code for verdict in outcome.verdicts] == [failure, "not_reached", "not_reached"]
    assert outcome.standing == "lost"


def test_a_channel_that_breaks_is_held():
    """An exception of ours never becomes a mark."""

    def ask(question):
        raise OSError("the channel is gone")

    for part in (THREE, ONE):
        outcome = judge_part(part, {}, ask, (4,))
        assert outcome.standing == "held" and outcome.verdicts[0].code == "staff"
        assert "channel" not in outcome.verdicts[0].message and "channel is gone" in outcome.verdicts[0].staff


def test_a_check_that_breaks_is_held():
    """A property with a fault in it holds the part, since the gate has been passed."""
    from functools import partial

    from autograder.protocol.answering import answer

    def broken(f, inputs, p):
        """It is broken."""
        raise KeyError("oops")

    part = Function("f", points=1, inputs=inputs, reference=total, checks=[close(), holds(broken)])
    outcome = judge_part(part, {}, partial(answer, namespace={"f": total}), (4,))
    assert outcome.standing == "held" and outcome.points == 0.0


@pytest.mark.parametrize(
    "part",
    [Expression("a", points=1, domains={"x": "real"}, reference="x"), Number("a", points=1, reference=lambda p: 7)],
)
def test_what_a_verdict_quotes_can_be_written_to_a_file(part):
    """A text that was handed in may hold signs that no UTF-8 file can."""
    outcome = judge_part(part, {}, lambda question: Answer(value="x + \ud800\nx + \udfff"), (4,))
    assert outcome.standing == "held"
    for verdict in outcome.verdicts:
        assert verdict.message and (verdict.message + verdict.staff + verdict.witness).encode()


def test_the_same_answers_are_judged_once():
    """To the last bit: another answer is judged by itself, and what was given is what is kept."""
    part, asked = Function("f", points=1, inputs=inputs, reference=total, checks=[close()]), []
    questions = part.questions({}, (1,))

    def judged(value, key=(1,)):
        given = {question_key(question): Answer(value=value(question)) for question in questions}

        def ask(question):
            asked.append(question)
            return given[question_key(question)]

        return judge_part(part, {}, ask, key, given=given)

    def right(question):
        return total(*question.arguments)

    first, again = judged(right), judged(right)
    assert first.standing == again.standing == "earned" and len(asked) == len(questions)
    assert [question_key(question) for question, _ in again.answers] == [question_key(item) for item in questions]
    wrong = judged(lambda question: right(question) * (1 + 1e-9))
    near = judged(lambda question: right(question) * (1 + 1e-15))
    assert (wrong.standing, near.standing) == ("lost", "earned") and len(asked) > len(questions)
    assert wrong.answers[0][1].value != again.answers[0][1].value


def test_what_a_person_decides_is_not_remembered():
    """A fault of ours is tried again: it may be mended."""
    broken = [True]

    def fails(x):
        if broken[0]:
            raise OSError("no disk")
        return x.sum()

    part = Function("f", points=1, inputs=inputs, reference=fails, checks=[close()])
    broken[0] = False
    questions = part.questions({}, (1,))
    given = {question_key(question): Answer(value=total(*question.arguments)) for question in questions}
    part.kept.clear()
    KNOWN.clear()
    broken[0] = True
    assert judge_part(part, {}, lambda question: given[question_key(question)], (1,), given=given).standing == "held"
    part.kept.clear()
    KNOWN.clear()
    broken[0] = False
    assert judge_part(part, {}, lambda question: given[question_key(question)], (1,), given=given).standing == "earned"

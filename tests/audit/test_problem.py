"""The audit: what it reports, what is a fault and what a note, and that it hands in what a notebook would hold."""

import inspect
import io

import pytest
import torch
from rich.console import Console

from autograder import Choice, Expression, Function, Number, Problem, Written, close, form, gradient, holds, tensors
from autograder.audit import part as examining
from autograder.audit.mutation_score import strength
from autograder.audit.problem import AuditReport, audit
from autograder.audit.simulated_answers import handed_in, thoughtless, untouched
from autograder.authoring.variants import variant
from autograder.commands.audit_report import print_audit
from autograder.core import Question
from autograder.grading.judge import judge_part


def draw(rng):
    """One of nine."""
    return {"K": int(rng.integers(100, 109))}


def inputs(rng, p):
    """Inputs that see everything."""
    return tensors(rng, {}, x="3 2", y="3 2")


def zeros(rng, p):
    """Inputs that see little."""
    return {"x": torch.zeros(1, 1, dtype=torch.float64), "y": torch.zeros(1, 1, dtype=torch.float64)}


def total(x, y):
    """x + 2y."""
    return x + 2 * y


def swapped(x, y):
    """You swapped them."""
    return 2 * x + y


def swapped_again(x, y):
    """You swapped them, in other words."""
    return x + (x + y)


def double(x, y):
    """You doubled it."""
    return 2 * (x + 2 * y)


def off_by_one(x, y):
    """You added one."""
    return x + 2 * y + 1


def cut(x, y):
    """Nothing flows to y."""
    return x + 2 * y.detach()


def by_adding(x, y):  # noqa: D103 - an equivalent
    return y + x + y


def right(p):
    """The right option."""
    return "Yes."


def wrong(p):
    """Look again."""
    return "No."


TEXT = "For K = {{K}}.\n"


def problem(*parts, **changes):
    """A problem of these parts, or one that is sound, and its statement."""
    parts = parts or (
        Function(
            "f",
            points=3,
            inputs=[inputs, zeros],
            reference=total,
            checks=[close(weight=2), gradient()],
            mistakes=[swapped, off_by_one, cut],
            equivalents=[by_adding],
        ),
        Choice("c", points=1, reference=right, mistakes=[wrong]),
        Written("w", points=1, reference="Because.", rubric="A reason: 1."),
    )
    text = TEXT + "".join(f"\n## Part {{#{part.name}}}\n\nDo it.\n" for part in parts)
    made = {"title": "T", "version": 1, "source": "s", "parts": parts, "draw": draw, "variants": 5, "slug": "t"}
    return Problem(**{**made, **changes}), text


def test_a_sound_problem():
    """Every mistake loses, every equivalent keeps; what is weak is a note and no fault."""
    report = audit(*problem(), variants=3)
    assert report.faults == () and report.kill_score == (4, 4) and report.distinct == 9 and report.variants == 3
    part = report.parts[0]
    assert (part.killed, part.kept, part.equivalents) == (("swapped", "off_by_one", "cut"), 1, 1)
    assert report.notes == ("problems/t, part 'f': mistake 'cut' keeps 2 of 3 points (the prerequisite holds)",)


def test_progress_is_told():
    """Each part under each variant is a step, and the last step is the total."""
    steps = []
    audit(*problem(), variants=2, progress=lambda done, total: steps.append((done, total)))
    assert steps == [(number, 6) for number in range(1, 7)]


def test_the_same_seed_gives_the_same_report():
    """An audit can be repeated; another seed looks at other variants."""
    assert audit(*problem(), variants=2, seed=3) == audit(*problem(), variants=2, seed=3)


def test_mistakes_that_cannot_be_told_apart_are_noted():
    """The second of two equal mistakes is diagnosed as the first: a note, since it loses all the same."""
    part = Function("f", points=3, inputs=inputs, reference=total, checks=[close()], mistakes=[swapped, swapped_again])
    report = audit(*problem(part), variants=2)
    assert report.faults == () and "'swapped' and 'swapped_again' cannot be told apart under" in report.notes[0]


def test_weak_inputs_are_noted():
    """Which mistakes a hidden case would let pass, were there no other."""
    part = Function(
        "f", points=3, inputs=[inputs, zeros], reference=total, checks=[close()], mistakes=[swapped, off_by_one]
    )
    report = audit(*problem(part), variants=2)
    assert report.faults == ()
    assert report.notes == (
        "problems/t, part 'f': inputs zeros() alone may miss 1 of 2 mistakes (swapped); the other inputs catch them",
    )


def test_one_case_of_each_draw_shows_what_it_may_miss():
    """Further draws of the same inputs would show much the same; what a case is made from by other numbers, too."""
    looked = []

    class Counted(Function):
        def passes(self, subject, case):
            """Keeps what was tried on which inputs."""
            looked.append((subject.__name__, case.drawn_by))
            return super().passes(subject, case)

    part = Counted(
        "f", points=3, inputs=[inputs, zeros], reference=total, checks=[close()], mistakes=[swapped, off_by_one]
    )
    assert audit(*problem(part), variants=1).faults == ()
    assert looked == [(name, draw) for draw in ("inputs", "zeros") for name in ("swapped", "off_by_one")]


def test_inputs_that_see_nothing():
    """Where every hidden case is weak, the mistake survives: a fault, and a lower score."""
    part = Function("f", points=3, inputs=zeros, reference=total, checks=[close()], mistakes=[swapped, off_by_one])
    report = audit(*problem(part), variants=2)
    assert report.kill_score == (1, 2)
    assert any("mistake 'swapped' earns 3 of 3 points" in fault and "'K': 10" in fault for fault in report.faults)


def test_each_fault_is_said_once():
    """Under many variants a fault is one sentence, with the first variant's parameters."""
    part = Function("f", points=3, inputs=inputs, reference=total, checks=[close()], mistakes=[by_adding_documented])
    assert len(audit(*problem(part), variants=4).faults) == 1


def by_adding_documented(x, y):
    """No mistake at all."""
    return y + x + y


def test_a_mistake_that_is_right_in_some_variants_only():
    """A survivor under one variant is a survivor."""

    def scaled(x, y, *, p):
        """Scaled by p."""
        return x + (p["K"] - 98) * y

    def never_scaled(x, y):
        """You did not scale."""
        return x + 2 * y

    part = Function("f", points=3, inputs=inputs, reference=scaled, checks=[close()], mistakes=[never_scaled])
    report = audit(*problem(part), variants=9)
    assert report.kill_score == (0, 1) and "under {'K': 100}" in report.faults[0]


def test_a_property_is_not_taken_for_a_hint():
    """A mistake that a property catches is told by its answers, so that its own hint is read."""

    def is_linear(f, inputs, p):
        """Twice the arguments give twice the result."""
        return bool(torch.allclose(f(2 * inputs["x"], 2 * inputs["y"]), 2 * f(inputs["x"], inputs["y"]), rtol=1e-12))

    part = Function(
        "f",
        points=4,
        inputs=inputs,
        reference=total,
        checks=[form(), holds(is_linear)],
        mistakes=[off_by_one],
    )
    report = audit(*problem(part), variants=1)
    assert not any("hint" in fault for fault in report.faults) and report.kill_score == (1, 1)


def test_behind_a_lost_gate_nothing_is_asked():
    """Whatever came after would earn nothing; a mistake that passes the gate is heard to the end."""
    seen = []

    def looked_at(f, inputs, p):
        """Something holds."""
        seen.append(f(inputs["x"], inputs["y"]).sum().item() / (inputs["x"] + 2 * inputs["y"]).sum().item())
        return True

    for mistakes, wrong in ([swapped], False), ([double], True):
        seen.clear()
        gate = close() if mistakes == [swapped] else form()
        checks = [gate, holds(looked_at), *([close()] if gate.name == "form" else [])]
        part = Function("f", points=1, reference=total, inputs=inputs, checks=checks, mistakes=mistakes)
        assert audit(*problem(part), variants=1).kill_score == (1, 1)
        assert any(abs(ratio - 1) > 0.1 for ratio in seen) == wrong


def test_undecided_trivial_answers_are_faults():
    """A property that raises for a stranger's None would be held, and a person would have to look at nothing."""

    def adds(f, inputs, p):
        """It is the sum."""
        return bool((f(inputs["x"], inputs["y"]) == inputs["x"] + 2 * inputs["y"]).all())

    part = Function("f", points=3, inputs=inputs, reference=total, checks=[holds(adds)])
    faults = audit(*problem(part), variants=1).faults
    assert any("a function that returns None, could not be judged (staff: AttributeError" in fault for fault in faults)


def test_a_cell_that_lacks_what_the_function_has():
    """The function works in its file, but not in a notebook: the fault shows why."""
    part = Function("f", points=3, inputs=inputs, reference=uses_a_constant, checks=[close()])
    faults = audit(*problem(part), variants=1).faults
    assert "the reference earns 0 of 3 points" in faults[0] and "name 'SCALE' is not defined" in faults[0]


SCALE = 2


def uses_a_constant(x, y):
    """Uses a constant of its file."""
    return x + SCALE * y


def uses_torch(x, y):
    """Uses torch."""
    return torch.add(x, y, alpha=2)


def test_a_mistakes_cell_is_run_until_its_function_has_answered_as_it_does(monkeypatch):
    """Under the first variant; under the next ones its function answers. A right answer is run as a cell always."""
    run = []

    def counted(problem, part, cell, *more):
        run.append(cell)
        return handed_in(problem, part, cell, *more)

    monkeypatch.setattr(examining, "handed_in", counted)
    audit(*problem(), variants=3)
    assert sum("2 * x + y" in cell for cell in run) == 1 and sum("y + x + y" in cell for cell in run) == 3


@pytest.mark.parametrize(("setup", "faults"), [("import torch", 0), ("import math", 1)])
def test_the_setup_is_the_notebooks(setup, faults):
    """Only what the problem's setup imports is there."""
    part = Function("f", points=3, inputs=inputs, reference=uses_torch, checks=[close()])
    assert len(audit(*problem(part, setup=setup), variants=1).faults) == faults


def test_zero_variants_of_a_problem_that_cannot_draw():
    """Nothing is judged, and the report says why."""

    def broken(rng):
        raise KeyError("J")

    report = audit(*problem(draw=broken))
    assert report.problem_faults == ("problems/t: draw() raises KeyError: 'J'",) and report.variants == 0


def test_a_statement_is_rendered_for_every_variant():
    """A phrase that fails under one variant only is found."""
    made, text = problem(phrases=lambda p: {"word": {100: "hundred"}[p["K"]]})
    report = audit(made, text + "{{word}}", variants=9)
    assert any("KeyError" in fault for fault in report.problem_faults)


@pytest.mark.parametrize("kind", ["f", "c", "w", "n"])
def test_the_untouched_cell_gives_nothing(kind):
    """The released cell, run as it is, answers nothing."""
    made, _ = problem()
    part = made.part(kind) if kind != "n" else Number("n", points=1, reference=lambda p: 7)
    question = {"f": "call", "c": "value", "w": "text", "n": "value"}[kind]
    arguments = (torch.ones(1), torch.ones(1)) if kind == "f" else ()
    reply = untouched(made, part, {"K": 100})(Question(kind=question, name=kind, arguments=arguments))
    assert reply.failure in ("missing", "raised") or reply.value.strip() == ""
    assert judge_part(part, {"K": 100}, untouched(made, part, {"K": 100}), (0,)).verdicts[0].code == "missing"
    if kind == "f":
        assert "NotImplementedError" in reply.detail


def test_a_cell_that_stops_half_way_keeps_what_it_defined():
    """As in a notebook: a name that was bound before the exception is there."""
    made, _ = problem()
    ask = handed_in(made, made.part("c"), "c = 'a'\nraise ValueError('oops')\n")
    assert ask(Question(kind="value", name="c")).value == "a"
    ask = handed_in(made, made.part("c"), "raise ValueError('oops')\nc = 'a'\n")
    assert "ValueError: oops" in ask(Question(kind="value", name="c")).detail


def narrow(rng, p):
    """One row, and the same y each time."""
    return {**tensors(rng, {}, x="1 3"), "y": torch.ones(1, 3, dtype=torch.float64)}


def test_inputs_that_never_vary_are_noted():
    """Code that ignores an argument, or slips along an axis, could not be told from the right one."""
    sound = Function("f", points=3, inputs=inputs, reference=total, checks=[close()], mistakes=[swapped])
    assert audit(*problem(sound), variants=2).notes == ()
    weak = Function("f", points=3, inputs=narrow, reference=total, checks=[close()], mistakes=[swapped])
    said = [note.removeprefix("problems/t, part 'f': ").split(":")[0] for note in audit(*problem(weak)).notes]
    assert said == [
        "hidden argument 'y' is the same in every case",
        "axis 0 of hidden argument 'x' has size 1 in every case",
        "axis 0 of hidden argument 'y' has size 1 in every case",
    ]


def conventions(rng):
    """A rare word, a truth value, a number of many values."""
    return {"word": "rare" if rng.integers(12) == 0 else "usual", "deep": bool(rng.integers(2)), "K": _k(rng)}


def _k(rng):
    return int(rng.integers(100, 200))


def test_the_audited_variants_have_every_convention():
    """A rare value of a parameter is looked at first; what no audited variant has is said."""
    text = "{{word}} {{deep}} {{K}}\n\n## Part {#c}\n\nDo it.\n"
    made, _ = problem(Choice("c", points=1, reference=right, mistakes=[wrong]), draw=conventions)
    assert audit(made, text, variants=2).notes == ()
    (note,) = audit(made, text, variants=1).notes
    assert note.startswith("problems/t: no audited variant has ")
    assert note.count("=") == 2  # the other word and the other truth value


def test_a_part_that_cannot_be_examined_is_not_said_to_survive():
    """Its mistakes were not tried."""

    def broken(x, y):
        """Does not work."""
        raise ValueError

    part = Function("f", points=3, inputs=inputs, reference=broken, checks=[close()], mistakes=[swapped, off_by_one])
    assert "0 of 0 mistakes lose marks, 2 not tried; 1 fault." in printed(audit(*problem(part), variants=1))[0]


def rooted(x):
    """The root of the mean square, and one where all is zero."""
    return torch.sqrt((x * x).mean(-1).clamp(min=1e-12))


def divided(x):
    """Nothing keeps you from dividing by zero."""
    return (x * x).mean(-1) / torch.sqrt((x * x).mean(-1))


def with_a_row_of_zeros(rng, p):
    """One row is zero."""
    x = tensors(rng, {}, x="3 2")["x"]
    x[1] = 0
    return {"x": x}


def test_a_mistake_that_gives_no_number_reads_its_hint():
    """0/0 is recognised where the mistake gives it too, and earns nothing all the same."""
    part = Function("f", points=3, inputs=with_a_row_of_zeros, reference=rooted, checks=[close()], mistakes=[divided])
    report = audit(*problem(part), variants=1)
    assert report.faults == () and report.kill_score == (1, 1)


def turned_round(p, rng):
    """Arguments in the wrong order."""
    return tensors(rng, {}, x="3 2", y="3 2")


def test_inputs_that_raise_are_named_with_their_line_and_arguments():
    """The author reads which function raised, where, and what it is given."""
    part = Function("f", points=3, inputs=turned_round, reference=total, checks=[close()], mistakes=[swapped])
    (fault,) = audit(*problem(part), variants=2).faults
    assert fault.startswith("problems/t, part 'f': turned_round(rng, p) raises ")
    line = inspect.getsourcelines(turned_round)[1] + 2
    assert "in this order" in fault and fault.count("part 'f'") == 1
    assert f"(line {line})" in fault


def test_a_variable_in_front_of_a_constant_is_noted():
    """With a variable `e`, nobody can write Euler's number; with another letter there is nothing to say."""
    for name, notes in (("e", 1), ("x", 0)):
        part = Expression("f", points=1, domains={name: "positive"}, reference=f"{name}^2", mistakes=[cubed(name)])
        assert len(audit(*problem(part), variants=2).notes) == notes


def cubed(name):
    """A mistake in that letter."""

    def wrong_power(p):
        """One too many."""
        return f"{name}^3"

    return wrong_power


def test_names_are_not_cut_on_a_narrow_screen():
    """A table of eighty columns shows the whole name of every part."""
    name = "a_name_of_twenty_four_let"
    part = Choice(name, points=1, reference=right, mistakes=[wrong])
    out = io.StringIO()
    print_audit([audit(*problem(part), variants=1)], Console(file=out, width=80, no_color=True))
    assert name in out.getvalue()


def test_thoughtless_answers_of_every_kind():
    """Each kind has some, and a function's are None, zeros and its first argument."""
    made, _ = problem()
    for part, number in ((made.part("f"), 4), (made.part("c"), 3), (made.part("w"), 2)):
        assert len(list(thoughtless(part, {"K": 100}))) == number
    assert len(made.part("c").blind_answers({"K": 100}, ())) == 3  # those that may wait for a grader


def printed(*reports: AuditReport) -> tuple[str, int]:
    """What the table reads like, and how many faults it says there are."""
    out = io.StringIO()
    number = print_audit(reports, Console(file=out, width=200, no_color=True))
    return out.getvalue(), number


def test_the_table():
    """One line a part, the notes, a sentence per fault, and the score."""
    part = Function("f", points=3, inputs=zeros, reference=total, checks=[close()], mistakes=[swapped, off_by_one])
    text, number = printed(audit(*problem(), variants=1), audit(*problem(part), variants=1))
    assert number == 3 and "fault: problems/t, part 'f': mistake 'swapped' earns 3 of 3 points" in text
    assert "5 of 6 mistakes lose marks; 3 faults." in text and "note: problems/t" in text
    assert "│ function" in text and "1/2" in text


def test_square_brackets_in_sentences_are_shown():
    """Sentences are no markup: '[0]' does not vanish."""
    report = AuditReport(slug="t", variants=1, drawn=1, distinct=1, problem_faults=("x [red] [0] y",))
    assert "fault: x [red] [0] y" in printed(report)[0]


def test_no_problems_at_all():
    """An empty table is no error."""
    assert printed()[1] == 0


def test_a_visible_check_that_stops_a_right_answer():
    """What calls a right answer malformed would send a student the wrong way."""

    class Strict(Number):
        def local_check(self, p):
            """Refuses everything but whole numbers."""
            return f"assert type({self.name}) is int, 'no whole number'"

    part = Strict("n", points=1, reference=seven, equivalents=[seven_point])
    (fault,) = audit(*problem(part), variants=2).faults
    assert (
        "the visible check rejects equivalent 'seven_point', which is correct: AssertionError: no whole number" in fault
    )


def test_a_visible_check_is_made_once_for_all_right_answers_of_a_variant():
    """Making one may run the reference, or train it."""
    made = []

    class Counted(Number):
        def local_check(self, p):
            """Says nothing."""
            made.append(p)
            return ""

    part = Counted("n", points=1, reference=seven, equivalents=[seven_point])
    planned = audit(*problem(part), variants=2)
    assert planned.faults == () and len(made) == planned.variants


def test_a_visible_check_is_run_once_on_the_same_cell(monkeypatch):
    """Variants have answer cells in common: what the check says of one does not change."""
    seen = []

    def looked(problem, part, text, cell):
        seen.append((text, cell))
        return ""

    monkeypatch.setattr("autograder.audit.part.visible_check", looked)
    part = Number("n", points=1, reference=seven, equivalents=[seven_point])
    assert audit(*problem(part), variants=3).faults == ()
    assert len(seen) == len(set(seen)) == 2


def test_no_hint_is_looked_for_where_somebody_without_knowledge_earns_nothing():
    """A student would read it, and nobody does here; an answer that earns is reported in a student's words."""
    looked = []

    class Explained(Expression):
        def explained(self, decision, answer, p):
            """Counts who is explained to."""
            looked.append(answer)
            return decision

    class Trivial(Explained):
        def trivial_answers(self, p):
            """One that is wrong, beside nothing at all."""
            return {**super().trivial_answers(p), "x": "x"}

    part = Trivial("f", points=1, domains={"x": "positive"}, reference="x + ln(x)")
    assert audit(*problem(part), variants=1).faults == () and looked == []
    free = Explained("f", points=1, domains={"x": "positive"}, reference="x - x")
    (fault, *_) = audit(*problem(free), variants=1).faults
    assert "an answer without knowledge, 0, earns 1 of 1 points" in fault


def seven(p):
    """Seven."""
    return 7


def seven_point(p):
    """Seven, too."""
    return 7.0


def only_when_high(p):
    """You took the larger one."""
    return "2*x" if p["K"] >= 105 else None


def test_a_mistake_may_be_impossible_in_some_variants():
    """None where nobody can make it: it is not handed in there, and it is listed where it was made at all."""
    part = Expression("double", points=1, domains={"x": "real"}, reference="x", mistakes=[only_when_high])
    problem = Problem(title="t", version=1, source="t", draw=draw, variants=9, parts=[part])
    text = "{{K}}\n\n## One {#double}\n\nOne."
    low, all_of_them = audit(problem, text, variants=1), audit(problem, text, variants=9)
    made = [variant(problem, seed).parameters["K"] >= 105 for seed in range(1)]
    assert low.kill_score == (sum(made), sum(made)) and all_of_them.kill_score == (1, 1)
    assert low.faults == all_of_them.faults == ()


@pytest.mark.parametrize("step", [audit, lambda problem, text: strength(problem)], ids=["audit", "strength"])
def test_torch_takes_one_thread(step):
    """Whatever torch was told before, references and students' functions are computed on one thread."""
    seen = []

    def threads(rng, p):
        """Inputs that note how many threads there are."""
        seen.append(torch.get_num_threads())
        return inputs(rng, p)

    torch.set_num_threads(2)
    step(*problem(Function("total", points=1, reference=total, inputs=threads, checks=[close()])))
    assert set(seen) == {1}

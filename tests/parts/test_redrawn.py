"""Hidden inputs once more: the same sizes and choices, other numbers, and what only those find out."""

import functools

import numpy as np
import pytest
import torch

from autograder import Function, Module, buffers, close, gradient, sizes, tensors, unchanged
from autograder.errors import AuthorError
from autograder.grading.judge import judge_part
from autograder.parts.redrawn import HUGE, LARGE, SMALL, redrawn
from autograder.protocol.answering import answer

KEY = (1, 2, 3)


def draws(rng):
    """Whole numbers, choices and real numbers of each kind, in one order."""
    first = [rng.integers(100), rng.permutation(9).tolist()]
    real = [rng.standard_normal((3, 4)), rng.normal(5.0, 2.0, (2, 3)), rng.uniform(1, 2, 5), rng.random(3)]
    real += [rng.dirichlet([2.0, 2.0]), rng.standard_normal(), rng.normal()]
    return [*first, rng.choice([2, 3, 5, 7]), rng.integers(1000, size=5).tolist()], real


@pytest.mark.parametrize("how", ["", "large", "small", "zeros", "huge"])
def test_whole_numbers_stay_and_real_ones_do_not(how):
    """Sizes are those of the case that is drawn again; no real number is, and uniform ones keep their bounds."""
    (whole, real), (again, others) = draws(np.random.default_rng(KEY)), draws(redrawn(KEY, how))
    assert [str(item) for item in whole] == [str(item) for item in again]
    assert [np.shape(item) for item in real] == [np.shape(item) for item in others]
    assert not any(np.array_equal(one, other) for one, other in zip(real, others, strict=True))
    assert (others[2] >= 1).all() and (others[2] <= 2).all() and others[4].sum() == pytest.approx(1)
    assert str(draws(redrawn(KEY, how))) == str((again, others))


def test_how_they_are_altered():
    """The first array is large or huge, every one small; zeros are a row and one entry, and never all there is."""
    plain, large, small, zeros, huge = (draws(redrawn(KEY, how))[1] for how in ("", "large", "small", "zeros", "huge"))
    assert np.allclose(huge[0], HUGE * plain[0]) and np.allclose(huge[1], plain[1])
    assert np.allclose(large[0], LARGE * plain[0]) and np.allclose(large[1], plain[1])
    assert np.allclose(small[0], SMALL * plain[0]) and np.allclose(small[1] - 5, SMALL * (plain[1] - 5))
    assert (zeros[0] == 0).all(1).sum() == 1 and 4 <= (zeros[0] == 0).sum() <= 5
    assert zeros[5] != 0 and (redrawn(KEY, "zeros").standard_normal((1, 1)) != 0).all()


def inputs(rng, p):
    """Scores of some positions, in sizes that seldom come twice."""
    return tensors(rng, sizes(rng, "T S"), scores="T S")


def weights(scores):
    """A causal softmax."""
    return torch.softmax(scores.masked_fill(torch.ones_like(scores).triu(1) > 0, -torch.inf), -1)


def clamped(scores):
    """No weight is one."""
    return weights(scores).clamp(max=0.999)


def masks_zeros(scores):
    """Hides what is zero."""
    kept = scores.tril()
    return torch.softmax(kept.masked_fill(kept == 0, -torch.inf), -1)


def epsilon(scores):
    """Something is added under the root."""
    return scores / (scores.square().sum(-1, keepdim=True) + 1e-12).sqrt()


def unit(scores):
    """Rows of length one."""
    return scores / scores.square().sum(-1, keepdim=True).sqrt()


def gates(scores):
    """A logistic function."""
    return torch.sigmoid(scores)


def never_shut(scores):
    """It never reaches its ends."""
    return torch.sigmoid(scores).clamp(1e-8, 1 - 1e-8)


def torch_relu(scores):
    """A rectifier."""
    return torch.relu(scores)


def once(function):
    """The function, whose results are kept by shape."""

    @functools.cache
    def kept(shape):
        return function(now[0])

    now = [None]

    def called(scores):
        now[0] = scores
        return kept(tuple(scores.shape))

    return called


def first_size_only(function):
    """The function, which goes on with the values that it was first called with."""
    seen = {}

    def called(scores):
        return function(seen.setdefault(scores.shape, scores.detach()) * 1.0)

    return called


def counted(function):
    """The function, wrong from its sixth call on."""
    calls = []

    def called(scores):
        calls.append(1)
        return function(scores) * (1 if len(calls) < 6 else 2)

    return called


ROWS = [
    (weights, weights, (), "earned"),
    (weights, lambda scores: weights(scores.clone()), (), "earned"),
    (weights, clamped, (), "lost"),
    (weights, masks_zeros, (), "lost"),
    (gates, lambda scores: 1 / (1 + torch.exp(-scores)), (), "earned"),
    (gates, never_shut, (), "lost"),
    (gates, never_shut, ["huge"], "earned"),
    (unit, unit, ["zeros"], "earned"),
    (unit, epsilon, ["zeros"], "lost"),
    (weights, once(weights), (), "lost"),
    (weights, first_size_only(weights), (), "lost"),
    (weights, counted(weights), (), "lost"),
]


@pytest.mark.parametrize(("reference", "student", "without", "standing"), ROWS)
def test_what_other_numbers_find_out(reference, student, without, standing):
    """Clamps, masks made from zeros, epsilons and results that are kept lose without an input of the author's."""
    also = [how for how in ("large", "small", "zeros", "huge") if how not in without]
    part = Function("f", points=1, reference=reference, inputs=inputs, checks=[close()], also=also)
    ask = functools.partial(answer, namespace={"f": student})
    assert judge_part(part, {}, ask, KEY).standing == standing


def test_an_alteration_that_there_is_not():
    """A misspelt word, or one word where a list belongs, is heard."""
    with pytest.raises(AuthorError, match=r"there is no 'larg'.*did you mean"):
        Function("f", points=1, reference=weights, inputs=inputs, checks=[close()], also=["larg"])


def test_doing_nothing_changes_nothing_and_earns_nothing():
    """`unchanged()` counts beside what is right, and cannot be all there is."""
    part = Function("f", points=4, reference=weights, inputs=inputs, checks=[close(weight=3), unchanged()])
    for student, points in ((weights, 4), (lambda s: weights(s.tril_()), 3), (lambda s: s * 0, 0)):
        assert judge_part(part, {}, functools.partial(answer, namespace={"f": student}), KEY).points == points
    with pytest.raises(AuthorError, match="passed by whoever does nothing"):
        Function("f", points=1, reference=weights, inputs=inputs, checks=[close(weight=0), unchanged()])


def test_no_gradient_at_a_kink():
    """At zero a rectifier has more than one right gradient: where zeros were put in, values alone are compared."""
    part = Function("f", points=1, reference=torch_relu, inputs=inputs, checks=[close(), gradient()])
    for student, points in ((lambda scores: scores.clamp(min=0), 1.0), (lambda scores: scores.abs(), 0.0)):
        assert judge_part(part, {}, functools.partial(answer, namespace={"f": student}), KEY).points == points


class Norm(torch.nn.Module):
    """Takes off a running mean."""

    def __init__(self, width):
        super().__init__()
        self.gain = torch.nn.Parameter(torch.ones(width))
        self.register_buffer("mean", torch.zeros(width))

    def forward(self, x):
        """The gain times what is left."""
        if self.training:
            self.mean = 0.9 * self.mean + 0.1 * x.detach().mean(0)
        return self.gain * (x - self.mean)


class NoUpdate(Norm):
    """Never learns a mean."""

    def forward(self, x):
        """As in evaluation."""
        return self.gain * (x - self.mean)


class Late(Norm):
    """Updates the mean after it was used."""

    def forward(self, x):
        """The mean of before."""
        mean = self.mean
        super().forward(x)
        return self.gain * (x - mean)


class OtherBuffer(Norm):
    """The mean has another name."""

    def __init__(self, width):
        super().__init__(width)
        self.running = self.mean
        del self.mean

    @property
    def mean(self):
        """The buffer."""
        return self.running

    @mean.setter
    def mean(self, value):
        self.running = value


class Linear(torch.nn.Module):
    """A gain, and a slip in what is kept."""

    def __init__(self, width):
        super().__init__()
        self.gain = torch.nn.Parameter(torch.ones(width))
        self.last = None

    def forward(self, x):
        """The gain times x, or times what was there before where the slip shows."""
        last, self.last = self.last, x.detach()
        return self.gain * (x if last is None or not self.slips() else last)

    def slips(self):
        """Whether the last x takes the place of this one."""
        return False


class KeptInTraining(Linear):
    """Keeps in training."""

    def slips(self):
        """In training."""
        return self.training


class KeptInEvaluation(Linear):
    """Keeps in evaluation."""

    def slips(self):
        """In evaluation."""
        return not self.training


@pytest.mark.parametrize(("student", "points"), [(Linear, 2.0), (KeptInTraining, 0.0), (KeptInEvaluation, 0.0)])
def test_what_is_kept_between_calls(student, points):
    """A second call of the same object is asked for in training and in evaluation, without a word of the author's."""
    part = Module("M", points=2, reference=Linear, inputs=training, checks=[close(), gradient()])
    outcome = judge_part(part, {}, functools.partial(answer, namespace={"M": student}), KEY)
    assert outcome.points == points, outcome.verdicts


def script(rng, p):
    """Two batches in training, then evaluation."""
    drawn = tensors(rng, {}, x="4 3", y="4 3", z="4 3")
    before = [("call", {"x": drawn["x"]}), ("call", {"x": drawn["y"]}), ("eval",)]
    return {"init": {"width": 3}, "before": before, "call": {"x": drawn["z"]}}


def training(rng, p):
    """One call in training."""
    return {"init": {"width": 3}, "call": tensors(rng, {}, x="4 3")}


def loaded(rng, p):
    """Evaluation with a mean that was stored."""
    drawn = tensors(rng, {}, x="4 3", mean="3")
    return {"init": {"width": 3}, "before": [("eval",)], "call": {"x": drawn["x"]}, "buffers": {"mean": drawn["mean"]}}


SCRIPTS = [
    (script, [close(), gradient("gain")], Norm, 2.0),
    (script, [close(), gradient()], OtherBuffer, 2.0),
    (script, [close(), gradient()], NoUpdate, 0.0),
    (script, [close(), gradient()], Late, 2.0),
    (training, [close(), gradient()], Late, 0.0),
    (training, [close(), buffers()], Norm, 2.0),
    (training, [close(), buffers()], OtherBuffer, 1.0),
    (loaded, [close(), gradient()], Norm, 2.0),
    (loaded, [close(), gradient()], OtherBuffer, 0.0),
]


@pytest.mark.parametrize(("draw", "checks", "student", "points"), SCRIPTS)
def test_scripts_of_calls(draw, checks, student, points):
    """Training and evaluation, calls before the one that counts, buffers compared or loaded where that is asked."""
    part = Module("M", points=2, reference=Norm, inputs=draw, checks=checks)
    outcome = judge_part(part, {}, functools.partial(answer, namespace={"M": student}), KEY)
    assert outcome.points == points, outcome.verdicts


@pytest.mark.parametrize("step", [("calls", {}), ("eval", 1), ("call", {"y": 1}), ("call",)])
def test_steps_that_there_are_not(step):
    """A slip in a script is the author's."""

    def slipped(rng, p):
        return {**training(rng, p), "before": [step]}

    with pytest.raises(AuthorError):
        Module("M", points=2, reference=Norm, inputs=slipped, checks=[close()]).cases({}, KEY)

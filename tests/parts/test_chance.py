"""Answers that draw random numbers, or train: near misses on both sides, and how often chance misleads the judge."""

import dataclasses
import math
import re
from pathlib import Path

import numpy as np
import pytest
import torch

from autograder import Sampled, Trained
from autograder.authoring.loading import load
from autograder.authoring.variants import variant
from autograder.core import Question
from autograder.errors import AuthorError
from autograder.grading.judge import judge_part
from autograder.parts.sampled import relative_entropy
from autograder.protocol.answering import answer
from autograder.protocol.respondents import known, local
from benchmarks import chances

ROOT = Path(__file__).parents[2]
KEY = (1, 2, 3)


def judged(part, subject):
    """Standing and first code of what somebody hands in."""
    outcome = judge_part(part, {}, local(subject, part.name, {}), KEY)
    return outcome.standing, next((verdict.code for verdict in outcome.verdicts if not verdict.ok), "ok")


# Dropout: a mask, and what is kept is scaled


def entries(rng, p):
    """Entries of which none is zero."""
    return {"x": torch.from_numpy(rng.uniform(1, 2, (60, 70))), "keep": float(rng.choice([0.3, 0.6, 0.9]))}


def dropout(x, keep):
    """Each entry is kept with probability keep and scaled, or is zero."""
    return x * (torch.rand_like(x) < keep) / keep


def kept(drawn, inputs, p):
    """Each entry is kept with the probability that is given."""
    yield drawn != 0, inputs["keep"]


def neighbours(drawn, inputs, p):
    """Whether an entry is kept does not depend on its neighbours."""
    yield (drawn[:, 0::2] != 0) & (drawn[:, 1::2] != 0), inputs["keep"] ** 2
    yield (drawn[0::2] != 0) & (drawn[1::2] != 0), inputs["keep"] ** 2


def scale(drawn, inputs, p):
    """What is kept is scaled, so that the mean stays as it is."""
    right = (drawn == 0) | ((drawn * inputs["keep"] / inputs["x"] - 1).abs() < 1e-6)
    yield right, 1.0


def dropped(x, keep):
    """You keep what should be dropped."""
    return x * (torch.rand_like(x) >= keep) / keep


DROPOUT = Sampled(
    "dropout", points=3, reference=dropout, inputs=entries, statistics=[kept, neighbours, scale], mistakes=[dropped]
)
ANSWERS = [
    ("functional", lambda x, keep: torch.nn.functional.dropout(x, 1 - keep), "earned", "ok"),
    ("numpy", lambda x, keep: x * torch.from_numpy(np.random.binomial(1, keep, x.shape)) / keep, "earned", "ok"),
    ("bernoulli", lambda x, keep: torch.bernoulli(torch.full_like(x, keep)) * x / keep, "earned", "ok"),
    ("a tenth more", lambda x, keep: x * (torch.rand_like(x) < 1.1 * keep) / keep, "lost", "kept"),
    ("half", lambda x, keep: x * (torch.rand_like(x) < 0.5) / keep, "lost", "kept"),
    ("unscaled", lambda x, keep: x * (torch.rand_like(x) < keep), "lost", "scale"),
    ("by rows", lambda x, keep: x * (torch.rand(len(x), 1) < keep) / keep, "lost", "kept"),
    ("by columns and rows", lambda x, keep: x * (torch.rand(60, 1) < keep**0.5) * (torch.rand(70) < keep**0.5) / keep,
     "lost", "kept"),
    ("a seed", lambda x, keep: x * (torch.rand(x.shape, generator=torch.Generator().manual_seed(1)) < keep) / keep,
     "lost", "repeats"),
    ("the wrong ones", lambda x, keep: x * (torch.rand_like(x) >= keep) / keep, "lost", "dropped"),
    ("nothing", lambda x, keep: x, "lost", "repeats"),
    ("nan", lambda x, keep: x / 0 * torch.rand_like(x), "lost", "finite"),
    ("a row", lambda x, keep: dropout(x, keep)[0], "lost", "shape"),
    ("single", lambda x, keep: dropout(x, keep).float(), "lost", "dtype"),
    ("an error", lambda x, keep: 1 / 0, "lost", "raised"),
]  # fmt: skip


@pytest.mark.parametrize(("subject", "standing", "code"), [row[1:] for row in ANSWERS], ids=[row[0] for row in ANSWERS])
def test_dropout_is_judged_by_its_law(subject, standing, code):
    """Whatever generator it uses; a law that is near the right one is lost, with the statistic that shows it."""
    found = judged(DROPOUT, subject)
    assert found == (standing, code) or (code == "kept" and found == (standing, "neighbours"))


def test_a_later_statistic_costs_its_share():
    """Who does not scale keeps the points of the other two."""
    outcome = judge_part(DROPOUT, {}, local(lambda x, keep: x * (torch.rand_like(x) < keep), "dropout", {}), KEY)
    assert (outcome.standing, outcome.points) == ("lost", 2.0)


def test_a_call_is_seeded_and_leaves_the_generators_as_they_were():
    """The same seed draws the same numbers in torch, numpy and Python; the notebook's own go on where they were."""

    def draws():
        import random

        return [float(torch.rand(())), float(np.random.random()), random.random()]

    before = torch.get_rng_state()
    first, again, other = (
        answer(Question(kind="call", name="f", options={"seed": seed}), {"f": draws}).value for seed in (3, 3, 4)
    )
    assert first == again and all(a != b for a, b in zip(first, other, strict=True))
    assert torch.equal(before, torch.get_rng_state())


@pytest.mark.parametrize(
    ("word", "value", "said"),
    [
        ("statistics", [], "has no statistics"),
        ("statistics", [lambda drawn, inputs, p: []], "docstring must say"),
        ("rate", 0.0, "above 0"),
    ],
)
def test_slips_of_an_author_who_samples(word, value, said):
    """No statistic, one that does not say what must hold, a rate that nothing has."""
    with pytest.raises(AuthorError, match=said):
        dataclasses.replace(DROPOUT, checks=(), **{word: value})


def test_the_stated_rate_holds_whatever_the_mean():
    """Over 1,000 seeds, a rate of one in twenty is not exceeded; it is not empty either: some samples are rejected."""
    rng, rate, alarms = np.random.default_rng(5), 0.05, []
    for mean in (0.01, 0.3, 0.5, 0.97):
        averages = rng.binomial(200, mean, 1_000) / 200
        alarms.append(sum(200 * relative_entropy(float(a), mean) > math.log(2 / rate) for a in averages))
    assert max(alarms) <= 1_000 * rate and sum(alarms) > 0


def test_a_share_of_the_rate_for_every_statistic_and_every_case():
    """All together they have the rate that the statement prints."""
    cases = DROPOUT.cases({}, KEY)
    gate, *others = DROPOUT.checks  # the gate asks for another seed as well
    assert sum(check.rate for check in (gate, gate, *others)) * len(cases) == pytest.approx(1e-6)
    assert "$10^{-6}$" in DROPOUT.statement({})


def test_what_is_almost_certain_may_be_drawn_twice():
    """Where all entries are kept nearly always, two equal masks are no sign of a seed; where half are, they are."""
    for keep, standing in ((0.9999, "earned"), (0.5, "lost")):
        part = dataclasses.replace(
            DROPOUT, checks=(), inputs=lambda rng, p, keep=keep: {**entries(rng, p), "keep": keep}, statistics=[kept]
        )
        seeded = lambda x, keep: x * (torch.rand(x.shape, generator=torch.Generator()) < keep) / keep  # noqa: E731
        assert judged(part, seeded)[0] == standing


# Normal initialisation


def widths(rng, p):
    """Two widths."""
    return {"fan_in": int(rng.integers(60, 90)), "fan_out": int(rng.integers(60, 90))}


def normal(fan_in, fan_out):
    """A matrix of normal entries of variance one over the width."""
    return torch.randn(fan_out, fan_in) / fan_in**0.5


QUANTILES = torch.tensor([0.05, 0.25, 0.5, 0.75, 0.95], dtype=torch.float64)


def quantiles(drawn, inputs, p):
    """The entries are normal, with the variance that is asked for."""
    for quantile, bound in zip(QUANTILES.tolist(), torch.special.ndtri(QUANTILES).tolist(), strict=True):
        yield drawn < bound / inputs["fan_in"] ** 0.5, quantile


INITIALISED = Sampled("init", points=1, reference=normal, inputs=widths, statistics=[quantiles], trials=5)
LAWS = [
    ("normal_", lambda fan_in, fan_out: torch.empty(fan_out, fan_in).normal_(0, fan_in**-0.5), "earned"),
    ("numpy", lambda fan_in, fan_out: torch.tensor(np.random.randn(fan_out, fan_in) / fan_in**0.5), "earned"),
    ("uniform", lambda fan_in, fan_out: (torch.rand(fan_out, fan_in) - 0.5) * (12 / fan_in) ** 0.5, "lost"),
    ("kaiming", lambda fan_in, fan_out: torch.randn(fan_out, fan_in) * (2 / fan_in) ** 0.5, "lost"),
    ("variance", lambda fan_in, fan_out: torch.randn(fan_out, fan_in) / fan_in, "lost"),
    ("a tenth more", lambda fan_in, fan_out: torch.randn(fan_out, fan_in) * 1.1 / fan_in**0.5, "lost"),
    ("shifted", lambda fan_in, fan_out: (torch.randn(fan_out, fan_in) + 0.1) / fan_in**0.5, "lost"),
]


@pytest.mark.parametrize(("subject", "standing"), [row[1:] for row in LAWS], ids=[row[0] for row in LAWS])
def test_a_law_on_the_line_is_judged_by_its_quantiles(subject, standing):
    """The shape of the law counts, not its mean and variance alone."""
    assert judged(INITIALISED, subject)[0] == standing


# Training


def lines(rng, p):
    """Points on a noisy line, and what they would be without noise."""
    x = torch.from_numpy(rng.standard_normal((60, 3)))
    w = torch.from_numpy(rng.standard_normal(3))
    return {
        "x": x[:40],
        "y": x[:40] @ w + 0.1 * torch.from_numpy(rng.standard_normal(40)),
        "new": x[40:],
        "hidden": x[40:] @ w,
    }


def fit(x, y, new):
    """Predictions of a linear model."""
    w = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    for _ in range(40):
        (slope,) = torch.autograd.grad((x @ w - y).square().mean(), w)
        w = (w - 0.2 * slope).detach().requires_grad_()
    return new @ w.detach()


def explained(predictions, truth, p):
    """The score is the share of the variance that is explained."""
    return float(1 - (predictions - truth).square().mean() / truth.square().mean())


def descending(share, steps=40):
    """A model that is trained, whose predictions are then made smaller."""

    def train(x, y, new):
        w = torch.zeros(3, dtype=torch.float64, requires_grad=True)
        for _ in range(steps):
            loss = (x @ w - y).square().mean()
            loss.backward()
            with torch.no_grad():
                w -= 0.2 * w.grad
            w.grad = None
        return share * (new @ w.detach())

    return train


def zeros(x, y, new):
    """You predict nothing."""
    return torch.zeros(len(new), dtype=torch.float64)


TRAINED = Trained(
    "fit", points=2, reference=fit, inputs=lines, score=explained, reach=0.9, fail=0.6, steps=40, mistakes=[zeros]
)
MODELS = [
    ("backward", descending(1), "earned", "ok"), ("solved", lambda x, y, new: new @ torch.linalg.lstsq(x, y).solution,
     "earned", "ok"),
    ("single", lambda x, y, new: fit(x, y, new).float(), "earned", "ok"),
    ("numpy", lambda x, y, new: fit(x, y, new).numpy(), "earned", "ok"),
    ("good enough", descending(0.72), "earned", "ok"), ("not quite", descending(0.67), "held", "between"),
    ("just not too bad", descending(0.40), "held", "between"), ("too bad", descending(0.33), "lost", "not_learned"),
    ("one gradient too many", descending(1, 41), "lost", "raised"),
    ("nothing", lambda x, y, new: new[:, 0] * 0, "lost", "zeros"),
    ("nan", lambda x, y, new: new[:, 0] * float("nan"), "lost", "not_learned"),
    ("a column", lambda x, y, new: fit(x, y, new)[:, None], "lost", "shape"),
    ("a list", lambda x, y, new: fit(x, y, new).tolist(), "lost", "type"),
]  # fmt: skip


@pytest.mark.parametrize(("subject", "standing", "code"), [row[1:] for row in MODELS], ids=[row[0] for row in MODELS])
def test_training_is_judged_by_predictions(subject, standing, code):
    """Good enough earns, too bad is lost, and between them a person looks; the budget counts gradients."""
    assert judged(TRAINED, subject) == (standing, code)


def test_what_is_hidden_stays_with_the_judge():
    """No question holds the truth."""
    (case, *_) = TRAINED.cases({}, KEY)
    asked = TRAINED.questions({}, KEY)
    assert case.options["hidden"] is not None
    assert all(set(question.options) == {"seed", "gradients"} and len(question.arguments) == 3 for question in asked)


def test_further_data_sets_are_none_of_the_author_s_draws():
    """All data sets count together: what one of them shows by itself is noted for the first one alone."""
    cases = TRAINED.cases({}, KEY)
    assert [case.drawn_by for case in cases] == ["lines", "", "", "", ""]


def test_a_known_mistake_that_answers_for_itself_trains_no_further():
    """Whatever is malformed shows on the first data set; who it is need not be found out."""
    trained = []

    def texts(x, y, new):
        """You return no numbers."""
        trained.append(len(new))
        return "none"

    part = dataclasses.replace(TRAINED, mistakes=[zeros, texts])
    (verdict,) = part.judge({}, known(texts, "fit", {}), KEY)
    assert (verdict.code, len(trained)) == ("texts", 1)
    (verdict,) = part.judge({}, local(texts, "fit", {}), KEY)
    assert verdict.code == "texts" and len(trained) > 1 + TRAINED.trials  # somebody else is compared on every data set


def test_the_budget_is_given_back():
    """After a call, gradients are computed as before."""
    judged(TRAINED, descending(1, 41))
    x = torch.ones(1, requires_grad=True)
    for _ in range(100):
        (x * x).sum().backward()
    assert torch.autograd.grad((x * x).sum(), x)[0] == 2


@pytest.mark.parametrize(
    ("word", "value", "said"),
    [
        ("fail", 0.9, "fail must lie below"), ("steps", 0, "at least 1"), ("trials", 2, "trials odd"),
        ("score", lambda predictions, truth, p: 1.0, "docstring says what it measures"),
        ("score", None, "needs a score"),
    ],
)  # fmt: skip
def test_slips_of_an_author_who_trains(word, value, said):
    """A range without a middle, no budget, no median, a score that does not say what it measures."""
    with pytest.raises(AuthorError, match=said):
        dataclasses.replace(TRAINED, checks=(), **{word: value})


def test_data_without_what_is_hidden_are_refused():
    """The judge would know no more than the student."""
    part = dataclasses.replace(TRAINED, inputs=lambda rng, p: {"x": 1, "y": 1, "new": 1})
    with pytest.raises(AuthorError, match="nothing under 'hidden'"):
        part.cases({}, KEY)


# The questions in use, and what was measured


def measured():
    """The rows of the page: part, answer, right or mistake, seeds, earned, lost, held."""
    block = re.search(r"<!-- chances: .*?<!-- end chances -->", (ROOT / "docs/kinds.md").read_text(), re.DOTALL)[0]
    return [
        [cell.strip("` ") for cell in line.split("|")[1:-1]] for line in block.splitlines() if line.startswith("| `")
    ]


def test_chance_has_been_measured_for_every_answer():
    """Over 1,000 seeds, no right answer lost a mark, and grading catches each mistake with at least 0.999.

    What trains was measured on single data sets; in grading, the median of five counts.
    """
    by_median = {place for place, part, _ in chances.asked(()) if isinstance(part, Trained)}
    rows = measured()
    names = {(place, item.__name__) for place, part, _ in chances.asked(())
             for item in (part.reference, *part.equivalents, *part.mistakes)}  # fmt: skip
    assert {(row[0], row[1]) for row in rows} == names
    for place, _, word, *counts in rows:
        seeds, earned, lost, held = map(int, counts)
        assert seeds >= 1_000 and earned + lost + held == seeds
        caught = lost / seeds
        caught = caught**3 * (10 - 15 * caught + 6 * caught**2) if place in by_median else caught
        assert earned == seeds if word == "right" else caught >= 0.999
        if word == "right" and place in by_median:  # none of so many: 95 % confidence, by the exact binomial bound
            assert 10 * (1 - 0.05 ** (1 / seeds)) ** 3 <= 1e-6


def test_a_few_seeds_say_the_same():
    """The measurement can be repeated: right answers earn, mistakes lose."""
    for place, part, p in chances.asked(("language_modeling.sample", "language_modeling.train")):
        for line in chances.rows(place, part, p, 1):
            _, _, word, _, earned, lost, _ = (cell.strip("` ") for cell in line.split("|")[1:-1])
            assert (earned if word == "right" else lost) == "1"


def test_the_law_of_sampling_is_enumerated():
    """The reference draws each token as often as exponentials of the scores say, worked out by hand."""
    part = load("language_modeling").part("sample")
    p = variant(load("language_modeling"), 0).parameters
    for case in part.cases(p, KEY)[:2]:
        scores, tau, _ = case.arguments.values()
        weights = [math.exp((float(s) - float(scores.max())) / tau) for s in scores]
        drawn = part.reference(scores, tau, 20_000)
        for token, weight in enumerate(weights):
            expected = weight / sum(weights)
            assert abs(float((drawn == token).double().mean()) - expected) < 5 * (expected / 20_000) ** 0.5 + 1e-4


def counted(subject):
    """The same function, and how often it is called."""
    calls = []

    def train(x, y, new):
        calls.append(1)
        return subject(x, y, new)

    return train, calls


@pytest.mark.parametrize(
    ("subject", "standing", "calls"),
    [(descending(0.3), "lost", 3), (descending(0.67), "held", 5), (descending(1), "earned", 5)],
    ids=["too low", "between", "good enough"],
)
def test_what_can_only_be_too_low_is_not_trained_again(subject, standing, calls):
    """Of five data sets, three that are too low decide; whoever may have the points is called on all five."""
    train, called = counted(subject)
    assert (judged(TRAINED, train)[0], len(called)) == (standing, calls)

"""Language modelling: the references against enumeration, torch and simulation; answers that nobody listed."""

import itertools
import math
from pathlib import Path

import numpy as np
import pytest
import torch

from autograder.audit.simulated_answers import handed_in
from autograder.authoring.loading import load
from autograder.authoring.variants import variant
from autograder.grading.judge import judge_part

ROOT = Path(__file__).parents[2] / "problems"
PROBLEM = load("language_modeling", ROOT)
DRAWS = [variant(PROBLEM, seed).parameters for seed in range(400)]


def found(**wanted):
    """Parameters of a variant with these values."""
    return next(p for p in DRAWS if all(p[key] == item for key, item in wanted.items()))


def reference(name):
    """A part's reference."""
    return PROBLEM.part(name).reference


def test_probabilities_of_all_sentences_sum_to_one():
    """Where the end has probability q from some step on, exp(-loss) over all sentences of at most T tokens misses
    exactly the sentences that have not ended."""
    torch.manual_seed(1)
    T, V, eos, p = 4, 3, 1, {"unit": "nats"}
    scores = torch.randn(T, V, dtype=torch.float64)  # a model without memory
    total = 0.0
    for length in range(1, T + 1):
        for words in itertools.product([0, 2], repeat=length - 1):
            w = torch.tensor([[*words, eos, *[0] * (T - length)]])
            total += math.exp(-float(reference("log_loss")(scores[None], w, eos, p=p)))
    open_end = (1 - torch.softmax(scores, -1)[:, eos]).prod()
    assert total == pytest.approx(1 - float(open_end), rel=1e-12)


def test_perplexity_of_a_uniform_model_is_the_size_of_its_vocabulary():
    """Whatever the unit; with end tokens that are not counted it is more."""
    lengths = torch.tensor([3, 5])
    for unit, log in (("nats", math.log), ("bits", math.log2)):
        loss = lengths.double() * log(7)
        counted = reference("perplexity")(loss, lengths, p={"unit": unit, "counts_eos": True})
        assert float(counted) == pytest.approx(7, rel=1e-12)
        assert float(reference("perplexity")(loss, lengths, p={"unit": unit, "counts_eos": False})) > 12


def test_generated_words_follow_the_model():
    """The first words of many rows have the frequencies of the softmax."""
    torch.manual_seed(2)
    J, V, rows = 3, 5, 20_000
    h, e = torch.randn(1, J, dtype=torch.float64).expand(rows, J), torch.randn(V, J, dtype=torch.float64)
    W, B = torch.zeros(J, J, dtype=torch.float64), torch.zeros(J, dtype=torch.float64)
    u = torch.rand(rows, 1, dtype=torch.float64)
    w, lengths = reference("generate")(h, u, e, W, W, B, 2, p={"activation": "tanh", "length_with_eos": False})
    frequencies = torch.bincount(w[:, 0], minlength=V) / rows
    torch.testing.assert_close(frequencies.double(), torch.softmax(e @ h[0], 0), atol=0.015, rtol=0)
    assert torch.equal(lengths == 0, w[:, 0] == 2)


def sentences(p, q, V, most):
    """(probability, tokens) of every number of words, the sentences of one length being equally likely."""
    for n in range(0 if p["empty"] else 1, most):
        one = q * ((1 - q) / (V - 1)) ** n if p["empty"] else (1 / (V - 1)) * ((1 - q) / (V - 1)) ** (n - 1) * q
        yield n, one, float(V - 1) ** n


@pytest.mark.parametrize("empty", [True, False])
def test_the_simplest_model_by_sums(empty):
    """Sentence, length and entropy by adding up over all lengths."""
    p, names = {"empty": empty, "unit": "nats"}, {"ln": math.log, "log2": math.log2}
    for q, V in ((0.2, 3), (0.5, 7), (0.85, 4)):
        value = lambda name, n=1: eval(  # noqa: E731
            PROBLEM.part(name).right(p).replace("^", "**"),
            {**names, "q": q, "V": V, "n": n},  # noqa: B023
        )
        table = list(sentences(p, q, V, 200))
        assert math.fsum(one * many for _, one, many in table) == pytest.approx(1, rel=1e-12)
        for n, one, _ in table[:4]:
            assert value("sentence", n) == pytest.approx(one, rel=1e-12)
            assert value("sentence_loss", n) == pytest.approx(-math.log(one), rel=1e-12)
        tokens = math.fsum(one * many * (n + 1) for n, one, many in table)
        entropy = math.fsum(-one * many * math.log(one) for n, one, many in table)
        assert value("expected_tokens") == pytest.approx(tokens, rel=1e-12)
        assert value("sequence_entropy") == pytest.approx(entropy, rel=1e-12)


def test_clipping_keeps_the_direction():
    """Both together have at most the length n_max; what is short stays as it is."""
    rng = np.random.default_rng(3)
    g, k = torch.from_numpy(rng.normal(size=(3, 5))), torch.from_numpy(rng.normal(size=2))
    long, also = reference("clip")(g, k, 0.5, p={"together": True})
    assert float(torch.cat([long.flatten(), also]).norm()) == pytest.approx(0.5, rel=1e-12)
    torch.testing.assert_close(long / g, torch.full_like(g, float(also[0] / k[0])))
    assert torch.equal(reference("clip")(g, k, 100.0, p={"together": True})[0], g)


LOSS = """
def log_loss(scores, w, eos):
    total = []
    for s, row in zip(scores, w):
        n = (row == eos).nonzero()[0, 0] + 1
        total.append(F.cross_entropy(s[:n], row[:n], reduction="sum"))
    return torch.stack(total)
""".replace("F.", "torch.nn.functional.")
CLIP = """
def clip(g, k, n_max):
    n = torch.cat([g.reshape(-1), k.reshape(-1)]).norm()
    c = torch.clamp(n_max / (n + 1e-6), max=1.0)
    return g * c, k * c
"""
WRITE = """
def generate(h, u, e, W_hh, W_xh, B, eos):
    w = torch.empty(u.shape, dtype=torch.long)
    for t in range(u.shape[1]):
        P = torch.softmax(h @ e.T, -1)
        w[:, t] = (P.cumsum(-1) > u[:, t:t+1]).int().argmax(-1)
        if t:
            w[w[:, t - 1] == eos, t] = eos
        h = torch.tanh(h @ W_hh.T + e[w[:, t]] @ W_xh.T - B)
    return w, (w != eos).sum(-1)
"""
TANH = {"activation": "tanh", "length_with_eos": False}
ROWS = [
    ("log_loss", {"unit": "nats"}, LOSS, "earned"), ("log_loss", {"unit": "bits"}, LOSS, "lost"),
    ("log_loss", {"unit": "nats"}, LOSS.replace("+ 1", "+ 0"), "lost"),
    ("log_loss", {"unit": "nats"}, LOSS.replace('"sum"', '"mean"'), "lost"),
    ("log_loss", {"unit": "nats"}, LOSS.replace("s[:n]", "s[:n].detach()"), "lost"),
    ("log_loss", {"unit": "nats"}, LOSS.replace("[0, 0]", "[-1, 0]"), "lost"),
    ("generate", TANH, WRITE, "earned"), ("generate", TANH, WRITE.replace("t - 1] ==", "t - 1] !="), "lost"),
    ("generate", TANH, WRITE.replace("return w,", "return w.float(),"), "lost"),
    ("generate", TANH, WRITE.replace("return w,", "return w.tolist(),"), "lost"),
    ("generate", TANH, WRITE.replace("u[:, t:t+1]", "torch.rand(len(u), 1)"), "lost"),
    ("generate", TANH, WRITE.replace("t - 1] == eos, t] = eos", "t - 1] == eos, t] = 0"), "lost"),
    ("clip", {"together": True}, CLIP, "earned"), ("clip", {"together": False}, CLIP, "lost"),
    ("clip", {"together": True}, CLIP.replace("max=1.0", "max=0.99"), "lost"),
    ("clip", {"together": True}, CLIP.replace("n_max / (n + 1e-6)", "n_max / n"), "earned"),
    ("clip", {"together": True}, CLIP.replace("g * c, k * c", "g.mul_(c), k.mul_(c)"), "earned"),
    ("sentence", {"empty": True}, "sentence = '(1-q)^n q (V-1)^(-n)'", "earned"),
    ("sentence", {"empty": True}, "sentence = '(1-q)^n q'", "lost"),
    ("sentence_loss", {"unit": "bits", "empty": True}, "sentence_loss = 'n*log2((V-1)/(1-q))-log2(q)'", "earned"),
    ("sentence_loss", {"unit": "bits", "empty": True}, "sentence_loss = 'n*ln((V-1)/(1-q))-ln(q)'", "lost"),
    ("sentence_loss", {"unit": "nats", "empty": True},
     "sentence = 'q*(1-q)^n'\nsentence_loss = '-ln(q)-n*ln(1-q)'", "earned"),
    ("sentence_loss", {"unit": "nats", "empty": True}, "sentence = '1'\nsentence_loss = '0'", "lost"),
    ("sentence_loss", {"unit": "nats", "empty": False}, "sentence = 'n/q'\nsentence_loss = '-ln(n/q)'", "lost"),
    ("sentence_loss", {"unit": "nats", "empty": False}, "sentence = '-q/n'\nsentence_loss = '-ln(-q/n)'", "lost"),
    ("sentence_loss", {"unit": "nats", "empty": False}, "sentence = 'q/n'\nsentence_loss = 'ln(n/q)'", "earned"),
    ("sentence_loss", {"unit": "nats", "empty": True}, "sentence = 'inf*q^n'\nsentence_loss = '-inf'", "lost"),
    ("sequence_entropy", {"empty": True}, "sequence_entropy = '-ln(q)-(1-q)/q*ln((1-q)/(V-1))'", "earned"),
    ("sequence_entropy", {"empty": True}, "sequence_entropy = 'ln(V)/q'", "lost"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "wanted", "cell", "verdict"), ROWS)
def test_unlisted_answers(name, wanted, cell, verdict):
    """Right answers in odd dress keep all points, wrong ones lose, and none of these is held."""
    p, part = found(**wanted), PROBLEM.part(name)
    outcome = judge_part(part, p, handed_in(PROBLEM, part, cell), (5, 9))
    assert outcome.standing == verdict, outcome.verdicts

"""The data sources: what is claimed to be the best possible loss, checked by enumerating sequences."""

import itertools

import pytest
import torch

from solutions import sources


@pytest.fixture
def g():
    """A generator with a seed."""
    return torch.Generator().manual_seed(0)


@pytest.mark.parametrize("stop", [0.0, 0.25])
def test_chain_is_a_distribution(g, stop):
    """Rows of A are distributions, and the probabilities of all sequences of three words sum to one."""
    chain = sources.MarkovChain(4, g, stop=stop)
    torch.testing.assert_close(chain.A.sum(1), torch.ones(4, dtype=torch.float64))
    w = torch.tensor(list(itertools.product(range(4), repeat=3)))
    assert torch.exp(-chain.log_loss(w).sum(1)).sum().item() == pytest.approx(1, abs=1e-12)


def test_blank_loss_is_bayes_rule(g):
    """P(w_t | others) = P(whole row) / Σ_w P(row with w at t), by enumeration, at both ends too."""
    chain = sources.MarkovChain(5, g)
    w = chain.sample(3, 4, g)
    loss = chain.blank_log_loss(w)
    for t in range(4):
        joint = torch.stack([chain.log_loss(w.index_fill(1, torch.tensor(t), v)).sum(1).neg().exp() for v in range(5)])
        P = joint.gather(0, w[None, :, t])[0] / joint.sum(0)
        torch.testing.assert_close(loss[:, t], -P.log(), rtol=1e-10, atol=1e-12)


def test_samples_follow_the_chain(g):
    """Pair frequencies of 20000 words agree with A within sampling error."""
    chain = sources.MarkovChain(3, g)
    w = chain.sample(1000, 21, g)
    counts = torch.bincount((3 * w[:, :-1] + w[:, 1:]).flatten(), minlength=9).view(3, 3)
    n = counts.sum(1, keepdim=True)
    error = (counts / n - chain.A).abs() / torch.sqrt(chain.A * (1 - chain.A) / n)
    assert error.max() < 4


def test_sentences_end_for_good(g):
    """<EOS> follows itself with probability one, and sentences have 1/stop words on average."""
    w = sources.MarkovChain(4, g, stop=0.25).sample(4000, 60, g)
    length = (w != 3).sum(1) + 1
    assert all(set(row[n - 1 :]) == {3} for row, n in zip(w.tolist(), length.tolist(), strict=True) if n <= 60)
    assert length.float().mean().item() == pytest.approx(4, abs=0.25)


def test_captions_describe_the_marked_position(g):
    """The features of the position with the mark, read back, are the words of the caption."""
    M, captions, marked = sources.marked_images(50, g)
    assert M.shape == (50, 4, 5, sources.IMAGE_FEATURES)
    cells = M.flatten(1, 2)
    assert torch.equal(cells[..., -1].argmax(1), marked)
    for b in range(50):
        present = (cells[b, marked[b], :-1] > 0.5).nonzero()[:, 0].tolist()
        assert captions[b].tolist() == [*present, len(sources.WORDS) - 1]
    assert len(set(sources.WORDS)) == len(sources.WORDS)


def test_story_and_alphabet():
    """Numbers stand for the letters of the alphabet, and give the text back."""
    text, alphabet = sources.lighthouse()
    assert "".join(alphabet[n] for n in text.tolist()).startswith("The keeper of the lighthouse")
    assert text.unique().tolist() == list(range(len(alphabet)))

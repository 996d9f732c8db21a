"""Code to be checked: tests of `look`, and a function that errs."""

import torch

from .code_mistakes import CODE
from .equivalents import EQUIVALENTS


def look_takes(p):
    """Admit scores down to minus a million, and not below."""
    key = "[J, J]" if p["query"] == "state" else "[I, J]"
    return {
        "h": "[B, J] -10..10",
        "x": "[B, I] -10..10",
        "M": "[B, S, J] -1000..1000",
        "W_key": f"{key} -10..10",
        "lengths": "[B] whole 1..S",
    }


def tests_of_look(look):
    """Assertions on what look(h, x, M, W_key, lengths) returns."""
    h = torch.tensor([[1.0, 2.0], [0.0, -1.0]])  # state and word are the same: either of them asks
    W_key = torch.tensor([[1.0, 2.0], [0.0, 1.0]])
    M = torch.tensor([[[1.0, 0.0], [0.0, 0.25], [-1.0, 0.25]], [[5.0, 200.0], [1.0, 2.0], [3.0, 4.0]]])
    lengths = torch.tensor([3, 1])  # the second sentence has one word, whose score is -200
    alpha, V = look(h, h, M, W_key, lengths)
    for b, length in enumerate(lengths.tolist()):
        expected = torch.softmax(M[b, :length] @ (h[b] @ W_key), dim=0)
        assert torch.allclose(alpha[b, :length], expected)
        assert (alpha[b, length:] == 0).all()
        assert torch.allclose(V[b], expected @ M[b, :length])


def weights_sum_to_one(look):
    """You test that weights sum to one, which wrong weights may do as well; test their values, and what is seen."""
    h, M = torch.ones(2, 2), torch.ones(2, 3, 2).cumsum(1)
    alpha, _ = look(h, h, M, torch.ones(2, 2), torch.tensor([3, 1]))
    assert torch.allclose(alpha.sum(1), torch.ones(2))


def nothing_filled_up(look):
    """All of your sources are of the same length: your tests never see what stands behind the end of one."""
    h, M = torch.randn(2, 2), torch.randn(2, 3, 2)
    W_key = torch.tensor([[1.0, 2.0], [0.0, 1.0]])
    alpha, V = look(h, h, M, W_key, torch.tensor([3, 3]))
    expected = torch.softmax((M @ (h @ W_key)[:, :, None])[:, :, 0], dim=1)
    assert torch.allclose(alpha, expected)
    assert torch.allclose(V, (expected[:, :, None] * M).sum(1))


def scores_near_zero(look):
    """Your scores are near zero; the statement admits much lower ones, and a moderate mask shows at those alone."""
    h, M = torch.randn(2, 2), torch.randn(2, 3, 2)
    W_key, lengths = torch.tensor([[1.0, 2.0], [0.0, 1.0]]), torch.tensor([3, 2])
    alpha, V = look(h, h, M, W_key, lengths)
    for b, n in enumerate(lengths.tolist()):
        expected = torch.softmax(M[b, :n] @ (h[b] @ W_key), dim=0)
        assert torch.allclose(alpha[b, :n], expected) and not alpha[b, n:].any()
        assert torch.allclose(V[b], expected @ M[b, :n])


def one_sentence_at_a_time(look):
    """Random sentences: what stands behind the end of one is nothing to it."""
    h, M = torch.randn(3, 2), torch.randn(3, 4, 2)
    W_key, lengths = torch.tensor([[1.0, 2.0], [0.0, 1.0]]), torch.tensor([4, 2, 1])
    h[2], M[2, 0] = torch.ones(2), torch.tensor([-75.0, -50.0])  # a score of -225
    alpha, V = look(h, h, M, W_key, lengths)
    for b, n in enumerate(lengths.tolist()):
        words = M[b, :n]
        e = [torch.exp(word @ (h[b] @ W_key) - (words @ (h[b] @ W_key)).max()) for word in words]
        weights = torch.stack(e) / sum(e)
        assert alpha[b, n:].abs().sum() == 0
        assert (alpha[b, :n] - weights).abs().max() < 1e-9
        assert (V[b] - weights @ words).abs().max() < 1e-6


UNSEEN = ("weights_cut", "seen_alone")  # a gradient, which tests do not see; and a result that no test can read

LOOK_TESTS = {
    "function": "look",
    "takes": look_takes,
    "sizes": {"B": "1..3", "S": "1..4", "I": "1..3", "J": "1..3"},
    "correct": EQUIVALENTS["look"],
    "wrong": [mistake for mistake in CODE["look"] if mistake.__name__ not in UNSEEN],
    "reference": tests_of_look,
    "mistakes": [weights_sum_to_one, nothing_filled_up, scores_near_zero],
    "equivalents": [one_sentence_at_a_time],
}

END = 9999  # the number of the word that ends a sentence


def words_before_the_end(words):
    """Count the words before the first end, or all of them."""
    ended = (words == 9999).int().cumsum(dim=1) > 0
    return (~ended).sum(dim=1)


def words_that_are_no_end(words):
    """This counts the words behind the end as well."""
    return (words != 9999).sum(dim=1)


def goes_on(p):
    return {"words": [[17, END, 4]]}


def at_once(p):
    """The end comes first, in the second row."""
    return {"words": [[3, 5, END], [END, 8, 8]]}


def stops(p):
    """Behind the end in your input stand ends alone, of which the code counts none."""
    return {"words": [[17, 4, END, END]]}


def never_ends(p):
    """Your sentence has no end: the code counts all of its words, and so it should."""
    return {"words": [[17, 4, 12]]}


WRITTEN = {
    "function": "written",
    "code": words_that_are_no_end,
    "correct": words_before_the_end,
    "takes": {"words": "[B, T] whole 0..9999"},
    "sizes": {"B": "1..2", "T": "1..4"},
    "reference": goes_on,
    "mistakes": [stops, never_ends],
    "equivalents": [at_once],
}

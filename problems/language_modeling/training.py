"""A model of two words that is trained, and how well it predicts on contexts that it has not been trained on."""

import math

import numpy as np
import torch

STEPS = 50


def _scores(rng, liked):
    """Scores of the next word: after each word, one is much likelier than the others."""
    scores = 0.3 * rng.standard_normal((len(liked), len(liked)))
    scores[np.arange(len(liked)), liked] += 2.5
    return torch.from_numpy(scores)


def two_words(rng, p):
    """Words drawn after two others, each of which adds scores of its own and matters as much.

    What a word makes likely as the first of the two, it does not as the second: who exchanges them predicts badly.
    """
    V, N, M = int(rng.integers(4, 6)), 800 + int(rng.integers(40)), 200 + int(rng.integers(20))
    liked = rng.permutation(V)
    first, second = _scores(rng, liked), _scores(rng, (liked + int(rng.integers(1, V))) % V)
    before = torch.from_numpy(rng.integers(V, size=(N + M, 2)))
    P = torch.softmax(first[before[:, 0]] + second[before[:, 1]], dim=-1)
    following = (P.cumsum(-1) < torch.from_numpy(rng.uniform(size=(N + M, 1)))).sum(-1).clamp(max=V - 1)
    return {"before": before[:N], "following": following[:N], "new": before[N:], "V": V, "hidden": P[N:]}


def learned(predictions, P, p):
    """The score is the share of what can be learned: 0 for a model that finds all words equally likely, 1 for the law
    from which the words were drawn, by the expected log loss on hidden pairs of words."""
    if not bool((predictions.logsumexp(-1).abs() < 1e-3).all()):
        return "The predictions of a pair of words are not the logarithms of probabilities that sum to one."
    loss, least = -(P * predictions).sum(-1).mean(), -(P * P.log()).sum(-1).mean()
    return float((math.log(P.shape[1]) - loss) / (math.log(P.shape[1]) - least))


def train(before, following, new, V):
    """Log probabilities of the word after each pair of `new`: before[N,2], following[N], new[M,2] -> [M,V]."""
    first, second = (torch.zeros(V, V, dtype=torch.float64, requires_grad=True) for _ in range(2))
    optimizer = torch.optim.Adam([first, second], lr=0.1)
    for _ in range(50):
        optimizer.zero_grad()
        scores = first[before[:, 0]] + second[before[:, 1]]
        torch.nn.functional.cross_entropy(scores, following).backward()
        optimizer.step()
    return torch.log_softmax(first[new[:, 0]] + second[new[:, 1]], dim=-1).detach()


TRAINING = {"inputs": two_words, "score": learned, "reach": 0.85, "fail": 0.7, "steps": STEPS}

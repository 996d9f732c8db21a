"""Tokens drawn at a temperature, and what must be true of many of them."""

import torch

from autograder import sizes, tensors

TOKENS = 4000  # at least so many are drawn in a hidden call


def scores_of_tokens(rng, p):
    """Scores of a few tokens, and a temperature that is far from one."""
    n = sizes(rng, "V", largest=7)
    temperature = float(rng.choice([rng.uniform(0.3, 0.5), rng.uniform(2.0, 3.0)]))
    spread = torch.linspace(-1.0, 1.0, n["V"], dtype=torch.float64)[torch.from_numpy(rng.permutation(n["V"]))]
    scores = spread * (2 if temperature > 1 else 1) + 0.1 * tensors(rng, n, scores="V")["scores"]
    return {"scores": scores, "temperature": temperature, "n": TOKENS + 2 * int(rng.integers(9))}


def low_and_high(rng, p):
    """A high temperature for scores whose exponentials overflow."""
    drawn = scores_of_tokens(rng, p)
    return {**drawn, "scores": 3000 + 500 * drawn["scores"], "temperature": 500.0}


def sample(scores, temperature, n):
    """n tokens, drawn independently from the softmax of the scores at a temperature: scores[V] -> [n], int64."""
    P = torch.softmax(scores / temperature, dim=-1)
    return torch.multinomial(P, n, replacement=True)


def _law(inputs):
    return torch.softmax(inputs["scores"] / inputs["temperature"], dim=-1)


def frequencies(drawn, inputs, p):
    """Each token is drawn as often as its probability at this temperature says."""
    for token, probability in enumerate(_law(inputs).tolist()):
        yield drawn == token, probability


def independence(drawn, inputs, p):
    """A token that is drawn does not depend on the one before it."""
    yield drawn[0::2] == drawn[1::2], float(_law(inputs).square().sum())
    half = len(drawn) // 2
    yield drawn[:half] == drawn[half:], float(_law(inputs).square().sum())


DRAWS = {"inputs": [scores_of_tokens, low_and_high], "trials": 3, "statistics": [frequencies, independence]}

"""Sources of training data whose best possible loss is known, so that "it learns" is a number.

Every draw takes a generator on the CPU: the same seed gives the same data on every device. Losses are in
nats.
"""

from pathlib import Path

import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor


class MarkovChain:
    """Words where each depends on the one before: P(w_0) = pi[w_0], P(w_t | w_<t) = A[w_{t-1}, w_t].

    With an `eos` of probability `stop`, a sentence has 1/stop words on average, <EOS> counted, and `eos`
    follows itself for ever. `sharpness` sets how far the rows of A are from uniform.
    """

    def __init__(self, V: int, g: Generator, *, sharpness: float = 1.5, stop: float = 0.0):
        scores = sharpness * torch.randn(V, V, generator=g, dtype=torch.float64)
        if stop:
            scores[:, -1] = -torch.inf
        self.A = torch.softmax(scores, 1) * (1 - stop)  # A[a,w] = P(w after a)
        self.pi = torch.full((V,), 1 / V, dtype=torch.float64)
        if stop:
            self.pi = torch.full((V,), (1 - stop) / (V - 1), dtype=torch.float64)
            self.pi[-1] = stop
            self.A[:, -1] = stop
            self.A[-1] = torch.eye(V, dtype=torch.float64)[-1]

    def sample(self, B: int, T: int, g: Generator) -> Int[Tensor, "B T"]:
        """B rows of T words."""
        w = [torch.multinomial(self.pi, B, replacement=True, generator=g)]
        for _ in range(T - 1):
            w.append(torch.multinomial(self.A[w[-1]], 1, generator=g)[:, 0])
        return torch.stack(w, 1)

    def log_loss(self, w: Int[Tensor, "B T"]) -> Float[Tensor, "B T"]:
        """-ln P(w_t | w_0 … w_{t-1}): no model that reads from left to right can do better on average."""
        P = torch.cat([self.pi[w[:, :1]], self.A[w[:, :-1], w[:, 1:]]], 1)
        return -P.log()

    def blank_log_loss(self, w: Int[Tensor, "B T"]) -> Float[Tensor, "B T"]:
        """-ln P(w_t | all other words), by Bayes' rule: proportional to P(w_t | w_{t-1}) P(w_{t+1} | w_t)."""
        B = len(w)
        from_left = torch.cat([self.pi.expand(B, 1, -1), self.A[w[:, :-1]]], 1)  # [B, T, V]
        to_right = torch.cat([self.A.T[w[:, 1:]], torch.ones_like(from_left[:, :1])], 1)
        P = from_left * to_right
        P = P / P.sum(2, keepdim=True)
        return -P.gather(2, w[..., None])[..., 0].log()


def lighthouse() -> tuple[Int[Tensor, "T"], str]:
    """The short story beside this file as numbers, and its alphabet: number n is letter alphabet[n]."""
    text = Path(__file__).with_name("lighthouse.txt").read_text(encoding="utf-8")
    alphabet = "".join(sorted(set(text)))
    return torch.tensor([alphabet.index(letter) for letter in text]), alphabet


COLOURS = ("red", "green", "blue", "yellow", "white")
SHAPES = ("circle", "square", "star")
ROWS = ("top", "upper", "lower", "bottom")
COLUMNS = ("far-left", "left", "middle", "right", "far-right")
WORDS = (*COLOURS, *SHAPES, *ROWS, *COLUMNS, "<EOS>")
IMAGE_FEATURES = len(WORDS)  # one for each word that describes a position, and one for the mark


def marked_images(B: int, g: Generator) -> tuple[Float[Tensor, "B X Y K"], Int[Tensor, "B T"], Int[Tensor, "B"]]:
    """Images of 4 x 5 coloured shapes of which one is marked; its description in WORDS; and its position.

    The features of a position are its colour, shape, row and column, each as one of n, and the mark, with
    some noise. A caption reads "blue star top left <EOS>". The average over positions says nearly nothing
    about the marked one.
    """
    X, Y = len(ROWS), len(COLUMNS)
    cells = torch.stack(
        [
            torch.randint(len(COLOURS), (B, X, Y), generator=g),
            torch.randint(len(SHAPES), (B, X, Y), generator=g) + len(COLOURS),
            torch.arange(X)[:, None].expand(B, X, Y) + len(COLOURS) + len(SHAPES),
            torch.arange(Y).expand(B, X, Y) + len(COLOURS) + len(SHAPES) + X,
        ],
        3,
    )  # [B, X, Y, 4]: the four words that describe a position
    M = torch.zeros(B, X, Y, IMAGE_FEATURES).scatter_(3, cells, 1.0)
    marked = torch.randint(X * Y, (B,), generator=g)
    M.flatten(1, 2)[torch.arange(B), marked, -1] = 1
    M += 0.1 * torch.randn(M.shape, generator=g)
    caption = cells.flatten(1, 2)[torch.arange(B), marked]
    return M, torch.cat([caption, torch.full((B, 1), len(WORDS) - 1)], 1), marked

"""What the attention models are trained on; beside `experiments`, in the same form.

lookup          a position asks for a name; the value stands at another position, in a sequence or an image
word_behind     the word some positions before; words say nothing, only the distance counts
reversal        letters backwards, by the encoder and decoder of the Transformer
GivenAll        the decoder alone as a language model of whole sentences
"""

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Generator, Tensor, nn

from solutions.attention import MultiHeadAttention
from solutions.experiments import Experiment
from solutions.layers import Embedding, Linear, sequence_log_loss
from solutions.positional import LearnedPositions, rotate
from solutions.transformer import LanguageModel, Transformer

# --------------------------------------------------------------------------------------------------- a look-up

NAMES, VALUES = 8, 4
FEATURES = NAMES + VALUES + 1  # a name, a value, and whether the position asks; each as one of n


class LookUp(nn.Module):
    """One layer of attention between two maps; read where the question stands."""

    def __init__(self, layer: Callable[[int], nn.Module], J: int = 16):
        super().__init__()
        self.read, self.attention, self.answer = Linear(FEATURES, J), layer(J), Linear(J, VALUES)

    def forward(self, items: Float[Tensor, "B *places F"], asks: Int[Tensor, "B"]) -> Float[Tensor, "B V"]:
        """Scores of the values, at the position that asks; positions are counted row by row."""
        h = self.attention(self.read(items)).flatten(1, -2)
        return self.answer(h[torch.arange(len(h), device=h.device), asks])


class Everywhere(nn.Module):
    """A control: every position sees the average over all."""

    def __init__(self, J: int):
        super().__init__()
        self.map = Linear(J, J)

    def forward(self, x: Float[Tensor, "B *places J"]) -> Float[Tensor, "B *places J"]:
        """The same vector at every position."""
        places = tuple(range(1, x.dim() - 1))
        return self.map(x).mean(places, keepdim=True).expand_as(x)


def questions(
    B: int, shape: tuple[int, ...], g: Generator
) -> tuple[Float[Tensor, "B *places F"], Int[Tensor, "B"], Int[Tensor, "B"], Int[Tensor, "B"]]:
    """Items at places of which the last one asks in a sequence, any one in an image; who asks, whom, the value."""
    places = math.prod(shape)
    order = torch.rand(B, places, generator=g).argsort(1)
    if len(shape) == 1:  # the last position asks: a causal layer sees all of them
        order = torch.cat([torch.full((B, 1), places - 1), torch.rand(B, places - 1, generator=g).argsort(1)], 1)
    asks, named = order[:, 0], order[:, 1 : NAMES + 1]
    value = torch.randint(VALUES, (B, NAMES), generator=g)
    wanted = torch.randint(NAMES, (B,), generator=g)
    items = torch.zeros(B, places, FEATURES)
    rows = torch.arange(B)
    items[rows[:, None], named, torch.arange(NAMES)] = 1
    items[rows[:, None], named, NAMES + value] = 1
    items[rows, asks, wanted] = 1
    items[rows, asks, -1] = 1
    return items.unflatten(1, shape), asks, named[rows, wanted], value[rows, wanted]


def lookup(
    g: Generator, device: torch.device, *, layer: Callable[[int], nn.Module], shape: tuple[int, ...] = (11,)
) -> Experiment:
    """Which value stands beside the name that is asked for? Chance is one in four."""
    model = LookUp(layer).to(device)

    def batch(B: int) -> tuple[Tensor, Tensor]:
        items, asks, _, y = questions(B, shape, g)
        return model(items.to(device), asks.to(device)), y.to(device)

    def measure() -> dict[str, float]:
        scores, y = batch(1024)
        accuracy = (scores.argmax(1) == y).float().mean().item()
        return {"loss": F.cross_entropy(scores, y).item(), "accuracy": accuracy, "uniform": math.log(VALUES)}

    return Experiment(model=model, loss=lambda: F.cross_entropy(*batch(64)), measure=measure)


# --------------------------------------------------------------------------------------------------- a distance


class RotatedAttention(MultiHeadAttention):
    """Queries and keys are turned by their position, so that a score feels a distance alone (Su et al. 2021)."""

    def turn(self, x: Float[Tensor, "B K T U"]) -> Float[Tensor, "B K T U"]:
        """A^(t) x[t] for every t; frequencies from 1 to 1/100."""
        return rotate(x, torch.arange(x.shape[2], device=x.device), base=100.0)

    def queries(self, x):
        """Queries, turned."""
        return self.turn(super().queries(x))

    def keys_values(self, memory):
        """Keys, turned, and values."""
        key, value = super().keys_values(memory)
        return self.turn(key), value


class WordBehind(nn.Module):
    """One layer of attention over word vectors, to which `positions` may add where they stand."""

    def __init__(self, V: int, attention: nn.Module, positions: nn.Module | None = None):
        super().__init__()
        self.words = Embedding(V, len(attention.W_O))
        self.attention = attention
        self.positions = nn.Identity() if positions is None else positions

    def forward(self, w: Int[Tensor, "B T"]) -> Float[Tensor, "B T V"]:
        """Scores of the word that stands some positions before each one."""
        return self.words.scores(self.attention(self.positions(self.words(w))))


def turned(V: int, J: int, T: int) -> WordBehind:
    """Positions by rotation."""
    return WordBehind(V, RotatedAttention(J, 1, bias=True))


def learned(V: int, J: int, T: int) -> WordBehind:
    """A learned vector for each of T positions."""
    return WordBehind(V, MultiHeadAttention(J, 1, bias=True), LearnedPositions(T, J))


def word_behind(
    g: Generator, device: torch.device, *, kind: Callable[[int, int, int], WordBehind], behind: int = 3
) -> Experiment:
    """The word three positions before, learned from 16 words and asked for in sentences of 48."""
    V, J, B, T, far = 11, 32, 64, 16, 48
    model = kind(V, J, far).to(device)

    def batch(B: int, T: int) -> tuple[Tensor, Tensor]:
        w = torch.randint(V, (B, T), generator=g).to(device)
        return model(w)[:, behind:], w[:, :-behind]

    def loss() -> Tensor:
        scores, y = batch(B, T)
        return sequence_log_loss(scores, y).mean() / y.shape[1]

    def measure() -> dict[str, float]:
        near, further = ((scores.argmax(2) == y).float() for scores, y in (batch(256, T), batch(256, far)))
        beyond = further[:, T:].mean().item()  # positions that training has not seen
        return {"loss": loss().item(), "accuracy": near.mean().item(), "beyond": beyond, "uniform": math.log(V)}

    return Experiment(model=model, loss=loss, measure=measure)


# ------------------------------------------------------------------------------------- transformers


def reversal(g: Generator, device: torch.device, *, N: int = 1) -> Experiment:
    """Eight letters backwards, then <EOS>; a row counts if all of it is right."""
    letters, B, T = 10, 64, 8
    bos, eos, V = letters, letters + 1, letters + 2
    model = Transformer(V=V, J=32, K=4, I=8, F=64, N=N, pre_norm=True).to(device)

    def batch(B: int) -> tuple[Tensor, Tensor]:
        w = torch.randint(letters, (B, T), generator=g)
        return w.to(device), torch.cat([w.flip(1), torch.full((B, 1), eos)], 1).to(device)

    def loss(B: int = B) -> Tensor:
        source, target = batch(B)
        seen = torch.cat([torch.full_like(target[:, :1], bos), target[:, :-1]], 1)
        return sequence_log_loss(model(source, seen), target).mean() / target.shape[1]

    def measure() -> dict[str, float]:
        source, target = batch(256)
        exact = (model.translate(source, T + 1, bos=bos, eos=eos) == target).all(1).float().mean().item()
        return {"loss": loss(256).item(), "exact": exact, "uniform": math.log(V)}

    return Experiment(model=model, loss=loss, measure=measure)


class GivenAll(nn.Module):
    """P(w_0 … w_{T-1}) by the decoder alone: a word more stands for the beginning."""

    def __init__(self, V: int, T: int):
        super().__init__()
        self.begin = V
        self.decoder = LanguageModel(V=V + 1, J=32, K=4, I=8, F=64, N=1, T_max=T)

    def forward(self, w: Int[Tensor, "B T"]) -> Float[Tensor, "B T V"]:
        """Scores of w[b,t] given w[b,:t]."""
        seen = torch.cat([torch.full_like(w[:, :1], self.begin), w[:, :-1]], 1)
        return self.decoder(seen)[..., : self.begin]

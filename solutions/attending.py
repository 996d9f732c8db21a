"""What the attention models are trained on; beside `experiments`, in the same form.

lookup          a position asks for a name; the value stands at another position, in a sequence or an image
marked          the value at the one marked position of an image, asked for at another: near it, or far
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
from solutions.experiments import Experiment, classifying, on
from solutions.layers import Embedding, Linear, sequence_log_loss
from solutions.positional import LearnedPositions, rotate
from solutions.spatial import AxialAttention, WindowAttention
from solutions.transformer import LanguageModel, Transformer

# --------------------------------------------------------------------------------------------------- a look-up

NAMES, VALUES = 8, 4
FEATURES = NAMES + VALUES + 1  # a name, a value, and whether the position asks; each as one of n


class LookUp(nn.Module):
    """One layer of attention between two maps; read where the question stands."""

    def __init__(self, layer: Callable[[int], nn.Module], J: int = 16, features: int = FEATURES):
        super().__init__()
        self.read, self.attention, self.answer = Linear(features, J), layer(J), Linear(J, VALUES)

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

    def draw(B: int = 64) -> tuple[Tensor, ...]:
        items, asks, _, y = questions(B, shape, g)
        return items, asks, y

    def maps() -> dict[str, Tensor]:
        items, asks, named, _ = questions(1, shape, g)
        x = model.read(on(device, (items,))[0]).flatten(1, -2)
        alpha = MultiHeadAttention.with_weights(model.attention, x)[1][0, :, asks[0]].mean(0)
        found = torch.zeros(math.prod(shape)).index_fill_(0, named, 1.0)
        rows = {"the position that asks, looking": alpha, "where the answer stands": found}
        return {title: row.view(-1, shape[-1]) for title, row in rows.items()}

    shown = isinstance(model.attention, MultiHeadAttention)
    return classifying(model, draw, model, device, VALUES, maps=maps if shown else None)


# --------------------------------------------------------------------------------------------- a marked place

PLACE = VALUES + 2  # a value, the mark, and whether the position asks


def marks(
    B: int, X: int, Y: int, g: Generator, *, nearest: int, furthest: int
) -> tuple[Float[Tensor, "B X Y F"], Int[Tensor, "B"], Int[Tensor, "B"]]:
    """A value everywhere, a mark at one place, and one that asks: nearest ≤ max(|x1-x2|, |y1-y2|) ≤ furthest."""
    x, y = torch.arange(X * Y) // Y, torch.arange(X * Y) % Y
    apart = torch.maximum((x[:, None] - x).abs(), (y[:, None] - y).abs())
    pairs = ((apart >= nearest) & (apart <= furthest)).nonzero()
    asks, marked = pairs[torch.randint(len(pairs), (B,), generator=g)].unbind(1)
    value, rows = torch.randint(VALUES, (B, X * Y), generator=g), torch.arange(B)
    items = torch.zeros(B, X * Y, PLACE).scatter_(2, value[..., None], 1.0)
    items[rows, marked, VALUES] = 1
    items[rows, asks, VALUES + 1] = 1
    return items.unflatten(1, (X, Y)), asks, value[rows, marked]


class Stacked(nn.Module):
    """Layers of attention around residual connections."""

    def __init__(self, *layers: nn.Module):
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def forward(self, h: Float[Tensor, "B X Y J"]) -> Float[Tensor, "B X Y J"]:
        """One after another."""
        for layer in self.layers:
            h = h + layer(h)
        return h


def both_axes(J: int) -> Stacked:
    """Along x, then along y: together they connect every pair of positions."""
    return Stacked(AxialAttention(J, 2, axis="x"), AxialAttention(J, 2, axis="y"))


def one_axis(J: int) -> Stacked:
    """A control: along y alone, twice."""
    return Stacked(AxialAttention(J, 2, axis="y"), AxialAttention(J, 2, axis="y"))


def window(J: int) -> Stacked:
    """One layer that sees two steps in each direction."""
    return Stacked(WindowAttention(J, 2, w=2))


def marked(
    g: Generator, device: torch.device, *, layer: Callable[[int], nn.Module], nearest: int = 1, furthest: int = 9
) -> Experiment:
    """Which value stands at the marked place of an image of 6 x 7? Chance is one in four."""
    model = LookUp(layer, features=PLACE).to(device)

    def draw(B: int = 64) -> tuple[Tensor, ...]:
        return marks(B, 6, 7, g, nearest=nearest, furthest=furthest)

    return classifying(model, draw, model, device, VALUES)


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

    def draw(B: int = B, T: int = T) -> tuple[Tensor]:
        return (torch.randint(V, (B, T), generator=g),)

    def loss(w: Tensor) -> Tensor:
        return sequence_log_loss(model(w)[:, behind:], w[:, :-behind]).mean() / (w.shape[1] - behind)

    def right(T: int) -> Tensor:
        (w,) = on(device, draw(256, T))
        return (model(w)[:, behind:].argmax(2) == w[:, :-behind]).float()

    def measure() -> dict[str, float]:
        near, beyond = right(T).mean().item(), right(far)[:, T:].mean().item()  # where training has not been
        reached = loss(*on(device, draw())).item()
        return {"loss": reached, "accuracy": near, "beyond": beyond, "uniform": math.log(V)}

    def maps() -> dict[str, Tensor]:
        h = model.positions(model.words(*on(device, draw(1, far))))
        return {f"as long as in training, {T}, and longer": model.attention.with_weights(h)[1][0, 0]}

    return Experiment(model=model, draw=draw, loss=loss, measure=measure, maps=maps)


# ------------------------------------------------------------------------------------- transformers


def reversal(g: Generator, device: torch.device, *, N: int = 1) -> Experiment:
    """Eight letters backwards, then <EOS>; a row counts if all of it is right."""
    letters, B, T = 10, 64, 8
    bos, eos, V = letters, letters + 1, letters + 2
    model = Transformer(V=V, J=32, K=4, I=8, F=64, N=N, pre_norm=True).to(device)

    def draw(B: int = B) -> tuple[Tensor, Tensor]:
        w = torch.randint(letters, (B, T), generator=g)
        return w, torch.cat([w.flip(1), torch.full((B, 1), eos)], 1)

    def begun(target: Tensor) -> Tensor:
        return torch.cat([torch.full_like(target[:, :1], bos), target[:, :-1]], 1)

    def loss(source: Tensor, target: Tensor) -> Tensor:
        return sequence_log_loss(model(source, begun(target)), target).mean() / target.shape[1]

    def exact(source: Tensor, target: Tensor) -> float:
        words = model.translate(source, T + 1, bos=bos, eos=eos)
        longest = F.pad(words, (0, T + 1 - words.shape[1]), value=eos)  # all rows may have ended early
        return (longest == target).all(1).float().mean().item()

    def measure() -> dict[str, float]:
        right = exact(*on(device, draw(256)))
        return {"loss": loss(*on(device, draw(256))).item(), "exact": right, "uniform": math.log(V)}

    def sample() -> str:
        source, _ = on(device, draw(3))
        rows = zip(source.tolist(), model.translate(source, T + 1, bos=bos, eos=eos).tolist(), strict=True)
        spelled = [["".join(str(n) if n < letters else "." for n in row) for row in pair] for pair in rows]
        return "\n".join(f"{read} -> {written}" for read, written in spelled)

    def maps() -> dict[str, Tensor]:
        source, target = on(device, draw(1))
        layer, h = model.decoder[0], model.embed(begun(target), model.e[-1])
        h = h + layer.attention(layer.attention_norm(h), causal=True)
        alpha = layer.cross.with_weights(layer.cross_norm(h), model.encode(source))[1][0]
        return {"letter written (down), letter read (across)": alpha.mean(0)}

    return Experiment(model=model, draw=draw, loss=loss, measure=measure, sample=sample, maps=maps)


class GivenAll(nn.Module):
    """P(w_0 … w_{T-1}) by the decoder alone: a word more stands for the beginning."""

    def __init__(self, V: int, T: int, J: int = 32, N: int = 1, **options: object):
        super().__init__()
        self.begin = V
        self.decoder = LanguageModel(V=V + 1, J=J, K=4, I=J // 4, F=2 * J, N=N, T_max=T + 1, **options)

    def forward(self, w: Int[Tensor, "B T"]) -> Float[Tensor, "B T V"]:
        """Scores of w[b,t] given w[b,:t]."""
        seen = torch.cat([torch.full_like(w[:, :1], self.begin), w[:, :-1]], 1)
        return self.decoder(seen)[..., : self.begin]

    def sample(
        self, B: int, T: int, *, generator: Generator, temperature: float = 1.0
    ) -> tuple[Int[Tensor, "B T"], Int[Tensor, "B"]]:
        """B rows of T words, and their lengths."""
        begin = self.decoder.e.new_full((B, 1), self.begin, dtype=torch.long)
        w = self.decoder.generate(begin, T, generator=generator, temperature=temperature)[:, 1:]
        return w.clamp(max=self.begin - 1), w.new_full((B,), T)

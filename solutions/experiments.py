"""What the models are trained on: each function builds one experiment from a generator.

Where the best possible loss is known, `excess` is the loss above it, on the same sample. Subclasses here are
controls: they take away the one thing that an experiment is about, and must fail.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from solutions import sources
from solutions.bidirectional import BlankLanguageModel, one_way
from solutions.captioner import Captioner
from solutions.language_cnn import LanguageCNN
from solutions.layers import Linear, reverse, sequence_log_loss, through_eos
from solutions.mlp import DeepMLP, squared_loss
from solutions.rnn import RecurrentLanguageModel, VanillaRNN
from solutions.seq2seq import Seq2Seq
from solutions.ugrnn import UGRNN


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """What is trained, a fresh batch, its loss, what is measured in the end, and two looks at what it does.

    `draw` gives tensors on the CPU, `loss` gets them on the device. `maps` are attention weights, by titles.
    """

    model: nn.Module
    loss: Callable[..., Tensor]
    measure: Callable[[], Mapping[str, float]]
    draw: Callable[[], tuple[Tensor, ...]] = tuple
    sample: Callable[[], str] | None = None
    maps: Callable[[], Mapping[str, Tensor]] | None = None
    optimizer: Callable[..., torch.optim.Optimizer] = torch.optim.Adam


def on(device: torch.device, batch: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """A batch on the device; to a GPU from pinned memory, so that nobody waits for the copy."""
    if device.type == "cuda":
        return tuple(x.pin_memory().to(device, non_blocking=True) for x in batch)
    return tuple(x.to(device) for x in batch)


def classifying(
    model: nn.Module,
    draw: Callable[..., tuple[Tensor, ...]],
    scores: Callable[..., Tensor],
    device: torch.device,
    classes: int,
    *,
    rows: int = 1024,
    maps: Callable[[], Mapping[str, Tensor]] | None = None,
) -> Experiment:
    """Which of so many classes? `draw(B)` ends with the answers, `scores` takes what stands before them."""

    def loss(*batch: Tensor) -> Tensor:
        return F.cross_entropy(scores(*batch[:-1]), batch[-1])

    def measure() -> dict[str, float]:
        *x, y = on(device, draw(rows))
        z = scores(*x)
        accuracy = (z.argmax(1) == y).float().mean().item()
        return {"loss": F.cross_entropy(z, y).item(), "accuracy": accuracy, "uniform": math.log(classes)}

    return Experiment(model=model, draw=draw, loss=loss, measure=measure, maps=maps)


# ------------------------------------------------------------------------------------------- language models


def recurrent(V: int, T: int, *, layer: Callable[[int, int], nn.Module], N: int = 1) -> RecurrentLanguageModel:
    """A recurrent language model of N layers of width 32."""
    return RecurrentLanguageModel(V, 32, N, layer)


def markov_language_model(g: Generator, device: torch.device, *, kind: Callable[[int, int], nn.Module]) -> Experiment:
    """A language model, `kind(V, T)`, of a Markov chain over 12 words, whose Bayes loss is known."""
    V, B, T = 12, 32, 24
    chain = sources.MarkovChain(V, g)
    model = kind(V, T).to(device)

    def loss(w: Tensor) -> Tensor:
        return sequence_log_loss(model(w), w).mean() / T

    def measure() -> dict[str, float]:
        w = chain.sample(1024, T, g)
        reached, bayes = loss(w.to(device)).item(), chain.log_loss(w).mean().item()
        figures = {"loss": reached, "perplexity": math.exp(reached), "bayes": bayes}
        return figures | {"excess": reached - bayes, "uniform": math.log(V)}

    return Experiment(model=model, draw=lambda: (chain.sample(B, T, g),), loss=loss, measure=measure)


def two_residual_layers(V: int, T: int) -> RecurrentLanguageModel:
    """Two UGRNN layers of width 96."""
    return RecurrentLanguageModel(V, 96, 2, UGRNN)


def character_language_model(
    g: Generator, device: torch.device, *, kind: Callable[[int, int], nn.Module] = two_residual_layers
) -> Experiment:
    """A language model, `kind(V, T)`, over the letters of a short story; its last quarter is held out.

    What is measured are pieces as long as those of training, each without what stands before it.
    """
    text, alphabet = sources.lighthouse()
    V, B, T = len(alphabet), 16, 64
    cut = len(text) * 3 // 4
    seen, unseen = text[:cut], text[cut:]
    model = kind(V, T).to(device)

    def draw() -> tuple[Tensor]:
        begin = torch.randint(len(seen) - T, (B, 1), generator=g)
        return (seen[begin + torch.arange(T)],)

    def loss(w: Tensor) -> Tensor:
        return sequence_log_loss(model(w), w).mean() / T

    def per_letter(letters: Tensor) -> float:
        return loss(letters[: len(letters) // T * T].view(-1, T).to(device)).item()

    def measure() -> dict[str, float]:
        counts = torch.ones(V, V)  # one imagined occurrence of every pair
        counts.index_put_((seen[:-1], seen[1:]), torch.tensor(1.0), accumulate=True)
        P = counts / counts.sum(1, keepdim=True)
        bigram = -P[unseen[:-1], unseen[1:]].log().mean().item()
        figures = {"seen": per_letter(seen), "unseen": per_letter(unseen), "bigram": bigram, "uniform": math.log(V)}
        return figures | {"perplexity": math.exp(figures["unseen"])}

    def sample() -> str:
        rows, _ = model.sample(5, T, generator=Generator(device).manual_seed(0), temperature=0.7)
        return "\n".join("".join(alphabet[n] for n in row).replace("\n", " ") for row in rows.tolist())

    return Experiment(model=model, draw=draw, loss=loss, measure=measure, sample=sample)


def sentence_lengths(g: Generator, device: torch.device) -> Experiment:
    """Sentences that end with probability 1/4 after each word: does the model end its own as often?"""
    V, B, T, J, stop = 6, 64, 16, 24, 0.25
    eos = V - 1
    chain = sources.MarkovChain(V, g, stop=stop)
    model = RecurrentLanguageModel(V, J, 1, UGRNN).to(device)

    def per_word(w: Tensor) -> Tensor:
        counts = through_eos(w, eos)
        return sequence_log_loss(model(w), w, counts).sum() / counts.sum()

    def measure() -> dict[str, float]:
        w = chain.sample(1024, T, g)
        bayes = chain.log_loss(w)[through_eos(w, eos)].mean().item()
        sentences, lengths = model.sample(1024, 64, generator=Generator(device).manual_seed(0), eos=eos)
        ended = (sentences == eos).any(1).float().mean().item()
        figures = {"loss": per_word(w.to(device)).item(), "bayes": bayes, "uniform": math.log(V)}
        figures["excess"] = figures["loss"] - bayes
        return figures | {"length": lengths.float().mean().item(), "expected": 1 / stop, "ended": ended}

    return Experiment(model=model, draw=lambda: (chain.sample(B, T, g),), loss=per_word, measure=measure)


def latch(g: Generator, device: torch.device, *, layer: Callable[[int, int], nn.Module]) -> Experiment:
    """The first of 81 words names one of four classes, the other 80 are noise; which class was it?"""
    V, classes, B, T, J = 8, 4, 32, 81, 32
    model = nn.ModuleDict({"rnn": layer(V, J), "out": Linear(J, classes)}).to(device)

    def draw(B: int = B) -> tuple[Tensor, Tensor]:
        w = torch.randint(classes, V, (B, T), generator=g)
        w[:, 0] = torch.randint(classes, (B,), generator=g)
        return F.one_hot(w, V).float(), w[:, 0]

    def scores(x: Tensor) -> Tensor:
        return model["out"](model["rnn"](x)[1])

    return classifying(model, draw, scores, device, classes, rows=512)


class LeftOnly(BlankLanguageModel):
    """A control: the context right of the blank is withheld."""

    def contexts(self, x, lengths=None):
        """h→[t-1], and zero for h←[t+1]."""
        left, right = super().contexts(x, lengths)
        return left, torch.zeros_like(right)


class Leaky(BlankLanguageModel):
    """A control: the states *at* the blank, which have read the word that is to be predicted."""

    def contexts(self, x, lengths=None):
        """h→[t] and h←[t]."""
        return one_way(self.forward_layers, x), reverse(one_way(self.backward_layers, reverse(x)))


def blank_language_model(g: Generator, device: torch.device, *, kind: type[BlankLanguageModel]) -> Experiment:
    """Every word of a Markov chain given all others. A loss *below* the Bayes loss proves a leak."""
    V, B, T = 8, 32, 12
    chain = sources.MarkovChain(V, g)
    model = kind(V, 16, 32).to(device)

    def loss(w: Tensor) -> Tensor:
        return sequence_log_loss(model(w), w).mean() / T

    def measure() -> dict[str, float]:
        w = chain.sample(1024, T, g)
        reached = loss(w.to(device)).item()
        bayes, left = chain.blank_log_loss(w).mean().item(), chain.log_loss(w).mean().item()
        return {
            "loss": reached,
            "bayes": bayes,
            "left": left,
            "excess": reached - bayes,
            "above_left": reached - left,
        }

    return Experiment(model=model, draw=lambda: (chain.sample(B, T, g),), loss=loss, measure=measure)


def masked_language_model(g: Generator, device: torch.device, *, segments: bool) -> Experiment:
    """One masked word repeats the first word of its row in segment 0, and is its successor in segment 1.

    The segments of a row are drawn so that no position tells which it is in: without them, ln 2 is the best.
    """
    from solutions.bert import MaskedLanguageModel  # the transformer is loaded by the tasks that train it

    letters, B, T = 10, 32, 9
    V, mask = letters + 1, letters
    model = MaskedLanguageModel(V=V, J=32, K=4, I=8, F=64, N=2, T_max=T, S=2).to(device)

    def draw(B: int = B) -> tuple[Tensor, ...]:
        w = torch.randint(letters, (B, T), generator=g)
        s = (torch.arange(T) >= torch.randint(1, T, (B, 1), generator=g)).long()
        s = (s + torch.randint(2, (B, 1), generator=g)) % 2
        rows, t = torch.arange(B), torch.randint(1, T, (B,), generator=g)
        y = (w[:, 0] + s[rows, t]) % letters
        w[rows, t] = mask
        return w, s if segments else torch.zeros_like(s), rows, t, y

    def loss(w: Tensor, s: Tensor, rows: Tensor, t: Tensor, y: Tensor) -> Tensor:
        return F.cross_entropy(model(w, s)[rows, t], y)

    def measure() -> dict[str, float]:
        reached = loss(*on(device, draw(1024))).item()
        return {"loss": reached, "ln2": math.log(2), "uniform": math.log(letters)}

    return Experiment(model=model, draw=draw, loss=loss, measure=measure)


# -------------------------------------------------------------------------- translation, captions, sentences


def copying(
    g: Generator,
    device: torch.device,
    *,
    T: int,
    attention: str | None,
    backwards: bool,
    kind: type[Seq2Seq] = Seq2Seq,
) -> Experiment:
    """Write T letters out again, in their order or backwards; a row counts if all of it is right."""
    V, B = 10, 64
    model = kind(V, V, 16, 64, attention).to(device)

    def draw(B: int = B) -> tuple[Tensor, Tensor]:
        w = torch.randint(V, (B, T), generator=g)
        return w, w.flip(1) if backwards else w

    def loss(w_in: Tensor, w_out: Tensor) -> Tensor:
        return sequence_log_loss(model(w_in, w_out), w_out).mean() / T

    def measure() -> dict[str, float]:
        w_in, w_out = on(device, draw(256))
        exact = (model.translate(w_in, T)[0] == w_out).all(1).float().mean().item()
        return {"loss": loss(*on(device, draw(256))).item(), "exact": exact, "uniform": math.log(V)}

    def maps() -> dict[str, Tensor]:
        alpha = model.translate(on(device, draw(1))[0], T)[1]
        return {} if alpha is None else {"letter written (down), letter read (across)": alpha[0]}

    def sample() -> str:
        w_in, _ = on(device, draw(3))
        rows = zip(w_in.tolist(), model.translate(w_in, T)[0].tolist(), strict=True)
        return "\n".join(f"{''.join(map(str, source))} -> {''.join(map(str, out))}" for source, out in rows)

    return Experiment(model=model, draw=draw, loss=loss, measure=measure, sample=sample, maps=maps)


class MeanPool(Captioner):
    """A control: every position gets the same weight."""

    def attend(self, h, M):
        """The average and its weights."""
        alpha = M.new_full(M.shape[:3], 1 / (M.shape[1] * M.shape[2]))
        return M.mean((1, 2)), alpha


def captioning(g: Generator, device: torch.device, *, kind: type[Captioner]) -> Experiment:
    """Name colour, shape and place of the one marked cell among twenty; see `sources.marked_images`."""
    V, B = len(sources.WORDS), 64
    model = kind(V, 16, 32, sources.IMAGE_FEATURES).to(device)

    def loss(M: Tensor, w: Tensor) -> Tensor:
        return sequence_log_loss(model(M, w)[0], w).mean() / w.shape[1]

    def maps() -> dict[str, Tensor]:
        M, w, _ = on(device, sources.marked_images(1, g))
        said, alpha = model.caption(M, w.shape[1])
        return {sources.WORDS[n]: alpha[0, t] for t, n in enumerate(said[0].tolist())}

    def measure() -> dict[str, float]:
        M, w, marked = on(device, sources.marked_images(512, g))
        scores, alpha = model(M, w)
        on_mark = alpha[:, :-1].flatten(2).gather(2, marked[:, None, None].expand(-1, w.shape[1] - 1, 1))
        return {
            "loss": sequence_log_loss(scores, w).mean().item() / w.shape[1],
            "exact": (model.caption(M, w.shape[1])[0] == w).all(1).float().mean().item(),
            "on_mark": on_mark.mean().item(),
            "uniform": math.log(V),
        }

    def sample() -> str:
        M, w, _ = sources.marked_images(3, g)
        said, _ = model.caption(M.to(device), w.shape[1])
        pairs = [[" ".join(sources.WORDS[n] for n in row) for row in rows] for rows in (w.tolist(), said.tolist())]
        return "\n".join(f"{right}: described as {words}" for right, words in zip(*pairs, strict=True))

    return Experiment(
        model=model,
        draw=lambda: sources.marked_images(B, g)[:2],
        loss=loss,
        measure=measure,
        sample=sample,
        maps=maps,
    )


def pair_detection(g: Generator, device: torch.device, *, kind: type[LanguageCNN] = LanguageCNN) -> Experiment:
    """Does word 0 stand directly before word 1? In half of the sentences; the others have both, but apart."""
    V, B, T = 8, 64, 15
    cnn = kind(V, 24, 2)
    model = nn.ModuleDict({"cnn": cnn, "out": Linear(24, 2)}).to(device)

    def draw(B: int = B) -> tuple[Tensor, Tensor]:
        w = torch.randint(2, V, (B, T), generator=g)
        y = torch.randint(2, (B,), generator=g)
        first = torch.randint(T - 3, (B,), generator=g)
        w[torch.arange(B), first] = 0
        w[torch.arange(B), first + 3 - 2 * y] = 1  # directly behind, or two words too late
        return w, y

    def scores(w: Tensor) -> Tensor:
        return model["out"](model["cnn"](w).amax(1))

    return classifying(model, draw, scores, device, 2)


# -------------------------------------------------------------------------------------------- depth and time


def deep_regression(
    g: Generator, device: torch.device, *, heads: bool, residual: bool, kind: type[DeepMLP] = DeepMLP
) -> Experiment:
    """Twenty layers of logistic units fit y = sin(2 x_0) + x_1 x_2, scaled to variance one."""
    K, B, L = 3, 128, 20
    model = kind(K, 32, L, heads=heads, residual=residual).to(device)

    def draw(B: int = B) -> tuple[Tensor, Tensor]:
        x = torch.randn(B, K, generator=g)
        y = torch.sin(2 * x[:, 0]) + x[:, 1] * x[:, 2]
        return x, y / math.sqrt(1.5 - math.exp(-8) / 2)  # Var = (1 - e⁻⁸)/2 + 1

    def loss(x: Tensor, y: Tensor) -> Tensor:
        return squared_loss(model(x), y)

    def measure() -> dict[str, float]:
        x, y = on(device, draw(2048))
        errors = (model(x) - y).square().mean(1)
        return {"mse": errors[-1].item(), "best_head": errors.min().item(), "variance": y.var().item()}

    return Experiment(model=model, draw=draw, loss=loss, measure=measure)


def exploding(g: Generator, device: torch.device) -> Experiment:
    """A linear RNN whose gradients explode: the eigenvalues of W_hh start at 1.2, for 24 steps of SGD."""
    B, T, J = 32, 24, 8
    rnn = VanillaRNN(1, J, activation=lambda z: z)
    rnn.W_hh.data = 1.2 * torch.eye(J)
    model = nn.ModuleDict({"rnn": rnn, "out": Linear(J, 1)}).to(device)

    def draw(B: int = B) -> tuple[Tensor]:
        return (torch.randn(B, T, 1, generator=g),)

    def loss(x: Tensor) -> Tensor:
        y_hat = model["out"](model["rnn"](x)[1])
        return (y_hat - x.sum(1) / math.sqrt(T)).square().mean()

    return Experiment(
        model=model,
        draw=draw,
        loss=loss,
        measure=lambda: {"mse": loss(*on(device, draw(1024))).item(), "variance": 1.0},
        optimizer=torch.optim.SGD,
    )

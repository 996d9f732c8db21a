"""Every model once, small, with what it is called with: for whatever must hold of all of them.

Widths are distinct primes, so that no transposition fits by accident and no two axes are taken for one.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu

from solutions.attention import MergedAttention, MultiHeadAttention
from solutions.bert import Bert, MaskedLanguageModel
from solutions.bidirectional import BlankLanguageModel, StackedBidirectionalRNN
from solutions.captioner import Captioner
from solutions.language_cnn import LanguageCNN
from solutions.mlp import DeepMLP
from solutions.rnn import GRU, LSTM, RecurrentLanguageModel, ResidualRNN, VanillaRNN
from solutions.seq2seq import Seq2Seq
from solutions.spatial import AxialAttention, SpatialAttention, WindowAttention
from solutions.transformer import LanguageModel, Transformer
from solutions.ugrnn import UGRNN, TwoGateUGRNN

V, WIDE, MOST = 23, 5, 64  # words, width of an input vector, the longest sequence


@dataclass(frozen=True, kw_only=True)
class Example:
    """A model and its arguments for B rows of length T, in float32; which axes of each argument hold B and T."""

    make: Callable[[], nn.Module]
    arguments: Callable[[int, int], tuple[Tensor, ...]]
    axes: tuple[tuple[str, ...], ...]


def words(B: int, T: int) -> Tensor:
    """Words, at random."""
    return torch.randint(V, (B, T), generator=torch.Generator().manual_seed(100 * B + T))


def vectors(*shape: int) -> Tensor:
    """Normal numbers."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)))


def _sequence(make: Callable[[], nn.Module]) -> Example:
    return Example(make=make, arguments=lambda B, T: (vectors(B, T, WIDE),), axes=(("B", "T", ""),))


def _sentence(make: Callable[[], nn.Module]) -> Example:
    return Example(make=make, arguments=lambda B, T: (words(B, T),), axes=(("B", "T"),))


def _translation(make: Callable[[], nn.Module]) -> Example:
    """Source and target of their own lengths."""
    pair = (("B", "T"), ("B", "T2"))
    return Example(make=make, arguments=lambda B, T: (words(B, T), words(B, T + 4)), axes=pair)


def _segments(make: Callable[[], nn.Module]) -> Example:
    pair = (("B", "T"), ("B", "T"))
    return Example(make=make, arguments=lambda B, T: (words(B, T), words(B, T) % 2), axes=pair)


def _image(make: Callable[[], nn.Module]) -> Example:
    axes = (("B", "T", "T2", ""),)
    return Example(make=make, arguments=lambda B, T: (vectors(B, T, T + 4, 8),), axes=axes)


class Causal(nn.Module):
    """Causal self-attention, with fewer keys than heads and more values than keys."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(WIDE, 2, U=3, I=7, G=1, bias=True)

    def forward(self, x: Tensor) -> Tensor:
        """Each position looks back."""
        return self.attention(x, causal=True)


SIZES = {"V": V, "J": 8, "K": 2, "I": 4, "F": 11, "N": 2}
SMOOTH = SIZES | {"activation": gelu}  # ReLU has kinks, across which a difference says nothing of a derivative

EXAMPLES: Mapping[str, Example] = MappingProxyType(
    {
        "VanillaRNN": _sequence(lambda: VanillaRNN(WIDE, 7)),
        "GRU": _sequence(lambda: GRU(WIDE, 7)),
        "GRU, before": _sequence(lambda: GRU(WIDE, 7, "before")),
        "LSTM": _sequence(lambda: LSTM(WIDE, 7)),
        "UGRNN": _sequence(lambda: UGRNN(WIDE, 7)),
        "TwoGateUGRNN": _sequence(lambda: TwoGateUGRNN(WIDE, 7)),
        "ResidualRNN": _sequence(lambda: ResidualRNN(WIDE, 2)),
        "StackedBidirectionalRNN": _sequence(lambda: StackedBidirectionalRNN(WIDE, 7, 2)),
        "RecurrentLanguageModel": _sentence(lambda: RecurrentLanguageModel(V, 7, 2, UGRNN)),
        "BlankLanguageModel": _sentence(lambda: BlankLanguageModel(V, WIDE, 7, 2)),
        "Seq2Seq": _translation(lambda: Seq2Seq(V, V, WIDE, 7)),
        "Captioner": Example(
            make=lambda: Captioner(V, WIDE, 7, 3),
            arguments=lambda B, T: (vectors(B, 4, 6, 3), words(B, T)),
            axes=(("B", "", "", ""), ("B", "T")),
        ),
        "LanguageCNN": _sentence(lambda: LanguageCNN(V, WIDE, 2, activation=torch.tanh)),
        "DeepMLP": Example(
            make=lambda: DeepMLP(WIDE, 7, 3, heads=True),
            arguments=lambda B, T: (vectors(B, WIDE),),
            axes=(("B", ""),),
        ),
        "MultiHeadAttention": _sequence(lambda: MultiHeadAttention(WIDE, 2, U=3, I=3)),
        "MultiHeadAttention, causal": _sequence(Causal),
        "MergedAttention": _sequence(lambda: MergedAttention(WIDE, 2, bias=True)),
        "SpatialAttention": _image(lambda: SpatialAttention(8, 2)),
        "SpatialAttention, relative": _image(lambda: SpatialAttention(8, 2, relative=(MOST, MOST))),
        "AxialAttention": _image(lambda: AxialAttention(8, 2, axis="x")),
        "WindowAttention": _image(lambda: WindowAttention(8, 2, w=1)),
        "LanguageModel": _sentence(lambda: LanguageModel(**SMOOTH, T_max=MOST)),
        "LanguageModel, sinusoidal": _sentence(lambda: LanguageModel(**SMOOTH, T_max=MOST, positions="sinusoidal")),
        "LanguageModel, rotary": _sentence(
            lambda: LanguageModel(**SMOOTH | {"I": 4}, T_max=MOST, positions="rotary", norm=nn.RMSNorm, gated=True, G=1)
        ),
        "Transformer": _translation(lambda: Transformer(**SMOOTH)),
        "Bert": _segments(lambda: Bert(**SIZES, T_max=MOST, S=2)),
        "MaskedLanguageModel": _segments(lambda: MaskedLanguageModel(**SIZES, T_max=MOST, S=2)),
    }
)


def tensors(output: object) -> list[Tensor]:
    """All tensors of what a model returns, in order."""
    if isinstance(output, Tensor):
        return [output]
    return [tensor for part in output or () for tensor in tensors(part)]  # type: ignore[attr-defined]

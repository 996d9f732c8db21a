"""The training tasks: an experiment, how long it is trained, and the figures that it must reach.

Tasks named `control_…` must *fail* to learn, and their goals say how: the same without the one thing
that it is about. A loss that is too good is a failure as well: it proves a leak.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

import torch
from torch import Generator

from solutions.attending import (
    Everywhere,
    GivenAll,
    both_axes,
    learned,
    lookup,
    marked,
    one_axis,
    reversal,
    turned,
    window,
    word_behind,
)
from solutions.attention import MergedAttention, MultiHeadAttention
from solutions.bidirectional import BlankLanguageModel
from solutions.captioner import Captioner
from solutions.experiments import (
    Experiment,
    Leaky,
    LeftOnly,
    MeanPool,
    blank_language_model,
    captioning,
    character_language_model,
    copying,
    deep_regression,
    exploding,
    latch,
    markov_language_model,
    masked_language_model,
    pair_detection,
    recurrent,
    sentence_lengths,
)
from solutions.rnn import GRU, LSTM, VanillaRNN
from solutions.spatial import SpatialAttention
from solutions.ugrnn import UGRNN, TwoGateUGRNN


@dataclass(frozen=True, kw_only=True)
class Task:
    """An experiment, how long it is trained, and its goal: lines like "excess < 0.03" that all must hold."""

    summary: str
    build: Callable[[Generator, torch.device], Experiment]
    goal: tuple[str, ...]
    steps: int
    rate: float = 0.01
    clip: float | None = 1.0


def kind(name: str) -> str:
    """What a task is about, which it shares with its controls: the first word, "control_" and "not_" set aside."""
    return name.removeprefix("control_").removeprefix("not_").split("_")[0]


LEARNS_CHAIN = ("excess < 0.03",)
KEEPING_UGRNN = partial(UGRNN, gate_bias=-4.0)  # G = 0.98 at the start: a memory of some 55 steps
KEEPING_TWO_GATE = partial(TwoGateUGRNN, gate_bias=-4.0)

TASKS: Mapping[str, Task] = MappingProxyType(
    {
        "markov_vanilla": Task(
            summary="language model of a Markov chain, vanilla RNN",
            build=partial(markov_language_model, kind=partial(recurrent, layer=VanillaRNN)),
            goal=LEARNS_CHAIN,
            steps=300,
        ),
        "markov_ugrnn": Task(
            summary="the same, update-gate RNN",
            build=partial(markov_language_model, kind=partial(recurrent, layer=UGRNN)),
            goal=LEARNS_CHAIN,
            steps=300,
        ),
        "markov_two_gate": Task(
            summary="the same, two-gate UGRNN",
            build=partial(markov_language_model, kind=partial(recurrent, layer=TwoGateUGRNN)),
            goal=LEARNS_CHAIN,
            steps=300,
        ),
        "markov_gru": Task(
            summary="the same, GRU of Cho et al.",
            build=partial(markov_language_model, kind=partial(recurrent, layer=partial(GRU, reset="before"))),
            goal=LEARNS_CHAIN,
            steps=300,
        ),
        "markov_lstm": Task(
            summary="the same, LSTM",
            build=partial(markov_language_model, kind=partial(recurrent, layer=LSTM)),
            goal=LEARNS_CHAIN,
            steps=300,
        ),
        "markov_residual": Task(
            summary="the same, three residual UGRNN layers",
            build=partial(markov_language_model, kind=partial(recurrent, layer=UGRNN, N=3)),
            goal=LEARNS_CHAIN,
            steps=300,
        ),
        "markov_transformer": Task(
            summary="the same, the decoder of a Transformer",
            build=partial(markov_language_model, kind=GivenAll),
            goal=LEARNS_CHAIN,
            steps=300,
        ),
        "markov_rotary": Task(
            summary="the same, its positions by rotation",
            build=partial(markov_language_model, kind=partial(GivenAll, positions="rotary")),
            goal=LEARNS_CHAIN,
            steps=300,
        ),
        "characters": Task(
            summary="letters of a short story; better on unseen text than a bigram model",
            build=character_language_model,
            goal=("seen < 0.3", "unseen < 1.2"),
            steps=400,
        ),
        "characters_transformer": Task(
            summary="the same, two layers of the decoder of a Transformer",
            build=partial(character_language_model, kind=partial(GivenAll, J=64, N=2)),
            goal=("seen < 1", "unseen < 2"),
            steps=400,
            rate=0.005,
        ),
        "lengths": Task(
            summary="sentences that end by <EOS>: their number of words",
            build=sentence_lengths,
            goal=("excess < 0.03", "length > 3.6", "length < 4.4", "ended >= 1"),
            steps=300,
        ),
        "latch_ugrnn": Task(
            summary="remember the first of 81 words, update-gate RNN",
            build=partial(latch, layer=KEEPING_UGRNN),
            goal=("accuracy > 0.95",),
            steps=300,
            rate=0.003,
        ),
        "latch_two_gate": Task(
            summary="the same, two-gate UGRNN",
            build=partial(latch, layer=KEEPING_TWO_GATE),
            goal=("accuracy > 0.95",),
            steps=300,
            rate=0.003,
        ),
        "control_latch_vanilla": Task(
            summary="the same, vanilla RNN: forgets",
            build=partial(latch, layer=VanillaRNN),
            goal=("accuracy < 0.45",),
            steps=300,
            rate=0.003,
        ),
        "blank": Task(
            summary="every word of a Markov chain given all others",
            build=partial(blank_language_model, kind=BlankLanguageModel),
            goal=("excess < 0.03", "excess > -0.03", "above_left < -0.2"),
            steps=300,
        ),
        "control_blank_left_only": Task(
            summary="the same from the left context alone: not below a left-to-right model",
            build=partial(blank_language_model, kind=LeftOnly),
            goal=("above_left > -0.03",),
            steps=300,
        ),
        "control_blank_leaky": Task(
            summary="the same from states that have read the word: too good to be honest",
            build=partial(blank_language_model, kind=Leaky),
            goal=("excess < -0.5",),
            steps=300,
        ),
        "masked": Task(
            summary="masked word whose answer depends on its segment",
            build=partial(masked_language_model, segments=True),
            goal=("loss < 0.15",),
            steps=300,
            rate=0.003,
        ),
        "control_masked_no_segments": Task(
            summary="the same without segments: ln 2 at best",
            build=partial(masked_language_model, segments=False),
            goal=("loss > 0.65",),
            steps=300,
            rate=0.003,
        ),
        "reverse_thought_4": Task(
            summary="four letters backwards, thought vector alone",
            build=partial(copying, T=4, attention=None, backwards=True),
            goal=("exact > 0.97",),
            steps=300,
        ),
        "control_reverse_thought_8": Task(
            summary="eight letters backwards: too many for a thought vector in so few steps",
            build=partial(copying, T=8, attention=None, backwards=True),
            goal=("exact < 0.85",),
            steps=300,
        ),
        "reverse_attention_8": Task(
            summary="eight letters backwards, with attention",
            build=partial(copying, T=8, attention="state", backwards=True),
            goal=("exact > 0.95",),
            steps=300,
        ),
        "copy_attention_8": Task(
            summary="eight letters in their order, with attention",
            build=partial(copying, T=8, attention="state", backwards=False),
            goal=("exact > 0.85",),
            steps=400,
        ),
        "reverse_transformer": Task(
            summary="eight letters backwards and <EOS>, encoder and decoder of a Transformer",
            build=reversal,
            goal=("exact > 0.9",),
            steps=400,
            rate=0.005,
        ),
        "captions": Task(
            summary="colour, shape and place of the marked cell of an image",
            build=partial(captioning, kind=Captioner),
            goal=("loss < 0.3", "exact > 0.8", "on_mark > 0.4"),
            steps=300,
        ),
        "control_captions_mean": Task(
            summary="the same from the average over positions",
            build=partial(captioning, kind=MeanPool),
            goal=("loss > 0.9",),
            steps=300,
        ),
        "lookup": Task(
            summary="the value beside the name that the last of eleven positions asks for, self-attention",
            build=partial(lookup, layer=partial(MultiHeadAttention, K=2)),
            goal=("accuracy > 0.97",),
            steps=300,
        ),
        "lookup_merged": Task(
            summary="the same, one merged matrix for query and key",
            build=partial(lookup, layer=partial(MergedAttention, K=2)),
            goal=("accuracy > 0.97",),
            steps=300,
        ),
        "lookup_image": Task(
            summary="the same in an image of 4 x 5, self-attention over all positions",
            build=partial(lookup, layer=partial(SpatialAttention, K=2), shape=(4, 5)),
            goal=("accuracy > 0.97",),
            steps=300,
        ),
        "control_lookup_mean": Task(
            summary="the same from the average over positions: at best the most frequent value",
            build=partial(lookup, layer=Everywhere),
            goal=("accuracy < 0.6", "loss > 1.0"),
            steps=300,
        ),
        "marked_axial": Task(
            summary="the value at the marked place of an image of 6 x 7, attention along x, then along y",
            build=partial(marked, layer=both_axes),
            goal=("accuracy > 0.97",),
            steps=300,
        ),
        "control_marked_one_axis": Task(
            summary="the same along y alone: seen in the same row, 6 of 41 places, else guessed: 0.36 at best",
            build=partial(marked, layer=one_axis),
            goal=("accuracy > 0.29", "accuracy < 0.43"),
            steps=300,
        ),
        "marked_window": Task(
            summary="the same at most two steps away, attention within a window of two",
            build=partial(marked, layer=window, furthest=2),
            goal=("accuracy > 0.97",),
            steps=300,
        ),
        "control_marked_far": Task(
            summary="the same three steps away or more: outside the window, 0.25 at best",
            build=partial(marked, layer=window, nearest=3),
            goal=("accuracy < 0.32",),
            steps=300,
        ),
        "behind_turned": Task(
            summary="the word three positions before, positions by rotation: also in longer sentences",
            build=partial(word_behind, kind=turned),
            goal=("accuracy > 0.95", "beyond > 0.95"),
            steps=400,
        ),
        "control_behind_learned": Task(
            summary="the same, learned positions: lost where training has not been",
            build=partial(word_behind, kind=learned),
            goal=("beyond < 0.5",),
            steps=400,
        ),
        "pairs": Task(
            summary="language CNN: two words side by side, or only in one sentence",
            build=pair_detection,
            goal=("accuracy > 0.97",),
            steps=300,
        ),
        "control_deep_final_loss": Task(
            summary="twenty logistic layers, loss at the top alone: no gradient arrives below",
            build=partial(deep_regression, heads=False, residual=False),
            goal=("mse > 0.9",),
            steps=400,
        ),
        "deep_heads": Task(
            summary="the same with a loss head at every layer",
            build=partial(deep_regression, heads=True, residual=False),
            goal=("mse < 0.6",),
            steps=400,
        ),
        "deep_residual": Task(
            summary="the same with residual connections",
            build=partial(deep_regression, heads=False, residual=True),
            goal=("mse < 0.3",),
            steps=400,
        ),
        "clipped": Task(
            summary="exploding gradients, clipped to length one",
            build=exploding,
            goal=("mse < 0.05",),
            steps=300,
            rate=0.05,
        ),
        "control_not_clipped": Task(
            summary="the same without clipping: diverges",
            build=exploding,
            goal=("steps < 20",),
            steps=300,
            rate=0.05,
            clip=None,
        ),
    }
)

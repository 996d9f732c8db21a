"""How many parameters a model has, by formula and by building it without memory.

Run `python -m solutions.counting` for the tables.

"The" transformer base model has 62.7 to 101 million parameters, depending on what is counted: which matrices
are tied, which biases exist, how large the vocabulary is, whether each stack ends in a norm. So each number
here comes with its convention and its breakdown. A total alone cannot tell a right count from a wrong one:
leaving out the layer norms and leaving out the feed-forward biases both give 63,014,912.

    Count                    a number per kind of parameter; counts add and multiply
    attention, layer, ...    formulas, one per model
    counted                  the same read off a module; under `torch.device("meta")` it needs no memory
    conventions, table_3     what the literature prints, beside both

Axes: V vocabulary, J model width, K heads (in recurrent models: input width), U query/key width, I value
width, F feed-forward width, N layers, T positions, S segments.
"""

import math
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, astuple, dataclass, fields

import torch
from torch import nn

from solutions.bert import Bert
from solutions.transformer import FeedForward, LanguageModel, Transformer


@dataclass(frozen=True, kw_only=True)
class Count:
    """How many numbers a model learns, by kind; `other` are output biases and heads."""

    embedding: int = 0
    attention: int = 0
    feed_forward: int = 0
    norm: int = 0
    other: int = 0

    def __add__(self, more: "Count") -> "Count":
        pairs = zip(fields(self), astuple(self), astuple(more), strict=True)
        return Count(**{field.name: a + b for field, a, b in pairs})

    def __rmul__(self, times: int) -> "Count":
        return Count(**{name: times * number for name, number in asdict(self).items()})

    @property
    def total(self) -> int:
        """The number that papers print."""
        return sum(astuple(self))


# --- attention --------------------------------------------------------------------------------------------


def attention(
    J: int,
    K: int,
    *,
    U: int | None = None,
    I: int | None = None,
    M: int | None = None,
    G: int | None = None,
    output: bool = True,
    bias: bool = False,
) -> int:
    """W^Q, W^K, W^V and W^O of `MultiHeadAttention`: 4 J² for every number of heads when U = I = J / K."""
    U, I, M, G = U or J // K, I or J // K, M or J, G or K
    weights = K * U * J + G * (U + I) * M + output * J * K * I
    biases = K * U + G * (U + I) + output * J
    return weights + bias * biases


def merged_attention(J: int, K: int, *, M: int | None = None, bias: bool = False) -> int:
    """W^QK and W^VO of `MergedAttention`: 2 K J M, K/2 times as many as 4 J²."""
    M = M or J
    return 2 * K * J * M + bias * (K * M + J)


def score_flops(T: int, J: int, I: int, *, merged: bool) -> int:
    """FLOPs of one head's scores: 2 (T J² + T² J) merged, 2 (2 T I J + T² I) factored.

    The two meet at T* = J (2I - J) / (J - I): merging pays for T < T*, so never if I <= J/2, always if I = J.
    """
    return 2 * (T * J**2 + T**2 * J) if merged else 2 * (2 * T * I * J + T**2 * I)


def attention_flops(T: int, J: int) -> int:
    """FLOPs of a self-attention layer with K I = K U = J: 8 T J² + 4 T² J, for any K."""
    return 8 * T * J**2 + 4 * T**2 * J


def relative_bias(K: int, *lengths: int) -> int:
    """One number per head and displacement: K (2T - 1) along time, K (2X - 1) (2Y - 1) over an image."""
    return K * math.prod(2 * length - 1 for length in lengths)


# --- transformers -----------------------------------------------------------------------------------------


def feed_forward(J: int, F: int) -> int:
    """Two matrices and two biases."""
    return 2 * J * F + F + J


def layer(J: int, K: int, I: int, F: int, *, U: int | None = None, cross: bool = False, bias: bool = False) -> Count:
    """One `Layer`: one attention and two norms (with cross-attention two and three), one feed-forward."""
    return Count(
        attention=(1 + cross) * attention(J, K, U=U or I, I=I, bias=bias),
        feed_forward=feed_forward(J, F),
        norm=(2 + cross) * 2 * J,
    )


def transformer(
    V: int,
    J: int,
    K: int,
    I: int,
    F: int,
    N: int,
    *,
    U: int | None = None,
    tables: int = 1,
    bias: bool = False,
    final_norm: bool = False,
    output_bias: bool = False,
) -> Count:
    """A `Transformer`; the paper's is V J + 168 J² + 120 J with N = 6, F = 4J and the defaults."""
    return (
        Count(embedding=tables * V * J, norm=final_norm * 2 * 2 * J, other=output_bias * V)
        + N * layer(J, K, I, F, U=U, bias=bias)
        + N * layer(J, K, I, F, U=U, cross=True, bias=bias)
    )


def language_model(
    V: int, J: int, K: int, I: int, F: int, N: int, T: int, *, bias: bool = False, pre_norm: bool = True
) -> Count:
    """A `LanguageModel` with T learned positions (T = 0: sinusoids, which are not learned)."""
    return Count(embedding=(V + T) * J, norm=pre_norm * 2 * J) + N * layer(J, K, I, F, bias=bias)


def bert(V: int, J: int, K: int, I: int, F: int, N: int, T: int, S: int, *, pooler: bool = False) -> Count:
    """A `Bert`: three tables of (V + T + S) J, a norm over their sum, N layers with attention biases."""
    tables = Count(embedding=(V + T + S) * J, norm=2 * J, other=pooler * (J**2 + J))
    return tables + N * layer(J, K, I, F, bias=True)


def masked_language_model(V: int, J: int, K: int, I: int, F: int, N: int, T: int, S: int) -> Count:
    """A `MaskedLanguageModel`: a `Bert`, one more J by J layer with its norm, and the output's V biases."""
    return bert(V, J, K, I, F, N, T, S) + Count(norm=2 * J, other=J**2 + J + V)


# --- recurrent networks -----------------------------------------------------------------------------------


def cell(K: int, J: int) -> int:
    """n = J² + J K + J: a map of the state, one of the input, a bias. Recurrent cells are made of it."""
    return J**2 + J * K + J


def vanilla_rnn(K: int, J: int) -> int:
    """One map (torch.nn.RNN has a second bias: + J)."""
    return cell(K, J)


def ugrnn(K: int, J: int) -> int:
    """Candidate and gate."""
    return 2 * cell(K, J)


def two_gate_ugrnn(K: int, J: int) -> int:
    """Candidate and two gates; state and input have a bias each in the candidate, hence + J."""
    return 3 * cell(K, J) + J


def gru(K: int, J: int, *, reset: str = "after") -> int:
    """Candidate and two gates; resetting after the product needs a bias more (torch.nn.GRU: all doubled)."""
    return 3 * cell(K, J) + (reset == "after") * J


def lstm(K: int, J: int) -> int:
    """Candidate and three gates (torch.nn.LSTM: + 4J)."""
    return 4 * cell(K, J)


RecurrentLayer = Callable[[int, int], int]  # (K, J) -> the count of one layer


def recurrent_language_model(V: int, J: int, N: int = 1, layer: RecurrentLayer = gru) -> int:
    """Tied word vectors, the vector before the first word, and N residual layers as wide as a word."""
    return V * J + J + N * layer(J, J)


def blank_language_model(V: int, I: int, J: int, N: int = 1, layer: RecurrentLayer = ugrnn) -> int:
    """Word vectors and, once per direction, N layers, a boundary state and a map from state to word."""
    return V * I + 2 * (layer(I, J) + (N - 1) * layer(J, J) + J + I * J)


def stacked_bidirectional_rnn(I: int, J: int, N: int, layer: RecurrentLayer = ugrnn) -> int:
    """Two layers per level; from the second level on they read both below."""
    return 2 * (layer(I, J) + (N - 1) * layer(2 * J, J))


def seq2seq(V_in: int, V_out: int, I: int, J: int, attention: str | None = "state") -> int:
    """Two vocabularies, encoder, decoder cell, first input, state to word; the attention's W_key."""
    key = {"state": J * J, "word": I * J, None: 0}[attention]
    cell_input = I if attention is None else J + I
    return (V_in + V_out) * I + ugrnn(I, J) + ugrnn(cell_input, J) + I + I * J + key


def captioner(V: int, I: int, J: int, K: int) -> int:
    """Word vectors, a cell that reads features and word, first input, W_init, W_key, W_auto."""
    return V * I + ugrnn(K + I, J) + I + 2 * J * K + I * J


# --- convolution and perceptron ---------------------------------------------------------------------------


def language_cnn(V: int, I: int, L: int, D: int = 3) -> int:
    """Word vectors, then D matrices and a bias per layer, however long the sentence."""
    return V * I + L * (D * I**2 + I)


def deep_mlp(K: int, I: int, L: int, *, heads: bool = False) -> int:
    """K to I, L layers of width I, and one head per layer or at the top alone; residuals cost nothing."""
    return I * K + I + L * (I**2 + I) + (L if heads else 1) * (I + 1)


# --- by building ------------------------------------------------------------------------------------------

KINDS = {  # the first that occurs in a parameter's name; ours and those of torch.nn.Transformer
    "norm": r"norm",
    "attention": r"attention|cross|self_attn|multihead_attn",
    "feed_forward": r"feed_forward|linear[12]",
    "embedding": r"\be\b|\bs\b|\bpositions\b",
}


def counted(module: nn.Module) -> Count:
    """Return the numbers of a module's parameters, sorted by name; a tied parameter counts once."""
    kinds = dict.fromkeys([*KINDS, "other"], 0)
    for name, parameter in module.named_parameters():
        kind = next((kind for kind, pattern in KINDS.items() if re.search(pattern, name)), "other")
        kinds[kind] += parameter.numel()
    return Count(**kinds)


def without_memory(build: Callable[[], nn.Module]) -> nn.Module:
    """Build a module on the meta device, where tensors have a shape and no numbers."""
    with torch.device("meta"):
        return build()


# --- what the literature prints ---------------------------------------------------------------------------

BASE = {"J": 512, "K": 8, "I": 64, "F": 2048, "N": 6}
BIG = {"J": 1024, "K": 16, "I": 64, "F": 4096, "N": 6}
GPT2_SMALL = {"V": 50257, "J": 768, "K": 12, "I": 64, "F": 3072, "N": 12}
BERT_BASE = {"V": 30522, "J": 768, "K": 12, "I": 64, "F": 3072, "N": 12}


def _output_matrices_only() -> nn.Module:
    """What a published solution sheet counts: of each attention only W^O, and no norms."""
    return nn.ModuleDict(
        {
            "feed_forward": nn.ModuleList(FeedForward(512, 2048) for _ in range(12)),
            "attention": nn.ParameterList(torch.empty(512, 512) for _ in range(18)),
            "e": nn.ParameterList(torch.empty(32000, 512) for _ in range(2)),
        }
    )


def _torch_without_biases() -> nn.Module:
    with warnings.catch_warnings():  # of a fast path that this combination lacks; nothing is run here
        warnings.simplefilter("ignore", UserWarning)
        return nn.Transformer(batch_first=True, bias=False)


@dataclass(frozen=True, kw_only=True)
class Convention:
    """One way to count: its name, the formula's result and how to build the module that has it."""

    name: str
    formula: Count
    build: Callable[[], nn.Module]


def _encoder_decoder(name: str, **sizes: int) -> Convention:
    return Convention(name=name, formula=transformer(**sizes), build=lambda: Transformer(**sizes))


def conventions() -> Iterator[Convention]:
    """Yield every convention under which a count of these models has been printed."""
    yield Convention(
        name="W_O alone per attention, no norms, 2 tables, V=32,000",
        formula=Count(embedding=2 * 32000 * 512, attention=18 * 512**2, feed_forward=12 * feed_forward(512, 2048)),
        build=_output_matrices_only,
    )
    yield _encoder_decoder("as published, one table, V=37,000", V=37000, **BASE)
    yield _encoder_decoder("  with attention biases", V=37000, **BASE, bias=True)
    yield _encoder_decoder("  V=32,000", V=32000, **BASE)
    torch_body = {"V": 0, **BASE, "bias": True, "final_norm": True}
    yield Convention(
        name="torch.nn.Transformer()",
        formula=transformer(**torch_body),
        build=lambda: nn.Transformer(batch_first=True),
    )
    for V in (32000, 37000):
        for tables, tied in ((1, "one table"), (2, "output tied to the target table"), (3, "three tables")):
            sizes = torch_body | {"V": V, "tables": tables}
            name = f"  and {tied}, V={V:,}"
            yield _encoder_decoder(name, **sizes)
            if tables != 2:
                yield _encoder_decoder(f"{name}, output bias", **sizes, output_bias=True)
    yield Convention(
        name="torch.nn.Transformer(bias=False)",  # no biases in the norms and feed-forwards either
        formula=Count(attention=18 * attention(512, 8), feed_forward=12 * 2 * 512 * 2048, norm=32 * 512),
        build=_torch_without_biases,
    )
    yield _encoder_decoder("big as published, V=37,000", V=37000, **BIG)
    yield Convention(
        name="GPT-2 small",
        formula=language_model(**GPT2_SMALL, T=1024, bias=True),
        build=lambda: LanguageModel(**GPT2_SMALL, T_max=1024, bias=True),
    )
    yield Convention(
        name="BERT base with pooler",
        formula=bert(**BERT_BASE, T=512, S=2, pooler=True),
        build=lambda: Bert(**BERT_BASE, T_max=512, S=2, pooler=True),
    )


TABLE_3 = {  # Vaswani et al. 2017, table 3: what differs from base, and the millions printed
    "base": ({}, 65),
    "(B) dk=16": ({"U": 16}, 58),
    "(B) dk=32": ({"U": 32}, 60),
    "(C) N=2": ({"N": 2}, 36),
    "(C) N=4": ({"N": 4}, 50),
    "(C) N=8": ({"N": 8}, 80),
    "(C) d=256, dk=dv=32": ({"J": 256, "I": 32}, 28),
    "(C) d=1024, dk=dv=128": ({"J": 1024, "I": 128}, 168),
    "(C) dff=1024": ({"F": 1024}, 53),
    "(C) dff=4096": ({"F": 4096}, 90),
    "big": (BIG, 213),
}


def implied_rows(sizes: dict[str, int], millions: int) -> tuple[int, int]:
    """Return the smallest and largest V for which the count rounds to so many millions.

    The printed "about 37000" fits none of the rows derived from base; 41,004 to 41,208 fits them all, but
    then big does not.
    """
    J, body = sizes["J"], transformer(V=0, **sizes).total
    lowest = (millions * 10**6 - 500_000 - body + J - 1) // J
    highest = (millions * 10**6 + 500_000 - body - 1) // J
    return lowest, highest


def main() -> None:
    """Print both tables."""
    from rich.console import Console
    from rich.table import Column, Table

    console = Console()
    console.width = max(console.width, 130)
    kinds = [field.name for field in fields(Count)]
    table = Table(Column("convention", min_width=24), title="Parameters")
    for name in (*kinds, "total", "module"):
        table.add_column(name.replace("_", " "), justify="right", no_wrap=True)  # an exact count is shown whole
    for convention in conventions():
        built = counted(without_memory(convention.build))
        same = "the same" if built == convention.formula else f"{built.total:,}"
        numbers = (f"{n:,}" for n in (*astuple(convention.formula), convention.formula.total))
        table.add_row(convention.name, *numbers, same)
    console.print(table)

    table = Table("row", "V=37,000", "printed", "V that would print it", title="Vaswani et al. 2017, table 3")
    for name, (changes, millions) in TABLE_3.items():
        sizes = BASE | changes
        lowest, highest = implied_rows(sizes, millions)
        total = transformer(V=37000, **sizes).total
        table.add_row(name, f"{total:,}", f"{millions}M", f"{lowest:,} ... {highest:,}")
    console.print(table)


if __name__ == "__main__":
    main()

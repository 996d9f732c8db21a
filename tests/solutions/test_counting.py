"""Parameter counts: the published conventions, formulas against modules, and what tells conventions apart."""

import random
from functools import partial

import pytest
import torch
from torch import nn

from solutions import counting
from solutions.attention import MergedAttention, MultiHeadAttention
from solutions.bert import Bert, MaskedLanguageModel
from solutions.counting import BASE, TABLE_3, Count, conventions, counted, implied_rows, without_memory
from solutions.positional import RelativeBias
from solutions.spatial import RelativeBias2D, SpatialAttention
from solutions.transformer import LanguageModel, Layer, Transformer

PUBLISHED = {  # computed by hand from the architectures, and what the formulas must give
    "W_O alone per attention, no norms, 2 tables, V=32,000": 62_683_136,
    "as published, one table, V=37,000": 63_045_632,
    "  with attention biases": 63_082_496,
    "  V=32,000": 60_485_632,
    "torch.nn.Transformer()": 44_140_544,
    "torch.nn.Transformer(bias=False)": 44_056_576,
    "  and one table, V=32,000": 60_524_544,
    "  and one table, V=37,000": 63_084_544,
    "  and one table, V=32,000, output bias": 60_556_544,
    "  and one table, V=37,000, output bias": 63_121_544,
    "  and output tied to the target table, V=32,000": 76_908_544,
    "  and output tied to the target table, V=37,000": 82_028_544,
    "  and three tables, V=32,000": 93_292_544,
    "  and three tables, V=37,000": 100_972_544,
    "  and three tables, V=32,000, output bias": 93_324_544,
    "  and three tables, V=37,000, output bias": 101_009_544,
    "big as published, V=37,000": 214_171_648,
    "GPT-2 small": 124_439_808,
    "BERT base with pooler": 109_482_240,
}
ALL = {convention.name: convention for convention in conventions()}


def numel(module: nn.Module) -> int:
    """Numbers of a module, a tied one once."""
    return sum(parameter.numel() for parameter in module.parameters())


def test_no_convention_is_missing() -> None:
    """The table holds the published conventions and no others."""
    assert ALL.keys() == PUBLISHED.keys()


@pytest.mark.parametrize("name", PUBLISHED)
def test_formula_module_and_print_agree(name: str) -> None:
    """By formula and by a module without memory: the same breakdown, and the total that is expected."""
    module = without_memory(ALL[name].build)
    assert all(parameter.is_meta for parameter in module.parameters())
    assert counted(module) == ALL[name].formula
    assert ALL[name].formula.total == numel(module) == PUBLISHED[name]


def test_closed_forms() -> None:
    """V J + 168 J^2 + 120 J as published; + 72 J with attention biases; torch's body 168 J^2 + 196 J."""
    for J in (64, 512, 1024):
        sizes = {"J": J, "K": 8, "I": J // 8, "F": 4 * J, "N": 6}
        assert counting.transformer(V=11, **sizes).total == 11 * J + 168 * J**2 + 120 * J
        assert counting.transformer(V=11, **sizes, bias=True).total == 11 * J + 168 * J**2 + 192 * J
        assert counting.transformer(V=0, **sizes, bias=True, final_norm=True).total == 168 * J**2 + 196 * J


def test_a_total_does_not_tell_what_is_missing() -> None:
    """Without the norms, or without the feed-forward biases: 63,014,912 both times; the breakdown differs."""
    full = counting.transformer(V=37000, **BASE)
    without_norms = full.total - full.norm
    without_biases = full.total - 12 * (2048 + 512)
    assert without_norms == without_biases == 63_014_912


def test_table_3_of_the_paper() -> None:
    """No vocabulary prints the whole table: rows derived from base need about 41,100, big about 36,000."""
    rows = {name: implied_rows(BASE | changes, millions) for name, (changes, millions) in TABLE_3.items()}
    assert rows["base"] == (39_841, 41_793) and rows["big"] == (35_368, 36_344)
    derived = [row for name, row in rows.items() if name != "big"]
    assert (max(low for low, _ in derived), min(high for _, high in derived)) == (41_004, 41_208)
    for (name, (changes, millions)), (low, high) in zip(TABLE_3.items(), rows.values(), strict=True):
        sizes = BASE | changes
        for V, printed in (
            (low - 1, millions - 1),
            (low, millions),
            (high, millions),
            (high + 1, millions + 1),
        ):
            assert (counting.transformer(V=V, **sizes).total + 500_000) // 10**6 == printed, name
        assert counted(without_memory(partial(Transformer, V=7, **sizes))) == counting.transformer(V=7, **sizes)


@pytest.mark.parametrize("seed", range(10))
def test_formulas_equal_modules_for_any_sizes(seed: int) -> None:
    """Ten random configurations of every model of this half, with every option drawn."""
    draw = random.Random(seed)
    V, K, I, U, F, N, T, S = (draw.choice([2, 3, 5, 7, 11, 13, 17]) for _ in range(8))
    J, M, G = 2 * draw.choice([3, 5, 7]), draw.choice([3, 5, 19]), draw.choice([1, K])
    bias, flag = draw.random() < 0.5, draw.random() < 0.5
    sizes = {"V": V, "J": J, "K": K, "I": I, "F": F, "N": N}
    build, c = without_memory, counting
    options = {"U": U, "I": I, "M": M, "G": G, "output": flag, "bias": bias}
    assert numel(build(lambda: MultiHeadAttention(J, K, **options))) == c.attention(J, K, **options)
    merged = build(lambda: MergedAttention(J, K, M=M, bias=bias))
    assert numel(merged) == c.merged_attention(J, K, M=M, bias=bias)
    assert numel(build(lambda: RelativeBias(K, T))) == c.relative_bias(K, T)
    assert numel(build(lambda: RelativeBias2D(K, T, S))) == c.relative_bias(K, T, S)
    spatial = build(lambda: SpatialAttention(J, K, U=U, I=I, relative=(T, S)))
    assert numel(spatial) == c.attention(J, K, U=U, I=I) + c.relative_bias(K, T, S)
    layer = build(lambda: Layer(J, K, I, F, U=U, cross=flag, bias=bias))
    assert counted(layer) == c.layer(J, K, I, F, U=U, cross=flag, bias=bias)
    options = {"U": U, "tables": 1 + seed % 3, "bias": bias, "final_norm": flag, "output_bias": not bias}
    assert counted(build(lambda: Transformer(**sizes, **options))) == c.transformer(**sizes, **options)
    options = {"bias": bias, "pre_norm": flag}
    assert counted(build(lambda: LanguageModel(**sizes, T_max=T, **options))) == c.language_model(
        **sizes, T=T, **options
    )
    waves = build(lambda: LanguageModel(**sizes, T_max=T, positions="sinusoidal", **options))
    assert counted(waves) == c.language_model(**sizes, T=0, **options)
    assert counted(build(lambda: Bert(**sizes, T_max=T, S=S, pooler=flag))) == c.bert(**sizes, T=T, S=S, pooler=flag)
    model = build(lambda: MaskedLanguageModel(**sizes, T_max=T, S=S))
    assert counted(model) == c.masked_language_model(**sizes, T=T, S=S)


@pytest.mark.parametrize(("K", "J"), [(5, 7), (7, 5), (1, 1), (3, 11)])
def test_recurrent_formulas_equal_torchs_modules(K: int, J: int) -> None:
    """torch has a second bias per gate: its counts are ours and J more for each."""
    assert numel(nn.RNN(K, J)) == counting.vanilla_rnn(K, J) + J
    assert numel(nn.GRU(K, J)) == counting.gru(K, J, reset="before") + 3 * J
    assert numel(nn.LSTM(K, J)) == counting.lstm(K, J) + 4 * J
    n = counting.cell(K, J)
    assert n == J * J + J * K + J
    assert (counting.ugrnn(K, J), counting.two_gate_ugrnn(K, J)) == (2 * n, 3 * n + J)


@pytest.mark.parametrize(
    ("module", "name", "formula", "options"),
    [
        ("rnn", "VanillaRNN", counting.vanilla_rnn, {}),
        ("rnn", "GRU", counting.gru, {"reset": "before"}),
        ("rnn", "GRU", counting.gru, {"reset": "after"}),
        ("rnn", "LSTM", counting.lstm, {}),
        ("ugrnn", "UGRNN", counting.ugrnn, {}),
        ("ugrnn", "TwoGateUGRNN", counting.two_gate_ugrnn, {}),
    ],
)
def test_recurrent_formulas_equal_our_modules(module: str, name: str, formula, options: dict) -> None:
    """Each cell has the parameters its equations name."""
    build = getattr(pytest.importorskip(f"solutions.{module}"), name)
    for K, J in [(5, 7), (7, 5), (1, 3)]:
        assert numel(build(K=K, J=J, **options)) == formula(K, J, **options)


MODELS = {  # module, class, formula and its arguments, in the order that both take them
    "language model": ("rnn", "RecurrentLanguageModel", counting.recurrent_language_model, (11, 5, 3), {}),
    "blank LM": ("bidirectional", "BlankLanguageModel", counting.blank_language_model, (11, 5, 7, 3), {}),
    "bidirectional": (
        "bidirectional",
        "StackedBidirectionalRNN",
        counting.stacked_bidirectional_rnn,
        (5, 7, 3),
        {},
    ),
    "thought vector": ("seq2seq", "Seq2Seq", counting.seq2seq, (11, 13, 5, 7), {"attention": None}),
    "state asks": ("seq2seq", "Seq2Seq", counting.seq2seq, (11, 13, 5, 7), {"attention": "state"}),
    "word asks": ("seq2seq", "Seq2Seq", counting.seq2seq, (11, 13, 5, 7), {"attention": "word"}),
    "captioner": ("captioner", "Captioner", counting.captioner, (11, 5, 7, 3), {}),
    "language CNN": ("language_cnn", "LanguageCNN", counting.language_cnn, (11, 5, 3, 2), {}),
    "perceptron": ("mlp", "DeepMLP", counting.deep_mlp, (3, 5, 7), {}),
    "perceptron with heads": ("mlp", "DeepMLP", counting.deep_mlp, (3, 5, 7), {"heads": True}),
}


@pytest.mark.parametrize("name", MODELS)
def test_formulas_equal_the_models_around_the_cells(name: str) -> None:
    """Every other model of `solutions`: formula and module agree."""
    module, kind, formula, sizes, options = MODELS[name]
    build = getattr(pytest.importorskip(f"solutions.{module}"), kind)
    assert numel(build(*sizes, **options)) == formula(*sizes, **options)


def test_merging_pays_for_wide_heads_only() -> None:
    """With I = J / K, W^Q and W^K have 2 J^2 numbers, W~ has K J^2: equal for K = 2 alone."""
    for K in (1, 2, 4, 8):
        apart, together = counting.attention(512, K) // 2, counting.merged_attention(512, K) // 2
        assert (apart, together) == (2 * 512**2, K * 512**2)
    assert counting.merged_attention(512, 8) // 2 == 2_097_152


def test_groups_save_keys_and_values() -> None:
    """2 J^2 (1 + G / K)."""
    for G in (1, 2, 4, 8):
        assert counting.attention(512, 8, G=G) == 2 * 512**2 * (8 + G) // 8


def test_counts_add_and_multiply() -> None:
    """Kind by kind."""
    one, two = Count(norm=3, other=5), Count(norm=7, embedding=11)
    assert one + 2 * two == Count(norm=17, other=5, embedding=22) and (one + two).total == 26


def test_a_tied_table_counts_once() -> None:
    """Sharing a parameter between two modules is not two parameters."""
    one, two = nn.Linear(3, 5, bias=False), nn.Linear(3, 5, bias=False)
    two.weight = one.weight
    assert counted(nn.Sequential(one, two)).total == 15


def test_the_tables_are_printed(capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every row says that module and formula agree."""
    monkeypatch.setenv("COLUMNS", "160")
    counting.main()
    out = capsys.readouterr().out
    assert out.count("the same") == len(PUBLISHED) and "63,045,632" in out and "41,004" in out
    assert torch.get_default_device().type == "cpu"

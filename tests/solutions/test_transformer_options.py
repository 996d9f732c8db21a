"""What training and published weights need of a transformer: dropout in each place, padding on the left, rotation."""

import pytest
import torch
from torch.nn import functional

from solutions.attention import MultiHeadAttention
from solutions.bert import Bert
from solutions.positional import turn
from solutions.transformer import FeedForward, LanguageModel, Layer

SMALL = {"V": 11, "J": 6, "K": 2, "I": 4, "F": 13, "N": 2}


def test_dropout_of_attention_weights() -> None:
    """Of alpha, in training: with values that tell the keys apart, entries are 0 or alpha / (1 - p), p of them 0."""
    layer = MultiHeadAttention(8, 1, I=8, output=False, dropout=0.25).double()
    with torch.no_grad():
        layer.W_V.copy_(torch.eye(8)[None])
    x = torch.eye(8, dtype=torch.float64).expand(200, 8, 8)
    torch.manual_seed(0)
    alpha = layer.with_weights(x)[1][:, 0]
    for heads in (layer(x), layer.with_weights(x)[0]):
        zero = heads == 0
        torch.testing.assert_close(heads[~zero], (alpha / 0.75)[~zero])
        assert abs(zero.double().mean() - 0.25) < 0.02  # five standard deviations of 12,800 draws
    torch.testing.assert_close(layer.eval()(x), alpha)


def test_dropout_within_the_feed_forward() -> None:
    """Of the inner activations: with W^FF2 = 1 they are 0 or twice as large at a rate of a half."""
    layer = FeedForward(50, 50, activation=lambda z: z, dropout=0.5)
    with torch.no_grad():
        layer.W_FF1.copy_(torch.eye(50))
        layer.W_FF2.copy_(torch.eye(50))
    torch.manual_seed(0)
    out = layer(torch.ones(100, 50))
    assert set(out.unique().tolist()) == {0.0, 2.0} and abs(out.mean() - 1) < 0.1
    assert torch.equal(layer.eval()(torch.ones(3, 50)), torch.ones(3, 50))


def test_each_dropout_has_its_place() -> None:
    """`dropout` alone leaves attention weights and inner activations whole, as the paper does."""
    layer = Layer(6, 2, 3, 13, dropout=0.1, attention_dropout=0.2, inner_dropout=0.3, cross=True)
    assert (layer.dropout.p, layer.attention.dropout, layer.feed_forward.dropout.p) == (0.1, 0.2, 0.3)
    assert layer.cross.dropout == 0.2
    plain = Layer(6, 2, 3, 13, dropout=0.1)
    assert (plain.attention.dropout, plain.feed_forward.dropout.p) == (0.0, 0.0)
    assert Bert(7, 6, 2, 3, 13, 1, 5, 2, dropout=0.1).layers[0].attention.dropout == 0.1


@pytest.mark.parametrize("positions", ["learned", "sinusoidal", "rotary"])
def test_words_before_a_prompt_are_not_read(positions: str) -> None:
    """Rows padded on the left give what they give alone, and go on with the same words, cached or not."""
    torch.manual_seed(0)
    model = LanguageModel(**SMALL, T_max=12, positions=positions).double()
    w, padding = torch.randint(SMALL["V"], (3, 7)), torch.tensor([0, 2, 6])
    logits, words = model(w, padding), model.generate(w, 5, padding=padding, temperature=0.0)
    for b, n in enumerate(padding):
        torch.testing.assert_close(logits[b, n:], model(w[b : b + 1, n:])[0])
        alone = model.generate(w[b : b + 1, n:], 5, temperature=0.0)[0]
        assert torch.equal(words[b, n:], alone)
    assert torch.equal(model.generate(w, 5, padding=padding, temperature=0.0, cached=False), words)


def test_unknown_positions_are_refused() -> None:
    """The names that there are stand in the error."""
    with pytest.raises(ValueError, match="learned, sinusoidal, rotary, not 'rotated'"):
        LanguageModel(**SMALL, T_max=12, positions="rotated")


def test_rotated_layers_feel_distances_alone() -> None:
    """A model with rotation, moved along by padding, gives the same; with learned positions it would not."""
    torch.manual_seed(0)
    model = LanguageModel(**SMALL, T_max=12, positions="rotary").double()
    w = torch.randint(SMALL["V"], (1, 5))
    h = functional.embedding(w, model.e)
    here, there = (model.layers[0](h, turn=turn(torch.arange(5) + n, model.width, h.dtype)) for n in (0, 1000))
    torch.testing.assert_close(here, there)
    assert not torch.allclose(here, model.layers[0](h))

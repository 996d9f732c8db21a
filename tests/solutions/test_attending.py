"""What attention is trained on: questions that can be answered, scores that feel a distance alone, and no peeking."""

import pytest
import torch

from solutions.attending import NAMES, VALUES, Everywhere, GivenAll, LookUp, RotatedAttention, marks, questions
from solutions.attention import MultiHeadAttention
from solutions.spatial import SpatialAttention


@pytest.mark.parametrize("shape", [(11,), (4, 5)])
def test_a_question_has_one_answer(shape):
    """One position asks; one other position bears the name that it asks for, and the value there is the answer."""
    items, asks, named, value = questions(50, shape, torch.Generator().manual_seed(0))
    flat, rows = items.flatten(1, -2), torch.arange(50)
    assert (asks != named).all()
    assert (flat[..., -1].argmax(1) == asks).all() and (flat[..., -1].sum(1) == 1).all()
    wanted = flat[rows, asks, :NAMES].argmax(1)
    bearers = (flat[rows, :, wanted] == 1) & (flat[..., -1] == 0)
    assert (bearers.sum(1) == 1).all() and (bearers.int().argmax(1) == named).all()
    assert (flat[rows, named, NAMES:-1].argmax(1) == value).all()
    assert len(shape) > 1 or (asks == 10).all()  # a causal layer sees everything from the last position


def test_turned_scores_feel_the_distance_alone():
    """Moving a sequence along leaves the weights as they are; without turning, so does exchanging its positions."""
    x = torch.randn(1, 9, 8, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    layer = RotatedAttention(8, 2).double()
    before = torch.zeros(1, 5, 8, dtype=torch.float64)
    moved = layer.queries(torch.cat([before, x], 1)) @ layer.keys_values(torch.cat([before, x], 1))[0].mT
    torch.testing.assert_close(moved[:, :, 5:, 5:], layer.queries(x) @ layer.keys_values(x)[0].mT)
    order = torch.randperm(9, generator=torch.Generator().manual_seed(2))
    plain = MultiHeadAttention(8, 2).double()
    assert torch.allclose(plain(x[:, order]), plain(x)[:, order])
    assert not torch.allclose(layer(x[:, order]), layer(x)[:, order])


def test_the_control_sees_the_average_alone():
    """All positions get the same vector, which the order of the positions does not change."""
    x = torch.randn(2, 4, 5, 8)
    out = Everywhere(8)
    torch.testing.assert_close(out(x), out(x)[:, :1, :1].expand_as(x))
    torch.testing.assert_close(out(x.flip(1)), out(x).flip(1))


def test_the_decoder_does_not_see_the_word_that_it_predicts():
    """Scores of w[t] have no derivative by w[t] and what stands behind it: changing these changes nothing."""
    torch.manual_seed(0)
    model, w = GivenAll(7, 6), torch.randint(7, (2, 6))
    for t in range(6):
        other = w.clone()
        other[:, t:] = (other[:, t:] + 3) % 7
        torch.testing.assert_close(model(other)[:, : t + 1], model(w)[:, : t + 1], rtol=0, atol=0)
        assert t == 0 or not torch.equal(model(torch.cat([other[:, t:], w[:, :t]], 1)), model(w))


def test_an_image_of_one_row_is_a_sequence():
    """The model reads the position that asks, counted row by row."""
    items, asks, _, _ = questions(6, (11,), torch.Generator().manual_seed(3))
    model = LookUp(lambda J: SpatialAttention(J, 2))
    flat = LookUp(lambda J: MultiHeadAttention(J, 2))
    flat.load_state_dict(model.state_dict())
    torch.testing.assert_close(model(items[:, None], asks), flat(items, asks))


@pytest.mark.parametrize(("nearest", "furthest"), [(1, 9), (1, 2), (3, 9)])
def test_a_mark_is_as_far_as_it_should_be(nearest, furthest):
    """One place is marked and another asks, within the distances; every place has one value; all pairs occur."""
    items, asks, value = marks(3000, 6, 7, torch.Generator().manual_seed(0), nearest=nearest, furthest=furthest)
    flat, rows = items.flatten(1, 2), torch.arange(3000)
    marked = flat[..., VALUES].argmax(1)
    assert (flat[..., VALUES].sum(1) == 1).all() and (flat[..., VALUES + 1].sum(1) == 1).all()
    assert (flat[..., VALUES + 1].argmax(1) == asks).all() and (flat[..., :VALUES].sum(2) == 1).all()
    assert (flat[rows, marked, :VALUES].argmax(1) == value).all()
    apart = torch.maximum((marked // 7 - asks // 7).abs(), (marked % 7 - asks % 7).abs())
    assert apart.min() == nearest and apart.max() == min(furthest, 6)


def test_the_best_along_one_axis():
    """What the control's goal is: a mark in the row that asks is seen, any other is a guess among four."""
    _, asks, _ = batch = marks(20000, 6, 7, torch.Generator().manual_seed(1), nearest=1, furthest=9)
    marked = batch[0].flatten(1, 2)[..., VALUES].argmax(1)
    seen = (marked // 7 == asks // 7).float().mean().item()
    assert seen == pytest.approx(6 / 41, abs=0.01)
    assert seen + (1 - seen) / VALUES == pytest.approx(0.36, abs=0.01)

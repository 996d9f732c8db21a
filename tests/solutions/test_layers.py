"""The shared small things, each against torch or a loop over the definition."""

import math

import pytest
import torch
from jaxtyping import TypeCheckError
from torch import nn

from solutions.layers import (
    Embedding,
    Linear,
    before,
    clip_gradient,
    masked_softmax,
    reverse,
    sequence_log_loss,
    through_eos,
)
from solutions.ugrnn import ugrnn_cell


def test_linear_subtracts_its_bias():
    """Linear is nn.Linear with the bias negated, on any number of batch axes."""
    torch.manual_seed(0)
    ours, theirs = Linear(5, 7).double(), nn.Linear(5, 7).double()
    theirs.load_state_dict({"weight": ours.W.detach(), "bias": -ours.B.detach()})
    x = torch.randn(2, 3, 5, dtype=torch.float64)
    torch.testing.assert_close(ours(x), theirs(x), rtol=1e-12, atol=1e-12)


def test_embedding_is_tied():
    """Scores are inner products with the same vectors that are read, and one-hot rows pick them."""
    torch.manual_seed(0)
    words = Embedding(7, 5).double()
    h = torch.randn(3, 5, dtype=torch.float64)
    assert words(torch.tensor([[2, 6]])).shape == (1, 2, 5)
    for w in range(7):
        torch.testing.assert_close(words.scores(h)[:, w], (words(torch.tensor(w)) * h).sum(1))
    assert len(list(words.parameters())) == 1


def test_sequence_log_loss_is_a_sum_of_token_losses():
    """-ln of the product of the words' probabilities, with what does not count left out."""
    torch.manual_seed(0)
    scores, w = torch.randn(3, 5, 7, dtype=torch.float64), torch.randint(7, (3, 5))
    counts = before(torch.tensor([5, 1, 0]), 5)
    for mask, lengths in ((None, (5, 5, 5)), (counts, (5, 1, 0))):
        loss = sequence_log_loss(scores, w, mask)
        for b, length in enumerate(lengths):
            P = math.prod((scores[b, t].exp() / scores[b, t].exp().sum())[w[b, t]].item() for t in range(length))
            assert loss[b].item() == pytest.approx(-math.log(P), rel=1e-12, abs=0)


def test_sequence_log_loss_ignores_infinities_that_do_not_count():
    """Padding may be impossible under the model without making loss or gradient infinite."""
    scores = torch.zeros(1, 2, 3).index_put_(
        (torch.tensor(0), torch.tensor(1), torch.tensor(2)), torch.tensor(-torch.inf)
    )
    scores.requires_grad_()
    loss = sequence_log_loss(scores, torch.tensor([[0, 2]]), torch.tensor([[True, False]]))
    loss.sum().backward()
    assert loss.item() == pytest.approx(math.log(3))
    assert scores.grad.isfinite().all()


@pytest.mark.parametrize(
    ("row", "belongs"),
    [
        ([1, 2, 9, 9], [1, 1, 1, 0]),
        ([9, 9, 9, 9], [1, 0, 0, 0]),
        ([1, 2, 3, 4], [1, 1, 1, 1]),
        ([1, 9, 3, 9], [1, 1, 0, 0]),
        ([1, 2, 3, 9], [1, 1, 1, 1]),
    ],
)
def test_through_eos(row, belongs):
    """A sentence goes up to its first <EOS> and includes it."""
    assert through_eos(torch.tensor([row]), 9)[0].tolist() == [bool(x) for x in belongs]


def test_clip_gradient_is_torchs():
    """The same gradients as torch's global-norm clipping, up to its 1e-6, and the same norm returned."""
    torch.manual_seed(0)
    ours = [nn.Parameter(torch.zeros(s, dtype=torch.float64)) for s in ((3, 5), (7,))]
    theirs = [nn.Parameter(p.detach().clone()) for p in ours]
    for p, q in zip(ours, theirs, strict=True):
        p.grad = torch.randn_like(p)
        q.grad = p.grad.clone()
    ours.append(nn.Parameter(torch.zeros(2)))  # a parameter without gradient is no part of the norm
    norm = clip_gradient(ours, 0.5)
    torch.testing.assert_close(norm, nn.utils.clip_grad_norm_(theirs, 0.5))
    for p, q in zip(ours, theirs, strict=False):
        torch.testing.assert_close(p.grad, q.grad, rtol=1e-5, atol=0)


def test_clip_gradient_leaves_short_gradients_alone():
    """Below the limit nothing changes, not in the last bit; a zero gradient stays zero."""
    p = nn.Parameter(torch.zeros(3))
    for gradient in (torch.tensor([0.1, -0.2, 0.3]), torch.zeros(3)):
        p.grad = gradient.clone()
        clip_gradient([p], 1.0)
        assert torch.equal(p.grad, gradient)


def test_reverse_turns_each_row_within_its_length():
    """Rows of length 3, 1, 0 and 4: the padding stays where it is, and turning twice changes nothing."""
    x = torch.arange(16.0).view(4, 4, 1)
    lengths = torch.tensor([3, 1, 0, 4])
    expected = [[2, 1, 0, 3], [4, 5, 6, 7], [8, 9, 10, 11], [15, 14, 13, 12]]
    assert reverse(x, lengths)[..., 0].tolist() == expected
    assert torch.equal(reverse(reverse(x, lengths), lengths), x)
    assert torch.equal(reverse(x), x.flip(1))


def test_shapes_are_checked_while_these_tests_run():
    """A wrong axis in a call to the package is an error here: the signatures are not decoration."""
    J, K, B = 3, 5, 2
    W_h, W_x, bias = torch.zeros(J, J), torch.zeros(J, K), torch.zeros(J)
    h, x = torch.zeros(B, J), torch.zeros(B, K)
    ugrnn_cell(h, x, W_h, W_x, bias, W_h, W_x, bias)
    with pytest.raises(TypeCheckError):
        ugrnn_cell(h, x.T, W_h, W_x, bias, W_h, W_x, bias)


def test_clipping_without_gradients():
    """Parameters without a gradient have one of length 0, as torch's own clipping says."""
    parameters = [nn.Parameter(torch.ones(3))]
    assert clip_gradient(parameters, 1.0) == torch.nn.utils.clip_grad_norm_(parameters, 1.0) == 0
    assert clip_gradient([], 1.0) == 0


def test_masked_softmax():
    """Visible entries sum to one, others are zero; a row without any is zero, and so are its gradients."""
    scores = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
    P = masked_softmax(scores, torch.tensor([[True, False, True], [False, False, False]]))
    torch.testing.assert_close(P[0, [0, 2]], torch.softmax(scores[0, [0, 2]], 0))
    assert P[0, 1] == 0 and not P[1].any()
    P.square().sum().backward()
    assert scores.grad.isfinite().all() and not scores.grad[1].any() and scores.grad[0, 0] != 0

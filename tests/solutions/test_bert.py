"""BERT: masking, the sum of embeddings, layers against torch's, and a task that needs segments."""

import math

import pytest
import torch
from torch import nn
from torch.nn import functional

from solutions.bert import Bert, MaskedLanguageModel, mask_tokens, masked_loss

CLOSE = {"rtol": 0, "atol": 1e-10}
TOLERANCE = {torch.float64: 1e-10, torch.float32: 5e-5, torch.bfloat16: 0.1}
SMALL = {"V": 11, "J": 6, "K": 2, "I": 3, "F": 13, "N": 2, "T_max": 7, "S": 3}
CLS, SEP, MASK = 0, 1, 2


def normal(*shape: int, seed: int) -> torch.Tensor:
    """Seeded numbers in float64."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def words(*shape: int, seed: int, low: int = 0, V: int = 11) -> torch.Tensor:
    """Seeded words."""
    return torch.randint(low, V, shape, generator=torch.Generator().manual_seed(seed))


def randomised(module: nn.Module, seed: int) -> nn.Module:
    """In float64, every parameter drawn anew: no bias stays zero, no norm's gain one."""
    module = module.double()
    with torch.no_grad():
        for i, parameter in enumerate(module.parameters()):
            parameter.copy_(normal(*parameter.shape, seed=1000 * seed + i) * 0.5)
    return module


# --- masking ----------------------------------------------------------------------------------------------


def test_masking_has_its_shares(device: torch.device) -> None:
    """15 % are selected, of these 80 % shown as [MASK], 10 % redrawn, 10 % kept; the rest is untouched."""
    V, n = 1009, 200_000
    tokens = words(n // 100, 100, seed=1, low=3, V=V).to(device)
    generator = torch.Generator(device).manual_seed(2)
    shown, selected = mask_tokens(tokens, mask=MASK, V=V, generator=generator)
    assert torch.equal(shown[~selected], tokens[~selected])
    masked = (shown == MASK)[selected]
    kept = (shown == tokens)[selected]
    redrawn = shown[selected][~masked & ~kept]
    m = int(selected.sum())
    for count, total, share in ((m, n, 0.15), (masked.sum(), m, 0.8), (kept.sum(), m, 0.1 + 0.1 / V)):
        assert abs(float(count) / total - share) < 4 * math.sqrt(share * (1 - share) / total)
    assert len(redrawn) > 0.08 * m and redrawn.unique().numel() > 0.8 * V  # from all of V


def test_special_words_are_never_selected() -> None:
    """[CLS], [SEP], padding and [MASK] itself stay as they are, even when everything else is selected."""
    tokens = words(50, 40, seed=3)
    shown, selected = mask_tokens(
        tokens, mask=MASK, V=11, special=(CLS, SEP), share=1.0, generator=torch.Generator().manual_seed(4)
    )
    special = (tokens == CLS) | (tokens == SEP) | (tokens == MASK)
    assert torch.equal(selected, ~special) and torch.equal(shown[special], tokens[special])


def test_the_generator_alone_decides() -> None:
    """Equal seeds, equal masks; torch's global generator is not moved, nor are the words."""
    tokens = words(5, 7, seed=5)
    copy, before = tokens.clone(), torch.get_rng_state()
    one, two, other = (
        mask_tokens(tokens, mask=MASK, V=11, share=0.5, generator=torch.Generator().manual_seed(seed))
        for seed in (6, 6, 7)
    )
    assert torch.equal(one[0], two[0]) and torch.equal(one[1], two[1]) and not torch.equal(one[1], other[1])
    assert torch.equal(torch.get_rng_state(), before) and torch.equal(tokens, copy)


def test_the_loss_reads_selected_positions_only() -> None:
    """The mean of -ln P(w) over the selected positions; none selected is a loss of 0, not 0/0."""
    logits, tokens = normal(2, 5, 11, seed=8).requires_grad_(), words(2, 5, seed=9)
    selected = torch.tensor([[True, False, False, True, False], [False, False, True, False, False]])
    loss = masked_loss(logits, tokens, selected)
    P = logits.detach().softmax(-1)
    expected = -sum(math.log(P[b, t, tokens[b, t]]) for b, t in selected.nonzero().tolist()) / 3
    assert loss.item() == pytest.approx(expected, rel=1e-12)
    (gradient,) = torch.autograd.grad(loss, logits)
    assert (gradient[~selected] == 0).all() and (gradient[selected] != 0).all()
    assert masked_loss(logits, tokens, torch.zeros_like(selected)).item() == 0


# --- the model --------------------------------------------------------------------------------------------


def test_embeddings_are_added() -> None:
    """E[t] = token + segment + position: one product of the stacked tables with three one-hot vectors."""
    bert = randomised(Bert(**SMALL), seed=10)
    tokens, segments = words(2, 5, seed=11), words(2, 5, seed=12, V=3)
    tables = torch.cat([bert.e, bert.s, bert.positions.table])
    hot = torch.cat(
        [
            functional.one_hot(tokens, 11),
            functional.one_hot(segments, 3),
            functional.one_hot(torch.arange(5).expand(2, 5), 7),
        ],
        dim=2,
    ).double()
    torch.testing.assert_close(bert.embed(tokens, segments), hot @ tables, **CLOSE)
    difference = bert.embed(tokens, torch.ones_like(tokens)) - bert.embed(tokens, torch.zeros_like(tokens))
    torch.testing.assert_close(difference, (bert.s[1] - bert.s[0]).expand_as(difference), **CLOSE)


def test_bert_equals_torch() -> None:
    """The embeddings' norm and a stack of post-norm GELU layers: nn.TransformerEncoder, padded."""
    bert = randomised(Bert(**SMALL, pooler=True), seed=13)
    peer = nn.TransformerEncoderLayer(6, 2, 13, dropout=0.0, activation="gelu", batch_first=True, layer_norm_eps=1e-12)
    theirs = nn.TransformerEncoder(peer, 2, enable_nested_tensor=False).double()
    with torch.no_grad():
        for ours, other in zip(bert.layers, theirs.layers, strict=True):
            a, f = ours.attention, ours.feed_forward
            other.self_attn.in_proj_weight.copy_(torch.cat([W.flatten(0, 1) for W in (a.W_Q, a.W_K, a.W_V)]))
            other.self_attn.in_proj_bias.copy_(-torch.cat([B.flatten() for B in (a.B_Q, a.B_K, a.B_V)]))
            for target, weight, bias in (
                (other.self_attn.out_proj, a.W_O, a.B_O),
                (other.linear1, f.W_FF1, f.B_FF1),
                (other.linear2, f.W_FF2, f.B_FF2),
            ):
                target.weight.copy_(weight)
                target.bias.copy_(-bias)
            other.norm1.load_state_dict(ours.attention_norm.state_dict())
            other.norm2.load_state_dict(ours.feed_forward_norm.state_dict())
    tokens, segments, lengths = words(2, 5, seed=14), words(2, 5, seed=15, V=3), torch.tensor([5, 3])
    h = bert(tokens, segments, lengths)
    expected = theirs(bert.norm(bert.embed(tokens, segments)), src_key_padding_mask=torch.arange(5) >= lengths[:, None])
    torch.testing.assert_close(h, expected, **CLOSE)
    torch.testing.assert_close(bert.pool(h), (h[:, 0] @ bert.W_P.T - bert.B_P).tanh(), **CLOSE)


def test_the_head_is_the_papers() -> None:
    """A GELU layer with a norm, then the token table as output matrix, and a bias per word."""
    model = randomised(MaskedLanguageModel(**SMALL), seed=16)
    tokens, segments = words(2, 5, seed=17), words(2, 5, seed=18, V=3)
    h = model.bert(tokens, segments)
    expected = model.norm(functional.gelu(h @ model.W_M.T - model.B_M)) @ model.bert.e.T - model.B
    torch.testing.assert_close(model(tokens, segments), expected, **CLOSE)


def test_every_position_sees_every_word() -> None:
    """No causal mask: changing any word changes the logits everywhere; changing padding changes nothing."""
    model = randomised(MaskedLanguageModel(**SMALL), seed=19)
    tokens, segments = words(1, 5, seed=20), words(1, 5, seed=21, V=3)
    out, padded = model(tokens, segments), model(tokens, segments, torch.tensor([3]))
    for t in range(5):
        other = tokens.clone()
        other[0, t] = (other[0, t] + 1) % 11
        assert ((model(other, segments) - out).abs().amax(2) > 1e-6).all()
        if t >= 3:
            assert torch.equal(model(other, segments, torch.tensor([3]))[:, :3], padded[:, :3])
    torch.testing.assert_close(padded[:, :3], model(tokens[:, :3], segments[:, :3]), **CLOSE)


def test_without_positions_order_is_invisible() -> None:
    """With a position table of zeros the model is permutation equivariant; with its own it is not."""
    model = randomised(MaskedLanguageModel(**SMALL), seed=22)
    tokens, segments, order = words(1, 5, seed=23), words(1, 5, seed=24, V=3), torch.tensor([3, 0, 4, 1, 2])
    assert not torch.allclose(model(tokens[:, order], segments[:, order]), model(tokens, segments)[:, order])
    with torch.no_grad():
        model.bert.positions.table.zero_()
    torch.testing.assert_close(model(tokens[:, order], segments[:, order]), model(tokens, segments)[:, order], **CLOSE)


def test_every_precision_on_every_device(device: torch.device, dtype: torch.dtype) -> None:
    """The result has the parameters' type and device and is near the float64 one."""
    torch.manual_seed(0)
    model = MaskedLanguageModel(**SMALL).double()
    tokens, segments, lengths = words(2, 5, seed=25), words(2, 5, seed=26, V=3), torch.tensor([5, 3])
    expected = model(tokens, segments, lengths)
    out = model.to(device, dtype)(tokens.to(device), segments.to(device), lengths.to(device))
    assert out.dtype == dtype and out.device.type == device.type
    torch.testing.assert_close(out.cpu().double(), expected, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


def test_nothing_is_made_on_another_device() -> None:
    """The model works on the meta device, which mixes with no other: nothing is born on the CPU."""
    with torch.device("meta"):
        model, tokens = MaskedLanguageModel(**SMALL), torch.empty(2, 5, dtype=torch.long)
        lengths = torch.empty(2, dtype=torch.long)
    assert model(tokens, tokens, lengths).is_meta and mask_tokens(tokens, mask=MASK, V=11)[0].is_meta


def test_state_dicts_are_strict() -> None:
    """Saved and loaded, the model is the same; the tied table is stored once."""
    model, other = randomised(MaskedLanguageModel(**SMALL), seed=27), MaskedLanguageModel(**SMALL).double()
    other.load_state_dict(model.state_dict(), strict=True)
    tokens, segments = words(2, 5, seed=28), words(2, 5, seed=29, V=3)
    assert torch.equal(model(tokens, segments), other(tokens, segments))
    assert len(model.state_dict()) == len(list(model.parameters()))


@pytest.mark.parametrize("with_segments", [True, False])
def test_the_segment_tells_which_word_is_masked(with_segments: bool) -> None:
    """Segment A repeats one word, segment B another; which one a blank hides, only its segment can tell.

    Each position's segment is drawn by itself, so neither place nor number of the visible words tells:
    without segments no model is better than ln 2 = 0.693.
    """
    V, T, B, steps = 9, 11, 64, 250
    torch.manual_seed(3)
    model = MaskedLanguageModel(V=V, J=24, K=2, I=12, F=48, N=2, T_max=T, S=2)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
    losses = []
    for _ in range(steps):
        pair = torch.stack([3 + torch.randperm(V - 3)[:2] for _ in range(B)])
        segments = torch.randint(2, (B, T))
        tokens = pair.gather(1, segments)
        selected = functional.one_hot(torch.randint(T, (B,)), T).bool()
        shown = tokens.masked_fill(selected, MASK)
        logits = model(shown, segments if with_segments else torch.zeros_like(segments))
        loss = masked_loss(logits, tokens, selected)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    final = sum(losses[-25:]) / 25
    assert final < 0.15 if with_segments else final > 0.65


def test_a_pooler_that_was_not_asked_for():
    """Says how to get one."""
    with pytest.raises(ValueError, match="pooler=True"):
        Bert(V=7, J=8, K=2, I=4, F=11, N=1, T_max=5, S=2).pool(torch.randn(1, 3, 8))

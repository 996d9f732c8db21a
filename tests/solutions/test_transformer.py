"""The transformer against torch's, the chain rule, causality, generation, learning."""

import itertools
import math

import pytest
import torch
from torch import nn
from torch.nn import functional

from solutions.attention import MultiHeadAttention, padding_mask
from solutions.positional import sinusoid
from solutions.sampling import evaluating, extend, sample
from solutions.transformer import FeedForward, LanguageModel, Layer, Transformer

CLOSE = {"rtol": 0, "atol": 1e-10}
TOLERANCE = {torch.float64: 1e-10, torch.float32: 5e-5, torch.bfloat16: 0.1}
SMALL = {"V": 11, "J": 6, "K": 2, "I": 3, "F": 13, "N": 2}


def normal(*shape: int, seed: int) -> torch.Tensor:
    """Seeded numbers in float64."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def words(*shape: int, seed: int, V: int = 11) -> torch.Tensor:
    """Seeded words."""
    return torch.randint(V, shape, generator=torch.Generator().manual_seed(seed))


def randomised(module: nn.Module, seed: int) -> nn.Module:
    """In float64, every parameter drawn anew: no bias stays zero, no norm's gain one."""
    module = module.double()
    with torch.no_grad():
        for i, parameter in enumerate(module.parameters()):
            parameter.copy_(normal(*parameter.shape, seed=1000 * seed + i) * 0.5)
    return module


# --- against torch.nn -------------------------------------------------------------------------------------


def to_torch(ours: MultiHeadAttention, theirs: nn.MultiheadAttention) -> None:
    """Copy an attention; torch adds its biases."""
    theirs.in_proj_weight.copy_(torch.cat([W.flatten(0, 1) for W in (ours.W_Q, ours.W_K, ours.W_V)]))
    theirs.in_proj_bias.copy_(-torch.cat([B.flatten() for B in (ours.B_Q, ours.B_K, ours.B_V)]))
    theirs.out_proj.weight.copy_(ours.W_O)
    theirs.out_proj.bias.copy_(-ours.B_O)


@torch.no_grad()
def layer_to_torch(ours: Layer, theirs: nn.Module) -> None:
    """Copy a layer into nn.TransformerEncoderLayer or nn.TransformerDecoderLayer."""
    to_torch(ours.attention, theirs.self_attn)
    norms = [ours.attention_norm, ours.feed_forward_norm]
    if ours.cross is not None:
        to_torch(ours.cross, theirs.multihead_attn)
        norms.insert(1, ours.cross_norm)
    for n, norm in enumerate(norms, start=1):
        getattr(theirs, f"norm{n}").load_state_dict(norm.state_dict())
    theirs.linear1.weight.copy_(ours.feed_forward.W_FF1)
    theirs.linear1.bias.copy_(-ours.feed_forward.B_FF1)
    theirs.linear2.weight.copy_(ours.feed_forward.W_FF2)
    theirs.linear2.bias.copy_(-ours.feed_forward.B_FF2)


@pytest.mark.parametrize("pre_norm", [False, True])
@pytest.mark.parametrize("activation", [functional.relu, functional.gelu])
def test_encoder_layer_equals_torch(pre_norm: bool, activation) -> None:
    """One layer, padded: nn.TransformerEncoderLayer with converted weights."""
    ours = randomised(Layer(6, 2, 3, 13, pre_norm=pre_norm, bias=True, activation=activation), seed=1)
    theirs = nn.TransformerEncoderLayer(
        6, 2, 13, dropout=0.0, activation=activation, batch_first=True, norm_first=pre_norm
    ).double()
    layer_to_torch(ours, theirs)
    h, mask = normal(3, 7, 6, seed=2), padding_mask(torch.tensor([7, 2, 5]), 7)
    expected = theirs(h, src_key_padding_mask=~mask[:, 0, 0])
    torch.testing.assert_close(ours(h, mask=mask), expected, **CLOSE)


@pytest.mark.parametrize("pre_norm", [False, True])
def test_decoder_layer_equals_torch(pre_norm: bool) -> None:
    """One layer with cross-attention: nn.TransformerDecoderLayer with converted weights."""
    ours = randomised(Layer(6, 2, 3, 13, cross=True, pre_norm=pre_norm, bias=True), seed=3)
    theirs = nn.TransformerDecoderLayer(6, 2, 13, dropout=0.0, batch_first=True, norm_first=pre_norm).double()
    layer_to_torch(ours, theirs)
    h, memory, mask = (
        normal(3, 5, 6, seed=4),
        normal(3, 7, 6, seed=5),
        padding_mask(torch.tensor([7, 2, 5]), 7),
    )
    causal = nn.Transformer.generate_square_subsequent_mask(5, dtype=torch.float64)
    expected = theirs(h, memory, tgt_mask=causal, memory_key_padding_mask=(~mask[:, 0, 0]).double() * -1e300)
    out = ours(h, ours.cross.keys_values(memory), memory_mask=mask, causal=True)
    torch.testing.assert_close(out, expected, **CLOSE)


# torch tells which of its own fast paths a pre-norm stack cannot take.
@pytest.mark.filterwarnings("ignore:enable_nested_tensor is True:UserWarning")
@pytest.mark.parametrize("pre_norm", [False, True])
@pytest.mark.parametrize("tables", [1, 2, 3])
def test_transformer_equals_torch(pre_norm: bool, tables: int) -> None:
    """Both stacks with embeddings, sinusoids, source padding, output: nn.Transformer between our tables."""
    ours = randomised(
        Transformer(**SMALL, tables=tables, pre_norm=pre_norm, final_norm=True, bias=True, output_bias=True),
        seed=6,
    )
    theirs = nn.Transformer(6, 2, 2, 2, 13, dropout=0.0, batch_first=True, norm_first=pre_norm).double()
    for stack, peer in ((ours.encoder, theirs.encoder), (ours.decoder, theirs.decoder)):
        for layer, other in zip(stack, peer.layers, strict=True):
            layer_to_torch(layer, other)
    theirs.encoder.norm.load_state_dict(ours.encoder_norm.state_dict())
    theirs.decoder.norm.load_state_dict(ours.decoder_norm.state_dict())
    source, target, lengths = words(3, 7, seed=7), words(3, 5, seed=8), torch.tensor([7, 2, 5])
    padding = torch.arange(7) >= lengths[:, None]
    assert len(ours.e) == tables
    source_e, target_e, output_e = ours.e[0], ours.e[1 if tables > 1 else 0], ours.e[tables - 1]
    h = theirs(
        source_e[source] * 6**0.5 + sinusoid(torch.arange(7), 6),
        target_e[target] * 6**0.5 + sinusoid(torch.arange(5), 6),
        tgt_mask=torch.ones(5, 5, dtype=torch.bool).triu(1),
        src_key_padding_mask=padding,
        memory_key_padding_mask=padding,
    )
    torch.testing.assert_close(ours(source, target, lengths), h @ output_e.T - ours.B, **CLOSE)


@pytest.mark.parametrize("pre_norm", [False, True])
@pytest.mark.parametrize("positions", ["learned", "sinusoidal"])
def test_language_model_equals_torch(pre_norm: bool, positions: str) -> None:
    """The decoder alone is torch's encoder stack with a causal mask between tied tables."""
    ours = LanguageModel(**SMALL, T_max=7, pre_norm=pre_norm, positions=positions, bias=True)
    ours = randomised(ours, seed=9)
    peer = nn.TransformerEncoderLayer(6, 2, 13, dropout=0.0, batch_first=True, norm_first=pre_norm)
    theirs = nn.TransformerEncoder(peer, 2, enable_nested_tensor=False).double()
    for layer, other in zip(ours.layers, theirs.layers, strict=True):
        layer_to_torch(layer, other)
    tokens = words(3, 5, seed=10)
    where = ours.positions.table[:5] if positions == "learned" else sinusoid(torch.arange(5), 6)
    h = theirs(ours.e[tokens] + where, mask=torch.ones(5, 5, dtype=torch.bool).triu(1))
    torch.testing.assert_close(ours(tokens), ours.norm(h) @ ours.e.T, **CLOSE)


def test_feed_forward_is_the_lectures() -> None:
    """W^FF2 ReLU(W^FF1 h - B^FF1) - B^FF2: biases are subtracted."""
    layer, h = randomised(FeedForward(5, 7), seed=11), normal(2, 3, 5, seed=12)
    inner = (torch.einsum("fj,btj->btf", layer.W_FF1, h) - layer.B_FF1).clamp(min=0)
    expected = torch.einsum("jf,btf->btj", layer.W_FF2, inner) - layer.B_FF2
    torch.testing.assert_close(layer(h), expected, **CLOSE)


# --- structure --------------------------------------------------------------------------------------------


def test_zero_branches_leave_the_residual_stream_alone() -> None:
    """A pre-norm layer with zero weights is the identity, whatever its norms; a post-norm one is not."""
    h, memory = normal(2, 3, 6, seed=13), normal(2, 5, 6, seed=14)
    for pre_norm in (True, False):
        layer = randomised(Layer(6, 2, 3, 13, cross=True, pre_norm=pre_norm, bias=True), seed=15)
        with torch.no_grad():
            for name, parameter in layer.named_parameters():
                if "norm" not in name:
                    parameter.zero_()
        out = layer(h, layer.cross.keys_values(memory), causal=True)
        assert torch.equal(out, h) == pre_norm


@pytest.mark.parametrize("pre_norm", [False, True])
def test_language_model_cannot_see_ahead(pre_norm: bool) -> None:
    """The logits at t have exactly no gradient to words after t, and some to every word up to t."""
    model, T = randomised(LanguageModel(**SMALL, T_max=7, pre_norm=pre_norm), seed=16), 5
    h = normal(1, T, 6, seed=17)

    def states(h: torch.Tensor) -> torch.Tensor:
        for layer in model.layers:
            h = layer(h, causal=True)
        return h

    reach = torch.autograd.functional.jacobian(states, h)[0, :, :, 0].abs().sum((1, 3)) > 0
    assert torch.equal(reach, torch.ones(T, T, dtype=torch.bool).tril())
    tokens = words(2, T, seed=18)
    changed = torch.cat([tokens[:, :3], (tokens[:, 3:] + 1) % 11], dim=1)
    one, two = model(tokens), model(changed)
    assert torch.equal(one[:, :3], two[:, :3]) and not torch.allclose(one[:, 3:], two[:, 3:])


def test_translation_sees_all_of_the_source_and_none_of_the_future() -> None:
    """Changing a source word changes every output; changing a target word changes none before it."""
    model = randomised(Transformer(**SMALL), seed=19)
    source, target = words(1, 7, seed=20), words(1, 5, seed=21)
    out = model(source, target)
    for s in range(7):
        other = source.clone()
        other[0, s] = (other[0, s] + 1) % 11
        assert ((model(other, target) - out).abs().amax(2) > 1e-6).all()
    for t in range(5):
        other = target.clone()
        other[0, t] = (other[0, t] + 1) % 11
        difference = (model(source, other) - out).abs().amax(2)[0]
        assert (difference[:t] == 0).all() and (difference[t:] > 1e-6).all()


def test_source_padding_is_never_read() -> None:
    """A padded source gives what the source without padding gives."""
    model = randomised(Transformer(**SMALL, bias=True), seed=22)
    source, target, lengths = words(3, 7, seed=23), words(3, 5, seed=24), torch.tensor([7, 2, 5])
    out = model(source, target, lengths)
    for b, length in enumerate(lengths):
        torch.testing.assert_close(out[b], model(source[b : b + 1, :length], target[b : b + 1])[0], **CLOSE)


def test_probabilities_of_all_strings_sum_to_one() -> None:
    """The chain rule: given its first word, the strings of length four have total probability one."""
    V, T = 3, 4
    model = randomised(LanguageModel(**(SMALL | {"V": V}), T_max=T), seed=25)
    strings = torch.tensor([(0, *rest) for rest in itertools.product(range(V), repeat=T - 1)])
    log_P = model(strings)[:, :-1].log_softmax(-1).gather(2, strings[:, 1:, None]).sum((1, 2))
    assert log_P.exp().sum().item() == pytest.approx(1, abs=1e-12)


def test_options_reach_every_layer() -> None:
    """Dropout acts in training and not in evaluation; U changes queries and keys alone."""
    torch.manual_seed(0)
    model = LanguageModel(**SMALL, T_max=7, dropout=0.5)
    tokens = words(2, 5, seed=26)
    assert not torch.equal(model(tokens), model(tokens))
    model.eval()
    assert torch.equal(model(tokens), model(tokens))
    layer = Transformer(**SMALL, U=5).decoder[0]
    assert layer.attention.W_Q.shape == layer.cross.W_K.shape == (2, 5, 6) and layer.cross.W_V.shape == (
        2,
        3,
        6,
    )


# --- generation -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("positions", ["learned", "sinusoidal"])
@pytest.mark.parametrize("pre_norm", [False, True])
def test_generation_with_a_cache_gives_the_same_words(positions: str, pre_norm: bool, device: torch.device) -> None:
    """Sampled and greedy: cached and uncached continuations are equal, word by word."""
    model = randomised(LanguageModel(**SMALL, T_max=29, positions=positions, pre_norm=pre_norm, bias=True), seed=27)
    model = model.float().to(device)
    prompt = words(3, 5, seed=28).to(device)
    for temperature in (0.0, 1.0):
        one, two = (
            model.generate(
                prompt,
                23,
                cached=cached,
                temperature=temperature,
                generator=torch.Generator(device).manual_seed(1),
            )
            for cached in (True, False)
        )
        assert one.shape == (3, 28) and torch.equal(one, two) and torch.equal(one[:, :5], prompt)


def test_states_through_a_cache_are_the_states() -> None:
    """The last layer itself, fed in pieces of any length."""
    model, tokens = randomised(LanguageModel(**SMALL, T_max=13), seed=29), words(2, 11, seed=30)
    with torch.no_grad():
        caches = model.new_caches(2, 13)
        pieces = [model.states(piece, caches) for piece in tokens.split([4, 1, 1, 5], dim=1)]
        torch.testing.assert_close(torch.cat(pieces, dim=1), model.states(tokens), **CLOSE)


@pytest.mark.parametrize("lengths", [None, [7, 2, 5]])
@pytest.mark.parametrize("tables", [1, 2, 3])
def test_translation_with_a_cache_gives_the_same_words(lengths: list[int] | None, tables: int) -> None:
    """Cached and uncached translations are equal, sampled and greedy; the latter agrees with `forward`."""
    model = randomised(Transformer(**SMALL, tables=tables, output_bias=True), seed=31)
    source = words(3, 7, seed=32)
    options = {"bos": 0, "eos": 1, "lengths": None if lengths is None else torch.tensor(lengths)}
    for temperature in (0.0, 1.0):
        one, two = (
            model.translate(
                source,
                13,
                cached=cached,
                temperature=temperature,
                generator=torch.Generator().manual_seed(2),
                **options,
            )
            for cached in (True, False)
        )
        assert torch.equal(one, two)
    greedy = model.translate(source, 13, **options)
    target = torch.cat([torch.zeros(3, 1, dtype=torch.long), greedy[:, :-1]], dim=1)
    again = model(source, target, options["lengths"]).argmax(2)
    before_end = (greedy == 1).cumsum(1) - (greedy == 1).long() == 0
    assert torch.equal(again[before_end], greedy[before_end])


def test_each_row_stops_at_its_own_end() -> None:
    """After <EOS> a row holds <EOS>; generation ends when the last row has ended."""
    script = torch.tensor([[5, 1, 7, 7, 7], [5, 6, 7, 1, 7]])

    def next_logits(tokens: torch.Tensor) -> torch.Tensor:
        return functional.one_hot(script[:, tokens.shape[1] - 1], 11).double()

    start = torch.zeros(2, 1, dtype=torch.long)
    out = extend(start, next_logits, 5, eos=1, temperature=0.0)
    assert out.tolist() == [[0, 5, 1, 1, 1], [0, 5, 6, 7, 1]]
    assert extend(start, next_logits, 5, temperature=0.0)[:, 1:].tolist() == script.tolist()
    assert extend(start, next_logits, 2, eos=1, temperature=0.0).tolist() == [[0, 5, 1], [0, 5, 6]]


def test_the_generator_alone_decides() -> None:
    """Equal seeds give equal words, others others; torch's global generator is neither read nor moved."""
    model, prompt = randomised(LanguageModel(**SMALL, T_max=29), seed=33), words(2, 3, seed=34)
    before = torch.get_rng_state()
    draws = [model.generate(prompt, 20, generator=torch.Generator().manual_seed(seed)) for seed in (3, 3, 4)]
    assert torch.equal(draws[0], draws[1]) and not torch.equal(draws[0], draws[2])
    assert torch.equal(torch.get_rng_state(), before)


def test_samples_have_the_models_distribution() -> None:
    """Frequencies of 20,000 draws are within four standard deviations of softmax(logits / temperature)."""
    logits, n = normal(1, 7, seed=35), 20_000
    for temperature in (0.5, 1.0, 2.0):
        drawn = sample(logits.expand(n, 7), temperature, torch.Generator().manual_seed(5))
        P = (logits[0] / temperature).softmax(0)
        frequency = drawn.bincount(minlength=7) / n
        assert ((frequency - P).abs() < 4 * (P * (1 - P) / n).sqrt()).all()
    assert sample(logits, 0.0).item() == logits.argmax().item()


def test_generation_leaves_the_model_as_it_was() -> None:
    """Dropout is off inside and back on outside, also after an error; no gradient is recorded."""
    model = LanguageModel(**SMALL, T_max=7, dropout=0.5)
    prompt = words(1, 3, seed=36)
    outs = [model.generate(prompt, 4, temperature=0.0) for _ in range(5)]
    assert all(torch.equal(out, outs[0]) for out in outs) and model.training and not outs[0].requires_grad
    with evaluating(model):
        assert not model.training and not torch.is_grad_enabled()
    with pytest.raises(IndexError, match="out of range"):
        model.generate(torch.tensor([[99]]), 1)
    assert model.training and all(layer.training for layer in model.layers)
    model.eval().generate(prompt, 1)
    assert not model.training


def test_a_text_that_does_not_fit_is_refused() -> None:
    """Prompt and new words together are at most T_max, and there is a prompt."""
    model = LanguageModel(**SMALL, T_max=7)
    assert model.generate(words(1, 3, seed=37), 4).shape == (1, 7)
    for T in (4, 0):
        with pytest.raises(ValueError, match=r"do not fit 1 \.\.\. 7"):
            model.generate(torch.zeros(1, T, dtype=torch.long), 4 if T else 1)


# --- devices, precisions, states --------------------------------------------------------------------------


def test_every_precision_on_every_device(device: torch.device, dtype: torch.dtype) -> None:
    """The result has the parameters' type and device and is near the float64 one."""
    torch.manual_seed(0)
    tokens, source = words(2, 5, seed=38), words(2, 7, seed=39)
    lm, mt = (
        LanguageModel(**SMALL, T_max=7, positions="sinusoidal").double(),
        Transformer(**SMALL, bias=True).double(),
    )
    expected = lm(tokens), mt(source, tokens, torch.tensor([7, 3]))
    lm, mt = lm.to(device, dtype), mt.to(device, dtype)
    tokens, source = tokens.to(device), source.to(device)
    got = lm(tokens), mt(source, tokens, torch.tensor([7, 3], device=device))
    for out, right in zip(got, expected, strict=True):
        assert out.dtype == dtype and out.device.type == device.type
        torch.testing.assert_close(out.cpu().double(), right, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


def test_nothing_is_made_on_another_device() -> None:
    """Both models work on the meta device, which mixes with no other: nothing is born on the CPU."""
    with torch.device("meta"):
        lm, mt = (
            LanguageModel(**SMALL, T_max=7, positions="sinusoidal"),
            Transformer(**SMALL, output_bias=True),
        )
        tokens, lengths = torch.empty(2, 5, dtype=torch.long), torch.empty(2, dtype=torch.long)
    assert lm(tokens).is_meta and lm.states(tokens, lm.new_caches(2, 7)).is_meta
    assert mt(tokens, tokens, lengths).is_meta


def test_state_dicts_are_strict() -> None:
    """Saved and loaded, the model is the same; a tied table is stored once; sinusoids are not stored."""
    for build in (
        lambda: Transformer(**SMALL, bias=True),
        lambda: LanguageModel(**SMALL, T_max=7, bias=True),
    ):
        model, other = randomised(build(), seed=40), build().double()
        other.load_state_dict(model.state_dict(), strict=True)
        arguments = (words(2, 7, seed=41), words(2, 5, seed=42))[: 2 if isinstance(model, Transformer) else 1]
        assert torch.equal(model(*arguments), other(*arguments))
        assert sum(v.numel() for v in model.state_dict().values()) == sum(p.numel() for p in model.parameters())


# --- learning ---------------------------------------------------------------------------------------------


def train(model: nn.Module, batch, steps: int, rate: float) -> float:
    """Adam on batch(step) -> (logits, words); return the mean loss of the last tenth."""
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    losses = []
    for step in range(steps):
        logits, target = batch(step)
        loss = functional.cross_entropy(logits.flatten(0, 1), target.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return sum(losses[-steps // 10 :]) / len(losses[-steps // 10 :])


def test_language_model_learns_a_markov_chain() -> None:
    """Within 0.05 nats of the chain's own entropy, which no model can beat; the start is at ln V."""
    V, B, T = 7, 32, 16
    torch.manual_seed(1)
    P = torch.softmax(2 * torch.randn(V, V), dim=1)
    chain = [torch.randint(V, (4096,))]
    for _ in range(T):
        chain.append(torch.multinomial(P[chain[-1]], 1).squeeze(1))
    data = torch.stack(chain, dim=1)
    model = LanguageModel(V=V, J=24, K=2, I=12, F=48, N=1, T_max=T)

    def batch(step: int) -> tuple[torch.Tensor, torch.Tensor]:
        rows = data[step * B % 4096 : step * B % 4096 + B]
        return model(rows[:, :-1]), rows[:, 1:]

    logits, target = batch(0)
    assert functional.cross_entropy(logits.flatten(0, 1), target.flatten()).item() == pytest.approx(
        math.log(V), abs=0.1
    )
    train(model, batch, 250, 0.01)
    with torch.no_grad():
        held_out, target = model(data[:, :-1]), data[:, 1:]
        loss = functional.cross_entropy(held_out.flatten(0, 1), target.flatten())
    bayes = functional.nll_loss(P[data[:, :-1]].log().flatten(0, 1), target.flatten())
    assert -0.01 < loss - bayes < 0.05


class NoPositions(nn.Module):
    """Adds nothing."""

    def forward(self, h: torch.Tensor, start: int = 0) -> torch.Tensor:
        """Return h."""
        return h


@pytest.mark.parametrize("positions", [True, False])
def test_transformer_learns_to_reverse_only_with_positions(positions: bool) -> None:
    """Six random words backwards: learned with positions, impossible without, since attention sees a set."""
    V, T, B = 9, 6, 64
    torch.manual_seed(2)
    model = Transformer(V=V, J=32, K=4, I=8, F=64, N=1, pre_norm=True)
    if not positions:
        model.positions = NoPositions()

    def batch(step: int) -> tuple[torch.Tensor, torch.Tensor]:
        source = torch.randint(2, V, (B, T))
        target = source.flip(1)
        return model(source, torch.cat([torch.zeros(B, 1, dtype=torch.long), target[:, :-1]], dim=1)), target

    loss = train(model, batch, 300, 0.005)
    if not positions:
        assert loss > 0.8
        return
    assert loss < 0.2
    source = torch.randint(2, V, (B, T))
    exact = (model.translate(source, T, bos=0, eos=1) == source.flip(1)).all(1).double().mean()
    assert exact > 0.8

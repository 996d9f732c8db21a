"""Drawing words: what temperature and <EOS> mean, for every model that writes, and that nothing else is touched."""

import pytest
import torch

from solutions.captioner import Captioner
from solutions.rnn import RecurrentLanguageModel
from solutions.sampling import PATIENCE, evaluating, extend, sample
from solutions.seq2seq import Seq2Seq
from solutions.transformer import LanguageModel, Transformer

V, EOS, B = 7, 6, 5
SIZES = {"V": V, "J": 8, "K": 2, "I": 4, "F": 11, "N": 1}


def source(T=4):
    """Words of a source, a prompt."""
    return torch.randint(V, (B, T), generator=torch.Generator().manual_seed(1))


def image():
    """Features of four positions."""
    return torch.randn(B, 2, 2, 3, generator=torch.Generator().manual_seed(1))


WRITERS = {  # how it is built; at most T words of B rows, without what was given
    "recurrent": (lambda: RecurrentLanguageModel(V, 5), lambda m, T, **o: m.sample(B, T, **o)[0]),
    "decoder": (
        lambda: LanguageModel(**SIZES, T_max=64),
        lambda m, T, **o: m.generate(source(1), T, **o)[:, 1:],
    ),
    "transformer": (lambda: Transformer(**SIZES), lambda m, T, **o: m.translate(source(), T, bos=0, **o)),
    "seq2seq": (lambda: Seq2Seq(V, V, 5, 7), lambda m, T, **o: m.translate(source(), T, **o)[0]),
    "captioner": (lambda: Captioner(V, 5, 7, 3), lambda m, T, **o: m.caption(image(), T, **o)[0]),
}
EVERY = pytest.mark.parametrize("name", WRITERS)


def build(name, seed=0):
    """A model, and how it writes."""
    torch.manual_seed(seed)
    make, write = WRITERS[name]
    model = make()
    return model, lambda T, **options: write(model, T, **options)


@EVERY
def test_a_row_ends_at_its_own_eos(name):
    """The words up to a row's first <EOS> are those drawn without one; behind it stands <EOS>; the longest row fits."""
    _, write = build(name)
    free = write(40, temperature=2.0, generator=torch.Generator().manual_seed(2), eos=-1)
    ended = write(40, temperature=2.0, generator=torch.Generator().manual_seed(2), eos=EOS)
    first = torch.where(free == EOS, torch.arange(40), 40).amin(1)  # where each row ends
    assert len(set(first.tolist())) > 1 and first.max() < 40
    assert ended.shape == (B, first.max() + 1)
    for row, whole, end in zip(ended.tolist(), free.tolist(), first.tolist(), strict=True):
        assert row[: end + 1] == whole[: end + 1]
        assert set(row[end:]) == {EOS}


@EVERY
def test_temperature_zero_is_the_likeliest_word(name):
    """It needs no generator, and a very small temperature gives the same, in half precision too."""
    _, write = build(name)
    greedy = write(5, temperature=0.0, generator=None, eos=-1)
    assert torch.equal(write(5, temperature=1e-4, generator=torch.Generator().manual_seed(0), eos=-1), greedy)
    with pytest.raises(ValueError, match="temperature"):
        write(5, temperature=-1.0, generator=None, eos=-1)


@EVERY
def test_no_word_is_wanted(name):
    """At most no words are no words."""
    _, write = build(name)
    assert write(0, temperature=0.0, generator=None, eos=EOS).shape == (B, 0)


@EVERY
def test_what_was_frozen_stays_frozen(name):
    """Writing leaves each module's flag, the gradients' switch and the global generator as they were."""
    model, write = build(name)
    model.train()
    frozen = next(model.children())
    frozen.eval()
    flags, state = [m.training for m in model.modules()], torch.get_rng_state()
    write(3, temperature=1.0, generator=torch.Generator().manual_seed(0), eos=EOS)
    assert [m.training for m in model.modules()] == flags
    assert torch.is_grad_enabled() and torch.equal(torch.get_rng_state(), state)


def test_flags_come_back_after_an_error():
    """Also if what stands within fails."""
    model = torch.nn.Sequential(torch.nn.Dropout(), torch.nn.Dropout())
    model[0].eval()

    def fail():
        with evaluating(model):
            assert not model.training
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert [m.training for m in model] == [False, True]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_half_precision_does_not_overflow(dtype):
    """Scores near the largest number there is, divided by a small temperature."""
    logits = torch.tensor([[6e4, -6e4, 5e4]]).to(dtype)
    assert sample(logits, 1e-4, torch.Generator().manual_seed(0)).tolist() == [0]


def test_it_is_multinomials_draw():
    """The same words as `torch.multinomial` with the same generator, which waits for a GPU twice a word."""
    logits = torch.randn(50, 9, generator=torch.Generator().manual_seed(0))
    ours = sample(logits, 0.7, torch.Generator().manual_seed(1))
    theirs = torch.multinomial(torch.softmax(logits / 0.7, 1), 1, generator=torch.Generator().manual_seed(1))
    assert torch.equal(ours, theirs[:, 0])


@pytest.mark.parametrize(("end", "asked"), [(1, PATIENCE), (PATIENCE, 2 * PATIENCE), (PATIENCE + 1, 2 * PATIENCE)])
def test_the_end_is_looked_up_every_sixteen_words(end, asked):
    """Rows that end at word `end` are asked for up to the next look; what was drawn in vain is cut off."""
    calls = []

    def next_logits(words):
        calls.append(words.shape[1])
        return torch.nn.functional.one_hot(torch.full((B,), EOS if len(calls) >= end else 0), V).float()

    words = extend(torch.empty(B, 0, dtype=torch.long), next_logits, 100, eos=EOS, temperature=0.0)
    assert words.tolist() == [[0] * (end - 1) + [EOS]] * B
    assert calls == list(range(asked))


def test_no_row_at_all():
    """An empty batch has an empty answer."""
    none = torch.empty(0, 2, dtype=torch.long)
    assert extend(none, lambda words: torch.empty(0, V), 5, eos=EOS).shape[0] == 0

"""What holds of every model here: saving, moving, precision, and that no parameter is idle."""

import io

import pytest
import torch

from solutions.bidirectional import BlankLanguageModel, StackedBidirectionalRNN
from solutions.captioner import Captioner
from solutions.language_cnn import LanguageCNN
from solutions.mlp import DeepMLP
from solutions.rnn import GRU, LSTM, RecurrentLanguageModel, ResidualRNN, VanillaRNN
from solutions.seq2seq import Seq2Seq
from solutions.ugrnn import UGRNN, TwoGateUGRNN

WORDS = torch.tensor([[3, 1, 4, 1, 5, 9, 2], [2, 6, 5, 3, 5, 8, 9], [9, 7, 9, 3, 2, 3, 8]])


def draw(*shape, seed=1):
    """Normal numbers in float64."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def sequences():
    """A batch of vectors, as a recurrent layer of input width 5 reads it."""
    return (draw(3, 7, 5),)


MODELS = {  # name: (how it is built, what it is called with)
    "vanilla": (lambda: VanillaRNN(5, 7), sequences),
    "gru_before": (lambda: GRU(5, 7, "before"), sequences),
    "gru_after": (lambda: GRU(5, 7), sequences),
    "lstm": (lambda: LSTM(5, 7), sequences),
    "ugrnn": (lambda: UGRNN(5, 7), sequences),
    "two_gate": (lambda: TwoGateUGRNN(5, 7), sequences),
    "residual": (lambda: ResidualRNN(5, 2), sequences),
    "stacked": (lambda: StackedBidirectionalRNN(5, 7, 2), sequences),
    "language_model": (lambda: RecurrentLanguageModel(11, 7, 2, UGRNN), lambda: (WORDS,)),
    "blank": (lambda: BlankLanguageModel(11, 5, 7, 2), lambda: (WORDS,)),
    "thought": (lambda: Seq2Seq(11, 13, 5, 7, None), lambda: (WORDS, WORDS[:, :3])),
    "state_query": (lambda: Seq2Seq(11, 13, 5, 7, "state"), lambda: (WORDS, WORDS[:, :3])),
    "word_query": (lambda: Seq2Seq(11, 13, 5, 7, "word"), lambda: (WORDS, WORDS[:, :3])),
    "captioner": (lambda: Captioner(11, 5, 7, 2), lambda: (draw(3, 4, 6, 2), WORDS)),
    "cnn": (lambda: LanguageCNN(11, 5, 2, activation=torch.tanh), lambda: (WORDS,)),
    "mlp": (lambda: DeepMLP(5, 7, 3), lambda: (draw(3, 5),)),
    "mlp_heads": (lambda: DeepMLP(5, 7, 3, heads=True), lambda: (draw(3, 5),)),
    "mlp_residual": (lambda: DeepMLP(5, 7, 3, residual=True), lambda: (draw(3, 5),)),
}
EVERY = pytest.mark.parametrize("name", MODELS)


def build(name, seed):
    """A model as its constructor leaves it, in float64, and its arguments."""
    torch.manual_seed(seed)
    make, arguments = MODELS[name]
    return make().double(), arguments()


def call(model, arguments):
    """The main output: models that return more put it first; of two directions both count."""
    output = model(*arguments)
    if isinstance(model, StackedBidirectionalRNN):
        return torch.cat(output, 2)
    return output[0] if isinstance(output, tuple) else output


@EVERY
def test_no_parameter_is_idle(name):
    """From its own initialisation, every parameter of a model receives a finite gradient that is not zero."""
    model, arguments = build(name, 0)
    out = call(model, arguments)
    out.backward(draw(*out.shape, seed=5))
    for key, p in model.named_parameters():
        assert p.grad is not None, key
        assert p.grad.isfinite().all(), key
        assert p.grad.abs().max() > 0, key


@EVERY
def test_state_dict_carries_the_whole_function(name):
    """Saved and loaded, strictly, into a model of another seed, the outputs are equal to the last bit."""
    (one, arguments), (other, _) = build(name, 0), build(name, 1)
    assert not torch.equal(call(one, arguments), call(other, arguments))
    file = io.BytesIO()
    torch.save(one.state_dict(), file)
    file.seek(0)
    other.load_state_dict(torch.load(file, weights_only=True), strict=True)
    assert torch.equal(call(one, arguments), call(other, arguments))


@EVERY
def test_device_and_precision(name, device, dtype):
    """The output stays on the model's device, in its precision, near that of float64 on the CPU."""
    model, arguments = build(name, 0)
    right = call(model, arguments).detach()
    model.to(device=device, dtype=dtype)
    arguments = [a.to(device, dtype) if a.is_floating_point() else a.to(device) for a in arguments]
    out = call(model, arguments)
    assert out.dtype == dtype
    assert out.device.type == device.type
    out.backward(torch.ones_like(out))
    tolerance = {torch.float64: 1e-12, torch.float32: 1e-5, torch.bfloat16: 5e-2}[dtype]
    assert (out.detach().cpu().double() - right).abs().max() < tolerance * max(1.0, right.abs().max().item())


@EVERY
def test_mixed_precision(name):
    """Under autocast to bfloat16 a model runs, forwards and backwards, and stays near its float32 output."""
    model, arguments = build(name, 0)
    model.float()
    arguments = [a.float() if a.is_floating_point() else a for a in arguments]
    right = call(model, arguments).detach()
    with torch.autocast("cpu", torch.bfloat16):
        out = call(model, arguments)
    out.backward(torch.ones_like(out))
    assert (out.detach() - right).abs().max() < 5e-2 * max(1.0, right.abs().max().item())


@EVERY
def test_shapes_can_be_had_without_data(name):
    """On the meta device a model gives shapes, forwards and backwards, without computing anything."""
    model, arguments = build(name, 0)
    shape = call(model, arguments).shape
    out = call(model.to("meta"), [a.to("meta") for a in arguments])
    out.backward(torch.empty_like(out))
    assert out.shape == shape
    assert all(p.grad.shape == p.shape for p in model.parameters())


@EVERY
def test_seed_gives_the_parameters(name):
    """Equal seeds give equal parameters, different seeds different ones."""
    a, b, c = (build(name, seed)[0].state_dict() for seed in (0, 0, 1))
    assert all(torch.equal(a[key], b[key]) for key in a)
    assert not all(torch.equal(a[key], c[key]) for key in a)


@pytest.mark.parametrize("name", ["language_model", "blank", "captioner"])
def test_sentences_without_words(name):
    """Have no scores, and zero gradients."""
    model, arguments = build(name, 0)
    none = [*arguments[:-1], arguments[-1][:, :0]]
    out = call(model, none)
    assert out.shape == (3, 0, 11)
    out.sum().backward()


@pytest.mark.parametrize("name", ["vanilla", "gru_before", "gru_after", "lstm", "ugrnn", "two_gate", "residual"])
def test_sequences_without_steps(name):
    """Have no states, and end where they began."""
    model, (x,) = build(name, 0)
    h, last = model(x[:, :0])
    assert h.shape[:2] == (3, 0)
    again, _ = model(x, last)
    torch.testing.assert_close(again, model(x)[0])

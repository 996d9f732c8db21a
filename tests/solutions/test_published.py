"""Weights of transformers' models in ours give the same numbers: GPT-2, Llama, BERT, with random weights."""

import pytest
import torch
from torch import nn

from solutions import published

transformers = pytest.importorskip("transformers")


def drawn(module: nn.Module) -> nn.Module:
    """In float64, every parameter drawn anew, so that logits are large and no bias or norm is trivial."""
    g = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in module.double().parameters():
            parameter.copy_(0.3 * torch.randn(parameter.shape, generator=g) + (parameter == 1))
    return module.eval()


def gpt2(**changes) -> nn.Module:
    """Three layers."""
    sizes = {"vocab_size": 31, "n_positions": 23, "n_embd": 24, "n_layer": 3, "n_head": 4}
    ends = {"bos_token_id": None, "eos_token_id": None}
    return drawn(transformers.GPT2LMHeadModel(transformers.GPT2Config(**sizes | ends | changes)))


def llama(**changes) -> nn.Module:
    """Three layers, four heads in two groups, an output matrix of its own."""
    sizes = {"vocab_size": 31, "max_position_embeddings": 23, "hidden_size": 24, "intermediate_size": 37}
    heads = {"num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2, "eos_token_id": None}
    return drawn(transformers.LlamaForCausalLM(transformers.LlamaConfig(**sizes | heads | changes)))


def bert(**changes) -> nn.Module:
    """Three layers; the library's layer-norm eps is 1e-12."""
    sizes = {"vocab_size": 31, "max_position_embeddings": 23, "hidden_size": 24, "intermediate_size": 37}
    heads = {"num_hidden_layers": 3, "num_attention_heads": 4}
    return drawn(transformers.BertForMaskedLM(transformers.BertConfig(**sizes | heads | changes)))


CAUSAL = {"gpt2": (gpt2, published.gpt2, 1e-12), "llama": (llama, published.llama, 2e-5)}  # theirs rotates in float32


def tokens(*shape: int) -> torch.Tensor:
    """Words of the vocabulary."""
    return torch.randint(31, shape, generator=torch.Generator().manual_seed(1))


def near(ours: torch.Tensor, theirs: torch.Tensor, tolerance: float) -> None:
    """Logits agree, measured by the largest of them, which is no small one."""
    largest = theirs.detach().abs().max().item()
    assert largest > 1
    torch.testing.assert_close(ours, theirs, rtol=0, atol=tolerance * largest)


@pytest.mark.parametrize("name", CAUSAL)
def test_logits_loss_and_gradients(name):
    """Logits agree for all positions, and the derivative of the loss by the word vectors."""
    build, convert, tolerance = CAUSAL[name]
    theirs, w = build(), tokens(5, 19)
    ours = convert(theirs)
    logits = theirs(w).logits
    near(ours(w), logits, tolerance)
    gradients = []
    for out, e in ((ours(w), ours.e), (logits, theirs.get_input_embeddings().weight)):
        loss = nn.functional.cross_entropy(out[:, :-1].flatten(0, 1), w[:, 1:].flatten())
        gradients += torch.autograd.grad(loss, e)
    torch.testing.assert_close(*gradients, rtol=0, atol=10 * tolerance)


@pytest.mark.parametrize("name", CAUSAL)
def test_rows_padded_on_the_left(name):
    """Each row has positions of its own: logits behind the padding, and greedy words with and without a cache."""
    build, convert, tolerance = CAUSAL[name]
    theirs, w, padding = build(), tokens(3, 11), torch.tensor([0, 4, 10])
    ours, seen = convert(theirs), torch.arange(11) >= padding[:, None]
    places = (torch.arange(11) - padding[:, None]).clamp(min=0)
    logits = theirs(w, attention_mask=seen.long(), position_ids=places).logits
    torch.testing.assert_close(
        ours(w, padding)[seen], logits[seen], rtol=0, atol=tolerance * float(logits.detach().abs().max())
    )
    words = theirs.generate(w, attention_mask=seen.long(), max_new_tokens=9, do_sample=False, pad_token_id=0)
    for cached in (True, False):
        assert torch.equal(ours.generate(w, 9, padding=padding, temperature=0.0, cached=cached), words)


def test_masked_language_model():
    """BERT with two segments and rows of several lengths: logits where words stand."""
    theirs, w, lengths = bert(), tokens(3, 17), torch.tensor([17, 5, 1])
    ours, seen = published.masked_language_model(theirs), torch.arange(17) < lengths[:, None]
    segments = (torch.arange(17) > 2).long().expand(3, -1)
    logits = theirs(w, token_type_ids=segments, attention_mask=seen.long()).logits
    near(ours(w, segments, lengths)[seen], logits[seen], 1e-12)


@pytest.mark.parametrize(
    ("convert", "build", "changes"),
    [
        (published.gpt2, gpt2, {"activation_function": "gelu"}),
        (published.gpt2, gpt2, {"scale_attn_weights": False}),
        (published.gpt2, gpt2, {"add_cross_attention": True}),
        (published.gpt2, gpt2, {"embd_pdrop": 0.2}),
        (published.llama, llama, {"rope_parameters": {"rope_type": "linear", "factor": 2.0, "rope_theta": 1e4}}),
        (published.llama, llama, {"attention_bias": True}),
        (published.masked_language_model, bert, {"hidden_act": "relu"}),
        (published.masked_language_model, bert, {"is_decoder": True}),
        (published.masked_language_model, bert, {"tie_word_embeddings": False}),
    ],
)
def test_another_function_is_refused(convert, build, changes):
    """A configuration that ours would compute wrongly is an error that names what it asks for."""
    with pytest.raises(ValueError, match=next(iter(changes))):
        convert(build(**changes))


def test_a_tied_llama():
    """Small Llamas have one table for both ends."""
    theirs, w = llama(tie_word_embeddings=True), tokens(2, 7)
    logits = theirs(w).logits
    torch.testing.assert_close(
        published.llama(theirs)(w), logits, rtol=0, atol=2e-5 * float(logits.detach().abs().max())
    )

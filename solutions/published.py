"""Models of Hugging Face's transformers as ours: the same function, parameter for parameter.

    gpt2, llama, masked_language_model    take a GPT2LMHeadModel, LlamaForCausalLM, BertForMaskedLM

The library is not imported here: what is read are the sizes in `config` and the tensors of `state_dict()`. Biases
change their sign, since ours are subtracted. What a configuration asks for beyond the published models is refused.
"""

from collections.abc import Callable, Mapping
from functools import partial

from torch import Tensor, nn
from torch.nn import functional

from solutions.bert import MaskedLanguageModel
from solutions.transformer import LanguageModel, gelu_tanh

Tensors = Mapping[str, Tensor]
Shape = Callable[[Tensor], Tensor]


def _require(config: object, **wanted: object) -> None:
    """Refuse a configuration that means another function."""
    for name, value in wanted.items():
        if getattr(config, name) != value:
            raise ValueError(f"{name} = {getattr(config, name)!r} is not built here, {value!r} is")


def _heads(W: Tensor, K: int) -> Tensor:
    """(K U, ...) -> (K, U, ...)."""
    return W.unflatten(0, (K, -1))


def _filled(ours: nn.Module, tensors: Tensors) -> nn.Module:
    """Ours with these numbers, ready to be used."""
    ours.load_state_dict({name: tensor.clone() for name, tensor in tensors.items()})
    return ours.eval()


def _norm(theirs: Tensors, name: str, ours: str) -> dict[str, Tensor]:
    return {f"{ours}.{key}": theirs[f"{name}.{key}"] for key in ("weight", "bias") if f"{name}.{key}" in theirs}


def _linear(theirs: Tensors, name: str, ours: str, shape: Shape = lambda W: W) -> dict[str, Tensor]:
    """The weight as W, and the bias as B with the other sign."""
    return {ours.format("W"): shape(theirs[f"{name}.weight"]), ours.format("B"): shape(-theirs[f"{name}.bias"])}


def gpt2(theirs: nn.Module) -> LanguageModel:
    """GPT-2 of any size (Radford et al. 2019)."""
    config, given = theirs.config, theirs.state_dict()
    _require(config, activation_function="gelu_new", tie_word_embeddings=True, add_cross_attention=False)
    _require(config, scale_attn_weights=True, scale_attn_by_inverse_layer_idx=False, embd_pdrop=config.resid_pdrop)
    J, K, N = config.n_embd, config.n_head, config.n_layer
    ours = LanguageModel(
        config.vocab_size, J, K, J // K, config.n_inner or 4 * J, N, config.n_positions,
        bias=True, activation=gelu_tanh, norm=partial(nn.LayerNorm, eps=config.layer_norm_epsilon),
        dropout=config.resid_pdrop, attention_dropout=config.attn_pdrop,
    )  # fmt: skip
    out = {"e": given["transformer.wte.weight"], "positions.table": given["transformer.wpe.weight"]}
    out |= _norm(given, "transformer.ln_f", "norm")
    for n in range(N):
        source, layer = f"transformer.h.{n}", f"layers.{n}"
        weights, biases = (given[f"{source}.attn.c_attn.{kind}"].chunk(3, -1) for kind in ("weight", "bias"))
        for letter, W, b in zip("QKV", weights, biases, strict=True):
            out |= {f"{layer}.attention.W_{letter}": _heads(W.T, K), f"{layer}.attention.B_{letter}": -_heads(b, K)}
        maps = {"attention": {"O": "attn.c_proj"}, "feed_forward": {"FF1": "mlp.c_fc", "FF2": "mlp.c_proj"}}
        for place, names in maps.items():
            for letter, name in names.items():
                out[f"{layer}.{place}.W_{letter}"] = given[f"{source}.{name}.weight"].T
                out[f"{layer}.{place}.B_{letter}"] = -given[f"{source}.{name}.bias"]
        out |= _norm(given, f"{source}.ln_1", f"{layer}.attention_norm")
        out |= _norm(given, f"{source}.ln_2", f"{layer}.feed_forward_norm")
    return _filled(ours.to(out["e"].dtype), out)


def llama(theirs: nn.Module) -> LanguageModel:
    """Llama (Touvron et al. 2023) and its relatives: rotation in halves, RMS norms, SiLU with a gate, no biases."""
    config, given = theirs.config, theirs.state_dict()
    rope = config.rope_parameters
    unscaled = rope | {"rope_type": "default"}
    _require(config, hidden_act="silu", attention_bias=False, mlp_bias=False, rope_parameters=unscaled)
    J, K, G, N = config.hidden_size, config.num_attention_heads, config.num_key_value_heads, config.num_hidden_layers
    ours = LanguageModel(
        config.vocab_size, J, K, config.head_dim, config.intermediate_size, N, config.max_position_embeddings,
        G=G, positions="rotary", base=rope["rope_theta"], norm=partial(nn.RMSNorm, eps=config.rms_norm_eps),
        gated=True, activation=functional.silu, tied=config.tie_word_embeddings,
        attention_dropout=config.attention_dropout,
    )  # fmt: skip
    out = {"e": given["model.embed_tokens.weight"]} | _norm(given, "model.norm", "norm")
    if not config.tie_word_embeddings:
        out["W_out"] = given["lm_head.weight"]
    for n in range(N):
        source, layer = f"model.layers.{n}", f"layers.{n}"
        for letter, name, groups in (("Q", "q", K), ("K", "k", G), ("V", "v", G)):
            out[f"{layer}.attention.W_{letter}"] = _heads(given[f"{source}.self_attn.{name}_proj.weight"], groups)
        out[f"{layer}.attention.W_O"] = given[f"{source}.self_attn.o_proj.weight"]
        for number, name in ((1, "gate"), (3, "up"), (2, "down")):
            out[f"{layer}.feed_forward.W_FF{number}"] = given[f"{source}.mlp.{name}_proj.weight"]
        for number, width in ((1, config.intermediate_size), (2, J)):  # ours has biases in any case
            out[f"{layer}.feed_forward.B_FF{number}"] = out["e"].new_zeros(width)
        out |= _norm(given, f"{source}.input_layernorm", f"{layer}.attention_norm")
        out |= _norm(given, f"{source}.post_attention_layernorm", f"{layer}.feed_forward_norm")
    return _filled(ours.to(out["e"].dtype), out)


def masked_language_model(theirs: nn.Module) -> MaskedLanguageModel:
    """BERT with its head (Devlin et al. 2018); the encoder is `.bert`, without a pooler."""
    config, given = theirs.config, theirs.state_dict()
    _require(config, hidden_act="gelu", tie_word_embeddings=True, is_decoder=False, add_cross_attention=False)
    _require(config, attention_probs_dropout_prob=config.hidden_dropout_prob)
    J, K, N = config.hidden_size, config.num_attention_heads, config.num_hidden_layers
    ours = MaskedLanguageModel(
        config.vocab_size, J, K, J // K, config.intermediate_size, N, config.max_position_embeddings,
        config.type_vocab_size, dropout=config.hidden_dropout_prob, eps=config.layer_norm_eps,
    )  # fmt: skip
    tables = {"e": "word", "s": "token_type", "positions.table": "position"}
    out = {f"bert.{key}": given[f"bert.embeddings.{name}_embeddings.weight"] for key, name in tables.items()}
    out |= _norm(given, "bert.embeddings.LayerNorm", "bert.norm")
    out |= _norm(given, "cls.predictions.transform.LayerNorm", "norm")
    out |= _linear(given, "cls.predictions.transform.dense", "{}_M") | {"B": -given["cls.predictions.bias"]}
    for n in range(N):
        source, layer = f"bert.encoder.layer.{n}", f"bert.layers.{n}"
        heads = partial(_heads, K=K)
        for letter, name in (("Q", "query"), ("K", "key"), ("V", "value")):
            out |= _linear(given, f"{source}.attention.self.{name}", f"{layer}.attention.{{}}_{letter}", heads)
        out |= _linear(given, f"{source}.attention.output.dense", f"{layer}.attention.{{}}_O")
        out |= _linear(given, f"{source}.intermediate.dense", f"{layer}.feed_forward.{{}}_FF1")
        out |= _linear(given, f"{source}.output.dense", f"{layer}.feed_forward.{{}}_FF2")
        out |= _norm(given, f"{source}.attention.output.LayerNorm", f"{layer}.attention_norm")
        out |= _norm(given, f"{source}.output.LayerNorm", f"{layer}.feed_forward_norm")
    return _filled(ours.to(out["B"].dtype), out)

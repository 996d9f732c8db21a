"""What others would use instead of our models, given the same weights where it is the same model."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from solutions.attention import MultiHeadAttention, causal_mask


def torchrecurrent_ugrnn(ours: nn.Module) -> nn.Module:
    """torchrecurrent.UGRNN with the weights of solutions.ugrnn.UGRNN; its biases are added."""
    import torchrecurrent

    J, K = ours.W_xR.shape
    peer = torchrecurrent.UGRNN(K, J, batch_first=True).to(ours.W_xR)
    with torch.no_grad():
        for name, parameter in peer.named_parameters():
            pair = {"weight_ih": "W_x", "weight_hh": "W_h", "bias_ih": "B_"}.get(name.rpartition(".")[2])
            if pair is None:
                parameter.zero_()  # their second bias
                continue
            stacked = torch.cat([getattr(ours, f"{pair}{gate}") for gate in "RG"])
            parameter.copy_(-stacked if pair == "B_" else stacked)
    return peer


def torch_recurrent(ours: nn.Module) -> nn.Module:
    """torch.nn.RNN, GRU or LSTM with the weights of ours; theirs have a second bias."""
    kind = {"VanillaRNN": nn.RNN, "GRU": nn.GRU, "LSTM": nn.LSTM}[type(ours).__name__]
    weights = dict(ours.named_parameters())
    W_x, W_h = weights.get("W_x", weights.get("W_xh")), weights.get("W_h", weights.get("W_hh"))
    J = W_h.shape[1]
    peer = kind(W_x.shape[1], J, batch_first=True).to(W_x)
    with torch.no_grad():
        peer.weight_ih_l0.copy_(W_x)
        peer.weight_hh_l0.copy_(W_h)
        peer.bias_ih_l0.copy_(-ours.B)
        peer.bias_hh_l0.zero_()
        if "B_hn" in weights:
            peer.bias_hh_l0[2 * J :].copy_(-ours.B_hn)
    return peer


def step_by_step(ours: nn.Module, x: Tensor) -> Tensor:
    """Our own loop: the answer for a sequence of one step, again and again."""
    states, state = [], None
    for x_t in x.split(1, 1):
        h, state = ours(x_t, state)
        states.append(h)
    return torch.cat(states, 1)


def torch_attention(ours: MultiHeadAttention) -> nn.MultiheadAttention:
    """torch.nn.MultiheadAttention with the weights of ours (which must have no biases)."""
    K, _, J = ours.W_Q.shape
    peer = nn.MultiheadAttention(J, K, bias=False, batch_first=True)
    with torch.no_grad():
        peer.in_proj_weight.copy_(torch.cat([W.flatten(0, 1) for W in (ours.W_Q, ours.W_K, ours.W_V)]))
        peer.out_proj.weight.copy_(ours.W_O)
    return peer.to(ours.W_Q)


def x_transformers_attention(ours: MultiHeadAttention, *, flash: bool) -> nn.Module:
    """x_transformers.Attention with the weights of ours; its causal flag is set."""
    from x_transformers.x_transformers import Attention

    K, U, J = ours.W_Q.shape
    peer = Attention(dim=J, heads=K, dim_head=U, causal=True, flash=flash)
    with torch.no_grad():
        for linear, W in zip((peer.to_q, peer.to_k, peer.to_v), (ours.W_Q, ours.W_K, ours.W_V), strict=True):
            linear.weight.copy_(W.flatten(0, 1))
        peer.to_out.weight.copy_(ours.W_O)
    return peer.to(ours.W_Q)


def einsum_attention(ours: MultiHeadAttention, x: Tensor) -> Tensor:
    """The lecture's equations as einsums, causal, batched: what a student writes first."""
    query = torch.einsum("kuj,btj->bktu", ours.W_Q, x)
    key = torch.einsum("kuj,btj->bktu", ours.W_K, x)
    value = torch.einsum("kij,btj->bkti", ours.W_V, x)
    scores = torch.einsum("bkpu,bkqu->bkpq", query, key) * ours.scale
    scores = scores.masked_fill(~causal_mask(x.shape[1], device=x.device), float("-inf"))
    out = torch.einsum("bkpq,bkqi->bpki", scores.softmax(-1), value)
    return torch.einsum("jc,btc->btj", ours.W_O, out.flatten(2))


def spatial_einsum(ours: MultiHeadAttention, h: Tensor) -> Tensor:
    """alpha[k, x1, y1, x2, y2] as the problem writes it, batched, with scale and W^O."""
    query = torch.einsum("kuj,bxyj->bkxyu", ours.W_Q, h)
    key = torch.einsum("kuj,bxyj->bkxyu", ours.W_K, h)
    value = torch.einsum("kij,bxyj->bkxyi", ours.W_V, h)
    scores = ours.scale * torch.einsum("bkxyu,bkpqu->bkxypq", query, key)
    alpha = scores.flatten(-2).softmax(-1).view_as(scores)
    return torch.einsum("jc,bxyc->bxyj", ours.W_O, torch.einsum("bkxypq,bkpqi->bxyki", alpha, value).flatten(3))


def spatial_strided(ours: MultiHeadAttention, h: Tensor) -> Tensor:
    """Fused attention fed with einsum's strided views: right, and silently the slow kernel."""
    flat = h.flatten(1, 2)
    query, key, value = (torch.einsum("kuj,btj->bktu", W, flat) for W in (ours.W_Q, ours.W_K, ours.W_V))
    heads = functional.scaled_dot_product_attention(query, key, value, scale=ours.scale)
    return ours.join(heads).unflatten(1, h.shape[1:3])


def relative_by_hand(ours: nn.Module, h: Tensor) -> Tensor:
    """Each bias looked up by itself, alpha held."""
    X, Y = h.shape[1:3]
    query, (key, value) = ours.queries(h.flatten(1, 2)), ours.keys_values(h.flatten(1, 2))
    x, y = torch.arange(X, device=h.device), torch.arange(Y, device=h.device)
    dx, dy = x[:, None] - x + X - 1, y[:, None] - y + Y - 1
    bias = ours.relative.b[:, dx[:, None, :, None], dy[None, :, None, :]].flatten(3).flatten(1, 2)
    alpha = (ours.scale * query @ key.mT + bias).softmax(-1)
    return ours.join(alpha @ value).unflatten(1, (X, Y))


def window_by_mask(ours: nn.Module, h: Tensor) -> Tensor:
    """All pairs of positions, and a mask of those that count."""
    X, Y = h.shape[1:3]
    query, (key, value) = ours.queries(h.flatten(1, 2)), ours.keys_values(h.flatten(1, 2))
    place = torch.arange(X * Y, device=h.device)
    near = [((z[:, None] - z).abs() <= ours.w) for z in (place // Y, place % Y)]
    heads = functional.scaled_dot_product_attention(query, key, value, attn_mask=near[0] & near[1], scale=ours.scale)
    return ours.join(heads).unflatten(1, (X, Y))


def torch_encoder_layer(ours: nn.Module) -> nn.TransformerEncoderLayer:
    """torch.nn.TransformerEncoderLayer with the weights of a post-norm layer that has biases."""
    K, _, J = ours.attention.W_Q.shape
    attention, inner = ours.attention, ours.feed_forward
    peer = nn.TransformerEncoderLayer(J, K, len(inner.W_FF1), dropout=0.0, batch_first=True).to(inner.W_FF1)
    with torch.no_grad():
        for names, target in ((("W_Q", "W_K", "W_V"), "in_proj_weight"), (("B_Q", "B_K", "B_V"), "in_proj_bias")):
            stacked = torch.cat([getattr(attention, name).flatten(0, 1) for name in names])
            getattr(peer.self_attn, target).copy_(stacked if names[0] == "W_Q" else -stacked)
        maps = (peer.self_attn.out_proj, attention.W_O, attention.B_O), (peer.linear1, inner.W_FF1, inner.B_FF1)
        for linear, W, B in (*maps, (peer.linear2, inner.W_FF2, inner.B_FF2)):
            linear.weight.copy_(W)
            linear.bias.copy_(-B)
    return peer


# --- Hugging Face's, from which ours take their weights -----------------------------------------------------


def transformers_gpt2(V: int, J: int, K: int, F: int, N: int, T: int) -> tuple[nn.Module, nn.Module]:
    """Ours and GPT2LMHeadModel, the same function."""
    from transformers import GPT2Config, GPT2LMHeadModel

    from solutions.published import gpt2

    ends = {"bos_token_id": None, "eos_token_id": None}
    sizes = {"vocab_size": V, "n_positions": T, "n_embd": J, "n_layer": N, "n_head": K, "n_inner": F}
    theirs = GPT2LMHeadModel(GPT2Config(**sizes, **ends)).eval()
    return gpt2(theirs), theirs


def transformers_bert(V: int, J: int, K: int, F: int, N: int, T: int) -> tuple[nn.Module, nn.Module]:
    """Ours and BertForMaskedLM, the same function."""
    from transformers import BertConfig, BertForMaskedLM

    from solutions.published import masked_language_model

    sizes = {"vocab_size": V, "max_position_embeddings": T, "hidden_size": J, "intermediate_size": F}
    theirs = BertForMaskedLM(BertConfig(**sizes, num_hidden_layers=N, num_attention_heads=K)).eval()
    return masked_language_model(theirs), theirs


# --- a language model, nanoGPT style (after A. Karpathy, MIT licence) --------------------------------------


class Block(nn.Module):
    """One matrix for query, key and value together, fused attention, pre-norm."""

    def __init__(self, J: int, K: int, F: int) -> None:
        super().__init__()
        self.K = K
        self.norm_1, self.norm_2 = nn.LayerNorm(J), nn.LayerNorm(J)
        self.query_key_value, self.output = nn.Linear(J, 3 * J, bias=False), nn.Linear(J, J, bias=False)
        self.mlp = nn.Sequential(nn.Linear(J, F), nn.ReLU(), nn.Linear(F, J))

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, J) -> (B, T, J)."""
        q, k, v = self.query_key_value(self.norm_1(x)).chunk(3, dim=-1)
        q, k, v = (z.unflatten(-1, (self.K, -1)).transpose(1, 2) for z in (q, k, v))
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.output(y.transpose(1, 2).flatten(2))
        return x + self.mlp(self.norm_2(x))


class NanoGPT(nn.Module):
    """Tied tables and learned positions around the blocks."""

    def __init__(self, V: int, J: int, K: int, F: int, N: int, T: int) -> None:
        super().__init__()
        self.words, self.positions = nn.Embedding(V, J), nn.Embedding(T, J)
        self.blocks = nn.Sequential(*(Block(J, K, F) for _ in range(N)))
        self.norm = nn.LayerNorm(J)

    def forward(self, tokens: Tensor) -> Tensor:
        """(B, T) -> (B, T, V)."""
        position = torch.arange(tokens.shape[1], device=tokens.device)
        h = self.norm(self.blocks(self.words(tokens) + self.positions(position)))
        return functional.linear(h, self.words.weight)


class TorchStack(nn.Module):
    """torch.nn.TransformerEncoder with a causal mask between tied tables."""

    def __init__(self, V: int, J: int, K: int, F: int, N: int, T: int) -> None:
        super().__init__()
        self.words, self.positions = nn.Embedding(V, J), nn.Embedding(T, J)
        layer = nn.TransformerEncoderLayer(J, K, F, dropout=0.0, batch_first=True, norm_first=True, bias=False)
        self.blocks = nn.TransformerEncoder(layer, N, nn.LayerNorm(J), enable_nested_tensor=False)

    def forward(self, tokens: Tensor) -> Tensor:
        """(B, T) -> (B, T, V)."""
        position = torch.arange(tokens.shape[1], device=tokens.device)
        h = self.words(tokens) + self.positions(position)
        mask = nn.Transformer.generate_square_subsequent_mask(tokens.shape[1], device=tokens.device, dtype=h.dtype)
        return functional.linear(self.blocks(h, mask=mask, is_causal=True), self.words.weight)


def x_transformers_decoder(V: int, J: int, K: int, F: int, N: int, T: int) -> nn.Module:
    """x_transformers' decoder of the same sizes, with fused attention and tied tables."""
    from x_transformers import Decoder, TransformerWrapper

    layers = Decoder(dim=J, depth=N, heads=K, attn_dim_head=J // K, ff_mult=F / J, attn_flash=True)
    return TransformerWrapper(num_tokens=V, max_seq_len=T, attn_layers=layers, tie_embedding=True)

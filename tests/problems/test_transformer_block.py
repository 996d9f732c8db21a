"""A Transformer block: equations against the course's layer, counts against its parameters, and unlisted answers."""

import itertools

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.utils.flop_counter import FlopCounterMode

from autograder.authoring.loading import load
from autograder.core import Answer
from autograder.grading.judge import judge_part
from autograder.maths import tensor
from solutions.counting import attention, feed_forward
from solutions.transformer import Layer

PROBLEM = load("transformer_block")
F64 = torch.float64
BASE = {"activation": "relu", "norm": "layer", "place": "before", "causal": False, "stack": "encoder",
        "compared": "all"}  # fmt: skip
OTHER = {**BASE, "activation": "silu", "norm": "rms", "place": "after", "stack": "decoder", "compared": "projections"}
ACTIVATIONS = {"relu": functional.relu, "silu": functional.silu, "squared relu": lambda x: functional.relu(x) ** 2}
T, J, K, W, F = 5, 4, 3, 7, 11


def reference(name, p, *arguments):
    """What the reference of a part returns."""
    return PROBLEM.part(name).reference(*arguments, p=p)


def right(name, p):
    """The typed reference of a part."""
    return PROBLEM.part(name).right(p)


class RMSNorm(nn.LayerNorm):
    """In the place of a layer norm."""

    def forward(self, x):
        """Torch's RMS norm."""
        return functional.rms_norm(x, x.shape[-1:], self.weight, self.eps)


class NoNorm(nn.LayerNorm):
    """In the place of a layer norm."""

    def forward(self, x):
        """As it is."""
        return x


def model(p):
    """The course's layer with random parameters; an RMS norm takes the place of its layer norms where p says so."""
    torch.manual_seed(41)
    layer = Layer(J, K, W, F, pre_norm=p["place"] == "before", activation=ACTIVATIONS[p["activation"]])
    if p["norm"] == "rms":
        layer.attention_norm, layer.feed_forward_norm = (RMSNorm(J) for _ in range(2))
    layer = layer.double().requires_grad_(requires_grad=False)
    for norm in (layer.attention_norm, layer.feed_forward_norm):
        norm.weight.copy_(1 + torch.randn(J, dtype=F64) / 3)
    layer.feed_forward.B_FF1.copy_(torch.randn(F)), layer.feed_forward.B_FF2.copy_(torch.randn(J))
    return layer


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_the_typed_feed_forward_layer_is_the_model(activation):
    """`solutions.transformer.FeedForward` gives what the equations give by their own evaluator."""
    p = {**BASE, "activation": activation}
    inner, L = model(p).feed_forward, torch.randn(T, J, dtype=F64)
    text = tensor.evaluate(tensor.parse(right("feed_forward_equations", p)), arrays(inner, L=L), "O")
    torch.testing.assert_close(torch.from_numpy(text), inner(L), rtol=1e-12, atol=1e-14)


def arrays(inner, **others):
    """A feed-forward layer's parameters by the names of the equations."""
    names = {name: getattr(inner, name.replace("^", "_")) for name in ("W^FF1", "B^FF1", "W^FF2", "B^FF2")}
    return {name: value.numpy() for name, value in {**names, **others}.items()}


@pytest.mark.parametrize(("norm", "place"), list(itertools.product(("layer", "rms"), ("before", "after"))))
def test_the_typed_sublayer_is_half_of_the_model(norm, place):
    """With W^O zero and the first norm taken out, the model's layer is what the equations say."""
    p = {**BASE, "activation": "silu", "norm": norm, "place": place}
    layer, X = model(p), torch.randn(1, T, J, dtype=F64)
    layer.attention.W_O *= 0
    layer.attention_norm = NoNorm(J)
    given = arrays(layer.feed_forward, X=X[0], g=layer.feed_forward_norm.weight)
    given["epsilon"] = torch.tensor(1e-5, dtype=F64).numpy()
    system = tensor.parse(right("sublayer_equations", p))
    found = tensor.evaluate(system, given, "Y", declarations=tensor.declare("epsilon"))
    torch.testing.assert_close(torch.from_numpy(found), layer(X)[0], rtol=1e-11, atol=1e-13)


def test_the_derivative_is_autograd_s():
    """Through the layer and past it, for a smooth activation."""
    inner, L = model({**BASE, "activation": "silu"}).feed_forward, torch.randn(T, J, dtype=F64, requires_grad=True)
    G = torch.randn(T, J, dtype=F64)
    (wanted,) = torch.autograd.grad(((L + inner(L)) * G).sum(), L)
    a = (L @ inner.W_FF1.T - inner.B_FF1).detach().requires_grad_()
    (slope,) = torch.autograd.grad(functional.silu(a).sum(), a)
    found = tensor.evaluate(tensor.parse(right("backward", BASE)), arrays(inner, G=G, s=slope))
    torch.testing.assert_close(torch.from_numpy(found), wanted, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("stack", ["encoder", "decoder"])
def test_the_count_is_that_of_the_models(stack):
    """`solutions.counting`, and what the layers of the course hold without the shifts of their norms."""
    decoder = stack == "decoder"
    N, width, inner, heads = 3, 6, 10, 2
    found = eval(right("block_count", {**BASE, "stack": stack}).replace("^", "**"), {"N": N, "J": width, "F": inner})
    norms = (2 + decoder) * width
    assert found == N * ((1 + decoder) * attention(width, heads) + feed_forward(width, inner) + norms)
    layer = Layer(width, heads, width // heads, inner, cross=decoder)
    shifts = sum(value.numel() for name, value in layer.named_parameters() if name.endswith("norm.bias"))
    assert found == N * (sum(value.numel() for value in layer.parameters()) - shifts)


@pytest.mark.parametrize(
    ("compared", "others"), [("all", "QKVO12"), ("inner and output", "O12"), ("projections", "QKVO")]
)
def test_the_pairs_take_over_where_torch_says(compared, others):
    """All products of the code at that length, counted by torch on the meta device: the pairs are half of them."""
    width, inner, heads = 4, 10, 2
    length = int(eval(right("break_even", {**BASE, "compared": compared}), {"J": width, "F": inner}))
    product = {"Q": width**2, "K": width**2, "V": width**2, "O": width**2, "1": width * inner, "2": width * inner}
    shapes = [(heads, width // heads, width)] * 3 + [(width, width), (width,), (inner, width), (inner,)]
    shapes += [(width, inner), (width,), (width,)]
    with FlopCounterMode(display=False) as counter:
        given = (torch.zeros(shape, device="meta") for shape in [(1, length, width), *shapes])
        reference("block", BASE, *given)
    pairs = counter.get_total_flops() // 2 - length * sum(product.values())
    assert pairs == length * sum(product[name] for name in others)


UNLISTED = [
    ("feed_forward_equations", BASE, "earned", r"h[t, i] &= \text{ReLU}(W^{\text{FF1}}[i, J] L[t, J] - "
     r"B^{\text{FF1}}[i]) \\ O[t, j] &= W^{\text{FF2}}[j, I] h[t, I] - B^{\text{FF2}}[j]"),
    ("feed_forward_equations", BASE, "lost", "h[t,f] = relu(W^FF1[f,J] L[t,J]) - B^FF1[f]\n"
     "O[t,j] = W^FF2[j,F] h[t,F] - B^FF2[j]"),
    ("feed_forward_equations", OTHER, "lost", "h[t,f] = sigma(W^FF1[f,J] L[t,J] - B^FF1[f])\n"
     "O[t,j] = W^FF2[j,F] h[t,F] - B^FF2[j]"),
    ("backward", BASE, "earned", "D[t,j] = G[t,j] + W^FF1[F,j] s[t,F] W^FF2[I,F] G[t,I]"),
    ("backward", BASE, "lost", "D[t,j] = G[t,j] + W^FF1[F,j] s[t,F] W^FF2[j,F] G[t,j]"),
    ("block_count", BASE, "earned", "2 N J (2 J + F) + N F + 3 N J"),
    ("block_count", BASE, "lost", "2 N J (2 J + F) + N F + 5 N J"),
    ("break_even", BASE, "earned", "(2 J F + 4 J^2)/(2 J)"),
    ("break_even", BASE, "lost", "J + F"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "p", "standing", "answer"), UNLISTED)
def test_answers_that_nobody_listed(name, p, standing, answer):
    """What is printed, pasted or renamed is right; each slip of an index, a bias or a product is not."""
    assert judge_part(PROBLEM.part(name), p, lambda question: Answer(value=answer), (0,)).standing == standing

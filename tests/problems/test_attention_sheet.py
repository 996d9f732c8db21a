"""Questions on attention: numbers by brute force, answers that nobody listed, and the solutions' BERT."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from autograder.audit.simulated_answers import handed_in
from autograder.authoring.loading import load
from autograder.authoring.variants import variant
from autograder.core import Answer
from autograder.grading.judge import judge_part
from autograder.maths import expression
from solutions.bert import Bert

PROBLEM = load("attention_sheet")
VARIANTS = [variant(PROBLEM, seed).parameters for seed in range(200)]


def with_(**wanted):
    """The first variant with these values."""
    return next(p for p in VARIANTS if all(p[key] == value for key, value in wanted.items()))


def standing(name, answer, p):
    """What becomes of an answer."""
    return judge_part(PROBLEM.part(name), p, lambda question: Answer(value=answer), (0,)).standing


def is_number(text, wanted, **numbers):
    """Whether a closed form at whole numbers is the number wanted."""
    for letter, number in numbers.items():
        text = text.replace(letter, f"({number})")
    return expression.decide(str(wanted), text, domains=dict.fromkeys(numbers, "posint")).equal


def layers_by_search(stack, n, k):
    """The number of layers, by following what each position can see."""
    seen = {n}
    for layer in range(n):
        if min(seen) <= 1:
            return layer
        step = k**layer if stack == "dilated" else 1
        offsets = range(-(k // 2), k // 2 + 1) if stack == "centred" else [-step * i for i in range(k)]
        seen = {position + offset for position in seen for offset in offsets if 1 <= position + offset <= n}
    raise AssertionError("not reached")


@pytest.mark.parametrize("stack", ["causal", "centred", "dilated"])
def test_layers_are_as_many_as_a_search_finds(stack):
    """For every size that is drawn; and the mistakes give other numbers."""
    part = PROBLEM.part("layers")
    for n in (50, 70, 100, 150, 200, 300):
        for k in (7, 9):
            p = {"stack": stack, "n": n, "k": k}
            right = layers_by_search(stack, n, k)
            assert part.reference(p) == right
            assert all(mistake(p) != right for mistake in part.mistakes)


@pytest.mark.parametrize("mask", ["causal", "window", "prefix"])
def test_pairs_are_as_many_as_the_mask_leaves(mask):
    """The closed form against the weights that are not zero."""
    p = with_(mask=mask, width=3)
    alpha = PROBLEM.part("masked_weights").reference(torch.zeros(1, 9, 9, dtype=torch.float64), p=p)
    text = PROBLEM.part("visible_pairs").reference(p)
    assert is_number(text, int((alpha > 0).sum()), T=9, w=3, q=3)


@pytest.mark.parametrize("h", [1, 2, 4])
def test_the_cost_of_a_layer_is_what_a_counter_counts(h):
    """8 n d^2 + 4 n^2 d, whatever the number of heads."""
    n, d = 3, 4

    def layer(x, W_Q, W_K, W_V, W_O):
        q, k, v = (torch.einsum("nd,hdu->hnu", x, W) for W in (W_Q, W_K, W_V))
        return torch.cat(list(torch.softmax(q @ k.mT, -1) @ v), dim=-1) @ W_O

    heads = [torch.randn(h, d, d // h) for _ in range(3)]
    with FlopCounterMode(display=False) as counter:
        layer(torch.randn(n, d), *heads, torch.randn(d, d))
    assert counter.get_total_flops() == 8 * n * d**2 + 4 * n**2 * d
    assert is_number(PROBLEM.part("layer_cost").reference({"adds": True}), 8 * 48 + 4 * 36, n=n, d=d)


@pytest.mark.parametrize("sharing", ["full", "multi_query", "grouped", "fixed"])
def test_parameters_are_those_of_the_matrices(sharing):
    """Counted on tensors without memory."""
    d, h, g, w = 12, 6, 2, 5
    width = w if sharing == "fixed" else d // h
    shared = {"multi_query": 1, "grouped": g}.get(sharing, h)
    shapes = [(h, width, d), (shared, width, d), (shared, width, d), (d, h * width)]
    count = sum(torch.empty(shape, device="meta").numel() for shape in shapes)
    text = PROBLEM.part("layer_parameters").reference({"sharing": sharing})
    assert is_number(text, count, d=d, h=h, g=g, w=w)


def test_the_input_is_that_of_the_solutions_bert():
    """The same vectors from the module's own embedding, with positions that run on."""
    p = with_(restart=False)
    for number in range(4):
        case = PROBLEM.part("bert_input").cases(p, (5, number))[number]
        tokens, E_tok, E_seg, E_pos, sep = case.arguments.values()
        model = Bert(len(E_tok), E_tok.shape[1], 1, E_tok.shape[1], 3, 1, len(E_pos), len(E_seg)).double()
        state = model.state_dict() | {"e": E_tok, "s": E_seg}
        table = next(name for name in state if name.startswith("positions."))
        model.load_state_dict(state | {table: E_pos})
        ends = (tokens == sep).long()
        found = model.embed(tokens[None], (ends.cumsum(0) - ends)[None])[0]
        assert torch.allclose(found, PROBLEM.part("bert_input").reference(**case.arguments, p=p), rtol=1e-12)


def test_the_parameters_are_those_of_the_solutions_bert():
    """The tables and the norm, counted on the module."""
    V, P, S, d = 7, 5, 3, 4
    model = Bert(V, d, 1, d, 3, 1, P, S)
    tables = sum(item.numel() for item in (model.e, model.s, *model.positions.parameters()))
    norm = sum(item.numel() for item in model.norm.parameters())
    for with_norm in (False, True):
        text = PROBLEM.part("bert_parameters").reference({"norm": with_norm})
        assert is_number(text, tables + with_norm * norm, V=V, P=P, S=S, d=d)


FIXED = [
    ("self_attention", "O(d n^2)", "earned"),
    ("self_attention", "O(n^2 d + n^2 + n d)", "earned"),
    ("self_attention", "4n^2d", "earned"),
    ("self_attention", "O(n^2 d ln n)", "lost"),
    ("self_attention", "O(n d ln(n))", "lost"),
    ("self_attention", "O(n^3 d)", "lost"),
    ("self_attention", "O(max(n^2 d, n^2))", "earned"),
    ("recurrent", "O(n (d^2 + d))", "earned"),
    ("recurrent", "O(n(d+d)^2)", "earned"),
    ("recurrent", "O(n^2 d^2)", "lost"),
    ("convolution", "O(n k d^2 + n k)", "earned"),
    ("convolution", "O((n-k+1) k d^2)", "lost"),  # without padding, nothing is left where k = n
    ("path_contiguous", "O((n-1)/(k-1))", "earned"),
    ("path_contiguous", "O(n/k + 1)", "earned"),
    ("path_contiguous", "O(n - k)", "lost"),
    ("path_contiguous", "O(n/2)", "lost"),
    ("path_dilated", "O(log(n)/log(k))", "earned"),
    ("path_dilated", "O(log_k(n) + 1)", "earned"),
    ("path_dilated", "O(ln n)", "lost"),
    ("path_dilated", "O(sqrt(n))", "lost"),
    ("layer_cost", "8*n*d**2 + 4*d*n**2", "earned"),
    ("bert_parameters", "d*(S+P+V)", "earned"),
    ("flop_ratio", "n/d + n/d", "earned"),
    ("masked_tokens", "0.12*T", "held"),
]
CHOSEN = {"adds": True, "norm": False, "matrices": "state"}


@pytest.mark.parametrize(("name", "text", "wanted"), FIXED)
def test_answers_that_nobody_listed(name, text, wanted):
    """Right ones keep their points, wrong ones lose them, and a text that is no number is held."""
    assert standing(name, text, with_(**CHOSEN)) == wanted


SHIFTED = """
def masked_weights(scores):
    T = scores.shape[1]
    t, s = torch.arange(T)[:, None], torch.arange(T)
    seen = scores.masked_fill(s > t, -torch.inf)
    weights = torch.exp(seen - SHIFT)
    return weights / weights.sum(-1, keepdim=True)
"""
SHIFTS = [
    ("seen.amax(-1, keepdim=True)", "earned"), ("seen.diagonal(dim1=1, dim2=2)[..., None]", "earned"), ("0", "lost"),
    ("seen.amax()", "lost"), ("scores.amax(-1, keepdim=True)", "lost"),
]  # fmt: skip


@pytest.mark.parametrize(("shift", "wanted"), SHIFTS)
def test_masks_on_large_scores(shift, wanted):
    """Weights by exponentials are right where each row is shifted by what it sees, and by nothing else."""
    part = PROBLEM.part("masked_weights")
    ask = handed_in(PROBLEM, part, SHIFTED.replace("SHIFT", shift))
    outcome = judge_part(part, with_(mask="causal"), ask, (0,))
    assert outcome.standing == wanted and (wanted == "earned" or outcome.points == 0)


VARYING = [
    ({"layer": "restricted"}, "other_layer", "O(2 n r d)", "earned"),
    ({"layer": "restricted"}, "other_layer", "O(n^2 d)", "lost"),
    ({"layer": "separable"}, "other_layer", "n d (k + d)", "earned"),
    ({"layer": "separable"}, "other_layer", "O(max(n k d, n d^2))", "earned"),
    ({"layer": "linear"}, "other_layer", "2 n d^2", "earned"),
    ({"layer": "whole"}, "other_layer", "O(n d (n + d))", "earned"),
    ({"layer": "whole"}, "other_layer", "8 n d^2 + 4 n^2 d", "earned"),
    ({"machine": "tree"}, "steps", "log2(n)", "earned"),
    ({"machine": "tree"}, "steps", "n/2", "lost"),
    ({"machine": "attention"}, "steps", "O(1)", "earned"),
    ({"machine": "attention"}, "steps", "3", "earned"),
    ({"machine": "attention"}, "steps", "ln n", "lost"),
    ({"machine": "bidirectional"}, "steps", "2n", "earned"),
    ({"mask": "causal"}, "visible_pairs", "(T^2+T)/2", "earned"),
    ({"mask": "causal"}, "visible_pairs", "sum(i, i, 1, T)", "lost"),
    ({"mask": "window"}, "visible_pairs", "w T - w^2/2 + w/2", "earned"),
    ({"mask": "prefix"}, "visible_pairs", "(T^2 + T + q^2 - q)/2", "earned"),
    ({"sharing": "grouped"}, "layer_parameters", "2 d d + 2 d g (d/h)", "earned"),
    ({"restart": True}, "bert_sum", "E[t,j] = E^tok[w[t],j] + E^seg[s[t],j] + E^pos[t,j]", "lost"),
    ({"restart": False}, "bert_sum", "E[t,j] = E^pos[t,j] + E^tok[w_t,j] + E^seg[s_t,j]", "earned"),
    ({"restart": False}, "bert_sum", "E[t,j] = E^tok[w[t],j] + E^seg[s[t],j] + E^pos[s[t],j]", "lost"),
    ({"restart": False}, "bert_sum", "E[t,j] = 2 E^tok[w[t],j] + E^seg[s[t],j] + E^pos[t,j]", "lost"),
    ({"fate": "mask", "tokens": 200}, "masked_tokens", "24", "earned"),
    ({"fate": "random", "tokens": 200}, "masked_tokens", 3.0, "earned"),
]


@pytest.mark.parametrize(("chosen", "name", "answer", "wanted"), VARYING)
def test_answers_to_variants_that_nobody_listed(chosen, name, answer, wanted):
    """Right ones keep their points, wrong ones lose them."""
    assert standing(name, answer, with_(**chosen)) == wanted

"""Loss heads: the reference against modules, the running times against counters, and answers that nobody listed."""

import math

import pytest
import torch

from autograder.authoring.loading import load
from autograder.authoring.variants import variant
from autograder.core import Answer
from autograder.grading.judge import judge_part
from solutions.mlp import DeepMLP, squared_loss

PROBLEM = load("loss_heads")
VARIANTS = [variant(PROBLEM, seed).parameters for seed in range(60)]
SIGMA = {"tanh": torch.tanh, "logistic": torch.sigmoid, "relu": torch.relu}


def one_of_each(key):
    """The first variant of each value of a parameter."""
    return list({p[key]: p for p in VARIANTS}.values())


def standing(name, text, p):
    """What becomes of a typed answer."""
    return judge_part(PROBLEM.part(name), p, lambda question: Answer(value=text), (0,)).standing


def built(arguments, p, *, heads, residual):
    """The module of the solutions with the weights given: its first map is the identity."""
    L, I, _ = arguments["W"].shape  # noqa: E741
    model = DeepMLP(I, I, L, heads=heads, residual=residual, activation=SIGMA[p["activation"]]).double()
    state = {name: torch.zeros_like(value) for name, value in model.state_dict().items()}
    names = list(state)
    state[names[0]] = torch.eye(I, dtype=torch.float64)
    for layer in range(L):
        state[names[2 + 2 * layer]], state[names[3 + 2 * layer]] = arguments["W"][layer], arguments["B"][layer]
    chosen = range(L) if heads else [L - 1]
    for place, layer in enumerate(chosen):
        state[names[2 + 2 * L + 2 * place]] = arguments["w"][layer][None]
        state[names[3 + 2 * L + 2 * place]] = arguments["b"][layer][None]
    model.load_state_dict(state)
    return model


@pytest.mark.parametrize("p", one_of_each("activation"), ids=lambda p: p["activation"])
def test_the_references_agree_with_the_solutions_module(p):
    """Predictions, losses and the three norms are those of `solutions.mlp` with the same weights."""
    for number in range(3):
        case = PROBLEM.part("first_gradients").cases(p, (7, number))[number]
        x, y = case.arguments["x"], case.arguments["y"]
        factor = 0.5 if p["half"] else 1.0
        norms = {}
        for name, heads, residual in (("final", False, False), ("heads", True, False), ("residual", False, True)):
            model = built(case.arguments, p, heads=heads, residual=residual)
            (factor * squared_loss(model(x), y)).backward()
            norms[name] = model.layers[0].W.grad.norm().item()
        measured = PROBLEM.part("first_gradients").reference(**case.arguments, p=p)
        assert measured == {name: pytest.approx(norm, rel=1e-9) for name, norm in norms.items()}
        loss, y_hat = PROBLEM.part("loss_heads").reference(**case.arguments, p=p)
        assert torch.allclose(y_hat, built(case.arguments, p, heads=True, residual=False)(x), rtol=1e-12)
        assert torch.allclose(loss.mean(), factor * squared_loss(y_hat, y))


def visits(change, L):
    """How often a layer is visited, or a state is stored, counted step by step for L layers (m = 4, T = 3 L, I = L)."""
    root = math.isqrt(L)
    return {
        "separate": lambda: sum(len(range(head + 1)) for head in range(L)),
        "dense": lambda: sum(len(range(layer + 1)) for layer in range(L)),
        "sparse": lambda: sum(1 + (layer % 4 == 0) for layer in range(L)),
        "deep_heads": lambda: sum(1 + layer for layer in range(L)),
        "recurrent": lambda: sum(len(range(L)) for _ in range(3 * L)),
        "forward": lambda: sum(L for _ in range(L)),
        "wide": lambda: sum(L * L + L for _ in range(L)),
        "checkpoint_memory": lambda: len(range(0, L, root)) + root,
        "checkpoint_time": lambda: sum(2 * root for _ in range(0, L, root)),
        "residual": lambda: sum(2 for _ in range(L)),
    }[change]()


@pytest.mark.parametrize("p", one_of_each("change"), ids=lambda p: p["change"])
def test_running_times_grow_as_counted(p):
    """The stated bound and a count of steps have a constant ratio over two doublings of the size."""
    text = PROBLEM.part("time_changed").reference(p)[2:-1].replace("^", "**").replace(" ", "*")
    ratios = [visits(p["change"], L) / eval(text, {"L": L, "T": 3 * L, "I": L, "m": 4}) for L in (256, 1024, 4096)]
    assert max(ratios) / min(ratios) < 1.02


@pytest.mark.parametrize(("measured", "low", "high"), [("logistic", 0.0, 1e-30), ("tanh", 1e-3, 1e3)])
def test_the_claim_is_what_the_experiment_shows(measured, low, high):
    """At 60 layers against 2, the first gradient vanishes for the logistic function and does not for tanh."""
    p = {"activation": measured, "half": False}
    for seed in range(5):
        generator = torch.Generator().manual_seed(seed)

        def norm(L, generator=generator):
            def normal(*shape):
                return torch.randn(*shape, generator=generator, dtype=torch.float64)

            W, B = normal(L, 32, 32) / 32**0.5, torch.zeros(L, 32, dtype=torch.float64)
            arguments = (normal(8, 32), normal(8), W, B, normal(L, 32), normal(L))
            return PROBLEM.part("first_gradients").reference(*arguments, p=p)["final"]

        assert low < norm(60) / norm(2) < high


RESIDUALS = [
    ("h_{l+1}[i] = h_l[i] + tanh(W_{l+1}[i,J] h_l[J] - B_{l+1}[i])", "earned"),
    ("h_{l+1}[i] - h_l[i] = sigma(W_{l+1}[i,I] h_l[I] - B_{l+1}[i])", "held"),
    ("a[i] = W_{l+1}[i,I] h_l[I] - B_{l+1}[i] ;; h_{l+1}[i] = h_l[i] + sigma(a[i])", "earned"),
    ("h_{l+1}[i] = h_l[i] + sigma(-B_{l+1}[i] + W_{l+1}[i,I] h_l[I])", "earned"),
    ("h_{l+1}[i] = h_l[i] + 1/(1 + exp(-W_{l+1}[i,I] h_l[I] + B_{l+1}[i]))", "earned"),
    ("h_{l+1}[i] = h_l[i] + sigma(W_{l+1}[i,I] h_l[I]) - B_{l+1}[i]", "earned"),
    ("h_{l+1}[i] = h_l[i] + sigma(W_{l+1}[i,J] (h_l[J] - B_{l+1}[J]))", "earned"),
    ("h_{l+1}[i] = h_l[i] + sum_j W_{l+1}[i,j] (tanh(h_l[j]) - B_{l+1}[j])", "earned"),
    ("h_{l+1}[i] = h_l[i] - sigma(W_{l+1}[i,I] h_l[I] - B_{l+1}[i])", "lost"),
    ("h_{l+1}[i] = h_l[i] + sigma(W_{l+1}[i,I] h_l[I])", "lost"),
    ("h_{l+1}[i] = h_l[i] + sigma(W_{l+1}[i,I] sigma(h_l[I]) - B_{l+1}[i])", "lost"),
    ("h_{l+1}[i] = 2 h_l[i] + sigma(W_{l+1}[i,I] h_l[I] - B_{l+1}[i])", "lost"),
    ("h_{l+1}[i] = h_l[i]", "lost"),
    ("h_{l+1}[i] = h_l[i] - B_{l+1}[i]", "lost"),
    ("h_{l+1}[i] = sigma(W_{l+1}[i,I] h_l[I] - B_{l+1}[i]) + h_{l+1}[i]", "lost"),
    ("h_{l+1}[i] = sigma(W_{l+1}[i,I] h_l[I] - B_{l+1}[i]) + x[i]", "lost"),
    ("h_{l+1}[i] = sigma(h_l[i]) + W_{l+1}[i,I] h_l[I] - B_{l+1}[i]", "lost"),
    ("h_{l+1}[i] = sigma(W_{l+1}[i,I] h_l[I] - B_{l+1}[i]) + W_{l+1}[i,I] h_l[I]", "lost"),
]


@pytest.mark.parametrize(("text", "wanted"), RESIDUALS)
def test_residual_equations_that_nobody_listed(text, wanted):
    """Right ones keep their points, wrong ones lose them; a left side that is no tensor cannot be read."""
    assert standing("residual", text, VARIANTS[0]) == wanted


GRADIENTS = [
    (r"g_l[i] = W_{l+1}[J,i] s_{l+1}[J] g_{l+1}[J] - F y w_l[i] + F \hat{y}_l w_l[i]", "earned"),
    (r"g_l[i] = F w_l[i] (\hat{y}_l - y) + sum_i' W_{l+1}[i',i] g_{l+1}[i'] s_{l+1}[i']", "earned"),
    (r"g_l[i] = F w_l[i] (\hat{y}_l - y) + sum_{j} s_{l+1}[j] W_{l+1}[j,i] g_{l+1}[j]", "earned"),
    (r"g_l[i] = F w_l[i] (\hat{y}_l - y) - sum_{j} s_{l+1}[j] W_{l+1}[j,i] g_{l+1}[j]", "lost"),
    (r"g_l[i] = F (\hat{y}_l - y) W_{l+1}[I,i] s_{l+1}[I] g_{l+1}[I]", "lost"),
]


@pytest.mark.parametrize("p", one_of_each("half"), ids=lambda p: f"half={p['half']}")
@pytest.mark.parametrize(("text", "wanted"), GRADIENTS)
def test_gradient_equations_that_nobody_listed(text, wanted, p):
    """The two terms may stand in any order and under any names of indices."""
    assert standing("adjoint", text.replace("F", "1" if p["half"] else "2"), p) == wanted


def test_an_experiment_that_gives_no_dict_is_lost_and_not_held():
    """Three numbers in a tuple have the wrong form; nobody needs to look."""
    part = PROBLEM.part("first_gradients")
    outcome = judge_part(part, VARIANTS[0], lambda question: Answer(value=(1.0, 2.0, 3.0)), (0,))
    assert (outcome.standing, outcome.points) == ("lost", 0)


def test_the_problem_is_worth_as_much_as_in_the_exam():
    """25 points."""
    assert PROBLEM.points == 25

"""Positions that turn: the rotation by other routes, and answers that nobody listed."""

import math

import numpy as np
import pytest
import torch

from autograder.authoring.loading import load, statement_text
from autograder.authoring.statement import render
from autograder.authoring.variants import variant
from autograder.core import Answer
from autograder.grading.judge import judge_part
from autograder.protocol.respondents import local
from solutions.positional import shift_matrix, sinusoid

PROBLEM = load("positional_rotation")
VARIANTS = [variant(PROBLEM, seed).parameters for seed in range(300)]
F64 = torch.float64


def with_(**wanted):
    """The first variant with these values."""
    return next(p for p in VARIANTS if all(p[key] == value for key, value in wanted.items()))


def outcome(name, answer, p):
    """What becomes of a typed answer."""
    return judge_part(PROBLEM.part(name), p, lambda question: Answer(value=answer), (0,))


def standing(name, answer, p):
    """Earned, lost or held."""
    return outcome(name, answer, p).standing


def called(name, function, p):
    """What becomes of a function."""
    return judge_part(PROBLEM.part(name), p, local(function, name, p), (0,))


PLAIN = with_(first="sin", layout="interleaved", last=False, direction="forward")
BACK = with_(first="sin", layout="interleaved", last=False, direction="back")
COSINE = with_(first="cos", last=False, direction="forward")
LAST = with_(last=True)


@pytest.mark.parametrize("layout", ["interleaved", "halves"])
@pytest.mark.parametrize("last", [False, True])
def test_the_references_agree_with_the_models(layout, last):
    """The encodings and the matrix of `solutions.positional`, where sines come first and the move is forward."""
    p = with_(first="sin", layout=layout, last=last, direction="forward")
    t = torch.tensor([0, 3, -2, 1.5], dtype=F64)
    encoding, shift = (PROBLEM.part(name).reference for name in ("encoding", "shift"))
    for d in (4, 10):
        wanted = sinusoid(t, d, base=float(p["base"]), layout=layout, last=last)
        assert torch.allclose(encoding(t, d, p=p), wanted, rtol=1e-12)
        for k in (-7, 0, 5):
            wanted = shift_matrix(k, d, base=float(p["base"]), layout=layout, last=last)
            assert torch.allclose(shift(k, d, p=p), wanted, rtol=1e-12)


@pytest.mark.parametrize("p", VARIANTS[:40], ids=lambda p: "-".join(map(str, p.values())))
def test_the_typed_block_is_the_matrix_in_code(p):
    """The block as text, the frequency as text and the matrix in code are one thing in every variant."""
    d, k, j = 8, 3, 2
    scope = {"exp": math.exp, "cos": math.cos, "sin": math.sin, "j": j, "d": d, "k": k}
    omega = eval(PROBLEM.part("frequency").right(p).replace("^", "**").replace("2j", "2*j"), scope)
    block = [[eval(entry, {**scope, "omega_j": omega}) for entry in row] for row in PROBLEM.part("block").right(p)]
    one, two = (2 * j, 2 * j + 1) if p["layout"] == "interleaved" else (j, d // 2 + j)
    A = PROBLEM.part("shift").reference(k, d, p=p)
    assert A[[one, one, two, two], [one, two, one, two]].view(2, 2).tolist() == [
        pytest.approx(row, abs=1e-14) for row in block
    ]


C, S = "cos(k*omega_j)", "sin(k*omega_j)"
SINES = f"= sin(t*omega_j)*{C} + cos(t*omega_j)*{S}"  # the addition theorems
COSINES = f"= cos(t*omega_j)*{C} - sin(t*omega_j)*{S}"

TYPED = [
    ("frequency", PLAIN, "earned", "{b}^(-2j/d)"),
    ("frequency", PLAIN, "earned", "1/{b}^(2*j/d)"),
    ("frequency", PLAIN, "earned", "exp(-2*j*ln({b})/d)"),
    ("frequency", PLAIN, "earned", "({b}^(-1/d))^(2j)"),
    ("frequency", PLAIN, "earned", "({b}^(2/d))^(-j)"),
    ("frequency", PLAIN, "earned", "{b}^(-j/floor(d/2))"),
    ("frequency", PLAIN, "lost", "{b}^(-2/d)"),
    ("frequency", PLAIN, "lost", "{b}^(-2j)"),
    ("frequency", PLAIN, "lost", "{b}^(-j/(2d))"),
    ("frequency", PLAIN, "lost", "1/({b}*2j/d)"),
    ("frequency", PLAIN, "lost", "1"),
    ("frequency", PLAIN, "lost", "exp(-2j/d)"),
    ("frequency", PLAIN, "lost", "1 - {b}^(-j/d)"),
    ("frequency", LAST, "earned", "{b}^(-2j/(d-2))"),
    ("frequency", LAST, "earned", "{b}^(2j/(2-d))"),
    ("frequency", LAST, "lost", "{b}^(-2j/(d-1))"),
    ("frequency", LAST, "lost", "{b}^(-2j/(d+2))"),
    ("frequency", LAST, "lost", "{b}^(-j/d/2-1)"),
    ("block", PLAIN, "earned", [[C, S], [f"-{S}", C]]),
    ("block", PLAIN, "earned", [["cos(omega_j k)", "sin(omega_j k)"], ["-sin(omega_j k)", "cos(-omega_j k)"]]),
    ("block", PLAIN, "earned", [["cos(k/f_j)", "sin(k/f_j)"], ["sin(-k/f_j)", "cos(k/f_j)"]]),
    ("block", PLAIN, "earned", [["1-2*sin(k*omega_j/2)^2", S], [f"-{S}", C]]),
    ("block", PLAIN, "lost", [[C, f"-{S}"], [S, C]]),
    ("block", PLAIN, "lost", [["1", "0"], ["0", "1"]]),
    ("block", PLAIN, "lost", [[C, S], [f"-{S}", f"-{C}"]]),
    ("block", PLAIN, "lost", [["cos(omega_j)", "sin(omega_j)"], ["-sin(omega_j)", "cos(omega_j)"]]),
    ("block", PLAIN, "lost", [["cos(k)^omega_j", "sin(k)"], ["-sin(k)", "cos(k)"]]),
    ("block", PLAIN, "lost", [["1", "k*omega_j"], ["-k*omega_j", "1"]]),
    ("block", PLAIN, "lost", [["cos(k*omega_j+2)", S], [f"-{S}", C]]),
    ("block", PLAIN, "lost", [[C, S]]),
    ("block", BACK, "earned", [[C, f"-{S}"], [S, C]]),
    ("block", BACK, "lost", [[C, S], [f"-{S}", C]]),
    ("block", COSINE, "earned", [[C, f"-{S}"], [S, C]]),
    ("block", COSINE, "lost", [[C, S], [f"-{S}", C]]),
    ("first_row", PLAIN, "earned", f"sin((t+k)*omega_j)\n= sin(t*omega_j + k*omega_j)\n{SINES}\n= {C} s + {S} c"),
    ("first_row", PLAIN, "lost", f"sin((t+k)*omega_j)\n= sin(t*omega_j + k*omega_j)\n= {C} s + {S} c"),
    ("first_row", PLAIN, "earned", f"sin((t+k)*omega_j)\n{SINES}\n= s*{C} + c*{S}"),
    ("first_row", PLAIN, "lost", f"sin((t+k)*omega_j)\n= s*{C} + c*{S}"),
    ("first_row", PLAIN, "lost", f"{SINES.removeprefix('= ')}\n= s*{C} + c*{S}"),
    ("first_row", PLAIN, "earned", "sin(omega_j*(k+t))\nsin(t*omega_j)*cos(k/f_j)+cos(t/f_j)*sin(k/f_j)\n"
                                   "c*sin(k/f_j)+s*cos(k/f_j)"),
    ("first_row", PLAIN, "lost", f"sin((t+k)*omega_j)\n= sin(t*omega_j)*{C} + cos(t*omega_j)*{S}"),
    ("first_row", PLAIN, "lost", "sin((t+k)*omega_j)"),
    ("first_row", PLAIN, "lost", f"sin((t+k)*omega_j)\n= {C} s - {S} c"),
    ("first_row", PLAIN, "lost", "sin((t+k)*omega_j)\n= s"),
    ("first_row", PLAIN, "lost", f"{C} s + {S} c + t - t"),
    ("second_row", PLAIN, "earned", f"cos((t+k)*omega_j)\n{COSINES}\n= -{S} s + {C} c"),
    ("second_row", PLAIN, "lost", f"cos((t+k)*omega_j)\n= -{S} s + {C} c"),
    ("second_row", PLAIN, "lost", f"cos((t+k)*omega_j)\n= {S} s + {C} c"),
    ("second_row", BACK, "earned", f"cos((t-k)*omega_j)\n{COSINES.replace('-', '+')}\n= {S} s + {C} c"),
    ("second_row", BACK, "lost", f"cos((t-k)*omega_j)\n{COSINES}\n= {S} s + {C} c"),
    ("second_row", BACK, "lost", f"cos((t-k)*omega_j)\n= {S} s + {C} c"),
    ("inner", PLAIN, "earned", "sin(t*omega_j)*sin((t+k)*omega_j) + cos(t*omega_j)*cos((t+k)*omega_j)\n"
                               "= cos(t*omega_j - (t+k)*omega_j)\n= cos(-k*omega_j)\n= cos(k/f_j)"),
    ("inner", PLAIN, "lost", "sin(t*omega_j)*sin((t+k)*omega_j) + cos(t*omega_j)*cos((t+k)*omega_j)\n= cos(k)"),
    ("inner", PLAIN, "lost", "1"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "p", "wanted", "answer"), TYPED)
def test_typed_answers(name, p, wanted, answer):
    """Right ones earn everything, wrong ones lose points; none of these needs a person."""
    text = answer.replace("{b}", str(p["base"])) if isinstance(answer, str) else answer
    assert standing(name, text, p) == wanted


@pytest.mark.parametrize(
    "line",
    [
        "sin(t*omega)*sin((t+k)*omega) + cos(t*omega)*cos((t+k)*omega)",
        "sin(t/f_j)*sin((t+k)/f_j) + cos(t/f_j)*cos((t+k)/f_j)",
        "sin(t*omega_j)*sin(t*omega_j+k*omega_j) + cos(t*omega_j)*cos(t*omega_j+k*omega_j)",
        "2*({start})/2",
        "{start} + k - k",
    ],
)
def test_the_question_in_another_spelling_earns_nothing(line):
    """Neither alone nor with a guess or the end under it; a step that holds earns its two points, the end its one."""
    start = PROBLEM.part("inner").start
    step = PROBLEM.part("inner").model(PLAIN).splitlines()[1]
    text = f"{start}\n{line.format(start=start)}"
    under = {"": 0, "cos(k)": 0, "cos(k*omega_j)": 0, f"{step}\n2*cos(k*omega_j)": 2, f"{step}\ncos(k*omega_j)": 3}
    assert {lines: outcome("inner", f"{text}\n{lines}", PLAIN).points for lines in under} == under


def test_a_matrix_written_as_one_text():
    """LaTeX's matrix is read; the transposed one is wrong, and a product of two is held."""
    text = rf"\begin{{pmatrix}} {C} & {S} \\ -{S} & {C} \end{{pmatrix}}"
    transposed = text.replace(f"& {S}", f"& -{S}").replace(f"-{S} & {C}", f"{S} & {C}")
    assert [standing("block", given, PLAIN) for given in (text, transposed, text + text)] == ["earned", "lost", "held"]


def test_a_matrix_that_was_fitted_is_told_so():
    """Least squares finds the matrix for few pairs only; the sentence says what happened, and the part is lost."""

    def fitted(k, d):
        t = np.arange(4 * d)
        before, after = (
            PROBLEM.part("encoding").reference(torch.tensor(at, dtype=F64), d, p=PLAIN).numpy() for at in (t, t + k)
        )
        return torch.from_numpy(np.linalg.lstsq(before, after, rcond=None)[0].T.copy())

    found = called("shift", fitted, PLAIN)
    assert (found.standing, found.points) == ("lost", 0)
    assert "right for d = 8 and wrong for d = 64" in found.verdicts[0].message


def without_edges(k, d):
    """Right for steps forward only."""
    return PROBLEM.part("shift").reference(abs(k), d, p=PLAIN)


def identity(k, d):
    """Nothing moves."""
    return torch.eye(d, dtype=F64)


def integer_zero(k, d):
    """A special case of no step that forgets the type."""
    return torch.eye(d, dtype=torch.float32) if k == 0 else PROBLEM.part("shift").reference(k, d, p=PLAIN)


def numpy_matrix(k, d):
    """The right numbers in another library's dress."""
    return PROBLEM.part("shift").reference(k, d, p=PLAIN).numpy()


def for_rows(k, d):
    """The transposed matrix, which moves rows from the right."""
    return PROBLEM.part("shift").reference(k, d, p=PLAIN).T


def nudged(k, d):
    """Right but for an entry outside the blocks."""
    A = PROBLEM.part("shift").reference(k, d, p=PLAIN)
    A[0, d - 1] += 0.01
    return A


@pytest.mark.parametrize("function", [without_edges, identity, integer_zero, numpy_matrix, for_rows, nudged])
def test_wrong_matrices(function):
    """Wrong functions that no mistake lists earn nothing: the first property is the gate."""
    found = called("shift", function, PLAIN)
    assert (found.standing, found.points) == ("lost", 0)


def test_a_matrix_of_few_digits_loses_the_last_check_only():
    """Frequencies in float32 cost a fifth of the matrix and a third of the encodings."""

    def frequencies(d):
        return (PLAIN["base"] ** (-2 * torch.arange(d // 2, dtype=torch.float32) / d)).double()

    def encoding(positions, d):
        angle = positions[:, None] * frequencies(d)
        return torch.stack([angle.sin(), angle.cos()], 2).flatten(1)

    def shift(k, d):
        angle = k * frequencies(d)
        blocks = [torch.tensor([[a.cos(), a.sin()], [-a.sin(), a.cos()]], dtype=F64) for a in angle]
        return torch.block_diag(*blocks)

    def by_default(k, d):
        angle = k * PLAIN["base"] ** (-2 * torch.arange(d // 2) / d)
        return torch.block_diag(*(torch.tensor([[a.cos(), a.sin()], [-a.sin(), a.cos()]]) for a in angle))

    assert called("shift", by_default, PLAIN).points == 5, "what nobody sees costs nothing"
    assert called("encoding", encoding, PLAIN).points == 2
    assert called("shift", shift, PLAIN).points == 4


def test_every_topic_of_the_consequence_is_drawn():
    """Each is asked in its own words, with one right option and three wrong ones."""
    topics = {p["topic"]: p for p in VARIANTS}
    assert len(topics) == 9
    part, text = PROBLEM.part("consequence"), statement_text(PROBLEM.slug)
    for p in topics.values():
        assert len(part.options(p)) == 4
        assert standing("consequence", part.right(p), p) == "earned"
    assert len({render(PROBLEM, text, p)["consequence"].split("Assign")[0] for p in topics.values()}) == 9


def test_what_the_consequences_say():
    """Each right option by numbers, for a move of three positions in a width of ten."""
    encoding, shift = (PROBLEM.part(name).reference for name in ("encoding", "shift"))
    for p in VARIANTS[:20]:
        k, d, t = 3, 10, torch.arange(30, dtype=F64)
        omega = p["base"] ** (-torch.arange(5, dtype=F64) / 4 if p["last"] else -torch.arange(5, dtype=F64) / 5)
        PE, A = encoding(t, d, p=p), shift(k, d, p=p)
        angles = torch.linalg.eigvals(A).angle()
        wanted = torch.cat([k * omega, -k * omega]).sort().values
        assert torch.allclose(angles.sort().values, wanted)  # k omega is below pi
        assert torch.allclose(torch.linalg.matrix_power(shift(1, d, p=p), k), A)
        assert torch.allclose(PE.norm(dim=1), torch.full((30,), math.sqrt(d / 2), dtype=F64))
        assert torch.allclose((PE[:-k] * PE[k:]).sum(1), (k * omega).cos().sum().expand(30 - k))
        assert torch.allclose(shift(2, d, p=p).T @ shift(7, d, p=p), shift(5, d, p=p))
        assert torch.linalg.matrix_rank(PE[:, :]) == d
        z = torch.exp(1j * omega * 4)
        moved = z * torch.exp((1j if p["direction"] == "forward" else -1j) * k * omega)
        after = 4 + k if p["direction"] == "forward" else 4 - k
        assert torch.allclose(moved, torch.exp(1j * omega * after))

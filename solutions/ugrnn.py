"""The update-gate RNN and its two-gate relative: the equations, and the same models made fast.

    R[t,j] = tanh(W_hR[j,J] h[t-1,J] + W_xR[j,K] x[t,K] - B_R[j])        what the step would like to write
    G[t,j] = σ   (W_hG[j,J] h[t-1,J] + W_xG[j,K] x[t,K] - B_G[j])        how much of the old state to keep
    h[t,j] = G[t,j] h[t-1,j] + (1 - G[t,j]) R[t,j]                       a residual connection through time

Collins, Sohl-Dickstein & Sussillo (2017), "Capacity and trainability in recurrent neural networks"; the
slides, "Update Gate RNN"; the two-gate version is problem 3 of the 2021 exam. G = 1 keeps the state, in both.

A large *negative* B_G keeps: with constant G = g, a state is remembered for about -1/ln g steps.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from solutions.derivatives import Operator, compiled, ordinary
from solutions.layers import full_precision, in_time, uniform

# --------------------------------------------------------------------------------------------- the equations


def ugrnn_cell(
    h: Float[Tensor, "B J"],
    x: Float[Tensor, "B K"],
    W_hR: Float[Tensor, "J J"],
    W_xR: Float[Tensor, "J K"],
    B_R: Float[Tensor, "J"],
    W_hG: Float[Tensor, "J J"],
    W_xG: Float[Tensor, "J K"],
    B_G: Float[Tensor, "J"],
) -> Float[Tensor, "B J"]:
    """One step h[t-1], x[t] -> h[t] of the update-gate RNN, as the slides write it."""
    R = torch.tanh(h @ W_hR.T + x @ W_xR.T - B_R)
    G = torch.sigmoid(h @ W_hG.T + x @ W_xG.T - B_G)
    return G * h + (1 - G) * R


def two_gate_cell(
    h: Float[Tensor, "B J"],
    x: Float[Tensor, "B K"],
    W_hR: Float[Tensor, "J J"],
    B_hR: Float[Tensor, "J"],
    W_xR: Float[Tensor, "J K"],
    B_xR: Float[Tensor, "J"],
    W_hGR: Float[Tensor, "J J"],
    W_xGR: Float[Tensor, "J K"],
    B_GR: Float[Tensor, "J"],
    W_hGh: Float[Tensor, "J J"],
    W_xGh: Float[Tensor, "J K"],
    B_Gh: Float[Tensor, "J"],
) -> Float[Tensor, "B J"]:
    """One step of the UGRNN with a second gate on the inputs of R (2021 exam, problem 3).

    The argument of tanh is a convex combination of what the state says and what the input says, each with its
    own bias. G_R = 1 listens to the state alone, G_R = 0 to the input alone; the exam leaves the orientation
    open, and the other one is the same family of functions with the gate's parameters negated. Not a GRU:
    there the reset gate only weakens the state's branch and never the input's.
    """
    G_R = torch.sigmoid(h @ W_hGR.T + x @ W_xGR.T - B_GR)
    R = torch.tanh(G_R * (h @ W_hR.T - B_hR) + (1 - G_R) * (x @ W_xR.T - B_xR))
    G_h = torch.sigmoid(h @ W_hGh.T + x @ W_xGh.T - B_Gh)
    return G_h * h + (1 - G_h) * R


# ------------------------------------------------------------------------------------------------ the layers


class UGRNN(nn.Module):
    """The update-gate RNN over a sequence: x[B,T,K] -> h[B,T,J] and the last state.

    `forward` takes the fast path (`backpropagation` below) where that knows the derivative which is asked for,
    and else `forward_by_steps`, the equations in a loop. `gate_bias` is the initial B_G: 0 starts with G = 1/2,
    -3 with G = 0.95, a memory of some twenty steps.
    """

    def __init__(self, K: int, J: int, gate_bias: float = 0.0):
        super().__init__()
        self.W_hR, self.W_xR, self.B_R = (
            uniform(J, J, fan_in=J),
            uniform(J, K, fan_in=J),
            uniform(J, fan_in=J),
        )
        self.W_hG, self.W_xG = uniform(J, J, fan_in=J), uniform(J, K, fan_in=J)
        self.B_G = nn.Parameter(torch.full((J,), float(gate_bias)))

    def forward(
        self, x: Float[Tensor, "B T K"], h0: Float[Tensor, "B J"] | None = None
    ) -> tuple[Float[Tensor, "B T J"], Float[Tensor, "B J"]]:
        """All states h[1..T], and h[T] again to go on from; h[0] is zero unless given."""
        with full_precision(x):
            parameters = self._stacked()
            x = x.to(self.B_R.dtype)
            h0 = x.new_zeros(x.shape[0], len(self.B_R)) if h0 is None else h0.to(x.dtype)
            recurrence = fast_ugrnn if ordinary() else ugrnn_steps
            h = recurrence(x, h0, *parameters)[0].transpose(0, 1)
        return h, h[:, -1] if x.shape[1] else h0

    def forward_by_steps(
        self, x: Float[Tensor, "B T K"], h0: Float[Tensor, "B J"] | None = None
    ) -> tuple[Float[Tensor, "B T J"], Float[Tensor, "B J"]]:
        """The same by the equations, step by step: slower, differentiable in every way, and easy to read."""
        h0 = x.new_zeros(x.shape[0], len(self.B_R)) if h0 is None else h0
        h = ugrnn_steps(x, h0, *self._stacked())[0].transpose(0, 1)
        return h, h[:, -1] if x.shape[1] else h0

    def _stacked(self) -> tuple[Tensor, Tensor, Tensor]:
        """W_x[2J,K], W_h[2J,J] and B[2J], of R above of G: one matrix product a step instead of two."""
        return (
            torch.cat([self.W_xR, self.W_xG]),
            torch.cat([self.W_hR, self.W_hG]),
            torch.cat([self.B_R, self.B_G]),
        )

    def step(self, h: Float[Tensor, "B J"], x: Float[Tensor, "B K"]) -> Float[Tensor, "B J"]:
        """One step by the equations, for a decoder whose next input depends on its state."""
        return ugrnn_cell(h, x, self.W_hR, self.W_xR, self.B_R, self.W_hG, self.W_xG, self.B_G)


class TwoGateUGRNN(nn.Module):
    """The two-gate UGRNN over a sequence: x[B,T,K] -> h[B,T,J] and the last state. Biases as in `UGRNN`."""

    def __init__(self, K: int, J: int, gate_bias: float = 0.0):
        super().__init__()
        self.W_hR, self.B_hR = uniform(J, J, fan_in=J), uniform(J, fan_in=J)
        self.W_xR, self.B_xR = uniform(J, K, fan_in=J), uniform(J, fan_in=J)
        self.W_hGR, self.W_xGR = uniform(J, J, fan_in=J), uniform(J, K, fan_in=J)
        self.B_GR = uniform(J, fan_in=J)
        self.W_hGh, self.W_xGh = uniform(J, J, fan_in=J), uniform(J, K, fan_in=J)
        self.B_Gh = nn.Parameter(torch.full((J,), float(gate_bias)))

    def forward(
        self, x: Float[Tensor, "B T K"], h0: Float[Tensor, "B J"] | None = None
    ) -> tuple[Float[Tensor, "B T J"], Float[Tensor, "B J"]]:
        """Hoisted: all that x contributes is computed before the loop, and a step is one [3J] product."""
        with full_precision(x):
            x = x.to(self.B_Gh.dtype)
            h = x.new_zeros(x.shape[0], len(self.B_Gh)) if h0 is None else h0.to(x.dtype)
            W_xG, B_G = torch.cat([self.W_xGR, self.W_xGh]), torch.cat([self.B_GR, self.B_Gh])
            W_h = torch.cat([self.W_hR, self.W_hGR, self.W_hGh])
            recurrence = compiled_two_gate if torch.compiler.is_compiling() else two_gate_steps
            return recurrence(x, h, W_h, self.B_hR, self.W_xR, self.B_xR, W_xG, B_G)

    def forward_by_steps(
        self, x: Float[Tensor, "B T K"], h0: Float[Tensor, "B J"] | None = None
    ) -> tuple[Float[Tensor, "B T J"], Float[Tensor, "B J"]]:
        """The same by the equations, one step after another."""
        h = x.new_zeros(x.shape[0], len(self.B_Gh)) if h0 is None else h0
        states = []
        for x_t in x.unbind(1):
            h = two_gate_cell(
                h, x_t, self.W_hR, self.B_hR, self.W_xR, self.B_xR,
                self.W_hGR, self.W_xGR, self.B_GR, self.W_hGh, self.W_xGh, self.B_Gh,
            )  # fmt: skip
            states.append(h)
        return in_time(states, h), h


def two_gate_steps(x, h, W_h, B_hR, W_xR, B_xR, W_xG, B_G):
    """All states of `TwoGateUGRNN`, and the last; W_h[3J,J] holds R, G_R, G_h, and W_xG[2J,K] the gates."""
    J = h.shape[1]
    from_x, gates = F.linear(x, W_xR, -B_xR), F.linear(x, W_xG, -B_G)
    fixed = torch.cat([(-B_hR).expand(*x.shape[:2], J), gates], 2)  # what W_h h[t-1] is added to
    # `unbind`, not `fixed[:, t]`: the backward of T selections writes T full-size zero tensors.
    states = []
    for from_x_t, fixed_t in zip(from_x.unbind(1), fixed.unbind(1), strict=True):
        from_h, gates_t = torch.addmm(fixed_t, h, W_h.T).split([J, 2 * J], 1)
        G_R, G_h = torch.sigmoid(gates_t).chunk(2, 1)
        R = torch.tanh(torch.lerp(from_x_t, from_h, G_R))  # lerp(a, b, G) = (1-G) a + G b
        h = torch.lerp(R, h, G_h)
        states.append(h)
    return in_time(states, h), h


compiled_two_gate = compiled("two_gate", ("x", "h", "W_h", "B_hR", "W_xR", "B_xR", "W_xG", "B_G"), two_gate_steps)

# ------------------------------------------------------------------------------------ the fast path of UGRNN


def ugrnn_steps(
    x: Float[Tensor, "B T K"],
    h: Float[Tensor, "B J"],
    W_x: Float[Tensor, "2*J K"],
    W_h: Float[Tensor, "2*J J"],
    B: Float[Tensor, "2*J"],
) -> tuple[Float[Tensor, "T B J"]]:
    """States h[1..T], time first, by the equations: what the fast path must agree with."""
    (W_xR, W_xG), (W_hR, W_hG), (B_R, B_G) = W_x.chunk(2), W_h.chunk(2), B.chunk(2)
    states = []
    for x_t in x.unbind(1):
        states.append(ugrnn_cell(states[-1] if states else h, x_t, W_hR, W_xR, B_R, W_hG, W_xG, B_G))
    return (in_time(states, h).transpose(0, 1),)


def propagation(
    x: Float[Tensor, "B T K"],
    h0: Float[Tensor, "B J"],
    W_x: Float[Tensor, "2*J K"],
    W_h: Float[Tensor, "2*J J"],
    B: Float[Tensor, "2*J"],
) -> tuple[Float[Tensor, "T B J"], Float[Tensor, "T B 2*J"]]:
    """States h[1..T] and, for the way back, R and G side by side; time is axis 0, so that a step is contiguous."""
    J = h0.shape[1]
    Z = F.linear(x.transpose(0, 1), W_x, -B)  # [T, B, 2J]; the loop turns it into R and G
    R, G = Z.split(J, 2)
    H = x.new_empty(x.shape[1], *h0.shape)
    W = W_h.T
    h = h0
    for z_t, R_t, G_t, h_t in zip(Z.unbind(), R.unbind(), G.unbind(), H.unbind(), strict=True):
        z_t.addmm_(h, W)
        R_t.tanh_()
        G_t.sigmoid_()
        h = torch.lerp(R_t, h, G_t, out=h_t)  # (1-G) R + G h
    return H, Z


def backpropagation(needed, inputs, outputs, cotangents):
    """Backpropagation through time, its derivative written out by hand: gradients of x, h0, W_x, W_h, B.

    Why. Gates and R read h[t-1] through a non-linearity, so no scan over T is possible: the least there is to
    do is a chain of T products [B,J]·[J,2J]. What can be saved stands around the chain:

    * all products with x are one matrix product before the loop, and the loop overwrites its result with R
      and G;
    * on the way back, the factors that do not depend on the incoming gradient are computed for all t at once;
    * the gradient of W_h is one product after the loop, not T small ones that are added up;
    * no graph is recorded: autograd would keep some ten nodes a step.

    The derivation. With g = ∂Loss/∂h[t], summed over what reads h[t] outside and step t+1 inside, and z the
    arguments of tanh and σ,

        ∂z_R = g (1 - G)(1 - R²)          ∂z_G = g (h[t-1] - R) G (1 - G)
        ∂h[t-1] = g G + ∂z W_h            ∂W_h = Σ_t ∂z[t]ᵀ h[t-1]   ∂W_x = Σ_t ∂z[t]ᵀ x[t]   ∂B = -Σ_t ∂z[t]

    Stacked axes hold R first, then G. The second derivative is that of the steps: see `Operator`.
    """
    (x, h0, W_x, W_h, _), (H, Z), (dH,) = inputs, outputs, cotangents
    J = h0.shape[1]
    R, G = Z.split(J, 2)
    before = torch.cat([h0[None], H])[:-1]  # h[0..T-1]
    D = torch.empty_like(Z)  # first the factors of g, then, step by step, ∂z
    torch.ops.aten.tanh_backward.grad_input(1 - G, R, grad_input=D[..., :J])  # (1-G)(1-R²)
    torch.ops.aten.sigmoid_backward.grad_input(before - R, G, grad_input=D[..., J:])  # (h-R) G (1-G)

    reads = [torch.zeros_like(h0), *dH.unbind()]  # ∂Loss/∂h[t] by what reads h[t] outside, t = 0 … T
    D_t, D_pairs, G_t = D.unbind(), D.unflatten(2, (2, J)).unbind(), G.unbind()
    g = reads[-1]
    for t in reversed(range(len(Z))):
        D_pairs[t].mul_(g[:, None])
        g = torch.addcmul(reads[t], g, G_t[t]).addmm_(D_t[t], W_h)

    D = D.flatten(0, 1)  # [TB, 2J]
    dx = (D @ W_x).view(*Z.shape[:2], x.shape[2]).transpose(0, 1) if needed[0] else None
    dW_x = D.T @ x.transpose(0, 1).flatten(0, 1)
    return dx, g, dW_x, D.T @ before.flatten(0, 1), -D.sum(0)


fast_ugrnn = Operator(
    "ugrnn",
    ("x", "h0", "W_x", "W_h", "B"),
    steps=ugrnn_steps,
    fast=propagation,
    gradient=backpropagation,
    results=1,
    outputs=2,
    shapes=lambda x, h0, W_x, W_h, B: (
        x.new_empty(x.shape[1], *h0.shape),
        x.new_empty(x.shape[1], x.shape[0], B.shape[0]),
    ),
)

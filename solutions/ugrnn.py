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
from torch.autograd.function import once_differentiable

from solutions.layers import full_precision, uniform

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

    `forward` is the fast path (`BackpropagationThroughTime` below), `forward_by_steps` the equations in a
    loop. `gate_bias` is the initial B_G: 0 starts with G = 1/2, -3 with G = 0.95, a memory of some twenty
    steps.
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
        W_h = torch.cat([self.W_hR, self.W_hG])  # [2J, J]: one matrix product a step instead of two
        W_x = torch.cat([self.W_xR, self.W_xG])  # [2J, K]
        B = torch.cat([self.B_R, self.B_G])  # [2J]
        h0 = B.new_zeros(len(x), len(self.B_R)) if h0 is None else h0
        with full_precision(x):
            h = BackpropagationThroughTime.apply(x.to(B.dtype), h0.to(B.dtype), W_x, W_h, B)
        return h, h[:, -1]

    def forward_by_steps(
        self, x: Float[Tensor, "B T K"], h0: Float[Tensor, "B J"] | None = None
    ) -> tuple[Float[Tensor, "B T J"], Float[Tensor, "B J"]]:
        """The same by the equations, step by step: slower, differentiable twice, and easy to read."""
        h = x.new_zeros(len(x), len(self.B_R)) if h0 is None else h0
        states = []
        for x_t in x.unbind(1):
            h = self.step(h, x_t)
            states.append(h)
        return torch.stack(states, 1), h

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
            return self._hoisted(x.to(self.B_Gh.dtype), h0)

    def _hoisted(self, x, h0):
        J = len(self.B_Gh)
        h = x.new_zeros(len(x), J) if h0 is None else h0.to(x.dtype)
        W_h = torch.cat([self.W_hR, self.W_hGR, self.W_hGh]).T
        from_x = F.linear(x, self.W_xR, -self.B_xR)
        gates = F.linear(x, torch.cat([self.W_xGR, self.W_xGh]), -torch.cat([self.B_GR, self.B_Gh]))
        fixed = torch.cat([(-self.B_hR).expand(*x.shape[:2], J), gates], 2)  # what W_h h[t-1] is added to
        # `unbind`, not `fixed[:, t]`: the backward of T selections writes T full-size zero tensors.
        states = []
        for from_x_t, fixed_t in zip(from_x.unbind(1), fixed.unbind(1), strict=True):
            from_h, gates_t = torch.addmm(fixed_t, h, W_h).split([J, 2 * J], 1)
            G_R, G_h = torch.sigmoid(gates_t).chunk(2, 1)
            R = torch.tanh(torch.lerp(from_x_t, from_h, G_R))  # lerp(a, b, G) = (1-G) a + G b
            h = torch.lerp(R, h, G_h)
            states.append(h)
        return torch.stack(states, 1), h

    def forward_by_steps(
        self, x: Float[Tensor, "B T K"], h0: Float[Tensor, "B J"] | None = None
    ) -> tuple[Float[Tensor, "B T J"], Float[Tensor, "B J"]]:
        """The same by the equations, one step after another."""
        h = x.new_zeros(len(x), len(self.B_Gh)) if h0 is None else h0
        states = []
        for x_t in x.unbind(1):
            h = two_gate_cell(
                h, x_t, self.W_hR, self.B_hR, self.W_xR, self.B_xR,
                self.W_hGR, self.W_xGR, self.B_GR, self.W_hGh, self.W_xGh, self.B_Gh,
            )  # fmt: skip
            states.append(h)
        return torch.stack(states, 1), h


# ------------------------------------------------------------------------------------ the fast path of UGRNN


class BackpropagationThroughTime(torch.autograd.Function):
    """The UGRNN over a sequence with its derivative written out by hand.

    Why. Gates and R read h[t-1] through a non-linearity, so no scan over T is possible: the least there is to
    do is a chain of T products [B,J]·[J,2J]. What can be saved stands around the chain:

    * all products with x are one matrix product before the loop, and the loop overwrites its result with R
      and G;
    * in the backward pass, the factors that do not depend on the incoming gradient are computed for all t at
      once;
    * the gradient of W_h is one product after the loop, not T small ones that are added up;
    * no graph is recorded: autograd would keep some ten nodes a step.

    The derivation. With g = ∂Loss/∂h[t], summed over what reads h[t] outside and step t+1 inside, and z the
    arguments of tanh and σ,

        ∂z_R = g (1 - G)(1 - R²)          ∂z_G = g (h[t-1] - R) G (1 - G)
        ∂h[t-1] = g G + ∂z W_h            ∂W_h = Σ_t ∂z[t]ᵀ h[t-1]   ∂W_x = Σ_t ∂z[t]ᵀ x[t]   ∂B = -Σ_t ∂z[t]

    Stacked axes hold R first, then G. Inside, time is axis 0: a step is then contiguous. Differentiable once.
    """

    @staticmethod
    def forward(
        ctx,
        x: Float[Tensor, "B T K"],
        h0: Float[Tensor, "B J"],
        W_x: Float[Tensor, "2*J K"],
        W_h: Float[Tensor, "2*J J"],
        B: Float[Tensor, "2*J"],
    ) -> Float[Tensor, "B T J"]:
        """States h[1..T] from inputs x[1..T] and h[0]."""
        J = h0.shape[1]
        Z = F.linear(x.transpose(0, 1), W_x, -B)  # [T, B, 2J]; the loop turns it into R and G
        R, G = Z.split(J, 2)
        H = x.new_empty(len(Z) + 1, *h0.shape)  # [T+1, B, J]
        H[0] = h0
        W = W_h.T
        h = H[0]
        for z_t, R_t, G_t, h_t in zip(Z.unbind(), R.unbind(), G.unbind(), H[1:].unbind(), strict=True):
            z_t.addmm_(h, W)
            R_t.tanh_()
            G_t.sigmoid_()
            h = torch.lerp(R_t, h, G_t, out=h_t)  # (1-G) R + G h
        ctx.save_for_backward(x, W_x, W_h, H, Z)
        return H[1:].transpose(0, 1)

    @staticmethod
    @once_differentiable
    def backward(ctx, dh: Float[Tensor, "B T J"]):
        """Gradients of x, h0, W_x, W_h, B."""
        x, W_x, W_h, H, Z = ctx.saved_tensors
        J = H.shape[2]
        R, G = Z.split(J, 2)
        D = torch.empty_like(Z)  # first the factors of g, then, step by step, ∂z
        torch.ops.aten.tanh_backward.grad_input(1 - G, R, grad_input=D[..., :J])  # (1-G)(1-R²)
        torch.ops.aten.sigmoid_backward.grad_input(H[:-1] - R, G, grad_input=D[..., J:])  # (h-R) G (1-G)

        reads = dh.transpose(0, 1).unbind()  # ∂Loss/∂h[t] by what reads h[t] outside
        D_t, D_pairs, G_t = D.unbind(), D.unflatten(2, (2, J)).unbind(), G.unbind()
        g = reads[-1]
        for t in reversed(range(len(Z))):
            D_pairs[t].mul_(g[:, None])
            through_gate = torch.addcmul(reads[t - 1], g, G_t[t]) if t else g * G_t[t]
            g = through_gate.addmm_(D_t[t], W_h)

        D = D.flatten(0, 1)  # [TB, 2J]
        dx = (D @ W_x).view(*Z.shape[:2], -1).transpose(0, 1) if ctx.needs_input_grad[0] else None
        dW_x = D.T @ x.transpose(0, 1).flatten(0, 1)
        dW_h = D.T @ H[:-1].flatten(0, 1)
        return dx, g, dW_x, dW_h, -D.sum(0)

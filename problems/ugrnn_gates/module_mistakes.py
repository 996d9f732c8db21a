"""Wrong modules that students write; the docstring is the hint that whoever gives the same answers reads."""

import torch
from torch import nn


class _Unrolled(nn.Module):
    def __init__(self, J, K, *, p):
        super().__init__()
        self.R_gate, self.h_gate, self.sign = p["R_gate"], p["h_gate"], -1
        for name in ("GR", "R", "Gh"):
            setattr(self, f"W_h{name}", nn.Parameter(torch.zeros(J, J)))
            setattr(self, f"W_x{name}", nn.Parameter(torch.zeros(J, K)))
        for name in ("B_GR", "B_hR", "B_xR", "B_Gh"):
            setattr(self, name, nn.Parameter(torch.zeros(J)))

    def candidate(self, h, x):
        GR = torch.sigmoid(h @ self.W_hGR.T + x @ self.W_xGR.T + self.sign * self.B_GR)
        a, b = h @ self.W_hR.T + self.sign * self.B_hR, x @ self.W_xR.T + self.sign * self.B_xR
        return torch.tanh(GR * a + (1 - GR) * b if self.R_gate == "h" else GR * b + (1 - GR) * a)

    def step(self, h, x):
        Gh = torch.sigmoid(h @ self.W_hGh.T + x @ self.W_xGh.T + self.sign * self.B_Gh)
        keep = Gh if self.h_gate == "old" else 1 - Gh
        return keep * h + (1 - keep) * self.candidate(h, x)

    def forward(self, x, h):
        states = []
        for x_t in x.unbind(1):
            h = self.step(h, x_t)
            states.append(h)
        return torch.stack(states, 1)


class ForgetsState(_Unrolled):
    """Every step of yours starts from the initial state: what one step returns is what the next begins with."""

    def forward(self, x, h):
        return torch.stack([self.step(h, x_t) for x_t in x.unbind(1)], 1)


class KeepsItsState(_Unrolled):
    """Your module goes on where its last call ended: the state that a call is given is the one that it begins with."""

    def __init__(self, J, K, *, p):
        super().__init__(J, K, p=p)
        self.h = None

    def forward(self, x, h):
        states = super().forward(x, h if self.h is None or self.h.shape != h.shape else self.h)
        self.h = states[:, -1].detach()
        return states


class ReadsBackwards(_Unrolled):
    """You read the sequence from its end: h[b,t] may depend on the inputs up to t only."""

    def forward(self, x, h):
        return super().forward(x.flip(1), h).flip(1)


class StatesBefore(_Unrolled):
    """Your result is one step late: at place t you give the state before the input at t was read."""

    def forward(self, x, h):
        return torch.cat([h[:, None], super().forward(x, h)[:, :-1]], 1)


class OnlyLast(_Unrolled):
    """You return the last state only; all of them are wanted, one for each t."""

    def forward(self, x, h):
        return super().forward(x, h)[:, -1]


class StartsAtZero(_Unrolled):
    """The state that forward gets has no effect: your sequence starts from zeros of its own."""

    def forward(self, x, h):
        return super().forward(x, torch.zeros_like(h))


class BiasesAdded(_Unrolled):
    """You added the biases. In this course's convention a bias is a threshold: look at its sign in the equations."""

    def __init__(self, J, K, *, p):
        super().__init__(J, K, p=p)
        self.sign = 1


class GateSwapped(_Unrolled):
    """G^R points the other way: read once more which branch it multiplies here."""

    def __init__(self, J, K, *, p):
        super().__init__(J, K, p=p)
        self.R_gate = "x" if p["R_gate"] == "h" else "h"


class StateGateSwapped(_Unrolled):
    """G^h points the other way: read once more whether it multiplies the previous state or the candidate here."""

    def __init__(self, J, K, *, p):
        super().__init__(J, K, p=p)
        self.h_gate = "new" if p["h_gate"] == "old" else "old"


class NotThroughTime(_Unrolled):
    """The values are right, but you cut the graph between two steps: no gradient flows back through time."""

    def step(self, h, x):
        return super().step(h.detach(), x)


class CandidateReturned(_Unrolled):
    """You collect the candidates R; what is wanted are the states that follow from them."""

    def forward(self, x, h):
        candidates = []
        for x_t in x.unbind(1):
            candidates.append(self.candidate(h, x_t))
            h = self.step(h, x_t)
        return torch.stack(candidates, 1)

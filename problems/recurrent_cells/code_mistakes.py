"""Wrong code that students write; the docstring is the hint that whoever gives the same answers reads."""

import torch


def _gates(h, x, W_hr, W_xr, B_r, W_hz, W_xz, B_z):
    r = torch.sigmoid(h @ W_hr.T + x @ W_xr.T - B_r)
    return r, torch.sigmoid(h @ W_hz.T + x @ W_xz.T - B_z)


def _mixed(z, h, n, p):
    return z * h + (1 - z) * n if p["z_gate"] == "old" else z * n + (1 - z) * h


def _hidden(r, h, W_hn, B_hn, p):
    return (r * h) @ W_hn.T - B_hn if p["reset"] == "before" else r * (h @ W_hn.T - B_hn)


def gru_other_reset(h, x, W_hr, W_xr, B_r, W_hz, W_xz, B_z, W_hn, B_hn, W_xn, B_xn, *, p):
    """Read once more what the reset gate multiplies here: the state, or what the hidden branch makes of it."""
    r, z = _gates(h, x, W_hr, W_xr, B_r, W_hz, W_xz, B_z)
    hidden = _hidden(r, h, W_hn, B_hn, {"reset": "after" if p["reset"] == "before" else "before"})
    return _mixed(z, h, torch.tanh(hidden + x @ W_xn.T - B_xn), p)


def gru_turned(h, x, W_hr, W_xr, B_r, W_hz, W_xz, B_z, W_hn, B_hn, W_xn, B_xn, *, p):
    """The update gate points the other way: read once more which of the two, state or candidate, z multiplies here."""
    r, z = _gates(h, x, W_hr, W_xr, B_r, W_hz, W_xz, B_z)
    return _mixed(1 - z, h, torch.tanh(_hidden(r, h, W_hn, B_hn, p) + x @ W_xn.T - B_xn), p)


def gru_biases_added(h, x, W_hr, W_xr, B_r, W_hz, W_xz, B_z, W_hn, B_hn, W_xn, B_xn, *, p):
    """You added the biases. Here a bias is a threshold."""
    r, z = _gates(h, x, W_hr, W_xr, -B_r, W_hz, W_xz, -B_z)
    return _mixed(z, h, torch.tanh(_hidden(r, h, W_hn, -B_hn, p) + x @ W_xn.T + B_xn), p)


def gru_half_reset(h, x, W_hr, W_xr, B_r, W_hz, W_xz, B_z, W_hn, B_hn, W_xn, B_xn, *, p):
    """Your reset gate misses its place by the bias of the hidden branch: read what it multiplies here."""
    r, z = _gates(h, x, W_hr, W_xr, B_r, W_hz, W_xz, B_z)
    hidden = (r * h) @ W_hn.T - r * B_hn if p["reset"] == "before" else r * (h @ W_hn.T) - B_hn
    return _mixed(z, h, torch.tanh(hidden + x @ W_xn.T - B_xn), p)


def gru_reset_of_both(h, x, W_hr, W_xr, B_r, W_hz, W_xz, B_z, W_hn, B_hn, W_xn, B_xn, *, p):
    """Your reset gate also holds back the input; it belongs to the hidden branch."""
    r, z = _gates(h, x, W_hr, W_xr, B_r, W_hz, W_xz, B_z)
    return _mixed(z, h, torch.tanh(r * (h @ W_hn.T - B_hn + x @ W_xn.T - B_xn)), p)


def gru_no_reset(h, x, W_hr, W_xr, B_r, W_hz, W_xz, B_z, W_hn, B_hn, W_xn, B_xn, *, p):
    """Your candidate does not use the reset gate."""
    _, z = _gates(h, x, W_hr, W_xr, B_r, W_hz, W_xz, B_z)
    return _mixed(z, h, torch.tanh(h @ W_hn.T - B_hn + x @ W_xn.T - B_xn), p)


def gru_gates_exchanged(h, x, W_hr, W_xr, B_r, W_hz, W_xz, B_z, W_hn, B_hn, W_xn, B_xn, *, p):
    """You exchanged the reset gate and the update gate."""
    z, r = _gates(h, x, W_hr, W_xr, B_r, W_hz, W_xz, B_z)
    return _mixed(z, h, torch.tanh(_hidden(r, h, W_hn, B_hn, p) + x @ W_xn.T - B_xn), p)


def gru_logistic_candidate(h, x, W_hr, W_xr, B_r, W_hz, W_xz, B_z, W_hn, B_hn, W_xn, B_xn, *, p):
    """Your candidate has the gates' activation function; it can never be negative."""
    r, z = _gates(h, x, W_hr, W_xr, B_r, W_hz, W_xz, B_z)
    return _mixed(z, h, torch.sigmoid(_hidden(r, h, W_hn, B_hn, p) + x @ W_xn.T - B_xn), p)


def gru_transposed(h, x, W_hr, W_xr, B_r, W_hz, W_xz, B_z, W_hn, B_hn, W_xn, B_xn, *, p):
    """The square matrices are the wrong way round: W[j, i] leads from entry i to entry j."""
    r, z = _gates(h, x, W_hr.T, W_xr, B_r, W_hz.T, W_xz, B_z)
    return _mixed(z, h, torch.tanh(_hidden(r, h, W_hn.T, B_hn, p) + x @ W_xn.T - B_xn), p)


def gru_detached(h, x, W_hr, W_xr, B_r, W_hz, W_xz, B_z, W_hn, B_hn, W_xn, B_xn, *, p):
    """The values are right, but no gradient reaches the parameters of the gates."""
    r, z = _gates(h, x, W_hr, W_xr, B_r, W_hz, W_xz, B_z)
    return _mixed(z.detach(), h, torch.tanh(_hidden(r.detach(), h, W_hn, B_hn, p) + x @ W_xn.T - B_xn), p)


# The LSTM


def _blocks(h, x, W_h, W_x, B, p, names=None):
    names = names or p["blocks"].split(", ")
    return dict(zip(names, (h @ W_h.T + x @ W_x.T - B).chunk(len(names), 1), strict=True))


def _stepped(a, c, p):
    f = torch.sigmoid(a["f"])
    i = 1 - f if p["coupled"] else torch.sigmoid(a["i"])
    return f * c + i * torch.tanh(a["g"])


def lstm_other_order(h, c, x, W_h, W_x, B, *, p):
    """The blocks stand in another order: read which one comes first."""
    orders = {"i, f, g, o": "f i o g", "f, i, o, g": "i f g o", "f, g, o": "o f g", "o, f, g": "f g o"}
    a = _blocks(h, x, W_h, W_x, B, p, orders[p["blocks"]].split())
    c = _stepped(a, c, p)
    return torch.sigmoid(a["o"]) * torch.tanh(c), c


def lstm_biases_added(h, c, x, W_h, W_x, B, *, p):
    """You added the biases. Here a bias is a threshold."""
    a = _blocks(h, x, W_h, W_x, -B, p)
    c = _stepped(a, c, p)
    return torch.sigmoid(a["o"]) * torch.tanh(c), c


def lstm_candidate_in_full(h, c, x, W_h, W_x, B, *, p):
    """Your candidate enters the cell without any gate."""
    a = _blocks(h, x, W_h, W_x, B, p)
    c = torch.sigmoid(a["f"]) * c + torch.tanh(a["g"])
    return torch.sigmoid(a["o"]) * torch.tanh(c), c


def lstm_forgets_by_complement(h, c, x, W_h, W_x, B, *, p):
    """Your forget gate keeps the cell where it is 0: it multiplies the previous cell as it is."""
    a = _blocks(h, x, W_h, W_x, B, p)
    f = torch.sigmoid(a["f"])
    c = (1 - f) * c + (f if p["coupled"] else torch.sigmoid(a["i"])) * torch.tanh(a["g"])
    return torch.sigmoid(a["o"]) * torch.tanh(c), c


def lstm_no_tanh(h, c, x, W_h, W_x, B, *, p):
    """The output gate multiplies a tanh of the cell, not the cell."""
    a = _blocks(h, x, W_h, W_x, B, p)
    c = _stepped(a, c, p)
    return torch.sigmoid(a["o"]) * c, c


def lstm_cell_first(h, c, x, W_h, W_x, B, *, p):
    """You return the cell first; the new state comes first."""
    a = _blocks(h, x, W_h, W_x, B, p)
    c = _stepped(a, c, p)
    return c, torch.sigmoid(a["o"]) * torch.tanh(c)


def lstm_old_cell(h, c, x, W_h, W_x, B, *, p):
    """Your new state shows the previous cell; it shows the new one."""
    a = _blocks(h, x, W_h, W_x, B, p)
    return torch.sigmoid(a["o"]) * torch.tanh(c), _stepped(a, c, p)


def lstm_logistic_candidate(h, c, x, W_h, W_x, B, *, p):
    """The candidate g has a tanh: your cell could only grow."""
    a = _blocks(h, x, W_h, W_x, B, p)
    f = torch.sigmoid(a["f"])
    c = f * c + (1 - f if p["coupled"] else torch.sigmoid(a["i"])) * torch.sigmoid(a["g"])
    return torch.sigmoid(a["o"]) * torch.tanh(c), c


def lstm_cell_cut(h, c, x, W_h, W_x, B, *, p):
    """The values are right, but no gradient flows back through the cell."""
    a = _blocks(h, x, W_h, W_x, B, p)
    c = _stepped(a, c.detach(), p)
    return torch.sigmoid(a["o"]) * torch.tanh(c), c


def lstm_state_alone(h, c, x, W_h, W_x, B, *, p):
    """You return the state alone; the cell is wanted, too."""
    a = _blocks(h, x, W_h, W_x, B, p)
    return torch.sigmoid(a["o"]) * torch.tanh(_stepped(a, c, p))


# The stack


def _run(x, W_h, W_x, B):
    s, states = torch.zeros_like(x[:, 0]), []
    for x_t in x.unbind(1):
        s = torch.tanh(s @ W_h.T + x_t @ W_x.T - B)
        states.append(s)
    return torch.stack(states, 1)


def _stacked(x, W_h, W_x, B, p, layer=_run):
    for number, parameters in enumerate(zip(W_h, W_x, B, strict=True)):
        states = layer(x, *parameters)
        x = x + states if number or p["skip_first"] else states
    return x


def stack_no_residual(x, W_h, W_x, B, *, p):
    """Nothing leads around your layers."""
    for parameters in zip(W_h, W_x, B, strict=True):
        x = _run(x, *parameters)
    return x


def stack_other_first(x, W_h, W_x, B, *, p):
    """Read once more whether a connection leads around the lowest layer."""
    return _stacked(x, W_h, W_x, B, {"skip_first": not p["skip_first"]})


def stack_carries_the_sum(x, W_h, W_x, B, *, p):
    """In time, your layers carry on what they return; each has to carry its own states."""

    def layer(x, W_h, W_x, B):
        s, states = torch.zeros_like(x[:, 0]), []
        for x_t in x.unbind(1):
            new = torch.tanh(s @ W_h.T + x_t @ W_x.T - B)
            s = x_t + new
            states.append(new)
        return torch.stack(states, 1)

    return _stacked(x, W_h, W_x, B, p, layer)


def stack_state_from_below(x, W_h, W_x, B, *, p):
    """Each of your layers starts from the last state of the layer below; the states before the first step are zero."""
    s = torch.zeros_like(x[:, 0])
    for number, (W, U, b) in enumerate(zip(W_h, W_x, B, strict=True)):
        states = []
        for x_t in x.unbind(1):
            s = torch.tanh(s @ W.T + x_t @ U.T - b)
            states.append(s)
        x = x + torch.stack(states, 1) if number or p["skip_first"] else torch.stack(states, 1)
    return x


def stack_biases_added(x, W_h, W_x, B, *, p):
    """You added the biases. Here a bias is a threshold."""
    return _stacked(x, W_h, W_x, -B, p)


def stack_from_the_top(x, W_h, W_x, B, *, p):
    """Your layers stand in the wrong order: the first matrices belong to the lowest one."""
    return _stacked(x, W_h.flip(0), W_x.flip(0), B.flip(0), p)


def stack_from_the_right(x, W_h, W_x, B, *, p):
    """You read the sequences from their end."""
    return _stacked(x.flip(1), W_h, W_x, B, p).flip(1)


def stack_around_everything(x, W_h, W_x, B, *, p):
    """You lead once around the whole stack; the connections lead around each layer."""
    first = x
    for parameters in zip(W_h, W_x, B, strict=True):
        x = _run(x, *parameters)
    return first + x


def stack_shared(x, W_h, W_x, B, *, p):
    """All of your layers have the parameters of the lowest one."""
    for number in range(len(W_h)):
        states = _run(x, W_h[0], W_x[0], B[0])
        x = x + states if number or p["skip_first"] else states
    return x


def stack_matrices_exchanged(x, W_h, W_x, B, *, p):
    """You exchanged the matrices: W_h acts on the layer's own state."""
    return _stacked(x, W_x, W_h, B, p)


def stack_last_step(x, W_h, W_x, B, *, p):
    """You return the last step alone; all of them are wanted."""
    return _stacked(x, W_h, W_x, B, p)[:, -1]


CODE = {
    "gru": [
        gru_other_reset,
        gru_turned,
        gru_biases_added,
        gru_half_reset,
        gru_reset_of_both,
        gru_no_reset,
        gru_gates_exchanged,
        gru_logistic_candidate,
        gru_transposed,
        gru_detached,
    ],
    "lstm": [
        lstm_other_order,
        lstm_biases_added,
        lstm_candidate_in_full,
        lstm_forgets_by_complement,
        lstm_no_tanh,
        lstm_cell_first,
        lstm_old_cell,
        lstm_logistic_candidate,
        lstm_cell_cut,
        lstm_state_alone,
    ],
    "residual_stack": [
        stack_no_residual,
        stack_other_first,
        stack_carries_the_sum,
        stack_state_from_below,
        stack_biases_added,
        stack_from_the_top,
        stack_from_the_right,
        stack_around_everything,
        stack_shared,
        stack_matrices_exchanged,
        stack_last_step,
    ],
}

"""Wrong answers that students give; the docstring is the hint that whoever gives the same answer reads."""

from .code_mistakes import CODE
from .references import MIXED, gru_lines, jacobian_line, layer_lines, lstm_lines, other

# The equations of a GRU


def other_reset(p):
    """Read once more what the reset gate multiplies here: the state, or what the hidden branch makes of it."""
    return gru_lines(p, reset=other(p, "reset", "before", "after"))


def update_turned(p):
    """The update gate points the other way: read once more which of the two, state or candidate, z multiplies here."""
    return gru_lines(p, mixed=MIXED[other(p, "z_gate", "old", "new")])


def thresholds_added(p):
    """You added the biases. Here a bias is a threshold."""
    return gru_lines(p).replace("- B", "+ B")


def reset_of_both(p):
    """Your reset gate also holds back the input; it belongs to the hidden branch."""
    return gru_lines(p, reset="never", argument="r[t,j] ({hidden} + {seen})")


def no_reset(p):
    """Your candidate does not use the reset gate."""
    return gru_lines(p, reset="never")


def reset_without_bias(p):
    """Your reset gate leaves the bias of the hidden branch alone."""
    return gru_lines(p, reset="not the bias") if p["reset"] == "after" else None


def logistic_candidate(p):
    """Your candidate has the gates' activation function; it can never be negative."""
    return gru_lines(p, squash="sigma")


def no_convex_combination(p):
    """Your state is no convex combination: both weights together must be one."""
    return gru_lines(p, mixed="h[t-1,j] + z[t,j] n[t,j]" if p["z_gate"] == "new" else "z[t,j] h[t-1,j] + n[t,j]")


def gates_read_the_input_only(p):
    """Your gates read the input alone; they also read the previous state."""
    return gru_lines(p, hidden_of_gates="")


def gate_through_gate(p):
    """You took the reset gate for the update gate in the last line."""
    return gru_lines(p, mixed=MIXED[p["z_gate"]].replace("z", "r"))


# Its derivative


def only_the_gate(p):
    """This is the way past the candidate alone; the candidate reads the previous state, too."""
    return jacobian_line(p).split(" + ")[0]


def only_the_candidate(p):
    """This is the way through the candidate alone; the update gate also lets the previous state itself pass."""
    return jacobian_line(p).replace(jacobian_line(p).split(" + ")[0], "D[t,i,j] = 0*1[i=j]")


def no_slope(p):
    """The candidate is a tanh: its slope belongs to the derivative."""
    return jacobian_line(p, slope="")


def logistic_slope(p):
    """n (1 - n) is the slope of a logistic function."""
    return jacobian_line(p, slope="n[t,i] (1 - n[t,i])")


def reset_at_the_other_index(p):
    """The reset gate stands at the wrong entry: does it multiply what enters the matrix, or what comes out of it?"""
    return jacobian_line(p, reset="r[t,i]" if p["reset"] == "before" else "r[t,j]")


def reset_forgotten(p):
    """The reset gate stands in the hidden branch, through which this derivative passes."""
    return jacobian_line(p, reset="")


def transposed_matrix(p):
    """The derivative of W[i,J] h[J] by h[j] is W[i,j]: your indices have changed places."""
    return jacobian_line(p, matrix="W^{h,n}[j,i]")


def everywhere(p):
    """An entry passes to itself only: the first term is zero where i and j differ."""
    return jacobian_line(p, same="")


def weights_exchanged(p):
    """Read once more which of the two, state or candidate, the update gate multiplies here."""
    return jacobian_line({**p, "z_gate": other(p, "z_gate", "old", "new")})


# Where two kinds of GRU agree


def never(p):
    """Try a reset gate whose entries are all 1/2: a number may stand on either side of a matrix."""
    return "Nowhere: the two are different functions for every $r[t,:]$."


def only_when_open(p):
    """That is one such case. Are there others?"""
    return "Only where all entries of $r[t,:]$ are 1."


def always(p):
    """Write out one entry of both: the gate has another index in each."""
    return "Everywhere: a matrix may be multiplied by the gate before or after."


# The equations of an LSTM


def other_input_gate(p):
    """Read once more whether the candidate has a gate of its own here."""
    return lstm_lines(p, own=False) if not p["coupled"] else lstm_lines(p, cell="f[t,j] c[t-1,j] + g[t,j]")


def lstm_thresholds_added(p):
    """You added the biases. Here a bias is a threshold."""
    return lstm_lines(p).replace("- B", "+ B")


def forgets_by_complement(p):
    """Your forget gate keeps the cell where it is 0: it multiplies the previous cell as it is."""
    return lstm_lines(p, cell="(1 - f[t,j]) c[t-1,j] + i[t,j] g[t,j]")


def no_tanh_of_the_cell(p):
    """The output gate multiplies a tanh of the cell, not the cell."""
    return lstm_lines(p, state="o[t,j] c[t,j]")


def tanh_of_all(p):
    """The output gate stands outside of the tanh."""
    return lstm_lines(p, state="tanh(o[t,j] c[t,j])")


def logistic_g(p):
    """The candidate g has a tanh: your cell could only grow."""
    return lstm_lines(p, squash="sigma")


def state_for_cell(p):
    """The forget gate multiplies the previous cell; you wrote the previous state."""
    return lstm_lines(p, cell="f[t,j] h[t-1,j] + i[t,j] g[t,j]")


def previous_cell_shown(p):
    """The new state shows the new cell; you wrote the previous one."""
    return lstm_lines(p, state="o[t,j] tanh(c[t-1,j])")


def cell_squashed(p):
    """The new cell is a sum without an activation around it: that is what lets it keep numbers over many steps."""
    return lstm_lines(p, cell="tanh(f[t,j] c[t-1,j] + i[t,j] g[t,j])")


# The derivative through the cell


def gate_alone(p):
    """This is the derivative of the new cell; the new state is behind it."""
    return "E[t,j] = f[t,j]"


def without_slope(p):
    """Between the new cell and the new state there is a tanh, whose slope is missing."""
    return "E[t,j] = o[t,j] f[t,j]"


def slope_of_sigma(p):
    """The slope of tanh is one minus its square."""
    return "E[t,j] = o[t,j] tanh(c[t,j]) (1 - tanh(c[t,j])) f[t,j]"


def slope_of_c(p):
    """The slope is one minus the square of the tanh, not of its argument."""
    return "E[t,j] = o[t,j] (1 - c[t,j]^2) f[t,j]"


def slope_at_the_old_cell(p):
    """The slope is that at the new cell."""
    return "E[t,j] = o[t,j] (1 - tanh(c[t-1,j])^2) f[t,j]"


def forget_gate_missing(p):
    """The previous cell reaches the new one through the forget gate."""
    return "E[t,j] = o[t,j] (1 - tanh(c[t,j])^2)"


# A cell with constant gates


def _given(p):
    return "(1-f)*g" if p["coupled"] else "i*g"


def start_forgotten(p):
    """The start of the cell is still there after T steps, however small."""
    return f"(1-f^T)/(1-f)*{_given(p)}"


def only_the_start(p):
    """The candidate is added in every step."""
    return "f^T*c_0"


def one_step(p):
    """This is the cell after one step."""
    return f"f*c_0 + {_given(p)}"


def one_term_too_many(p):
    """The candidate is added T times; the first of these has been multiplied by the forget gate T-1 times."""
    return f"f^T*c_0 + (1-f^(T+1))/(1-f)*{_given(p)}"


def added_up(p):
    """The forget gate also acts on what was added in earlier steps."""
    return f"f^T*c_0 + T*{_given(p)}"


def in_the_long_run(p):
    """This is where the cell ends after very many steps."""
    return f"{_given(p)}/(1-f)"


# A layer with a residual connection


def carries_the_sum(p):
    """In time, your layer carries on what it returns; it has to carry its own states."""
    return layer_lines(carried="s_{l+1}[t-1,I] + W^h_{l+1}[j,I] L_l[t-1,I]")


def no_residual(p):
    """Nothing leads around your layer."""
    return layer_lines(out="s_{l+1}[t,j]")


def inside_the_tanh(p):
    """The connection leads around the whole layer, its activation included."""
    return layer_lines(out="s_{l+1}[t,j]", inside=" + L_l[t,j]")


def around_the_step(p):
    """You lead around from step to step; the connection leads from layer to layer."""
    return layer_lines(out="s_{l+1}[t-1,j] + s_{l+1}[t,j]")


def later_input(p):
    """The layer may read what is below it at the same step, not at the step before."""
    return layer_lines(below="L_l[t-1,I]")


def bias_added(p):
    """You added the bias. Here a bias is a threshold."""
    return layer_lines().replace("- B", "+ B")


def state_of_the_layer_below(p):
    """What the layer carries on in time is its own previous state, not what is below."""
    return layer_lines(carried="L_l[t-1,I]")


# Counts


def _counts(p):
    return (3, 4) if p["counted"] == "GRU" else (3, 3) if p["coupled"] else (4, 4)


def all_layers_read_K(p):
    """Only the lowest layer reads vectors of K entries."""
    gates, biases = _counts(p)
    return f"N*({gates}*(J^2 + J*K) + {biases}*J)"


def all_layers_read_J(p):
    """The lowest layer reads vectors of K entries."""
    gates, biases = _counts(p)
    return f"N*({gates}*2*J^2 + {biases}*J)"


def no_biases(p):
    """You counted matrices only."""
    gates, _ = _counts(p)
    return f"{gates}*(J^2 + J*K) + (N-1)*{gates}*2*J^2"


def other_biases(p):
    """Count the biases once more: how many does the candidate have here?"""
    gates, biases = _counts(p)
    return f"{gates}*(J^2 + J*K) + (N-1)*{gates}*2*J^2 + N*{7 - biases if p['counted'] == 'GRU' else 2 * biases}*J"


def one_gate_less(p):
    """Count once more what has matrices of its own: each gate that is not made from another one, and the candidate."""
    gates, biases = _counts(p)
    return f"{gates - 1}*(J^2 + J*K) + (N-1)*{gates - 1}*2*J^2 + N*{biases - 1}*J"


def one_layer(p):
    """This is the count of the lowest layer alone."""
    gates, biases = _counts(p)
    return f"{gates}*(J^2 + J*K) + {biases}*J"


def one_after_the_other(p):
    """A layer need not wait until the layer below has read the whole sequence."""
    return p["steps"] * p["layers"]


def steps_alone(p):
    """The last layer starts later than the first."""
    return p["steps"]


def one_too_many(p):
    """When the lowest layer makes its last step, how many steps are left to the layers above?"""
    return p["steps"] + p["layers"]


def layers_alone(p):
    """Within a layer, each step waits for the one before."""
    return p["layers"]


# Which cell


def lstm_wins(p):
    """Compare cells of different size only if you also compare them at the same size."""
    return "An LSTM is better than the other two, also where all have equally many parameters."


def fewer_gates_win(p):
    """A simple cell has fewer parameters for the same state; give it a larger state."""
    return "The fewer gates a cell has, the more it can store, however many parameters there are."


def cell_decides(p):
    """It was measured the other way round: look at networks of the same size first."""
    return "Which cell a network is made of matters more than how many parameters it has."


MISTAKES = {
    **CODE,
    "gru_equations": [
        other_reset,
        update_turned,
        thresholds_added,
        reset_of_both,
        no_reset,
        reset_without_bias,
        logistic_candidate,
        no_convex_combination,
        gates_read_the_input_only,
        gate_through_gate,
    ],
    "gru_derivative": [
        only_the_gate,
        only_the_candidate,
        no_slope,
        logistic_slope,
        reset_at_the_other_index,
        reset_forgotten,
        transposed_matrix,
        everywhere,
        weights_exchanged,
    ],
    "same_gru": [never, only_when_open, always],
    "lstm_equations": [
        other_input_gate,
        lstm_thresholds_added,
        forgets_by_complement,
        no_tanh_of_the_cell,
        tanh_of_all,
        logistic_g,
        state_for_cell,
        previous_cell_shown,
        cell_squashed,
    ],
    "through_the_cell": [
        gate_alone,
        without_slope,
        slope_of_sigma,
        slope_of_c,
        slope_at_the_old_cell,
        forget_gate_missing,
    ],
    "constant_gates": [start_forgotten, only_the_start, one_step, one_term_too_many, added_up, in_the_long_run],
    "residual_layer": [
        carries_the_sum,
        no_residual,
        inside_the_tanh,
        around_the_step,
        later_input,
        bias_added,
        state_of_the_layer_below,
    ],
    "stack_count": [all_layers_read_K, all_layers_read_J, no_biases, other_biases, one_gate_less, one_layer],
    "waves": [one_after_the_other, steps_alone, one_too_many, layers_alone],
    "what_counts": [lstm_wins, fewer_gates_win, cell_decides],
}

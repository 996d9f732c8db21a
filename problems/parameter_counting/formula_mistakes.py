"""Wrong counts in letters: each has the name and the hint of a wrong count in numbers, or its own."""

from .formulas import attention_formula, lstm_formula, model_formula, pre_activation, two_gate_formula


def _other(p, name):
    """The same conventions but for one."""
    changed = {"attention_bias": not p["attention_bias"], "final_norm": not p["final_norm"]}
    changed["gate_biases"] = "two" if p["gate_biases"] == "one" else "one"
    return {**p, name: changed[name]}


def letters_as_printed(p):
    """This is how a well-known answer sheet counts: ask yourself which matrices an attention sub-layer has."""
    return model_formula(p, embedding="2 V d", attention="3 N d^2", layer_norm="0")


def letters_no_output(p):
    """Queries, keys and values are there; what becomes of the heads once they stand side by side?"""
    return model_formula(p, attention=f"3/4*3 N ({attention_formula(p)})")


def letters_no_cross_attention(p):
    """Count the attention sub-layers of a decoder layer once more."""
    norms = "(4 N + 2) 2 d" if p["final_norm"] else "4 N 2 d"
    return model_formula(p, attention=f"2 N ({attention_formula(p)})", layer_norm=norms)


def letters_encoder_only(p):
    """You counted one of the two stacks."""
    return model_formula(
        p,
        attention=f"N ({attention_formula(p)})",
        feed_forward="N (2 d d_ff + d_ff + d)",
        layer_norm="(2 N + 1) 2 d" if p["final_norm"] else "2 N 2 d",
    )


def letters_other_embeddings(p):
    """Read once more which of the vocabulary's matrices are shared: a shared matrix is counted once."""
    return model_formula(p, embedding=f"{ {1: 2, 2: 3, 3: 1}[p['matrices']] } V d")


def letters_no_norms(p):
    """Layer norms have parameters too."""
    return model_formula(p, layer_norm="0")


def letters_norm_without_shift(p):
    """A layer norm multiplies, and then it adds: it has two parameters per entry."""
    return model_formula(p, layer_norm="(5 N + 2) d" if p["final_norm"] else "5 N d")


def letters_other_final_norms(p):
    """Read once more whether each stack ends with a layer norm of its own."""
    return model_formula(_other(p, "final_norm"))


def letters_no_feed_forward_biases(p):
    """Both maps of the feed-forward sub-layer have biases."""
    return model_formula(p, feed_forward="2 N 2 d d_ff")


def letters_other_attention_biases(p):
    """Read once more whether the maps of the attention sub-layers have biases."""
    return model_formula(_other(p, "attention_bias"))


def two_gate_other_biases(p):
    """Read once more how many biases a pre-activation has here, and how many the candidate has."""
    return two_gate_formula(_other(p, "gate_biases"))


def two_gate_no_biases(p):
    """You counted the matrices only."""
    return "3 (J^2 + J K)"


def two_gate_branch_bias(p):
    """The candidate has a bias in each of its two branches; you counted one."""
    return f"3 ({pre_activation(p)}) - J" if p["gate_biases"] == "two" else f"3 ({pre_activation(p)})"


def two_gate_of_one_gate(p):
    """This is the count with a single gate: the new gate has parameters of its own."""
    return two_gate_formula(p).replace("3", "2", 1)


def two_gate_square_input(p):
    """The matrix that acts on the input is not square: it maps K entries to J."""
    return two_gate_formula(p).replace("J K", "K^2")


def two_gate_no_input(p):
    """The matrices that act on the input are missing."""
    return two_gate_formula(p).replace(" + J K", "")


def lstm_of_three_blocks(p):
    """An LSTM has three gates, and a candidate besides."""
    return lstm_formula(p).replace("4", "3", 1)


def lstm_other_biases(p):
    """Read once more how many biases a pre-activation has here."""
    return lstm_formula(_other(p, "gate_biases"))


def lstm_no_biases(p):
    """You counted the matrices only."""
    return "4 (J^2 + J K)"


def lstm_square_input(p):
    """The matrix that acts on the input is not square: it maps K entries to J."""
    return lstm_formula(p).replace("J K", "K^2")


def lstm_with_cell_state(p):
    """The memory cell is a state: it has no parameters of its own."""
    return f"5 ({pre_activation(p)})"


FORMULA_MISTAKES = {
    "total_formula": [
        letters_as_printed,
        letters_no_output,
        letters_no_cross_attention,
        letters_encoder_only,
        letters_other_embeddings,
        letters_no_norms,
        letters_norm_without_shift,
        letters_other_final_norms,
        letters_no_feed_forward_biases,
        letters_other_attention_biases,
    ],
    "two_gate_formula": [
        two_gate_other_biases,
        two_gate_no_biases,
        two_gate_branch_bias,
        two_gate_of_one_gate,
        two_gate_square_input,
        two_gate_no_input,
    ],
    "lstm_formula": [
        lstm_of_three_blocks,
        lstm_other_biases,
        lstm_no_biases,
        lstm_square_input,
        lstm_with_cell_state,
    ],
}

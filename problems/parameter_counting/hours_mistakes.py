"""Wrong answers on the time of training, and right ones that are written differently."""

from .hours import days, seconds

# Days


def in_hours(p):
    """These are hours; days were asked for."""
    return 24 * days(p)


def faster_with_fewer(p):
    """With fewer GPUs it takes longer, not shorter."""
    return p["hours"] * p["left"] / (24 * p["gpus"])


def as_long_as_before(p):
    """This is how long it takes on all of them."""
    return p["hours"] / 24


def left_forgotten(p):
    """You divided the work among another number of GPUs."""
    return p["gpus"] * p["hours"] / (24 * (3 - p["left"]))


# Seconds


def forward_alone(p):
    """This is the way forward alone."""
    return seconds(p, back=0)


def back_as_forward(p):
    """The way back takes twice as many operations as the way forward."""
    return seconds(p, back=1)


def other_memory(p):
    """Read once more how often the way forward is gone."""
    return seconds(p, more=not p["recomputed"])


def one_operation(p):
    """A multiplication and an addition are two operations."""
    return f"({seconds(p)})/2"


def one_gpu(p):
    """All GPUs work on a step together."""
    return seconds(p, rest="n*S/R")


def gpus_multiplied(p):
    """More GPUs need less time, not more."""
    return seconds(p, rest="n*S*g/R")


def one_token(p):
    """Each step sees n tokens."""
    return seconds(p, rest="S/(g*R)")


def seconds_by_passes(p):
    passes = "P n + P n + 2 P n" if p["recomputed"] else "P n + 2 P n"
    return rf"\frac{{2 S ({passes})}}{{R g}}"


# The same steps


def step_for_each_piece(p):
    """After the first step the parameters are others: the second piece's gradient is taken elsewhere."""
    return "Make a step after each piece of a batch, with a learning rate divided by the number of pieces."


def step_as_before(p):
    """These are more steps, and each of them follows the gradient of a part of the batch."""
    return "Make a step after each piece of a batch, with the learning rate as it was; the sum is the same."


def pieces_left_out(p):
    """Then each step sees fewer tokens than before."""
    return "Make a step after the piece that fits, and go on to the next batch; the rest is seen later."


# Sessions


def saved_in_vain(p):
    """What does a step need from the steps before? All of that can be written to disk."""
    if not p["saved"]:
        return None
    return "No: the training is longer than a session, and the next one would have to begin from the start."


def nothing_to_load(p):
    """Read once more what is there at the beginning of the next session."""
    if p["saved"]:
        return None
    return "Yes, if each session saves parameters and the optimiser's state, and the next one loads them."


def in_one_session(p):
    """Compare the hours that one GPU needs with those of a session."""
    return "Yes, in a single session, since the work of the GPUs is divided perfectly among them."


def averaged(p):
    """An average of networks that were trained separately is no network that was trained longer."""
    return "Yes, if each session trains from the start, and the parameters of all sessions are averaged."


MISTAKES = {
    "days": [in_hours, faster_with_fewer, as_long_as_before, left_forgotten],
    "time_formula": [forward_alone, back_as_forward, other_memory, one_operation, one_gpu, gpus_multiplied, one_token],
    "same_steps": [step_for_each_piece, step_as_before, pieces_left_out],
    "sessions": [saved_in_vain, nothing_to_load, in_one_session, averaged],
}
EQUIVALENTS = {"time_formula": [seconds_by_passes]}

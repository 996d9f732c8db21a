"""How long the training takes on fewer GPUs (question 6, second half)."""

TIME = {"domains": dict.fromkeys(("P", "n", "S", "g", "R"), "positive")}


def drawn_machines(rng):
    """How many GPUs for how long, how many are left, what a step does twice, and what outlasts a session."""
    return {
        "gpus": int(rng.choice([8, 16, 32])),
        "hours": int(rng.choice([12, 36, 84])),
        "left": int(rng.choice([1, 2])),
        "recomputed": bool(rng.integers(2)),
        "saved": bool(rng.integers(2)),
    }


def in_words(p):
    """The conventions in words."""
    return {
        "left_words": "**one** GPU" if p["left"] == 1 else "**two** GPUs",
        "recomputed_words": (
            "To save memory, what the way forward has computed is not kept, and the whole way forward is gone **a "
            "second time** before the way back"
            if p["recomputed"]
            else "What the way forward has computed is kept for the way back"
        ),
        "saved_words": (
            "what was written to disk is still there in the next session"
            if p["saved"]
            else "nothing that was written to disk outlasts a session, and nothing can be copied elsewhere"
        ),
    }


def days(p):
    return p["gpus"] * p["hours"] / (24 * p["left"])


def seconds(p, *, forward=1, back=2, more=None, rest="n*S/(g*R)"):
    """Two operations for each parameter, token and way; the way back counts as two."""
    passes = forward + back + (p["recomputed"] if more is None else more)
    return f"{2 * passes}*P*{rest}"


def gradients_added(p):
    return "Add up the gradients of the pieces of a batch, and make a step when all of them have been seen."


def feasible(p):
    if p["saved"]:
        return "Yes, if each session saves parameters and the optimiser's state, and the next one loads them."
    return "No: the training is longer than a session, and the next one would have to begin from the start."

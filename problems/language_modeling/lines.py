"""What stands to be chosen from, or to be put in order."""


def same_parameters(p):
    return (
        "It uses the same parameters at every step, where a CNN or a Transformer has some of its own for every layer."
    )


def one_after_the_other(p):
    return "Its states have to be computed one after the other, also in training, when all words are known."


def gates_keep(p):
    return (
        "A gate that stays close to one keeps a state nearly unchanged for many steps, as a residual connection does."
    )


OVER_TIME = [same_parameters, one_after_the_other, gates_keep]

LENGTH_LAW = ["geometric law", "geometrically distributed"]


def length_law(p):
    return "geometric (distribution)"


def training_step(p):
    """One step of training, line by line."""
    return {
        "zero": "optimizer.zero_grad()",
        "scores": "scores = model(w[:, :-1])",
        "loss": "loss = F.cross_entropy(scores.transpose(1, 2), w[:, 1:])",
        "backward": "loss.backward()",
        "clip": "torch.nn.utils.clip_grad_norm_(model.parameters(), n_max)",
        "step": "optimizer.step()",
    }


def not_in_the_step(p):
    """Lines that belong to no step."""
    return {
        "copies": "loss = F.cross_entropy(scores.transpose(1, 2), w[:, :-1])",
        "greedy": "scores = scores.argmax(-1)",
    }


NEEDS = {"loss": "scores", "backward": "loss zero", "clip": "backward", "step": "clip"}
STEP = {"others": not_in_the_step, "after": NEEDS, "code": True}

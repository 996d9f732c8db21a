"""The running times that are asked for: what is changed about the program, its bound, and the bounds that are wrong."""

QUESTIONS = {
    "separate": (
        "Somebody does not add the losses up: for **each** of the $L$ heads he runs a backward pass of its own, "
        "from this head down to the input, and adds the gradients afterwards. What is the time of all passes "
        "together?"
    ),
    "dense": (
        r"Every layer now reads **all** earlier layers, each through a matrix of its own: $h_{\ell+1} = "
        r"\sigma\left(\sum_{m \le \ell} W_{\ell+1,m}\,h_m - B_{\ell+1}\right)$. What is the time of "
        "backpropagation?"
    ),
    "sparse": (
        r"Only every `m`-th layer keeps its head, $2 \le m \le L$; all $L$ layers stay. What is the time of "
        "backpropagation?"
    ),
    "deep_heads": (
        r"The head at layer $\ell$ is no longer linear: it is itself a perceptron of $\ell$ layers. What is the "
        "time of backpropagation?"
    ),
    "recurrent": (
        "The network becomes a recurrent one that is `L` layers deep and runs over `T` time steps, with a head at "
        "every layer and every time step. Every state reads the layer below and its own past. What is the time of "
        "backpropagation on one processor?"
    ),
    "forward": (
        "The derivatives by all the parameters are computed in **forward mode**: one pass through the whole "
        "network for each single parameter. ($I$ is ignored, so a layer has a constant number of parameters.) "
        "What is the time of all passes together?"
    ),
    "wide": (
        "The width `I` of the layers is no longer ignored (the number of examples still is). What is the time of "
        "backpropagation, in `L` and `I`?"
    ),
    "checkpoint_memory": (
        "To save memory, the forward pass keeps only every $k$-th state, where $k$ is the square root of $L$; the "
        "backward pass recomputes one segment of $k$ layers after the other, and keeps the states of that segment "
        "alone. How many states must be **stored** at the same time, at most? Answer in $L$."
    ),
    "checkpoint_time": (
        "To save memory, the forward pass keeps only every $k$-th state, where $k$ is the square root of $L$; the "
        "backward pass recomputes one segment of $k$ layers after the other, each segment once. What is the **time**? "
        "Answer in $L$."
    ),
    "residual": (
        "A residual connection is added around every layer, and all heads stay. What is the time of backpropagation?"
    ),
}

BOUNDS = {
    "separate": "L^2",
    "dense": "L^2",
    "sparse": "L",
    "deep_heads": "L^2",
    "recurrent": "T L",
    "forward": "L^2",
    "wide": "L I^2",
    "checkpoint_memory": "L^(1/2)",
    "checkpoint_time": "L",
    "residual": "L",
}

VARIABLES = dict.fromkeys(BOUNDS, "L") | {"sparse": "L m", "recurrent": "T L", "wide": "L I"}

# What is left out, what is counted twice, and what is the cost of one layer.
UNCHANGED = {
    "separate": "L",
    "dense": "L",
    "sparse": "L/m",
    "deep_heads": "L",
    "recurrent": "T + L",
    "forward": "L",
    "wide": "L",
    "checkpoint_memory": "L",
    "checkpoint_time": "L^(1/2)",
    "residual": "2^L",
}
TWICE = {
    "separate": "L^3",
    "dense": "L^3",
    "sparse": "L m",
    "deep_heads": "L^3",
    "recurrent": "T L^2",
    "forward": "L^3",
    "wide": "L^2 I^2",
    "checkpoint_memory": "L^2",
    "checkpoint_time": "L^(3/2)",
    "residual": "L^2",
}
LAYER = {
    "separate": "L ln L",
    "dense": "2^L",
    "sparse": "L + L ln m",
    "deep_heads": "L ln L",
    "recurrent": "T^2 L",
    "forward": "L ln L",
    "wide": "L I",
    "checkpoint_memory": "ln L",
    "checkpoint_time": "L^2",
    "residual": "L ln L",
}


def variables(p):
    return VARIABLES[p["change"]]


def constraints(p):
    return ["m<=L"] if p["change"] == "sparse" else []

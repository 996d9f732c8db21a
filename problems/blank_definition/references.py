"""The typed right answers of each variant, and what they and the wrong ones are made of."""


def left(p):
    """The index of the forward state that has read everything before the blanks, and nothing else."""
    return "t-1" if p["states"] == "with own word" else "t"


def right(p):
    """The index of the backward state that has read everything behind the blanks, and nothing else."""
    behind = p["m"] if p["states"] == "with own word" else p["m"] - 1
    return f"t+{behind}" if behind else "t"


def shifted(index, by):
    """The index moved by so many places."""
    number = int(index[1:] or 0) + by
    return f"t{number:+d}" if number else "t"


def side(p, which, by=0):
    """The score from one side, from a state so many places away from the right one."""
    if which == "forward":
        return f"e[w,I] W_f[I,J] h->[{shifted(left(p), by)},J]"
    return f"e[w,I] W_b[I,J] h<-[{shifted(right(p), by)},J]"


def linear(p, before=0, behind=0):
    return f"P[w] = softmax_w[ {side(p, 'forward', before)} + {side(p, 'backward', behind)} ]"

"""Wrong equations that students write; the docstring is the hint that whoever writes the same reads."""

from .equations import (
    branches,
    candidate,
    convex,
    from_input,
    from_state,
    gate,
    mixed,
    through_time,
    two_gate_equations,
)


def _turned(p, which):
    """The same variant with one gate turned round."""
    other = {"h": "x", "x": "h", "old": "new", "new": "old"}
    return {**p, which: other[p[which]]}


def written_R_gate_turned(p):
    """In your R the gate G^R multiplies the other branch: look again which one the statement names."""
    return two_gate_equations(p, R=candidate(_turned(p, "R_gate")))


def written_h_gate_turned(p):
    """In your new state the gate G^h multiplies the other term: look again which one the statement names."""
    return two_gate_equations(p, h=mixed(_turned(p, "h_gate")))


def written_plus_B(p):
    """You added the biases; here a bias is a threshold, and is subtracted."""
    return two_gate_equations(p, R_gate=gate("R", sign="+"), R=candidate(p, "+"), h_gate=gate("h", sign="+"))


def written_bare_thresholds(p):
    """The thresholds of the two branches stand outside of the combination: each belongs to its branch, and is weighed
    with it.
    """
    one, other = (branch.split(" - ")[0] for branch in branches(p))
    R = f"R[b,t,j] = tanh({convex('G^R[b,t,j]', one, other)} - B^{{h,R}}[j] - B^{{x,R}}[j])"
    return two_gate_equations(p, R=R)


def written_no_complement(p):
    """Your G^R weighs one branch, and the other one enters in full: that is no convex combination."""
    one, other = branches(p)
    return two_gate_equations(p, R=f"R[b,t,j] = tanh(G^R[b,t,j] ({one}) + {other})")


def written_state_gated_inside(p):
    """You gate the state before its matrix, as a GRU does; here the gate weighs the branch, entry j of its result."""
    hidden = f"{from_state('R', 'G^R[b,t,I] h[b,t-1,I]')} - B^{{h,R}}[j]"
    own = f"{from_input('R')} - B^{{x,R}}[j]"
    return two_gate_equations(p, R=f"R[b,t,j] = tanh({hidden} + {own})")


def written_tanh_of_each(p):
    """You mix two results of tanh; the combination of the branches is what tanh is applied to."""
    one, other = branches(p)
    return two_gate_equations(p, R=f"R[b,t,j] = {convex('G^R[b,t,j]', f'tanh({one})', f'tanh({other})')}")


def written_one_gate_twice(p):
    """You use one gate for both: the second gate has parameters of its own."""
    return two_gate_equations(p, h=mixed(p, "G^R[b,t,j]"))


def written_gate_of_tanh(p):
    """A gate lies between 0 and 1: tanh does not."""
    return two_gate_equations(p, R_gate=gate("R", "tanh"), h_gate=gate("h", "tanh"))


def written_gate_sees_input_only(p):
    """Your G^R does not read the previous state: each gate reads state and input."""
    return two_gate_equations(p, R_gate=f"G^R[b,t,j] = sigma({from_input('GR')} - B^{{GR}}[j])")


def written_ungated(p):
    """Your branches are added as in the cell with one gate; the second gate has no effect."""
    one, other = branches(p)
    return two_gate_equations(p, R=f"R[b,t,j] = tanh({one} + {other})")


def gate_held_fixed(p):
    """You treat the gate as a number: it depends on the old state as well."""
    return through_time(p, of_gate="0")


def candidate_held_fixed(p):
    """You treat the candidate as a number: it depends on the old state as well."""
    return through_time(p, of_candidate="0")


def only_the_copy(p):
    """You kept what is copied; both the gate and the candidate depend on the old state as well."""
    return through_time(p, of_gate="0", of_candidate="0")


def copy_forgotten(p):
    """The old state enters also directly, and not only through the matrices."""
    return through_time(p, copied="0")


def copy_everywhere(p):
    """Entry j of the old state is copied to entry j alone: where j and i differ, that term is zero."""
    return through_time(p, copied="G[j]" if p["h_gate"] == "old" else "(1 - G[j])")


def no_slope_of_the_gate(p):
    """The slope of the logistic function is missing in the term of the gate."""
    return through_time(p, of_gate=f"{'' if p['h_gate'] == 'old' else '-'}(h[j] - R[j]) W^{{h,G}}[j,i]")


def no_slope_of_the_candidate(p):
    """The slope of the tanh is missing in the term of the candidate."""
    return through_time(p, of_candidate=f"{'(1 - G[j])' if p['h_gate'] == 'old' else 'G[j]'} W^{{h,R}}[j,i]")


def other_slopes(p):
    """You exchanged the slopes of the logistic function and of the tanh."""
    sign, take = ("", "(1 - G[j])") if p["h_gate"] == "old" else ("-", "G[j]")
    return through_time(
        p,
        of_gate=f"{sign}(h[j] - R[j]) (1 - G[j]^2) W^{{h,G}}[j,i]",
        of_candidate=f"{take} R[j] (1 - R[j]) W^{{h,R}}[j,i]",
    )


def matrices_transposed(p):
    """Your matrices stand the wrong way round: entry i of the state meets the column i of a matrix."""
    return through_time(p).replace("[j,i]", "[i,j]").replace("D[i,j]", "D[j,i]").replace("delta[i,j]", "delta[j,i]")


def derivative_turned(p):
    """Your gate points the other way: look again which of the two it multiplies."""
    return through_time(_turned(p, "h_gate"))


EQUATION_MISTAKES = {
    "two_gate_equations": [
        written_R_gate_turned,
        written_h_gate_turned,
        written_plus_B,
        written_bare_thresholds,
        written_no_complement,
        written_state_gated_inside,
        written_tanh_of_each,
        written_one_gate_twice,
        written_gate_of_tanh,
        written_gate_sees_input_only,
        written_ungated,
    ],
    "through_time": [
        gate_held_fixed,
        candidate_held_fixed,
        only_the_copy,
        copy_forgotten,
        copy_everywhere,
        no_slope_of_the_gate,
        no_slope_of_the_candidate,
        other_slopes,
        matrices_transposed,
        derivative_turned,
    ],
}

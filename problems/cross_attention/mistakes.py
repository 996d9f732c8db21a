"""Wrong answers that students give; the docstring is the hint that whoever gives the same answer reads."""

from .code_mistakes import CODE
from .references import heads_lines, look_lines, next_line, score, word_axis

# Where to look, and what is seen


def later_state(p):
    """The state h[t] is made from what is seen in step t, and cannot ask for it."""
    return look_lines(p, state="h[t,{0}]") if p["query"] == "state" else None


def other_word(p):
    """The word that is read in step t asks, not the one before it."""
    return look_lines(p, word="w_{t-1}") if p["query"] == "word" else None


def over_the_steps(p):
    """Your weights sum to one over the steps; they are a distribution over the positions of the source."""
    return look_lines(p, over="t")


def scaled_scores(p):
    """You divided by a square root that this attention does not have."""
    return look_lines(p, after=" / sqrt(J)")


def matrix_turned(p):
    """The matrix is the wrong way round: its first index meets the asker."""
    return look_lines(p, order="{1},{0}") if p["matrix"] and p["query"] == "state" else None


def equal_weights(p):
    """What you see does not depend on the weights."""
    return look_lines(p, seen="sum_s M[s,j] / S")


def scores_seen(p):
    """These are scores, which may be negative; weights sum to one."""
    return f"a[t,s] = {score(p)}\nV[t,j] = sum_s a[t,s] M[s,j]"


def sum_not_average(p):
    """Your weights do not sum to one: the softmax has its sum in the divisor."""
    return f"alpha[t,s] = exp({score(p)})\nV[t,j] = sum_s alpha[t,s] M[s,j]"


def square_of_weights(p):
    """Each weight counts once."""
    return look_lines(p, seen="sum_s alpha[t,s]^2 M[s,j]")


# The next word


def earlier_state(p):
    """The state h[t-1] has not read the word w_t."""
    return next_line(p, state="h[t-1,{0}]")


def earlier_sight(p):
    """What is seen in step t is used for the next word, not what was seen before."""
    return next_line(p, seen="V[t-1,{0}]") if p["reads"] == "both" else None


def scores_of_words(p):
    """These are scores: a distribution over the words sums to one."""
    return next_line(p, over="")


def state_alone(p):
    """Read once more what the scores are made from."""
    return next_line(p, reads="state") if p["reads"] == "both" else None


def over_steps(p):
    """Your numbers sum to one over the steps; they are a distribution over the words."""
    return next_line(p, over="softmax_t")


def two_distributions(p):
    """The sum of two distributions is none: one softmax of the sum of the scores is wanted."""
    if p["reads"] != "both":
        return None
    one, two = ("J_1", "J_2") if word_axis(p) == "J" else ("I", "J")
    return (
        f"P[t,w] = softmax_w[e[w,{one}] W^auto[{one},{two}] h[t,{two}]] + "
        f"softmax_w[e[w,{one}] W^see[{one},{two}] V[t,{two}]]"
    )


def unlikely_words(p):
    """The word with the largest score would be the least likely."""
    return next_line(p).replace("[e[w,", "[-e[w,").replace(" + e", " - e")


# The derivative by the memory


def as_value_alone(p):
    """This is what it learns as what is seen; it is also compared with the asker."""
    return "G[s,j,i] = alpha[s] delta[j,i]"


def as_key_alone(p):
    """This is what it learns as what is compared; it is also what is seen."""
    return "G[s,j,i] = alpha[s] (M[s,j] - V[j]) q[i]"


def other_weights_forgotten(p):
    """If one score grows, the weights of all other positions shrink."""
    return "G[s,j,i] = alpha[s] (delta[j,i] + M[s,j] q[i])"


def own_weight_twice(p):
    """Only this position's own weight is taken into account; the others change with it."""
    return "G[s,j,i] = alpha[s] (delta[j,i] + (1 - alpha[s]) M[s,j] q[i])"


def indices_exchanged(p):
    """The asker meets the index i, by which you differentiate."""
    return "G[s,j,i] = alpha[s] (delta[j,i] + (M[s,i] - V[i]) q[j])"


def everywhere(p):
    """As what is seen, an entry reaches the same entry only."""
    return "G[s,j,i] = alpha[s] (1 + (M[s,j] - V[j]) q[i])"


def weight_of_value_forgotten(p):
    """A position is seen with its weight."""
    return "G[s,j,i] = delta[j,i] + alpha[s] (M[s,j] - V[j]) q[i]"


# The same word twice


def always_the_same(p):
    """What else, besides the word, enters the scores?"""
    return "Yes: the same word asks the same, wherever it stands." if p["query"] == "state" else None


def states_differ(p):
    """Does the state enter the scores here?"""
    return "Not in general: the states before the two steps may differ." if p["query"] == "word" else None


def never_the_same(p):
    """Nothing forbids that both steps look at the same place."""
    return "No: each position of the source is looked at in one step only."


def only_without_matrix(p):
    """The matrix is the same in all steps."""
    return "Only if there is no matrix between the two vectors."


# Heads


def other_scale(p):
    """Read once more what the scores are divided by here, if by anything."""
    return heads_lines(p, scale="" if p["scaled"] else " / sqrt(U)")


def scaled_by_model_width(p):
    """It is not the width of a vector of the model that scores are divided by."""
    return heads_lines(p, scale=" / sqrt(J)")


def divided_by_width(p):
    """A square root is missing, or there is none to divide by."""
    return heads_lines(p, scale=" / U")


def over_queries(p):
    """Your weights sum to one over the positions that ask; they do so over those that are asked."""
    return heads_lines(p, over="t")


def over_heads(p):
    """Your weights sum to one over the heads; each head has a distribution of its own over the source."""
    return heads_lines(p, over="k")


def no_softmax(p):
    """These are scores; weights sum to one."""
    return heads_lines(p).replace("softmax_s", "")


def one_head_for_all(p):
    """Each head has weights of its own."""
    return heads_lines(p, last="(sum_{k'} alpha[k',t,s])")


# Cost


def _cost(p, projections, pairs="2*T*S*J"):
    unit = 1 if p["unit"] == "multiplications" else 2
    return f"{unit}*({projections} + {pairs})"


def other_reuse(p):
    """Read once more how often the keys and values of the source are computed."""
    kept = "T*S" if p["keys"] == "once" else "S"
    return _cost(p, f"2*J^2*(T + {kept})")


def other_unit(p):
    """Read once more what is counted: a multiplication with its addition is one, or two."""
    return f"{'2' if p['unit'] == 'multiplications' else '1/2'}*({_right(p)})"


def _right(p):
    return _cost(p, f"2*J^2*(T + {'S' if p['keys'] == 'once' else 'T*S'})")


def no_output(p):
    """The output matrix is missing."""
    return _cost(p, f"J^2*(T + 2*{'S' if p['keys'] == 'once' else 'T*S'})")


def no_projections(p):
    """You counted the scores and the averages; the matrices of queries, keys, values and output are missing."""
    return _cost(p, "0")


def no_averages(p):
    """The average of the values is missing, or the scores are."""
    return _cost(p, f"2*J^2*(T + {'S' if p['keys'] == 'once' else 'T*S'})", "T*S*J")


def times_heads(p):
    """Together the heads have width J: what you count for one head at full width is all of them."""
    return f"K*({_right(p)})"


def one_sequence(p):
    """Keys and values are made of the source, which has S positions."""
    return _cost(p, "4*T*J^2")


MISTAKES = {
    **CODE,
    "look_equations": [
        later_state,
        other_word,
        over_the_steps,
        scaled_scores,
        matrix_turned,
        equal_weights,
        scores_seen,
        sum_not_average,
        square_of_weights,
    ],
    "next_word": [
        earlier_state,
        earlier_sight,
        scores_of_words,
        state_alone,
        over_steps,
        two_distributions,
        unlikely_words,
    ],
    "memory_derivative": [
        as_value_alone,
        as_key_alone,
        other_weights_forgotten,
        own_weight_twice,
        indices_exchanged,
        everywhere,
        weight_of_value_forgotten,
    ],
    "same_word": [always_the_same, states_differ, never_the_same, only_without_matrix],
    "heads_equations": [
        other_scale,
        scaled_by_model_width,
        divided_by_width,
        over_queries,
        over_heads,
        no_softmax,
        one_head_for_all,
    ],
    "cost": [other_reuse, other_unit, no_output, no_projections, no_averages, times_heads, one_sequence],
}

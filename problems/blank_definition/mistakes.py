"""Wrong answers that students give; the docstring is the hint that whoever gives the same answer reads."""

import torch

from .references import left, linear, right, shifted, side

# The open question. Which state stands beside the blanks depends on what a state has read.


def bare_product(p):
    """A product of two distributions does not sum to one; look at it for two words with two fair coins."""
    return f"P[w] = softmax_w[{side(p, 'forward')}] softmax_w[{side(p, 'backward')}]"


def bare_sum(p):
    """Two distributions sum to two."""
    return f"P[w] = softmax_w[{side(p, 'forward')}] + softmax_w[{side(p, 'backward')}]"


def scores(p):
    """These are scores: they may be negative, and they do not sum to one."""
    return f"P[w] = {side(p, 'forward')} + {side(p, 'backward')}"


def over_positions(p):
    """You normalise over the positions; a distribution of a word sums to one over the words."""
    return f"P[t,w] = softmax_t[ {side(p, 'forward')} + {side(p, 'backward')} ]"


def at_the_blank(p):
    """Your states have read a blanked word: then it is copied, not predicted. What has each state read?"""
    return linear(p, before=1, behind=-1)


def directions_exchanged(p):
    """Each of your states comes from the wrong side: it has read the blanks before it arrives where you take it."""
    forward, backward = left(p), right(p)
    ahead, back = f"h->[{shifted(backward, 1)},J]", f"h<-[{shifted(forward, -1)},J]"
    return f"P[w] = softmax_w[ e[w,I] W_f[I,J] {ahead} + e[w,I] W_b[I,J] {back} ]"


def both_on_the_left(p):
    """Your backward state stands left of the blanks: on its way there it has read them."""
    return f"P[w] = softmax_w[ {side(p, 'forward')} + e[w,I] W_b[I,J] h<-[{shifted(left(p), -1)},J] ]"


def one_word_too_far(p):
    """Nothing leaks, but a word that is visible is not used: the states nearer to the blanks have read more."""
    return linear(p, before=-1, behind=1)


def no_projection(p):
    """The entries of a state and of a word vector are different axes: nothing says that there are equally many."""
    return f"P[w] = softmax_w[ e[w,J] h->[{left(p)},J] + e[w,J] h<-[{right(p)},J] ]"


def reads_more(p):
    """You use something that is neither given nor a parameter: what you invent may not change from place to place."""
    return f"P[w] = softmax_w[ {side(p, 'forward')} + {side(p, 'backward')} + e[w,I] U[I,K] x[t,K] ]"


def not_normalised(p):
    """A distribution sums to one over all words, whatever the states are."""
    return f"P[w] = sigma({side(p, 'forward')} + {side(p, 'backward')})"


def negative_probabilities(p):
    """Yours sums to one, but some of its entries can be negative."""
    return f"s[w] = {side(p, 'forward')} + {side(p, 'backward')}\nP[w] = s[w] / sum_v s[v]"


def without_left(p):
    """The words before the blanks have no effect on your distribution."""
    return f"P[w] = softmax_w[ {side(p, 'backward')} ]"


def without_right(p):
    """The words behind the blanks have no effect on your distribution."""
    return f"P[w] = softmax_w[ {side(p, 'forward')} ]"


def wrong_state(p):
    """One of your states is not the one right beside the blanks: write down what it has read."""
    return linear(p, before=0, behind=2)


def without_word_vectors(p):
    """The word vectors have no effect on your distribution: the question gives them, so use them."""
    return f"P[w] = softmax_w[ U[w,J] h->[{left(p)},J] + V[w,J] h<-[{right(p)},J] ]"


# The open question in code.


def _drawn(e, states):
    """Parameters of one's own: the same at every call."""
    generator = torch.Generator().manual_seed(1)
    shape = 2, e.shape[1], states.shape[1]
    return torch.randn(shape, generator=generator, dtype=e.dtype) / (e.shape[1] * states.shape[1]) ** 0.5


def _places(p, t):
    """Where the states beside the blanks stand."""
    own = p["states"] == "with own word"
    return (t - 1, t + p["m"]) if own else (t, t + p["m"] - 1)


def _scored(e, forward, backward, before, behind):
    W_f, W_b = _drawn(e, forward)
    return e @ (W_f @ forward[before]) + e @ (W_b @ backward[behind])


def states_of_the_blank(e, forward, backward, t, *, p):
    """Your states have read a blanked word: then it is copied, not predicted. What has each state read?"""
    before, behind = _places(p, t)
    return torch.softmax(_scored(e, forward, backward, before + 1, behind - 1), dim=0)


def a_word_too_far(e, forward, backward, t, *, p):
    """Nothing leaks, but a word that is visible is not used: the states nearer to the blanks have read more."""
    before, behind = _places(p, t)
    return torch.softmax(_scored(e, forward, backward, before - 1, behind + 1), dim=0)


def sides_of_the_wrong_network(e, forward, backward, t, *, p):
    """Each of your states comes from the wrong side: it has read the blanks before it arrives where you take it."""
    before, behind = _places(p, t)
    return torch.softmax(_scored(e, forward, backward, behind + 1, before - 1), dim=0)


def only_from_the_left(e, forward, backward, t, *, p):
    """The words behind the blanks have no effect on your distribution."""
    W_f, _ = _drawn(e, forward)
    return torch.softmax(e @ (W_f @ forward[_places(p, t)[0]]), dim=0)


def nothing_normalised(e, forward, backward, t, *, p):
    """These are scores: they may be negative, and they do not sum to one."""
    return _scored(e, forward, backward, *_places(p, t))


def two_distributions_added(e, forward, backward, t, *, p):
    """Two distributions sum to two."""
    W_f, W_b = _drawn(e, forward)
    before, behind = _places(p, t)
    return torch.softmax(e @ (W_f @ forward[before]), dim=0) + torch.softmax(e @ (W_b @ backward[behind]), dim=0)


def words_without_vectors(e, forward, backward, t, *, p):
    """The word vectors have no effect on your distribution: the question gives them, so use them."""
    generator = torch.Generator().manual_seed(2)
    U, V = torch.randn(2, len(e), forward.shape[1], generator=generator, dtype=e.dtype)
    before, behind = _places(p, t)
    return torch.softmax(U @ forward[before] + V @ backward[behind], dim=0)


def all_states(e, forward, backward, t, *, p):
    """You use all states of both networks, and some of them have read a blanked word."""
    W_f, W_b = _drawn(e, forward)
    return torch.softmax(e @ (W_f @ forward.mean(0) + W_b @ backward.mean(0)), dim=0)


# At the edge.


def never_blanked(p):
    """Then the model could not be asked for the first word, and its loss would leave it out."""
    return "The first word cannot be blanked: there is no state before it."


def first_state(p):
    """That state has read a word, and here it is a blanked one."""
    return "The state after the first word is taken in its place."


def wrap_around(p):
    """That state has read the whole sentence."""
    return "The sentence is read as a circle: the last forward state is taken."


def uniform_word(p):
    """What stands behind the blanks is visible and can be used."""
    return "Then all words are equally likely."


MISTAKES = {
    "distribution": [
        bare_product,
        bare_sum,
        scores,
        over_positions,
        at_the_blank,
        directions_exchanged,
        both_on_the_left,
        one_word_too_far,
        no_projection,
        reads_more,
        not_normalised,
        negative_probabilities,
        without_left,
        without_right,
        wrong_state,
        without_word_vectors,
    ],
    "predict": [
        states_of_the_blank,
        a_word_too_far,
        sides_of_the_wrong_network,
        only_from_the_left,
        nothing_normalised,
        two_distributions_added,
        words_without_vectors,
        all_states,
    ],
    "boundary": [never_blanked, first_state, wrap_around, uniform_word],
}

"""Wrong answers that students give; the docstring is the hint that whoever gives the same answer reads."""

from .code_mistakes import CODE
from .references import before, encoder_line, loss_lines

# The encoder


def other_end(p):
    """Read once more from which end the source is read: which state is there before?"""
    return encoder_line({"reads": "left to right" if p["reads"] == "right to left" else "right to left"})


def bias_added(p):
    """You added the bias. Here a bias is a threshold."""
    return encoder_line(p, sign="+")


def logistic(p):
    """The activation is a hyperbolic tangent."""
    return encoder_line(p, squash="sigma")


def next_word(p):
    """The state g[s] has just read the word at s, not one beside it."""
    return encoder_line(p, word="e[w_{s-1},I]")


def matrix_turned(p):
    """The matrix is the wrong way round: its second index meets the state."""
    return encoder_line(p, matrix="W^h[K,j]")


def adds_the_state(p):
    """A vanilla network writes its state anew; nothing leads around the activation."""
    return f"{encoder_line(p)} + g[{before(p)},j]"


# The loss


def likelihood(p):
    """This is the logarithm of the probability; a loss is large where that is small."""
    return loss_lines(p, sign="")


def no_logarithm(p):
    """These are probabilities; the log loss is wanted."""
    return loss_lines(p, inside="{0}")


def other_mean(p):
    """Read once more whether losses are summed or averaged."""
    return loss_lines({"loss": "sum" if p["loss"] == "mean" else "mean"})


def over_places(p):
    """Your numbers sum to one over the places; at each place, they are a distribution over the words."""
    return loss_lines(p, over="softmax_t")


def scores_alone(p):
    """Scores are no logarithms of probabilities: these sum to one."""
    return f"Loss = -(sum_t S[t,v[t]]){' / T' if p['loss'] == 'mean' else ''}"


def all_words(p):
    """Only the word that stands there counts at each place, not all words of the vocabulary."""
    return f"P[t,w] = softmax_w[S[t,w]]\nLoss = -(sum_{{t,w}} ln(P[t,w])){' / T' if p['loss'] == 'mean' else ''}"


def entropy(p):
    """This is the entropy of the distributions, which does not know the translation."""
    average = " / T" if p["loss"] == "mean" else ""
    return f"P[t,w] = softmax_w[S[t,w]]\nLoss = -(sum_{{t,w}} P[t,w] ln(P[t,w])){average}"


# How far


def encoder_alone(p):
    """The steps of the decoder are missing."""
    return "s" if p["reads"] == "right to left" else "S - s + 1"


def decoder_alone(p):
    """The steps of the encoder are missing."""
    return "t"


def read_from_the_other_end(p):
    """Read once more from which end the source is read."""
    return "S - s + 1 + t" if p["reads"] == "right to left" else "s + t"


def one_less(p):
    """Count both ends: the step that reads the word, and the one that makes the state for place t."""
    return "s + t - 1" if p["reads"] == "right to left" else "S - s + t"


def one_more(p):
    """The thought vector is handed over as it is: that is no step."""
    return "s + t + 1" if p["reads"] == "right to left" else "S - s + 2 + t"


def whole_source(p):
    """The word does not go through the steps that were made before it was read."""
    return "S + t"


# What fits


def one_word_a_bit(p):
    """A word is one of V: how many bits does it take?"""
    return "b*J" if p["asked"] == "words" else "n/b"


def entries_as_words(p):
    """An entry of b bits may hold more than a word, or less."""
    return "J" if p["asked"] == "words" else "n"


def words_as_bits(p):
    """V words are told apart by the logarithm of V bits, not by V."""
    return "b*J/V" if p["asked"] == "words" else "n*V/b"


def natural_logarithm(p):
    """Bits are counted with the logarithm to base 2."""
    return "b*J/ln(V)" if p["asked"] == "words" else "n*ln(V)/b"


def values_for_bits(p):
    """b bits have 2^b values; as many bits as they are, they add up."""
    return "2^b*J/log2(V)" if p["asked"] == "words" else "n*log2(V)/2^b"


# From right to left


def shorter_on_average(p):
    """Add up the steps for all pairs of a word and its translation: is the sum smaller?"""
    return "On average, a word of the source is closer to its own translation."


def all_closer(p):
    """What becomes closer at one end becomes farther at the other."""
    return "Every word of the source is closer to its own translation."


def knows_the_end(p):
    """In which word does reading from right to left begin?"""
    return "The end of the sentence is read last, and the decoder begins with what was read last."


def fewer_steps(p):
    """Both encoders take a step for each word."""
    return "The encoder takes fewer steps, since it need not wait for the end of the sentence."


MISTAKES = {
    **CODE,
    "encoder_equation": [other_end, bias_added, logistic, next_word, matrix_turned, adds_the_state],
    "loss_equation": [likelihood, no_logarithm, other_mean, over_places, scores_alone, all_words, entropy],
    "path": [encoder_alone, decoder_alone, read_from_the_other_end, one_less, one_more, whole_source],
    "capacity": [one_word_a_bit, entries_as_words, words_as_bits, natural_logarithm, values_for_bits],
    "backward": [shorter_on_average, all_closer, knows_the_end, fewer_steps],
}

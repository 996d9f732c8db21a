"""The options of the multiple-choice parts: what is right, and what students answer instead, with a hint."""

ASKS_DECODER = "Queries from the decoder; keys and values from the encoder's output."
ASKS_ENCODER = "Queries from the encoder's output; keys and values from the decoder."
SPLIT = "Queries and keys from the encoder's output; values from the decoder."
DECODER_ONLY = "Queries, keys and values all from the decoder, from the layer below."
ENCODER_ONLY = "Queries, keys and values all from the encoder, from the layer below."


def sources(p):
    return {"cross": ASKS_DECODER, "encoder": ENCODER_ONLY, "decoder": DECODER_ONLY}[p["sublayer"]]


def swapped(p):
    """Who asks, and who is asked? Nothing flows from the decoder back into the encoder."""
    return ASKS_ENCODER


def split(p):
    """Keys and values belong together: a weight says how much of the value is taken where the key was met."""
    return SPLIT


def one_side(p):
    """Look at the figure of the paper once more: which sub-layer has arrows from two sides?"""
    return {"cross": DECODER_ONLY, "encoder": DECODER_ONLY, "decoder": ENCODER_ONLY}[p["sublayer"]]


def other_side(p):
    """Read once more which sub-layer is asked about."""
    return {"cross": ENCODER_ONLY, "encoder": ASKS_DECODER, "decoder": ASKS_DECODER}[p["sublayer"]]


# A printed claim on positions.


def decoder_is_masked(p):
    return r"It is wrong for the decoder, where $\alpha[t,s] = 0$ for $s > t$; it is right for the encoder."


def encoder_is_masked(p):
    """The input is known as a whole: which of the two must not see what comes later?"""
    return r"It is wrong for the encoder, where $\alpha[t,s] = 0$ for $s > t$; it is right for the decoder."


def itself_hidden(p):
    """Then the first position would see nothing at all, and its softmax would have nothing to sum over."""
    return r"It is wrong for the decoder, where $\alpha[t,s] = 0$ for $s \ge t$; it is right for the encoder."


def diagonal_hidden(p):
    """Self-attention may look at the position itself; that is not where its name comes from."""
    return r"It is wrong for both, since $\alpha[t,t] = 0$: no position attends to itself."


def nothing_wrong(p):
    """How does the decoder write one word after the other, if it has seen them all?"""
    return "It is right for both."


# A printed path.


def second_line(p):
    return "Line 2 breaks: a layer of width 2 carries information one position further, so it takes $n - 1$ layers."


def first_line(p):
    """Line 1 is right: a kernel of width 2 reads two neighbours."""
    return "Line 1 breaks: a kernel of width 2 links each position with the two beside it."


def third_line(p):
    """Half of a number grows in proportion to it: line 3 follows from line 2."""
    return "Lines 1 and 2 hold, and line 3 breaks: the number of layers grows like a logarithm."


def no_line(p):
    """Try n = 4 with a pencil: how many layers of width 2 until the last position has seen the first?"""
    return "No line breaks: in each layer a kernel of width 2 joins two neighbours, so that $n/2$ layers join all $n$."


# One head instead of many.


def distributions_lost(p):
    return (
        "Parameters and the cost of the matrix products stay the same; each position has one distribution instead of "
        f"{p['h']}."
    )


def times_heads(p):
    """Count the products: a head of an h-th of the width costs an h-th."""
    return f"The matrix products become {p['h']} times as expensive."


def parameters_divided(p):
    """The one head is as many times wider as there were heads before."""
    return f"The layer has {p['h']} times fewer parameters."


def sequential(p):
    """Positions are computed in parallel whether there is one head or many."""
    return "The positions can no longer be computed in parallel."


def averaged_before(p):
    """The heads' results stand side by side before the output matrix mixes them."""
    return (
        "Nothing changes: the heads' results are averaged anyhow, and the average of several distributions is one "
        "distribution over the same positions."
    )


# A printed claim on heads.


def same_cost(p):
    return "Line 4: one head of width $d$ costs as much as $h$ heads of width $d/h$ together."


def not_jointly(p):
    """Line 1 is what heads are for: each has its own matrices and its own softmax."""
    return "Line 1: all heads share one softmax, so that they attend to the same positions."


def not_parallel(p):
    """Line 2 is right: no head waits for another one."""
    return "Line 2: each head needs the result of the head before it."


def not_cheaper_each(p):
    """Line 3 is right: count one head's products, with its own width."""
    return "Line 3: each head costs as much as a head of full width, since it reads the whole sequence as well."


# BERT.


def selected_tokens(p):
    return (
        "Some of the words of the input: about 15 % are selected to be predicted, and most of these are replaced by "
        "[MASK]. Attention sees both sides."
    )


def attention_masked(p):
    """No weight is masked there: that would hide whole positions, not words."""
    return "About 15 % of the attention weights, chosen at random."


def all_replaced(p):
    """Then the model would never see a true word at a position that it must predict; read section 3.1 again."""
    return "About 15 % of the words, every one of which is replaced by [MASK]. Attention sees both sides."


def left_to_right(p):
    """What does the B in BERT stand for?"""
    return (
        "Some of the words of the input: about 15 % are selected to be predicted, and from each of them attention sees "
        "the words on its left side only, as in a decoder."
    )


def rest_masked(p):
    """Then there would be hardly anything left to predict from."""
    return "About 85 % of the words; the model sees the other 15 %. Attention sees both sides."


def learned_positions(p):
    return "Its position vectors are learned parameters, and the input begins with a token [CLS]."


def sinusoids_too(p):
    """Sinusoids are those of the Transformer of 2017; what did BERT do instead?"""
    return "Its position vectors are sinusoids, as before; apart from segments the two inputs are the same."


def no_positions(p):
    """Without positions, the order of the words would make no difference to any layer."""
    return "It has no position vectors, since it reads in both directions."


def joined(p):
    """They all have the same width, and there is one addition for each."""
    return "Its word, segment and position vectors are concatenated; before, words and positions were added."


def fixed_segments(p):
    """They are rows of a table like any other."""
    return "Its segment vectors are fixed: 0 for the first sentence, 1 for the second, in every coordinate."

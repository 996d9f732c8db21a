"""Wrong answers that students give; the docstring is the hint that whoever gives the same answer reads."""

import re

from .code_mistakes import CODE
from .references import counted, feed_forward_lines, sublayer_lines

# The feed-forward layer


def no_activation(p):
    """Without an activation between them, two matrices are one."""
    return feed_forward_lines(p, activation="{0}")


def other_activation(p):
    """Read once more which activation function the layer has here."""
    return feed_forward_lines(p, activation="({0}) sigma({0})" if p["activation"] == "relu" else "relu({0})")


def biases_added(p):
    """You added the biases. Here a bias is a threshold."""
    return feed_forward_lines(p).replace("- B", "+ B")


def activation_at_the_end(p):
    """There is no activation behind the second matrix."""
    lines = feed_forward_lines(p).replace("O[t,j]", "o[t,j]")
    return f"{lines}\nO[t,j] = relu(o[t,j])"


def bias_behind_the_activation(p):
    """The first bias belongs to the argument of the activation."""
    lines = feed_forward_lines(p, inner="W^FF1[f,J] {0}[t,J]")
    return lines.replace("h[t,F]", "(h[t,F] - B^FF1[F])")


def stream_added(p):
    """The layer alone is wanted, without the way past it."""
    return feed_forward_lines(p, after=" + L[t,j]")


def positions_mixed(p):
    """The layer is applied to each position by itself; yours sums over all positions."""
    return feed_forward_lines(p, inner="W^FF1[f,J] (sum_{t'} {0}[t',J]) - B^FF1[f]")


def one_bias_missing(p):
    """Both matrices have a bias."""
    return feed_forward_lines(p).replace(" - B^FF2[j]", "")


# Backwards


def stream_forgotten(p):
    """The stream itself also passes: that derivative is missing."""
    return "D[t,i] = G[t,J] W^FF2[J,F] s[t,F] W^FF1[F,i]"


def slope_forgotten(p):
    """The slope of the activation is missing."""
    return "D[t,i] = G[t,i] + G[t,J] W^FF2[J,F] W^FF1[F,i]"


def stream_multiplied(p):
    """Two ways add up; you multiplied them."""
    return "D[t,i] = G[t,i] (G[t,J] W^FF2[J,F] s[t,F] W^FF1[F,i])"


def identity_instead(p):
    """Along the stream, it is G that passes, not the number one."""
    return "D[t,i] = 1 + G[t,J] W^FF2[J,F] s[t,F] W^FF1[F,i]"


def slope_at_the_end(p):
    """There is no activation behind the second matrix; the slope belongs between the two."""
    return "D[t,i] = G[t,i] + G[t,J] W^FF2[J,F] W^FF1[F,i] (sum_f s[t,f])"


def other_positions_too(p):
    """The layer does not mix positions, so its derivative does not, either."""
    return "D[t,i] = G[t,i] + sum_{t'} G[t',J] W^FF2[J,F] s[t',F] W^FF1[F,i]"


def branch_subtracted(p):
    """The biases are subtracted, the layer's result is added."""
    return "D[t,i] = G[t,i] - G[t,J] W^FF2[J,F] s[t,F] W^FF1[F,i]"


# What a position knows


def all_positions(p):
    """Which of the layers that are left brings vectors of two positions together?"""
    return "On the vectors at all positions of the input."


def earlier_positions(p):
    """A mask says where attention may look. Is there any attention left?"""
    return "On the vectors at position $t$ and at all earlier ones."


def neighbours(p):
    """Layers of a convolution would see neighbours. Does one of those that are left?"""
    return "On the vectors at as many positions to either side of $t$ as there are blocks."


# The way past the layer


def other_norm(p):
    """Read once more whether this norm subtracts a mean."""
    return sublayer_lines(p, kind="rms" if p["norm"] == "layer" else "layer")


def other_place(p):
    """Read once more where the norm stands."""
    return sublayer_lines(p, place="after" if p["place"] == "before" else "before")


def no_way_past(p):
    """Nothing leads around your layer."""
    return sublayer_lines(p, skip="")


def normalised_stream_carried(p):
    """You carry the normalised stream past the layer; the stream itself is carried past."""
    return sublayer_lines(p, skip="N[t,j] + ") if p["place"] == "before" else None


def root_forgotten(p):
    """You divide by a mean of squares; the root is missing."""
    return sublayer_lines(p, root="({0})")


def sum_for_mean(p):
    """A sum of squares is no mean: divide by how many there are."""
    return sublayer_lines(p, divisor="1")


def unbiased(p):
    """The mean of the squares divides by J, not by J - 1."""
    return sublayer_lines(p, divisor="(J-1)")


def gain_forgotten(p):
    """The gain is missing."""
    return sublayer_lines(p, gain="")


def over_positions(p):
    """You normalise over the positions; each position's vector is normalised by itself."""
    lines = sublayer_lines(p, over="t'", divisor="T").replace("/ J", "/ T")
    return re.sub("([XR])\\[t,t'\\]", r"\1[t',j]", lines).replace("m[t]", "m[j]").replace("v[t]", "v[j]")


def epsilon_outside(p):
    """Epsilon stands under the root."""
    return sublayer_lines(p).replace("sqrt(v[t] + epsilon)", "(sqrt(v[t]) + epsilon)")


# A block with closed branches


def unchanged(p):
    """The stream passes through two norms, which stand after the additions."""
    return "It is its input, unchanged." if p["place"] == "after" else None


def normalised(p):
    """Where do the norms stand: in the way past the layers, or in the branches?"""
    if p["place"] == "after":
        return None
    return "It is its input with the norms applied to it, so it depends on the input and on the gains."


def zero(p):
    """The branches are closed; is there another way?"""
    return "It is zero, whatever the input is."


def average(p):
    """What the attention sees is multiplied by a matrix of zeros."""
    return "It is the average of the input's vectors over all positions that are looked at."


# Counts


def no_norms(p):
    """The gains of the norms are missing."""
    return counted(p, gains="0")


def norms_with_biases(p):
    """Here a norm has gains only."""
    return counted(p, gains="6*J" if p["stack"] == "decoder" else "4*J")


def no_biases(p):
    """The biases of the feed-forward layer are missing."""
    return counted(p, inner="2*J*F")


def three_matrices(p):
    """An attention layer has four matrices, that of its output included."""
    return counted(p, attention="3*J^2")


def times_heads(p):
    """Together the heads have width J: their number does not matter."""
    return counted(p, attention="4*K*J^2")


def one_inner_matrix(p):
    """The feed-forward layer has two matrices."""
    return counted(p, inner="J*F + F + J")


def other_stack(p):
    """Count once more how many attention layers such a block has."""
    return counted({"stack": "encoder" if p["stack"] == "decoder" else "decoder"})


def one_block(p):
    """This is one block; there are N."""
    return counted(p)[2:]


# Pairs


def one_product_of_pairs(p):
    """There are two products of pairs: of queries with keys, and of weights with values."""
    return {"all": "4*J + 2*F", "inner and output": "2*F + J", "projections": "4*J"}[p["compared"]]


def one_product_inside(p):
    """The feed-forward layer has two products, each with J times F numbers."""
    return {"all": "2*J + F/2", "inner and output": "F/2 + J/2", "projections": "J"}[p["compared"]]


def other_comparison(p):
    """Read once more what the pairs are compared with."""
    return {"all": "F", "inner and output": "F + 2*J", "projections": "2*J + F"}[p["compared"]]


def squared(p):
    """Divide both sides by what they have in common."""
    return {"all": "2*J^2 + J*F", "inner and output": "J*F + J^2/2", "projections": "2*J^2"}[p["compared"]]


def no_output_matrix(p):
    """The output matrix is one of the products."""
    return {"all": "3*J/2 + F", "inner and output": "F", "projections": "3*J/2"}[p["compared"]]


MISTAKES = {
    **CODE,
    "feed_forward_equations": [
        no_activation,
        other_activation,
        biases_added,
        activation_at_the_end,
        bias_behind_the_activation,
        stream_added,
        positions_mixed,
        one_bias_missing,
    ],
    "backward": [
        stream_forgotten,
        slope_forgotten,
        stream_multiplied,
        identity_instead,
        slope_at_the_end,
        other_positions_too,
        branch_subtracted,
    ],
    "reach": [all_positions, earlier_positions, neighbours],
    "sublayer_equations": [
        other_norm,
        other_place,
        no_way_past,
        normalised_stream_carried,
        root_forgotten,
        sum_for_mean,
        unbiased,
        gain_forgotten,
        over_positions,
        epsilon_outside,
    ],
    "closed": [unchanged, normalised, zero, average],
    "block_count": [
        no_norms,
        norms_with_biases,
        no_biases,
        three_matrices,
        times_heads,
        one_inner_matrix,
        other_stack,
        one_block,
    ],
    "break_even": [one_product_of_pairs, one_product_inside, other_comparison, squared, no_output_matrix],
}

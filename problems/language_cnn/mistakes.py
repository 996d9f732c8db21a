"""Wrong answers that students give; the docstring is the hint that whoever gives the same answer reads."""

import torch

from .references import layer_equation, shorter

# The embedding layer, typed.


def position_embedded(p):
    """Your table is read at the position: it has one row for each word of the vocabulary."""
    return ("L_0[t,b,i] = e[t,i]" if p["order"] == "time first" else "L_0[b,t,i] = e[t,i]") + " + 0*w[b,t]"


def _embedding(p, words=None, body="e[w[{0}],i]", extra=None):
    left = "t,b" if p["order"] == "time first" else "b,t"
    extra = (" + r[t,i]" if p["position"] else "") if extra is None else extra
    return f"L_0[{left},i] = " + body.format(words or left) + extra


def table_transposed(p):
    """The table's rows are words and its columns entries: which index comes first?"""
    return _embedding(p, body="e[i,w[{0}]]")


def words_transposed(p):
    """Look at the order of the two indices of w."""
    return _embedding(p, words="b,t" if p["order"] == "time first" else "t,b")


def words_added_up(p):
    """You added up all words of a sentence: a layer has a vector for each position."""
    words = "s,b" if p["order"] == "time first" else "b,s"
    return _embedding(p, words=words, body="sum_s e[w[{0}],i]")


def word_times_vector(p):
    """A word's number picks a row of the table; it is not a quantity to be multiplied with."""
    return _embedding(p, body="w[{0}] e[1,i]")


def position_the_other_way(p):
    """Read once more what the vector of a position is made of here: whether the position itself has a vector."""
    return _embedding(p, extra="" if p["position"] else " + e[t,i]")


# The layer, typed. `at` is the place of tap Dt, `filter_` the entry of W.


def _signed(p):
    return "+" if p["look"] == "ahead" else "-"


def unit_stride(p):
    """The windows of neighbouring outputs lie one place apart in yours: where is the stride?"""
    return layer_equation(p, at=f"t{_signed(p)}{p['gap']}Dt")


def stride_of_the_taps(p):
    """The stride is how far the window moves when t grows by one, not how far apart its taps are."""
    return layer_equation(p, at=f"t{_signed(p)}{p['stride'] * p['gap']}Dt")


def looks_the_other_way(p):
    """Your taps lie on the other side of the place where the window stands."""
    return layer_equation(p, at=f"{p['stride']}t{'-' if p['look'] == 'ahead' else '+'}{p['gap']}Dt")


def other_gap(p):
    """The stride is right; how far apart are neighbouring taps of one window here?"""
    return layer_equation(p, at=f"{p['stride']}t{_signed(p)}{3 - p['gap']}Dt")


def added_bias(p):
    """You added the bias. In this course's convention it is a threshold: look at its sign."""
    return layer_equation(p, bias=" + B_{l+1}[i]")


def bias_in_every_tap(p):
    """The bias stands inside your sum over the taps, so it is subtracted once for each of them."""
    return layer_equation(p, bias=" - D*B_{l+1}[i]")


def bias_outside(p):
    """The threshold belongs inside the activation function."""
    return layer_equation(p, bias="", outside=" - B_{l+1}[i]")


def channels_mixed_up(p):
    """Read once more which entries of the vectors below an entry above is made of: all, or one?"""
    if p["filters"] == "full":
        return layer_equation(p, body="sum_{{Dt}} W_{{l+1}}[Dt,i,i] L_l[b,{0},i]")
    return layer_equation(p, body="sum_{{Dt,i'}} W_{{l+1}}[Dt,i'] L_l[b,{0},i'] + 0*B_{{l+1}}[i]")


def wrong_filter_index(p):
    """Which entry of W belongs to which tap and which entries? One of its indices is not where it should be."""
    if p["filters"] == "full":
        return layer_equation(p, body="sum_{{Dt,i'}} W_{{l+1}}[Dt,i,i'] L_l[b,{0},i']")
    return layer_equation(p, body="sum_{{Dt}} W_{{l+1}}[0,i] L_l[b,{0},i]")


def other_activation(p):
    """This is another activation function than the one that the layers have here."""
    return layer_equation(p, f="tanh" if p["activation"] != "tanh" else "sigma")


def no_activation(p):
    """Without an activation function, all layers together are one linear map."""
    return layer_equation(p, f="")


# The embedding layer, as code.


def _padded(L0, w, p):
    return L0 * (w != 0)[..., None] if p["padding"] else L0


def transposed_words(w, e, *, p):
    """Your result has the axes of w exchanged."""
    return _padded(e[w.T], w.T, p)


def width_first(w, e, *, p):
    """The entries of the vectors are your first axis; they should be the last."""
    return _padded(e[w], w, p).permute(2, 0, 1).contiguous()


def positions(w, e, *, p):
    """You looked up the positions in the table, whatever word stands there."""
    t = torch.arange(w.numel()).view(w.shape) % len(e)
    return _padded(e[t], w, p)


def word_as_factor(w, e, *, p):
    """A word's number picks a row of the table; it is not a quantity to be multiplied with."""
    return w[..., None] * e[0]


def bag_of_words(w, e, *, p):
    """You added up all words of a sentence: a layer has a vector for each position."""
    return _padded(e[w], w, p).sum(0 if p["order"] == "time first" else 1)


def other_padding(w, e, *, p):
    """Read once more what is said about word 0."""
    return e[w] if p["padding"] else e[w] * (w != 0)[..., None]


def detached_table(w, e, *, p):
    """The values are right, but no gradient reaches the table: it could never be trained."""
    return _padded(e.detach()[w], w, p)


# The layer, as code.


def _act(z, p):
    return {"sigma": torch.sigmoid, "tanh": torch.tanh, "relu": torch.relu}[p["activation"]](z)


def _products(L, W, p, stride=None, gap=None, look=None, shift=None):
    """The products of each tap, before they are added: [D,B,T',I]; places before the first count as zero."""
    stride, gap, look = stride or p["stride"], gap or p["gap"], look or p["look"]
    D, T = len(W), L.shape[1]
    length = (T - gap * (D - 1) - 1) // stride + 1 if look == "ahead" else (T - 1) // stride + 1
    taps = []
    for d in range(D):
        places = [stride * t + (gap if look == "ahead" else -gap) * d for t in range(length)]
        rows = [L[:, s] if 0 <= s < T else 0 * L[:, 0] for s in places]
        x = torch.stack(rows, 1) if rows else L[:, :0]
        taps.append(x @ W[d] if p["filters"] == "full" else x * W[d])
    return torch.stack(taps)


def stride_one(L, W, B, *, p):
    """The windows of neighbouring outputs lie one place apart in yours: where is the stride?"""
    return _act(_products(L, W, p, stride=1).sum(0) - B, p)


def half_speed(L, W, B, *, p):
    """Your window moves more slowly than t: you divided by the stride."""
    z = _products(L, W, p, stride=1).sum(0) - B
    t = torch.arange((z.shape[1] - 1) // p["stride"] + 1) // p["stride"]
    return _act(z[:, t], p)


def stride_on_taps(L, W, B, *, p):
    """The stride is how far the window moves when t grows by one, not how far apart its taps are."""
    return _act(_products(L, W, p, stride=1, gap=p["stride"] * p["gap"]).sum(0) - B, p)


def flipped(L, W, B, *, p):
    """Your taps lie on the other side of the place where the window stands."""
    return _act(_products(L, W, p, look="back" if p["look"] == "ahead" else "ahead").sum(0) - B, p)


def plus_bias(L, W, B, *, p):
    """You added the bias. In this course's convention it is a threshold: look at its sign."""
    return _act(_products(L, W, p).sum(0) + B, p)


def bias_per_tap(L, W, B, *, p):
    """The bias stands inside your sum over the taps, so it is subtracted once for each of them."""
    return _act((_products(L, W, p) - B).sum(0), p)


def bias_after(L, W, B, *, p):
    """The threshold belongs inside the activation function."""
    return _act(_products(L, W, p).sum(0), p) - B


def mixed_channels(L, W, B, *, p):
    """Read once more which entries of the vectors below an entry above is made of: all, or one?"""
    if p["filters"] == "full":
        n = min(W.shape[1:])
        diagonal = torch.diagonal(W[:, :n, :n], dim1=1, dim2=2)
        z = _products(L[:, :, :n], diagonal, {**p, "filters": "depthwise"}).sum(0)
        return _act(torch.cat([z, z.new_zeros(*z.shape[:2], len(B) - n)], 2) - B, p)
    return _act(_products(L, W, p).sum(0).sum(-1, keepdim=True) - B, p)


def filter_index(L, W, B, *, p):
    """Which entry of W belongs to which tap and which entries? One of its indices is not where it should be."""
    if p["filters"] == "full":
        other = W.reshape(len(W), W.shape[2], W.shape[1]).mT  # the entries in another order
        return _act(_products(L, other, p).sum(0) - B, p)
    return _act(_products(L, W[:1].expand_as(W), p).sum(0) - B, p)


def taps_reversed(L, W, B, *, p):
    """The window is right, but its taps meet the filter in the reverse order."""
    return _act(_products(L, W.flip(0), p).sum(0) - B, p)


def largest_tap(L, W, B, *, p):
    """You kept the largest of the taps, as pooling does: a convolution adds them."""
    return _act(_products(L, W, p).amax(0) - B, p)


def ignores_gap(L, W, B, *, p):
    """The stride is right; how far apart are neighbouring taps of one window here?"""
    return _act(_products(L, W, p, gap=3 - p["gap"]).sum(0) - B, p)


def other_boundary(L, W, B, *, p):
    """Look again at what happens at the ends of the sentence, and at how many outputs there are."""
    span = p["gap"] * (len(W) - 1)
    if p["look"] == "back":  # without padding
        return _act(_products(L, W.flip(0), p, look="ahead").sum(0) - B, p)
    behind = torch.cat([L, L.new_zeros(len(L), span, L.shape[2])], 1)
    return _act(_products(behind, W, p).sum(0) - B, p)


def linear(L, W, B, *, p):
    """Without an activation function, all layers together are one linear map."""
    return _products(L, W, p).sum(0) - B


def other_function(L, W, B, *, p):
    """This is another activation function than the one that the layers have here."""
    return _act(_products(L, W, p).sum(0) - B, {**p, "activation": "sigma" if p["activation"] == "tanh" else "tanh"})


def capped(L, W, B, *, p):
    """Your activation function is cut off above: try it on large numbers."""
    return _act(_products(L, W, p).sum(0) - B, p).clamp(max=6 if p["activation"] == "relu" else 0.5)


def detached_filter(L, W, B, *, p):
    """The values are right, but no gradient reaches the filter: it could never be trained."""
    return _act(_products(L, W.detach(), p).sum(0) - B, p)


# Lengths.


def one_layer_only(p):
    """This is the length after one layer."""
    return shorter(p["T"], p)


def without_the_first(p):
    """The first output stands at 0: count it too."""
    T, span = p["T"], p["gap"] * (p["D"] - 1) if p["look"] == "ahead" else 0
    for _ in range(p["L"]):
        T = (T - span - 1) // p["stride"]
    return T


def divided(p):
    """You divided by the stride in each layer; what remains at the ends counts as well."""
    return p["T"] // p["stride"] ** p["L"]


def without_stride(p):
    """Each layer does more than lose the ends: look at the stride."""
    return p["T"] - p["L"] * p["gap"] * (p["D"] - 1)


def other_boundary_length(p):
    """Look again at what happens at the ends of a sentence here: is anything padded?"""
    T = p["T"]
    for _ in range(p["L"]):
        T = shorter(T, p, look="back" if p["look"] == "ahead" else "ahead")
    return T


# The receptive field.


def _field(p, gap=None, one="1 + "):
    return f"{one}{gap or p['gap']}*(D-1)*({p['stride']}^L - 1)/{p['stride'] - 1}"


def without_one(p):
    """Try one tap: how many words does an output see then?"""
    return _field(p, one="")


def layers_of_stride_one(p):
    """This is a stack without stride: each layer here multiplies the distances of the layers above it."""
    return f"1 + {p['gap']}*L*(D-1)"


def power_of_taps(p):
    """Windows of neighbouring outputs overlap, so that the taps do not multiply."""
    return "D^L"


def last_layer_only(p):
    """You have the reach of one layer in words; those of all layers add up."""
    return f"1 + {p['gap']}*(D-1)*{p['stride']}^(L-1)"


def one_power_too_many(p):
    """Try one layer: an output sees one window, whatever the stride is."""
    return f"1 + {p['gap']}*(D-1)*({p['stride']}^(L+1) - 1)/{p['stride'] - 1}"


def field_of_other_gap(p):
    """How far apart are neighbouring taps of one window here?"""
    return _field(p, gap=3 - p["gap"])


# Parameters.


def _counted(p, words="V*I + ", layers="L*", filters=None, bias="I"):
    filters = filters or ("D*I^2" if p["filters"] == "full" else "D*I")
    return f"{words}{layers}({filters} + {bias})"


def no_words(p):
    """The word vectors are parameters too."""
    return _counted(p, words="")


def no_biases(p):
    """Each layer has biases."""
    return _counted(p, bias="0")


def one_layer(p):
    """Each layer has parameters of its own."""
    return _counted(p, layers="")


def filters_of_the_other_kind(p):
    """On which entries below does an entry above depend here? The filter has that many numbers for each tap."""
    return _counted(p, filters="D*I" if p["filters"] == "full" else "D*I^2")


def biases_per_tap(p):
    """There is one bias for each entry, not one for each tap of it."""
    return _counted(p, bias="D*I")


def times_length(p):
    """The table has a row for each word of the vocabulary, and each row has I entries."""
    return _counted(p, words="V + ")


# Parallel time.


def all_positions_in_turn(p):
    """No position of a layer waits for another position of the same layer."""
    return "O(L T)"


def one_step_for_all(p):
    """A layer has to wait for the layer below."""
    return "O(1)"


def logarithm_of_length(p):
    """The number of layers is given: it is L, whatever the length of the sentence is."""
    return "O(ln T)"


def logarithm_a_layer(p):
    """Each output of a layer adds up a window whose size does not grow with T."""
    return "O(L ln T)"


def sum_of_both(p):
    """Does any position wait for its neighbour on the left, as the state of an RNN does?"""
    return "O(T + L)"


def length_of_the_top(p):
    """The length of a layer is how much work there is, not how long it takes when all is done at once."""
    return "O(T/2^L)"


def other_direction(p):
    """Draw who waits for whom: when can the second layer begin with its first state?"""
    return "O(T L)" if p["rnn"] == "one way" else "O(T + L)"


def no_layers(p):
    """This is the time of one layer of RNN."""
    return "O(T)"


def no_length(p):
    """A state has to wait for the state before it."""
    return "O(L)"


def tree(p):
    """A cell is not linear, so that its steps cannot be summed up in a tree."""
    return "O(L ln T)"


def square(p):
    """You let each state wait for more than the states before it."""
    return "O(T^2)"


def linear_tree(p):
    """Each layer divides the length: how often can that be done?"""
    return "O(T)"


def constant_tree(p):
    """Longer sentences need more layers, and each layer waits for the one below."""
    return "O(1)"


def root_tree(p):
    """Each layer divides the length by the same number: it does not take the square root."""
    return "O(sqrt(T))"


def tree_in_turn(p):
    """There are T + T/2 + … windows in all, yet those of one layer are computed at once."""
    return "O(T ln T)"


# The misprint.


def sign_of_bias(p):
    """The sign is this course's convention: a bias is a threshold."""
    return r"The bias must be added, not subtracted."


def index_of_taps(p):
    """The stride multiplies the place of the output; the taps of a window lie side by side here."""
    return r"The place must be $t + 2\Delta t$: the stride belongs to the taps."


def sum_over_i(p):
    """Sums run over what the left side does not have: the entries below."""
    return r"The sum must run over $i$ instead of $i'$: $i$ is the entry above, to which all entries below contribute."


def outer_sum(p):
    """An activation function is applied once, to the whole sum."""
    return r"The sum over $\Delta t$ must stand outside of $\sigma$."


MISTAKES = {
    "embedding": [
        position_embedded,
        table_transposed,
        words_transposed,
        words_added_up,
        word_times_vector,
        position_the_other_way,
    ],
    "layer": [
        unit_stride,
        stride_of_the_taps,
        looks_the_other_way,
        other_gap,
        added_bias,
        bias_in_every_tap,
        bias_outside,
        channels_mixed_up,
        wrong_filter_index,
        other_activation,
        no_activation,
    ],
    "embed": [transposed_words, width_first, positions, word_as_factor, bag_of_words, other_padding, detached_table],
    "conv": [
        stride_one,
        half_speed,
        stride_on_taps,
        flipped,
        plus_bias,
        bias_per_tap,
        bias_after,
        mixed_channels,
        filter_index,
        taps_reversed,
        largest_tap,
        ignores_gap,
        other_boundary,
        linear,
        other_function,
        capped,
        detached_filter,
    ],
    "length": [one_layer_only, without_the_first, divided, without_stride, other_boundary_length],
    "receptive_field": [
        without_one,
        layers_of_stride_one,
        power_of_taps,
        last_layer_only,
        one_power_too_many,
        field_of_other_gap,
    ],
    "parameters": [no_words, no_biases, one_layer, filters_of_the_other_kind, biases_per_tap, times_length],
    "cnn_time": [
        all_positions_in_turn,
        one_step_for_all,
        logarithm_of_length,
        logarithm_a_layer,
        sum_of_both,
        length_of_the_top,
    ],
    "rnn_time": [other_direction, no_layers, no_length, tree, square],
    "tree_time": [linear_tree, constant_tree, root_tree, tree_in_turn],
    "printed_error": [sign_of_bias, index_of_taps, sum_over_i, outer_sum],
}

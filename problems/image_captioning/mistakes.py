"""Wrong answers that students give; the docstring is the hint that whoever gives the same answer reads."""

import torch

from .references import cell, derivative, distribution, first_state, head, score, update, values, weights, whole_V

# The distribution of the next word.


def later_state(p):
    """The state h[t] has read the word w_t that is to be predicted."""
    return distribution(p, h="h[t,J]")


def scores_of_words(p):
    """These are scores: a distribution over the words sums to one."""
    return distribution(p, f="")


def other_use_of_V(p):
    """Read once more whether the same step's V enters the distribution here."""
    return distribution(p, use="next step" if p["use"] == "same step" else "same step")


def two_softmaxes(p):
    """You normalised something that is already a distribution, or half of the scores: one softmax is enough."""
    inside = distribution(p).split("= ", 1)[1]
    return f"Q[w] = {inside}\nP[w] = softmax_w[Q[w]]"


def sign_of_scores(p):
    """The word with the largest score would be the least likely."""
    return distribution(p).replace("[ e[w,I]", "[ -e[w,I]").replace(" + e", " - e")


# The attention.


def over_y(p):
    """Your weights sum to one for each column by itself: there is one distribution over all places."""
    return weights(p, over="y")


def over_x(p):
    """Your weights sum to one for each row by itself: there is one distribution over all places."""
    return weights(p, over="x")


def product_of_two(p):
    """A softmax over x times a softmax over y is no distribution over the places: it does not sum to one."""
    s = f"({score(p)})" + (" / tau" if p["temperature"] else "")
    n, place = head(p), cell(p)
    third = f" softmax_f[s[{n}{place}]]" if p["memory"] == "video" else ""
    return f"s[{n}{place}] = {s}\nalpha[{n}{place}] = softmax_x[s[{n}{place}]] softmax_y[s[{n}{place}]]{third}"


def raw_weights(p):
    """These are scores, which may be negative; weights sum to one."""
    return weights(p).replace(f"softmax_{{{cell(p)}}}[", "(").replace(" ]", ")")


def scaled_by_root(p):
    """You divided by a square root that this attention does not have."""
    return weights(p, temperature=(" / tau" if p["temperature"] else "") + " / sqrt(K)")


def other_temperature(p):
    """Read once more what the scores are divided by here, if by anything."""
    return weights(p, temperature=" * tau" if p["temperature"] else " / J")


def own_step(p):
    """The weights of step t are needed before the state h[t] is there."""
    return weights(p, h="h[t,J]")


def equal_weights(p):
    """All places have the same weight: then the state has no say in where to look."""
    total = "F X Y" if p["memory"] == "video" else "X Y"
    return f"alpha[{head(p)}{cell(p)}] = 1/({total}) + 0*({score(p)})"


def other_scores(p):
    """This is another way to compare a state with a place: read once more which one is asked for."""
    turned = {**p, "score": "additive" if p["score"] == "bilinear" else "bilinear"}
    return weights(turned)


# What is looked at.


def averaged(p):
    """This is the plain average over all places: where are the weights?"""
    total = "F X Y" if p["memory"] == "video" else "X Y"
    return values(p, alpha=f"1/({total})")


def averaged_again(p):
    """The weights sum to one, so that the sum is an average already."""
    return values(p, after=" / (F X Y)" if p["memory"] == "video" else " / (X Y)")


def turned_over(p):
    """The weight of a place must meet the features of the same place: look at the order of x and y."""
    turned = cell(p).replace("x,y", "y,x")
    return values(p, alpha=f"alpha[{head(p)}{turned}]")


def weights_squared(p):
    """Each weight enters once."""
    return values(p, after=f" alpha[{head(p)}{cell(p)}]")


def other_values(p):
    """Read once more what is averaged: the features themselves, or what a matrix makes of them?"""
    return values({**p, "values": "plain" if p["values"] == "mapped" else "mapped"})


def one_column(p):
    """You summed over one of the axes of the picture only."""
    return values(p).replace(f"sum_{{{cell(p)}}}", f"sum_{{{cell(p)[:-2]}}}").replace("y]", "1]").replace("y,", "1,")


# The next state.


def order_of_arguments(p):
    """CELL takes the previous state first, then what was looked at, then the word."""
    return f"h[t,J] = CELL({whole_V(p)}, h[t-1,J], e[w_t,I])"


def word_before(p):
    """That word has been read in the step before."""
    return update(p, third="e[w_{t-1},I]")


def blind(p):
    """Nothing that was looked at enters your state."""
    return "h[t,J] = CELL(h[t-1,J], e[w_t,I])"


def no_word(p):
    """The word that was written does not enter your state."""
    return f"h[t,J] = CELL(h[t-1,J], {whole_V(p)})"


def state_of_two_steps_ago(p):
    """Your state skips a step."""
    return update(p, first="h[t-2,J]")


def whole_memory(p):
    """CELL takes what was looked at, not everything that there is to look at."""
    return update(p, second=f"M[{cell(p).upper()},K]")


# The first state.


def total_not_mean(p):
    """This is the sum over all places; larger pictures would begin with larger states."""
    return first_state(p, before="")


def divided_by_one_side(p):
    """How many places are there in all?"""
    return first_state(p, before="1/X ")


def one_corner(p):
    """You took a single place; all of them belong to the average."""
    return first_state(p, before="", body=f"M[{','.join('1' for _ in cell(p).split(','))},K]")


def weighted_mean(p):
    """There are no weights yet: to have any, a state is needed."""
    return first_state(p, before="", body=f"(sum_{{{cell(p)}}} beta[{cell(p)}] M[{cell(p)},K])")


# The derivative.


def no_normaliser(p):
    """When one score grows, all other weights shrink: the softmax has a denominator."""
    return derivative(p, body="beta[{0}] M[{0},k]")


def logistic_derivative(p):
    """This is how the place's own weight changes; the other places give way and enter as well."""
    return derivative(p, body="beta[{0}] (1 - beta[{0}]) M[{0},k]")


def wrong_way_round(p):
    """More weight on a place moves c towards the place, not away from it."""
    return derivative(p, body="beta[{0}] (c[k] - M[{0},k])")


def not_weighted(p):
    """A place without weight can hardly move anything."""
    return derivative(p, body="M[{0},k] - c[k]")


def weight_on_one(p):
    """Collect the terms once more: one of the two lacks the weight."""
    return derivative(p, body="beta[{0}] M[{0},k] - c[k]")


# The attention, as code.


def _looked_at(alpha, M):
    """V of all heads side by side."""
    return torch.einsum("bns,bsk->bnk", alpha, M.flatten(1, -2)).flatten(1)


def _scored(h, M, W_key):
    return torch.einsum("bj,njk,bsk->bns", h, W_key, M.flatten(1, -2))


def _shaped(alpha, M):
    return alpha.reshape(len(M), -1, *M.shape[1:-1])


def last_axis_only(h, M, W_key, tau):
    """Your weights sum to one for each column by itself: there is one distribution over all places."""
    s = _shaped(_scored(h, M, W_key) / tau, M)
    alpha = torch.softmax(s, -1)
    return alpha, _looked_at(alpha.flatten(2), M)


def first_axis_only(h, M, W_key, tau):
    """You normalised over one axis of the places: there is one distribution over all of them."""
    alpha = torch.softmax(_shaped(_scored(h, M, W_key) / tau, M), 2)
    return alpha, _looked_at(alpha.flatten(2), M)


def axis_by_axis(h, M, W_key, tau):
    """A softmax over x times a softmax over y is no distribution over the places: it does not sum to one."""
    s = _shaped(_scored(h, M, W_key) / tau, M)
    alpha = torch.softmax(s, -1) * torch.softmax(s, -2)
    return alpha, _looked_at(alpha.flatten(2), M)


def pooled(h, M, W_key, tau):
    """What is looked at is the plain average of all places: the weights have no effect on it."""
    alpha = torch.softmax(_scored(h, M, W_key) / tau, -1)
    return _shaped(alpha, M), _looked_at(torch.ones_like(alpha) / alpha.shape[-1], M)


def weighs_by_scores(h, M, W_key, tau):
    """You weighed the features with the raw scores."""
    s = _scored(h, M, W_key) / tau
    return _shaped(torch.softmax(s, -1), M), _looked_at(s, M)


def one_root_too_many(h, M, W_key, tau):
    """You divided by a square root that this attention does not have."""
    alpha = torch.softmax(_scored(h, M, W_key) / tau / M.shape[-1] ** 0.5, -1)
    return _shaped(alpha, M), _looked_at(alpha, M)


def average_of_average(h, M, W_key, tau):
    """The weights sum to one, so that the sum is an average already."""
    alpha = torch.softmax(_scored(h, M, W_key) / tau, -1)
    return _shaped(alpha, M), _looked_at(alpha / alpha.shape[-1], M)


def multiplied_by_tau(h, M, W_key, tau):
    """The larger the temperature, the more even are the weights: it divides."""
    alpha = torch.softmax(_scored(h, M, W_key) * tau, -1)
    return _shaped(alpha, M), _looked_at(alpha, M)


def cold(h, M, W_key, tau):
    """The temperature has no effect on your weights."""
    alpha = torch.softmax(_scored(h, M, W_key), -1)
    return _shaped(alpha, M), _looked_at(alpha, M)


def heads_share(h, M, W_key, tau):
    """Each head has a distribution of its own: yours sum to one over all heads together."""
    alpha = torch.softmax((_scored(h, M, W_key) / tau).flatten(1), -1).view(len(h), len(W_key), -1)
    return _shaped(alpha, M), _looked_at(alpha, M)


def heads_interleaved(h, M, W_key, tau):
    """The K entries of one head stand together in the result, one head after the other."""
    alpha = torch.softmax(_scored(h, M, W_key) / tau, -1)
    V = torch.einsum("bns,bsk->bkn", alpha, M.flatten(1, -2)).flatten(1)
    return _shaped(alpha, M), V


def features_normalised(h, M, W_key, tau):
    """Your softmax runs over the features of a place, not over the places."""
    terms = torch.einsum("bj,njk,bsk->bnsk", h, W_key, M.flatten(1, -2)) / tau
    alpha = torch.softmax(terms, -1)
    return _shaped(alpha.sum(-1), M), torch.einsum("bnsk,bsk->bnk", alpha, M.flatten(1, -2)).flatten(1)


def hard(h, M, W_key, tau):
    """You look at the best place only: then no gradient says where to look instead."""
    s = _scored(h, M, W_key) / tau
    alpha = torch.softmax(s, -1)
    best = torch.nn.functional.one_hot(s.argmax(-1), s.shape[-1]).to(s.dtype)
    return _shaped(alpha, M), _looked_at(best, M)


# A captioner, as code.


def _walk(M, x, start, e, W_init, W_key, W_auto, W_h, W_V, W_x, B, **other):
    """P of all steps, with some ingredients replaced."""
    places = M.flatten(1, -2)
    h = places.mean(1) @ W_init.T if other.get("first") is None else other["first"](places)
    words = other.get("words", torch.cat([start.expand(len(x), 1, -1), x], 1))
    states = [h]
    for t in range(words.shape[1]):
        scores = torch.einsum("bj,jk,bsk->bs", h, W_key, places)
        alpha = torch.softmax(scores, -1) if other.get("attend", True) else torch.ones_like(scores) / scores.shape[1]
        V = torch.einsum("bs,bsk->bk", alpha, places)
        h = torch.tanh(h @ W_h.T + V @ W_V.T + words[:, t] @ W_x.T + other.get("sign", -1) * B)
        states.append(h)
    states = torch.stack(states, 1)
    return torch.softmax(states[:, :-1] @ W_auto.T @ e.T if other.get("early") else states[:, 1:] @ W_auto.T @ e.T, -1)


def reads_the_next_word(M, x, start, e, W_init, W_key, W_auto, W_h, W_V, W_x, B):
    """A step of yours reads the very word that it should predict."""
    words = torch.cat([x, start.expand(len(x), 1, -1)], 1)
    return _walk(M, x, start, e, W_init, W_key, W_auto, W_h, W_V, W_x, B, words=words)


def one_step_late(M, x, start, e, W_init, W_key, W_auto, W_h, W_V, W_x, B):
    """You predict from the state before the step: what the step has looked at comes one word too late."""
    return _walk(M, x, start, e, W_init, W_key, W_auto, W_h, W_V, W_x, B, early=True)


def begins_with_zeros(M, x, start, e, W_init, W_key, W_auto, W_h, W_V, W_x, B):
    """Read once more what the first state is: it has seen the picture."""
    first = lambda places: places.new_zeros(len(places), len(B))  # noqa: E731
    return _walk(M, x, start, e, W_init, W_key, W_auto, W_h, W_V, W_x, B, first=first)


def begins_with_sum(M, x, start, e, W_init, W_key, W_auto, W_h, W_V, W_x, B):
    """The first state comes from the average over all places, not from their sum."""
    first = lambda places: places.sum(1) @ W_init.T  # noqa: E731
    return _walk(M, x, start, e, W_init, W_key, W_auto, W_h, W_V, W_x, B, first=first)


def looks_everywhere(M, x, start, e, W_init, W_key, W_auto, W_h, W_V, W_x, B):
    """All places have the same weight in your steps, whatever the state is."""
    return _walk(M, x, start, e, W_init, W_key, W_auto, W_h, W_V, W_x, B, attend=False)


def bias_added(M, x, start, e, W_init, W_key, W_auto, W_h, W_V, W_x, B):
    """A bias is a threshold here: look at its sign."""
    return _walk(M, x, start, e, W_init, W_key, W_auto, W_h, W_V, W_x, B, sign=1)


def no_start(M, x, start, e, W_init, W_key, W_auto, W_h, W_V, W_x, B):
    """The first step reads the given start vector; yours reads nothing."""
    return _walk(M, x, 0 * start, e, W_init, W_key, W_auto, W_h, W_V, W_x, B)


def scores_not_probabilities(M, x, start, e, W_init, W_key, W_auto, W_h, W_V, W_x, B):
    """You return logarithms or scores; probabilities were asked for."""
    return _walk(M, x, start, e, W_init, W_key, W_auto, W_h, W_V, W_x, B).log()


# The choices.


def through_nothing(p):
    """Look at what the state is made from that the first word is predicted from."""
    return "Not at all: the first word is the same for all pictures."


def through_other(p):
    """Write down P of the first step, and put in what stands for each tensor in it."""
    if p["use"] == "same step":
        return "Only through $h[0,J]$; the attention of the first step reaches the second word."
    return "Through $h[0,J]$ and through the attention of the first step."


def through_attention_only(p):
    """The first state is not empty: how is it defined?"""
    return "Only through the attention of the first step; $h[0,J]$ has not seen it."


def through_embedding(p):
    """The vectors of words are the same for all pictures."""
    return "Through the word vectors $e[w,I]$, which are learned together with the pictures."


def softmax_misplaced(p):
    """There is one distribution over all places, so that the softmax runs over both indices."""
    return r"The softmax of $\alpha$ must run over $x$ only, and $V$ must sum over $y$."


def key_matrix_twice(p):
    """The matrix takes a state to the width of the features; what is averaged are the features."""
    return r"$V$ must be $\sum_{x,y}\alpha[x,y]\,W^{\mathrm{key}}[J,K]\,M[x,y,K]$: the matrix is missing."


def state_too_early(p):
    """A state that has read w_t cannot be used to predict w_t."""
    return r"$P$ must be computed from $h[t,J]$ instead of $h[t-1,J]$."


def sum_not_one(p):
    """The softmax takes care of that."""
    return r"$V$ must be divided by the number of places: as printed it is a sum over all of them, and not an average."


MISTAKES = {
    "words": [later_state, scores_of_words, other_use_of_V, two_softmaxes, sign_of_scores],
    "attention": [
        over_y,
        over_x,
        product_of_two,
        raw_weights,
        scaled_by_root,
        other_temperature,
        own_step,
        equal_weights,
        other_scores,
    ],
    "glimpse": [averaged, averaged_again, turned_over, weights_squared, other_values, one_column],
    "state": [order_of_arguments, word_before, blind, no_word, state_of_two_steps_ago, whole_memory],
    "start": [total_not_mean, divided_by_one_side, one_corner, weighted_mean],
    "sensitivity": [no_normaliser, logistic_derivative, wrong_way_round, not_weighted, weight_on_one],
    "attend": [
        last_axis_only,
        first_axis_only,
        axis_by_axis,
        pooled,
        weighs_by_scores,
        one_root_too_many,
        average_of_average,
        multiplied_by_tau,
        cold,
        heads_share,
        heads_interleaved,
        features_normalised,
        hard,
    ],
    "captioner": [
        reads_the_next_word,
        one_step_late,
        begins_with_zeros,
        begins_with_sum,
        looks_everywhere,
        bias_added,
        no_start,
        scores_not_probabilities,
    ],
    "lag": [through_nothing, through_other, through_attention_only, through_embedding],
    "printed_error": [softmax_misplaced, key_matrix_twice, state_too_early, sum_not_one],
}

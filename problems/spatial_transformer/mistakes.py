"""Wrong answers that students give; the docstring is the hint that whoever gives the same answer reads."""

import torch

from .arrangements import added, attended, entries, lines, lookers, of, scaled, seen, written

# The equations.


def wrong_reach(p):
    """The softmax must run over all that a position looks at, taken together: read once more what that is here."""
    a = of(p)
    if "," in a.over:
        return written(p, a=attended(p, over=a.over.split(",")[-1]))
    everywhere = scaled("Query[k,x_1,y_1,U] Key[k,x_2,y_2,U]", p)
    return written(
        p,
        a=f"alpha[k,x_1,y_1,x_2,y_2] = softmax_{{x_2,y_2}}[{everywhere}]",
        o="Out[k,x,y,I] = sum_{x',y'} alpha[k,x,y,x',y'] Value[k,x',y',I]",
    )


def product_of_softmaxes(p):
    """You normalised along each axis by itself: the weights that belong to one position must sum to one together."""
    a = of(p)
    if "," not in a.over:
        return None  # there is one axis only
    scores = scaled(f"Query[k,{a.query},U] Key[k,{a.key},U]", p) + added(a.extra)
    factors = " ".join(f"softmax_{{{letter}}}[{scores}]" for letter in a.over.split(","))
    return written(p, a=f"alpha[k,{a.alpha}] = {factors}")


def over_the_query(p):
    """Your softmax makes weights over the positions that look; it must make them over those that are looked at."""
    a = of(p)
    own = [letter for letter in a.query.split(",") if letter not in a.key.split(",")]
    return written(p, a=attended(p, over=",".join(own)))


def over_heads(p):
    """Your weights sum to one over all heads together: each head has weights of its own that sum to one."""
    return written(p, a=attended(p, over="k"))


def over_everything(p):
    """All pairs of positions share one normalisation in yours: each position that looks needs one of its own."""
    return written(p, a=attended(p, over=of(p).alpha))


def no_softmax(p):
    """Your weights are the bare scores: they may be negative and do not sum to one."""
    a = of(p)
    scores = scaled(f"Query[k,{a.query},U] Key[k,{a.key},U]", p) + added(a.extra)
    return written(p, a=f"alpha[k,{a.alpha}] = {scores}")


def roles_exchanged(p):
    """Query and key have changed places: the query belongs to the position that looks."""
    if of(p).there:
        return written(
            p, q="Query[k,x,y,U] = W^Q[k,U,J] h_image[x,y,J]", k="Key[k,t,U] = W^K[k,U,J] h_text[t,J]"
        ).replace("Query[k,t,U] Key[k,x,y,U]", "Key[k,t,U] Query[k,x,y,U]")
    return written(p, a=attended(p, roles=("Key", "Query")))


def scale_misread(p):
    """Read once more whether the scores are divided by something here."""
    a = of(p)
    return written(
        p, a=attended(p, scores=scaled(f"Query[k,{a.query},U] Key[k,{a.key},U]", {"scaled": not p["scaled"]}))
    )


def extra_forgotten(p):
    """A term that is added to each score here is missing from yours."""
    return written(p, a=attended(p, extra="")) if of(p).extra else None


def extra_turned(p):
    """What is added to the scores has its two positions the wrong way round: which one looks, which is looked at?"""
    turned = {
        "bias": " + b[k,x_2-x_1,y_2-y_1]",
        "window": " + M[x_2,y_2,x_1,y_1]",
        "video": " + M[t_2,t_1]",
    }.get(p["layer"])
    return written(p, a=attended(p, extra=turned)) if turned else None


def looks_backwards(p):
    """Your mean takes the weights with their two positions exchanged: whose weights sum to one over what?"""
    a = of(p)
    if a.there:
        return None  # words do not look back
    turned = {"rows": "x,y',y", "columns": "x',y,x"}.get(p["layer"], f"{a.summed},{a.here}")
    return written(p, o=f"Out[k,{a.here},I] = sum_{{{a.summed}}} alpha[k,{turned}] Value[k,{a.value},I]")


def own_value(p):
    """The value in your mean is that of the position that looks, so that the weights do nothing: they sum to one."""
    a = of(p)
    if a.there:
        return written(
            p, v="Value[k,t,I] = W^V[k,I,J] h_text[t,J]", o="Out[k,t,I] = sum_{x,y} alpha[k,t,x,y] Value[k,t,I]"
        )
    return written(p, o=f"Out[k,{a.here},I] = sum_{{{a.summed}}} alpha[k,{a.alpha_summed}] Value[k,{a.here},I]")


def _joined(p, text):
    """The layer with another concatenation of the heads."""
    a = of(p)
    return written(p, **({"c": f"Cat[{a.here},C] = {text}"} if p["output"] else {"h": f"h_out[{a.here},J] = {text}"}))


def heads_interleaved(p):
    """You took the first entry of every head, then the second of every head: heads stand one after another, whole."""
    return _joined(p, f"concat_{{i}} Out[K,{of(p).here},i]")


def first_heads_value(p):
    """All your heads use the first head's values: each has a matrix of its own."""
    return written(p, v=lines(p)["v"].replace("W^V[k,", "W^V[1,"))


def summed_twice(p):
    """You divided by the number of positions: weights that sum to one make a mean already."""
    a = of(p)
    letter = a.summed.split(",")[0].rstrip("'").upper()
    return written(p, o=f"{lines(p)['o']} / {letter}")


# The code.


def _cells(h, p):
    """The places of all positions in a row, and which sees which."""
    axes = [torch.arange(n) for n in h.shape[:-1]]
    place = torch.stack(torch.meshgrid(*axes, indexing="ij"), dim=-1).flatten(0, -2)
    step = place[None, :] - place[:, None]
    if p["code"] == "rows":
        return step[..., 0] == 0
    if p["code"] == "columns":
        return step[..., 1] == 0
    if p["code"] == "window":
        return (step.abs() <= p["w"]).all(dim=-1)
    if p["code"] == "video":
        return step[..., 0] <= 0
    return torch.ones(len(place), len(place), dtype=torch.bool)


def _scored(h, W_Q, W_K, p):
    """The masked scores of all pairs."""
    flat = h.flatten(0, -2)
    scores = (flat @ W_Q.mT) @ (flat @ W_K.mT).mT
    scores = scores / W_Q.shape[1] ** 0.5 if p["scaled"] else scores
    return scores.masked_fill(~_cells(h, p), -torch.inf)


def _shaped(alpha, out, h):
    return alpha.reshape(-1, *h.shape[:-1], *h.shape[:-1]), out.reshape(h.shape)


def _mean(alpha, h, W_V):
    return (alpha @ (h.flatten(0, -2) @ W_V.mT)).transpose(0, 1).flatten(1)


def _by_axes(h, W_Q, W_K, p):
    """The scores with an axis for each coordinate, the lowest number in the place of minus infinity."""
    scores = _scored(h, W_Q, W_K, p)
    return scores.clamp(min=-1e3).reshape(-1, *h.shape[:-1], *h.shape[:-1])


def one_axis_only(h, W_Q, W_K, W_V, *, p):
    """Your weights sum to one along one axis; all weights of one position together must sum to one."""
    scores = _by_axes(h, W_Q, W_K, p)
    axis = -2 if p["code"] == "rows" else -1
    alpha = torch.softmax(scores, dim=axis).reshape(len(scores), *2 * [h.shape[:-1].numel()])
    return _shaped(alpha, _mean(alpha, h, W_V), h)


def axes_apart(h, W_Q, W_K, W_V, *, p):
    """You multiplied a softmax along each axis: that is not the softmax over all positions together."""
    scores = _by_axes(h, W_Q, W_K, {**p, "code": "image"} if p["code"] in ("rows", "columns") else p)
    alpha = torch.ones_like(scores)
    for axis in range(1, h.dim()):
        alpha = alpha * torch.softmax(scores, dim=-axis)
    alpha = alpha.reshape(len(scores), *2 * [h.shape[:-1].numel()])
    return _shaped(alpha, _mean(alpha, h, W_V), h)


def all_pairs_compete(h, W_Q, W_K, W_V, *, p):
    """All pairs of positions share one normalisation in yours: each position that looks needs one of its own."""
    scores = _scored(h, W_Q, W_K, p)
    alpha = torch.softmax(scores.flatten(1), dim=-1).view_as(scores)
    return _shaped(alpha, _mean(alpha, h, W_V), h)


def minus_hundred(h, W_Q, W_K, W_V, *, p):
    """Your mask is a number of moderate size: where all scores that are seen are lower, what is hidden is looked at."""
    cells = _cells(h, p)
    if cells.all():
        cells = cells.tril()
    open_scores = _scored(h, W_Q, W_K, {**p, "code": "image"})
    alpha = torch.softmax(open_scores.masked_fill(~cells, -100.0), dim=-1)
    return _shaped(alpha, _mean(alpha, h, W_V), h)


def lookers_compete(h, W_Q, W_K, W_V, *, p):
    """Your weights sum to one over the positions that look; they must do so over those that are looked at."""
    alpha = torch.softmax(_scored(h, W_Q, W_K, p), dim=-2)
    return _shaped(alpha, _mean(alpha, h, W_V), h)


def query_and_key_exchanged(h, W_Q, W_K, W_V, *, p):
    """Query and key have changed places: the query belongs to the position that looks."""
    alpha = torch.softmax(_scored(h, W_K, W_Q, p), dim=-1)
    return _shaped(alpha, _mean(alpha, h, W_V), h)


def other_scale(h, W_Q, W_K, W_V, *, p):
    """Read once more whether the scores are divided by something here."""
    root = W_Q.shape[1] ** 0.5
    alpha = torch.softmax(_scored(h, W_Q * root if p["scaled"] else W_Q / root, W_K, p), dim=-1)
    return _shaped(alpha, _mean(alpha, h, W_V), h)


def other_positions(h, W_Q, W_K, W_V, *, p):
    """Read once more which positions a position looks at here: yours looks at others."""
    other = {"image": "rows", "volume": "columns"}.get(p["code"], "image")
    alpha = torch.softmax(_scored(h, W_Q, W_K, {**p, "code": other}), dim=-1)
    return _shaped(alpha, _mean(alpha, h, W_V), h)


def sums_over_lookers(h, W_Q, W_K, W_V, *, p):
    """Your weights are right, but your mean runs over the positions that look."""
    alpha = torch.softmax(_scored(h, W_Q, W_K, p), dim=-1)
    return _shaped(alpha, _mean(alpha.mT, h, W_V), h)


def heads_side_by_side(h, W_Q, W_K, W_V, *, p):
    """You took the first entry of every head, then the second of every head: heads stand one after another, whole."""
    alpha = torch.softmax(_scored(h, W_Q, W_K, p), dim=-1)
    heads = alpha @ (h.flatten(0, -2) @ W_V.mT)
    return _shaped(alpha, heads.permute(1, 2, 0).flatten(1), h)


def heads_mixed(h, W_Q, W_K, W_V, *, p):
    """The shape is right, but reshaping alone has mixed heads and positions: bring the axes into order first."""
    alpha = torch.softmax(_scored(h, W_Q, W_K, p), dim=-1)
    return _shaped(alpha, alpha @ (h.flatten(0, -2) @ W_V.mT), h)


def one_attention_for_all(h, W_Q, W_K, W_V, *, p):
    """You use the mean of all heads' weights for each head: each has weights of its own."""
    alpha = torch.softmax(_scored(h, W_Q, W_K, p), dim=-1)
    alpha = alpha.mean(0, keepdim=True).expand_as(alpha)
    return _shaped(alpha, _mean(alpha, h, W_V), h)


def keys_returned(h, W_Q, W_K, W_V, *, p):
    """Your h_out is the value of the position that looks: the weights have no effect on it."""
    alpha = torch.softmax(_scored(h, W_Q, W_K, p), dim=-1)
    return _shaped(alpha, _mean(torch.eye(alpha.shape[-1], dtype=h.dtype).expand_as(alpha), h, W_V), h)


def weights_detached(h, W_Q, W_K, W_V, *, p):
    """The values are right, but no gradient reaches the query and key matrices: they could never be trained."""
    alpha = torch.softmax(_scored(h, W_Q, W_K, p), dim=-1).detach()
    return _shaped(alpha, _mean(alpha, h, W_V), h)


# The bounds.


def _logarithms(p):
    return f"ln({seen(p)})"


def positions_serial(p):
    """You added the terms of the softmax one after the other; a sum takes the logarithm of its length here."""
    return f"O({seen(p)} + ln J)"


def logarithms_multiplied(p):
    """The sums are done one after the other, not one inside the other: their times add up."""
    return f"O({_logarithms(p)} * ln J)"


def width_forgotten(p):
    """There are sums over the entries of the vectors as well."""
    return f"O({_logarithms(p)})"


def heads_serial(p):
    """The heads do not wait for one another."""
    return f"O(K * ({_logarithms(p)} + ln J))"


def width_serial(p):
    """A sum over the entries of a vector takes the logarithm of its length, like any other sum here."""
    return f"O(J + {_logarithms(p)})"


def positions_forgotten(p):
    """The softmax and the mean are sums as well: over what, and how many terms are these?"""
    return "O(ln J)"


def total_work(p):
    """This counts all operations; the question is how long they take when done side by side."""
    return f"O({lookers(p)} {seen(p)} J)"


def query_width(p):
    """The longest sum over entries is not the one in the score: look at what makes queries, keys and values."""
    return f"O({_logarithms(p)} + ln U)"


def other_serial(p):
    """Read once more which sums are done one term after the other here."""
    return f"O(J + {seen(p)})" if p["serial"] == "features" else f"O(J + {_logarithms(p)})"


def as_in_parallel(p):
    """This is the time with every sum in a tree."""
    return f"O({_logarithms(p)} + ln J)"


def multiplied(p):
    """The stages follow one another, so that their times add up; different sums of one stage run side by side."""
    return f"O(J * {seen(p)})"


def only_width(p):
    """The sums over positions are missing."""
    return "O(J)"


def no_projections(p):
    """You counted scores and means; queries, keys and values must be made as well."""
    return f"O({lookers(p)} {seen(p)} J)"


def projections_only(p):
    """You counted queries, keys and values; scores and means take work as well."""
    return f"O({lookers(p)} J^2)"


def square_of_everything(p):
    """A position does not look at this many others here: read once more at how many it does."""
    wrong = {"rows": "X Y X Y", "columns": "X Y X Y", "window": "X Y X Y", "caption": "X Y X Y + T^2"}
    many = wrong.get(p["layer"], f"{lookers(p)} (X + Y)")
    return f"O(({many}) J + {lookers(p)} J^2)"


def heads_times_width(p):
    """The heads share the width J among themselves: together they have J entries, not K J."""
    return f"O({lookers(p)} {seen(p)} K J + {lookers(p)} K J^2)"


def time_again(p):
    """This is a time with everything side by side; here all operations are counted."""
    return f"O({_logarithms(p)} + ln J)"


# The counts.


def _count(p, K=None):
    """The weights of all heads, or of K."""
    return entries({**p, "K": K or p["K"]})


def without_heads(p):
    """This is one head's share: every head has weights of its own."""
    return _count(p, K=1)


def _positions(p):
    return p["X"] * p["Y"] * {"volume": p["Z"], "video": p["T"]}.get(p["layer"], 1)


def not_squared(p):
    """A weight belongs to a pair of positions, not to one."""
    return p["K"] * _positions(p)


def pairs_of_axes(p):
    """You counted each axis by itself and added up; a position is a choice along all axes at once."""
    return p["K"] * (p["X"] + p["Y"]) ** 2


def mask_uncounted(p):
    """Read once more which positions a position looks at, and what happens at the edges."""
    K, X, Y, w = (p[name] for name in "KXYw")
    return {
        "window": K * X * Y * (2 * w + 1) ** 2,
        "video": K * _positions(p) ** 2,
        "rows": K * (X * Y) ** 2,
        "columns": K * (X * Y) ** 2,
        "caption": K * p["T"] ** 2 * X * Y,
    }.get(p["layer"], K * _positions(p) * (X + Y - 1))


def patched_once(p):
    """You shortened the list of those who look, or of those looked at, but not both."""
    return p["K"] * (p["X"] * p["Y"]) ** 2 // p["P"] ** 2


def patched_not_squared(p):
    """A weight belongs to a pair of patches, not to one."""
    return p["K"] * (p["X"] // p["P"]) * (p["Y"] // p["P"])


def patched_without_heads(p):
    """This is one head's share: every head has weights of its own."""
    return ((p["X"] // p["P"]) * (p["Y"] // p["P"])) ** 2


def not_patched(p):
    """This is the number without patches."""
    return p["K"] * (p["X"] * p["Y"]) ** 2


# The choice.


def not_normalised(p):
    """The softmax is over j', and the weights of each j do sum to one."""
    return "Its weights do not sum to one over the index that the mean runs over."


def knows_places(p):
    """Exchange two positions of the image: the sum over x and y does not notice."""
    return "Its weights depend on where in the image a vector stands, so that exchanging two positions changes them."


def dearer(p):
    """Count the weights: how many are there for each head?"""
    return "It has more weights per head than attention over positions, whatever the size of the image."


def just_axial(p):
    """Axial attention still compares positions, those of one line."""
    return "It is attention along a row followed by attention along a column, written in one line."


MISTAKES = {
    "layer": [
        wrong_reach,
        product_of_softmaxes,
        over_the_query,
        over_heads,
        over_everything,
        no_softmax,
        roles_exchanged,
        scale_misread,
        extra_forgotten,
        extra_turned,
        looks_backwards,
        own_value,
        heads_interleaved,
        first_heads_value,
        summed_twice,
    ],
    "spatial": [
        one_axis_only,
        axes_apart,
        all_pairs_compete,
        minus_hundred,
        lookers_compete,
        query_and_key_exchanged,
        other_scale,
        other_positions,
        sums_over_lookers,
        heads_side_by_side,
        heads_mixed,
        one_attention_for_all,
        keys_returned,
        weights_detached,
    ],
    "time": [
        positions_serial,
        logarithms_multiplied,
        width_forgotten,
        heads_serial,
        width_serial,
        positions_forgotten,
        total_work,
        query_width,
    ],
    "practice": [other_serial, as_in_parallel, multiplied, only_width],
    "work": [no_projections, projections_only, square_of_everything, heads_times_width, time_again],
    "entries": [without_heads, not_squared, pairs_of_axes, mask_uncounted],
    "patched": [patched_once, patched_not_squared, patched_without_heads, not_patched],
    "channels": [not_normalised, knows_places, dearer, just_axial],
}

"""The questions' phrases, and model answers with rubrics for the three answers in words."""


def phrases(p):
    """The questions in the words of a variant."""
    w = p["width"]
    return {
        "sublayer_words": {
            "cross": "the **second** attention sub-layer of a decoder layer",
            "encoder": "the attention sub-layer of an **encoder** layer",
            "decoder": "the **first** attention sub-layer of a decoder layer (the masked one)",
        }[p["sublayer"]],
        "layer_words": {
            "restricted": "**restricted** self-attention, where each position attends to `r` positions around it, "
            "$r \\le n$ (as above, without the projections)",
            "separable": "a **separable** convolution: first a kernel of width `k` on each of the `d` channels alone, "
            "then a `d` by `d` matrix at each position, $k \\le n$",
            "linear": "**linear** attention, where the softmax is left out and the products are bracketed as "
            "$Q\\,(K^\\top V)$",
            "whole": "a **whole** self-attention layer, with the four `d` by `d` projections (for queries, keys, "
            "values and output) that the table leaves out",
        }[p["layer"]],
        "layer_letters": {
            "restricted": "`n`, `r` and `d`",
            "separable": "`n`, `k` and `d`",
            "linear": "`n` and `d`",
            "whole": "`n` and `d`",
        }[p["layer"]],
        "machine_words": {
            "recurrent": "a **recurrent** layer",
            "bidirectional": "a **bidirectional recurrent** layer, whose two directions run at the same time",
            "tree": "a layer that merges neighbours pair by pair, in a **balanced binary tree** over the positions",
            "attention": "a **self-attention** layer",
            "convolution": "a **convolution** of fixed kernel width (one layer)",
        }[p["machine"]],
        "stack_words": {
            "causal": "Each kernel is **contiguous** and one-sided: a position reads itself and the `k` - 1 positions "
            "before it.",
            "centred": "Each kernel is **contiguous** and centred: a position reads itself and (`k` - 1)/2 positions "
            "on each side.",
            "dilated": "The kernels are one-sided and **dilated**: in the first layer a position reads itself and the "
            "`k` - 1 positions before it, in the second the steps are `k` wide, in the third `k`² wide, and so on.",
        }[p["stack"]],
        "matrix_words": "the product with the state matrix alone, $W^{h,h} h_{t-1}$"
        if p["matrices"] == "state"
        else "the two products with $W^{h,h}$ and with $W^{h,x}$, for inputs of width $d$",
        "pair_cost_words": (
            "operations, with the additions that go with the multiplications" if p["adds"] else "multiplications alone"
        ),
        "unit_words": "**FLOPs**: a product of an $a \\times b$ and a $b \\times c$ matrix costs $2abc$"
        if p["adds"]
        else "**multiplications**: a product of an $a \\times b$ and a $b \\times c$ matrix costs $abc$",
        "d_model": str(64 * p["h"]),
        "sharing_words": {
            "full": "`h` heads, each of width $d/h$, each with queries, keys and values of its own",
            "multi_query": "`h` heads of width $d/h$ with queries of their own, which all **share one** key matrix and "
            "one value matrix of this width (multi-query attention)",
            "grouped": "`h` heads of width $d/h$ with queries of their own, in `g` groups; the heads of a group "
            "**share one** key matrix and one value matrix of this width (grouped-query attention)",
            "fixed": "`h` heads, each of width `w`, whatever `h` is, each with queries, keys and values of its own (so "
            "that the output matrix has $hw$ columns)",
        }[p["sharing"]],
        "sharing_letters": {"grouped": "`d`, `h` and `g`", "fixed": "`d`, `h` and `w`"}.get(
            p["sharing"], "`d` and `h`"
        ),
        "mask_words": {
            "causal": "**Causal mask:** position $t$ sees the positions $s \\le t$, itself included.",
            "window": f"**Causal window of {w}:** position $t$ sees itself and the {w - 1} positions before it (fewer "
            "at the beginning).",
            "prefix": f"**Causal mask with a prefix of {w}:** position $t$ sees the positions $s \\le t$, itself "
            f"included, and besides these every one of the first {w} positions.",
        }[p["mask"]],
        "pair_words": {
            "causal": "under a causal mask on `T` positions",
            "window": "under a causal window of `w` (each position sees itself and the `w` - 1 before it) on `T` "
            "positions",
            "prefix": "under a causal mask with a prefix of `q` (each position sees, besides the positions up to its "
            "own, all of the first `q`) on `T` positions",
        }[p["mask"]],
        "fate_words": {
            "mask": "replaced by [MASK]",
            "random": "replaced by a random word",
            "same": "selected, but left as they are",
        }[p["fate"]],
        "position_words": "Positions **start again at 0** in every sentence"
        if p["restart"]
        else "Positions **run on** through the whole input, from 0",
        "position_letter": "the position is given as a whole number $r[t]$, typed `r[t]`; $E^{pos}$ has shape $[P, J]$"
        if p["restart"]
        else "the position is $t$ itself; $E^{pos}$ has shape $[T, J]$",
        "norm_words": "with the layer norm behind the sum (a gain and an offset for each of the `d` columns)"
        if p["norm"]
        else "without the layer norm behind the sum",
    }


SOURCES = """
In encoder-decoder attention the queries come from the decoder (the sub-layer below), while keys and values come from
the encoder's output: every output position looks at all input positions, and the weights have shape [T_out, T_in]. In
self-attention queries, keys and values come from one sequence, the output of the layer below; it is the special case
where both sequences are the same. In the decoder it is masked: position t sees only positions up to t.
"""

SOURCES_RUBRIC = """
2 points:
1 - encoder-decoder attention: queries from the decoder, keys AND values from the encoder's output (half if only one of
    keys and values is placed, or if "x" and "y" are named without saying which is which);
1 - self-attention: all three from the same sequence, the layer below. Take off a half if the decoder's mask is denied
    ("each position sees all positions" of the decoder); do not ask for it otherwise.
No points for: self-attention looks at the position itself only; has no learned matrices; exists in the encoder only;
the two lengths must be equal.
"""

HEADS = """
With several heads, each position has several distributions over the other positions, and each head reads out its own
projection of what it finds; the results are joined and mixed by the output matrix. A single head has one distribution
for each position, so what several heads would look at separately is averaged. Since each head has width d/h,
parameters and matrix products cost the same as with one head of width d.
"""

HEADS_RUBRIC = """
2 points:
1 - several distributions at once: different positions, different projections ("subspaces"), where one head averages;
1 - the cost with heads of width d/h is about that of one head of width d: neither lower nor higher.
Half of the second point for "each head is cheaper" without the total. Nothing of it for "a single head is more
expensive" or "h heads cost h times as much". No points for: more parameters; each head sees another part of the
sequence or of the coordinates; heads are averaged; heads make positions parallel.
"""

MASK = """
The scores of all later positions s > t are set to minus infinity before the softmax, so that their weights are
exactly zero and each row still sums to one. Hence the output at t depends on inputs up to t only. The decoder's input
is the output sequence moved right by one, so the word to be predicted at t is not among these; all positions can then
be trained at the same time, as if the words were generated one by one. BERT has no such mask: it hides about 15 % of
the words themselves and predicts them from both sides.
"""

MASK_RUBRIC = """
2 points:
1/2 - minus infinity on the scores of later positions, before the softmax (or: weights exactly zero, rows renormalised);
1/2 - so position t depends on positions up to t, itself included ("preceding words only": nothing);
1/2 - with the input moved by one, the word to be predicted is not seen, and all positions are trained in parallel;
1/2 - BERT: words of the input are hidden, attention goes both ways.
No points for: scores times zero; the mask in the encoder or in the encoder-decoder attention; BERT masks the weights.
"""

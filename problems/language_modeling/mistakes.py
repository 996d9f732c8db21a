"""Wrong answers that students give; the docstring is the hint that whoever gives the same answer reads."""

import numpy as np
import torch

# The log loss.


def _token_logs(scores, w):
    return torch.log_softmax(scores, dim=-1).gather(-1, w[..., None]).squeeze(-1)


def _in_unit(loss, p):
    return loss / np.log(2) if p["unit"] == "bits" else loss


def _through_end(w, eos):
    ends = (w == eos).int()
    return ends.cumsum(1) - ends == 0


def counts_padding(scores, w, eos, *, p):
    """You counted what stands behind the end of a sentence: that is padding, and no part of it."""
    return _in_unit(-_token_logs(scores, w).sum(1), p)


def end_left_out(scores, w, eos, *, p):
    """You left out the end token: the model has to predict it as it predicts every word."""
    logs = _token_logs(scores, w)
    return _in_unit(-torch.where((w == eos).cumsum(1) == 0, logs, 0 * logs).sum(1), p)


def mean_of_tokens(scores, w, eos, *, p):
    """You averaged over the tokens: the log loss of a sequence is that of the whole sequence."""
    belongs = _through_end(w, eos)
    return _in_unit(-torch.where(belongs, _token_logs(scores, w), 0).sum(1) / belongs.sum(1), p)


def positive_log(scores, w, eos, *, p):
    """You added the logarithms; a loss has the other sign."""
    return _in_unit(torch.where(_through_end(w, eos), _token_logs(scores, w), 0).sum(1), p)


def other_unit(scores, w, eos, *, p):
    """Your loss is in the other unit: nats are natural logarithms, bits are logarithms to base two."""
    other = {"unit": "nats" if p["unit"] == "bits" else "bits"}
    return _in_unit(-torch.where(_through_end(w, eos), _token_logs(scores, w), 0).sum(1), other)


def scores_for_logs(scores, w, eos, *, p):
    """You took the scores as they are: they are no logarithms of probabilities before a softmax."""
    taken = scores.gather(-1, w[..., None]).squeeze(-1)
    return _in_unit(-torch.where(_through_end(w, eos), taken, 0).sum(1), p)


def probabilities_for_logs(scores, w, eos, *, p):
    """You added one minus the probabilities: the loss of a token is the negative logarithm of its probability."""
    taken = 1 - _token_logs(scores, w).exp()
    return _in_unit(torch.where(_through_end(w, eos), taken, 0).sum(1), p)


def softmax_over_time(scores, w, eos, *, p):
    """Your softmax runs over the positions; at each position, the probabilities of all words sum to one."""
    logs = torch.log_softmax(scores, dim=1).gather(-1, w[..., None]).squeeze(-1)
    return _in_unit(-torch.where(_through_end(w, eos), logs, 0).sum(1), p)


def scores_of_the_step_before(scores, w, eos, *, p):
    """You paired each word with the scores of the position before: here they stand at the same position."""
    return _in_unit(-torch.where(_through_end(w, eos), _token_logs(scores.roll(1, dims=1), w), 0).sum(1), p)


def skips_end_tokens(scores, w, eos, *, p):
    """You left out the end tokens only; what stands behind the first one does not belong to the sentence either."""
    logs = _token_logs(scores, w)
    return _in_unit(-torch.where(w != eos, logs, 0 * logs).sum(1), p)


def whole_batch(scores, w, eos, *, p):
    """You added up all sentences; one number for each was wanted."""
    return _in_unit(-torch.where(_through_end(w, eos), _token_logs(scores, w), 0).sum(), p).expand(len(w))


# The perplexity.


def _base(p):
    return np.e if p["unit"] == "nats" else 2.0


def _tokens(lengths, p):
    return lengths if p["counts_eos"] else lengths - 1


def mean_of_perplexities(loss, lengths, *, p):
    """You averaged the perplexities of the sentences; the mean is taken in the exponent, over tokens."""
    return (_base(p) ** (loss / _tokens(lengths, p))).mean()


def mean_of_sentence_losses(loss, lengths, *, p):
    """You averaged within each sentence first: then a token of a short sentence counts more than one of a long one."""
    return _base(p) ** (loss / _tokens(lengths, p)).mean()


def per_sentence(loss, lengths, *, p):
    """You divided by the number of sentences; perplexity is per token."""
    return _base(p) ** loss.mean()


def other_count(loss, lengths, *, p):
    """Your number of tokens is another one: read once more whether end tokens count."""
    return _base(p) ** (loss.sum() / (lengths - 1 if p["counts_eos"] else lengths).sum())


def other_base(loss, lengths, *, p):
    """The base of the power must fit the unit of the loss."""
    return (2.0 if p["unit"] == "nats" else np.e) ** (loss.sum() / _tokens(lengths, p).sum())


def inverse(loss, lengths, *, p):
    """This is the geometric mean of the probabilities; the perplexity is its inverse."""
    return _base(p) ** -(loss.sum() / _tokens(lengths, p).sum())


def loss_per_token(loss, lengths, *, p):
    """This is the loss per token; the perplexity is a power of it."""
    return loss.sum() / _tokens(lengths, p).sum()


# Generation.


def _run(h, u, e, W_hh, W_xh, B, eos, p, stop="row", pick=None, before=True, moves=True, reads=True, fill=None):
    """The generation with one thing done otherwise."""
    activation = torch.tanh if p["activation"] == "tanh" else torch.sigmoid
    finished, words = torch.zeros(len(h), dtype=torch.bool), []
    for t in range(u.shape[1]):
        if not before:
            h = activation(h @ W_hh.T - B)
        P = torch.softmax(h @ e.T, dim=-1)
        w = pick(P) if pick else (P.cumsum(-1) <= u[:, t, None]).sum(-1).clamp(max=len(e) - 1)
        w = torch.where(finished, eos if fill is None else fill, w) if stop else w
        finished = finished | (w == eos)
        finished = finished | finished.any() if stop == "all" else finished
        words.append(w)
        if moves:
            h = activation(h @ W_hh.T + (e[w] @ W_xh.T if reads else 0) - B)
    w = torch.stack(words, dim=1)
    ends = (w == eos).int()
    lengths = (ends.cumsum(1) == 0).sum(1)
    return w, lengths + ends.any(1) if p["length_with_eos"] else lengths


def never_ends(h, u, e, W_hh, W_xh, B, eos, *, p):
    """Your rows go on behind their end: once the end token has been drawn in a row, nothing else may follow there."""
    return _run(h, u, e, W_hh, W_xh, B, eos, p, stop="")


def all_end_together(h, u, e, W_hh, W_xh, B, eos, *, p):
    """You end all rows when the first one ends; each row ends by itself."""
    return _run(h, u, e, W_hh, W_xh, B, eos, p, stop="all")


def other_length(h, u, e, W_hh, W_xh, B, eos, *, p):
    """Your words are right, your lengths are not: read once more whether the end token counts."""
    return _run(h, u, e, W_hh, W_xh, B, eos, {**p, "length_with_eos": not p["length_with_eos"]})


def filled_with_zeros(h, u, e, W_hh, W_xh, B, eos, *, p):
    """Behind the end of a row stands the end token, whatever its number; you put another number there."""
    return _run(h, u, e, W_hh, W_xh, B, eos, p, fill=(eos + 1) % len(e))


def first_word_from_second_state(h, u, e, W_hh, W_xh, B, eos, *, p):
    """You updated the state before you drew the first word; the first word is drawn from the state that is given."""
    return _run(h, u, e, W_hh, W_xh, B, eos, p, before=False)


def state_unchanged(h, u, e, W_hh, W_xh, B, eos, *, p):
    """You draw every word from the first state: after each word the state changes."""
    return _run(h, u, e, W_hh, W_xh, B, eos, p, moves=False)


def input_forgotten(h, u, e, W_hh, W_xh, B, eos, *, p):
    """Your state does not depend on the word that was drawn: the vector of that word is the input of the next step."""
    return _run(h, u, e, W_hh, W_xh, B, eos, p, reads=False)


def most_likely(h, u, e, W_hh, W_xh, B, eos, *, p):
    """You took the most likely word; here words are drawn by the random numbers that are given."""
    return _run(h, u, e, W_hh, W_xh, B, eos, p, pick=lambda P: P.argmax(-1))


def bias_added(h, u, e, W_hh, W_xh, B, eos, *, p):
    """You added the bias. In this course's convention it is a threshold: look at its sign in the equation."""
    return _run(h, u, e, W_hh, W_xh, -B, eos, p)


def other_activation(h, u, e, W_hh, W_xh, B, eos, *, p):
    """Your activation function is another one than the equation's."""
    return _run(h, u, e, W_hh, W_xh, B, eos, {**p, "activation": "tanh" if p["activation"] == "sigmoid" else "sigmoid"})


def matrix_transposed(h, u, e, W_hh, W_xh, B, eos, *, p):
    """The matrices are square, so a transposition does not show in the shapes: which index is summed over?"""
    return _run(h, u, e, W_hh.T, W_xh.T, B, eos, p)


# Clipping.


def _norms(g, k, p):
    together = torch.sqrt((g**2).sum() + (k**2).sum())
    return (together, together) if p["together"] else (g.norm(), k.norm())


def entries_clamped(g, k, n_max, *, p):
    """You clipped each entry by itself, which turns the gradient into another direction."""
    return g.clamp(-n_max / 3, n_max / 3), k.clamp(-n_max / 3, n_max / 3)


def always_scaled(g, k, n_max, *, p):
    """You changed gradients that are short enough as well."""
    first, second = _norms(g, k, p)
    return g * n_max / first.clamp(min=1e-12), k * n_max / second.clamp(min=1e-12)


def to_length_one(g, k, n_max, *, p):
    """You shortened to length one; the length wanted is n_max."""
    first, second = _norms(g, k, p)
    return g / first if first > n_max else g, k / second if second > n_max else k


def other_grouping(g, k, n_max, *, p):
    """Read once more over which entries the norm is taken: over both gradients together, or over each by itself."""
    first, second = _norms(g, k, {"together": not p["together"]})
    return g * n_max / first if first > n_max else g, k * n_max / second if second > n_max else k


def sum_of_sizes(g, k, n_max, *, p):
    """You added the sizes of the entries; the norm is the root of the sum of their squares."""
    first, second = g.abs().sum(), k.abs().sum()
    if p["together"]:
        first = second = first + second
    return g * n_max / first if first > n_max else g, k * n_max / second if second > n_max else k


def root_forgotten(g, k, n_max, *, p):
    """You forgot the root: the norm is the root of the sum of squares."""
    first, second = (norm**2 for norm in _norms(g, k, p))
    return g * n_max / first if first > n_max else g, k * n_max / second if second > n_max else k


def lengthened(g, k, n_max, *, p):
    """You scaled the short gradients and left the long ones: the comparison is the wrong way round."""
    first, second = _norms(g, k, p)
    return g if first > n_max else g * n_max / first.clamp(min=1e-12), (
        k if second > n_max else k * n_max / second.clamp(min=1e-12)
    )


# Sentences of the simplest language model.


def no_end(p):
    """The end token is drawn as well: its probability is a factor."""
    return "((1-q)/(V-1))^n" if p["empty"] else "(1-q)^(n-1)/(V-1)^n"


def end_among_words(p):
    """You shared the rest among V words; but the end token, which has q, is one of the V tokens."""
    return "q*((1-q)/V)^n" if p["empty"] else "q*(1-q)^(n-1)/V^n"


def not_spread(p):
    """This is the probability of the length; one sentence of that length is one of many."""
    return "q*(1-q)^n" if p["empty"] else "q*(1-q)^(n-1)"


def one_word_more(p):
    """Count the words once more: is there a factor for each of the n words and one for the end?"""
    return "q*((1-q)/(V-1))^(n+1)" if p["empty"] else "q*(1-q)^n/(V-1)^(n+1)"


def other_start(p):
    """Read once more what is said about the first token."""
    return "q*(1-q)^(n-1)/(V-1)^n" if p["empty"] else "q*((1-q)/(V-1))^n"


def _loss(p, log):
    ordinary = "n" if p["empty"] else "(n-1)"
    return f"-{log}(q)-{ordinary}*{log}(1-q)+n*{log}(V-1)"


def _unit(p):
    return "ln" if p["unit"] == "nats" else "log2"


def loss_of_other_unit(p):
    """Your loss is in the other unit: nats are natural logarithms, bits are logarithms to base two."""
    return _loss(p, "log2" if p["unit"] == "nats" else "ln")


def loss_positive(p):
    """A loss is the negative logarithm of a probability: yours has the other sign."""
    return f"-({_loss(p, _unit(p))})"


def end_costs_nothing(p):
    """The end token has a loss too."""
    return f"{_loss(p, _unit(p))}+{_unit(p)}(q)"


def loss_per_word(p):
    """You divided by a number of tokens; the loss of the whole sentence was wanted."""
    return f"({_loss(p, _unit(p))})/(n+1)"


def words_only(p):
    """You counted the words; the end token counts here."""
    return "1/q-1" if p["empty"] else "1/q"


def inverted(p):
    """A token that ends one sentence in ten makes sentences of about ten tokens: put numbers in."""
    return "q" if p["empty"] else "1+q"


def other_start_length(p):
    """Read once more what is said about the first token."""
    return "1+1/q" if p["empty"] else "2/q"


COIN = "(-q*ln(q)-(1-q)*ln(1-q))"


def entropy_of_one_token(p):
    """This is the entropy of one token; a sentence has several, and by the chain rule their entropies add."""
    return f"{COIN}+(1-q)*ln(V-1)"


def entropy_of_the_length(p):
    """This is the entropy of the length alone: which words stand in the sentence is uncertain too."""
    return f"{COIN}/q"


def entropy_of_uniform_tokens(p):
    """You took all V tokens as equally likely; the end token has probability q."""
    return "ln(V)/q"


def entropy_of_other_start(p):
    """Read once more what is said about the first token: how many words does a sentence have in the mean?"""
    return f"{COIN}/q+" + ("ln(V-1)/q" if p["empty"] else "(1-q)/q*ln(V-1)")


# The choices.


def total_is_one(p):
    """The chain rule makes the probabilities of all strings of one length sum to one. And of all lengths together?"""
    return "Nothing goes wrong: by the chain rule the probabilities of all finite strings sum to one."


def total_below_one(p):
    """Add up the probabilities of the strings of length one, then of length two."""
    return "The probabilities of all finite strings sum to less than one; the rest belongs to infinite strings."


def only_slower(p):
    """It is not only a matter of when generation stops: what do the probabilities of all strings sum to?"""
    return (
        "The probabilities of all finite strings are the same as those of a model with an end token; only generation "
        "goes wrong, since it does not know when to stop."
    )


def bounded_gradients(p):
    """A function can be bounded and steep: think of tanh(100 x)."""
    return "They cannot: bounded states have bounded derivatives by the parameters."


def only_vanishing(p):
    """The slope of tanh is at most one, but each Jacobian also holds the weight matrix."""
    return (
        r"They cannot: the slope of $\tanh$ is at most $1$, and the chain rule multiplies one slope for each step, so "
        r"that gradients can only shrink from step to step."
    )


def saturation_explodes(p):
    """Where tanh is saturated its slope is nearly zero: which way does that push a gradient?"""
    return r"Where $\tanh$ is saturated its slope is very large, and so is the gradient through it."


# Over time: wrong statements about recurrent networks.


def clipping_lengthens(p):
    """Clipping shortens what is too long. What does it do to a gradient that is shorter than the bound?"""
    return "Clipping keeps gradients through time from vanishing: one that is too short is made longer."


def gates_add_up(p):
    """The update gate and one minus it weigh the old state and the new one: between which values does the sum lie?"""
    return (
        r"An update gate, $h_t = G \odot h_{t-1} + (1-G) \odot R$, adds a new vector to the state at every step, so "
        "that states grow with time."
    )


def both_directions_generate(p):
    """At each position, a bidirectional network has read what comes after it: what is there when a word is drawn?"""
    return (
        "A bidirectional network writes better sentences word by word, since it predicts each word from those before "
        "and after it."
    )


def cell_decides(p):
    """Look again at what was found when cells of as many parameters were compared."""
    return (
        "Experiments found that the choice between UGRNN, GRU and LSTM matters more than the number of parameters of "
        "the network."
    )


# The name of a distribution.


def poisson(p):
    """A Poisson variable counts rare events in a fixed time: here each word is followed by another decision."""
    return "Poisson (distribution)|Poisson law"


def binomial(p):
    """A binomial variable counts successes in a fixed number of trials: here the number of trials is what is asked."""
    return "binomial (distribution)|binomial law"


def exponential(p):
    """An exponential variable is a real number; a length is a whole one."""
    return "exponential (distribution)|exponential law"


def uniform(p):
    """Are long sentences as likely as short ones?"""
    return "uniform (distribution)|discrete uniform (distribution)"


# A step of training.


def clips_after_the_step(p):
    """You clip the gradients after the step, which was made with gradients that were not clipped."""
    return ["zero", "scores", "loss", "backward", "step", "clip"]


def clips_before_there_are_gradients(p):
    """You clip before the gradients of this step are there."""
    return ["zero", "scores", "loss", "clip", "backward", "step"]


def forgets_the_new_gradients(p):
    """You set the gradients to zero after they have been computed, and make the step without them."""
    return ["scores", "loss", "backward", "zero", "clip", "step"]


def clears_at_the_end(p):
    """The gradients of the step before are still there at the beginning, and are added to the new ones."""
    return ["scores", "loss", "backward", "clip", "step", "zero"]


def predicts_the_word_it_reads(p):
    """Your loss compares the scores at a position with the word that was read there: the model learns to copy."""
    return ["zero", "scores", "copies", "backward", "clip", "step"]


def generates_while_training(p):
    """The most likely words have no gradient, and no loss is computed from them."""
    return ["zero", "scores", "greedy", "loss", "backward", "clip", "step"]


# Sampling at a temperature.


def temperature_ignored(scores, temperature, n):
    """You drew at temperature one, whatever temperature was given."""
    return torch.multinomial(torch.softmax(scores, dim=-1), n, replacement=True)


def temperature_multiplied(scores, temperature, n):
    """At a high temperature your tokens are less evenly spread than at a low one: it is the other way round."""
    return torch.multinomial(torch.softmax(scores * temperature, dim=-1), n, replacement=True)


def temperature_of_probabilities(scores, temperature, n):
    """The temperature divides the scores, before the softmax."""
    return torch.multinomial(torch.softmax(torch.softmax(scores, dim=-1) / temperature, dim=-1), n, replacement=True)


def most_likely_tokens(scores, temperature, n):
    """You take the most likely token every time: nothing is drawn."""
    return scores.argmax().expand(n).clone()


def evenly(scores, temperature, n):
    """You draw all tokens equally often: what are the scores for?"""
    return torch.randint(len(scores), (n,))


def one_for_all(scores, temperature, n):
    """You draw once and repeat that token: each of the n tokens is a draw of its own."""
    return torch.multinomial(torch.softmax(scores / temperature, dim=-1), 1).expand(n).clone()


def by_quota(scores, temperature, n):
    """You give each token its share of the places, one after the other; what is drawn at one place must tell nothing
    about the next."""
    counts = (n * torch.softmax(scores / temperature, dim=-1)).long()
    counts[scores.argmax()] += n - counts.sum()
    return torch.roll(torch.arange(len(scores)).repeat_interleave(counts), int(torch.randint(n, ())))


def in_pairs(scores, temperature, n):
    """You use each draw twice."""
    return torch.multinomial(torch.softmax(scores / temperature, dim=-1), n, replacement=True)[: n // 2].repeat(2)


def with_a_seed(scores, temperature, n):
    """You set a seed: every call draws the same tokens."""
    torch.manual_seed(0)
    return torch.multinomial(torch.softmax(scores / temperature, dim=-1), n, replacement=True)


def uniform_noise(scores, temperature, n):
    """The largest of noisy scores follows the softmax only if the noise has Gumbel's law; yours is uniform."""
    return (scores / temperature + torch.rand(n, len(scores), dtype=torch.float64)).argmax(-1)


# Training a model of two words.


def _trained(before, following, V, *, lr=0.1, steps=50, sign=1.0, columns=(0, 1), twice=False):
    tables = [torch.zeros(V, V, dtype=torch.float64, requires_grad=True) for _ in columns]

    def scores(pairs):
        total = sum(table[pairs[:, column]] for table, column in zip(tables, columns, strict=True))
        return torch.softmax(total, dim=-1) if twice else total

    optimizer = torch.optim.Adam(tables, lr=lr)
    for _ in range(steps):
        optimizer.zero_grad()
        (sign * torch.nn.functional.cross_entropy(scores(before), following)).backward()
        optimizer.step()
    return lambda pairs: scores(pairs).detach()


def last_word_alone(before, following, new, V):
    """Your model uses the last word alone: both words before matter."""
    return torch.log_softmax(_trained(before, following, V, columns=(1,))(new), dim=-1)


def first_word_alone(before, following, new, V):
    """Your model uses the first of the two words alone: both of them matter."""
    return torch.log_softmax(_trained(before, following, V, columns=(0,))(new), dim=-1)


def not_trained(before, following, new, V):
    """All words are equally likely in your model: nothing was learned."""
    return torch.log_softmax(_trained(before, following, V, steps=0)(new), dim=-1)


def one_step(before, following, new, V):
    """You make a single step: the budget is larger."""
    return torch.log_softmax(_trained(before, following, V, steps=1)(new), dim=-1)


def climbs(before, following, new, V):
    """You make the loss larger: a step goes against the gradient."""
    return torch.log_softmax(_trained(before, following, V, sign=-1.0, lr=0.01)(new), dim=-1)


def hardly_moves(before, following, new, V):
    """Your steps are so small that the model has hardly changed when the budget is spent."""
    return torch.log_softmax(_trained(before, following, V, lr=0.001)(new), dim=-1)


def softmax_twice(before, following, new, V):
    """Your loss takes the softmax of probabilities: cross_entropy expects scores."""
    return torch.log_softmax(_trained(before, following, V, twice=True)(new), dim=-1)


def words_exchanged(before, following, new, V):
    """You exchange the two words when you predict."""
    return torch.log_softmax(_trained(before, following, V)(new.flip(-1)), dim=-1)


def probabilities_for_their_logs(before, following, new, V):
    """You return probabilities, where their logarithms are asked for."""
    return torch.softmax(_trained(before, following, V)(new), dim=-1)


def scores_without_softmax(before, following, new, V):
    """You return scores: their exponentials do not sum to one."""
    return 1 + _trained(before, following, V)(new)


MISTAKES = {
    "log_loss": [
        counts_padding,
        end_left_out,
        mean_of_tokens,
        positive_log,
        other_unit,
        scores_for_logs,
        probabilities_for_logs,
        softmax_over_time,
        scores_of_the_step_before,
        skips_end_tokens,
        whole_batch,
    ],
    "perplexity": [
        mean_of_perplexities,
        mean_of_sentence_losses,
        per_sentence,
        other_count,
        other_base,
        inverse,
        loss_per_token,
    ],
    "generate": [
        never_ends,
        all_end_together,
        other_length,
        filled_with_zeros,
        first_word_from_second_state,
        state_unchanged,
        input_forgotten,
        most_likely,
        bias_added,
        other_activation,
        matrix_transposed,
    ],
    "clip": [entries_clamped, always_scaled, to_length_one, other_grouping, sum_of_sizes, root_forgotten, lengthened],
    "sentence": [no_end, end_among_words, not_spread, one_word_more, other_start],
    "sentence_loss": [loss_of_other_unit, loss_positive, end_costs_nothing, loss_per_word],
    "expected_tokens": [words_only, inverted, other_start_length],
    "sequence_entropy": [
        entropy_of_one_token,
        entropy_of_the_length,
        entropy_of_uniform_tokens,
        entropy_of_other_start,
    ],
    "no_end": [total_is_one, total_below_one, only_slower],
    "bounded": [bounded_gradients, only_vanishing, saturation_explodes],
    "over_time": [clipping_lengthens, gates_add_up, both_directions_generate, cell_decides],
    "length_law": [poisson, binomial, exponential, uniform],
    "training_step": [
        clips_after_the_step,
        clips_before_there_are_gradients,
        forgets_the_new_gradients,
        clears_at_the_end,
        predicts_the_word_it_reads,
        generates_while_training,
    ],
    "sample": [
        temperature_ignored,
        temperature_multiplied,
        temperature_of_probabilities,
        most_likely_tokens,
        evenly,
        one_for_all,
        by_quota,
        in_pairs,
        with_a_seed,
        uniform_noise,
    ],
    "train": [
        last_word_alone,
        first_word_alone,
        not_trained,
        one_step,
        climbs,
        hardly_moves,
        softmax_twice,
        words_exchanged,
        probabilities_for_their_logs,
        scores_without_softmax,
    ],
}

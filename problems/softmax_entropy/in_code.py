"""The distribution and its entropy as code, right and wrong; the docstring of a wrong one is its hint."""

import torch


def _rungs(family):
    """The lowest number, how many numbers share an energy, the step of the energy, how many steps (0: no end)."""
    number = family.split()[-1]
    if family.startswith("from"):
        return int(number), 1, 1, 0
    if family.startswith("multiples"):
        return 0, 1, int(number), 0
    if family.startswith("up to"):
        return 0, 1, 1, int(number) + 1
    others = {"even": (0, 1, 2, 0), "odd": (1, 1, 2, 0), "two states": (0, 1, 1, 2)}
    return {**others, "pairs": (0, 2, 1, 0), "triples": (0, 3, 1, 0)}.get(family, (0, 1, 1, 0))


def _energy(i, family):
    """The energy above the lowest."""
    first, states, _, _ = _rungs(family)
    return i.abs() if family == "all integers" else (i - first) // states


def _log_total(beta, family):
    """The logarithm of the sum of the weights, where the lowest energy counts as zero."""
    if family == "all integers":
        return -torch.log(torch.tanh(beta / 2))
    _, states, step, count = _rungs(family)
    total = torch.log(torch.full_like(beta, states)) - torch.log(-torch.expm1(-step * beta))
    return total + torch.log(-torch.expm1(-count * step * beta)) if count else total


def _over_expm1(b):
    """b / (e^b - 1), without an overflow."""
    return b * torch.exp(-b) / -torch.expm1(-b)


def _energy_times_beta(beta, family):
    """beta times the mean energy above the lowest."""
    if family == "all integers":
        return 2 * beta * torch.exp(-beta) / -torch.expm1(-2 * beta)
    _, _, step, count = _rungs(family)
    energy = _over_expm1(step * beta)
    return energy - _over_expm1(count * step * beta) if count else energy


def probabilities(beta, i, *, p):
    """P(i) at each inverse temperature: beta[B], whole numbers i[N] -> P[B,N]."""
    log_P = -beta[:, None] * _energy(i, p["family"]) - _log_total(beta, p["family"])[:, None]
    return torch.exp(log_P)


def entropies(beta, *, p):
    """The entropy in nats at each inverse temperature: beta[B] -> H[B]."""
    return _log_total(beta, p["family"]) + _energy_times_beta(beta, p["family"])


# Wrong ones.


def _lossy_total(beta, family):
    if family == "all integers":
        return torch.log((1 + torch.exp(-beta)) / (1 - torch.exp(-beta)))
    _, states, step, count = _rungs(family)
    end = 1 - torch.exp(-count * step * beta) if count else 1
    return torch.log(states * end / (1 - torch.exp(-step * beta)))


def _overflowing(beta):
    """Not a number where e^beta is infinite."""
    return torch.exp(beta) / torch.exp(beta)


def digits_lost(beta, i, *, p):
    """For very small beta, 1 - e^(-beta) has lost its digits: `torch.expm1` keeps them."""
    return torch.exp(-beta[:, None] * _energy(i, p["family"]) - _lossy_total(beta, p["family"])[:, None])


def overflow_in_P(beta, i, *, p):
    """For very large beta your result is not a number: write the formula with e^(-beta) alone."""
    P = torch.exp(-beta[:, None] * _energy(i, p["family"]) - _log_total(beta, p["family"])[:, None])
    return P * _overflowing(beta)[:, None]


def over_given_numbers(beta, i, *, p):
    """You normalised over the numbers that are given: P is normalised over all numbers of the statement."""
    return torch.softmax(-beta[:, None] * _energy(i, p["family"]), dim=1)


def only_weights(beta, i, *, p):
    """These are the weights before they are divided by their sum."""
    return torch.exp(-beta[:, None] * _energy(i, p["family"]))


def log_probabilities(beta, i, *, p):
    """You returned the logarithms of the probabilities."""
    return -beta[:, None] * _energy(i, p["family"]) - _log_total(beta, p["family"])[:, None]


def numbers_first(beta, i, *, p):
    """The rows belong to the inverse temperatures, and the columns to the numbers."""
    return torch.exp(-beta * _energy(i, p["family"])[:, None] - _log_total(beta, p["family"]))


def detached_P(beta, i, *, p):
    """No gradient flows from your result to beta."""
    beta = beta.detach()
    return torch.exp(-beta[:, None] * _energy(i, p["family"]) - _log_total(beta, p["family"])[:, None])


def digits_lost_in_H(beta, *, p):
    """For very small beta, 1 - e^(-beta) and e^beta - 1 have lost their digits: `torch.expm1` keeps them."""
    return _lossy_total(beta, p["family"]) + _energy_times_beta(beta, p["family"])


def overflow_in_H(beta, *, p):
    """For very large beta your result is not a number: write the formula with e^(-beta) alone."""
    return _log_total(beta, p["family"]) + _energy_times_beta(beta, p["family"]) * _overflowing(beta)


def in_bits(beta, *, p):
    """Your entropies are in bits; nats are asked for."""
    return (_log_total(beta, p["family"]) + _energy_times_beta(beta, p["family"])) / torch.log(
        2 * torch.ones_like(beta)
    )


def only_log_total(beta, *, p):
    """The entropy is beta times the mean energy, plus the logarithm of the normaliser: the first term is missing."""
    return _log_total(beta, p["family"]) + 0 * beta


def only_energy(beta, *, p):
    """The entropy is beta times the mean energy, plus the logarithm of the normaliser: the second term is missing."""
    return _energy_times_beta(beta, p["family"])


def energy_subtracted_in_H(beta, *, p):
    """The mean energy enters with the other sign."""
    return _log_total(beta, p["family"]) - _energy_times_beta(beta, p["family"])


def energy_not_times_beta(beta, *, p):
    """The mean energy is multiplied by beta."""
    return _log_total(beta, p["family"]) + _energy_times_beta(beta, p["family"]) / beta


def summed_over_temperatures(beta, *, p):
    """There is one entropy for each inverse temperature."""
    return (_log_total(beta, p["family"]) + _energy_times_beta(beta, p["family"])).sum()


def detached_H(beta, *, p):
    """No gradient flows from your result to beta."""
    return _log_total(beta.detach(), p["family"]) + _energy_times_beta(beta.detach(), p["family"])


# Right ones that are written differently.


def as_a_product(beta, i, *, p):
    b = beta[:, None]
    if p["family"] == "all integers":
        return torch.tanh(b / 2) * torch.exp(-b * i.abs())
    _, states, step, count = _rungs(p["family"])
    P = -torch.expm1(-step * b) / states * torch.exp(-b * _energy(i, p["family"]))
    return P / -torch.expm1(-count * step * b) if count else P


def row_by_row(beta, i, *, p):
    rows = [-b * _energy(i, p["family"]) - _log_total(b[None], p["family"]) for b in beta]
    return torch.stack(rows).exp()


def by_hyperbolic_functions(beta, *, p):
    if p["family"] == "all integers":
        return 2 * beta * torch.exp(-beta) / -torch.expm1(-2 * beta) - torch.log(torch.tanh(beta / 2))
    _, states, step, count = _rungs(p["family"])
    x = torch.exp(-step * beta)
    H = -torch.log(-torch.expm1(-step * beta) / states) + step * beta * x / -torch.expm1(-step * beta)
    if not count:
        return H
    last = torch.exp(-count * step * beta)
    below = -torch.expm1(-count * step * beta)
    return H + torch.log(below) - count * step * beta * last / below


CODE_MISTAKES = {
    "probabilities": [
        digits_lost,
        overflow_in_P,
        over_given_numbers,
        only_weights,
        log_probabilities,
        numbers_first,
        detached_P,
    ],
    "entropies": [
        digits_lost_in_H,
        overflow_in_H,
        in_bits,
        only_log_total,
        only_energy,
        energy_subtracted_in_H,
        energy_not_times_beta,
        summed_over_temperatures,
        detached_H,
    ],
}
CODE_EQUIVALENTS = {
    "probabilities": [as_a_product, row_by_row],
    "entropies": [by_hyperbolic_functions],
}

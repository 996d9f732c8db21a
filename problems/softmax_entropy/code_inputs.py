"""Hidden inverse temperatures and numbers: ordinary ones, very small and very large ones."""

import torch

from .populations import family_of


def temperatures(rng, p):
    """Ordinary inverse temperatures, and numbers out of order."""
    first = family_of(p).first[:6]
    beta = torch.from_numpy(rng.uniform(0.1, 3.0, int(rng.choice([7, 8]))))
    return {"beta": beta, "i": torch.tensor([first[place] for place in rng.permutation(len(first))])}


def hot(rng, p):
    """Inverse temperatures so small that 1 - e^(-beta) has lost its digits."""
    beta = torch.from_numpy(10.0 ** -rng.uniform(7.0, 9.0, 5))
    return {"beta": beta, "i": torch.tensor(list(family_of(p).first[:3]))}


def cold(rng, p):
    """Inverse temperatures so large that e^beta overflows, beside an ordinary one."""
    beta = torch.from_numpy(rng.permutation([float(rng.uniform(0.3, 0.6)), 400.0, 800.0, 2000.0]))
    return {"beta": beta, "i": torch.tensor(list(family_of(p).first[:6]))}


def one_of_each(rng, p):
    """One inverse temperature and one number: no axis may be squeezed away."""
    return {"beta": torch.from_numpy(rng.uniform(0.3, 1.0, 1)), "i": torch.tensor([family_of(p).first[1]])}


def alone(draw):
    """The inverse temperatures of other inputs."""

    def betas(rng, p):
        return {"beta": draw(rng, p)["beta"]}

    betas.__name__ = draw.__name__
    betas.__doc__ = draw.__doc__
    return betas


DISTRIBUTIONS = [temperatures, hot, cold, one_of_each]
ENTROPIES = list(map(alone, DISTRIBUTIONS))

"""What the places of a space show of the Möbius function."""

import math

import numpy as np
import pytest

from adelic.errors import ConfigurationError
from adelic.number_theory import task
from adelic.number_theory.ceilings import moebius_ceiling


def rng():
    return np.random.default_rng(0)


def moebius(high):
    found = task("moebius", limit=max(high, 10))
    numbers = np.arange(2, high + 1)
    return numbers, np.array([int(found.class_names[k]) for k in found.solve(numbers[:, None])])


@pytest.mark.parametrize(("primes", "high"), [((2, 3), 24), ((2, 3, 5, 7), 120)])
def test_below_the_square_of_the_next_prime_places_show_all(primes, high):
    """A cofactor is 1 or a prime there; where the size is not read, 1 counts as a prime."""
    found = moebius_ceiling(primes, high=high, n=20_000, rng=rng())
    numbers, values = moebius(high)
    assert (found.accuracy, found.standard_error) == (1.0, 0.0)
    squarefree_and_smooth = math.prod(primes) % numbers == 0
    assert found.zeros == pytest.approx(np.mean(values == 0), abs=0.02)
    assert found.without_size == pytest.approx(1 - np.mean(squarefree_and_smooth), abs=0.02)


def test_the_ceiling_is_that_of_the_best_rule_on_all_numbers():
    """Counted without bins, on all numbers to 2000, with the place 2 alone: the best answer to each (v, size of m)."""
    found = moebius_ceiling((2,), high=2000, n=40_000, rng=rng())
    numbers, values = moebius(2000)
    odd = np.where(numbers % 2, numbers, numbers // 2)
    seen = numbers % 4 == 0
    of_m = np.where(numbers % 2, values, -values)
    bins = np.floor(np.log(odd) / (0.1 * np.log(2)))
    best = sum(max(np.sum(of_m[~seen & (bins == b)] == v) for v in (-1, 0, 1)) for b in np.unique(bins[~seen]))
    assert found.accuracy <= (seen.sum() + best) / len(numbers) + 3 * found.standard_error
    assert found.accuracy > np.mean(values == 0) + 0.05


def test_what_is_drawn_is_checked():
    with pytest.raises(ConfigurationError, match="n=1"):
        moebius_ceiling((2,), n=1, rng=rng())
    with pytest.raises(ConfigurationError, match="high=5"):
        moebius_ceiling((2,), low=7, high=5, rng=rng())

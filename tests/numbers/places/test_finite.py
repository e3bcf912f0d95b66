"""Digits at the primes: what they cost."""

import numpy as np

from adelic.numbers.places import finite
from adelic.numbers.primes import first_primes
from adelic.numbers.rationals import read
from adelic.numbers.window import Window


class Counted(tuple):
    """Numbers of digits that count how often they are gone through."""

    times = 0

    def __iter__(self):
        Counted.times += 1
        return super().__iter__()


def test_the_width_of_a_window_is_not_found_anew_for_every_prime():
    """With 100,000 primes that took a minute."""
    primes = first_primes(50)
    window = Window(primes, Counted([3] * len(primes)), 0)
    out = np.zeros((1, len(primes), 3), np.uint64)
    Counted.times = 0
    finite._encode_few(read([10**30]), window, out)
    assert Counted.times <= 3
    assert out[0, 1].tolist() == [10**30 // 9 % 3, 10**30 // 3 % 3, 10**30 % 3]

"""Digits at the primes: what they cost."""

import subprocess
import sys

import numpy as np
import pytest

from adelic.numbers import hensel
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


@pytest.mark.parametrize("window", [Window((2, 3, 43, 257), (9, 4, 2, 1), 0), Window((2, 5), (70, 3), 2)])
def test_integers_without_kernels(window, monkeypatch):
    """Some integers are encoded by NumPy until the compiled kernels are loaded: the digits of the reference."""
    monkeypatch.setattr(finite, "are_for_numpy", lambda size, digits: True)
    rng = np.random.default_rng(0)
    some = [0, 1, -1, 2**63 - 1, -(2**63), 2**63 - 2, *rng.integers(-(2**63), 2**63 - 1, 60), *range(-40, 40)]
    numbers = read(np.array(some, dtype=np.int64))
    digits = np.full((len(some), len(window.primes), window.precision), 255, dtype=finite.digit_dtype(window.primes))
    finite.encode(numbers, window, digits)
    for row, n in zip(digits, some, strict=True):
        for found, p, precision in zip(row, window.primes, window.precisions, strict=True):
            expected = hensel.window_digits(int(n), 1, p, precision, window.fractional_digits)
            assert found[::-1].tolist() == expected + [0] * (window.precision - precision)


@pytest.mark.long
@pytest.mark.parametrize(("size", "times", "loaded"), [(100_000, 1, False), (128, 10, False), (128, 1_000, True)])
def test_who_goes_on_encoding_integers_has_the_kernels_loaded(size, times, loaded):
    """A vocabulary of a hundred thousand integers waits for no compiler; many batches do, once."""
    code = (
        f"import sys, numpy, adelic\nfor _ in range({times}): adelic.AdeleSpace().encode(numpy.arange({size}))\n"
        "print('numba' in sys.modules)"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed == f"{loaded}\n"

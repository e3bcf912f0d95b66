"""Digits at the primes: what they cost."""

import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

from adelic import AdeleSpace
from adelic.errors import PrecisionError
from adelic.numbers import finite, hensel, rationals
from adelic.numbers.primes import first_primes, valuation
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


@pytest.mark.parametrize("window", [Window((2, 3, 43, 251), (9, 4, 2, 1), 0), Window((2, 5), (70, 3), 2)])
@pytest.mark.parametrize("are_integers", [True, False])
def test_numbers_without_kernels(window, are_integers, monkeypatch):
    """Some numbers are encoded by NumPy until the compiled kernels are loaded: the digits of the reference."""
    for module in (finite, rationals):
        monkeypatch.setattr(module, "are_for_numpy", lambda size, digits: True)
    rng, f = np.random.default_rng(0), window.fractional_digits
    some = [0, 1, -1, 2**63 - 1, -(2**63) + (not are_integers), 2**63 - 2, *rng.integers(-(2**63), 2**63 - 1, 60)]
    fractions = [Fraction(int(n), 1 if are_integers else int(m)) for n in some for m in (some[3], *some[-3:], 3, 50, 7)]
    held = [q for q in fractions if all(valuation(q.denominator, p) <= f for p in window.primes)]
    n, m = (np.array([getattr(q, part) for q in held], np.int64) for part in ("numerator", "denominator"))
    digits = np.full((len(held), len(window.primes), window.precision), 255, dtype=finite.digit_dtype(window.primes))
    finite.encode(read((n, m)), window, digits)
    for row, q in zip(digits, held, strict=True):
        for found, p, precision in zip(row, window.primes, window.precisions, strict=True):
            expected = hensel.window_digits(q.numerator, q.denominator, p, precision, f)
            assert found[::-1].tolist() == expected + [0] * (window.precision - precision)
    layout = np.empty((len(held), len(window.primes) + 1, window.precision), np.float32)
    finite.tensor(read((n, m)), window, layout)
    np.testing.assert_array_equal(layout[:, 1:], digits)


def test_numbers_below_the_window_without_kernels(monkeypatch):
    monkeypatch.setattr(finite, "are_for_numpy", lambda size, digits: True)
    m = np.ones(50_000, np.int64)
    m[40_000:] = 49
    m[40_100:] = 3
    for call in (AdeleSpace((3, 7), 5, 1).encode, AdeleSpace((3, 7), 5, 1).tensor):
        with pytest.raises(PrecisionError, match=r"1/49 at position \[40000\] has 7-adic valuation −2"):
            call((np.ones_like(m), m))


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

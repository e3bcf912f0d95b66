"""Primes from 2^31 on, and windows with precision · p² from 2^62 on: a slower path with the same digits."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adelic import AdeleSpace, RedundantResidueCode
from adelic.errors import DecodingError, DivisionByZeroError, EncodingError, PrecisionError
from adelic.numbers import padic
from adelic.numbers.threshold import FEW

PRIMES = (2**31 - 1, 2**31 + 11, 2**61 - 1, 2**63 - 25, 2**63 + 29, 2**64 - 59, 2**255 - 19, 2, 10007)


@st.composite
def spaces(draw):
    primes = tuple(draw(st.lists(st.sampled_from(PRIMES), min_size=1, max_size=3, unique=True)))
    precision = draw(st.integers(2, 6))
    return AdeleSpace(primes, precision, draw(st.integers(0, precision - 1)))


def residue(digits, p):
    return sum(d * p**k for k, d in enumerate(digits[::-1]))


@pytest.mark.long
@settings(max_examples=150)
@given(spaces(), st.fractions(), st.fractions(), st.integers(0, 3))
def test_digits_and_arithmetic_by_definition(space, x, y, e):
    x /= space.primes[0] ** min(e, space.fractional_digits)
    many = [x] * (FEW + 1)
    try:
        a, b = space.encode(many), space.encode([y] * (FEW + 1))
        results = {x: a, y: b, x + y: a + b, x - y: a - b, -x: -a, x * y: a * b}
        if y:
            results[x / y] = a / b
    except (PrecisionError, DivisionByZeroError):
        return
    for q, array in results.items():
        for j, p in enumerate(space.primes):
            known = int(array.known[0, j])
            scaled = q * p**space.fractional_digits
            expected = scaled.numerator * pow(scaled.denominator, -1, p**known) % p**known
            assert residue(array.digits[0, j].tolist(), p) == expected
        assert (array.digits == array.digits[:1]).all()
        assert (array == q).all()


@settings(max_examples=100)
@given(spaces(), st.lists(st.fractions(), min_size=1, max_size=3))
def test_round_trips(space, values):
    try:
        a = space.encode(values)
    except PrecisionError:
        return
    for i, q in enumerate(values):
        try:
            assert a[i].decode() == q
        except DecodingError:
            scaled = q * space.window.scale
            assert 2 * abs(scaled.numerator) * scaled.denominator >= space.window.scale * space.decoding_bound
    again = space.from_digits(a.digits, a.real)
    np.testing.assert_array_equal(again.digits, a.digits)


def test_wrong_digits_are_mended():
    space = AdeleSpace((2**61 - 1, 2**63 - 25, 2**64 - 59, 2**31 - 1), 2)
    code = RedundantResidueCode(space, max_numerator=1000, max_denominator=50)
    digits = space.encode([Fraction(-22, 7)] * (FEW + 1)).digits.copy()
    digits[:, 1, 0] = 5
    found = code.decode(digits)
    assert set(found.values.tolist()) == {Fraction(-22, 7)}
    assert found.errors.tolist() == [[False, True, False, False]] * (FEW + 1)


def test_digits_of_64_bits():
    space = AdeleSpace(primes=(2**64 - 59,), precision=2)
    a = space.encode(-1)
    assert a.digits.tolist() == [[2**64 - 60, 2**64 - 60]]
    assert a.digits.dtype == np.uint64
    for wrong in (2**64 - 59, 2**64 - 1):
        with pytest.raises(EncodingError, match="is not a digit at the prime"):
            space.from_digits(np.array([[0, wrong]], dtype=np.uint64), 1.0)
    with pytest.raises(EncodingError, match="float32 does not hold"):
        a.tensor()


def test_functions_of_many_numbers_and_digits():
    """Digits beyond 64 bits are objects, of many numbers at once, and of so many digits that halves are split."""
    p = 2**89 - 1
    x = padic([p * i for i in range(1, FEW + 3)], p, 4)
    assert (x.exp().log() == x).all()
    assert padic(9, p, 300).sqrt().digits.tolist() == [0] * 299 + [3]

"""The compiled decoder against the reference: the same number, or it leaves the number to the reference."""

from fractions import Fraction
from math import inf, nan

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from adelic import AdeleArray, AdeleSpace
from adelic.errors import DecodingError
from adelic.numbers import threshold
from adelic.numbers.decoding.fast import decode
from adelic.numbers.finite import FinitePlaces
from adelic.numbers.primes import valuation
from adelic.numbers.real import RealPlace

PRIMES = [p for p in range(2, 252) if all(p % a for a in range(2, p))]
LARGE_PRIMES = [257, 65537, 2**31 - 1]


@st.composite
def spaces(draw):
    chosen = draw(
        st.lists(st.sampled_from(PRIMES[:8] + PRIMES[-3:] + LARGE_PRIMES), min_size=1, max_size=9, unique=True)
    )
    limit = 64 if max(chosen) < 2**16 else 1
    precision = draw(st.integers(1, limit))
    return AdeleSpace(tuple(chosen), precision, draw(st.integers(0, min(8, precision - 1))))


@st.composite
def numbers(draw, space):
    size = draw(st.sampled_from([10, 10**3, 10**9, 10**15, 2**62, 2**70]))
    n, m = draw(st.integers(-size, size)), draw(st.integers(1, draw(st.sampled_from([1, 10, 10**9, size]))))
    for p in space.primes:
        m //= p ** valuation(m, p)
        m *= p ** draw(st.integers(0, min(space.fractional_digits, 2)))
    return Fraction(n, m)


def reference(array):
    """Return what `reconstruction.decode` says of every number of a flat array, None where it raises."""
    found = []
    for i in range(array.size):
        try:
            found.append(array._decode_one((i,)))
        except DecodingError:
            found.append(None)
    return found


def fast(array):
    values, found = decode(array._finite, array._real, array.space.window)
    assert [v is not None for v in values] == found.tolist()
    return values.tolist()


def check(array):
    """Assert that all that the compiled path finds is what the reference finds; return how many it finds."""
    quick, slow = fast(array), reference(array)
    assert all(q is None or (type(q) is Fraction and q == s) for q, s in zip(quick, slow, strict=True)), (quick, slow)
    for q in filter(None, quick):  # in lowest terms, the denominator positive
        again = Fraction(q.numerator, q.denominator)
        assert (q.numerator, q.denominator) == (again.numerator, again.denominator)
    return sum(q is not None for q in quick)


@settings(max_examples=200)
@given(st.data())
def test_encoded_numbers(data):
    space = data.draw(spaces())
    values = data.draw(st.lists(numbers(space), min_size=1, max_size=12))
    check(space.encode(values))


@pytest.mark.long
@settings(max_examples=200)
@given(st.data())
def test_other_digits_other_reals_fewer_known(data):
    """Coordinates that contradict each other, wide and narrow balls, bounds of denominators, unknown real places."""
    space = data.draw(spaces())
    a = space.encode(data.draw(st.lists(numbers(space), min_size=1, max_size=6)))
    digits, known = a.digits.copy(), a.known.copy()
    fields = [np.array(field) for field in a._real._fields()]
    value, radius, denominator, beyond = fields
    exponent, denominator_exponent, is_inside = (beyond[name] for name in beyond.dtype.names)
    for i in range(a.size):
        kind = data.draw(st.sampled_from(["as is", "digit", "known", "value", "radius", "denominator", "all"]))
        j, k = data.draw(st.integers(0, space.n_primes - 1)), data.draw(st.integers(0, space.precision - 1))
        if kind in ("digit", "all"):
            digits[i, j, k] = data.draw(st.integers(0, min(space.primes[j], 256) - 1))
        if kind in ("known", "all"):
            known[i, j] = data.draw(st.integers(0, space.precision))
            digits[i, j, : space.precision - known[i, j]] = 0
        if kind in ("value", "all"):
            nearby = st.sampled_from(
                [np.nextafter(value[i], inf), np.nextafter(value[i], -inf), -value[i], value[i] + 1]
            )
            value[i] = data.draw(st.one_of(st.floats(), st.integers(-5, 5).map(float), nearby))
        if kind in ("radius", "all"):
            radius[i] = data.draw(st.one_of(st.floats(0, allow_nan=False), st.just(abs(value[i]) / 2)))
        if kind in ("denominator", "all"):
            denominator[i] = data.draw(st.sampled_from([nan, inf, 1.0, 2.0**53, 1e40, 1e300]))
        if kind == "all":
            exponent[i] = data.draw(st.sampled_from([0, 0, -50, 1, 900]))
            denominator_exponent[i] = data.draw(st.sampled_from([0, 1, 900])) if denominator[i] >= 2.0**53 else 0
            is_inside[i] = data.draw(st.booleans())
    check(AdeleArray(space, RealPlace(*fields), FinitePlaces(digits, known)))


@settings(max_examples=300)
@given(st.lists(st.tuples(st.integers(0, 1295), st.integers(-700, 700), st.integers(0, 80)), min_size=1, max_size=30))
@example([(91, -5, 20)])
def test_every_residue_of_a_tiny_space(cases):
    """Modulo 1296 several candidates are common; the ball decides, or nothing does."""
    space = AdeleSpace((2, 3), 4)
    digits = [[[x // p**k % p for k in (3, 2, 1, 0)] for p in (2, 3)] for x, _, _ in cases]
    values, radii = np.array([v for _, v, _ in cases]) / 8, np.array([r for _, _, r in cases]) / 8
    check(space.from_digits(digits, values, radius=radii))


@pytest.mark.parametrize("fractional_digits", [0, 1])
def test_it_finds_what_it_should(fractional_digits):
    """Without this a decoder that leaves all to the reference would pass."""
    space = AdeleSpace(fractional_digits=fractional_digits)
    greatest = 10**9 if fractional_digits == 0 else 10**4
    rng = np.random.default_rng(0)
    n, m = rng.integers(-greatest, greatest, 500), rng.integers(1, greatest, 500)
    for p in space.primes:
        m = np.where(m % p ** (fractional_digits + 1) == 0, 1, m)
    a = space.encode((n, m))
    expected = [Fraction(x, y) for x, y in zip(n.tolist(), m.tolist(), strict=True)]
    assert fast(a) == expected
    assert fast(space.from_digits(a.digits, a.real)) == expected  # measured values
    assert a.decode().tolist() == expected
    assert a.reshape(5, 100).decode().tolist() == np.reshape(np.array(expected), (5, 100)).tolist()


def test_computed_numbers():
    space = AdeleSpace()
    x, y = space.encode(np.arange(1, 201) * 19), space.encode((np.arange(200) + 3, np.full(200, 23)))
    expected = [Fraction(19 * (i + 1)) + Fraction(i + 3, 23) for i in range(200)]
    assert fast(x + y) == expected
    quotient = space.encode(np.arange(1, 201) * 12) / space.encode(np.full(200, 12))
    assert quotient.known[0].tolist() == [14, 15, 16, 16, 16, 16, 16]
    assert fast(quotient) == list(range(1, 201))


def test_integers_next_to_the_limits_of_float64_and_int64():
    space = AdeleSpace()
    ends = [2**53, 2**60, 2**62, 2**63 - 6, 10**18]
    values = [s * (end + d) for end in ends for s in (1, -1) for d in range(-5, 6)]
    assert check(space.encode(values)) >= 66
    assert space.encode(values).decode().tolist() == values


def test_a_value_beyond_int64_is_not_taken_for_a_small_one():
    """Conversion of 10^30 to int64 is garbage: the digits of 10 must not become 10."""
    space = AdeleSpace()
    digits = np.repeat(space.encode([10]).digits, 3, axis=0)
    array = space.from_digits(digits, [1e30, 2.0**63, -1e19], radius=[4e29, 2.0**62, 4e18])
    assert fast(array) == reference(array) == [None] * 3


def test_mixed_arrays_and_the_position_of_an_error():
    space = AdeleSpace()
    values = [Fraction(k, 19) for k in range(2 * threshold.FEW - 2)] + [10**60, Fraction(1, 10**14 + 1)]
    assert space.encode(values).decode().tolist() == values
    values[-2] = space.decoding_bound
    with pytest.raises(DecodingError, match=rf"at position \[1, {threshold.FEW - 2}\]"):
        space.encode(values).reshape(2, -1).decode()

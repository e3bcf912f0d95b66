"""The paper's laws, of which those of a field follow: A(x + y) = A(x) ⊕ A(y), A(x · y) = A(x) ⊗ A(y)."""

import operator
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adelic import AdeleSpace
from adelic.numbers.primes import valuation

SPACES = [
    AdeleSpace(),
    AdeleSpace(primes=(2, 3, 5, 7), precision=12, fractional_digits=4),
    AdeleSpace(primes=(257, 3), precision=5),
    AdeleSpace(primes=(65537, 2), precision=3, fractional_digits=1),
    AdeleSpace(primes=(2,), precision=1),
]
SPACE = st.sampled_from(SPACES)
INTEGERS = st.one_of(st.integers(-1000, 1000), st.integers(-(2**63), 2**63 - 1), st.integers())


@st.composite
def rationals_of(draw, space, *, unit=False):
    """Draw a rational that the space holds without fractional digits; a unit is divisible by none of its primes."""
    m = draw(st.integers(1, 10**6))
    n = draw(INTEGERS)
    for p in space.primes:
        m //= p ** valuation(m, p)
        if unit:
            n = n // p ** valuation(n, p) if n else 1
    return Fraction(n, m)


@st.composite
def numbers(draw, count, *, unit_last=False):
    """Draw a space and numbers of it."""
    space = draw(SPACE)
    return space, *(draw(rationals_of(space, unit=unit_last and i == count - 1)) for i in range(count))


def assert_same(a, b):
    """Assert equal coordinates, digit by digit, with everything known."""
    np.testing.assert_array_equal(a.digits, b.digits)
    np.testing.assert_array_equal(a.known, b.known)
    assert np.all(a == b)


@pytest.mark.parametrize("operation", [operator.add, operator.sub, operator.mul, operator.truediv])
def test_operations(operation):
    @settings(max_examples=200)
    @given(numbers(2, unit_last=operation is operator.truediv))
    def check(case):
        space, x, y = case
        result, expected = operation(space.encode(x), space.encode(y)), space.encode(operation(x, y))
        assert result == expected
        if not space.fractional_digits or operation in (operator.add, operator.sub):
            assert_same(result, expected)
        assert (result.known >= space.precision - space.fractional_digits).all()
        assert_same(-space.encode(x), space.encode(-x))
        assert +result is result

    check()


@given(numbers(1, unit_last=True), st.integers(-4, 6))
def test_powers(case, k):
    space, x = case
    assert space.encode(x) ** k == space.encode(x**k)


def test_different_numbers_differ():
    space = AdeleSpace(primes=(2, 3), precision=4)
    values = [Fraction(n, m) for n in range(-30, 31) for m in (1, 5, 7, 25)]
    a = space.encode(values)
    equal = a.reshape(-1, 1) == a.reshape(1, -1)
    expected = np.array([[x == y for y in values] for x in values])
    np.testing.assert_array_equal(equal, expected)

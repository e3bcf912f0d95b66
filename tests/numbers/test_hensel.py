"""The readable reference against the definition: p^F · q modulo p^known, in exact rational arithmetic."""

import operator
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from adelic.errors import DivisionByZeroError, EncodingError, PrecisionError, SpaceError
from adelic.numbers import hensel
from adelic.numbers.hensel import BelowWindowError, NothingKnownError, Residue
from adelic.numbers.primes import valuation

PRIMES = (2, 3, 5, 7, 11, 101)


def valuation_of(q, p):
    return valuation(q.numerator, p) - valuation(q.denominator, p)


def holds(x, q, p, fractional_digits):
    """Return whether p^F · q ≡ x.value modulo p^x.known: the meaning of a residue."""
    difference = q * p**fractional_digits - x.value
    in_range = 0 <= x.value < p**x.known
    return in_range and (difference == 0 or valuation_of(difference, p) >= x.known)


def attempt(function, *arguments):
    """Return what a function returns, or the error of precision that it raises."""
    try:
        return function(*arguments)
    except (BelowWindowError, NothingKnownError) as error:
        return error


@st.composite
def truncated_numbers(draw, count=2):
    """Draw a prime, a window and numbers with the residues of them that an array may hold."""
    p = draw(st.sampled_from(PRIMES))
    precision = draw(st.integers(1, 7))
    fractional_digits = draw(st.integers(0, min(3, precision - 1)))
    numbers = []
    for _ in range(count):
        unit = draw(st.fractions(max_denominator=200))
        q = unit * Fraction(p) ** draw(st.integers(-fractional_digits, precision))
        assume(q == 0 or valuation_of(q, p) >= -fractional_digits)
        known = draw(st.integers(1, precision))
        x = hensel.residue(q.numerator, q.denominator, p, precision, fractional_digits)
        numbers.append((q, Residue(x.value % p**known, known)))
    return p, precision, fractional_digits, numbers


@given(st.sampled_from(PRIMES), st.fractions(), st.integers(1, 30), st.integers(0, 3))
def test_residue_and_window_digits_are_the_number(p, q, precision, fractional_digits):
    fractional_digits = min(fractional_digits, precision - 1)
    arguments = (q.numerator, q.denominator, p, precision, fractional_digits)
    if q and -valuation_of(q, p) > fractional_digits:
        for function in (hensel.residue, hensel.window_digits):
            with pytest.raises(BelowWindowError) as caught:
                function(*arguments)
            assert caught.value.needed == -valuation_of(q, p)
        return
    x = hensel.residue(*arguments)
    assert x.known == precision
    assert holds(x, q, p, fractional_digits)
    assert hensel.window_digits(*arguments) == hensel.to_digits(x.value, p, precision)


@given(st.sampled_from(PRIMES), st.lists(st.integers(0, 1), min_size=1, max_size=20))
def test_digits_and_residues_are_inverse(p, digits):
    assert hensel.to_digits(hensel.from_digits(digits, p), p, len(digits)) == digits


@given(truncated_numbers())
def test_sum_and_negative(case):
    p, _, f, ((a, x), (b, y)) = case
    assert holds(hensel.add(x, y, p), a + b, p, f)
    assert hensel.add(x, y, p).known == min(x.known, y.known)
    assert holds(hensel.negate(x, p), -a, p, f)


@given(truncated_numbers(), st.sampled_from([(hensel.multiply, operator.mul), (hensel.divide, operator.truediv)]))
def test_product_and_quotient(case, operations):
    p, precision, f, ((a, x), (b, y)) = case
    found = attempt(operations[0], x, y, p, precision, f)
    if isinstance(found, BelowWindowError):
        assert found.needed == -valuation_of(operations[1](a, b), p) > f
    elif isinstance(found, Residue):
        assert 1 <= found.known <= precision
        assert holds(found, operations[1](a, b), p, f)


@given(truncated_numbers(count=1), st.data())
def test_a_product_holds_for_every_number_that_its_argument_may_be(case, data):
    """Numbers that agree as far as the argument is known have products that agree as far as is claimed."""
    p, precision, f, ((a, x),) = case
    b = Fraction(data.draw(st.integers(1, 50)))
    y = hensel.residue(b.numerator, 1, p, precision, f)
    product = attempt(hensel.multiply, x, y, p, precision, f)
    if isinstance(product, Residue):
        assert holds(product, (a + Fraction(p) ** (x.known - f)) * b, p, f)


def test_precision_is_not_given_away():
    assert hensel.multiply(Residue(3, 4), Residue(5, 4), 2, 4).known == 4
    with pytest.raises(NothingKnownError):
        hensel.multiply(Residue(0, 1), Residue(1, 1), 2, 4, 1)
    assert hensel.divide(Residue(6, 4), Residue(2, 4), 2, 4) == Residue(3, 3)
    assert hensel.divide(Residue(0, 4), Residue(2, 4), 2, 4) == Residue(0, 3)
    for x, y in [(Residue(1, 4), Residue(0, 4)), (Residue(0, 1), Residue(2, 2))]:
        with pytest.raises(NothingKnownError):
            hensel.divide(x, y, 2, 4)


def test_lifting_never_grows():
    """The paper's lifting keeps |n| <= max(|n|, m), so int64 inputs stay in int64."""
    n, m, p = -(2**63), 2**63 - 1, 5
    inverse, largest = pow(m, -1, p), 0
    for _ in range(50):
        n = (n - n * inverse % p * m) // p
        largest = max(largest, abs(n))
    assert largest <= 2**63


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((Fraction(1, 2), 1, 3, 3), EncodingError, "1/2 is not an integer"),
        ((1.0, 2, 3, 3), EncodingError, "1.0 is a float"),
        ((True, 2, 3, 3), EncodingError, "True"),
        (([1, 2], 5, 3, 3), EncodingError, r"n and m of shape \(2,\) are not one number"),
        ((1, 0, 5, 3), DivisionByZeroError, "1/0 has denominator zero"),
        ((1, 50, 5, 3), PrecisionError, r"1/50 has 5-adic valuation −2, .*AdeleSpace\(\(5,\), fractional_digits=2\)"),
        ((1, 2, -3, 3), SpaceError, "p=-3 is not a prime"),
        ((1, 2, 6, 3), SpaceError, "p=6 is not a prime"),
        ((1, 2, 3, 0), SpaceError, "precision=0 leaves no digit"),
        ((1, 2, 3, 1.5), SpaceError, "precision must be an integer"),
    ],
)
def test_arguments_of_hensel_digits_are_checked(arguments, error, message):
    with pytest.raises(error, match=message):
        hensel.hensel_digits(*arguments)


def test_hensel_digits_are_those_of_the_quotient():
    assert hensel.hensel_digits(10, -15, 5, 4) == hensel.hensel_digits(-2, 3, 5, 4) == [1, 3, 1, 3]

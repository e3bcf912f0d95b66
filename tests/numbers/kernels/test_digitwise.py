"""The compiled kernels and the readable reference give the same digits, known digits and errors."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from adelic import AdeleSpace
from adelic.errors import PrecisionError
from adelic.numbers import finite, rationals, threshold
from adelic.numbers.finite import FinitePlaces, OperationError
from adelic.numbers.kernels import digitwise
from adelic.numbers.window import Window

# One window a digit dtype, each up to the limit precision · p² < 2^62, and the defaults.
WINDOWS = [
    Window((2, 3, 5, 7, 11, 13, 17), (16,) * 7, 0),
    Window((2, 3, 251), (7, 7, 7), 2),
    Window((5, 3, 2), (1, 1, 1), 0),
    Window((257, 2, 65521), (9, 9, 9), 3),
    Window((1073741789, 2), (3, 3), 1),
    Window((2147483647, 3), (1, 1), 0),
    Window((2, 97, 3), (9, 1, 4), 0),
    Window((3, 257, 2, 5), (3, 4, 12, 7), 2),
]
INT64 = np.iinfo(np.int64)


def both_ways(function):
    """Return the outcome of the reference and of the kernels, errors included."""
    outcomes = []
    few_else = threshold.FEW
    for few in (10**9, -1):
        threshold.FEW = few
        try:
            outcomes.append(function())
        except (OperationError, PrecisionError) as error:
            outcomes.append(error)
        finally:
            threshold.FEW = few_else
    return outcomes


def assert_equal_outcomes(reference, compiled):
    assert type(reference) is type(compiled)
    if isinstance(reference, FinitePlaces):
        np.testing.assert_array_equal(reference.digits, compiled.digits)
        np.testing.assert_array_equal(reference.known, compiled.known)
        assert reference.digits.dtype == compiled.digits.dtype
        assert reference.known.dtype == compiled.known.dtype == np.int32
    else:
        assert str(reference) == str(compiled)
        assert vars(reference) == vars(compiled)


def random_places(rng, window, size, *, largest=False):
    """Return random coordinates with many zeros and digits p − 1, known to random lengths."""
    shape = (size, len(window.primes), window.precision)
    limits, counts = np.array(window.primes, dtype=np.int64)[:, None], np.array(window.precisions)
    digits = rng.integers(0, limits, size=shape)
    digits = np.where(rng.random(shape) < 0.3, 0, digits)
    digits = np.where((rng.random(shape) < 0.3) | largest, limits - 1, digits)
    low_zeros = rng.integers(0, counts, size=shape[:2]) * (rng.random(shape[:2]) < 0.5)
    place = np.arange(window.precision)[::-1]
    known = np.where(rng.random(shape[:2]) < 0.5, counts, rng.integers(1, counts + 1, shape[:2]))
    digits = np.where((place < low_zeros[..., None]) & (not largest), 0, digits)
    digits = np.where(place >= known[..., None], 0, digits)
    return FinitePlaces(digits.astype(finite.digit_dtype(window.primes)), known.astype(np.int32))


@settings(max_examples=60)
@given(st.sampled_from(WINDOWS), st.integers(0, 2**32), st.booleans(), st.sampled_from([1, 2, 40]))
def test_arithmetic(window, seed, largest, size):
    rng = np.random.default_rng(seed)
    x, y = (random_places(rng, window, size, largest=largest) for _ in range(2))
    assert_equal_outcomes(*both_ways(lambda: finite.negate(x, window)))
    for operation in (finite.add, finite.multiply, finite.divide):
        assert_equal_outcomes(*both_ways(lambda operation=operation: operation(x, y, window)))
    k = int(rng.integers(1, 7))
    assert_equal_outcomes(*both_ways(lambda: finite.power(x, k, window)))


@settings(max_examples=30)
@given(st.sampled_from(WINDOWS), st.integers(0, 2**32), st.sampled_from([1, 40]), st.booleans())
def test_arithmetic_with_exact_numbers(window, seed, size, is_integral):
    """They have windows of their own, with other digits than the array's and the result's."""
    rng = np.random.default_rng(seed)
    x = random_places(rng, window, size)
    # A denominator p^e with e above N is refused at once.
    m = [1] * size if is_integral else rng.integers(1, 4 if window.precision == 1 else 8, size).tolist()
    q = rationals.read(list(zip(rng.integers(-500, 500, size).tolist(), m, strict=True)))
    factor, divisor = (finite.exact(q, window, relative=relative) for relative in (False, True))
    assert_equal_outcomes(*both_ways(lambda: finite.multiply(x, factor, window)))
    assert_equal_outcomes(*both_ways(lambda: finite.divide(x, divisor, window)))
    assert_equal_outcomes(*both_ways(lambda: finite.divide(divisor, x, window)))


@settings(max_examples=20)
@given(st.sampled_from(WINDOWS), st.integers(0, 2**32))
def test_quotients_by_units(window, seed):
    """A random divisor fails somewhere in the batch; numbers of valuation 0 at all primes never do."""
    rng = np.random.default_rng(seed)
    x, y = (random_places(rng, window, 40) for _ in range(2))
    units = np.maximum(y.digits, 1) * window.exists
    units[..., window.precision - window.fractional_digits :] = 0
    y = FinitePlaces(units.astype(y.digits.dtype), np.zeros_like(y.known) + np.array(window.precisions, np.int32))
    reference, compiled = both_ways(lambda: finite.divide(x, y, window))
    assert isinstance(reference, FinitePlaces)
    assert_equal_outcomes(reference, compiled)


def encode_places(numbers, window):
    digits = np.zeros(
        (len(numbers.numerators), len(window.primes), window.precision), finite.digit_dtype(window.primes)
    )
    finite.encode(numbers, window, digits)
    return FinitePlaces(digits, finite.all_known(window, len(digits)))


INTS = st.one_of(
    st.integers(INT64.min, INT64.max),
    st.integers(-100, 100),
    st.sampled_from([INT64.min, INT64.min + 1, INT64.max, INT64.max - 1, 2**62, -(2**62), 3**39, 5**27, 0]),
)


@settings(max_examples=60)
@given(st.sampled_from(WINDOWS), st.lists(st.tuples(INTS, INTS.filter(bool)), min_size=1, max_size=40))
def test_encode(window, pairs):
    numbers = rationals._collect([Fraction(n, m).as_integer_ratio() for n, m in pairs], (len(pairs),))
    assert_equal_outcomes(*both_ways(lambda: encode_places(numbers, window)))


def test_one_number_beyond_int64_changes_no_digit():
    space = AdeleSpace()
    small = [Fraction(i, 19) for i in range(-50, 50)]
    with_large = space.encode([*small, 2**63, -(2**63) - 1])
    np.testing.assert_array_equal(with_large.digits[:100], space.encode(small).digits)
    np.testing.assert_array_equal(with_large.real[:100], space.encode(small).real)
    assert with_large.decode().tolist() == [*small, 2**63, -(2**63) - 1]


@pytest.mark.parametrize(
    ("primes", "dtype"),
    [((2, 251), "uint8"), ((257, 2), "uint16"), ((65521,), "uint16"), ((3, 65537), "uint32"), ((2**31 - 1,), "uint32")],
)
def test_digit_dtypes(primes, dtype):
    space = AdeleSpace(primes=primes, precision=1)
    for size in (2, 50):
        a = space.encode(np.full(size, -1))
        for b in (a, a + a, a * a, -a, a / a):
            assert b.digits.dtype == dtype
        assert (a.digits[..., 0] == np.array(primes) - 1).all()
        assert ((a * a).digits[..., 0] == 1).all()


def test_kernels_report_the_first_number_that_does_not_fit():
    space = AdeleSpace(primes=(3, 2), precision=4, fractional_digits=1)
    values = [Fraction(1)] * 50 + [Fraction(1, 4), Fraction(1, 9)]
    for numbers in (values, values[45:]):
        position = len(numbers) - 2
        with pytest.raises(PrecisionError, match=rf"1/4 at position \[{position}\] has 2-adic valuation −2"):
            space.encode(numbers)


def test_inverse_mod():
    for p in (2, 3, 97, 2147483647):
        for a in {1, p - 1, 95 % p, 12345 % p} - {0}:
            assert digitwise.inverse_mod(a, p) * a % p == 1


def fibonacci():
    """Return all Fibonacci numbers below 2^53: they take the most steps."""
    numbers = [1, 1]
    while numbers[-1] + numbers[-2] < 2**53:
        numbers.append(numbers[-1] + numbers[-2])
    return numbers


@given(st.lists(st.tuples(st.integers(1, 2**53 - 1), st.integers(1, 2**53 - 1)), min_size=1, max_size=300))
@example([*zip(fibonacci()[1:], fibonacci(), strict=False)])
@example([(k * b - 1, b) for b in (3, 2**26 - 1, 94906267) for k in (2, 2**26, (2**53 - 1) // b)])  # hard to round
def test_gcd_of_floats_is_exact(pairs):
    a, b = np.array(pairs, dtype=np.int64).T
    out = np.empty(len(a))
    digitwise.gcd(a.astype(np.float64), b.astype(np.float64), out)
    np.testing.assert_array_equal(out, np.gcd(a, b))

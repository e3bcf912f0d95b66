"""The fast encoder against exact arithmetic: every prime it takes, every precision, the extremes of int64."""

import itertools
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adelic import AdeleSpace
from adelic.errors import PrecisionError
from adelic.numbers import finite
from adelic.numbers.kernels import limbs
from adelic.numbers.primes import valuation

PRIMES = [p for p in range(2, 252) if all(p % a for a in range(2, p))]
FAST_PRIMES = [p for p in PRIMES if p <= finite.LIMB_PRIME]
INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1
NUMERATORS = st.one_of(
    st.integers(-100, 100),
    st.integers(INT64_MIN, INT64_MAX),
    st.sampled_from([INT64_MIN, INT64_MIN + 1, INT64_MAX, INT64_MAX - 1, 0, 1, -1, 2**53, 2**53 + 1, -(2**53) - 1]),
    st.builds(lambda p, k, s: s * p**k, st.sampled_from(FAST_PRIMES[:7]), st.integers(0, 15), st.sampled_from([1, -1])),
)
DENOMINATORS = st.one_of(
    st.integers(1, 1000),
    st.integers(1, INT64_MAX),
    st.sampled_from([INT64_MAX, INT64_MAX - 1, 2**62, 2**53 + 1, 3**39, 5**27]),
)


@st.composite
def spaces(draw, primes):
    """Draw a space: 1 to 30 primes, 1 to 64 digits, the same for all or not, up to 8 of them after the point."""
    chosen = draw(st.lists(st.sampled_from(primes), min_size=1, max_size=30, unique=True))
    counts = draw(digit_counts(len(chosen)))
    by_prime = dict(zip(chosen, counts, strict=True))
    return AdeleSpace(tuple(chosen), by_prime, draw(st.integers(0, min(8, min(counts) - 1))))


def digit_counts(n_primes):
    """Draw the numbers of digits: the same for all primes, or any."""
    each = st.lists(st.integers(1, 64), min_size=n_primes, max_size=n_primes)
    return st.one_of(st.integers(1, 64).map(lambda n: [n] * n_primes), each)


def expected_digits(n, m, space):
    """Return the digits by Python's integers: n/m · p^F modulo p^N, highest digit first."""
    q = Fraction(n, m)
    table = []
    for p, precision in zip(space.primes, space.precisions, strict=True):
        scaled = q * p**space.fractional_digits
        residue = scaled.numerator * pow(scaled.denominator, -1, p**precision) % p**precision
        table.append([residue // p**k % p for k in reversed(range(space.max_precision))])
    return np.array(table)


def fits(n, m, space):
    m = Fraction(n, m).denominator
    return all(valuation(m, p) <= space.fractional_digits for p in space.primes)


def check(space, n, m):
    """Assert that digits, tensor and real row of an array of n / m are those of exact arithmetic."""
    n, m = np.array(n, dtype=object), np.array(m, dtype=object)
    exact = np.array([expected_digits(a, b, space) for a, b in zip(n, m, strict=True)])
    values = [Fraction(a, b) for a, b in zip(n, m, strict=True)]
    pair = (n.astype(np.int64), m.astype(np.int64))
    encoded = space.encode(pair)
    np.testing.assert_array_equal(encoded.digits, exact)
    np.testing.assert_array_equal(encoded.real, [q.numerator / q.denominator for q in values])
    layout = space.tensor(pair)
    np.testing.assert_array_equal(layout[:, 1:], exact)
    np.testing.assert_array_equal(layout[:, 0, -1], encoded.real.astype(np.float32))
    assert not layout[:, 0, :-1].any()


@pytest.mark.parametrize(
    "primes",
    [pytest.param(FAST_PRIMES, id="limbs"), pytest.param(PRIMES, id="any prime", marks=pytest.mark.long)],
)
def test_encoding_is_exact_in_every_space(primes):
    @settings(max_examples=120)
    @given(spaces(primes), st.lists(st.tuples(NUMERATORS, DENOMINATORS), min_size=40, max_size=70))
    def check_pairs(space, pairs):
        held = [(n, m) for n, m in pairs if fits(n, m, space)]
        check(space, *zip(*held, *((n, 1) for n, _ in pairs), strict=True))
        check(space, [n for n, _ in pairs], [1] * len(pairs))  # integers alone have a kernel of their own

    check_pairs()


@pytest.mark.parametrize("primes", [(2,), (3, 251)], ids=["one prime", "two primes"])
def test_windows_of_every_width(primes):
    """Where a whole vector would begin before its number, its digits are written in parts."""
    values = np.arange(-40, 41) * 10**9 + 7
    for precision, after in itertools.product(range(1, 41), (0, 1, 3)):
        if after < precision:
            space = AdeleSpace(primes, precision, after)
            exact = np.array([expected_digits(int(n), 1, space) for n in values])
            np.testing.assert_array_equal(space.encode(values).digits, exact)


@pytest.mark.parametrize("p", FAST_PRIMES)
def test_numbers_beside_multiples_of_limbs(p):
    """A quotient that is estimated in float64 is off by one there, and its remainder has to be right all the same."""
    rng, space, modulus = np.random.default_rng(p), AdeleSpace((p,), 24), p**24
    multiples = [int(k) * p**n for n in (4, 8) for k in rng.integers(1, INT64_MAX // p**n, 40)]
    n = [s * k + d for k in (*multiples, INT64_MAX - 1, 2**53, 2**32) for s in (1, -1) for d in (-1, 0, 1)]
    m = [k if k % p else k - 1 for k in reversed(n)]
    for denominators in (m, [1] * len(n)):
        pair = np.array(n), np.array(denominators)
        exact = [a * pow(b, -1, modulus) % modulus for a, b in zip(n, denominators, strict=True)]
        want = [[[x // p**k % p for k in reversed(range(24))]] for x in exact]
        np.testing.assert_array_equal(space.encode(pair).digits, want)
        np.testing.assert_array_equal(space.tensor(pair)[:, 1:], want)


def test_many_blocks_agree_with_the_digit_kernel(monkeypatch):
    rng = np.random.default_rng(0)
    space = AdeleSpace(precision=19, fractional_digits=2)
    n = rng.integers(INT64_MIN + 1, INT64_MAX, 5 * limbs.BLOCK + 7, endpoint=True)
    m = rng.integers(1, 10**9, len(n))
    for p in space.primes:
        m = np.where(m % p**3 == 0, 1, m)
    fast, layout = space.encode((n, m)).digits, space.tensor((n, m))
    monkeypatch.setattr(finite, "_suits_limbs", lambda *_: False)
    np.testing.assert_array_equal(fast, space.encode((n, m)).digits)
    np.testing.assert_array_equal(layout, space.tensor((n, m)))


def test_unreduced_and_negative_pairs():
    """Common factors, p's own too, and signs in the denominator are the caller's right."""
    n, m = np.array([6, -6, 50, 0, 49, -1] * 20), np.array([4, -4, -10, -3, 7, -2] * 20)
    space = AdeleSpace(primes=(2, 3, 5, 7), precision=16, fractional_digits=1)
    check(space, n, m)


def test_a_denominator_below_the_window_is_named():
    space = AdeleSpace()
    n, m = np.ones(1000, dtype=np.int64), np.ones(1000, dtype=np.int64)
    m[777] = 11
    for call in (space.encode, space.tensor):
        with pytest.raises(PrecisionError, match=r"1/11 at position \[777\] has 11-adic valuation −1"):
            call((n, m))


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_threads_change_nothing(threads):
    rng = np.random.default_rng(1)
    space, n = AdeleSpace(), rng.integers(INT64_MIN, INT64_MAX, 10_001, endpoint=True)
    np.testing.assert_array_equal(space.encode(n, threads=threads).digits, space.encode(n).digits)
    np.testing.assert_array_equal(space.tensor(n, threads=threads), space.tensor(n))


def test_eight_callers_at_once():
    """Encoding, sums, products and decoding share nothing that could be written twice."""
    space = AdeleSpace()
    values = np.arange(-1000, 1000)
    want = space.encode(values)

    def work(k):
        x = space.encode(values + k) - k
        square = x * x
        return x.digits, square.digits, space.tensor(values), x[::40].decode()

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(work, range(32)))
    for digits, square, layout, decoded in results:
        np.testing.assert_array_equal(digits, want.digits)
        np.testing.assert_array_equal(square, (want * want).digits)
        np.testing.assert_array_equal(layout, want.tensor())
        assert list(decoded) == [Fraction(int(v)) for v in values[::40]]

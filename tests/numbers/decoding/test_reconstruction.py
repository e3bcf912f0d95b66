"""Decoding returns the number or raises: never a plausible wrong number."""

import operator
import random
from fractions import Fraction
from itertools import pairwise
from math import gcd, inf, isqrt, log2, nan, prod

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from adelic import AdeleSpace
from adelic.errors import DecodingError, DivisionByZeroError, PrecisionError
from adelic.numbers import integers, real
from adelic.numbers.decoding import reconstruction
from adelic.numbers.hensel import Residue
from adelic.numbers.primes import valuation

SMALL_PRIMES = (2, 3, 5, 7, 11, 13)


@st.composite
def spaces(draw, max_precision=6, max_fractional_digits=3):
    primes = tuple(draw(st.lists(st.sampled_from(SMALL_PRIMES), min_size=1, max_size=4, unique=True)))
    precision = draw(st.integers(1, max_precision))
    fractional_digits = draw(st.integers(0, min(max_fractional_digits, precision - 1)))
    return AdeleSpace(primes, precision, fractional_digits)


def is_inside(q, space):
    """Return whether 2·|n|·m < ∏ p^N for n/m = q · ∏ p^F in lowest terms."""
    scaled = q * prod(space.primes) ** space.fractional_digits
    return 2 * abs(scaled.numerator) * scaled.denominator < prod(space.primes) ** space.precision


def is_encodable(q, space):
    return all(valuation(q.denominator, p) <= space.fractional_digits for p in space.primes)


@st.composite
def encodable(draw, space, max_size=10**6):
    """Draw a rational that the window of a space holds, inside its decoding bound or not."""
    m = draw(st.integers(1, max_size))
    for p in space.primes:
        m //= p ** valuation(m, p)
        m *= p ** draw(st.integers(0, space.fractional_digits))
    return Fraction(draw(st.integers(-max_size, max_size)), m)


def decoded(array):
    """Return the decoded number, or None where decoding raises."""
    try:
        return array.decode()
    except DecodingError:
        return None


class TestTheBound:
    @settings(max_examples=300)
    @given(st.data())
    def test_decode_inverts_encode_inside_it(self, data):
        space = data.draw(spaces(max_precision=12))
        q = data.draw(encodable(space, max_size=data.draw(st.sampled_from([10, 1000, 10**12]))))
        result = decoded(space.encode(q))
        assert result == q if is_inside(q, space) else result in (q, None)

    @pytest.mark.parametrize("fractional_digits", [0, 1, 3])
    def test_near_it(self, fractional_digits):
        """The largest integers, the largest denominators, and balanced fractions, just inside and just outside."""
        space = AdeleSpace((2, 3, 5, 7), 6, fractional_digits)
        bound = space.decoding_bound
        root = int((bound // 2) ** 0.5)
        units = [n for n in range(root - 50, root + 50) if gcd(n, 210) == 1]
        cases = [Fraction(s * n, 1) for s in (1, -1) for n in range(bound // 2 - 60, bound // 2 + 60)]
        cases += [1 / q for q in cases if gcd(q.numerator, 210) == 1]
        cases += [Fraction(n, m) for n in units for m in units if gcd(n, m) == 1]
        inside = [q for q in cases if is_inside(q, space)]
        assert 0 < len(inside) < len(cases)
        assert space.encode(inside).decode().tolist() == inside
        for q in cases:
            result = decoded(space.encode(q))
            assert result in (q, None)

    def test_the_error_names_the_position(self):
        space = AdeleSpace((2, 3), 4)
        with pytest.raises(DecodingError, match=r"coordinates at position \[1, 0\].* 2\^10 .*real value 5000"):
            space.encode([[1, 2], [5000, 3]]).decode()


class TestBeyondFloat64:
    LARGE = 10**9999 + 7
    NUMBERS = (
        (AdeleSpace(precision=2000), [Fraction(LARGE), Fraction(-1, LARGE)]),
        (AdeleSpace(precision=2000), [Fraction(10**400 + 7, 10**400 + 9), Fraction(3, 10**320 + 1)]),  # both are large
        (
            AdeleSpace((2, 3, 5), 1200, 500),
            [Fraction(7**300, 2**500), Fraction(-1, 30**500), Fraction(7**400, 10**500)],
        ),
        (AdeleSpace((2,), 64, 60), [Fraction(n, 2**60) for n in (2**57 + 1, 2**62 + 1, -(2**63) + 1)]),
        (AdeleSpace(precision=200), [Fraction(1, 19**250), Fraction(-1, 19**252), Fraction(23, 19**251)]),  # subnormal
    )

    @pytest.mark.parametrize(("space", "numbers"), NUMBERS, ids=range(5))
    def test_round_trips(self, space, numbers):
        """Also where float64 holds the quotient alone, or of a denominator no more than a bound."""
        assert all(is_inside(q, space) for q in numbers)
        assert space.encode(numbers).decode().tolist() == numbers
        assert (-space.encode(numbers)).decode().tolist() == [-q for q in numbers]

    def test_products_and_sums(self):
        space = AdeleSpace((2, 3, 5, 7), precision=1000)
        product = space.encode(10**200) * 10**200
        assert product.real == inf
        assert product.decode() == 10**400
        assert product == 10**400
        assert product * space.encode(Fraction(1, 19)) == Fraction(10**400, 19)
        large = AdeleSpace(precision=2500).encode(10**5000)
        assert (large + 1).decode() == 10**5000 + 1
        assert (large + 1 - large).decode() == 1
        assert (1 / (large + 7)).decode() == Fraction(1, 10**5000 + 7)
        assert (large - large).decode() == 0

    def test_many_at_once(self):
        """More than a few go through the compiled decoder, which leaves these to the reference."""
        space = AdeleSpace(precision=300)
        exact = [Fraction(k * 10 ** (20 * k), 19**k) for k in range(50)]
        a = space.encode(exact)
        assert (a * 3 - "1/23").decode().tolist() == [3 * q - Fraction(1, 23) for q in exact]


class TestAdversaries:
    """Numbers with the digits and the float64 of another number."""

    MODULUS = AdeleSpace().decoding_bound

    @pytest.mark.parametrize("m", [19**70, 19**100, 10**90 + 9, 19**300, 19**200 * 23**200])
    def test_one_plus_modulus_over_m(self, m):
        assert gcd(m, self.MODULUS) == 1
        space = AdeleSpace()
        one, imposter = space.encode(1), space.encode(1 + Fraction(self.MODULUS, m))
        np.testing.assert_array_equal(one.digits, imposter.digits)
        assert m < 19**100 or imposter.real == 1.0
        assert decoded(imposter) is None
        assert decoded(-imposter) is None
        assert decoded(imposter * 1) is None
        assert decoded(imposter + 0) is None

    def test_reached_by_arithmetic_of_numbers_inside_the_bound(self):
        space = AdeleSpace()
        m = 19**30
        tiny = space.encode(Fraction(1, m))
        assert tiny.decode() == Fraction(1, m)
        large = space.encode(self.MODULUS // 17**16)  # divisible by all primes' powers but one
        rest = space.encode(17**16)
        product = large * rest * tiny * tiny * tiny * tiny  # M / 19^120: all digits 0
        assert not product.digits.any()
        assert abs(product.real) < 1e-60
        for a in (product, 1 + product, product + 1, product - "1/19", product * product + 3):
            assert decoded(a) is None

    @given(st.integers(0, 6), st.integers(0, 15), st.integers(1, 16))
    def test_tampered_digits(self, j, k, change):
        q, space = Fraction(-355, 113), AdeleSpace()
        a, p = space.encode(q), space.primes[j]
        digits = a.digits.copy()
        digits[j, k] = (int(digits[j, k]) + change) % p
        assert decoded(space.from_digits(digits, a.real)) == (None if change % p else q)

    @pytest.mark.parametrize("real", [355 / 113, -3.0, 0.0, -3.14, nan, inf, -inf, np.nextafter(-355 / 113, 0) + 1e-14])
    def test_contradicted_real_value(self, real):
        space = AdeleSpace()
        a = space.encode(Fraction(-355, 113))
        assert decoded(space.from_digits(a.digits, real)) is None


OPERATIONS = [operator.add, operator.sub, operator.mul, operator.truediv]


def check_digits(array, q):
    """Assert that each digit that `known` claims is the true one, and all others are 0."""
    space = array.space
    for j, p in enumerate(space.primes):
        known = int(array.known[j])
        assert 1 <= known <= space.precision
        shifted = q * p**space.fractional_digits
        assert shifted.denominator % p, "a number below the window must have raised"
        true_residue = shifted.numerator * pow(shifted.denominator, -1, p**known) % p**known
        lowest_first = array.digits[j, ::-1].tolist()
        assert sum(d * p**k for k, d in enumerate(lowest_first[:known])) == true_residue
        assert not any(lowest_first[known:])


def check_real(array, q):
    ball = array._real.ball(10**5)
    assert ball is None or abs(ball[0] - q) <= ball[1]


@pytest.mark.long
@settings(max_examples=400)
@given(st.data())
def test_never_a_plausible_wrong_number(data):
    """Random chains of operations: each result decodes to the right number, or to none."""
    space = data.draw(spaces())
    modulus = prod(space.primes) ** space.precision
    adversarial = st.builds(
        lambda q, m, n: q + Fraction(modulus * n, m),
        encodable(space, max_size=20),
        st.sampled_from([17**2, 17**5, 17**12, 19**40]),
        st.integers(-2, 2),
    )
    operand = st.one_of(encodable(space, max_size=20), encodable(space), adversarial)
    q = data.draw(operand)
    array = space.encode(q)
    for _ in range(data.draw(st.integers(1, 6))):
        operation = data.draw(st.sampled_from([*OPERATIONS, operator.pow, None]))
        try:
            if operation is None:
                array, q = -array, -q
            else:
                other = data.draw(st.integers(-2, 3) if operation is operator.pow else operand)
                array, q = operation(array, other), operation(q, other)
        except (PrecisionError, DivisionByZeroError):
            return
        check_digits(array, q)
        check_real(array, q)
        assert decoded(array) in (q, None)
        if is_encodable(q, space):
            assert array == q


SIZES = st.builds(lambda n, e: n * 10**e, st.integers(-50, 50), st.integers(0, 400))
SHORT = AdeleSpace((2, 3, 5, 7), 12)
LONG = st.builds(  # of up to 400 digits: the real place has no border
    lambda n, m, e: Fraction(n, (210 * m + 1) ** e),
    SIZES,
    SIZES.map(lambda m: abs(m) // 10 ** valuation(m, 10) + 1 if m else 1),
    st.integers(0, 100),
)


@pytest.mark.long
@pytest.mark.parametrize(
    ("space", "number", "operations"),
    [
        (SHORT, encodable(SHORT, max_size=200), OPERATIONS),
        (AdeleSpace((2, 3, 5, 7), 2000), LONG, OPERATIONS[:3]),
    ],
    ids=["short", "beyond float64"],
)
def test_results_inside_the_bound_do_decode(space, number, operations):
    """Raising always would be safe too: sums, products and quotients have to come back."""

    @settings(max_examples=200)
    @given(st.data())
    def check(data):
        q = data.draw(number)
        array = space.encode(q)
        for _ in range(3):
            operation, other = data.draw(st.sampled_from(operations)), data.draw(number)
            if operation is operator.truediv:
                assume(other and all(other.numerator % p for p in space.primes))
            q, array = operation(q, other), operation(array, other)
        if is_inside(q, space):
            assert array.decode() == q

    check()


@given(st.integers(1, 3000).filter(lambda m: m > 1), st.data())
def test_candidates_by_brute_force(modulus, data):
    x = data.draw(st.integers(0, modulus - 1))
    expected = {
        (n, m)
        for m in range(1, modulus // 2 + 1)
        if gcd(m, modulus) == 1
        for n in {x * m % modulus, x * m % modulus - modulus}
        if 2 * abs(n) * m < modulus and gcd(n, m) == 1
    }
    found = list(reconstruction.rational_candidates(x, modulus))
    assert set(found) == expected
    assert len(found) == len(expected)
    sizes = [abs(Fraction(n, m)) for n, m in found]
    assert sizes == sorted(sizes, reverse=True)
    for sign in (1, -1):
        same_sign = [abs(Fraction(n, m)) for n, m in found if n * sign > 0]
        assert all(a > 5.8 * b for a, b in pairwise(same_sign))


@pytest.mark.parametrize("has_flint", [True, False])
@pytest.mark.parametrize("bits", [40, 150, 1200])
def test_candidates_in_a_range_are_those_of_all(bits, has_flint, monkeypatch):
    """Where the rows above the range are passed over by half-gcds, at random and with long quotients in between."""
    if not has_flint:
        monkeypatch.setattr(integers, "long_integer", lambda: int)
    rng = random.Random(bits)
    for k in range(20):
        modulus = rng.getrandbits(bits) | 1
        q = rng.getrandbits(rng.randrange(1, bits)) | 1
        x = (rng.randrange(modulus), modulus // q, q)[k % 3] % modulus
        every = list(reconstruction.rational_candidates(x, modulus))
        low = rng.randrange(-bits, bits)
        width = rng.randrange(0, bits)
        found = list(reconstruction.rational_candidates(x, modulus, (low, low + width)))
        assert [c for c in every if c in set(found)] == found
        assert {(n, m) for n, m in every if n and low < log2(abs(n)) - log2(m) < low + width} <= set(found)
        middle, others = reconstruction.decode_digits([Residue(x, 1)], (modulus,), 0)
        bound = isqrt((modulus - 1) // 2)
        expected = [Fraction(n, m) for n, m in every if max(abs(n), m) <= bound]
        assert [middle] == (expected or [None])
        assert others == ([] if expected else [Fraction(n, m) for n, m in every[:3]])


def test_numbers_of_many_digits_are_found_at_once():
    """Every step of Euclid's algorithm took seconds."""
    n, m, precision = 7**12000, 2 * 5**14000 + 3, 50000
    x = integers.divide_modulo(n, m, 3, precision)
    assert reconstruction.decode_digits([Residue(x, precision)], (3,), 0) == (Fraction(n, m), [])


@given(st.lists(st.sampled_from([2, 3, 5, 7, 11]), min_size=1, max_size=5, unique=True), st.integers(0, 10**9))
def test_chinese_remainder(moduli, x):
    x %= prod(moduli)
    assert reconstruction.chinese_remainder([x % p for p in moduli], tuple(moduli)) == x


@settings(max_examples=200)
@given(spaces(), st.data())
@example(AdeleSpace((2,), 1), None)
def test_random_coordinates_decode_to_their_number_or_to_none(space, data):
    """What decodes from given coordinates encodes to the same coordinates."""
    if data is None:
        digits, real = np.array([[1]]), 1.0
    else:
        digits = np.array([[data.draw(st.integers(0, p - 1)) for _ in range(space.precision)] for p in space.primes])
        real = data.draw(st.one_of(st.floats(), st.integers(-5, 5).map(float)))
    radius = 0.5 if data is None else data.draw(st.sampled_from([0.0, 0.5, 100.0]))
    q = decoded(space.from_digits(digits, real, radius=radius))
    if q is not None:
        assert is_inside(q, space)
        np.testing.assert_array_equal(space.encode(q).digits, digits)
        assert abs(q - Fraction(real)) <= radius


def test_a_wide_ball_with_two_candidates_decodes_to_none():
    """−10 and 1/10 are equal modulo 101; a ball that holds both does not say which."""
    residues = [Residue(91, 1)]
    for value, radius, expected in [
        (-5.0, 20.0, None), (-10.0, 1.0, -10), (0.0, 1.0, Fraction(1, 10)), (-5.0, 1.0, None),
    ]:  # fmt: skip
        place = real.from_values(np.array(value), np.array(radius))
        assert reconstruction.decode(residues, (101,), 0, place) == expected

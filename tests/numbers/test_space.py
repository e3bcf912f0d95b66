"""The parameters of a space, encoding, the tensor layout, and coordinates given from outside."""

import copy
import itertools
import pickle
from decimal import Decimal
from fractions import Fraction
from math import gcd

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adelic import AdeleSpace
from adelic.errors import ConfigurationError, DecodingError, EncodingError, PrecisionError, RangeError, SpaceError
from adelic.numbers.real import from_numbers


def test_defaults():
    space = AdeleSpace()
    assert space.primes == (2, 3, 5, 7, 11, 13, 17)
    assert (space.precision, space.fractional_digits) == (16, 0)
    assert (space.n_primes + 1) * space.precision == 128
    assert space.decoding_bound == (2 * 3 * 5 * 7 * 11 * 13 * 17) ** 16


def test_spaces_are_values():
    given = AdeleSpace(primes=[np.int64(2), 3], precision=np.int32(4), fractional_digits=np.int64(1))
    assert repr(given) == repr(AdeleSpace(primes=(2, 3), precision=4, fractional_digits=1))
    assert len({AdeleSpace(), AdeleSpace(precision=16), AdeleSpace(precision=17)}) == 2
    assert AdeleSpace(primes=(3, 2)) != AdeleSpace(primes=(2, 3))
    space = AdeleSpace(primes=(2, 5), fractional_digits=2)
    assert space.decoding_bound == 10**14
    for other in (copy.copy(space), copy.deepcopy(space), pickle.loads(pickle.dumps(space))):
        assert other == space
        assert other.decoding_bound == space.decoding_bound
    with pytest.raises(AttributeError):
        space.precision = 3


@pytest.mark.parametrize(
    ("primes", "message"),
    [
        ((2, 9), r"9 is not a prime \(9 = 3 · 3\)"),
        ((91,), r"91 is not a prime \(91 = 7 · 13\)"),
        ((2, 2147483645), r"2147483645 is not a prime \(2147483645 = 5 · 429496729\)"),
        *(((bad,), f"^{bad} is not a prime;") for bad in (0, 1, -7)),
        ((2, 3, 2), "the prime 2 occurs twice"),
        ((), r"primes=\(\) leaves no p-adic coordinate"),
        *(((bad, 3), f"a prime must be an integer, not {bad!r}") for bad in (True, np.True_, 2.0, "2", None)),
        ("235", "a prime must be an integer, not '2'"),
        *((bad, f"primes={bad} is not a sequence") for bad in (7, None)),
        ((2**1024 + 643,), r"309 digits\) is too large"),
        ((2**31 + 12,), r"2147483660 is not a prime \(2147483660 = 2 · 1073741830\)"),
        (((2**31 - 1) * (2**31 + 11),), "is not a prime;"),
        ((True,) * 3000, "not True"),
        ((10**100,), r"101 digits\) is not a prime"),
        ((10**400,), "too large"),
    ],
)
def test_bad_primes(primes, message):
    with pytest.raises(SpaceError, match=message) as caught:
        AdeleSpace(primes=primes)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    ("option", "values"),
    [
        ("precision", [0, -1, True, np.True_, 16.0, "16", None, 2**31, 10**30]),
        ("fractional_digits", [-1, 16, 17, True, False, 1.0, "1", None]),
    ],
)
def test_bad_numbers_of_digits(option, values):
    for value in values:
        with pytest.raises(SpaceError, match=option):
            AdeleSpace(**{option: value})


@pytest.mark.parametrize(
    ("options", "most"),
    [({"precision": 2 * 10**9}, 1428571), ({"primes": (2,), "precision": 10**7 + 1}, 10**7),
     ({"primes": range(10**4), "precision": 1001}, 1000)],
)  # fmt: skip
def test_more_digits_than_can_be_worked_with(options, most):
    """Refused at once, by their number, whatever the primes are."""
    with pytest.raises(SpaceError, match=f"digits per number.* here precision={most}$") as caught:
        AdeleSpace(**options)
    assert len(str(caught.value)) < 250


def test_ten_thousand_primes():
    """Checked one by one, none compared with all others; more are refused at once, before they are looked at."""
    from adelic.numbers.primes import first_primes

    primes = first_primes(10_000)
    assert AdeleSpace(primes, 1).n_primes == 10_000
    with pytest.raises(SpaceError, match="the prime 2 occurs twice in primes=") as caught:
        AdeleSpace((*primes[:-1], 2), 1)
    assert len(str(caught.value)) < 200
    with pytest.raises(SpaceError, match=r"^10,001 primes are too many: .*; at most 10,000 are supported$"):
        AdeleSpace((*primes, 4), 1)
    for endless in (range(10**9), itertools.count(2), itertools.repeat(2)):
        with pytest.raises(SpaceError, match=r"^10,001 primes are too many"):
            AdeleSpace(endless, 1)
    with pytest.raises(SpaceError, match=r"^1,000,000,000,000 primes are too many"):
        AdeleSpace.decimal(10**12)


def test_paper_example():
    """7/5 is …11011 in Q_2, …01212 in Q_3, 1.2 in Q_5, …54130 in Q_7 (paper, section 2)."""
    space = AdeleSpace(primes=(2, 3, 5, 7), precision=6, fractional_digits=1)
    a = space.encode("7/5")
    assert a.digits.tolist() == [[1, 1, 0, 1, 1, 0], [0, 1, 2, 1, 2, 0], [0, 0, 0, 0, 1, 2], [5, 4, 1, 3, 0, 0]]
    assert str(a) == "(1.4, …11011_2, …01212_3, …00001.2_5, …54130_7)"
    without_point = AdeleSpace(primes=(2, 3, 7), precision=5).encode("7/5")
    assert without_point.digits.tolist() == [[1, 1, 0, 1, 1], [0, 1, 2, 1, 2], [5, 4, 1, 3, 0]]


@pytest.mark.parametrize("size", [1, 100])
def test_below_the_window(size):
    space = AdeleSpace(primes=(2, 5), precision=6, fractional_digits=1)
    with pytest.raises(PrecisionError) as caught:
        space.encode([["7/5"]] * (size - 1) + [["3/250"]])
    message = str(caught.value)
    for part in ("3/250", f"[{size - 1}, 0]", "5-adic valuation −3", "fractional_digits=3 would hold it"):
        assert part in message
    with pytest.raises(PrecisionError, match=r"^3/250 has 5-adic valuation −3"):
        space.tensor("3/250")
    roomy = AdeleSpace(primes=(2, 5), precision=8, fractional_digits=3)
    assert roomy.encode("3/250").decode() == Fraction(3, 250)


@given(st.lists(st.fractions(max_denominator=1000), max_size=40), st.booleans())
def test_tensor_is_the_layout_of_encode(values, as_column):
    space = AdeleSpace(primes=(1009, 1013, 1019), precision=4)
    values = [[q] for q in values] if as_column else values
    tensor, a = space.tensor(values), space.encode(values)
    np.testing.assert_array_equal(tensor, a.tensor())
    np.testing.assert_array_equal(tensor, space.tensor(a))
    assert tensor.dtype == np.float32
    assert tensor.shape == (*a.shape, 4, 4)
    np.testing.assert_array_equal(tensor[..., 1:, :], a.digits)
    np.testing.assert_array_equal(tensor[..., 0, -1], a.real.astype(np.float32))
    assert not tensor[..., 0, :-1].any()


@pytest.mark.parametrize("is_encoded", [False, True])
def test_tensor_writes_where_it_is_told(is_encoded):
    space = AdeleSpace(primes=(2, 3), precision=4)
    values = space.encode([7, -1]) if is_encoded else [7, -1]
    out = np.full((2, 3, 4), np.nan, dtype=np.float32)
    assert space.tensor(values, out=out) is out
    assert (out == space.tensor([7, -1])).all()
    message = r"out must be a writeable, contiguous float32 array of shape \(2, 3, 4\)"
    for wrong in ([1], out.astype(np.float64), out[0], out.T, np.broadcast_to(out[:1], (2, 3, 4))):
        with pytest.raises(EncodingError, match=message):
            space.tensor(values, out=wrong)


@pytest.mark.parametrize("threads", [0, -1, 1.5, "2", None, True])
def test_numbers_of_threads(threads):
    for method in (AdeleSpace().encode, AdeleSpace().tensor):
        with pytest.raises(ConfigurationError, match=r"threads=.* must be a whole number from 1 on"):
            method([1], threads=threads)


@pytest.mark.parametrize("indices", [[5], 3, "01", [[0]], [None]])
def test_parts_of_primes_that_there_are_not(indices):
    with pytest.raises(SpaceError, match=r"are not a sequence of indices of 2 primes, 0 … 1"):
        AdeleSpace(primes=(2, 3)).part(indices)


def test_tensor_beyond_float32():
    space = AdeleSpace()
    assert space.tensor(3 * 10**38)[0, -1] == np.float32(3e38)
    for make in (space.tensor, lambda values: space.encode(values).tensor()):
        for values, position in [([[0], [10**39]], r" at position \[1, 0\]"), (-(10**400), "")]:
            with pytest.raises(RangeError, match=f"real value .*{position} is beyond float32"):
                make(values)
        with pytest.raises(OverflowError):
            make(10**39)


def test_tensor_refuses_digits_that_float32_does_not_hold():
    space = AdeleSpace(primes=(16777259,), precision=2)
    for make in (space.tensor, lambda values: space.encode(values).tensor()):
        with pytest.raises(EncodingError, match=r"digits of the prime 16777259; use \.digits"):
            make(1)
    assert AdeleSpace(primes=(16777213,), precision=2).tensor(-1).tolist() == [[0, -1], [16777212, 16777212]]


def test_encode_returns_arrays_of_its_own_space_unchanged():
    space = AdeleSpace()
    a = space.encode([1, 2])
    assert space.encode(a) is a
    with pytest.raises(SpaceError, match=r"not in .*; decode\(\) it first"):
        AdeleSpace(precision=5).encode(a)
    with pytest.raises(SpaceError):
        AdeleSpace(precision=5).tensor(a)


SMALL = AdeleSpace(primes=(2, 3), precision=4)
SEVEN = [[0, 1, 1, 1], [0, 0, 2, 1]]


def test_from_digits_round_trip():
    a = AdeleSpace().encode([["1/19", 3], [-5, 0]])
    b = AdeleSpace().from_digits(a.digits, a.real)
    assert (b.decode() == a.decode()).all()
    assert (a == b).all()
    assert b.digits.dtype == a.digits.dtype
    assert (-b).decode().tolist() == (-a).decode().tolist()
    assert SMALL.from_digits(np.zeros((0, 2, 4)), []).decode().shape == (0,)


def test_digits_of_the_greatest_primes_are_not_rounded():
    """NumPy makes float64 of lists with integers on both sides of 2^63."""
    space = AdeleSpace((2, 18446744073709551557), 1)
    assert space.from_digits([[1], [2**63 + 1]], 1.0).digits.tolist() == [[1], [2**63 + 1]]
    assert space.encode(2**63 + 1).digits.tolist() == [[1], [2**63 + 1]]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_real_values_are_as_exact_as_their_type(dtype):
    space = AdeleSpace()
    numbers = [Fraction(22, 19), Fraction(-5), Fraction(1, 19**3), Fraction(355, 113)]
    reals = np.array(numbers, dtype=dtype)
    assert space.from_digits(space.encode(numbers).digits, reals).decode().tolist() == numbers
    assert space.from_digits(space.encode(numbers[0]).digits, reals[0]).decode() == numbers[0]
    off = reals.astype(np.float64) * (1 + 3 * float(np.finfo(dtype).eps))
    with pytest.raises(DecodingError, match="a radius bounds the error of a real value that from_digits was given"):
        space.from_digits(space.encode(numbers).digits, off.astype(dtype)).decode()


def test_the_error_shows_the_real_value_that_was_given():
    with pytest.raises(DecodingError, match=r"the real value 7\.000000000001 within 7\.8e-16, or more than one"):
        SMALL.from_digits(SEVEN, 7.000000000001).decode()


class TestExactRealValues:
    """Fractions, Decimals and long integers, which may be beyond float64."""

    def test_round_trips(self):
        space = AdeleSpace((2, 3, 5, 7), 1000)
        exact = [Fraction(10**400 + 7), Fraction(-1, 11**400), Fraction(22, 13), Fraction(0)]
        a = space.encode(exact)
        for approximations in (exact, [Decimal("1e400"), Fraction(-1, 11**400) * (1 + Fraction(1, 2**54)), 22 / 13, 0]):
            b = space.from_digits(a.digits, np.array(approximations, dtype=object))
            assert b.decode().tolist() == exact
        assert space.from_digits(a.digits[0], 10**400).decode() == exact[0]
        assert space.from_digits(a.digits[:2], [10**400, -Fraction(1, 11**400)]).shape == (2,)

    def test_radii(self):
        space = AdeleSpace((2, 3, 5, 7), 1000)
        a = space.encode(10**400)
        assert space.from_digits(a.digits, 11 * 10**399, radius=2 * 10**399).decode() == 10**400
        for value, radius in [(11 * 10**399, None), (11 * 10**399, 10**398), (-(10**400), 1.0)]:
            with pytest.raises(DecodingError):
                space.from_digits(a.digits, value, radius=radius).decode()
        assert space.from_digits(space.encode(3).digits, 10**400, radius=2 * 10**400).decode() == 3
        assert space.from_digits(space.encode(3).digits, Fraction(3), radius=0.0).decode() == 3
        with pytest.raises(DecodingError):
            space.from_digits(a.digits, 10**400, radius=np.inf).decode()
        with pytest.raises(EncodingError, match=r"the radius -1000000…000 \(401 digits\) is not an error bound"):
            space.from_digits(a.digits, 10**400, radius=-(10**400))
        with pytest.raises(EncodingError, match=r"radii of shape \(2,\) do not fit real values of shape \(\)"):
            space.from_digits(a.digits, 10**400, radius=[Fraction(1, 2), 1])

    def test_exact_radii(self):
        assert SMALL.from_digits([SEVEN] * 2, [6.9, 7.1], radius=0.2).decode().tolist() == [7, 7]
        assert SMALL.from_digits([SEVEN] * 2, [6.5, 7.5], radius=Fraction(1, 2)).decode().tolist() == [7, 7]
        assert SMALL.from_digits([SEVEN] * 2, [7, Fraction(15, 2)], radius=Fraction(1, 2)).decode().tolist() == [7, 7]
        for value in (7.0, Fraction(7)):
            with pytest.raises(
                EncodingError, match=r"the radius -(1/2|0\.5) is not an error bound; radii are at least 0"
            ):
                SMALL.from_digits(SEVEN, value, radius=Fraction(-1, 2))

    @given(st.fractions(), st.integers(-2000, 2000), st.fractions(min_value=0), st.integers(-2000, 2000))
    def test_the_ball_holds_what_was_given(self, q, e, r, f):
        q, r = q * Fraction(2) ** e, r * Fraction(2) ** f
        ball = from_numbers([q], [r])[0].ball(10**5)
        assert abs(ball[0] - q) + r <= ball[1]
        assert ball[1] <= (abs(q) + r) / 2**50 + r * (1 + Fraction(1, 2**50)) + Fraction(1, 2**1060)


class TestNoRealValue:
    def test_every_residue_of_a_small_modulus(self):
        """What is found is inside √(M/2), the only such number, and nothing there is refused."""
        space = AdeleSpace((2, 3), 3)  # M = 216
        inside = {Fraction(n, m) for m in range(1, 11) for n in range(-10, 11) if gcd(m, 6) == 1}
        inside = {space.encode(q).digits.tobytes(): q for q in inside}
        for x in range(216):
            digits = space.encode(x).digits
            try:
                found = space.from_digits(digits, None).decode()
            except DecodingError:
                found = None
            assert found == inside.get(digits.tobytes())

    def test_the_ambiguity_is_said(self):
        space = AdeleSpace(primes=(101,), precision=1)
        with pytest.raises(DecodingError, match=r"-10 and 1/10 have them, for example; a real value tells"):
            space.from_digits([[91]], None).decode()
        with pytest.raises(DecodingError, match=r"at position \[1\]"):
            space.from_digits([[[7]], [[91]]], None).decode()

    def test_arrays_signs_and_arithmetic(self):
        exact = [Fraction(-355, 113), Fraction(7), Fraction(0)] * 20
        a = AdeleSpace().from_digits(AdeleSpace().encode(exact).digits, None)
        assert a.decode().tolist() == exact
        assert (-a).decode().tolist() == [-q for q in exact]
        assert np.isnan(a.real).all()
        assert (a == exact).all()
        with pytest.raises(DecodingError):  # of a computed number not even the bound is known
            (a[:1] + 1).decode()

    def test_fractional_digits(self):
        space = AdeleSpace((2, 3, 5), precision=12, fractional_digits=2)
        for q in (Fraction(7, 20), Fraction(-3, 8 * 5) * 2, Fraction(1, 900), Fraction(11, 7)):
            assert space.from_digits(space.encode(q).digits, None).decode() == q

    def test_a_radius_without_a_value(self):
        with pytest.raises(EncodingError, match="without one, leave it out"):
            SMALL.from_digits(SEVEN, None, radius=1.0)


def test_from_digits_keeps_no_hold_of_the_callers_arrays():
    digits, real, radius = np.array([SEVEN]), np.array([7.0]), np.array([0.1])
    a = SMALL.from_digits(digits, real, radius=radius)
    digits[...], real[...], radius[...] = 0, 0, 0
    assert a.decode().tolist() == [7]


@pytest.mark.parametrize(
    ("digits", "real", "message"),
    [
        ([[0, 1, 1, 2], [0, 0, 2, 1]], 7.0, r"2 at position \[0, 3\] is not a digit at the prime 2; .* 0 … 1"),
        ([SEVEN, [[0, 1, 1, 1], [0, 0, -1, 1]]], [7.0, 7.0], r"-1 at position \[1, 1, 2\] is not a digit at the prime"),
        ([[0, 1, 1, 0.5], [0, 0, 2, 1]], 7.0, r"0\.5 at position \[0, 3\]"),
        ([[0, 1, 1, np.nan], [0, 0, 2, 1]], 7.0, r"nan at position \[0, 3\]"),
        ([[0, 1, 1], [0, 2, 1]], 7.0, r"digits have shape \(2, 3\); for real values of shape \(\) it is \(2, 4\)"),
        (SEVEN, [7.0], r"it is \(1, 2, 4\)"),
        ([[0, 1, 1, 1], [0, 2, 1]], 7.0, "digits are ragged"),
        ([["0"] * 4] * 2, 7.0, "digits must be integers or floats"),
        (np.array(SEVEN) > 0, 7.0, "digits must be integers or floats, not an array of dtype bool"),
        *(
            (SEVEN, bad, "real values must be integers or floats")
            for bad in ("7", 7j, [None], ["7", Fraction(7)], True)
        ),
        *((SEVEN, (7.0, radius), "radi") for radius in (-0.1, np.nan, [0.1, 0.1], "0.1")),
    ],
)
def test_from_digits_errors(digits, real, message):
    real, radius = real if isinstance(real, tuple) else (real, None)
    with pytest.raises(EncodingError, match=message):
        SMALL.from_digits(digits, real, radius=radius)

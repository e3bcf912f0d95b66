"""Digits by prime: spaces whose primes have different numbers of digits, against the space of the most digits."""

import contextlib
import copy
import dataclasses
import pickle
from fractions import Fraction
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adelic import AdeleSpace
from adelic.errors import DecodingError, EncodingError, PrecisionError, SpaceError
from adelic.numbers import AlgebraicSpace, valuation
from adelic.numbers.choice import fitting_space
from adelic.numbers.window import DEFAULT_PRIMES, DigitsByPrime

GCD = AdeleSpace(primes=(2, 3, 97), precision={2: 6, 3: 4, 97: 1})
PRIMES = (2, 3, 5, 7, 43, 97, 251, 257, 65537)


def test_digits_by_prime():
    space = AdeleSpace(primes=(2, 3, 11), precision={2: 7, 3: 5, 11: 1})
    assert (space.precisions, space.max_precision, space.n_primes) == ((7, 5, 1), 7, 3)
    assert space.precision == {2: 7, 3: 5, 11: 1}
    assert space.decoding_bound == 2**7 * 3**5 * 11
    assert repr(space) == "AdeleSpace(primes=(2, 3, 11), precision={2: 7, 3: 5, 11: 1}, fractional_digits=0)"
    assert AdeleSpace(precision={11: 1, 3: 5, 2: 7}).primes == (11, 3, 2)
    given = {np.int64(2): np.int32(7), 3: 5, 11: 1}
    twins = [eval(repr(space)), AdeleSpace(precision=given), AdeleSpace((2, 3, 11), {11: 1, 3: 5, 2: 7})]
    twins += [copy.copy(space), copy.deepcopy(space), pickle.loads(pickle.dumps(space)), dataclasses.replace(space)]
    given[3] = 1
    assert {*twins} == {space}
    assert {twin.precisions for twin in twins} == {(7, 5, 1)}
    assert isinstance(space.precision, DigitsByPrime)
    with pytest.raises(TypeError):
        space.precision[2] = 3
    with pytest.raises(SpaceError, match="not 'five'"):
        AdeleSpace.from_dict({"primes": [2, 5], "precision": {"2": 7, "five": 5}, "fractional_digits": 0})
    assert str(GCD.encode(100)) == "(100, …100100_2, …0201_3, …(3)_97)"


@pytest.mark.parametrize("primes", [(2, 3, 11), (11, 2, 3)])
def test_equal_digits_are_one_number(primes):
    space = AdeleSpace(primes, dict.fromkeys(primes, 5))
    assert {space} == {AdeleSpace(primes, 5)}
    assert type(space.precision) is int


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"precision": {2: 7, 3: 5}, "primes": (2, 3, 11)}, r"does not name the prime 11 of primes=\(2, 3, 11\)"),
        ({"precision": {2: 7, 3: 5}, "primes": (2,)}, r"names 3, which is not one of primes=\(2,\); name each prime"),
        ({"precision": {2: 7, 3: 5}, "primes": [*DEFAULT_PRIMES]}, "does not name the prime 5"),
        *(({"precision": {2: bad, 3: 5}}, "leaves no digit at the prime 2; precision >= 1") for bad in (0, -1)),
        *(
            ({"precision": {2: bad, 3: 5}}, f"precision at 2 must be an integer, not {bad!r}")
            for bad in (True, 7.0, "7", None)
        ),
        ({"precision": {"2": 7}}, "a prime must be an integer, not '2'"),
        ({"precision": {True: 7}}, "a prime must be an integer, not True"),
        ({"precision": {2: 7, 9: 1}}, r"9 is not a prime \(9 = 3 · 3\)"),
        ({"precision": {2: 7, 3: 5}, "primes": (2, 3, 2)}, "the prime 2 occurs twice"),
        ({"precision": {}}, r"precision=\{\} names no prime"),
        ({"precision": {2: 7}, "primes": ()}, r"primes=\(\) leaves no p-adic coordinate"),
        ({"precision": {2: 7, 3: 2}, "fractional_digits": 2}, "precision=2 at the prime 3; 0 <= fractional_digits"),
        ({"precision": {2: 10**7, 3: 1}}, "at 2 primes would be"),
        ({"precision": [7, 5], "primes": (2, 3)}, r"precision must be an integer, not \[7, 5\]"),
    ],
)
def test_bad_digits_by_prime(options, message):
    with pytest.raises(SpaceError, match=message) as caught:
        AdeleSpace(**options)
    assert "\n" not in str(caught.value)


@st.composite
def spaces(draw, fractional=True):
    """Draw a space with digits by prime, within reach of every kernel and beyond it."""
    primes = tuple(draw(st.lists(st.sampled_from(PRIMES), min_size=1, max_size=5, unique=True)))
    counts = draw(st.lists(st.integers(1, 20), min_size=len(primes), max_size=len(primes)))
    f = draw(st.integers(0, min(3, min(counts) - 1))) if fractional else 0
    return AdeleSpace(primes, dict(zip(primes, counts, strict=True)), f)


def rationals_of(space, rng, size):
    """Return fractions that fit the window."""
    out = []
    for n, m in zip(rng.integers(-1000, 1000, size).tolist(), rng.integers(1, 200, size).tolist(), strict=True):
        q = Fraction(n, m)
        for p in space.primes:
            q *= p ** max(0, valuation(q.denominator, p) - space.fractional_digits)
        out.append(q)
    return out


@settings(max_examples=60)
@given(spaces(), st.integers(0, 2**32), st.sampled_from([1, 40]))
def test_division_tracks_the_precision_of_each_prime(space, seed, size):
    """Each prime for itself is as in the space of that prime alone."""
    rng = np.random.default_rng(seed)
    x, y = (rationals_of(space, rng, size) for _ in range(2))
    y = [q or Fraction(1) for q in y]
    for operation in (lambda a, b: a / b, lambda a, b: a * b, lambda a, b: a * b + b):
        places = zip(space.primes, space.precisions, strict=True)
        each = [AdeleSpace((p,), n, space.fractional_digits) for p, n in places]
        try:
            alone = [operation(one.encode(x), one.encode(y)) for one in each]
        except PrecisionError:
            with pytest.raises(PrecisionError):
                operation(space.encode(x), space.encode(y))
            continue
        got = operation(space.encode(x), space.encode(y))
        for j, part in enumerate(alone):
            n = space.precisions[j]
            np.testing.assert_array_equal(got.digits[:, j, space.max_precision - n :], part.digits[:, 0])
            assert not got.digits[:, j, : space.max_precision - n].any()
            np.testing.assert_array_equal(got.known[:, j], part.known[:, 0])


@settings(max_examples=60)
@given(spaces(), st.integers(0, 2**32), st.sampled_from([1, 40]))
def test_decoding_inside_the_bound(space, seed, size):
    rng = np.random.default_rng(seed)
    scale = prod(space.primes) ** space.fractional_digits
    inside, largest = [], (space.decoding_bound - 1) // 2 // scale
    for q in [*rationals_of(space, rng, 3 * size), *map(Fraction, (largest, -largest, *range(-3, 4)))]:
        scaled = q * scale
        if 2 * abs(scaled.numerator) * scaled.denominator < space.decoding_bound * scale:
            inside.append(q)
    assert space.encode(inside).decode().tolist() == inside
    # what is just beyond the bound is refused or right, never wrong
    for q in (space.decoding_bound // 2 + 1, -space.decoding_bound):
        with contextlib.suppress(DecodingError):
            assert space.encode(q).decode() == q


def test_from_digits_with_digits_by_prime():
    a = GCD.encode([[5, -7], [10, 1]])
    assert (GCD.from_digits(a.digits, a.real) == a).all()
    assert GCD.from_digits(a.digits, a.real).decode().tolist() == a.decode().tolist()
    assert GCD.from_digits(a.digits, None).decode().tolist() == a.decode().tolist()
    for dtype in (np.int64, np.float64):
        digits = a.digits.astype(dtype)
        digits[0, 1, 2, 0] = 1
        with pytest.raises(EncodingError, match="is beyond the 1 lowest digits, all that the prime 97 has"):
            GCD.from_digits(digits, a.real)
        digits[0, 1, 2, 0] = -1
        with pytest.raises(EncodingError, match="is beyond"):
            GCD.from_digits(digits, a.real)
    with pytest.raises(EncodingError, match=r"digits have shape .*it is \(2, 2, 3, 6\)"):
        GCD.from_digits(a.digits[..., 1:], a.real)


def test_what_is_lost_is_said():
    with pytest.raises(PrecisionError, match="no known 97-adic digit at precision=1"):
        _ = GCD.encode(97 * 5) / 97
    with pytest.raises(PrecisionError, match="1/97 has 97-adic valuation −1"):
        GCD.encode("1/97")
    assert (GCD.encode(12) / 4).known.tolist() == [4, 4, 1]
    assert (GCD.encode([12] * 40) / 4).known[39].tolist() == [4, 4, 1]


def test_fitting_space_with_digits_by_prime():
    assert fitting_space(["1/4", "7/3"], (2, 3), {2: 8, 3: 5}) == AdeleSpace((2, 3), {2: 8, 3: 5}, 2)
    assert fitting_space([1], (2, 3), {2: 8, 3: 5}, 1).fractional_digits == 1
    assert fitting_space([], (2, 3), 4).fractional_digits == 0
    with pytest.raises(PrecisionError, match="precision=1 at the prime 3 does not hold; precision=3 would"):
        fitting_space(["1/4"], (2, 3), {2: 8, 3: 1})


def test_algebraic_spaces_have_one_number_of_digits():
    pytest.importorskip("flint")
    with pytest.raises(SpaceError, match="the precision of an AlgebraicSpace must be an integer"):
        AlgebraicSpace("x^2 - 2", root=1.414, primes=(7, 17), precision={7: 3, 17: 2})

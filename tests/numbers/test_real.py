"""The real place: balls that always hold the number, and bounds of denominators that always hold."""

from fractions import Fraction
from math import inf, nan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adelic.numbers import rationals, real
from adelic.numbers.real import Wide

# Ordinary numbers, numbers near the borders of float64 on both sides, near 2^53, and beyond float64.
NUMBERS = st.one_of(
    st.fractions(max_denominator=100),
    st.fractions(),
    st.builds(lambda q, e: q * Fraction(10) ** e, st.fractions(max_denominator=1000), st.integers(-330, 330)),
    st.builds(lambda k, e: Fraction(2) ** e + k, st.integers(-2, 2), st.integers(45, 70)),
    st.builds(lambda k, e: 1 / (Fraction(2) ** e + k), st.integers(-2, 2), st.integers(45, 70)),
    st.builds(lambda k, e: k * Fraction(2) ** e, st.integers(-3, 3), st.integers(-1080, 1030)),
    st.builds(lambda k, e: Fraction(2) ** e + k, st.integers(-2, 2), st.integers(900, 5000)),
    st.builds(lambda q, e: q * Fraction(10) ** e, st.fractions(max_denominator=1000), st.integers(-3000, 3000)),
)


def encode(values, *, is_inside=lambda n, m: False):
    return real.encode(rationals.read(values), is_inside)


def check(place, q):
    """Assert every promise of a `RealPlace` about one number."""
    place = place.reshape((-1,))[0]
    assert place.radius >= 0
    ball, bound = place.ball(10**6), place.denominator_bound(10**6)
    if ball is not None:
        assert abs(q - ball[0]) <= ball[1]
    if bound is None:
        assert place.denominator == inf
    elif bound < real.EXACT:
        assert bound >= 1
        assert int(bound) % q.denominator == 0
    else:
        assert bound >= q.denominator


@settings(max_examples=300)
@given(NUMBERS)
def test_encode(q):
    place = encode([q])
    check(place, q)
    try:
        assert place.value[0] == q.numerator / q.denominator
    except OverflowError:
        assert place.value[0] == (inf if q > 0 else -inf)
    ball = place[0].ball(10**5)
    assert ball is not None
    assert ball[1] <= abs(q) / 2**52 + Fraction(1, 2**1060)


@given(st.lists(st.tuples(st.integers(-(2**63), 2**63 - 1), st.integers(1, 2**63 - 1)), min_size=1, max_size=50))
def test_int64_and_object_arrays_give_the_same_floats(pairs):
    values = [Fraction(n, m) for n, m in pairs]
    small, large = encode(values), encode([*values, Fraction(2**64)])
    for a, b in zip(small._fields(), large._fields(), strict=True):
        np.testing.assert_array_equal(a, b[:-1])
    assert small.value.tolist() == [q.numerator / q.denominator for q in values]


@pytest.mark.long
@settings(max_examples=500)
@given(NUMBERS, st.lists(st.tuples(st.sampled_from("+-*/"), NUMBERS), min_size=1, max_size=6))
def test_operations_keep_the_promises(q, steps):
    place = encode([q])
    for name, other in steps:
        right = encode([other])
        if name in "+-":
            place, q = (place + right, q + other) if name == "+" else (place + -right, q - other)
        elif name == "*" or other:
            place, q = (place * right, q * other) if name == "*" else (place * right.reciprocal(), q / other)
        check(place, q)
        if q:
            check(place.reciprocal(), 1 / q)
        assert place.overlaps(encode([q]))[0]
        assert encode([q]).overlaps(place)[0]


@given(st.lists(st.integers(-(2**25), 2**25), min_size=2, max_size=7))
def test_integers_stay_exact(values):
    total = encode([0])
    for n in values:
        total = total + encode([n]) * encode([n])
    assert total.value[0] == sum(n * n for n in values)
    assert total.radius[0] == 0


def test_denominators_of_long_sums_stay_small():
    total = encode([0])
    for n in range(1, 100):
        total = total + encode([Fraction(n, 6)]) + encode([Fraction(n, 10)])
    assert total.denominator[0] == 30
    check(total, sum(Fraction(n, 6) + Fraction(n, 10) for n in range(1, 100)))


def test_mixed_batches():
    """Numbers whose denominators overflow float64 stand beside small ones, and nothing warns."""
    q = [Fraction(1, 10**200), Fraction(1, 6), Fraction(10**400), Fraction(1, 3**500), Fraction(0)]
    a = encode(q)
    for place, expected in [(a * a, [x * x for x in q]), (a + a, [x + x for x in q])]:
        for i, x in enumerate(expected):
            check(place[i], x)


def test_is_inside_is_kept_where_the_denominator_is_not_exact():
    inside, outside = Fraction(1, 3**300), Fraction(1, 3**500)
    place = encode([inside, outside, 1], is_inside=lambda n, m: n * m < 10**200)
    assert place.is_inside.tolist() == [True, False, False]
    assert not (place + place).is_inside.any()
    assert (-place).is_inside[0]


def test_overlaps():
    a = real.from_values(np.array([1.0, 1.0, nan, inf, 2.0]), np.array([0.1, 0.0, 0.1, 0.1, 0.0]))
    b = real.from_values(np.array([1.2, 1.2, 5.0, 5.0, 2.0]), np.array([0.1, 0.1, 0.1, inf, 0.0]))
    assert a.overlaps(b).tolist() == [True, False, False, True, True]
    beyond = encode([10**400, 10**400, 10**400, 10**300, 2**1023, 10**400])
    others = encode([10**400, -(10**400), 10**300, 10**400, 10**300, 10**401])
    assert beyond.overlaps(others).tolist() == [True, *[False] * 5]


@pytest.mark.long
@settings(max_examples=300)
@given(NUMBERS, NUMBERS)
def test_beyond_float64_results_are_as_sharp_as_inside(x, y):
    """A sum, a product, a quotient of two points is known to 2^-51 of what went into it, at any size."""
    a, b = encode([x]), encode([y])
    cases = [(a + b, abs(x) + abs(y)), (a * b, abs(x * y))]
    if y:
        cases.append((a * b.reciprocal(), abs(x / y)))
    for place, size in cases:
        ball = place[0].ball(10**5)
        assert ball is not None
        assert ball[1] <= size * Fraction(1, 2**50) + Fraction(1, 2**1060)
        if abs(place.value[0]) < 2.0**-1000 or np.isinf(place.value[0]):
            assert ball[1] <= size * Fraction(1, 2**50)


def test_units_are_stored_only_where_they_are_needed():
    """What float64 holds costs nothing more; one number beyond does not change those beside it."""
    plain = encode([Fraction(1, 3), 7, 10**300])
    assert plain.is_ordinary()
    assert (plain + plain).is_ordinary()
    mixed = encode([Fraction(1, 3), 7, 10**400])
    total = mixed * mixed
    assert (total.exponent != 0).tolist() == [False, False, True]
    small = encode([Fraction(1, 3), 7]) * encode([Fraction(1, 3), 7])
    np.testing.assert_array_equal(total.centre[:2], small.centre)
    np.testing.assert_array_equal(total.radius[:2], small.radius)
    back = total + encode([0, 0, -(10**800)])
    assert back.may_be_zero().tolist() == [False, False, True]
    assert not (back * encode([1, 1, Fraction(1, 10**790)])).exponent.any()


def test_zero_times_anything_is_zero():
    unknown = real.from_numbers([Fraction(10**400)], [Fraction(1)])
    for place in (encode([Fraction(10**400, 7)]), encode([Fraction(1, 3**1000)]), unknown, unknown * encode([10**400])):
        product = encode([0]) * place
        assert (product.centre[0], product.radius[0], product.denominator[0]) == (0, 0, 1)


def test_a_bound_of_a_small_denominator_is_not_taken_for_it():
    for n in (3, 2**52 + 1, 2**53 - 1):
        place = encode([Fraction(n, 10**400)]).reciprocal()
        check(place, Fraction(10**400, n))
        assert place.denominator[0] < 2.0**54


def test_sizes_without_end_are_unknown_at_last():
    place = encode([3])
    for _ in range(60):
        place = place * place
    assert place.value[0] == inf
    assert place.radius[0] == inf
    tiny = encode([Fraction(1, 3)])
    for _ in range(60):
        tiny = tiny * tiny
    assert tiny[0].ball(100) is None


def test_text():
    assert [encode([q])[0].text() for q in (Fraction(7, 5), 10**400, -(10**400) // 3, Fraction(1, 10**5000))] == [
        "1.4", "1e+400", "-3.33333e+399", "1e-5000",
    ]  # fmt: skip
    assert encode([Fraction(10**400, 3)])[0].text(12) == "3.33333333333e+399"
    powers = encode([2, Fraction(1, 2)])
    for _ in range(23):
        powers = powers * powers
    assert [place.text(2) for place in (powers[0], powers[1])] == ["4.3e+2525222", "2.3e-2525223"]


PARTS = st.tuples(st.floats(-1e9, 1e9), st.integers(-3000, 3000) | st.sampled_from([0, 1, 2000]))


def exact(x):
    return Fraction(float(x.mantissa)) * Fraction(2) ** int(x.exponent) if x.mantissa else Fraction(0)


@given(st.tuples(PARTS, PARTS, PARTS))
def test_results_are_rounded_once(parts):
    x, y, z = (Wide(*part) for part in parts)
    a, b = (Fraction(m) * Fraction(2) ** e for m, e in parts[:2])
    assert (exact(x), exact(y)) == (a, b)
    results = [(x + y, a + b), (x - y, a - b), (x * y, a * b), (-x, -a), (abs(x), abs(a)), (x - x + z, exact(z))]
    results += [(x + 1.0, a + 1), (x * 2.0, 2 * a)]
    if b:
        results += [(x / y, a / b), (1.0 / y, 1 / b)]
    for found, expected in results:
        assert abs(exact(found) - expected) <= abs(expected) / 2**53
    assert ((x <= y), (x <= 1.0)) == (a <= b, a <= 1)
    assert x.floats(x.exponent) == x.mantissa

"""Numbers beyond float64 against exact fractions."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from adelic.numbers.places.wide import Wide

PARTS = st.tuples(st.floats(-1e9, 1e9), st.integers(-3000, 3000) | st.sampled_from([0, 1, 2000]))


def exact(x):
    return Fraction(float(x.mantissa)) * Fraction(2) ** int(x.exponent) if x.mantissa else Fraction(0)


@given(st.tuples(PARTS, PARTS, PARTS))
def test_results_are_rounded_once(parts):
    x, y, z = (Wide(*part) for part in parts)
    a, b = (Fraction(m) * Fraction(2) ** e for m, e in parts[:2])
    assert (exact(x), exact(y)) == (a, b)
    results = [(x + y, a + b), (x - y, a - b), (x * y, a * b), (-x, -a), (abs(x), abs(a)), (x - x + z, exact(z))]
    results += [(x + 1.0, a + 1), (2.0 * x, 2 * a)]
    if b:
        results += [(x / y, a / b), (1.0 / y, 1 / b)]
    for found, expected in results:
        assert abs(exact(found) - expected) <= abs(expected) / 2**53
    assert ((x <= y), (x >= y), (x >= 1.0)) == (a <= b, a >= b, a >= 1)
    assert x.floats(x.exponent) == x.mantissa

"""The features of numbers where primes have different numbers of digits, and valuations with units."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adelic import AdeleSpace
from adelic.errors import ConfigurationError, UnknownNameError
from adelic.numbers import valuation
from adelic.numbers.features import (
    FEATURE_KINDS,
    FeatureLayout,
    compute_features,
    place_features,
    place_size,
    unit_residues,
    valuation_unit,
)

PRIMES = (2, 3, 5, 11, 97)


@st.composite
def spaces(draw):
    primes = tuple(draw(st.lists(st.sampled_from(PRIMES), min_size=1, max_size=4, unique=True)))
    counts = draw(st.lists(st.integers(1, 9), min_size=len(primes), max_size=len(primes)))
    f = draw(st.integers(0, min(2, min(counts) - 1)))
    return AdeleSpace(primes, dict(zip(primes, counts, strict=True)), f)


@pytest.mark.parametrize("kind", FEATURE_KINDS)
@settings(max_examples=40)
@given(spaces(), st.integers(1, 9), st.lists(st.integers(-(10**6), 10**6), max_size=5))
def test_features_are_those_of_the_wider_space_that_exist(kind, space, levels, numbers):
    """Each prime's features are those of the space of its own levels alone; the sizes add up."""
    layout = FeatureLayout(kind, space, min(levels, space.max_precision))
    features = compute_features(space.encode(numbers), layout)
    assert features.shape == (len(numbers), layout.size)
    assert features.dtype == np.float32
    start = layout.n_real
    for p, count in zip(space.primes, layout.place_levels, strict=True):
        one = AdeleSpace((p,), max(count, space.fractional_digits + 1), space.fractional_digits)
        alone = FeatureLayout(kind, one, count)
        expected = compute_features(one.encode(numbers), alone)
        size = place_size(kind, p, count)
        np.testing.assert_array_equal(features[:, start : start + size], expected[:, alone.n_real :])
        if layout.n_real == 1:
            np.testing.assert_array_equal(features[:, :1], expected[:, :1])
        start += size
    assert start == layout.size
    if layout.n_real > 1:
        np.testing.assert_array_equal(features[:, layout.n_real - 1], np.array(numbers, dtype=np.float32))
        assert not features[:, : layout.n_real - 1].any()


@pytest.mark.parametrize("kind", FEATURE_KINDS)
def test_sizes(kind):
    space = AdeleSpace(precision={2: 6, 3: 4, 97: 1})
    sizes = {"digits": 17, "standardized": 17, "characters": 23, "one-hot-digits": 1 + 12 + 12 + 97}
    sizes["valuation-unit"] = 1 + (7 + 4) + (5 + 2) + (2 + 96)
    assert FeatureLayout.fit(kind, space, None).size == FeatureLayout.fit(kind, space, sizes[kind]).size == sizes[kind]
    smaller = FeatureLayout.fit(kind, space, sizes[kind] - 1)
    assert (smaller.levels, smaller.place_levels) == (5, (5, 4, 1))
    with pytest.raises(ConfigurationError, match="coordinates at 3 primes, more than d_model=3"):
        FeatureLayout.fit(kind, space, 3)


@pytest.mark.parametrize("kind", FEATURE_KINDS)
def test_layouts_of_one_number_of_digits_stay(kind):
    space = AdeleSpace(primes=(2, 3, 5), precision=4)
    sizes = {"digits": 16, "standardized": 16, "characters": 25, "one-hot-digits": 41, "valuation-unit": 1 + 15 + 10}
    layout = FeatureLayout.fit(kind, space, None)
    assert (layout.size, layout.levels) == (sizes[kind], 4)
    assert layout.is_present.all()


@settings(max_examples=100)
@given(st.sampled_from(PRIMES), st.integers(1, 12), st.integers(0, 3), st.integers(-(10**9), 10**9), st.integers(1, 99))
def test_valuation_and_unit_by_their_definition(p, levels, f, n, m):
    """x = p^F·n/m is p^v·u; u modulo p, modulo 8 at 2, where the digits tell."""
    f = min(f, levels - 1)
    while m % p == 0:
        m //= p
    q = Fraction(n, m * p**f)
    digits = AdeleSpace((p,), levels, f).encode(q).digits[0, ::-1]
    x = q * p**f
    v = levels if x == 0 else min(valuation(x.numerator, p), levels)
    count = min(3, levels) if p == 2 else 1
    unit = x / p**v
    modulus = p**count
    expected = [k == v for k in range(levels + 1)]
    for r in range(modulus):
        if r % p:
            is_it = v + count <= levels and (unit.numerator * pow(unit.denominator, -1, modulus) - r) % modulus == 0
            expected.append(is_it)
    features = valuation_unit(digits, p)
    assert features.tolist() == expected
    assert len(features) == place_size("valuation-unit", p, levels) == levels + 1 + len(unit_residues(p, levels))
    assert features[: levels + 1].sum() == 1


def test_units_at_2_tell_squares():
    """A 2-adic integer other than 0 is a square if v is even and the unit is 1 modulo 8."""
    numbers = np.arange(1, 200)
    space = AdeleSpace((2,), 12)
    features = compute_features(space.encode(numbers), FeatureLayout("valuation-unit", space, 12))[:, 1:]
    roots = {k * k % 4096 for k in range(4096)}
    is_square = np.array([n % 4096 in roots for n in numbers])
    even, one = features[:, :12:2].sum(axis=1) == 1, features[:, 13] == 1
    np.testing.assert_array_equal(even & one, is_square)


def test_valuation_unit_in_any_shape_and_of_any_width():
    space = AdeleSpace(precision={2: 2, 5: 1})
    array = space.encode([[0, 1, 2], [3, 4, 5]])
    layout = FeatureLayout("valuation-unit", space, 2)
    features = compute_features(array, layout)
    assert features.shape == (2, 3, 1 + (3 + 2) + (2 + 4))
    assert features[0, 0, 1:].tolist() == [0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0]
    assert features[0, 2, 1:].tolist() == [0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0]  # 2·1: two digits do not tell u mod 4
    assert features[1, 0, 1:].tolist() == [1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0]
    assert compute_features(array[0, 0], layout).shape == (layout.size,)
    assert place_features("valuation-unit", np.zeros((0, 3), np.uint8), 7).shape == (0, 4 + 6)


def test_unknown_features():
    with pytest.raises(UnknownNameError, match="valuation-unit"):
        FeatureLayout.fit("valuations", AdeleSpace(), None)

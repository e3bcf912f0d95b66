"""The features of numbers where primes have different numbers of digits, valuations with units, and characters."""

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
    multiplicative_characters,
    place_features,
    place_size,
    unit_characters,
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
    if kind in ("digits", "standardized"):
        np.testing.assert_array_equal(features[:, layout.n_real - 1], np.array(numbers, dtype=np.float32))
        assert not features[:, : layout.n_real - 1].any()


@pytest.mark.parametrize("kind", FEATURE_KINDS)
def test_sizes(kind):
    space = AdeleSpace(precision={2: 6, 3: 4, 97: 1})
    sizes = {"digits": 17, "standardized": 17, "characters": 23, "one-hot-digits": 1 + 12 + 12 + 97}
    sizes["residues"] = 1 + 2**6 + 3**4 + 97
    sizes["valuation-unit"] = 1 + (7 + 4) + (5 + 2) + (2 + 96)
    sizes["multiplicative-characters"] = 1 + (7 + 3) + (5 + 1) + (2 + 95)
    sizes["combined"] = 30 + (12 + 7 + 4) + (8 + 5 + 2) + (2 + 2 + 96)
    assert FeatureLayout.fit(kind, space, None).size == FeatureLayout.fit(kind, space, sizes[kind]).size == sizes[kind]
    smaller = FeatureLayout.fit(kind, space, sizes[kind] - 1)
    assert (smaller.levels, smaller.place_levels) == (5, (5, 4, 1))
    with pytest.raises(ConfigurationError, match="coordinates at 3 primes, more than d_model=3"):
        FeatureLayout.fit(kind, space, 3)


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
    features = valuation_unit(np.array([[digits]]), p)[0, 0]
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


def values(p, levels, units):
    """The complex values of all characters of units, (n, number of units), the trivial one first."""
    digits = AdeleSpace((p,), levels).encode(units).digits[:, 0, ::-1]
    features = multiplicative_characters(digits, p)[:, levels + 1 :]
    about = unit_characters(p, levels)
    found = [np.ones(len(units), complex)]
    for j, is_sine in enumerate(about.is_sine):
        if is_sine:
            found[-1] = found[-1] + 1j * features[:, j]
        else:
            found.append(features[:, j].astype(complex))
    assert [about.names[j] for j in np.flatnonzero(~about.is_sine)] == list(range(1, len(found)))
    conjugates = [one.conj() for one in found if np.abs(one.imag).max() > 1e-9]
    return np.stack(found + conjugates, axis=1)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(PRIMES), st.integers(1, 5), st.integers(1, 10**9), st.integers(1, 10**9))
def test_characters_are_multiplicative(p, levels, u, w):
    """χ(uw) = χ(u)·χ(w), of units and of what is left of numbers without their factors p."""
    while u % p == 0:
        u //= p
    while w % p == 0:
        w //= p
    of_u, of_w, of_both = values(p, levels, [u, w, u * w])
    np.testing.assert_allclose(of_both, of_u * of_w, atol=1e-9)
    np.testing.assert_allclose(np.abs(of_u), 1, atol=1e-9)
    if p**levels > 1 and levels > 1 + 2 * (p == 2):  # p·u has the unit u
        digits = AdeleSpace((p,), levels).encode([u, p * u]).digits[:, 0, ::-1]
        one, other = multiplicative_characters(digits, p)[:, levels + 1 :]
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("p", "levels"), [(2, 1), (2, 2), (2, 3), (2, 9), (3, 1), (3, 4), (5, 1), (7, 2), (31, 1), (97, 1)]
)
def test_characters_are_orthogonal_and_are_all(p, levels):
    """Over all units the mean of χ times the conjugate of another is 0, of itself 1; they are as many as the units."""
    units = list(unit_residues(p, levels))
    table = values(p, levels, units)
    assert table.shape == (len(units), len(units))
    np.testing.assert_allclose(table.conj().T @ table / len(units), np.eye(len(units)), atol=1e-9)


def test_the_real_characters_are_legendre_symbols():
    for p in (3, 5, 7, 97):
        digits = AdeleSpace((p,), 1).encode(range(1, p)).digits[:, 0]
        squares = {k * k % p for k in range(1, p)}
        expected = [1 if u in squares else -1 for u in range(1, p)]
        np.testing.assert_allclose(multiplicative_characters(digits, p)[:, -1], expected, atol=1e-9)
    digits = AdeleSpace((2,), 3).encode([1, 3, 5, 7]).digits[:, 0, ::-1]
    expected = [[1, 1, 1], [-1, -1, 1], [1, -1, -1], [-1, 1, -1]]  # (−1/u), (2/u), (−2/u)
    np.testing.assert_allclose(multiplicative_characters(digits, 2)[:, 4:], expected, atol=1e-9)


@pytest.mark.parametrize("precision", [{2: 2, 5: 1}, {2: 6, 3: 4, 97: 1}])
def test_characters_stand_beside_the_valuations_of_valuation_unit(precision):
    space = AdeleSpace(precision=precision)
    digits = space.encode([[0, 1, 2], [3, 4, 96], [-8, 625, 97]]).digits[..., ::-1]
    for j, (p, levels) in enumerate(zip(space.primes, space.precisions, strict=True)):
        plain, ours = (function(digits[..., j, :levels], p) for function in (valuation_unit, multiplicative_characters))
        np.testing.assert_array_equal(ours[..., : levels + 1], plain[..., : levels + 1])
        is_told = plain[..., levels + 1 :].any(axis=-1)
        assert not ours[~is_told][..., levels + 1 :].any()
        assert ours.shape[-1] == place_size("multiplicative-characters", p, levels)
    for kind, size in (("multiplicative-characters", 5), ("valuation-unit", 6)):
        assert place_features(kind, np.zeros((0, 3), np.uint8), 7).shape == (0, 4 + size)


def test_unknown_features():
    with pytest.raises(UnknownNameError, match="valuation-unit"):
        FeatureLayout.fit("valuations", AdeleSpace(), None)

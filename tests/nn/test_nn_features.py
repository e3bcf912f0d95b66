import math
from fractions import Fraction

import numpy as np
import pytest

from adelic import AdeleSpace
from adelic.errors import ConfigurationError
from adelic.nn import AdelicEmbedding, Vocabulary
from adelic.nn.embeddings.features import standardize
from adelic.numbers.features import FeatureLayout, compute_features

PRIMES = (2, 3, 7)
SPACE = AdeleSpace(primes=PRIMES, precision=5)
SHIFTED = AdeleSpace(primes=PRIMES, precision=5, fractional_digits=2)


def features(kind, numbers, space=SPACE, levels=None):
    return compute_features(space.encode(numbers), FeatureLayout(kind, space, levels or space.precision))


def residue(number, p, modulus):
    """number modulo a power of p, from exact integers."""
    number = Fraction(number)
    return number.numerator * pow(number.denominator, -1, modulus) % modulus


def characters(number, space, levels):
    """The definition: sign(q)·ln(1 + |q|), then cos and sin of 2πx/p^k, x = p^F·q."""
    q = Fraction(number)
    out = [math.copysign(math.log1p(abs(q)), q)]
    for p in space.primes:
        for k in range(1, levels + 1):
            angle = 2 * math.pi * (residue(q * p**space.fractional_digits, p, p**k) / p**k)
            out += [math.cos(angle), math.sin(angle)]
    return np.array(out)


def test_digits_by_hand():
    space = AdeleSpace(primes=(2, 3), precision=3)
    assert features("digits", 5, space).tolist() == [0, 0, 5, 1, 0, 1, 0, 1, 2]
    assert features("digits", -1, space).tolist() == [0, 0, -1, 1, 1, 1, 2, 2, 2]
    assert features("digits", 5, space, levels=2).tolist() == [0, 5, 0, 1, 1, 2]  # the lowest digits are kept
    # 1/2 is 14 = 112 modulo 27 and 63 = 223 modulo 125
    odd = AdeleSpace(primes=(3, 5), precision=3)
    assert features("digits", "1/2", odd).tolist() == [0, 0, 0.5, 1, 1, 2, 2, 2, 3]
    # with one fractional digit, 7/5 · 2 is 6 = 110 modulo 8 and 7/5 · 5 is 7 = 012 modulo 125
    fractional = AdeleSpace(primes=(2, 5), precision=3, fractional_digits=1)
    assert features("digits", "7/5", fractional).tolist() == [0, 0, np.float32(1.4), 1, 1, 0, 0, 1, 2]


def test_one_hot_digits_by_hand():
    space = AdeleSpace(primes=(2, 3), precision=4)
    logarithm = np.float32(math.log(6))
    assert features("one-hot-digits", 5, space, levels=2).tolist() == [logarithm, 0, 1, 1, 0, 0, 0, 1, 0, 1, 0]
    assert features("one-hot-digits", -5, space, levels=1).tolist() == [-logarithm, 0, 1, 0, 1, 0]
    assert features("one-hot-digits", 0, space, levels=1).tolist() == [0, 1, 0, 1, 0, 0]
    assert np.flatnonzero(features("residues", 19, space, levels=2)[1:]).tolist() == [19 % 4, 4 + 19 % 9]


@pytest.mark.parametrize("levels", [1, 3, None])
@pytest.mark.parametrize(
    ("space", "more"),
    [
        (SPACE, []),
        (SHIFTED, ["1/2", "-5/36", "3/49", "100/63", "1e-2"]),  # the window holds denominators that p divides
        (AdeleSpace(primes=(2, 17), precision=40), [17**39 + 2**39 + 12345]),
    ],
    ids=["F=0", "F=2", "many levels"],
)
def test_characters_by_the_definition(space, more, levels):
    for number in [0, 1, -1, -7, 42, 10**18 + 9, -(10**30), "1/19", "-22/25", *more]:
        expected = characters(number, space, levels or space.precision)
        assert np.allclose(features("characters", number, space, levels), expected, rtol=1e-6, atol=2e-6)


def test_standardize():
    x = np.array([[1, 4, 7], [3, 4, 0], [8, 4, 2]], dtype=np.float32)
    out = standardize(x)
    assert out.dtype == np.float32
    assert np.allclose(out.mean(axis=0), 0, atol=1e-6)
    assert np.allclose(out.std(axis=0), [1, 0, 1], atol=1e-6)
    assert np.allclose(out[:, 0], (np.array([1, 3, 8]) - 4) / math.sqrt(26 / 3), atol=1e-6)
    assert standardize(np.array([[5, 6]], dtype=np.float32)).tolist() == [[0, 0]]


@pytest.mark.parametrize(
    ("kind", "widths"),
    [
        ("digits", {128: 16, 127: 15, 8: 1, 7: None}),
        ("standardized", {64: 8}),
        ("characters", {10**6: 16, 128: 9, 15: 1, 14: None}),
        ("one-hot-digits", {None: 16, 128: 2, 58: None}),
    ],
)
def test_fit_keeps_the_most_levels(kind, widths):
    for width, levels in widths.items():
        if levels is None:
            with pytest.raises(ConfigurationError, match=f"d_model={width}"):
                FeatureLayout.fit(kind, AdeleSpace(), width)
            continue
        layout = FeatureLayout.fit(kind, AdeleSpace(), width)
        assert layout.levels == levels
        assert width is None or layout.size <= width
        assert levels == 16 or FeatureLayout.size_of(kind, AdeleSpace(), levels + 1) > width


# Too few features to tell them apart: equal residues at the levels that fit, equal real values in float32.
MERGING = [
    ("digits", [2**30, 2**30 + 4], (2,), 4),
    ("characters", [10**9, 10**9 + 2], (2,), 3),
    ("one-hot-digits", [10**9, 10**9 + 6, 5], (2, 3), 6),
    ("standardized", [2**30, 2**30 + 4, 7], (2,), 4),
]


@pytest.mark.parametrize(("kind", "numbers", "primes", "d_model"), MERGING)
def test_a_vocabulary_is_never_merged(kind, numbers, primes, d_model):
    space = AdeleSpace(primes=primes, precision=8)
    with pytest.raises(ConfigurationError, match="the same vector"):
        AdelicEmbedding(Vocabulary(numbers), space=space, d_model=d_model, features=kind)
    projected = AdelicEmbedding(Vocabulary(numbers), space=space, d_model=d_model, features=kind, projection="linear")
    assert len(projected.table.unique(dim=0)) == len(numbers)

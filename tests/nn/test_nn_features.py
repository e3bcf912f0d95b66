import math
from fractions import Fraction

import numpy as np
import pytest

from adelic import AdeleSpace
from adelic.errors import ConfigurationError
from adelic.nn import AdelicEmbedding, Vocabulary
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

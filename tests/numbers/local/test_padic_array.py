"""Arrays of p-adic numbers: made from rationals and adeles, computed with, shown."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adelic import AdeleSpace
from adelic.errors import DivisionByZeroError, PrecisionError, SpaceError
from adelic.numbers import AlgebraicSpace, PadicArray, norm, padic, valuation

SPACE = AdeleSpace(precision={2: 9, 5: 6, 7: 4}, fractional_digits=2)
NUMBERS = st.fractions(max_denominator=50).filter(lambda q: all(q.denominator % p**3 for p in SPACE.primes))


@given(st.lists(NUMBERS, min_size=1, max_size=4))
def test_coordinates_of_adeles_are_the_numbers_themselves(numbers):
    a = SPACE.encode(numbers)
    for j, p in enumerate(SPACE.primes):
        x = a.at(p)
        assert (x == padic(numbers, p, SPACE.precisions[j], fractional_digits=2)).all()
        assert x.known.tolist() == a.known[:, j].tolist()
        assert x.valuation().tolist() == a.valuation()[:, j].tolist()
        assert x.norm().tolist() == a.norm()[:, j].tolist()
        for q, v, size in zip(numbers, x.valuation().tolist(), x.norm().tolist(), strict=True):
            most = SPACE.precisions[j] - 2  # the window's end
            exact = valuation(q, p) if q else most
            assert v == min(exact, most)
            assert size == (norm(q, p) if exact < most else 0)


def test_shapes():
    """Indices, broadcasting and operations are those of all arrays of numbers (tests/numbers/test_array.py)."""
    x = padic([[1, 2, 3], [4, 5, 6]], 5, 4)
    assert (x.shape, x.ndim, x.size, len(x), x.digits.shape, x.known.shape) == ((2, 3), 2, 6, 2, (2, 3, 4), (2, 3))
    assert x[..., 0].lift().tolist() == [1, 4]
    assert ((x + np.array([10, 20, 30])) ** 2).lift().tolist() == [[121, 484, 464], [196, 0, 46]]
    assert padic([], 5).sqrt().shape == padic([], 5).series().shape == padic([], 5).norm().shape == (0,)


def test_lifts():
    assert padic(-1, 2, 63).lift() == 2**63 - 1
    assert padic([-1], 2, 63).lift().dtype == np.int64
    assert padic([-1], 2, 64).lift().dtype == object
    assert padic([-1], 2, 64).lift().tolist() == [2**64 - 1]
    assert padic(["7/5"], 5, 4, fractional_digits=1).lift().tolist() == [Fraction(7, 5)]
    assert type(padic(3, 5).lift()) is int


def test_division_knows_fewer_digits():
    x = padic([50, 1], 5, 6)
    quotient = x[0] / 5
    assert (quotient.lift(), int(quotient.known)) == (10, 5)
    assert quotient.series() == "2*5 + O(5^5)"
    with pytest.raises(PrecisionError, match="fractional_digits=1 would hold it"):
        x[1] / 5
    with pytest.raises(DivisionByZeroError, match=r"position \[1\]"):
        x / [1, 0]


def test_what_is_shown():
    x = padic([12, "-1/10"], 11, 3)
    assert str(x) == "…(0)(1)(1)_11\n…(1)(1)(1)_11"
    assert repr(padic("7/5", 5, 3, fractional_digits=1)) == "PadicArray(…01.2_5, p=5, precision=3, fractional_digits=1)"
    assert repr(padic(list(range(9)), 2, 3)).endswith("…111_2, …], shape=(9,), p=2, precision=3, fractional_digits=0)")
    assert str(padic(list(range(9)), 2, 3)).endswith("…111_2\n… 1 more")
    assert padic([0, 1, 12], 11, 2).series().tolist() == ["O(11^2)", "1 + O(11^2)", "1 + 11 + O(11^2)"]
    assert len(repr(padic(1, 2, 5000))) < 200
    with pytest.raises(ValueError, match="no square root") as caught:
        padic(-1, 2, 5000).sqrt()
    assert len(str(caught.value)) < 300


def test_what_does_not_fit_together():
    a = AdeleSpace((2, 3), 4).encode(5)
    assert isinstance(a.at(np.int64(3)), PadicArray)
    with pytest.raises(SpaceError, match=r"no coordinate at 5; its primes are \(2, 3\)"):
        a.at(5)
    with pytest.raises(SpaceError, match="no coordinate at True"):
        a.at(True)
    with pytest.raises(SpaceError, match=r"p=2, precision=4, .* and p=3, precision=4.*make both at the same primes"):
        a.at(2) + a.at(3)
    with pytest.raises(SpaceError, match="9 is not a prime"):
        padic(1, 9)
    with pytest.raises(SpaceError, match="do not fit together"):
        padic([1, 2], 3) + padic([1, 2, 3], 3)
    assert (padic(1, 3) == "one") is False
    assert padic(1, 3) != 2
    assert (padic([1, 2], 3) != 2).tolist() == [True, False]
    assert (padic(1, 3) != padic([1, 2], 3)).tolist() == [False, True]


def test_algebraic_numbers_have_coordinates_too():
    root = AlgebraicSpace("x^2 - 2", n_primes=2, precision=6).encode(["x", 7])
    assert (root.at(7)[0] ** 2).lift() == 2
    assert root.valuation().tolist() == [[0, 0], [1, 0]]


def test_large_primes():
    p = 2**61 - 1
    x = padic([4, 10 * p], p, 5)
    assert x[0].sqrt() in (2, -2)
    assert x[1].exp().log() == 10 * p
    assert x[0].teichmuller() ** (p - 1) == 1

"""p-adic digits against PARI (tests/oracles/padic.json says how they were made)."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from adelic import AdeleSpace
from adelic.errors import PrecisionError
from adelic.numbers import threshold
from adelic.numbers.primes import valuation

ORACLE = json.loads((Path(__file__).parent.parent / "oracles" / "padic.json").read_text())["data"]
PRIMES = sorted({row["p"] for row in ORACLE})


def number(row):
    return Fraction(row["num"], row["den"])


def lowest_first(array):
    return array.digits[..., 0, ::-1].tolist()


@pytest.mark.parametrize("p", PRIMES)
def test_valuations(p):
    for row in (row for row in ORACLE if row["p"] == p):
        q = number(row)
        assert valuation(q.numerator, p) - valuation(q.denominator, p) == row["valuation"]


@pytest.mark.parametrize("p", PRIMES)
def test_digits_from_p0(p):
    rows = [row for row in ORACLE if row["p"] == p and row["digits_from_p0"] is not None]
    space = AdeleSpace(primes=(p,), precision=16)
    for row in rows:
        assert lowest_first(space.encode(number(row))) == row["digits_from_p0"]
    many = (rows * 40)[: 2 * threshold.FEW]  # by the compiled kernels
    assert lowest_first(space.encode([number(row) for row in many])) == [row["digits_from_p0"] for row in many]


@pytest.mark.parametrize("p", PRIMES)
def test_negative_valuations_need_fractional_digits(p):
    for row in (row for row in ORACLE if row["p"] == p and row["valuation"] < 0):
        needed = -row["valuation"]
        assert row["digits_from_p0"] is None
        exact = AdeleSpace(primes=(p,), precision=16, fractional_digits=needed)
        assert lowest_first(exact.encode(number(row))) == row["unit_digits"]
        assert lowest_first(exact.encode([number(row)] * 2 * threshold.FEW))[-1] == row["unit_digits"]
        wider = AdeleSpace(primes=(p,), precision=18, fractional_digits=needed + 2)
        assert lowest_first(wider.encode(number(row))) == [0, 0, *row["unit_digits"]]
        with pytest.raises(
            PrecisionError, match=f"{p}-adic valuation −{needed}.*fractional_digits={needed} would hold"
        ):
            AdeleSpace(primes=(p,), precision=16, fractional_digits=needed - 1).encode(number(row))


@pytest.mark.parametrize("p", PRIMES)
def test_unit_digits(p):
    space = AdeleSpace(primes=(p,), precision=16)
    for row in (row for row in ORACLE if row["p"] == p):
        assert lowest_first(space.encode(number(row) / Fraction(p) ** row["valuation"])) == row["unit_digits"]


def test_products_and_quotients_of_oracle_numbers():
    """The oracle's numbers at all primes at once, computed with and not only encoded."""
    space = AdeleSpace(primes=tuple(PRIMES), precision=40, fractional_digits=12)
    numbers = [number(row) for row in ORACLE]
    a, b = space.encode(numbers), space.encode(numbers[::-1])
    total = (a + b).decode()
    assert all(q == x + y for q, x, y in zip(total, numbers, numbers[::-1], strict=True))
    product = a * b
    expected = space.encode([x * y for x, y in zip(numbers, numbers[::-1], strict=True)])
    assert np.all(product == expected)

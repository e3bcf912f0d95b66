"""p-adic digits against PARI (tests/oracles/padic.json says how they were made)."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from adelic import AdeleSpace
from adelic.errors import PrecisionError
from adelic.numbers import threshold
from adelic.numbers.primes import valuation

ORACLE = json.loads((Path(__file__).parent.parent / "oracles" / "padic.json").read_text())["data"]
PRIMES = sorted({row["p"] for row in ORACLE})


@pytest.mark.parametrize("p", PRIMES)
def test_valuations_and_digits(p):
    """Also by the compiled kernels, and where a number takes digits after the point: then the unit's come first."""
    for row in (row for row in ORACLE if row["p"] == p):
        q, v = Fraction(row["num"], row["den"]), row["valuation"]
        assert valuation(q.numerator, p) - valuation(q.denominator, p) == v
        needed = max(0, -v)
        expected = row["unit_digits"] if needed else row["digits_from_p0"]
        space = AdeleSpace((p,), 16, needed)
        for digits in space.encode([q] * 2 * threshold.FEW).digits[-1:], space.encode([q]).digits:
            assert digits[0, 0, ::-1].tolist() == expected
        unit = AdeleSpace((p,), 18, 2).encode(q / Fraction(p) ** v)
        assert unit.digits[0, ::-1].tolist() == [0, 0, *row["unit_digits"]]
        if needed:
            with pytest.raises(PrecisionError, match=f"{p}-adic valuation −{needed}.*digits={needed} would hold"):
                AdeleSpace((p,), 16, needed - 1).encode(q)

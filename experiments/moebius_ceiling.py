"""How much of the Möbius function the places of the task `moebius` show: the ceiling of every model with these places.

    python experiments/moebius_ceiling.py        # about a minute: four million numbers for each of two ranges

Writes experiments/results/moebius_ceiling.json, whose figures stand in docs/number-theory.md.
"""

from dataclasses import asdict

import common
import numpy as np

from adelic.number_theory.ceilings import moebius_ceiling
from adelic.number_theory.multiplicative import Moebius


def main() -> None:
    """Draw numbers, factor them, and write what the best rule gets."""
    given = common.parser(__doc__, n=(4_000_000, "numbers drawn for each range")).parse_args()
    asked, limit = Moebius().task(), Moebius().limit
    ranges = {"test": (2, limit), "larger": (limit + 1, int(asked.max_operand))}
    assert asked.space is not None
    found = {
        split: {"low": low, "high": high}
        | asdict(moebius_ceiling(asked.space.primes, low=low, high=high, n=given.n, rng=np.random.default_rng(0)))
        for split, (low, high) in common.each(ranges.items())
    }
    results = {"n": given.n, "seed": 0, "primes": asked.space.primes, "ceilings": found}
    common.write(common.output(given, "moebius_ceiling.json"), ("adelic", "numpy", "python-flint"), results)


if __name__ == "__main__":
    main()
